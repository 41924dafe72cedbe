"""The competition's story on a terminal: a line for each thing that happens, with its time."""

from __future__ import annotations

import time
from functools import partial
from typing import TYPE_CHECKING

import click
import trio

from tequio_client.demo.contest import Contest, play
from tequio_client.demo.main import end_at_signal

if TYPE_CHECKING:
    from tequio_client.demo.contest_script import ContestScript


def perform(script: ContestScript, *, keep_running: bool) -> int:
    """Play the competition; gives the exit status. Raises UserFacingError."""
    began = time.monotonic()

    def told(text: str) -> None:
        minutes, seconds = divmod(int(time.monotonic() - began), 60)
        first, *more = text.splitlines() or [""]
        click.echo(f"{minutes:02}:{seconds:02}  {first}")
        for line in more:
            click.echo(f"       {line}")

    return trio.run(partial(_perform, Contest(script=script, told=told), keep_running))


async def _perform(contest: Contest, keep_running: bool) -> int:  # noqa: FBT001 - trio passes by place
    async with trio.open_nursery() as nursery:
        nursery.start_soon(end_at_signal, nursery.cancel_scope)
        await play(contest, keep_running=keep_running)
        nursery.cancel_scope.cancel()
    return contest.status
