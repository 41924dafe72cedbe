"""Public facts about a key, and all errors of keys, backups and the keyring.

An error is one sentence: a code with its values, so that the app can translate it; the command line
prints the English template. No value is ever a secret, except a word of a backup that is not in the
word list.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated, TypeAlias

import msgspec

from tequio_shared.errors import UserFacingError

Short: TypeAlias = Annotated[str, msgspec.Meta(max_length=64)]


class KeyProtection(StrEnum):
    ABSENT = "absent"
    """No file."""
    KEYRING = "keyring"
    PASSPHRASE = "passphrase"  # noqa: S105 - no passphrase
    OPEN = "open"
    """Protected by the file's mode alone."""


class KeyRecord(msgspec.Struct, frozen=True, kw_only=True):
    """Facts about the key that are known without opening it."""

    key: Short = ""
    """Public key, base64url; empty: unknown until an encrypted file is opened."""
    backup_ms: Annotated[int, msgspec.Meta(ge=0)] = 0
    """Time of the last backup; 0: never."""
    backup: Annotated[str, msgspec.Meta(pattern="^(words|file|)$")] = ""


class KeyState(msgspec.Struct, frozen=True, kw_only=True):
    protection: KeyProtection = KeyProtection.ABSENT
    record: KeyRecord = KeyRecord()

    @property
    def wants_backup(self) -> bool:
        return self.protection is not KeyProtection.ABSENT and not self.record.backup_ms


ERROR_TEMPLATES: Mapping[str, str] = {
    # the file
    "unusable": "the key file {path} cannot be used: {why}",
    "mode": "others may read the key file {path} (mode {mode}): run chmod 600 {path}",
    "size": "the key file {path} has {size} bytes instead of {due}: restore it from a backup, or "
    "move it away to become a new peer",
    "damaged": "the key file {path} is damaged: restore it from a backup",
    "gone": "no key found in {folder}: restore one from a backup, or make a new one",
    "there": "there is a key in {folder} already: restoring puts it aside, making does not",
    # the passphrase
    "passphrase-needed": "the key file {path} is sealed: a passphrase is needed",
    "passphrase-wrong": "the passphrase does not open the key file",
    "passphrase-short": "the passphrase has fewer than {least} characters: choose a longer one",
    # the keyring
    "keyring-absent": "this system has no keyring that could keep a secret: choose another way to "
    "store it",
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
    "word-unknown": "word {number}, {word}, is not in the list of words: check your copy on paper",
    "word-near": "word {number}, {word}, is not in the list of words: it may be {near}",
    "words-unfit": "all words are in the list, but they do not fit together: one may be wrong, "
    "or two may be swapped",
    "words-perhaps": "the words do not belong together: look at word {number}, {word}, which may "
    "have been {near}",
    "words-swapped": "the words do not belong together: words {first} and {second} may have "
    "changed places",
}


class IdentityError(UserFacingError):
    """An error of a key, its backup or the keyring that the person can act on."""

    def __init__(self, code: str, **values: str | int) -> None:
        super().__init__(ERROR_TEMPLATES[code].format(**values))
        self.code, self.values = code, values
