"""A clicked `tequio:` link starts an installed app, and reaches the one that runs.

Browsers hand a link to `xdg-open`, or to GIO as Firefox does; either reads the menu entry that the
package brought. The app, its ledger and the other programs are real.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

import psutil
import pytest

from tequio_client.links import NetworkLink
from tests.package.bare_user import NEEDS_BARE_SYSTEMS, Archive, Package
from tests.support.bare_system import USER, BareSystem
from tests.support.desktop_tour import wait_until
from tests.support.ledgers import UNLIMITED, served

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.package.bare_user import UserSession

OPENERS = {"xdg-open": "xdg-utils", "gio open": "libglib2.0-bin"}
"""The programs that browsers ask to open a link, and the package of each."""
LONGEST_S = 60.0
SECOND = NetworkLink(ledger="https://ledger.example")

pytestmark = NEEDS_BARE_SYSTEMS


@pytest.fixture(params=["bookworm", "noble"])
def system(
    request: pytest.FixtureRequest, tmp_path: Path, session: UserSession
) -> Iterator[BareSystem]:
    """Debian 12 and Ubuntu 24.04, with both openers, and what updates the list of handlers."""
    with BareSystem(request.param, tmp_path, session.folder) as one:
        one.install(*OPENERS.values(), "desktop-file-utils")
        yield one


def apps(session: UserSession) -> set[int]:
    """The apps of that session's user, by their processes."""
    bus, found = session.environ["DBUS_SESSION_BUS_ADDRESS"], set()
    for one in psutil.process_iter():
        with suppress(psutil.Error):  # it may end in the meantime
            if one.name() == "tequio" and "app" in one.cmdline():
                found |= (
                    {one.pid} if one.environ().get("DBUS_SESSION_BUS_ADDRESS") == bus else set()
                )
    return found


@pytest.mark.parametrize("opener", OPENERS)
@pytest.mark.parametrize("way", [Package, Archive])
def test_a_clicked_link_starts_the_app_and_then_reaches_it(
    way: type[Package], opener: str, system: BareSystem, session: UserSession, tmp_path: Path
) -> None:
    way(system, session.environ).install()
    name = f"links/{system.release}-{way.__name__.lower()}-{opener.partition(' ')[0]}"
    with served(tmp_path / "ledger", *UNLIMITED) as ledger, session.user(name) as user:
        first = NetworkLink(ledger=ledger.url).text()
        with system.running(f"{opener} '{first}'", USER, tmp_path / "app.log", **session.environ):
            user.see("Join this network?", LONGEST_S)
            user.shoot("started")
            started = apps(session)
            assert len(started) == 1
            user.click("Join")
            system.run(f"{opener} '{SECOND.text()}'", USER, expected=0, **session.environ)
            user.see(f"This computer is in the network at {ledger.url} now.", LONGEST_S)
            user.shoot("reached")
            wait_until("the second start ends", lambda: apps(session) == started, LONGEST_S)
