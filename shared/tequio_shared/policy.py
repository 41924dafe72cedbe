"""Whom to believe about a log: its key, outside witnesses, and how many of them must agree.

The text is the policy file of c2sp.org/tlog-policy: lines `log`, `witness`, `group` and one
`quorum`, each name defined before it is used. Names are opaque octets; bytes that are no UTF-8
are kept as surrogates, so no name is ever taken for another.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tequio_shared.errors import MalformedError, PeerError
from tequio_shared.notes import KeyKind, VerifierKey, open_checkpoint

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable

    from tequio_shared.notes import SignedCheckpoint

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
