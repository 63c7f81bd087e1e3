"""Dates reach the engine as others that models copy, and come back as the target language writes them."""

import itertools
import time

import pytest

from service.text.dates import CALENDARS, STAND_INS
from service.text.document import Document, Sentence
from service.text.loans import Kind
from service.text.reading import Reader


class Knowing:
    """A vocabulary of every character."""

    def count(self, sentence: str) -> int:
        return len(sentence.split())

    def knows(self, cluster: str) -> bool:
        return cluster != "😀"


def document_of(text: str, source: str = "de") -> Document:
    return Reader(source, "en" if source == "de" else "de", Knowing(), limit=50).read_text(text)


def sentence_of(text: str, source: str = "de") -> Sentence:
    (sentence,) = document_of(text, source).sentences
    return sentence


def dates_of(text: str, source: str = "de") -> list[str]:
    return [loan.literal for loan in sentence_of(text, source).loans if loan.kind is Kind.DATE]


@pytest.mark.parametrize(
    ("text", "source", "dates"),
    [
        ("Wir kommen am 3. Mai.", "de", ["3 May"]),
        ("Wir kommen am 03.\u00a0März 2024.", "de", ["3 March"]),
        ("Vom 1. April bis zum 30. Juni.", "de", ["1 April", "30 June"]),
        ("WIR KOMMEN AM 3. MÄRZ!", "de", ["3 March"]),
        ("3. Mai: Ausflug nach Prag", "de", ["3 May"]),
        ("We come on 3 May.", "en", ["3. Mai"]),
        ("We come on the 3rd of May.", "en", ["3. Mai"]),
        ("We come on May 3.", "en", ["3. Mai"]),
        ("We come on May 3rd if we can.", "en", ["3. Mai"]),
        ("On May 3 we come.", "en", ["3. Mai"]),
        ("On May 3 Tom comes.", "en", ["3. Mai"]),
        ("On May 3, 1980, she was born.", "en", ["3. Mai"]),
        ("SEE YOU ON MAY 3RD!", "en", ["3. Mai"]),
        ("From March 1 to April 30.", "en", ["1. März", "30. April"]),
    ],
)
def test_a_date_is_lent_however_it_is_written(text, source, dates):
    assert dates_of(text, source) == dates


@pytest.mark.parametrize(
    ("text", "source"),
    [
        ("Im Mai 3 Karten gekauft.", "de"),
        ("Am 32. Mai nie.", "de"),
        ("Am 3./4. Mai vielleicht.", "de"),
        ("In May 3 people came.", "en"),
        ("March 3 miles every day.", "en"),
        ("In May 3.5 metres fell.", "en"),
        ("It may 3 times fail.", "en"),
        ("In May 1980 it rained.", "en"),
        ("I sang in May 30 times.", "en"),
    ],
)
def test_a_month_and_a_number_are_not_always_a_date(text, source):
    assert dates_of(text, source) == []


@pytest.mark.parametrize(
    "translation",
    [
        "She comes on 24 September.",
        "She comes on the 24th of September.",
        "She comes on the 24 September.",
        "She comes on September 24th.",
        "She comes on September 24 September.",
        "She comes on 24: September.",
        "She comes on September.",
        "She comes on the 24th.",
        "She comes on 24:00.",
    ],
)
def test_a_date_comes_back_in_one_spelling_whatever_the_model_made_of_it(translation):
    assert sentence_of("Sie kommt am 3. Mai.").restore(translation) == "She comes on 3 May."


@pytest.mark.parametrize("translation", ["Sie kommt am 24. September.", "Sie kommt am September 24."])
def test_a_date_comes_back_to_german(translation):
    assert sentence_of("She comes on May 3rd.", "en").restore(translation) == "Sie kommt am 3. Mai."


def test_a_date_that_the_model_lost_is_set_down_all_the_same():
    assert sentence_of("Sie kommt am 3. Mai zu uns.").restore("She comes to us.").count("3 May") == 1


def test_other_numbers_of_a_sentence_stay_theirs():
    sentence = sentence_of("Ich habe am 3. Mai 1980 24 Karten für 1.299,99 Euro gekauft.")
    assert "24 Karten" in sentence.text
    date = next(loan.date for loan in sentence.loans if loan.date)
    price = next(loan.stand_in for loan in sentence.loans if loan.kind is Kind.LONG)
    restored = sentence.restore(f"On {date.written} 1980 I bought 24 tickets for {price} euros.")
    assert restored == "On 3 May 1980 I bought 24 tickets for 1,299.99 euros."


def test_a_month_of_the_sentence_is_not_lent():
    sentence = sentence_of("Im September war es der 3. Mai.")
    assert sentence.text.count("September") == 1
    assert sentence.restore("In September it was 21 January.") == "In September it was 3 May."


def test_more_dates_than_stand_ins_leave_the_rest_as_they_are():
    text = "Am " + ", ".join(f"{day}. Mai" for day in range(1, 10)) + " ist zu."
    sentence = sentence_of(text)
    assert len(sentence.loans) == len(STAND_INS)
    assert sentence.text.endswith("7. Mai, 8. Mai, 9. Mai ist zu.")


def test_the_day_of_a_date_is_neither_a_list_number_nor_the_end_of_a_sentence():
    assert [sentence.source for sentence in document_of("HEUTE IST DER 3. OKTOBER!").sentences] == [
        "HEUTE IST DER 3. OKTOBER!"
    ]
    assert [sentence.source for sentence in document_of("3. May darf das.", "en").sentences] == ["May darf das."]
    assert [sentence.source for sentence in document_of("- 3. Mai: Prag\n3. Milch kaufen").sentences] == [
        "3. Mai: Prag",
        "Milch kaufen",
    ]


def test_a_shouted_date_comes_back_in_capitals():
    sentence = sentence_of("SIE KOMMT AM 3. MAI!")
    assert sentence.text.startswith("Sie kommt am 24. ")
    assert sentence.restore("She comes on 24 September!") == "SHE COMES ON 3 MAY!"


def test_tags_and_emoji_keep_their_places():
    reader = Reader("de", "en", Knowing(), 50)
    (sentence,) = reader.read_html("<p>Sie kommt <b>am 3. Mai</b> 😀 zu uns.</p>").sentences
    assert sentence.restore("She comes on 24 September to us.").count("3 May") == 1
    (cut,) = reader.read_html("<p>Am <b>3.</b> Mai ist zu.</p>").sentences
    assert not cut.loans


def test_a_language_without_a_calendar_is_left_alone():
    (sentence,) = Reader("de", "nl", Knowing(), 50).read_text("Wir kommen am 3. Mai.").sentences
    assert sentence.text == "Wir kommen am 3. Mai."


@pytest.mark.parametrize(
    "whole",
    [
        "That ends on the 24th of September the same year.",
        "On September 24 the others went.",
        "Open on 24 September 24 hours a day, or 24 of them.",
    ],
)
def test_a_stream_tells_a_date_when_it_is_whole(whole):
    sentence = sentence_of("Das endet am 3. Mai.")
    told = [sentence.so_far(whole[:length]) for length in range(len(whole) + 1)]
    assert all(later.startswith(earlier) for earlier, later in itertools.pairwise(told))
    assert "September" not in told[-1]
    assert "3 May" in told[-1]


def test_pieces_hold_the_date_once():
    sentence = sentence_of("Sie kommt am 3. Mai.")
    pieces = ["She", " comes", " on", " September", " 24", "th", "."]
    assert sentence.restore_pieces(pieces) == ["She", " comes", " on", " 3 May", "", "", "."]


def test_stand_ins_differ_in_day_and_month():
    assert len({date.day for date in STAND_INS}) == len({date.month for date in STAND_INS}) == len(STAND_INS)


@pytest.mark.parametrize("unit", ["3. ", "May ", "the ", "24 ", "the 3rd of ", "May the ", "Se"])
def test_dates_are_looked_for_in_linear_time(unit):
    english = CALENDARS["en"]
    lent = english.lent(STAND_INS[0])

    def seconds(times: int) -> float:
        text = unit * times
        began = time.perf_counter()
        for calendar in CALENDARS.values():
            list(calendar.find(text))
        lent.whole.sub("", text)
        lent.day.sub("", text)
        lent.without_unfinished(text)
        return time.perf_counter() - began

    assert min(seconds(40_000) for _ in range(3)) < 20 * min(seconds(4_000) for _ in range(3)) + 0.1
