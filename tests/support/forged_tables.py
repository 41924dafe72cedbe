"""Figures that a ledger derived from its log, forged in its database as an operator might do it."""

from __future__ import annotations

import shutil
import sqlite3
import time
from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tests.support.ledgers import make_settings
from tests.support.sample_ledger import fill

if TYPE_CHECKING:
    from pathlib import Path

STRANGER = bytes([99]) * 32
"""A key that is not in the log."""
AGO_MS = 30_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Forgery:
    """One change of the tables, and an answer that would show the forged figure."""

    table: str
    orders: str
    path: str
    """With `{run}`, and `{key}` of the key that earned most."""
    is_in_api: bool = True
    """False if only pages show the figure."""


_BEST = "(SELECT key FROM peer ORDER BY micropoints DESC LIMIT 1)"
FORGERIES = {
    "a key that is not in the log at rank 1": Forgery(
        table="peer",
        orders="INSERT INTO peer (key, registered_index, last_seq, last_hash, micropoints) "
        "VALUES (x'{stranger}', 1, 1, zeroblob(32), 9000000000000)",
        path="/v1/ranking",
    ),
    "points of the best key": Forgery(
        table="peer",
        orders="UPDATE peer SET micropoints = micropoints + 500 WHERE key = {best}",
        path="/v1/ranking",
    ),
    "a key that is gone": Forgery(
        table="peer",
        orders="DELETE FROM peer WHERE micropoints = (SELECT MIN(micropoints) FROM peer "
        "WHERE micropoints > 0)",
        path="/v1/ranking",
    ),
    "the end of a chain": Forgery(
        table="peer", orders="UPDATE peer SET last_seq = last_seq + 1", path="/v1/peers"
    ),
    "points of a round": Forgery(
        table="credit",
        orders="UPDATE credit SET micropoints = micropoints + 500 WHERE round = 3",
        path="/v1/peers/{key}/rounds",
    ),
    "points of a round that nobody paid": Forgery(
        table="credit",
        orders="INSERT INTO credit (run, round, peer, kind, micropoints, team) SELECT run, 999, "
        "peer, 'trainer', 7, 'forgers' FROM credit LIMIT 1",
        path="/leaderboard?by=teams",
        is_in_api=False,
    ),
    "the team of a round's points": Forgery(
        table="credit",
        orders="UPDATE credit SET team = 'forgers' WHERE round = 3",
        path="/leaderboard?by=teams",
        is_in_api=False,
    ),
    "halved measures": Forgery(
        table="measured",
        orders="UPDATE measured SET millibits = millibits / 2",
        path="/v1/runs/{run}/measures",
    ),
    "a sample": Forgery(
        table="measured",
        orders="UPDATE measured SET written = 'Buy our model' WHERE written IS NOT NULL",
        path="/v1/runs/{run}/measures",
    ),
    "a measure that is gone": Forgery(
        table="measured",
        orders="DELETE FROM measured WHERE round = (SELECT MIN(round) FROM measured)",
        path="/v1/runs/{run}/measures",
    ),
    "a round missing from a peer's list": Forgery(
        table="attended",
        orders="DELETE FROM attended WHERE peer = {best} AND closed_index = "
        "(SELECT MAX(closed_index) FROM attended WHERE peer = {best})",
        path="/v1/peers/{key}/rounds",
    ),
    "a round that a key did not attend": Forgery(
        table="attended",
        orders="INSERT INTO attended (peer, closed_index) SELECT p.key, r.closed_index "
        "FROM peer p, round r WHERE r.closed_index IS NOT NULL AND NOT EXISTS (SELECT 1 FROM "
        "attended a WHERE a.peer = p.key AND a.closed_index = r.closed_index) LIMIT 1",
        path="/v1/peers/{key}/rounds",
    ),
    "a head of zeros": Forgery(
        table="round",
        orders="UPDATE round SET head = zeroblob(32) WHERE round = 3",
        path="/v1/runs/{run}/rounds",
    ),
    "a wrong loss": Forgery(
        table="round",
        orders="UPDATE round SET loss_q16 = 1 WHERE round = 3",
        path="/v1/runs/{run}/rounds",
    ),
    "another outcome": Forgery(
        table="round",
        orders="UPDATE round SET outcome = 'void' WHERE round = 3",
        path="/v1/runs/{run}/rounds",
    ),
    "tokens of a round": Forgery(
        table="round",
        orders="UPDATE round SET tokens = 2 * tokens WHERE round = 3",
        path="/",
        is_in_api=False,
    ),
    "a round that never was": Forgery(
        table="round",
        orders="INSERT INTO round (run, round, roster_index, roster, outcome, accepted, tokens) "
        "SELECT run, 999, roster_index, roster, 'open', 0, 1000000 FROM round LIMIT 1",
        path="/v1/runs/{run}/rounds",
    ),
    "a quarantine that is over": Forgery(
        table="standing",
        orders="UPDATE standing SET standing = 'member' WHERE standing = 'quarantined'",
        path="/v1/quarantine",
    ),
    "the owner of a key": Forgery(
        table="tier",
        orders="UPDATE tier SET owner = x'{stranger}' WHERE tier > 0",
        path="/v1/peers",
    ),
}


def lived_through(folder: Path) -> None:
    """Make a ledger with days of rounds, the last one in progress."""
    fill(make_settings(folder), time.time_ns() // 1_000_000 - AGO_MS)


def copied(history: Path, folder: Path, forged: Forgery | None = None) -> Path:
    """Copy a ledger's folder, and change its tables."""
    shutil.copytree(history, folder)
    if forged is not None:
        forge(folder, forged)
    return folder


def forge(folder: Path, forged: Forgery) -> None:
    """Change the tables of a ledger, whether it is running or not."""
    (database,) = folder.glob("*.sqlite")
    orders = forged.orders.format(best=_BEST, stranger=STRANGER.hex())
    with closing(sqlite3.connect(database, timeout=30)) as rows, rows:
        assert rows.execute(orders).rowcount > 0, "nothing was forged"
