"""Read the parameters of a request from wherever its client put them.

LibreTranslate's and DeepL's clients send JSON, forms, multipart forms or query strings, and some send a form with a
GET.  All become one dict; the body wins over the query string, and a field that is repeated becomes a list.
"""

import json
from collections.abc import Iterable
from typing import Any, NoReturn
from urllib.parse import parse_qsl

from starlette.datastructures import UploadFile
from starlette.exceptions import HTTPException
from starlette.requests import Request

from service.errors import CallerGone, InvalidRequest, UnsupportedMediaType

_MAX_FIELDS = 20_000


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a JSON value")


# Made once: `json.loads` makes a new one whenever it is given an option.
_DECODER = json.JSONDecoder(parse_constant=_refuse_constant)


class Parameters(dict[str, Any]):
    """Parameters by name.  `is_typed` tells JSON, where 5 is a number, from a form, where everything is a string."""

    is_typed: frozenset[str] = frozenset()


async def read_parameters(request: Request) -> Parameters:
    """Gather query string and body; InvalidRequest or UnsupportedMediaType if the body cannot be read."""
    parameters = Parameters()
    if request.scope["query_string"]:
        parameters.update(_read_form(request.scope["query_string"], "query string"))
    body = await _read_body(request)
    parameters.update(body)
    parameters.is_typed = body.is_typed
    return parameters


async def _read_body(request: Request) -> Parameters:
    content_type = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if content_type == "multipart/form-data":
        return await _read_multipart(request)
    raw = await _raw_body(request)
    if not raw.strip():
        return Parameters()
    if content_type == "application/json" or content_type.endswith("+json") or (not content_type and raw[:1] == b"{"):
        return _read_json(raw)
    if content_type in ("application/x-www-form-urlencoded", ""):
        return _read_form(raw)
    raise UnsupportedMediaType(content_type)


async def _raw_body(request: Request) -> bytes:
    parts: list[bytes] = []
    has_more = True
    while has_more:
        message = await request.receive()
        if message["type"] == "http.disconnect":
            raise CallerGone
        parts.append(message.get("body", b""))
        has_more = message.get("more_body", False)
    return b"".join(parts)


def _read_json(raw: bytes) -> Parameters:
    try:
        value = _DECODER.decode(raw.decode(json.detect_encoding(raw), "surrogatepass"))
    except (ValueError, RecursionError) as error:
        raise InvalidRequest(
            f'The body is not JSON ({error}). Send an object such as {{"q": "Hello", "target": "de"}}.'
        ) from error
    if not isinstance(value, dict):
        raise InvalidRequest(f"The JSON body must be an object with named parameters, not a {type(value).__name__}.")
    parameters = Parameters(value)
    parameters.is_typed = frozenset(value)
    return parameters


def _read_form(raw: bytes, what: str = "form") -> Parameters:
    try:
        pairs = parse_qsl(raw.decode("utf-8"), keep_blank_values=True, errors="strict", max_num_fields=_MAX_FIELDS)
    except ValueError as error:
        raise InvalidRequest(f"The {what} cannot be read ({error}). Send it URL-encoded in UTF-8.") from error
    return Parameters(_gather(pairs))


async def _read_multipart(request: Request) -> Parameters:
    try:
        # A field is as long as the body limit lets it be, and that limit is enforced while the body arrives.
        form = await request.form(max_files=0, max_fields=_MAX_FIELDS, max_part_size=1 << 30)
    except (HTTPException, ValueError) as error:
        detail = getattr(error, "detail", error)
        raise InvalidRequest(f"The multipart form cannot be read ({detail}). Send text fields only.") from error
    pairs = [(name, value) for name, value in form.multi_items() if not isinstance(value, UploadFile)]
    return Parameters(_gather(pairs))


def _gather(pairs: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    """Pairs as a dict; a name that is repeated has the list of its values."""
    gathered: dict[str, list[Any]] = {}
    for name, value in pairs:
        gathered.setdefault(name, []).append(value)
    return {name: values[0] if len(values) == 1 else values for name, values in gathered.items()}
