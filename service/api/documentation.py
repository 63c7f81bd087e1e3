"""/openapi.json, and /docs: the same as a page that needs no script and loads nothing from elsewhere."""

import base64
import hashlib
import json
from html import escape
from typing import Any

from fastapi import APIRouter
from starlette.responses import HTMLResponse, JSONResponse, Response

from service.api.middleware import DEFAULT_POLICY
from service.api.openapi import build_document
from service.settings import Settings

_STYLE = """
:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif; }
body { max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
code, pre { font-family: ui-monospace, monospace; font-size: .9em; }
h2 { margin-top: 2.5rem; border-bottom: 1px solid; } h2 b { display: inline-block; min-width: 4rem; }
table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; vertical-align: top; padding: .3rem .6rem; }
tr + tr { border-top: 1px solid color-mix(in srgb, currentColor 20%, transparent); }
"""
_STYLE_HASH = base64.b64encode(hashlib.sha256(_STYLE.encode()).digest()).decode()


def router(settings: Settings) -> APIRouter:
    """The two routes, for a service with these settings."""
    routes = APIRouter()
    document = build_document(settings)
    page = _render(document)

    @routes.get("/openapi.json")
    async def openapi() -> Response:
        return JSONResponse(document)

    @routes.get("/docs")
    async def docs() -> Response:
        policy = f"{DEFAULT_POLICY}; style-src 'sha256-{_STYLE_HASH}'"
        return HTMLResponse(page, headers={"Content-Security-Policy": policy})

    return routes


def _render(document: dict[str, Any]) -> str:
    info = document["info"]
    operations = "".join(
        _operation(method, path, operation)
        for path, methods in document["paths"].items()
        for method, operation in methods.items()
    )
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{escape(info["title"])} API</title>'
        f'<meta name="viewport" content="width=device-width"><style>{_STYLE}</style></head><body>'
        f"<h1>{escape(info['title'])} {escape(info['version'])}</h1><p>{escape(info['summary'])}"
        f" {escape(info['description'])} Machine readable: <a href='/openapi.json'>openapi.json</a>.</p>"
        f"{operations}</body></html>"
    )


def _operation(method: str, path: str, operation: dict[str, Any]) -> str:
    fields = [(p["name"], p["schema"], p.get("required", False)) for p in operation.get("parameters", [])]
    content = operation.get("requestBody", {}).get("content", {})
    if content:
        schema = next(iter(content.values()))["schema"]
        fields = [(name, field, name in schema["required"]) for name, field in schema["properties"].items()]
    rows = "".join(
        f"<tr><td><code>{escape(name)}</code>{' *' if required else ''}</td><td>{escape(_type(field))}</td>"
        f"<td>{escape(field.get('description', ''))}</td></tr>"
        for name, field, required in fields
    )
    table = f"<table><tr><th>parameter (* needed)</th><th>type</th><th></th></tr>{rows}</table>" if rows else ""
    answers = "".join(
        f"<tr><td><code>{status}</code></td><td>{escape(answer['description'])}</td></tr>"
        for status, answer in operation["responses"].items()
    )
    body = f"<p>Body: {escape(', '.join(content))}.</p>" if content else ""
    return (
        f"<h2><b>{method.upper()}</b> <code>{escape(path)}</code></h2><p>{escape(operation['summary'])}.</p>"
        f"{body}{table}<table><tr><th>answer</th><th></th></tr>{answers}</table>"
    )


def _type(field: dict[str, Any]) -> str:
    """A field's type in a few words."""
    if "enum" in field:
        return " | ".join(field["enum"])
    if "anyOf" in field:
        return " or ".join(_type(choice) for choice in field["anyOf"])
    if field.get("type") == "array":
        return f"list of {_type(field['items'])}"
    bounds = f" {field['minimum']}–{field['maximum']}" if "minimum" in field else ""
    default = f", default {json.dumps(field['default'])}" if "default" in field else ""
    return f"{field.get('type', 'any')}{bounds}{default}"
