import json
import os
import shutil
import subprocess
import sys
import time
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console

from training.config import Config
from training.corpus.cache import TokenCorpus
from training.corpus.toy import toy_pairs
from training.errors import CorpusError, TrainingError
from training.recipes import prepare as recipe
from training.recipes.prepare import prepare
from training.recipes.prepared import require_prepared
from training.recipes.run_folder import RunFolder
from training.tokenizer.subwords import Subwords


def config_of_files(tmp_path: Path, pairs: list[tuple[str, str]], **sections) -> Config:
    """A config that reads `pairs` from two plain files, for training and as its dev set."""
    folder = tmp_path / "corpus"
    folder.mkdir(exist_ok=True)
    (folder / "a.xa").write_text("".join(f"{source}\n" for source, _ in pairs), encoding="utf-8")
    (folder / "a.xb").write_text("".join(f"{target}\n" for _, target in pairs), encoding="utf-8")
    files = {"source": folder / "a.xa", "target": folder / "a.xb"}
    corpus = {"train": [files], "dev": {"here": files}, **sections.pop("corpus", {})}
    tokenizer = {"vocabulary": 400, **sections.pop("tokenizer", {})}
    languages = {"source": "xa", "target": "xb"}
    return Config.model_validate({"name": "files", "languages": languages, "corpus": corpus, "tokenizer": tokenizer})


@pytest.fixture
def pairs() -> list[tuple[str, str]]:
    return list(dict.fromkeys(toy_pairs(200)))


def texts(run: RunFolder) -> list[tuple[str, str]]:
    """The training text as the cached ids spell it."""
    source, target = Subwords.load(run.source_tokenizer), Subwords.load(run.target_tokenizer)
    corpus = TokenCorpus.open(run.data)
    ids = [corpus.pair(index) for index in range(len(corpus))]
    return [(source.decode(pair[0]), target.decode(pair[1])) for pair in ids]


def test_the_cached_ids_spell_the_training_text(tmp_path: Path, pairs, quiet: Console) -> None:
    config = config_of_files(tmp_path, pairs)
    run = RunFolder.of(config, tmp_path / "run")
    prepared = prepare(config, run, console=quiet)
    assert texts(run) == pairs
    assert prepared.training_pairs == len(pairs)
    assert prepared.source_vocabulary == prepared.target_vocabulary == len(Subwords.load(run.source_tokenizer))
    assert prepared.source_tokens == TokenCorpus.open(run.data).source_lengths.sum()


def test_subwords_per_side_live_in_two_files(tmp_path: Path, pairs, quiet: Console) -> None:
    config = config_of_files(tmp_path, pairs, tokenizer={"joint": False, "vocabulary": 350, "target_vocabulary": 380})
    run = RunFolder.of(config, tmp_path / "run")
    prepared = prepare(config, run, console=quiet)
    assert [prepared.source_vocabulary, prepared.target_vocabulary] == [350, 380]
    assert sorted(path.name for path in run.path.glob("*.model")) == ["source.model", "target.model"]
    assert texts(run) == pairs


def test_evaluation_sets_are_kept_as_they_are(tmp_path: Path, pairs, quiet: Console) -> None:
    odd = [*pairs, ("  two  spaces ", "\tx"), *pairs[:2]]
    config = config_of_files(tmp_path, odd)
    run = RunFolder.of(config, tmp_path / "run")
    prepare(config, run, console=quiet)
    dev = run.dev_set("here")
    assert list(zip(dev.sources, dev.references, strict=True)) == odd


def test_a_repeated_text_is_seen_that_often_in_an_epoch(tmp_path: Path, pairs, quiet: Console) -> None:
    repeated = {"toy": 40, "toy_seed": 9, "repeat": 3}
    files = {"source": tmp_path / "corpus/a.xa", "target": tmp_path / "corpus/a.xb"}
    config = config_of_files(tmp_path, pairs, corpus={"train": [files, repeated]})
    run = RunFolder.of(config, tmp_path / "run")
    prepare(config, run, console=quiet)
    fresh = [pair for pair in toy_pairs(40, seed=9) if pair not in pairs]
    assert texts(run) == pairs + [pair for pair in fresh for _ in range(3)]


def test_what_cleaning_removed_is_printed_and_recorded(tmp_path: Path, pairs) -> None:
    config = config_of_files(tmp_path, [*pairs, pairs[0], ("", "x")])
    run = RunFolder.of(config, tmp_path / "run")
    output = StringIO()
    prepare(config, run, console=Console(file=output, width=150))
    assert "seen before" in output.getvalue()
    (record,) = json.loads(run.prepared.read_text())["texts"]
    assert [record["read"], record["kept"]] == [len(pairs) + 2, len(pairs)]
    assert record["removed"] == {"duplicate": 1, "empty": 1}


def test_preparing_again_does_nothing_and_says_so(tmp_path: Path, pairs) -> None:
    config = config_of_files(tmp_path, pairs)
    run = RunFolder.of(config, tmp_path / "run")
    first = prepare(config, run, console=Console(quiet=True))
    written = run.prepared.stat().st_mtime_ns
    output = StringIO()
    assert prepare(config, run, console=Console(file=output, width=200)) == first
    assert "nothing to do" in output.getvalue()
    assert run.prepared.stat().st_mtime_ns == written


def test_a_changed_config_or_a_changed_file_is_prepared_again(tmp_path: Path, pairs, quiet: Console) -> None:
    run = RunFolder(tmp_path / "run")
    prepare(config_of_files(tmp_path, pairs), run, console=quiet)
    smaller = config_of_files(tmp_path, pairs, tokenizer={"vocabulary": 320})
    assert prepare(smaller, run, console=quiet).source_vocabulary == 320
    shorter = config_of_files(tmp_path, pairs[:100], tokenizer={"vocabulary": 320})
    assert prepare(shorter, run, console=quiet).training_pairs == 100


def test_a_prepared_run_survives_a_move_without_its_corpora(tmp_path: Path, pairs, quiet: Console) -> None:
    config = config_of_files(tmp_path, pairs)
    prepared = prepare(config, RunFolder.of(config, tmp_path / "run"), console=quiet)
    shutil.move(tmp_path / "run", tmp_path / "moved")
    shutil.rmtree(tmp_path / "corpus")
    assert require_prepared(config, RunFolder.of(config, tmp_path / "moved")) == prepared


def test_work_that_was_cut_off_is_not_taken_for_finished(
    tmp_path: Path, pairs, quiet: Console, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = config_of_files(tmp_path, pairs)
    run = RunFolder.of(config, tmp_path / "run")
    monkeypatch.setattr(recipe, "write_record", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt):
        prepare(config, run, console=quiet)
    monkeypatch.undo()
    with pytest.raises(CorpusError, match="not prepared yet; run `nudge-train prepare`"):
        require_prepared(config, run)
    assert prepare(config, run, console=quiet).training_pairs == len(pairs)
    assert [path.name for path in run.path.iterdir() if path.name.startswith(".")] == []


def test_a_killed_process_leaves_nothing_that_counts(tmp_path: Path, pairs, quiet: Console) -> None:
    config = config_of_files(tmp_path, pairs)
    run = RunFolder.of(config, tmp_path / "run")
    endless = tmp_path / "endless.toml"
    endless.write_text(
        'name = "endless"\nlanguages = { source = "xa", target = "xb" }\n'
        "[corpus]\ntrain = [{ toy = 100000000 }]\ndev.here = { toy = 5 }\n"
    )
    process = subprocess.Popen(
        [sys.executable, "-m", "training.cli", "prepare", "--config", endless, "--run", run.path],
        stderr=subprocess.DEVNULL,
    )
    while not list(run.path.glob(".prepare-*/clean.source.txt")):
        assert process.poll() is None, "it should work until it is killed"
        time.sleep(0.05)
    process.kill()
    process.wait()
    assert not run.prepared.exists()
    assert prepare(config, run, console=quiet).training_pairs == len(pairs)
    assert [path.name for path in run.path.iterdir() if path.name.startswith(".")] == []


def test_preparing_anew_over_older_data_is_not_finished_when_cut_off(
    tmp_path: Path, pairs, quiet: Console, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = config_of_files(tmp_path, pairs)
    run = RunFolder.of(config, tmp_path / "run")
    prepare(config, run, console=quiet)
    monkeypatch.setattr(recipe, "write_record", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt):
        prepare(config, run, force=True, console=quiet)
    with pytest.raises(CorpusError, match="not prepared yet"):
        require_prepared(config, run)


def test_a_run_prepared_from_another_config_is_refused(tmp_path: Path, pairs, quiet: Console) -> None:
    run = RunFolder(tmp_path / "run")
    prepare(config_of_files(tmp_path, pairs), run, console=quiet)
    with pytest.raises(CorpusError, match="prepared from another config or from other files"):
        require_prepared(config_of_files(tmp_path, pairs, tokenizer={"vocabulary": 320}), run)


def test_data_is_not_pulled_from_under_a_trained_model(tmp_path: Path, pairs, quiet: Console) -> None:
    run = RunFolder(tmp_path / "run")
    prepare(config_of_files(tmp_path, pairs), run, console=quiet)
    run.model.write_bytes(b"")
    other = config_of_files(tmp_path, pairs, tokenizer={"vocabulary": 320})
    with pytest.raises(TrainingError, match="holds a model that was trained on other data"):
        prepare(other, run, console=quiet)
    assert prepare(other, run, force=True, console=quiet).source_vocabulary == 320


def test_switching_to_subwords_per_side_leaves_no_joint_model_behind(tmp_path: Path, pairs, quiet: Console) -> None:
    prepare(config_of_files(tmp_path, pairs), RunFolder(tmp_path / "run"), console=quiet)
    config = config_of_files(tmp_path, pairs, tokenizer={"joint": False, "vocabulary": 330})
    prepare(config, RunFolder.of(config, tmp_path / "run"), console=quiet)
    assert sorted(path.name for path in (tmp_path / "run").glob("*.model")) == ["source.model", "target.model"]


def test_a_corpus_that_cleaning_empties_is_an_error(tmp_path: Path, quiet: Console) -> None:
    config = config_of_files(tmp_path, [("", "x"), ("y", "")])
    with pytest.raises(CorpusError, match=r"cleaning removed every training pair \({'empty': 2}\)"):
        prepare(config, RunFolder.of(config, tmp_path / "run"), console=quiet)


def test_a_missing_corpus_leaves_no_trace(tmp_path: Path, pairs, quiet: Console) -> None:
    config = config_of_files(tmp_path, pairs)
    (tmp_path / "corpus/a.xb").unlink()
    with pytest.raises(CorpusError, match=r"a\.xb: no such file"):
        prepare(config, RunFolder.of(config, tmp_path / "run"), console=quiet)
    assert list((tmp_path / "run").iterdir()) == []


def test_a_sample_for_the_subwords_is_spread_over_all_files(tmp_path: Path) -> None:
    for name, count in (("a", 60), ("b", 40)):
        (tmp_path / name).write_text("".join(f"{name}{index}\n" for index in range(count)))
    sample = list(recipe._sample([tmp_path / "a", tmp_path / "b"], 10))
    assert sample == ["a0", "a10", "a20", "a30", "a40", "a50", "b0", "b10", "b20", "b30"]
    assert len(list(recipe._sample([tmp_path / "a", tmp_path / "b"], 1000))) == 100


def test_an_unknown_evaluation_set_names_those_there_are(prepared_toy: RunFolder) -> None:
    with pytest.raises(CorpusError, match=r"no set called 'news' here \(there is: toy-dev\)"):
        prepared_toy.dev_set("news")


def test_the_toy_config_prepares_training_dev_and_test_text(toy_config: Config, prepared_toy: RunFolder) -> None:
    assert require_prepared(toy_config, prepared_toy).training_pairs > 10_000
    assert [len(found) for found in prepared_toy.dev_sets(toy_config)] == [toy_config.corpus.dev["toy-dev"].toy]
    assert [found.name for found in prepared_toy.test_sets(toy_config)] == ["toy-test"]


def test_lone_words_and_bare_phrases_follow_the_text(tmp_path: Path, quiet: Console) -> None:
    pairs = [("Ich mag Brot.", "I like bread."), ("Tom isst Brot.", "Tom eats bread."), ("Ich esse.", "I eat.")]
    config = config_of_files(
        tmp_path, pairs, corpus={"short_text": {"min_count": 1, "word_repeat": 3, "phrase_repeat": 2}}
    )
    run = RunFolder.of(config, tmp_path / "run")
    prepared = prepare(config, run, console=quiet)
    written = texts(run)
    assert written[:3] == pairs
    assert written.count(("ich mag brot", "I like bread")) == 2
    assert written.count(("Brot", "bread")) == 2 * 3  # twice as frequent as the rarest
    assert written.count(("mag", "like")) == 3
    assert prepared.training_pairs == len(written)
    without = config_of_files(tmp_path, pairs)
    with pytest.raises(CorpusError, match="another config"):
        require_prepared(without, run)


def test_sentences_with_other_names_follow_the_text(tmp_path: Path, quiet: Console) -> None:
    pairs = [("Tom schläft.", "Tom sleeps."), ("Boston ist alt.", "Boston is old."), ("Es regnet.", "It rains.")]
    (tmp_path / "places.tsv").write_text("Munich\tMünchen\n", encoding="utf-8")
    places = {"tsv": tmp_path / "places.tsv", "source_column": 1, "target_column": 0}
    names = {"variants": 2, "translated": places, "translated_share": 1.0}
    config = config_of_files(tmp_path, pairs, corpus={"other_names": names})
    run = RunFolder.of(config, tmp_path / "run")
    prepared = prepare(config, run, console=quiet)
    written = texts(run)
    assert written[:3] == pairs
    assert written[3:5] == [("München schläft.", "Munich sleeps.")] * 2
    assert len(written) == prepared.training_pairs == 3 + 2 * 2


def test_a_text_can_be_shown_in_lower_case_too(tmp_path: Path, quiet: Console) -> None:
    config = config_of_files(tmp_path, [("Guten Tag", "Hello"), ("danke", "thanks")])
    (text,) = config.corpus.train
    shown = text.model_copy(update={"any_case": True})
    config = config.model_copy(update={"corpus": config.corpus.model_copy(update={"train": (shown,)})})
    run = RunFolder.of(config, tmp_path / "run")
    prepare(config, run, console=quiet)
    assert texts(run) == [("Guten Tag", "Hello"), ("guten tag", "Hello"), ("danke", "thanks")]


def test_a_prepared_run_can_be_moved_with_its_names(tmp_path: Path, quiet: Console) -> None:
    pairs = [("Tom schläft.", "Tom sleeps."), ("Es regnet.", "It rains.")]
    here, there = tmp_path / "here", tmp_path / "there"
    for folder in (here, there):
        folder.mkdir()
        (folder / "places.tsv").write_text("München\tMunich\n", encoding="utf-8")
        os.utime(folder / "places.tsv", (1, 1))

    first, moved = (
        config_of_files(tmp_path, pairs, corpus={"other_names": {"translated": {"tsv": folder / "places.tsv"}}})
        for folder in (here, there)
    )
    run = RunFolder.of(first, tmp_path / "run")
    prepare(first, run, console=quiet)
    require_prepared(moved, run)
    (there / "places.tsv").write_text("Köln\tCologne\n", encoding="utf-8")
    with pytest.raises(CorpusError, match="other files"):
        require_prepared(moved, run)
