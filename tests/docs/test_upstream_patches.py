"""Each patch for py-libp2p brings tests that fail without it and pass with it.

Both are run on a copy of the installed package; nothing that is installed is changed.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import libp2p
import pytest

ROOT = Path(__file__).parent.parent.parent
PATCHES = sorted((ROOT / "docs" / "upstream").glob("*.patch"))
PAGE = ROOT / "docs" / "upstream.md"
GIT = shutil.which("git") or "git"
PACKAGE = Path(libp2p.__file__).parent
# Not all that the library imports is installed: the client puts parts of its own in the place.
CONFTEST = """
import tequio_client.worker.swarm.libp2p_parts
import libp2p
assert libp2p.__file__.startswith({folder!r}), libp2p.__file__
"""


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """A folder with the package, as a checkout of its repository has it."""
    shutil.copytree(PACKAGE, tmp_path / "libp2p", ignore=shutil.ignore_patterns("__pycache__"))
    (tmp_path / "conftest.py").write_text(CONFTEST.format(folder=str(tmp_path)))
    return tmp_path


def apply(patch: Path, folder: Path, part: str, *more: str) -> None:
    """Apply the files of a patch that are below `part`; fails unless they fit exactly."""
    subprocess.run(
        (GIT, "apply", *more, f"--include={part}/*", str(patch)),
        cwd=folder,
        check=True,
        env={**os.environ, "GIT_CEILING_DIRECTORIES": str(folder.parent)},
    )


def outcome(folder: Path) -> tuple[int, str]:
    """Run the tests of the copy."""
    paths = (str(folder), *(str(ROOT / part) for part in ("client", "shared", "assets")))
    command = (sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-c", os.devnull)
    ran = subprocess.run(
        (*command, "--rootdir", str(folder), "--confcutdir", str(folder), str(folder / "tests")),
        check=False,
        cwd=folder,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(paths), "PYTHONDONTWRITEBYTECODE": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    return ran.returncode, ran.stdout


def test_their_tests_fail_without_them_and_pass_with_them(copy: Path) -> None:
    for patch in PATCHES:
        apply(patch, copy, "tests")
    files = {str(path.relative_to(copy)) for path in copy.glob("tests/**/test_*.py")}
    assert len(files) == len(PATCHES)
    code, output = outcome(copy)
    assert code == pytest.ExitCode.TESTS_FAILED, output
    # Failed, not broken: a test that cannot import what it needs shows nothing.
    assert set(re.findall(r"^FAILED ([^:]+)::", output, re.MULTILINE)) == files, output
    assert not re.search(r"^ERROR ", output, re.MULTILINE), output
    for patch in PATCHES:
        apply(patch, copy, "libp2p")
    code, output = outcome(copy)
    assert code == pytest.ExitCode.OK, output


def test_each_applies_alone(copy: Path) -> None:
    for patch in PATCHES:
        for part in ("tests", "libp2p"):
            apply(patch, copy, part, "--check")


def test_the_page_names_each_patch() -> None:
    assert PATCHES
    named = re.findall(r"\(upstream/([\w-]+\.patch)\)", PAGE.read_text("utf-8"))
    assert named == [patch.name for patch in PATCHES]
