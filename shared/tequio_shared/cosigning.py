"""What a log and its witness say to each other, and when a witness cosigns (c2sp.org/tlog-witness).

A log posts `add-checkpoint`: the size that the witness saw last, a consistency proof from there,
and the new checkpoint. The witness answers with its signature lines, or with a status that says
why not. `judge` is the whole decision; whoever keeps the state calls it, and keeps what it gives
before the answer leaves.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tequio_shared import merkle
from tequio_shared.errors import MalformedError, PeerError, SignatureInvalidError, TequioError
from tequio_shared.ids import sha256
from tequio_shared.merkle import verify_consistency
from tequio_shared.notes import (
    NOTE_BYTES,
    Checkpoint,
    add_lines,
    natural,
    note_text,
    open_checkpoint,
    signature_lines,
    to_base64,
)
from tequio_shared.tlog_proof import hashes

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tequio_shared.ids import Digest
    from tequio_shared.notes import VerifierKey

ADD_CHECKPOINT = "add-checkpoint"
"""Path below a witness's submission prefix."""
SIZE_TYPE = "text/x.tlog.size"
"""Content type of the size that a witness answers a conflict with."""
REQUEST_BYTES = NOTE_BYTES + 4_096
"""More than the old size, 63 hashes and the largest note take."""
ANSWER_BYTES = NOTE_BYTES
AHEAD_S = 300
"""How far ahead of a log's clock a witness's may be; readers see the time of a cosignature."""

_SIZE_LINE_BYTES = 20


class Status(enum.IntEnum):
    """HTTP statuses of add-checkpoint."""

    COSIGNED = 200
    MALFORMED = 400
    NOT_SIGNED = 403
    """No trusted key signed, or the line of one does not verify."""
    UNKNOWN_LOG = 404
    CONFLICT = 409
    """The old size is not that of the last cosigned checkpoint; the body says which is."""
    NO_PROOF = 422
    """The proof, or the root at an equal size, shows no continuation: proof of a fork."""


class CosigningRefusedError(TequioError):
    """A witness does not cosign; `size` is what it saw last, with `Status.CONFLICT` only."""

    def __init__(self, status: Status, message: str, size: int = 0) -> None:
        super().__init__(message)
        self.status = status
        self.size = size


@dataclass(frozen=True, slots=True, kw_only=True)
class AddCheckpoint:
    """The body of a request."""

    old_size: int
    proof: tuple[Digest, ...]
    note: bytes

    @classmethod
    def parse(cls, raw: bytes) -> AddCheckpoint:
        """Read a body; raises MalformedError."""
        if len(raw) > REQUEST_BYTES:
            raise MalformedError(f"a request of {len(raw)} bytes")
        head, empty, note = raw.partition(b"\n\n")
        try:
            first, *proof = head.decode("ascii").split("\n")
        except UnicodeDecodeError as err:
            raise MalformedError("sizes and hashes are ASCII") from err
        if not empty or not first.startswith("old "):
            raise MalformedError(f"a request begins with `old <size>`, not with {first[:60]!r}")
        old_size = natural(first.removeprefix("old "))
        return cls(old_size=old_size, proof=hashes(proof), note=note)

    def encode(self) -> bytes:
        """Write the body as `parse` reads it."""
        lines = [f"old {self.old_size}", *(to_base64(node) for node in self.proof)]
        return "\n".join(lines).encode() + b"\n\n" + self.note


def judge(
    request: AddCheckpoint, logs: Mapping[str, VerifierKey], last: Mapping[str, Checkpoint]
) -> Checkpoint:
    """Give the checkpoint to keep and to cosign; `logs` and `last` are by origin.

    Raises CosigningRefusedError.
    """
    checkpoint = _signed(request.note, logs)
    if request.old_size > checkpoint.size:
        raise CosigningRefusedError(
            Status.MALFORMED, f"old size {request.old_size} is above {checkpoint.size}"
        )
    before = last.get(checkpoint.origin)
    size = before.size if before else 0
    if request.old_size != size:
        raise CosigningRefusedError(
            Status.CONFLICT, f"old size {request.old_size}, but {size} was cosigned last", size
        )
    try:
        _check_continues(request, before, checkpoint)
    except PeerError as err:
        raise CosigningRefusedError(Status.NO_PROOF, str(err)) from err
    return checkpoint


def conflict_body(size: int) -> bytes:
    """Write the size that a witness saw last."""
    return f"{size}\n".encode()


def parse_conflict(raw: bytes) -> int:
    """Read `conflict_body` back; raises MalformedError."""
    text = raw[: _SIZE_LINE_BYTES + 1].decode("ascii", "replace")
    if not text.endswith("\n"):
        raise MalformedError(f"not a witness's size: {text!r}")
    return natural(text[:-1])


def cosignature(
    note: bytes, answer: bytes, log: VerifierKey, witness: VerifierKey, now_s: int
) -> str:
    """Take the first line of a witness's answer that is its own and verifies, and no second one.

    Whatever a witness answers, so a note has one line of it: however many it would give, the note
    keeps to the bounds of its readers. Raises MalformedError, and SignatureInvalidError when there
    is no such line, or it is from the future, or one before it does not verify.
    """
    for line in signature_lines(answer):
        name = line.removeprefix("— ").partition(" ")[0]
        if name != witness.name:
            continue
        for found in open_checkpoint(add_lines(note, [line]), log, [witness]).cosignatures:
            if (found.time_s or 0) > now_s + AHEAD_S:
                raise SignatureInvalidError(f"{witness.name} cosigned at {found.time_s}, not yet")
            return line
    raise SignatureInvalidError(f"no cosignature of {witness.name} in its answer")


def origin_hash(origin: str) -> str:
    """Name a log in a witness's monitoring paths, `<origin hash>/checkpoint`."""
    return sha256(origin.encode()).hex()


def _signed(note: bytes, logs: Mapping[str, VerifierKey]) -> Checkpoint:
    """Read the checkpoint of a log that we know, under its signature."""
    try:
        origin = Checkpoint.parse(note_text(note)).origin
        if origin not in logs:
            raise CosigningRefusedError(Status.UNKNOWN_LOG, f"no log {origin[:60]!r} is known here")
        return open_checkpoint(note, logs[origin]).checkpoint
    except SignatureInvalidError as err:
        raise CosigningRefusedError(Status.NOT_SIGNED, str(err)) from err
    except MalformedError as err:
        raise CosigningRefusedError(Status.MALFORMED, str(err)) from err


def _check_continues(request: AddCheckpoint, before: Checkpoint | None, new: Checkpoint) -> None:
    """Return if the new checkpoint continues the one before; raises PeerError."""
    if new.size == 0 and new.root != merkle.EMPTY_ROOT:
        raise PeerError("a log of no entries has the root of the empty tree")
    if before is None or before.size == 0:
        if request.proof:
            raise PeerError("the proof from size 0 must be empty")
        return
    verify_consistency(before.size, before.root, new.size, new.root, request.proof)
