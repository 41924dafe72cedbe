"""Command lines of our own programs, run from source and from a package.

From source, each is a module of the interpreter that runs. A package has no interpreter: its
program `tequio` runs all modules that need no torch, and `tequio-runtime`, in a folder of its own
for the computer's device, runs the others. Both take a module after `-m`, as Python does.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tequio_client.platform import versions
from tequio_shared.version import BUILD

RUNTIME_VARIABLE = "TEQUIO_RUNTIME"
"""Folder of the runtime, in place of the usual one."""
OF_RUNTIME = frozenset((
    *("torch", "transformers", "datasets", "numba", "llvmlite", "safetensors", "tokenizers"),
    *("gguf", "huggingface_hub", "hf_xet", "pyarrow", "pandas", "httpx2"),
    *("opacus", "scipy", "opt_einsum"),
))  # fmt: skip
"""Packages that only the runtime of a package has."""


def is_packaged() -> bool:
    """Return whether this program was built by PyInstaller."""
    return bool(getattr(sys, "frozen", False))


def is_runtime() -> bool:
    """Return whether this program is a package's runtime."""
    return is_packaged() and Path(sys.executable).name == versions.PROGRAMS["runtime"]


def tequio(*words: str) -> tuple[str, ...]:
    """The command `tequio` of this installation, with these words."""
    if is_packaged():
        return (str(_packaged()), *words)
    return (sys.executable, "-m", "tequio_client", *words)


def module(name: str, *words: str) -> tuple[str, ...]:
    """Our program that needs no torch, by its module."""
    return (str(_packaged()) if is_packaged() else sys.executable, "-m", name, *words)


def runtime_module(name: str, *words: str) -> tuple[str, ...]:
    """Our program that needs torch, by its module."""
    return (str(runtime()) if is_packaged() else sys.executable, "-m", name, *words)


def runtime() -> Path:
    """Program of the runtime that belongs to this version of the package; it may be missing."""
    named = os.environ.get(RUNTIME_VARIABLE)
    if named:
        return Path(named) / versions.PROGRAMS["runtime"]
    return versions.program_of("runtime", BUILD)


def has_runtime() -> bool:
    """Return whether this installation can train."""
    return not is_packaged() or runtime().is_file()


def lasting(*words: str) -> tuple[str, ...]:
    """The command `tequio` as the system should remember it, which outlives updates."""
    installed = os.environ.get(versions.INSTALLED_VARIABLE)
    command = (installed, *words) if installed and is_packaged() else tequio(*words)
    if words[:1] == ("app",) and is_packaged() and sys.platform in ("win32", "darwin"):
        # The same program, but one that opens no console.
        return (str(Path(command[0]).with_name("tequio-app" + versions.SUFFIX)), *words)
    return command


def start_again(*words: str) -> None:
    """Start `tequio` in place of this program, which has ended its work."""
    command = lasting(*words)
    if sys.platform == "win32":
        subprocess.Popen(command)  # noqa: S603
    else:
        os.execv(command[0], command)  # noqa: S606


def selftest(part: versions.Part, accelerator: str = "") -> tuple[str, ...]:
    """Words for a program of a package that make it test itself on this computer."""
    if part == "app":
        return ("app", "--selftest")
    # torch's build for ROCm calls AMD's cards cuda.
    device = {"rocm": "cuda"}.get(accelerator, accelerator)
    return ("-m", "tequio_client.trainer", "selftest", device)


def not_installed(package: str) -> str:
    """Return a sentence for people: this installation of Tequio lacks a package."""
    return (
        f"{package} is not installed here: install Tequio with its extra 'client', for example "
        "with `pipx install --force '.[client]'` in a checkout"
    )


def _packaged() -> Path:
    return Path(sys.executable).with_name(versions.PROGRAMS["app"])
