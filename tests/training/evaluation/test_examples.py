from training.evaluation.examples import Example, to_html, words_with_influence


def test_subwords_are_joined_and_a_word_has_the_largest_influence_of_its_parts():
    words = words_with_influence(["▁the", "▁play", "ing", "▁dog", "."], [0.0, 0.002, 0.4, 0.0005, 0.0, 0.9])
    assert words == [("the", 0.0), ("playing", 0.4), ("dog.", 0.0005)]


def test_words_above_the_threshold_are_magenta_and_text_is_escaped():
    example = Example(
        "ein <b>", "a & b", "plain", "one two", [("<one>", 0.0005), ("two", 0.0011), ("three", 0.2)], 0.25
    )
    page = to_html("toy & co", "bleu", [example])
    assert '<span title="0.0005">&lt;one&gt;</span>' in page
    assert '<mark title="0.0011">two</mark>' in page
    assert '<mark class="strong" title="0.2000">three</mark>' in page
    assert "#c0148c" in page
    assert "ein &lt;b&gt;" in page
    assert "a &amp; b" in page
    assert "+0.250" in page
    assert "<b>" not in page
