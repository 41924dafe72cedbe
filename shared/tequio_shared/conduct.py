"""Statements about standing: which part of the fold each one goes to, and whom it is about."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from tequio_shared.errors import RefusedError
from tequio_shared.evidence import read_fault
from tequio_shared.ids import key_from_text
from tequio_shared.statements.members import KeyRegister
from tequio_shared.statements.standing import (
    FaultReport,
    StandingAppeal,
    StandingChange,
    StandingRelease,
    StandingUphold,
)

if TYPE_CHECKING:
    from tequio_shared.evidence import RoundOf
    from tequio_shared.ids import NetworkId, PeerKey
    from tequio_shared.standing import Standings
    from tequio_shared.statement import Statement

ConductBody: TypeAlias = (
    FaultReport | StandingChange | StandingAppeal | StandingRelease | StandingUphold
)


def apply(
    standings: Standings, index: int, statement: Statement, net: NetworkId, round_of: RoundOf
) -> None:
    """Apply the statement at that log index; one that is refused (RefusedError) changes nothing."""
    match statement.body:
        case FaultReport() as body:
            standings.apply_fault(index, read_fault(body, net, round_of))
        case StandingChange() as body:
            standings.apply_change(index, statement, body)
        case StandingAppeal() as body:
            standings.apply_appeal(index, statement, body)
        case StandingRelease() | StandingUphold() as body:
            standings.apply_ruling(index, statement, body)
        case _:
            raise RefusedError("unknown-type", f"{statement.type} is not about standing")


def subject(statement: Statement) -> PeerKey | None:
    """Whose standing, or open appeal, this statement changes if it is taken; None: nobody's."""
    match statement.body:
        case KeyRegister() | StandingAppeal():
            return statement.author
        case StandingChange(peer=peer) | StandingRelease(peer=peer) | StandingUphold(peer=peer):
            return key_from_text(peer)
    return None
