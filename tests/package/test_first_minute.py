"""A new user's first minutes with a package on a bare system, and the last ones.

Install, go through the first steps with mouse and keyboard, fetch the runtime, lend until a round
is proven, update and go back, remove. The network, with its ledger, seed and other volunteers, runs
outside; every program is real.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import msgspec
import pytest
from jeepney import DBusErrorResponse

from tequio_client.ipc.control import PointsRow
from tequio_shared.version import BUILD
from tests.package.conftest import BUILT, NEWER
from tests.support.accessibility_tree import reader
from tests.support.bare_system import USER, USER_ID, BareSystem, end_tree, why_not
from tests.support.desktop_tour import (
    DesktopUser,
    allow_others,
    first_run,
    lend,
    network,
    trainers,
    wait_until,
)
from tests.support.private_bus import PrivateBus
from tests.support.private_display import PrivateDisplay

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.package.conftest import ReleaseMirror

INSTALLERS = BUILT / "installers"
PICTURES = BUILT.with_name("pictures") / "first-minute"
HOME = f"/home/{USER}"
ACCESSIBILITY = Path("/usr/libexec/at-spi-bus-launcher")
LONGEST_S = 900.0
RUNTIMES = ("runtime", "status")
OURS = re.compile(r"\.(local/share|config)/tequio/")
OF_SYSTEM = re.compile(r"\.cache/fontconfig/")
AUTOSTART = ".config/autostart/tequio.desktop"
PROGRAMS = re.compile(r"/tequio/(app|runtime)/")

pytestmark = [
    pytest.mark.package,
    pytest.mark.skipif(bool(why_not()), reason=why_not() or "everything is there"),
    pytest.mark.skipif(not ACCESSIBILITY.exists(), reason="at-spi2-core is missing"),
]


@dataclass(frozen=True, slots=True)
class UserSession:
    """A screen and message buses, for the user of a bare system."""

    folder: Path
    environ: dict[str, str]

    @contextmanager
    def user(self, name: str) -> Iterator[DesktopUser]:
        """A user who sees all windows; their pictures are in a folder of that name."""
        out = PICTURES / name
        out.mkdir(parents=True, exist_ok=True)
        with reader(self.environ["DBUS_SESSION_BUS_ADDRESS"]) as eyes:
            yield DesktopUser(eyes, out)


@pytest.fixture(scope="module")
def ledger(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with network(tmp_path_factory.mktemp("network")) as url:
        yield url


@pytest.fixture
def session(monkeypatch: pytest.MonkeyPatch) -> Iterator[UserSession]:
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
        command = (ACCESSIBILITY, "--launch-immediately")
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


@pytest.fixture(params=["bookworm", "noble"])
def system(
    request: pytest.FixtureRequest, tmp_path: Path, session: UserSession
) -> Iterator[BareSystem]:
    """Debian 12 and Ubuntu 24.04."""
    with BareSystem(request.param, tmp_path, session.folder) as one:
        yield one


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


@pytest.mark.parametrize("way", [Package, Archive])
def test_the_first_minutes_with_a_package_and_the_last(
    way: type[Package],
    system: BareSystem,
    session: UserSession,
    releases: ReleaseMirror,
    ledger: str,
    tmp_path: Path,
) -> None:
    trust = system.add(releases.mirror.trust(tmp_path / "trust"))
    package = way(system, session.environ | {"TEQUIO_RELEASES": trust})
    before, of_system = system.files(HOME), system.files("/usr") | system.files("/etc")
    package.install()
    with (
        session.user(f"{system.release}-{way.__name__.lower()}") as user,
        package.app(ledger, tmp_path / "app.log") as app,
    ):
        _lend_first(user, package, app)
    assert package.run("--version") == BUILD
    assert f"{BUILD}  cpu" in package.run(*RUNTIMES)

    releases.publish_newer()
    package.run("update", "--yes")
    assert package.run("--version") == NEWER
    with (
        session.user(f"{system.release}-{way.__name__.lower()}-newer") as user,
        package.app(ledger, tmp_path / "app.log") as app,
    ):
        user.see("You paused it")  # the button does nothing before the worker's first answer
        user.click("Contribute")
        wait_until("the newer runtime computes", lambda: bool(trainers(app)), LONGEST_S)
        assert f"/runtime/{NEWER}/" in trainers(app)[0].cmdline()[0]
        user.shoot("lending")
    package.run("update", "--back")
    assert package.run("--version") == BUILD

    package.uninstall()
    _check_what_stays(package, before, of_system)


def _lend_first(user: DesktopUser, package: Package, app: subprocess.Popen[bytes]) -> None:
    """From the first start to a proven round; the runtime is fetched on the way."""
    try:
        first_run(user)
        user.see("Downloading what training needs")
        assert json.loads(package.run("status", "--json"))["decision"]["reason"] == "no-runtime"
        user.shoot("downloading")
        allow_others(user)
        installed = package.system.root / f"home/{USER}/.local/share/tequio/runtime/{BUILD}"
        wait_until("the runtime is there", installed.is_dir, LONGEST_S)
        assert "(in use)" in package.run(*RUNTIMES)
        lend(user, app, package.rounds)
    except BaseException:
        user.shoot("where-it-failed")
        raise


def _check_what_stays(package: Package, before: set[str], of_system: set[str]) -> None:
    """The key and other data of the user stay; of the program, only what the docs name."""
    system = package.system
    left = {path for path in system.files(HOME) - before if not OF_SYSTEM.match(path)}
    assert any(path.endswith("identity.key") for path in left)
    others = {path for path in left if not OURS.match(path)}
    assert others == (set() if isinstance(package, Archive) else {AUTOSTART})
    if isinstance(package, Archive):
        assert not [path for path in left if PROGRAMS.search(path)]
        package.install_again()
        package.uninstall("--delete-data")
        assert {path for path in system.files(HOME) if not OF_SYSTEM.match(path)} == before
    else:
        now = system.files("/usr") | system.files("/etc")
        assert not [path for path in now - of_system if "tequio" in path]
