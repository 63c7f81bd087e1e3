"""Names reach the engine as names that every model copies, and come back as they were written."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.text.document import Sentence
from service.text.lexicon import Lexicon
from service.text.names import PLACES, STAND_INS, Names
from service.text.reading import Reader

WORDS = frozenset(("very", "who", "it", "usa", "eu"))


class Spelling:
    """A vocabulary that has some words as one piece each, and spells all others in letters."""

    def count(self, sentence: str) -> int:
        return sum(1 if word in WORDS or word in ("USA", "EU") else len(word) for word in sentence.split())

    def knows(self, cluster: str) -> bool:
        return True


def sentence_of(text: str, source: str = "en", target: str | None = None) -> Sentence:
    reader = Reader(source, target or ("en" if source == "de" else "de"), Spelling(), limit=500)
    (sentence,) = reader.read_text(text).sentences
    return sentence


@pytest.mark.parametrize(
    ("text", "source", "name"),
    [
        ("Dear Mr. O'Neill,", "en", "O'Neill"),
        ("Yesterday Mrs Jones-Smithers called.", "en", "Jones-Smithers"),
        ("I met Dr van der Berg.", "en", "van der Berg"),
        ("Good morning, my name is Anjali Ravindra.", "en", "Anjali Ravindra"),
        ("Old McDonald had a farm.", "en", "McDonald"),
        ("Have you seen it on YouTube?", "en", "YouTube"),
        ("She works for BMW in Munich.", "en", "BMW"),
        ("She works for SAP.", "en", "SAP"),
        ("Sehr geehrte Frau Müller!", "de", "Müller"),
        ("Ich habe Herrn Özdemir getroffen.", "de", "Özdemir"),
        ("Guten Tag, mein Name ist Schneider.", "de", "Schneider"),
        ("Ich heiße Okonkwo.", "de", "Okonkwo"),
        ("Das iPhone ist neu.", "de", "iPhone"),
        ("Er wohnt in der Bergstraße 5a in Bonn.", "de", "Bergstraße 5a"),
        ("Er wohnt in der Hauptstr. 12 in Bonn.", "de", "Hauptstr. 12"),
        ("She lives at 12 Old Main Street in Bonn.", "en", "12 Old Main Street"),
    ],
)
def test_a_name_is_lent_and_comes_back(text, source, name):
    sentence = sentence_of(text, source)
    (loan,) = sentence.loans
    assert loan.literal == name
    assert loan.stand_in in STAND_INS
    assert sentence.text == text.replace(name, loan.stand_in)
    assert sentence.restore(sentence.text) == text
    assert sentence.source == text


@pytest.mark.parametrize(
    ("text", "source"),
    [
        ("Mr President, I agree.", "en"),
        ("This is VERY important.", "en"),
        ("He said NO WAY to it.", "en"),
        ("WHO says so?", "en"),
        ("I live in the USA and he in the EU.", "en"),
        ("I miss London.", "en"),
        ("THE NAME IS O'NEILL, AND I AM LATE.", "en"),
        ("Herr Präsident, Frau Kommissarin!", "de"),
        ("Seine Frau Maria ist da.", "de"),
        ("Weil meine kleine Frau Hunger hat.", "de"),
        ("Die LehrerInnen sind da.", "de"),
        ("Wie ist der Name?", "de"),
    ],
)
def test_what_may_be_another_word_is_left_to_the_model(text, source):
    assert not sentence_of(text, source).loans


def test_names_of_languages_that_are_not_known_here_are_left_to_the_model():
    assert not sentence_of("Mr. O'Neill is here.", "en", "cs").loans
    assert not sentence_of("Pan O'Neill.", "cs", "en").loans


def test_each_name_has_a_stand_in_of_its_own_and_a_name_said_twice_has_one():
    sentence = sentence_of("Mr Brown met Mr Grey, and Mr Brown left.")
    brown, grey, again = sentence.loans
    assert brown.stand_in == again.stand_in != grey.stand_in
    assert sentence.restore(sentence.text) == "Mr Brown met Mr Grey, and Mr Brown left."


def test_a_stand_in_is_no_name_of_the_sentence():
    sentence = sentence_of(f"{STAND_INS[0]} met Mr Grey.")
    (loan,) = sentence.loans
    assert loan.stand_in == STAND_INS[1]


def test_a_genitive_of_one_language_becomes_that_of_the_other():
    sentence = sentence_of("Frau Müllers Haus ist groß.", "de")
    (loan,) = sentence.loans
    assert sentence.text == f"Frau {loan.stand_in}s Haus ist groß."
    assert sentence.restore(f"Mrs {loan.stand_in}'s house is big.") == "Mrs Müller's house is big."


def test_a_genitive_of_german_is_given_to_an_english_name():
    sentence = sentence_of("Mr O'Neill's house is big.")
    (loan,) = sentence.loans
    assert sentence.restore(f"Herrn {loan.stand_in}s Haus ist groß.") == "Herrn O'Neills Haus ist groß."


def test_a_name_whose_stand_in_the_model_has_lost_is_set_down():
    assert sentence_of("Mr O'Neill is here.").restore("Er ist hier.") in (
        "Er O'Neill ist hier.",
        "O'Neill Er ist hier.",
    )


@pytest.mark.parametrize("misread", ["H{}", "ab{}"])
def test_a_stand_in_that_the_model_has_misread_at_its_beginning_is_known_by_its_end(misread):
    sentence = sentence_of("Mr O'Neill is here.")
    written = misread.format(sentence.loans[0].stand_in[1:])
    assert sentence.restore(f"Herr {written} ist hier.") == "Herr O'Neill ist hier."


def test_a_stand_in_that_the_model_writes_small_is_known():
    sentence = sentence_of("My iPhone is broken.")
    assert sentence.restore(f"Mein {sentence.loans[0].stand_in.lower()} ist kaputt.") == "Mein iPhone ist kaputt."


def test_names_and_numbers_are_lent_together():
    text = "On 3 May Mr O'Neill paid 1,299.99 euros."
    sentence = sentence_of(text)
    assert len(sentence.loans) == 3
    assert not any(part in sentence.text for part in ("O'Neill", "1,299.99", "3 May"))
    restored = sentence.restore(sentence.text.replace(".99", ",99"))
    assert "O'Neill" in restored
    assert "1.299,99" in restored


def test_no_part_of_a_stand_in_is_shown_while_a_translation_is_made():
    sentence = sentence_of("Mr O'Neill is here.")
    stand_in = sentence.loans[0].stand_in
    for length in range(1, len(stand_in) + 1):
        assert sentence.so_far(f"Herr {stand_in[:length]}") == "Herr "
    assert sentence.so_far(f"Herr {stand_in} ist") == "Herr O'Neill ist"


def test_pieces_of_a_stand_in_hold_the_name_once():
    sentence = sentence_of("Mr O'Neill is here.")
    stand_in = sentence.loans[0].stand_in
    assert sentence.restore_pieces(["Herr", f" {stand_in[:2]}", stand_in[2:], " ist"]) == [
        "Herr",
        " O'Neill",
        "",
        " ist",
    ]


def test_a_name_that_a_tag_cuts_is_left_to_the_model():
    reader = Reader("en", "de", Spelling(), limit=500)
    (sentence,) = reader.read_html("Mr O'<b>Neill</b> is here.").sentences
    assert not sentence.loans


@pytest.mark.parametrize(
    "unit", ["Frau von ", "Mr van de ", "A-", "O'", "my name is ", "BMW ", "meine ", "1 A ", "Xstr. ", "iP"]
)
def test_time_grows_as_the_text_does(unit):
    def seconds(count: int) -> float:
        began = time.process_time()
        for source in ("de", "en"):
            Names(source, "en" if source == "de" else "de", len).find(unit * count)
        return time.process_time() - began

    seconds(100)
    assert seconds(20_000) < 200 * max(seconds(1_000), 1e-3)


@given(st.text(alphabet="AbcO'NeilMrs. Müller-", max_size=60), st.sampled_from(["de", "en"]))
def test_whatever_is_lent_comes_back(text, source):
    reader = Reader(source, "en" if source == "de" else "de", Spelling(), limit=500)
    document = reader.read_text(text)
    for sentence in document.sentences:
        names = [loan.literal for loan in sentence.loans]
        restored = sentence.restore(sentence.text)
        assert all(name in restored for name in names)


LEXICON = Lexicon(frozenset(["we", "were", "in", "and", "met", "mrs", "yesterday"]))


def unknown(text: str) -> Sentence:
    (sentence,) = Reader("en", "de", Spelling(), limit=500, lexicon=LEXICON).read_text(text).sentences
    return sentence


def test_unknown_names_are_lent_a_place_or_a_person_and_come_back():
    sentence = unknown("Yesterday we met Okonkwo in Sheffield.")
    assert sentence.text == f"Yesterday we met {STAND_INS[0]} in {PLACES[0]}."
    assert (
        sentence.restore(f"Gestern trafen wir {STAND_INS[0]} in {PLACES[0]}.")
        == "Gestern trafen wir Okonkwo in Sheffield."
    )


def test_a_name_that_comes_twice_has_one_stand_in():
    sentence = unknown("We met Okonkwo and Okonkwo met we in Okonkwo.")
    assert sentence.text == f"We met {STAND_INS[0]} and {STAND_INS[0]} met we in {STAND_INS[0]}."


def test_an_unknown_name_behind_a_title_is_lent_once():
    sentence = unknown("We met Mrs Okonkwo in Sheffield.")
    assert sentence.text == f"We met Mrs {STAND_INS[0]} in {PLACES[0]}."


def test_places_go_on_being_lent_when_people_run_out():
    names = ["Okonkwo", "Rodrigues", "Kowalski", "Priyanka", "Nakamura", "Yildiz"]
    sentence = unknown(f"We met {' and '.join(names)} in Sheffield.")
    assert sentence.text == f"We met {' and '.join([*STAND_INS, 'Yildiz'])} in {PLACES[0]}."
