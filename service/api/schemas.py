"""The shapes of requests and answers, as OpenAPI schemas.

Routes read their parameters themselves (four encodings, two dialects), so the document is written by hand; a test sends
what it describes to a real server and holds the answers against it.
"""

from typing import Any

from service.api.parameters import MAX_TERMS
from service.settings import Settings
from service.translation.options import DECODERS, MAX_STRENGTH

Schema = dict[str, Any]

STRING: Schema = {"type": "string"}
BOOLEAN: Schema = {"type": "boolean"}
NUMBER_OR_NULL: Schema = {"type": ["number", "null"]}


def one_or_list(schema: Schema) -> Schema:
    """A value for one text, a list of values for a list of texts."""
    return {"anyOf": [schema, {"type": "array", "items": schema}]}


def record(required: dict[str, Schema], optional: dict[str, Schema] | None = None) -> Schema:
    """An object with these fields."""
    return {"type": "object", "required": list(required), "properties": {**required, **(optional or {})}}


def array(items: Schema) -> Schema:
    return {"type": "array", "items": items}


def reference(name: str) -> Schema:
    return {"$ref": f"#/components/schemas/{name}"}


def options(settings: Settings, is_form: bool) -> dict[str, Schema]:
    """Our own parameters, the same in both APIs."""
    terms = {"type": "object", "additionalProperties": STRING, "maxProperties": MAX_TERMS}
    glossary = {"type": "string", "contentMediaType": "application/json"} if is_form else terms
    return {
        "glossary": {
            **glossary,
            "description": "terms and their translations, by exact spelling; one that is its own translation is kept",
        },
        "objective": {
            "type": "string",
            "description": "what the decoder is steered towards: a name of /objectives, `none` for plain decoding, or a"
            " blend such as `bleu:0.7,perplexity:0.3`; the bundle's default if absent",
            "examples": ["none", "bleu", "bleu:0.7,perplexity:0.3"],
        },
        "strength": {
            "type": "number",
            "minimum": 0,
            "maximum": MAX_STRENGTH,
            "default": 1,
            "description": "scales the actor: 0 = plain decoding, 1 = as trained",
        },
        "decoder": {"type": "string", "enum": list(DECODERS), "default": "greedy"},
        "beam_size": {
            "type": "integer",
            "minimum": 1,
            "maximum": settings.max_beam_size,
            "description": "for decoder=beam; the bundle's own if absent",
        },
        "samples": {
            "type": "integer",
            "minimum": 1,
            "maximum": settings.max_samples,
            "description": "for decoder=npad; the bundle's own if absent",
        },
        "alternatives": {
            "type": "integer",
            "minimum": 0,
            "maximum": settings.max_alternatives,
            "default": 0,
            "description": "other translations besides the best; needs beam (chosen if no decoder is named) or npad",
        },
    }


def native_request(settings: Settings, q: Schema, is_form: bool) -> Schema:
    """LibreTranslate's parameters and ours."""
    return record(
        {
            "q": {**q, "description": f"the text, at most {settings.max_characters} characters in all"},
            "target": {"type": "string", "description": "language code", "examples": ["en", "xb"]},
        },
        {
            "source": {"type": "string", "default": "auto", "description": "language code, or auto to detect"},
            "format": {"type": "string", "enum": ["text", "html"], "default": "text"},
            **options(settings, is_form),
            "explain": {**BOOLEAN, "default": False, "description": "tokens, log-probabilities, the actor's influence"},
            "stream": {**BOOLEAN, "default": False, "description": "answer by server-sent events"},
            "api_key": {"type": "string", "description": "API key, where the service needs one"},
        },
    )


def deepl_request(settings: Settings, text: Schema, is_form: bool) -> Schema:
    """DeepL's parameters and ours."""
    return record(
        {"text": text, "target_lang": {"type": "string", "examples": ["EN-US", "XB"]}},
        {
            "source_lang": STRING,
            "tag_handling": {"type": "string", "enum": ["html", "xml", "text"]},
            "formality": {"type": "string", "enum": ["default", "prefer_more", "prefer_less"]},
            "show_billed_characters": BOOLEAN,
            **options(settings, is_form),
        },
    )


DETECTED = record(
    {"confidence": {"type": "integer", "minimum": 0, "maximum": 100}, "language": {"type": "string"}},
)
TOKEN = record({"text": STRING, "logProbability": {"type": "number"}, "influence": {"type": "number"}})
EXPLANATION = record(
    {
        "source": STRING,
        "translatedText": STRING,
        "score": {"type": "number"},
        "truncated": BOOLEAN,
        "tokens": array(TOKEN),
    }
)
NATIVE_ANSWER = record(
    {
        "translatedText": one_or_list(STRING),
        "source": one_or_list(STRING),
        "target": STRING,
        "objective": one_or_list(STRING),
        "strength": {"type": "number"},
        "decoder": {"type": "string", "enum": list(DECODERS)},
        "score": {**one_or_list(NUMBER_OR_NULL), "description": "mean token log-probability"},
        "confidence": {**one_or_list(NUMBER_OR_NULL), "description": "calibrated, 0 to 1; /objectives says of what"},
        "truncated": {**one_or_list(BOOLEAN), "description": "the length bound was hit"},
        "repetitive": {**one_or_list(BOOLEAN), "description": "the repetition guard stopped a loop"},
        "model": one_or_list({"type": ["string", "null"]}),
        "timing": record({name: {"type": "number"} for name in ("total_ms", "queue_ms", "decode_ms", "tokens")}),
    },
    {
        "detectedLanguage": one_or_list(reference("Detected")),
        "alternatives": one_or_list({"anyOf": [STRING, array(STRING)]}),
        "explain": array({"anyOf": [reference("Explanation"), array(reference("Explanation"))]}),
    },
)
EVENT = record(
    {
        "event": {"type": "string", "enum": ["start", "token", "sentence", "done", "error"]},
        "data": {"type": "string", "contentMediaType": "application/json"},
    }
)
DEEPL_ANSWER = record(
    {
        "translations": array(
            record({"detected_source_language": STRING, "text": STRING, "billed_characters": {"type": "integer"}})
        )
    }
)
OBJECTIVE = record(
    {
        "name": STRING,
        "optimises": STRING,
        "method": {"type": ["string", "null"]},
        "gains": array({"type": "object"}),
        "milliseconds_per_token": {"type": "object", "additionalProperties": NUMBER_OR_NULL},
    }
)
OBJECTIVES = record(
    {
        "pairs": array(
            record(
                {
                    "source": STRING,
                    "target": STRING,
                    "model": {"type": "object"},
                    "default": STRING,
                    "beam_size": {"type": "integer"},
                    "samples": {"type": "integer"},
                    "confidence": {"type": ["string", "null"]},
                    "objectives": array(OBJECTIVE),
                    "scores": array({"type": "object"}),
                }
            )
        )
    }
)
LANGUAGES = array(record({"code": STRING, "name": STRING, "targets": array(STRING)}))
FAILURE = record({"error": STRING, "code": STRING, "request_id": STRING})
DEEPL_FAILURE = record({"message": STRING})
