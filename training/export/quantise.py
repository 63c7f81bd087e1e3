"""Fixed-scale int8: the one way weights and activations become integers.

Activations are bounded by tanh, so one scale fits all of them: u8 = clip(round(x · 127) + 128, 0, 255).  No scale
depends on the batch, which is what makes a row's answer independent of its batch mates.

The one exception is the decoder's state: an actor adds to it, z~ = z + a, and may push it beyond ±1, where it stays for
some steps since the GRU interpolates between its candidate and z~.  Its scale is therefore state_range / 127, where
`state_range` is 1 or, where actors need more, the largest state seen on dev sentences; what lies beyond saturates in
the products only, while the interpolation uses the float state as it is.

The third kind of activation is an actor's hidden layer times its gain, which a caller may raise above 1: GAIN_RANGE.

The layers that refine annotations are no tanh's, but cut what they multiply, at bounds that are part of the function
(`training.nmt.refinement`); hidden units that are cut at 0 have all 255 steps above it.

Weights keep 7 bits (±63): on a CPU without VNNI the u8·s8 pairs are summed in 16 bits, and 8-bit weights would overflow
there (2 · 255 · 127 > 32767, but 2 · 255 · 63 fits).  There is one scale per output, or one for the whole matrix where
onnxruntime's handling of the scales costs more than they bring: it multiplies them out in every call, 18 µs for an
output layer of 8,000 words, and in every position of the encoder.
"""

import numpy as np
from numpy.typing import NDArray

ACTIVATION_SCALE = 1.0 / 127.0
ACTIVATION_ZERO_POINT = 128
POSITIVE_ACTIVATION_SCALE = 1.0 / 255.0
WEIGHT_BITS = 7
WEIGHT_LIMIT = 2 ** (WEIGHT_BITS - 1) - 1
GAIN_RANGE = 2.0
"""Largest |gain · hidden unit| that acts in full; what lies beyond saturates."""


def quantise_rows(weight: NDArray[np.float32]) -> tuple[NDArray[np.int8], NDArray[np.float32]]:
    """Return integers and scales of a weight [out, in]:  weight ≈ integers · scales[:, None],  scales [out]."""
    largest = np.abs(weight).max(axis=1)
    # A row of zeros keeps a scale of 1: any scale would do, but 0 would make 0 / 0.
    scales = np.where(largest > 0, largest / WEIGHT_LIMIT, 1.0).astype(np.float32)
    return _integers(weight, scales[:, None]), scales


def quantise_matrix(weight: NDArray[np.float32]) -> tuple[NDArray[np.int8], NDArray[np.float32]]:
    """Return integers and the one scale [] of a weight [out, in] that leaves the least squared error.

    The largest weights of a big matrix are rare; clipping them makes the steps finer for all others.
    """
    largest = float(np.abs(weight).max())
    if largest == 0:
        return np.zeros(weight.shape, np.int8), np.array(1.0, np.float32)
    candidates = [np.float32(largest * share / WEIGHT_LIMIT) for share in np.linspace(0.3, 1.0, 29)]
    errors = [float(np.square(_integers(weight, scale) * scale - weight).sum()) for scale in candidates]
    scale = np.array(candidates[int(np.argmin(errors))], np.float32)
    return _integers(weight, scale), scale


def _integers(weight: NDArray[np.float32], scale: NDArray[np.float32] | np.float32) -> NDArray[np.int8]:
    return np.clip(np.rint(weight / scale), -WEIGHT_LIMIT, WEIGHT_LIMIT).astype(np.int8)
