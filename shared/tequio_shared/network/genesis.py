"""The genesis document: the permanent rules of a network, and the hash that names it.

Canonical JSON; entry 0 of the log carries its bytes, and the network id is their SHA-256.
"""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct

from tequio_shared import encoding
from tequio_shared.errors import MalformedError, RefusedError
from tequio_shared.ids import Bytes32Text, NetworkId, PeerKey, key_from_text, sha256
from tequio_shared.limits import STATEMENT_BYTES
from tequio_shared.statements.competitions import CompClose, CompDraw, CompOpen, CompResult
from tequio_shared.statements.network import (
    CheckpointPublish,
    InviteClose,
    InviteOpen,
    InviteRevoke,
    LogSnapshot,
    NameWithdraw,
    NetNotice,
    RoleGrant,
    RoleRevoke,
    SoftwareRelease,
    StandingChange,
    StandingRelease,
    StandingUphold,
)
from tequio_shared.statements.runs import (
    HeadPromote,
    NetGenesis,
    RoundClose,
    RoundOpen,
    RoundRoster,
    RoundVoid,
    RoundWitness,
    RunClose,
    RunFinish,
    RunNotice,
    RunOpen,
    RunPause,
    RunResume,
    RunRollback,
)
from tequio_shared.statements.statement import Body, Entry

NetworkName = Annotated[str, Meta(pattern=r"\A[a-z0-9][a-z0-9-]{0,31}\Z")]
WORK_BITS = 32
"""Most bits of work that a network may require of a new key: about an hour of one core."""
Origin = Annotated[str, Meta(pattern=r"\A[a-z0-9][a-z0-9.:/_-]{0,127}\Z")]


class Genesis(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Operators of the network, their keys and the rules."""

    name: NetworkName
    origin: Origin
    """Name of the log in its checkpoints."""
    log_key: Annotated[str, Meta(max_length=512)]
    """Verifier key of the log (C2SP signed-note)."""
    coordinator: Bytes32Text
    """The key that opens and closes rounds."""
    organisers: tuple[Bytes32Text, ...]
    """Ascending and unique; the keys that open, pause and finish runs."""
    threshold: Annotated[int, Meta(ge=1, le=16)]
    """Number of organisers that must sign such a statement."""
    rules: Bytes32Text
    """SHA-256 of the rule set: the limits that both ends agree on."""
    work_bits: Annotated[int, Meta(ge=0, le=WORK_BITS)]
    """Zero bits that the proof of work of a new key must have."""

    def __post_init__(self) -> None:
        keys = [key_from_text(text) for text in self.organisers]
        if keys != sorted(set(keys)):
            raise MalformedError("genesis: organisers must be ascending and unique")

    def encode(self) -> bytes:
        return encoding.encode(self)

    @classmethod
    def parse(cls, raw: bytes) -> Genesis:
        return encoding.decode(raw, cls, STATEMENT_BYTES)

    @property
    def network_id(self) -> NetworkId:
        """SHA-256 of the document."""
        return NetworkId(sha256(self.encode()))

    @property
    def coordinator_key(self) -> PeerKey:
        return key_from_text(self.coordinator)

    @property
    def organiser_keys(self) -> frozenset[PeerKey]:
        return frozenset(key_from_text(text) for text in self.organisers)


# Statements reserved for the coordinator and for the organisers; all others are open to any key.
# The ledger checks this on entry, workers and auditors for every entry they read: the log's
# operator cannot act for the organisers, nor anybody else for the coordinator.

COORDINATOR_BODIES = (
    NetGenesis,
    RunClose,
    RoundRoster,
    HeadPromote,
    RoundOpen,
    RoundWitness,
    RoundClose,
    RoundVoid,
    StandingChange,
    LogSnapshot,
    CompClose,
    CompDraw,
)
ORGANISER_BODIES = (
    RunOpen,
    RunPause,
    RunResume,
    RunRollback,
    RunNotice,
    RunFinish,
    StandingRelease,
    StandingUphold,
    InviteOpen,
    InviteClose,
    InviteRevoke,
    RoleGrant,
    RoleRevoke,
    CheckpointPublish,
    NetNotice,
    SoftwareRelease,
    NameWithdraw,
    CompOpen,
    CompResult,
)
TWO_SIGNER_BODIES = (
    StandingRelease,
    InviteOpen,
    InviteRevoke,
    RoleGrant,
    RoleRevoke,
    SoftwareRelease,
    CompResult,
)
"""Statements that at least two organisers must sign, if the network has two."""
_TOGETHER = 2


def check_role(entry: Entry, genesis: Genesis) -> None:
    """Raise RefusedError("wrong-role") unless the entry's signers may make its statement.

    The signatures themselves are verified by `Entry.verify`.
    """
    statement = entry.statement
    body, author = statement.body, statement.author
    if isinstance(body, COORDINATOR_BODIES) and author != genesis.coordinator_key:
        raise RefusedError("wrong-role", f"only the coordinator may sign {statement.type}")
    if not isinstance(body, ORGANISER_BODIES):
        return
    organisers = genesis.organiser_keys
    if author not in organisers:
        raise RefusedError("wrong-role", f"only organisers may sign {statement.type}")
    signed = sum(key in organisers for key, _ in entry.signatures)
    needed = signers_needed(body, genesis)
    if signed < needed:
        raise RefusedError("wrong-role", f"{signed} organisers signed, {needed} are needed")


def signers_needed(body: Body, genesis: Genesis) -> int:
    if isinstance(body, TWO_SIGNER_BODIES):
        return max(genesis.threshold, min(_TOGETHER, len(genesis.organiser_keys)))
    return genesis.threshold
