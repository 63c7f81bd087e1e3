from dataclasses import replace

from training.config import Export
from training.export.model_card import make_model_card

EXPORT = Export(
    description="Everyday sentences.",
    credits=("tatoeba (CC-BY 2.0 FR)",),
    intended_use="Short messages.",
    known_failures=("long sentences lose their end",),
)


def test_card_names_use_failures_data_scores_and_objectives(facts):
    card = make_model_card(facts, EXPORT, {"greedy, fp32 against torch": "500 of 500 sentences"})
    assert card.startswith("# xa-xb 1.0.0\n\nEveryday sentences.\n")
    for line in (
        "- tatoeba (CC-BY 2.0 FR)",
        "Short messages.",
        "- long sentences lose their end",
        "- updates: 1,500",
        "| news | beam | 32.00 | 55.25 |  |  |",
        "| first | sentence BLEU | supervised, margin loss | 6 |",
        "| second | mine:reward | dpg | 3 |",
        "| first | news | bleu | 30.00 | 31.50 | 32.00 | 0.002 |",
        "- greedy, fp32 against torch: 500 of 500 sentences",
        "Objectives a request can name (default first):",
        "The weights are under Apache-2.0.",
    ):
        assert line in card.splitlines()


def test_card_has_no_heading_without_content(facts):
    bare = replace(facts, actors=[], scores=[], calibration=None, default_objective=None, provenance={})
    card = make_model_card(bare, Export(), {})
    assert [line for line in card.splitlines() if line.startswith("#")] == ["# xa-xb 1.0.0", "## Licence"]


def test_pipe_in_a_cell_does_not_break_the_table(facts):
    actor = replace(facts.actors[0], method="a|b")
    assert "| a\\|b |" in make_model_card(replace(facts, actors=[actor]), Export(), {})
