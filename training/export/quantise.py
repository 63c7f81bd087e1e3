"""Fixed-scale int8: the one way weights and activations become integers.

Activations are bounded by tanh, so one scale fits all of them: u8 = clip(round(x · 127) + 128, 0, 255).  No scale
depends on the batch, which is what makes a row's answer independent of its batch mates.

The one exception is the decoder's state: an actor adds to it, z~ = z + a, and may push it beyond ±1, where it stays for
some steps since the GRU interpolates between its candidate and z~.  Its scale is therefore state_range / 127, where
`state_range` is 1 or, where actors need more, the largest state seen on dev sentences; what lies beyond saturates in
the products only, while the interpolation uses the float state as it is.

Weights keep 7 bits (±63) with one scale per output: on a CPU without VNNI the u8·s8 pairs are summed in 16 bits, and
8-bit weights would overflow there (2 · 255 · 127 > 32767, but 2 · 255 · 63 fits).
"""

import numpy as np
from numpy.typing import NDArray

ACTIVATION_SCALE = 1.0 / 127.0
ACTIVATION_ZERO_POINT = 128
WEIGHT_BITS = 7
WEIGHT_LIMIT = 2 ** (WEIGHT_BITS - 1) - 1


def quantise_weight(weight: NDArray[np.float32]) -> tuple[NDArray[np.int8], NDArray[np.float32]]:
    """Return integers and scales of a weight [out, in]:  weight ≈ integers · scales[:, None],  scales [out]."""
    largest = np.abs(weight).max(axis=1)
    # A row of zeros keeps a scale of 1: any scale would do, but 0 would make 0 / 0.
    scales = np.where(largest > 0, largest / WEIGHT_LIMIT, 1.0).astype(np.float32)
    integers = np.clip(np.rint(weight / scales[:, None]), -WEIGHT_LIMIT, WEIGHT_LIMIT).astype(np.int8)
    return integers, scales
