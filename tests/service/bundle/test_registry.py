"""Bundles that come, change and go while requests are running."""

import asyncio
import shutil
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from service.bundle.errors import PairNotServed
from service.bundle.registry import Registry
from service.engine.types import Job

INTERVAL_S = 0.05


@asynccontextmanager
async def serving(models_dir: Path) -> AsyncIterator[Registry]:
    registry = Registry(models_dir, reload_interval_s=INTERVAL_S)
    await registry.start()
    try:
        yield registry
    finally:
        await registry.close()


async def until(condition: Callable[[], bool]) -> None:
    for _ in range(1000):
        if condition():
            return
        await asyncio.sleep(0.01)
    raise AssertionError("it never came to that")


def versions(registry: Registry) -> dict[tuple[str, str], str]:
    return {pair.pair: pair.manifest.version for pair in registry.pairs()}


async def translate(registry: Registry, source: str = "xa", target: str = "xb") -> tuple[int, ...]:
    async with registry.get(source, target) as pair:
        job = Job(pair.tokeniser.encode("the cat sat"), (0.0,))
        return (await pair.engine.submit(job)).best.ids


def test_all_bundles_of_the_folder_are_served(models_dir, write_bundle) -> None:
    write_bundle("xa", "xb")
    write_bundle("xb", "xa", seed=2)
    (models_dir / "CONTRACT.md").write_text("not a bundle")
    (models_dir / "notes").mkdir()

    async def scenario() -> None:
        async with serving(models_dir) as registry:
            assert registry.is_ready
            assert registry.problems() == ()
            assert list(versions(registry)) == [("xa", "xb"), ("xb", "xa")]
            assert await translate(registry, "xa", "xb") != await translate(registry, "xb", "xa")
            with pytest.raises(PairNotServed, match="de-en is not served; served: xa-xb, xb-xa"):
                await translate(registry, "de", "en")

    asyncio.run(scenario())


def test_an_empty_folder_is_not_ready_until_a_bundle_comes(models_dir, write_bundle) -> None:
    async def scenario() -> None:
        async with serving(models_dir) as registry:
            assert not registry.is_ready
            write_bundle()
            await until(lambda: registry.is_ready)
            assert await translate(registry)

    asyncio.run(scenario())


def test_a_replaced_bundle_is_switched_without_losing_a_request(models_dir, write_bundle) -> None:
    write_bundle(version="1.0.0", seed=1)

    async def scenario() -> None:
        async with serving(models_dir) as registry:
            first = registry.pairs()[0]
            answers: list[tuple[int, ...]] = []
            is_over = False

            async def keep_asking() -> None:
                while not is_over:
                    answers.append(await translate(registry))

            callers = [asyncio.create_task(keep_asking()) for _ in range(8)]
            for number in range(2, 6):
                await asyncio.sleep(0.02)
                write_bundle(version=f"{number}.0.0", seed=1 + number % 2)
                wanted = f"{number}.0.0"
                await until(lambda wanted=wanted: versions(registry) == {("xa", "xb"): wanted})
            is_over = True
            await asyncio.gather(*callers)
            assert len(set(answers)) == 2, "both models answered, and nothing else did"
            await until(lambda: not first.engine._thread.is_alive())

    asyncio.run(scenario())


def test_a_lease_keeps_the_old_bundle_until_it_ends(models_dir, write_bundle) -> None:
    write_bundle(version="1.0.0", seed=1)

    async def scenario() -> None:
        async with serving(models_dir) as registry:
            before = await translate(registry)
            async with registry.get("xa", "xb") as old:
                write_bundle(version="2.0.0", seed=2)
                await until(lambda: versions(registry) == {("xa", "xb"): "2.0.0"})
                job = Job(old.tokeniser.encode("the cat sat"), (0.0,))
                assert (await old.engine.submit(job)).best.ids == before
            await until(lambda: not old.engine._thread.is_alive())
            assert await translate(registry) != before

    asyncio.run(scenario())


def test_a_bad_replacement_is_refused_and_the_old_bundle_keeps_serving(models_dir, write_bundle) -> None:
    folder = write_bundle(version="1.0.0")

    async def scenario() -> None:
        async with serving(models_dir) as registry:
            before = await translate(registry)
            write_bundle(version="2.0.0", contents={"step.onnx": b"nonsense"})
            await until(lambda: bool(registry.problems()))
            [problem] = registry.problems()
            assert problem.folder == folder
            assert "step.onnx is not a graph" in problem.reason
            assert versions(registry) == {("xa", "xb"): "1.0.0"}
            assert await translate(registry) == before
            write_bundle(version="3.0.0")
            await until(lambda: versions(registry) == {("xa", "xb"): "3.0.0"})
            assert registry.problems() == ()

    asyncio.run(scenario())


def test_a_removed_bundle_is_drained_and_no_longer_served(models_dir, write_bundle) -> None:
    folder = write_bundle()
    write_bundle("xb", "xa")

    async def scenario() -> None:
        async with serving(models_dir) as registry:
            async with registry.get("xa", "xb") as pair:
                shutil.rmtree(folder)
                await until(lambda: list(versions(registry)) == [("xb", "xa")])
                job = Job(pair.tokeniser.encode("home"), (0.0,))
                assert (await pair.engine.submit(job)).hypotheses
            with pytest.raises(PairNotServed):
                await translate(registry, "xa", "xb")

    asyncio.run(scenario())


def test_a_folder_that_is_still_being_copied_is_not_taken(models_dir, write_bundle, tmp_path) -> None:
    """Files arrive one by one, the manifest first; it is served when all are there, and never before."""
    complete = write_bundle().rename(tmp_path / "elsewhere")

    async def scenario() -> None:
        async with serving(models_dir) as registry:
            folder = models_dir / "xa-xb"
            folder.mkdir()
            names = sorted(path.name for path in complete.iterdir())
            names.sort(key=lambda name: name != "manifest.json")
            for name in names:
                assert registry.pairs() == ()
                shutil.copy(complete / name, folder / name)
                await asyncio.sleep(4 * INTERVAL_S)
            await until(lambda: registry.is_ready)
            assert registry.problems() == ()

    asyncio.run(scenario())


def test_closing_waits_for_running_requests(models_dir, write_bundle) -> None:
    write_bundle()

    async def scenario() -> None:
        registry = Registry(models_dir)
        await registry.start()
        [pair] = registry.pairs()
        asked = [asyncio.create_task(translate(registry)) for _ in range(20)]
        await asyncio.sleep(0)
        await registry.close()
        answers = await asyncio.gather(*asked)
        assert len(set(answers)) == 1
        assert not pair.engine._thread.is_alive()

    asyncio.run(scenario())
