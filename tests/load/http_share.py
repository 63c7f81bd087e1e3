"""What HTTP, tokeniser and scheduler add to the engine's own time: `python tests/load/http_share.py`.

The same sentences are translated by the engine alone, in this process and from ids to ids, and by a service over HTTP,
from text to text; by as many callers, each of whom asks again as soon as it has its answer.  Both take their turn in
every round.  The callers' own work is done on the same machine, and counts against the service.

Two cores share their memory and their power, so an engine is slower when the other core is busy with anything at all.
How much slower, the engine alone shows beside a process that reads and writes JSON and nothing else.

Sentences have about 20 tokens: everyday ones, strung together by commas.  A round is long, since all callers begin at
the same moment and end together, and that is to weigh little.
"""

import argparse
import asyncio
import contextlib
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

import uvloop
from local_server import LocalServer, default_models, local_server
from overhead import choose_pair, connect, run_slice
from paired import Round, Slice, compare, cpu_per_token, pooled, seconds_per_token, turns
from rich.console import Console
from rich.progress import track
from traffic import Kind, Pair, read_sentences

from service.bundle.loader import LoadedPair, load_bundle
from service.engine.types import Job
from service.text.tokeniser import Tokeniser

TOKENS = 20
MAX_TRIES = 10_000
ENGINE, BESIDE, SERVICE = "the engine alone", "the engine beside a busy process", "the service"
PLAIN = Kind(SERVICE, ({"objective": "none", "decoder": "greedy"},))
WARM_UP_ROUNDS = 2


def of_length(sentences: Sequence[str], tokeniser: Tokeniser, dice: random.Random) -> str:
    """A text of one sentence with TOKENS tokens, or one or two more or less."""
    for _ in range(MAX_TRIES):
        text = ", ".join(one.rstrip(".?!") for one in dice.choices(sentences, k=dice.randint(1, 6))) + "."
        if abs(tokeniser.count(text) - TOKENS) <= 2:
            return text
    raise SystemExit(f"no {TOKENS} tokens can be made of the sentences given, such as {sentences[0]!r}")


class Neighbour:
    """A process that reads and writes JSON, as a service does outside its engine; it rests unless it is let."""

    WORK = "import json\nwhile True: json.loads(json.dumps({'translatedText': 'Guten Morgen. ' * 8, 'score': -0.25}))"

    def __init__(self) -> None:
        self._process = subprocess.Popen([sys.executable, "-c", self.WORK])
        self._process.send_signal(signal.SIGSTOP)

    @contextlib.contextmanager
    def busy(self) -> Iterator[None]:
        self._process.send_signal(signal.SIGCONT)
        try:
            yield
        finally:
            self._process.send_signal(signal.SIGSTOP)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._process.kill()
        self._process.wait()


async def run_engine(loaded: LoadedPair, jobs: Sequence[Job], callers: int) -> Slice:
    """Decode all jobs, `callers` at a time."""
    waiting = iter(jobs)
    latencies: list[float] = []
    tokens = 0

    async def ask_on() -> None:
        nonlocal tokens
        for job in waiting:
            began = time.perf_counter()
            output = await loaded.engine.submit(job)
            latencies.append(time.perf_counter() - began)
            tokens += len(output.hypotheses[0].token_log_probabilities)

    began, cpu_before = time.perf_counter(), time.process_time()
    await asyncio.gather(*(ask_on() for _ in range(callers)))
    return Slice(time.perf_counter() - began, tuple(latencies), tokens, time.process_time() - cpu_before)


async def measure(server: LocalServer, pair: Pair, plan: argparse.Namespace, console: Console) -> list[Round]:
    """Run all rounds."""
    sentences = read_sentences(pair, plan.models)
    loaded = await asyncio.to_thread(load_bundle, plan.models / pair.name)
    no_actor = (0.0,) * len(loaded.manifest.actors)
    rounds: list[Round] = []
    async with contextlib.AsyncExitStack() as stack:
        stack.push_async_callback(loaded.engine.close)
        connections = await connect(stack, server, plan.callers)
        neighbour = stack.enter_context(Neighbour())
        for number in track(range(-WARM_UP_ROUNDS, plan.rounds), console=console, description="rounds", transient=True):
            dice = random.Random(number)
            texts = [of_length(sentences, loaded.tokeniser, dice) for _ in range(plan.requests)]
            jobs = [Job(loaded.tokeniser.encode(text), no_actor) for text in texts]
            slices: dict[str, Slice] = {}
            for name in turns([ENGINE, BESIDE, SERVICE], number):
                if name == SERVICE:
                    slices[name] = await run_slice(server, connections, pair, PLAIN, texts)
                    continue
                with neighbour.busy() if name == BESIDE else contextlib.nullcontext():
                    slices[name] = await run_engine(loaded, jobs, plan.callers)
            if number >= 0:
                rounds.append(slices)
    return rounds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", type=Path, default=default_models(), help="folder of bundles (%(default)s)")
    parser.add_argument("--pair", help="such as de-en; the first that is served by default")
    parser.add_argument("--callers", type=int, default=32)
    parser.add_argument("--rounds", type=int, default=8)
    parser.add_argument("--requests", type=int, default=2400, help="requests of a round (%(default)s)")
    parser.add_argument("--out", type=Path, default=Path("runs/overhead"), help="where the log goes (%(default)s)")
    plan = parser.parse_args()
    plan.models = plan.models.resolve()
    console = Console() if sys.stdout.isatty() else Console(width=160)
    with local_server(plan.models, plan.out / "service.log") as server:
        pair = uvloop.run(choose_pair(server, plan.pair))
        rounds = uvloop.run(measure(server, pair, plan, console))
    tokens = pooled(rounds, SERVICE).tokens / (plan.rounds * plan.requests)
    console.print(
        f"{pair.model}, {plan.callers} callers, {plan.rounds} rounds of {plan.requests} requests, answers of"
        f" {tokens:.1f} tokens on average:",
        highlight=False,
    )
    for statistic, unit in ((seconds_per_token, "time"), (cpu_per_token, "CPU time")):
        console.print(
            f"  {unit} of a token: {1e3 * statistic(pooled(rounds, ENGINE)):.3f} ms, {ENGINE}", highlight=False
        )
        for name in (BESIDE, SERVICE):
            estimate = compare(rounds, name, ENGINE, statistic)
            console.print(
                f"    {1e3 * statistic(pooled(rounds, name)):.3f} ms, {name}:"
                f" ×{estimate.ratio:.3f} \\[{estimate.low:.3f}, {estimate.high:.3f}]",
                highlight=False,
            )


if __name__ == "__main__":
    main()
