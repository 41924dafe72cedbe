"""Grafana dashboards and alerting rules, and the metrics that they ask for."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING

from prometheus_client.parser import text_string_to_metric_families

if TYPE_CHECKING:
    from collections.abc import Iterator

INSTALLER = Path(__file__).parents[2] / "installer"


def targets(name: str) -> Iterator[dict[str, str]]:
    """Queries of a dashboard, whose panels have different numbers."""
    dashboard = json.loads((INSTALLER / name).read_text("utf-8"))
    numbers = [panel["id"] for panel in dashboard["panels"]]
    assert len(set(numbers)) == len(numbers)
    for panel in dashboard["panels"]:
        yield from panel.get("targets", ())


def metrics_in(expr: str) -> set[str]:
    """Names in a PromQL expression that no bracket follows and no label list holds."""
    bare = re.sub(r"\{[^}]*\}|\[[^]]*\]|\bby \([^)]*\)", "", expr)
    words = re.findall(r"[a-z_]+(?![a-z_ ]*\()", bare)
    return {word for word in words if "_" in word or word == "up"}


def values(text: str) -> dict[tuple[str, ...], float]:
    """Read an answer of /metrics: each value by its series' name and the values of its labels."""
    return {
        (sample.name, *sample.labels.values()): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def declared(text: str) -> set[str]:
    """Names of the series that an answer of /metrics declares."""
    known = set[str]()
    for name, kind in re.findall(r"^# TYPE (\S+) (\S+)$", text, re.MULTILINE):
        histogram = {f"{name}_bucket", f"{name}_sum", f"{name}_count"}
        known |= histogram if kind == "histogram" else {name}
    return known
