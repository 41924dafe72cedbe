"""Installers of an app of two small files: `make package` need not have run.

The same app makes the same bytes on another day and in another folder, and those for tests are not
among those for people.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tequio_shared.version import BUILD

ROOT = Path(__file__).parents[2]
COMMIT_S = 1_750_000_000
NEEDED = ("objdump", "dpkg-deb", "dpkg-shlibdeps", "rpmbuild", "makensis")
MISSING = [name for name in NEEDED if shutil.which(name) is None]

pytestmark = [
    pytest.mark.package,
    pytest.mark.skipif(bool(MISSING), reason=f"{', '.join(MISSING)} missing"),
]


@pytest.fixture
def icons(tmp_path: Path) -> Path:
    made = tmp_path / "icons"
    script = ROOT / "installer" / "package" / "icons.py"
    subprocess.run((sys.executable, script, made), check=True)
    return made


def checkout(folder: Path, icons: Path, made_s: int) -> Path:
    """Prepare one with an app whose files were made at that time; return its build folder."""
    shutil.copytree(ROOT / "installer", folder / "installer")
    package = folder / "build" / "package"
    (package / "tequio" / "_internal").mkdir(parents=True)
    shutil.copy("/bin/bash", package / "tequio" / "tequio")
    (package / "tequio" / "_internal" / "base_library.zip").write_bytes(b"library")
    shutil.copytree(icons, package / "icons")
    for path in (package, *package.rglob("*"), *(folder / "installer").rglob("*")):
        os.utime(path, (made_s, made_s))
    write_program(folder / ".venv" / "bin" / "python", f'exec {sys.executable} "$@"')
    return folder / "build"


def write_program(path: Path, line: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{line}\n")
    path.chmod(0o755)


def make_installers(build: Path, **more: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        (build.parent / "installer" / "package" / "build.sh", "installers"),
        check=False,
        capture_output=True,
        text=True,
        env=os.environ | {"SOURCE_DATE_EPOCH": str(COMMIT_S)} | more,
        timeout=300,
    )


def test_the_same_app_makes_the_same_installers(tmp_path: Path, icons: Path) -> None:
    first = checkout(tmp_path / "first", icons, COMMIT_S + 1_000)
    second = checkout(tmp_path / "elsewhere" / "second", icons, COMMIT_S + 90_000)
    for build in (first, second):
        done = make_installers(build)
        assert done.returncode == 0, done.stderr
    script = ROOT / "installer" / "package" / "compare.py"
    for name in ("package", "package-test"):
        command = (sys.executable, "-I", script, first / name, second / name)
        done = subprocess.run(command, check=False, capture_output=True, text=True)
        assert (done.returncode, done.stderr) == (0, ""), done.stdout
    (package,) = first.glob("package/installers/*.rpm")
    host = ("rpm", "-qp", "--queryformat", "%{BUILDHOST}", package)
    assert subprocess.run(host, check=True, capture_output=True).stdout == b"tequio"


def test_the_folder_for_people_has_neither_what_is_for_tests_nor_work(
    tmp_path: Path, icons: Path
) -> None:
    build = checkout(tmp_path / "checkout", icons, COMMIT_S)
    assert make_installers(build).returncode == 0
    assert {path.name for path in build.glob("package/*")} == {"tequio", "icons", "installers"}
    made = {path.name.rpartition(".")[2] for path in build.glob("package/installers/*")}
    assert made == {"deb", "rpm", "xz"}
    assert (build / "package-test" / f"Tequio-Setup-{BUILD}.exe").is_file()


def test_on_windows_a_missing_nsis_ends_the_build(tmp_path: Path, icons: Path) -> None:
    build = checkout(tmp_path / "checkout", icons, COMMIT_S)
    write_program(tmp_path / "bin" / "uname", "echo MINGW64_NT-10.0-26100")
    for name in ("bash", "dirname", "mkdir", "ls"):
        (tmp_path / "bin" / name).symlink_to(shutil.which(name) or name)
    windows = {"OS": "Windows_NT", "PATH": str(tmp_path / "bin")}
    done = make_installers(build, **windows)
    assert done.returncode == 1
    assert done.stderr == "no makensis: install nsis, and add its folder to PATH\n"
    (tmp_path / "bin" / "makensis").symlink_to(shutil.which("makensis") or "makensis")
    done = make_installers(build, **windows)
    assert done.returncode == 0, done.stderr
    (made,) = (build / "package" / "installers").iterdir()
    assert made.name == f"Tequio-Setup-{BUILD}.exe"
