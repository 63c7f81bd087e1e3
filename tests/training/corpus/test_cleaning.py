import time
from io import StringIO

import pytest
from rich.console import Console

from training.config import Cleaning, Languages, ParallelText
from training.corpus.cleaning import RULES, Cleaner, tidy
from training.errors import CorpusError

GERMAN_ENGLISH = Languages(source="de", target="en")
LONG = "word " * 10


def cleaned(pairs: list[tuple[str, str]], text: ParallelText | None = None, **rules) -> tuple[list, dict]:
    cleaner = Cleaner(Cleaning(**rules), GERMAN_ENGLISH)
    kept = list(cleaner.clean(pairs, "text", text))
    report = cleaner.reports[0]
    assert report.read == len(pairs)
    assert report.kept == len(kept) == report.read - report.removed.total()
    return kept, dict(report.removed)


def test_good_pairs_pass_untouched_and_in_order() -> None:
    pairs = [("Ja.", "Yes."), ("Nein.", "No.")]
    assert cleaned(pairs) == (pairs, {})


@pytest.mark.parametrize("pair", [("", "Yes."), ("Ja.", ""), ("   ", "Yes."), ("", "")])
def test_empty_sides_are_removed(pair: tuple[str, str]) -> None:
    assert cleaned([pair]) == ([], {"empty": 1})


def test_too_many_words_on_either_side_are_removed() -> None:
    pairs = [("a b c", "a b c"), ("a b c d", "a b c"), ("a b c", "a b c d")]
    assert cleaned(pairs, max_words=3) == ([("a b c", "a b c")], {"words": 2})


def test_a_text_can_have_a_tighter_limit_of_its_own() -> None:
    text = ParallelText(toy=1, max_words=2)
    assert cleaned([("a b", "a b"), ("a b c", "a b c")], text=text, max_words=5) == ([("a b", "a b")], {"words": 1})


def test_a_text_cannot_loosen_the_limit() -> None:
    assert cleaned([("a b c", "a b c")], text=ParallelText(toy=1, max_words=9), max_words=2) == ([], {"words": 1})


def test_too_many_characters_are_removed() -> None:
    assert cleaned([("abcd", "abcd"), ("abcde", "a")], max_characters=4) == ([("abcd", "abcd")], {"characters": 1})


def test_a_side_much_longer_than_the_other_is_removed() -> None:
    # 9 words against 3 is a ratio of exactly 3, 10 against 3 is more.
    pairs = [("a b c", "a b c d e f g h i"), ("a b c", "a b c d e f g h i j")]
    assert cleaned(pairs, max_ratio=3.0) == (pairs[:1], {"ratio": 1})


def test_short_pairs_may_differ_in_length() -> None:
    pairs = [("Donaudampfschiff", "a steam boat on the Danube")]
    assert cleaned(pairs, max_ratio=2.0) == (pairs, {})


def test_the_first_of_identical_pairs_stays() -> None:
    pairs = [("a", "b"), ("a", "c"), ("a", "b"), ("a ", " b")]
    assert cleaned(pairs) == ([("a", "b"), ("a", "c")], {"duplicate": 2})
    assert cleaned(pairs, remove_duplicates=False)[1] == {}


def test_duplicates_are_found_across_texts() -> None:
    cleaner = Cleaner(Cleaning(), GERMAN_ENGLISH)
    assert list(cleaner.clean([("a", "b")], "first")) == [("a", "b")]
    assert list(cleaner.clean([("a", "b"), ("c", "d")], "second")) == [("c", "d")]
    assert [report.removed["duplicate"] for report in cleaner.reports] == [0, 1]


@pytest.mark.parametrize("character", ["\x00", "\t", "\x1b", "\x7f", "\x85", "\ufffd", "\u2028"])
def test_control_characters_are_removed_if_asked(character: str) -> None:
    pair = (f"a{character}b", "c")
    assert cleaned([pair]) == ([], {"control": 1})
    assert cleaned([pair], remove_control=False)[0] == [pair]


def test_sentences_in_the_other_language_are_removed() -> None:
    pairs = [
        ("Das ist ein ganz gewöhnlicher deutscher Satz.", "This is a perfectly ordinary English sentence."),
        ("This was never translated by anybody at all.", "This was never translated by anybody at all."),
        ("This is a perfectly ordinary English sentence.", "Das ist ein ganz gewöhnlicher deutscher Satz."),
        ("Yes.", "Ja."),
    ]
    kept, removed = cleaned(pairs, check_language=True)
    assert kept == [pairs[0], pairs[3]], "short sentences are not judged"
    assert removed == {"language": 2}
    assert cleaned(pairs)[1] == {}


def test_a_language_the_identifier_does_not_know_is_an_error() -> None:
    with pytest.raises(CorpusError, match=r"cannot tell xa from xb .* set it to false"):
        Cleaner(Cleaning(check_language=True), Languages(source="xa", target="xb"))


def test_a_pair_is_charged_to_the_first_rule_it_breaks() -> None:
    assert cleaned([("", "\x00" * 2000)]) == ([], {"empty": 1})


def test_sentences_are_tidied_but_not_rewritten() -> None:
    assert tidy("  a   b ") == "a b"
    assert tidy("u\u0308ber") == "über"
    assert tidy("ﬁ ² \u00a0 x") == "ﬁ ² \u00a0 x"


def test_the_table_shows_each_text_and_the_rules_that_removed_something() -> None:
    cleaner = Cleaner(Cleaning(), GERMAN_ENGLISH)
    list(cleaner.clean([("a", "b"), ("a", "b"), ("", "x")], "first text"))
    list(cleaner.clean([("c", "d")] * 1200, "second text"))
    output = StringIO()
    Console(file=output, width=120).print(cleaner.table())
    rows = {
        line.split("│")[1].strip(): line for line in output.getvalue().splitlines() if "text" in line and "│" in line
    }
    assert [cell.strip() for cell in rows["first text"].split("│")[2:-1]] == ["3", "1", "1", "1"]
    assert [cell.strip() for cell in rows["second text"].split("│")[2:-1]] == ["1,200", "0", "1,199", "1"]
    assert RULES["ratio"] not in output.getvalue()


def test_cleaning_is_fast_enough_for_a_million_pairs() -> None:
    pairs = [
        (f"Satz Nummer {index} ist ein Satz.", f"Sentence number {index} is a sentence.") for index in range(20_000)
    ]
    started = time.process_time()
    cleaned(pairs)
    assert time.process_time() - started < 2  # 100 s for a million
