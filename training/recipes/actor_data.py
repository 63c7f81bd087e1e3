"""What training an actor draws on: the frozen model, training pairs as ids and as text, n-best lists, the dev set."""

import hashlib
import json
import shutil
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from random import Random

import numpy as np
from rich.console import Console
from torch import Tensor

from training.config import ActorTraining, Choice, Config, Reference
from training.corpus.batches import short_enough
from training.corpus.cache import EOS, TokenCorpus
from training.corpus.reading import Pair, is_short_enough, read_pairs
from training.corpus.recombination import recombine
from training.decoding.beam import BeamSettings, beam
from training.decoding.greedy import greedy
from training.decoding.hypothesis import Hypothesis, LengthLimits
from training.decoding.scoring import score_under_model
from training.errors import CorpusError, TrainingError
from training.nmt.checkpoint import write_atomically
from training.nmt.model import TranslationModel
from training.policy.actor import PlainActor, model_for
from training.policy.actor_file import load_actor
from training.policy.consensus import Consensus, consensus_scores
from training.policy.dev import DevScores, DevSet
from training.policy.dpg_training import ScoredLists
from training.policy.lookahead import Crossroads, Judge, look_ahead
from training.policy.nbest import NBest, Search
from training.policy.objectives import Objective
from training.policy.progress import counting
from training.policy.returns import Minibatch, TrueReturns, mean_log_probabilities
from training.policy.supervised import Lessons
from training.policy.targets import (
    Floats,
    Targets,
    choose_targets,
    levelling_bonus,
    pseudo_corpus,
    score_hypotheses,
)
from training.policy.watch import ActorState
from training.recipes.run_folder import RunFolder
from training.tokenizer.subwords import Subwords

BATCH_TOKENS = 12_000
Indices = np.ndarray[tuple[int], np.dtype[np.int64]]

# The draw of training pairs does not depend on the actor's seed, so that all actors share one store of n-best lists.
DRAW_SEED = 20170208


class ActorData:
    """Everything but the actor."""

    def __init__(
        self,
        config: Config,
        run: RunFolder,
        settings: ActorTraining,
        model: TranslationModel,
        objective: Objective,
        console: Console,
    ) -> None:
        self.config, self.run, self.settings = config, run, settings
        self.model, self.objective, self.console = model, objective, console
        self.limits = LengthLimits.from_config(config.decoding)
        self.source = Subwords.load(run.source_tokenizer)
        self.target = Subwords.load(run.target_tokenizer)
        looked_at = settings.dev or {next(iter(config.corpus.dev)): settings.dev_sentences}
        self.dev_name = " + ".join(looked_at)
        self.dev = self._dev_set(looked_at)
        self._greedy_scores: DevScores | None = None

    @property
    def greedy_scores(self) -> DevScores:
        """Plain greedy decoding on the dev set."""
        if self._greedy_scores is None:
            self._greedy_scores = self.dev.measure(self.model, None)
        return self._greedy_scores

    def measure(self, actor: PlainActor) -> DevScores:
        return self.dev.measure(self.model, actor)

    # -- the training pairs; whoever only measures never asks for them ----------------------------------------------

    @cached_property
    def drawn(self) -> tuple[TokenCorpus, Indices]:
        """All pairs there are, and which of them to learn from: a draw of them, and all recombined ones."""
        corpus = self._lessons() if self.config.corpus.lessons else TokenCorpus.open(self.run.data)
        indices = self._draw(corpus)
        if not self.settings.supervised.recombined:
            return corpus, indices
        sources = [corpus.pair(int(index))[0][:-1].tolist() for index in indices]
        made = recombine(sources, self.settings.supervised.recombined, self.settings.max_tokens, DRAW_SEED)
        everything = corpus.extended([(source, ()) for source in made])
        return everything, np.append(indices, np.arange(len(corpus), len(everything)))

    def _lessons(self) -> TokenCorpus:
        """The pairs of the config's lessons."""
        pairs: list[Pair] = []
        for text in self.config.corpus.lessons:
            found = [pair for pair in read_pairs(text, self.config.languages) if is_short_enough(pair, text)]
            pairs += Random(DRAW_SEED).sample(found, min(text.sentences, len(found)))
        sides = self.source.encode_many([one for one, _ in pairs]), self.target.encode_many([one for _, one in pairs])
        return TokenCorpus.of(list(zip(*sides, strict=True)))

    @property
    def corpus(self) -> TokenCorpus:
        return self.drawn[0]

    @property
    def indices(self) -> Indices:
        return self.drawn[1]

    def _draw(self, corpus: TokenCorpus) -> Indices:
        """Pairs that are neither too short nor too long; a random, sorted draw where there are more than asked for."""
        settings = self.settings
        kept = short_enough(corpus.source_lengths, corpus.target_lengths, settings.max_tokens)
        kept = kept[np.minimum(corpus.source_lengths, corpus.target_lengths)[kept] > settings.min_tokens]  # with eos
        if not len(kept):
            raise CorpusError(
                f"none of the {len(corpus)} training pairs has {settings.min_tokens} to {settings.max_tokens} subwords "
                "on both sides; lower min_tokens or raise max_tokens of the actor"
            )
        wanted = settings.supervised.pairs
        if len(kept) > wanted:
            kept = np.sort(np.random.default_rng(DRAW_SEED).choice(kept, wanted, replace=False))
        return kept

    def source_ids(self) -> list[list[int]]:
        """The drawn sources, each closed by eos."""
        return [self.corpus.pair(int(index))[0].tolist() for index in self.indices]

    def texts(self) -> tuple[list[str], list[str]]:
        """The drawn pairs as text; the ids decode to exactly what was read."""
        pairs = [self.corpus.pair(int(index)) for index in self.indices]
        return (
            self.source.decode_many([source[:-1].tolist() for source, _ in pairs]),
            self.target.decode_many([target[:-1].tolist() for _, target in pairs]),
        )

    # -- n-best lists and targets ----------------------------------------------------------------------------------

    def nbest(self) -> NBest:
        """The frozen model's n-best lists of the drawn pairs, searched for once in the life of a run."""
        size, decoding = self.settings.supervised.nbest, self.config.decoding
        settings = BeamSettings(beam_size=size, length_alpha=decoding.length_alpha, n_best=size)
        return self._stored(
            f"{size}-best lists",
            self._nbest_folder().name,
            self.source_ids(),
            lambda part: beam(self.model, part, limits=self.limits, settings=settings, batch_tokens=BATCH_TOKENS),
        )

    def _nbest_folder(self) -> Path:
        """Named for all that decides what is searched for, and found."""
        size, alpha = self.settings.supervised.nbest, self.config.decoding.length_alpha
        key = json.dumps([size, alpha, vars(self.limits), _digest(self.run.model.read_bytes())])
        sources = map(bytes_of, self.source_ids())
        return self.run.path / "nbest" / f"{size}-best-{_digest(key.encode(), *sources)}"

    def pairs(self, reference: Reference) -> TokenCorpus:
        """Pairs to decode and to judge: the corpus's own, or the drawn sources with the targets chosen for them."""
        if reference == "corpus":
            return self.corpus
        return pseudo_corpus(self.corpus, self.indices, self.nbest(), self._first_targets)

    def scored_lists(self, reference: Reference) -> ScoredLists:
        """The n-best lists of these pairs with the objective of every hypothesis, for a critic to learn from."""
        lists = self.nbest()
        if reference == "corpus":
            return ScoredLists(lists, self._scores(lists, "objective", is_stored=True), self.indices)
        sources, references = self.texts()
        outputs, targets = lists.outputs(), self._first_targets
        for sentence, text in zip(
            targets.sentences, self.target.decode_many([outputs[one] for one in targets.hypotheses]), strict=True
        ):
            references[sentence] = text
        numbers = np.full(len(lists), -1)  # a sentence without a target is none of the pairs
        numbers[targets.sentences] = np.arange(len(targets.sentences))
        scores = score_hypotheses(lists, self.objective, sources, references, self.target.decode_many)
        return ScoredLists(lists, scores, numbers)

    @cached_property
    def _first_targets(self) -> Targets:
        """The targets among the frozen model's own hypotheses."""
        lists = self.nbest()
        scores = self._scores(lists, self.settings.supervised.judged_by, is_stored=True)
        return self._targets(lists, scores, "references")

    def round_lessons(self, number: int, state: ActorState) -> Lessons:
        """The pairs of one round: what the objective likes best of the n-best lists and of what the actor says."""
        how = self.settings.supervised
        if how.looks_ahead:
            choices = self._crossroads(number, state.best_actor())
            self._refuse_nothing(int(np.count_nonzero(choices.lengths)), len(choices))
            return Lessons(choices.as_corpus(self.corpus, self.indices), choices)
        candidates = self.nbest()
        for earlier in range(1, number + 1):
            # The actor's own outputs of every round so far; those of this round are decoded now.
            candidates = candidates.with_more(self._own_outputs(earlier, state.best_actor()))
        scores = self._scores(candidates, how.judged_by, is_stored=number == 0)
        targets = self._targets(candidates, scores, f"round {number + 1}")
        return Lessons(pseudo_corpus(self.corpus, self.indices, candidates, targets))

    def _crossroads(self, number: int, actor: PlainActor) -> Crossroads:
        """Where other words would have led: from greedy outputs in the first round, then from the actor's."""
        how, acting = self.settings.supervised, actor if number else None
        sources = self.source_ids()
        judge = self._judge_by_consensus(sources) if how.judged_by == "consensus" else self._judge_by_reference(sources)

        def look(first: int, part: Sequence[Sequence[int]]) -> Crossroads:
            return look_ahead(
                self.model, part, lambda numbers, *outputs: judge([first + one for one in numbers], *outputs),
                limits=self.limits, actor=acting, candidates=how.candidates, nearness=how.nearness,
            )  # fmt: skip

        with counting(self.console, "looking ahead", len(sources)) as advance:
            return Crossroads.stored(self._crossroads_folder(number), sources, look, advance)

    def _judge_by_reference(self, sources: Sequence[list[int]]) -> Judge:
        """The objective against the corpus's references; numbers are those of the drawn sentences."""
        source_texts, references = self.texts()
        returns = TrueReturns(self.objective, self.model, self.target.decode_many)

        def judge(numbers: Sequence[int], outputs: Sequence[Sequence[int]], is_cut: Sequence[bool]) -> list[float]:
            texts = [source_texts[number] for number in numbers], [references[number] for number in numbers]
            batch = Minibatch([sources[number] for number in numbers], [], *texts)
            return returns(batch, outputs, is_cut).squeeze(1).tolist()

        return judge

    def _judge_by_consensus(self, sources: Sequence[list[int]]) -> Judge:
        """The objective in expectation against the n-best lists, with the bonus a token that levels their targets."""
        how, lists = self.settings.supervised, self.nbest()
        consensus = Consensus(lists, self.target.decode_many(lists.outputs()), self.texts()[0], how.temperature)
        bonus = 0.0
        if how.level:
            scores = self._scores(lists, "consensus", is_stored=True)
            bonus = levelling_bonus(lists, scores, how.delta, self.config.decoding.length_alpha)

        def judge(numbers: Sequence[int], outputs: Sequence[Sequence[int]], is_cut: Sequence[bool]) -> list[float]:
            means = None
            if self.objective.needs_log_probabilities:
                means = mean_log_probabilities(self.model, [sources[number] for number in numbers], outputs, is_cut)
            expected = consensus.expect(self.objective, numbers, self.target.decode_many(outputs), means)
            return (expected + bonus * np.array([len(ids) for ids in outputs])).tolist()

        return judge

    def _crossroads_folder(self, number: int) -> Path:
        """The first round's is shared by all actors of the objective; later ones are an actor's own."""
        if number:
            return self.run.path / "nbest" / self._round_name(str(number))
        how = self.settings.supervised
        against = [how.nbest, how.temperature, how.level and how.delta] if how.judged_by == "consensus" else []
        key = json.dumps(
            [
                how.choice, how.candidates, how.nearness, self.objective.name, self.settings.objective_options,
                vars(self.limits), _digest(self.run.model.read_bytes()), *against,
            ],
            sort_keys=True,
        )  # fmt: skip
        name = f"lookahead-{_digest(key.encode(), *map(bytes_of, self.source_ids()))}"
        # An objective of one's own may be another one tomorrow under the same name.
        return self.run.path / "nbest" / (self._round_name("0") if ":" in self.objective.name else name)

    def _targets(self, candidates: NBest, scores: Floats, when: str) -> Targets:
        """The hypotheses with the best scores, as the options say."""
        how, alpha = self.settings.supervised, self.config.decoding.length_alpha
        bonus = levelling_bonus(candidates, scores, how.delta, alpha) if how.level else 0.0
        targets = choose_targets(candidates, scores + bonus * candidates.lengths, how.delta, alpha)
        self._refuse_nothing(len(targets.sentences), len(candidates))
        self.console.print(
            f"{when}: {len(targets.sentences):,} targets, {how.choice} "
            f"{scores[targets.hypotheses].mean():.4f}; the model's own best {scores[candidates.starts].mean():.4f}",
            highlight=False,
        )
        return targets

    @staticmethod
    def _refuse_nothing(usable: int, sentences: int) -> None:
        if not usable:
            raise TrainingError(
                f"all hypotheses of all {sentences:,} sentences were cut at the length limit, so that there is "
                "nothing to learn from: train the model for longer, or raise decoding.max_length"
            )

    def _scores(self, candidates: NBest, choice: Choice, is_stored: bool) -> Floats:
        """What is good about each hypothesis; kept beside the n-best lists for the next actor of the same objective."""
        name = self.objective.name
        # An objective of one's own may be another one tomorrow under the same name.
        if not is_stored or ":" in name:
            return self._score(candidates, choice)
        temperature = self.settings.supervised.temperature if choice == "consensus" else None
        key = json.dumps([name, self.settings.objective_options, choice, temperature], sort_keys=True)
        path = self._nbest_folder() / f"scores-{choice}-{name}-{_digest(key.encode())}.npy"
        if not path.exists():
            scores = self._score(candidates, choice)
            write_atomically(path, lambda temporary: _save_array(temporary, scores))
        return np.asarray(np.load(path), np.float64)

    def _score(self, candidates: NBest, choice: Choice) -> Floats:
        sources, references = self.texts()
        if choice == "objective":
            return score_hypotheses(candidates, self.objective, sources, references, self.target.decode_many)
        with counting(self.console, f"consensus in {self.objective.name}", len(candidates)) as advance:
            return consensus_scores(
                candidates,
                self.objective,
                sources,
                self.target.decode_many,
                self.settings.supervised.temperature,
                advance,
            )

    def discard_rounds(self, name: str) -> None:
        """Remove the outputs of this actor's own rounds, which no other actor can use."""
        for folder in (self.run.path / "nbest").glob(f"{self._round_name('*')}"):
            shutil.rmtree(folder)

    def _own_outputs(self, number: int, actor: PlainActor) -> NBest:
        def search(part: Sequence[Sequence[int]]) -> list[list[Hypothesis]]:
            outputs = greedy(
                model_for(self.model, actor), part, limits=self.limits, actor=actor, batch_tokens=BATCH_TOKENS
            )
            cut = [output.is_truncated for output in outputs]
            scores = score_under_model(
                self.model, part, [one.ids for one in outputs], truncated=cut, batch_tokens=BATCH_TOKENS
            )
            return [[Hypothesis(one.ids, row, one.is_truncated)] for one, row in zip(outputs, scores, strict=True)]

        return self._stored(f"outputs of round {number}", self._round_name(str(number)), self.source_ids(), search)

    def _round_name(self, number: str) -> str:
        return f"own-{_digest(self.settings.model_dump_json().encode())}-{number}"

    def _stored(self, what: str, name: str, sources: list[list[int]], search: Search) -> NBest:
        folder = self.run.path / "nbest" / name
        with counting(self.console, what, len(sources)) as advance:
            return NBest.stored(folder, sources, lambda _, part: NBest.of(search(part)), advance)

    def actor_to_start_from(self, name: str, actor: PlainActor) -> dict[str, Tensor]:
        """The weights of another actor of the run, which must have the shape of this one."""
        path = self.run.actor(name)
        other = load_actor(path, self.model.sizes)
        weights, expected = other.state_dict(), actor.state_dict()
        shapes, wanted = ({key: tuple(value.shape) for key, value in part.items()} for part in (weights, expected))
        if shapes != wanted:
            raise TrainingError(
                f"dpg.start = {name!r}: {path} has the weights {shapes}, this actor needs {wanted}; "
                "give both the same variant, hidden and sees_previous_word"
            )
        if other.acts_after != actor.acts_after:
            raise TrainingError(f"dpg.start = {name!r}: {path} acts in another place; give both the same place")
        return weights

    # -- the dev set -----------------------------------------------------------------------------------------------

    def _dev_set(self, looked_at: Mapping[str, int]) -> DevSet:
        """The first sentences of these sets, so many of each, as one set."""
        sets = [(self.run.dev_set(name), count) for name, count in looked_at.items()]
        parts = [(texts.sources[:count], texts.references[:count]) for texts, count in sets]
        sources = [text for part, _ in parts for text in part]
        references = [text for _, part in parts for text in part]
        return DevSet(
            sources,
            references,
            [[*ids, EOS] for ids in self.source.encode_many(sources)],
            self.target.decode_many,
            self.objective,
            self.limits,
            [len(part) for part, _ in parts],
        )


def _save_array(path: Path, array: Floats) -> None:
    with path.open("wb") as file:  # a path without .npy would get one
        np.save(file, array)


def bytes_of(ids: Sequence[int]) -> bytes:
    return np.array(ids, np.int32).tobytes()


def _digest(*parts: bytes) -> str:
    digest = hashlib.sha256()
    for part in parts:
        digest.update(part)
    return digest.hexdigest()[:12]
