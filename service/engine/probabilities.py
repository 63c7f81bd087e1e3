"""From logits to what searches need, without a full softmax.

Shapes:  B rows · V vocabulary · k candidates
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
Floats = NDArray[np.float32]
Ints = NDArray[np.int64]

BLOCK = 64  # logits summarised by their maximum before a top-k looks at them


def log_normalisers(logits: Floats, scratch: Floats) -> Floats:
    """Return log Σ_v exp(logit_v) [B] of `logits` [B, V]; `scratch` [B, V] is overwritten.

    Logits of a trained model are small, so the usual subtraction of the maximum is a wasted pass: it is done only for
    the rows that overflow or underflow without it.  Each row takes its own path, so its bits never depend on others.
    """
    with np.errstate(over="ignore", divide="ignore"):
        np.exp(logits, out=scratch)
        normalisers: Floats = np.log(scratch.sum(axis=1))
    for row in np.flatnonzero(~np.isfinite(normalisers)):
        top = logits[row].max()
        normalisers[row] = top + np.log(np.exp(logits[row] - top).sum())
    return normalisers


def kl_divergence(reference: Floats, other: Floats) -> float:
    """Return KL(p || q) in nats, with p the softmax of `reference` [V] and q that of `other` [V]."""
    log_p = reference - _log_normaliser(reference)
    log_q = other - _log_normaliser(other)
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


def _log_normaliser(logits: Floats) -> float:
    top = logits.max()
    return float(top + np.log(np.exp(logits - top).sum()))
