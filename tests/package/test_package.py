"""The package that `make package` built, as a volunteer gets it: two folders, and no Python."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unittest import mock

import pytest

from tequio_client.__main__ import SECTIONS
from tequio_client.demo import play
from tequio_client.demo.main import run_demo
from tequio_client.demo.script import quick_script
from tequio_client.platform.programs import RUNTIME_VARIABLE, tequio
from tequio_client.worker.children.trainer import benchmark_child, run_benchmark
from tests.package.conftest import APP, NAMED, RUNTIME, newer_app
from tests.support.real_network import PATIENCE_S

if TYPE_CHECKING:
    from collections.abc import Callable

    Run = Callable[..., subprocess.CompletedProcess[str]]

MOST_BYTES = 180_000_000
PEERS = 2
COMMANDS = [name for section in SECTIONS.values() for name in section]

pytestmark = pytest.mark.package


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """Run the package's `tequio` with a home of its own and no Python to be found."""
    environment = {
        "HOME": str(tmp_path),
        "PATH": "/nowhere",
        "QT_QPA_PLATFORM": "offscreen",
        RUNTIME_VARIABLE: str(RUNTIME.parent),
    }

    def run_program(*words: str, **more: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            (APP, *words),
            capture_output=True,
            text=True,
            timeout=PATIENCE_S,
            check=False,
            cwd=tmp_path,
            env=environment | more,
        )

    return run_program


def test_the_app_is_small_and_has_no_torch() -> None:
    files = [path for path in APP.parent.rglob("*") if path.is_file() and not path.is_symlink()]
    assert sum(path.stat().st_size for path in files) < MOST_BYTES
    names = {path.name for path in files}
    assert not any("libtorch" in name for name in names)
    assert {f"qtbase_{code}.qm" for code in ("de", "es", "fr", "ja", "pt_BR", "zh_CN")} <= names


def test_a_package_trusts_the_mirrors_that_its_checkout_names() -> None:
    carried = newer_app() / "_internal" / "tequio_releases" / "mirrors.json"
    assert carried.read_text() == NAMED


def test_the_runtime_knows_the_versions_that_scores_name() -> None:
    folders = {path.name.partition("-")[0] for path in RUNTIME.parent.glob("_internal/*.dist-info")}
    assert {"tequio", "torch", "transformers", "tokenizers"} <= folders


def test_sorting_is_the_same_with_the_unicode_data_that_is_kept() -> None:
    script = """if True:
        from PySide6.QtCore import QCollator, QLocale
        words = "zebra ähre Öl ñu nube çedille chata llama ångström Ж あ 漢 가".split()
        for language in ("es", "de", "sv", "ja", "zh", "ko", "ru"):
            print(sorted(words, key=QCollator(QLocale(language)).sortKey))
        print(QLocale("tr").toUpper("istanbul ißé"))
    """
    (kept,) = (APP.parent / "_internal" / "PySide6" / "Qt" / "lib").glob("libicudata.so.*")

    def answer(**environ: str) -> str:
        command = (sys.executable, "-c", script)
        environment = os.environ | environ
        done = subprocess.run(command, env=environment, check=True, capture_output=True, text=True)
        assert done.stderr == ""
        return done.stdout

    assert answer(LD_PRELOAD=str(kept)) == answer()


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_its_help(run: Run, command: str) -> None:
    shown = run(command, "--help")
    assert shown.returncode == 0, shown.stderr
    assert shown.stdout.startswith(f"Usage: tequio {command} ")


def test_the_app_finds_all_its_parts(run: Run) -> None:
    shown = run("app", "--selftest")
    assert shown.returncode == 0, shown.stderr


def test_a_command_that_needs_torch_names_the_missing_runtime(run: Run, tmp_path: Path) -> None:
    shown = run("score", "model", "--on", "text", **{RUNTIME_VARIABLE: str(tmp_path / "none")})
    assert shown.returncode == 1
    assert str(tmp_path / "none") in shown.stderr


@pytest.mark.trio
async def test_the_runtime_measures_the_processor(tmp_path: Path) -> None:
    command = (str(RUNTIME), "-m", "tequio_client.trainer", "benchmark")
    measured = await run_benchmark(benchmark_child(tmp_path, "cpu", command), "cpu")
    assert measured.tokens_per_s > 0


def test_packaged_volunteers_train_and_the_audit_agrees(tmp_path: Path) -> None:
    def packaged(*words: str) -> tuple[str, ...]:
        is_ours = words[0] != "data"  # a package has no sources of Python to train on
        return (str(APP), *words) if is_ours else tequio(*words)

    runtime = {RUNTIME_VARIABLE: str(RUNTIME.parent)}
    with mock.patch.object(play, "tequio", packaged), mock.patch.dict(os.environ, runtime):
        outcome: dict[str, Any] = run_demo(quick_script(tmp_path / "network", PEERS))
    assert outcome["audit_exit"] == 0
    assert outcome["heads_agree"]
    assert len(outcome["peers"]) == PEERS
    assert all(peer["gflop"] for peer in outcome["peers"])
    held_out = outcome["held_out"]
    assert held_out["bits_per_byte_end"] < held_out["bits_per_byte_start"]
