"""Language identification: right on short text, honest about what it cannot know."""

import pytest

from service.text.detection import detect

SHIPPED = ["cs", "de", "en", "fi", "ru"]


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("Hello", "en"), ("Hallo", "de"), ("Ahoj", "cs"), ("Moi", "fi"), ("Привет", "ru"),
        ("thanks", "en"), ("danke", "de"), ("děkuji", "cs"), ("kiitos", "fi"), ("спасибо", "ru"),
        ("Guten Morgen", "de"), ("good morning", "en"), ("WHERE ARE YOU", "en"),
        ("The weather is nice today.", "en"), ("Das Wetter ist heute schön.", "de"),
        ("Dnes je hezké počasí.", "cs"), ("Sää on tänään kaunis.", "fi"), ("Сегодня хорошая погода.", "ru"),
    ],
)  # fmt: skip
def test_short_everyday_text_is_recognised(text, language):
    assert detect(text, SHIPPED)[0].language == language


def test_a_sentence_is_sure_and_a_fragment_is_not():
    assert detect("This is a perfectly ordinary English sentence.", SHIPPED)[0].confidence > 0.95
    assert detect("in", SHIPPED)[0].confidence < 0.9


@pytest.mark.parametrize("text", ["", "42", "😀", "!?", " \n"])
def test_text_without_letters_has_no_confidence(text):
    assert [found.confidence for found in detect(text, SHIPPED)] == [0.0] * 5


@pytest.mark.parametrize(
    "text", ["これは日本語の文章です。", "Ceci est une phrase tout à fait française, n'est-ce pas ?"]
)
def test_a_language_that_is_not_served_has_little_confidence(text):
    assert detect(text, ["de", "en"])[0].confidence < 0.1


def test_confidences_are_ordered_and_add_up_to_at_most_one():
    found = detect("Das ist ein Haus", SHIPPED)
    confidences = [detection.confidence for detection in found]
    assert confidences == sorted(confidences, reverse=True)
    assert sum(confidences) <= 1 + 1e-9
    assert {detection.language for detection in found} == set(SHIPPED)


def test_only_candidates_are_found():
    assert {detection.language for detection in detect("Das ist ein Haus", ["en", "fi"])} == {"en", "fi"}


def test_a_language_the_model_does_not_know_is_a_last_resort():
    assert [detection.language for detection in detect("Hello there", ["xa", "en"])] == ["en", "xa"]
    assert detect("Hello there", ["xa"])[0].confidence == 0.0
