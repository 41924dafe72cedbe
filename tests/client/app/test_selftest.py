"""`tequio app --selftest`: it passes from a checkout, and names each thing that is missing."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tests.support.app_process import PATIENCE_S

if TYPE_CHECKING:
    from pathlib import Path

PLANTED = {
    "miniupnpc.py": ("raise ImportError('planted')", "worker: miniupnpc: ImportError: planted"),
    "mnemonic.py": ("raise ImportError('planted')", "mnemonic: ImportError: planted"),
    "font_hanken_grotesk/__init__.py": ("", "the typeface Hanken Grotesk is missing"),
}
"""A file that hides a package, its content, and what the self-test says."""


def selftest(folder: Path, path: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "tequio_client", "app", "--selftest"],
        capture_output=True,
        check=False,
        text=True,
        timeout=PATIENCE_S,
        env={**os.environ, "XDG_RUNTIME_DIR": str(folder), "PYTHONPATH": path},
    )


def test_the_installation_is_whole(tmp_path: Path) -> None:
    done = selftest(tmp_path)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("name", PLANTED)
def test_what_is_missing_is_named(tmp_path: Path, name: str) -> None:
    content, problem = PLANTED[name]
    hidden = tmp_path / "hides" / name
    hidden.parent.mkdir(parents=True)
    hidden.write_text(content)
    done = selftest(tmp_path, str(tmp_path / "hides"))
    assert done.returncode == 1
    assert problem in done.stderr
