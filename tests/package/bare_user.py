"""A user of a bare system who has a screen, and installs a package as `make package` made it."""

from __future__ import annotations

import json
import os
import subprocess
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import msgspec
import pytest
from jeepney import DBusErrorResponse

from tequio_client.ipc.points import PointsRow
from tests.support.accessibility_tree import reader
from tests.support.bare_system import USER, USER_ID, BareSystem, end_tree, why_not
from tests.support.desktop_tour import DesktopUser, wait_until
from tests.support.private_bus import PrivateBus
from tests.support.private_display import PrivateDisplay

if TYPE_CHECKING:
    from collections.abc import Iterator

BUILD_FOLDER = Path(__file__).parents[2] / "build"
INSTALLERS = BUILD_FOLDER / "package" / "installers"
HOME = f"/home/{USER}"
_ACCESSIBILITY = Path("/usr/libexec/at-spi-bus-launcher")

NEEDS_BARE_SYSTEMS = [
    pytest.mark.package,
    pytest.mark.skipif(bool(why_not()), reason=why_not() or "everything is there"),
    pytest.mark.skipif(not _ACCESSIBILITY.exists(), reason="at-spi2-core is missing"),
]
"""Marks of a module of tests."""


@dataclass(frozen=True, slots=True)
class UserSession:
    """A screen and message buses, for the user of a bare system."""

    folder: Path
    environ: dict[str, str]

    @contextmanager
    def user(self, name: str) -> Iterator[DesktopUser]:
        """A user who sees all windows; their pictures are in a folder of that name."""
        out = BUILD_FOLDER / "pictures" / name
        out.mkdir(parents=True, exist_ok=True)
        with reader(self.environ["DBUS_SESSION_BUS_ADDRESS"]) as eyes:
            yield DesktopUser(eyes, out)


@contextmanager
def user_session(monkeypatch: pytest.MonkeyPatch) -> Iterator[UserSession]:
    """Start the screen and the buses; they end with the block."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(TemporaryDirectory(prefix="tequio-session-")))
        os.chown(folder, USER_ID, USER_ID)
        display = stack.enter_context(PrivateDisplay("1600x1000"))
        display.manage()
        monkeypatch.setenv("DISPLAY", display.name)
        bus = stack.enter_context(PrivateBus(folder, USER_ID))
        environ = {
            "DISPLAY": display.name,
            "DBUS_SESSION_BUS_ADDRESS": bus.address,
            "XDG_RUNTIME_DIR": str(folder),
            "QT_LINUX_ACCESSIBILITY_ALWAYS_ON": "1",
        }
        command = (_ACCESSIBILITY, "--launch-immediately")
        launcher = subprocess.Popen(
            command, env=environ, user=USER_ID, group=USER_ID, stderr=subprocess.DEVNULL
        )
        stack.callback(end_tree, launcher)
        wait_until("the accessibility bus is there", lambda: _can_read(bus.address), 30)
        yield UserSession(folder, environ)


def _can_read(address: str) -> bool:
    try:
        with reader(address):
            return True
    except (DBusErrorResponse, OSError):
        return False


class Package:
    """The `.deb`, which root installs."""

    command = "tequio"

    def __init__(self, system: BareSystem, environ: dict[str, str]) -> None:
        self.system, self._environ = system, environ
        (self.file,) = INSTALLERS.glob("*.deb")

    def install(self) -> None:
        self.system.install(self.system.add(self.file))

    def uninstall(self) -> None:
        self.system.run("apt-get -qq remove --yes tequio")

    def run(self, *words: str) -> str:
        """Run the command as the user; return its output."""
        script = " ".join((self.command, *words))
        done = self.system.run(script, USER, expected=0, **self._environ)
        return done.stdout.strip()

    def rounds(self, state: str) -> list[PointsRow]:
        """The worker's rounds in that state, newest first."""
        rows = json.loads(self.run("points", "--json"))["rounds"]
        return [one for one in msgspec.convert(rows, list[PointsRow]) if one.state == state]

    @contextmanager
    def app(self, ledger: str, log: Path) -> Iterator[subprocess.Popen[bytes]]:
        """Run the app while the block lasts."""
        script = f"exec {self.command} app --ledger {ledger}"
        with self.system.running(script, USER, log, **self._environ) as program:
            yield program


class Archive(Package):
    """The archive, which the user installs; the system has what a desktop has."""

    command = f"{HOME}/.local/bin/tequio"

    def install(self) -> None:
        fields = ("dpkg-deb", "--field", str(self.file), "Depends")
        needed = subprocess.run(fields, check=True, capture_output=True, text=True).stdout
        names = [one.split("|")[0].split("(")[0].strip() for one in needed.split(",")]
        self.system.install("xz-utils", *names)
        self.install_again()

    def install_again(self) -> None:
        (archive,) = INSTALLERS.glob("*.tar.xz")
        inside = self.system.add(archive)
        said = self.system.run(f"cd /tmp; tar xf {inside}; tequio-*/install.sh", USER).stdout
        assert "libraries" not in said, said

    def uninstall(self, option: str = "") -> None:
        self.system.run(f"{HOME}/.local/lib/tequio/uninstall.sh {option}", USER)
