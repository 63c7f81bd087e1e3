"""The request path told as it goes: every token and every sentence, then the whole answer.

A plain request is admitted as a whole or refused.  A stream is fed to the engine sentence by sentence: if the first one
is admitted, the others wait for room, so a long document streams even where the queue is short.
"""

import asyncio
import time
from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass, replace

from service.bundle.registry import Registry
from service.engine.errors import DeadlineExceeded, Overloaded
from service.engine.types import Output
from service.translation.options import Options
from service.translation.plan import Plan, Translation
from service.translation.translate import planned

_LONGEST_WAIT_FOR_ROOM_S = 0.2


@dataclass(frozen=True, slots=True)
class Started:
    """The engine has taken the work on; `sentences` tells how many there are in each text."""

    sentences: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Token:
    """A piece of a sentence that is being decoded."""

    text_index: int
    sentence_index: int
    text: str


@dataclass(frozen=True, slots=True)
class FinishedSentence:
    """A sentence that is done, and its place in the request."""

    text_index: int
    sentence_index: int
    source: str
    text: str
    score: float
    is_truncated: bool


News = Started | Token | FinishedSentence


async def translate_stream(
    texts: Sequence[str], options: Options, registry: Registry, caller: str = "", deadline: float | None = None
) -> AsyncGenerator[News | list[Translation]]:
    """Yield the news, and last the translations; raises what `translate` raises."""
    async with planned(texts, options, registry, caller, deadline) as plans:
        teller = _Teller(plans)
        feeding = asyncio.create_task(teller.feed())
        try:
            remaining = sum(len(plan.jobs) for plan in plans)
            if remaining:
                await teller.first_admitted
            yield Started(tuple(len(plan.jobs) for plan in plans))
            while remaining:
                item = await teller.news.get()
                if isinstance(item, BaseException):
                    raise item
                remaining -= isinstance(item, FinishedSentence)
                yield item
            yield [plan.finish(outputs) for plan, outputs in zip(plans, teller.outputs(), strict=True)]
        finally:
            feeding.cancel()
            await asyncio.gather(feeding, return_exceptions=True)
            await teller.stop()


class _Teller:
    """Feeds the sentences of a request to their engines and collects what becomes of them."""

    def __init__(self, plans: Sequence[Plan]) -> None:
        self._plans = plans
        self._tasks: dict[tuple[int, int], asyncio.Task[Output]] = {}
        self.news: asyncio.Queue[News | BaseException] = asyncio.Queue()
        self.first_admitted: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    async def feed(self) -> None:
        """Submit every sentence in order; a failure is news, or, of the first one, the end before the start."""
        try:
            for text_index, plan in enumerate(self._plans):
                for sentence_index in range(len(plan.jobs)):
                    await self._submit(plan, text_index, sentence_index)
        except Exception as error:
            self._fail(error)

    def outputs(self) -> list[list[Output]]:
        """The outputs of each plan, once all are there."""
        return [
            [self._tasks[text_index, sentence_index].result() for sentence_index in range(len(plan.jobs))]
            for text_index, plan in enumerate(self._plans)
        ]

    async def stop(self) -> None:
        """Take what is unfinished out of the engines."""
        for task in self._tasks.values():
            task.cancel()
        await asyncio.gather(*self._tasks.values(), return_exceptions=True)

    async def _submit(self, plan: Plan, text_index: int, sentence_index: int) -> None:
        """Submit one sentence, waiting for room unless it is the very first."""
        while True:
            task = asyncio.create_task(self._decode(plan, text_index, sentence_index))
            await asyncio.sleep(0)  # now the engine has admitted it, or refused
            refusal = task.exception() if task.done() and not task.cancelled() else None
            if refusal is None:
                break
            if not isinstance(refusal, Overloaded) or not self.first_admitted.done():
                raise refusal
            deadline = plan.jobs[sentence_index].deadline
            if deadline is not None and time.monotonic() > deadline:
                raise DeadlineExceeded(waited_s=0.0)
            await asyncio.sleep(min(refusal.retry_after_s, _LONGEST_WAIT_FOR_ROOM_S))
        self._tasks[text_index, sentence_index] = task
        task.add_done_callback(self._watch)
        if not self.first_admitted.done():
            self.first_admitted.set_result(None)

    async def _decode(self, plan: Plan, text_index: int, sentence_index: int) -> Output:
        pair, sentence = plan.pair, plan.document.sentences[sentence_index]
        assert pair is not None, "a plan with jobs has a pair"
        ids: list[int] = []
        told = ""

        def tell(token: int, log_probability: float, influence: float | None) -> None:
            nonlocal told
            ids.append(token)
            text = sentence.so_far(pair.tokeniser.decode(ids))
            # A character may be spelled by several byte tokens: wait for the last of them.
            if text.startswith(told) and len(text) > len(told):
                self.news.put_nowait(Token(text_index, sentence_index, text[len(told) :]))
                told = text

        output = await pair.engine.submit(replace(plan.jobs[sentence_index], on_token=tell))
        best = output.best
        text = plan.sentence(sentence_index, best)
        self.news.put_nowait(
            FinishedSentence(text_index, sentence_index, sentence.source, text, best.score, best.is_truncated)
        )
        return output

    def _watch(self, task: "asyncio.Task[Output]") -> None:
        error = None if task.cancelled() else task.exception()
        if error is not None:
            self._fail(error)

    def _fail(self, error: BaseException) -> None:
        if not self.first_admitted.done():
            self.first_admitted.set_exception(error)
        else:
            self.news.put_nowait(error)
