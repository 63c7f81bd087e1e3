"""golden.jsonl: outputs the service must reproduce before it serves the bundle.

Another CPU may round the last bits differently, and where the two best words are nearly tied that would flip one of
them.  So of all candidates those are taken whose closest call (smallest distance of the best to the second-best word,
over all steps) is comfortable, the shortest closest calls last.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from training.decoding.hypothesis import LengthLimits
from training.errors import ExportError
from training.export.sessions import BundleSessions, Translation

COMFORTABLE_MARGIN = 0.15
"""In nats.  int8 rounding on another CPU moves a log-probability by about 1e-5, so this is generous."""


def make_golden(
    sessions: BundleSessions,
    texts: Sequence[str],
    sources: Sequence[Sequence[int]],
    decode: Callable[[Sequence[int]], str],
    actors: Mapping[str, tuple[int, int]],
    limits: LengthLimits,
    examples: int,
) -> bytes:
    """Return `examples` lines for plain greedy and as many for each actor, decoded from `texts` by the bundle itself.

    `sources` are the texts' ids, with eos at the end; `actors` maps a name to its hidden units.
    """
    lines: list[dict[str, Any]] = []
    choices: list[tuple[str | None, tuple[int, int] | None]] = [(None, None), *actors.items()]
    for objective, units in choices:
        outputs = sessions.greedy(sources, limits, units)
        for index in _most_certain(outputs, examples):
            lines.append(
                {
                    "text": texts[index],
                    "source_ids": list(sources[index]),
                    "decoder": "greedy",
                    "objective": objective,
                    "output_ids": list(outputs[index].ids),
                    "output": decode(outputs[index].ids),
                    "score": round(outputs[index].score, 4),
                }
            )
    return b"".join(json.dumps(line, ensure_ascii=False).encode() + b"\n" for line in lines)


def _most_certain(outputs: Sequence[Translation], examples: int) -> list[int]:
    """Return the indices of the outputs to keep, in the order of the texts."""
    usable = [index for index, output in enumerate(outputs) if output.ids and not output.is_truncated]
    comfortable = [index for index in usable if outputs[index].margin >= COMFORTABLE_MARGIN]
    if len(comfortable) >= examples:
        return comfortable[:examples]
    if not usable:
        raise ExportError(
            f"none of the {len(outputs)} golden candidates ends with eos before the length bound: is the model trained?"
        )
    return sorted(sorted(usable, key=lambda index: -outputs[index].margin)[:examples])
