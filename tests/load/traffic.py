"""What callers ask for: everyday sentences, and ways to have them translated."""

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

SENTENCES = Path(__file__).parent / "sentences"


class NoTraffic(SystemExit):
    """There is nothing to send; the message says what to do."""


@dataclass(frozen=True, slots=True)
class Pair:
    """A served pair and the objectives it has an actor for."""

    source: str
    target: str
    model: str
    actors: tuple[str, ...]

    @property
    def name(self) -> str:
        return f"{self.source}-{self.target}"


@dataclass(frozen=True, slots=True)
class Kind:
    """A way to ask for a translation.  With several variants, requests take them in turn."""

    name: str
    variants: tuple[dict[str, Any], ...] = field(default=({},))
    actors: int | None = None  # of the bundle that is asked: so many of its actors, or all of them
    plain: str | None = None  # the kind that asks the same bundle without an objective

    def parameters(self, turn: int) -> dict[str, Any]:
        return self.variants[turn % len(self.variants)]


def read_pairs(objectives: dict[str, Any]) -> list[Pair]:
    """The pairs in an answer of /objectives."""
    return [
        Pair(
            entry["source"],
            entry["target"],
            f"{entry['model']['name']} {entry['model']['version']}",
            tuple(objective["name"] for objective in entry["objectives"] if objective["name"] != "none"),
        )
        for entry in objectives["pairs"]
    ]


def read_sentences(pair: Pair, models: Path | None) -> list[str]:
    """Everyday sentences of the source language; where we have written none, the examples in the pair's bundle."""
    ours = SENTENCES / f"{pair.source}.txt"
    if ours.is_file():
        return ours.read_text(encoding="utf-8").splitlines()
    golden = models / pair.name / "golden.jsonl" if models else None
    if golden is None or not golden.is_file():
        known = ", ".join(sorted(path.stem for path in SENTENCES.glob("*.txt")))
        raise NoTraffic(
            f"There are no sentences in {pair.source}, only in {known}. Write some to {ours}, one a line, or name the"
            " folder of bundles, whose examples will do."
        )
    lines = golden.read_text(encoding="utf-8").splitlines()
    return list(dict.fromkeys(json.loads(line)["text"] for line in lines))


def request_body(pair: Pair, text: str | list[str], parameters: dict[str, Any]) -> dict[str, Any]:
    """The JSON body of a request to /translate."""
    return {"q": text, "source": pair.source, "target": pair.target, **parameters}


def compared_kinds(actors: Iterable[str]) -> list[Kind]:
    """What `make overhead` compares.

    First plain greedy on a bundle without actors, and the same again, which shows the noise; then a bundle with one
    actor, and the bundle with all of them: plain, by one objective, and by all of them mixed in one batch.
    """
    plain = {"objective": "none", "decoder": "greedy"}
    actors = list(actors)
    steered = [{"objective": actor, "decoder": "greedy"} for actor in actors]
    kinds = [Kind("no actors", (plain,), actors=0), Kind("no actors again", (plain,), actors=0)]
    if actors:
        kinds.append(Kind(f"one actor: {actors[0]}", (steered[0],), actors=1))
        unused = Kind(f"{len(actors)} actors: plain", (plain,))
        kinds.append(unused)
        kinds += [
            Kind(f"{len(actors)} actors: {actor}", (variant,), plain=unused.name)
            for actor, variant in zip(actors, steered, strict=True)
        ]
        kinds.append(Kind(f"{len(actors)} actors: mixed", tuple(steered), plain=unused.name))
    kinds.append(Kind("beam 5", ({"objective": "none", "decoder": "beam", "beam_size": 5},)))
    return kinds


def checked_kinds(actors: Iterable[str]) -> list[Kind]:
    """What `make load` sends: every decoder, with and without an actor, weaker actors and blends of two."""
    actors = list(actors)
    kinds = [
        Kind("greedy", ({"objective": "none"},)),
        Kind("beam 5", ({"objective": "none", "decoder": "beam", "beam_size": 5},)),
        Kind("npad 4", ({"objective": "none", "decoder": "npad", "samples": 4},)),
    ]
    for actor in actors:
        kinds.append(Kind(f"{actor}", ({"objective": actor},)))
        kinds.append(Kind(f"{actor}, half strength", ({"objective": actor, "strength": 0.5},)))
        kinds.append(Kind(f"{actor}, beam 3", ({"objective": actor, "decoder": "beam", "beam_size": 3},)))
    for first, second in pairwise(actors):
        blend = f"{first}:0.6,{second}:0.4"
        kinds.append(Kind(blend, ({"objective": blend},)))
    return kinds
