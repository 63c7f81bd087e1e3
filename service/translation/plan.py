"""One text on its way: what the engine is asked, and what becomes of its answers."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from service.bundle.loader import LoadedPair
from service.engine.types import Hypothesis, Job, Output
from service.text.document import Document
from service.text.opaque import NO_GLOSSARY, Glossary
from service.text.reading import Reader
from service.translation.options import Blend, Options, decoder_of, gains_of, resolve_blend
from service.translation.routing import Route


@dataclass(frozen=True, slots=True)
class Translation:
    """The answer for one text.  Scores are None when there was nothing to translate."""

    text: str
    route: Route
    objective: Blend
    alternatives: tuple[str, ...] = ()
    score: float | None = None  # mean token log-probability
    confidence: float | None = None  # calibrated, 0 to 1; None if the bundle has no calibration
    is_truncated: bool = False
    is_repetitive: bool = False
    queue_s: float = 0.0  # of the sentence that waited longest
    decode_s: float = 0.0  # of the sentence that took longest
    work_s: float = 0.0  # of all sentences, though they were decoded together
    tokens: int = 0
    model: str | None = None
    explanation: list[dict[str, Any]] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Plan:
    """A text as jobs for a pair's engine; no pair, no jobs for a text that is in the target language already."""

    text: str
    route: Route
    options: Options
    pair: LoadedPair | None = None
    blend: Blend = field(default_factory=Blend)
    document: Document = field(default_factory=lambda: Document(()))
    jobs: tuple[Job, ...] = ()

    def finish(self, outputs: Sequence[Output]) -> Translation:
        """Put the outputs, one for each job, back into the document."""
        if self.pair is None:
            return Translation(self.text, self.route, self.blend)
        best = [output.best for output in outputs]
        steps = sum(len(hypothesis.token_log_probabilities) for hypothesis in best)
        score = sum(hypothesis.log_probability for hypothesis in best) / steps if steps else None
        calibration = self.pair.manifest.calibration
        return Translation(
            text=self._rejoin(best),
            route=self.route,
            objective=self.blend,
            alternatives=self._alternatives(outputs),
            score=score,
            confidence=calibration.confidence(score) if calibration and score is not None else None,
            is_truncated=any(hypothesis.is_truncated for hypothesis in best),
            is_repetitive=any(hypothesis.is_repetitive for hypothesis in best),
            queue_s=max((output.queue_s for output in outputs), default=0.0),
            decode_s=max((output.decode_s for output in outputs), default=0.0),
            work_s=sum(output.decode_s for output in outputs),
            tokens=steps,
            model=f"{self.pair.manifest.name} {self.pair.manifest.version}",
            explanation=[self.explain(index, output.best) for index, output in enumerate(outputs)]
            if self.options.explain
            else [],
        )

    def _alternatives(self, outputs: Sequence[Output]) -> tuple[str, ...]:
        """Other translations of the document, each different from the best and from the others.

        Fewer than asked for when the search found fewer: two ways to spell the same text are one translation.
        """
        if not self.options.alternatives:
            return ()
        ranked = [
            self._rejoin([_alternative(output, rank) for output in outputs])
            for rank in range(self.options.alternatives + 1)
        ]
        return tuple(dict.fromkeys(ranked))[1:]

    def sentence(self, index: int, hypothesis: Hypothesis) -> str:
        """The translation of one sentence, as it goes into the document."""
        assert self.pair is not None
        return self.document.sentences[index].restore(self.pair.tokeniser.decode(hypothesis.ids))

    def explain(self, index: int, hypothesis: Hypothesis) -> dict[str, Any]:
        """The tokens of one sentence with their log-probabilities and the actor's influence."""
        assert self.pair is not None
        sentence = self.document.sentences[index]
        pieces = [*sentence.restore_pieces(self.pair.tokeniser.pieces(hypothesis.ids)), ""]  # the last one is its end
        influence = hypothesis.influence or (0.0,) * len(hypothesis.token_log_probabilities)
        return {
            "source": sentence.source,
            "translatedText": self.sentence(index, hypothesis),
            "score": hypothesis.score,
            "truncated": hypothesis.is_truncated,
            "tokens": [
                {"text": piece, "logProbability": log_probability, "influence": nats}
                for piece, log_probability, nats in zip(
                    pieces, hypothesis.token_log_probabilities, influence, strict=False
                )
            ],
        }

    def _rejoin(self, hypotheses: Sequence[Hypothesis]) -> str:
        assert self.pair is not None
        return self.document.rejoin(self.pair.tokeniser.decode(hypothesis.ids) for hypothesis in hypotheses)


def make_plan(
    text: str, route: Route, pair: LoadedPair | None, options: Options, caller: str, deadline: float | None
) -> Plan:
    """Segment and tokenise a text for the pair of its route."""
    if pair is None:
        return Plan(text, route, options)
    manifest, tokeniser = pair.manifest, pair.tokeniser
    blend = resolve_blend(options, manifest)
    gains = gains_of(blend, options.strength, manifest)
    decoder = decoder_of(options, manifest)
    glossary = Glossary(dict(options.glossary)) if options.glossary else NO_GLOSSARY
    limit = manifest.decoding.max_source_tokens - 1  # one is for eos
    reader = Reader(route.source, route.target, tokeniser, limit, glossary, pair.lexicon)
    document = reader.read_html(text) if options.is_html else reader.read_text(text)
    jobs = tuple(
        Job(tokeniser.encode(sentence.text), gains, decoder, options.explain, deadline, caller)
        for sentence in document.sentences
    )
    return Plan(text, route, options, pair, blend, document, jobs)


def _alternative(output: Output, rank: int) -> Hypothesis:
    """The hypothesis of this rank, or the last one of a sentence that has fewer."""
    return output.hypotheses[min(rank, len(output.hypotheses) - 1)]
