"""What may be shown of a key: how its file keeps it, and whether there is a backup."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, TypeAlias

import msgspec

Short: TypeAlias = Annotated[str, msgspec.Meta(max_length=64)]


class Kept(StrEnum):
    """How the file keeps the seed from others."""

    ABSENT = "absent"
    """There is no file."""
    KEYRING = "keyring"
    PASSPHRASE = "passphrase"  # noqa: S105 - no passphrase
    OPEN = "open"
    """By the file's mode alone."""


class KeyRecord(msgspec.Struct, frozen=True, kw_only=True):
    """What may be known about the key."""

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
