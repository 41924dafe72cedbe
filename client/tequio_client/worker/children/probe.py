"""The probe child: the newest facts of the machine come in, across restarts."""

from __future__ import annotations

import math
from typing import NoReturn

import structlog
import trio

from tequio_client.ipc import facts as link
from tequio_client.platform import programs
from tequio_client.worker.children.process import ChildProcess, ChildProgram, child_environment

log = structlog.get_logger(__name__)

PROBE = programs.module("tequio_client.probe")
STEADY_S = 30.0
"""A probe that ran this long did not fail at its start."""
PROBE_START_S = 15.0
"""Time for the first probe to answer; drivers are slow right after a start."""


class ProbeProcess:
    """Owner of the probe child, and the newest facts of the machine; `run` restarts it.

    Drivers crash and hang, so a separate process asks them. A probe that failed is restarted
    without limit; until it answers, nothing is known and nothing is lent.
    """

    def __init__(self, program: ChildProgram) -> None:
        self._child = ChildProcess(program)
        self._child.allow()
        self.instructions = link.ProbeInstructions()
        self.facts: link.MachineFacts | None = None
        self.at_s = 0.0  # time of the newest facts, in trio's time
        self._start_until_s = math.inf  # until then the first probe is still starting

    @property
    def is_starting(self) -> bool:
        """True until the first probe has answered, has ended, or has had time enough to answer."""
        return self.facts is None and trio.current_time() < self._start_until_s

    def send_instructions(self, instructions: link.ProbeInstructions) -> None:
        """Send these instructions to this probe and every later one."""
        if instructions != self.instructions:
            self.instructions = instructions
            self._child.send(link.encode(instructions))

    async def run(self) -> NoReturn:
        failures = 0
        self._start_until_s = trio.current_time() + PROBE_START_S
        while True:
            begun_s = trio.current_time()
            reason = await self._child.run_once(
                lambda: [link.encode(self.instructions)], self._on_line
            )
            self.facts, self._start_until_s = None, 0.0
            failures = 1 if trio.current_time() - begun_s > STEADY_S else failures + 1
            pause_s = self._child.pause_s(failures)
            log.warning("probe ended, restarting", reason=reason, after_s=round(pause_s, 1))
            await self._child.pause(pause_s)

    def _on_line(self, line: bytes) -> None:
        self.facts = link.decode_machine_facts(line)
        self.at_s = trio.current_time()


def probe_program() -> ChildProgram:
    # No limit on silence: a hanging driver hangs for the next probe too, and facts that grow old
    # already count as unknown.
    return ChildProgram(
        command=PROBE,
        environment=child_environment(),
        line_bytes=link.LINE_BYTES,
        longest_pause_s=60.0,
    )
