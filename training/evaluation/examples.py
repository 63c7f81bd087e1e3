"""Examples to look at, in HTML: where greedy decoding with the actor differs most, and where the actor acted.

A word is magenta when the influence on any of its subwords exceeds 0.001, as in the paper's figure; a stronger tint is
a stronger influence, and the number is in the tooltip.
"""

import html
import math
from collections.abc import Sequence
from dataclasses import dataclass

from training.evaluation.influence import NOTABLE


@dataclass(frozen=True)
class Example:
    """One sentence as plain greedy decoding and the actor translate it."""

    source: str
    reference: str
    greedy: str
    nudged: str
    words: Sequence[tuple[str, float]]  # of the nudged output, with the influence on each
    change: float  # in the actor's objective, against greedy


def words_with_influence(pieces: Sequence[str], influence: Sequence[float]) -> list[tuple[str, float]]:
    """Join subwords (sentencepiece: "▁" starts a word) into words; a word has the largest influence of its parts."""
    words: list[tuple[str, float]] = []
    for piece, value in zip(pieces, influence, strict=False):
        if piece.startswith("▁") or not words:
            words.append((piece.removeprefix("▁"), value))
        else:
            text, before = words[-1]
            words[-1] = (text + piece, max(before, value))
    return words


def to_html(title: str, objective: str, examples: Sequence[Example]) -> str:
    """A page without scripts or anything from elsewhere."""
    body = "\n".join(_example(example) for example in examples)
    return f"""<!doctype html>
<html lang="en"><meta charset="utf-8"><title>{html.escape(title)}</title>
<style>
body {{ font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }}
dl {{ display: grid; grid-template-columns: 7rem 1fr; gap: .2rem 1rem; margin: 0 0 2rem; }}
dt {{ color: #666; }} dd {{ margin: 0; }}
mark {{ background: none; color: #c0148c; }} mark.strong {{ font-weight: 600; }}
@media (prefers-color-scheme: dark) {{
  body {{ background: #111; color: #ddd; }} dt {{ color: #999; }} mark {{ color: #ff7ad9; }}
}}
</style>
<h1>{html.escape(title)}</h1>
<p>A word is <mark>magenta</mark> where the actor's influence on it exceeds {NOTABLE}: the KL divergence, in nats,
between the step's distribution without and with the action, from the same previous state and word.
Change is in {html.escape(objective)}.</p>
{body}
</html>
"""


def _example(example: Example) -> str:
    coloured = " ".join(_word(text, value) for text, value in example.words)
    rows = [
        ("source", html.escape(example.source)),
        ("reference", html.escape(example.reference)),
        ("greedy", html.escape(example.greedy)),
        ("with actor", coloured),
        ("change", f"{example.change:+.3f}"),
    ]
    return "<dl>" + "".join(f"<dt>{name}</dt><dd>{text}</dd>" for name, text in rows) + "</dl>"


def _word(text: str, value: float) -> str:
    if value <= NOTABLE:
        return f'<span title="{value:.4f}">{html.escape(text)}</span>'
    strength = ' class="strong"' if value > math.sqrt(NOTABLE) else ""
    return f'<mark{strength} title="{value:.4f}">{html.escape(text)}</mark>'
