import lzma

import pytest
from typer.testing import CliRunner

from training.cli import app


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "test.en").write_text("It's late.\n")
    with lzma.open("german.tsv.xz", "wt") as file:
        file.write("It is late.\tEs ist spät.\ttalks\nFile\tDatei\tmenus\n")
    with lzma.open("czech.tsv.xz", "wt") as file:
        file.write("It is late.\tJe pozdě.\ttalks\nIt's late.\tJe pozdě.\ttalks\nLate!\tJe pozdě.\ttalks\n")
        file.write("File\tSoubor\tmenus\nFiles\tSoubor\tmenus\n")

    def pivot(*arguments):
        texts = ["--text", "german.tsv.xz", "--through", "czech.tsv.xz"]
        return CliRunner().invoke(app, ["pivot", *texts, "--out", "new.tsv", *arguments])

    return pivot


def test_new_pairs_are_written(run, tmp_path):
    assert run("--known", "test.en").exit_code == 0
    assert (tmp_path / "new.tsv").read_text() == "Files\tDatei\nLate!\tEs ist spät.\n"


def test_only_lines_with_the_label_count(run, tmp_path):
    assert run("--label", "talks").exit_code == 0
    assert (tmp_path / "new.tsv").read_text() == "It's late.\tEs ist spät.\nLate!\tEs ist spät.\n"


def test_nothing_shared_is_an_error_and_leaves_no_file(run, tmp_path):
    result = run("--label", "songs")
    assert result.exit_code == 1
    assert "no two sentences labelled songs of german.tsv.xz, czech.tsv.xz share a translation" in result.output
    assert not (tmp_path / "new.tsv").exists()


def test_a_missing_column_is_named_with_file_and_line(run, tmp_path):
    (tmp_path / "german.tsv.xz").write_bytes(lzma.compress(b"alone\n"))
    result = run()
    assert result.exit_code == 1
    assert "german.tsv.xz, line 1" in result.output
