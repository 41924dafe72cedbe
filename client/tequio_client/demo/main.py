"""The demo's composition: stage, terminal, and outcome."""

from __future__ import annotations

import signal
import sys
from typing import TYPE_CHECKING

import trio
from rich.console import Console
from rich.live import Live

from tequio_client.demo import play, show
from tequio_client.demo.play import Played, Stage
from tequio_client.demo.report import report
from tequio_shared.errors import UserFacingError

if TYPE_CHECKING:
    from tequio_client.demo.script import Script

REFRESH_S = 0.5


def perform(script: Script, *, keep_running: bool) -> dict[str, object]:
    """Play the demo; returns its outcome as plain values. Raises UserFacingError."""
    return trio.run(_perform, script, keep_running)


async def _perform(script: Script, keep_running: bool) -> dict[str, object]:  # noqa: FBT001 - trio.run takes positions
    console = Console(stderr=True)
    stage = Stage(script=script)
    outcome: list[dict[str, object]] = []

    def after(played: Played) -> None:
        if stage.run is None:
            raise AssertionError("the run was watched")
        outcome.append(report(played, stage.run))
        show.final(played, console)
        if played.audit_exit:
            console.print(played.audit_text)

    async with trio.open_nursery() as nursery:
        nursery.start_soon(_end_at_signal, nursery.cancel_scope)
        nursery.start_soon(_draw, stage, console)
        await play.play(stage, after, keep_running=keep_running)
        nursery.cancel_scope.cancel()
    if not outcome:
        raise UserFacingError("the demo ended before its run did")
    return outcome[0]


async def _end_at_signal(scope: trio.CancelScope) -> None:
    """End every program in order when we are asked to stop."""
    with trio.open_signal_receiver(signal.SIGINT, signal.SIGTERM) as signals:
        async for _ in signals:
            scope.cancel()


async def _draw(stage: Stage, console: Console) -> None:
    if not console.is_terminal:
        await _draw_lines(stage)
        return
    with Live(console=console, refresh_per_second=4, transient=True) as screen:
        while True:
            screen.update(show.live(stage, trio.current_time()))
            await trio.sleep(REFRESH_S)


async def _draw_lines(stage: Stage) -> None:
    """For pipes and CI: a line when the act or the round changes."""
    last = ("", -1)
    while True:
        now = (stage.act, min(stage.run.round, stage.script.rounds) if stage.run else -1)
        if now != last:
            last = now
            where = f" round {now[1]} of {stage.script.rounds}" if now[1] > 0 else ""
            print(f"demo: {now[0]}{where}", file=sys.stderr, flush=True)  # noqa: T201 - this is the screen
        await trio.sleep(REFRESH_S)
