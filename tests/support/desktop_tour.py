"""A tour of the app as a new user takes it, on a real X server, with a picture of every step.

    dbus-run-session -- python -m tests.support.desktop_tour --panel tint2 --out build/tour

With `--ledger URL` it joins a running network, and otherwise starts one. Everything is real: a demo
network that is kept running, the app, its worker and trainer, mouse and keyboard (xdotool), and the
accessibility bus on which the tour finds what to click.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import psutil

from tequio_client.control_socket import WorkerCall
from tequio_client.ipc.points import AskPoints, PointsReply
from tests.support.accessibility_tree import AccessibilityReader, reader
from tests.support.real_network import left_over

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tequio_client.ipc.points import PointsRow
    from tests.support.accessibility_tree import AccessibleElement


REPOSITORY = Path(__file__).parents[2]
PROGRAMS = ("Xvfb", "openbox", "xdotool", "import", "dbus-run-session")
PANELS = ("tint2", "xfce4-panel")
"""One with XEmbed, one with StatusNotifier."""
SCREEN = "1600x1000x24"
ATTEMPTS = 5
PATIENCE_S = 30.0
REFRESH_S = 3.0
"""How long a page may take to show the worker's state."""
FREED_S = 1.0
"""How long a pause may take until the trainer is gone, on an idle machine."""
SETTLE_S = 0.8
"""Time for animations to end."""
ROLES = (
    *("push button", "toggle button", "radio button", "check box", "menu item", "button"),
    *("text", "entry", "spin box", "cell"),
)
"""Roles of elements that can be clicked."""
PROOF = "Proof checked by this computer: open to see what that means"
WHEEL_UP, WHEEL_DOWN = "4", "5"
"""Buttons of the X server."""
TURNS = 40
EDGE = 30
"""Pixels from a window's right edge, where nothing but the page turns with the wheel."""
ROUNDS = 2
"""One of the first rounds worked in, this many, must be proven."""


class DesktopUser:
    """A user's eyes, mouse and keyboard; takes a picture of each step."""

    def __init__(self, eyes: AccessibilityReader, out: Path) -> None:
        self._eyes = eyes
        self._out = out
        self._steps = 0

    def see(self, name: str, patience_s: float = PATIENCE_S) -> AccessibleElement:
        """Wait for words on the screen."""
        return self._eyes.says(name, patience_s)

    def see_any(self, names: tuple[str, ...], patience_s: float) -> AccessibleElement:
        """Wait for any of these words."""
        return self._eyes.find(
            f"any of {names}", lambda one: any(name in one.name for name in names), patience_s
        )

    def click(self, name: str, *, settle_s: float = SETTLE_S) -> float:
        """Click the element with that name; returns the time on the monotonic clock."""
        x, y = self._scroll_to(name).middle
        at_s = time.monotonic()
        _hands("mousemove", str(x), str(y), "click", "1")
        time.sleep(settle_s)
        return at_s

    def _scroll_to(self, name: str) -> AccessibleElement:
        """Turn the wheel until the element with that name is inside its window.

        Pages grow while they are open: the first badge pushes the table of rounds off the screen.
        """
        for _ in range(TURNS):
            thing = self._eyes.named(name, *ROLES, patience_s=PATIENCE_S)
            window = self._eyes.window(thing)
            middle = thing.middle[1]
            if window is None or window.y < middle < window.y + window.height:
                return thing
            wheel = WHEEL_DOWN if middle > window.y else WHEEL_UP
            edge = (str(window.x + window.width - EDGE), str(window.middle[1]))
            _hands("mousemove", *edge, "click", wheel)
            time.sleep(SETTLE_S)
        raise AssertionError(f"no turn of the wheel brings {name!r} into its window")

    def scroll_down(self, name: str) -> None:
        """Turn the wheel over the element with that name, to the end of its page."""
        x, y = self._eyes.named(name, *ROLES, patience_s=PATIENCE_S).middle
        _hands("mousemove", str(x), str(y), "click", "--repeat", "20", WHEEL_DOWN)
        time.sleep(SETTLE_S)

    def press(self, *keys: str) -> None:
        """Press keys, one after the other."""
        for key in keys:
            _hands("key", key)
        time.sleep(SETTLE_S)

    def write(self, words: str) -> None:
        """Type some words."""
        _hands("type", "--delay", "120", words)
        time.sleep(SETTLE_S)

    def shoot(self, step: str) -> Path:
        """Take a picture of the whole screen."""
        path = self.next_path(step)
        _run("import", "-window", "root", str(path))
        return path

    def next_path(self, step: str) -> Path:
        """The file of the next picture; their numbers are the order of the steps."""
        self._steps += 1
        path = self._out / f"{self._steps:02d}-{step}.png"
        print(f"tour: {path.name}", flush=True)  # noqa: T201 - a program
        return path


def _hands(*what: str) -> None:
    _run("xdotool", *what)


def _run(*command: str) -> None:
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)


# --- the environment


@contextmanager
def desktop(panel: str) -> Iterator[None]:
    """A screen with window manager, panel and accessibility bus."""
    with ExitStack() as stack:
        os.environ["DISPLAY"] = stack.enter_context(_display())
        os.environ["QT_LINUX_ACCESSIBILITY_ALWAYS_ON"] = "1"
        os.environ.pop("QT_QPA_PLATFORM", None)
        stack.enter_context(running(["openbox", "--sm-disable"]))
        stack.enter_context(running([panel]))
        with reader():
            pass  # the bus starts when it is first asked for, and programs look for it once
        time.sleep(2)
        yield


@contextmanager
def _display() -> Iterator[str]:
    reads, writes = os.pipe()
    screen = ("-screen", "0", SCREEN, "-nolisten", "tcp", "-noreset")
    command = ["Xvfb", "-displayfd", str(writes), *screen]
    with subprocess.Popen(command, pass_fds=[writes], stderr=subprocess.DEVNULL) as server:
        os.close(writes)
        try:
            with os.fdopen(reads) as output:
                yield f":{output.readline().strip()}"
        finally:
            server.terminate()


@contextmanager
def in_session(module: str, out: Path, *words: str) -> Iterator[subprocess.Popen[bytes]]:
    """Run a module of tests in a desktop session of its own, which ends with the block.

    Its output and its pictures are in `out`, which is emptied first.
    """
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True)
    command = ["dbus-run-session", "--", sys.executable, "-m", module, "--out", str(out), *words]
    with (
        TemporaryDirectory(prefix="tequio-run-") as runtime,  # the accessibility bus is in there
        (out / "tour.log").open("wb") as log,
        subprocess.Popen(
            command,
            stdout=log,
            stderr=log,
            cwd=REPOSITORY,
            env={**os.environ, "XDG_RUNTIME_DIR": runtime},
            start_new_session=True,
        ) as process,
    ):
        try:
            yield process
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGTERM)


@contextmanager
def running(command: list[str], log: Path | None = None) -> Iterator[subprocess.Popen[bytes]]:
    """Run a program while the block lasts, and terminate it at the end."""
    with ExitStack() as stack:
        target = stack.enter_context(log.open("wb")) if log else subprocess.DEVNULL
        process = stack.enter_context(
            subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=target)
        )
        try:
            yield process
        finally:
            process.terminate()
            try:
                process.wait(15)
            except subprocess.TimeoutExpired:
                process.kill()


@contextmanager
def network(folder: Path) -> Iterator[str]:
    """Start a demo network to join, and end it as Ctrl-C does; yields its ledger's address."""
    command = [sys.executable, "-m", "tequio_client", "demo", "--quick", "--keep-running"]
    log, place = folder / "demo.log", folder / "network"
    words = ("--peers", "2", "--share", "25", "--dir", str(place))
    with running([*command, *words], log) as process:
        found: list[str] = []
        wait_until("the network is there", lambda: _address(log, found), 120)
        yield found[0]
        process.send_signal(signal.SIGINT)
        assert process.wait(30) == 0, log.read_text(errors="replace")[-3_500:]
    assert not left_over(place)


def _address(log: Path, found: list[str]) -> bool:
    match = re.search(r"training at (http://\S+) round [1-9]", log.read_text(errors="replace"))
    found += [match.group(1)] if match else []
    return bool(found)


def has_desktop(panel: str) -> bool:
    """Report whether this computer has the programs of a desktop with that panel."""
    return all(shutil.which(program) for program in (*PROGRAMS, panel))


def wait_until(what: str, holds: Callable[[], object], patience_s: float) -> None:
    """Wait for something; raises AssertionError when it does not come."""
    asked_s = time.monotonic()
    deadline_s = asked_s + patience_s
    while not holds():
        now_s = time.monotonic()
        assert now_s < deadline_s, f"not within {patience_s:.0f} s: {what}"
        time.sleep(max(0.1, now_s - asked_s))  # a program that is asked must leave time to others
        asked_s = time.monotonic()


def trainers(app: subprocess.Popen[bytes]) -> list[psutil.Process]:
    """Trainer processes below the app."""
    found = []
    for one in psutil.Process(app.pid).children(recursive=True):
        with suppress(psutil.Error):  # it may end in the meantime
            if "tequio_client.trainer" in one.cmdline():
                found.append(one)
    return found


# --- the steps


def first_run(user: DesktopUser) -> None:
    """Go from the first start to Contribute."""
    user.see("Lend your idle computer to open models", 60)
    user.shoot("welcome")
    user.click("Next")
    user.see("What this computer can do instead")
    user.click("Train on the processor")
    user.shoot("check")
    user.click("Next")
    user.see("Where should it be stored?")
    user.shoot("key")
    user.click("In an unencrypted file")
    user.click("Make my key")
    user.see("backup", 60)
    user.shoot("key-made")
    user.click("Next")
    user.see("When may Tequio use this computer?")
    user.click("Max")
    user.click("I agree")
    user.shoot("when")
    user.click("Next")
    user.see("What would you like to train?")
    user.click("Choose for me: The open run that fits this computer and needs it most.")
    user.shoot("run")
    user.click("Next")
    user.see("What happens next")
    user.shoot("ready")
    user.click("Contribute")


def allow_this_machine(user: DesktopUser) -> None:
    """Let other programs use the processor, as the demo's volunteers do, and the disk be full."""
    user.click("Settings")
    programs = "Pauses while other programs keep all CPU cores"
    for search, sight, setting, value in (
        ("programs on the cpu", programs, "Other programs on the CPU", "100"),
        ("keep free", "Lending waits when less disk space", "Always keep free", "0"),
    ):
        for _ in range(ATTEMPTS):  # a busy machine loses keystrokes
            user.click("Search settings")
            user.press("ctrl+a")
            user.write(search)
            with suppress(AssertionError):
                user.see(sight, 5)
                break
        user.click(setting)
        user.press("ctrl+a")
        user.write(value)
        user.press("Return")
    user.shoot("settings-machine")
    user.click("Home")


def lend(
    user: DesktopUser, app: subprocess.Popen[bytes], rounds: Callable[[str], list[PointsRow]]
) -> None:
    """Lend from the first click on Contribute until a round is proven, then pause.

    `rounds` gives the worker's rounds in a state, newest first, as the page should show them.
    """
    user.see("Lending", 120)
    wait_until("a trainer computes", lambda: bool(trainers(app)), 120)
    user.shoot("lending")
    user.click("Points")
    wait_until("a round is pending", lambda: bool(rounds("pending")), 180)
    first = rounds("pending")[-1].round
    time.sleep(REFRESH_S)
    user.shoot("pending")
    wait_until("a round is verified", lambda: bool(rounds("verified")), 300)
    proven = rounds("verified")[-1]
    assert proven.round < first + ROUNDS, f"round {proven.round} is the first, after {first}"
    assert proven.gflop
    assert proven.size is not None, "verified without a checkpoint"
    user.see(PROOF)
    time.sleep(SETTLE_S)
    user.shoot("verified")
    user.click(PROOF)
    user.see("What was checked here")
    user.shoot("proof")
    user.press("Escape")
    user.click("Home")
    user.shoot("home")
    begun_s = user.click("Pause", settle_s=0.0)
    wait_until("the trainer is gone", lambda: not trainers(app), FREED_S * _busy())
    print(f"tour: the trainer was gone after {time.monotonic() - begun_s:.2f} s", flush=True)  # noqa: T201 - a program
    user.see("Paused")
    time.sleep(SETTLE_S)
    user.shoot("paused")
    ask_model(user)
    for page in ("Runs", "Competitions", "Hardware", "Activity", "Settings"):
        user.click(page)
        time.sleep(REFRESH_S)
        user.shoot(page.lower())


def ask_model(user: DesktopUser) -> None:
    """Have the newest model continue a text; its weights are fetched if they are not here."""
    ready, missing = "The model of round", "The newest model is not on this computer yet"
    user.click("Model")
    time.sleep(REFRESH_S)
    user.scroll_down("What you and the model wrote")
    user.click("Your text")
    user.write("The ")
    user.press("Return")
    if missing in user.see_any((ready, missing), 300).name:
        user.click("Download")
        failed = "The model could not be started"
        if failed in user.see_any((ready, failed), 300).name:
            user.click("Details")
            user.see(ready)
    user.click("Your text")
    user.see("Send", 120)  # "Stop" until the answer ends
    user.shoot("model")


def _busy() -> float:
    """The load per core, at least 1."""
    return max(os.getloadavg()[0] / (os.cpu_count() or 1), 1.0)


def rounds_of(folder: Path, state: str) -> list[PointsRow]:
    """Rounds of the worker of that folder in that state, newest first."""
    with WorkerCall.to(folder) as call:
        return [one for one in call.ask(AskPoints(), PointsReply).rows if one.state == state]


def main() -> None:
    """Take the tour; raises an exception when a step fails."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--panel", choices=PANELS, default=PANELS[0])
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--ledger", help="of a network to join; without it the tour starts one")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(prefix="tequio-tour-") as place, ExitStack() as stack:
        folder = Path(place)
        os.environ["HOME"] = str(folder / "home")
        (folder / "home").mkdir()
        ledger = options.ledger or stack.enter_context(network(folder))
        stack.enter_context(desktop(options.panel))
        command = [sys.executable, "-m", "tequio_client", "app", "--ledger", ledger]
        app = stack.enter_context(
            running([*command, "--dir", str(folder / "worker")], options.out / "app.log")
        )
        user = DesktopUser(stack.enter_context(reader()), options.out)
        try:
            first_run(user)
            allow_this_machine(user)
            lend(user, app, partial(rounds_of, folder / "worker"))
        except BaseException:
            user.shoot("where-it-failed")
            raise
        wait_until("the app lives", lambda: app.poll() is None, 1)


if __name__ == "__main__":
    main()
