"""Other names in the same sentences, made of a corpus: so that a model learns to copy a name it has never seen.

Many an everyday sentence is about Tom.  Such a corpus teaches what "Tom" becomes, and not that a name stays what it is:
given one it does not know, the model writes one it does.  So sentences with a name are shown again with others, drawn
from all the names the corpus has, each as likely as the next: rare names are most of them.

A name is a capitalised word that stands on both sides whenever it stands on one, and is never written small.
"""

import random
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from training.config import OtherNames

Pair = tuple[str, str]

WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")
SHORTEST = 3  # letters
IN_BOTH = 0.6  # least share of the pairs with a name that have it on both sides
IN_SMALL = 0.05  # largest share of a name's occurrences that are written small
TWO_WORDS = 0.3  # how often a name becomes a first and a last one


def find_names(pairs: Sequence[Pair]) -> list[str]:
    """Return the names that the pairs have, in alphabetical order."""
    together: Counter[str] = Counter()
    apart: Counter[str] = Counter()
    small: Counter[str] = Counter()
    for source, target in pairs:
        source_words, target_words = set(WORD.findall(source)), set(WORD.findall(target))
        together.update(filter(_looks_like_a_name, source_words & target_words))
        apart.update(filter(_looks_like_a_name, source_words ^ target_words))
        small.update(word for word in source_words | target_words if word.islower())
    return sorted(
        word
        for word, count in together.items()
        if count >= IN_BOTH * (count + apart[word]) and small[word.lower()] <= IN_SMALL * count
    )


def with_other_names(pairs: Sequence[Pair], settings: OtherNames, translated: Sequence[Pair] = ()) -> Iterator[Pair]:
    """Yield each pair that has a name, and few enough words, `variants` times with other names.

    Some of these are of `translated`, names that are not the same on both sides.
    """
    names = find_names(pairs)
    known = frozenset(names)
    dice = random.Random(0)

    def draw() -> Pair:
        if translated and dice.random() < settings.translated_share:
            return dice.choice(translated)
        name = " ".join(dice.choices(names, k=2 if dice.random() < TWO_WORDS else 1))
        return name, name

    for source, target in pairs:
        if max(len(source.split()), len(target.split())) > settings.max_words:
            continue
        found = _swappable(source, target, known)
        for _ in range(settings.variants if found else 0):
            others = {name: draw() for name in found}
            yield _swap(source, others, 0), _swap(target, others, 1)


def _looks_like_a_name(word: str) -> bool:
    return len(word) >= SHORTEST and word[0].isupper() and word[1:].islower() and word.isalpha()


def _swappable(source: str, target: str, known: frozenset[str]) -> list[str]:
    """Return the names of a pair that stand once on each side; none if a name stands there in another number."""
    in_source, in_target = (Counter(word for word in WORD.findall(side) if word in known) for side in (source, target))
    return sorted(in_source) if in_source == in_target and set(in_source.values()) == {1} else []


def _swap(sentence: str, others: Mapping[str, Pair], side: int) -> str:
    return WORD.sub(lambda match: others[match[0]][side] if match[0] in others else match[0], sentence)
