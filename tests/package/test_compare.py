"""The comparison of two builds finds each kind of difference, and excuses only those named."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "installer" / "package" / "compare.py"


@pytest.fixture
def first(tmp_path: Path) -> Path:
    return build(tmp_path / "first")


@pytest.fixture
def second(tmp_path: Path) -> Path:
    return build(tmp_path / "second")


def build(folder: Path) -> Path:
    """Make a small build: a program, a library that a link names, and an archive."""
    (folder / "lib").mkdir(parents=True)
    (folder / "program").write_bytes(b"\x7fELF program")
    (folder / "program").chmod(0o755)
    (folder / "lib" / "library.so.1").write_bytes(b"library")
    (folder / "lib" / "library.so.1").chmod(0o644)
    (folder / "lib" / "library.so").symlink_to("library.so.1")
    archive(folder, ("a.pyc", "b.pyc"))
    return folder


def archive(folder: Path, names: tuple[str, ...], content: str = "code") -> None:
    with zipfile.ZipFile(folder / "base.zip", "w") as written:
        for name in names:
            written.writestr(zipfile.ZipInfo(name), f"{content} of {name}")


def compare(first: Path, second: Path, *options: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-I", str(SCRIPT), str(first), str(second), *options]
    return subprocess.run(command, check=False, capture_output=True, text=True, timeout=60)


def test_two_equal_builds_are_the_same(first: Path, second: Path) -> None:
    done = compare(first, second)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "0 differences, 0 of them unexplained, among 5 files\n"


def test_each_kind_of_difference_is_found(first: Path, second: Path) -> None:
    (second / "program").write_bytes(b"\x7fELF PROGRAM")
    (second / "lib" / "library.so.1").chmod(0o600)
    (second / "lib" / "library.so").unlink()
    (second / "lib" / "library.so").symlink_to("elsewhere")
    (second / "new").mkdir()
    (first / "old").write_text("")
    archive(second, ("a.pyc", "b.pyc"), "other code")
    done = compare(first, second)
    assert done.returncode == 1
    assert done.stdout.splitlines() == [
        "base.zip: contents differ in a.pyc, b.pyc",
        "lib/library.so: targets differ",
        "lib/library.so.1: modes 644 and 600",
        f"new: only in {second}",
        f"old: only in {first}",
        "program: contents differ",
        "6 differences, 6 of them unexplained, among 6 files",
    ]


def test_an_archive_in_another_order_is_another_file(first: Path, second: Path) -> None:
    archive(second, ("b.pyc", "a.pyc"))
    done = compare(first, second)
    assert done.returncode == 1
    assert "base.zip: contents differ in order or headers alone" in done.stdout


def test_two_files_are_compared_too(first: Path, second: Path) -> None:
    assert compare(first / "base.zip", second / "base.zip").returncode == 0
    archive(second, ("a.pyc",))
    done = compare(first / "base.zip", second / "base.zip")
    assert done.returncode == 1
    assert "base.zip: contents differ in b.pyc" in done.stdout


def test_a_difference_is_excused_by_name_and_with_its_reason_alone(
    first: Path, second: Path
) -> None:
    (second / "program").write_bytes(b"signed")
    done = compare(first, second, "--allow", "prog*=it is signed")
    assert done.returncode == 0
    assert "program: contents differ (allowed: it is signed)" in done.stdout
    archive(second, ("a.pyc",))
    assert compare(first, second, "--allow", "prog*=it is signed").returncode == 1
    assert compare(first, second, "--allow", "prog*").returncode == 2


def test_an_excuse_that_nothing_needs_fails(first: Path, second: Path) -> None:
    done = compare(first, second, "--allow", "program=it is signed")
    assert done.returncode == 1
    assert "program: allowed to differ, and does not" in done.stdout


def test_a_build_that_is_missing_is_no_equal_one(first: Path, tmp_path: Path) -> None:
    done = compare(first, tmp_path / "none")
    assert done.returncode == 2
    assert "none" in done.stderr
