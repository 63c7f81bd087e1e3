"""The command line, as a user runs it: in a process of its own."""

import os
import re
import shutil
import socket
import subprocess
import sys
from pathlib import Path

import pytest

NUDGE = Path(sys.executable).parent / "nudge"


def nudge(*arguments, stdin: str = "", **variables) -> subprocess.CompletedProcess[str]:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("NUDGE_")}
    return subprocess.run(
        [NUDGE, *map(str, arguments)],
        input=stdin,
        capture_output=True,
        text=True,
        timeout=120,
        env=environment | {"OMP_NUM_THREADS": "1", "COLUMNS": "200", "NO_COLOR": "1"} | variables,
    )


@pytest.fixture(scope="module")
def variables(toy_models):
    return {"NUDGE_MODELS": str(toy_models)}


def test_translate_prints_what_the_service_answers(variables, server):
    result = nudge("translate", "Ta netu.", "--from", "xa", "--to", "xb", "--objective", "bleu", **variables)
    assert result.returncode == 0, result.stderr
    assert result.stdout == server.translate("Ta netu.", objective="bleu")["translatedText"] + "\n"
    assert result.stderr == ""


def test_translate_reads_files_and_standard_input_and_keeps_their_lines(variables, server, tmp_path):
    text = "Ta netu.\n\n  Ta monu.\n"
    expected = server.translate(text)["translatedText"]
    (tmp_path / "in.txt").write_text(text)
    assert nudge("translate", "--to", "xb", stdin=text, **variables).stdout == expected
    assert nudge("translate", "-", "--to", "xb", stdin=text, **variables).stdout == expected
    output = tmp_path / "out.txt"
    assert nudge("translate", "-f", tmp_path / "in.txt", "--to", "xb", "-o", output, **variables).returncode == 0
    assert output.read_text() == expected


def test_a_result_that_has_no_place_is_refused_before_the_work(variables, tmp_path):
    for output in (tmp_path / "missing" / "out.txt", tmp_path):
        result = nudge("translate", "Ta netu.", "--to", "xb", "-o", output, **variables)
        assert result.returncode == 1
        assert str(output) in result.stderr.replace("\n", "")
        assert "Traceback" not in result.stderr


def test_an_output_file_is_replaced_as_a_whole(variables, tmp_path):
    output = tmp_path / "out.txt"
    output.write_text("old")
    assert nudge("translate", "Ta netu.", "--to", "xb", "-o", output, **variables).returncode == 0
    assert "old" not in output.read_text()
    assert [path.name for path in tmp_path.iterdir()] == ["out.txt"]


def test_a_text_that_names_a_file_gets_a_hint(variables, tmp_path):
    path = tmp_path / "in.txt"
    path.write_text("Ta netu.")
    result = nudge("translate", path, "--from", "xa", "--to", "xb", **variables)
    assert "--file" in result.stderr
    assert "--file" not in nudge("translate", "Ta netu.", "--from", "xa", "--to", "xb", **variables).stderr


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--to", "zz"], "zz"),
        (["--to", "xb", "--objective", "blue"], "Did you mean bleu?"),
        (["--to", "xb", "--decoder", "magic"], "greedy, beam, npad"),
        (["--to", "xb", "--decoder", "beam", "--beam-size", "99"], "1 to 10"),
        (["--to", "xb", "-f", "missing.txt"], "missing.txt"),
    ],
)
def test_translate_says_what_is_wrong_without_a_traceback(variables, arguments, words):
    result = nudge("translate", "Ta netu.", *arguments, **variables)
    assert result.returncode == 1
    assert words in result.stderr
    assert "Traceback" not in result.stderr


def test_models_lists_what_is_installed(variables):
    result = nudge("models", **variables)
    assert result.returncode == 0
    assert re.search(r"xa-xb.*int8.*bleu", result.stdout)


def test_models_shows_a_broken_bundle_with_its_reason(toy_models, tmp_path):
    shutil.copytree(toy_models / "xa-xb", tmp_path / "xa-xb")
    (tmp_path / "xa-xb" / "manifest.json").write_text('{"format": 99}')
    assert "format 99" in nudge("models", "--models", tmp_path).stdout


def test_check_accepts_a_good_bundle_and_refuses_a_changed_one(toy_models, tmp_path):
    assert nudge("check", toy_models / "xa-xb").returncode == 0
    shutil.copytree(toy_models / "xa-xb", tmp_path / "xa-xb")
    with (tmp_path / "xa-xb" / "step.onnx").open("ab") as file:
        file.write(b"x")
    result = nudge("check", tmp_path / "xa-xb")
    assert result.returncode == 1
    assert "step.onnx" in result.stderr


def test_serve_says_when_there_is_no_model(tmp_path):
    result = nudge("serve", "--models", tmp_path)
    assert result.returncode == 1
    assert "holds no bundle" in result.stderr


def test_serve_says_when_the_port_is_taken(variables):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        result = nudge("serve", "--port", port, **variables)
    assert result.returncode == 1
    assert f"127.0.0.1:{port}" in result.stderr
    assert "--port" in result.stderr


def test_serve_reports_every_bad_setting_at_once(variables):
    result = nudge("serve", NUDGE_PORT="x", NUDGE_THREDS="2", **variables)
    assert result.returncode == 1
    assert "2 problem(s)" in result.stderr
    assert "NUDGE_THREADS" in result.stderr


def test_keys_are_added_listed_and_revoked(tmp_path):
    file = tmp_path / "keys.json"
    added = nudge("keys", "add", "ann", "--file", file, "--requests-per-minute", "60")
    assert re.fullmatch(r"nudge_[0-9a-f]{8}_[\w-]{43}\n", added.stdout)
    listed = nudge("keys", "list", NUDGE_KEYS_FILE=str(file))
    assert re.search(r"ann.*60.*no limit", listed.stdout)
    assert added.stdout.strip() not in listed.stdout
    assert nudge("keys", "revoke", "ann", "--file", file).returncode == 0
    again = nudge("keys", "revoke", "ann", "--file", file)
    assert again.returncode == 1
    assert "active keys: none" in again.stderr


def test_without_a_command_the_help_is_shown():
    result = nudge()
    assert all(name in result.stdout for name in ("serve", "translate", "models", "check", "keys"))
