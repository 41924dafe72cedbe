"""All session probes together in a Qt application: true, hung, failing, and by the real table."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import threading
import time
from collections import Counter
from contextlib import closing
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import pytest
from PySide6.QtCore import QTimer

from tequio_client.app.session import linux
from tequio_client.app.session.monitor import (
    RESTING_MS,
    WATCHING_MS,
    SessionMonitor,
    SessionProbes,
)
from tequio_client.app.session.programs import GameFolders, ProgramList
from tequio_client.app.session.table import AnyProbe as AnyOf
from tequio_client.app.session.table import (
    FirstProbe,
    SessionEnvironment,
    SessionSources,
    is_wayland,
    session_sources,
)
from tequio_client.app.worker.process import WorkerProcess
from tequio_client.ipc.control import ReportSessionFacts, decode_to_worker, encode
from tequio_client.platform.dbus import AbsentError, NoAnswerError
from tests.support.timing_slack import allowed_s

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from pytestqt.qtbot import QtBot

    from tequio_client.app.model import AppModel
    from tequio_client.ipc.facts import ProbeHealth, SessionFacts
    from tests.support.private_bus import PrivateBus
    from tests.support.private_display import PrivateDisplay

STRANGERS = {"torch", "trio", "numpy", "libp2p", "httpx"}
LOADED = """
import sys
import tequio_client.app.session.monitor, tequio_client.app.session.table
import tequio_client.app.session.power
print(*{name.partition(".")[0] for name in sys.modules})
"""


@dataclass
class ScriptedProbe:
    """A probe whose answer the test sets."""

    answer: Callable[[], Any]
    source: str = "played"

    def read(self) -> Any:  # noqa: ANN401 - any fact
        """Answer so."""
        return self.answer()


def raises(error: Exception) -> Callable[[], Any]:
    def answer() -> Any:  # noqa: ANN401 - never
        raise error

    return answer


def scripted_sources(**changes: Callable[[], Any]) -> SessionSources:
    answers: dict[str, Callable[[], Any]] = {
        "idle": lambda: 400.0,
        "lock": lambda: False,
        "other_user": lambda: False,
        "fullscreen": lambda: "",
        "metered": lambda: False,
        "game_mode": lambda: "",
    }
    parts = {name: ScriptedProbe(answer) for name, answer in (answers | changes).items()}
    return SessionSources(programs=ProgramList(GameFolders([])), **parts)


def first_facts(qtbot: QtBot, session: SessionProbes) -> SessionFacts:
    """The facts once every probe has answered or hangs."""
    session.start()
    qtbot.waitUntil(lambda: bool(session.facts.health), timeout=90_000)
    qtbot.waitUntil(
        lambda: all(one.error != "has not been asked yet" for one in session.facts.health),
        timeout=90_000,
    )
    return session.facts


def health(facts: SessionFacts, name: str) -> ProbeHealth:
    return next(one for one in facts.health if one.name == name)


def test_all_facts_come_together_and_fit_the_line_to_the_worker(qtbot: QtBot) -> None:
    with closing(SessionProbes(scripted_sources())) as session:
        facts = first_facts(qtbot, session)
        qtbot.waitUntil(lambda: session.facts.programs is not None, timeout=90_000)
        facts = session.facts
    assert (facts.idle_s, facts.is_locked, facts.fullscreen) == (400.0, False, "")
    assert (facts.game, facts.programs, facts.is_metered) == ("", (), False)
    assert all(one.ok for one in facts.health)
    assert decode_to_worker(encode(ReportSessionFacts(facts=facts))) == ReportSessionFacts(
        facts=facts
    )


@pytest.mark.parametrize("name", ["w" * 4_096, "\udcff\udcfe", "a\u202eb\x1b[2J\nc"])
def test_whatever_a_program_calls_itself_fits_the_line_to_the_worker(
    qtbot: QtBot, name: str
) -> None:
    strange = scripted_sources(
        fullscreen=lambda: name, game_mode=lambda: name, lock=raises(OSError(f"{name}: no"))
    )
    with closing(SessionProbes(strange)) as session:
        facts = first_facts(qtbot, session)
    assert decode_to_worker(encode(ReportSessionFacts(facts=facts))) == ReportSessionFacts(
        facts=facts
    )
    for said in (facts.fullscreen, facts.game, health(facts, "lock").error):
        assert said
        assert said.isprintable()


def test_what_changes_is_told(qtbot: QtBot) -> None:
    idle = [9.0]
    with closing(SessionProbes(scripted_sources(idle=lambda: idle[0]))) as session:
        first_facts(qtbot, session)
        session.set_watching(is_watching=True)
        with qtbot.waitSignal(
            session.changed, timeout=90_000, check_params_cb=lambda facts: facts.idle_s == 0.5
        ):
            idle[0] = 0.5


@pytest.mark.parametrize("is_other", [True, None])
def test_behind_another_users_session_only_its_own_game_is_known(
    qtbot: QtBot, *, is_other: bool | None
) -> None:
    game = [""]
    behind = scripted_sources(other_user=lambda: is_other, game_mode=lambda: game[0])
    with closing(SessionProbes(behind)) as session:
        facts = first_facts(qtbot, session)
        assert facts.has_other_user is is_other
        assert (facts.idle_s, facts.is_locked, facts.fullscreen, facts.game) == (None,) * 4
        assert facts.is_metered is False
        session.set_watching(is_watching=True)
        game[0] = "doom"
        qtbot.waitUntil(lambda: session.facts.game == "doom", timeout=90_000)


def test_another_user_counts_as_there_until_the_system_says_that_they_are_gone(
    qtbot: QtBot,
) -> None:
    """Else "Start now anyway" would lend beside them while the system does not answer."""
    answers: list[bool | None] = [True]

    def ask() -> bool:
        if (answer := answers[-1]) is None:
            raise NoAnswerError("too slow")
        return answer

    with closing(SessionProbes(scripted_sources(other_user=ask))) as session:
        first_facts(qtbot, session)
        session.set_watching(is_watching=True)
        answers.append(None)
        qtbot.waitUntil(lambda: not health(session.facts, "other-user").ok, timeout=90_000)
        assert session.facts.has_other_user
        answers.append(False)
        qtbot.waitUntil(lambda: session.facts.has_other_user is False, timeout=90_000)
        assert session.facts.idle_s == 400.0


@pytest.mark.parametrize("name", ["idle", "lock", "fullscreen", "metered", "game_mode"])
def test_a_probe_that_hangs_is_unknown_while_the_rest_and_the_window_go_on(
    qtbot: QtBot, name: str
) -> None:
    let_go = threading.Event()
    session = SessionProbes(scripted_sources(**{name: lambda: let_go.wait(60)}), timeout_s=0.2)
    fact = "game" if name == "game_mode" else name
    ticks: list[float] = []
    pulse = QTimer(interval=10)
    pulse.timeout.connect(lambda: ticks.append(time.monotonic()))
    pulse.start()
    with closing(session):
        first_facts(qtbot, session)
        session.set_watching(is_watching=True)
        qtbot.waitUntil(
            lambda: health(session.facts, fact).error.startswith("no answer"), timeout=90_000
        )
        qtbot.waitUntil(
            lambda: all(
                one.ok for one in session.facts.health if one.name not in (fact, "programs")
            ),
            timeout=90_000,
        )
        assert health(session.facts, fact).error.startswith("no answer")
        gaps = [after - before for before, after in pairwise(ticks)]
        assert max(gaps) < allowed_s(1.0), "the window stood still"
    let_go.set()


def test_a_probe_that_fails_is_unknown_and_says_why(qtbot: QtBot) -> None:
    with closing(SessionProbes(scripted_sources(idle=raises(OSError("no such thing"))))) as session:
        facts = first_facts(qtbot, session)
        assert facts.idle_s is None
        assert health(facts, "idle").error == "OSError: no such thing"
        assert facts.is_metered is False


@pytest.mark.parametrize(("program", "is_film"), [("mpv", True), ("cs2", False), ("", False)])
def test_a_film_is_a_player_that_fills_the_screen(
    qtbot: QtBot, program: str, *, is_film: bool
) -> None:
    with closing(SessionProbes(scripted_sources(fullscreen=lambda: program))) as session:
        facts = first_facts(qtbot, session)
        assert (facts.fullscreen, facts.is_film) == (program, is_film)


def test_an_exclusive_program_is_told_by_its_name(qtbot: QtBot) -> None:
    with closing(SessionProbes(scripted_sources())) as session:
        first_facts(qtbot, session)
        ours = os.path.basename(sys.executable)  # noqa: PTH119 - a name
        session.set_exclusive((ours.upper(), "no-such-program"))
        qtbot.waitUntil(lambda: session.facts.programs == (ours.upper(),), timeout=90_000)


def test_a_game_that_a_snooze_awaits_is_seen_when_it_does_not_fill_the_screen(
    qtbot: QtBot, model: AppModel, tmp_path: Path
) -> None:
    at_rest = SessionProbes(scripted_sources(), resting_ms=10**8)
    with (
        subprocess.Popen([shutil.which("sleep") or "", "600"]) as game,
        closing(SessionMonitor(model, WorkerProcess((), tmp_path, lambda: None), at_rest)) as one,
    ):
        one.start()
        qtbot.waitUntil(lambda: model.session.programs == (), timeout=90_000)
        model.snooze_until_game_closes(game="sleep")
        model.snapshot_changed.emit(None)
        qtbot.waitUntil(lambda: model.session.programs == ("sleep",), timeout=90_000)
        game.kill()
        model.contribute()
        model.snapshot_changed.emit(None)
        qtbot.waitUntil(lambda: model.session.programs == (), timeout=90_000)


@pytest.mark.parametrize(
    ("program", "is_awaited"),
    [
        ("doom", True),
        ("javascript-game", True),
        ("java", False),
        ("javaw.exe", False),
        ("python3.13", False),
        ("pythonw.exe", False),
        ("wine64-preloader", False),
    ],
)
def test_no_snooze_awaits_the_end_of_every_program_of_one_interpreter(
    model: AppModel, tmp_path: Path, program: str, *, is_awaited: bool
) -> None:
    """Tequio itself may be one of them, and would snooze until it ends."""
    sources = scripted_sources()
    worker = WorkerProcess((), tmp_path, lambda: None)
    with closing(SessionMonitor(model, worker, SessionProbes(sources))):
        model.snooze_until_game_closes(game=program)
        model.snapshot_changed.emit(None)
        assert sources.programs.exclusive_names == ((program,) if is_awaited else ())


def test_nothing_is_emitted_after_the_end(qtbot: QtBot) -> None:
    session = SessionProbes(scripted_sources())
    first_facts(qtbot, session)
    session.close()
    received: list[object] = []
    session.changed.connect(received.append)
    session.set_watching(is_watching=True)
    session.set_exclusive(("x",))
    qtbot.wait(200)
    assert received == []


def test_it_looks_more_often_while_something_has_to_stop_in_time(qtbot: QtBot) -> None:
    asked: list[float] = []

    def idle() -> float:
        asked.append(time.monotonic())
        return 1.0

    with closing(SessionProbes(scripted_sources(idle=idle))) as session:
        first_facts(qtbot, session)
        session.set_watching(is_watching=True)
        qtbot.waitUntil(lambda: len(asked) >= 4, timeout=90_000)
        gaps = [after - before for before, after in pairwise(asked[1:])]
        assert min(gaps) > WATCHING_MS / 1_000 / 2
        assert RESTING_MS == 5 * WATCHING_MS


def test_at_rest_the_probes_that_cost_most_are_asked_at_every_third_tick(qtbot: QtBot) -> None:
    asked: Counter[str] = Counter()

    def counted(name: str, answer: object) -> Callable[[], Any]:
        def count() -> object:
            asked[name] += 1
            return answer

        return count

    played = scripted_sources(idle=counted("idle", 1.0), lock=counted("lock", False))  # noqa: FBT003 - an answer
    with closing(SessionProbes(played, resting_ms=10)) as session:
        session.start()
        qtbot.waitUntil(lambda: asked["idle"] >= 10, timeout=90_000)
        assert 2 <= asked["lock"] <= asked["idle"] // 2
        session.set_watching(is_watching=True)
        before = asked["lock"]
        qtbot.waitUntil(lambda: asked["lock"] > before, timeout=90_000)


def test_games_are_looked_for_every_second_while_a_program_gives_way_to_them(
    qtbot: QtBot, model: AppModel, tmp_path: Path
) -> None:
    game = [""]
    at_rest = SessionProbes(scripted_sources(game_mode=lambda: game[0]), resting_ms=10**8)
    monitor = SessionMonitor(model, WorkerProcess((), tmp_path, lambda: None), at_rest)
    with closing(monitor):
        monitor.start()
        qtbot.waitUntil(lambda: model.session.game == "", timeout=90_000)
        model.set_yielding("chat", is_running=True)
        for name in ("doom", "quake"):
            game[0] = name
            qtbot.waitUntil(lambda: model.session.game == game[0], timeout=20_000)


def test_the_first_source_that_is_there_answers() -> None:
    now_s = [0.0]
    best: ScriptedProbe = ScriptedProbe(raises(AbsentError("gone")), source="best")
    good = ScriptedProbe(lambda: 5.0, source="good")
    first: FirstProbe[float] = FirstProbe((best, good), clock=lambda: now_s[0])
    assert (first.read(), first.source) == (5.0, "good")
    best.answer = lambda: 6.0
    assert first.read() == 5.0, "what was absent is not asked every time"
    now_s[0] = 61.0
    assert (first.read(), first.source) == (6.0, "best")


def test_a_source_that_is_there_and_fails_is_asked_again_and_nobody_lies_for_it() -> None:
    best = ScriptedProbe(raises(NoAnswerError("hm")), source="best")
    first: FirstProbe[float] = FirstProbe(
        (best, ScriptedProbe(raises(AbsentError("gone")), source="last"))
    )
    with pytest.raises(NoAnswerError, match="best: hm; last: gone"):
        first.read()
    best.answer = lambda: 1.0
    assert first.read() == 1.0


def test_without_any_source_it_is_absent() -> None:
    with pytest.raises(AbsentError, match="no source"):
        FirstProbe[float](()).read()
    with pytest.raises(AbsentError, match="no source"):
        AnyOf(()).read()


@pytest.mark.parametrize(
    ("answers", "is_so"), [((True, False), True), ((False, True), True), ((False, False), False)]
)
def test_one_yes_is_enough(answers: tuple[bool, bool], *, is_so: bool) -> None:
    parts = [ScriptedProbe(lambda one=one: one) for one in answers]  # type: ignore[misc]
    gone = ScriptedProbe(raises(AbsentError("gone")))
    assert AnyOf((gone, *parts)).read() is is_so


@pytest.mark.parametrize(
    ("environ", "is_so"),
    [
        ({"XDG_SESSION_TYPE": "x11", "WAYLAND_DISPLAY": "wayland-0"}, False),
        ({"XDG_SESSION_TYPE": "wayland"}, True),
        ({"WAYLAND_DISPLAY": "wayland-0", "DISPLAY": ":0"}, True),
        ({"DISPLAY": ":0"}, False),
    ],
)
def test_the_kind_of_session_is_known(environ: dict[str, str], *, is_so: bool) -> None:
    assert is_wayland(environ) is is_so


@pytest.mark.parametrize(
    ("environ", "idle", "fullscreen"),
    [
        ({"DISPLAY": ":0"}, "x11", "x11"),
        ({"XDG_SESSION_TYPE": "wayland", "XDG_CURRENT_DESKTOP": "ubuntu:GNOME"},
         "mutter", "xwayland"),
        ({"XDG_SESSION_TYPE": "wayland", "XDG_CURRENT_DESKTOP": "KDE"},
         "ext-idle-notify", "xwayland"),
        ({"XDG_SESSION_TYPE": "wayland", "XDG_CURRENT_DESKTOP": "sway"},
         "ext-idle-notify", "sway"),
    ],
)  # fmt: skip
def test_each_session_has_its_own_row(
    tmp_path: Path, environ: dict[str, str], idle: str, fullscreen: str
) -> None:
    row = session_sources(SessionEnvironment(system="linux", environ=environ, home=tmp_path))
    assert (row.idle.source, row.fullscreen.source) == (idle, fullscreen)


@pytest.fixture
def desktop(
    display: PrivateDisplay, private_bus: PrivateBus, tmp_path: Path
) -> Iterator[SessionProbes]:
    """A whole X11 session: display, window manager, services, asked by the real table."""
    display.manage()
    private_bus.serve("org.freedesktop.login1", properties={"LockedHint": ("b", False)})
    private_bus.serve(linux.NETWORK_MANAGER.name, properties={"Metered": ("u", 1)})
    row = session_sources(
        SessionEnvironment(
            system="linux",
            environ=display.environ,
            home=tmp_path,
            session_bus=private_bus.address,
            system_bus=private_bus.address,
        )
    )
    with closing(SessionProbes(row)) as session:
        session.set_watching(is_watching=True)
        yield session


def test_a_whole_session_is_seen_and_survives_a_service_that_hangs(
    qtbot: QtBot, desktop: SessionProbes, display: PrivateDisplay, private_bus: PrivateBus
) -> None:
    desktop.start()
    qtbot.waitUntil(lambda: desktop.facts.is_metered is True, timeout=90_000)
    qtbot.waitUntil(lambda: desktop.facts.idle_s is not None, timeout=90_000)
    qtbot.waitUntil(lambda: desktop.facts.game == "", timeout=90_000)
    qtbot.waitUntil(lambda: desktop.facts.fullscreen == "", timeout=90_000)
    qtbot.waitUntil(lambda: desktop.facts.is_locked is False, timeout=90_000)

    program = display.window("full")
    qtbot.waitUntil(lambda: bool(desktop.facts.fullscreen), timeout=90_000)
    display.close(program)
    qtbot.waitUntil(lambda: desktop.facts.fullscreen == "", timeout=90_000)

    private_bus.serve("org.freedesktop.login1", hangs=True)
    qtbot.waitUntil(lambda: "no answer" in health(desktop.facts, "lock").error, timeout=90_000)
    assert desktop.facts.is_locked is None
    qtbot.waitUntil(lambda: desktop.facts.is_metered is True, timeout=90_000)


def test_the_session_probes_load_nothing_heavy() -> None:
    shown = subprocess.run(
        [sys.executable, "-c", LOADED], capture_output=True, text=True, check=True, timeout=60
    )
    assert set(shown.stdout.split()) & STRANGERS == set()
