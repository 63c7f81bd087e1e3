import pytest

from training.corpus.novelty import fingerprint, novel


@pytest.mark.parametrize("other", ["how are you", "How  are you?!", "“How are YOU?”", "how_are-you."])
def test_marks_case_and_spaces_make_no_other_sentence(other):
    assert fingerprint(other) == fingerprint("How are you?")


def test_other_letters_or_digits_do():
    assert len({fingerprint(one) for one in ("It is 5.", "It is 6.", "It is é.", "It is ß.", "It is.")}) == 5


def test_what_is_known_seen_before_too_long_or_empty_is_left_out():
    sentences = ["New.", "Known!", "new", "one two three", "", "…", "Other."]
    assert list(novel(sentences, ["known"], max_words=2)) == ["New.", "Other."]
