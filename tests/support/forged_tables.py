"""Figures that a ledger derived from its log, forged in its database as an operator might do it."""

from __future__ import annotations

import asyncio
import shutil
import sqlite3
import time
from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING

import msgspec

from tequio_shared.api.network import ReleasesAnswer
from tequio_shared.api.runs import NetworkNoticeAnswer, NoticeAnswer
from tequio_shared.ids import to_text
from tequio_shared.served import answers
from tests.support.ledgers import make_settings
from tests.support.sample_ledger import fill

if TYPE_CHECKING:
    from pathlib import Path

    from tequio_shared.api.answer import AsOf
    from tequio_shared.served.state import State

STRANGER = bytes([99]) * 32
"""A key that is not in the log."""
AGO_MS = 30_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Forgery:
    """One change of the tables."""

    table: str
    orders: str
    event: str
    """Row and column that the ledger's own check names, as a pattern."""
    answer: str = ""
    """Answer and field that an audit and a monitor name, as a pattern; empty: pages alone."""


# The best key by its rounds: other forgeries change the points of its row.
_BEST = "(SELECT peer FROM credit GROUP BY peer ORDER BY SUM(gflop) DESC, peer LIMIT 1)"
_LAST_MEASURED = "round = (SELECT MAX(round) FROM measured)"
_KEY = r"[\w-]{43}"
FORGERIES = {
    "a key that is not in the log at rank 1": Forgery(
        table="peer",
        orders="INSERT INTO peer (key, registered_index, last_seq, last_hash, gflop, "
        "unvested, forfeited) VALUES (x'{stranger}', 1, 1, zeroblob(32), 9000000000000, 0, 0)",
        event=f"{to_text(STRANGER)} $",
        answer=rf"/v1/ranking\b.* rows\[1 {to_text(STRANGER)}\]",
    ),
    "a name of a key": Forgery(
        table="peer",
        orders="UPDATE peer SET name = 'forged' WHERE key = {best}",
        event=f"{_KEY} name",
        answer=rf"/v1/peers\b.* peers\[{_KEY}\].name",
    ),
    "a badge of a key": Forgery(
        table="peer",
        orders="UPDATE peer SET badges = '[[\"judge\", 3]]' WHERE key = {best}",
        event=f"{_KEY} badges",
        answer=rf"/v1/peers\b.* peers\[{_KEY}\].badges",
    ),
    "the streak of a key": Forgery(
        table="peer",
        orders="UPDATE peer SET streak_days = 400 WHERE key = {best}",
        event=f"{_KEY} streak_days",
        answer=rf"/v1/peers\b.* peers\[{_KEY}\].streak_days",
    ),
    "the team of a key": Forgery(
        table="peer",
        orders="UPDATE peer SET team = 7 WHERE key = {best}",
        event=f"{_KEY} team",
        answer=rf"/v1/peers\b.* peers\[{_KEY}\].team",
    ),
    "points of a key": Forgery(
        table="peer",
        orders="UPDATE peer SET gflop = gflop + 500 WHERE key = {best}",
        event=f"{_KEY} gflop",
        answer=rf"/v1/peers\b.* peers\[{_KEY}\].gflop",
    ),
    "a key that is gone": Forgery(
        table="peer",
        orders="DELETE FROM peer WHERE key = (SELECT p.key FROM peer p JOIN standing s ON "
        "s.peer = p.key WHERE gflop > 0 AND standing = 'active' "
        "ORDER BY gflop LIMIT 1)",
        event=f"{_KEY} $",
        answer=rf"/v1/peers\b.* peers\[{_KEY}\](?!\.).*(expected|is) a row",
    ),
    "the end of a chain": Forgery(
        table="peer",
        orders="UPDATE peer SET last_seq = last_seq + 1 WHERE key = {best}",
        event=f"{_KEY} last_seq",
        answer=rf"/v1/peers\b.* peers\[{_KEY}\].last_seq",
    ),
    "points of a round": Forgery(
        table="credit",
        orders="UPDATE credit SET gflop = gflop + 500 WHERE round = 3",
        event=f"{_KEY} 3 {_KEY} '(trainer|witness)' {_KEY} gflop",
        answer=rf"/v1/peers/{_KEY}/rounds\b.* rounds\[{_KEY} 3\].gflop",
    ),
    "points of a round that never was": Forgery(
        table="credit",
        orders="INSERT INTO credit (run, round, peer, kind, author, gflop, team) SELECT run, 999, "
        "peer, 'trainer', author, 7, 7 FROM credit LIMIT 1",
        event=f"{_KEY} 999 {_KEY} 'trainer' {_KEY} $",
    ),
    "the team of a round's points": Forgery(
        table="credit",
        orders="UPDATE credit SET team = 7 WHERE round = 4",
        event=f"{_KEY} 4 {_KEY} '(trainer|witness)' {_KEY} team",
    ),
    "a halved measure": Forgery(
        table="measured",
        orders="UPDATE measured SET millibits = millibits / 2 WHERE {last_measured}",
        event=rf"{_KEY} \d+ {_KEY} millibits",
        answer=r"/measures\b.* heads\[\d+\].millibits",
    ),
    "a sample": Forgery(
        table="measured",
        orders="UPDATE measured SET written = 'Buy our model' WHERE {last_measured}",
        event=rf"{_KEY} \d+ {_KEY} written",
        answer=r"/measures\b.* heads\[\d+\].sample.text",
    ),
    "answers to a task": Forgery(
        table="measured",
        orders="UPDATE measured SET tasks = replace(tasks, '\"close\":3', '\"close\":4') "
        "WHERE {last_measured}",
        event=rf"{_KEY} \d+ {_KEY} tasks",
        answer=r"/measures\b.* heads\[\d+\].*tasks",
    ),
    "measures that are gone": Forgery(
        table="measured",
        orders="DELETE FROM measured WHERE round = (SELECT MIN(round) FROM measured)",
        event=rf"{_KEY} \d+ {_KEY} $",
        answer=r"/measures\b.* heads\[\d+\](?!\.).*(expected|is) a row",
    ),
    "a round missing from a key's list": Forgery(
        table="attended",
        orders="DELETE FROM attended WHERE peer = {best} AND closed_index = "
        "(SELECT closed_index FROM round WHERE round = 5)",
        event=rf"{_KEY} \d+ $",
        answer=rf"/v1/peers/{_KEY}/rounds\b.* rounds\[{_KEY} 5\](?!\.).*(expected|is) a row",
    ),
    "a round that a key did not attend": Forgery(
        table="attended",
        orders="INSERT INTO attended (peer, closed_index) SELECT x'{stranger}', closed_index "
        "FROM round WHERE round = 6 UNION SELECT p.key, r.closed_index FROM peer p, round r "
        "WHERE r.round = 6 AND NOT EXISTS (SELECT 1 FROM attended a WHERE a.peer = p.key AND "
        "a.closed_index = r.closed_index)",
        event=f"{_KEY} $",
        answer=rf"/v1/peers/{_KEY}/rounds\b.* rounds\[{_KEY} 6\](?!\.).*(expected|is) none",
    ),
    "a head of zeros": Forgery(
        table="round",
        orders="UPDATE round SET head = zeroblob(32) WHERE round = 3",
        event=f"{_KEY} 3 head",
        answer=r"/rounds\b.* rounds\[3\].head",
    ),
    "a wrong loss": Forgery(
        table="round",
        orders="UPDATE round SET loss_q16 = 1 WHERE round = 3",
        event=f"{_KEY} 3 loss_q16",
        answer=r"/rounds\b.* rounds\[3\].loss_q16",
    ),
    "another outcome": Forgery(
        table="round",
        orders="UPDATE round SET outcome = 'void' WHERE round = 3",
        event=f"{_KEY} 3 outcome",
        answer=r"/rounds\b.* rounds\[3\].outcome",
    ),
    "tokens of a round": Forgery(
        table="round",
        orders="UPDATE round SET tokens = 2 * tokens WHERE round = 3",
        event=f"{_KEY} 3 tokens",
    ),
    "the length of a round": Forgery(
        table="round",
        orders="UPDATE round SET opened_ms = opened_ms - 1000 WHERE round = 3",
        event=f"{_KEY} 3 opened_ms",
    ),
    "a round that never was": Forgery(
        table="round",
        orders="INSERT INTO round (run, round, roster_index, roster, outcome, accepted, tokens) "
        "SELECT run, 999, roster_index, roster, 'open', 0, 1000000 FROM round LIMIT 1",
        event=f"{_KEY} 999 $",
        answer=r"/rounds\b.* rounds\[999\](?!\.).*(expected|is) none",
    ),
    "when a run was opened": Forgery(
        table="run",
        orders="UPDATE run SET opened_index = opened_index + 1",
        event=f"{_KEY} opened_index",
    ),
    "a quarantine that is over": Forgery(
        table="standing",
        orders="UPDATE standing SET standing = 'active', appeal = NULL "
        "WHERE standing = 'quarantined'",
        event=f"{_KEY} standing",
        answer=rf"/v1/quarantine\b.* peers\[{_KEY}\](?!\.).*(expected|is) a row",
    ),
    "the owner of a key": Forgery(
        table="tier",
        orders="UPDATE tier SET owner = x'{stranger}' WHERE tier > 0",
        event=f"{_KEY} owner",
        answer=rf"/v1/peers\b.* peers\[{_KEY}\].tier.owner",
    ),
}


def lived_through(folder: Path) -> None:
    """Make a ledger with days of rounds, the last one in progress."""
    fill(make_settings(folder), time.time_ns() // 1_000_000 - AGO_MS)


def copied(history: Path, folder: Path, *forged: Forgery) -> Path:
    """Copy a ledger's folder, and change its tables."""
    shutil.copytree(history, folder)
    for one in forged:
        forge(folder, one)
    return folder


def forge(folder: Path, forged: Forgery) -> None:
    """Change the tables of a ledger, whether it is running or not."""
    (database,) = folder.glob("*.sqlite")
    places = {"best": _BEST, "last_measured": _LAST_MEASURED, "stranger": STRANGER.hex()}
    orders = forged.orders.format(**places)
    with closing(sqlite3.connect(database, timeout=30)) as rows, rows:
        assert rows.execute(orders).rowcount > 0, "nothing was forged"


def trusting(_: str) -> None:
    """Make a ledger program that believes its tables, as a dishonest operator would."""
    from tequio_ledger.log.table_check import TableCheck  # noqa: PLC0415 - in the program alone

    async def wait(*_: object) -> None:
        await asyncio.Event().wait()

    TableCheck.start = lambda *_: None  # type: ignore[method-assign]
    TableCheck.run = wait  # type: ignore[assignment,method-assign]


TRUSTING = ("tests.support.forged_tables:trusting", "")


def forging_notice(index: str) -> None:
    """Let a ledger claim that an entry, which is another statement, announces something."""

    def forged(state: State, as_of: AsOf) -> NetworkNoticeAnswer:
        told = NoticeAnswer("Send your keys to me.", state.coordinator_ms, int(index))
        return NetworkNoticeAnswer(announcement=told, as_of=as_of)

    answers.notice_answer = forged


def forging_releases(minimum: str) -> None:
    """Let a ledger answer with another minimum version than its log has."""
    honest = answers.releases_answer

    def forged(state: State, as_of: AsOf) -> ReleasesAnswer:
        answer = honest(state, as_of)
        rows = [msgspec.structs.replace(one, minimum=minimum) for one in answer.releases]
        return msgspec.structs.replace(answer, releases=rows)

    answers.releases_answer = forged
