"""The choices made in the first run so far, whether the app opens with it, and its steps' base.

The draft is saved at each change, so the first run continues where it was left. None of it applies
before the last step, the consent included.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import msgspec
from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QVBoxLayout, QWidget

from tequio_client.app.settings_file import MOST_BYTES, SettingsFile
from tequio_client.app.theme import style
from tequio_client.ipc.facts import UNKNOWN_MACHINE, MachineFacts, Name
from tequio_client.ipc.preferences import LendingPreset, Preferences, decode
from tequio_shared.errors import MalformedError

if TYPE_CHECKING:
    from tequio_client.app.keys.service import KeyService
    from tequio_client.app.pages.page import PageContext


DRAFT_FILE = "first-run.json"
VERSION = 1
KEY_FILE = "identity.key"
WORKER_PREFERENCES_FILE = "preferences.json"
"""The worker's own copy."""
STEPS = ("welcome", "check", "key", "when", "run", "ready")


class FirstRunDraft(msgspec.Struct, frozen=True, kw_only=True):
    """The saved choices."""

    version: Annotated[int, msgspec.Meta(ge=1)] = VERSION
    step: Annotated[int, msgspec.Meta(ge=0, lt=len(STEPS))] = 0
    tariff: Annotated[float, msgspec.Meta(ge=0.0, le=1_000_000.0)] | None = None
    """Price of a kWh in the locale's currency; None: not entered."""
    hours: Annotated[int, msgspec.Meta(ge=1, le=24)] = 6
    """Hours a day for the cost estimate."""
    role: Annotated[str, msgspec.Meta(pattern="^(auto|trainer|witness)$")] = "auto"
    """Role of the processor in a computer without an accelerator."""
    preset: LendingPreset = LendingPreset.BALANCED
    starts_at_login: bool = True
    is_agreed: bool = False
    """The consent was ticked."""
    run: Name = ""
    """Empty: chosen automatically."""


class DraftStore(QObject):
    """Owns the draft and writes each change at once; a failed write is ignored."""

    changed = Signal(object)

    def __init__(self, folder: Path, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._file = SettingsFile(folder / DRAFT_FILE, decode=_decode, encode=msgspec.json.encode)
        self._draft = self._file.read(lambda draft: draft.version, VERSION)[0] or FirstRunDraft()

    @property
    def draft(self) -> FirstRunDraft:
        return self._draft

    def change(self, **changes: Any) -> None:  # noqa: ANN401 - fields of Draft, which it checks
        changed = msgspec.structs.replace(self._draft, **changes)
        if changed != self._draft:
            self._draft = changed
            with suppress(OSError):  # the next start begins at the beginning then
                self._file.write(changed)
            self.changed.emit(changed)

    def finish(self) -> None:
        """Remove the draft, except for the cost estimate's inputs."""
        self._draft = FirstRunDraft(tariff=self._draft.tariff, hours=self._draft.hours)
        with suppress(OSError):
            self._file.path.unlink(missing_ok=True)


def _decode(content: bytes) -> FirstRunDraft:
    if len(content) > MOST_BYTES:
        raise MalformedError(f"a draft of more than {MOST_BYTES} bytes")
    try:
        return msgspec.json.decode(content, type=FirstRunDraft)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as err:
        raise MalformedError(f"not a draft: {err}") from err


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
    if preferences is not None and preferences.consent:
        return True
    try:
        return decode((folder / WORKER_PREFERENCES_FILE).read_bytes()).consent
    except (OSError, MalformedError):
        return False


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
