"""Which type matrix products are computed in.

bf16 halves the time of a product where the processor multiplies it in hardware (AVX512-BF16, AMX, recent GPUs), and
takes several times as long where that is emulated.  What a processor says of itself is spelt differently on every
system, so `auto` tries both on a product of a training step's size.
"""

import time

import torch

ROWS, INNER, COLUMNS = 256, 512, 1536
TRIES = 5


def product_dtype(precision: str, device: torch.device) -> torch.dtype:
    """The type for a config's `precision`: fp32, bf16, or auto, the faster of the two on this device."""
    if precision == "auto":
        precision = "bf16" if _seconds(torch.bfloat16, device) < _seconds(torch.float32, device) else "fp32"
    return torch.bfloat16 if precision == "bf16" else torch.float32


def _seconds(dtype: torch.dtype, device: torch.device) -> float:
    """The shortest of several products: what disturbs a measurement only ever makes it longer."""
    left = torch.ones(ROWS, INNER, dtype=dtype, device=device)
    right = torch.ones(INNER, COLUMNS, dtype=dtype, device=device)
    shortest = float("inf")
    for _ in range(TRIES):
        began = time.perf_counter()
        (left @ right)[0, 0].item()  # waits for a GPU to finish
        shortest = min(shortest, time.perf_counter() - began)
    return shortest
