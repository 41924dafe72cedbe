"""The ledger as the Helm chart starts it: real processes on PostgreSQL and S3.

No cluster is here: commands, variables, scripts and probes are those that Helm renders; volumes,
Secrets and addresses are the test's.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx
import pytest

from tequio_ledger.store.bucket import Bucket
from tequio_shared.ids import NetworkId, from_text, sha256, to_text
from tequio_shared.log.tiles import encode_bundle
from tests.support import object_store
from tests.support.authors import Author
from tests.support.chart import Rendered, render
from tests.support.ledgers import ORGANISER
from tests.support.uploads import put_blob

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.support.postgres import Cluster

pytestmark = pytest.mark.whole
VALUES: dict[str, Any] = {
    "image": "registry.example/tequio-ledger@sha256:00",
    "settings": {
        "network": "net1",
        "origin": "ledger.example/net1",
        "organiser": [to_text(ORGANISER.key)],
        "work-bits": 8,
        "blob-quota-mb": 4_194_304,
    },
    "database": {"secret": "database"},
}
VOLUME, KEYS = "/var/lib/tequio", "/keys"
PATIENCE_S = 60.0
BLOB = b"what everybody wants " * 5_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Pod:
    """A running ledger of the chart."""

    process: subprocess.Popen[str]
    url: str
    metrics: str
    net: NetworkId

    def wait_for(self, event: str) -> None:
        """Read its log until the event; fails when the process ends first."""
        assert self.process.stderr is not None
        seen = []
        for line in self.process.stderr:
            seen.append(line)
            if json.loads(line)["event"] == event:
                return
        raise AssertionError(f"no {event!r} in {seen}")


def secrets(cluster_url: str, store: dict[str, str]) -> dict[str, dict[str, str]]:
    names = ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY")
    return {"database": {"url": cluster_url}, "s3": {name: store[name] for name in names}}


def environment(
    container: dict[str, Any], volume: Path, known: dict[str, dict[str, str]]
) -> dict[str, str]:
    """The container's variables, with what Secrets hold; the test's are folder and ports."""
    found = {
        name: os.environ[name] for name in ("PATH", "LANG", "PYTHONPATH") if name in os.environ
    }
    for one in container["env"]:
        if "valueFrom" in one:
            secret = one["valueFrom"]["secretKeyRef"]
            found[one["name"]] = known[secret["name"]][secret["key"]]
        else:
            found[one["name"]] = one["value"].replace(VOLUME, str(volume))
    ports = {one["name"]: str(one["containerPort"]) for one in container["ports"]}
    assert found["TEQUIO_LEDGER_PORT"] == ports["http"]
    assert found["TEQUIO_LEDGER_METRICS_PORT"] == ports["metrics"]
    return {**found, "TEQUIO_LEDGER_PORT": "0", "TEQUIO_LEDGER_METRICS_PORT": "0"}


@contextmanager
def started(
    chart: Rendered, volume: Path, known: dict[str, dict[str, str]], keys: Path | None = None
) -> Iterator[Pod]:
    """Start a pod: its first container's script, then the ledger until it is ready."""
    assert chart.refused is None
    spec = chart.pod()
    for first in spec.get("initContainers", ()):
        script = first["args"][0].replace(KEYS, str(keys)).replace(VOLUME, str(volume))
        subprocess.run([*first["command"], script], check=True, timeout=30)
    (container,) = spec["containers"]
    assert container["command"] == ["/opt/tequio/bin/tequio-ledger"]
    command = [sys.executable, "-m", "tequio_ledger", *container["args"]]
    variables = environment(container, volume, known)
    with subprocess.Popen(
        command, stderr=subprocess.PIPE, text=True, cwd=volume, env=variables
    ) as process:
        try:
            assert process.stderr is not None
            line = process.stderr.readline()
            assert line.startswith("{"), line + process.stderr.read()
            said = json.loads(line)
            assert said["event"] == "tequio-ledger serves"
            pod = Pod(
                process=process,
                url=said["url"].replace("0.0.0.0", "127.0.0.1"),  # noqa: S104 - of the chart
                metrics=said["metrics"].replace("0.0.0.0", "127.0.0.1"),  # noqa: S104
                net=NetworkId(from_text(said["network_id"])),
            )
            for probe in ("startupProbe", "readinessProbe", "livenessProbe"):
                path = container[probe]["httpGet"]["path"]
                assert httpx.get(pod.url + path, timeout=30).status_code == 200
            yield pod
        finally:
            process.kill()
            process.communicate(timeout=30)


def register(pod: Pod, name: str) -> int:
    """Register a key; returns the index of the entry, once a writer took it."""
    entry = Author(name, pod.net).register(time.time_ns() // 1_000_000)
    deadline_s = time.monotonic() + PATIENCE_S
    while True:
        answer = httpx.post(
            f"{pod.url}/v1/statements", content=encode_bundle([entry.leaf()]), timeout=30
        )
        if answer.status_code == 200:
            (item,) = answer.json()["items"]
            assert item["status"] in {"logged", "known"}, item
            return int(item["index"])
        assert time.monotonic() < deadline_s, answer.text
        time.sleep(0.1)


def folders(tmp_path: Path) -> tuple[Path, Path, Path]:
    """Two volumes and the place of the Secret with the keys."""
    found = tmp_path / "volume-0", tmp_path / "volume-1", tmp_path / "keys"
    for one in found:
        one.mkdir()
    return found


def test_the_first_pod_founds_the_network_and_others_take_its_keys_and_its_place(
    tmp_path: Path, cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second, keys = folders(tmp_path)
    with object_store.served_or_skipped() as store, ExitStack() as running:
        place = {
            "url": f"s3://{object_store.BUCKET}/net1",
            "region": store["AWS_REGION"],
            "endpoint": store["AWS_ENDPOINT_URL"],
            "secret": "s3",
        }
        known = secrets(cluster.database(), store)
        with started(render({**VALUES, "blobs": place}), first, known) as founder:
            assert httpx.get(f"{founder.url}/v1/network").json()["name"] == "net1"
            with httpx.Client(base_url=founder.url, timeout=30) as http:
                now_ms = time.time_ns() // 1_000_000
                assert put_blob(http, founder.net, BLOB, now_ms).is_success
            assert register(founder, "first") == 1
            assert "tequio_ledger_leads 1.0" in httpx.get(founder.metrics).text
            for name in ("log.key", "coordinator.key", "log.signed"):  # as NOTES.txt says
                (keys / name).write_bytes((first / "ledger" / name).read_bytes())
        for name, value in store.items():
            monkeypatch.setenv(name, value)
        assert Bucket(place["url"]).get(sha256(BLOB)) == BLOB
        grown = render(
            {**VALUES, "blobs": place, "replicas": 2, "keys": {"secret": "network-keys"}}
        )
        one = running.enter_context(started(grown, first, known, keys))
        other = running.enter_context(started(grown, second, known, keys))
        other.wait_for("follows the log")
        assert "tequio_ledger_leads 0.0" in httpx.get(other.metrics).text
        assert register(other, "second") == 2
        found = httpx.get(f"{other.url}/v1/blobs/{to_text(sha256(BLOB))}", timeout=30)
        assert found.content == BLOB
        one.process.kill()
        other.wait_for("writes the log")
        assert register(other, "third") == 3
        size = int(httpx.get(f"{other.url}/log/checkpoint").text.split("\n")[1])
        assert size >= 3, "signed by the one that took over"


def test_a_database_in_the_cluster_takes_the_password_of_its_secret(
    tmp_path: Path, cluster: Cluster
) -> None:
    url = cluster.database()
    name = url.rpartition("/")[2]
    cluster.sql("CREATE ROLE sealed LOGIN PASSWORD 'a@b:/?'")
    cluster.sql(f"ALTER DATABASE {name} OWNER TO sealed")
    ((rules,),) = cluster.sql("SHOW hba_file")
    file = Path(str(rules))
    file.write_text(f"host {name} sealed 127.0.0.1/32 scram-sha-256\n{file.read_text()}")
    cluster.sql("SELECT pg_reload_conf()")
    values = {
        **VALUES,
        "database": {},
        "postgresql": {"enabled": True, "image": "postgres@sha256:00", "secret": "postgresql"},
    }
    chart = render(values)
    service = chart.one("Service", "tequio-ledger-postgresql")
    host = service["metadata"]["name"]
    variables = chart.pod()["containers"][0]["env"]
    (database,) = [one for one in variables if one["name"] == "TEQUIO_LEDGER_DATABASE"]
    asked = {one["name"]: one for one in chart.pod(host)["containers"][0]["env"]}
    user, made = asked["POSTGRES_USER"]["value"], asked["POSTGRES_DB"]["value"]
    assert database["value"] == f"postgresql+psycopg://{user}@{host}/{made}"
    database["value"] = f"postgresql+psycopg://sealed@127.0.0.1:{cluster.port}/{name}"
    with started(chart, tmp_path, {"postgresql": {"password": "a@b:/?"}}) as pod:
        assert register(pod, "first") == 1
    refused = subprocess.run(
        [sys.executable, "-m", "tequio_ledger", "serve"],
        env=environment(
            chart.pod()["containers"][0], tmp_path, {"postgresql": {"password": "wrong"}}
        ),
        check=False,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert refused.returncode == 1
    assert "password" in refused.stderr


def test_variables_that_kubernetes_makes_of_a_service_would_stop_the_ledger(
    tmp_path: Path, cluster: Cluster
) -> None:
    """The reason for `enableServiceLinks: false`."""
    (container,) = render(VALUES).pod()["containers"]
    variables = environment(container, tmp_path, {"database": {"url": cluster.database()}})
    linked = {**variables, "TEQUIO_LEDGER_SERVICE_HOST": "10.0.0.1"}
    command = [sys.executable, "-m", "tequio_ledger", "serve"]
    done = subprocess.run(
        command, env=linked, check=False, capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 1
    assert "TEQUIO_LEDGER_SERVICE_HOST" in done.stderr
