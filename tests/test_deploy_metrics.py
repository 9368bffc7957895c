"""The alert rules and the dashboard for metrics: they name what `/metrics` has."""

import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from searx_mcp.server.counters import Counters, DurationHistogram
from searx_mcp.server.metrics import Gauges

DEPLOY = Path(__file__).parents[1] / "deploy"
RULES = DEPLOY / "prometheus-rules.yaml"
ALERT_TESTS = Path(__file__).parent / "alerts.yaml"
DASHBOARD = DEPLOY / "grafana-dashboard.json"
OF_PROMETHEUS = {"instance", "job", "le"}
OF_THE_PROCESS = {"process_resident_memory_bytes"}


def expressions() -> Iterator[str]:
    """Every expression of the rules and of the dashboard."""
    (group,) = yaml.safe_load(RULES.read_text("utf-8"))["groups"]
    yield from (rule["expr"] for rule in group["rules"])
    dashboard: dict[str, Any] = json.loads(DASHBOARD.read_text("utf-8"))
    for panel in dashboard["panels"]:
        yield from (target["expr"] for target in panel["targets"])
    yield from (each["query"] for each in dashboard["templating"]["list"][1:])


def served() -> dict[str, set[str]]:
    """The labels of each series that `/metrics` has."""
    found = {}
    for each in (*Counters(), *Gauges({})):
        ends = ("_bucket", "_sum", "_count") if isinstance(each, DurationHistogram) else ("",)
        found.update({f"{each.name}{end}": {*each.labels} for end in ends})
    return found


@pytest.mark.parametrize("expression", [*expressions()])
def test_an_expression_names_series_and_labels_that_are_served(expression):
    known = served()
    names = set(re.findall(r"\b(?:searx_mcp|process)_[a-z_]+", expression))
    assert names
    assert names <= known.keys() | OF_THE_PROCESS
    used = set(re.findall(r"([a-z_]+)\s*(?:=~|!~|!=|=)\s*\"", expression))
    grouped = re.findall(r"\b(?:by|on|ignoring) \(([^)]*)\)", expression)
    used |= {label.strip() for labels in grouped for label in labels.split(",")}
    assert used <= set().union(*(known.get(name, set()) for name in names)) | OF_PROMETHEUS


def test_every_metric_of_calls_sources_and_budgets_is_on_the_dashboard():
    text = DASHBOARD.read_text("utf-8")
    left_out = {each.name for each in (*Counters(), *Gauges({})) if each.name not in text}
    assert left_out == {
        *("searx_mcp_probes_total", "searx_mcp_source_state", "searx_mcp_catalog_age_days"),
        *("searx_mcp_corpus_chunks", "searx_mcp_corpus_bytes", "searx_mcp_unread"),
    }


def test_each_alert_has_a_test_in_which_it_fires_and_one_in_which_it_does_not():
    (group,) = yaml.safe_load(RULES.read_text("utf-8"))["groups"]
    cases = [
        (case["alertname"], bool(case.get("exp_alerts")))
        for each in yaml.safe_load(ALERT_TESTS.read_text("utf-8"))["tests"]
        for case in each["alert_rule_test"]
    ]
    assert {*cases} == {
        (rule["alert"], fires) for rule in group["rules"] for fires in (True, False)
    }


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("promtool") is None, reason="promtool is not installed")
def test_alerts_fire_when_they_should_and_only_then():
    command = ["promtool", "test", "rules", str(ALERT_TESTS)]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert ran.returncode == 0, ran.stdout + ran.stderr
