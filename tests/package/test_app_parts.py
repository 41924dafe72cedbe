"""Parts of a package that it loads late: languages, typeface, router library, chat, scipy."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tequio_client.ipc.chat import ModelReady
from tequio_client.platform.programs import RUNTIME_VARIABLE
from tests.client.checkpoint.test_chat_lines import chat_program
from tests.client.verify.logs import SwarmLog
from tests.package.conftest import APP, RUNTIME
from tests.support.llama_swarm import ROUNDS, played, served_log

ROOT = Path(__file__).parents[2]
INSIDE = APP.parent / "_internal"
PATIENCE_S = 300
WAYS = {
    "the command": (str(APP),),
    "as the app starts it": (str(RUNTIME), "-m", "tequio_client"),
}
MISSING = {
    "tequio_assets/i18n/tequio_ja.qm": "no translations in",
    "PySide6/Qt/translations/qtbase_ja.qm": "language ja: Qt's own texts are missing",
    "font_hanken_grotesk/files/*.otf": "the typeface Hanken Grotesk is missing",
    "miniupnpc*": "worker: miniupnpc: ModuleNotFoundError",
}
"""Files of the app, and what its self-test says without them."""
OF_SCIPY = "scipy/special/_ufuncs*"
"""A library that models of the Hub and the accountant of private groups load."""

pytestmark = pytest.mark.package


def test_every_translation_is_the_one_of_the_sources() -> None:
    folder = ROOT / "assets" / "tequio_assets" / "i18n"
    compiled = {path.name: path.read_bytes() for path in folder.glob("*.qm")}
    inside = (INSIDE / "tequio_assets" / "i18n").glob("*.qm")
    assert compiled == {path.name: path.read_bytes() for path in inside}


@pytest.mark.parametrize("pattern", MISSING)
def test_the_selftest_names_what_a_package_lacks(tmp_path: Path, pattern: str) -> None:
    copy = copy_without(APP, pattern, tmp_path)
    done = run(copy, tmp_path, "app", "--selftest")
    assert done.returncode == 1
    assert MISSING[pattern] in done.stderr


def test_the_runtimes_selftest_finds_that_a_library_is_missing(tmp_path: Path) -> None:
    words = ("-m", "tequio_client.trainer", "selftest", "cpu")
    done = run(RUNTIME, tmp_path, *words)
    assert done.returncode == 0, done.stderr
    done = run(copy_without(RUNTIME, OF_SCIPY, tmp_path), tmp_path, *words)
    assert done.returncode == 1
    assert "cannot build a llama model" in done.stderr


def copy_without(program: Path, pattern: str, folder: Path) -> Path:
    """Link a package's files to a folder, except those of that pattern; return its program."""
    copy = folder / program.name
    shutil.copytree(program.parent, copy, symlinks=True, copy_function=os.link)
    lost = list((copy / "_internal").glob(pattern))
    assert lost
    for path in lost:
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink()
    return copy / program.name


def run(program: Path, home: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        (program, *words),
        capture_output=True,
        text=True,
        check=False,
        env={"HOME": str(home), "PATH": "/nowhere"},
        timeout=PATIENCE_S,
    )


@pytest.mark.parametrize("way", WAYS)
def test_the_newest_model_answers_in_the_packages_chat(tmp_path: Path, way: str) -> None:
    environ = {"HOME": str(tmp_path), "PATH": "/nowhere", RUNTIME_VARIABLE: str(RUNTIME.parent)}
    store = played().store(tmp_path / "store", ROUNDS)
    with (
        served_log(SwarmLog(played().swarm)) as site,
        chat_program(
            site,
            store,
            tmp_path / "cache",
            *("--threads", "1", "--tokens", "20"),
            program=WAYS[way],
            environ=environ,
        ) as chat,
    ):
        assert chat.until(ModelReady).round == ROUNDS
        first = chat.answer(1, "maize")
        assert first
        assert chat.answer(2, "maize") == first
