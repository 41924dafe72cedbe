"""A folder whose ledger has lived: rounds closed and void, points, a quarantine with an appeal."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING

from tests.ledger.test_replay import CLOCK, live_through
from tests.support.ledgers import make_settings, opened

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tequio_ledger.service import Ledger

DAY_MS = 86_400_000


def live_yesterday(folder: Path, then: Callable[[Ledger], None] = lambda _: None) -> bytes:
    """Live through it in a new folder, do one thing more, and give the last checkpoint.

    All of it is past for a real program, whose clock need not catch up.
    """
    before_ms = CLOCK.at_ms
    CLOCK.at_ms = time.time_ns() // 1_000_000 - DAY_MS
    try:
        with opened(make_settings(folder), CLOCK) as ledger:
            asyncio.run(live_through(ledger))
            then(ledger)
            return ledger.log.published.note
    finally:
        CLOCK.at_ms = before_ms
