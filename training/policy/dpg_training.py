"""The outer loop of Algorithm 1: two shuffles, N_c critic updates, N_a actor updates, looks at the dev set."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from training.config import PolicyGradient
from training.corpus.batches import BatchStream
from training.corpus.cache import TokenCorpus
from training.policy.actor import PlainActor
from training.policy.dev import DevScores
from training.policy.dpg import PolicyGradientLearner, unbiased_rate
from training.policy.nbest import NBest
from training.policy.returns import Decode, minibatches
from training.policy.watch import MAX_COLLAPSES, ActorState, Observer, Tally, record_look, start_state

PRETRAINING_CHECKPOINT = 200  # critic updates between checkpoints before the actor's first


@dataclass
class CriticState:
    """ψ with its optimizer and how far it is in its own shuffle; saved and loaded with the actor's state."""

    learner: PolicyGradientLearner
    updates: int = 0

    def state_dict(self) -> dict[str, Any]:
        return {
            "critic": self.learner.critic.state_dict(),
            "optimizer": self.learner.critic_optimizer.state_dict(),
            "updates": self.updates,
        }

    def load_state_dict(self, saved: dict[str, Any]) -> None:
        self.learner.critic.load_state_dict(saved["critic"])
        self.learner.critic_optimizer.load_state_dict(saved["optimizer"])
        self.updates = saved["updates"]


def start(learner: PolicyGradientLearner) -> ActorState:
    """The state before the first update."""
    state = start_state(learner.actor, learner.actor_optimizer)
    state.more["critic"] = CriticState(learner)
    return state


class PolicyGradientTraining:
    """Draws from two shuffles of the corpus; every number random is derived from the seed and an update's number."""

    def __init__(
        self,
        learner: PolicyGradientLearner,
        state: ActorState,
        corpus: TokenCorpus,
        config: PolicyGradient,
        max_tokens: int,
        seed: int,
        decoders: tuple[Decode, Decode],
        lists: "ScoredLists | None" = None,
    ) -> None:
        self.learner, self.state, self.config, self.seed, self.lists = learner, state, config, seed, lists
        self.critic_state: CriticState = state.more["critic"]
        # Line 3: shuffle D twice, into D_φ and D_ψ.
        actor_stream, critic_stream = (
            BatchStream(
                corpus,
                batch_tokens=max(config.batch_tokens, max_tokens + 2),
                max_tokens=max_tokens,
                seed=2 * seed + which,
            )
            for which in (0, 1)
        )
        self.actor_pairs = minibatches(actor_stream, state.update, *decoders)
        self.critic_pairs = minibatches(critic_stream, self.critic_state.updates, *decoders)
        self._first_batch = next(minibatches(critic_stream, 0, *decoders))

    def train(self, measure: Callable[[PlainActor], DevScores], observer: Observer) -> None:
        """Update until the last update, or until the dev objective has not risen for `patience` looks."""
        state, config, tally = self.state, self.config, Tally()
        if not state.looks:
            first = measure(state.candidate())
            observer.looked(state, record_look(state, first, {}))
            observer.checkpoint(state)
        self._pretrain_critic(observer, tally)
        while (
            state.update < config.max_updates
            and not state.has_stalled(config.patience)
            and state.collapses <= MAX_COLLAPSES
        ):
            began = time.monotonic()
            # A run resumes in the middle of neither loop: cycles are whole.
            for _ in range(config.critic_updates):
                tally.add(self._update_critic())
            for _ in range(min(config.actor_updates, config.max_updates - state.update)):
                measures = self._update_actor()
                tally.add(measures)
            state.seconds += time.monotonic() - began
            observer.updated(state, measures)
            if (
                _crosses(state.update, config.actor_updates, config.evaluate_every)
                or state.update >= config.max_updates
            ):
                observer.looked(state, record_look(state, measure(state.candidate()), tally.take()))
                observer.checkpoint(state)

    def _pretrain_critic(self, observer: Observer, tally: Tally) -> None:
        if self.critic_state.updates == 0:
            self.learner.critic.start_at(self._first_return())
        while self.state.update == 0 and self.critic_state.updates < self.config.critic_pretraining:
            began = time.monotonic()
            measures = self._update_critic() if self.lists is None else self._update_critic_on_lists(self.lists)
            self.state.seconds += time.monotonic() - began
            observer.updated(self.state, measures | {"critic_updates": float(self.critic_state.updates)})
            if self.critic_state.updates % PRETRAINING_CHECKPOINT == 0:
                observer.checkpoint(self.state)

    def _first_return(self) -> float:
        """The mean return of one minibatch, as the actor decodes it now."""
        with torch.no_grad():
            decoded = self.learner.decode(1, self._first_batch, self._noise(2, 0), with_reference=True)
        return decoded.r.mean().item()

    def _update_critic(self) -> dict[str, float]:
        measures = self.learner.update_critic(next(self.critic_pairs), self._noise(1, self.critic_state.updates))
        self.critic_state.updates += 1
        return measures

    def _update_critic_on_lists(self, lists: "ScoredLists") -> dict[str, float]:
        random = np.random.default_rng((self.seed, self.critic_state.updates))
        batch = next(self.critic_pairs)
        batch = batch.keep([row for row, index in enumerate(batch.indices) if index in lists])
        if not len(batch):  # none of these pairs was searched
            self.critic_state.updates += 1
            return {}
        drawn = [lists.draw(index, self.config.critic_lists, random) for index in batch.indices]
        outputs = [ids for row, _ in drawn for ids in row]
        returns = torch.tensor([scores for _, scores in drawn], dtype=torch.float32)
        noise = self._noise(1, self.critic_state.updates)
        measures = self.learner.update_critic_on_lists(batch, outputs, returns, noise)
        self.critic_state.updates += 1
        return measures

    def _update_actor(self) -> dict[str, float]:
        for group in self.learner.actor_optimizer.param_groups:
            rate = self.config.actor_learning_rate * self.state.rate_factor
            group["lr"] = unbiased_rate(rate, group["alpha"], self.state.update)
        measures = self.learner.update_actor(next(self.actor_pairs), self._noise(0, self.state.update))
        self.state.update += 1
        self.state.move_average(0.0)
        return measures

    def _noise(self, which: int, number: int) -> torch.Generator:
        return torch.Generator().manual_seed((self.seed * 3 + which) * 10_000_019 + number)


class ScoredLists:
    """Hypotheses of every training pair with their returns, by the pair's number in the corpus."""

    def __init__(self, nbest: NBest, scores: NDArray[np.float64], indices: NDArray[np.int64]) -> None:
        self._outputs, self._scores, self._starts, self._counts = nbest.outputs(), scores, nbest.starts, nbest.counts
        self._sentence = {int(index): sentence for sentence, index in enumerate(indices)}

    def __contains__(self, index: int) -> bool:
        return index in self._sentence

    def draw(self, index: int, count: int, random: np.random.Generator) -> tuple[list[list[int]], list[float]]:
        """So many hypotheses of a pair, drawn with replacement, and their returns."""
        sentence = self._sentence[index]
        chosen = self._starts[sentence] + random.integers(0, self._counts[sentence], count)
        return [self._outputs[hypothesis] for hypothesis in chosen], self._scores[chosen].tolist()


def _crosses(update: int, step: int, every: int) -> bool:
    """Whether a multiple of `every` lies within the last `step` updates."""
    return update // every != (update - step) // every
