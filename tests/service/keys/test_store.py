"""Keys are stored as hashes and found only by the whole key."""

import json

import pytest

from service.errors import StartupError
from service.keys.store import KeyStore, add_key, read_key_file, revoke_key


@pytest.fixture
def path(tmp_path):
    return tmp_path / "keys.json"


def test_the_file_never_holds_the_key_and_only_its_owner_reads_it(path):
    token, _ = add_key(path, "ann")
    assert token not in path.read_text()
    assert token.split("_", 2)[2] not in path.read_text()
    assert path.stat().st_mode & 0o077 == 0


def test_a_key_is_found_by_the_whole_token_only(path):
    token, key = add_key(path, "ann")
    store = KeyStore(path)
    assert store.find(token) == key
    for wrong in ("", "nudge", token[:-1], token + "x", token.upper(), f"nudge_{key.id}_", f"nudge_{key.id}", "x" * 99):
        assert store.find(wrong) is None


def test_a_revoked_key_is_refused_after_a_reload(path):
    token, _ = add_key(path, "ann")
    other, _ = add_key(path, "ben")
    store = KeyStore(path)
    revoke_key(path, "ann")
    store.reload()
    assert store.find(token) is None
    assert store.find(other).name == "ben"


def test_names_of_active_keys_are_unique_and_free_again_after_revoking(path):
    add_key(path, "ann")
    with pytest.raises(StartupError, match="revoke it first"):
        add_key(path, "ann")
    revoke_key(path, "ann")
    add_key(path, "ann")
    assert [key.revoked is None for key in read_key_file(path).keys] == [False, True]


def test_revoking_an_unknown_key_names_the_known_ones(path):
    add_key(path, "ann")
    with pytest.raises(StartupError, match="active keys: ann"):
        revoke_key(path, "bob")


@pytest.mark.parametrize("content", ["", "{", "[]", '{"version": 9, "keys": []}', '{"keys": [{"id": "x"}]}'])
def test_a_broken_file_is_refused(path, content):
    path.write_text(content)
    with pytest.raises(StartupError):
        KeyStore(path)


def test_a_file_that_breaks_later_keeps_the_last_good_keys(path):
    token, _ = add_key(path, "ann")
    store = KeyStore(path)
    path.write_text("{")
    with pytest.raises(StartupError):
        store.reload()
    assert store.find(token)


def test_the_file_is_replaced_and_never_left_half_written(path):
    add_key(path, "ann")
    before = path.stat().st_ino
    add_key(path, "ben")
    assert path.stat().st_ino != before
    assert len(json.loads(path.read_text())["keys"]) == 2
    assert [entry.name for entry in path.parent.iterdir()] == ["keys.json"]


@pytest.mark.parametrize("name", ["", "x" * 101])
def test_a_name_that_is_no_name_is_refused(path, name):
    with pytest.raises(StartupError, match="1 to 100 characters"):
        add_key(path, name)
    assert not path.exists()
