import sys

import pytest

from training.errors import ObjectiveError
from training.policy.objectives import Translations, load_objective

TEXTS = Translations(["q", "q"], ["abcdef", "abc"], ["abcdef", "abcdef"], [-0.5, -2.0])


def test_perplexity_is_the_mean_log_probability_it_is_given_and_unbounded():
    objective = load_objective("perplexity")
    assert objective.score(TEXTS) == [-0.5, -2.0]
    assert objective.corpus_score(TEXTS) == -1.25
    assert not objective.is_bounded
    assert objective.needs_log_probabilities


def test_perplexity_without_log_probabilities_says_so():
    with pytest.raises(ObjectiveError, match="log-probabilities of the frozen model"):
        load_objective("perplexity").score(Translations(["q"], ["a"], ["a"]))


def test_concise_keeps_the_quality_at_the_target_length_and_prices_both_sides_of_it():
    objective = load_objective("concise", {"length": 0.5, "weight": 2.0})
    full, half = objective.score(TEXTS)
    # As long as the reference and perfect: chrF 1 times (0.5 / 1)².
    assert full == pytest.approx(0.25)
    assert half == pytest.approx(load_objective("chrf").score(TEXTS)[1])
    quarter = Translations(["q"], ["ab"], ["abcdefgh"])
    assert objective.score(quarter)[0] == pytest.approx(0.25 * load_objective("chrf").score(quarter)[0])


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("blue", {}, "no objective 'blue': there are bleu, perplexity, chrf, concise"),
        ("bleu", {"weight": 1}, "bleu has no options weight"),
        ("concise", {"size": 1}, "it has: length, weight"),
        ("concise", {"length": -1.0}, "length = -1.0"),
    ],
)
def test_a_name_or_option_that_does_not_exist_is_refused(name, options, message):
    with pytest.raises(ObjectiveError, match=message):
        load_objective(name, options)


def test_lines_that_do_not_pair_up_are_refused():
    with pytest.raises(ObjectiveError, match=r"\[1, 2, 1\]"):
        Translations(["q"], ["a", "b"], ["a"])


OWN = '''
def shorter(hypotheses, references):
    """Short outputs.

    More words.
    """
    return [-len(hypothesis) for hypothesis in hypotheses]

def copied(hypotheses, references, sources, *, factor=1):
    return [factor * float(source == hypothesis) for source, hypothesis in zip(sources, hypotheses)]
copied.bounded = True

def one_number(hypotheses, references): return 1.0
def too_few(hypotheses, references): return [0.0]
def not_finite(hypotheses, references): return [float("nan")] * len(hypotheses)
def breaks(hypotheses, references): return [1 / 0]
def only_hypotheses(hypotheses): return [0.0] * len(hypotheses)
def out_of_bounds(hypotheses, references): return [2.0] * len(hypotheses)
out_of_bounds.bounded = True
number = 3
'''


@pytest.fixture
def own_module(tmp_path, monkeypatch):
    (tmp_path / "own_objective.py").write_text(OWN)
    (tmp_path / "broken_objective.py").write_text("import no_such_package_at_all\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    yield
    for name in ("own_objective", "broken_objective"):
        sys.modules.pop(name, None)


@pytest.mark.usefixtures("own_module")
def test_a_function_of_the_users_own_scores_hypotheses():
    objective = load_objective("own_objective:shorter")
    assert objective.score(TEXTS) == [-6.0, -3.0]
    assert objective.optimises == "Short outputs"
    assert not objective.is_bounded


@pytest.mark.usefixtures("own_module")
def test_a_function_with_a_third_parameter_sees_the_sources_and_its_options():
    texts = Translations(["x", "y"], ["x", "z"], ["", ""])
    objective = load_objective("own_objective:copied", {"factor": 0.5})
    assert objective.score(texts) == [0.5, 0.0]
    assert objective.is_bounded


@pytest.mark.usefixtures("own_module")
@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("no_such_module:f", "no module 'no_such_module'"),
        ("broken_objective:f", "needs 'no_such_package_at_all'"),
        ("own_objective:nothing", "no function 'nothing'; it has: breaks, copied"),
        ("own_objective:number", "no function 'number'"),
        ("own_objective:", "module:function"),
        ("own_objective:only_hypotheses", "cannot be called with"),
        ("own_objective:one_number", "must return a list of numbers"),
        ("own_objective:too_few", "1 numbers for 2 hypotheses"),
        ("own_objective:not_finite", "finite"),
        ("own_objective:breaks", "ZeroDivisionError"),
        ("own_objective:out_of_bounds", "declared bounded and returned 2.0"),
    ],
)
def test_a_function_that_does_not_honour_the_contract_is_refused_when_it_is_loaded(path, message):
    with pytest.raises(ObjectiveError, match=message):
        load_objective(path)


def test_the_perplexity_of_a_set_is_over_its_tokens():
    texts = ["a", "b c"]
    objective = load_objective("perplexity")
    counted = Translations(texts, texts, texts, mean_log_probabilities=[-0.2, -0.8], token_counts=[2, 4])
    assert objective.corpus_score(counted) == pytest.approx((2 * -0.2 + 4 * -0.8) / 6)
    assert objective.corpus_score(Translations(texts, texts, texts, [-0.2, -0.8])) == pytest.approx(-0.5)
    with pytest.raises(ObjectiveError, match="give one of each"):
        Translations(texts, texts, texts, [-0.2, -0.8], token_counts=[2])
