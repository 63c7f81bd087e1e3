import pytest
import torch

from training.nmt import precision
from training.nmt.precision import product_dtype

CPU = torch.device("cpu")


def test_a_named_precision_is_taken_at_its_word() -> None:
    assert product_dtype("fp32", CPU) is torch.float32
    assert product_dtype("bf16", CPU) is torch.bfloat16


@pytest.mark.parametrize(("bf16_s", "chosen"), [(0.5, torch.bfloat16), (5.0, torch.float32)])
def test_auto_takes_the_faster(monkeypatch: pytest.MonkeyPatch, bf16_s: float, chosen: torch.dtype) -> None:
    seconds = {torch.bfloat16: bf16_s, torch.float32: 1.0}
    monkeypatch.setattr(precision, "_seconds", lambda dtype, device: seconds[dtype])
    assert product_dtype("auto", CPU) is chosen


def test_both_types_are_really_timed() -> None:
    assert all(0 < precision._seconds(dtype, CPU) < 10 for dtype in (torch.bfloat16, torch.float32))
