"""The base of the first run's steps, the power estimate, and the draft of the choices."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import msgspec
from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QVBoxLayout, QWidget

from tequio_client.app.settings_file import MOST_BYTES, KeptFile
from tequio_client.app.theme import style
from tequio_client.ipc.facts import NOTHING_OF_MACHINE, Name
from tequio_client.ipc.preferences import Preset
from tequio_shared.errors import MalformedError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tequio_client.app.keys.service import KeyDesk
    from tequio_client.app.pages.page import Means
    from tequio_client.ipc.facts import MachineFacts


@dataclass(frozen=True, slots=True, kw_only=True)
class Kit:
    """Everything that the steps share."""

    means: Means
    desk: KeyDesk
    book: DraftBook
    free_bytes: Callable[[], int | None]
    """Free space on the disk of the store; None: unknown."""

    @property
    def machine(self) -> MachineFacts:
        """The machine as the worker's probe has reported it so far."""
        snapshot = self.means.model.snapshot
        return snapshot.machine if snapshot else NOTHING_OF_MACHINE


class Step(QWidget):
    """One step; subclasses fill `body`."""

    changed = Signal()
    """`is_ready` may have changed."""

    def __init__(self, kit: Kit, heading: str, note: str) -> None:
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


# Training draws between about 60 % of a card's power limit and all of it. Without a limit, and for
# a processor, the range covers common devices: nobody knows a draw before it is measured.
LEAST_PART = 0.6
UNKNOWN_CARD_W = (80.0, 350.0)
PROCESSOR_W = (35.0, 150.0)
DAYS = 30.4
"""Days in a month."""
USUAL = {"EUR": 0.30, "USD": 0.18, "GBP": 0.25, "CHF": 0.30, "MXN": 2.0, "JPY": 31.0, "CAD": 0.17}
"""Rough household prices of a kWh; the app labels them as a guess."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Power:
    """The power that a device draws while it trains, as a range."""

    device: str = ""
    """Empty: not known yet."""
    least_w: float = UNKNOWN_CARD_W[0]
    most_w: float = UNKNOWN_CARD_W[1]
    is_known: bool = False
    """The card reports its limit."""
    is_processor: bool = False

    def month_kwh(self, hours: int) -> tuple[float, float]:
        """Energy in a month with that many hours a day, least and most."""
        return self.least_w * hours * DAYS / 1_000, self.most_w * hours * DAYS / 1_000


def power(machine: MachineFacts) -> Power:
    """The range of the machine's best accelerator, or of its processor if there is none."""
    if machine.gpus is None:
        return Power()
    if not machine.gpus:
        least, most = PROCESSOR_W
        return Power(device=machine.cpu_name, least_w=least, most_w=most, is_processor=True)
    card = max(machine.gpus, key=lambda one: (one.memory_mb or 0, one.watts_limit or 0.0))
    if not card.watts_limit:
        return Power(device=card.name)
    return Power(
        device=card.name,
        least_w=card.watts_limit * LEAST_PART,
        most_w=card.watts_limit,
        is_known=True,
    )


FILE = "first-run.json"
VERSION = 1
STEPS = ("welcome", "check", "key", "when", "run", "ready")


class Draft(msgspec.Struct, frozen=True, kw_only=True):
    """Choices in the first run. None applies before the last step, the consent included."""

    version: Annotated[int, msgspec.Meta(ge=1)] = VERSION
    step: Annotated[int, msgspec.Meta(ge=0, lt=len(STEPS))] = 0
    tariff: Annotated[float, msgspec.Meta(ge=0.0, le=1_000_000.0)] | None = None
    """Price of a kWh in the locale's currency; None: not entered."""
    hours: Annotated[int, msgspec.Meta(ge=1, le=24)] = 6
    """Hours a day for the cost estimate."""
    role: Annotated[str, msgspec.Meta(pattern="^(auto|trainer|witness)$")] = "auto"
    """Role of the processor in a computer without an accelerator."""
    preset: Preset = Preset.BALANCED
    starts_at_login: bool = True
    is_agreed: bool = False
    """The consent was ticked."""
    run: Name = ""
    """Empty: chosen automatically."""


class DraftBook(QObject):
    """Owns the draft and writes each change at once; a failed write is ignored."""

    changed = Signal(object)

    def __init__(self, folder: Path, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._file = KeptFile(folder / FILE, decode=_decode, encode=msgspec.json.encode)
        self._is_begun = self._file.path.exists()
        self._draft = self._file.read(lambda draft: draft.version, VERSION)[0] or Draft()

    @property
    def draft(self) -> Draft:
        return self._draft

    @property
    def is_begun(self) -> bool:
        """The first run was started before and not completed."""
        return self._is_begun

    def change(self, **changes: Any) -> None:  # noqa: ANN401 - fields of Draft, which it checks
        """Change these fields."""
        changed = msgspec.structs.replace(self._draft, **changes)
        if changed != self._draft:
            self._draft = changed
            try:
                self._file.write(changed)
                self._is_begun = True
            except OSError:
                self._is_begun = False  # it begins at the beginning next time
            self.changed.emit(changed)

    def finish(self) -> None:
        """Remove the draft, except for the cost estimate's inputs."""
        self._draft = Draft(tariff=self._draft.tariff, hours=self._draft.hours)
        self._is_begun = False
        try:
            self._file.path.unlink(missing_ok=True)
        except OSError:
            return


def _decode(content: bytes) -> Draft:
    if len(content) > MOST_BYTES:
        raise MalformedError(f"a draft of more than {MOST_BYTES} bytes")
    try:
        return msgspec.json.decode(content, type=Draft)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as err:
        raise MalformedError(f"not a draft: {err}") from err
