"""Languages, detection, objectives, front-end settings, health, metrics."""

import re

import pytest


def test_languages_have_names_and_targets(server):
    assert server.get("/languages").json() == [
        {"code": "xa", "name": "Toy language A", "targets": ["xb"]},
        {"code": "xb", "name": "Toy language B", "targets": []},
    ]


@pytest.mark.parametrize(
    "how", [{"json": {"q": "Ta netu."}}, {"data": {"q": "Ta netu."}}, {"params": {"q": "Ta netu."}}]
)
def test_detect_answers_as_libretranslate_does(server, how):
    found = server.post("/detect", **how).json()
    assert found[0]["language"] in ("xa", "xb")
    assert 0 <= found[0]["confidence"] <= 100


def test_detect_needs_one_text(server):
    assert server.post("/detect", json={}).status_code == 400
    assert server.post("/detect", json={"q": ["a"]}).status_code == 400


def test_objectives_tell_what_they_optimise_what_they_gain_and_what_they_cost(server):
    server.translate("Ta netu.", objective="bleu")
    (pair,) = server.get("/objectives").json()["pairs"]
    assert (pair["source"], pair["target"]) == ("xa", "xb")
    objectives = {objective["name"]: objective for objective in pair["objectives"]}
    assert {"none", "bleu"} <= set(objectives)
    assert objectives["bleu"]["optimises"]
    assert isinstance(objectives["bleu"]["gains"], list)
    assert objectives["bleu"]["milliseconds_per_token"]["greedy"] > 0


def test_frontend_settings_have_every_field_of_libretranslate(server):
    settings = server.get("/frontend/settings").json()
    assert settings["charLimit"] == 100_000
    assert settings["apiKeys"] is False
    assert settings["keyRequired"] is False
    assert settings["language"]["source"] == {"code": "xa", "name": "Toy language A"}
    assert {"frontendTimeout", "suggestions", "filesTranslation", "supportedFilesFormat"} <= set(settings)


def test_health_and_ready(server):
    assert server.get("/health").json() == {"status": "ok"}
    assert server.get("/ready").json() == {"status": "ready", "pairs": ["xa-xb"], "refused": []}


def test_metrics_count_requests_and_translations(server):
    kind = {"pair": "xa-xb", "objective": "bleu", "decoder": "beam"}
    before = server.metric("nudge_translation_seconds_count", **kind)
    requests = server.metric("nudge_requests_total", route="/translate", status="200")
    server.translate("Ta netu.", objective="bleu", decoder="beam")
    assert server.metric("nudge_translation_seconds_count", **kind) == before + 1
    assert server.metric("nudge_requests_total", route="/translate", status="200") == requests + 1
    assert server.metric("nudge_steps_total", pair="xa-xb") > 0
    assert server.metric("nudge_batch_rows_count", pair="xa-xb") > 0


def test_metrics_have_neither_text_nor_invented_labels(server):
    server.translate("Pafaguze secretword.", objective="bleu:0.123,concise:0.456")
    server.get("/invented/address")
    server.post("/translate", json={"q": "a", "target": "inventedlanguage"})
    server.post("/translate", json={"q": "a", "target": "xb", "objective": "inventedobjective"})
    text = server.get("/metrics").text
    assert not re.search("secretword|invented", text)
    assert not any("0.123" in label for label in re.findall('="([^"]*)"', text))
    assert 'objective="blend"' in text
    assert 'route="unmatched"' in text


def test_docs_need_no_script_and_nothing_from_elsewhere(server):
    response = server.get("/docs")
    assert response.status_code == 200
    assert "/v2/translate" in response.text
    assert not re.search(r"<script|https?://", response.text)
    assert "script-src" not in response.headers["content-security-policy"]
    assert "default-src 'none'" in response.headers["content-security-policy"]


def test_every_route_is_described(server):
    paths = server.get("/openapi.json").json()["paths"]
    for path in ("/translate", "/detect", "/languages", "/objectives", "/frontend/settings", "/health", "/ready",
                 "/metrics", "/v2/translate", "/v2/languages", "/v2/usage"):  # fmt: skip
        assert path in paths
