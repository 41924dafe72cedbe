"""The choices made in the first run so far, whether the app opens with it, and its steps' base.

The draft is saved at each change, so the first run continues where it was left; a second setup
begins again. None of it applies before the last step, the consent included.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import msgspec
from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtWidgets import QWidget

from tequio_client import files
from tequio_client.app.settings_file import VERSION, SettingsFile, StoredSettings
from tequio_client.app.theme import style
from tequio_client.app.theme.style import TextStyle
from tequio_client.app.widgets.base import MIDDLE, IconLabel, WrappedLabel, hbox, vbox
from tequio_client.ipc.facts import UNKNOWN_MACHINE, MachineFacts, Name
from tequio_client.ipc.preferences import LendingPreset, Preferences, decode
from tequio_shared.errors import MalformedError

if TYPE_CHECKING:
    from tequio_client.app.keys.service import KeyService
    from tequio_client.app.model import AppModel
    from tequio_client.app.pages.page import ProgramContext


DRAFT_FILE = "first-run.json"
KEY_FILE = "identity.key"
WORKER_PREFERENCES_FILE = "preferences.json"
"""The worker's own copy."""
STEPS = ("welcome", "check", "key", "when", "run", "ready")


class FirstRunDraft(StoredSettings, frozen=True, kw_only=True):
    step: Annotated[int, msgspec.Meta(ge=0, lt=len(STEPS))] = 0
    tariff: Annotated[float, msgspec.Meta(ge=0.0, le=1_000_000.0)] | None = None
    """Price of a kWh in the locale's currency; None: not entered."""
    hours: Annotated[int, msgspec.Meta(ge=1, le=24)] = 6
    """Hours a day for the cost estimate."""
    role: Annotated[str, msgspec.Meta(pattern="^(auto|trainer|witness)$")] = "witness"
    """Role of the processor in a computer without an accelerator."""
    preset: LendingPreset = LendingPreset.BALANCED
    starts_at_login: bool = True
    is_agreed: bool = False
    """The consent was ticked."""
    run: Name = ""
    """Empty: chosen automatically."""
    invitation: Annotated[str, msgspec.Meta(max_length=4_096)] = ""
    """A link to use once there is a key."""
    invited_to: Name = ""
    """Name of its network."""


class DraftStore:
    """Owns the draft and writes each change at once; a failed write is ignored."""

    def __init__(self, folder: Path) -> None:
        self._file = SettingsFile(folder / DRAFT_FILE, FirstRunDraft, VERSION)
        self.draft = self._file.read()[0] or FirstRunDraft()

    def change(self, **changes: Any) -> None:  # noqa: ANN401 - fields of FirstRunDraft, which it checks
        changed = msgspec.structs.replace(self.draft, **changes)
        if changed != self.draft:
            self.draft = changed
            with suppress(OSError):  # the next start begins at the beginning then
                self._file.write(changed)

    def finish(self) -> None:
        """Remove the draft, except for the cost estimate's inputs."""
        self.draft = FirstRunDraft(tariff=self.draft.tariff, hours=self.draft.hours)
        with suppress(OSError):
            files.delete(self._file.path)


def is_first_run(folder: Path, settings: Path, preferences: Preferences | None) -> bool:
    """True if nobody agreed to lend yet, and the key is missing or the first run was left half-way.

    `folder` is the worker's, `settings` that of the app's settings.
    """
    has_consent = preferences is not None and preferences.consent
    return not has_consent and (
        not (folder / KEY_FILE).exists() or (settings / DRAFT_FILE).exists()
    )


def has_lent(folder: Path, preferences: Preferences | None) -> bool:
    """True if the user agreed to lend before, in the app or in the worker's own folder."""
    chosen = (preferences, worker_preferences(folder))
    return any(one is not None and one.consent for one in chosen)


def worker_preferences(folder: Path) -> Preferences | None:
    """The preferences in the worker's own folder; None: there are none that can be read."""
    try:
        return decode((folder / WORKER_PREFERENCES_FILE).read_bytes())
    except (OSError, MalformedError):
        return None


@dataclass(frozen=True, slots=True, kw_only=True)
class StepContext:
    model: AppModel
    program: ProgramContext | None
    """None: this window has no program around it, and no settings of the app."""
    keys: KeyService
    draft_store: DraftStore
    free_bytes: Callable[[], int | None]
    """Free space on the disk of the store; None: unknown."""
    now_ms: Callable[[], int]
    open_page: Callable[[str], None]
    """Opens a page, or asks for an action."""

    @property
    def has_network(self) -> bool:
        return self.program is None or bool(self.program.ledger())

    @property
    def machine(self) -> MachineFacts:
        """The machine as the worker's probe has reported it so far."""
        snapshot = self.model.snapshot
        return snapshot.machine if snapshot else UNKNOWN_MACHINE


class IconRow(QWidget):
    def __init__(
        self,
        icon: str,
        ink: str = "text_sub",
        *,
        margins: tuple[int, int, int, int] = (0, 0, 0, 0),
        at: Qt.AlignmentFlag = MIDDLE,
    ) -> None:
        super().__init__()
        self.icon = IconLabel(icon, QSize(20, 20), ink)
        self.heading, self.text = WrappedLabel("", TextStyle.STRONG), WrappedLabel("", tone="sub")
        column = vbox(self.heading, self.text, spacing=1)
        hbox((self.icon, at), (column, 1), spacing=14, margins=margins, parent=self)

    def set_texts(self, heading: str, text: str) -> None:
        self.heading.setText(heading)
        self.text.setText(text)
        self.setAccessibleName(f"{heading}: {text}")


class FirstRunStep(QWidget):
    """One step; subclasses fill `body`."""

    changed = Signal()
    """`is_ready` may have changed."""

    def __init__(self, context: StepContext, heading: str, note: str) -> None:
        super().__init__()
        self.context, self.heading, self.note = context, heading, note
        self.body = vbox(spacing=style.GAP, parent=self)
        self.next_words = ""
        """Label of the button that goes on; empty: the default."""

    @property
    def is_ready(self) -> bool:
        """True if the user may go on."""
        return True

    @property
    def first_focus(self) -> QWidget | None:
        """The control to begin with while something is left to do here; None: the step is done."""
        return None

    def enter(self) -> None:
        """Called when the step becomes visible."""

    def refresh(self) -> None:
        """Update what is shown."""
