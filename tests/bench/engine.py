"""How fast the engine decodes, and what actors cost it: `python tests/bench/engine.py [--rounds 11] [--sentences 400]`.

Random weights of size 256/512/8k (int8): speed does not depend on what the numbers are.  Sources of 20
tokens (or a range, `--lengths 5 40`), outputs exactly as long, one thread.  Closed loop: each of N callers sends its
next sentence when the last one is answered.  The engines to compare take turns, round by round, so a slow moment of the
machine hits all of them.
"""

import argparse
import asyncio
import statistics
import time

import numpy as np

from service.engine.engine import Engine
from service.engine.sessions import open_session
from service.engine.shape import ModelShape
from service.engine.types import Beam, Decoder, EngineSettings, Greedy, Job
from training.export.encoder import build_encoder
from training.export.step import build_step
from training.export.weights import ModelWeights, Sizes, random_actor, random_weights

SOURCE_TOKENS = 20
UNITS = 32
SIZES = Sizes(
    source_vocabulary=8000,
    target_vocabulary=8000,
    embedding=256,
    encoder=256,
    decoder=512,
    attention=128,
    readout=256,
)


def make_engine(actors: int, settings: EngineSettings, sizes: Sizes = SIZES) -> Engine:
    """An engine on random weights that never says eos, so that every output is as long as its source."""
    weights = random_weights(sizes, scale=0.05)
    bias = weights["output.bias"].copy()
    bias[3] = -100.0
    weights = ModelWeights(sizes, {**weights.arrays, "output.bias": bias})
    named = [random_actor(f"actor-{index}", UNITS, sizes, seed=index) for index in range(actors)]
    shape = ModelShape(
        source_vocabulary=sizes.source_vocabulary,
        target_vocabulary=sizes.target_vocabulary,
        state=sizes.decoder,
        key=sizes.attention,
        values=3 * sizes.decoder + sizes.readout + UNITS * actors,
        actor_units=UNITS * actors,
        units_of_actors=tuple((UNITS * index, UNITS * (index + 1)) for index in range(actors)),
        pad_id=0,
        bos_id=2,
        eos_id=3,
        max_source_tokens=200,
        max_length=200,
        max_length_ratio=1.0,
        max_length_extra=0,
    )
    encoder, step = (
        open_session(build(weights, named, "int8").SerializeToString(), settings.threads)
        for build in (build_encoder, build_step)
    )
    return Engine(encoder, step, shape, settings)


def jobs(actors: int, count: int, decoder: Decoder, lengths: tuple[int, int]) -> list[Job]:
    """Sentences that take the actors in turn (all of them without one when there is none)."""
    generator = np.random.default_rng(0)
    made = []
    for index in range(count):
        length = int(generator.integers(lengths[0], lengths[1] + 1))
        ids = (*generator.integers(4, SIZES.source_vocabulary, length - 1).tolist(), 3)
        gains = tuple(float(actor == index % actors) for actor in range(actors))
        made.append(Job(ids, gains, decoder, has_guard=False))
    return made


async def throughput(engine: Engine, work: list[Job], callers: int) -> tuple[float, float]:
    """Return target tokens a second, and the median latency in ms."""
    waiting = iter(work)
    latencies: list[float] = []

    async def call() -> None:
        for job in waiting:
            started = time.perf_counter()
            await engine.submit(job)
            latencies.append(time.perf_counter() - started)

    started = time.perf_counter()
    await asyncio.gather(*(call() for _ in range(callers)))
    elapsed = time.perf_counter() - started
    tokens = sum(len(job.source_ids) for job in work)
    return tokens / elapsed, 1e3 * statistics.median(latencies)


async def compare(rounds: int, sentences: int, decoder: Decoder, lengths: tuple[int, int]) -> None:
    variants = {"no actors in the graph": 0, "1 actor": 1, "4 actors, mixed": 4}
    engines = {name: make_engine(actors, EngineSettings()) for name, actors in variants.items()}
    for engine in engines.values():
        engine.start()
    for callers in (1, 8, 32):
        count = sentences if callers > 1 else sentences // 4
        work = {name: jobs(actors, count, decoder, lengths) for name, actors in variants.items()}
        results: dict[str, list[tuple[float, float]]] = {name: [] for name in variants}
        for name, engine in engines.items():
            await throughput(engine, work[name][: callers * 2], callers)
        for index in range(rounds):
            order = list(variants) if index % 2 else list(reversed(variants))
            for name in order:
                results[name].append(await throughput(engines[name], work[name], callers))
        report(callers, results)
    for engine in engines.values():
        await engine.close()


def report(callers: int, results: dict[str, list[tuple[float, float]]]) -> None:
    base = next(iter(results.values()))
    for name, measured in results.items():
        speed = statistics.median(tokens for tokens, _ in measured)
        latency = statistics.median(median for _, median in measured)
        costs = sorted(100 * (reference[0] / own[0] - 1) for reference, own in zip(base, measured, strict=True))
        low, high = costs[len(costs) // 4], costs[-1 - len(costs) // 4]
        print(
            f"{callers:3d} callers  {name:24s} {speed:8.0f} tokens/s   p50 {latency:6.2f} ms   "
            f"cost {statistics.median(costs):+5.1f}% (quartiles {low:+.1f} … {high:+.1f})"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=11)
    parser.add_argument("--sentences", type=int, default=400)
    parser.add_argument("--beam", type=int, default=0, help="beam search of this size instead of greedy")
    parser.add_argument("--lengths", type=int, nargs=2, default=(SOURCE_TOKENS, SOURCE_TOKENS), help="source tokens")
    arguments = parser.parse_args()
    decoder = Beam(size=arguments.beam) if arguments.beam else Greedy()
    asyncio.run(compare(arguments.rounds, arguments.sentences, decoder, tuple(arguments.lengths)))


if __name__ == "__main__":
    main()
