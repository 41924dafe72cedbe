"""A ledger whose run went back: rows, answers, a replay, a snapshot, a restart, and the pages."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from tequio_ledger import news
from tequio_ledger.replay import replay
from tequio_ledger.store.derived import clear
from tequio_shared.ids import to_text
from tequio_shared.network.run_states import RunState
from tequio_shared.served import snapshot
from tests.ledger.test_replay import rows
from tests.support.ledgers import VirtualClock, make_settings, opened, running
from tests.support.page_reader import PageReader
from tests.support.sample_ledger import ANNOUNCED, PAUSED_BECAUSE, live_back

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tequio_ledger.ledger import Ledger

BACK = [(8, 12), (19, 22)]
"""Rounds of the heads that the run went back to, and the last rounds before."""


@pytest.fixture(scope="module")
def clock() -> VirtualClock:
    return VirtualClock()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, clock: VirtualClock) -> Path:
    """The folder of a ledger whose run went back twice and is paused."""
    made = tmp_path_factory.mktemp("back")

    async def live(ledger: Ledger) -> None:
        async with running(ledger):
            await live_back(ledger, clock)

    with opened(make_settings(made), clock) as ledger:
        asyncio.run(live(ledger))
    return made


@pytest.fixture
def ledger(folder: Path, clock: VirtualClock) -> Iterator[Ledger]:
    """The ledger, opened again: its state follows from its log alone."""
    with opened(make_settings(folder), clock) as again:
        yield again


def test_a_ledger_that_starts_again_is_where_it_was(ledger: Ledger) -> None:
    (view,) = ledger.state.runs.values()
    assert view.state is RunState.PAUSED
    assert [(one.head_round, one.last_round) for one in view.rollbacks] == BACK
    assert view.head == view.heads[19]
    assert view.next_head is None
    assert view.heads[13].parent == view.heads[8].hash
    assert 12 not in view.heads, "nobody had promoted it yet"
    run = view.manifest.run_id
    resume = ledger.state.resumes[run]
    assert (resume.after, resume.head, resume.close) == (
        view.rollbacks[-1].index,
        view.rollbacks[-1].index,
        None,
    )


def test_a_snapshot_of_it_is_the_same_after_it_was_read(ledger: Ledger) -> None:
    state, size = ledger.state, ledger.log.size
    raw = snapshot.encode(state, size)
    again, found = snapshot.decode(raw, ledger.genesis, ledger.blobs.read, arrival_ms=lambda _: 0)
    assert found == size
    assert snapshot.encode(again, size) == raw
    assert [view.rollbacks for view in again.runs.values()] == [
        view.rollbacks for view in state.runs.values()
    ]


def test_its_rows_are_the_same_after_a_drop_and_a_replay(folder: Path, clock: VirtualClock) -> None:
    with opened(make_settings(folder), clock) as ledger:
        before, size = rows(ledger), ledger.log.size
        with ledger.database.writer.begin() as connection:
            clear(connection)
    assert replay(make_settings(folder)) == size
    with opened(make_settings(folder), clock) as ledger:
        assert rows(ledger) == before


def test_the_page_of_the_run_shows_where_it_went_back(ledger: Ledger) -> None:
    (view,) = ledger.state.runs.values()
    run, pages = to_text(view.manifest.run_id), PageReader(ledger)
    page = pages.get(f"/runs/{run}")
    for head_round, last_round in BACK:
        assert f"after round {last_round} to the head of round {head_round}" in page.text
    drawn = pages.get(f"/runs/{run}").answer.text
    assert drawn.count('class="went-back"') >= 2 * len(BACK), "in every chart, wide and narrow"
    assert "after round 12 the run went back to the head of round 8" in drawn


def test_rounds_that_were_given_up_say_so_and_the_others_do_not(ledger: Ledger) -> None:
    (view,) = ledger.state.runs.values()
    run, pages = to_text(view.manifest.run_id), PageReader(ledger)
    listed = pages.get(f"/runs/{run}/rounds").answer.text
    assert listed.count("Given up") == sum(last - head for head, last in BACK)
    given_up = pages.get(f"/runs/{run}/rounds/12").text
    assert "the run went back to an earlier head before members stated this one" in given_up
    assert "nothing that lasts" not in pages.get(f"/runs/{run}/rounds/13").text


def test_the_page_shows_what_organisers_tell_as_plain_text(ledger: Ledger) -> None:
    (view,) = ledger.state.runs.values()
    page = PageReader(ledger).get(f"/runs/{to_text(view.manifest.run_id)}")
    assert ANNOUNCED in page.text
    assert PAUSED_BECAUSE in page.text
    assert not [link for link in page.links() if "data.example" in link], "nothing to click on"
    assert "<i>rises" not in page.answer.text


def test_what_organisers_tell_is_news_and_so_is_a_rollback(ledger: Ledger) -> None:
    (view,) = ledger.state.runs.values()
    run = view.manifest.run_id
    with ledger.database.reader.begin() as connection:
        items = news.recent(ledger.state, run).read(connection, ledger.state)
    found = {one.kind: one for one in items}
    assert found["run.announced"].text == ANNOUNCED
    assert found["run.rolled_back"].title == "nova-350m went back to the head of round 8"
    assert [one.kind for one in items].count("run.rolled_back") == len(BACK)
