"""`tequio status` and the other commands that talk to a worker that runs: real processes."""

from __future__ import annotations

import json
import subprocess
from functools import partial
from typing import TYPE_CHECKING

import pytest
import trio

from tequio_client import clock
from tequio_client.ipc.points import PointsRow
from tequio_client.ipc.preferences import Preferences
from tequio_client.ipc.snapshot import (
    CurrentRoundView,
    Decision,
    DesiredState,
    LedgerView,
    LendingReason,
    LendingState,
    PointsView,
    ReachabilityView,
    ReachState,
    TrafficView,
)
from tests.support.forked_program import CLIENT, run_forked
from tests.support.recording_worker import served

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

pytestmark = pytest.mark.trio
HOUR_MS = 3_600_000
ROW = PointsRow(
    number=1, run="r", run_name="nova", round=7, at_ms=1, state="verified", gflop=1_234_567
)


def tequio(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return run_forked(CLIENT, *words, "--dir", str(folder), timeout_s=50)


async def said(folder: Path, *words: str) -> str:
    done = await trio.to_thread.run_sync(partial(tequio, folder, *words))
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize(
    ("words", "wished"),
    [
        (("contribute",), DesiredState(number=42, lend=True)),
        (("contribute", "--now"), DesiredState(number=42, lend=True, anyway=True)),
        (("pause",), DesiredState(number=42, lend=False)),
        (("finish",), DesiredState(number=42, lend=True, finish=True)),
    ],
)
async def test_a_command_wishes_what_it_says(
    words: tuple[str, ...], wished: DesiredState, tmp_path: Path
) -> None:
    async with served(tmp_path) as host:
        host.wish = DesiredState(number=41)
        shown = json.loads(await said(tmp_path, *words, "--json"))
        assert host.wish == wished
        assert shown["wish"]["number"] == wished.number


async def test_to_contribute_is_to_agree_where_nobody_has_and_leaves_every_other_choice(
    tmp_path: Path,
) -> None:
    async with served(tmp_path) as host:
        host.preferences = Preferences(month_gb=7, judge=True)
        assert "Without the app: tequio contribute\n" in await said(tmp_path, "status")
        await said(tmp_path, "snooze", "1h")
        assert not host.preferences.consent
        first = await trio.to_thread.run_sync(tequio, tmp_path, "contribute", "--json")
        assert host.preferences == Preferences(month_gb=7, judge=True, consent=True)
        assert host.wish == DesiredState(number=2, lend=True)
        assert "You agree to lend" in first.stderr
        assert "tequio pause" in first.stderr
        again = await trio.to_thread.run_sync(tequio, tmp_path, "contribute")
        assert again.stderr == ""


@pytest.mark.parametrize(
    ("length", "until"),
    [
        ("15m", lambda now_ms: now_ms + HOUR_MS // 4),
        ("1h", lambda now_ms: now_ms + HOUR_MS),
        ("tomorrow", clock.tomorrow_ms),
    ],
)
async def test_a_snooze_lasts_as_long_as_it_says(
    length: str, until: Callable[[int], int], tmp_path: Path
) -> None:
    async with served(tmp_path) as host:
        before_ms = clock.now_ms()
        await said(tmp_path, "snooze", length)
        snooze = host.wish.snooze
        assert snooze is not None
        assert snooze.until_ms is not None
        assert until(before_ms) <= snooze.until_ms <= until(clock.now_ms())
        assert host.wish.lend


async def test_a_snooze_may_wait_for_a_game(tmp_path: Path) -> None:
    async with served(tmp_path) as host:
        await said(tmp_path, "snooze", "game", "--json")
        assert host.wish.snooze is not None
        assert host.wish.snooze.until_ms is None


@pytest.mark.parametrize(
    ("reason", "game"),
    [
        (LendingReason.GAME, "doom"),
        (LendingReason.FULLSCREEN, "doom"),
        (LendingReason.UNTIL_GAME_CLOSES, "doom"),
        (LendingReason.FILM, ""),
    ],
)
async def test_a_snooze_awaits_the_game_that_runs_by_its_name(
    reason: LendingReason, game: str, tmp_path: Path
) -> None:
    """Else one that is known by full screen alone would end while it is in the background."""
    async with served(tmp_path) as host:
        host.decision = Decision(
            state=LendingState.WAITING, reason=reason, values={"program": "doom"}
        )
        await said(tmp_path, "snooze", "game", "--json")
        assert host.wish.snooze is not None
        assert host.wish.snooze.game == game


async def test_a_worker_that_sees_no_games_is_not_snoozed_until_one_closes(tmp_path: Path) -> None:
    async with served(tmp_path) as host:
        host.has_session = False
        done = await trio.to_thread.run_sync(tequio, tmp_path, "snooze", "game")
        assert (done.returncode, done.stdout) == (1, "")
        assert "cannot see games: give a time" in done.stderr
        assert host.wish == DesiredState()
        await said(tmp_path, "snooze", "1h")
        assert host.wish.snooze is not None


@pytest.mark.parametrize("length", ["soon", "²h", "0h", "1000h"])
async def test_what_is_no_length_is_refused(tmp_path: Path, length: str) -> None:
    async with served(tmp_path) as host:
        done = await trio.to_thread.run_sync(tequio, tmp_path, "snooze", length)
        assert done.returncode == 2
        assert "15m, 1h (at most 999h), tomorrow or game" in done.stderr
        assert host.wish == DesiredState()


async def test_what_was_started_anyway_may_finish_its_round(tmp_path: Path) -> None:
    async with served(tmp_path) as host:
        host.wish = DesiredState(number=41, lend=True, anyway=True)
        await said(tmp_path, "finish")
        assert host.wish == DesiredState(number=42, lend=True, finish=True, anyway=True)


async def test_a_status_says_what_can_be_done_about_a_rule(tmp_path: Path) -> None:
    async with served(tmp_path) as host:
        host.decision = Decision(
            state=LendingState.WAITING,
            reason=LendingReason.OTHERS_CPU,
            values={"percent": 70, "below": 40},
        )
        told = await said(tmp_path, "status")
        assert told.splitlines()[:2] == [
            "Waiting: other programs are using 70% of your CPU. Resumes below 40%.",
            "Start now anyway: tequio contribute --now",
        ]
        host.decision = Decision(state=LendingState.WAITING, reason=LendingReason.NO_RUNTIME)
        told = await said(tmp_path, "status")
        assert "without the app: tequio runtime install\n" in told


async def test_a_status_has_a_forecast_and_warns_of_the_end_of_the_quota(tmp_path: Path) -> None:
    async with served(tmp_path) as host:
        host.decision = Decision(
            state=LendingState.LENDING, reason=LendingReason.LENDING, share_percent=100
        )
        host.points = PointsView(per_day=12_345_678)
        host.line = TrafficView(month_cap_bytes=100 * 10**9, cap_reached_ms=clock.now_ms())
        told = await said(tmp_path, "status")
        assert "About 1,234 points a day at the pace of the last rounds\n" in told
        assert "At the present rate, this month's 100 GB of traffic will be used up on " in told


async def test_a_status_has_what_organisers_tell_the_network_also_outside_a_run(
    tmp_path: Path,
) -> None:
    async with served(tmp_path) as host:
        host.ledger = LedgerView(announcement="The ledger moves on Sunday.")
        told = (await said(tmp_path, "status")).splitlines()
        assert "From the network's organisers: The ledger moves on Sunday." in told
        host.round = CurrentRoundView(
            run_name="nova",
            number=7,
            rounds=9,
            announcement="Next week: maths.",
            pause_reason="No.",
        )
        told = (await said(tmp_path, "status")).splitlines()
        at = told.index("From the network's organisers: The ledger moves on Sunday.")
        assert told[at + 1 : at + 4] == [
            "nova: round 7 of 9, no role",
            "Paused by its organisers: No.",
            "From its organisers: Next week: maths.",
        ]


async def test_a_status_says_whether_others_can_connect_and_what_to_do(tmp_path: Path) -> None:
    async with served(tmp_path) as host:
        host.reach = ReachabilityView(state=ReachState.UNREACHABLE, port=24_811)
        told = await said(tmp_path, "status")
        assert "Other computers cannot connect to this one, because your router is in" in told
        assert "forward TCP port 24811 to this computer there.\n" in told


async def test_points_are_printed_by_the_one_rule(tmp_path: Path) -> None:
    async with served(tmp_path) as host:
        host.points = PointsView(today=1_234_567, total=9_007_199_254_740_991, pending=2)
        host.rows = (ROW,)
        text = await said(tmp_path, "points")
        assert "900,719,925,474 points verified, 123 points of them today" in text
        assert "2 rounds pending" in text
        assert "round 7 of nova: verified 123 points" in text
        shown = json.loads(await said(tmp_path, "points", "--json"))
        assert shown["points"]["total"] == host.points.total
        assert shown["rounds"][0]["gflop"] == ROW.gflop


async def test_what_the_worker_does_is_a_sentence_or_json(tmp_path: Path) -> None:
    async with served(tmp_path) as host:
        assert "nothing is lent before you agree" in await said(tmp_path, "status")
        shown = json.loads(await said(tmp_path, "status", "--json"))
        assert shown["decision"]["reason"] == host.snapshot().decision.reason


async def test_diagnostics_are_text_or_json(tmp_path: Path) -> None:
    async with served(tmp_path):
        assert await said(tmp_path, "diagnostics") == "all is well\n"
        assert json.loads(await said(tmp_path, "diagnostics", "--json")) == {"text": "all is well"}


async def test_without_a_worker_it_says_how_to_get_one(tmp_path: Path) -> None:
    done = await trio.to_thread.run_sync(tequio, tmp_path, "status")
    assert (done.returncode, done.stdout) == (1, "")
    assert "start the app or `tequio worker`" in done.stderr
