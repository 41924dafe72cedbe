"""Connects the user's session to the worker and the window: facts, sleep, logout, staying awake.

Facts are polled every second while something is lent, and while the chat or an update runs that
gives way to games. Otherwise nothing has to stop within seconds, and only the mouse, the keyboard
and full screen are polled every five seconds; the other probes cost ten times as much, and a hidden
app should need next to nothing. All are polled when such work begins.
Every probe has its own thread, so the window never waits for one; a probe that exceeds its time is
unknown until it answers.
"""

from __future__ import annotations

import re
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from msgspec.structs import replace
from PySide6.QtCore import QObject, QTimer, Signal

from tequio_client.app.session.power import KeepAwake, SleepWatch
from tequio_client.app.session.programs import is_film_program, normalised_name
from tequio_client.app.session.table import Probe, SessionSources, close_probe
from tequio_client.ipc.facts import UNKNOWN_SESSION, ProbeHealth, SessionFacts
from tequio_client.names import clean_text
from tequio_client.platform.asker import SourceAnswer, SourcePoller

if TYPE_CHECKING:
    from tequio_client.app.model import AppModel
    from tequio_client.app.worker.process import WorkerProcess

T = TypeVar("T")
WATCHING_MS, RESTING_MS = 1_000, 5_000
SLOW_TICKS = 3
"""At rest, the probes that cost most are polled at every third tick."""
TIMEOUT_S = 3.0
"""Longer than the probes' own time-outs, whose errors are more precise."""
NAME_CHARACTERS, ERROR_CHARACTERS = 256, 512
"""Limits of `ipc.facts`."""
_TOGETHER_MS = 30
"""Answers within this time are emitted together."""
_INTERPRETER = re.compile(r"javaw?|pythonw?[\d.]*|wine(64)?(-preloader)?")
"""Programs that run others, Tequio among them: several of one name may run, so that its end is
not the end of the game."""


class SessionProbes(QObject):
    """Emits `changed` with SessionFacts; owned by the thread of the window."""

    changed = Signal(object)
    _answered = Signal()

    def __init__(
        self,
        probes: SessionSources,
        *,
        timeout_s: float = TIMEOUT_S,
        resting_ms: int = RESTING_MS,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._resting_ms = resting_ms
        self._probes = probes
        self._timeout_s = timeout_s
        self._pollers: list[SourcePoller[Any]] = []  # all of them, of several types
        self._idle = self._poller(probes.idle)
        self._lock = self._poller(probes.lock)
        self._other_user = self._poller(probes.other_user)
        self._fullscreen = self._poller(probes.fullscreen)
        self._metered = self._poller(probes.metered)
        self._running = self._poller(probes.programs)
        self._game_mode = None if probes.game_mode is None else self._poller(probes.game_mode)
        self.facts = UNKNOWN_SESSION
        self._timer = QTimer(self, interval=resting_ms)
        self._timer.timeout.connect(self._tick)
        self._ticks = 0
        self._together = QTimer(self, interval=_TOGETHER_MS, singleShot=True)
        self._together.timeout.connect(self._publish)
        self._answered.connect(self._together.start)
        late_ms = round(timeout_s * 1_000) + _TOGETHER_MS
        self._late = QTimer(self, interval=late_ms, singleShot=True)
        self._late.timeout.connect(self._publish)

    def start(self) -> None:
        self._timer.start()
        self._ask(*self._pollers)

    def set_watching(self, *, is_watching: bool) -> None:
        """Poll every second while something runs that has to stop within seconds."""
        every_ms = WATCHING_MS if is_watching else self._resting_ms
        if every_ms != self._timer.interval():
            self._timer.setInterval(every_ms)
            if self._timer.isActive():
                self._ask(*self._pollers)

    def set_exclusive(self, names: tuple[str, ...]) -> None:
        if names != self._probes.programs.exclusive_names:
            self._probes.programs.exclusive_names = names
            self._running.poll()

    def close(self) -> None:
        """Stop the probes and emit nothing more."""
        self._timer.stop()
        self._together.stop()
        self._late.stop()
        for poller in self._pollers:
            poller.close()

    def _poller(self, probe: Probe[T]) -> SourcePoller[T]:
        made = SourcePoller(
            probe.read,
            timeout_s=self._timeout_s,
            on_answer=self._answered.emit,
            on_end=partial(close_probe, probe),
        )
        self._pollers.append(made)
        return made

    def _tick(self) -> None:
        self._ticks += 1
        is_resting = self._timer.interval() == self._resting_ms
        if is_resting and self._ticks % SLOW_TICKS:
            self._ask(self._idle, self._fullscreen)
        else:
            self._ask(*self._pollers)

    def _ask(self, *pollers: SourcePoller[Any]) -> None:
        for poller in pollers:
            poller.poll()
        if not self._late.isActive():  # a probe that hangs must become unknown without an answer
            self._late.start()

    def _publish(self) -> None:
        facts = self._composed()
        if facts != self.facts:
            self.facts = facts
            self.changed.emit(facts)

    def _composed(self) -> SessionFacts:
        health: list[ProbeHealth] = []
        probes = self._probes
        idle_s = _latest("idle", probes.idle, self._idle, health)
        is_locked = _latest("lock", probes.lock, self._lock, health)
        other_user = _latest("other-user", probes.other_user, self._other_user, health)
        if other_user is None:  # one who was there has not gone because nothing answers
            other_user = self.facts.has_other_user or None
        fullscreen = _latest("fullscreen", probes.fullscreen, self._fullscreen, health)
        running = _latest("programs", probes.programs, self._running, health)
        game = _latest("game", probes.game_mode, self._game_mode, health)
        game = game or (None if running is None else running.game)
        facts = SessionFacts(
            idle_s=idle_s,
            is_locked=is_locked,
            fullscreen=_named(fullscreen),
            is_film=is_film_program(fullscreen) if fullscreen else False,
            game=_named(game),
            programs=None if running is None else running.exclusive,
            is_metered=_latest("metered", probes.metered, self._metered, health),
            has_other_user=other_user,
            health=tuple(health),
        )
        if other_user is False:
            return facts
        # This session may be behind another one, whose input, windows and games it does not see.
        # A game that it sees is one all the same.
        return replace(
            facts,
            idle_s=None,
            is_locked=None,
            fullscreen=None,
            is_film=False,
            game=facts.game or None,
        )


def _named(program: str | None) -> str | None:
    """A program's name, cleaned: windows and files choose their names freely."""
    return clean_text(program, NAME_CHARACTERS) if program else program


def _latest(
    name: str, probe: Probe[T] | None, poller: SourcePoller[T] | None, health: list[ProbeHealth]
) -> T | None:
    """A probe's latest value, None also without a probe; appends its health."""
    if probe is None or poller is None:
        return None
    answer: SourceAnswer[T] = poller.latest()
    health.append(
        ProbeHealth(
            name=name,
            source=probe.source,
            ok=answer.is_ok,
            error=clean_text(answer.error, ERROR_CHARACTERS),
            took_ms=answer.took_ms,
        )
    )
    return answer.value


class SessionMonitor(QObject):
    """Sends session facts to the worker and the model as long as the app runs."""

    ending = Signal()
    """The session is about to end."""

    def __init__(
        self,
        model: AppModel,
        worker: WorkerProcess,
        probes: SessionProbes,
        parent: QObject | None = None,
    ) -> None:
        """`probes` belong to this object from now on."""
        super().__init__(parent)
        self._model, self._probes = model, probes
        probes.setParent(self)
        self._sleep = SleepWatch(parent=self)
        self._awake = KeepAwake()
        self._probes.changed.connect(worker.send_facts)
        self._probes.changed.connect(model.update_session)
        self._sleep.ending.connect(self.ending)
        self._sleep.woke.connect(self._probes.start)
        model.snapshot_changed.connect(self._follow)
        model.preferences_changed.connect(self._follow)
        model.yielding_changed.connect(self._follow)

    def start(self) -> None:
        self._follow()
        self._probes.start()

    def close(self) -> None:
        self._probes.close()
        self._sleep.close()
        self._awake.close()

    def _follow(self, _news: object = None) -> None:
        snapshot, preferences = self._model.snapshot, self._model.preferences
        is_lending = snapshot is not None and snapshot.decision.may_compute
        self._probes.set_watching(is_watching=is_lending or bool(self._model.yielding))
        snooze = self._model.desired.snooze
        # A game that is known by full screen alone would seem closed while it is in the background.
        game = "" if snooze is None else snooze.game
        awaited = (game,) if game and not _INTERPRETER.fullmatch(normalised_name(game)) else ()
        self._probes.set_exclusive((*awaited, *preferences.exclusive))
        self._awake.set_wanted(is_wanted=is_lending and preferences.keep_awake)
