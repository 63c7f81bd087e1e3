"""Settings: validated at start, every problem at once, nothing falls back."""

import os

import pytest
from pydantic import ValidationError

from service.errors import SettingsError
from service.settings import Settings, load_settings


@pytest.fixture(autouse=True)
def no_variables(monkeypatch):
    for name in list(os.environ):
        if name.upper().startswith("NUDGE_"):
            monkeypatch.delenv(name)


def test_options_beat_the_environment_which_beats_the_file(tmp_path, monkeypatch):
    file = tmp_path / "nudge.toml"
    file.write_text(f'models = "{tmp_path}"\nport = 1\nthreads = 2\nslots = 3\n')
    monkeypatch.setenv("NUDGE_PORT", "11")
    monkeypatch.setenv("NUDGE_THREADS", "12")
    settings = load_settings(file, port=21, host=None)
    assert (settings.port, settings.threads, settings.slots, settings.models) == (21, 12, 3, tmp_path)


def test_the_file_may_be_named_by_the_environment(tmp_path, monkeypatch):
    file = tmp_path / "nudge.toml"
    file.write_text("port = 7\n")
    monkeypatch.setenv("NUDGE_CONFIG", str(file))
    assert load_settings(models=tmp_path).port == 7


def test_every_problem_is_reported_at_once(tmp_path, monkeypatch):
    monkeypatch.setenv("NUDGE_PORT", "70000")
    monkeypatch.setenv("NUDGE_THREADS", "many")
    monkeypatch.setenv("NUDGE_PROT", "1")
    monkeypatch.setenv("NUDGE_CORS_ORIGINS", "example.org")
    with pytest.raises(SettingsError) as caught:
        load_settings(models=tmp_path / "missing")
    problems = "\n".join(caught.value.problems)
    assert len(caught.value.problems) == 5
    for words in ("port: ", "70000", "threads: ", "'many'", "Did you mean NUDGE_PORT?", "example.org", "not a folder"):
        assert words in problems


def test_an_unknown_name_in_the_file_is_refused_with_the_nearest(tmp_path):
    file = tmp_path / "nudge.toml"
    file.write_text("max_charcters = 5\n")
    with pytest.raises(SettingsError, match="Did you mean max_characters"):
        load_settings(file, models=tmp_path)


@pytest.mark.parametrize(("content", "words"), [(None, "cannot be read"), ("port = ", "is not TOML")])
def test_a_file_that_cannot_be_used_is_never_passed_over(tmp_path, content, words):
    file = tmp_path / "nudge.toml"
    if content is not None:
        file.write_text(content)
    with pytest.raises(SettingsError, match=words):
        load_settings(file, models=tmp_path)


def test_an_empty_value_is_no_default(tmp_path, monkeypatch):
    monkeypatch.setenv("NUDGE_PORT", "")
    with pytest.raises(SettingsError, match="port"):
        load_settings(models=tmp_path)


def test_limits_that_contradict_each_other_are_refused(tmp_path):
    with pytest.raises(SettingsError, match="could never be sent"):
        load_settings(models=tmp_path, max_characters=1_000_000, max_body_bytes=10_000)


def test_a_keys_file_must_exist(tmp_path):
    with pytest.raises(SettingsError, match="nudge keys add"):
        load_settings(models=tmp_path, keys_file=tmp_path / "keys.json")


def test_settings_are_frozen_and_every_one_is_described(tmp_path):
    settings = load_settings(models=tmp_path)
    with pytest.raises(ValidationError):
        settings.port = 1
    assert all(field.description for field in Settings.model_fields.values())


def test_origins_are_split_at_commas(tmp_path, monkeypatch):
    monkeypatch.setenv("NUDGE_CORS_ORIGINS", "https://a.example, http://b.example:8080")
    assert load_settings(models=tmp_path).cors_origins == ("https://a.example", "http://b.example:8080")
