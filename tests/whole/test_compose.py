"""The services of installer/compose.yaml, with their own options and variables, as real processes.

No container is here: programs, variables and words are those of the file and of the images, the
folders and ports are the test's.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx
import pytest
import yaml

from tequio_client.demo.programs import free_port
from tequio_shared.ids import to_text
from tests.support.ledgers import ORGANISER

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.support.postgres import Cluster

pytestmark = pytest.mark.whole
INSTALLER = Path(__file__).parents[2] / "installer"
PATIENCE_S = 120


@contextmanager
def running(words: list[str], **environ: str) -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, "-m", *words]
    kept = {name: value for name, value in os.environ.items() if not name.startswith("TEQUIO")}
    with subprocess.Popen(
        command, stderr=subprocess.PIPE, text=True, env={**kept, **environ}
    ) as process:
        try:
            yield process
        finally:
            process.terminate()
            process.communicate(timeout=30)


def services(asked: dict[str, str]) -> dict[str, Any]:
    """The services, with what they ask for put in, and their defaults."""
    text = (INSTALLER / "compose.yaml").read_text("utf-8")
    found: dict[str, Any] = _filled(yaml.safe_load(text), asked)["services"]
    return found


def _filled(node: Any, asked: dict[str, str]) -> Any:  # noqa: ANN401 - whatever YAML can be
    match node:
        case dict():
            return {name: _filled(value, asked) for name, value in node.items()}
        case list():
            return [_filled(value, asked) for value in node]
        case str():
            return re.sub(r"\$\{(\w+):[-?]([^}]*)\}", lambda one: asked.get(one[1], one[2]), node)
        case _:
            return node


def of_image() -> dict[str, str]:
    """Variables of the ledger's image."""
    text = (INSTALLER / "Dockerfile").read_text("utf-8").replace("\\\n", " ")
    return dict(re.findall(r"\b(TEQUIO_LEDGER_\w+)=(\S+)", text))


def test_the_ledger_founds_its_network_in_postgresql_and_the_seed_finds_it(
    tmp_path: Path, cluster: Cluster
) -> None:
    address = f"/ip4/127.0.0.1/tcp/{free_port()}"
    asked = {
        "POSTGRES_PASSWORD": "a-word",
        "ORIGIN": "ledger.example/net1",
        "ORGANISER": to_text(ORGANISER.key),
        "SEED_ADDRESS": address,
        "TRUSTED_PROXY": "172.31.86.1/32",
    }
    composed = services(asked)
    environ = {**of_image(), **composed["ledger"]["environment"]}
    assert "tequio:a-word@postgres/tequio" in environ["TEQUIO_LEDGER_DATABASE"]
    here = {
        "TEQUIO_LEDGER_DATABASE": cluster.database(),
        "TEQUIO_LEDGER_DIR": str(tmp_path / "ledger"),
        "TEQUIO_LEDGER_PORT": "0",
        "TEQUIO_LEDGER_METRICS_PORT": "0",
    }
    command = ["tequio_ledger", *composed["ledger"]["command"]]
    with running(command, **{**environ, **here}) as ledger:
        assert ledger.stderr is not None
        line = ledger.stderr.readline()
        assert line.startswith("{"), line + ledger.stderr.read()
        url = json.loads(line)["url"].replace("0.0.0.0", "127.0.0.1")  # noqa: S104 - of the image
        network = httpx.get(f"{url}/v1/network", timeout=30).json()
        assert network["origin"] == "ledger.example/net1"
        words = [
            word.replace("http://ledger:8600", url).replace("/ip4/0.0.0.0/tcp/8610", address)
            for word in composed["seed"]["command"]
        ]
        seed = ["tequio_client", "seed", "--dir", str(tmp_path / "seed"), "--log-json"]
        with running([*seed, *words]) as process:
            assert address in wait_for_seed(url, process)


def wait_for_seed(url: str, process: subprocess.Popen[str]) -> str:
    """Give the address records at the ledger, as soon as there are some."""
    deadline = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline:
        assert process.poll() is None, process.stderr.read() if process.stderr else ""
        seeds = httpx.get(f"{url}/v1/seeds", timeout=30)
        if seeds.json()["seeds"]:
            return seeds.text
        time.sleep(0.2)
    raise AssertionError("the seed did not say where it is")
