"""What the steps of the first run are: a heading, a sentence, and whether one may go on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QVBoxLayout, QWidget

from tequio_client.app.theme import sizes
from tequio_client.link.facts import NOTHING_OF_MACHINE

if TYPE_CHECKING:
    from collections.abc import Callable

    from tequio_client.app.first_run.draft import DraftBook
    from tequio_client.app.keys.key_desk import KeyDesk
    from tequio_client.app.pages.page import Means
    from tequio_client.link.facts import MachineFacts


@dataclass(frozen=True, slots=True, kw_only=True)
class Kit:
    """What the steps work with."""

    means: Means
    desk: KeyDesk
    book: DraftBook
    free_bytes: Callable[[], int | None]
    """Room on the disk that the store would be on; None: nobody knows."""

    @property
    def machine(self) -> MachineFacts:
        """What the worker's probe has said so far."""
        snapshot = self.means.model.snapshot
        return snapshot.machine if snapshot else NOTHING_OF_MACHINE


class Step(QWidget):
    """One step; `body` takes what it shows."""

    changed = Signal()
    """It may be possible now to go on, or not any more."""

    def __init__(self, kit: Kit, heading: str, note: str) -> None:
        super().__init__()
        self.kit, self.heading, self.note = kit, heading, note
        self.body = QVBoxLayout(self)
        self.body.setContentsMargins(0, 0, 0, 0)
        self.body.setSpacing(sizes.GAP)

    @property
    def is_ready(self) -> bool:
        """Whether one may go on."""
        return True

    @property
    def next_words(self) -> str:
        """What the button that goes on is called; empty: as usual."""
        return ""

    def enter(self) -> None:
        """Be seen from now on."""

    def refresh(self) -> None:
        """Show what is known now."""
