"""Tiers and owners of keys: derived from the log, and the same after a replay of the log."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from tequio_ledger.log.sequencer import Logged, Refused
from tequio_ledger.replay import replay
from tequio_ledger.store import queries
from tequio_shared.ids import Digest, sha256, to_text
from tequio_shared.keys import Signer
from tequio_shared.network.tiers import Tier, owner_of
from tequio_shared.served.rows import TierRow
from tequio_shared.statements.network import (
    InviteClose,
    InviteOpen,
    MemberVouch,
    RoleGrant,
    RoleRevoke,
)
from tests.ledger.test_replay import rows
from tests.support.authors import LIFE_MS, Author, registration
from tests.support.ledgers import ORGANISER, VirtualClock, make_settings, opened, running

if TYPE_CHECKING:
    from pathlib import Path

    from tequio_ledger.ledger import Ledger
    from tequio_ledger.log.sequencer import Outcome
    from tequio_shared.ids import PeerKey
    from tequio_shared.statements.statement import Body, Entry

pytestmark = pytest.mark.usefixtures("either_database")
LINK = Signer(bytes([31]) * 32)
ACCOUNT = sha256(b"account")


class TierLedger:
    """Organisers, a connector and their guests, at a real ledger."""

    def __init__(self, ledger: Ledger, clock: VirtualClock) -> None:
        self.ledger, self.clock = ledger, clock
        self.organiser = Author("organiser", ledger.genesis.network_id)
        self.organiser.signer = ORGANISER
        self.connector = self.author("connector")
        self.end = clock() + LIFE_MS

    def author(self, name: str) -> Author:
        """Make an author of this network."""
        return Author(name, self.ledger.genesis.network_id)

    async def send(self, entry: Entry) -> Outcome:
        """Send one entry."""
        (outcome,) = await self.ledger.sequencer.submit([entry])
        return outcome

    async def log_statement(self, author: Author, body: Body) -> int:
        """Log a statement; return its index."""
        outcome = await self.send(author.sign(body, self.clock()))
        assert isinstance(outcome, Logged), outcome
        return outcome.index

    async def join(self, name: str, *links: Signer) -> tuple[PeerKey, Outcome]:
        """Register a key under an invitation."""
        author = self.author(name)
        body = registration(author.net, author.key)
        return author.key, await self.send(author.sign(body, self.clock(), *links))

    async def vouch(self, peer: PeerKey, until: int | None = None) -> int:
        """Let the connector vouch for a key."""
        end = self.end if until is None else until
        body = MemberVouch(peer=to_text(peer), owner=to_text(ACCOUNT), until=end)
        return await self.log_statement(self.connector, body)

    def row(self, peer: PeerKey) -> TierRow:
        """The tier of a key in the database."""
        with self.ledger.database.reader.begin() as connection:
            found = queries.key(connection, peer)
        assert found is not None
        return found.tier


async def live(ledger: Ledger, clock: VirtualClock) -> None:
    """Admit keys in every possible way, then revoke some of the admissions."""
    async with running(ledger):
        gate = TierLedger(ledger, clock)
        text = to_text(LINK.key)
        await gate.log_statement(
            gate.organiser, InviteOpen(invitation=text, uses=1, until=gate.end, run="")
        )
        guest, outcome = await gate.join("guest", LINK)
        assert isinstance(outcome, Logged)
        owner = Digest(LINK.key)
        assert gate.row(guest) == TierRow(
            peer=guest, tier=Tier.INVITED, owner=owner, run=None, until=0, since=outcome.index
        )
        _, spent = await gate.join("late guest", LINK)
        assert isinstance(spent, Refused)
        assert spent.code == "invitation-spent"
        await gate.log_statement(gate.organiser, InviteClose(invitation=text))

        await gate.log_statement(
            gate.connector, registration(gate.connector.net, gate.connector.key)
        )
        grant = RoleGrant(peer=to_text(gate.connector.key), role="connector", until=gate.end)
        await gate.log_statement(gate.organiser, grant)
        one, _ = await gate.join("one")
        other, _ = await gate.join("other")
        assert gate.row(one).owner == one
        index = await gate.vouch(one)
        account = owner_of(gate.connector.key, ACCOUNT)
        assert gate.row(one) == TierRow(
            peer=one, tier=Tier.VOUCHED, owner=account, run=None, until=gate.end, since=index
        )
        await gate.vouch(other)
        assert gate.row(other).owner == account
        revoke = RoleRevoke(peer=to_text(gate.connector.key), role="connector")
        await gate.log_statement(gate.organiser, revoke)
        assert [gate.row(key).tier for key in (one, other)] == [Tier.ANONYMOUS] * 2
        await gate.log_statement(gate.organiser, grant)
        await gate.vouch(other)
        founder = gate.row(gate.organiser.key)
        assert (founder.tier, founder.owner, founder.since) == (2, gate.organiser.key, 0)


def test_a_key_has_the_tier_that_the_log_gives_it_also_after_a_replay(tmp_path: Path) -> None:
    clock = VirtualClock()
    with opened(make_settings(tmp_path), clock) as ledger:
        asyncio.run(live(ledger, clock))
        before, size = rows(ledger)["tier"], ledger.log.size
    assert replay(make_settings(tmp_path)) == size
    with opened(make_settings(tmp_path), clock) as ledger:
        assert rows(ledger)["tier"] == before
        tiers = ledger.state.tiers
        folded = {bytes(key): tiers.highest(key) for key in ledger.state.peers}
    for key, tier, owner, *_ in before:
        assert isinstance(key, bytes)
        word = folded.pop(key)
        assert (tier, owner) == (word.tier, word.owner)
    assert {word.tier for word in folded.values()} == {Tier.ANONYMOUS}
