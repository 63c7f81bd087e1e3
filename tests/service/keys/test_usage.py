"""Characters are counted by key and month, and survive a restart."""

from datetime import UTC, datetime

import pytest

import service.keys.usage
from service.errors import QuotaExceeded, StartupError
from service.keys.store import ApiKey, write_atomically
from service.keys.usage import Usage


def key(limit: int = 100, identifier: str = "0000000a") -> ApiKey:
    now = datetime(2026, 1, 1, tzinfo=UTC)
    return ApiKey(id=identifier, name="ann", sha256="0" * 64, created=now, characters_per_month=limit)


class Clock:
    def __init__(self) -> None:
        self.now = datetime(2026, 1, 31, 23, 59, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now


def test_characters_are_reserved_and_given_back(tmp_path):
    usage = Usage(tmp_path / "usage.json")
    give_back = usage.reserve(key(), 60)
    assert usage.of(key()) == 60
    give_back()
    assert usage.of(key()) == 0


def test_the_last_character_fits_and_one_more_does_not(tmp_path):
    usage = Usage(tmp_path / "usage.json")
    usage.reserve(key(), 60)
    usage.reserve(key(), 40)
    with pytest.raises(QuotaExceeded, match="100 are used"):
        usage.reserve(key(), 1)
    usage.reserve(key(identifier="0000000b"), 100)


def test_a_new_month_starts_at_zero_and_retry_after_points_to_it(tmp_path):
    clock = Clock()
    usage = Usage(tmp_path / "usage.json", clock)
    usage.reserve(key(), 100)
    with pytest.raises(QuotaExceeded) as caught:
        usage.reserve(key(), 1)
    assert caught.value.retry_after_s == 60
    clock.now = datetime(2026, 2, 1, tzinfo=UTC)
    usage.reserve(key(), 100)
    assert usage.of(key()) == 100


def test_december_is_followed_by_january(tmp_path):
    clock = Clock()
    clock.now = datetime(2026, 12, 31, 23, 0, tzinfo=UTC)
    usage = Usage(tmp_path / "usage.json", clock)
    with pytest.raises(QuotaExceeded) as caught:
        usage.reserve(key(), 101)
    assert caught.value.retry_after_s == 3600


def test_counts_survive_a_restart(tmp_path):
    usage = Usage(tmp_path / "usage.json")
    usage.reserve(key(), 30)
    usage.save()
    assert Usage(tmp_path / "usage.json").of(key()) == 30


def test_a_zero_limit_is_no_limit_but_counts(tmp_path):
    usage = Usage(tmp_path / "usage.json")
    usage.reserve(key(limit=0), 10**9)
    assert usage.of(key()) == 10**9


def test_a_broken_file_stops_the_start(tmp_path):
    (tmp_path / "usage.json").write_text("[1]")
    with pytest.raises(StartupError, match="not a usage file"):
        Usage(tmp_path / "usage.json")


def test_what_is_counted_while_the_file_is_written_is_written_the_next_time(tmp_path, monkeypatch):
    path = tmp_path / "usage.json"
    usage = Usage(path)
    usage.reserve(key(), 10)

    def write_slowly(to, text):
        usage.reserve(key(), 5)  # as the event loop does meanwhile
        write_atomically(to, text)

    with monkeypatch.context() as patch:
        patch.setattr(service.keys.usage, "write_atomically", write_slowly)
        usage.save()
    assert Usage(path).of(key()) == 10
    usage.save()
    assert Usage(path).of(key()) == 15


def test_what_the_disk_refused_is_written_the_next_time(tmp_path):
    folder = tmp_path / "folder"
    usage = Usage(folder / "usage.json")
    usage.reserve(key(), 10)
    folder.touch()  # a file, where a folder should be
    with pytest.raises(OSError, match="folder"):
        usage.save()
    folder.unlink()
    usage.save()
    assert Usage(folder / "usage.json").of(key()) == 10
