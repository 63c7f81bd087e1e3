"""schemathesis sends what the OpenAPI document describes, and much that it does not, to a real server."""

from pathlib import Path

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis.specs.openapi.checks import positive_data_acceptance

from service.api.openapi import build_document
from service.settings import load_settings

# The document leaves languages and objectives open, as they depend on the models; here they are those of the toy, so
# that most requests get as far as the engine.
TOY_VALUES = {
    "source": ["auto", "xa"],
    "target": ["xb"],
    "source_lang": ["XA", "xa"],
    "target_lang": ["XB", "xb"],
    "objective": ["none", "bleu", "bleu:0.5"],
}
BOUNDED = settings(
    max_examples=60,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=list(HealthCheck),
    phases=[Phase.explicit, Phase.generate],
)


def document() -> dict:
    return build_document(load_settings(models=Path(__file__).parent))


def narrowed(node):
    """The document with the toy's values in every schema of a parameter that has some."""
    if isinstance(node, list):
        return [narrowed(item) for item in node]
    if not isinstance(node, dict):
        return node
    if node.get("in") == "query" and node["name"] in TOY_VALUES:
        return {**node, "schema": {"type": "string", "enum": TOY_VALUES[node["name"]]}}
    result = {name: narrowed(value) for name, value in node.items()}
    if "q" in node.get("properties", {}) or "text" in node.get("properties", {}):
        for name in TOY_VALUES.keys() & result["properties"].keys():
            result["properties"][name] = {"type": "string", "enum": TOY_VALUES[name]}
    return result


SCHEMA = schemathesis.openapi.from_dict({**document(), "paths": narrowed(document()["paths"])})
OPERATIONS = {operation.label: operation for operation in (found.ok() for found in SCHEMA.get_all_operations())}
WITH_INPUT = [label for label, operation in OPERATIONS.items() if operation.body or operation.query]


def test_the_server_serves_this_very_document(server):
    assert server.get("/openapi.json").json() == document()


@pytest.mark.parametrize("label", OPERATIONS)
def test_the_server_keeps_the_promises_of_its_document(server, label):
    @BOUNDED
    @given(case=OPERATIONS[label].as_strategy())
    def check(case):
        # Some values exclude each other (alternatives and greedy), which a schema of fields cannot say.
        case.call_and_validate(base_url=server.url, timeout=60, excluded_checks=[positive_data_acceptance])

    check()


@pytest.mark.parametrize("label", WITH_INPUT)
def test_nothing_that_breaks_the_document_breaks_the_server(server, label):
    @BOUNDED
    @given(case=OPERATIONS[label].as_strategy(generation_mode=schemathesis.GenerationMode.NEGATIVE))
    def check(case):
        response = case.call(base_url=server.url, timeout=60)
        assert response.status_code < 500, response.text

    check()


def test_the_runs_above_reached_the_engine(server):
    for route in ("/translate", "/v2/translate"):
        assert server.metric("nudge_requests_total", route=route, status="200") > 10
        assert server.metric("nudge_requests_total", route=route, status="400") > 10
