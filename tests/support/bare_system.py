"""Bare Linux systems in a folder, as debootstrap makes them, for tests of packages.

A system is made once, in build/roots; a test writes to a layer of its own above it. Needs root.
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
from pathlib import Path

ROOTS = Path(__file__).parents[2] / "build" / "roots"
USER = "ana"
_MINUTE_S = 60
_LIKE = {"noble": "jammy"}
"""Releases of Ubuntu newer than debootstrap, and the one whose script serves them."""
_SCRIPTS = Path("/usr/share/debootstrap/scripts")


def why_not() -> str:
    """Name what is missing for bare systems; empty if nothing is."""
    if os.name != "posix" or os.geteuid() != 0:
        return "only root can enter another system"
    tools = ("debootstrap", "unshare", "Xvfb", "import", "xdotool")
    return ", ".join(f"{one} is missing" for one in tools if shutil.which(one) is None)


class BareSystem:
    """A system of that release with one ordinary user; `root` has the files that changed."""

    def __init__(self, release: str, folder: Path) -> None:
        self.release = release
        self._base, self._folder = _base(release), folder
        for name in ("changes", "work", "system"):
            (folder / name).mkdir()
        (ROOTS / f"{release}.debs").mkdir(exist_ok=True)
        self._debs = ROOTS / f"{release}.debs"
        self.root = folder / "changes"
        shutil.copy("/etc/resolv.conf", self._file("etc/resolv.conf"))
        self.run(f"useradd --create-home --shell /bin/sh {USER}")

    def add(self, path: Path) -> str:
        """Copy a file or folder to /opt; return its path inside."""
        target = self._file(f"opt/{path.name}")
        (shutil.copytree if path.is_dir() else shutil.copy2)(path, target)
        return f"/opt/{path.name}"

    def command(self, script: str, user: str = "root", **environ: str) -> tuple[str, ...]:
        """The command that runs a script inside."""
        system = shlex.quote(str(self._folder / "system"))
        layers = (
            ("lowerdir", self._base),
            ("upperdir", self.root),
            ("workdir", self._folder / "work"),
        )
        options = ",".join(f"{name}={path}" for name, path in layers)
        home = "/root" if user == "root" else f"/home/{user}"
        inside = {
            "HOME": home,
            "PATH": os.defpath + ":/usr/sbin:/sbin",
            "LANG": "C.UTF-8",
        } | environ
        settings = " ".join(f"{name}={shlex.quote(value)}" for name, value in inside.items())
        outer = f"""
            mount -t overlay overlay -o {shlex.quote(options)} {system}
            mount -t proc proc {system}/proc
            mount --rbind /dev {system}/dev
            mount --bind {shlex.quote(str(self._debs))} {system}/var/cache/apt/archives
            exec chroot --userspec={user} {system} env -i {settings} sh -ec {shlex.quote(script)}
        """
        return ("unshare", "--mount", "--pid", "--fork", "--kill-child", "sh", "-ec", outer)

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

    def _file(self, path: str) -> Path:
        place = self.root / path
        place.parent.mkdir(parents=True, exist_ok=True)
        return place


def _base(release: str) -> Path:
    """The untouched system of a release; made once, which takes minutes."""
    base = ROOTS / release
    if not base.is_dir():
        partial = ROOTS / f"{release}.partial"
        shutil.rmtree(partial, ignore_errors=True)
        partial.mkdir(parents=True)
        script = _SCRIPTS / _LIKE.get(release, release)
        # Debian has no keyring of Ubuntu; apt, inside, checks all that a test installs.
        unchecked = ("--no-check-gpg",) if release in _LIKE else ()
        words = ("debootstrap", "--variant=minbase", *unchecked, release, partial, "", script)
        made = subprocess.run(words, check=False, stdout=subprocess.PIPE, timeout=30 * _MINUTE_S)
        assert made.returncode == 0, made.stdout.decode()[-2000:]
        partial.rename(base)
    return base
