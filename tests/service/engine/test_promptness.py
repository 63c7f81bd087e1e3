"""A thread that asks for it wakes when it wants to, and the others as ever."""

import ctypes
import sys
import threading

import pytest

from service.engine.promptness import wake_promptly

PR_GET_TIMERSLACK = 30


def slack_ns() -> int:
    return ctypes.CDLL(None).prctl(PR_GET_TIMERSLACK, 0, 0, 0, 0)


@pytest.mark.skipif(sys.platform != "linux", reason="no other system adds to waits")
def test_the_kernel_adds_nothing_to_the_waits_of_this_thread_alone():
    before = slack_ns()
    found: list[int] = []

    def ask() -> None:
        wake_promptly()
        found.append(slack_ns())

    thread = threading.Thread(target=ask)
    thread.start()
    thread.join()
    assert found == [1]
    assert slack_ns() == before > 1
