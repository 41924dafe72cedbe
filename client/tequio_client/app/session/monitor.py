"""Connects the user's session to the worker and the window: facts, sleep, logout, staying awake."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from tequio_client.app.session import table
from tequio_client.app.session.power import KeepAwake, SleepWatch
from tequio_client.app.session.probes import SessionProbes

if TYPE_CHECKING:
    from tequio_client.app.model import AppModel
    from tequio_client.app.worker.process import WorkerProcess
    from tequio_client.ipc.facts import SessionFacts


class SessionMonitor(QObject):
    """Sends session facts to the worker and the model as long as the app runs."""

    ending = Signal()
    """The session is about to end."""

    def __init__(
        self, model: AppModel, worker: WorkerProcess, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._model = model
        place = table.SessionEnvironment(system=sys.platform, environ=os.environ, home=Path.home())
        self._probes = SessionProbes(table.session_sources(place), parent=self)
        self._sleep = SleepWatch(parent=self)
        self._awake = KeepAwake()
        self._probes.changed.connect(worker.send_facts)
        self._probes.changed.connect(model.update_session)
        self._sleep.ending.connect(self.ending)
        self._sleep.woke.connect(self._probes.start)
        model.snapshot_changed.connect(self._follow)
        model.preferences_changed.connect(self._follow)

    @property
    def facts(self) -> SessionFacts:
        """The latest facts."""
        return self._probes.facts

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
        self._probes.set_lending(is_lending=is_lending)
        self._probes.set_exclusive(preferences.exclusive)
        self._awake.set_wanted(is_wanted=is_lending and preferences.keep_awake)
