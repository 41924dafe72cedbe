"""Files for operators work with these programs: units, images, compose file."""

from __future__ import annotations

import errno
import json
import os
import re
import shlex
import shutil
import socket
import struct
import subprocess
import sys
from ipaddress import ip_address, ip_network
from pathlib import Path
from typing import Any

import httpx
import pytest
import yaml
from click.testing import CliRunner

from tequio_client.__main__ import cli as client
from tequio_ledger.config.settings import LEDGER, LedgerSettings
from tequio_ledger.config.sources import FILE, settings_of
from tests.support import sandbox
from tests.support.command_lines import unknown_options
from tests.support.configured import of_texts
from tests.support.ledgers import served

ROOT = Path(__file__).parent.parent
INSTALLER = ROOT / "installer"
UNITS = sorted((INSTALLER / "systemd").glob("*.service"))
DOCKERFILE = (INSTALLER / "Dockerfile").read_text("utf-8").replace("\\\n", " ")
COMPOSE: dict[str, Any] = yaml.safe_load((INSTALLER / "compose.yaml").read_text("utf-8"))
OF_A_WORKER: dict[str, Any] = yaml.safe_load((INSTALLER / "worker.yaml").read_text("utf-8"))
MOST_EXPOSED = 15
"""In tenths: what `systemd-analyze security` may find at most; it calls a plain service 9.6."""


def unit(path: Path) -> dict[str, list[str]]:
    """Every setting of a unit, with its values in order."""
    found: dict[str, list[str]] = {}
    for line in path.read_text("utf-8").splitlines():
        if "=" in line and not line.startswith("#"):
            name, _, value = line.partition("=")
            found.setdefault(name, []).append(value)
    return found


def known_variables() -> set[str]:
    names = [one.name for one in settings_of(LedgerSettings)]
    return {LEDGER.variable(name) for name in [*names, FILE]}


@pytest.mark.parametrize("path", UNITS, ids=lambda path: path.stem)
def test_a_unit_starts_a_command_that_exists(path: Path) -> None:
    (command,) = unit(path)["ExecStart"]
    assert unknown_options(shlex.split(command)) == []


@pytest.mark.parametrize("path", UNITS, ids=lambda path: path.stem)
def test_a_unit_keeps_its_files_where_it_may_write(path: Path) -> None:
    said = unit(path)
    words = shlex.split(said["ExecStart"][0])
    assert words[words.index("--dir") + 1] == f"/var/lib/{said['StateDirectory'][0]}"
    if "--socket" in words:
        socket = Path(words[words.index("--socket") + 1])
        assert str(socket.parent) == f"/run/{said['RuntimeDirectory'][0]}"
        assert said["Group"] == unit(INSTALLER / "systemd" / "tequio-ledger.service")["Group"]


@pytest.mark.parametrize("path", UNITS, ids=lambda path: path.stem)
def test_the_users_of_the_units_are_made(path: Path) -> None:
    made = re.findall(
        r"^u (\S+)", (INSTALLER / "systemd" / "tequio.conf").read_text(), re.MULTILINE
    )
    assert unit(path)["User"][0] in made
    assert unit(path)["Group"][0] in made


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="no systemd here")
@pytest.mark.parametrize("path", UNITS, ids=lambda path: path.stem)
def test_systemd_understands_a_unit_and_finds_it_well_locked_up(path: Path, tmp_path: Path) -> None:
    here = tmp_path / path.name
    program = Path(sys.executable).with_name("tequio-ledger")
    here.write_text(path.read_text("utf-8").replace("/opt/tequio/bin/tequio-ledger", str(program)))
    verify = ["systemd-analyze", "verify", "--man=no", "--recursive-errors=no", str(here)]
    done = subprocess.run(verify, check=False, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")
    threshold = ("--offline=true", f"--threshold={MOST_EXPOSED}", "--no-pager")
    judged = ["systemd-analyze", "security", *threshold, str(here)]
    done = subprocess.run(judged, check=False, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stdout[-500:]


CAGE = ("SystemCallFilter", "SystemCallErrorNumber", "SystemCallArchitectures")


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="no systemd here")
def test_the_ledger_serves_with_the_system_calls_that_its_unit_leaves_it(tmp_path: Path) -> None:
    said = unit(INSTALLER / "systemd" / "tequio-ledger.service")
    allowed = sandbox.calls_of(said["SystemCallFilter"])
    assert "mbind" not in allowed, "which numpy tries"
    what = {"allowed": allowed, "otherwise": getattr(errno, said["SystemCallErrorNumber"][0])}
    program = (sandbox.__file__, json.dumps(what), sys.executable, "-m", "tequio_ledger")
    with served(tmp_path, program=program) as caged:
        assert httpx.get(f"{caged.url}/healthz", timeout=30).json() == {"status": "ok"}
        status = Path(f"/proc/{caged.process.pid}/status").read_text("ascii")
        assert re.search(r"^Seccomp:\s*2$", status, re.MULTILINE), "it is in the cage"
    what["otherwise"] = None  # as the unit of a former version: the process ends
    program = (sandbox.__file__, json.dumps(what), sys.executable, "-c", "import os; os.setuid(0)")
    assert subprocess.run([sys.executable, *program], check=False, timeout=60).returncode < 0


@pytest.mark.parametrize("path", UNITS, ids=lambda path: path.stem)
def test_every_unit_has_the_cage_that_the_ledger_was_seen_to_serve_in(path: Path) -> None:
    ledger, said = unit(INSTALLER / "systemd" / "tequio-ledger.service"), unit(path)
    assert [said[name] for name in CAGE] == [ledger[name] for name in CAGE]


@pytest.mark.skipif(shutil.which("hadolint") is None, reason="no hadolint here")
def test_an_outside_program_finds_nothing_wrong_with_the_images() -> None:
    command = ["hadolint", str(INSTALLER / "Dockerfile")]
    done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout) == (0, "")


@pytest.mark.skipif(shutil.which("systemd-sysusers") is None, reason="no systemd here")
def test_the_line_that_makes_the_users_makes_them() -> None:
    text = (ROOT / "docs" / "operating.md").read_text("utf-8")
    (line,) = re.findall(r"^systemd-sysusers .*$", text, re.MULTILINE)
    trial = ["bash", "-c", line.replace("systemd-sysusers ", "systemd-sysusers --dry-run ")]
    done = subprocess.run(trial, cwd=ROOT, check=False, capture_output=True, text=True, timeout=60)
    assert (done.returncode, "No such file" in done.stderr) == (0, False), done.stderr


def stages() -> list[tuple[str, str]]:
    return re.findall(r"^FROM (\S+) AS (\S+)$", DOCKERFILE, re.MULTILINE)


def test_the_stages_of_the_images_stand_on_each_other() -> None:
    known = {"python:3.12-slim-bookworm@${PYTHON_DIGEST}"}
    for base, name in stages():
        assert base in known, name
        known.add(name)
    copied = set(re.findall(r"--from=(\S+)", DOCKERFILE))
    assert copied <= known
    assert stages()[-1][1] == "ledger", "the one that is built when none is named"


def test_what_the_images_copy_is_there_and_not_ignored() -> None:
    copied = [
        word
        for line in re.findall(r"^COPY (?!--from)(.*) \S+$", DOCKERFILE, re.MULTILINE)
        for word in line.split()
    ]
    ignored = (INSTALLER / "Dockerfile.dockerignore").read_text().splitlines()
    assert copied
    for name in copied:
        assert (ROOT / name).exists(), name
        assert f"!{name}" in ignored, name


def test_the_images_start_commands_that_exist() -> None:
    entries = [
        yaml.safe_load(words)
        for words in re.findall(r"^ENTRYPOINT (\[.*\])$", DOCKERFILE, re.MULTILINE)
    ]
    commands = [
        yaml.safe_load(words) for words in re.findall(r"^CMD (\[.*\])$", DOCKERFILE, re.MULTILINE)
    ]
    assert len(entries) == len(commands) == 3
    for entry, command in zip(entries, commands, strict=True):
        assert unknown_options([*entry, *command]) == []


def test_the_variables_of_images_and_compose_file_are_settings() -> None:
    named = set(re.findall(r"\b(TEQUIO_LEDGER_\w+)=", DOCKERFILE))
    composed = set(COMPOSE["services"]["ledger"]["environment"])
    assert named
    assert composed
    assert named | composed <= known_variables()


def test_the_images_hold_products_that_are_locked() -> None:
    products = re.findall(r"^RUN /source/(\S+) (\w+) /opt/tequio$", DOCKERFILE, re.MULTILINE)
    assert [product for _, product in products] == ["seed", "client", "ledger"]
    for script, product in products:
        assert (ROOT / script).exists()
        assert (INSTALLER / "locks" / f"{product}.lock").exists()


def test_an_installation_names_its_products_and_spares_a_folder_of_yours(tmp_path: Path) -> None:
    script = str(INSTALLER / "install.sh")
    for wrong in ((), ("ledger",), ("nothing", str(tmp_path / "new"))):
        done = subprocess.run([script, *wrong], check=False, capture_output=True, text=True)
        assert (done.returncode, done.stdout) == (2, "")
        assert "ledger|seed|client FOLDER" in done.stderr
    (tmp_path / "letter.txt").write_text("mine")
    command = [script, "ledger", str(tmp_path)]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    assert done.returncode == 1
    assert f"{tmp_path} holds files" in done.stderr
    assert (tmp_path / "letter.txt").exists()


def health_check(image: str) -> list[str]:
    (stage,) = re.findall(rf" AS {image}$(.*?)(?:^FROM |\Z)", DOCKERFILE, re.MULTILINE | re.DOTALL)
    (words,) = re.findall(r"^HEALTHCHECK .*CMD (\[.*\])$", stage, re.MULTILINE)
    checked: list[str] = yaml.safe_load(words)
    return checked


def test_the_image_of_a_seed_asks_whether_it_listens() -> None:
    code = health_check("seed")[-1]
    assert "8610" in code
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port = str(listening.getsockname()[1])
        asked = [sys.executable, "-c", code.replace("8610", port)]
        assert subprocess.run(asked, check=False, timeout=30).returncode == 0
    assert subprocess.run(asked, check=False, timeout=30, capture_output=True).returncode != 0


def test_the_image_of_a_worker_asks_the_worker_in_its_folder() -> None:
    assert unknown_options(health_check("worker")) == []
    (entry,) = re.findall(
        r'^ENTRYPOINT (\["/opt/tequio/bin/tequio", "worker".*)$', DOCKERFILE, re.MULTILINE
    )
    assert health_check("worker")[2:] == yaml.safe_load(entry)[2:4]


def test_the_image_asks_for_the_health_of_the_ledger(tmp_path: Path) -> None:
    code = health_check("ledger")[-1]
    assert "http://127.0.0.1:8600/" in code
    with served(tmp_path) as program:
        asked = [sys.executable, "-c", code.replace("http://127.0.0.1:8600", program.url)]
        assert subprocess.run(asked, check=False, timeout=30).returncode == 0
    assert subprocess.run(asked, check=False, timeout=30, capture_output=True).returncode != 0


def test_the_services_of_the_compose_file_fit_together() -> None:
    services = COMPOSE["services"]
    assert services.keys() == {"postgres", "ledger", "seed"}
    targets = {name for _, name in stages()}
    for name, service in services.items():
        assert set(service.get("depends_on", ())) <= services.keys(), name
        assert {one.partition(":")[0] for one in service["volumes"]} <= COMPOSE["volumes"].keys()
        if "build" in service:
            assert service["build"]["target"] in targets
            assert (INSTALLER / service["build"]["context"]).resolve() == ROOT
            assert (ROOT / service["build"]["dockerfile"]).exists()
    for name in ("ledger", "seed"):
        (published,) = services[name]["ports"]
        assert f"EXPOSE {published.rpartition(':')[2]}\n" in DOCKERFILE
    assert unknown_options(["tequio-ledger", *services["ledger"]["command"]]) == []
    assert unknown_options(["tequio", "seed", *services["seed"]["command"]]) == []
    assert "postgres" in services["ledger"]["environment"]["TEQUIO_LEDGER_DATABASE"]


def test_a_proxy_has_to_be_named_and_the_one_on_this_machine_can_be() -> None:
    ledger = COMPOSE["services"]["ledger"]
    assert ledger["environment"]["TEQUIO_LEDGER_TRUSTED_PROXY"].startswith("${TRUSTED_PROXY:?")
    (network,) = COMPOSE["networks"]["default"]["ipam"]["config"]
    assert "networks" not in ledger, "it is in that one"
    assert ip_address(network["gateway"]) in ip_network(network["subnet"])
    text = (INSTALLER / "compose.yaml").read_text("utf-8")
    head = text.partition("\nname:")[0]
    (named,) = re.findall(r"\d+\.\d+\.\d+\.\d+/\d+", head)
    (trusted,) = of_texts(LEDGER, {"trusted-proxy": named}).trusted_proxies
    assert trusted == ip_network(network["gateway"]), "the gateway and nobody else"


def test_a_worker_in_a_container_may_use_the_cards_and_nothing_else() -> None:
    (worker,) = OF_A_WORKER["services"].values()
    assert (worker["build"]["target"], "worker") in [(name, name) for _, name in stages()]
    assert unknown_options(["tequio", "worker", *worker["command"]]) == []
    (published,) = worker["ports"]
    assert f"EXPOSE {published.rpartition(':')[2]}\n" in DOCKERFILE
    (card,) = worker["deploy"]["resources"]["reservations"]["devices"]
    assert (card["driver"], card["capabilities"]) == ("nvidia", ["gpu"])
    assert worker["read_only"] is True
    assert worker["cap_drop"] == ["ALL"]
    assert worker["volumes"][0].partition(":")[0] in OF_A_WORKER["volumes"]


def test_no_image_runs_as_root_and_the_user_is_a_number() -> None:
    """Kubernetes refuses to run a user by name as one that is not root."""
    (made,) = re.findall(r"useradd .*--uid (\d+)", DOCKERFILE)
    assert re.findall(r"^USER (\S+)$", DOCKERFILE, re.MULTILINE) == [made] * 3


def test_postgresql_is_not_called_ready_while_its_image_makes_the_database() -> None:
    words = COMPOSE["services"]["postgres"]["healthcheck"]["test"]
    assert words[words.index("--host") + 1] == "127.0.0.1", "the one at the socket is not the one"


def test_the_folder_of_the_images_is_for_nobody_else() -> None:
    (made,) = re.findall(r"install --directory (.*?)\s+/var/lib/tequio\n", DOCKERFILE)
    assert made.split() == ["--owner=tequio", "--group=tequio", "--mode=700"]


@pytest.mark.parametrize("name", ["compose.yaml", "worker.yaml"])
def test_what_a_compose_file_asks_for_is_told_at_its_head(name: str) -> None:
    text = (INSTALLER / name).read_text("utf-8")
    asked = set(re.findall(r"\$\{(\w+):\?", text))
    told = set(re.findall(r"^#   ([A-Z_]+) ", text, re.MULTILINE))
    assert asked == told
    for variable in asked:
        text = re.sub(rf"\$\{{{variable}:\?[^}}]*\}}", "x", text)
    assert "?" not in re.sub(r"#.*", "", text)


@pytest.mark.parametrize("name", ["installer/compose.yaml", "installer/ledger.toml", "README.md"])
def test_a_founder_is_told_the_command_that_shows_an_organisers_key(name: str) -> None:
    lines = (ROOT / name).read_text("utf-8").splitlines()
    told = next(line for line in lines if re.search(r"`?tequio (run )?key\b", line))
    assert "tequio run key" in told


def test_the_command_that_a_founder_is_told_shows_a_key_that_founds(tmp_path: Path) -> None:
    said = CliRunner().invoke(client, ["run", "key", "--dir", str(tmp_path)]).output.strip()
    assert len(of_texts(LEDGER, {"organiser": said}).organisers) == 1


def test_the_icon_for_macos_has_every_size_for_both_kinds_of_screen(tmp_path: Path) -> None:
    drawing = (sys.executable, INSTALLER / "package" / "icons.py", tmp_path)
    subprocess.run(drawing, check=True, env=os.environ | {"QT_QPA_PLATFORM": "offscreen"})
    content = (tmp_path / "tequio.icns").read_bytes()
    assert (content[:4], struct.unpack(">I", content[4:8])) == (b"icns", (len(content),))
    found, at = {}, 8
    while at < len(content):
        kind, length = struct.unpack(">4sI", content[at : at + 8])
        assert content[at + 8 : at + 16] == b"\x89PNG\r\n\x1a\n"
        width, height = struct.unpack(">II", content[at + 24 : at + 32])
        assert width == height
        found[kind.decode()] = width
        at += length
    points = {"icp4": 16, "icp5": 32, "ic07": 128, "ic08": 256, "ic09": 512}
    twice = {"ic11": 32, "ic12": 64, "ic13": 256, "ic14": 512, "ic10": 1024}
    assert found == points | twice | {"icp6": 64}
    assert not (tmp_path / "1024x1024").exists(), "no desktop of Linux asks for it"
