"""The probe child as the worker sees it: the newest facts of the machine, and how old they are.

Drivers crash and hang; whatever asks them is a process of its own. One that ends or talks nonsense
is started anew with back-off, for ever: meanwhile nothing is known, and nothing is lent on a guess.
"""

from __future__ import annotations

import subprocess
import sys
from contextlib import suppress
from typing import TYPE_CHECKING, NoReturn

import structlog
import trio

from tequio_client.ipc import facts as link
from tequio_client.worker.children.process import environment
from tequio_client.worker.ledger.outbox import BackOff
from tequio_shared.errors import MalformedError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from random import Random

log = structlog.get_logger(__name__)

PROBE = (sys.executable, "-m", "tequio_client.probe")
LONGEST_BACK_OFF_S = 60.0
END_S = 1.0
STEADY_S = 30.0
"""A probe that lived for so long has not failed at its start."""
_READ_BYTES = 1 << 16


class ProbeProcess:
    """Owner of the probe child."""

    def __init__(self, rng: Random, command: Sequence[str] = PROBE) -> None:
        self._command = list(command)
        self._back_off = BackOff(rng, LONGEST_BACK_OFF_S)
        self._watch = link.Watch()  # what the probe should know
        self._news = trio.Event()  # replaced by `_speak`
        self.facts: link.MachineFacts | None = None
        self.at_s = 0.0  # when they came, in trio's time

    def watch(self, watch: link.Watch) -> None:
        """Have the probe know this from now on."""
        if watch != self._watch:
            self._watch = watch
            self._news.set()

    async def run(self) -> NoReturn:
        """Keep a probe running until cancelled."""
        while True:
            begun_s = trio.current_time()
            why = await self._live_once()
            self.facts = None
            if trio.current_time() - begun_s > STEADY_S:
                self._back_off.reset()
            pause_s = self._back_off.next_s()
            log.warning("probe ended; starting it again", why=why, after_s=round(pause_s, 1))
            await trio.sleep(pause_s)

    async def _live_once(self) -> str:
        process = await trio.lowlevel.open_process(
            self._command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=environment(),
            start_new_session=True,
        )
        try:
            async with trio.open_nursery() as nursery:
                nursery.start_soon(self._speak, process)
                why = await self._listen(process)
                nursery.cancel_scope.cancel()
        finally:
            with trio.CancelScope(shield=True):
                await _end(process)
        return why

    async def _speak(self, process: trio.Process) -> None:
        if process.stdin is None:
            raise AssertionError("the child has no input pipe")
        with suppress(trio.BrokenResourceError, trio.ClosedResourceError):
            while True:
                self._news = trio.Event()
                await process.stdin.send_all(link.encode(self._watch))
                await self._news.wait()

    async def _listen(self, process: trio.Process) -> str:
        if process.stdout is None:
            raise AssertionError("the child has no output pipe")
        rest = bytearray()
        while chunk := await process.stdout.receive_some(_READ_BYTES):
            *lines, rest = (rest + chunk).split(b"\n")
            try:
                for line in lines:
                    self.facts = link.decode_machine(bytes(line))
            except MalformedError as err:
                return str(err)
            if len(rest) > link.LINE_BYTES:
                return f"a line of more than {link.LINE_BYTES} bytes"
            if lines:
                self.at_s = trio.current_time()
        return "it closed its output"


async def _end(process: trio.Process) -> None:
    for stream in (process.stdin, process.stdout):
        if stream is not None:
            await stream.aclose()
    with trio.move_on_after(END_S) as patience:
        await process.wait()
    if patience.cancelled_caught:
        process.kill()
        await process.wait()
