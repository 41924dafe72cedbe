"""Who may say what: the coordinator's statements, the organisers', and everybody's.

The ledger asks at its door, workers and auditors for every entry they read: the log's operator
cannot speak for the organisers, nor anybody else for the coordinator.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tequio_shared.errors import RefusedError
from tequio_shared.statements.checkpoints import CheckpointPublish
from tequio_shared.statements.competitions import CompClose, CompDraw, CompOpen, CompResult
from tequio_shared.statements.connectors import RoleGrant, RoleRevoke
from tequio_shared.statements.invitations import InviteClose, InviteOpen, InviteRevoke
from tequio_shared.statements.rounds import (
    HeadPromote,
    RoundClose,
    RoundOpen,
    RoundRoster,
    RoundVoid,
    RoundWitness,
)
from tequio_shared.statements.runs import (
    NetGenesis,
    RunClose,
    RunFinish,
    RunOpen,
    RunPause,
    RunResume,
)
from tequio_shared.statements.standing import StandingChange, StandingRelease, StandingUphold

if TYPE_CHECKING:
    from tequio_shared.genesis import Genesis
    from tequio_shared.statement import Entry
    from tequio_shared.statements import Body

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
