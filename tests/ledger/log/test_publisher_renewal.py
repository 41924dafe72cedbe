"""A log that stands still is cosigned again, so that its readers know that it is the newest."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING

import pytest

from tequio_ledger.log import publisher
from tequio_ledger.store import log_rows
from tequio_shared.keys import Signer
from tequio_shared.log.notes import (
    Checkpoint,
    add_lines,
    cosignature_line,
    note_text,
    open_checkpoint,
)
from tests.ledger.log.test_publisher_damage import publisher as make_publisher
from tests.support.cosigned_ledger import PATIENCE_S, WitnessGroup
from tests.support.ledgers import VirtualClock, make_settings, opened, running

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tequio_ledger.ledger import Ledger


async def until(is_so: Callable[[], bool]) -> None:
    async with asyncio.timeout(PATIENCE_S):
        while not is_so():  # noqa: ASYNC110 - no event tells of all this
            await asyncio.sleep(0.02)


def publishing(ledger: Ledger) -> publisher.Publisher:
    assert ledger.publisher is not None
    return ledger.publisher


def cosigned_at_s(ledger: Ledger, ring: WitnessGroup) -> int:
    """Time of the first witness's cosignature, by its own clock."""
    signed = open_checkpoint(ledger.published.note, ring.log_key, [ring.witnesses[0].key])
    return signed.cosignatures[0].time_s or 0


def test_a_log_without_news_is_cosigned_again_and_unhealthy_without_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(publisher, "RENEWAL_S", 1.0)
    with WitnessGroup(tmp_path, 1) as ring:
        policy = ring.policy("all")

        async def main(ledger: Ledger) -> None:
            async with running(ledger):
                await until(lambda: ledger.published.size == 1)
                before_s = cosigned_at_s(ledger, ring)
                await until(lambda: cosigned_at_s(ledger, ring) >= before_s + 3)
                assert ledger.published.size == 1
                assert ledger.health().status == "ok"
                ring.witnesses[0].kill()
                monkeypatch.setattr(publisher, "UNRENEWED_S", 1.5)
                await until(lambda: ledger.health().status == "no-quorum")
                told = publishing(ledger).reason or ""
                assert "the log has lacked new cosignatures of the quorum 'g' of witnesses" in told
                assert "w0: " in told
                ring.start(0)
                await until(lambda: ledger.health().status == "ok")

        now = VirtualClock(time.time_ns() // 1_000_000)  # the witness's clock is the real one
        with opened(make_settings(ring.ledger, trust=str(policy)), now) as ledger:
            asyncio.run(main(ledger))


def test_a_machine_that_slept_for_long_has_its_log_cosigned_again(tmp_path: Path) -> None:
    """The process's own clock stood still meanwhile."""

    async def main(ledger: Ledger, ring: WitnessGroup, clock: VirtualClock) -> None:
        async with running(ledger):
            await until(lambda: ledger.published.size == 1)
            before_s = cosigned_at_s(ledger, ring)
            clock.pass_ms(int(publisher.RENEWAL_S * 1_000))
            await until(lambda: cosigned_at_s(ledger, ring) > before_s)

    with WitnessGroup(tmp_path, 1) as ring:
        clock = VirtualClock(time.time_ns() // 1_000_000)
        settings = make_settings(ring.ledger, trust=str(ring.policy("all")))
        with opened(settings, clock) as ledger:
            asyncio.run(main(ledger, ring, clock))


def test_other_processes_of_the_ledger_show_renewed_cosignatures(tmp_path: Path) -> None:
    witness = Signer(bytes([7]) * 32)
    with opened(make_settings(tmp_path), VirtualClock()) as ledger:
        note = ledger.log.published.note
        checkpoint = Checkpoint.parse(note_text(note))
        other = make_publisher(ledger)
        for time_s in (1_000, 2_000):
            renewed = add_lines(note, [cosignature_line(checkpoint, "w", witness, time_s)])
            with ledger.database.writer.begin() as connection:
                log_rows.write_cosigned(connection, 1, renewed, time_s * 1_000)
            other.load()
            assert other.published.note == renewed
