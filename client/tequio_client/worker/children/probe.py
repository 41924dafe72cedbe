"""The probe child: the newest facts of the machine, and how old they are.

Drivers crash and hang, so they are asked by a process of their own. A probe that failed is started
again without limit; until it answers nothing is known, and nothing is lent on a guess.
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
"""A probe that ran for this long has not failed at its start."""


def probe_program() -> ChildProgram:
    """The probe of this computer."""
    # No limit on silence: a hanging driver hangs for the next probe too, and facts that grow old
    # already count as unknown.
    return ChildProgram(
        command=PROBE,
        environment=child_environment(),
        line_bytes=link.LINE_BYTES,
        longest_pause_s=LONGEST_PAUSE_S,
    )


class ProbeProcess:
    """Owner of the probe child; `run` keeps it alive."""

    def __init__(self, program: ChildProgram) -> None:
        self._child = ChildProcess(program)
        self._child.allow()
        self._watch = link.Watch()  # what the probe should know
        self.facts: link.MachineFacts | None = None
        self.at_s = 0.0  # when they came, in trio's time

    def watch(self, watch: link.Watch) -> None:
        """Have this probe and every later one know this from now on."""
        if watch != self._watch:
            self._watch = watch
            self._child.send(link.encode(watch))

    async def run(self) -> NoReturn:
        """Keep a probe running until cancelled."""
        failures = 0
        while True:
            begun_s = trio.current_time()
            reason = await self._child.run_once(self._first_lines, self._on_line)
            self.facts = None
            is_steady = trio.current_time() - begun_s > STEADY_S
            failures = 1 if is_steady else failures + 1
            pause_s = self._child.pause_s(failures)
            log.warning("probe ended; starting it again", reason=reason, after_s=round(pause_s, 1))
            await self._child.pause(pause_s)

    def _first_lines(self) -> Iterator[bytes]:
        yield link.encode(self._watch)

    def _on_line(self, line: bytes) -> None:
        self.facts = link.decode_machine(line)
        self.at_s = trio.current_time()
