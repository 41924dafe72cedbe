"""The same app makes the same installers, on another day, in another folder, by another computer.

The app is two small files: `make package` need not have run.
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


def build(folder: Path, icons: Path, made_s: int) -> Path:
    """Build in a folder the installers of files that were made at that time."""
    shutil.copytree(ROOT / "installer", folder / "installer")
    package = folder / "build" / "package"
    (package / "tequio" / "_internal").mkdir(parents=True)
    shutil.copy("/bin/bash", package / "tequio" / "tequio")
    (package / "tequio" / "_internal" / "base_library.zip").write_bytes(b"library")
    shutil.copytree(icons, package / "icons")
    for path in (package, *package.rglob("*"), *(folder / "installer").rglob("*")):
        os.utime(path, (made_s, made_s))
    environ = os.environ | {"SOURCE_DATE_EPOCH": str(COMMIT_S), "OS": "Windows_NT"}
    for system in ("linux", "windows"):
        command = (folder / "installer" / system / "build.sh", BUILD)
        subprocess.run(command, check=True, env=environ, timeout=300)
    return package


def test_the_same_app_makes_the_same_installers(tmp_path: Path, icons: Path) -> None:
    first = build(tmp_path / "first", icons, COMMIT_S + 1_000)
    second = build(tmp_path / "elsewhere" / "second", icons, COMMIT_S + 90_000)
    assert {path.name for path in first.iterdir()} == {"tequio", "icons", "installers"}
    ends = {path.name.rpartition(".")[2] for path in (first / "installers").iterdir()}
    assert ends == {"deb", "rpm", "xz", "exe"}
    command = (sys.executable, first / ".." / ".." / "installer" / "package" / "compare.py")
    done = subprocess.run((*command, first, second), check=False, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, ""), done.stdout
    (package,) = (first / "installers").glob("*.rpm")
    host = ("rpm", "-qp", "--queryformat", "%{BUILDHOST}", package)
    assert subprocess.run(host, check=True, capture_output=True).stdout == b"tequio"
