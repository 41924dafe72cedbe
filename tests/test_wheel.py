"""The wheel holds the programs and their data, and each command runs or names what is missing."""

from __future__ import annotations

import configparser
import email
import hashlib
import importlib.metadata
import json
import os
import subprocess
import sys
import tomllib
import zipfile
from importlib.metadata import packages_distributions
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name as canonical

from tests.support.hidden_packages import HIDE

if TYPE_CHECKING:
    from collections.abc import Mapping

ROOT = Path(__file__).parent.parent
SOURCES: Mapping[str, Path] = {
    "tequio": ROOT / "client",
    "tequio_client": ROOT / "client",
    "tequio_ledger": ROOT / "ledger",
    "tequio_shared": ROOT / "shared",
    "tequio_assets": ROOT / "assets",
}
COMMANDS = {"tequio": "tequio_client", "tequio-ledger": "tequio_ledger"}
OF_EVERY_INTERPRETER = {"_distutils_hack", "pkg_resources", "setuptools", "pip"}

RUN_WITH = f"""
import json, sys
folder, hidden, module, *words = json.loads(sys.argv[1])
{HIDE}
sys.path.insert(0, folder)
sys.argv = [module, *words]
from importlib import import_module
main = import_module(f"{{module}}.__main__")
assert main.__file__.startswith(folder), main.__file__
main.main()
"""
"""Runs a command of an unpacked wheel as if the named top-level packages were not installed."""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="module")
def unpacked(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("unpacked")
    zipfile.ZipFile(wheel).extractall(folder)
    return folder


def build(folder: Path) -> Path:
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(command, check=True, cwd=ROOT, capture_output=True, timeout=120)
    (built,) = folder.glob("*.whl")
    return built


def test_the_wheel_has_every_file_of_the_programs_and_no_other(wheel: Path) -> None:
    wanted = {
        f"{package}/{file.relative_to(folder / package).as_posix()}"
        for package, folder in SOURCES.items()
        for file in (folder / package).rglob("*")
        # Translators' files stay in the repository: programs read what is compiled from them.
        if file.is_file() and "__pycache__" not in file.parts and file.suffix != ".ts"
    }
    found = {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}
    assert found == wanted


def test_the_wheel_carries_its_licence_and_names_no_host(unpacked: Path) -> None:
    (info,) = unpacked.glob("*.dist-info")
    fields = email.message_from_string((info / "METADATA").read_text("utf-8"))
    assert fields["License-Expression"] == "Apache-2.0"
    assert (info / "licenses" / "LICENSE").read_bytes() == (ROOT / "LICENSE").read_bytes()
    assert fields.get_all("Classifier")
    assert fields.get_all("Project-URL") is None, "there is no site yet"
    extras = set(fields.get_all("Provides-Extra") or ())
    assert {"app", "worker", "trainer", "client", "ledger"} <= extras


def test_each_command_is_a_function_of_the_wheel(unpacked: Path) -> None:
    (info,) = unpacked.glob("*.dist-info")
    parser = configparser.ConfigParser()
    parser.read_string((info / "entry_points.txt").read_text("utf-8"))
    assert dict(parser["console_scripts"]) == {
        name: f"{module}.__main__:main" for name, module in COMMANDS.items()
    }


@pytest.mark.parametrize("module", COMMANDS.values())
def test_each_command_prints_its_help_without_any_extra(unpacked: Path, module: str) -> None:
    done = run_without_extras(unpacked, module, "--help")
    assert (done.returncode, done.stderr) == (0, "")
    assert "Usage: " in done.stdout


@pytest.mark.parametrize(
    ("words", "extra"),
    [
        (("tequio_client", "worker", "--ledger", "http://127.0.0.1:9"), "client"),
        (("tequio_client", "app"), "client"),
        (("tequio_client", "score", "model", "--on", "text"), "client"),
        (("tequio_ledger", "serve"), "ledger"),
    ],
)
def test_a_command_whose_extra_is_missing_names_it(
    unpacked: Path, words: tuple[str, ...], extra: str
) -> None:
    done = run_without_extras(unpacked, *words)
    assert done.returncode == 1
    assert "not installed here" in done.stderr
    assert f"extra '{extra}'" in done.stderr
    assert "Traceback" not in done.stderr


def test_the_same_sources_give_the_same_wheel(wheel: Path, tmp_path: Path) -> None:
    again = build(tmp_path)
    assert again.name == wheel.name
    assert _digest(again) == _digest(wheel)


def run_without_extras(folder: Path, module: str, *words: str) -> subprocess.CompletedProcess[str]:
    given = json.dumps([str(folder), sorted(_of_extras_alone()), module, *words])
    return subprocess.run(
        [sys.executable, "-P", "-c", RUN_WITH, given],
        check=False,
        capture_output=True,
        text=True,
        timeout=60,
        env={name: text for name, text in os.environ.items() if name != "PYTHONPATH"},
    )


def _of_extras_alone() -> set[str]:
    """Top-level packages that are installed here, and would not be without an extra."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    base: set[str] = set()
    unread: list[str] = list(project["dependencies"])
    while unread:
        need = Requirement(unread.pop())
        name = canonical(need.name)
        if name not in base and (need.marker is None or need.marker.evaluate({"extra": ""})):
            base.add(name)
            unread += importlib.metadata.requires(name) or ()
    return {
        name
        for name, owners in packages_distributions().items()
        if not {canonical(one) for one in owners} & base and not name.startswith("tequio")
    } - OF_EVERY_INTERPRETER


def _digest(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()
