"""Read HTML as blocks of running text with the tags that stand in it.

    <p>Hello <b>world</b>. &nbsp;Bye.</p>   ->   Raw("<p>")  Block("Hello world. \xa0Bye.")  Raw("</p>")
                                                              with <b> at 6, </b> at 11

Only the text is ever rewritten: tags, comments, doctypes and whatever is not translated are slices of the input, so
joining all raw slices gives the input, byte for byte.  Scripts, styles, code and what its author marked as not to be
translated (`translate="no"`, class `notranslate`) are kept whole.

The scanner is our own because html.parser is quadratic on broken markup (100 kB of "<a " keep it busy for minutes) and
gives no raw text; this one reads every input once.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field
from html import unescape

# ruff: noqa: SIM905 (lists of words read best as words)

# Tags that end a running text.  Any other tag, known or not, may stand inside a sentence.
BLOCK_TAGS = frozenset(
    "address article aside audio base blockquote body br button canvas caption center col colgroup dd details dialog"
    " dir div dl dt fieldset figcaption figure footer form frame frameset h1 h2 h3 h4 h5 h6 head header hgroup hr html"
    " iframe input legend li link main menu meta nav noframes noscript object ol optgroup option p param pre search"
    " section select summary table tbody td template textarea tfoot th thead title tr track ul video".split()
)
KEPT_TAGS = frozenset("script style code kbd samp var math svg template xmp".split())
VOID_TAGS = frozenset("area base br col embed hr img input link meta param source track wbr".split())
RAW_TEXT_TAGS = frozenset("script style xmp".split())  # hold no tags, whatever is in them looks like

# Possessive, so that a tag that never ends costs one pass and no backtracking.
_TAG = re.compile(r"""<(/?)([a-zA-Z][^\s/>]*+)((?:[^"'>]++|"[^"]*+"|'[^']*+')*+)>""")
_TAG_WITH_BROKEN_QUOTES = re.compile(r"<(/?)([a-zA-Z][^\s/>]*+)([^>]*+)>")
_ENTITY = re.compile(r"&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[a-zA-Z][a-zA-Z0-9]{1,31});?")
_MARKED_AS_KEPT = re.compile(
    r"""(?:^|\s)(?:translate\s*=\s*["']?no(?![\w-])|class\s*=\s*(?:"[^"]*\bnotranslate\b|'[^']*\bnotranslate\b|notranslate\b))""",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Raw:
    """A slice of the input that is kept."""

    text: str


@dataclass(slots=True)
class Block:
    """Running text.  `runs` hold (offset in the text, text, raw); `tags` hold (offset in the text, raw)."""

    runs: list[tuple[int, str, str]] = field(default_factory=list)
    tags: list[tuple[int, str]] = field(default_factory=list)
    length: int = 0
    is_preformatted: bool = False

    @property
    def text(self) -> str:
        return "".join(text for _, text, _ in self.runs)

    def add_text(self, raw: str) -> None:
        """Append text as it is written in HTML; each entity is a run of its own."""
        end = 0
        for match in _ENTITY.finditer(raw):
            self._add_run(raw[end : match.start()], raw[end : match.start()])
            self._add_run(unescape(match[0]), match[0])
            end = match.end()
        self._add_run(raw[end:], raw[end:])

    def _add_run(self, text: str, raw: str) -> None:
        if raw:
            self.runs.append((self.length, text, raw))
            self.length += len(text)

    def raw(self, start: int, stop: int) -> str:
        """The input behind text[start:stop]: entities as they were written."""
        slices: list[str] = []
        first = max(bisect_right(self.runs, start, key=lambda run: run[0]) - 1, 0)
        for offset, text, raw in self.runs[first:]:
            if offset >= stop:
                break
            if text == raw:
                slices.append(raw[max(start - offset, 0) : stop - offset])
            elif offset >= start:
                slices.append(raw)
        return "".join(slices)


def read(html: str) -> list[Raw | Block]:
    """The parts of `html` in order."""
    parts: list[Raw | Block] = []
    kept_tag, kept_depth, preformatted_depth = "", 0, 0
    for kind, tag, raw in _tokens(html):
        is_kept = kept_depth > 0
        if is_kept:
            if tag == kept_tag:
                kept_depth += {"start": 1, "end": -1}.get(kind, 0)
        elif kind == "start" and tag not in VOID_TAGS and (tag in KEPT_TAGS or _MARKED_AS_KEPT.search(raw)):
            kept_tag, kept_depth = tag, 1
        is_break = tag in BLOCK_TAGS and not is_kept
        if is_break and tag in ("pre", "textarea"):
            preformatted_depth = max(0, preformatted_depth + (1 if kind == "start" else -1))
        if is_break:
            parts.append(Raw(raw))
            continue
        if not parts or isinstance(parts[-1], Raw):
            parts.append(Block(is_preformatted=preformatted_depth > 0))
        block = parts[-1]
        assert isinstance(block, Block)
        if kind == "text" and not is_kept:
            block.add_text(raw)
        else:
            block.tags.append((block.length, raw))
    return parts


def _tokens(html: str) -> Iterator[tuple[str, str, str]]:
    """(kind, tag name, raw) where kind is start, end, empty, text or other; the raws make up `html`."""
    position = 0
    tag_pattern = _TAG
    last_closer = html.rfind(">")
    while position < len(html):
        start = html.find("<", position)
        start = len(html) if start < 0 else start
        if start > position:
            yield "text", "", html[position:start]
        if start == len(html):
            return
        if html.startswith(("<!", "<?"), start):
            closer = "-->" if html.startswith("<!--", start) else "]]>" if html.startswith("<![CDATA[", start) else ">"
            at = html.find(closer, start + 2)
            position = len(html) if at < 0 else at + len(closer)
            yield "other", "", html[start:position]
            continue
        match = tag_pattern.match(html, start) if start < last_closer else None
        if match is None and start < last_closer and tag_pattern is _TAG and html[start + 1 : start + 2].isalpha():
            # A quote that never closes: from here on, any > ends a tag.
            tag_pattern = _TAG_WITH_BROKEN_QUOTES
            match = tag_pattern.match(html, start)
        if match is None:
            yield "text", "", "<"
            position = start + 1
            continue
        position = match.end()
        tag = match[2].lower()
        kind = "end" if match[1] else "empty" if match[3].endswith("/") else "start"
        yield kind, tag, match[0]
        if kind == "start" and tag in RAW_TEXT_TAGS:
            end = re.compile(f"</{tag}", re.IGNORECASE).search(html, position)
            content = html[position : end.start() if end else len(html)]
            if content:
                yield "other", "", content
            position += len(content)
