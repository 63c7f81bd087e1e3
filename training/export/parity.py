"""The gates a bundle passes before it is written.

    fp32 graphs against torch   log-probabilities within a tolerance, the same words on every sentence (ties excepted)
    int8 graphs against fp32    BLEU at most 0.3 lower, without an actor and with each; where a small dev set shows
                                more, it counts only if chance does not explain it

Shapes:  B rows · H state · A annotation · E embedding · V vocabulary
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from training.corpus.cache import BOS
from training.decoding.greedy import greedy
from training.decoding.hypothesis import LengthLimits
from training.errors import ExportError
from training.evaluation.bootstrap import compare, resample
from training.evaluation.metrics import References, Scores, SentenceStatistics, score
from training.export.sessions import BundleSessions, Translation, actor_gain, pad_sources
from training.export.weights import ActorWeights
from training.nmt.model import TranslationModel

TOLERANCE = 2e-3
TIE = 1e-3
"""Two words whose log-probabilities are closer than this may change places between torch and onnxruntime."""
MAX_BLEU_LOSS = 0.3
TOLERANCE_SENTENCES = 16
TOLERANCE_STEPS = 8


class TorchActor:
    """The contract's actor in torch.  It remembers how large the nudged states became, for the int8 scale."""

    def __init__(self, actor: ActorWeights) -> None:
        self._hidden, self._bias, self._output = map(torch.from_numpy, (actor.hidden, actor.bias, actor.output))
        self.acts_after = actor.acts_after
        self._largest: list[Tensor] = []

    def __call__(self, state: Tensor, context: Tensor, word: Tensor) -> Tensor:
        """Return the action [B, H] for states [B, H], contexts [B, A] and embedded previous words [B, E]."""
        observation = torch.cat([state, context, word], dim=1)[:, : self._hidden.shape[1]]
        action = torch.tanh(observation @ self._hidden.T + self._bias) @ self._output.T
        # After the recurrence, the next state is what it has nudged, and comes here at the next step.
        nudged = state if self.acts_after else state + action
        self._largest.append(nudged.abs().amax(dim=1))
        return action

    def state_range(self) -> float:
        """Return the range that holds the largest unit of 95% of all steps seen, at least 1, in eighths."""
        if not self._largest:
            return 1.0
        typical = float(torch.cat(self._largest).quantile(0.95))
        return max(1.0, float(np.ceil(typical * 8) / 8))


@dataclass(frozen=True)
class TorchParity:
    """How close the fp32 graphs are to torch, for greedy decoding with one actor or none."""

    sentences: int
    identical: int
    ties: int  # sentences that first differ where the two best words are tied
    largest_difference: float

    def __str__(self) -> str:
        ties = f", {self.ties} differ at a tie" if self.ties else ""
        within = f"log-probabilities within {self.largest_difference:.1e}"
        return f"{self.identical} of {self.sentences} sentences{ties}, {within}"


def check_against_torch(
    model: TranslationModel,
    sessions: BundleSessions,
    sources: Sequence[Sequence[int]],
    limits: LengthLimits,
    actor: TorchActor | None = None,
    units: tuple[int, int] | None = None,
    name: str = "greedy",
) -> TorchParity:
    """Compare log-probabilities and words of fp32 graphs with torch; raise `ExportError` when they differ."""
    difference = largest_difference(model, sessions, sources[:TOLERANCE_SENTENCES], actor, units)
    if not difference <= TOLERANCE:
        raise ExportError(
            f"{name}: the graphs' log-probabilities differ from torch by {difference:.2e}, more than {TOLERANCE:.0e};"
            " the exported graph does not compute this model"
        )
    expected = greedy(model, sources, limits=limits, actor=actor)
    outputs = sessions.greedy(sources, limits, units)
    differing = [
        (output, hypothesis.ids)
        for output, hypothesis in zip(outputs, expected, strict=True)
        if output.ids != hypothesis.ids
    ]
    real = [(output, ids) for output, ids in differing if output.margins[first_difference(output.ids, ids)] > TIE]
    if real:
        output, ids = real[0]
        raise ExportError(
            f"{name}: {len(real)} of {len(sources)} sentences come out differently from torch, for example"
            f" {list(output.ids)} instead of {list(ids)}"
        )
    return TorchParity(len(sources), len(sources) - len(differing), len(differing), difference)


def first_difference(ids: Sequence[int], others: Sequence[int]) -> int:
    """Return the first step at which two different outputs part; the shorter one may be the other's beginning."""
    pairs = zip(ids, others, strict=False)
    return next((step for step, (a, b) in enumerate(pairs) if a != b), min(len(ids), len(others)))


def largest_difference(
    model: TranslationModel,
    sessions: BundleSessions,
    sources: Sequence[Sequence[int]],
    actor: TorchActor | None,
    units: tuple[int, int] | None,
) -> float:
    """Return the largest difference of log-probabilities while both follow torch's words."""
    ids, mask = pad_sources(sources)
    largest = 0.0
    feeds = sessions.encode(sources)
    if sessions.units:
        feeds["actor_gain"] = actor_gain(len(sources), sessions.units, units)
    with torch.no_grad():
        encoded = model.encode(torch.from_numpy(ids), torch.from_numpy(mask))
        state = encoded.first_state
        previous = torch.full((len(sources),), BOS)
        for _ in range(TOLERANCE_STEPS):
            output = model.step(previous, state, encoded, actor)
            feeds["previous_ids"] = previous.numpy()
            found, feeds["state"] = sessions.run_step(feeds)
            expected = output.logits.log_softmax(dim=1).numpy()
            largest = max(largest, float(np.abs(found - expected).max()))
            state, previous = output.state, output.logits.argmax(dim=1)
    return largest


@dataclass(frozen=True)
class Measured:
    """Greedy outputs of one pair of graphs on a dev set, and their scores against its references."""

    outputs: list[Translation]
    texts: list[str]
    statistics: SentenceStatistics

    @property
    def scores(self) -> Scores:
        return score(self.statistics)


def measure(
    sessions: BundleSessions,
    sources: Sequence[Sequence[int]],
    references: References,
    decode: Callable[[Sequence[int]], str],
    limits: LengthLimits,
    units: tuple[int, int] | None = None,
) -> Measured:
    """Translate a dev set with one actor or none, and score it."""
    outputs = sessions.greedy(sources, limits, units)
    texts = [decode(output.ids) for output in outputs]
    # The mean log-probability is that of the decoder that ran; spread over one token it keeps its mean.
    return Measured(outputs, texts, references.measure(texts, [[output.score] for output in outputs]))


def check_quantised(fp32: Mapping[str, Measured], int8: Mapping[str, Measured]) -> None:
    """Raise `ExportError` when int8 costs more than 0.3 BLEU for any decoder (by name), chance excluded."""
    failed = [
        f"{name}: {fp32[name].scores.bleu:.2f} in fp32, {int8[name].scores.bleu:.2f} in int8"
        for name in fp32
        if fp32[name].scores.bleu - int8[name].scores.bleu > MAX_BLEU_LOSS
        and compare(resample(fp32[name].statistics), resample(int8[name].statistics))["bleu"].high < 0
    ]
    if failed:
        raise ExportError(
            f"int8 loses more than {MAX_BLEU_LOSS} BLEU ({'; '.join(failed)});"
            ' export with quantisation = "fp32", or train longer: outliers in the weights cost precision'
        )
