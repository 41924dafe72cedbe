"""The ledger's clock as it is known from what was said with a date."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from types import SimpleNamespace
from typing import TYPE_CHECKING, cast

import pytest
import trio

from tequio_client import clock as our_clock
from tequio_client.ledger.api import LedgerApi
from tequio_client.worker.ledger.follower import DRIFT, LedgerClock
from tequio_client.worker.rounds.train import UPLOAD_MARGIN_MS, time_left_ms, training_ms
from tequio_shared.limits import CLOCK_SKEW_MS
from tests.support.memory_log import MemoryLog, Reply, serving

if TYPE_CHECKING:
    from trio.testing import MockClock

    from tequio_shared.round.round import RoundView

pytestmark = pytest.mark.trio

WALL_MS = 1_700_000_000_000
AHEAD_MS = 40_000
"""How far the ledger's clock is before ours."""


def clock() -> LedgerClock:
    return LedgerClock(lambda: WALL_MS)


def opened(ms: int, limit_ms: int = 30_000, usual_ms: int = 20_000) -> RoundView:
    """A round that opened then, by the ledger's clock."""
    body = SimpleNamespace(opened=ms, train_by=ms + limit_ms)
    roster = SimpleNamespace(train_ms=limit_ms)
    manifest = SimpleNamespace(rounds=SimpleNamespace(train=usual_ms))
    return cast("RoundView", SimpleNamespace(open=body, roster=roster, manifest=manifest))


async def test_before_the_first_date_our_own_clock_has_to_do() -> None:
    assert clock().now_ms() == WALL_MS


async def test_the_latest_date_counts_and_moves_on_with_time(autojump_clock: MockClock) -> None:
    ledger = clock()
    ledger.record_date(WALL_MS + AHEAD_MS)
    ledger.record_date(WALL_MS)  # an old entry of the log
    await trio.sleep(10)
    assert ledger.now_ms() == pytest.approx(WALL_MS + AHEAD_MS + 10_000, abs=1 + 10_000 * DRIFT)


async def test_a_clock_that_we_ran_ahead_of_is_believed_again(autojump_clock: MockClock) -> None:
    began_s = trio.current_time()
    ledger = LedgerClock(lambda: WALL_MS + int((trio.current_time() - began_s) * 1000))
    ledger.record_date(WALL_MS)
    await trio.sleep(3_600)
    ledger.record_date(WALL_MS + 3_600_000 - 300)  # our quartz is fast
    assert ledger.now_ms() == pytest.approx(WALL_MS + 3_600_000 - 300, abs=2)


async def test_a_date_beyond_all_belief_is_passed_over() -> None:
    ledger = clock()
    ledger.record_date(WALL_MS + CLOCK_SKEW_MS + 1)
    ledger.record_date(WALL_MS - CLOCK_SKEW_MS - 1)
    assert ledger.now_ms() == WALL_MS


async def test_who_comes_late_has_what_is_left_of_the_round() -> None:
    ledger = clock()
    ledger.record_date(WALL_MS + AHEAD_MS)
    late = opened(WALL_MS + AHEAD_MS - 20_000)
    assert time_left_ms(ledger, late) == pytest.approx(10_000 - UPLOAD_MARGIN_MS, abs=100)
    fresh = opened(WALL_MS + AHEAD_MS)
    assert time_left_ms(ledger, fresh) == pytest.approx(30_000 - UPLOAD_MARGIN_MS, abs=100)


async def test_who_begins_before_the_round_opens_has_the_whole_time() -> None:
    early = cast("RoundView", SimpleNamespace(open=None, roster=SimpleNamespace(train_ms=30_000)))
    assert time_left_ms(clock(), early) == 30_000 - UPLOAD_MARGIN_MS


async def test_nobody_gets_more_than_the_whole_time_and_everybody_a_step() -> None:
    ledger = clock()
    ledger.record_date(WALL_MS)
    assert time_left_ms(ledger, opened(WALL_MS + 99_000)) == 30_000 - UPLOAD_MARGIN_MS
    assert time_left_ms(ledger, opened(WALL_MS - 99_000)) == 1
    assert time_left_ms(ledger, opened(WALL_MS, 400)) == pytest.approx(300, abs=50)


async def test_every_answer_of_the_ledger_says_what_its_clock_shows() -> None:
    dated = {"date": "Tue, 14 Nov 2023 22:13:20 GMT"}

    def date(_method: str, path: str, reply: Reply) -> Reply:
        wrong = {"date": "yesterday"} if "checkpoint" in path else dated
        return Reply(status=reply.status, body=reply.body, headers={**reply.headers, **wrong})

    async with serving(MemoryLog.founded()) as server, LedgerApi(server.url) as api:
        server.tamper = date
        shown: list[int] = []
        api.http.on_date = shown.append
        await api.network()
        assert shown == [WALL_MS]
        await api.checkpoint()
        assert shown == [WALL_MS]


async def test_a_ledger_connection_knows_how_far_our_clock_is_ahead(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    dated = {"date": "Tue, 14 Nov 2023 22:13:20 GMT"}
    async with serving(MemoryLog.founded()) as server, LedgerApi(server.url) as api:
        server.tamper = lambda _method, _path, reply: replace(reply, headers=dated)
        for own_ms, known_ms in ((600_000, 600_000), (604_000, 600_000), (-9_000, -9_000)):
            monkeypatch.setattr(our_clock, "now_ms", partial(int, WALL_MS + own_ms))
            await api.checkpoint_note()
            assert api.http.clock_ahead_ms == known_ms


async def test_training_ends_when_the_usual_time_is_over_and_never_before_a_step() -> None:
    ledger = clock()
    ledger.record_date(WALL_MS)

    assert training_ms(ledger, opened(WALL_MS - 5_000)) == pytest.approx(15_000, abs=50)
    assert training_ms(ledger, opened(WALL_MS - 25_000)) == 1
    late = opened(WALL_MS - 25_000, usual_ms=60_000)
    assert training_ms(ledger, late) == time_left_ms(ledger, late)
