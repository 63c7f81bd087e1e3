"""The error tree is the contract with callers: statuses and codes do not change by accident."""

import pytest

from service import errors
from service.api.failures import to_nudge_error
from service.bundle.errors import PairNotServed
from service.engine import errors as engine_errors


def descendants(base):
    for child in base.__subclasses__():
        yield child
        yield from descendants(child)


def test_codes_are_unique_and_drawn_in_the_docstring():
    classes = [errors.NudgeError, *descendants(errors.NudgeError)]
    codes = [error.code for error in classes]
    assert len(set(codes)) == len(codes)
    for error in classes:
        line = next(line for line in errors.__doc__.splitlines() if f" {error.__name__} " in f" {line.strip('│├└─ ')} ")
        assert f"{error.status} {error.code}" in line


@pytest.mark.parametrize(
    ("error", "status", "code"),
    [
        (engine_errors.Overloaded(queued_tokens=9, limit_tokens=10, retry_after_s=2.5), 503, "busy"),
        (engine_errors.DeadlineExceeded(waited_s=1.0), 504, "deadline_exceeded"),
        (engine_errors.EngineClosed(), 503, "not_ready"),
        (engine_errors.Cancelled(), 503, "not_ready"),
        (engine_errors.EngineFailed("x"), 500, "internal_error"),
        (PairNotServed("a", "b", (("c", "d"),)), 400, "unsupported_language"),
        (ZeroDivisionError("secret"), 500, "internal_error"),
    ],
)
def test_errors_of_the_other_packages_have_a_status(error, status, code):
    known = to_nudge_error(error)
    assert (known.status, known.code) == (status, code)
    assert "secret" not in known.message


def test_a_full_queue_says_when_to_come_back():
    error = to_nudge_error(engine_errors.Overloaded(queued_tokens=9, limit_tokens=10, retry_after_s=2.5))
    assert error.retry_after_s == 2.5
    assert "3 s" in error.message


def test_what_was_given_is_shortened():
    assert len(errors.InvalidParameter("q", "x" * 1000, "less is allowed").message) < 120
