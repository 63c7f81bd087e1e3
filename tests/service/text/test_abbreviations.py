"""Abbreviations reach the engine as the words they stand for."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.text.abbreviations import write_out
from service.text.anchors import Anchor
from service.text.reading import Reader
from service.text.segmentation import split


class Knowing:
    """A vocabulary of every character but emoji."""

    def count(self, sentence: str) -> int:
        return len(sentence.split())

    def knows(self, cluster: str) -> bool:
        return cluster != "😀"


@pytest.mark.parametrize(
    ("text", "language", "written"),
    [
        ("Nimm Obst mit, z. B. Äpfel.", "de", "Nimm Obst mit, zum Beispiel Äpfel."),
        ("Nimm Obst mit, z.B. Äpfel.", "de", "Nimm Obst mit, zum Beispiel Äpfel."),
        ("Nimm Obst mit, z.\u00a0B. Äpfel.", "de", "Nimm Obst mit, zum Beispiel Äpfel."),
        ("Z.B. ist nicht z.B.", "de", "Z.B. ist nicht zum Beispiel."),
        ("z. B. Äpfel", "de", "Zum Beispiel Äpfel"),
        ("Äpfel, Birnen usw.", "de", "Äpfel, Birnen und so weiter."),
        ('Er sagte: "Äpfel usw."', "de", 'Er sagte: "Äpfel und so weiter."'),
        ("Es kostet ca. 5 Mio. Euro.", "de", "Es kostet etwa 5 Millionen Euro."),
        ("Some fruit, e.g. apples.", "en", "Some fruit, for example apples."),
        ("Apples, pears, etc.", "en", "Apples, pears, and so on."),
        ("The Greens live in the U.S. now.", "en", "The Greens live in the USA now."),
        ("They left the U.S.", "en", "They left the USA."),
        ("Reply asap!", "en", "Reply as soon as possible!"),
        ("Come at 6:30 p.m. on Monday.", "en", "Come at 18:30 on Monday."),
        ("Come at 6pm.", "en", "Come at 18:00."),
        ("Come at 12 a.m.", "en", "Come at 0:00."),
        ("It is 12:15 PM now.", "en", "It is 12:15 now."),
    ],
)
def test_an_abbreviation_is_written_out(text, language, written):
    assert write_out(text, language) == (written, [])


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("Die Arca. ist alt.", "de"),
        ("Das steht in etc.conf hier.", "de"),
        ("It is i.e.x in there.", "en"),
        ("At 18:30 pm and 3.5 am it is.", "en"),
        ("Nimm Obst mit, z. B. Äpfel.", "en"),
        ("z. B. tohle", "cs"),
    ],
)
def test_parts_of_words_and_other_languages_are_left_alone(text, language):
    assert write_out(text, language) == (text, [])


def test_anchors_stay_between_the_same_words():
    text = "Obst z. B. Äpfel und Birnen usw. hier"
    anchors = [Anchor(text.index("Äpfel"), "<b>", True, False), Anchor(text.index(" und"), "</b>", False, True)]
    written, moved = write_out(text, "de", anchors)
    assert written == "Obst zum Beispiel Äpfel und Birnen und so weiter hier"
    assert [written[one.offset :][:5] for one in moved] == ["Äpfel", " und "]
    assert [one.literal for one in moved] == ["<b>", "</b>"]


def test_an_abbreviation_that_a_tag_cuts_is_left_alone():
    text = "Obst usw. hier"
    anchor = Anchor(text.index("w."), "<b>", False, False)
    assert write_out(text, "de", [anchor]) == (text, [anchor])


def test_a_sentence_remembers_how_it_was_written():
    (sentence,) = Reader("de", "en", Knowing(), limit=50).read_text("Ca. 1.200 Leute 😀 usw.").sentences
    assert "1.200" not in sentence.text
    assert sentence.text.endswith("und so weiter.")
    assert sentence.source == "Ca. 1.200 Leute usw."
    assert sentence.restore(sentence.text) == "Ca. 1,200 Leute 😀 und so weiter."


@pytest.mark.parametrize(
    ("text", "language", "sentences"),
    [
        ("It is approx. 5.5 km. Go!", "en", ["It is approx. 5.5 km.", "Go!"]),
        ("Es kostet 5 Euro inkl. Heizung. Gut.", "de", ["Es kostet 5 Euro inkl. Heizung.", "Gut."]),
        ("Call asap. Thanks!", "en", ["Call asap.", "Thanks!"]),
    ],
)
def test_a_sentence_goes_on_behind_most_abbreviations(text, language, sentences):
    segments = split(text, language, Knowing().count, limit=50)
    assert [segment.text for segment in segments if segment.is_sentence] == sentences


@given(st.text(alphabet="zBuswd.h ca1,😀\n", max_size=60))
def test_any_text_can_be_written_out(text):
    written, _ = write_out(text, "de")
    assert len(written) >= len(text) - text.count(" ")
    assert "😀" * text.count("😀") == "".join(one for one in written if one == "😀")


def test_time_grows_no_faster_than_the_text():
    def seconds(repeats: int) -> float:
        text = "u. v. " * repeats
        best = float("inf")
        for _ in range(3):
            began = time.process_time()
            write_out(text, "de")
            best = min(best, time.process_time() - began)
        return best

    assert seconds(20_000) < 200 * max(seconds(1_000), 1e-4)
