"""The witness protocol (c2sp.org/tlog-witness), and evidence of a fork.

`decide_cosigning` is what a witness does with a log's request, and `find_cosignature` what the log
does with its answer. `ForkEvidence` holds what a log signed when its histories disagree.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass

from msgspec import Struct

from tequio_shared.errors import MalformedError, PeerError, SignatureInvalidError, TequioError
from tequio_shared.ids import Digest, sha256
from tequio_shared.log import merkle
from tequio_shared.log.merkle import verify_consistency
from tequio_shared.log.notes import (
    NOTE_BYTES,
    Checkpoint,
    VerifierKey,
    add_lines,
    note_text,
    open_checkpoint,
    parse_size,
    signature_lines,
    to_base64,
)
from tequio_shared.log.policy import STALE_S, decode_ascii, parse_hashes

EVIDENCE_VERSION = 1
ADD_CHECKPOINT = "add-checkpoint"
"""Path below a witness's submission prefix."""
SIZE_TYPE = "text/x.tlog.size"
"""Content type of a witness's answer to a conflicting size."""
REQUEST_BYTES = NOTE_BYTES + 4_096
"""Above the old size, 63 hashes and the largest note together."""
ANSWER_BYTES = NOTE_BYTES
MOST_AHEAD_S = 300
"""Most seconds by which a witness's clock may be ahead of the log's; readers see the time."""
_SIZE_LINE_BYTES = 20


class ForkEvidence(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The file that an alarm leaves behind: two histories of one log, for anybody to check.

    Two checkpoints of one size with different roots prove a fork by themselves. Of different
    sizes, they prove it as soon as the log cannot give a consistency proof between them, so the
    failed proof is included.
    """

    v: int = EVIDENCE_VERSION
    log_key: str
    """Verifier key of the log."""
    why: str
    """Explanation for people."""
    notes: tuple[str, ...]
    """Checkpoints under the log's signature, as received."""
    proof: tuple[str, ...] = ()
    """Failed consistency proof between the first two notes, base64; empty if none was given."""

    @property
    def name(self) -> str:
        """Name of these histories, independent of the finder, their order and other signatures."""
        # Named after what was signed: evidence found again, after a restart or by another way, is
        # the same file, and the one that exists stays as it is.
        signed = sorted(_signed(note.encode()) for note in self.notes)
        return sha256(self.log_key.encode(), *signed).hex()[:16]


def _signed(note: bytes) -> bytes:
    """Digest of a note's text, or of the whole note if it is malformed."""
    try:
        return sha256(note_text(note).encode())
    except MalformedError:
        return sha256(note)


class CosigningStatus(enum.IntEnum):
    """HTTP statuses of add-checkpoint (c2sp.org/tlog-witness)."""

    COSIGNED = 200
    MALFORMED = 400
    NOT_SIGNED = 403
    """No trusted key signed, or the signature of one does not verify."""
    UNKNOWN_LOG = 404
    CONFLICT = 409
    """The old size is not that of the last cosigned checkpoint; the body holds the right one.

    Or it is, and the root of that size is another one: evidence of a fork.
    """
    NO_PROOF = 422
    """The proof shows no continuation: evidence of a fork."""


class CosigningRefusedError(TequioError):
    """A witness refuses to cosign; `size` is the last one that it cosigned, if it has looked."""

    def __init__(self, status: CosigningStatus, message: str, size: int = 0) -> None:
        super().__init__(message)
        self.status = status
        self.size = size


@dataclass(frozen=True, slots=True, kw_only=True)
class AddCheckpoint:
    """Body of a log's request to a witness: the size it saw last, a proof from there, the note."""

    old_size: int
    proof: tuple[Digest, ...]
    note: bytes

    @classmethod
    def parse(cls, raw: bytes) -> AddCheckpoint:
        """Read a body; raises MalformedError."""
        if len(raw) > REQUEST_BYTES:
            raise MalformedError(
                f"request of {len(raw)} bytes; at most {REQUEST_BYTES} are allowed"
            )
        head, empty, note = raw.partition(b"\n\n")
        first, *proof = decode_ascii(head).split("\n")
        if not empty or not first.startswith("old "):
            raise MalformedError(f"a request must begin with `old <size>`, not {first[:60]!r}")
        old_size = parse_size(first.removeprefix("old "))
        return cls(old_size=old_size, proof=parse_hashes(proof), note=note)

    def encode(self) -> bytes:
        lines = [f"old {self.old_size}", *(to_base64(node) for node in self.proof)]
        return "\n".join(lines).encode() + b"\n\n" + self.note


def decide_cosigning(
    request: AddCheckpoint, logs: Mapping[str, VerifierKey], last: Mapping[str, Checkpoint]
) -> Checkpoint:
    """Return the checkpoint to store and to cosign; `logs` and `last` are by origin.

    The whole decision, and pure: the caller owns the state and stores the result durably before the
    answer leaves. A crash between the two would otherwise let the witness sign a second history.
    Raises CosigningRefusedError.
    """
    checkpoint = _cosigning_signed(request.note, logs)
    if request.old_size > checkpoint.size:
        raise CosigningRefusedError(
            CosigningStatus.MALFORMED,
            f"old size {request.old_size} is above the new size {checkpoint.size}",
        )
    before = last.get(checkpoint.origin)
    size = before.size if before else 0
    # Before the proof: a log that lost an answer learns the size, and asks again from there.
    if request.old_size != size:
        raise CosigningRefusedError(
            CosigningStatus.CONFLICT,
            f"old size {request.old_size}, but the last cosigned size is {size}",
            size,
        )
    try:
        _check_continues(request, before, checkpoint)
    except PeerError as err:
        is_other = before is not None and before.size == checkpoint.size and before != checkpoint
        status = CosigningStatus.CONFLICT if is_other else CosigningStatus.NO_PROOF
        raise CosigningRefusedError(status, str(err), size) from err
    return checkpoint


def encode_conflict(size: int) -> bytes:
    return f"{size}\n".encode()


def parse_conflict(raw: bytes) -> int:
    """Read `conflict_body` back; raises MalformedError."""
    text = raw[: _SIZE_LINE_BYTES + 1].decode("ascii", "replace")
    if not text.endswith("\n"):
        raise MalformedError(f"not the size of a witness: {text!r}")
    return parse_size(text[:-1])


def find_cosignature(
    note: bytes, answer: bytes, log: VerifierKey, witness: VerifierKey, now_s: int
) -> str:
    """Return the first line of a witness's answer that is its own and verifies.

    At most one line of a witness enters a note: a witness that answers with many cannot push the
    note over its readers' bounds. Raises MalformedError, and SignatureInvalidError when no line
    qualifies, the first is from the future or too old for readers, or an earlier one does not
    verify.
    """
    for line in signature_lines(answer):
        for found in open_checkpoint(add_lines(note, [line]), log, [witness]).cosignatures:
            ahead_s = (found.time_s or 0) - now_s
            if not -STALE_S < ahead_s <= MOST_AHEAD_S:
                when = "in the future" if ahead_s > 0 else "long ago"
                raise SignatureInvalidError(
                    f"{witness.name} cosigned {when}, at {found.time_s}: one of our clocks is wrong"
                )
            return line
    raise SignatureInvalidError(f"the answer holds no cosignature by {witness.name}")


def origin_hash(origin: str) -> str:
    """Name of a log in a witness's monitoring paths, `<origin hash>/checkpoint`."""
    return sha256(origin.encode()).hex()


def _cosigning_signed(note: bytes, logs: Mapping[str, VerifierKey]) -> Checkpoint:
    """Read the checkpoint of a known log, under its signature."""
    try:
        origin = Checkpoint.parse(note_text(note)).origin
        if origin not in logs:
            raise CosigningRefusedError(CosigningStatus.UNKNOWN_LOG, f"unknown log {origin[:60]!r}")
        return open_checkpoint(note, logs[origin]).checkpoint
    except SignatureInvalidError as err:
        raise CosigningRefusedError(CosigningStatus.NOT_SIGNED, str(err)) from err
    except MalformedError as err:
        raise CosigningRefusedError(CosigningStatus.MALFORMED, str(err)) from err


def _check_continues(request: AddCheckpoint, before: Checkpoint | None, new: Checkpoint) -> None:
    # An empty tree has one root only: any other at size 0 would be a promise that nobody can check.
    if new.size == 0 and new.root != merkle.EMPTY_ROOT:
        raise PeerError("a log without entries must have the root of the empty tree")
    if before is None or before.size == 0:
        if request.proof:
            raise PeerError("the proof from size 0 must be empty")
        return
    verify_consistency(before.size, before.root, new.size, new.root, request.proof)
