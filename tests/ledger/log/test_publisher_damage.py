"""Published data must be unchanged, or the ledger does not start."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from tequio_ledger.log.publisher import Publisher
from tequio_ledger.log.sequencer import ChangeSignal
from tequio_shared.errors import UserFacingError
from tequio_shared.log.notes import VerifierKey
from tequio_shared.log.policy import Policy
from tests.support.ledgers import VirtualClock, make_settings, opened

if TYPE_CHECKING:
    from pathlib import Path

    from tequio_ledger.ledger import Ledger


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
                database.execute("INSERT INTO log_cosigned VALUES (1, ?, 0)", (changed,))
            loaded = publisher(ledger)
            if changed == note:
                loaded.load()
                assert loaded.published == ledger.log.published
            else:
                with pytest.raises(
                    UserFacingError, match="published checkpoint is not signed by this log"
                ):
                    loaded.load()
