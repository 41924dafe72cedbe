"""The installer for Windows under Wine: what it installs, registers, leaves and removes.

The programs inside are those of this system, so none of them is started.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tequio_client.app import registration
from tequio_shared.version import BUILD
from tests.client.app.test_autostart import PaperRegistry
from tests.support.private_display import PrivateDisplay

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[2]
BUILT = ROOT / "build" / "package"
WINE = shutil.which("wine64") or "/usr/lib/wine/wine64"
PATIENCE_S = 300
COLOURS = 20
"""More than an empty screen has."""
UNINSTALL_KEY = r"Software\Microsoft\Windows\CurrentVersion\Uninstall\Tequio"

pytestmark = [
    pytest.mark.package,
    pytest.mark.skipif(not Path(WINE).exists(), reason="wine64 is missing"),
    pytest.mark.skipif(shutil.which("makensis") is None, reason="makensis (nsis) is missing"),
]


class WindowsUser:
    """A user of a Windows that Wine plays, in a folder."""

    def __init__(self, folder: Path) -> None:
        self.environ = os.environ | {
            "WINEPREFIX": str(folder),
            "WINEARCH": "win64",
            "WINEDEBUG": "-all",
            "WINEDLLOVERRIDES": "mscoree=;mshtml=",
            "USER": "ana",
        }
        self.environ.pop("DISPLAY", None)
        self.run("wineboot", "-i")
        (self.local,) = folder.glob("drive_c/users/*/AppData/Local")
        self.app, self.data = self.local / "Programs" / "Tequio", self.local / "tequio" / "tequio"

    def run(self, *words: str | Path, expected: int = 0) -> str:
        done = subprocess.run(
            (WINE, *words),
            env=self.environ,
            capture_output=True,
            text=True,
            check=False,
            timeout=PATIENCE_S,
        )
        assert done.returncode == expected, done.stdout + done.stderr
        return done.stdout

    def uninstall(self, *options: str) -> None:
        # _?= keeps the uninstaller in its place, so that this waits for its end.
        inside = self.windows_path(self.app)
        self.run(self.app / "uninstall.exe", "/S", *options, f"_?={inside}")
        (self.app / "uninstall.exe").unlink()

    def windows_path(self, path: Path) -> str:
        return self.run("winepath", "-w", path).strip()

    def value(self, key: str, name: str) -> str | None:
        """A value of the user's registry, as `reg` prints it."""
        which = ("/v", name) if name else ("/ve",)
        done = subprocess.run(
            (WINE, "reg", "query", rf"HKCU\{key}", *which),
            env=self.environ,
            capture_output=True,
            text=True,
            check=False,
            timeout=PATIENCE_S,
        )
        lines = [line for line in done.stdout.splitlines() if "    REG_" in line]
        return lines[0].split("    ")[-1].rstrip("\r") if lines else None

    def end(self) -> None:
        """End what Wine has started for this user."""
        server = shutil.which("wineserver") or str(Path(WINE).with_name("wineserver"))
        command = (server, "-k")
        subprocess.run(command, env=self.environ, check=False, timeout=PATIENCE_S)


@pytest.fixture(scope="module")
def installer(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The installer of three small files that stand for the app's."""
    folder = tmp_path_factory.mktemp("package")
    (folder / "_internal" / "numpy").mkdir(parents=True)
    for name in ("tequio.exe", "tequio-app.exe", "_internal/numpy/core.pyd"):
        (folder / name).write_bytes(b"MZ")
    return compiled(folder, "-DTEST")


def compiled(folder: Path, *options: str) -> Path:
    made = folder.with_name("Tequio-Setup.exe")
    icons = BUILT / "icons"
    defined = {"VERSION": BUILD, "FOLDER": folder, "ICONS": icons, "OUT": made}
    options += tuple(f"-D{name}={value}" for name, value in defined.items())
    script = ROOT / "installer" / "windows" / "tequio.nsi"
    command: tuple[str | Path, ...] = ("makensis", "-V2", "-NOCD", *options, script)
    subprocess.run(command, check=True, timeout=PATIENCE_S)
    return made


def test_a_build_for_people_needs_only_what_nsis_for_windows_has(tmp_path: Path) -> None:
    (tmp_path / "package").mkdir()
    (tmp_path / "package" / "tequio.exe").write_bytes(b"MZ")
    program = compiled(tmp_path / "package").read_bytes()
    head = int.from_bytes(program[0x3C:0x40], "little")
    assert program[head + 4 : head + 6] == b"\x4c\x01"  # 32-bit x86


@pytest.fixture(scope="module")
def windows(tmp_path_factory: pytest.TempPathFactory) -> Iterator[WindowsUser]:
    user = WindowsUser(tmp_path_factory.mktemp("windows"))
    yield user
    user.end()


def test_it_installs_for_the_user_and_registers_what_the_app_would(
    windows: WindowsUser, installer: Path
) -> None:
    windows.run(installer, "/S")
    files = {path.relative_to(windows.app).as_posix() for path in windows.app.rglob("*.*")}
    assert files == {
        *("tequio.exe", "tequio-app.exe", "_internal/numpy/core.pyd"),
        *("tequio.ico", "uninstall.exe"),
    }
    command = (windows.windows_path(windows.app / "tequio-app.exe"), "app")
    asked = {
        (registration.SCHEME_KEY, ""): "URL:Tequio",
        (registration.OPEN_COMMAND_KEY, ""): f'"{command[0]}" app -- "%1"',
        (UNINSTALL_KEY, "DisplayVersion"): BUILD,
        (registration.RUN_KEY, "Tequio"): None,
    }
    assert {place: windows.value(*place) for place in asked} == asked
    roaming = windows.local.with_name("Roaming")
    assert list(roaming.rglob("Start Menu/Programs/Tequio.lnk"))


def test_the_choice_to_start_at_login_is_the_apps_own_switch(
    windows: WindowsUser, installer: Path
) -> None:
    windows.run(installer, "/S", "/LOGIN")
    registry = PaperRegistry()
    program = windows.windows_path(windows.app / "tequio-app.exe")
    registration.RunKeyAutostart((program, "app", "--background"), registry).turn_on()
    line = registry.values[registration.RUN_KEY, "Tequio"]
    assert windows.value(registration.RUN_KEY, "Tequio") == line


def test_key_and_data_stay_unless_their_deletion_is_asked_for(
    windows: WindowsUser, installer: Path
) -> None:
    windows.run(installer, "/S")
    for name in ("worker/identity.key", "runtime/1.0.0/tequio-runtime.exe", "app/state.json"):
        (windows.data / name).parent.mkdir(parents=True, exist_ok=True)
        (windows.data / name).touch()
    windows.uninstall()
    assert not list(windows.app.glob("*"))
    left = {path.relative_to(windows.data).as_posix() for path in windows.data.rglob("*.*")}
    assert left == {"worker/identity.key"}
    for place in (
        (registration.SCHEME_KEY, ""),
        (registration.RUN_KEY, "Tequio"),
        (UNINSTALL_KEY, "DisplayName"),
    ):
        assert windows.value(*place) is None
    assert not list(windows.local.with_name("Roaming").rglob("Tequio.lnk"))

    windows.run(installer, "/S")
    windows.uninstall("/DELETEDATA")
    assert not windows.data.parent.exists()


@pytest.fixture
def whole() -> Path:
    """The installer with all files of the app; it is for tests, and not among those for people."""
    return BUILT.with_name("package-test") / f"Tequio-Setup-{BUILD}.exe"


def test_the_whole_package_is_installed_and_removed(windows: WindowsUser, whole: Path) -> None:
    windows.run(whole, "/S")
    inside, installed = files(BUILT / "tequio"), files(windows.app)
    added = {name: installed.pop(name) for name in ("tequio.ico", "uninstall.exe")}
    assert installed == inside
    kib = int(windows.value(UNINSTALL_KEY, "EstimatedSize") or "0", 16)
    assert kib == pytest.approx((sum(inside.values()) + sum(added.values())) / 1024, rel=0.02)
    windows.uninstall()
    assert set(files(windows.app)) <= {"tequio"}, "the program of another system than Windows"


def files(folder: Path) -> dict[str, int]:
    """Sizes of the files below a folder, by their paths from it."""
    paths = (path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.stat().st_size for path in paths}


def test_the_whole_package_asks_what_to_install(windows: WindowsUser, whole: Path) -> None:
    with PrivateDisplay("600x440") as display:
        environ = windows.environ | {"DISPLAY": display.name}
        with subprocess.Popen((WINE, whole), env=environ) as program:
            try:
                path = ROOT / "build" / "pictures" / "windows-installer.png"
                assert display.take_picture("^Tequio", path) > COLOURS
            finally:
                program.kill()
