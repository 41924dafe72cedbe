"""What the steps of the first run are: a heading, a sentence, and whether one may go on."""

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
        self.body.setSpacing(style.GAP)

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


# --- What lending costs in power: a range, for nobody knows a card's draw before it works.
#
# Training keeps a card between about 60 % of its power limit and all of it. Without a limit, and
# for a processor, the range is that of the devices people have. Pure.

LEAST_PART = 0.6
UNKNOWN_CARD_W = (80.0, 350.0)
PROCESSOR_W = (35.0, 150.0)
DAYS = 30.4
"""In a month."""
USUAL = {"EUR": 0.30, "USD": 0.18, "GBP": 0.25, "CHF": 0.30, "MXN": 2.0, "JPY": 31.0, "CAD": 0.17}
"""What a kWh costs households, roughly: a figure to begin with, shown as one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Power:
    """What a device would draw while it trains."""

    device: str = ""
    """Empty: not known yet which."""
    least_w: float = UNKNOWN_CARD_W[0]
    most_w: float = UNKNOWN_CARD_W[1]
    is_known: bool = False
    """Whether the card says its limit."""
    is_processor: bool = False

    def month_kwh(self, hours: int) -> tuple[float, float]:
        """The range for so many hours on each day of a month."""
        return self.least_w * hours * DAYS / 1_000, self.most_w * hours * DAYS / 1_000


def power(machine: MachineFacts) -> Power:
    """What the machine's best accelerator would draw, or its processor where there is none."""
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


# --- What was chosen in the first run so far, kept so that it goes on where it was left.
#
# None of it holds before the end: consent too counts only when the last step is done.

FILE = "first-run.json"
VERSION = 1
STEPS = ("welcome", "check", "key", "when", "run", "ready")


class Draft(msgspec.Struct, frozen=True, kw_only=True):
    """The choices."""

    version: Annotated[int, msgspec.Meta(ge=1)] = VERSION
    step: Annotated[int, msgspec.Meta(ge=0, lt=len(STEPS))] = 0
    tariff: Annotated[float, msgspec.Meta(ge=0.0, le=1_000_000.0)] | None = None
    """Of a kWh, in the currency of the locale; None: not entered."""
    hours: Annotated[int, msgspec.Meta(ge=1, le=24)] = 6
    """That the computer might lend on a day."""
    role: Annotated[str, msgspec.Meta(pattern="^(auto|trainer|witness)$")] = "auto"
    """Of the processor, in a computer without an accelerator."""
    preset: Preset = Preset.BALANCED
    starts_at_login: bool = True
    is_agreed: bool = False
    """Whether the sentence of consent was ticked."""
    run: Name = ""
    """Empty: the program chooses."""


class DraftBook(QObject):
    """Owner of the draft; every change is written at once, and one that cannot be costs nothing."""

    changed = Signal(object)

    def __init__(self, folder: Path, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._file = KeptFile(folder / FILE, decode=_decode, encode=msgspec.json.encode)
        self._is_begun = self._file.path.exists()
        self._draft = self._file.read(lambda draft: draft.version, VERSION)[0] or Draft()

    @property
    def draft(self) -> Draft:
        """What was chosen so far."""
        return self._draft

    @property
    def is_begun(self) -> bool:
        """Whether somebody was here before and did not come to the end."""
        return self._is_begun

    def change(self, **changes: Any) -> None:  # noqa: ANN401 - fields of Draft, which it checks
        """Let these hold from now on."""
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
        """Begin at the beginning the next time, with the same choices about cost."""
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
