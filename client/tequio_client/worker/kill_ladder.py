"""The kill ladder: end of input, SIGTERM, SIGKILL; the last two the same where no signals are."""

from __future__ import annotations

from contextlib import suppress

import trio

POLITE_S = 0.7
"""How long each step may take: what a child leaves half-done harms nobody."""


async def end(process: trio.Process) -> None:
    """Let the child be gone."""
    for stream in (process.stdin, process.stdout):
        if stream is not None:
            await stream.aclose()
    for press in (None, process.terminate, process.kill):
        if press is not None:
            with suppress(ProcessLookupError):
                press()
        with trio.move_on_after(POLITE_S):
            await process.wait()
            return


async def farewell(process: trio.Process) -> str:
    """Say how a child ended that closed its output; it may hang all the same."""
    with trio.move_on_after(POLITE_S):
        await process.wait()
    status = process.returncode
    return "it closed its output" if status is None else f"exit status {status}"
