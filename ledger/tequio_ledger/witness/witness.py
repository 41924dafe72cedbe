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

import msgspec
import structlog

from tequio_ledger.runtime import Clock
from tequio_ledger.store import files
from tequio_shared.errors import MalformedError, PeerError, UserFacingError
from tequio_shared.ids import sha256
from tequio_shared.keys import Signer
from tequio_shared.log.cosigning import (
    AddCheckpoint,
    CosigningRefusedError,
    CosigningStatus,
    ForkEvidence,
    decide_cosigning,
    origin_hash,
)
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

EVIDENCE_FILES = 64
"""Maximum number of files of one log in each of the two folders; more would prove nothing new."""

log = structlog.get_logger(__name__)


class CheckpointStore:
    """The last cosigned checkpoint of each log; one caller of `store` at a time."""

    def __init__(self, folder: Path, logs: Mapping[str, VerifierKey], own: VerifierKey) -> None:
        """Read the files; raises UserFacingError when one is not what this witness wrote."""
        self.logs = logs
        self.own = own
        self.last: dict[str, Checkpoint] = {}
        """By origin."""
        self.notes: dict[str, bytes] = {}
        """The same checkpoints as they were cosigned, by origin hash."""
        self._folder = folder
        for origin, key in logs.items():
            self._read(origin, key)

    def store(self, checkpoint: Checkpoint, note: bytes) -> None:
        """Store a checkpoint and its cosigned note; durable when this returns. Raises OSError."""
        name = origin_hash(checkpoint.origin)
        place = self._folder / name
        files.make_folder(place)
        files.write_file(place / "checkpoint", note)
        self.last[checkpoint.origin] = checkpoint
        self.notes[name] = note

    def store_evidence(self, shown: Checkpoint, evidence: ForkEvidence, *, is_fork: bool) -> None:
        """Log and store a proof of two histories, or a checkpoint with an invalid proof.

        The latter proves nothing against the log: its sender may have made the wrong proof. One
        file per checkpoint, however often it is sent; none if there are many. Raises OSError.
        """
        kind = "forks" if is_fork else "unproven"
        folder = self._folder / origin_hash(shown.origin) / kind
        path = folder / f"{sha256(shown.text().encode()).hex()[:16]}.json"
        files.make_folder(folder)
        if not path.exists() and len(list(folder.iterdir())) < EVIDENCE_FILES:
            files.write_file(path, msgspec.json.encode(evidence))
        stored = str(path) if path.exists() else None
        if is_fork:
            log.error("a log showed two histories", origin=shown.origin, evidence=stored)
        else:
            log.warning("a checkpoint without its proof", origin=shown.origin, kept=stored)

    def _read(self, origin: str, key: VerifierKey) -> None:
        path = self._folder / origin_hash(origin) / "checkpoint"
        with files.explained(path):
            try:
                with path.open("rb") as file:
                    note = file.read(NOTE_BYTES + 1)
            except FileNotFoundError:  # nothing else may count as "never cosigned"
                return
        try:
            signed = open_checkpoint(note, key, [self.own])
        except PeerError as err:
            raise UserFacingError(_damaged(path, str(err))) from err
        if not signed.cosignatures:
            raise UserFacingError(_damaged(path, "it lacks our cosignature"))
        self.last[origin] = signed.checkpoint
        self.notes[origin_hash(origin)] = note


def _damaged(path: Path, why: str) -> str:
    return (
        f"{path} is not what this witness stored ({why}): restore it, or start a new witness in "
        "another folder, with another name and key"
    )


class WitnessService:
    """Answers add-checkpoint; any thread may ask. One request at a time is judged and stored.

    Judging and storing are one step under one lock: of two simultaneous requests the second is
    compared with the result of the first. A lock for each log would wait less, but an answer takes
    milliseconds, and a log asks every few seconds.
    """

    def __init__(self, store: CheckpointStore, signer: Signer, clock: Clock) -> None:
        self._store = store
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
            try:
                checkpoint = decide_cosigning(request, self._store.logs, self._store.last)
            except CosigningRefusedError as err:
                is_other = err.status in (CosigningStatus.CONFLICT, CosigningStatus.NO_PROOF)
                if is_other and err.size == request.old_size:
                    self._store_evidence(request, str(err))
                raise
            return self._cosign(request, checkpoint)

    def _cosign(self, request: AddCheckpoint, checkpoint: Checkpoint) -> bytes:
        time_s = self._clock() // 1000
        line = cosignature_line(checkpoint, self._store.own.name, self._signer, time_s)
        log_key = self._store.logs[checkpoint.origin]
        note = filter_signatures(request.note, [log_key])  # other lines, even ours, may be forged
        self._store.store(checkpoint, add_lines(note, [line]))
        return line.encode()

    def _store_evidence(self, request: AddCheckpoint, why: str) -> None:
        # Only two roots of one size prove a fork. Between two sizes the proof is the sender's, and
        # anyone can send a log's newest checkpoint with a wrong one.
        shown = Checkpoint.parse(note_text(request.note))
        origin, log_key = shown.origin, self._store.logs[shown.origin]
        seen, note = self._store.last.get(origin), self._store.notes.get(origin_hash(origin))
        if seen is None or note is None:
            return
        is_fork = shown.size == seen.size and shown.root != seen.root
        evidence = ForkEvidence(
            log_key=log_key.text(),
            why=f"size {seen.size} was cosigned, then somebody asked for another one: {why}",
            notes=(note.decode(), filter_signatures(request.note, [log_key]).decode()),
            proof=() if is_fork else tuple(to_base64(node) for node in request.proof),
        )
        self._store.store_evidence(shown, evidence, is_fork=is_fork)
