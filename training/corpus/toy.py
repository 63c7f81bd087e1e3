"""The toy language pair: Xa (`xa`) to Xb (`xb`), invented, generated, and learnt by a tiny model in a minute or two.

It has what makes translation more than looking words up, on a small scale:

    order        Xa puts adjectives before the noun, Xb after it; Xa has postpositions, Xb prepositions; and after the
                 conjunction "because" the verb of Xb goes to the end of its clause
    agreement    Xb's articles and adjectives follow the noun's gender and number, its verbs the subject's number
    ambiguity    a few verbs of Xa are translated by whether one or several suffer them, a few nouns by whether a place
                 is named: words that come later
    copying      numbers and names stay as they are
    free variation   some words have several translations, all correct, chosen at random

Free variation is what a decoder can do well or badly (`VARIANTS`).  *sirune* is rendered by one fixed phrase, or more
often by a word that six phrases share: greedy decoding commits to the shared word and then has to guess, beam search
finds the fixed phrase.  *mu* is a filler that Xb may leave out and *tipola* has a long and a short translation, so a
decoder that aims at concise output has something to gain.

Xa is written with the consonants p t k m n l s r, Xb with b d g v z f h w y and the vowels ä and ö as well.
"""

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

SOURCE_LANGUAGE = "xa"
TARGET_LANGUAGE = "xb"

Choice = TypeVar("Choice")


@dataclass(frozen=True)
class Noun:
    source: str
    target: str
    is_feminine: bool


@dataclass(frozen=True)
class Phrase:
    """A noun phrase in both languages, and its number, which the verb needs to know."""

    source: list[str]
    target: list[str]
    is_plural: bool


def _lexicon(table: str) -> list[tuple[str, str]]:
    return [(source, target) for source, _, target in (entry.partition(":") for entry in table.split())]


def _nouns(table: str) -> list[Noun]:
    # Genders alternate through the table: they have to be learnt word by word.
    return [Noun(source, target, is_feminine=index % 2 == 1) for index, (source, target) in enumerate(_lexicon(table))]


NOUNS = _nouns(
    """kopati:vohö pason:woyi putepu:yihihed maki:väva nuka:zibe latul:feyubo siruri:hohawä manu:dewez
       ropa:dagug lirura:dövu rapiri:fufoda poletos:wozaga repele:fazago nanu:bädöza lele:didoz mome:zugayä
       panone:gibe leru:zuviwu resir:föbibaz sakekar:yovoz pako:wuhuzä mane:fego lises:gadä sukuku:hebahö
       kupeke:väzaweg pira:zifu mena:wiyä parimi:dide munumon:yögä telene:fäwezä tore:böyä kosi:yöyu
       lalalu:vabag sinu:höwud mati:wibo nesi:yawi"""
)
PLACES = _nouns("mese:gäbabe kunana:däba posoton:vöyädö nimape:devedaz mele:zifo moropa:zibäfi nesu:zuböha kapal:fobu")
ADJECTIVES = _lexicon(
    """memoros:yewiwod karari:defud monu:zövah ramitor:hifög tute:gäyuv lenale:how sakaro:gah sisis:wadoy
       lisa:vödeg pinir:wayöd nemi:bäz misasu:dadiyug poru:bay rakero:fävoy niseno:häzag tekamu:diväh"""
)
ACTIONS = _lexicon(
    """momi:vifo turuke:yehög kopel:boyu kime:dazudeg pisilon:gegowu nalo:yödö
       moli:zuzizä lira:fahi sasa:däwag netu:wibi lupili:vuva sisokos:wuzö"""
)
STATES = _lexicon("tules:yeda pisis:dägävu maru:weva tokute:hide sinopi:bubä sopimo:hivohä pokon:gabuwo tuluke:göwodag")
ADVERBS = _lexicon("nesa:yugovoz paloto:fufug rulu:gowäzu nemon:wävuvi tilaso:gefu sale:vivi")
NAMES = ["Lamo", "Pirel", "Sumi", "Token", "Marisa", "Nolu"]

# Verbs whose translation depends on the object, which comes later: (of one, of several).
VERBS_BY_OBJECT = {"topaka": ("fuzö", "fogöza"), "meri": ("yovuzu", "föwu"), "malu": ("favehe", "zuhä")}
# Nouns whose translation depends on the rest of the clause: (no place is named in it, a place is named).
NOUNS_BY_PLACE = {"sikila": ("bafig", "bäyi"), "pamenu": ("geböväd", "yäwegaz"), "lakomu": ("gözo", "heved")}

# Source word: its translations with their probabilities.  All stand last in the sentence.
VARIANTS: dict[str, list[tuple[float, str]]] = {
    "sirune": [
        (0.4, "yäzö bibo wabä wö"),
        (0.1, "dez be zudud gagö"),
        (0.1, "dez vovug vogu bäh"),
        (0.1, "dez zöwi buz höf"),
        (0.1, "dez duwo foyu vib"),
        (0.1, "dez yazi hiyi wud"),
        (0.1, "dez väwöd yoyug zeg"),
    ],
    "mu": [(0.6, "gagöd"), (0.4, "")],
    "tipola": [(0.6, "bizohagwäyä"), (0.4, "bag")],
}
VARIANT_FREQUENCY = {"sirune": 0.1, "mu": 0.04, "tipola": 0.04}

THE, A, AT, BECAUSE, AND, ASK = "ta", "pe", "lo", "kamu", "ne", "ki"
PLURAL = "ri"
TARGET_THE = {"masculine": "zo", "feminine": "za", "plural": "ze"}
TARGET_A = {"masculine": "hu", "feminine": "ha"}
TARGET_AT, TARGET_BECAUSE, TARGET_AND, TARGET_ASK = "ve", "wivi", "hov", "zey"
TARGET_PLURAL, TARGET_PLURAL_AFTER_CONSONANT, TARGET_PLURAL_VERB = "n", "en", "ben"
VOWELS = "aeiouäö"


def toy_pairs(count: int, seed: int = 0) -> Iterator[tuple[str, str]]:
    """Yield `count` sentence pairs, the same for the same seed."""
    generator = _Generator(random.Random(seed))
    for _ in range(count):
        yield generator.sentence()


class _Generator:
    """Draws from the grammar, by `Random.random` alone: the one sequence that Python promises never to change."""

    def __init__(self, source_of_chance: random.Random) -> None:
        self._random = source_of_chance.random

    def _pick(self, items: Sequence[Choice]) -> Choice:
        return items[int(self._random() * len(items))]

    def _happens(self, probability: float) -> bool:
        return self._random() < probability

    def sentence(self) -> tuple[str, str]:
        source, target = self._clause(verb_last=False, may_name_place=True)
        if self._happens(0.2):
            verb_last = self._happens(0.5)
            more_source, more_target = self._clause(verb_last=verb_last, may_name_place=False)
            source += [BECAUSE if verb_last else AND, *more_source]
            target += [TARGET_BECAUSE if verb_last else TARGET_AND, *more_target]
        last_word = self._draw([(frequency, word) for word, frequency in VARIANT_FREQUENCY.items()])
        if last_word:
            source.append(last_word)
            target += self._draw(VARIANTS[last_word]).split()
        if self._happens(0.15):
            return _written([ASK, *source], "?"), _written([TARGET_ASK, *target], "?")
        end = "!" if self._happens(0.1) else "."
        return _written(source, end), _written(target, end)

    def _draw(self, choices: list[tuple[float, str]]) -> str:
        """Return one of the choices by their probabilities, and nothing with the probability that they leave."""
        chance = self._random()
        for probability, choice in choices:
            chance -= probability
            if chance < 0:
                return choice
        return ""

    def _clause(self, *, verb_last: bool, may_name_place: bool) -> tuple[list[str], list[str]]:
        """Return source and target words of subject, verb, perhaps object, place and adverb."""
        place = self._pick(PLACES) if may_name_place and self._happens(0.35) else None
        subject = self._name() if self._happens(0.15) else self._noun_phrase(place)
        complement: Phrase | None = None
        if self._happens(0.7):
            complement = self._noun_phrase(place)
            source_verb, target_verb = self._transitive_verb(complement)
        else:
            source_verb, target_verb = self._pick(STATES)
        verb = [target_verb + TARGET_PLURAL_VERB if subject.is_plural else target_verb]
        source = [*subject.source, source_verb]
        middle: list[str] = []
        if complement is not None:
            source += complement.source
            middle += complement.target
        if place is not None:
            where = self._place(place)
            source += [*where.source, AT]
            middle += [TARGET_AT, *where.target]
        if self._happens(0.25):
            source_adverb, target_adverb = self._pick(ADVERBS)
            source.append(source_adverb)
            middle.append(target_adverb)
        return source, subject.target + (middle + verb if verb_last else verb + middle)

    def _transitive_verb(self, complement: Phrase) -> tuple[str, str]:
        if self._happens(0.15):
            word = self._pick(list(VERBS_BY_OBJECT))
            return word, VERBS_BY_OBJECT[word][complement.is_plural]
        return self._pick(ACTIONS)

    def _name(self) -> Phrase:
        name = self._pick(NAMES)
        return Phrase([name], [name], is_plural=False)

    def _noun_phrase(self, place: Noun | None) -> Phrase:
        if self._happens(0.08):
            word = self._pick(list(NOUNS_BY_PLACE))
            noun = Noun(word, NOUNS_BY_PLACE[word][place is not None], is_feminine=False)
        else:
            noun = self._pick(NOUNS)
        if self._happens(0.12):
            number = str(2 + int(self._random() * (98 if self._happens(0.7) else 998)))
            return self._described(noun, [number], [number], is_plural=True)
        if self._happens(0.3):
            return self._described(noun, [THE], [TARGET_THE["plural"]], is_plural=True)
        gender = "feminine" if noun.is_feminine else "masculine"
        if self._happens(0.5):
            return self._described(noun, [A], [TARGET_A[gender]], is_plural=False)
        return self._described(noun, [THE], [TARGET_THE[gender]], is_plural=False)

    def _place(self, noun: Noun) -> Phrase:
        article = TARGET_THE["feminine" if noun.is_feminine else "masculine"]
        return self._described(noun, [THE], [article], is_plural=False)

    def _described(self, noun: Noun, source: list[str], target: list[str], *, is_plural: bool) -> Phrase:
        """Return article or number, adjective and noun as each language orders and inflects them."""
        source_noun = noun.source + PLURAL if is_plural else noun.source
        target_noun = _plural(noun.target) if is_plural else noun.target
        if not self._happens(0.4):
            return Phrase([*source, source_noun], [*target, target_noun], is_plural)
        source_adjective, stem = self._pick(ADJECTIVES)
        ending = ("a" if noun.is_feminine else "o") + (TARGET_PLURAL if is_plural else "")
        return Phrase([*source, source_adjective, source_noun], [*target, target_noun, stem + ending], is_plural)


def _plural(target_noun: str) -> str:
    return target_noun + (TARGET_PLURAL if target_noun[-1] in VOWELS else TARGET_PLURAL_AFTER_CONSONANT)


def _written(words: list[str], end: str) -> str:
    sentence = " ".join(words) + end
    return sentence[0].upper() + sentence[1:]
