"""What the actors cost in production: `make overhead`.

Starts the service and has the same sentences translated by plain greedy, by each actor, by a mixture of objectives and
by beam search, at several numbers of callers.  All of them take their turn in every round; see `paired`.  They are held
against a bundle without actors, served by a process of its own (see `twins`).  That one takes part twice: where the
second differs from the first, it is the noise of the measurement.
"""

import argparse
import asyncio
import contextlib
import itertools
import random
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import uvloop
from local_server import LocalServer, default_models, local_server
from overhead_report import Report, describe_machine, write_report
from paired import Round, Slice, turns
from rich.console import Console
from rich.progress import Progress
from traffic import Kind, Pair, compared_kinds, read_pairs, read_sentences, request_body
from twins import make_twin
from wire import Connection

WARM_UP_ROUNDS = 2
LONE_REQUESTS = 8
# The processor's caches hold another process's model when a turn begins: so many requests first that are not counted.
REQUESTS_TO_WARM_UP = 16


@dataclass(frozen=True, slots=True)
class Plan:
    """What to measure."""

    models: Path
    pair: str | None
    callers: tuple[int, ...]
    rounds: int
    requests: int
    starts: int
    seed: int

    def requests_of(self, callers: int) -> int:
        """Requests of a round: few, so that rounds are many and short, and each caller has something to do."""
        return LONE_REQUESTS if callers == 1 else 2 * callers

    def rounds_of(self, callers: int) -> int:
        """Rounds of each start."""
        return -(-max(self.rounds, self.requests // self.requests_of(callers)) // self.starts)


# By the name of the kind that is asked of them.
Servers = Mapping[str, LocalServer]
Connections = Mapping[str, Sequence[Connection]]


async def measure(
    servers: Servers, pair: Pair, sentences: Sequence[str], plan: Plan, start: int, console: Console
) -> dict[int, list[Round]]:
    """Run every round of a start at every number of callers."""
    kinds = compared_kinds(pair.actors)
    results: dict[int, list[Round]] = {}
    with Progress(console=console, transient=True) as progress:
        for callers in plan.callers:
            count = plan.rounds_of(callers)
            title = f"start {start + 1} of {plan.starts}, {callers} callers"
            task = progress.add_task(title, total=WARM_UP_ROUNDS + count)
            measured: list[Round] = []
            async with contextlib.AsyncExitStack() as stack:
                connections = {name: await connect(stack, server, callers) for name, server in servers.items()}
                for number in range(start * count - WARM_UP_ROUNDS, (start + 1) * count):
                    dice = random.Random(f"{plan.seed} {callers} {number}")
                    texts = dice.choices(sentences, k=plan.requests_of(callers))
                    one = await run_round(servers, connections, pair, kinds, texts, number)
                    if number >= start * count:
                        measured.append(one)
                    progress.advance(task)
            results[callers] = measured
    return results


async def choose_pair(server: LocalServer, wanted: str | None) -> Pair:
    """The served pair of that name, or the first."""
    async with Connection(server.url) as connection:
        pairs = read_pairs((await connection.get("/objectives")).json())
    for pair in pairs:
        if wanted in (None, pair.name):
            return pair
    raise SystemExit(f"{wanted} is not served; choose from {', '.join(pair.name for pair in pairs)}")


async def connect(stack: contextlib.AsyncExitStack, server: LocalServer, callers: int) -> list[Connection]:
    """A connection for each caller, kept open as long as the stack."""
    return [await stack.enter_async_context(Connection(server.url)) for _ in range(callers)]


async def run_round(
    servers: Servers, connections: Connections, pair: Pair, kinds: Sequence[Kind], texts: Sequence[str], number: int
) -> Round:
    """Let every kind translate the same texts, one kind after the other.

    The last kind, beam search, is always the last one: whoever follows its long work is slower at first, and since the
    others begin a round in turn, that falls on all of them alike.
    """
    by_name = {kind.name: kind for kind in kinds}
    *others, last = by_name
    slices = {}
    uncounted = [*itertools.islice(itertools.cycle(texts), REQUESTS_TO_WARM_UP)]
    for name in [*turns(others, number), last]:
        kind = by_name[name]
        asked = (servers[name], connections[name], pair, kind)
        await run_slice(*asked, uncounted)
        slices[name] = await run_slice(*asked, texts, number * len(texts))
    return slices


async def run_slice(
    server: LocalServer,
    connections: Sequence[Connection],
    pair: Pair,
    kind: Kind,
    texts: Sequence[str],
    first_turn: int = 0,
) -> Slice:
    """Translate the texts, each caller asking for the next one as soon as it has an answer."""
    waiting = iter(enumerate(texts, first_turn))
    latencies: list[float] = []
    tokens = 0

    async def ask_on(connection: Connection) -> None:
        nonlocal tokens
        for turn, text in waiting:
            body = request_body(pair, text, kind.parameters(turn))
            began = time.perf_counter()
            answer = await connection.post("/translate", body)
            latencies.append(time.perf_counter() - began)
            if answer.status != 200:
                raise SystemExit(f"{kind.name}: status {answer.status}: {answer.body.decode(errors='replace')}")
            tokens += answer.json()["timing"]["tokens"]

    began, cpu_before = time.perf_counter(), server.cpu_seconds()
    await asyncio.gather(*(ask_on(connection) for connection in connections))
    seconds, cpu_s = time.perf_counter() - began, server.cpu_seconds() - cpu_before
    return Slice(seconds, tuple(latencies), tokens, cpu_s)


def start_twins(stack: contextlib.ExitStack, plan: Plan, pair: Pair, logs: Path) -> Servers:
    """Serve the pair without actors, with its first one, or with all of them, to each kind that is compared.

    Each kind has a process of its own, for a process that has rested for longer is slower at first, and so all rest for
    as long.  Each serves this pair alone: another one in its memory would be a difference too.
    """
    servers: dict[str, LocalServer] = {}
    twins: dict[int | None, Path] = {}
    for number, kind in enumerate(compared_kinds(pair.actors)):
        if kind.actors not in twins:
            twins[kind.actors] = Path(stack.enter_context(tempfile.TemporaryDirectory()))
            make_twin(plan.models / pair.name, twins[kind.actors] / pair.name, pair.actors[: kind.actors])
        log = logs / f"service-{number}.log"
        servers[kind.name] = stack.enter_context(local_server(twins[kind.actors], log))
    return servers


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", type=Path, default=default_models(), help="folder of bundles (%(default)s)")
    parser.add_argument("--pair", help="such as de-en; the first that is served by default")
    parser.add_argument("--callers", type=int, nargs="+", default=[1, 8, 32], help="numbers of callers (%(default)s)")
    parser.add_argument("--rounds", type=int, default=100, help="rounds at each number of callers (%(default)s)")
    parser.add_argument(
        "--requests", type=int, default=1500, help="and more, until each way has had so many requests (%(default)s)"
    )
    parser.add_argument(
        "--starts", type=int, default=1, help="start the processes so often, and share the rounds out (%(default)s)"
    )
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", type=Path, default=Path("runs/overhead"), help="where results go (%(default)s)")
    given = parser.parse_args()
    if given.starts < 1:
        parser.error(f"--starts must be at least 1, not {given.starts}")
    models, callers = given.models.resolve(), tuple(given.callers)
    plan = Plan(models, given.pair, callers, given.rounds, given.requests, given.starts, given.seed)
    console = Console() if sys.stdout.isatty() else Console(width=180)
    with local_server(plan.models, given.out / "service.log") as everything:
        pair = uvloop.run(choose_pair(everything, plan.pair))
    sentences = read_sentences(pair, plan.models)
    before = describe_machine()
    results: dict[int, list[Round]] = {callers: [] for callers in plan.callers}
    for start in range(plan.starts):
        with contextlib.ExitStack() as stack:
            servers = start_twins(stack, plan, pair, given.out)
            for number, rounds in uvloop.run(measure(servers, pair, sentences, plan, start, console)).items():
                results[number] += rounds
    kinds = compared_kinds(pair.actors)
    report = Report(pair, kinds, results, plan.starts, len(sentences), before, describe_machine())
    write_report(report, given.out, console)


if __name__ == "__main__":
    main()
