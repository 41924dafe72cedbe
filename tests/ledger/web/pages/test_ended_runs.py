"""A run that has ended: its page says what it reached, and its end is news."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from tequio_ledger import news
from tequio_shared.ids import to_text
from tequio_shared.network.run_states import RunState
from tequio_shared.statements.runs import RunFinish
from tests.ledger.log.test_coordinator import RULES, LedgerSwarm
from tests.support.ledgers import VirtualClock, make_settings, opened, running
from tests.support.page_reader import PageReader

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tequio_ledger.ledger import Ledger


async def play_to_the_end(ledger: Ledger, clock: VirtualClock) -> None:
    async with running(ledger):
        swarm = LedgerSwarm(ledger, clock)
        await swarm.open()
        sign = swarm.organiser.sign
        await swarm.post([sign(RunFinish(reason=1), swarm.clock(), run=RULES.run_id)])
        await swarm.play(*swarm.peers[:3])
        await swarm.post([peer.attest() for peer in swarm.peers[:3]])
        assert swarm.state() is RunState.FINISHED


@pytest.fixture
def ended(tmp_path: Path) -> Iterator[Ledger]:
    clock = VirtualClock()
    with opened(make_settings(tmp_path), clock) as ledger:
        asyncio.run(play_to_the_end(ledger, clock))
        yield ledger


def test_the_page_says_what_the_run_reached_and_how_to_get_its_head(ended: Ledger) -> None:
    page = PageReader(ended).get(f"/runs/{to_text(RULES.run_id)}")
    assert "What this run reached" in page.text
    assert "This run has ended after 1 closed round, of 100 planned" in page.text
    assert f"/runs/{to_text(RULES.run_id)}/rounds/1" in page.answer.text
    assert page.answer.text.count("tequio chat ") == 1
    assert "Join this run" not in page.text


def test_its_end_is_news_of_the_network_and_of_the_run(ended: Ledger) -> None:
    for only in (None, RULES.run_id):
        with ended.database.reader.begin() as connection:
            items = news.recent(ended.state, only).read(connection, ended.state)
        assert items[0].kind == "run.ended"
        assert items[0].title == f"{RULES.name} has ended after 1 closed round"
        assert items[0].path == f"/runs/{to_text(RULES.run_id)}"
