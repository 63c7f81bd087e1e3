from pathlib import Path

from typer.testing import CliRunner

from training.cli import app
from training.export.catalogue import make_catalogue

FIXTURES = Path(__file__).resolve().parents[2] / "fixtures" / "models"
MANIFEST = {
    "name": "de-en",
    "version": "1.0.0",
    "source": "de",
    "target": "en",
    "sizes": {"parameters": 7_400_000},
    "files": {"a": {"bytes": 6_000_000}, "b": {"bytes": 500_000}},
    "default_objective": None,
    "actors": [
        {
            "name": "bleu",
            "optimises": "sentence BLEU",
            "method": "supervised",
            "gains": [
                {"test_set": "news", "metric": "bleu", "greedy": 20.0, "actor": 20.5, "p": 0.01},
                {"test_set": "news", "metric": "chrf", "greedy": 50.0, "actor": 50.1, "p": 0.3},
            ],
        }
    ],
    "scores": [
        {"test_set": "news", "decoder": "greedy", "objective": None, "bleu": 20.0, "chrf": 50.0, "length_ratio": 1.0},
        {"test_set": "news", "decoder": "beam", "objective": None, "bleu": 20.7, "chrf": 50.2, "length_ratio": 0.99},
        {
            "test_set": "news",
            "decoder": "greedy",
            "objective": "bleu",
            "bleu": 20.5,
            "chrf": 50.1,
            "length_ratio": 0.98,
        },
    ],
}


def test_changes_stand_beside_the_scores_with_a_star_where_they_are_significant() -> None:
    page = make_catalogue([MANIFEST])
    assert "| [de-en](de-en/MODEL_CARD.md) | 1.0.0 | 7.4M | 6.5 MB | `bleu` | plain greedy |" in page
    assert "| greedy | 20.00 | 50.00 |  | 1.000 |" in page
    assert "| beam | 20.70 | 50.20 |  | 0.990 |" in page
    assert r"| greedy, objective `bleu` | 20.50 (+0.50\*) | 50.10 (+0.10) |  | 0.980 |" in page


def test_the_command_writes_the_page_of_a_folder(tmp_path) -> None:
    out = tmp_path / "README.md"
    result = CliRunner().invoke(app, ["catalogue", "--models", str(FIXTURES), "--out", str(out)])
    assert result.exit_code == 0, result.output
    page = out.read_text(encoding="utf-8")
    assert "## xa to xb" in page
    assert "| toy-test | BLEU | chrF | perplexity | length |" in page


def test_a_folder_without_bundles_is_refused(tmp_path) -> None:
    result = CliRunner().invoke(app, ["catalogue", "--models", str(tmp_path)])
    assert result.exit_code == 1
    assert "holds no bundle" in result.output
