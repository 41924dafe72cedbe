"""The log: what it commits, what it signs, and every change that stops it at a start."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from sqlalchemy import text
from sqlalchemy.exc import IntegrityError

from tequio_ledger.log.log import AdmittedEntry
from tequio_ledger.store import log_rows
from tequio_ledger.store.log_rows import StoredCheckpoint
from tequio_ledger.store.postgresql import NotLeaderError
from tequio_shared.errors import FatalLogError, UserFacingError
from tequio_shared.ids import ZERO_DIGEST, to_text
from tequio_shared.log import merkle
from tequio_shared.log.notes import VerifierKey, open_checkpoint
from tests.support.authors import Author, newcomers
from tests.support.ledgers import VirtualClock, make_settings, opened

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from sqlalchemy import Connection

    from tequio_ledger.ledger import Ledger

pytestmark = pytest.mark.usefixtures("either_database")
CLOCK = VirtualClock()


def grow(ledger: Ledger, author: Author, count: int) -> list[bytes]:
    """Append one batch of valid entries; give its leaves."""
    name = f"{to_text(author.key)} {ledger.log.size}"
    entries = newcomers(name, ledger.state.net, count, CLOCK())
    batch = [AdmittedEntry.of(entry, ledger.state.net, CLOCK()) for entry in entries]
    ledger.log.append(batch, _nothing)
    return [admitted.leaf for admitted in batch]


def _nothing(connection: Connection) -> None:
    """Derive no rows."""


def leaves_of(ledger: Ledger) -> list[bytes]:
    with ledger.database.reader.begin() as connection:
        return log_rows.read_leaves(connection, 0, ledger.log.size)


@pytest.mark.parametrize("batches", [[1], [1, 1, 1], [254, 1, 1], [255], [256], [300, 400]])
def test_every_batch_ends_in_the_root_of_all_leaves(tmp_path: Path, batches: Sequence[int]) -> None:
    with opened(make_settings(tmp_path), CLOCK) as ledger:
        author, leaves = Author("a", ledger.state.net), leaves_of(ledger)
        for count in batches:
            leaves += grow(ledger, author, count)
            assert ledger.log.published.root == merkle.root(leaves)
            assert ledger.log.published.size == len(leaves)
        assert leaves_of(ledger) == leaves


def test_a_checkpoint_is_signed_by_the_key_in_the_genesis(tmp_path: Path) -> None:
    with opened(make_settings(tmp_path), CLOCK) as ledger:
        grow(ledger, Author("a", ledger.state.net), 3)
        vkey = VerifierKey.parse(ledger.genesis.log_key)
        checkpoint = open_checkpoint(ledger.log.published.note, vkey).checkpoint
        assert (checkpoint.size, checkpoint.origin) == (4, ledger.genesis.origin)


def test_a_restart_goes_on_where_the_log_ended(tmp_path: Path) -> None:
    with opened(make_settings(tmp_path), CLOCK) as ledger:
        author = Author("a", ledger.state.net)
        grow(ledger, author, 300)
        before = ledger.log.published
    with opened(make_settings(tmp_path), CLOCK) as ledger:
        assert ledger.log.published == before
        grow(ledger, author, 300)
        assert ledger.log.published.root == merkle.root(leaves_of(ledger))


def test_each_start_takes_a_new_term(tmp_path: Path) -> None:
    terms = []
    for _ in range(2):
        with (
            opened(make_settings(tmp_path), CLOCK) as ledger,
            ledger.database.reader.begin() as connection,
        ):
            head = log_rows.read_head(connection)
            assert head is not None
            terms.append(head.term)
    assert terms[1] == terms[0] + 1


def test_a_second_root_for_one_size_cannot_be_stored(tmp_path: Path) -> None:
    with opened(make_settings(tmp_path), CLOCK) as ledger:
        fork = StoredCheckpoint(size=1, root=ZERO_DIGEST, note=b"", at_ms=0)
        with pytest.raises(IntegrityError), ledger.database.writer.begin() as connection:
            log_rows.insert_checkpoint(connection, fork)


MOVES = ["UPDATE log_head SET size = size + 1", "UPDATE log_head SET term = term + 1"]


@pytest.mark.parametrize("change", MOVES)
def test_a_head_that_somebody_else_moved_is_fatal(tmp_path: Path, change: str) -> None:
    with opened(make_settings(tmp_path), CLOCK) as ledger:
        sql(ledger, change)
        with pytest.raises((FatalLogError, NotLeaderError), match="another process"):
            grow(ledger, Author("a", ledger.state.net), 1)


def test_a_batch_that_fails_leaves_nothing_behind(tmp_path: Path) -> None:
    def fail(connection: Connection) -> None:
        connection.execute(text("INSERT INTO no_such_table VALUES (1)"))

    with opened(make_settings(tmp_path), CLOCK) as ledger:
        author = Author("a", ledger.state.net)
        batch = [AdmittedEntry.of(author.register(CLOCK()), ledger.state.net, CLOCK())]
        with pytest.raises(FatalLogError):
            ledger.log.append(batch, fail)
    with opened(make_settings(tmp_path), CLOCK) as ledger:
        assert ledger.log.size == 1


def test_what_was_committed_but_not_signed_is_signed_at_the_next_start(tmp_path: Path) -> None:
    with opened(make_settings(tmp_path), CLOCK) as ledger:
        grow(ledger, Author("a", ledger.state.net), 5)
        before = ledger.log.published
        sql(ledger, "DELETE FROM log_checkpoint WHERE size = 6")
    with opened(make_settings(tmp_path), CLOCK) as ledger:
        assert ledger.log.published == before


FLIPS = {
    "a full tile": ("log_tile", "data", "level = 0 AND n = 0", 4000),
    "an unfinished tile": ("log_tile", "data", "level = 0 AND n = 1", 5),
    "a tile of the upper level": ("log_tile", "data", "level = 1", 31),
    "the statement of an entry": ("log_entry", "leaf", "idx = 7", 250),
    "the signature of an entry": ("log_entry", "leaf", "idx = 7", 60),
    "the last entry": ("log_entry", "leaf", "idx = 300", 98),
    "the genesis": ("log_entry", "leaf", "idx = 0", 300),
    "an entry's id": ("log_entry", "id", "idx = 9", 0),
    "an entry's author": ("log_entry", "author", "idx = 9", 0),
    "the head's root": ("log_head", "root", "log_id = 1", 3),
    "a checkpoint's root": ("log_checkpoint", "root", "size = 301", 3),
    "a checkpoint's note": ("log_checkpoint", "note", "size = 301", 30),
    "a checkpoint's signature": ("log_checkpoint", "note", "size = 301", 150),
}


@pytest.mark.parametrize("what", FLIPS)
def test_one_flipped_bit_is_found_before_anything_is_signed(tmp_path: Path, what: str) -> None:
    with opened(make_settings(tmp_path), CLOCK) as ledger:
        grow(ledger, Author("a", ledger.state.net), 300)
        flip_bit(ledger, *FLIPS[what])
    with pytest.raises(UserFacingError, match="damaged"), opened(make_settings(tmp_path), CLOCK):
        pass


TEARS = {
    "an entry is gone": "DELETE FROM log_entry WHERE idx = 100",
    "the last entry is gone": "DELETE FROM log_entry WHERE idx = 300",
    "an entry too many": (
        "INSERT INTO log_entry (idx, id, leaf, type, author, run, round, at) "
        "SELECT 301, x'00', leaf, type, author, run, round, at FROM log_entry WHERE idx = 300"
    ),
    "a tile is gone": "DELETE FROM log_tile WHERE level = 0 AND n = 0",
    "a tile too many": "INSERT INTO log_tile (level, n, data) VALUES (0, 2, x'00')",
    "a tile is too long": "UPDATE log_tile SET data = CAST(data || x'00' AS BLOB) WHERE n = 1",
    "the head is behind": "UPDATE log_head SET size = 299",
    "a checkpoint is ahead": "UPDATE log_checkpoint SET size = 400 WHERE size = 301",
    "an entry is filed elsewhere": "UPDATE log_entry SET type = 'run.open' WHERE idx = 5",
}


@pytest.mark.parametrize("what", TEARS)
def test_a_torn_log_is_refused_at_the_start(tmp_path: Path, what: str) -> None:
    with opened(make_settings(tmp_path), CLOCK) as ledger:
        grow(ledger, Author("a", ledger.state.net), 300)
        sql(ledger, TEARS[what])
    with pytest.raises(UserFacingError, match="damaged"), opened(make_settings(tmp_path), CLOCK):
        pass


def test_entries_put_back_to_an_older_state_are_behind_the_checkpoint(tmp_path: Path) -> None:
    tables = ("log_head", "log_tile", "log_entry")
    with opened(make_settings(tmp_path), CLOCK) as ledger:
        author = Author("a", ledger.state.net)
        grow(ledger, author, 3)
        for table in tables:
            sql(ledger, f"CREATE TABLE kept_{table} AS SELECT * FROM {table}")  # noqa: S608
        grow(ledger, author, 2)
        for table in tables:
            sql(ledger, f"DELETE FROM {table}")  # noqa: S608
            sql(ledger, f"INSERT INTO {table} SELECT * FROM kept_{table}")  # noqa: S608
    ahead = "damaged: checkpoint 6 is ahead of the log's 4 entries"
    with pytest.raises(UserFacingError, match=ahead), opened(make_settings(tmp_path), CLOCK):
        pass


def sql(ledger: Ledger, statement: str) -> None:
    with ledger.database.writer.begin() as connection:
        if connection.dialect.name == "postgresql":
            statement = statement.replace("CAST(data || x'00' AS BLOB)", "data || x'00'")
            statement = statement.replace("x'00'", r"'\x00'::bytea")
        connection.execute(text(statement))


def flip_bit(ledger: Ledger, table: str, column: str, where: str, at: int) -> None:
    with ledger.database.writer.begin() as connection:
        found = connection.execute(text(f"SELECT {column} FROM {table} WHERE {where}"))  # noqa: S608
        value = bytearray(found.scalar_one())
        value[at] ^= 1
        change = text(f"UPDATE {table} SET {column} = :value WHERE {where}")  # noqa: S608
        connection.execute(change, {"value": bytes(value)})
