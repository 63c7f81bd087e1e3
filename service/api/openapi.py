"""The OpenAPI document: every address, what it takes, what it answers."""

from importlib.metadata import version
from typing import Any

from service.api import schemas
from service.api.schemas import STRING, Schema, array, record, reference
from service.settings import Settings

VERSION = version("nudge-translate")
_FORMS = ("application/x-www-form-urlencoded", "multipart/form-data")


def build_document(settings: Settings) -> dict[str, Any]:
    """The document for a service with these settings."""
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Nudge",
            "version": VERSION,
            "summary": "Translation with a decoder that is steered to the objective you ask for.",
            "description": "LibreTranslate's clients work on the native addresses, DeepL's on /v2.",
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "paths": {**_native_paths(settings), **_deepl_paths(settings)},
        "components": {
            "schemas": {
                "Detected": schemas.DETECTED,
                "Explanation": schemas.EXPLANATION,
                "Translation": schemas.NATIVE_ANSWER,
                "Failure": schemas.FAILURE,
                "DeepLFailure": schemas.DEEPL_FAILURE,
            },
            "securitySchemes": {
                "header": {
                    "type": "apiKey",
                    "in": "header",
                    "name": "Authorization",
                    "description": "DeepL-Auth-Key <key> or Bearer <key>, where the service needs one",
                }
            },
        },
    }


def _native_paths(settings: Settings) -> dict[str, Any]:
    form = schemas.native_request(settings, STRING, is_form=True)
    as_json = schemas.native_request(settings, schemas.one_or_list(STRING), is_form=False)
    translation = {
        "200": {
            "description": "The translation; with stream=true, the events start, token, sentence, done and error.",
            "content": {
                "application/json": {"schema": reference("Translation")},
                "text/event-stream": {"schema": schemas.EVENT},
            },
        },
        **_failures(400, 403, 408, 413, 415, 429, 503, 504),
    }
    return {
        "/translate": {
            "post": _operation("translate", "Translate a text or a list of texts", translation, _body(as_json, form)),
            "get": _operation("translateByQuery", "The same, by query string", translation, parameters=_query(form)),
        },
        "/detect": {
            "post": _operation(
                "detect",
                "Which served language a text is in",
                {**_ok(array(reference("Detected"))), **_failures(400, 403, 413, 415, 429, 503)},
                _body(record({"q": STRING}), record({"q": STRING})),
            )
        },
        "/languages": {"get": _get("languages", "Languages and their targets", schemas.LANGUAGES, 503)},
        "/objectives": {"get": _get("objectives", "What each pair can be steered to", schemas.OBJECTIVES)},
        "/frontend/settings": {"get": _get("frontendSettings", "Limits, for a front end", {"type": "object"})},
        "/health": {"get": _get("health", "Alive", record({"status": STRING}))},
        "/ready": {"get": _get("ready", "Able to translate", record({"status": STRING, "pairs": array(STRING)}), 503)},
        "/metrics": {
            "get": _operation(
                "metrics",
                "Prometheus metrics",
                {"200": {"description": "Metrics", "content": {"text/plain": {"schema": STRING}}}},
            )
        },
    }


def _deepl_paths(settings: Settings) -> dict[str, Any]:
    texts = schemas.one_or_list(STRING)
    form = schemas.deepl_request(settings, array(STRING), is_form=True)
    language = record({"language": STRING, "name": STRING}, {"supports_formality": schemas.BOOLEAN})
    kind = [{"name": "type", "in": "query", "schema": {"type": "string", "enum": ["source", "target"]}}]
    usage = record({"character_count": {"type": "integer"}, "character_limit": {"type": "integer"}})
    return {
        "/v2/translate": {
            "post": _operation(
                "deeplTranslate",
                "Translate texts, for DeepL's clients",
                {**_ok(schemas.DEEPL_ANSWER), **_failures(400, 403, 408, 413, 415, 429, 456, 503, 504, deepl=True)},
                _body(schemas.deepl_request(settings, texts, is_form=False), form),
            )
        },
        "/v2/languages": {
            method: _operation(
                f"deeplLanguages{suffix}",
                "Languages, for DeepL's clients",
                {**_ok(array(language)), **_failures(400, 403, 413, 415, 429, 503, deepl=True)},
                parameters=kind,
            )
            for method, suffix in (("get", ""), ("post", "ByPost"))
        },
        "/v2/usage": {
            method: _operation(
                f"deeplUsage{suffix}",
                "Characters used this month",
                {**_ok(usage), **_failures(400, 403, 413, 415, 429, deepl=True)},
            )
            for method, suffix in (("get", ""), ("post", "ByPost"))
        },
    }


def _operation(
    name: str,
    summary: str,
    responses: dict[str, Any],
    body: dict[str, Any] | None = None,
    parameters: list[Schema] | None = None,
) -> dict[str, Any]:
    operation: dict[str, Any] = {"operationId": name, "summary": summary, "responses": responses}
    if body:
        operation["requestBody"] = body
    if parameters:
        operation["parameters"] = parameters
    return operation


def _get(name: str, summary: str, schema: Schema, *failures: int) -> dict[str, Any]:
    return _operation(name, summary, {**_ok(schema), **_failures(*failures)})


def _ok(schema: Schema) -> dict[str, Any]:
    return {"200": {"description": "OK", "content": {"application/json": {"schema": schema}}}}


def _failures(*statuses: int, deepl: bool = False) -> dict[str, Any]:
    schema = reference("DeepLFailure" if deepl else "Failure")
    content = {"application/json": {"schema": schema}}
    return {str(status): {"description": _MEANINGS[status], "content": content} for status in statuses}


_MEANINGS = {
    400: "A parameter is missing or wrong; the message says which and what is allowed.",
    403: "The API key is missing, unknown or revoked.",
    408: "The body did not arrive in time.",
    413: "The body, or the text in it, is too large.",
    415: "The body is neither JSON nor a form.",
    429: "Too many requests, or the key's quota is used up; see Retry-After.",
    456: "The key's quota is used up.",
    503: "Busy or not ready; see Retry-After.",
    504: "Not finished within the deadline.",
}


def _body(as_json: Schema, form: Schema) -> dict[str, Any]:
    content = {"application/json": {"schema": as_json}} | {kind: {"schema": form} for kind in _FORMS}
    return {"required": True, "content": content}


def _query(schema: Schema) -> list[Schema]:
    return [
        {"name": name, "in": "query", "required": name in schema["required"], "schema": field}
        for name, field in schema["properties"].items()
    ]
