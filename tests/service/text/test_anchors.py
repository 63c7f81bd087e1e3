"""Emoji, addresses, unknown characters and tags come through a translation."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.text.anchors import lift, set_down
from service.text.opaque import Glossary, find_spans


def knows(cluster: str) -> bool:
    """Latin only, as a small model would."""
    return all(character < "\u0250" for character in cluster)


@pytest.mark.parametrize(
    ("sentence", "lifted"),
    [
        ("I ❤️ Prague 😀!", "I Prague!"),
        ("See https://a.b/c?d=1, please", "See, please"),
        ("Mail me@example.org now", "Mail now"),
        ("The 日本 word", "The word"),
        ("plain", "plain"),
    ],
)
def test_lifting_leaves_a_clean_sentence_and_setting_down_restores_it(sentence, lifted):
    text, anchors = lift(sentence, find_spans(sentence, knows))
    assert text == lifted
    assert set_down(text, text, anchors) == sentence


@pytest.mark.parametrize(
    ("sentence", "translation", "expected"),
    [
        ("I ❤️ Prague 😀!", "Ich Prag!", "Ich ❤️ Prag 😀!"),
        ("wow😀", "toll", "toll😀"),
        ("😀 wow", "toll", "😀 toll"),
        ("hi 😀", "hallo", "hallo 😀"),
        ("one 👩‍👩‍👧 Anna two", "zwei eins Anna", "zwei eins 👩‍👩‍👧 Anna"),  # Anna is the same on both sides
        ("see www.example.org", "", "www.example.org"),
    ],
)
def test_anchors_go_where_their_neighbours_went(sentence, translation, expected):
    text, anchors = lift(sentence, find_spans(sentence, knows))
    assert set_down(translation, text, anchors) == expected


def test_a_joined_emoji_is_one_anchor():
    spans = find_spans("a 👩‍👩‍👧‍👦 b 🏳️‍🌈 c 👍🏽", knows)
    assert [span.literal for span in spans] == ["👩‍👩‍👧‍👦", "🏳️‍🌈", "👍🏽"]


def test_a_word_with_an_unknown_letter_is_carried_over_whole():
    spans = find_spans("The Wałęsa house", str.isascii)
    assert [span.literal for span in spans] == ["Wałęsa"]
    assert lift("The Wałęsa house", spans)[0] == "The house"


def test_an_accent_belongs_to_its_letter():
    assert find_spans("cafe\u0301", lambda cluster: cluster in ("c", "a", "f", "e\u0301")) == []


def test_nested_tags_keep_their_order_and_their_content():
    text, anchors = lift("one two three", [], [(4, "<b>"), (4, "<i>"), (7, "</i>"), (7, "</b>")])
    assert set_down("eins zwei drei", text, anchors) == "eins <b><i>zwei</i></b> drei"


def test_a_tag_around_words_never_becomes_empty_while_there_are_words():
    text, anchors = lift("one two three four five", [], [(19, "<b>"), (23, "</b>")])
    assert set_down("eins", text, anchors) == "<b>eins</b>"


@given(st.text(), st.text(), st.lists(st.tuples(st.integers(0, 40), st.sampled_from(["<b>", "</b>", "<br>"]))))
def test_no_anchor_is_ever_lost_or_reordered(sentence, translation, tags):
    tags = sorted((min(offset, len(sentence)), tag) for offset, tag in tags)
    text, anchors = lift(sentence, find_spans(sentence, knows), tags)
    result = set_down(translation, text, anchors)
    position = 0
    for anchor in anchors:
        found = result.find(anchor.literal, position)
        assert found >= 0
        position = found + len(anchor.literal)
    expected = sorted(translation + "".join(anchor.literal for anchor in anchors))
    assert [c for c in sorted(result) if not c.isspace()] == [c for c in expected if not c.isspace()]


@given(
    st.text()
    | st.text(alphabet="aß1\u0301 😀日@.w")
    | st.lists(st.sampled_from(["ß", "www.a", "a@b.c", "1", " "])).map("".join)
)
def test_what_is_lifted_and_what_is_left_make_up_the_sentence(sentence):
    text, anchors = lift(sentence, find_spans(sentence, lambda cluster: cluster in "abcdefw ."))
    left = sorted(text + "".join(anchor.literal for anchor in anchors))
    seen = [c for c in sorted(sentence) if not c.isspace() and c not in "\u00ad\u200b\u2060\ufeff"]
    assert [c for c in left if not c.isspace()] == seen


def test_terms_of_a_glossary_are_found_as_whole_words_longest_first():
    glossary = Glossary({"New York": "Nueva York", "York": "York", "cat": "gato"})
    spans = find_spans("A cat in New York, not in York or concat.", knows, glossary)
    assert [span.literal for span in spans] == ["gato", "Nueva York", "York"]


def test_a_term_wins_over_an_address_it_is_part_of():
    assert [span.literal for span in find_spans("see www.nudge.org", knows, Glossary({"nudge": "N"}))] == ["N"]


def test_a_term_is_set_down_translated():
    text, anchors = lift("The cat sleeps", find_spans("The cat sleeps", knows, Glossary({"cat": "Katze"})))
    assert (text, set_down("Die schläft", text, anchors)) == ("The sleeps", "Die Katze schläft")


def test_signs_in_a_term_are_signs_and_no_pattern():
    assert [span.literal for span in find_spans("C++ (x)", knows, Glossary({"C++": "C++", "(x)": "y"}))] == ["C++", "y"]


def test_what_stood_before_a_comma_does_not_stick_to_a_word() -> None:
    sentence = "The role of RAPEX, the system."
    spans = find_spans(sentence, knows, Glossary({"RAPEX": "RAPEX"}))
    text, anchors = lift(sentence, spans)
    assert text == "The role of, the system."
    assert "RAPEX" in set_down("Die Rolle des Systems", text, anchors).split()


@pytest.mark.parametrize(
    ("sentence", "translation", "expected"),
    [
        (
            "Click <b>here</b> to continue.",
            "Klicken Sie hier, um weiterzugehen.",
            "Klicken Sie <b>hier</b>, um weiterzugehen.",
        ),
        ("Done 😀 .", "Fertig.", "Fertig 😀 ."),
    ],
)
def test_a_space_comes_before_a_mark_only_where_it_was(sentence: str, translation: str, expected: str) -> None:
    text, anchors = lift(sentence, find_spans(sentence, knows))
    assert set_down(translation, text, anchors) == expected
