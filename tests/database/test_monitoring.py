"""The dashboard and the alert rules ask for metrics that there are.

``promtool test rules tests/database/alerts_test.yml``, of Prometheus, says what the rules do.
"""

import json
import re
from pathlib import Path

import pytest
import yaml

from lance_explorer.database.metrics import METRICS

FOLDER = Path(__file__).resolve().parents[2] / "docs" / "monitoring"
LABELS = {metric.name: {*metric.labels} for metric in METRICS}
_SELECTED = re.compile(r"(lance_\w+)(?:\{([^}]*)\})?")


def expressions() -> list[str]:
    rules = yaml.safe_load((FOLDER / "alerts.yml").read_text(encoding="utf-8"))
    dashboard = json.loads((FOLDER / "dashboard.json").read_text(encoding="utf-8"))
    asked = [rule["expr"] for group in rules["groups"] for rule in group["rules"]]
    asked += [target["expr"] for panel in dashboard["panels"] for target in panel["targets"]]
    return asked


@pytest.mark.parametrize("expression", expressions())
def test_each_expression_asks_for_metrics_and_labels_that_there_are(expression: str) -> None:
    selected = _SELECTED.findall(expression)
    assert selected
    for name, matchers in selected:
        assert {one.split("=")[0].strip() for one in matchers.split(",") if one} <= LABELS[name]


def test_the_rules_that_are_tested_are_those_there_are() -> None:
    rules = yaml.safe_load((FOLDER / "alerts.yml").read_text(encoding="utf-8"))
    known = {rule["alert"] for group in rules["groups"] for rule in group["rules"]}
    cases = yaml.safe_load(Path(__file__).with_name("alerts_test.yml").read_text(encoding="utf-8"))
    tested = {case["alertname"] for test in cases["tests"] for case in test["alert_rule_test"]}
    assert known - tested == {"LanceDatabaseUnreadable"}  # as LanceTableUnreadable
