"""The base of the first run's steps, and what they share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QVBoxLayout, QWidget

from tequio_client.app.theme import style
from tequio_client.ipc.facts import UNKNOWN_MACHINE

if TYPE_CHECKING:
    from collections.abc import Callable

    from tequio_client.app.first_run.draft import DraftStore
    from tequio_client.app.keys.service import KeyService
    from tequio_client.app.pages.page import PageContext
    from tequio_client.ipc.facts import MachineFacts


@dataclass(frozen=True, slots=True, kw_only=True)
class StepContext:
    """Everything that the steps share."""

    means: PageContext
    keys: KeyService
    draft_store: DraftStore
    free_bytes: Callable[[], int | None]
    """Free space on the disk of the store; None: unknown."""

    @property
    def machine(self) -> MachineFacts:
        """The machine as the worker's probe has reported it so far."""
        snapshot = self.means.model.snapshot
        return snapshot.machine if snapshot else UNKNOWN_MACHINE


class FirstRunStep(QWidget):
    """One step; subclasses fill `body`."""

    changed = Signal()
    """`is_ready` may have changed."""

    def __init__(self, kit: StepContext, heading: str, note: str) -> None:
        super().__init__()
        self.kit, self.heading, self.note = kit, heading, note
        self.body = QVBoxLayout(self)
        self.body.setContentsMargins(0, 0, 0, 0)
        self.body.setSpacing(style.GAP)

    @property
    def is_ready(self) -> bool:
        """True if the user may go on."""
        return True

    @property
    def next_words(self) -> str:
        """Label of the button that goes on; empty: the default."""
        return ""

    def enter(self) -> None:
        """Called when the step becomes visible."""

    def refresh(self) -> None:
        """Update what is shown."""
