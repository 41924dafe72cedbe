"""A first-time visitor's walk, from the landing page to a chat, with a picture of every step.

    dbus-run-session -- python -m tests.support.first_visit --out build/visit

Everything is real: a demo network with a team, Chromium on the ledger's pages, and the app, set up
from the link of a page, with mouse and keyboard on an X server. The pictures are there to be looked
at as somebody who has never heard of the project: what confuses is a fault.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import time
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from tests.support.accessibility_tree import reader
from tests.support.browser import NARROW, WIDE, WatchedPage, chromium, watched
from tests.support.desktop_tour import (
    PANELS,
    REFRESH_S,
    DesktopUser,
    allow_this_machine,
    desktop,
    network,
    rounds_of,
    running,
    trainers,
    wait_until,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from playwright.sync_api import Browser

OWNER, TEAM = "Citlali", "Night Owls"
GOAL_POINTS, GOAL_DAYS = 5, 30
VISITOR = "Amaru"


@dataclass(frozen=True, slots=True, kw_only=True)
class VisitedNetwork:
    """A network in which somebody has founded a team."""

    ledger: str
    folder: Path
    team_link: str


def tequio(*words: str) -> str:
    """Run a command of the client; returns its output."""
    command = [sys.executable, "-m", "tequio_client", *words]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, f"{words}: {done.stdout}{done.stderr}"
    return done.stdout


def found_team(ledger: str, folder: Path) -> VisitedNetwork:
    """Let the first volunteer take a name and found a team with a goal."""
    home = folder / "volunteer-1"
    wait_until("its work is accepted", lambda: bool(rounds_of(home, "verified")), 180)
    owner = ("--ledger", ledger, "--dir", str(home))
    tequio("name", OWNER, *owner)
    found = tequio("team", "found", TEAM, *owner)
    last_day = (datetime.now(UTC) + timedelta(days=GOAL_DAYS)).date()
    tequio("team", "goal", str(GOAL_POINTS), "--by", f"{last_day}", *owner)
    return VisitedNetwork(ledger=ledger, folder=folder, team_link=_link(found))


def invite(visited: VisitedNetwork) -> str:
    """Have the organiser make an invitation to the run; returns its link."""
    organiser = ("--ledger", visited.ledger, "--dir", str(visited.folder / "organiser"))
    return _link(tequio("run", "invite", "demo", *organiser))


def _link(output: str) -> str:
    """The one link of our own in a program's output."""
    (link,) = re.findall(r"tequio://\S+", output)
    return str(link)


class Visitor(DesktopUser):
    """A user with a browser, too."""

    def shoot_page(self, step: str, window: WatchedPage, *, is_whole: bool = True) -> None:
        """Take a picture of a page."""
        window.page.wait_for_timeout(300)
        window.page.screenshot(path=self.next_path(step), full_page=is_whole)


# --- the steps


def browse(user: Visitor, browser: Browser, visited: VisitedNetwork) -> str:
    """From the landing page to the link that opens the app; returns the link."""
    with watched(browser, "light", NARROW) as window:
        window.open(visited.ledger)
        user.shoot_page("landing-phone", window)
        assert window.faults == []
    with watched(browser, "light", WIDE) as window:
        page = window.page
        window.open(visited.ledger)
        user.shoot_page("landing-first-view", window, is_whole=False)
        user.shoot_page("landing", window)
        page.get_by_text("How to join, step by step").click()
        user.shoot_page("how-to-join", window)
        page.go_back()
        page.get_by_role("link", name="See and join this run").click()
        page.get_by_role("heading", name="Join this run").wait_for()
        user.shoot_page("run", window)
        link = page.get_by_role("link", name="Join with the app").get_attribute("href")
        page.get_by_text("Nothing opened?").click()
        user.shoot_page("run-nothing-opened", window, is_whole=False)
        window.open(visited.ledger)
        page.get_by_role("link", name="Teams").click()
        user.shoot_page("teams", window)
        page.get_by_role("link", name=TEAM).click()
        user.shoot_page("team", window)
        assert window.faults == []
    assert link is not None
    return link


def set_up(user: Visitor) -> None:
    """Go through the first steps, in a network that a page's link named."""
    user.see("Lend your idle computer to open models", 60)
    user.see("Join this network?")
    user.shoot("app-opened-by-link")
    user.click("Join")
    time.sleep(REFRESH_S)
    user.shoot("app-joined")
    user.click("Next")
    user.see("What this computer can do instead")
    user.shoot("check")
    user.click("Train on the processor")
    user.click("Next")
    user.see("Where should it be stored?")
    user.click("In an unencrypted file")
    user.shoot("key")
    user.click("Make my key")
    user.see("backup", 60)
    user.shoot("key-made")
    user.click("Next")
    user.see("When may Tequio use this computer?")
    user.shoot("when")
    user.click("Max")
    user.click("I agree")
    user.click("Next")
    user.see("What would you like to train?")
    time.sleep(REFRESH_S)
    user.shoot("run-chosen")
    user.click("Next")
    user.see("What happens next")
    user.shoot("ready")
    user.click("Contribute")


def lend(user: Visitor, app: subprocess.Popen[bytes], folder: Path) -> None:
    """Lend until the first round is accepted and proven: points, a streak and a badge."""
    time.sleep(REFRESH_S)
    user.shoot("home-just-started")
    allow_this_machine(user)
    user.see("Lending", 120)
    wait_until("a trainer computes", lambda: bool(trainers(app)), 120)
    time.sleep(REFRESH_S)
    user.shoot("home-lending")
    user.click("Points")
    wait_until("a round is pending", lambda: bool(rounds_of(folder, "pending")), 180)
    time.sleep(REFRESH_S)
    user.shoot("points-pending")
    wait_until("a round is verified", lambda: bool(rounds_of(folder, "verified")), 300)
    user.see("First round", 60)
    time.sleep(REFRESH_S)
    user.shoot("points-and-badge")
    user.click("Home")
    time.sleep(REFRESH_S)
    user.shoot("home-with-points")


def join_team(user: Visitor, visited: VisitedNetwork, folder: Path) -> None:
    """Open the team's link as the browser would: the running app asks, and joins."""
    opened = [sys.executable, "-m", "tequio_client", "app", visited.team_link]
    subprocess.run([*opened, "--dir", str(folder)], check=True, timeout=60)
    user.see(f"Join the team “{TEAM}”?", 60)
    time.sleep(REFRESH_S)
    user.shoot("team-question")
    user.click("Join the team")
    user.see("Leave the team…", 60)
    time.sleep(REFRESH_S)
    user.shoot("team-joined")
    user.press("Escape")


def choose_name(user: Visitor) -> None:
    """Take a public name in the settings."""
    user.click("Settings")
    user.click("Account and keys")
    time.sleep(REFRESH_S)
    user.shoot("settings-account")
    user.click("Choose…")
    time.sleep(REFRESH_S)
    user.click("Name")
    user.write(VISITOR)
    user.shoot("name-dialog")
    user.press("Return")
    time.sleep(REFRESH_S)
    user.shoot("name-chosen")


def chat(user: Visitor) -> None:
    """See how the model grew, and have it continue a text."""
    ready, missing = "The model of round", "The newest model is not on this computer yet"
    user.click("Model")
    time.sleep(REFRESH_S)
    user.shoot("model")
    user.scroll_down("What you and the model wrote")
    user.click("Your text")
    user.write("Once upon a time")
    user.press("Return")
    if missing in user.see_any((ready, missing), 300).name:
        user.shoot("chat-missing")
        user.click("Download")
        user.see(ready, 300)
    user.click("Your text")
    user.see("Send", 120)  # "Stop" until the answer ends
    user.shoot("chat")


def return_to_pages(user: Visitor, browser: Browser, visited: VisitedNetwork) -> None:
    """See on the ledger's pages what came of it: the own page, and the team's."""
    with watched(browser, "light", WIDE) as window:
        page = window.page
        window.open(f"{visited.ledger}/leaderboard?by=teams")
        page.get_by_role("link", name=TEAM).click()
        user.shoot_page("team-with-visitor", window)
        page.get_by_role("link", name=VISITOR).click()
        user.shoot_page("page-of-visitor", window)
        assert window.faults == []


def follow_invitation(user: Visitor) -> None:
    """Set the app up from an invitation to a run, until it has joined."""
    user.see("Join the run “demo”?", 60)
    time.sleep(REFRESH_S)
    user.shoot("invitation")
    user.click("Make my key")
    user.see("You are invited to “demo”", 60)
    user.shoot("invitation-before-the-key")
    user.click("Next")
    user.see("What this computer can do instead")
    user.click("Train on the processor")
    user.click("Next")
    user.click("In an unencrypted file")
    user.click("Make my key")
    user.see("Join the run “demo”?", 60)
    time.sleep(REFRESH_S)
    user.shoot("invitation-after-the-key")
    user.press("Return")
    user.see("You joined demo", 60)
    time.sleep(REFRESH_S)
    user.shoot("invitation-used")


def take_visit(out: Path, panel: str) -> None:
    """Walk all the way; raises an exception when a step fails."""
    with TemporaryDirectory(prefix="tequio-visit-") as place, ExitStack() as stack:
        folder = Path(place)
        os.environ["HOME"] = str(folder / "home")
        (folder / "home").mkdir()
        ledger = stack.enter_context(network(folder))
        visited = found_team(ledger, folder / "network")
        stack.enter_context(desktop(panel))
        user = Visitor(stack.enter_context(reader()), out)
        browser = stack.enter_context(chromium())
        try:
            link = browse(user, browser, visited)
            with opened_app(link, folder / "visitor", out) as app:
                set_up(user)
                lend(user, app, folder / "visitor")
                join_team(user, visited, folder / "visitor")
                choose_name(user)
                chat(user)
            return_to_pages(user, browser, visited)
            with opened_app(invite(visited), folder / "invited", out):
                follow_invitation(user)
        except BaseException:
            user.shoot("where-it-failed")
            raise


@contextmanager
def opened_app(link: str, folder: Path, out: Path) -> Iterator[subprocess.Popen[bytes]]:
    """Start the app with a link, as the browser does, in a folder of its own."""
    command = [sys.executable, "-m", "tequio_client", "app", link, "--dir", str(folder)]
    with running(command, out / f"app-{folder.name}.log") as app:
        yield app
        wait_until("the app lives", lambda: app.poll() is None, 1)


def main(arguments: Sequence[str]) -> None:
    """Take the visit that the arguments describe."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--panel", choices=PANELS, default=PANELS[0])
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args(arguments)
    options.out.mkdir(parents=True, exist_ok=True)
    take_visit(options.out, options.panel)


if __name__ == "__main__":
    main(sys.argv[1:])
