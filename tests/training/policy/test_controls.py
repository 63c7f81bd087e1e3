import torch

from training.corpus.cache import EOS
from training.decoding.greedy import greedy
from training.decoding.hypothesis import LengthLimits
from training.policy.controls import tune_length_bonuses, with_length_bonus
from training.policy.dev import DevSet
from training.policy.objectives import Objective

SOURCES = [[4 + i % 7, 4 + (i * i) % 5, *[5] * (i % 4), 3] for i in range(12)]
LIMITS = LengthLimits(ratio=0.0, extra=12, maximum=200)


class Length(Objective):
    """Negative distance of the output's length from a wish."""

    name, optimises = "length", "a length"

    def __init__(self, wish):
        self.wish = wish

    def score(self, translations):
        return [-abs(len(text.split()) - self.wish) for text in translations.hypotheses]


def spell(outputs):
    return [" ".join(map(str, ids)) for ids in outputs]


def lengths(model):
    return sum(len(one.ids) for one in greedy(model, SOURCES, limits=LIMITS))


def test_a_bonus_moves_eos_alone_and_leaves_the_model_as_it_was(tiny_model):
    model = tiny_model()
    before = model.output.bias.clone()
    biased = with_length_bonus(model, 1.5)
    assert torch.equal(model.output.bias, before)
    difference = model.output.bias - biased.output.bias
    assert difference[EOS] == 1.5
    assert difference.abs().sum() == 1.5
    assert biased.output_weight() is model.output_weight()


def test_a_positive_bonus_lengthens_and_a_negative_one_shortens(tiny_model):
    model = tiny_model(seed=3, scale=2.0)
    model.output.bias[EOS] += 1.0
    short, plain, long = (lengths(with_length_bonus(model, bonus)) for bonus in (-4.0, 0.0, 4.0))
    assert short < plain < long
    assert plain == lengths(model)


def test_the_bonus_that_serves_the_objective_best_is_chosen(tiny_model):
    model = tiny_model(seed=3, scale=2.0)
    texts = spell(SOURCES)
    dev = DevSet(texts, texts, SOURCES, spell, Length(0), LIMITS)
    wishes = {"short": Length(0), "long": Length(12)}
    tuned = tune_length_bonuses(model, dev, wishes, bonuses=(-20.0, 0.0, 20.0))
    assert {name: (one.bonus, one.objective) for name, one in tuned.items()} == {
        "short": (-20.0, 0.0),
        "long": (20.0, 0.0),
    }
