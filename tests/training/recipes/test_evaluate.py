import io
import json

import pytest
import torch
from rich.console import Console
from sacrebleu.metrics import BLEU, CHRF
from torch import nn
from typer.testing import CliRunner

from training.cli import app
from training.config import Config, load_config
from training.errors import CorpusError, EvaluationError, TrainingError
from training.nmt.checkpoint import load_model, save_model
from training.nmt.model import ModelSizes, TranslationModel
from training.policy.actor import build_actor
from training.policy.actor_file import save_actor
from training.recipes.evaluate import evaluate
from training.recipes.run_folder import RunFolder
from training.tokenizer.subwords import learn_subwords

CONFIG = """
name = "letters"
languages = { source = "aa", target = "bb" }
[[corpus.train]]
toy = 10
[corpus.dev.valid]
toy = 10
[corpus.test.first]
toy = 10
[corpus.test.second]
toy = 10
[decoding]
max_length_ratio = 1.0
max_length_extra = 3
beam_size = 3
npad_samples = 3
"""

SENTENCES = [f"{first} {second} {third}" for first in "abc" for second in ("dog", "cat") for third in ("sat", "ran")]


@pytest.fixture(scope="module")
def config(tmp_path_factory) -> Config:
    path = tmp_path_factory.mktemp("config") / "letters.toml"
    path.write_text(CONFIG)
    return load_config(path)


@pytest.fixture
def run(config, tmp_path) -> RunFolder:
    """A run whose model was never trained: what it says is nonsense, but always the same nonsense."""
    run = RunFolder.of(config, tmp_path / "run")
    subwords = learn_subwords(SENTENCES * 5, run.source_tokenizer, vocabulary=300)
    for folder, name, sentences in (
        (run.dev, "valid", SENTENCES[:4]),
        (run.test, "first", SENTENCES[:9]),
        (run.test, "second", SENTENCES[4:]),
    ):
        folder.mkdir(exist_ok=True)
        text = "".join(f"{sentence}\n" for sentence in sentences)
        (folder / f"{name}.source.txt").write_text(text)
        (folder / f"{name}.target.txt").write_text(text)
    torch.manual_seed(0)
    save_model(run.path, TranslationModel(ModelSizes(len(subwords), len(subwords), 8, 6, 10, 4, 8)), config)
    return run


@pytest.fixture
def console() -> Console:
    return Console(file=io.StringIO(), width=200)


def push(state, context, word):
    return 3 * torch.ones_like(state)


def test_every_decoder_gets_a_row_on_every_test_set(config, run, console):
    names = ["greedy", "beam", "npad", "actor:push", "beam+actor:push"]
    reports = evaluate(config, run, names, actors={"push": push}, draws=100, console=console)
    assert [report.test_set for report in reports] == ["first", "second"]
    for report in reports:
        assert [row.decoder for row in report.rows] == names
        assert [(one.baseline, one.system) for one in report.comparisons] == [("greedy", name) for name in names[1:]]
        greedy, beam, npad, nudged, _ = report.rows
        # The model's own search finds what the model likes; an actor pushed at random does not.
        assert npad.scores.perplexity <= greedy.scores.perplexity
        assert nudged.scores.perplexity > greedy.scores.perplexity
        assert beam.scores.perplexity <= greedy.scores.perplexity


def test_the_report_on_disk_says_what_was_returned(config, run, console):
    reports = evaluate(config, run, ["greedy", "beam"], sets=["first"], draws=50, seed=7, console=console)
    written = json.loads((run.reports / "evaluate.json").read_text())
    assert written["name"] == "letters"
    [table] = written["test_sets"]
    assert table["signatures"]["bleu"].startswith("nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:")
    assert table["bootstrap"] == {"draws": 50, "seed": 7, "confidence": 0.95}
    assert [row["chrf"] for row in table["rows"]] == [row.scores.chrf for row in reports[0].rows]
    assert "## first (9 sentences)" in (run.reports / "evaluate.md").read_text()


def test_scores_are_those_of_the_outputs_it_wrote(config, run, console):
    [report] = evaluate(config, run, ["greedy", "beam:2"], sets=["first"], draws=10, console=console)
    for row in report.rows:
        path = run.reports / "outputs" / "first" / f"{row.decoder.replace(':', '-')}.txt"
        outputs = path.read_text().split("\n")[:-1]
        assert len(outputs) == 9
        assert row.scores.chrf == pytest.approx(CHRF().corpus_score(outputs, [SENTENCES[:9]]).score)
        expected = BLEU(force=True).corpus_score(outputs, [SENTENCES[:9]])
        assert row.scores.bleu == pytest.approx(expected.score)
        assert row.scores.length_ratio == pytest.approx(expected.sys_len / expected.ref_len)


def test_a_dev_set_is_asked_for_by_its_folder(config, run, console):
    [report] = evaluate(config, run, ["greedy"], sets=["dev/valid"], draws=10, console=console)
    assert (report.test_set, report.sentences, list(report.comparisons)) == ("dev/valid", 4, [])


@pytest.mark.parametrize("variant", ["plain", "constant", "gated", "recurrent"])
def test_the_actors_of_a_run_are_evaluated_by_default(config, run, console, variant):
    sizes = load_model(run.path)[0].sizes
    idle, busy = (build_actor(sizes, variant, hidden=4, sees_previous_word=False, seed=seed) for seed in (0, 1))
    nn.init.normal_(busy.output.weight, std=3.0, generator=torch.Generator().manual_seed(0))
    facts = {"variant": variant, "hidden": 4, "sees_previous_word": False}
    save_actor(run.actor("idle"), idle, facts)
    save_actor(run.actor("busy"), busy, facts)
    [report] = evaluate(config, run, sets=["first"], draws=10, console=console)
    assert [row.decoder for row in report.rows] == ["greedy", "beam", "npad", "actor:busy", "actor:idle"]
    scores = {row.decoder: row.scores for row in report.rows}
    # An untrained actor does not act.
    assert scores["actor:idle"].perplexity == pytest.approx(scores["greedy"].perplexity, rel=1e-5)
    assert scores["actor:idle"].chrf == scores["greedy"].chrf
    assert scores["actor:busy"].perplexity > scores["greedy"].perplexity


def test_any_two_rows_can_be_compared(config, run, console):
    [report] = evaluate(
        config, run, ["greedy", "beam", "npad"], sets=["first"], compare=[("npad", "beam")], draws=10, console=console
    )
    [comparison] = report.comparisons
    scores = {row.decoder: row.scores for row in report.rows}
    assert (comparison.baseline, comparison.system) == ("npad", "beam")
    expected = scores["beam"].log_probability - scores["npad"].log_probability
    assert comparison.differences["log_probability"].difference == pytest.approx(expected)


@pytest.mark.parametrize(
    ("choices", "error", "message"),
    [
        ({"decoders": ["sampling"]}, EvaluationError, "allowed are greedy"),
        ({"decoders": ["actor:bleu"]}, TrainingError, "bleu.*there is: none"),
        ({"decoders": ["greedy", "greedy"]}, EvaluationError, "named twice"),
        ({"decoders": ["greedy"], "compare": [("greedy", "beam")]}, EvaluationError, "cannot compare beam"),
        ({"decoders": ["greedy"], "sets": ["third"]}, CorpusError, "third.*there is: first, second"),
    ],
)
def test_what_cannot_be_evaluated_is_refused_before_decoding(config, run, console, choices, error, message):
    with pytest.raises(error, match=message):
        evaluate(config, run, console=console, **choices)


def test_a_run_without_a_model_says_what_to_do(config, run, console):
    run.model.unlink()
    with pytest.raises(TrainingError, match="nudge-train pretrain"):
        evaluate(config, run, ["greedy"], console=console)


def test_the_command_prints_the_table(config, run, tmp_path):
    path = tmp_path / "letters.toml"
    path.write_text(CONFIG)
    arguments = ["evaluate", "--config", str(path), "--run", str(run.path), "--set", "first", "--draws", "20"]
    result = CliRunner().invoke(
        app, [*arguments, "--decoder", "greedy", "--decoder", "beam:2", "--compare", "beam:2,greedy"]
    )
    assert result.exit_code == 0, result.output
    assert "first (9 sentences)" in result.output
    assert (
        json.loads((run.reports / "evaluate.json").read_text())["test_sets"][0]["comparisons"][0]["system"] == "greedy"
    )
    refused = CliRunner().invoke(app, [*arguments, "--compare", "greedy"])
    assert refused.exit_code == 1
    assert "give two decoders" in refused.output
