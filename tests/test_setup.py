"""How installer/setup.sh and the Makefile make a checkout ready."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import venv
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
INSTALLER = ROOT / "installer"


def test_the_tools_of_the_tests_have_the_outside_verifier_among_them(tmp_path: Path) -> None:
    script = (INSTALLER / "setup.sh").read_text("utf-8").removesuffix('main "$@"\n')
    bare = f"{script}\nPATH={tmp_path}\nmissing_tools"  # a machine that has no command at all
    command = ["bash", "-c", bare, str(INSTALLER / "setup.sh")]
    done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=60)
    named = done.stdout.split()
    assert {"golang-go", "chromium", "xvfb"} <= set(named), done.stderr
    has_modules = Path("/usr/share/gocode/src/golang.org/x/mod/sumdb/tlog").exists()
    assert ("golang-golang-x-mod-dev" in named) != has_modules


def test_on_macos_setup_names_homebrews_packages(tmp_path: Path) -> None:
    (tmp_path / "uname").write_text("#!/bin/sh\necho Darwin\n", "utf-8")
    (tmp_path / "uname").chmod(0o755)
    environment = {"PATH": f"{tmp_path}:/usr/bin:/bin", "PYTHON": str(tmp_path / "none")}
    for words, told in (((), "brew install python@3.12"), (("tools",), "need Linux")):
        command = ["bash", str(INSTALLER / "setup.sh"), *words]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        assert (done.returncode, done.stdout) == (1, "")
        assert told in done.stderr
        assert "apt-get" not in done.stderr


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A checkout that is ready: a real environment, with a pip of few lines.

    It begins as pip's own script does where the path has a blank, or is long.
    """
    folder = tmp_path / "a checkout"
    venv.create(folder / ".venv", symlinks=True)
    (packages,) = (folder / ".venv" / "lib").glob("*/site-packages")
    (packages / "pip.py").touch()
    pip = folder / ".venv" / "bin" / "pip"
    python = folder / ".venv" / "bin" / "python"
    pip.write_text(f"#!/bin/sh\n'''exec' \"{python}\" \"$0\" \"$@\"\n' '''\nimport pip\n", "utf-8")
    pip.chmod(0o755)
    (folder / "installer").mkdir()
    shutil.copy2(ROOT / "Makefile", folder)
    for name in ("pyproject.toml", "requirements.lock", "installer/setup.sh", "installer/torch.sh"):
        (folder / name).touch()
    (folder / ".venv" / ".ready").touch()
    return folder


def made_environment(checkout: Path) -> str:
    """Run that step of setup.sh; print what it asks of Python."""
    script = (INSTALLER / "setup.sh").read_text("utf-8").removesuffix('main "$@"\n')
    command = ["bash", "-c", f"{script}\nmake_venv", str(checkout / "installer" / "setup.sh")]
    environment = os.environ | {"PYTHON": "echo"}
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, env=environment)
    return done.stdout


def setup_steps(checkout: Path) -> list[str]:
    """Name the commands that `make setup` would run."""
    command = ("make", "--dry-run", "setup")
    environment = {"PATH": os.environ["PATH"]}  # nothing of a make that runs the tests
    done = subprocess.run(
        command, cwd=checkout, check=True, stdout=subprocess.PIPE, text=True, env=environment
    )
    return done.stdout.splitlines()


@pytest.mark.skipif(sys.platform == "win32", reason="programs of the environment are elsewhere")
def test_the_environment_of_a_moved_checkout_is_made_again(checkout: Path) -> None:
    assert made_environment(checkout) == ""
    moved = checkout.rename(checkout.with_name("moved"))
    assert made_environment(moved) == "-m venv --clear .venv\n"


@pytest.mark.skipif(shutil.which("make") is None, reason="no make here")
def test_make_sets_up_a_moved_checkout_and_leaves_one_with_a_linked_environment(
    checkout: Path,
) -> None:
    worktree = checkout.with_name("worktree")
    shutil.copytree(checkout, worktree, ignore=lambda *_: {".venv"})
    (worktree / ".venv").symlink_to(checkout / ".venv")
    ready = ['echo ".venv is ready"']
    for folder in (checkout, worktree):
        assert setup_steps(folder) == ready
    moved = checkout.rename(checkout.with_name("moved"))
    assert setup_steps(moved) == ['PYTHON="python3" installer/setup.sh', *ready]
