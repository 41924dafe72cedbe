"""Runtimes for accelerators that this computer lacks: they start, and compute on its processor.

`installer/package/build.sh runtime-cuda` makes one of gigabytes; without any, nothing is tested.
"""

from __future__ import annotations

import os
import re
import subprocess
from typing import TYPE_CHECKING

import pytest

from tests.package.conftest import BUILT

if TYPE_CHECKING:
    from pathlib import Path

BUILDS = sorted(BUILT.glob("tequio-runtime-*"))
PATIENCE_S = 600
OF_SYSTEM = re.compile(r"lib(c|m|dl|rt|pthread|util|stdc\+\+|gcc_s|gomp|z|cuda)\.so|ld-linux")
"""Libraries that a desktop has; libcuda comes with the driver."""

pytestmark = [
    pytest.mark.package,
    pytest.mark.parametrize("folder", BUILDS, ids=[path.name for path in BUILDS]),
]


def selftest(folder: Path, home: Path, device: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        (folder / "tequio-runtime", "-m", "tequio_client.trainer", "selftest", device),
        capture_output=True,
        text=True,
        check=False,
        env={"HOME": str(home), "PATH": "/nowhere"},
        timeout=PATIENCE_S,
    )


def test_it_computes_on_the_processor_and_finds_no_card(folder: Path, tmp_path: Path) -> None:
    done = selftest(folder, tmp_path, "cpu")
    assert done.returncode == 0, done.stderr
    done = selftest(folder, tmp_path, "cuda")
    assert done.returncode == 1
    assert "device cuda was not found" in done.stderr
    assert "sees 0 CUDA devices" in done.stderr


def test_every_library_finds_what_it_is_linked_to(folder: Path) -> None:
    inside = folder / "_internal"
    rooms = ("torch", "nvidia", "triton")
    libraries = [path for room in rooms for path in sorted((inside / room).rglob("*.so*"))]
    assert libraries
    foreign = {
        f"{path.name}: {name} => {where}"
        for path in libraries
        for name, where in linked(path, inside)
        if not where.startswith(str(inside)) and not OF_SYSTEM.match(name)
    }
    assert not foreign


def linked(library: Path, inside: Path) -> list[tuple[str, str]]:
    """Name and place of all libraries that one leads to, as the package's program finds them."""
    command = ("ldd", library)
    shown = subprocess.run(
        command,
        check=True,
        capture_output=True,
        text=True,
        env={"PATH": os.environ["PATH"], "LD_LIBRARY_PATH": str(inside)},
    )
    return re.findall(r"^\s*(\S+) => (not found|\S+)", shown.stdout, re.MULTILINE)
