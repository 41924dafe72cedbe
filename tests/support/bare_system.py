"""Bare Linux systems in a folder, as debootstrap makes them, for tests of packages.

A system is made once, in build/roots; a test writes to a layer of its own above it. Needs root.
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Self

import psutil

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOTS = Path(__file__).parents[2] / "build" / "roots"
USER, USER_ID = "ana", 1000
_MINUTE_S = 60
_LIKE = {"noble": "jammy", "trixie": "bookworm"}
"""Releases that may be newer than debootstrap, and the one whose script serves them."""
_SCRIPTS = Path("/usr/share/debootstrap/scripts")


def why_not() -> str:
    """Name what is missing for bare systems; empty if nothing is."""
    if os.name != "posix" or os.geteuid() != 0:
        return "only root can enter another system"
    tools = ("debootstrap", "unshare", "nsenter", "Xvfb", "import", "xdotool")
    return ", ".join(f"{one} is missing" for one in tools if shutil.which(one) is None)


class BareSystem:
    """A system of that release with one ordinary user; `root` has the files that changed.

    It has its own processes and the network of this computer. All of it ends with the block.
    """

    def __init__(self, release: str, folder: Path, shared: Path | None = None) -> None:
        """`shared`: a folder of this computer that is at the same place inside."""
        self.release = release
        self._base, self._folder = _base(release), folder
        for name in ("changes", "work", "system"):
            (folder / name).mkdir()
        (ROOTS / f"{release}.debs").mkdir(exist_ok=True)
        self._debs = ROOTS / f"{release}.debs"
        self.root = folder / "changes"
        shutil.copy("/etc/resolv.conf", self._file("etc/resolv.conf"))
        self._first, self._pid = self._boot(shared)
        self.run(f"useradd --create-home --shell /bin/sh --uid {USER_ID} {USER}")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._first.kill()  # and all processes with it
        self._first.communicate()

    def add(self, path: Path) -> str:
        """Copy a file or folder to /opt; return its path inside."""
        target = self._file(f"opt/{path.name}")
        (shutil.copytree if path.is_dir() else shutil.copy2)(path, target)
        return f"/opt/{path.name}"

    def command(self, script: str, user: str = "root", **environ: str) -> tuple[str, ...]:
        """The command that runs a script inside."""
        owner = 0 if user == "root" else USER_ID
        inside = {
            "HOME": "/root" if user == "root" else f"/home/{user}",
            "PATH": os.defpath + ":/usr/sbin:/sbin",
            "LANG": "C.UTF-8",
        } | environ
        settings = (f"{name}={value}" for name, value in inside.items())
        entered = (f"--target={self._pid}", "--mount", "--pid", f"--setuid={owner}")
        started = (f"--setgid={owner}", "--", "/usr/bin/env", "-i", *settings, "sh", "-ec", script)
        return ("nsenter", *entered, *started)

    @contextmanager
    def running(
        self, script: str, user: str, log: Path, **environ: str
    ) -> Iterator[subprocess.Popen[bytes]]:
        """Run a program while the block lasts; its children end with it."""
        command = self.command(script, user, **environ)
        with log.open("ab") as output, subprocess.Popen(command, stderr=output) as program:
            try:
                yield program
            finally:
                end_tree(program)

    def run(
        self, script: str, user: str = "root", *, expected: int = 0, **environ: str
    ) -> subprocess.CompletedProcess[str]:
        """Run a script, which has no input; it must end with the expected status."""
        done = subprocess.run(
            self.command(script, user, **environ),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
            timeout=20 * _MINUTE_S,
        )
        assert done.returncode == expected, done.stdout[-3000:] + done.stderr[-3000:]
        return done

    def install(self, *packages: str) -> None:
        """Install packages with apt: names, or files inside."""
        apt = "apt-get -qq -o APT::Keep-Downloaded-Packages=true"
        self.run(
            f"{apt} update; {apt} install --yes --no-install-recommends {' '.join(packages)}",
            DEBIAN_FRONTEND="noninteractive",
        )

    def files(self, folder: str) -> set[str]:
        """The files and links below a folder inside, by their path from it."""
        found = self.run(f"cd {folder} && find . ! -type d").stdout
        return {line.removeprefix("./") for line in found.splitlines()}

    def _boot(self, shared: Path | None) -> tuple[subprocess.Popen[str], int]:
        """Start the system's first process, which only waits; return it, and its id."""
        system = shlex.quote(str(self._folder / "system"))
        layers = (
            ("lowerdir", self._base),
            ("upperdir", self.root),
            ("workdir", self._folder / "work"),
        )
        options = ",".join(f"{name}={path}" for name, path in layers)
        bound = {"dev": "/dev", "sys": "/sys", "var/cache/apt/archives": str(self._debs)}
        if shared is not None:
            bound[str(shared).lstrip("/")] = str(shared)
        mounted = "\n".join(
            f"mkdir -p {system}/{inside}; mount --rbind {shlex.quote(outside)} {system}/{inside}"
            for inside, outside in bound.items()
        )
        # Another root by pivot_root, because who was put into one by chroot may not make sandboxes.
        script = f"""
            mount -t overlay overlay -o {shlex.quote(options)} {system}
            mount -t proc proc {system}/proc
            {mounted}
            cd {system}
            pivot_root . mnt
            umount -l /mnt
            echo ready
            read -r _
        """
        command = ("unshare", "--mount", "--pid", "--fork", "--kill-child", "sh", "-ec", script)
        unshared = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        assert unshared.stdout is not None
        assert unshared.stdout.readline() == "ready\n"
        (first,) = psutil.Process(unshared.pid).children()
        return unshared, first.pid

    def _file(self, path: str) -> Path:
        place = self.root / path
        place.parent.mkdir(parents=True, exist_ok=True)
        return place


def end_tree(program: subprocess.Popen[bytes]) -> None:
    """End a program and all that it has started."""
    with suppress(psutil.NoSuchProcess):
        for one in psutil.Process(program.pid).children(recursive=True):
            with suppress(psutil.NoSuchProcess):
                one.kill()
    program.kill()
    program.wait()


def _base(release: str) -> Path:
    """The untouched system of a release; made once, which takes minutes."""
    base = ROOTS / release
    if not base.is_dir():
        partial = ROOTS / f"{release}.partial"
        shutil.rmtree(partial, ignore_errors=True)
        partial.mkdir(parents=True)
        is_known = (_SCRIPTS / release).exists()
        script = _SCRIPTS / (release if is_known else _LIKE[release])
        # Debian has no keyring of Ubuntu, and an older system none of a newer one; apt, inside,
        # checks all that a test installs.
        unchecked = () if is_known and release != "noble" else ("--no-check-gpg",)
        words = ("debootstrap", "--variant=minbase", *unchecked, release, partial, "", script)
        made = subprocess.run(words, check=False, stdout=subprocess.PIPE, timeout=30 * _MINUTE_S)
        assert made.returncode == 0, made.stdout.decode()[-2000:]
        partial.rename(base)
    return base
