"""A route for what is asked most: FastAPI's own resolves dependencies and response models, of which ours have none."""

from typing import Any

from starlette.routing import Match, Route
from starlette.types import Scope


class BusyRoute(Route):
    """Starlette's route, which leaves itself in the scope as FastAPI's does: metrics and log lines name it."""

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        match, found = super().matches(scope)
        if match is not Match.NONE:
            found = {**found, "route": self}
        return match, found

    def __init__(self, path: str, endpoint: Any, methods: list[str]) -> None:
        super().__init__(path, endpoint, methods=methods, include_in_schema=False)
        self.methods = set(methods)  # without the HEAD that Starlette adds to GET
