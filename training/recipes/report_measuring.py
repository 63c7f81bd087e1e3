"""Decode a test set with everything the report compares, and hold the results against each other."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from rich.console import Console

from training.config import ActorTraining, Config
from training.decoding.beam import BeamSettings, beam
from training.decoding.greedy import greedy
from training.decoding.hypothesis import Hypothesis, LengthLimits
from training.evaluation.actor_report import ActorResult, SetResult, System, metric_of
from training.evaluation.bootstrap import DEFAULT_SEED, Difference, compare
from training.evaluation.decoders import Decoder
from training.evaluation.examples import Example, to_html, words_with_influence
from training.evaluation.influence import NOTABLE, Influence, influence
from training.evaluation.metrics import METRICS
from training.evaluation.objective_means import compare_means
from training.evaluation.prepared_set import Decode, Measurement, PreparedSet
from training.nmt.checkpoint import load_model, write_atomically
from training.policy.actor import PlainActor, model_for
from training.policy.actor_file import load_actor, load_facts
from training.policy.controls import tune_length_bonuses, with_length_bonus
from training.policy.dev import DevScores
from training.policy.objectives import Objective, Translations, load_objective
from training.policy.soothsayer import Tuned
from training.recipes.actor_data import ActorData
from training.recipes.run_folder import EvaluationSet, RunFolder
from training.recipes.soothsaying import soothsayer_for
from training.tokenizer.subwords import Subwords

EXAMPLES = 30
ALL_SENTENCES = 1_000_000


class RunMeasuring:
    """Everything that is the same for all test sets: the model, the actors, what was tuned on the dev set."""

    def __init__(
        self,
        config: Config,
        run: RunFolder,
        names: Sequence[str],
        with_beam: bool,
        soothsayers: Sequence[str],
        draws: int,
        console: Console,
        with_npad: bool = True,
    ) -> None:
        self.config, self.run, self.with_beam, self.draws, self.console = config, run, with_beam, draws, console
        self.baselines = ("greedy", "beam", "npad") if with_npad else ("greedy", "beam")
        self.limits = LengthLimits.from_config(config.decoding)
        self.model, _ = load_model(run.path)
        self.source, self.target = Subwords.load(run.source_tokenizer), Subwords.load(run.target_tokenizer)
        self.actors: dict[str, PlainActor] = {name: load_actor(run.actor(name), self.model.sizes) for name in names}
        self.facts: dict[str, dict[str, Any]] = {name: load_facts(run.actor(name)) for name in names}
        self.objectives = {name: self._objective(facts) for name, facts in self.facts.items()}
        self.bonuses = self._tune_bonuses()
        self.soothsayers: dict[str, Tuned] = {
            name: soothsayer_for(self._data(ActorTraining(objective=name)), config, console) for name in soothsayers
        }

    def _objective(self, facts: Mapping[str, Any]) -> Objective:
        return load_objective(facts["objective"], facts.get("settings", {}).get("objective_options"))

    def _data(self, settings: ActorTraining) -> ActorData:
        objective = load_objective(settings.objective, settings.objective_options)
        return ActorData(self.config, self.run, settings, self.model, objective, self.console)

    def _tune_bonuses(self) -> dict[str, float]:
        """For each objective, the length bonus that is best for it on the dev set."""
        objectives = {facts["objective"]: self.objectives[name] for name, facts in self.facts.items()}
        data = self._data(ActorTraining(objective="bleu", dev_sentences=ALL_SENTENCES))
        tuned = tune_length_bonuses(self.model, data.dev, objectives)
        for name, one in tuned.items():
            self.console.print(
                f"length bonus for {name}: {one.bonus:+g} ({one.objective:.4f} on {data.dev_name})", highlight=False
            )
        return {name: one.bonus for name, one in tuned.items()}

    def dev_baselines(self) -> dict[str, DevScores]:
        """Greedy decoding and beam search on the dev set that actors are chosen on."""
        data = self._data(ActorTraining(objective="bleu", dev_sentences=ALL_SENTENCES, dev=self.config.actors_dev))
        width = BeamSettings(self.config.decoding.beam_size, self.config.decoding.length_alpha, 1)
        lists = beam(self.model, data.dev.source_ids, limits=self.limits, settings=width)
        searched = data.dev.judge(self.model, [best for best, *_ in lists])
        return {"greedy": data.greedy_scores, f"beam {width.beam_size}": searched}

    # -- one test set ----------------------------------------------------------------------------------------------

    def measure(self, set_name: str) -> SetResult:
        """Decode one test (or dev/…) set with every system and compare."""
        name = set_name.removeprefix("dev/")
        text = self.run.dev_set(name) if set_name.startswith("dev/") else self.run.test_set(name)
        text = replace(text, name=set_name)
        prepared = PreparedSet(set_name, text.sources, text.references, self.source, self.target)
        measured = {name: self._decode(prepared, name, *how) for name, how in self._systems().items()}
        means = {name: self._objective_means(text, one) for name, one in measured.items()}
        influences = {
            name: influence(self.model, actor, prepared.source_ids, measured[f"actor:{name}"].hypotheses)
            for name, actor in self.actors.items()
        }
        for name in self.actors:
            self._write_examples(text, name, measured, means, influences[name])
        comparing = Comparing(measured, means, self.draws)
        return SetResult(
            test_set=set_name,
            sentences=len(prepared),
            systems=[_system(name, one, means[name], text) for name, one in measured.items()],
            actors=[self._actor_result(name, comparing, influences[name]) for name in self.actors],
            notes=[
                "Length bonuses tuned on dev: " + ", ".join(f"{key} {value:+g}" for key, value in self.bonuses.items())
            ],
            length_bonuses=self.bonuses,
        )

    def _systems(self) -> dict[str, tuple[Decode, bool]]:
        """Each system's name, how it decodes, and whether its probabilities are not the frozen model's."""
        systems: dict[str, tuple[Decode, bool]] = {}
        for name in self.baselines:
            systems[name] = (self._named(name, None), False)
        for objective, tuned in self.soothsayers.items():
            systems[f"soothsayer:{objective}"] = (self._soothsayer(tuned), False)
        for objective, bonus in self.bonuses.items():
            systems[f"length-bonus:{objective}"] = (self._biased(bonus), True)
        for name, actor in self.actors.items():
            systems[f"actor:{name}"] = (self._named(f"actor:{name}", actor), True)
        if self.with_beam:
            for name, actor in self.actors.items():
                systems[f"beam+actor:{name}"] = (self._named(f"beam+actor:{name}", actor), True)
        return systems

    def _named(self, name: str, actor: PlainActor | None) -> Decode:
        decoder = Decoder.parse(name)
        model = self.model if actor is None else model_for(self.model, actor)
        return lambda sources: decoder.decode(model, sources, self.config.decoding, actor)

    def _biased(self, bonus: float) -> Decode:
        model = with_length_bonus(self.model, bonus)
        return lambda sources: greedy(model, sources, limits=self.limits)

    def _soothsayer(self, tuned: Tuned) -> Decode:
        decoding = self.config.decoding
        settings = BeamSettings(decoding.beam_size, decoding.length_alpha, 1, tuned.soothsayer, tuned.weight)

        def decode(sources: Sequence[Sequence[int]]) -> list[Hypothesis]:
            return [best for best, *_ in beam(self.model, sources, limits=self.limits, settings=settings)]

        return decode

    def _decode(self, prepared: PreparedSet, name: str, decode: Decode, has_actor: bool) -> Measurement:
        measurement = prepared.measure(self.model, name, decode, has_actor=has_actor, draws=self.draws)
        scores = measurement.row.scores
        self.console.print(
            f"{prepared.name} · {name}: BLEU {scores.bleu:.2f} · chrF {scores.chrf:.2f} · log p "
            f"{scores.log_probability:.4f} · length {scores.length_ratio:.3f}",
            highlight=False,
        )
        return measurement

    def _objective_means(self, text: EvaluationSet, measurement: Measurement) -> dict[str, list[float]]:
        """Sentence scores of every actor's objective, by the objective's name."""
        sums = measurement.statistics.log_probability
        translations = Translations(
            text.sources, measurement.texts, text.references, (sums[:, 0] / sums[:, 1].clip(min=1)).tolist()
        )
        return {objective.name: objective.score(translations) for objective in self.objectives.values()}

    # -- one actor -------------------------------------------------------------------------------------------------

    def _actor_result(self, name: str, comparing: "Comparing", found: Sequence[Influence]) -> ActorResult:
        facts, system = self.facts[name], f"actor:{name}"
        own = metric_of(facts["objective"])
        against_greedy = comparing.all("greedy", system)
        beam_gain = comparing.one("greedy", "beam", own).difference
        constants = [
            other
            for other, others in self.facts.items()
            if others["variant"] == "constant" and others["objective"] == facts["objective"]
        ]
        is_control = facts["variant"] == "constant"
        # The best constant action on the test set: the hardest to beat.
        best_constant = max(constants, key=lambda other: comparing.score(f"actor:{other}", own), default=None)
        tokens = [value for one in found for value in one.tokens]
        return ActorResult(
            name=name,
            group=self._group(name),
            objective=facts["objective"],
            method=facts["method"],
            is_control=is_control,
            minutes=facts.get("training", {}).get("cpu_minutes"),
            against_greedy=against_greedy,
            against_beam=comparing.all("beam", f"beam+actor:{name}") if self.with_beam else None,
            share_of_beam=against_greedy[own].difference / beam_gain if beam_gain > 0 else None,
            against_constant=None
            if best_constant is None or is_control
            else comparing.one(f"actor:{best_constant}", system, own),
            against_length_bonus=comparing.one(f"length-bonus:{facts['objective']}", system, own),
            mean_influence=sum(tokens) / max(1, len(tokens)),
            notable_share=sum(value > NOTABLE for value in tokens) / max(1, len(tokens)),
        )

    def _group(self, name: str) -> str:
        """What actors that differ in their seed alone are called together: their name without the seed."""

        def training(facts: Mapping[str, Any]) -> object:
            settings = facts.get("settings")
            return ActorTraining.model_validate(settings).without_seed() if settings else facts["name"]

        own = training(self.facts[name])
        alike = [other for other, facts in self.facts.items() if training(facts) == own]
        common = {other.removesuffix(f"-{self.facts[other].get('seed')}") for other in alike}
        return common.pop() if len(alike) > 1 and len(common) == 1 else alike[0]

    def _write_examples(
        self,
        text: EvaluationSet,
        name: str,
        measured: Mapping[str, Measurement],
        means: Mapping[str, Mapping[str, Sequence[float]]],
        found: Sequence[Influence],
    ) -> None:
        """The sentences whose objective the actor changes most, for better and for worse."""
        objective, system = self.objectives[name].name, measured[f"actor:{name}"]
        changes = [
            after - before
            for before, after in zip(means["greedy"][objective], means[f"actor:{name}"][objective], strict=True)
        ]
        order = sorted(range(len(changes)), key=lambda index: -abs(changes[index]))[:EXAMPLES]
        examples = [
            Example(
                text.sources[index],
                text.references[index],
                measured["greedy"].texts[index],
                system.texts[index],
                words_with_influence(self._pieces(system.hypotheses[index]), found[index].tokens),
                changes[index],
            )
            for index in order
        ]
        page = to_html(f"{self.config.name}: {name} on {text.name}", objective, examples)
        path = self.run.reports / "examples" / f"{name}-{text.name.replace('/', '-')}.html"
        write_atomically(path, lambda temporary: temporary.write_text(page, encoding="utf-8"))

    def _pieces(self, hypothesis: Hypothesis) -> list[str]:
        return [self.target.piece(token) for token in hypothesis.ids]


class Comparing:
    """Differences between two systems: corpus metrics by their statistics, other objectives by their means."""

    def __init__(
        self,
        measured: Mapping[str, Measurement],
        means: Mapping[str, Mapping[str, Sequence[float]]],
        draws: int,
    ) -> None:
        self._measured, self._means, self._draws = measured, means, draws
        known = {metric.name for metric in METRICS}
        self._others = [name for name in next(iter(means.values())) if metric_of(name) not in known]

    def all(self, baseline: str, system: str) -> dict[str, Difference]:
        """Every metric and every other objective."""
        found = dict(compare(self._measured[baseline].resampled, self._measured[system].resampled))
        return found | {name: self._mean(baseline, system, name) for name in self._others}

    def one(self, baseline: str, system: str, metric: str) -> Difference:
        if metric in self._others:
            return self._mean(baseline, system, metric)
        return compare(self._measured[baseline].resampled, self._measured[system].resampled)[metric]

    def score(self, system: str, metric: str) -> float:
        if metric in self._others:
            return sum(self._means[system][metric]) / len(self._means[system][metric])
        return self._measured[system].resampled.scores[metric]

    def _mean(self, baseline: str, system: str, name: str) -> Difference:
        first, second = self._means[baseline][name], self._means[system][name]
        return compare_means(name, first, second, draws=self._draws, seed=DEFAULT_SEED)


def _system(name: str, measurement: Measurement, means: Mapping[str, Sequence[float]], text: EvaluationSet) -> System:
    known = {metric.name for metric in METRICS}
    scores: dict[str, float] = dict(measurement.resampled.scores)
    scores |= {key: sum(values) / len(values) for key, values in means.items() if metric_of(key) not in known}
    row = measurement.row
    characters = sum(map(len, measurement.texts)) / max(1, sum(map(len, text.references)))
    return System(name, scores, row.scores.length_ratio, characters, row.tokens_per_second, row.truncated)
