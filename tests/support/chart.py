"""The Helm chart, rendered and checked by Helm's own library, which has an environment of its own.

Another interpreter runs it, as Helm and the schemas of Kubernetes want other packages than we do.
"""

from __future__ import annotations

import json
import re
import subprocess
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import yaml

ROOT = Path(__file__).parents[2]
CHART = ROOT / "installer" / "helm" / "tequio-ledger"
RELEASE = "tequio-ledger"
PAGE = ROOT / "docs" / "kubernetes.md"
BEGIN, END = "<!-- values -->\n", "<!-- end of values -->\n"
_PROGRAM = ROOT / ".venv" / "helm" / "bin" / "python"
_RENDER = """
import json, sys
import helm_python, kubernetes_validate, yaml
from helm_python import chart
path, release, values, versions = json.loads(sys.stdin.read())
found = {"texts": {}, "lint": [], "refused": None, "invalid": []}
try:
    with chart.Chart.load(path) as opened:
        opened.validate_schema(values)
        found["texts"] = opened.render(values, name=release, namespace="net")
except helm_python.HelmError as err:
    found["refused"] = str(err)
report = chart.lint(path, values, strict=True)
found["lint"] = [one["error"] for one in report["messages"] if one["severity"] > 1]
for name, text in found["texts"].items():
    if not name.endswith(".txt"):
        for made in filter(None, yaml.safe_load_all(text)):
            if made["apiVersion"].startswith("monitoring.coreos.com/"):
                continue  # the Prometheus operator's, not Kubernetes' own
            for version in versions:
                try:
                    kubernetes_validate.validate(made, version, strict=True)
                except kubernetes_validate.ValidationError as err:
                    found["invalid"].append(f"{made['kind']} in {version}: {err}")
print(json.dumps(found))
"""


class Rendered(NamedTuple):
    """Result of rendering the chart with some values."""

    made: list[dict[str, Any]]
    """The objects that Kubernetes gets."""
    notes: str
    """The text that Helm prints after an installation."""
    refused: str | None
    """Error of the schema or of a template; None when there is none."""
    lint: list[str]
    """Warnings and errors of `helm lint --strict`."""
    invalid: list[str]
    """Differences from the strict schemas of the versions of Kubernetes that were named."""

    def one(self, kind: str, name: str = RELEASE) -> dict[str, Any]:
        """Find an object; fails unless there is exactly one."""
        (found,) = [
            one for one in self.made if (one["kind"], one["metadata"]["name"]) == (kind, name)
        ]
        return found

    def pod(self, name: str = RELEASE) -> dict[str, Any]:
        """Give the pod of a StatefulSet."""
        spec: dict[str, Any] = self.one("StatefulSet", name)["spec"]["template"]["spec"]
        return spec


def render(values: dict[str, Any], *versions: str) -> Rendered:
    """Render the chart, and check the objects against Kubernetes' schemas; skips without Helm."""
    if not _PROGRAM.exists():
        pytest.skip("no Helm: `installer/setup.sh tools` brings its library")
    found = json.loads(_answer(json.dumps([str(CHART), RELEASE, values, versions])))
    texts = found["texts"]
    made = [
        one
        for name, text in texts.items()
        if not name.endswith(".txt")
        for one in yaml.safe_load_all(text)
        if one
    ]
    notes = "".join(text for name, text in texts.items() if name.endswith("NOTES.txt"))
    return Rendered(made, notes, found["refused"], found["lint"], found["invalid"])


@cache
def _answer(asked: str) -> str:
    command = [str(_PROGRAM), "-c", _RENDER]
    done = subprocess.run(
        command, input=asked, check=True, capture_output=True, text=True, timeout=120
    )
    return done.stdout


def page_with_values(text: str) -> str:
    """Put the table of the chart's values into the text of its page."""
    before, _, rest = text.partition(BEGIN)
    return before + BEGIN + _table() + END + rest.partition(END)[2]


def described() -> dict[str, tuple[str, str]]:
    """Give each value's default, as JSON, and the comment above it in values.yaml."""
    found: dict[str, tuple[str, str]] = {}
    path: list[str] = []
    comment: list[str] = []
    for line in (CHART / "values.yaml").read_text("utf-8").splitlines():
        word = line.strip()
        if word.startswith("#"):
            comment.append(word.removeprefix("# "))
            continue
        match = re.fullmatch(r"( *)([\w-]+):(.*)", line)
        if match:
            del path[len(match[1]) // 2 :]
            path.append(match[2])
            if match[3]:
                default = json.dumps(yaml.safe_load(match[3]))
                found[".".join(path)] = default, " ".join(comment)
        comment.clear()
    return found


def _table() -> str:
    rows = ["| value | default | meaning |", "|---|---|---|"]
    rows += [
        f"| `{name}` | `{default}` | {text} |" for name, (default, text) in described().items()
    ]
    return "\n".join(rows) + "\n"


def main() -> None:
    """Write the page with the current table: `python -m tests.support.chart`."""
    PAGE.write_text(page_with_values(PAGE.read_text("utf-8")), "utf-8")


if __name__ == "__main__":
    main()
