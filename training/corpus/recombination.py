"""Sentences that nobody wrote, made of those of a corpus.

A model is surer of the text it was trained on than of any other, and an actor that learns from the model's hesitations
finds few of them there.  Wherever two sentences have two subwords in a row in common, the beginning of one goes on as
the end of the other.  Most of what comes of that is fluent, about the same things, and new to the model.
"""

import random
from collections import defaultdict
from collections.abc import Sequence

CROSSINGS = 2  # from sentence to sentence, at most
TRIES = 20  # for each sentence asked for


def recombine(sentences: Sequence[Sequence[int]], count: int, max_tokens: int, seed: int) -> list[list[int]]:
    """Return up to `count` new sentences of at most `max_tokens` ids, all different; fewer where few can be made."""
    dice = random.Random(seed)
    places: dict[tuple[int, int], list[tuple[int, int]]] = defaultdict(list)  # of two ids in a row: sentence, second id
    for number, sentence in enumerate(sentences):
        for position in range(1, len(sentence)):
            places[sentence[position - 1], sentence[position]].append((number, position))
    known = {tuple(sentence) for sentence in sentences}
    found: list[list[int]] = []
    for _ in range(TRIES * count if any(map(len, sentences)) else 0):
        if len(found) == count:
            break
        made = list(dice.choice(sentences))
        for _ in range(CROSSINGS if len(made) > 1 else 0):
            cut = dice.randrange(1, len(made))
            other, position = dice.choice(places[made[cut - 1], made[cut]])
            made[cut + 1 :] = sentences[other][position + 1 :]
        if len(made) <= max_tokens and tuple(made) not in known:
            known.add(tuple(made))
            found.append(made)
    return found
