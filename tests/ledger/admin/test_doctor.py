"""The doctor finds every damage, says what to do, and changes nothing."""

from __future__ import annotations

import asyncio
import json
import shutil
import socket
import sqlite3
from base64 import b64encode
from contextlib import closing
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner
from sqlalchemy import text

from tequio_ledger import genesis
from tequio_ledger.__main__ import cli
from tequio_ledger.admin import doctor
from tequio_ledger.admin.doctor import Grade, worst
from tequio_ledger.data_folder import DataFolder
from tequio_ledger.log.guard import Cause, Mark, write_mark
from tequio_ledger.store.blobs import BlobFolder
from tequio_ledger.store.files import UnwritableError
from tests.ledger.test_replay import CLOCK, held_rows, live_through
from tests.support.ledgers import make_settings, opened

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tequio_ledger.admin.doctor import Finding
    from tequio_ledger.ledger import Ledger


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Make a ledger that has seen three rounds."""
    with opened(make_settings(tmp_path / "ledger"), CLOCK) as ledger:
        asyncio.run(live_through(ledger))
    return tmp_path / "ledger"


def examined(folder: Path, port: str = "0", origin: str = "ledger.example/test") -> list[Finding]:
    settings = make_settings(folder, port=port, origin=origin)
    found = doctor.examine(settings, DataFolder(folder), CLOCK)
    assert all(one.to_do for one in found if one.grade is not Grade.OK)
    return found


def faults(found: list[Finding]) -> list[tuple[str, Grade]]:
    return [(one.check, one.grade) for one in found if one.grade is not Grade.OK]


def sql(change: str) -> Callable[[Ledger], None]:
    def make(ledger: Ledger) -> None:
        with ledger.database.writer.begin() as connection:
            connection.execute(text(change))

    return make


def lose_document(ledger: Ledger) -> None:
    with ledger.database.reader.begin() as connection:
        digest = connection.execute(text("SELECT roster FROM round LIMIT 1")).scalar_one()
    ledger.blobs.path(digest).unlink()


def spoil_blob(ledger: Ledger) -> None:
    ledger.blobs.path(ledger.blobs.put(b"something")).write_bytes(b"something else")


def lose_row(ledger: Ledger) -> None:
    digest = ledger.blobs.put(b"something")
    with ledger.database.writer.begin() as connection:
        connection.execute(text("DELETE FROM blob WHERE sha256 = :name"), {"name": digest})


DAMAGES: dict[str, tuple[Callable[[Ledger], None], str, Grade]] = {
    "an entry": (sql("UPDATE log_entry SET id = x'00' WHERE idx = 3"), "log", Grade.ERROR),
    "a tile": (sql("UPDATE log_tile SET data = zeroblob(32)"), "checkpoints", Grade.ERROR),
    "an old checkpoint": (
        sql("UPDATE log_checkpoint SET root = zeroblob(32) WHERE size = 1"), "log", Grade.ERROR,
    ),
    "a credit": (sql("UPDATE credit SET gflop = gflop + 1"), "tables", Grade.ERROR),
    "an unsigned head": (
        sql("DELETE FROM log_checkpoint WHERE size = (SELECT max(size) FROM log_checkpoint)"),
        "checkpoints", Grade.WARNING,
    ),
    "a document": (lose_document, "documents", Grade.ERROR),
    "a blob": (spoil_blob, "blobs", Grade.WARNING),
    "a blob's row": (lose_row, "blobs", Grade.WARNING),
}  # fmt: skip


@pytest.mark.parametrize("what", DAMAGES)
def test_it_finds(folder: Path, what: str) -> None:
    damage, check, grade = DAMAGES[what]
    with opened(make_settings(folder), CLOCK) as ledger:
        damage(ledger)
    assert (check, grade) in faults(examined(folder))


def test_it_finds_nothing_wrong_with_a_ledger_that_is_well(folder: Path) -> None:
    database = (folder / "ledger.sqlite").read_bytes()
    assert faults(examined(folder)) == []
    assert (folder / "ledger.sqlite").read_bytes() == database


def test_it_compares_tables_that_do_not_fit_into_memory(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    held = held_rows(monkeypatch)
    monkeypatch.setattr(doctor, "COMPARED", 2)
    assert faults(examined(folder)) == []
    with opened(make_settings(folder), CLOCK) as ledger:
        sql("DELETE FROM attended WHERE closed_index = (SELECT max(closed_index) FROM round)")(
            ledger
        )
    (fault,) = [one for one in examined(folder) if one.grade is not Grade.OK]
    assert fault.found == "the table attended does not follow from the log"
    assert 0 < max(held) < 9, "rows of the whole log were held in memory"


def test_a_full_disk_beside_the_ledger_is_not_blamed_on_its_database(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def connect(place: str) -> sqlite3.Connection:
        made = sqlite3.Connection(place)
        made.execute("PRAGMA max_page_count = 30")
        return made

    monkeypatch.setattr(sqlite3, "connect", connect)
    (fault,) = [one for one in examined(folder) if one.grade is not Grade.OK]
    assert "(database or disk is full): free some space, or name another folder" in fault.found


def test_a_replica_whose_blobs_are_in_the_bucket_alone_is_well(tmp_path: Path) -> None:
    given = make_settings(tmp_path / "ledger", blobs=(tmp_path / "bucket").as_uri())
    with opened(given, CLOCK) as ledger:
        asyncio.run(live_through(ledger))
    shutil.rmtree(tmp_path / "ledger" / "blobs")
    assert faults(doctor.examine(given, DataFolder(given.folder), CLOCK)) == []
    shutil.rmtree(tmp_path / "ledger" / "blobs")
    shutil.rmtree(tmp_path / "bucket" / "sha256")
    found = faults(doctor.examine(given, DataFolder(given.folder), CLOCK))
    assert ("documents", Grade.ERROR) in found


def test_a_bucket_that_cannot_be_reached_is_not_a_damaged_log(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise UnwritableError("the blobs at s3://bucket cannot be reached")

    monkeypatch.setattr(BlobFolder, "open", fail)
    (fault,) = [one for one in examined(folder) if one.grade is not Grade.OK]
    assert (fault.check, fault.found) == ("blobs", "the blobs at s3://bucket cannot be reached")


def test_it_looks_at_a_ledger_that_serves(folder: Path) -> None:
    with opened(make_settings(folder), CLOCK):
        assert faults(found := examined(folder)) == []
    assert any(one.found == "the ledger is running" for one in found)


def test_it_finds_what_is_wrong_around_the_database(folder: Path) -> None:
    (folder / "log.key").chmod(0o644)
    write_mark(DataFolder(folder).mark, Mark(cause=Cause.LOST, size=1, shown_size=2))
    CLOCK.pass_ms(-60_000)
    try:
        with socket.create_server(("127.0.0.1", 0)) as busy:
            found = examined(folder, port=str(busy.getsockname()[1]), origin="ledger.example/other")
    finally:
        CLOCK.pass_ms(60_000)
    assert {check for check, _ in faults(found)} == {
        *("folder", "keys", "signing", "settings", "port", "clock")
    }
    assert worst(found) is Grade.ERROR


def test_a_network_that_was_founded_wrong_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as former:  # a program that founded whatever it was told to
        former.setattr(genesis, "_check", lambda _: None)
        given = make_settings(tmp_path, (), origin="localhost/tequio", host="0.0.0.0")  # noqa: S104 - the thing found
        with opened(given, CLOCK):
            pass
    found = doctor.examine(given, DataFolder(tmp_path), CLOCK)
    assert faults(found) == [("network", Grade.WARNING)] * 2
    assert any("without organisers" in one.found for one in found)
    alone = make_settings(tmp_path, (), origin="localhost/tequio", host="127.0.0.1")
    assert len(faults(doctor.examine(alone, DataFolder(tmp_path), CLOCK))) == 1


def test_a_clock_behind_the_log_and_a_missing_key_are_told(folder: Path) -> None:
    CLOCK.pass_ms(-3_600_000)
    try:
        assert ("clock", Grade.ERROR) in faults(examined(folder))
    finally:
        CLOCK.pass_ms(3_600_000)
    (folder / "coordinator.key").unlink()
    assert ("folder", Grade.ERROR) in faults(examined(folder))
    assert not (folder / "coordinator.key").exists(), "it makes no key"


def test_a_public_key_may_be_read_by_anybody(folder: Path) -> None:
    key = DataFolder(folder).signer("log").key
    (folder / "log.key").unlink()
    public = folder / "log.pub"
    public.write_text(f"{b64encode(key).decode()}\n", "ascii")
    public.chmod(0o644)
    assert faults(examined(folder)) == []


def test_tables_of_another_version_are_not_called_damaged(folder: Path) -> None:
    with closing(sqlite3.connect(DataFolder(folder).database)) as database, database:
        database.execute("ALTER TABLE standing RENAME COLUMN is_restricted TO was_restricted")
        database.execute("UPDATE alembic_version SET version_num = '0010'")
    (found,) = (one for one in examined(folder) if one.check == "database" and one.to_do)
    assert "made by another version of tequio-ledger" in found.found
    assert "or use that version" in found.to_do


def test_a_file_that_is_no_database_is_told(folder: Path) -> None:
    (folder / "ledger.sqlite").write_bytes(b"certainly not a database" * 100)
    assert ("database", Grade.ERROR) in faults(examined(folder))


def test_settings_that_cannot_be_used_are_a_finding(tmp_path: Path) -> None:
    words = ["doctor", "--dir", str(tmp_path), "--settings", str(tmp_path / "none.toml"), "--json"]
    done = CliRunner().invoke(cli, words)
    (found,) = json.loads(done.stdout)
    assert (done.exit_code, found["check"], found["grade"]) == (2, "settings", 2)
    assert "none.toml cannot be read" in found["found"]


def test_exit_status_and_json_are_for_machines(folder: Path) -> None:
    options = ["doctor", "--dir", str(folder), "--network", "test", "--port", "0", "--json"]
    done = CliRunner().invoke(cli, [*options, "--origin", "ledger.example/other"])
    found = json.loads(done.stdout)
    assert {one["check"] for one in found if one["grade"]} >= {"settings"}
    assert done.exit_code == max(one["grade"] for one in found)
    nothing = CliRunner().invoke(cli, ["doctor", "--dir", str(folder / "empty")])
    assert (nothing.exit_code, nothing.stdout[:5]) == (2, "error")
