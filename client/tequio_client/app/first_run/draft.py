"""What was chosen in the first run so far, kept so that it goes on where it was left.

None of it holds before the end: consent too counts only when the last step is done.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import msgspec
from PySide6.QtCore import QObject, Signal

from tequio_client.app.kept_file import MOST_BYTES, KeptFile
from tequio_client.link.facts import Name
from tequio_client.link.preferences import Preset
from tequio_shared.errors import MalformedError

if TYPE_CHECKING:
    from pathlib import Path

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
