"""Learning rates that can be checked by hand."""

import pytest

from training.config import Pretrain
from training.nmt.schedule import learning_rate


def _config(decay: str) -> Pretrain:
    return Pretrain.model_validate(
        {"learning_rate": 1.0, "warmup_steps": 10, "max_steps": 110, "decay": decay, "final_learning_rate": 0.1}
    )


@pytest.mark.parametrize("decay", ["none", "linear", "cosine", "inverse-sqrt"])
def test_warm_up_is_linear_and_ends_at_the_full_rate(decay: str) -> None:
    assert learning_rate(_config(decay), 1) == pytest.approx(0.1)
    assert learning_rate(_config(decay), 10) == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("decay", "halfway", "end"),
    [
        ("none", 1.0, 1.0),
        ("linear", 0.55, 0.1),
        ("cosine", 0.55, 0.1),
        ("inverse-sqrt", (1 / 6) ** 0.5, (1 / 11) ** 0.5),
    ],
)
def test_decay_reaches_its_values_halfway_and_at_the_end(decay: str, halfway: float, end: float) -> None:
    assert learning_rate(_config(decay), 60) == pytest.approx(halfway)
    assert learning_rate(_config(decay), 110) == pytest.approx(end)
