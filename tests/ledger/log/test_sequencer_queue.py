"""The queue of statements: bounded, and free again once they are logged."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from tequio_ledger.log import sequencer
from tequio_ledger.log.sequencer import Logged
from tequio_shared.errors import RefusedError
from tests.support.authors import newcomers
from tests.support.ledgers import VirtualClock, make_settings, opened, running

if TYPE_CHECKING:
    from pathlib import Path

    from tequio_ledger.ledger import Ledger

MOST = 4


def test_more_statements_than_may_wait_are_refused_until_those_are_logged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sequencer, "QUEUE_ENTRIES", MOST)
    clock = VirtualClock()

    async def scenario(ledger: Ledger) -> None:
        first, second = (newcomers(name, ledger.state.net, MOST, clock()) for name in "ab")
        waiting = asyncio.create_task(ledger.sequencer.submit(first))
        await asyncio.sleep(0)
        assert ledger.sequencer.waiting == MOST
        with pytest.raises(RefusedError, match="4 statements are waiting") as refused:
            await ledger.sequencer.submit(second[:1])
        assert refused.value.code == "queue-full"
        async with running(ledger):
            for outcomes in (await waiting, await ledger.sequencer.submit(second)):
                assert all(isinstance(one, Logged) for one in outcomes)
            assert ledger.sequencer.waiting == 0

    with opened(make_settings(tmp_path), clock) as ledger:
        asyncio.run(scenario(ledger))
