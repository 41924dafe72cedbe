"""Keys that end in a real ledger under a virtual clock: its rows, answers and pages follow."""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import TYPE_CHECKING

import pytest
from sqlalchemy import select

from tequio_ledger.log.documents import DocumentCache
from tequio_ledger.log.sequencer import Known, Logged, Refused
from tequio_ledger.log.table_check import TableCheck
from tequio_ledger.replay import replay
from tequio_ledger.store import queries
from tequio_ledger.store.models import CREDIT
from tequio_shared.ids import to_text
from tequio_shared.network.standing import Standing
from tequio_shared.statements.network import KeyRecovery, KeyReplace, KeyRevoke
from tests.ledger.log.test_coordinator import RULES, LedgerSwarm
from tests.ledger.test_replay import rows
from tests.support.authors import registration
from tests.support.ledgers import VirtualClock, make_settings, opened, running
from tests.support.signing_swarm import SigningPeer

if TYPE_CHECKING:
    from pathlib import Path

    from tequio_ledger.ledger import Ledger
    from tequio_shared.ids import PeerKey
    from tequio_shared.served.rows import KeyRows

pytestmark = pytest.mark.usefixtures("either_database")


def successor(swarm: LedgerSwarm, former: SigningPeer) -> SigningPeer:
    return SigningPeer(f"after {to_text(former.key)[:6]}", swarm.ledger, RULES.run_id)


def replacement(swarm: LedgerSwarm, former: PeerKey, heir: SigningPeer) -> KeyReplace:
    nonce = registration(swarm.ledger.state.net, heir.key).nonce
    return KeyReplace(former=to_text(former), nonce=nonce)


def stored(ledger: Ledger, key: PeerKey) -> KeyRows:
    with ledger.database.reader.begin() as connection:
        found = queries.key(connection, key)
    assert found is not None
    return found


def paid_points(ledger: Ledger) -> dict[tuple[int, bytes], int]:
    """Payments by round and member."""
    paid = Counter[tuple[int, bytes]]()
    with ledger.database.reader.begin() as connection:
        for row in connection.execute(select(CREDIT.c.round, CREDIT.c.peer, CREDIT.c.gflop)):
            paid[row.round, row.peer] += row.gflop
    return dict(paid)


def wrong_rows(ledger: Ledger) -> str | None:
    """The first row of the tables that does not follow from the log."""
    check = TableCheck(ledger.database, ledger.state.net, DocumentCache(ledger.blobs))
    check.start(ledger.state, ledger.log.published, spent_s=20)
    return check.reason


async def live(ledger: Ledger, clock: VirtualClock) -> dict[str, SigningPeer]:
    """Rounds with a key that is replaced in one, one that is revoked in one, and one recovered."""
    swarm = LedgerSwarm(ledger, clock)
    await swarm.open()
    a, b, c, *_ = swarm.peers
    await swarm.play(*swarm.peers[:3])
    recovery = SigningPeer("recovery of c", ledger, RULES.run_id).signer
    bound = KeyRecovery(recovery=to_text(recovery.key))
    await swarm.post([c.sign(bound, clock(), recovery)])
    await swarm.start_round(a, b, c)
    # In the middle of a round, when their work is done: a is replaced, b revoked.
    await swarm.post([one.commit() for one in (a, b, c)])
    await swarm.post([one.prove() for one in (a, b)])
    heir = successor(swarm, a)
    await swarm.post([heir.sign(replacement(swarm, a.key, heir), clock(), a.signer), heir.ready()])
    await swarm.post([b.sign(KeyRevoke(peer=to_text(b.key)), clock())])
    await swarm.post([c.prove()])
    assert swarm.view.closed == 2
    saved = successor(swarm, c)
    await swarm.post([c.sign(KeyRevoke(peer=to_text(c.key)), clock())])
    await swarm.post([saved.sign(replacement(swarm, c.key, saved), clock(), recovery)])
    return {"a": a, "b": b, "c": c, "heir": heir, "saved": saved}


def test_rows_follow_keys_that_end_and_a_replay_derives_the_same(tmp_path: Path) -> None:
    clock = VirtualClock()
    with opened(make_settings(tmp_path), clock) as ledger:

        async def run() -> dict[str, SigningPeer]:
            async with running(ledger):
                return await live(ledger, clock)

        them = asyncio.run(run())
        a, heir = stored(ledger, them["a"].key), stored(ledger, them["heir"].key)
        assert (a.peer.gflop, a.peer.replaced_by) == (0, them["heir"].key)
        assert a.standing.standing == Standing.REPLACED
        assert a.standing.since == heir.peer.registered_index
        assert (heir.peer.replaces, heir.standing.standing) == (them["a"].key, Standing.NEWCOMER)
        paid = paid_points(ledger)
        assert heir.peer.gflop == paid[1, them["a"].key] + paid[2, them["a"].key]
        assert (2, them["b"].key) not in paid
        assert stored(ledger, them["b"].key).peer.gflop == paid[1, them["b"].key] > 0
        assert stored(ledger, them["b"].key).standing.standing == Standing.REVOKED
        c, saved = stored(ledger, them["c"].key), stored(ledger, them["saved"].key)
        assert (c.peer.replaced_by, c.peer.recovery) == (them["saved"].key, None)
        assert saved.peer.recovery is not None
        assert saved.peer.gflop > 0
        assert wrong_rows(ledger) is None
        before, size = rows(ledger), ledger.log.size
    assert replay(make_settings(tmp_path)) == size
    with opened(make_settings(tmp_path), clock) as ledger:
        assert rows(ledger) == before


def test_the_same_bytes_are_known_and_an_ended_key_is_refused(tmp_path: Path) -> None:
    clock = VirtualClock()
    with opened(make_settings(tmp_path), clock) as ledger:

        async def run() -> None:
            async with running(ledger):
                swarm = LedgerSwarm(ledger, clock)
                await swarm.open()
                a, b, *_ = swarm.peers
                heir = successor(swarm, a)
                entry = heir.sign(replacement(swarm, a.key, heir), clock(), a.signer)
                first, again = await ledger.sequencer.submit([entry, entry])
                assert isinstance(first, Logged)
                assert again == Known(id=first.id, index=first.index)
                revoked = b.sign(KeyRevoke(peer=to_text(b.key)), clock())
                for _ in range(2):
                    (outcome,) = await ledger.sequencer.submit([revoked])
                    assert not isinstance(outcome, Refused)
                for ended in (a, b):
                    (outcome,) = await ledger.sequencer.submit([ended.ready()])
                    assert isinstance(outcome, Refused)
                    assert outcome.code == "key-ended"

        asyncio.run(run())
