"""What was chosen about the app itself, and the volunteer's preferences, as files of the user.

Every change is written at once. A disk that takes nothing costs nothing but a notice: what was
chosen holds, and is written with the next change or when the app ends.
"""

from __future__ import annotations

import os
import re
import shutil
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any, Generic, TypeVar

import msgspec
from PySide6.QtCore import QObject, Signal

from tequio_client import files
from tequio_client.ipc import preferences as link_preferences
from tequio_client.ipc.preferences import Preferences
from tequio_shared.errors import MalformedError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

# --- A file of choices that survives anything: written whole or not at all, and never lost
# unread.
#
# What cannot be read is kept aside under another name before it is replaced, and so is what a
# newer program has written: this version would drop what it does not know.

T = TypeVar("T")
MOST_BYTES = 1 << 16


class Found(StrEnum):
    """How the file was found."""

    WELL = "well"
    ABSENT = "absent"
    DAMAGED = "damaged"
    NEWER = "newer"


class KeptFile(Generic[T]):
    """One file; whoever changes its value owns this."""

    def __init__(
        self, path: Path, *, decode: Callable[[bytes], T], encode: Callable[[T], bytes]
    ) -> None:
        """`decode` raises MalformedError, `encode` nothing."""
        self.path = path
        self._decode, self._encode = decode, encode

    def read(self, version_of: Callable[[T], int], version: int) -> tuple[T | None, Found]:
        """What it says, if it can be read, and how it was found."""
        try:
            with self.path.open("rb") as file:
                value = self._decode(file.read(MOST_BYTES + 1))
        except FileNotFoundError:
            return None, Found.ABSENT
        except (OSError, MalformedError):
            self._keep_aside(Found.DAMAGED)
            return None, Found.DAMAGED
        if version_of(value) > version:
            self._keep_aside(Found.NEWER)
            return value, Found.NEWER
        return value, Found.WELL

    def write(self, value: T) -> None:
        """Let the file say that; raises OSError, and then it says what it said before."""
        self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        files.write_private(self.path, self._encode(value))

    def aside(self, found: Found) -> Path:
        """Where it is kept when it was found so."""
        return self.path.with_name(f"{self.path.name}.{found}")

    def _keep_aside(self, found: Found) -> None:
        """Give it a second name, which takes no room; a copy where the disk knows no such thing."""
        aside = self.aside(found)
        try:
            aside.unlink(missing_ok=True)
            try:
                os.link(self.path, aside)
            except OSError:
                shutil.copy2(self.path, aside)
        except OSError:
            return  # it will be replaced only once something is chosen


VERSION = 1
"""Of the stored form. A greater one was written by a newer program."""
APP, PREFERENCES = "app.json", "preferences.json"
_URL = re.compile(r"https?://[^\s/?#@\\]+(/[^\s?#]*)?")

Short = Annotated[str, msgspec.Meta(max_length=64)]


class AppSettings(msgspec.Struct, frozen=True, kw_only=True):
    """Everything about the app itself."""

    version: Annotated[int, msgspec.Meta(ge=1)] = VERSION
    ledger: Annotated[str, msgspec.Meta(max_length=2_048)] = ""
    """Address; empty: the usual one."""
    listen: Annotated[str, msgspec.Meta(max_length=256)] = ""
    """Multiaddr that the worker listens on; empty: the usual one."""
    log_level: Annotated[str, msgspec.Meta(pattern="^(debug|info|warning|error)$")] = "info"
    """Of the worker's log."""
    appearance: Short = "system"
    """`system`, `light` or `dark`."""
    language: Short = ""
    """Code; empty: the system's."""
    reduced_motion: bool = False
    """Nothing slides or fades; the system may ask for the same."""
    nickname: Short = ""
    # notifications
    notify_points: bool = True
    notify_rank: bool = True
    notify_attention: bool = True
    notify_runs: bool = True
    notify_competitions: bool = True
    # what was said and need not be said again
    knows_hiding: bool = False
    """That the app goes on when its window is closed."""
    knows_points: bool = False
    """That the first points were verified."""
    week: Short = ""
    """In which the rank was last told, as in `2026-W47`."""
    week_rank: Annotated[int, msgspec.Meta(ge=0, le=2**53)] = 0
    """The rank that was told."""
    knows_competitions: bool = False
    """That competitions were looked at before: what was over by then is never told."""
    competitions_told: Annotated[tuple[Short, ...], msgspec.Meta(max_length=256)] = ()
    """What was told of which competition, the newest last."""
    # the window
    page: Short = ""
    geometry: Annotated[str, msgspec.Meta(max_length=4_096)] = ""
    """As Qt saves it, base64."""


def is_ledger(address: str) -> bool:
    """Whether that may be a ledger's address, without a password: every user here could read it."""
    return _URL.fullmatch(address) is not None


def encode(settings: AppSettings) -> bytes:
    """Write them as they are stored."""
    return msgspec.json.encode(settings)


def decode(content: bytes) -> AppSettings:
    """Read them; what this version does not know is passed over. Raises MalformedError."""
    if len(content) > MOST_BYTES:
        raise MalformedError(f"settings of more than {MOST_BYTES} bytes")
    try:
        return msgspec.json.decode(content, type=AppSettings)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as err:
        raise MalformedError(f"not settings: {err}") from err


_S = TypeVar("_S", AppSettings, Preferences)


class SettingsBook(QObject):
    """Both files; the one place where what was chosen is kept."""

    changed = Signal(object)
    """The new `AppSettings`."""
    trouble = Signal(str, str)
    """A file could not be used as it should: `damaged`, `newer` or `unsaved`, and its path or why.

    Those of the first reading are in `found`.
    """

    def __init__(self, folder: Path, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._app = KeptFile(folder / APP, decode=decode, encode=encode)
        self._lending = KeptFile(
            folder / PREFERENCES,
            decode=link_preferences.decode,
            encode=link_preferences.encode,
        )
        self.found: list[tuple[str, str]] = []
        """What was wrong when they were read: how, and where the file is kept."""
        self._unsaved: dict[str, object] = {}
        self._settings: AppSettings = self._read(self._app, VERSION) or AppSettings()
        self._preferences: Preferences | None = self._read(self._lending, link_preferences.VERSION)

    @property
    def settings(self) -> AppSettings:
        """Those of the app."""
        return self._settings

    @property
    def preferences(self) -> Preferences | None:
        """Those about lending; None: nothing was chosen in this app yet."""
        return self._preferences

    def change(self, **changes: Any) -> None:  # noqa: ANN401 - fields of AppSettings, which it checks
        """Let these fields of the settings hold from now on."""
        changed = msgspec.structs.replace(self._settings, **changes)
        if changed != self._settings:
            self._settings = changed
            self._write(self._app, changed)
            self.changed.emit(changed)

    def keep(self, preferences: Preferences) -> None:
        """Keep these preferences."""
        if preferences != self._preferences:
            self._preferences = preferences
            self._write(self._lending, preferences)

    def save(self) -> None:
        """Write what could not be written before."""
        if self._app.path.name in self._unsaved:
            self._write(self._app, self._settings)
        if self._lending.path.name in self._unsaved and self._preferences is not None:
            self._write(self._lending, self._preferences)

    def _read(self, file: KeptFile[_S], version: int) -> _S | None:
        value, found = file.read(lambda value: int(value.version), version)
        if found in (Found.DAMAGED, Found.NEWER):
            self.found.append((found, str(file.aside(found))))
        if value is not None and found is Found.NEWER:
            return msgspec.structs.replace(value, version=version)
        return value

    def _write(self, file: KeptFile[Any], value: object) -> None:
        try:
            file.write(value)
        except OSError as err:
            self._unsaved[file.path.name] = value
            self.trouble.emit("unsaved", f"{file.path}: {err.strerror or err}")
            return
        self._unsaved.pop(file.path.name, None)
