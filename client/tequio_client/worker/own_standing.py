"""A key's standing as the ledger tells it, held against the log entry that made it so."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from tequio_client.ledger.proofs import read_entries
from tequio_shared.api.peers import StandingAnswer
from tequio_shared.causes import words_of
from tequio_shared.errors import PeerError
from tequio_shared.ids import to_text
from tequio_shared.standing import Standing
from tequio_shared.statements.standing import StandingChange, StandingRelease, StandingUphold

if TYPE_CHECKING:
    from tequio_client.ledger.api import LedgerApi
    from tequio_shared.ids import PeerKey
    from tequio_shared.statement import Entry, Statement


async def read_standing(api: LedgerApi, key: PeerKey) -> tuple[StandingAnswer, dict[int, Entry]]:
    """The key's standing, and the entries of its evidence, all proven to be in the log.

    Raises PeerError when the log says something else, LedgerRefusedError("not-found").
    """
    told = (await api.peer(key)).standing
    if told.standing == Standing.NEWCOMER:
        return told, {}
    found = await read_entries(api, await api.network(), {told.since, *told.evidence})
    said = standing_after(told.since, found[told.since].statement, key)
    if said is None or _facts(said) != _facts(told):
        raise PeerError(f"the ledger says {told.standing}, but entry {told.since} does not")
    return told, {index: found[index] for index in told.evidence}


def standing_after(index: int, statement: Statement, key: PeerKey) -> StandingAnswer | None:
    """How the entry at that index makes the key stand; None if it does not change that."""
    body = statement.body
    if not isinstance(body, StandingChange | StandingRelease | StandingUphold):
        return None
    if body.peer != to_text(key):
        return None
    match body:
        case StandingChange():
            changed = _without_cause(body.to, index)
            return msgspec.structs.replace(
                changed,
                cause=body.cause,
                why=words_of(body.cause),
                evidence=body.evidence,
                until=body.until,
            )
        case StandingRelease():
            return _without_cause(Standing.ACTIVE, index)
        case StandingUphold(to="banned"):
            return _without_cause(Standing.BANNED, index)
    return None


def _without_cause(standing: str, since: int) -> StandingAnswer:
    return StandingAnswer(
        standing=standing, since=since, cause=None, why="", evidence=(), until=0, appeal=None
    )


def _facts(one: StandingAnswer) -> tuple[object, ...]:
    if one.standing == Standing.BANNED:  # keeps cause and evidence of the quarantine before
        return (one.standing, one.since)
    return one.standing, one.since, one.cause, one.evidence, one.until
