"""A Soothsayer for one objective: trained on the run's n-best lists, weighted on the dev set, kept in the run."""

from rich.console import Console

from training.config import Config
from training.decoding.beam import BeamSettings, beam
from training.policy.progress import counting
from training.policy.soothsayer import (
    UPDATES,
    WEIGHTS,
    Soothsayer,
    Tuned,
    load_soothsayer,
    save_soothsayer,
    train_soothsayer,
)
from training.policy.targets import score_hypotheses
from training.recipes.actor_data import ActorData


def soothsayer_for(data: ActorData, config: Config, console: Console) -> Tuned:
    """The run's Soothsayer for the data's objective; trained and tuned now if there is none yet."""
    path = data.run.path / "soothsayers" / f"{data.objective.name.replace(':', '-')}.safetensors"
    known = load_soothsayer(path, data.model.sizes)
    if known is not None:
        return known
    nbest = data.nbest()
    scores = score_hypotheses(nbest, data.objective, *data.texts(), data.target.decode_many)
    with counting(console, f"Soothsayer for {data.objective.name}: updates", UPDATES) as advance:
        soothsayer = train_soothsayer(
            data.model,
            data.source_ids(),
            nbest,
            scores,
            data.objective.is_bounded,
            seed=data.settings.seed,
            on_update=lambda update, loss: advance(1),
        )
    tried = {weight: _dev_objective(data, config, soothsayer, weight) for weight in WEIGHTS}
    weight = max(tried, key=lambda one: tried[one])
    facts = {"objective": data.objective.name, "dev_objective": tried[weight], "tried": tried}
    console.print(f"Soothsayer for {data.objective.name}: weight {weight:g}, dev {tried[weight]:.4f}", highlight=False)
    tuned = Tuned(soothsayer, weight, facts)
    save_soothsayer(path, tuned)
    return tuned


def _dev_objective(data: ActorData, config: Config, soothsayer: Soothsayer, weight: float) -> float:
    decoding = config.decoding
    settings = BeamSettings(decoding.beam_size, decoding.length_alpha, 1, soothsayer, weight)
    lists = beam(data.model, data.dev.source_ids, limits=data.limits, settings=settings)
    return data.dev.judge(data.model, [best for best, *_ in lists]).objective
