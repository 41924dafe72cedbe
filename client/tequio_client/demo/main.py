"""The demo's composition: stage, terminal, and outcome."""

from __future__ import annotations

import signal
import sys
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import trio
from rich.console import Console
from rich.live import Live

from tequio_client.demo import play, show
from tequio_client.demo.play import Played, Stage
from tequio_client.demo.report import report
from tequio_shared.errors import UserFacingError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from tequio_client.demo.script import Script

REFRESH_S = 0.5


def perform(script: Script) -> dict[str, object]:
    """Play the demo; returns its outcome as plain values. Raises UserFacingError."""
    return trio.run(_perform, script)


def keep_running(script: Script) -> None:
    """Let the network train on until a signal says stop. Raises UserFacingError."""
    trio.run(_keep_running, script)


async def _perform(script: Script) -> dict[str, object]:
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

    async with _shown(stage, console):
        await play.play(stage, after)
    if not outcome:
        raise UserFacingError("the demo ended before its run did")
    return outcome[0]


async def _keep_running(script: Script) -> None:
    stage = Stage(script=script)
    async with _shown(stage, Console(stderr=True)):
        await play.keep_running(stage)


@asynccontextmanager
async def _shown(stage: Stage, console: Console) -> AsyncIterator[None]:
    """Draw the stage while it plays; a signal ends it."""
    async with trio.open_nursery() as nursery:
        nursery.start_soon(end_at_signal, nursery.cancel_scope)
        nursery.start_soon(_draw, stage, console)
        yield
        nursery.cancel_scope.cancel()


async def end_at_signal(scope: trio.CancelScope) -> None:
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
            at = f" at {stage.url}" if stage.url else ""
            print(f"demo: {now[0]}{at}{where}", file=sys.stderr, flush=True)  # noqa: T201 - this is the screen
        await trio.sleep(REFRESH_S)
