import pytest

from service.text.lexicon import NO_LEXICON, Lexicon

LEXICON = Lexicon.parse(b"schmerz\nbrust\nsprache\nhaus\nt\xc3\xbcr\nneu\ngeht's\n")


@pytest.mark.parametrize("word", ["Brust", "brust", "BRUST", "geht's", "geht’s", "neu-Sheffield"])
def test_words_that_were_seen_are_not_strange_however_they_are_written(word):
    assert not LEXICON.is_strange(word)


@pytest.mark.parametrize("word", ["Sheffield", "Sankt-Gallen"])
def test_words_that_were_not_seen_are(word):
    assert LEXICON.is_strange(word)


def test_no_word_is_strange_to_who_knows_none():
    assert not NO_LEXICON.is_strange("Sheffield")


@pytest.mark.parametrize(
    "word", ["Schmerzen", "Brustschmerz", "Brustschmerzen", "Sprachschmerz", "Hausbrust", "Fremdsprache"]
)
def test_compounds_and_declined_words_are_derived(word):
    assert LEXICON.is_derived(word)


@pytest.mark.parametrize("word", ["Sheffield", "Kowalski", "Altür", "Hausstür", "Haussa"])
def test_words_with_no_known_part_are_not(word):
    assert not LEXICON.is_derived(word)


@pytest.mark.parametrize("content", [b"", b"one\n\ntwo\n", b"one \n", b"\xff\n"])
def test_what_is_no_list_of_words_is_refused(content):
    with pytest.raises(ValueError, match=r"a word on each line|can't decode"):
        Lexicon.parse(content)
