"""The signed statement: every fact in the log is one.

A statement is canonical JSON of at most `STATEMENT_BYTES`. The signature covers a prefix, the
network id and the statement's bytes as received; a verifier never encodes them again. An entry is
a statement and its signatures, and its leaf is the form in which the log holds it.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TypeAlias, get_args

import msgspec
from msgspec import UNSET, UnsetType

from tequio_shared import encoding, keys
from tequio_shared.errors import MalformedError, RefusedError
from tequio_shared.ids import (
    ZERO_DIGEST,
    Bytes32Text,
    Digest,
    Natural,
    NetworkId,
    PeerKey,
    Positive,
    RunId,
    digest_from_text,
    key_from_text,
    sha256,
    to_text,
)
from tequio_shared.keys import StatementSigner
from tequio_shared.limits import (
    ENTRY_BYTES,
    SIGNATURES_PER_ENTRY,
    STATEMENT_BYTES,
    STATEMENT_LIFE_MS,
)
from tequio_shared.statements import Scope, competitions, network, runs
from tequio_shared.statements.network import (
    KeyRecovery,
    KeyRegister,
    KeyReplace,
    MemberTeam,
    has_work,
)

Body: TypeAlias = (
    network.KeyRegister
    | network.KeyRecovery
    | network.KeyReplace
    | network.KeyRevoke
    | network.MemberReady
    | network.MemberLeave
    | runs.NetGenesis
    | runs.RunOpen
    | runs.RunPause
    | runs.RunResume
    | runs.RunRollback
    | runs.RunNotice
    | runs.RunFinish
    | runs.RunClose
    | runs.RoundRoster
    | runs.HeadAttest
    | runs.HeadPromote
    | runs.HeadMeasure
    | runs.RoundOpen
    | runs.WorkCommit
    | runs.RoundWitness
    | runs.WitnessProof
    | runs.AuditReport
    | runs.RoundClose
    | runs.RoundVoid
    | network.FaultReport
    | network.StandingChange
    | network.StandingAppeal
    | network.StandingRelease
    | network.StandingUphold
    | network.InviteOpen
    | network.InviteClose
    | network.InviteRevoke
    | network.RoleGrant
    | network.RoleRevoke
    | network.MemberVouch
    | network.MemberName
    | network.MemberTeam
    | network.TeamDefine
    | network.TeamMember
    | network.NameWithdraw
    | network.CheckpointPublish
    | network.NetNotice
    | network.SoftwareRelease
    | network.LogSnapshot
    | competitions.CompOpen
    | competitions.CompEnter
    | competitions.CompSubmit
    | competitions.EvalOffer
    | competitions.CompClose
    | competitions.EvalLot
    | competitions.CompDraw
    | competitions.CompReveal
    | competitions.EvalCommit
    | competitions.EvalResult
    | competitions.CompChallenge
    | competitions.CompResult
)

VERSION = 1
"""Version of every statement type so far, the field `v`."""
BODIES: Mapping[tuple[str, int], type[Body]] = MappingProxyType(
    {(body.TYPE, VERSION): body for body in get_args(Body)}
)
"""Bodies that this version understands; anything else is refused as `unknown-type`."""

REGISTRATIONS = (KeyRegister, KeyReplace)
"""Bodies whose author is a new key."""

_PREFIX = b"tequio/v1/statement\x00"
_SCOPES = {(False, False): Scope.NETWORK, (True, False): Scope.RUN, (True, True): Scope.ROUND}
_ENTRY_VERSION = 1
_HEAD_BYTES = 2
"""Version and count of signatures."""
_SIGNER = struct.Struct(f"{keys.KEY_BYTES}s{keys.SIGNATURE_BYTES}s")


class Envelope(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The JSON of every statement; `run` and `round` are absent rather than null."""

    author: Bytes32Text
    body: dict[str, object]
    exp: Natural
    prev: Bytes32Text
    round: Natural | UnsetType = UNSET
    run: Bytes32Text | UnsetType = UNSET
    seq: Positive
    ts: Natural
    type: str
    v: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """A parsed statement; `raw` is its one encoding, and the bytes that were signed."""

    author: PeerKey
    seq: int
    """Counts from 1; the number of a refused statement is never used again."""
    ts: int
    """Milliseconds since 1970, as the author claims; `exp` too."""
    exp: int
    prev: Digest
    """`digest` of the author's last logged statement; zero for the first."""
    run: RunId | None
    round: int | None
    body: Body
    raw: bytes

    @property
    def type(self) -> str:
        """Name of the body's type, such as `work.commit`."""
        return self.body.TYPE

    @property
    def digest(self) -> Digest:
        """SHA-256 of `raw`: the next statement of the author names it as `prev`."""
        return sha256(self.raw)


@dataclass(frozen=True, slots=True)
class Entry:
    """A statement and its signatures: the author's first, others ascending by key, all unique.

    Raises MalformedError otherwise. Signatures are not checked before `verify`.
    """

    signatures: tuple[tuple[PeerKey, bytes], ...]
    statement: Statement

    def __post_init__(self) -> None:
        signers = [key for key, _ in self.signatures]
        if not 1 <= len(signers) <= SIGNATURES_PER_ENTRY:
            raise MalformedError(
                f"{len(signers)} signatures; 1 to {SIGNATURES_PER_ENTRY} are allowed"
            )
        if signers[0] != self.statement.author:
            raise MalformedError("the first signature is not the author's")
        if signers[1:] != sorted(set(signers[1:]) - {signers[0]}):
            raise MalformedError("further signers must be ascending and unique")

    @classmethod
    def parse(cls, leaf: bytes) -> Entry:
        """Read a leaf back; raises MalformedError, and RefusedError as `parse` does."""
        signatures, raw = split_leaf(leaf)
        return cls(signatures, parse(raw))

    def leaf(self) -> bytes:
        """Encode the leaf: version, count, keys and signatures, statement."""
        head = bytes((_ENTRY_VERSION, len(self.signatures)))
        signed = b"".join(key + signature for key, signature in self.signatures)
        return head + signed + self.statement.raw

    def verify(self, net: NetworkId) -> None:
        """Return if every signature holds in this network; raises SignatureInvalidError.

        Where keys enter, they must also be acceptable; other keys were checked at registration.
        """
        message = signed_message(net, self.statement.raw)
        for key, signature in self.signatures:
            if isinstance(self.statement.body, (*REGISTRATIONS, KeyRecovery, MemberTeam)):
                keys.check_key(key)
            keys.verify(key, signature, message)


def make(  # noqa: PLR0913  # the fields of a statement, all by name
    *,
    body: Body,
    author: PeerKey,
    seq: int,
    ts: int,
    exp: int,
    prev: Digest,
    run: RunId | None = None,
    round: int | None = None,  # noqa: A002  # the protocol's word
) -> Statement:
    """Write a statement; raises RefusedError("malformed") if the rules forbid it."""
    fields: dict[str, object] = {
        "author": to_text(author),
        "body": msgspec.to_builtins(body),
        "exp": exp,
        "prev": to_text(prev),
        "seq": seq,
        "ts": ts,
        "type": body.TYPE,
        "v": VERSION,
    }
    if run is not None:
        fields["run"] = to_text(run)
    if round is not None:
        fields["round"] = round
    # Parsed again rather than trusted: nobody can make a statement that readers would refuse.
    try:
        return parse(encoding.encode(fields))
    except MalformedError as err:
        raise RefusedError("malformed", f"{body.TYPE}: {err}") from err


def parse(raw: bytes) -> Statement:
    """Read a statement; its fields are in range, its times and its scope are consistent.

    Raises MalformedError, and RefusedError("unknown-type") for canonical JSON of a type or version
    that this program does not support.
    """
    tree = encoding.parse(raw, STATEMENT_BYTES)
    body_type = _body_type(tree)
    envelope = encoding.convert(tree, Envelope)
    statement = Statement(
        author=key_from_text(envelope.author),
        seq=envelope.seq,
        ts=envelope.ts,
        exp=envelope.exp,
        prev=digest_from_text(envelope.prev),
        run=None if envelope.run is UNSET else RunId(digest_from_text(envelope.run)),
        round=None if envelope.round is UNSET else envelope.round,
        body=encoding.convert(envelope.body, body_type),
        raw=bytes(raw),
    )
    _check(statement)
    return statement


def split_leaf(leaf: bytes) -> tuple[tuple[tuple[PeerKey, bytes], ...], bytes]:
    """Split a leaf into its signatures and the unparsed statement; raises MalformedError."""
    if not _HEAD_BYTES <= len(leaf) <= ENTRY_BYTES:
        raise MalformedError(f"entry of {len(leaf)} bytes")
    version, count = leaf[0], leaf[1]
    if version != _ENTRY_VERSION:
        raise MalformedError(f"entry version {version}")
    end = _HEAD_BYTES + count * _SIGNER.size
    if not 1 <= count <= SIGNATURES_PER_ENTRY or len(leaf) <= end:
        raise MalformedError(f"entry of {len(leaf)} bytes with {count} signatures")
    signers = _SIGNER.iter_unpack(leaf[_HEAD_BYTES:end])
    return tuple((PeerKey(key), signature) for key, signature in signers), leaf[end:]


def signed_message(net: NetworkId, raw: bytes) -> bytes:
    """Join the signed bytes: prefix, network id, the statement's bytes as received."""
    return _PREFIX + net + raw


def statement_id(net: NetworkId, raw: bytes) -> Digest:
    """Identify a statement in a network: SHA-256 of the signed message."""
    return sha256(_PREFIX, net, raw)


def sign(net: NetworkId, statement: Statement, *signers: StatementSigner) -> Entry:
    """Sign as the author and, in any order given, further signers.

    Raises RefusedError("bad-signature") if the first signer is not the author or one is repeated.
    """
    ordered = (*signers[:1], *sorted(signers[1:], key=lambda signer: signer.key))
    message = signed_message(net, statement.raw)
    try:
        return Entry(tuple((s.key, s.sign(message)) for s in ordered), statement)
    except MalformedError as err:
        raise RefusedError("bad-signature", str(err)) from err


def check_work(statement: Statement, net: NetworkId, bits: int) -> None:
    """Raise RefusedError("no-work") for a registration with less than `bits` bits of work.

    Other statements need none.
    """
    body = statement.body
    if not isinstance(body, REGISTRATIONS):
        return
    if not has_work(net, statement.author, bits, body.nonce):
        raise RefusedError(
            "no-work",
            f"nonce {body.nonce} is not a proof of {bits} bits for key {to_text(statement.author)}",
        )


def _body_type(tree: object) -> type[Body]:
    """Find the type before any other field is judged: a later version may have other fields."""
    if not isinstance(tree, dict):
        raise MalformedError("a statement must be a JSON object")
    name, version = tree.get("type"), tree.get("v")
    if not isinstance(name, str) or type(version) is not int:
        raise MalformedError("a statement must have a type and a version v")
    found = BODIES.get((name, version))
    if found is None:
        raise RefusedError("unknown-type", f"statement type {name[:60]!r} version {version}")
    return found


def _check(statement: Statement) -> None:
    if not 0 <= statement.exp - statement.ts <= STATEMENT_LIFE_MS:
        raise MalformedError(f"exp {statement.exp} is not within 15 minutes of ts {statement.ts}")
    if statement.seq == 1 and statement.prev != ZERO_DIGEST:
        raise MalformedError("prev of statement 1 is not zero: nothing can come before it")
    scope = _SCOPES.get((statement.run is not None, statement.round is not None))
    if scope is not statement.body.SCOPE:
        raise MalformedError(
            f"{statement.type} is about a {statement.body.SCOPE.value}: wrong run or round field"
        )
