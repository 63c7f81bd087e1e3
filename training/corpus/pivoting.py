"""New pairs out of old ones: two sentences that share a translation say the same, so each may have the other's.

    e₁ – x – e₂    and    e₁ – g    give    e₂ – g

where x may be in any language, that of g among them.  People wrote all of it, which back-translation cannot say.
Sentences are the same if their letters and digits are (`novelty.fingerprint`).
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator

from training.corpus.novelty import fingerprint

Pair = tuple[str, str]


def bridged(pairs: Iterable[Pair], texts: Iterable[Iterable[Pair]], known: Iterable[str], most: int) -> Iterator[Pair]:
    """Yield every pair (e, g) once that `pairs` do not have, with a g of theirs and an e of theirs or of the texts.

    Each of the `texts` pairs sentences of e's language with those of some language x.  No e is among the `known`
    sentences, those of test sets.  An x with more than `most` translations is passed over: it says too little.
    """
    translations: dict[str, dict[str, str]] = defaultdict(dict)  # of each e: its g's by their marks
    for sentence, translation in pairs:
        translations[fingerprint(sentence)].setdefault(fingerprint(translation), translation)
    avoided = {fingerprint(sentence) for sentence in known}
    given: set[Pair] = set()
    for text in texts:
        sayings: dict[str, dict[str, str]] = defaultdict(dict)  # of each x: its e's by their marks
        for sentence, pivot in text:
            sayings[fingerprint(pivot)].setdefault(fingerprint(sentence), sentence)
        for alike in sayings.values():
            if len(alike) > most:
                continue
            for mark, sentence in alike.items():
                if not mark or mark in avoided:
                    continue
                for other in [one for one in alike if one != mark]:
                    for meaning, translation in translations.get(other, {}).items():
                        if meaning not in translations.get(mark, ()) and (mark, meaning) not in given:
                            given.add((mark, meaning))
                            yield sentence, translation
