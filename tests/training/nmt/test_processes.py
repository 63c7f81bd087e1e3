"""Processes that train together on one machine: they end together, and a failure is said."""

import os
import sys
import time

import pytest

from training.errors import TrainingError
from training.nmt.processes import led_processes


def _python(code: str) -> list[str]:
    return [sys.executable, "-c", f"import os, sys, time; rank = int(os.environ['RANK']); {code}"]


def test_the_process_that_failed_is_named() -> None:
    with (
        pytest.raises(TrainingError, match="process 2 of 3 failed"),
        led_processes(3, _python("sys.exit(rank == 2)")),
    ):
        assert (os.environ["RANK"], os.environ["WORLD_SIZE"]) == ("0", "3")
    assert not {"RANK", "WORLD_SIZE"} & set(os.environ)


def test_a_closed_connection_is_explained_by_the_process_that_closed_it() -> None:
    with (
        pytest.raises(TrainingError, match="process 1 of 2 failed"),
        led_processes(2, _python("time.sleep(0.2); sys.exit(3)")),
    ):
        raise RuntimeError("Connection closed by peer")


def test_an_error_of_the_leader_stays_what_it_is() -> None:
    with pytest.raises(RuntimeError, match="out of memory"), led_processes(2, _python("pass")):
        raise RuntimeError("out of memory")


def test_the_others_end_with_the_leader() -> None:
    began = time.monotonic()
    with pytest.raises(KeyboardInterrupt), led_processes(2, _python("time.sleep(600)")):
        raise KeyboardInterrupt
    assert time.monotonic() - began < 60
