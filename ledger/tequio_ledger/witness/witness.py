"""The witness, and its record of the last checkpoint of each log: `logs/<origin hash>/checkpoint`.

A file contains the checkpoint as the log signed it, with our cosignature under it, and the
monitoring path serves it as it is. It is replaced atomically and durable before the cosignature is
given, so after a power cut the witness knows everything that it cosigned. Beside it are the folders
`forks`, for proofs of two histories, and `unproven`, for checkpoints that anyone can send with a
wrong proof.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import structlog

from tequio_ledger.store import files
from tequio_shared.errors import MalformedError, PeerError, UserFacingError
from tequio_shared.ids import sha256
from tequio_shared.keys import Signer
from tequio_shared.log.notes import (
    NOTE_BYTES,
    Checkpoint,
    VerifierKey,
    add_lines,
    cosignature_line,
    filter_signatures,
    note_text,
    open_checkpoint,
    to_base64,
)
from tequio_shared.log.policy import (
    AddCheckpoint,
    CosigningRefusedError,
    CosigningStatus,
    ForkEvidence,
    decide_cosigning,
    origin_hash,
)

if TYPE_CHECKING:
    from tequio_ledger.runtime import Clock


EVIDENCE_FILES = 64
"""Maximum number of files of one log in each of the two folders; more would prove nothing new."""
FORKS, UNPROVEN = "forks", "unproven"

log = structlog.get_logger(__name__)


class CheckpointStore:
    """The last cosigned checkpoint of each log; one caller of `keep` at a time."""

    def __init__(self, folder: Path, logs: Mapping[str, VerifierKey], own: VerifierKey) -> None:
        """Read the files; raises UserFacingError when one is not what this witness wrote."""
        self._folder = folder
        self._own = own
        self.last: dict[str, Checkpoint] = {}
        self._notes: dict[str, bytes] = {}  # by origin hash
        for origin, key in logs.items():
            note = self._read(origin, key)
            if note is not None:
                self._notes[origin_hash(origin)] = note

    def note_of(self, name: str) -> bytes | None:
        """Give the last cosigned checkpoint of the log with that origin hash."""
        return self._notes.get(name)

    def store(self, checkpoint: Checkpoint, note: bytes) -> None:
        """Store a checkpoint and its cosigned note; durable when this returns. Raises OSError."""
        name = origin_hash(checkpoint.origin)
        place = self._folder / name
        files.make_folder(place)
        files.write_file(place / "checkpoint", note)
        self.last[checkpoint.origin] = checkpoint
        self._notes[name] = note

    def store_fork(self, shown: Checkpoint, evidence: ForkEvidence) -> None:
        """Log a proof of two histories, and store it unless there are many; raises OSError."""
        kept = self._store(FORKS, shown, evidence)
        log.error("a log showed two histories", origin=shown.origin, evidence=kept)

    def store_unproven(self, shown: Checkpoint, evidence: ForkEvidence) -> None:
        """Log a checkpoint with an invalid proof, and store it unless there are many.

        This proves nothing against the log: the sender may have made a wrong proof. Raises OSError.
        """
        kept = self._store(UNPROVEN, shown, evidence)
        log.warning("a checkpoint without its proof", origin=shown.origin, kept=kept)

    def _store(self, kind: str, shown: Checkpoint, evidence: ForkEvidence) -> str | None:
        """Store one file per checkpoint, however often it is sent; gives its path."""
        folder = self._folder / origin_hash(shown.origin) / kind
        path = folder / f"{sha256(shown.text().encode()).hex()[:16]}.json"
        files.make_folder(folder)
        if not path.exists():
            if len(list(folder.iterdir())) >= EVIDENCE_FILES:
                return None
            files.write_file(path, msgspec.json.encode(evidence))
        return str(path)

    def _read(self, origin: str, key: VerifierKey) -> bytes | None:
        path = self._folder / origin_hash(origin) / "checkpoint"
        try:
            with path.open("rb") as file:
                note = file.read(NOTE_BYTES + 1)
            signed = open_checkpoint(note, key, [self._own])
        except FileNotFoundError:
            return None
        except OSError as err:
            raise UserFacingError(files.explain(err, path)) from err
        except PeerError as err:
            raise UserFacingError(_damaged(path, str(err))) from err
        if not signed.cosignatures:
            raise UserFacingError(_damaged(path, "it lacks our cosignature"))
        self.last[origin] = signed.checkpoint
        return note


def _damaged(path: Path, why: str) -> str:
    return (
        f"{path} is not what this witness stored ({why}): restore it, or start a new witness in "
        "another folder, with another name and key"
    )


# --- The witness itself: one request at a time is judged, stored, and only then cosigned.
#
# Judging and storing are one step under one lock: of two simultaneous requests the second is
# compared with the result of the first. A lock for each log would wait less, but an answer takes
# milliseconds, and a log asks every few seconds.


class WitnessService:
    """Answers add-checkpoint; any thread may ask."""

    def __init__(
        self,
        logs: Mapping[str, VerifierKey],
        book: CheckpointStore,
        own: VerifierKey,
        signer: Signer,
        clock: Clock,
    ) -> None:
        self._logs = logs
        self._book = book
        self._own = own
        self._signer = signer
        self._clock = clock
        self._lock = threading.Lock()

    def add_checkpoint(self, body: bytes) -> bytes:
        """Give our cosignature line, after the checkpoint was stored.

        Raises CosigningRefusedError, and OSError when the disk fails: then nothing is cosigned.
        """
        try:
            request = AddCheckpoint.parse(body)
        except MalformedError as err:
            raise CosigningRefusedError(CosigningStatus.MALFORMED, str(err)) from err
        with self._lock:
            return self._cosign(request, self._judged(request))

    def _judged(self, request: AddCheckpoint) -> Checkpoint:
        try:
            return decide_cosigning(request, self._logs, self._book.last)
        except CosigningRefusedError as err:
            if err.status is CosigningStatus.NO_PROOF:
                self._accuse(request, str(err))
            raise

    def _cosign(self, request: AddCheckpoint, checkpoint: Checkpoint) -> bytes:
        time_s = self._clock() // 1000
        line = cosignature_line(checkpoint, self._own.name, self._signer, time_s)
        log_key = self._logs[checkpoint.origin]
        note = filter_signatures(request.note, [log_key])  # other lines, even ours, may be forged
        self._book.store(checkpoint, add_lines(note, [line]))
        return line.encode()

    def _accuse(self, request: AddCheckpoint, why: str) -> None:
        # Only two roots of one size prove a fork. Between two sizes the proof is the sender's, and
        # anyone can send a log's newest checkpoint with a wrong one.
        shown = Checkpoint.parse(note_text(request.note))
        origin, log_key = shown.origin, self._logs[shown.origin]
        seen, held = self._book.last.get(origin), self._book.note_of(origin_hash(origin))
        if seen is None or held is None:
            return
        is_fork = shown.size == seen.size and shown.root != seen.root
        evidence = ForkEvidence(
            log_key=log_key.text(),
            why=f"size {seen.size} was cosigned, then somebody asked for another one: {why}",
            notes=(held.decode(), filter_signatures(request.note, [log_key]).decode()),
            proof=() if is_fork else tuple(to_base64(node) for node in request.proof),
        )
        keep = self._book.store_fork if is_fork else self._book.store_unproven
        keep(shown, evidence)
