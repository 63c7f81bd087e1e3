from training.evaluation.actor_report import (
    ActorResult,
    SetResult,
    System,
    change_cell,
    is_significant,
    metric_of,
    summary,
    to_markdown,
)
from training.evaluation.bootstrap import Difference
from training.evaluation.figures import draw_changes, draw_critic_awareness
from training.evaluation.verdicts import to_json, verdicts


def difference(metric, value, p):
    return Difference(metric, value, value - 0.1, value + 0.1, p, 0.99)


def actor(name, objective, bleu, log_p, *, p=0.01, constant=None, bonus=None, is_control=False, group=None):
    own = metric_of(objective)
    changes = {"bleu": difference("bleu", bleu, p), "log_probability": difference("log_probability", log_p, p)}
    return ActorResult(
        name=name,
        group=group or name,
        objective=objective,
        method="supervised",
        is_control=is_control,
        minutes=2.0,
        against_greedy=changes,
        against_beam=changes,
        share_of_beam=bleu / 2,
        against_constant=None if constant is None else difference(own, constant, 0.01 if constant > 0.3 else 0.4),
        against_length_bonus=None if bonus is None else difference(own, bonus, 0.01 if bonus > 0.3 else 0.4),
        mean_influence=0.01,
        notable_share=0.5,
    )


def result(*actors):
    systems = [
        System(name, {"bleu": bleu, "log_probability": -0.5}, 1.0, 0.9, 100.0, 0)
        for name, bleu in (("greedy", 30.0), ("beam", 32.0))
    ]
    return SetResult("test", 1000, systems, actors, ["a note"], {"bleu": -0.5})


def test_a_star_means_significant_and_equal_outputs_have_none():
    assert change_cell(difference("bleu", 0.5, 0.049)) == r"+0.50\* (p 0.049)"
    assert change_cell(difference("log_probability", -0.0123, 0.2)) == "-0.012 (p 0.200)"
    assert change_cell(difference("bleu", 0.0, 0.001)) == "none"
    assert change_cell(None) == "–"
    assert not is_significant(difference("bleu", 0.0, 0.001))


def test_an_actor_that_does_not_beat_a_control_is_reported_as_such():
    lines = verdicts(result(actor("good", "bleu", 1.0, 0.1, constant=0.5, bonus=0.6)))
    assert "`good` beats the best constant action: +0.50 BLEU, p < .05 in 1 of 1 seed." in lines
    weak = verdicts(result(actor("weak", "bleu", 1.0, 0.1, constant=0.1, bonus=-0.2)))
    assert "`weak` does **not** beat the best constant action: +0.10 BLEU, p < .05 in 0 of 1 seed." in weak
    assert any("does **not** beat greedy with a tuned length bonus" in line for line in weak)
    assert any("has not been trained" in line for line in verdicts(result(actor("alone", "bleu", 1.0, 0.1))))


def test_most_seeds_must_beat_a_control():
    seeds = [actor(f"s-{n}", "bleu", 1.0, 0.1, constant=value, group="s") for n, value in enumerate((0.1, 0.5, 0.9))]
    assert "`s` beats the best constant action: +0.50 ± 0.40 BLEU, p < .05 in 2 of 3 seeds." in verdicts(result(*seeds))
    few = verdicts(result(*seeds[:2]))
    assert "`s` does **not** beat the best constant action: +0.30 ± 0.28 BLEU, p < .05 in 1 of 2 seeds." in few


def test_the_summary_says_what_the_control_reaches_alone():
    seeds = [actor(f"s-{n}", "bleu", 1.0 + n, 0.1, constant=0.5, bonus=0.2, group="s") for n in (0, 1)]
    # Gains of 1 and 2, half a point each beyond the constant action: that alone reaches 0.5 and 1.5.
    row = summary(result(*seeds)).splitlines()[-1]
    assert row == (
        "| `s` | bleu | 2 | +1.50 ± 0.71 BLEU | 75% ± 35% | 2 of 2 | +1.00 ± 0.71 | "
        "+0.50 ± 0.00 (p < .05 in 2 of 2) | +0.20 ± 0.00 (p < .05 in 0 of 2) |"
    )


def test_the_cross_pattern_is_said_either_way():
    crossed = verdicts(result(actor("a", "bleu", 1.0, 0.0), actor("b", "perplexity", 0.5, 0.1)))
    assert "Best in BLEU: `a` (+1.000), as the paper found." in crossed
    assert "Best in log p: `b` (+0.100), as the paper found." in crossed
    not_crossed = verdicts(result(actor("a", "bleu", 1.0, 0.2), actor("b", "perplexity", 0.5, 0.1)))
    assert "Best in log p: `a` (+0.200), **not** the actor trained for it." in not_crossed


def test_seeds_are_averaged_and_everything_is_in_the_tables():
    text = to_markdown(result(actor("s1", "bleu", 1.0, 0.1, group="s1"), actor("s2", "bleu", 1.4, 0.1, group="s1")))
    # mean 1.2, standard deviation sqrt(2 · 0.2² / 1) = 0.28; shares 50% and 70%
    assert "| `s1` | 2 | +1.20 ± 0.28 | +0.100 ± 0.000 | 60% ± 14% |" in text
    assert "| `beam` | 32.00 | -0.500 | 1.000 | 0.900 | 100 | 0 |" in text
    assert "- a note" in text
    assert to_json([result()])[0]["length_bonuses"] == {"bleu": -0.5}


def test_figures_are_drawn(tmp_path):
    draw_changes(result(actor("a", "bleu", 1.0, 0.1), actor("b", "perplexity", 0.5, 0.2)), tmp_path / "changes.png")
    curves = {"aware": [(0, 0.3), (20, 0.32)], "vanilla": [(0, 0.3), (20, 0.29)]}
    draw_critic_awareness(curves, {"aware": True, "vanilla": False}, tmp_path / "curve.png", "bleu")
    for name in ("changes.png", "curve.png"):
        assert (tmp_path / name).read_bytes().startswith(b"\x89PNG")
