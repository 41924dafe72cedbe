"""A new user's first minutes with a package on a bare system, and the last ones.

Install, go through the first steps with mouse and keyboard, fetch the runtime, lend until a round
is proven, update and go back, remove. The network, with its ledger, seed and other volunteers, runs
outside; every program is real.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import pytest

from tequio_shared.version import BUILD
from tests.package.bare_user import HOME, NEEDS_BARE_SYSTEMS, Archive, Package
from tests.support.bare_system import USER, BareSystem
from tests.support.desktop_tour import (
    DesktopUser,
    allow_this_machine,
    first_run,
    lend,
    network,
    trainers,
    wait_until,
)
from tests.support.mirrors import NEWER

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Iterator
    from pathlib import Path

    from tests.package.bare_user import UserSession
    from tests.package.conftest import ReleaseMirror

LONGEST_S = 900.0
RUNTIMES = ("runtime", "status")
OURS = re.compile(r"\.(local/share|config)/tequio/")
OF_SYSTEM = re.compile(r"\.cache/fontconfig/")
AUTOSTART = ".config/autostart/tequio.desktop"
PROGRAMS = re.compile(r"/tequio/(app|runtime)/")

pytestmark = NEEDS_BARE_SYSTEMS


@pytest.fixture(scope="module")
def ledger(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with network(tmp_path_factory.mktemp("network")) as url:
        yield url


@pytest.fixture(params=["bookworm", "noble"])
def system(
    request: pytest.FixtureRequest, tmp_path: Path, session: UserSession
) -> Iterator[BareSystem]:
    """Debian 12 and Ubuntu 24.04."""
    with BareSystem(request.param, tmp_path, session.folder) as one:
        yield one


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
        session.user(f"first-minute/{system.release}-{way.__name__.lower()}") as user,
        package.app(ledger, tmp_path / "app.log") as app,
    ):
        _lend_first(user, package, app)
    assert package.run("--version") == BUILD
    assert f"{BUILD}  cpu" in package.run(*RUNTIMES)

    releases.publish_newer()
    package.run("update", "--yes")
    assert package.run("--version") == NEWER
    with (
        session.user(f"first-minute/{system.release}-{way.__name__.lower()}-newer") as user,
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
        allow_this_machine(user)
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
