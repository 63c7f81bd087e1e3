"""How a dev set judges outputs."""

import pytest

from training.decoding.hypothesis import Hypothesis, LengthLimits
from training.policy.dev import DevSet
from training.policy.objectives import Translations
from training.policy.objectives.contract import Objective

LIMITS = LengthLimits(ratio=0.0, extra=12, maximum=200)
SOURCES = [[4, 3], [5, 3], [6, 3]]


class Words(Objective):
    """A corpus is worth its words for each line."""

    name, optimises = "words", "words"

    def score(self, translations: Translations) -> list[float]:
        return [float(len(text.split())) for text in translations.hypotheses]


def spell(rows):
    return [" ".join(map(str, row)) for row in rows]


@pytest.mark.parametrize(
    ("sizes", "objective"),
    [
        ((), 4 / 3),  # (1 + 1 + 2) / 3
        ((2, 1), 1.5),  # ((1 + 1) / 2 + 2) / 2
    ],
)
def test_each_set_weighs_the_same_however_many_sentences_it_has(tiny_model, sizes, objective):
    texts = ["a", "b", "c d"]
    dev = DevSet(texts, texts, SOURCES, spell, Words(), LIMITS, sizes)
    outputs = [Hypothesis(ids, (0.0,), False) for ids in ((4,), (5,), (6, 7))]
    assert dev.judge(tiny_model(), outputs).objective == pytest.approx(objective)
