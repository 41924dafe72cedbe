"""A ledger with a history: closed and void rounds, points, a quarantine with an appeal."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING

from tequio_ledger.log.sequencer import Logged
from tequio_shared.statements.network import TeamDefine
from tests.ledger.test_replay import CLOCK, live_through
from tests.support.ledgers import ORGANISER, VirtualClock, make_settings, opened, running
from tests.support.signing_swarm import SigningOrganiser
from tests.support.synthetic_competition import SyntheticCompetition

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tequio_ledger.ledger import Ledger

DAY_MS = 86_400_000


def live_yesterday(folder: Path, then: Callable[[Ledger], None] = lambda _: None) -> bytes:
    """Create the history in a new folder, call `then`, and return the last checkpoint.

    It all happened yesterday, so a real program need not wait for its clock to catch up.
    """
    before_ms = CLOCK.at_ms
    CLOCK.at_ms = time.time_ns() // 1_000_000 - DAY_MS
    try:
        with opened(make_settings(folder), CLOCK) as ledger:
            asyncio.run(live_through(ledger))
            then(ledger)
            return ledger.log.published.note
    finally:
        CLOCK.at_ms = before_ms


def open_competitions(folder: Path) -> None:
    """Found a team and open three competitions, which start in 30 days, in such a folder."""
    clock = VirtualClock(time.time_ns() // 1_000_000)
    with opened(make_settings(folder), clock) as ledger:
        asyncio.run(_open_competitions(ledger, clock))


async def _open_competitions(ledger: Ledger, clock: VirtualClock) -> None:
    organiser = SigningOrganiser(ledger)
    chain = ledger.state.peers[organiser.key]
    organiser.seq, organiser.last = chain.seq, chain.last
    async with running(ledger):
        team = TeamDefine(
            team=0, name="Milpa", invitation="", until=0, most=0, goal=0, goal_until=0
        )
        (outcome,) = await ledger.sequencer.submit([organiser.sign(team, clock())])
        assert isinstance(outcome, Logged), outcome
        for number in range(3):
            paper = SyntheticCompetition(
                custodians=[ORGANISER.key],
                needed=1,
                start_ms=clock() + 30 * DAY_MS,
                name=f"Paper {number}",
            )
            ledger.blobs.put(paper.rules.encode())
            entry = organiser.sign(paper.open(), clock())
            (outcome,) = await ledger.sequencer.submit([entry])
            assert isinstance(outcome, Logged), outcome
