"""The packages for Linux, installed on bare systems as a user does it, and removed again."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tequio_shared.version import BUILD
from tests.support.bare_system import USER, BareSystem, why_not
from tests.support.private_display import PrivateDisplay

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[2]
MADE = ROOT / "build" / "package" / "installers"
PICTURES = ROOT / "build" / "pictures"
COLOURS = 200
"""More than an empty screen has."""

pytestmark = [
    pytest.mark.package,
    pytest.mark.skipif(bool(why_not()), reason=why_not() or "everything is there"),
]


@pytest.fixture(params=["bookworm", "trixie", "noble"])
def system(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[BareSystem]:
    """Debian 12 and 13, and Ubuntu 24.04."""
    with BareSystem(request.param, tmp_path) as one:
        yield one


@pytest.fixture
def debian(tmp_path: Path) -> Iterator[BareSystem]:
    with BareSystem("bookworm", tmp_path) as one:
        yield one


@pytest.fixture
def display() -> Iterator[PrivateDisplay]:
    with PrivateDisplay("1160x780") as one:
        one.manage()
        yield one


def made(pattern: str) -> Path:
    (found,) = MADE.glob(pattern)
    return found


def output(*words: str | Path) -> str:
    return subprocess.run(words, check=True, capture_output=True, text=True).stdout


def test_the_deb_works_on_a_bare_system(
    system: BareSystem, display: PrivateDisplay, tmp_path: Path
) -> None:
    before = system.files("/usr") | system.files("/etc")
    system.install(system.add(made("*.deb")))
    assert system.run("tequio --version", USER).stdout.strip() == BUILD
    assert "Train open language models together" in system.run("tequio --help", USER).stdout
    system.run("tequio app --selftest", USER, QT_QPA_PLATFORM="offscreen")
    with system.running("exec tequio app", USER, tmp_path / "app.log", DISPLAY=display.name):
        colours = display.take_picture("^Tequio", PICTURES / f"installed-{system.release}.png")
    assert colours > COLOURS
    system.run("dpkg --remove tequio")
    left = (system.files("/usr") | system.files("/etc")) - before
    assert not [path for path in left if "tequio" in path]


def test_the_deb_declares_every_library_it_needs(debian: BareSystem) -> None:
    debian.install(debian.add(made("*.deb")))
    missing = debian.run(
        "find /usr/lib/tequio -name '*.so*' -type f -exec env LD_LIBRARY_PATH="
        "/usr/lib/tequio/_internal:/usr/lib/tequio/_internal/PySide6/Qt/lib ldd {} + "
        "| grep 'not found' || true"
    )
    assert missing.stdout == ""


def test_a_user_installs_the_archive_without_root_and_removes_it(debian: BareSystem) -> None:
    home = f"/home/{USER}"
    listed = f"{home}/.config/mimeapps.list"
    debian.run(f"mkdir {home}/.config; echo '[Added Associations]' > {listed}", USER)
    debian.install("xz-utils")
    before, system = debian.files(home), debian.files("/usr") | debian.files("/etc")
    archive = debian.add(made("*.tar.xz"))
    unpack = f"cd /tmp && tar xf {archive} && cd tequio-*"
    installed = debian.run(f"{unpack} && ./install.sh", USER)
    assert f"Tequio {BUILD} is installed" in installed.stdout
    assert "libEGL.so.1" in installed.stdout, "a bare system has no libraries for windows"
    assert debian.run(f"{home}/.local/bin/tequio --version", USER).stdout.strip() == BUILD
    entry = debian.root / f"{home}/.local/share/applications/tequio.desktop".lstrip("/")
    assert f"Exec={home}/.local/lib/tequio/tequio app %u" in entry.read_text().splitlines()
    associations = (debian.root / listed.lstrip("/")).read_text()
    assert associations.startswith("[Added Associations]\n")
    assert "x-scheme-handler/tequio=tequio.desktop;" in associations

    data = f"{home}/.local/share/tequio"
    debian.run(f"mkdir -p {data}/worker {data}/runtime/1.0.0", USER)
    debian.run(f"touch {data}/worker/identity.key {data}/runtime/1.0.0/tequio-runtime", USER)
    said = debian.run(f"{home}/.local/lib/tequio/uninstall.sh", USER).stdout
    assert data in said
    assert debian.files(home) - before == {".local/share/tequio/worker/identity.key"}

    debian.run(f"{unpack} && ./install.sh", USER)
    debian.run(f"{home}/.local/lib/tequio/uninstall.sh --delete-data", USER)
    assert debian.files(home) == before
    assert debian.files("/usr") | debian.files("/etc") == system


def test_the_archive_replaces_no_other_program_of_the_user(debian: BareSystem) -> None:
    debian.install("xz-utils")
    debian.run("mkdir -p ~/.local/bin; echo mine > ~/.local/bin/tequio", USER)
    archive = debian.add(made("*.tar.xz"))
    refused = debian.run(f"cd /tmp && tar xf {archive} && tequio-*/install.sh", USER, expected=1)
    assert f"/home/{USER}/.local/bin/tequio is another program" in refused.stderr
    assert debian.files(f"/home/{USER}/.local") == {"bin/tequio"}


def test_the_menu_entry_of_a_home_with_a_space_names_its_program_in_quotes(
    debian: BareSystem,
) -> None:
    debian.install("xz-utils", "desktop-file-utils")
    home = f"/home/{USER}/my & home"
    archive = debian.add(made("*.tar.xz"))
    debian.run(
        f"cd /tmp && tar xf {archive} && mkdir '{home}' && tequio-*/install.sh", USER, HOME=home
    )
    entry = f"{home}/.local/share/applications/tequio.desktop"
    debian.run(f"desktop-file-validate '{entry}'", USER)
    lines = (debian.root / entry.lstrip("/")).read_text().splitlines()
    assert f'Exec="{home}/.local/lib/tequio/tequio" app %u' in lines
    assert f"TryExec={home}/.local/lib/tequio/tequio" in lines


@pytest.mark.skipif(shutil.which("rpm") is None, reason="rpm is missing")
def test_the_rpm_has_the_same_files_and_names_the_libraries() -> None:
    lines = output("dpkg-deb", "--contents", made("*.deb")).splitlines()
    of_deb = {line.split(" -> ")[0].split(None, 5)[5].removeprefix(".") for line in lines}
    files = {path for path in of_deb if not path.endswith("/")}
    assert files <= set(output("rpm", "-qp", "--list", made("*.rpm")).splitlines())
    needed = output("rpm", "-qp", "--requires", made("*.rpm")).splitlines()
    assert "libEGL.so.1()(64bit)" in needed
    assert not any("libQt6" in one for one in needed)


def test_the_entries_are_what_desktops_and_shops_read(tmp_path: Path) -> None:
    output("dpkg-deb", "--extract", made("*.deb"), tmp_path)
    share = tmp_path / "usr" / "share"
    output("desktop-file-validate", share / "applications" / "tequio.desktop")
    described = share / "metainfo" / "org.tequio.app.metainfo.xml"
    output("appstreamcli", "validate", "--no-net", described)
    sizes = {path.parent.parent.name for path in share.glob("icons/hicolor/*/apps/tequio.*")}
    assert {"16x16", "512x512", "scalable"} <= sizes
