"""Names: a model copies some faithfully and garbles others, so it is lent one of the former.

    "Guten Tag, mein Name ist Schneider."    the model gets  "Guten Tag, mein Name ist Felix."
    "Good day, my name is Felix."            the caller gets "Good day, my name is Schneider."

Names by the look of them: what stands behind a title or is said to be one, O'Neill and McDonald, iPhone and YouTube,
streets with their numbers, and abbreviations in capitals that are no word.  And names that the model has never seen, if
its bundle says which words it has (`strangers`): "in Sheffield" goes to it as "in Toronto".
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from service.text.anchors import Anchor
from service.text.lexicon import NO_LEXICON, Lexicon
from service.text.loans import Kind, Loan
from service.text.shouting import is_shouted
from service.text.strangers import strangers

# Names that the shipped models copy best, also in the genitive, and long enough to be known by their ends.
STAND_INS = ("Martin", "Jackson", "Marika", "Daniel", "Felix")
PLACES = ("Toronto", "London", "Boston", "Stuttgart", "Hamburg")

_NAME = r"[^\W\d_a-zß-öø-ÿ]\w*(?:['’-](?!s\b)\w+)*"
_PARTICLES = r"(?:(?:von|van|de|der|den|zu|la|le|di|bin|al)[ ])*"
# What may be between a title and the name, and what is an office and no name.
_MORE_TITLES = r"(?:(?:Dr|Prof)\.?[ ])*"
_OFFICES = (
    r"(?![\w-]*(?i:präsident|kommissar|minister|erstatter|direktor|sekretär|kanzler|vorsitzende|doktor|professor|meister|lehrer|"
    r"general|nachbar|abgeordnete|kolleg|anwalt|anwält|richter|pfarrer|graf|president|commissioner|chair|speaker|secretary|"
    r"rapporteur|minister|director|justice|ambassador|mayor|doctor|teacher|colleague)\w*\b)"
)
_TITLES = {
    "en": r"(?:Mr|Mrs|Ms|Dr|Prof)\b\.?|Miss|Professor",
    "de": r"Herrn?|Frau|Fräulein|Familie|Professor|(?:Dr|Prof)\b\.?",
}
_SAID = {
    "en": r"(?i:my|your|his|her|the)[ ](?:(?:first|last|full)[ ])?name[ ]is",
    "de": r"Name[ ]ist|(?i:heiße|namens)",
}
# "Seine Frau Maria", "weil die Frau Hunger hat": a wife or a woman, and no title.
_DETERMINERS = r"d(?:ie|er|en|as)|(?:[mdsk]?eine?|ihre?|uns(?:e?re)|eu(?:e?re)|diese|jede|welche)[rn]?"
_SOMEBODYS = re.compile(rf"\b(?i:{_DETERMINERS})(?:[ ](?!geehrt|lieb)[a-zäöüß]+)?[ ]$")
_WORDS_BEFORE = 60  # characters to look back at
_WRITTEN_AS_NAMES = (
    r"(?<![\w'’-])(?:[^\W\d_]['’](?=[A-Z])|Ma?c(?=[A-Z]))\w+(?:-[A-Z]\w+)*"  # O'Neill, McDonald
    # iPhone, YouTube, but not the German LehrerInnen
    r"|(?<![\w-])(?:[a-z]{1,2}[A-Z][a-z]+[A-Za-z]*|[A-Z][a-z]+[A-Z](?!n(?:nen)?\b)[A-Za-z]*)(?![\w-])"
)
_STREETS = {  # with their numbers
    "en": (
        rf"(?<![\w.,-])\d{{1,5}}[ ](?:{_NAME}[ ]){{1,3}}"
        r"(?:Street|Avenue|Road|Lane|Drive|Boulevard|(?:St|Ave|Rd|Blvd)\.)"
    ),
    "de": (
        r"(?<![\w-])[A-ZÄÖÜ][\w-]*(?:[Ss]tra(?:ß|ss)e|[Ss]tr\.|allee|gasse)[ ]"
        r"\d{1,4}(?:[ ]?[a-h])?(?![\w-]|[.,]\d)"
    ),
}
_CAPITALS = r"(?!TV\b)(?<![\w.&/'’+-])(?<![A-ZÄÖÜ][ ])[A-Z]{2,5}(?![\w&/'’+-]|\.\w|[ ][A-ZÄÖÜ]{2})"
_HINT = re.compile(
    r"[A-Z]['’]?[A-Z]|[a-z][A-Z]|\b(?:Mr|Mrs|Ms|Miss|Dr|Prof|Herr|Frau|Fräulein|Familie|[Nn]ame|[Hh]eiße)"
    r"|\d[ ][A-Z]|[a-z.][ ]\d"
)


def _found(language: str) -> re.Pattern[str]:
    first = rf"(?P<name>(?!I\b){_OFFICES}{_PARTICLES}{_NAME}"
    # In German, what is behind a name may be any noun.
    rest = rf"(?:[ ]{_PARTICLES}{_NAME}){{0,2}})" if language == "en" else ")"
    led = rf"(?<!\w)(?:(?P<title>{_TITLES[language]})|{_SAID[language]})[ ]{_MORE_TITLES}{first}{rest}"
    return re.compile(
        rf"{led}|(?P<street>{_STREETS[language]})|(?P<written>{_WRITTEN_AS_NAMES})|(?P<capitals>{_CAPITALS})"
    )


_FOUND = {language: _found(language) for language in _TITLES}


@dataclass(frozen=True, slots=True)
class Names:
    """Names in sentences that go from one language to another; of languages that are not known here, none is found."""

    source: str
    target: str
    count: Callable[[str], int]  # tokens of a text
    lexicon: Lexicon = NO_LEXICON

    def find(self, sentence: str, anchors: Sequence[Anchor] = ()) -> list[tuple[int, int, Loan]]:
        """Start and end of each name, in order, and its loan, that has no offset yet."""
        if not {self.source, self.target} <= _FOUND.keys() or is_shouted(sentence):
            return []
        literals = " ".join(anchor.literal for anchor in anchors)
        people, places = (
            (name for name in names if name not in sentence and name not in literals) for names in (STAND_INS, PLACES)
        )
        lent: dict[str, str] = {}
        found = []
        for start, stop, is_place in self._places_and_people(sentence):
            name = sentence[start:stop]
            stand_in = lent.get(name) or next(places if is_place else people, None)
            if stand_in is None:
                continue
            lent[name] = stand_in
            found.append((start, stop, Loan(0, stand_in, name, Kind.NAME)))
        return found

    def _places_and_people(self, sentence: str) -> list[tuple[int, int, bool]]:
        """Start and end of each name, in order, and whether it is that of a place."""
        looks = [(*span, False) for span in (self._spans(sentence) if _HINT.search(sentence) else ())]
        unknown = [
            (start, stop, is_place)
            for start, stop, is_place in strangers(sentence, self.source, self.lexicon)
            if not any(start < other_stop and other_start < stop for other_start, other_stop, _ in looks)
        ]
        return sorted(looks + unknown)

    def _spans(self, sentence: str) -> Iterator[tuple[int, int]]:
        for match in _FOUND[self.source].finditer(sentence):
            start, stop = match.span("name") if match["name"] else match.span()
            if match["title"] == "Frau" and _SOMEBODYS.search(
                sentence, max(0, match.start() - _WORDS_BEFORE), match.start()
            ):
                continue
            if match["capitals"] and min(self.count(match[0].lower()), self.count(match[0])) < 2:
                continue  # a word that is STRESSED, or an abbreviation that the model knows
            if self.source == "de" and match["name"] and _is_genitive(sentence, start, stop):
                stop -= 1
            yield start, stop


def _is_genitive(sentence: str, start: int, stop: int) -> bool:
    """Whether a German name has a genitive's s: Frau Müllers Haus."""
    follower = sentence[stop + 1 : stop + 2]
    return sentence[stop - 1] == "s" and stop - start > 3 and sentence[stop : stop + 1] == " " and follower.isupper()
