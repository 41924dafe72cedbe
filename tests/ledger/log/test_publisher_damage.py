"""Published data must be unchanged, or the ledger does not start; a database may be busy."""

from __future__ import annotations

import asyncio
import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

import pytest
from structlog.testing import CapturingLogger

from tequio_ledger.log import publisher as publishing
from tequio_ledger.log.publisher import Publisher
from tequio_ledger.log.sequencer import ChangeSignal
from tequio_shared.errors import UserFacingError
from tequio_shared.log.notes import VerifierKey
from tequio_shared.log.policy import Policy
from tests.support.ledgers import VirtualClock, make_settings, opened

if TYPE_CHECKING:
    from pathlib import Path

    from tequio_ledger.ledger import Ledger

PATIENCE_S = 60.0


def publisher(ledger: Ledger) -> Publisher:
    return Publisher(
        ledger=ledger,
        policy=Policy.parse(b"quorum none\n"),
        key=VerifierKey.parse(ledger.genesis.log_key),
        database=ledger.database,
        changed=ChangeSignal(),
        clock=VirtualClock(),
        pause_s=0.0,
    )


def test_a_changed_byte_in_what_was_published_is_told_at_the_start(tmp_path: Path) -> None:
    with opened(make_settings(tmp_path), VirtualClock()) as ledger:
        note = ledger.log.published.note
        assert publisher(ledger).published.size == 0
        for changed in (note, note.replace(b"\n1\n", b"\n2\n")):
            with closing(sqlite3.connect(tmp_path / "ledger.sqlite")) as database, database:
                database.execute("DELETE FROM log_cosigned")
                database.execute(
                    "INSERT INTO log_cosigned (size, note, at) VALUES (1, ?, 0)", (changed,)
                )
            loaded = publisher(ledger)
            if changed == note:
                loaded.load()
                assert loaded.published == ledger.log.published
            else:
                with pytest.raises(
                    UserFacingError, match="published checkpoint is not signed by this log"
                ):
                    loaded.load()


def test_a_checkpoint_is_published_once_the_database_has_a_connection_free(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    logged = CapturingLogger()
    monkeypatch.setattr(publishing, "log", logged)
    monkeypatch.setattr(publishing, "AGAIN_S", 0.0)

    async def until_published(one: Publisher, ledger: Ledger) -> None:
        async with asyncio.timeout(PATIENCE_S):
            with ledger.database.writer.connect():
                running = asyncio.create_task(one.run())
                while not logged.calls and not running.done():  # noqa: ASYNC110 - no event tells
                    await asyncio.sleep(0.01)
            while one.published.size == 0 and not running.done():  # noqa: ASYNC110 - as above
                await asyncio.sleep(0.01)
        running.cancel()

    with opened(make_settings(tmp_path), VirtualClock()) as ledger:
        monkeypatch.setattr(ledger.database.writer.pool, "_timeout", 0.01)
        one = publisher(ledger)
        asyncio.run(until_published(one, ledger))
        assert one.published == ledger.log.published
    assert "the database cannot be used for now" in str(logged.calls)
