"""Entries of the log and signature lines of checkpoints, as rows of pages."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tequio_ledger.web.pages import text
from tequio_shared.ids import to_text
from tequio_shared.keys import SIGNATURE_BYTES
from tequio_shared.log.notes import from_base64, signature_lines

if TYPE_CHECKING:
    from tequio_ledger.store.entries import EntryRow
    from tequio_shared.log.policy import Policy


@dataclass(frozen=True, slots=True, kw_only=True)
class EntryLine:
    """One entry of the log."""

    index: int
    id: str
    type: str
    description: str
    author: str
    run: str
    round: int | None
    at_ms: int


def entry_line(row: EntryRow) -> EntryLine:
    return EntryLine(
        index=row.index,
        id=to_text(row.id),
        type=row.type,
        description=text.TYPES.get(row.type, "A statement of a newer version of Tequio"),
        author=to_text(row.author),
        run=to_text(row.run) if row.run else "",
        round=row.round,
        at_ms=row.at_ms,
    )


_KEY_ID_BYTES, _TIME_BYTES = 4, 8
_COSIGNED_BYTES = _KEY_ID_BYTES + _TIME_BYTES + SIGNATURE_BYTES


@dataclass(frozen=True, slots=True, kw_only=True)
class NoteLine:
    """One signature line; the signature is not verified here."""

    name: str
    key_id: str
    cosigned_ms: int | None
    """Time of the signature, if the line is a cosignature."""
    witness: str
    """Verifier key of a witness that the log's policy names; empty for any other line."""


def note_lines(note: bytes, policy: Policy | None) -> tuple[NoteLine, ...]:
    """Parse the signature lines of a checkpoint of this log."""
    keys = [one.key for one in policy.witnesses] if policy else []
    known = {(key.name, key.id): key.text() for key in keys}
    return tuple(_line(text, known) for text in signature_lines(note.rpartition(b"\n\n")[2]))


def _line(text: str, known: Mapping[tuple[str, bytes], str]) -> NoteLine:
    name, _, payload = text.strip().removeprefix("— ").rpartition(" ")
    raw = from_base64(payload)
    is_cosigned = len(raw) == _COSIGNED_BYTES
    time_s = int.from_bytes(raw[_KEY_ID_BYTES : _KEY_ID_BYTES + _TIME_BYTES], "big")
    return NoteLine(
        name=name,
        key_id=raw[:_KEY_ID_BYTES].hex(),
        cosigned_ms=time_s * 1_000 if is_cosigned else None,
        witness=known.get((name, raw[:_KEY_ID_BYTES]), ""),
    )
