"""From log-probabilities to what searches need.

Shapes:  B rows · V vocabulary · k candidates
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
Floats = NDArray[np.float32]
Ints = NDArray[np.int64]

BLOCK = 64  # values summarised by their maximum before a top-k looks at them


def kl_divergence(log_p: Floats, log_q: Floats) -> float:
    """Return KL(p || q) in nats of two distributions given by their log-probabilities [V]."""
    divergence = float(np.dot(np.exp(log_p), log_p - log_q))
    return max(divergence, 0.0)  # rounding may leave -1e-8 for equal distributions


def top_candidates(scores: Floats, k: int) -> tuple[Ints, Ints, Floats]:
    """Return rows [k], columns [k] and values [k] of the `k` largest of `scores` [B, V], largest first.

    Exact: the k largest lie in the k blocks with the largest maxima.  Equal values are ordered by row and column.
    """
    columns = scores.shape[1]
    flat = scores.reshape(-1)
    k = min(k, flat.size)
    whole = flat.size // BLOCK * BLOCK
    if whole // BLOCK > 2 * k:
        maxima = flat[:whole].reshape(-1, BLOCK).max(axis=1)
        blocks = np.argpartition(maxima, len(maxima) - k)[-k:]
        inside = (blocks[:, None] * BLOCK + np.arange(BLOCK)).reshape(-1)
        pool = np.concatenate([inside, np.arange(whole, flat.size)])
    else:
        pool = np.arange(flat.size)
    values = flat[pool]
    order = np.lexsort((pool, -values))[:k]
    best = pool[order]
    return best // columns, best % columns, values[order]
