"""The check of a package's size finds a file that is there twice, and a folder above its limit."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "installer" / "package" / "sizes.py"
LARGE = bytes(1_000_001)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A small runtime: a library, a link to it, and two equal files that are not large."""
    made = tmp_path / "tequio-runtime-cpu"
    inside = made / "_internal" / "torch" / "lib"
    inside.mkdir(parents=True)
    (inside / "libtorch_cpu.so").write_bytes(LARGE)
    (made / "_internal" / "libtorch_cpu.so").symlink_to("torch/lib/libtorch_cpu.so")
    for name in ("LICENSE", "NOTICE"):
        (made / name).write_bytes(LARGE[1:])
    return made


def check(folder: Path, system: str = "linux") -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-I", str(SCRIPT), str(folder), "--system", system]
    return subprocess.run(command, check=False, capture_output=True, text=True, timeout=60)


def test_links_and_small_files_are_no_copies(folder: Path) -> None:
    done = check(folder)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "tequio-runtime-cpu: 3 MB in 3 files, limit 1,350 MB\n"


def test_large_files_with_the_same_content_are_all_named(folder: Path) -> None:
    library = folder / "_internal" / "torch" / "lib" / "libtorch_cpu.so"
    (folder / "_internal" / "libtorch_cpu.so").unlink()
    (folder / "_internal" / "libtorch_cpu.so").write_bytes(LARGE)
    (folder / "_internal" / "another.so").hardlink_to(library)
    (folder / "_internal" / "different.so").write_bytes(b"\1" + LARGE[1:])
    done = check(folder)
    assert done.returncode == 1
    assert done.stderr == (
        "tequio-runtime-cpu: 1.0 MB in 3 equal files: _internal/another.so, "
        "_internal/libtorch_cpu.so, _internal/torch/lib/libtorch_cpu.so\n"
    )


def test_a_folder_above_its_limit_is_refused(folder: Path) -> None:
    with (folder / "hole").open("wb") as file:
        file.truncate(1_350_000_000)
    done = check(folder)
    assert done.returncode == 1
    assert "1,353 MB, and the limit is 1,350: leave something out" in done.stderr


def test_a_runtime_with_the_environments_torch_has_the_limit_of_what_is_inside(
    folder: Path,
) -> None:
    folder = folder.rename(folder.with_name("tequio-runtime"))
    assert check(folder).stdout.endswith("limit 1,350 MB\n")
    (folder / "_internal" / "nvidia").mkdir()
    assert "limit 1,350 MB" not in check(folder).stdout


def test_a_folder_that_is_missing_or_empty_has_not_passed(tmp_path: Path) -> None:
    for folder in (tmp_path, tmp_path / "missing"):
        assert check(folder).returncode == 2


@pytest.mark.parametrize("system", ["win32", "darwin"])
def test_a_first_build_on_another_system_is_reported_and_goes_on(folder: Path, system: str) -> None:
    (folder / "_internal" / "another.so").write_bytes(LARGE)
    with (folder / "hole").open("wb") as file:
        file.truncate(1_350_000_000)
    assert check(folder).returncode == 1
    done = check(folder, system)
    assert done.returncode == 0
    assert "1,354 MB, and the limit is 1,350" in done.stderr
    assert "1.0 MB in 2 equal files: _internal/another.so" in done.stderr
    assert f"not enforced, because no build on {system} was measured yet" in done.stderr
