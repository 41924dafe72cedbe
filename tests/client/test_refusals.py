"""Every program in every situation in which it cannot work: one sentence, and no traceback.

The sentence names the value and the way out; the exit status is not zero.
"""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

from tequio_client.keys import identity
from tequio_client.runtime import locked
from tests.support.equivocators import key_folder
from tests.support.forked_program import CLIENT, run_forked
from tests.support.ledgers import ORGANISER, served

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


NOWHERE = "http://127.0.0.1:9"
NODES = ("worker", "seed")
GIVE_UP = ("--wait-for-ledger", "0", "--log-level", "error")
PATIENCE_S = 30


@pytest.fixture(autouse=True)
def _network(monkeypatch: pytest.MonkeyPatch) -> None:
    """Name a ledger for all commands; none answers there."""
    monkeypatch.setenv("TEQUIO_LEDGER", "http://127.0.0.1:9")


def refused(*arguments: str, status: int = 1) -> str:
    """Run `tequio` with arguments that it must refuse; give the one sentence it says."""
    done = run_forked(CLIENT, *arguments, timeout_s=PATIENCE_S)
    assert done.returncode == status, done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    *before, sentence = done.stderr.strip().split("\n")
    assert not before or before[0].startswith("Usage: "), done.stderr
    assert sentence.startswith(("tequio: ", "Error: ")), done.stderr
    return sentence


@pytest.fixture(scope="module")
def ledger(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with served(tmp_path_factory.mktemp("ledger")) as program:
        yield program.url


@contextmanager
def full_disk(folder: Path) -> Iterator[Path]:
    """Mount a disk of one page; skips the test where that is not allowed."""
    folder.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=4k", "tmpfs", str(folder)]
    try:
        subprocess.run(command, check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("mounting a small disk needs root")
    try:
        yield folder
    finally:
        subprocess.run(["umount", str(folder)], check=True)  # noqa: S607 - wherever it lies


# --- settings


@pytest.mark.parametrize(
    ("option", "value", "status"),
    [
        ("--ledger", "ledger.example", 1),
        ("--ledger", "http://", 1),
        ("--quota-gib", "nan", 2),
        ("--quota-gib", "0.001", 1),
        ("--upload-mbit", "0", 2),
        ("--wait-for-ledger", "soon", 2),
    ],
)
def test_a_bad_setting_is_named(tmp_path: Path, option: str, value: str, status: int) -> None:
    said = refused("seed", "--dir", str(tmp_path), *GIVE_UP, option, value, status=status)
    assert value in said or option in said


@pytest.mark.parametrize(
    ("option", "value", "status"),
    [("--device", "gpu", 1), ("--memory-mb", "-1", 2), ("--share", "0", 2), ("--role", "boss", 2)],
)
def test_a_bad_setting_of_the_trainer_is_named(
    tmp_path: Path, option: str, value: str, status: int
) -> None:
    assert value in refused(
        "worker", "--dir", str(tmp_path), *GIVE_UP, option, value, status=status
    )


def test_an_address_to_listen_on_that_is_none_is_named(tmp_path: Path, ledger: str) -> None:
    options = ("--dir", str(tmp_path), "--ledger", ledger, *GIVE_UP)
    assert "garbage" in refused("seed", *options, "--listen", "garbage")


@pytest.mark.parametrize("node", NODES)
def test_a_busy_port_is_named(tmp_path: Path, ledger: str, node: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as busy:
        address = f"/ip4/127.0.0.1/tcp/{busy.getsockname()[1]}"
        options = ("--dir", str(tmp_path), "--ledger", ledger, *GIVE_UP)
        said = refused(node, *options, "--listen", address)
    assert address in said
    assert "--listen" in said


# --- the ledger


@pytest.mark.parametrize(
    "command",
    [
        ("worker", *GIVE_UP, "--dir", "{}"),
        ("seed", *GIVE_UP, "--dir", "{}"),
        ("run", "open", "plan.toml", "--dir", "{}", "--seed-dir", "{}/seed"),
        ("run", "list"),
        ("run", "show", "tiny"),
        ("run", "pause", "tiny", "--dir", "{}"),
    ],
    ids=lambda command: " ".join(command[:2]),
)
def test_a_ledger_that_is_away_is_named(tmp_path: Path, command: tuple[str, ...]) -> None:
    identity.load_or_create(tmp_path)
    arguments = [one.format(tmp_path) for one in command]
    said = refused(*arguments, "--ledger", NOWHERE)
    assert f"the network at {NOWHERE}" in said
    assert "check the address" in said


@pytest.mark.parametrize("node", NODES)
def test_a_ledger_of_another_network_is_refused(tmp_path: Path, ledger: str, node: str) -> None:
    (tmp_path / "network").write_text("another-network-altogether")
    said = refused(node, "--dir", str(tmp_path), "--ledger", ledger, *GIVE_UP)
    assert "another-netw" in said
    assert "--ledger" in said


def test_a_site_that_is_no_ledger_is_named(tmp_path: Path, ledger: str) -> None:
    page = f"{ledger}/log"
    assert page in refused("worker", "--dir", str(tmp_path), "--ledger", page, *GIVE_UP)
    assert page in refused("run", "list", "--ledger", page)


@pytest.mark.parametrize(
    "command",
    [("run", "show", "nope"), ("run", "finish", "nope", "--dir", "{}"), ("worker",)],
    ids=lambda command: " ".join(command[:2]),
)
def test_an_unknown_run_is_named(tmp_path: Path, ledger: str, command: tuple[str, ...]) -> None:
    arguments = [one.format(tmp_path) for one in command]
    if command == ("worker",):
        arguments += ["--run", "nope", "--dir", str(tmp_path), *GIVE_UP]
    assert "no run 'nope'" in refused(*arguments, "--ledger", ledger)


# --- folders


@pytest.mark.parametrize(
    "command",
    [
        ("worker", *GIVE_UP, "--dir", "{}"),
        ("seed", *GIVE_UP, "--dir", "{}"),
        ("run", "open", "plan.toml", "--dir", "{}"),
        ("run", "key", "--dir", "{}"),
        ("demo", "--dir", "{}"),
        ("data", "build", "{}", "--stdlib"),
    ],
    ids=lambda command: " ".join(command[:2]),
)
def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path, command: tuple[str, ...]) -> None:
    (tmp_path / "file").write_text("in the way")
    folder = str(tmp_path / "file" / "folder")
    assert folder in refused(*[one.format(folder) for one in command])


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
@pytest.mark.parametrize("node", NODES)
def test_a_folder_that_may_not_be_written_is_named(tmp_path: Path, node: str) -> None:
    tmp_path.chmod(0o500)
    assert str(tmp_path) in refused(node, "--dir", str(tmp_path), *GIVE_UP)


@pytest.mark.parametrize("node", NODES)
def test_a_full_disk_is_told(tmp_path: Path, ledger: str, node: str) -> None:
    with full_disk(tmp_path / "disk") as folder:
        said = refused(node, "--dir", str(folder), "--ledger", ledger, *GIVE_UP)
    assert str(folder) in said
    assert "free some space" in said


@pytest.mark.parametrize(
    "command",
    [
        ("worker", *GIVE_UP, "--dir", "{}"),
        ("seed", *GIVE_UP, "--dir", "{}"),
        ("run", "open", "plan.toml", "--dir", "{}"),
        ("run", "open", "plan.toml", "--dir", "{}/other", "--seed-dir", "{}"),
        ("run", "key", "--dir", "{}"),
    ],
    ids=lambda command: " ".join(command[:2]),
)
def test_a_folder_belongs_to_one_process(tmp_path: Path, command: tuple[str, ...]) -> None:
    for one in (tmp_path, tmp_path / "other"):
        identity.load_or_create(one)
    with locked(tmp_path):
        said = refused(*[one.format(tmp_path) for one in command])
    assert "another process uses the folder" in said


def test_the_demo_wants_an_empty_folder(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("do not touch")
    assert str(tmp_path) in refused("demo", "--dir", str(tmp_path))


@pytest.mark.parametrize("command", ["audit", "demo"])
def test_a_place_for_results_is_checked_before_the_work(tmp_path: Path, command: str) -> None:
    place = str(tmp_path / "none")
    assert place in refused(command, "--json", f"{place}/out.json", status=2)


# --- plans


def test_a_plan_that_is_not_there_is_named(tmp_path: Path, ledger: str) -> None:
    assert "nope.toml" in refused(*open_run(tmp_path, ledger, tmp_path / "nope.toml"))


def test_a_plan_that_is_no_toml_is_named(tmp_path: Path, ledger: str) -> None:
    plan = tmp_path / "plan.toml"
    plan.write_text("name = [")
    assert "plan.toml is not valid" in refused(*open_run(tmp_path, ledger, plan))


def test_a_missing_data_manifest_is_named(tmp_path: Path, ledger: str) -> None:
    plan = tmp_path / "plan.toml"
    plan.write_text('name = "x"\n[model]\nsource = "c.json"\n[data]\nfolder = "gone"\n')
    said = refused(*open_run(tmp_path, ledger, plan))
    assert str(tmp_path / "gone") in said
    assert "tequio data build" in said


def open_run(folder: Path, ledger: str, plan: Path) -> list[str]:
    organiser = key_folder(folder / "organiser", ORGANISER)
    where = ["--dir", str(organiser), "--seed-dir", str(folder / "seed")]
    return ["run", "open", str(plan), "--ledger", ledger, *where]


# --- data


@pytest.mark.parametrize(
    ("options", "named"),
    [
        (("--folder", "/nowhere/at/all"), "/nowhere/at/all"),
        (("--stdlib", "--tokenizer", "/nowhere/tokenizer.json"), "/nowhere/tok"),
        (("--stdlib", "--tokenizer", "."), ". contains no tokenizer.json"),
        (("--stdlib", "--sequence", "1"), "--sequence"),
    ],
)
def test_data_that_cannot_be_built_is_named(
    tmp_path: Path, options: tuple[str, ...], named: str
) -> None:
    status = 2 if "--sequence" in options else 1
    assert named in refused("data", "build", str(tmp_path / "out"), *options, status=status)


def test_a_command_that_is_not_installed_is_told_with_the_way_out(tmp_path: Path) -> None:
    """As where the ledger alone is installed; an import of None fails as one of nothing does."""
    lacking = (
        "import sys; sys.modules['trio'] = None; from tequio_client.__main__ import main; main()"
    )
    for module, is_told in (("trio", True), ("tequio_client.organiser", False)):
        code = lacking.replace("trio", module)
        done = subprocess.run(
            [sys.executable, "-c", code, "run", "key", "--dir", str(tmp_path)],
            check=False,
            capture_output=True,
            text=True,
            timeout=PATIENCE_S,
        )
        assert done.returncode == 1
        assert ("Traceback" not in done.stderr) == is_told, "what is ours and gone is a bug"
        assert ("'.[client]'" in done.stderr) == is_told
