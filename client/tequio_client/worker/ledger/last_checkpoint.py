"""The last verified checkpoint, and evidence of forks, on disk.

A log that does not continue the last verified checkpoint is refused. Evidence is written to
`alarms/<name>.json` in a program's folder, for anyone to check, and never overwritten: a program
that restarts meets the same fork each time, and a forked log goes on signing, so the first files
suffice.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from pathlib import Path

import msgspec
import structlog
import trio
from msgspec import Struct

from tequio_client import files
from tequio_shared.errors import MalformedError, PeerError, UserFacingError
from tequio_shared.ids import Bytes32Text, Digest, Natural, digest_from_text, to_text
from tequio_shared.log.cosigning import ForkEvidence
from tequio_shared.log.notes import (
    NOTE_BYTES,
    Checkpoint,
    VerifierKey,
    filter_signatures,
    to_base64,
)

log = structlog.get_logger(__name__)

CHECKPOINT_FILE = "log.json"
"""File name in a program's folder."""
EVIDENCE_FOLDER = "alarms"
MAX_EVIDENCE_FILES = 64
_MOST_BYTES = 2 * NOTE_BYTES  # a note in JSON
_STORING = threading.Lock()
"""Held while a checkpoint is stored: a worker in several runs follows the log once for each."""


async def store_evidence(
    folder: Path,
    log_key: VerifierKey,
    why: str,
    notes: Sequence[bytes],
    proof: Sequence[Digest] = (),
) -> str:
    """Write the evidence below a program's folder, unless it exists; returns its place."""
    try:
        texts = tuple(filter_signatures(note, [log_key]).decode() for note in notes)
    except PeerError:
        texts = tuple(note.decode("utf-8", "replace") for note in notes)
    evidence = ForkEvidence(
        log_key=log_key.text(), why=why, notes=texts, proof=tuple(map(to_base64, proof))
    )
    raw = msgspec.json.encode(evidence)
    path = folder / EVIDENCE_FOLDER / f"{evidence.name}.json"
    try:
        is_stored = await trio.to_thread.run_sync(_write, path, raw)
    except (OSError, UserFacingError) as err:
        log.error("evidence not stored", error=str(err), evidence=raw.decode())  # noqa: TRY400 - the event holds it
        return "the program's log"
    if not is_stored:
        log.error("log forked again", evidence=raw.decode(), why=why)
        return f"the program's log, and older ones in {path.parent}"
    log.error("log forked", evidence=str(path), why=why)
    return str(path)


def _write(path: Path, raw: bytes) -> bool:
    """Write a new file; False when there are enough of them."""
    path.parent.mkdir(exist_ok=True)
    if path.exists():
        return True
    if len(list(path.parent.glob("*.json"))) >= MAX_EVIDENCE_FILES:
        return False
    files.write_for_user(path, raw)
    return True


class _Remembered(Struct, frozen=True, forbid_unknown_fields=True):
    origin: str
    size: Natural
    root: Bytes32Text
    note: str = ""
    """Note as signed by the log."""


def load_checkpoint(path: Path) -> Checkpoint | None:
    """Read the stored checkpoint; None at the first start. Raises UserFacingError."""
    found = _read(path)
    if found is None:
        return None
    return Checkpoint(origin=found.origin, size=found.size, root=digest_from_text(found.root))


def load_note(path: Path) -> bytes:
    """Read the stored note; empty at the first start. Raises UserFacingError."""
    found = _read(path)
    return b"" if found is None else found.note.encode()


def store_checkpoint(path: Path, checkpoint: Checkpoint, note: bytes = b"") -> None:
    """Store a checkpoint and its note, unless a later one is there; durable on return.

    Raises UserFacingError.
    """
    kept = _Remembered(
        origin=checkpoint.origin,
        size=checkpoint.size,
        root=to_text(checkpoint.root),
        note=note.decode(),
    )
    with _STORING:
        before = _read(path)
        if before is None or before.size <= checkpoint.size:
            files.write_for_user(path, msgspec.json.encode(kept))


def _read(path: Path) -> _Remembered | None:
    try:
        return files.read_record(path, _Remembered, _MOST_BYTES)
    except (OSError, MalformedError) as err:
        raise UserFacingError(f"cannot read {path} ({err}): move it away to continue") from err
