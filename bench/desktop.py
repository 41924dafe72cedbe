"""Footprint of the desktop programs, next to BOINC Manager if that is installed.

A separate X server, window manager and panel (Xvfb, openbox, tint2), a private message bus, the
real app, and the real worker in a small real swarm. Prints, with the targets: time from start to
tray icon; memory and processor while hidden and shown, and while hidden again after every page was
opened; time from "Contribute", with the default rules, until lending begins and until a trainer
computes; time from the command to pause to the end
of the trainer, which ends all computing; and the paused worker. BOINC Manager runs in the same
minute on the same display, because the ratio means more than figures from busy machines. With
`--package` only the app is started, from its package and from source in turn.

Resident memory counts pages of libraries that other programs use, too, and the kernel keeps those
of a hidden app only while others use them: a program with the same libraries raises the figures by
20 MB and more, and is named.

    dbus-run-session -- python bench/desktop.py [--json FILE] [--quick] [--document FILE]
        [--package build/package/tequio/tequio]
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import psutil
import trio
from loops import repository, table  # noqa: F401
from loops.machine import machine
from tests.support.linked_worker import LinkedWorker, linked
from tests.support.real_network import running_network
from tests.support.small_network import WIDE, found
from tests.whole.test_lending import AWAY

from tequio_client.app.pages import PAGES
from tequio_client.app.settings_file import SettingsStore
from tequio_client.demo.programs import start_process
from tequio_client.ipc import control
from tequio_client.ipc.preferences import Preferences
from tequio_client.ipc.snapshot import LendingState
from tequio_client.keys import identity

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tequio_client.ipc.snapshot import Snapshot

    Delays = dict[str, list[float]]
    """Seconds of every attempt, by what was waited for."""

IDLE_S = 120.0
"""Long enough that what wakes a program once a minute has its part."""
SETTLE_S = 10.0
CALM_S = 60.0
"""After the last pause; in one of the pauses the worker starts to fetch the state of a round."""
PAUSES = 20
STARTS = 5
POLL_S = 0.01
LONGEST_S = 60.0
FROM_SOURCE = (sys.executable, "-m", "tequio_client")
LIBRARY = "libQt6Gui.so"
_MB = 1_000_000
COLUMNS = (
    *("program", "start to icon", "hidden", "shown", "hidden after all pages"),
    *("processor, hidden", "processor, hidden after all pages"),
)
PACKAGE_COLUMNS = ("Tequio", "start to icon", "hidden", "shown")
PROMISED = ("target for Tequio", "1 s", "90 MB", "120 MB", "90 MB", "0.1 % of a core", "the same")
START_COLUMNS = ("after Contribute", "median", "95th percentile", "longest", "target")
PROMISED_STARTS = {"until it lends": "longest 10 s"}
PAUSE_COLUMNS = ("pause", "median", "95th percentile", "longest", "target")
PROMISED_PAUSES = {"until the trainer is gone": "median 300 ms, 95th percentile 1 s"}
WORKER_COLUMNS = ("worker", "memory", "processor")
PROMISED_WORKER = ("target", "160 MB", "0.5 % of a core")


@dataclass(frozen=True, kw_only=True)
class Footprint:
    """One program: seconds, MB, and share of a core."""

    start_s: float
    hidden_mb: float
    shown_mb: float
    hidden_cpu: float
    again_mb: float | None = None
    """Hidden again, after all pages were opened; None: not measured."""
    again_cpu: float | None = None


def main() -> None:
    """Measure, print, and write the figures to files if asked."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", type=Path, help="write the figures to this file")
    parser.add_argument("--document", type=Path, help="write the tables into this document")
    parser.add_argument("--package", type=Path, help="only compare this program with the source")
    parser.add_argument("--quick", action="store_true", help="fewer and shorter measurements")
    options = parser.parse_args()
    with desktop():
        if options.package:
            _compare_package(options.package, options)
            return
        measured = {"Tequio": _app(quick=options.quick)}
        if shutil.which("boincmgr"):
            measured["BOINC Manager"] = _boinc(quick=options.quick)
    programs = table.markdown(COLUMNS, [*map(_row, measured, measured.values()), PROMISED])
    print(programs, flush=True)
    starts, pauses, worker = trio.run(_worker, options.quick)
    tables = {
        "the app": programs,
        "starts": _delays(START_COLUMNS, starts, PROMISED_STARTS),
        "pauses": _delays(PAUSE_COLUMNS, pauses, PROMISED_PAUSES),
        "the paused worker": table.markdown(
            WORKER_COLUMNS,
            [("paused", f"{worker[0]:.0f} MB", f"{worker[1]:.2%} of a core"), PROMISED_WORKER],
        ),
        "machine of the desktop": _machine_line(),
    }
    rows = {name: asdict(one) for name, one in measured.items()}
    figures = {"programs": rows, "starts": starts, "pauses": pauses, "worker": worker}
    _publish(tables, options, {**machine(), **figures})


def _row(name: str, one: Footprint) -> tuple[str, ...]:
    return (
        name,
        f"{one.start_s:.2f} s",
        f"{one.hidden_mb:.0f} MB",
        f"{one.shown_mb:.0f} MB",
        "–" if one.again_mb is None else f"{one.again_mb:.0f} MB",
        f"{one.hidden_cpu:.2%} of a core",
        "–" if one.again_cpu is None else f"{one.again_cpu:.2%} of a core",
    )


def _delays(
    columns: Sequence[str], measured: dict[str, list[float]], promised: dict[str, str]
) -> str:
    rows = []
    for name, seconds in measured.items():
        ordered = sorted(seconds)
        late = ordered[min(len(ordered) - 1, int(len(ordered) * 0.95))]
        seen = (f"{one * 1000:,.0f} ms" for one in (statistics.median(ordered), late, ordered[-1]))
        rows.append((name, *seen, promised.get(name, "")))
    return table.markdown(columns, rows)


# --- a desktop -----------------------------------------------------------------------------------


@contextmanager
def desktop() -> Iterator[None]:
    """A display with a window manager and a panel, for every program started in the context."""
    with ExitStack() as stack:
        display = stack.enter_context(_display())
        os.environ["DISPLAY"] = display
        os.environ.pop("QT_QPA_PLATFORM", None)
        os.environ.pop("WAYLAND_DISPLAY", None)
        for name in ("openbox", "tint2"):
            stack.enter_context(_running([name]))
        time.sleep(2)
        yield


@contextmanager
def _display() -> Iterator[str]:
    reads, writes = os.pipe()
    command = [
        "Xvfb",
        "-displayfd",
        str(writes),
        "-screen",
        "0",
        "1600x1000x24",
        "-nolisten",
        "tcp",
    ]
    with subprocess.Popen(command, pass_fds=[writes], stderr=subprocess.DEVNULL) as server:
        os.close(writes)
        try:
            with os.fdopen(reads) as told:
                yield f":{told.readline().strip()}"
        finally:
            server.terminate()


@contextmanager
def _running(command: list[str]) -> Iterator[subprocess.Popen[bytes]]:
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        try:
            yield process
        finally:
            process.terminate()
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()


def _tree() -> str:
    command = [shutil.which("xwininfo") or "xwininfo", "-root", "-tree"]
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout


# --- programs ------------------------------------------------------------------------------------


@contextmanager
def _app_command(program: Sequence[str]) -> Iterator[list[str]]:
    """The command of a hidden app whose user has agreed to lend, with a folder of its own."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "worker"
        identity.load_or_create(folder)
        SettingsStore(folder / "settings").save_preferences(Preferences(consent=True))
        options = ("--ledger", "http://127.0.0.1:9", "--dir", str(folder))
        yield [*program, "app", "--background", *options]


def _open(command: Sequence[str]) -> None:
    """Open the window of the app that runs."""
    shown = [one for one in command if one != "--background"]
    subprocess.run(shown, check=True, timeout=30)
    time.sleep(SETTLE_S)


def _app(*, quick: bool) -> Footprint:
    with _app_command(FROM_SOURCE) as command:
        starts = [_start_s(command, "tequio") for _ in range(2 if quick else STARTS)]
        with _running(command) as process:
            time.sleep(SETTLE_S)
            _name_others(process.pid)
            hidden_mb, cpu = _idle(process.pid, quick=quick)
            _open(command)
            shown_mb = _resident_mb(process.pid)
            for page in range(1, len(PAGES) + 1):
                _press(f"ctrl+{page}")
                time.sleep(2)
            _press("ctrl+w")
            time.sleep(2 * SETTLE_S)
            again_mb, again_cpu = _idle(process.pid, quick=quick)
    return Footprint(
        start_s=statistics.median(starts[1:] or starts),
        hidden_mb=hidden_mb,
        shown_mb=shown_mb,
        hidden_cpu=cpu,
        again_mb=again_mb,
        again_cpu=again_cpu,
    )


def _compare_package(package: Path, options: argparse.Namespace) -> None:
    """Start the app in both ways by turns; print, and write if asked."""
    ways = {"from source": FROM_SOURCE, "package": (str(package.absolute()),)}
    starts: dict[str, list[float]] = {name: [] for name in ways}
    memory = {}
    with ExitStack() as stack:
        commands = {name: stack.enter_context(_app_command(way)) for name, way in ways.items()}
        for _ in range(2 if options.quick else STARTS):
            for name, command in commands.items():
                starts[name].append(_start_s(command, "tequio"))
        for name, command in commands.items():
            with _running(command) as process:
                time.sleep(2 * SETTLE_S)
                _name_others(process.pid)
                hidden = _resident_mb(process.pid)
                _open(command)
                memory[name] = hidden, _resident_mb(process.pid)
    medians = {name: statistics.median(seconds[1:]) for name, seconds in starts.items()}
    rows = [
        (name, f"{medians[name]:.2f} s", *(f"{one:.0f} MB" for one in memory[name]))
        for name in ways
    ]
    tables = {
        "the package": table.markdown(PACKAGE_COLUMNS, rows),
        "machine of the package": _machine_line(),
    }
    _publish(tables, options, {**machine(), "starts": starts, "memory": memory})


def _publish(
    tables: dict[str, str], options: argparse.Namespace, figures: dict[str, object]
) -> None:
    for name, content in tables.items():
        print(f"\n{name}\n\n{content}")
        if options.document:
            table.put(options.document, name, content)
    if options.json:
        options.json.write_text(json.dumps(figures))


def _machine_line() -> str:
    return ", ".join(f"{k} {v}" for k, v in machine().items())


def _name_others(pid: int) -> None:
    """Print which other programs have Qt's library in memory from the same file."""
    (library,) = (path for path in _mapped(pid) if Path(path).name.startswith(LIBRARY))
    others = [one for one in psutil.pids() if one != pid and library in _mapped(one)]
    if others:
        print(f"figures of memory are too high: processes {others} use {library}, too", flush=True)


def _mapped(pid: int) -> set[str]:
    with suppress(psutil.Error):
        return {one.path for one in psutil.Process(pid).memory_maps()}
    return set()


def _press(keys: str) -> None:
    """Press keys in the window of the app."""
    words = ["xdotool", "search", "--onlyvisible", "--name", "^Tequio$", "windowactivate", "--sync"]
    subprocess.run([*words, "key", keys], check=True, timeout=30)


def _boinc(*, quick: bool) -> Footprint:
    with tempfile.TemporaryDirectory() as place:
        command = ["boincmgr", "--autostart", "--namehost", "127.0.0.1", f"--datadir={place}"]
        starts = [_start_s(command, "boinc") for _ in range(2 if quick else STARTS)]
        with _running(command) as process:
            time.sleep(SETTLE_S)
            hidden_mb, cpu = _idle(process.pid, quick=quick)
        with _running([one for one in command if one != "--autostart"]) as process:
            time.sleep(SETTLE_S)
            shown_mb = _resident_mb(process.pid)
    return Footprint(
        start_s=statistics.median(starts[1:] or starts),
        hidden_mb=hidden_mb,
        shown_mb=shown_mb,
        hidden_cpu=cpu,
    )


def _start_s(command: list[str], name: str) -> float:
    """Seconds from the command to the first window of that name; a tray icon is a window."""
    before = _tree().lower().count(name)
    begun = time.perf_counter()
    with _running(command):
        while _tree().lower().count(name) <= before:
            if time.perf_counter() - begun > LONGEST_S:
                raise SystemExit(f"{command[0]} opened no window within {LONGEST_S:.0f} s")
            time.sleep(POLL_S)
        taken = time.perf_counter() - begun
        time.sleep(2)
    time.sleep(1)
    return taken


def _idle(pid: int, *, quick: bool) -> tuple[float, float]:
    """Memory in MB, and the average share of a core."""
    process, seconds = psutil.Process(pid), 5.0 if quick else IDLE_S
    before = sum(process.cpu_times()[:2])
    time.sleep(seconds)
    return _resident_mb(pid), (sum(process.cpu_times()[:2]) - before) / seconds


def _resident_mb(pid: int) -> float:
    process = psutil.Process(pid)
    if process.status() == psutil.STATUS_ZOMBIE:
        raise SystemExit("the program has ended: its memory cannot be measured")
    return process.memory_info().rss / _MB


# --- the worker ----------------------------------------------------------------------------------


async def _worker(quick: bool) -> tuple[Delays, Delays, tuple[float, float]]:  # noqa: FBT001 - trio.run takes positions
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        async with running_network(folder, start_process) as stage:
            await found(stage, WIDE)
            stage.seed()
            stage.volunteer("ana")
            async with linked(folder / "beto", stage.url) as worker, trio.open_nursery() as nursery:
                nursery.start_soon(_report_absence, worker)
                await worker.send(control.SetPreferences(preferences=Preferences(consent=True)))
                count = 3 if quick else PAUSES
                turns = [
                    (await _contribute_s(worker), await _pause_s(worker)) for _ in range(count)
                ]
                await trio.sleep(SETTLE_S if quick else CALM_S)
                pid = worker.process.pid
                measured = await trio.to_thread.run_sync(lambda: _idle(pid, quick=quick))
                nursery.cancel_scope.cancel()
    starts, pauses = zip(*turns, strict=True)
    lends, computes = zip(*starts, strict=True)
    shown, gone = zip(*pauses, strict=True)
    return (
        {"until it lends": list(lends), "until a trainer computes": list(computes)},
        {"until the app shows it": list(shown), "until the trainer is gone": list(gone)},
        measured,
    )


async def _report_absence(worker: LinkedWorker) -> None:
    while True:
        await worker.report_session(AWAY)
        await trio.sleep(5)


async def _contribute_s(worker: LinkedWorker) -> tuple[float, float]:
    """Let it lend: seconds until the decision is made, and until a trainer computes."""
    begun = trio.current_time()
    await worker.want(lend=True)
    await worker.until("it lends", lambda one: one.decision.state is LendingState.LENDING)
    lends_s = trio.current_time() - begun
    await worker.until("it trains", _trains)
    return lends_s, trio.current_time() - begun


async def _pause_s(worker: LinkedWorker) -> tuple[float, float]:
    """Pause its training: seconds until a snapshot shows it, and until the trainer ends."""
    (trainer,) = worker.trainers
    await trio.sleep(0.5)
    begun = trio.current_time()
    asked = worker.snapshot.wish.number + 1
    await worker.send(
        control.SetDesiredState(wish=type(worker.snapshot.wish)(number=asked, lend=False))
    )
    shown_s = gone_s = 0.0
    while not (shown_s and gone_s):
        now = trio.current_time() - begun
        if not shown_s and worker.snapshot.wish.number >= asked:
            shown_s = now
        if not gone_s and not _lives(trainer):
            gone_s = now
        await trio.sleep(0.002)
    return shown_s, gone_s


def _trains(shown: Snapshot) -> bool:
    return any(one.state == "computing" for one in shown.trainers)


def _lives(process: psutil.Process) -> bool:
    try:
        return bool(process.status() != psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return False


if __name__ == "__main__":
    main()
