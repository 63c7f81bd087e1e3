"""Names that a model has never seen, found by what it has."""

import time
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.text.lexicon import NO_LEXICON, Lexicon
from service.text.strangers import strangers

KNOWN = {
    "en": "we were in the train to leaves at nine my friend lives i met at supermarket is late and called me from "
    "visited castle museum closed today london monday a letter he said that was tired restarting it takes time",
    "de": "wir waren gestern in der zug nach fährt um neun meine freundin wohnt ich habe im supermarkt getroffen ist "
    "spät und hat mich angerufen von besucht schloss das geschlossen heute london er sagte dass müde sei schmerzen "
    "hoff mann haus rosen heim brust neue starke eine sammlung die haben frag mit sie traf",
}
LEXICONS = {language: Lexicon(frozenset(words.split())) for language, words in KNOWN.items()}


def found(text: str, language: str) -> list[tuple[str, bool]]:
    return [(text[start:stop], is_place) for start, stop, is_place in strangers(text, language, LEXICONS[language])]


@pytest.mark.parametrize(
    ("text", "language", "names"),
    [
        ("We were in Sheffield.", "en", [("Sheffield", True)]),
        ("I met Rodrigues at the supermarket.", "en", [("Rodrigues", False)]),
        ("We flew to Leeds.", "en", [("Leeds", True)]),
        ("We flew from Leeds to Bratislava.", "en", [("Leeds", True), ("Bratislava", True)]),
        ("A letter to Kowalski.", "en", [("Kowalski", False)]),
        ("Kowalski is late.", "en", [("Kowalski", False)]),
        ("I met Anjali Ravindra in London.", "en", [("Anjali Ravindra", False)]),
        ("I met Anjali and Ravindra.", "en", [("Anjali", False), ("Ravindra", False)]),
        ("Rodrigues's friend called.", "en", [("Rodrigues", False)]),
        ("I said that Rodrigues'll visit my friend.", "en", [("Rodrigues", False)]),
        ("I said that London'll visit my friend.", "en", []),
        ("The Guggenheim Museum is closed.", "en", [("Guggenheim", False)]),
        ("Wir waren gestern in Sheffield.", "de", [("Sheffield", True)]),
        ("Der Zug nach Darlington fährt um neun.", "de", [("Darlington", True)]),
        ("Ich habe Rodrigues im Supermarkt getroffen.", "de", [("Rodrigues", False)]),
        ("Kowalski hat mich angerufen.", "de", [("Kowalski", False)]),
        ("Er sagte, dass Kowalski müde sei.", "de", [("Kowalski", False)]),
        ("Wir waren in Hausbrust.", "de", []),
        ("Wir waren in Rosenheim und im Rosenheim.", "de", [("Rosenheim", True)]),
        ("Hoffmann hat mich angerufen.", "de", [("Hoffmann", False)]),
        ("Frag Priyanka und Oluwaseun.", "de", [("Priyanka", False), ("Oluwaseun", False)]),
    ],
)
def test_unknown_names_are_found_with_what_they_are_of(text, language, names):
    assert found(text, language) == names


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("We met the Mayans.", "en"),  # a people
        ("Restartings take time.", "en"),  # any word begins a sentence with a capital letter …
        ("Photosynthesis takes time.", "en"),  # … and only who does something is somebody
        ("We use USB and WLAN.", "en"),  # abbreviations are looked for elsewhere
        ("We met in London on Monday.", "en"),
        ("Ich habe Brustschmerzen.", "de"),  # made of words
        ("Ich habe eine Kollektion.", "de"),  # an article
        ("Die neue Kollektion ist geschlossen.", "de"),  # an adjective
        ("Ich habe A4-Papier.", "de"),
    ],
)
def test_other_unknown_words_are_no_names(text, language):
    assert found(text, language) == []


def test_nobody_is_strange_to_who_knows_no_words_or_not_the_language():
    assert list(strangers("We were in Sheffield.", "en", NO_LEXICON)) == []
    assert list(strangers("Nous étions à Sheffield.", "fr", LEXICONS["en"])) == []


@given(st.text(alphabet="Sheffield in.'-’ \nÄß„", max_size=60), st.sampled_from(["en", "de"]))
def test_spans_are_in_order_and_hold_no_space_at_their_ends(text, language):
    spans = [(start, stop) for start, stop, _ in strangers(text, language, LEXICONS[language])]
    assert spans == sorted(spans)
    assert all(text[start:stop].strip() == text[start:stop] != "" for start, stop in spans)
    assert all(stop < start for (_, stop), (start, _) in pairwise(spans))


def test_a_long_text_takes_time_in_proportion():
    def seconds(text: str) -> float:
        began = time.process_time()
        list(strangers(text, "de", LEXICONS["de"]))
        return time.process_time() - began

    text = "Ich habe Rodrigues und Kowalskiewicz mit Sheffieldern getroffen. " * 40
    seconds(text)
    assert seconds(text * 20) < 200 * max(seconds(text), 1e-3)
