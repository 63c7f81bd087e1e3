"""Which words of a sentence are names that a model has not seen, by the look of them and by what stands around them.

In English a capital letter within a sentence is enough.  In German every noun has one, so a name also must look like no
word that is made of known ones, and have no article or adjective before it.
"""

import re
from collections.abc import Iterator, Sequence

from service.text.lexicon import Lexicon

_WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")
_PART_OF_MORE = re.compile(r"[\d_@#&/.-]")  # A4-Papier, and addresses
_OPENING = re.compile(r"(?:^|[.!?:;…(\[\"“„»«‘‚/–—])\s*$")
# Behind a name that begins a sentence: somebody does or did something, or there is somebody else.
_AFTER_FIRST = {
    "en": re.compile(
        r"[ ](?:and|or|is|was|has|had|will|would|can|could|should|must|may|might|does|did|said|says|told|came|went|"
        r"wants|lives|works|likes|loves|knows|thinks|gave|took|made|got|left|bought|asked|called|looks|seems|never|"
        r"always|also|isn['’]t|wasn['’]t|hasn['’]t|doesn['’]t|didn['’]t|won['’]t|can['’]t)\b|[ ][A-Z]|,[ ]"
    ),
    "de": re.compile(
        r"[ ](?:und|oder|aus|von|ist|war|hat|hatte|wird|wurde|kann|konnte|will|wollte|soll|muss|musste|darf|mag|möchte|"
        r"sagt|sagte|kam|ging|rief|schrieb|sah|fand|gab|nahm|fuhr|lief|blieb|kommt|geht|macht|machte|wohnt|arbeitet|"
        r"liebt|lebt|weiß|denkt|glaubt|liegt|heißt|fährt)\b|[ ][A-ZÄÖÜ]|,[ ]"
    ),
}
# Before a German noun, and never before a name: articles and the like, and adjectives by their endings.
_DETERMINED = re.compile(
    r"(?i:d(?:ie|er|as|en|em|es)|(?:[mdsk]?ein|ihr|unse?r|eur|eue?r)(?:e[mnrs]?)?|"
    r"(?:dies|jen|jed|welch|manch|solch|all|viel|wenig|einig|mehrer|beid|ander|kein)e?[mnrs]?|"
    r"[ai]m|vom|zu[mr]|beim|[ai]ns|mehr|zwei|drei|etwas|nichts)"
)
_DECLINED = re.compile(r"[a-zäöüß]{2,}e[mnrs]?")
_NOT_DECLINED = re.compile(
    r"(?:oder|aber|über|unter|hinter|neben|gegen|wegen|zwischen|gegenüber|außer|ohne|zusammen|leider|gestern|heute|immer|"
    r"weder|bitte|danke|liebe[rs]?|(?:hab|hatt|kenn|treff|seh|besuch|frag|ruf|lieb|heiß|werd|wurd|würd)en?|kannten?|"
    r"(?:besucht|fragt|liebt|sagt|meint|wollt|konnt|musst|erklärt)en?|genannt|trafen|sahen|kamen|gingen)"
)
_PLACE = {
    "en": re.compile(
        r"\b(?:in|near|at|from[ ]\w+[ ]to|visit(?:ed)?|(?:go|goes|going|went|gone|been|fly|flew|drive|drove|moved?|"
        r"travel(?:led)?|train|bus|trip|way|road|flight|came?|back|return(?:ed)?|welcome)[ ](?:to|from))[ ]$"
    ),
    "de": re.compile(r"\b(?:in|nach|aus|bei|von[ ]\w+[ ]nach)[ ]$"),
}
# German surnames, and towns behind "in" and the like, that look like compounds.
_TOWN = re.compile(
    r"[A-ZÄÖÜ]\w+(?:heim|berg|burg|dorf|stadt|stedt|hausen|bach|scheid|feld|furt|ingen|kirchen|hagen|th?al)"
)
_SURNAME = re.compile(r"[A-ZÄÖÜ]\w+(?:mann|m[ae][iy]er|huber|berger|hofer)s?")
_CHARACTERS_BEFORE = 40
_CLITIC = re.compile(r"['’](?:s|ll|d|ve|re|m)$")  # Tom's, Tom'll
# Peoples and followers have a name of their own in every language: Mayans, Salafists.
_PEOPLE = re.compile(r"\w+(?:ians?|[yc]ans|[nm]ese|alese|ists?|ites|isms?)", re.IGNORECASE)


def strangers(sentence: str, language: str, lexicon: Lexicon) -> Iterator[tuple[int, int, bool]]:
    """Yield start and end of each unknown name, in order, and whether it is that of a place.

    Names that stand side by side are one.  Of a language that is not known here, there is none.
    """
    if language not in _AFTER_FIRST or not lexicon.words:
        return
    words = list(_WORD.finditer(sentence))
    pending: tuple[int, int, bool] | None = None
    for index, word in enumerate(words):
        if not _is_name(sentence, words, index, language, lexicon):
            continue
        start = word.start()
        stop = start + len(_CLITIC.sub("", word[0]))
        if pending and sentence[pending[1] : start] == " ":
            pending = (pending[0], stop, pending[2])
            continue
        if pending:
            yield pending
        pending = (start, stop, _is_place(sentence, start, language))
    if pending:
        yield pending


def _is_name(sentence: str, words: Sequence[re.Match[str]], index: int, language: str, lexicon: Lexicon) -> bool:
    word = words[index]
    written = _CLITIC.sub("", word[0])
    if len(written) < 3 or not written[0].isupper() or written.isupper() or not lexicon.is_strange(written):
        return False
    around = sentence[word.start() - 1 : word.start()] + sentence[word.end() : word.end() + 1].rstrip(".")
    if _PART_OF_MORE.search(around):
        return False
    is_first = bool(_OPENING.search(sentence, max(0, word.start() - 3), word.start()))
    if (is_first or language == "de") and lexicon.is_derived(written):
        is_town = _TOWN.fullmatch(written) and _is_place(sentence, word.start(), language)
        if not is_town and not _SURNAME.fullmatch(written):
            return False
    if is_first:
        return written != word[0] or bool(_AFTER_FIRST[language].match(sentence, word.end()))
    if language == "en":
        return not _PEOPLE.fullmatch(written)
    if "-" in written:
        return False
    before = words[index - 1][0]
    if _DETERMINED.fullmatch(before):
        return False
    return not _DECLINED.fullmatch(before) or bool(_NOT_DECLINED.fullmatch(before))


def _is_place(sentence: str, start: int, language: str) -> bool:
    """Whether what begins there stands where places do."""
    return bool(_PLACE[language].search(sentence[max(0, start - _CHARACTERS_BEFORE) : start]))
