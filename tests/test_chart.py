"""The Helm chart gives Kubernetes what it takes, and the programs what they read."""

from __future__ import annotations

import json
import re
import subprocess
from ipaddress import ip_network
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import yaml

from tequio_ledger.config.settings import LEDGER, LedgerSettings
from tequio_ledger.config.sources import settings_of
from tequio_shared.ids import to_text
from tequio_shared.version import BUILD
from tests.support import chart
from tests.support.chart import CHART, RELEASE, ROOT, Rendered, render
from tests.support.command_lines import unknown_options
from tests.support.configured import of_texts
from tests.support.ledgers import ORGANISER

SCHEMA: dict[str, Any] = json.loads((CHART / "values.schema.json").read_text("utf-8"))
DOCKERFILE = (ROOT / "installer" / "Dockerfile").read_text("utf-8").replace("\\\n", " ")
SMALLEST: dict[str, Any] = {
    "image": "registry.example/tequio-ledger@sha256:00",
    "settings": {"origin": "ledger.example/net1", "organiser": [to_text(ORGANISER.key)]},
}
PRODUCTION: dict[str, Any] = {
    **SMALLEST,
    "replicas": 3,
    "settings": {
        **SMALLEST["settings"],
        "trusted-proxy": ["10.0.0.0/8", "fd00::/8"],
        "blob-quota-mb": 4_194_304,
        "log-level": "warning",
    },
    "keys": {"secret": "keys"},
    "database": {"secret": "database"},
    "blobs": {
        "url": "s3://tequio/net1",
        "region": "eu-1",
        "endpoint": "https://s3.example",
        "secret": "s3",
    },
    "trust": {"policy": "witness one KEY https://one.example\nquorum one\n"},
    "webhooks": {"secret": "webhooks"},
    "imagePullSecrets": ["registry"],
    "storage": {"className": "fast"},
    "service": {"type": "LoadBalancer", "annotations": {"a": "b"}},
    "ingress": {
        "enabled": True,
        "className": "nginx",
        "host": "ledger.example",
        "tlsSecret": "certificate",
        "annotations": {"nginx.ingress.kubernetes.io/proxy-body-size": "64m"},
    },
    "metrics": {"serviceMonitor": True, "rules": True, "labels": {"release": "prometheus"}},
    "networkPolicy": {
        "enabled": True,
        "from": [{"namespaceSelector": {}}],
        "metricsFrom": [{"podSelector": {"matchLabels": {"app": "prometheus"}}}],
    },
    "serviceAccount": {"annotations": {"eks.amazonaws.com/role-arn": "arn"}},
    "podAnnotations": {"c": "d"},
    "nodeSelector": {"disk": "fast"},
    "tolerations": [{"operator": "Exists"}],
    "affinity": {"nodeAffinity": {}},
    "seed": {
        "enabled": True,
        "image": "registry.example/tequio-seed@sha256:00",
        "announce": "/dns4/seed.example/tcp/8610",
    },
}
TRIAL: dict[str, Any] = {
    **SMALLEST,
    "postgresql": {"enabled": True, "image": "postgres@sha256:00", "secret": "postgresql"},
    "networkPolicy": {"enabled": True},
}
MAINTENANCE: dict[str, Any] = {**PRODUCTION, "maintenance": True}
EVERY = {
    "smallest": SMALLEST,
    "production": PRODUCTION,
    "trial": TRIAL,
    "maintenance": MAINTENANCE,
}
OLDEST, NEWEST = "1.25", "1.37"
ELSEWHERE = {"PGPASSWORD"}  # libpq's
STORE = {
    "AWS_REGION",
    "AWS_ENDPOINT_URL",
    "AWS_ALLOW_HTTP",
    "AWS_ACCESS_KEY_ID",
    "AWS_SECRET_ACCESS_KEY",
}
"""Variables of the object store: tests/whole/test_chart.py uses all of them."""


@pytest.fixture(scope="module")
def production() -> Rendered:
    return render(PRODUCTION)


def variables(rendered: Rendered) -> dict[str, Any]:
    """Every variable of the ledger's container, with its value or None if a Secret has it."""
    (container,) = rendered.pod()["containers"]
    names = [one["name"] for one in container["env"]]
    assert len(set(names)) == len(names)
    return {one["name"]: one.get("value") for one in container["env"]}


@pytest.mark.parametrize("values", EVERY.values(), ids=EVERY)
def test_helm_and_kubernetes_find_nothing_wrong(values: dict[str, Any]) -> None:
    found = render(values, OLDEST, NEWEST)
    assert (found.refused, found.lint, found.invalid) == (None, [], [])
    assert found.made


def test_what_kubernetes_would_not_take_is_found() -> None:
    found = render({**SMALLEST, "resources": {"request": {}}}, NEWEST)
    assert len(found.invalid) == 1
    assert "request" in found.invalid[0]


@pytest.mark.parametrize("values", EVERY.values(), ids=EVERY)
def test_every_variable_is_a_setting_or_known_to_a_library(values: dict[str, Any]) -> None:
    names = set(variables(render(values)))
    ours = {name for name in names if name.startswith(LEDGER.prefix)}
    assert ours <= {LEDGER.variable(one.name) for one in settings_of(LedgerSettings)}
    assert names - ours <= ELSEWHERE | STORE


def test_every_setting_of_the_ledger_can_be_set_and_only_once(production: Rendered) -> None:
    free = SCHEMA["properties"]["settings"]["properties"].keys()
    made = variables(production).keys() - {LEDGER.variable(one) for one in free}
    for one in settings_of(LedgerSettings):
        assert (one.name in free) + (LEDGER.variable(one.name) in made) == (one.name != "signer")


def test_the_schema_has_the_bounds_of_the_settings() -> None:
    free = SCHEMA["properties"]["settings"]["properties"]
    for one in settings_of(LedgerSettings):
        if one.name not in free:
            continue
        if one.is_list:
            assert free[one.name] == {"type": "array", "items": {"type": "string"}}
        elif one.choices:
            assert free[one.name] == {"enum": list(one.choices)}
        elif one.kind is int:
            least, most = free[one.name]["minimum"], free[one.name]["maximum"]
            assert one.expected == f"a whole number from {least} to {most}"
        else:
            assert free[one.name] == {"type": "string"}


def test_the_values_are_those_of_the_schema() -> None:
    def names(schema: dict[str, Any], before: str = "") -> set[str]:
        inside = schema.get("properties") if before != "settings." else None
        if not inside:
            return {before.removesuffix(".")}
        return {name for key, one in inside.items() for name in names(one, f"{before}{key}.")}

    said = {name for name in chart.described() if not name.startswith("settings.")}
    assert names(SCHEMA) == said | {"settings", "global"}
    assert SCHEMA["additionalProperties"] is False


def test_the_ledger_reads_what_the_values_say(production: Rendered) -> None:
    given = {
        one.name: value
        for one in settings_of(LedgerSettings)
        if (value := variables(production).get(LEDGER.variable(one.name))) is not None
    }
    settings = of_texts(LEDGER, given)
    assert settings.organisers == (ORGANISER.key,)
    assert settings.blob_quota_mb == 4_194_304, "not 4.194304e+06"
    assert settings.trusted_proxies == (ip_network("10.0.0.0/8"), ip_network("fd00::/8"))
    assert (settings.port, settings.metrics_port) == (8_600, 8_602)


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({"image": ""}, "build and push the ledger's image"),
        ({"settings": {"organiser": ["key"]}}, "settings.origin"),
        ({"settings": {"origin": "ledger.example/net1"}}, "settings.organiser"),
        ({"settings": {**SMALLEST["settings"], "key-rat": 1}}, "key-rat"),
        ({"settings": {**SMALLEST["settings"], "signer": "/run/socket"}}, "signer"),
        ({"settings": {**SMALLEST["settings"], "threshold": 0}}, "/settings/threshold"),
        ({"replicas": 2}, "database.secret"),
        ({"replicas": 2, "database": {"secret": "a"}}, "blobs.url"),
        ({"replicas": 2, "database": {"secret": "a"}, "blobs": {"url": "s3://a/b"}}, "keys.secret"),
        ({**TRIAL, "database": {"secret": "a"}}, "exclude each other"),
        ({"postgresql": {"enabled": True, "secret": "a"}}, "postgresql.image"),
        ({"postgresql": {"enabled": True, "image": "a"}}, "postgresql.secret"),
        ({"blobs": {"url": "file:///shared"}}, "/blobs/url"),
        ({"seed": {"enabled": True}}, "seed.image"),
        ({"seed": {"enabled": True, "image": "seed"}}, "seed.announce"),
        ({"ingress": {"enabled": True}}, "ingress.host"),
        ({"metrics": {"enabled": False, "serviceMonitor": True}}, "metrics.enabled"),
        ({"replica": 3}, "replica"),
    ],
)
def test_values_that_cannot_work_are_refused_with_the_value_to_change(
    changed: dict[str, Any], told: str
) -> None:
    refused = render({**SMALLEST, **changed}).refused
    assert refused is not None
    assert told in refused


@pytest.mark.parametrize("values", EVERY.values(), ids=EVERY)
def test_no_container_may_do_more_than_it_needs(values: dict[str, Any]) -> None:
    found = render(values)
    pods = [one["spec"]["template"]["spec"] for one in found.made if one["kind"] == "StatefulSet"]
    assert pods
    for pod in pods:
        assert pod["enableServiceLinks"] is False, "TEQUIO_LEDGER_PORT would be set by a Service"
        assert pod["automountServiceAccountToken"] is False
        assert pod["securityContext"]["runAsNonRoot"] is True
        assert pod["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
        assert pod["securityContext"]["fsGroupChangePolicy"] == "OnRootMismatch"
        for container in [*pod["containers"], *pod.get("initContainers", ())]:
            assert container["securityContext"] == {
                "allowPrivilegeEscalation": False,
                "readOnlyRootFilesystem": True,
                "capabilities": {"drop": ["ALL"]},
            }
            mounts = {one["name"] for one in container["volumeMounts"]}
            assert mounts <= {one["name"] for one in pod["volumes"]} | {"data"}


def test_the_folder_is_below_the_volume_whose_mode_kubernetes_changes(production: Rendered) -> None:
    folder = Path(variables(production)["TEQUIO_LEDGER_DIR"])
    (container,) = production.pod()["containers"]
    mounts = {one["name"]: one["mountPath"] for one in container["volumeMounts"]}
    assert str(folder.parent) == mounts["data"]
    assert f"folder={folder}\n" in production.pod()["initContainers"][0]["args"][0]


def test_the_images_have_the_user_and_the_programs_that_the_chart_starts(
    production: Rendered,
) -> None:
    (uid,) = set(re.findall(r"^USER (\S+)$", DOCKERFILE, re.MULTILINE))
    for name in ("ledger", "seed"):
        pod = production.pod(RELEASE if name == "ledger" else f"{RELEASE}-seed")
        assert pod["securityContext"]["runAsUser"] == int(uid)
        (container,) = pod["containers"]
        command = [*container["command"], *container["args"]]
        assert unknown_options(command) == []
        stage = DOCKERFILE.partition(f" AS {name}\n")[2].partition("\nFROM ")[0]
        (entry,) = re.findall(r"^ENTRYPOINT (\[.*\])$", stage, re.MULTILINE)
        assert (
            command[: len(container["command"])]
            == yaml.safe_load(entry)[: len(container["command"])]
        )
        assert f"EXPOSE {container['ports'][0]['containerPort']}\n" in stage


def test_the_seed_talks_to_the_ledgers_own_service(production: Rendered) -> None:
    service = production.one("Service")
    (port,) = service["spec"]["ports"]
    words = production.pod(f"{RELEASE}-seed")["containers"][0]["args"]
    assert f"--ledger=http://{service['metadata']['name']}:{port['port']}" in words
    assert "--public-only" in words


@pytest.mark.parametrize("values", EVERY.values(), ids=EVERY)
def test_services_policies_and_budgets_select_pods_that_exist(values: dict[str, Any]) -> None:
    found = render(values)
    sets = [one for one in found.made if one["kind"] == "StatefulSet"]
    labels = [one["spec"]["template"]["metadata"]["labels"].items() for one in sets]
    for one in sets:
        assert one["spec"]["selector"]["matchLabels"].items() <= (
            one["spec"]["template"]["metadata"]["labels"].items()
        )
        found.one("Service", one["spec"]["serviceName"])
    for one in found.made:
        spec = one.get("spec", {})
        chosen = {
            "Service": spec.get("selector"),
            "PodDisruptionBudget": spec.get("selector", {}).get("matchLabels"),
            "NetworkPolicy": spec.get("podSelector", {}).get("matchLabels"),
        }.get(one["kind"])
        if chosen is not None:
            assert sum(chosen.items() <= pod for pod in labels) == 1, one["metadata"]["name"]


def test_prometheus_gets_the_job_of_the_rules_and_the_rules_themselves(
    production: Rendered,
) -> None:
    monitor = production.one("ServiceMonitor")
    pods = production.one("Service", f"{RELEASE}-pods")
    assert monitor["metadata"]["labels"]["release"] == "prometheus"
    assert monitor["spec"]["selector"]["matchLabels"].items() <= pods["metadata"]["labels"].items()
    (named,) = monitor["spec"]["endpoints"]
    assert named["port"] in [one["name"] for one in pods["spec"]["ports"]]
    rules = yaml.safe_load((ROOT / "installer" / "alerts.yml").read_text("utf-8"))
    assert production.one("PrometheusRule")["spec"] == rules
    job = pods["metadata"]["labels"][monitor["spec"]["jobLabel"]]
    assert f'job="{job}"' in rules["groups"][0]["rules"][0]["expr"]


def test_the_metrics_are_not_where_strangers_come(production: Rendered) -> None:
    (port,) = production.one("Service")["spec"]["ports"]
    assert port["targetPort"] == "http"
    strangers, scrapers = production.one("NetworkPolicy")["spec"]["ingress"]
    assert [one["port"] for one in strangers["ports"]] == ["http"]
    assert scrapers["from"] == PRODUCTION["networkPolicy"]["metricsFrom"]
    alone = render({**SMALLEST, "networkPolicy": {"enabled": True}})
    assert len(alone.one("NetworkPolicy")["spec"]["ingress"]) == 1


def test_maintenance_stops_the_ledger_and_keeps_one_folder_open() -> None:
    found = render(MAINTENANCE)
    assert found.one("StatefulSet")["spec"]["replicas"] == 1
    (container,) = found.pod()["containers"]
    command = [one.replace("sleep infinity", "kill $$") for one in container["command"]]
    # Killed by the signal without a trap, and a container's first process would ignore it.
    assert subprocess.run(command, check=False, timeout=30).returncode >= 0
    assert not {"livenessProbe", "startupProbe", "args"} & container.keys()
    assert variables(found) == variables(render(PRODUCTION))
    wait, run, replace = (one.strip() for one in found.notes.splitlines() if "kubectl" in one)
    assert wait == "kubectl -n net rollout status statefulset/tequio-ledger"
    assert unknown_options(run.partition(" -- ")[2].split()) == []
    # In order, Kubernetes replaces no pod that never became ready: somebody has to delete it.
    assert found.one("StatefulSet")["spec"]["podManagementPolicy"] == "OrderedReady"
    assert replace == "kubectl -n net delete pod tequio-ledger-0"
    assert "kubectl --namespace net1 delete pod tequio-ledger-0" in chart.PAGE.read_text("utf-8")


def test_the_keys_of_a_folder_are_kept_and_an_empty_folder_gets_those_of_the_secret(
    tmp_path: Path, production: Rendered
) -> None:
    keys, volume = tmp_path / "keys", tmp_path / "volume"
    folder = volume / "ledger"
    keys.mkdir()
    volume.mkdir()
    (script,) = production.pod()["initContainers"][0]["args"]
    script = script.replace("/keys", str(keys)).replace("/var/lib/tequio", str(volume))

    def run() -> int:
        return subprocess.run(["/bin/sh", "-euc", script], check=False, timeout=30).returncode

    for name in ("coordinator.key", "log.key"):
        (keys / name).write_text("of the secret")
        (keys / name).chmod(0o440)
    assert run() != 0, "log.signed is missing"
    assert not (folder / "log.key").exists()
    (keys / "log.signed").write_text("of the secret")
    assert run() == 0
    names = ["coordinator.key", "log.key", "log.signed"]
    assert sorted(one.name for one in folder.iterdir()) == names
    assert {one.stat().st_mode & 0o777 for one in folder.iterdir()} == {0o600}
    assert folder.stat().st_mode & 0o777 == 0o700
    (folder / "log.signed").write_text("of the folder")
    assert run() == 0
    assert (folder / "log.signed").read_text() == "of the folder"


def test_the_chart_is_of_this_version() -> None:
    said = yaml.safe_load((CHART / "Chart.yaml").read_text("utf-8"))
    assert (said["version"], said["appVersion"]) == (BUILD, BUILD)


def test_every_value_is_explained_in_the_document() -> None:
    described = chart.described()
    assert [name for name, (_, text) in described.items() if not text] == []
    text = chart.PAGE.read_text("utf-8")
    assert text == chart.page_with_values(text), "run: python -m tests.support.chart"


def test_the_document_waits_for_each_upgrade_before_the_next_command() -> None:
    """Helm returns at once: until the pods are replaced, commands reach the former ones."""
    text = chart.PAGE.read_text("utf-8").partition("## Maintenance")[2].partition("\n## ")[0]
    blocks = re.findall(r"^```sh\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    lines = "".join(blocks).splitlines()
    following = [after for one, after in pairwise([*lines, ""]) if one.startswith("helm upgrade")]
    assert following == ["kubectl --namespace net1 rollout status statefulset/tequio-ledger"] * 3


def test_the_values_that_the_document_shows_make_a_ledger() -> None:
    text = chart.PAGE.read_text("utf-8").replace("KEY", to_text(ORGANISER.key))
    (block,) = re.findall(r"^```yaml\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    values = yaml.safe_load(block)
    found = render(values, NEWEST)
    assert (found.refused, found.lint, found.invalid) == (None, [], [])
    (word,) = re.findall(r"`(postgresql: .*)` in `trial\.yaml`", text)
    without = {name: one for name, one in values.items() if name not in {"database", "blobs"}}
    assert render({**without, **yaml.safe_load(word)}).refused is None


def test_the_files_of_the_keys_are_those_that_the_document_and_the_notes_copy(
    production: Rendered,
) -> None:
    (script,) = production.pod()["initContainers"][0]["args"]
    (names,) = re.findall(r"for name in (.*); do", script)
    notes = render(SMALLEST).notes
    for text in (chart.PAGE.read_text("utf-8"), notes):
        (copied,) = re.findall(r"for file in (.*); do", text)
        stored = re.findall(r"--from-file=(\S+\.\S+)", text)
        assert set(copied.split()) == set(stored) == set(names.split())
        assert variables(production)["TEQUIO_LEDGER_DIR"] + "/$file" in text
    assert "for file in" not in production.notes, "they are in a Secret already"


def test_the_values_name_all_settings_that_they_leave_out() -> None:
    text = (CHART / "values.yaml").read_text("utf-8").replace("\n# ", " ")
    (listed,) = re.findall(r"Besides these: ([a-z, -]+)\.", text)
    free = SCHEMA["properties"]["settings"]["properties"].keys()
    shown = yaml.safe_load((CHART / "values.yaml").read_text("utf-8"))["settings"].keys()
    assert set(listed.split(", ")) == free - shown
