"""The dashboard asks for what the service tells: every metric and label is looked for in /metrics."""

import json
import re
from pathlib import Path

import pytest
import yaml
from prometheus_client.parser import text_string_to_metric_families

DOCKER = Path(__file__).parents[2] / "docker"
DASHBOARD = json.loads((DOCKER / "grafana" / "dashboards" / "nudge.json").read_text(encoding="utf-8"))
PANELS = [panel for panel in DASHBOARD["panels"] if panel["type"] != "row"]
EXPRESSIONS = [(panel["title"], target["expr"]) for panel in PANELS for target in panel["targets"]]

# Prometheus adds these to every series.
SCRAPE_LABELS = {"instance", "job"}


@pytest.fixture(scope="module")
def told(server):
    """Name of each sample the service tells -> its labels, after traffic of every kind."""
    for parameters in ({}, {"objective": "bleu"}, {"decoder": "beam"}):
        server.translate("Ta netu.", **parameters)
    before = server.metric("nudge_refused_total", code="unsupported_language")
    server.post("/translate", json={"q": "a", "target": "nowhere"})
    assert server.metric("nudge_refused_total", code="unsupported_language") == before + 1
    labels: dict[str, set[str]] = {}
    for family in text_string_to_metric_families(server.get("/metrics").text):
        for sample in family.samples:
            labels.setdefault(sample.name, set()).update(sample.labels)
    return labels


@pytest.mark.parametrize(("title", "expression"), EXPRESSIONS)
def test_every_metric_and_label_of_a_panel_exists(told, title, expression):
    metrics = set(re.findall(r"\b(?:nudge|process)_\w+", expression))
    assert metrics or "up{" in expression
    assert metrics <= set(told), f"{title}: {metrics - set(told)}"
    grouped = {label.strip() for group in re.findall(r"\bby \(([^)]*)\)", expression) for label in group.split(",")}
    matched = set(re.findall(r'[{,]\s*(\w+)\s*(?:=~|!~|!=|=)\s*"', expression))
    for metric in metrics:
        assert grouped | matched <= told[metric] | SCRAPE_LABELS, f"{title}: {metric}"


@pytest.mark.parametrize("panel", PANELS, ids=lambda panel: panel["title"])
def test_a_legend_names_only_labels_that_are_left(panel):
    for target in panel["targets"]:
        legend = set(re.findall(r"\{\{(\w+)\}\}", target["legendFormat"]))
        grouped = {
            part.strip() for group in re.findall(r"\bby \(([^)]*)\)", target["expr"]) for part in group.split(",")
        }
        assert legend <= grouped | SCRAPE_LABELS


def test_what_was_promised_is_shown():
    shown = " ".join(expression for _, expression in EXPRESSIONS)
    for metric in (
        "nudge_translation_seconds_bucket",
        "nudge_translated_tokens_total",
        "nudge_batch_rows_bucket",
        "nudge_queued_sentences",
        "nudge_decode_seconds_total",
    ):
        assert metric in shown
    titles = {panel["title"] for panel in PANELS}
    assert {"p50", "p95", "p99", "Batch size", "Queue", "Overhead of the actor against plain greedy"} <= titles


def test_panels_have_places_of_their_own():
    assert len({panel["id"] for panel in DASHBOARD["panels"]}) == len(DASHBOARD["panels"])
    taken: set[tuple[int, int]] = set()
    for panel in DASHBOARD["panels"]:
        place = panel["gridPos"]
        cells = {
            (x, y)
            for x in range(place["x"], place["x"] + place["w"])
            for y in range(place["y"], place["y"] + place["h"])
        }
        assert not cells & taken, panel["title"]
        assert place["x"] + place["w"] <= 24
        taken |= cells


def test_dashboard_data_source_and_scraper_fit_together():
    (source,) = yaml.safe_load((DOCKER / "grafana/provisioning/datasources/prometheus.yml").read_text())["datasources"]
    used = {target["datasource"]["uid"] for panel in PANELS for target in panel["targets"]}
    assert used == {source["uid"]}
    compose = yaml.safe_load((DOCKER.parent / "docker-compose.yml").read_text(encoding="utf-8"))
    assert source["url"].removeprefix("http://").split(":")[0] in compose["services"]
    (scrape,) = yaml.safe_load((DOCKER / "prometheus" / "prometheus.yml").read_text())["scrape_configs"]
    assert scrape["dns_sd_configs"][0]["names"] == ["service"]
    assert f'job="{scrape["job_name"]}"' in " ".join(expression for _, expression in EXPRESSIONS)
