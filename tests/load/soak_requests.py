"""Requests whose answer is known, because it was once given alone."""

import random
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from traffic import Pair, checked_kinds, read_pairs, read_sentences, request_body
from wire import Connection

# What must be the same whoever else is being served.
FIELDS = ("translatedText", "score", "confidence", "truncated", "repetitive", "objective", "source", "model")


@dataclass(frozen=True, slots=True)
class Known:
    """A request and what was answered when nobody else was there."""

    pair: Pair
    text: str
    parameters: dict[str, Any]
    answer: dict[str, Any]


async def ask_alone(url: str, models: Path | None, sentences: int) -> list[Known]:
    """Ask for each sentence of each pair in every way, one request at a time."""
    known: list[Known] = []
    async with Connection(url) as connection:
        for pair in read_pairs((await connection.get("/objectives")).json()):
            for text in _spread(read_sentences(pair, models), sentences):
                for kind in checked_kinds(pair.actors):
                    parameters = kind.parameters(0)
                    answer = await connection.post("/translate", request_body(pair, text, parameters))
                    if answer.status != 200:
                        raise SystemExit(f"asked alone, {kind.name}: {answer.status} {answer.body.decode()}")
                    whole = answer.json()
                    known.append(Known(pair, text, parameters, {name: whole[name] for name in FIELDS}))
    return known


def list_request(dice: random.Random, known: list[Known], length: int) -> tuple[dict[str, Any], list[Known]]:
    """A request for several texts of one pair in one way, and what is known of each."""
    first = dice.choice(known)
    alike = [one for one in known if one.pair == first.pair and one.parameters == first.parameters]
    chosen = dice.choices(alike, k=length)
    return request_body(first.pair, [one.text for one in chosen], first.parameters), chosen


def read_known(answer: dict[str, Any], body: dict[str, Any], expected: list[Known]) -> list[str]:
    """What of an answer differs from the answers given alone; nothing, if all is well."""
    is_list = isinstance(body["q"], list)
    return [
        f"{one.text!r} {one.parameters}: {name} is {given!r}, alone it was {one.answer[name]!r}"
        for index, one in enumerate(expected)
        for name in FIELDS
        if (given := answer[name][index] if is_list else answer[name]) != one.answer[name]
    ]


def _spread(sentences: list[str], count: int) -> list[str]:
    """At most `count` of them, evenly taken."""
    step = max(1.0, len(sentences) / count)
    return [sentences[int(index * step)] for index in range(min(count, len(sentences)))]
