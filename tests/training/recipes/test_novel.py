import lzma

import pytest
from typer.testing import CliRunner

from training.cli import app


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "test.en").write_text("Is this a test?\n")
    with lzma.open("train.tsv.xz", "wt") as file:
        file.write("Known.\tBekannt.\ttalks\n")
    with lzma.open("other.tsv.xz", "wt") as file:
        file.write("Known!\tZnané.\ttalks\nNew.\tNové.\ttalks\nis this a test\tTest?\ttalks\nFile\tSoubor\tmenus\n")
    known = ["--known", "train.tsv.xz", "--known", "test.en"]

    def novel(*arguments):
        return CliRunner().invoke(app, ["novel", "--text", "other.tsv.xz", *known, "--out", "new.txt", *arguments])

    return novel


def test_sentences_that_no_other_text_has_are_written(run, tmp_path):
    assert run().exit_code == 0
    assert (tmp_path / "new.txt").read_text() == "New.\nFile\n"


def test_only_lines_with_the_label_count(run, tmp_path):
    assert run("--label", "talks").exit_code == 0
    assert (tmp_path / "new.txt").read_text() == "New.\n"


def test_nothing_new_is_an_error_and_leaves_no_file(run, tmp_path):
    result = run("--label", "songs")
    assert result.exit_code == 1
    assert "no sentence labelled songs in other.tsv.xz that is not in train.tsv.xz, test.en too" in result.output
    assert not (tmp_path / "new.txt").exists()


def test_missing_column_is_named_with_file_and_line(run):
    result = run("--column", "7")
    assert result.exit_code == 1
    assert "train.tsv.xz, line 1: 3 column(s) where column 7" in result.output
