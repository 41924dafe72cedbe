"""What may be shown of a key, and what can be wrong with it, its backups and the keyring.

A fault is one sentence: a code with its values, so that the window can show it in the user's
language; the command line prints the English template. None of the values is ever a secret, except
a word of a backup that is in no list.
"""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, TypeAlias

import msgspec

from tequio_shared.errors import UserFacingError

if TYPE_CHECKING:
    from collections.abc import Mapping


Short: TypeAlias = Annotated[str, msgspec.Meta(max_length=64)]


class Kept(StrEnum):
    """How the key's file protects the seed."""

    ABSENT = "absent"
    """There is no file."""
    KEYRING = "keyring"
    PASSPHRASE = "passphrase"  # noqa: S105 - no passphrase
    OPEN = "open"
    """By the file's mode alone."""


class KeyRecord(msgspec.Struct, frozen=True, kw_only=True):
    """What may be known about the key without opening it."""

    key: Short = ""
    """Public key, base64url; empty: not known without opening the file."""
    backup_ms: Annotated[int, msgspec.Meta(ge=0)] = 0
    """When it was last backed up; 0: never."""
    backup: Annotated[str, msgspec.Meta(pattern="^(words|file|)$")] = ""
    """As what."""


class KeyState(msgspec.Struct, frozen=True, kw_only=True):
    """The key as it can be shown."""

    kept: Kept = Kept.ABSENT
    record: KeyRecord = KeyRecord()

    @property
    def wants_backup(self) -> bool:
        """Whether there is a key that is in no backup."""
        return self.kept is not Kept.ABSENT and not self.record.backup_ms


TEMPLATES: Mapping[str, str] = {
    # the file
    "unusable": "the key file {path} cannot be used: {why}",
    "mode": "others may read the key file {path} (mode {mode}): run chmod 600 {path}",
    "size": "the key file {path} has {size} bytes instead of {due}: restore it from a backup, or "
    "move it away to become a new peer",
    "damaged": "the key file {path} is damaged: restore it from a backup",
    "gone": "there is no key in {folder}: restore it from a backup, or make a new one",
    "there": "there is a key in {folder} already: restoring puts it aside, making does not",
    # the passphrase
    "passphrase-needed": "the key file {path} is sealed: a passphrase is needed",
    "passphrase-wrong": "the passphrase does not open the key file",
    "passphrase-short": "the passphrase has fewer than {least} characters: choose a longer one",
    # the keyring
    "keyring-absent": "this system has no keyring that could keep a secret: choose a passphrase "
    "instead",
    "keyring-locked": "the system's keyring is locked: unlock it and try again",
    "keyring-failing": "the system's keyring fails ({why}): try again, or choose a passphrase",
    "keyring-late": "the system's keyring has not answered for {seconds} s: it may be asking for "
    "its password behind another window; try again then",
    "keyring-forgot": "the system's keyring has no entry for the key file {path}: it was emptied, "
    "or is another user's; restore the key from a backup",
    # backups
    "backup-unusable": "the backup {path} cannot be used: {why}",
    "backup-foreign": "the file {path} is not a key backup: choose the one that is",
    "backup-wrong": "the passphrase does not open the backup {path}, or the file is damaged",
    "backup-differs": "the backup {path} does not read back as it was written: choose another "
    "place, this one is unreliable",
    "words-count": "a key has {due} words and these are {count}",
    "word-unknown": "word {number}, {word}, is not in the list of words: compare it with your note",
    "word-near": "word {number}, {word}, is not in the list of words: it may be {near}",
    "words-unfit": "each word is in the list, but they do not belong together: one is another than "
    "was noted, or two have changed places",
    "words-perhaps": "the words do not belong together: look at word {number}, {word}, which may "
    "have been {near}",
    "words-swapped": "the words do not belong together: words {first} and {second} may have "
    "changed places",
}


class IdentityError(UserFacingError):
    """Something is wrong with a key, and the person can act on it."""

    def __init__(self, code: str, **values: str | int) -> None:
        super().__init__(TEMPLATES[code].format(**values))
        self.code, self.values = code, values
