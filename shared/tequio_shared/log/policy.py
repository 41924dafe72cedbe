"""The trust policy for a log, and proofs that are checked against it.

A `Policy` names logs, outside witnesses and how many of them must agree (c2sp.org/tlog-policy:
lines `log`, `witness`, `group` and one `quorum`, each name defined before it is used). A
`TlogProof` is checked against it offline.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass

from tequio_shared.errors import MalformedError, PeerError
from tequio_shared.ids import DIGEST_BYTES, Digest
from tequio_shared.log.merkle import verify_inclusion
from tequio_shared.log.notes import (
    LOG_SIZE,
    NOTE_BYTES,
    KeyKind,
    SignedCheckpoint,
    VerifierKey,
    from_base64,
    open_checkpoint,
    parse_size,
    to_base64,
)

POLICY_BYTES = 65_536
POLICY_LOGS = 64
POLICY_WITNESSES = 64
POLICY_GROUPS = 64
"""The specification asks for at least 32 of each."""
NO_QUORUM = "none"
"""The quorum that needs no cosignature."""
_FORBIDDEN = re.compile(rb"[\x00-\x08\x0b-\x1f\x7f]")
_WHOLE = re.compile(r"[1-9][0-9]{0,3}")
_SPACE = re.compile(r"[ \t]+")
TLOG_PROOF_HEADER = "c2sp.org/tlog-proof@v1"
PATH_HASHES = 63
EXTRA_BYTES = 65_535
PROOF_BYTES = NOTE_BYTES + 2 * EXTRA_BYTES
"""Above the size of a proof with every part at its limit."""
STALE_S = 86_400
"""Age of a cosignature, in seconds, from which it no longer shows that a log is up to date.

A day: ledgers have them renewed each hour, and a wrong time zone must not matter.
"""


class NoQuorumError(PeerError):
    """A checkpoint lacks cosignatures that the policy requires; a newer one may have them."""


class StaleLogError(NoQuorumError):
    """Enough witnesses cosigned a checkpoint, but not lately: a newer one may be withheld."""


class UntrustedLogError(PeerError):
    """A checkpoint comes from a log that the policy does not name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyLog:
    """A trusted log; its origin is the name of its key."""

    key: VerifierKey
    url: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyWitness:
    """A cosigner under the name that groups and quorum use."""

    name: str
    key: VerifierKey
    url: str | None = None
    """Submission prefix (c2sp.org/tlog-witness), and monitoring prefix."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CosignerGroup:
    """A set of cosigners that counts as one when `threshold` of its members do."""

    name: str
    threshold: int
    members: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """A policy file, parsed, in the file's order; names that are not UTF-8 become surrogates."""

    logs: tuple[PolicyLog, ...]
    witnesses: tuple[PolicyWitness, ...]
    groups: tuple[CosignerGroup, ...]
    quorum: str

    @classmethod
    def parse(cls, raw: bytes) -> Policy:
        """Read a policy file; raises MalformedError with the line number and the problem."""
        if len(raw) > POLICY_BYTES:
            raise MalformedError(f"policy of {len(raw)} bytes; at most {POLICY_BYTES} are allowed")
        reader = _Reader()
        for number, line in enumerate(raw.split(b"\n"), start=1):
            try:
                reader.read_line(line)
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
        """Return whether cosignatures by these keys together are enough."""
        agreed = {NO_QUORUM, *(one.name for one in self.witnesses if one.key in cosigners)}
        # One pass is enough: a group can only name members that the file defines above it.
        for group in self.groups:
            if sum(member in agreed for member in group.members) >= group.threshold:
                agreed.add(group.name)
        return self.quorum in agreed

    def open(
        self, note: bytes, log: VerifierKey | None = None, *, now_s: int | None = None
    ) -> SignedCheckpoint:
        """Read a checkpoint that this policy accepts, of `log` or else of any log it names.

        With the time, in seconds since 1970, the cosignatures of the last STALE_S must be enough:
        for a log that is still being served. Raises NoQuorumError for missing cosignatures,
        StaleLogError for old ones, UntrustedLogError for a log that the policy does not name,
        otherwise as `notes.open_checkpoint` does.
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
        if now_s is not None:
            self._check_recent(signed, now_s)
        return signed

    def _check_recent(self, signed: SignedCheckpoint, now_s: int) -> None:
        """Find when the quorum was met for the last time; all cosignatures together meet it."""
        lately: set[VerifierKey] = set()
        unused = sorted(signed.cosignatures, key=lambda one: one.time_s or 0)
        age_s = 0
        while not self.is_met(lately):
            last = unused.pop()
            lately.add(last.key)
            age_s = now_s - (last.time_s or 0)
        if age_s >= STALE_S:
            raise StaleLogError(
                f"enough witnesses cosigned checkpoint {signed.checkpoint.size} of "
                f"{signed.checkpoint.origin} for the last time {age_s // 3600} hours ago: newer "
                "entries are withheld, the witnesses are away, or this computer's clock is wrong"
            )

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
    """Reads line after line; a line can refer only to names defined above it."""

    def __init__(self) -> None:
        self._logs: list[PolicyLog] = []
        self._witnesses: list[PolicyWitness] = []
        self._groups: list[CosignerGroup] = []
        self._quorum: str | None = None
        self._free: dict[str, bool] = {}  # defined name -> not yet in a group
        self._kinds: dict[str, Callable[[list[str]], None]] = {
            "log": self._log,
            "witness": self._witness,
            "group": self._group,
            "quorum": self._set_quorum,
        }

    def read_line(self, raw: bytes) -> None:
        found = _FORBIDDEN.search(raw)
        if found:
            raise MalformedError(f"control character 0x{found[0].hex()}")
        # Names are opaque octets: surrogates keep invalid UTF-8 distinct, so no two names merge.
        line = raw.decode("utf-8", "surrogateescape").strip(" \t")
        if not line or line.startswith("#"):
            return
        kind, *items = _SPACE.split(line)
        read = self._kinds.get(kind)
        if read is None:
            raise MalformedError(f"unknown keyword {kind!r}: use log, witness, group or quorum")
        read(items)

    def finish(self) -> Policy:
        if self._quorum is None:
            raise MalformedError("the policy has no quorum line: add `quorum none` or another one")
        return Policy(
            logs=tuple(self._logs),
            witnesses=tuple(self._witnesses),
            groups=tuple(self._groups),
            quorum=self._quorum,
        )

    def _log(self, items: list[str]) -> None:
        key, url = _key_of(items, KeyKind.LOG, "log <vkey> [<url>]")
        if any(one.key.key == key.key for one in self._logs):
            raise MalformedError(f"the key of log {key.name!r} is listed twice")
        _bound(self._logs, POLICY_LOGS, "logs")
        self._logs.append(PolicyLog(key=key, url=url))

    def _witness(self, items: list[str]) -> None:
        usage = "witness <name> <vkey> [<url>]"
        if not items:
            raise MalformedError(f"expected {usage}")
        key, url = _key_of(items[1:], KeyKind.COSIGNER, usage)
        if any(one.key.key == key.key for one in self._witnesses):
            raise MalformedError(f"the key of witness {items[0]!r} is listed twice")
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
        self._groups.append(CosignerGroup(name=name, threshold=threshold, members=tuple(members)))

    def _set_quorum(self, items: list[str]) -> None:
        if len(items) != 1:
            raise MalformedError("expected quorum <name>|none")
        if self._quorum is not None:
            raise MalformedError("a second quorum line")
        if items[0] != NO_QUORUM and items[0] not in self._free:
            raise MalformedError(f"{items[0]!r} is not defined above")
        self._quorum = items[0]

    def _define(self, name: str) -> None:
        if name == NO_QUORUM or name in self._free:
            raise MalformedError(f"the name {name!r} is already in use")
        self._free[name] = True

    def _join(self, member: str) -> None:
        # In one group at most: counted in two, a single witness could meet both thresholds.
        if member not in self._free:
            raise MalformedError(f"{member!r} is not defined above")
        if not self._free[member]:
            raise MalformedError(f"{member!r} already belongs to a group")
        self._free[member] = False


def _key_of(items: list[str], kind: KeyKind, usage: str) -> tuple[VerifierKey, str | None]:
    if len(items) not in (1, 2):
        raise MalformedError(f"expected {usage}")
    key = VerifierKey.parse(items[0])
    if key.kind is not kind:
        raise MalformedError(f"key {key.name!r} has type {key.kind:#04x}, expected {kind:#04x}")
    return key, items[1] if items[1:] else None


def _threshold(asked: str, members: int) -> int:
    if asked in ("any", "all"):
        return 1 if asked == "any" else members
    if not _WHOLE.fullmatch(asked) or int(asked) > members:
        raise MalformedError(
            f"threshold {asked!r} of {members} members: give 1 to {members}, any or all"
        )
    return int(asked)


def _bound(there: Collection[object], most: int, what: str) -> None:
    if len(there) >= most:
        raise MalformedError(f"more than {most} {what}")


def _line(*items: str | None) -> str:
    return " ".join(item for item in items if item is not None) + "\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class TlogProof:
    """One entry's place in a log, kept and checked offline (c2sp.org/tlog-proof).

    Nothing in it is verified before `verify`. Our proofs carry the leaf itself as `extra`, which
    nothing authenticates: hash it, then verify.
    """

    index: int
    path: tuple[Digest, ...]
    """Audit path to the root, the leaf's sibling first."""
    note: bytes
    """The checkpoint as the log published it, cosignatures included."""
    extra: bytes | None = None

    def __post_init__(self) -> None:
        if not 0 <= self.index < LOG_SIZE or len(self.path) > PATH_HASHES:
            raise MalformedError(
                f"entry {self.index} cannot have a path of {len(self.path)} hashes"
            )

    @classmethod
    def parse(cls, raw: bytes) -> TlogProof:
        """Read a proof; raises MalformedError."""
        if len(raw) > PROOF_BYTES:
            raise MalformedError(f"proof of {len(raw)} bytes; at most {PROOF_BYTES} are allowed")
        head, empty, note = raw.partition(b"\n\n")
        lines = decode_ascii(head).split("\n")
        if not empty or lines[0] != TLOG_PROOF_HEADER:
            raise MalformedError(
                f"a proof must begin with {TLOG_PROOF_HEADER} and end with a checkpoint"
            )
        rest = lines[1:]
        extra = None
        if rest and rest[0].startswith("extra "):
            extra = from_base64(rest.pop(0).removeprefix("extra "))
        if not rest or not rest[0].startswith("index "):
            raise MalformedError("the proof has no index line")
        index = parse_size(rest[0].removeprefix("index "))
        return cls(index=index, path=parse_hashes(rest[1:]), note=note, extra=extra)

    def encode(self) -> bytes:
        lines = [TLOG_PROOF_HEADER]
        if self.extra is not None:
            lines.append(f"extra {to_base64(self.extra)}")
        lines += [f"index {self.index}", *(to_base64(node) for node in self.path)]
        return "\n".join(lines).encode() + b"\n\n" + self.note

    def verify(
        self, leaf: Digest, policy: Policy, log: VerifierKey | None = None
    ) -> SignedCheckpoint:
        """Return the checkpoint if, by the policy, it holds the leaf of that hash at the index.

        Raises NoQuorumError, SignatureInvalidError and other PeerErrors.
        """
        signed = policy.open(self.note, log)
        tree = signed.checkpoint
        verify_inclusion(leaf, self.index, tree.size, self.path, tree.root)
        return signed


def parse_hashes(lines: list[str]) -> tuple[Digest, ...]:
    """Read one hash per line; raises MalformedError, also for more than a proof can have."""
    if len(lines) > PATH_HASHES:
        raise MalformedError(f"proof of {len(lines)} hashes; at most {PATH_HASHES} are allowed")
    found = tuple(Digest(from_base64(line)) for line in lines)
    for node in found:
        if len(node) != DIGEST_BYTES:
            raise MalformedError(f"hash of {len(node)} bytes in a proof")
    return found


def decode_ascii(raw: bytes) -> str:
    try:
        return raw.decode("ascii")
    except UnicodeDecodeError as err:
        raise MalformedError("the lines before the checkpoint must be ASCII") from err
