"""Long numbers reach the engine as short ones and come back as the target language writes them."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.text.document import Sentence
from service.text.loans import Kind
from service.text.numbers import Numbers
from service.text.reading import Reader


class Knowing:
    """A vocabulary of every character."""

    def count(self, sentence: str) -> int:
        return len(sentence.split())

    def knows(self, cluster: str) -> bool:
        return cluster.isascii()


def sentence_of(text: str, source: str = "de", target: str = "en") -> Sentence:
    (sentence,) = Reader(source, target, Knowing(), limit=50).read_text(text).sentences
    return sentence


@pytest.mark.parametrize(
    ("text", "source", "number"),
    [
        ("Das kostet 1.299,99 Euro.", "de", "1,299.99"),
        ("Das kostet 1 299,99 Euro.", "de", "1,299.99"),
        ("Das kostet 1\u202f234\u202f567,5 Euro.", "de", "1,234,567.5"),
        ("Das sind 12 300 Leute.", "de", "12 300"),
        ("Ruf 030 123 456 an.", "de", "030 123 456"),
        ("Es sind 1 299.99 hier.", "de", "1 299.99"),
        ("Es sind 12.500 Besucher.", "de", "12,500"),
        ("Es sind 1.234.567 Leute.", "de", "1,234,567"),
        ("Um 0,25 Punkte!", "de", "0.25"),
        ("Es hat 5,5kg Gold.", "de", "5.5kg"),
        ("Es sind -3,5 Grad.", "de", "-3.5"),
        ("It costs $1,299.99 now.", "en", "1.299,99"),
        ("About 12,500 people.", "en", "12.500"),
        ("It is 5.5 metres long.", "en", "5,5"),
        ("Only 3.75 percent.", "en", "3,75"),
    ],
)
def test_amounts_are_written_as_the_target_language_does(text, source, number):
    sentence = sentence_of(text, source, "en" if source == "de" else "de")
    (loan,) = sentence.loans
    assert loan.stand_in in sentence.text
    assert loan.literal not in sentence.text
    assert loan.literal == number
    assert number in sentence.restore(sentence.text)
    assert sentence.source == text


@pytest.mark.parametrize(
    ("text", "source", "kept"),
    [
        ("Am 24.12.2023 war es so.", "de", "24.12.2023"),
        ("Die PLZ ist 80331 dort.", "de", "80331"),
        ("Ruf 0171 23456789 an.", "de", "23456789"),
        ("Der Server ist 192.168.0.17 hier.", "de", "192.168.0.17"),
        ("Man schreibt 3.14 dort.", "de", "3.14"),
        ("I use Python 3.12 today.", "en", "3.12"),
        ("See section 4.2 first.", "en", "4.2"),
    ],
)
def test_what_is_no_amount_comes_back_as_it_was(text, source, kept):
    sentence = sentence_of(text, source, "en" if source == "de" else "de")
    assert kept not in sentence.text
    assert sentence.restore(sentence.text) == text


@pytest.mark.parametrize(
    ("text", "source", "number"),
    [
        ("Er wiegt 75 kg.", "de", "75 kg"),
        ("Er ist 1,80 m groß.", "de", "1.80 m"),
        ("Es waren -5 Grad.", "de", "-5"),
        ("Das sind 10-12 m Stoff.", "de", "10-12 m"),
        ("Das sind 1,5 - 2,5 km dorthin.", "de", "1.5 - 2.5 km"),
        ("Fahr nicht mit 130 km/h hier.", "de", "130 km/h"),
        ("Es hat (-3) dort.", "de", "-3"),
        ("It weighs 2.5 kg now.", "en", "2,5 kg"),
        ("It holds 1,500 ml of it.", "en", "1.500 ml"),
    ],
)
def test_measures_and_what_is_below_zero_are_lent_as_a_whole(text, source, number):
    sentence = sentence_of(text, source, "en" if source == "de" else "de")
    (loan,) = sentence.loans
    assert loan.literal == number
    assert loan.kind is Kind.LONG
    assert number in sentence.restore(sentence.text)
    assert number in sentence.restore("Nothing of it.")


@pytest.mark.parametrize(("text", "number"), [("Es waren −5 Grad.", "−5"), ("Das sind 1,5 – 2,5 km.", "1.5 – 2.5 km")])
def test_signs_and_ranges_may_be_written_with_signs_of_their_own(text, number):
    ((_, _, loan),) = Numbers("de", "en").find(text)
    assert loan.literal == number


@pytest.mark.parametrize(
    "text",
    [
        "Das Spiel endete 3-2.",
        "Wir haben 5 mal gewonnen.",
        "Sie kam am 5 minus eins.",
        "Die Linie U-5 kommt.",
        "Nimm 3 - 2 Eier.",
    ],
)
def test_what_only_looks_like_a_measure_is_left_alone(text):
    assert sentence_of(text).text == text


@pytest.mark.parametrize(
    "text",
    [
        "Wir treffen uns um 19:30 Uhr.",
        "Das war 1954 so.",
        "Es sind 999 Leute.",
        "Das Modell b52 fliegt.",
        "Ruf 0171 234 567 an.",
        "Der Pfad ist 10.5/20.5 hier.",
        "Zeile 10.5:20 ist falsch.",
    ],
)
def test_numbers_that_a_model_copies_and_parts_of_others_are_left_alone(text):
    assert sentence_of(text).text == text


def test_languages_whose_marks_are_not_known_are_left_alone():
    assert sentence_of("Ta 1.299,99 netu.", "xa", "xb").text == "Ta 1.299,99 netu."
    assert sentence_of("Das kostet 1.299,99 Euro.", "de", "xb").text == "Das kostet 1.299,99 Euro."


def test_a_stand_in_is_no_number_of_the_sentence_nor_of_what_was_lifted():
    text = "Die 48 Leute zahlten 10,5 und 20,5 Euro auf http://bank.de/63?"
    sentence = sentence_of(text)
    stand_ins = [loan.stand_in for loan in sentence.loans]
    assert len({*stand_ins, "48", "63"}) == 4
    assert sentence.restore(sentence.text) == text.replace("10,5", "10.5").replace("20,5", "20.5")


def test_more_numbers_than_stand_ins_leave_the_rest_as_they_are():
    text = "Werte: " + ", ".join(f"{number},5" for number in range(100, 130)) + " Meter."
    sentence = sentence_of(text)
    assert 10 < len(sentence.loans) < 30
    restored = sentence.restore(sentence.text)
    assert all(f"{number}.5" in restored or f"{number},5" in restored for number in range(100, 130))


def test_numbers_change_their_order_with_the_translation():
    sentence = sentence_of("Um 0,25 auf 3,75 gestiegen.")
    first, second = (loan.stand_in for loan in sentence.loans)
    assert sentence.restore(f"Rose to {second} by {first}.") == "Rose to 3.75 by 0.25."


def test_a_number_that_the_model_lost_is_set_down_all_the_same():
    sentence = sentence_of("Das kostet 1.299,99 Euro im Jahr.")
    assert sentence.restore("That costs a lot a year.").count("1,299.99") == 1


def test_a_longer_number_of_the_model_is_not_the_stand_in():
    sentence = sentence_of("Das kostet 1.299,99 Euro.")
    (loan,) = sentence.loans
    for other in (f"{loan.stand_in}.5", f"1,{loan.stand_in}"):
        restored = sentence.restore(f"That costs {other} euros.")
        assert restored.replace(" 1,299.99 ", "").replace(" ", "") == f"Thatcosts{other}euros."


@pytest.mark.parametrize(
    ("text", "translation", "restored"),
    [
        ("Das kostet 1.299,99 Euro.", "That costs 68 euros.", "That costs 1,299.99 euros."),
        ("Es wurden 14.259 Autos verkauft.", "In 18, the 18 cars were sold.", "In 14,259, the cars were sold."),
        ("Die 12 Autos kosten 1.299,99 Euro.", "The 12 cars cost 84 euros.", "The 12 cars cost 1,299.99 euros."),
        ("Wir essen um 18:00 Uhr.", "We eat at 1:00.", "We eat at 18:00."),
        ("Wir essen um 20:45 Uhr.", "We eat at 2::55.", "We eat at 20:45."),
        ("Wir essen um 18:30 Uhr.", "We eat at 18.30.", "We eat at 18:30."),
        ("Die Regeln kamen 2012.", "The rules came in 1012.", "The rules came in 2012."),
        ("Es sind 79 Punkte.", "It is 29 points of 29 points.", "It is 79 points of points."),
        ("Es sind 79 Punkte.", "It is seventy-nine points.", "It is seventy-nine points."),
        ("Es kostet 1500 Euro.", "It costs 15 euros.", "It costs 15 euros."),
        ("Es sind 12.345 von 67.890 Leuten.", "It is 18 of 19 people.", "It is 12,345 of 67,890 people."),
    ],
)
def test_a_number_that_the_model_misread_is_put_in_the_place_of_its_own(text, translation, restored):
    assert sentence_of(text).restore(translation) == restored


def test_numbers_of_the_sentence_are_not_taken_for_misread_ones():
    sentence = sentence_of("Um 10 Uhr kosten 24 Eier 1.299,99 Euro.")
    assert sentence.restore("At 10, 24 eggs cost a lot.").count("10") == 1
    assert "24 eggs" in sentence.restore("At 10, 24 eggs cost a lot.")


@pytest.mark.parametrize(
    "text", ["It was on 2023-12-24.", "My laptop has USB 3.0.", "She uses macOS 10.15 now.", "It starts at 7.30 pm."]
)
def test_dates_versions_and_half_days_keep_their_point(text):
    sentence = sentence_of(text, "en", "de")
    assert sentence.restore(sentence.text) == text


def test_currency_codes_are_no_names():
    sentence = sentence_of("It costs EUR 3.50.", "en", "de")
    assert "3,50" in sentence.restore(sentence.text)


def test_a_shouted_number_is_a_number():
    sentence = sentence_of("DAS KOSTET 1.299,99 EURO!")
    assert sentence.text.startswith("Das kostet")
    assert sentence.restore(sentence.text) == "DAS KOSTET 1,299.99 EURO!"


def test_tags_and_emoji_keep_their_places():
    html = "<p>Das kostet <b>1.299,99 Euro</b> 😀 im <i>Jahr</i>.</p>"
    document = Reader("de", "en", Knowing(), 50).read_html(html)
    assert document.rejoin([sentence.text for sentence in document.sentences]) == html.replace("1.299,99", "1,299.99")
    cut = Reader("de", "en", Knowing(), 50).read_html("<p>Das sind 1.<b>299</b>,99 Euro.</p>")
    assert cut.rejoin([sentence.text for sentence in cut.sentences]) == "<p>Das sind 1.<b>299</b>,99 Euro.</p>"


def test_pieces_hold_the_number_once():
    sentence = sentence_of("Das kostet 1.299,99 Euro.")
    (loan,) = sentence.loans
    tens, ones = loan.stand_in
    assert sentence.restore_pieces([" It", " ", tens, ones, " euros", "."]) == [
        " It",
        " ",
        "1,299.99",
        "",
        " euros",
        ".",
    ]
    assert sentence.restore_pieces([f" {loan.stand_in}", "."]) == [" 1,299.99", "."]


def test_a_stream_tells_a_number_when_it_is_whole():
    sentence = sentence_of("Das kostet 1.299,99 Euro.")
    (loan,) = sentence.loans
    whole = f"That costs {loan.stand_in} euros."
    told = [sentence.so_far(whole[:length]) for length in range(len(whole) + 1)]
    assert all(later.startswith(earlier) for earlier, later in itertools.pairwise(told))
    assert told[-1] == "That costs 1,299.99 euros."


@given(st.lists(st.sampled_from(["Wort", "wort", "7", "48", "63", "1.000", "12,5", ".", ",", "-", ":", "99999", "€"])))
def test_between_two_languages_that_write_alike_nothing_changes(words):
    text = " ".join(words)
    document = Reader("de", "nl", Knowing(), limit=500).read_text(text)
    assert document.rejoin([sentence.text for sentence in document.sentences]) == text


@given(st.text(alphabet="0123456789.,:/- aB", max_size=60))
def test_no_digit_is_ever_lost(text):
    document = Reader("de", "en", Knowing(), limit=500).read_text(text)
    restored = document.rejoin([sentence.text for sentence in document.sentences])
    assert restored.translate(str.maketrans(",", ".")) == text.translate(str.maketrans(",", "."))


@pytest.mark.parametrize("text", ["0  -B", "a   -B", "0  - B", "Wow  (yes)  ok"])
def test_spaces_before_a_mark_stay_where_they_were(text):
    document = Reader("de", "en", Knowing(), limit=500).read_text(text)
    assert document.rejoin([sentence.text for sentence in document.sentences]) == text
