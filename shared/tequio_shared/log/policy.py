"""Whom to believe about a log: its key, outside witnesses, and how many of them must agree.

The text is the policy file of c2sp.org/tlog-policy: lines `log`, `witness`, `group` and one
`quorum`, each name defined before it is used. Names are opaque octets; bytes that are no UTF-8
are kept as surrogates, so no name is ever taken for another.
"""

from __future__ import annotations

import enum
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from msgspec import Struct

from tequio_shared.errors import MalformedError, PeerError, SignatureInvalidError, TequioError
from tequio_shared.ids import DIGEST_BYTES, Digest, sha256
from tequio_shared.log import merkle
from tequio_shared.log.merkle import verify_consistency, verify_inclusion
from tequio_shared.log.notes import (
    LOG_SIZE,
    NOTE_BYTES,
    Checkpoint,
    KeyKind,
    VerifierKey,
    add_lines,
    from_base64,
    natural,
    note_text,
    open_checkpoint,
    signature_lines,
    to_base64,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping

    from tequio_shared.log.notes import SignedCheckpoint

# --- Evidence that a log has two histories: what it signed, in its own words, for anybody to
# check.
#
# Two checkpoints of one size with different roots prove it by themselves. Of different sizes,
# they prove it as soon as the log cannot give a consistency proof between them; the proof that
# failed is kept too. A file of evidence is named after what was signed: found again, after a
# restart or by another way, it is the same file, and the one that is there stays as it is.

VERSION = 1


class ForkEvidence(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The file that an alarm leaves behind."""

    v: int = VERSION
    log_key: str
    """Verifier key of the log."""
    why: str
    """What was found, for people."""
    notes: tuple[str, ...]
    """Checkpoints under the log's signature, as they came."""
    proof: tuple[str, ...] = ()
    """Consistency proof between the first two that does not hold, base64, if one was given."""

    @property
    def name(self) -> str:
        """A name for these histories, whoever finds them, in which order and under whose lines."""
        signed = sorted(_signed(note.encode()) for note in self.notes)
        return sha256(self.log_key.encode(), *signed).hex()[:16]


def is_proof(evidence: ForkEvidence) -> bool:
    """Tell whether the evidence alone proves a fork: two roots for one size, both signed.

    Raises PeerError when a note does not bear the log's signature.
    """
    if len(evidence.notes) < 2:  # noqa: PLR2004 - two histories
        raise MalformedError("evidence of a fork has two checkpoints at least")
    key = VerifierKey.parse(evidence.log_key)
    signed = [open_checkpoint(note.encode(), key).checkpoint for note in evidence.notes]
    roots = {one.size: one.root for one in signed}
    return any(roots[one.size] != one.root for one in signed)


def _signed(note: bytes) -> bytes:
    """Give what a note says, as one digest; all of it, if it is none."""
    try:
        return sha256(note_text(note).encode())
    except MalformedError:
        return sha256(note)


POLICY_BYTES = 65_536
POLICY_LOGS = 64
POLICY_WITNESSES = 64
POLICY_GROUPS = 64
"""The specification asks for at least 32 of each."""
NONE = "none"
"""The quorum that asks for no cosignature."""

_FORBIDDEN = re.compile(rb"[\x00-\x08\x0b-\x1f\x7f]")
_WHOLE = re.compile(r"[1-9][0-9]{0,3}")
_SPACE = re.compile(r"[ \t]+")


class NoQuorumError(PeerError):
    """A checkpoint lacks cosignatures that the policy asks for; a newer one may have them."""


class UntrustedLogError(PeerError):
    """A checkpoint is of a log that the policy does not name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyLog:
    """A log that may be believed; its origin is the name of its key."""

    key: VerifierKey
    url: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyWitness:
    """A cosigner under the name that groups and quorum know it by."""

    name: str
    key: VerifierKey
    url: str | None = None
    """Its submission prefix (c2sp.org/tlog-witness), and its monitoring prefix."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """Counts as one cosigner when `threshold` of its members do."""

    name: str
    threshold: int
    members: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """A policy as its file says it, in the file's order."""

    logs: tuple[PolicyLog, ...]
    witnesses: tuple[PolicyWitness, ...]
    groups: tuple[Group, ...]
    quorum: str

    @classmethod
    def parse(cls, raw: bytes) -> Policy:
        """Read a policy file; raises MalformedError that names the line and what is wrong."""
        if len(raw) > POLICY_BYTES:
            raise MalformedError(f"a policy of {len(raw)} bytes; {POLICY_BYTES} are allowed")
        reader = _Reader()
        for number, line in enumerate(raw.split(b"\n"), start=1):
            try:
                reader.take(line)
            except PeerError as err:
                raise MalformedError(f"line {number} of the policy: {err}") from err
        return reader.finish()

    def encode(self) -> bytes:
        """Write the policy as `parse` reads it, without comments."""
        lines = [_line("log", log.key.text(), log.url) for log in self.logs]
        lines += [_line("witness", one.name, one.key.text(), one.url) for one in self.witnesses]
        for group in self.groups:
            lines.append(_line("group", group.name, str(group.threshold), *group.members))
        lines.append(_line("quorum", self.quorum))
        return "".join(lines).encode("utf-8", "surrogateescape")

    def is_met(self, cosigners: Collection[VerifierKey]) -> bool:
        """Tell whether cosignatures of these keys together are enough."""
        agreed = {NONE, *(one.name for one in self.witnesses if one.key in cosigners)}
        for group in self.groups:  # each names only what stands before it
            if sum(member in agreed for member in group.members) >= group.threshold:
                agreed.add(group.name)
        return self.quorum in agreed

    def open(self, note: bytes, log: VerifierKey | None = None) -> SignedCheckpoint:
        """Read a checkpoint that this policy accepts, of that log or else of one it names.

        Raises NoQuorumError when cosignatures are missing, UntrustedLogError when the policy names
        other logs only, otherwise as `notes.open_checkpoint` does.
        """
        known = [one.key for one in self.logs]
        if log is not None and known and log not in known:
            raise UntrustedLogError(f"the policy does not name the log {log.text()}")
        signed = self._open(note, [log] if log is not None else known)
        if not self.is_met({one.key for one in signed.cosignatures}):
            names = sorted(one.key.name for one in signed.cosignatures)
            raise NoQuorumError(
                f"checkpoint {signed.checkpoint.size} of {signed.checkpoint.origin} lacks the "
                f"quorum {self.quorum!r}: cosigned by {', '.join(names) or 'nobody'}"
            )
        return signed

    def _open(self, note: bytes, logs: Iterable[VerifierKey]) -> SignedCheckpoint:
        witnesses = [one.key for one in self.witnesses]
        problem: PeerError = UntrustedLogError("the policy names no log")
        for log in logs:
            try:
                return open_checkpoint(note, log, witnesses)
            except PeerError as err:
                problem = err
        raise problem


class _Reader:
    """Takes line after line; what it knows grows downward only."""

    def __init__(self) -> None:
        self._logs: list[PolicyLog] = []
        self._witnesses: list[PolicyWitness] = []
        self._groups: list[Group] = []
        self._quorum: str | None = None
        self._free: dict[str, bool] = {}  # by defined name: in no group yet
        self._kinds: dict[str, Callable[[list[str]], None]] = {
            "log": self._log,
            "witness": self._witness,
            "group": self._group,
            "quorum": self._set_quorum,
        }

    def take(self, raw: bytes) -> None:
        found = _FORBIDDEN.search(raw)
        if found:
            raise MalformedError(f"control character 0x{found[0].hex()}")
        line = raw.decode("utf-8", "surrogateescape").strip(" \t")
        if not line or line.startswith("#"):
            return
        kind, *items = _SPACE.split(line)
        read = self._kinds.get(kind)
        if read is None:
            raise MalformedError(f"{kind!r} is none of log, witness, group, quorum")
        read(items)

    def finish(self) -> Policy:
        if self._quorum is None:
            raise MalformedError("the policy has no quorum line: end it with `quorum none` or more")
        return Policy(
            logs=tuple(self._logs),
            witnesses=tuple(self._witnesses),
            groups=tuple(self._groups),
            quorum=self._quorum,
        )

    def _log(self, items: list[str]) -> None:
        key, url = _key_of(items, KeyKind.LOG, "log <vkey> [<url>]")
        if any(one.key.key == key.key for one in self._logs):
            raise MalformedError(f"the key of log {key.name!r} stands there twice")
        _bound(self._logs, POLICY_LOGS, "logs")
        self._logs.append(PolicyLog(key=key, url=url))

    def _witness(self, items: list[str]) -> None:
        usage = "witness <name> <vkey> [<url>]"
        if not items:
            raise MalformedError(f"expected {usage}")
        key, url = _key_of(items[1:], KeyKind.COSIGNER, usage)
        if any(one.key.key == key.key for one in self._witnesses):
            raise MalformedError(f"the key of witness {items[0]!r} stands there twice")
        _bound(self._witnesses, POLICY_WITNESSES, "witnesses")
        self._define(items[0])
        self._witnesses.append(PolicyWitness(name=items[0], key=key, url=url))

    def _group(self, items: list[str]) -> None:
        if len(items) < 3:  # noqa: PLR2004 - name, threshold, one member
            raise MalformedError("expected group <name> <k>|any|all <member>...")
        name, asked, *members = items
        for member in members:
            self._join(member)
        _bound(self._groups, POLICY_GROUPS, "groups")
        self._define(name)
        threshold = _threshold(asked, len(members))
        self._groups.append(Group(name=name, threshold=threshold, members=tuple(members)))

    def _set_quorum(self, items: list[str]) -> None:
        if len(items) != 1:
            raise MalformedError("expected quorum <name>|none")
        if self._quorum is not None:
            raise MalformedError("a second quorum line")
        if items[0] != NONE and items[0] not in self._free:
            raise MalformedError(f"{items[0]!r} is not defined above")
        self._quorum = items[0]

    def _define(self, name: str) -> None:
        if name == NONE or name in self._free:
            raise MalformedError(f"the name {name!r} is taken")
        self._free[name] = True

    def _join(self, member: str) -> None:
        if member not in self._free:
            raise MalformedError(f"{member!r} is not defined above")
        if not self._free[member]:
            raise MalformedError(f"{member!r} is a member already")
        self._free[member] = False


def _key_of(items: list[str], kind: KeyKind, usage: str) -> tuple[VerifierKey, str | None]:
    if len(items) not in (1, 2):
        raise MalformedError(f"expected {usage}")
    key = VerifierKey.parse(items[0])
    if key.kind is not kind:
        raise MalformedError(f"{key.name!r} is a key of type {key.kind:#04x}, not {kind:#04x}")
    return key, items[1] if items[1:] else None


def _threshold(asked: str, members: int) -> int:
    if asked in ("any", "all"):
        return 1 if asked == "any" else members
    if not _WHOLE.fullmatch(asked) or int(asked) > members:
        raise MalformedError(f"{asked!r} of {members} members: give 1 to {members}, any or all")
    return int(asked)


def _bound(there: Collection[object], most: int, what: str) -> None:
    if len(there) >= most:
        raise MalformedError(f"more than {most} {what}")


def _line(*items: str | None) -> str:
    return " ".join(item for item in items if item is not None) + "\n"


# --- Proofs of logging that can be kept and checked offline (c2sp.org/tlog-proof, `.tlog-proof`).
#
# A proof holds an index, the path from the leaf to a root, and the checkpoint that signs the
# root. Ours carry the leaf itself as `extra`, which nothing authenticates: hash it, then verify.

HEADER = "c2sp.org/tlog-proof@v1"
SUFFIX = ".tlog-proof"
PATH_HASHES = 63
EXTRA_BYTES = 65_535
PROOF_BYTES = NOTE_BYTES + 2 * EXTRA_BYTES
"""More than every part at its limit takes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TlogProof:
    """One entry's place in a log; nothing of it is verified before `verify`."""

    index: int
    path: tuple[Digest, ...]
    """The leaf's sibling first."""
    note: bytes
    """The checkpoint as the log published it, cosignatures included."""
    extra: bytes | None = None

    def __post_init__(self) -> None:
        if not 0 <= self.index < LOG_SIZE or len(self.path) > PATH_HASHES:
            raise MalformedError(f"no entry {self.index} has a path of {len(self.path)} hashes")

    @classmethod
    def parse(cls, raw: bytes) -> TlogProof:
        """Read a proof; raises MalformedError."""
        if len(raw) > PROOF_BYTES:
            raise MalformedError(f"a proof of {len(raw)} bytes")
        head, empty, note = raw.partition(b"\n\n")
        lines = _ascii(head).split("\n")
        if not empty or lines[0] != HEADER:
            raise MalformedError(f"a proof begins with {HEADER} and holds a checkpoint")
        rest = lines[1:]
        extra = None
        if rest and rest[0].startswith("extra "):
            extra = from_base64(rest.pop(0).removeprefix("extra "))
        if not rest or not rest[0].startswith("index "):
            raise MalformedError("a proof without its index line")
        index = natural(rest[0].removeprefix("index "))
        return cls(index=index, path=hashes(rest[1:]), note=note, extra=extra)

    def encode(self) -> bytes:
        """Write the proof as `parse` reads it."""
        lines = [HEADER]
        if self.extra is not None:
            lines.append(f"extra {to_base64(self.extra)}")
        lines += [f"index {self.index}", *(to_base64(node) for node in self.path)]
        return "\n".join(lines).encode() + b"\n\n" + self.note

    def verify(
        self, leaf: Digest, policy: Policy, log: VerifierKey | None = None
    ) -> SignedCheckpoint:
        """Return the checkpoint if it holds the leaf of that hash at the index, by the policy.

        Raises NoQuorumError, SignatureInvalidError and other PeerErrors when it does not.
        """
        signed = policy.open(self.note, log)
        tree = signed.checkpoint
        verify_inclusion(leaf, self.index, tree.size, self.path, tree.root)
        return signed


def hashes(lines: list[str]) -> tuple[Digest, ...]:
    """Read one hash a line; raises MalformedError, also for more than a proof can have."""
    if len(lines) > PATH_HASHES:
        raise MalformedError(f"a proof of {len(lines)} hashes; {PATH_HASHES} are allowed")
    found = tuple(Digest(from_base64(line)) for line in lines)
    for node in found:
        if len(node) != DIGEST_BYTES:
            raise MalformedError(f"hash of {len(node)} bytes in a proof")
    return found


def _ascii(raw: bytes) -> str:
    try:
        return raw.decode("ascii")
    except UnicodeDecodeError as err:
        raise MalformedError("a proof's own lines are ASCII") from err


# --- What a log and its witness say to each other, and when a witness cosigns
# (c2sp.org/tlog-witness).
#
# A log posts `add-checkpoint`: the size that the witness saw last, a consistency proof from
# there, and the new checkpoint. The witness answers with its signature lines, or with a status
# that says why not. `judge` is the whole decision; whoever keeps the state calls it, and keeps
# what it gives before the answer leaves.

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
    checkpoint = _cosigning_signed(request.note, logs)
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


def _cosigning_signed(note: bytes, logs: Mapping[str, VerifierKey]) -> Checkpoint:
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
