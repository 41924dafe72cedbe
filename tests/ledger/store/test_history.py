"""Who earned in a span: an owner counts once, whatever number of keys it has."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import insert

from tequio_ledger.store import history
from tequio_ledger.store.history import Earner
from tequio_ledger.store.models import Credit, KeyTier, Peer, Round, Run
from tequio_shared.ids import PeerKey
from tests.support.ledgers import VirtualClock, make_settings, opened

if TYPE_CHECKING:
    from pathlib import Path

    from tequio_ledger.service import Ledger

RUN, OWNER = bytes([1]) * 32, bytes([2]) * 32
SMALL, LARGE, ALONE, LATE = (PeerKey(bytes([at]) * 32) for at in (9, 5, 7, 8))
EARNED = ((SMALL, 1, 20), (LARGE, 1, 30), (LARGE, 2, 5), (ALONE, 2, 40), (SMALL, 3, 1_000))
"""Key, round, micro-points."""


def invent(ledger: Ledger) -> None:
    with ledger.database.writer.begin() as connection:
        for key in (SMALL, LARGE, ALONE, LATE):
            peer = {"key": key, "registered_index": 1, "last_seq": 0, "last_hash": bytes(32)}
            connection.execute(insert(Peer).values(micropoints=0, **peer))
        for key in (SMALL, LARGE):
            owned = insert(KeyTier).values(peer=key, tier=1, owner=OWNER, until=9, since=1)
            connection.execute(owned)
        connection.execute(insert(Run).values(run=RUN, opened_index=1, manifest=RUN))
        for number, ended_ms in ((1, 100), (2, 100), (3, 50)):
            made = {"run": RUN, "round": number, "roster_index": 1, "roster": bytes(32)}
            ended = {"closed_index": 10 + number, "outcome": "closed", "ended_ms": ended_ms}
            connection.execute(insert(Round).values(**made, **ended, accepted=1, tokens=1))
        for key, number, micropoints in EARNED:
            credit = {"run": RUN, "round": number, "peer": key, "kind": "trainer"}
            connection.execute(insert(Credit).values(micropoints=micropoints, **credit))


def test_keys_of_one_owner_have_one_place_under_the_best_of_them(
    tmp_path: Path, either_database: str
) -> None:
    with opened(make_settings(tmp_path), VirtualClock()) as ledger:
        invent(ledger)
        with ledger.database.reader.begin() as connection:
            assert history.earners(connection, 100, 9) == [
                Earner(key=LARGE, micropoints=55, rounds=3, keys=2),
                Earner(key=ALONE, micropoints=40, rounds=1, keys=1),
            ]
            assert [one.key for one in history.earners(connection, 0, 1)] == [SMALL]
            assert history.earners(connection, 101, 9) == []
