"""The genesis document: what a network fixes for ever, and by whose hash it is named.

It is canonical JSON; entry 0 of the log carries its bytes, and the network id is their SHA-256.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

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
    RoleGrant,
    RoleRevoke,
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
    RunOpen,
    RunPause,
    RunResume,
)

if TYPE_CHECKING:
    from tequio_shared.statements import Body
    from tequio_shared.statements.statement import Entry


NetworkName = Annotated[str, Meta(pattern=r"\A[a-z0-9][a-z0-9-]{0,31}\Z")]
WORK_BITS = 32
"""Most bits of work that a network may ask of a new key: an hour of one core, and not for ever."""
Origin = Annotated[str, Meta(pattern=r"\A[a-z0-9][a-z0-9.:/_-]{0,127}\Z")]


class Genesis(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Who runs the network, under which keys and rules."""

    name: NetworkName
    origin: Origin
    """Name of the log in its checkpoints."""
    log_key: Annotated[str, Meta(max_length=512)]
    """Verifier key of the log (C2SP signed-note)."""
    coordinator: Bytes32Text
    """The key that opens and closes rounds."""
    organisers: tuple[Bytes32Text, ...]
    """Ascending, none twice; the keys that open, pause and finish runs."""
    threshold: Annotated[int, Meta(ge=1, le=16)]
    """How many organisers must sign such a statement."""
    rules: Bytes32Text
    """SHA-256 of the rule set: the limits that both ends agree on."""
    work_bits: Annotated[int, Meta(ge=0, le=WORK_BITS)]
    """Zero bits that the work of a new key has to show."""

    def __post_init__(self) -> None:
        keys = [key_from_text(text) for text in self.organisers]
        if keys != sorted(set(keys)):
            raise MalformedError("genesis: organisers are not ascending and single")

    def encode(self) -> bytes:
        """The canonical bytes."""
        return encoding.encode(self)

    @classmethod
    def parse(cls, raw: bytes) -> Genesis:
        """Read a genesis document; raises MalformedError."""
        return encoding.decode(raw, cls, STATEMENT_BYTES)

    @property
    def network_id(self) -> NetworkId:
        """The network's name: SHA-256 of the document."""
        return NetworkId(sha256(self.encode()))

    @property
    def coordinator_key(self) -> PeerKey:
        """The coordinator's key."""
        return key_from_text(self.coordinator)

    @property
    def organiser_keys(self) -> frozenset[PeerKey]:
        """The organisers' keys."""
        return frozenset(key_from_text(text) for text in self.organisers)


# --- Who may say what: the coordinator's statements, the organisers', and everybody's.
#
# The ledger asks at its door, workers and auditors for every entry they read: the log's operator
# cannot speak for the organisers, nor anybody else for the coordinator.

OF_COORDINATOR = (
    NetGenesis,
    RunClose,
    RoundRoster,
    HeadPromote,
    RoundOpen,
    RoundWitness,
    RoundClose,
    RoundVoid,
    StandingChange,
    CompClose,
    CompDraw,
)
OF_ORGANISERS = (
    RunOpen,
    RunPause,
    RunResume,
    RunFinish,
    StandingRelease,
    StandingUphold,
    InviteOpen,
    InviteClose,
    InviteRevoke,
    RoleGrant,
    RoleRevoke,
    CheckpointPublish,
    CompOpen,
    CompResult,
)
OF_TWO = (StandingRelease, InviteOpen, InviteRevoke, RoleGrant, RoleRevoke, CompResult)
"""What at least two organisers say together, if the network has so many."""
_TOGETHER = 2


def check_role(entry: Entry, genesis: Genesis) -> None:
    """Raise RefusedError("wrong-role") unless the entry's signers may say what it says.

    Whether the signatures hold is `Entry.verify`'s affair.
    """
    statement = entry.statement
    body, author = statement.body, statement.author
    if isinstance(body, OF_COORDINATOR) and author != genesis.coordinator_key:
        raise RefusedError("wrong-role", f"{statement.type} is the coordinator's to say")
    if not isinstance(body, OF_ORGANISERS):
        return
    organisers = genesis.organiser_keys
    if author not in organisers:
        raise RefusedError("wrong-role", f"{statement.type} is the organisers' to say")
    signed = sum(key in organisers for key, _ in entry.signatures)
    needed = signers_needed(body, genesis)
    if signed < needed:
        raise RefusedError("wrong-role", f"{signed} organisers signed, {needed} are needed")


def signers_needed(body: Body, genesis: Genesis) -> int:
    """How many organisers have to sign what is theirs to say."""
    if isinstance(body, OF_TWO):
        return max(genesis.threshold, min(_TOGETHER, len(genesis.organiser_keys)))
    return genesis.threshold
