"""The app's settings and the user's lending preferences, as files of the user.

Every change is written at once, whole or not at all. If the disk refuses, the change still applies,
a notice says so, and it is written with the next change or when the app ends. A damaged file, or
one from a newer program, is copied aside before it is replaced, since this version would drop the
fields that it does not know.
"""

from __future__ import annotations

import os
import shutil
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, Generic, TypeVar

import msgspec
from PySide6.QtCore import QObject, Signal

from tequio_client import files
from tequio_client.ipc import preferences as link_preferences
from tequio_client.ipc.preferences import Preferences
from tequio_client.ledger.networks import APP_FILE
from tequio_shared import encoding
from tequio_shared.errors import MalformedError

T = TypeVar("T", bound="StoredSettings | Preferences")
VERSION = 1
"""Version of the stored form; a newer program writes a greater one."""
MOST_BYTES = 1 << 16
PREFERENCES_FILE = "preferences.json"
LISTEN_CHARS = 256

ShortText = Annotated[str, msgspec.Meta(max_length=64)]


class StoredSettings(msgspec.Struct, frozen=True, kw_only=True):
    version: Annotated[int, msgspec.Meta(ge=1)] = VERSION


class AppSettings(StoredSettings, frozen=True, kw_only=True):
    ledger: Annotated[str, msgspec.Meta(max_length=2_048)] = ""
    """Address of the network's ledger, which commands use too; empty: no network was chosen."""
    listen: Annotated[str, msgspec.Meta(max_length=LISTEN_CHARS)] = ""
    """Multiaddr that the worker listens on; empty: the default."""
    log_level: Annotated[str, msgspec.Meta(pattern="^(debug|info|warning|error)$")] = "info"
    """Level of the worker's log."""
    appearance: ShortText = "system"
    """`system`, `light` or `dark`."""
    language: ShortText = ""
    """Language code; empty: the system's language."""
    reduced_motion: bool = False
    """Disable animations; the system may ask for the same."""
    # notifications
    notify_points: bool = True
    notify_rank: bool = True
    notify_attention: bool = True
    notify_runs: bool = True
    notify_competitions: bool = True
    notify_announcements: bool = True
    looks_for_updates: bool = True
    """Look for a newer version once a day, and fetch it."""
    # what the user was told already
    knows_hiding: bool = False
    """The app continues when its window is closed."""
    knows_points: bool = False
    """The first points were verified."""
    week: ShortText = ""
    """Week of the last notification about the rank, as in `2026-W47`."""
    week_rank: Annotated[int, msgspec.Meta(ge=0, le=2**53)] = 0
    """Rank in that notification."""
    knows_competitions: bool = False
    """Competitions were listed before; those that were over by then are never reported."""
    competitions_told: Annotated[tuple[ShortText, ...], msgspec.Meta(max_length=256)] = ()
    """Keys of the notifications shown about competitions, the newest last."""
    knows_runs: bool = False
    """Runs were listed before; those that were over by then are never reported."""
    runs_told: Annotated[tuple[ShortText, ...], msgspec.Meta(max_length=256)] = ()
    """Keys of the news of runs that was told, the newest last."""
    run_news: ShortText = ""
    """Key of the news that Home shows; empty: none, or it was dismissed."""
    notices_read: Annotated[tuple[ShortText, ...], msgspec.Meta(max_length=64)] = ()
    """Organisers' announcements that were dismissed, by run and entry, the newest last."""
    announcement_told: ShortText = ""
    """Key of the last announcement to the whole network that a notification showed."""
    # the window
    page: ShortText = ""
    geometry: Annotated[str, msgspec.Meta(max_length=4_096)] = ""
    """Qt's saved geometry, in base64."""


class SettingsStore(QObject):
    """Owns both files; the one place where the user's choices are stored."""

    changed = Signal(object)
    """The new `AppSettings`."""
    problem = Signal(str, str)
    """A file could not be used: `damaged`, `newer` or `unsaved`, and its path or the reason.

    Problems of the first reading are in `load_problems`.
    """

    def __init__(self, folder: Path, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.folder = folder
        self._app = SettingsFile(folder / APP_FILE, AppSettings, VERSION)
        preferences_path = folder / PREFERENCES_FILE
        self._lending = SettingsFile(preferences_path, Preferences, link_preferences.VERSION)
        self.load_problems: list[tuple[str, str]] = []
        """Problems when the files were read: the condition and the path of the copy."""
        self._unsaved: set[str] = set()
        self.settings = self._read(self._app) or AppSettings()
        self.preferences = self._read(self._lending)
        """None: the user has not chosen any in this app."""

    def change(self, **changes: Any) -> None:  # noqa: ANN401 - fields of AppSettings, which it checks
        """Change these fields; raises MalformedError if the next start could not read them."""
        changed = msgspec.structs.replace(self.settings, **changes)
        if changed != self.settings:
            decode(msgspec.json.encode(changed), AppSettings)
            self.settings = changed
            self._write(self._app, changed)
            self.changed.emit(changed)

    def save_preferences(self, preferences: Preferences) -> None:
        if preferences != self.preferences:
            self.preferences = preferences
            self._write(self._lending, preferences)

    def write_pending(self) -> None:
        """Write what could not be written before."""
        if APP_FILE in self._unsaved:
            self._write(self._app, self.settings)
        if PREFERENCES_FILE in self._unsaved and self.preferences is not None:
            self._write(self._lending, self.preferences)

    def _read(self, file: SettingsFile[T]) -> T | None:
        value, condition = file.read()
        if condition in (FileCondition.DAMAGED, FileCondition.NEWER):
            self.load_problems.append((condition, str(file.backup_path(condition))))
        return value

    def _write(self, file: SettingsFile[T], value: T) -> None:
        try:
            file.write(value)
        except OSError as err:
            self._unsaved.add(file.path.name)
            self.problem.emit("unsaved", f"{file.path}: {err.strerror or err}")
        else:
            self._unsaved.discard(file.path.name)


class FileCondition(StrEnum):
    GOOD = "well"
    ABSENT = "absent"
    DAMAGED = "damaged"
    NEWER = "newer"


class SettingsFile(Generic[T]):
    """One file; the caller owns the value in it."""

    def __init__(self, path: Path, kind: type[T], version: int) -> None:
        self.path, self._kind, self._version = path, kind, version

    def read(self) -> tuple[T | None, FileCondition]:
        """The value in this version's form, if the file can be read, and the file's condition."""
        try:
            with self.path.open("rb") as file:
                value = decode(file.read(MOST_BYTES + 1), self._kind)
        except FileNotFoundError:
            return None, FileCondition.ABSENT
        except (OSError, MalformedError):
            self._back_up(FileCondition.DAMAGED)
            return None, FileCondition.DAMAGED
        if value.version > self._version:
            self._back_up(FileCondition.NEWER)
            newer = msgspec.structs.replace(value, version=self._version)
            return newer, FileCondition.NEWER
        return value, FileCondition.GOOD

    def write(self, value: T) -> None:
        """Replace the content; raises OSError and then leaves the old content."""
        self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        files.write_private(self.path, msgspec.json.encode(value))

    def backup_path(self, condition: FileCondition) -> Path:
        return self.path.with_name(f"{self.path.name}.{condition}")

    def _back_up(self, condition: FileCondition) -> None:
        """Link the file under a second name, which takes no space; copy it if links fail."""
        aside = self.backup_path(condition)
        try:
            files.delete(aside)
            try:
                os.link(self.path, aside)
            except OSError:
                shutil.copy2(self.path, aside)
        except OSError:
            return  # the damaged file itself stays until the user changes a setting


def decode(content: bytes, kind: type[T]) -> T:
    """Unknown fields are ignored. Raises MalformedError."""
    if len(content) > MOST_BYTES:
        raise MalformedError(f"settings of more than {MOST_BYTES} bytes")
    return encoding.read(content, kind)
