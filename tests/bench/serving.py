"""How fast we translate beside the peers: `make bench`.

One thread, sources of 20 tokens, outputs of exactly 20, the whole path from ids to ids: encoder, decoder, search.  Ours
goes through the service's own engine with its queue and its batching.  The contestants take turns in every round, and
what counts is the median of the rounds' ratios.

Two sizes of ours, each beside a Transformer of as many parameters (no embeddings shared, on either side):

    S         embedding 256, state 512, 8,000 words, readout 512: 12M parameters
    shipped   readout 256, two layers that refine annotations: 12.7M; and of the 8,000 joint subwords the decoder
              says the 5,100 that English uses
"""

import argparse
import asyncio
import statistics
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import torch
from engine import SIZES, SOURCE_TOKENS, make_engine
from peers import recurrent, transformer
from rich.console import Console
from rich.table import Table

from service.engine.engine import Engine
from service.engine.types import Beam, Decoder, EngineSettings, Greedy, Job
from training.export.weights import Sizes, random_weights

Rows = list[list[int]]
Translate = Callable[[Rows, int], None]  # (rows, how many times over)


def ours(engine: Engine, loop: asyncio.AbstractEventLoop, decoder: Decoder, actors: int) -> Translate:
    async def translate(rows: Rows, repeats: int) -> None:
        gains = [tuple(float(actor == index % actors) for actor in range(actors)) for index in range(len(rows))]
        jobs = [Job(tuple(row), gain, decoder, has_guard=False) for row, gain in zip(rows, gains, strict=True)]
        for _ in range(repeats):
            await engine.submit_all(jobs)

    return lambda rows, repeats: loop.run_until_complete(translate(rows, repeats))


def theirs(translate: Callable[[Rows, int], None]) -> Translate:
    def translate_all(rows: Rows, repeats: int) -> None:
        for _ in range(repeats):
            translate(rows, SOURCE_TOKENS)

    return translate_all


@dataclass(frozen=True)
class Contest:
    """A size of ours: as trained, and as served."""

    name: str
    trained: Sizes
    served: Sizes

    @property
    def parameters(self) -> int:
        return sum(array.size for array in random_weights(self.trained).arrays.values())


S_SIZE = replace(SIZES, readout=512)
SHIPPED = replace(SIZES, refinement=2)
CONTESTS = (Contest("S", S_SIZE, S_SIZE), Contest("shipped", SHIPPED, replace(SHIPPED, target_vocabulary=5100)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=25)
    parser.add_argument("--size", choices=[contest.name for contest in CONTESTS], help="one size only")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    for contest in CONTESTS:
        if arguments.size in (None, contest.name):
            run(contest, arguments.rounds, Console(width=120))


def run(contest: Contest, rounds: int, console: Console) -> None:
    """Race everybody at one size, at batch 1 and 32."""
    parameters, sizes = contest.parameters, contest.trained
    loop = asyncio.new_event_loop()
    engines = {actors: make_engine(actors, EngineSettings(), contest.served) for actors in (0, 1, 4)}
    for engine in engines.values():
        loop.run_until_complete(_start(engine))
    with tempfile.TemporaryDirectory() as folder:
        greedy_peer, peer_parameters = transformer(sizes, parameters, Path(folder, "greedy"))
        beam_peer, _ = transformer(sizes, parameters, Path(folder, "beam"), beam_size=5)
        joey, joey_parameters = recurrent(sizes)
        contestants: dict[str, Translate] = {
            "nudge int8, greedy": ours(engines[0], loop, Greedy(), 0),
            "nudge int8, greedy, one actor": ours(engines[1], loop, Greedy(), 1),
            "nudge int8, greedy, four actors mixed": ours(engines[4], loop, Greedy(), 4),
            "nudge int8, beam 5": ours(engines[0], loop, Beam(size=5), 0),
            f"ctranslate2 int8 Transformer ({peer_parameters / 1e6:.1f}M), greedy": theirs(greedy_peer),
            f"ctranslate2 int8 Transformer ({peer_parameters / 1e6:.1f}M), beam 5": theirs(beam_peer),
            f"joeynmt GRU ({joey_parameters / 1e6:.1f}M), greedy": theirs(joey),
        }
        for batch in (1, 32):
            title = f"{contest.name} ({parameters / 1e6:.1f}M), batch {batch}, one thread, 20 tokens in and out"
            console.print(_race(contestants, batch, rounds, title))
    for engine in engines.values():
        loop.run_until_complete(engine.close())


async def _start(engine: Engine) -> None:
    engine.start()


def _race(contestants: dict[str, Translate], batch: int, rounds: int, title: str) -> Table:
    random = np.random.default_rng(1)
    speeds: dict[str, list[float]] = {name: [] for name in contestants}
    order, repeats = list(contestants), 8 if batch == 1 else 1
    for number in range(rounds + 2):
        rows = [[*random.integers(4, SIZES.source_vocabulary, SOURCE_TOKENS - 1).tolist(), 3] for _ in range(batch)]
        random.shuffle(order)  # who follows whom matters: each leaves the caches full of its own weights
        for name in order:
            began = time.perf_counter()
            contestants[name](rows, repeats)
            if number >= 2:  # the first rounds warm up
                speeds[name].append(repeats * batch * SOURCE_TOKENS / (time.perf_counter() - began))
    first = next(iter(contestants))
    table = Table(title=title)
    table.add_column("")
    for column in ("target tokens/s", "nudge greedy is … times as fast", "quartiles of rounds"):
        table.add_column(column, justify="right")
    for name, own in speeds.items():
        ratios = sorted(one / other for one, other in zip(speeds[first], own, strict=True))
        low, high = ratios[len(ratios) // 4], ratios[-1 - len(ratios) // 4]
        table.add_row(
            name, f"{statistics.median(own):,.0f}", f"{statistics.median(ratios):.3f}", f"{low:.3f} … {high:.3f}"
        )
    return table


if __name__ == "__main__":
    main()
