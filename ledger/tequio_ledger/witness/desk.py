"""The witness itself: one request at a time is judged, kept, and only then cosigned.

Judging and keeping are one step under one lock: of two requests at once the second is held
against what the first one left. A lock for each log would let them wait less, but an answer takes
milliseconds, and a log asks every few seconds.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from tequio_shared.cosigning import (
    AddCheckpoint,
    CosigningRefusedError,
    Status,
    judge,
    origin_hash,
)
from tequio_shared.errors import MalformedError
from tequio_shared.fork import ForkEvidence
from tequio_shared.notes import (
    Checkpoint,
    add_lines,
    cosignature_line,
    keep_signers,
    note_text,
    to_base64,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tequio_ledger.clock import Clock
    from tequio_ledger.witness.book import Book
    from tequio_shared.keys import Signer
    from tequio_shared.notes import VerifierKey


class Desk:
    """Answers add-checkpoint; any thread may ask."""

    def __init__(
        self,
        logs: Mapping[str, VerifierKey],
        book: Book,
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
        """Give our signature line; what it says of the log is on the disk before.

        Raises CosigningRefusedError, and OSError when the disk takes nothing: then nothing is
        cosigned.
        """
        try:
            request = AddCheckpoint.parse(body)
        except MalformedError as err:
            raise CosigningRefusedError(Status.MALFORMED, str(err)) from err
        with self._lock:
            return self._cosign(request, self._judged(request))

    def _judged(self, request: AddCheckpoint) -> Checkpoint:
        try:
            return judge(request, self._logs, self._book.last)
        except CosigningRefusedError as err:
            if err.status is Status.NO_PROOF:
                self._accuse(request, str(err))
            raise

    def _cosign(self, request: AddCheckpoint, checkpoint: Checkpoint) -> bytes:
        time_s = self._clock() // 1000
        line = cosignature_line(checkpoint, self._own.name, self._signer, time_s)
        log_key = self._logs[checkpoint.origin]
        note = keep_signers(request.note, [log_key])  # lines of others, ours too, are not believed
        self._book.keep(checkpoint, add_lines(note, [line]))
        return line.encode()

    def _accuse(self, request: AddCheckpoint, why: str) -> None:
        """Keep what the log signed and what may not continue what we saw.

        Only two roots of one size prove a fork: a proof between sizes is whatever its sender made
        of it, and anybody can send a log's newest checkpoint.
        """
        shown = Checkpoint.parse(note_text(request.note))
        origin, log_key = shown.origin, self._logs[shown.origin]
        seen, held = self._book.last.get(origin), self._book.note(origin_hash(origin))
        if seen is None or held is None:
            return
        is_fork = shown.size == seen.size and shown.root != seen.root
        evidence = ForkEvidence(
            log_key=log_key.text(),
            why=f"size {seen.size} was cosigned, then somebody asked for another one: {why}",
            notes=(held.decode(), keep_signers(request.note, [log_key]).decode()),
            proof=() if is_fork else tuple(to_base64(node) for node in request.proof),
        )
        keep = self._book.keep_fork if is_fork else self._book.keep_unproven
        keep(shown, evidence)
