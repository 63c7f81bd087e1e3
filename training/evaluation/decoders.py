"""Decoders by name: what a row of an evaluation stands for.

greedy · beam · npad · actor:NAME (greedy with that actor) · beam+actor:NAME.  A number sets the size of a beam or the
samples of NPAD, `beam:10`, `npad:50`, `beam:3+actor:bleu`; without one the config decides.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Self, cast

from training.config import Decoding
from training.decoding.batches import Progress
from training.decoding.beam import BeamSettings, beam
from training.decoding.greedy import greedy
from training.decoding.hypothesis import Hypothesis, LengthLimits
from training.decoding.npad import npad
from training.errors import EvaluationError
from training.nmt.model import Actor, TranslationModel

Method = Literal["greedy", "beam", "npad"]

METHOD = re.compile(r"greedy|(?P<method>beam|npad)(:(?P<size>[1-9]\d*))?")
ACTOR = re.compile(r"actor:(?P<name>[^+\s]+)")
ALLOWED = "greedy, beam, npad, actor:NAME, beam+actor:NAME, with a size as in beam:10 or npad:50"


@dataclass(frozen=True)
class Decoder:
    """A way to decode, by the name it was asked for."""

    name: str
    method: Method = "greedy"
    size: int | None = None
    actor: str | None = None

    @classmethod
    def parse(cls, name: str) -> Self:
        """Read a name; raise `EvaluationError` that lists what is allowed."""
        method_text, _, actor_text = f"greedy+{name}".partition("+") if ACTOR.match(name) else name.partition("+")
        method, actor = METHOD.fullmatch(method_text), ACTOR.fullmatch(actor_text)
        if method is None or (actor is None and "+" in name) or (actor and method["method"] == "npad"):
            raise EvaluationError(f"no decoder is called {name!r}; allowed are {ALLOWED}")
        return cls(
            name,
            cast(Method, method["method"] or "greedy"),
            size=int(method["size"]) if method["size"] else None,
            actor=actor["name"] if actor else None,
        )

    def decode(
        self,
        model: TranslationModel,
        sources: Sequence[Sequence[int]],
        settings: Decoding,
        actor: Actor | None = None,
        on_progress: Progress | None = None,
    ) -> list[Hypothesis]:
        """Translate `sources` (ids that end with eos) into one hypothesis each."""
        limits = LengthLimits.from_config(settings)
        if self.method == "beam":
            width = BeamSettings(beam_size=self.size or settings.beam_size, length_alpha=settings.length_alpha)
            lists = beam(model, sources, limits=limits, settings=width, actor=actor, on_progress=on_progress)
            return [best for best, *_ in lists]
        if self.method == "npad":
            return npad(
                model,
                sources,
                limits=limits,
                samples=self.size or settings.npad_samples,
                sigma=settings.npad_sigma,
                on_progress=on_progress,
            )
        return greedy(model, sources, limits=limits, actor=actor, on_progress=on_progress)
