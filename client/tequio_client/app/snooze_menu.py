"""The pauses with an end that the user can choose, for the tray menu and Home."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtWidgets import QMenu, QWidget

from tequio_client import clock

if TYPE_CHECKING:
    from collections.abc import Callable

    from tequio_client.app.model import AppModel
    from tequio_client.ipc.facts import SessionFacts

MINUTE_MS = 60_000


class SnoozeMenu(QMenu):
    """A menu of pauses with an end; the owner calls `fill` to update it."""

    def __init__(
        self, model: AppModel, now_ms: Callable[[], int], parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._model, self._now_ms = model, now_ms
        self.fill()

    def fill(self) -> None:
        """Offer what applies now, in the current language."""
        self.clear()
        self.setTitle(self.tr("Snooze"))
        for text, minutes in ((self.tr("15 minutes"), 15), (self.tr("1 hour"), 60)):
            self.addAction(text).triggered.connect(partial(self._snooze, minutes))
        self.addAction(self.tr("Until tomorrow")).triggered.connect(self._snooze_until_tomorrow)
        self.addSeparator()
        game = running_game(self._model.session)
        text = self.tr("Until I close {game}").format(game=game.replace("&", "&&"))
        action = self.addAction(text if game else self.tr("Until I close this game"))
        action.setEnabled(bool(game))
        action.triggered.connect(lambda: self._model.snooze_until_game_closes(game=game))

    def _snooze(self, minutes: int, _is_checked: bool = False) -> None:  # noqa: FBT001, FBT002 - Qt's signal
        self._model.snooze_until(self._now_ms() + minutes * MINUTE_MS)

    def _snooze_until_tomorrow(self) -> None:
        self._model.snooze_until(clock.tomorrow_ms(self._now_ms()))


def running_game(facts: SessionFacts) -> str:
    """The running game; empty: none, or unknown."""
    return facts.game or ("" if facts.is_film else facts.fullscreen or "")
