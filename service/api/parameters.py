"""Check the parameters of a translation and give them their types.

Values of a form or a query string arrive as strings; values of a JSON body must have the right JSON type.
"""

import json
import math
from collections.abc import Sequence
from typing import Any, TypedDict, cast

from service.api.body import Parameters
from service.errors import InvalidParameter, TextTooLong
from service.settings import Settings
from service.text.languages import base_code
from service.translation.options import DECODERS, MAX_STRENGTH, Blend, DecoderName, Options

MAX_TERMS = 500
MAX_TERM_CHARACTERS = 200
_NO_ACTOR = ("none", "greedy", "")
_TRUE, _FALSE = ("true", "1", "yes", "on"), ("false", "0", "no", "off", "")


class Reader:
    """Typed access to parameters, each with a message that says what is allowed."""

    def __init__(self, parameters: Parameters) -> None:
        self._parameters = parameters

    def has(self, name: str) -> bool:
        value = self._parameters.get(name)
        return value is not None and not (value == "" and name not in self._parameters.is_typed)

    def text(self, name: str, default: str | None = None) -> str:
        """A string; `default` None makes it required."""
        value = self._parameters.get(name)
        if value is None:
            if default is None:
                raise InvalidParameter.missing(name, "a string is needed")
            return default
        if not isinstance(value, str):
            raise InvalidParameter(name, value, "one string is needed")
        return value

    def choice(self, name: str, allowed: Sequence[str], default: str) -> str:
        value = self.text(name, default).lower() or default
        if value not in allowed:
            raise InvalidParameter(name, value, f"it must be one of {', '.join(allowed)}")
        return value

    def integer(self, name: str, low: int, high: int, default: int | None) -> int | None:
        value = self._number(name, int) if self.has(name) else default
        if value is not None and not low <= value <= high:
            raise InvalidParameter(name, value, f"it must be a whole number from {low} to {high}")
        return int(value) if value is not None else None

    def number(self, name: str, low: float, high: float, default: float) -> float:
        value = self._number(name, float) if self.has(name) else default
        if not low <= value <= high:
            raise InvalidParameter(name, value, f"it must be a number from {low:g} to {high:g}")
        return float(value)

    def boolean(self, name: str, default: bool = False) -> bool:
        value = self._parameters.get(name)
        if value is None:
            return default
        if isinstance(value, bool):
            return value
        folded = value.lower() if isinstance(value, str) and name not in self._parameters.is_typed else None
        if folded not in _TRUE + _FALSE:
            raise InvalidParameter(name, value, "it must be true or false")
        return folded in _TRUE

    def json(self, name: str) -> object:
        """A JSON value; in a form, a string that holds one."""
        value: object = self._parameters.get(name)
        if name in self._parameters.is_typed or not isinstance(value, str):
            return value
        try:
            return json.loads(value)
        except (ValueError, RecursionError) as error:
            raise InvalidParameter(name, value, "it must be JSON") from error

    def texts(self, name: str, settings: Settings) -> tuple[list[str], bool]:
        """One text or several, and whether it was a list; within the limits."""
        value: Any = self._parameters.get(name)
        if value is None:
            raise InvalidParameter.missing(name, "a string or a list of strings is needed, the text to translate")
        is_list = isinstance(value, list)
        texts = value if is_list else [value]
        if len(texts) > settings.max_texts:
            raise InvalidParameter(name, f"a list of {len(texts)}", f"at most {settings.max_texts} texts fit a request")
        for text in texts:
            if not isinstance(text, str):
                raise InvalidParameter(name, text, "a string or a list of strings is needed")
            _check_encodable(name, text)
        length = sum(map(len, texts))
        if length > settings.max_characters:
            raise TextTooLong(length, settings.max_characters)
        return texts, is_list

    def _number(self, name: str, kind: type[int] | type[float]) -> float:
        value = self._parameters[name]
        noun = "a whole number" if kind is int else "a number"
        is_typed = name in self._parameters.is_typed
        is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
        if is_typed and (not is_number or (kind is int and value != value // 1)):
            raise InvalidParameter(name, value, f"it must be {noun}")
        try:
            number = kind(value)
            is_finite = math.isfinite(number)
        except (ValueError, TypeError, OverflowError) as error:
            raise InvalidParameter(name, value, f"it must be {noun}") from error
        if not is_finite:
            raise InvalidParameter(name, value, f"it must be {noun}")
        return number


class Search(TypedDict):
    """The options that both APIs spell alike."""

    strength: float
    decoder: DecoderName
    beam_size: int | None
    samples: int | None
    largest_beam: int
    most_samples: int
    alternatives: int
    glossary: tuple[tuple[str, str], ...]


def read_options(reader: Reader, settings: Settings) -> Options:
    """The options of a native request."""
    return Options(
        source=_source(reader),
        target=base_code(reader.text("target")),
        blend=read_blend(reader),
        is_html=reader.choice("format", ("text", "html"), "text") == "html",
        explain=reader.boolean("explain"),
        **read_search(reader, settings),
    )


def read_search(reader: Reader, settings: Settings) -> Search:
    """Decoder, its sizes, and the actor's strength."""
    alternatives = reader.integer("alternatives", 0, settings.max_alternatives, 0) or 0
    # LibreTranslate's clients ask for alternatives without naming a decoder, and only a search has any.
    decoder = reader.choice("decoder", DECODERS, "beam" if alternatives else "greedy")
    if alternatives and decoder == "greedy":
        raise InvalidParameter(
            "alternatives", alternatives, "greedy decoding has one answer only; ask for decoder=beam or decoder=npad"
        )
    return Search(
        strength=reader.number("strength", 0.0, MAX_STRENGTH, 1.0),
        decoder=cast(DecoderName, decoder),
        beam_size=reader.integer("beam_size", 1, settings.max_beam_size, None),
        samples=reader.integer("samples", 1, settings.max_samples, None),
        largest_beam=settings.max_beam_size,
        most_samples=settings.max_samples,
        alternatives=alternatives,
        glossary=_glossary(reader),
    )


def read_blend(reader: Reader) -> Blend:
    """`bleu`, `none`, or a blend such as `bleu:0.7,perplexity:0.3`."""
    if not reader.has("objective"):
        return Blend()
    given = reader.text("objective").strip().lower()
    if given in _NO_ACTOR:
        return Blend(is_default=False)
    weights: dict[str, float] = {}
    for part in given.split(","):
        name, has_weight, weight = (piece.strip() for piece in part.partition(":"))
        try:
            value = float(weight) if has_weight else 1.0
        except ValueError:
            value = math.nan
        if not name or name in weights or not 0.0 <= value <= MAX_STRENGTH:
            raise InvalidParameter(
                "objective",
                given,
                "it must be a name, none, or a blend such as bleu:0.7,perplexity:0.3 with each name once and weights"
                f" from 0 to {MAX_STRENGTH:g}",
            )
        weights[name] = value
    return Blend(tuple(weights.items()), is_default=False)


def _glossary(reader: Reader) -> tuple[tuple[str, str], ...]:
    """Terms with their translations: a JSON object, or in a form the text of one."""
    if not reader.has("glossary"):
        return ()
    terms = reader.json("glossary")
    allowed = (
        f'it must be an object of terms and their translations such as {{"Nudge": "Nudge"}}, at most {MAX_TERMS} of'
        f" at most {MAX_TERM_CHARACTERS} characters each"
    )
    if not isinstance(terms, dict) or len(terms) > MAX_TERMS:
        raise InvalidParameter("glossary", terms, allowed)
    for term, translation in terms.items():
        if not isinstance(translation, str) or not term.strip() or len(term + translation) > MAX_TERM_CHARACTERS:
            raise InvalidParameter("glossary", {term: translation}, allowed)
        _check_encodable("glossary", term + translation)
    return tuple(terms.items())


def _source(reader: Reader) -> str | None:
    source = base_code(reader.text("source", "auto"))
    return None if source in ("auto", "") else source


def _check_encodable(name: str, text: str) -> None:
    """JSON can spell half a character (a lone surrogate), which no UTF-8 answer could carry."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise InvalidParameter(
            name, text[error.start : error.end], f"character {error.start} is half of a surrogate pair; send whole ones"
        ) from error
