"""Hold the service under load and believe nothing: `make load`.

Every request is first answered alone.  Then many callers send them all at once, in random order, one by one and in
lists, some hanging up before the answer.  The run fails on any error, on any answer that differs from the one given
alone, on memory that grows, and on work that is left over at the end.
"""

import argparse
import asyncio
import contextlib
import json
import random
import time
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

from local_server import default_models, local_server
from soak_requests import Known, ask_alone, list_request, read_known
from soak_verdict import MAX_GROWTH, Memory, Verdict
from traffic import request_body
from wire import Connection, WireError

LIST_SHARE, HANG_UP_SHARE = 0.15, 0.01
LIST_LENGTH = 4
MAX_SAMPLES = 600


async def soak(url: str, models: Path | None, plan: argparse.Namespace) -> Verdict:
    """Ask alone, then hold the callers; return what was seen."""
    known = await ask_alone(url, models, plan.sentences)
    print(
        f"{len(known)} different requests answered alone; {plan.callers} callers for {plan.seconds:g} s …", flush=True
    )
    verdict = Verdict(max_growth=plan.max_growth)
    deadline = time.monotonic() + plan.warm_up + plan.seconds
    watching = asyncio.create_task(_watch_memory(url, plan, verdict.memory))
    callers = [_call_until(deadline, url, known, verdict, f"{plan.seed} {number}") for number in range(plan.callers)]
    began = time.monotonic()
    await asyncio.gather(*callers)
    verdict.seconds = time.monotonic() - began
    watching.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await watching
    verdict.left_over = await _left_over(url)
    return verdict


async def _call_until(deadline: float, url: str, known: list[Known], verdict: Verdict, seed: str) -> None:
    """One caller: asks again as soon as it has its answer."""
    dice = random.Random(seed)
    while time.monotonic() < deadline:
        try:
            async with Connection(url) as connection:
                while time.monotonic() < deadline:
                    if dice.random() < HANG_UP_SHARE:
                        await _hang_up(connection, dice, known, verdict)
                        break
                    await _ask_and_check(connection, dice, known, verdict)
        except WireError as error:
            verdict.errors.append(str(error))
            await asyncio.sleep(0.2)


async def _ask_and_check(connection: Connection, dice: random.Random, known: list[Known], verdict: Verdict) -> None:
    if dice.random() < LIST_SHARE:
        body, expected = list_request(dice, known, LIST_LENGTH)
    else:
        one = dice.choice(known)
        body, expected = request_body(one.pair, one.text, one.parameters), [one]
    began = time.monotonic()
    answer = await connection.post("/translate", body)
    verdict.latencies_s.append(time.monotonic() - began)
    if answer.status != 200:
        verdict.errors.append(f"status {answer.status}: {answer.body.decode(errors='replace')[:300]}")
        return
    verdict.answers += len(expected)
    verdict.mismatches += read_known(answer.json(), body, expected)


async def _hang_up(connection: Connection, dice: random.Random, known: list[Known], verdict: Verdict) -> None:
    one = dice.choice(known)
    body = request_body(one.pair, one.text, one.parameters)
    await connection.post_and_hang_up("/translate", body, after_s=dice.uniform(0.0, 0.02))
    verdict.hang_ups += 1


async def _watch_memory(url: str, plan: argparse.Namespace, memory: Memory) -> None:
    """Sample the service's resident memory once the callers have warmed it up."""
    await asyncio.sleep(plan.warm_up)
    while True:
        with contextlib.suppress(WireError):
            memory.samples.append((await _metrics(url))["process_resident_memory_bytes"])
        await asyncio.sleep(max(plan.seconds / MAX_SAMPLES, 0.1))


async def _left_over(url: str) -> float:
    """Sentences that are still queued or in work after every caller has gone."""
    for _ in range(50):
        metrics = await _metrics(url)
        left = metrics.get("nudge_queued_sentences", 0.0) + metrics.get("nudge_active_sentences", 0.0)
        if not left:
            return 0.0
        await asyncio.sleep(0.1)
    return left


async def _metrics(url: str) -> dict[str, float]:
    """The values of /metrics, summed over their labels."""
    async with Connection(url) as connection:
        text = (await connection.get("/metrics")).body.decode()
    values: dict[str, float] = {}
    for line in text.splitlines():
        if not line.startswith("#"):
            name, _, value = line.rpartition(" ")
            name = name.partition("{")[0]
            values[name] = values.get(name, 0.0) + float(value)
    return values


@contextlib.contextmanager
def _service(plan: argparse.Namespace) -> Iterator[str]:
    if plan.url:
        yield plan.url
    else:
        with local_server(plan.models.resolve(), plan.out / "service.log") as server:
            yield server.url


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", type=Path, default=default_models(), help="folder of bundles (%(default)s)")
    parser.add_argument("--url", help="a service that runs already, instead of one that is started for this")
    parser.add_argument("--callers", type=int, default=32, help="callers at a time (%(default)s)")
    parser.add_argument("--minutes", type=float, default=5.0, help="how long, after the warm-up (%(default)s)")
    parser.add_argument("--warm-up", type=float, default=20.0, help="seconds before memory is watched (%(default)s)")
    parser.add_argument("--sentences", type=int, default=40, help="sentences of each pair (%(default)s)")
    parser.add_argument("--max-growth", type=float, default=MAX_GROWTH, help="of memory, as a share (%(default)s)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "--out", type=Path, default=Path("runs/load"), help="where the log and results go (%(default)s)"
    )
    plan = parser.parse_args()
    plan.seconds = 60 * plan.minutes
    plan.out.mkdir(parents=True, exist_ok=True)
    with _service(plan) as url:
        verdict = asyncio.run(soak(url, plan.models, plan))
    (plan.out / "load.json").write_text(json.dumps(asdict(verdict), indent=1), encoding="utf-8")
    print(verdict.told())
    raise SystemExit(0 if verdict.is_good else 1)


if __name__ == "__main__":
    main()
