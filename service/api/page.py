"""The translator page: static files from our own folder under a policy that lets nothing else in."""

from collections.abc import Awaitable, Callable
from pathlib import Path

from fastapi import FastAPI
from starlette.requests import Request
from starlette.responses import Response
from starlette.staticfiles import StaticFiles
from starlette.types import Scope

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self';"
    " connect-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)


class Page(StaticFiles):
    """Static files with the page's policy; browsers ask each time whether a file has changed."""

    async def get_response(self, path: str, scope: Scope) -> Response:
        response = await super().get_response(path, scope)
        response.headers["Content-Security-Policy"] = POLICY
        response.headers["Cache-Control"] = "no-cache"
        return response


def mount(app: FastAPI, folder: Path) -> None:
    """Serve index.html at / and each file and folder under its name.

    Not one mount at /: that would answer for every address and every method there is, also those of the API.
    """
    page = Page(directory=folder)

    def serve(path: str) -> Callable[[Request], Awaitable[Response]]:
        async def endpoint(request: Request) -> Response:
            return await page.get_response(path, request.scope)

        return endpoint

    app.add_route("/", serve("index.html"), ["GET", "HEAD"], include_in_schema=False)
    for entry in sorted(folder.iterdir()):
        if entry.is_dir():
            app.mount(f"/{entry.name}", Page(directory=entry), name=f"page-{entry.name}")
        else:
            app.add_route(f"/{entry.name}", serve(entry.name), ["GET", "HEAD"], include_in_schema=False)
