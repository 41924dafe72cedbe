"""The probe child: the newest facts of the machine, and their age.

Drivers crash and hang, so a separate process asks them. A probe that failed is restarted without
limit; until it answers, nothing is known and nothing is lent.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, NoReturn

import structlog
import trio

from tequio_client.ipc import facts as link
from tequio_client.worker.children.process import ChildProcess, ChildProgram, child_environment

if TYPE_CHECKING:
    from collections.abc import Iterator

log = structlog.get_logger(__name__)

PROBE = (sys.executable, "-m", "tequio_client.probe")
LONGEST_PAUSE_S = 60.0
STEADY_S = 30.0
"""A probe that ran this long did not fail at its start."""


def probe_program() -> ChildProgram:
    # No limit on silence: a hanging driver hangs for the next probe too, and facts that grow old
    # already count as unknown.
    return ChildProgram(
        command=PROBE,
        environment=child_environment(),
        line_bytes=link.LINE_BYTES,
        longest_pause_s=LONGEST_PAUSE_S,
    )


class ProbeProcess:
    """Owner of the probe child; `run` restarts it."""

    def __init__(self, program: ChildProgram) -> None:
        self._child = ChildProcess(program)
        self._child.allow()
        self._watch = link.ProbeInstructions()  # instructions to the probe
        self.facts: link.MachineFacts | None = None
        self.at_s = 0.0  # time of the newest facts, in trio's time

    def send_instructions(self, watch: link.ProbeInstructions) -> None:
        """Send these instructions to this probe and every later one."""
        if watch != self._watch:
            self._watch = watch
            self._child.send(link.encode(watch))

    async def run(self) -> NoReturn:
        failures = 0
        while True:
            begun_s = trio.current_time()
            reason = await self._child.run_once(self._first_lines, self._on_line)
            self.facts = None
            is_steady = trio.current_time() - begun_s > STEADY_S
            failures = 1 if is_steady else failures + 1
            pause_s = self._child.pause_s(failures)
            log.warning("probe ended, restarting", reason=reason, after_s=round(pause_s, 1))
            await self._child.pause(pause_s)

    def _first_lines(self) -> Iterator[bytes]:
        yield link.encode(self._watch)

    def _on_line(self, line: bytes) -> None:
        self.facts = link.decode_machine_facts(line)
        self.at_s = trio.current_time()
