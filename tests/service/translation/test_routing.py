"""Which pair translates a text."""

import pytest

from service.errors import UnsupportedLanguage
from service.translation.routing import find_route

PAIRS = [("de", "en"), ("en", "de"), ("fi", "en")]


def test_a_named_source_is_taken_at_its_word():
    route = find_route("This is English.", "de", "en", PAIRS)
    assert (route.languages, route.detection) == (("de", "en"), None)


def test_only_languages_that_lead_to_the_target_are_detected():
    assert find_route("Guten Morgen, mein Freund.", None, "en", PAIRS).source == "de"
    assert find_route("Hyvää huomenta, ystäväni.", None, "en", PAIRS).source == "fi"
    assert find_route("Hyvää huomenta, ystäväni.", None, "de", PAIRS).source == "en"  # nothing else leads there


def test_a_text_surely_in_the_target_language_is_left_alone():
    route = find_route("This is surely an English sentence, is it not?", None, "en", PAIRS)
    assert route.is_identity
    assert route.detection.confidence > 0.9


def test_a_doubtful_text_is_translated():
    assert not find_route("Taxi", None, "en", PAIRS).is_identity
    assert not find_route("42", None, "en", PAIRS).is_identity


def test_the_same_language_twice_is_no_error():
    assert find_route("Hello", "en", "en", PAIRS).is_identity


@pytest.mark.parametrize(("source", "target"), [("fi", "de"), ("xx", "en"), ("de", "xx"), (None, "fi"), ("xx", "xx")])
def test_a_pair_that_is_not_served_is_refused_with_what_is(source, target):
    with pytest.raises(UnsupportedLanguage, match="Served: de"):
        find_route("Hello", source, target, PAIRS)
