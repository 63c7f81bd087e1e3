"""HTML is read without losing or breaking anything."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.text.markup import Block, Raw, read
from service.text.reading import Reader

PIECES = [
    "<p>", "</p>", "<b class='x'>", "</b>", "<br/>", "<img src=\"a>b\">", "<script>a<b</script>", "<style>", "</style>",
    "<!-- c -->", "<!doctype html>", "<?pi?>", "<![CDATA[x]]>", "<code>", "</code>", "<pre>", "</pre>", "&amp;",
    "&nbsp;", "&#169;", "&bogus", "&", "<", ">", "'", '"', "<a href='", "text", " ", "\n", "Hello there.", "1", "😀",
    '<span translate="no">', "</span>", "<x-y>",
]  # fmt: skip
HTML = st.lists(st.sampled_from(PIECES), max_size=30).map("".join) | st.text(alphabet="<>/&;ab \"'!-=p", max_size=60)


class Words:
    """A vocabulary that knows Latin letters and counts words."""

    def count(self, sentence: str) -> int:
        return len(sentence.split())

    def knows(self, cluster: str) -> bool:
        return cluster < "\u0250"


def translated(html: str, how=str.upper) -> str:
    document = Reader("en", "de", Words(), 50).read_html(html)
    return document.rejoin(how(sentence.text) for sentence in document.sentences)


def sources(html: str) -> list[str]:
    return [sentence.text for sentence in Reader("en", "de", Words(), 50).read_html(html).sentences]


@given(HTML)
def test_raw_slices_join_to_the_input(html):
    joined = ""
    for part in read(html):
        if isinstance(part, Raw):
            joined += part.text
            continue
        position = 0
        for offset, tag in [*part.tags, (part.length, "")]:
            joined += part.raw(position, offset) + tag
            position = offset
    assert joined == html


@given(HTML)
def test_every_tag_survives_in_order(html):
    def tags(text: str) -> list[str]:
        found: list[str] = []
        for part in read(text):
            found += [part.text] if isinstance(part, Raw) else [tag for _, tag in part.tags]
        return found

    assert tags(translated(html)) == tags(html)


def test_inline_tags_stay_around_their_words():
    assert translated("<p>Hello <b>big</b> world.</p>") == "<p>HELLO <b>BIG</b> WORLD.</p>"


def test_blocks_are_translated_apart_and_sentences_span_inline_tags():
    assert sources("<h1>Title</h1><p>One <i>sentence</i>. Two.</p><ul><li>item</li></ul>") == [
        "Title", "One sentence.", "Two.", "item",
    ]  # fmt: skip


def test_entities_are_read_and_written():
    assert sources("<p>Tom &amp; Ann &lt;4</p>") == ["Tom & Ann <4"]
    assert translated("<p>Tom &amp; Ann &lt;3</p>") == "<p>TOM &amp; ANN &lt;3</p>"


def test_text_that_is_kept_keeps_its_spelling():
    assert translated("<p>&nbsp;&#8212; <b>42</b> &euro;</p>") == "<p>&nbsp;&#8212; <b>42</b> &euro;</p>"


@pytest.mark.parametrize(
    "html",
    [
        "<script>if (a < b) alert('Hello there');</script>",
        "<style>p { color: red }</style>",
        "<code>print me</code>",
        '<p translate="no">Brand Name</p>',
        "<p translate=no>Brand Name</p>",
        '<span class="x notranslate">Brand <b>Name</b></span>',
        "<!-- a comment -->",
        "<svg><title>chart</title></svg>",
    ],
)
def test_what_must_not_be_translated_is_kept(html):
    assert sources(html) == []
    assert translated(html) == html


def test_code_inside_a_sentence_stays_in_place():
    assert translated("Use <code>ls -l</code> to list.") == "USE <code>ls -l</code> TO LIST."


def test_a_line_break_in_a_paragraph_is_a_space_but_in_pre_it_is_kept():
    assert sources("<p>one\ntwo</p>") == ["one\ntwo"]
    assert translated("<pre>one\ntwo</pre>", lambda _: "x") == "<pre>x\nx</pre>"


def test_broken_markup_is_text_or_kept_but_never_lost():
    assert translated("a < b and <b unclosed") == "A &lt; B AND &lt;B UNCLOSED"
    assert translated("</p>hello</div><p>") == "</p>HELLO</div><p>"


def test_a_translation_cannot_inject_markup():
    assert translated("<p>hello</p>", lambda _: "<script>x</script>") == "<p>&lt;script&gt;x&lt;/script&gt;</p>"


def test_blocks_know_their_entities():
    (block,) = read("a&amp;b")
    assert isinstance(block, Block)
    assert (block.text, block.raw(0, 3), block.raw(1, 2)) == ("a&b", "a&amp;b", "&amp;")


@pytest.mark.parametrize(
    "unit",
    [
        "<",
        "<a ",
        "<a '",
        "<!--",
        "&",
        "<b>x",
        "</",
        "<script>",
        "<a b='",
        "<!",
        "<?",
        "<![",
        "&amp; x. ",
        "<p>a",
        "a😀",
    ],
)
def test_reading_takes_linear_time(unit):
    started = time.process_time()
    translated(unit * (100_000 // len(unit)))
    assert time.process_time() - started < 5
