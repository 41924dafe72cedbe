"""A port on the home's router, opened by UPnP or NAT-PMP for as long as its owner wants it.

The router then passes connections to that port on to ours, so that others can connect to us
(docs/decisions/0053). It is asked again in good time before the port's lease ends, and when others
can no longer connect, and told to close the port at the end; after a crash the lease runs out by
itself, except at routers that know only permanent ones.

Each call is made in a process of its own (`router_calls`), which is ended when it takes too long. A
port is closed while the worker leaves its runs: the app waits only `goodbye_ms` for both.
"""

from __future__ import annotations

import math
from collections.abc import Awaitable, Callable
from typing import TypeAlias

import structlog
import trio

from tequio_client.ipc.snapshot import RouterPort
from tequio_client.platform import programs
from tequio_client.worker.children.process import ChildProcess, ChildProgram, child_environment
from tequio_client.worker.swarm.peers.stream import shielded
from tequio_client.worker.swarm.router_calls import (
    LINE_BYTES,
    Report,
    RouterAnswer,
    decode_answer,
)

log = structlog.get_logger(__name__)

CALLS = programs.module("tequio_client.worker.swarm.router_calls")
RENEW_S, SOONEST_RENEW_S = 1_500.0, 60.0
"""Longest and shortest pause before the port is asked for again, halfway through its lease."""
RETRY_S = 900.0
"""Pause after a failure: the router may have been restarted, or its settings changed."""
CALL_S = 40.0
"""Longest time of all calls that open a port; a router that hangs is left alone."""
CLOSE_S = 2.0
"""The same for closing it: the search takes one second, with a router that answers."""
GRACE_S = 0.1
"""Patience at each step of the kill ladder; a call has nothing to finish."""

Call: TypeAlias = Callable[..., Awaitable[None]]


async def call_in_child(report: Report, *words: str) -> None:
    """Have a process make a call (`router_calls.run`); ended with this task. Each answer counts."""
    program = ChildProgram(
        command=(*CALLS, *words),
        environment=child_environment(),
        line_bytes=LINE_BYTES,
        grace_s=GRACE_S,
    )
    child = ChildProcess(program)
    child.allow()
    why = await child.run_once(tuple, lambda line: report(decode_answer(line)))
    log.debug("call to the router ended", words=words, why=why)


class PortMapper:
    """Keeps a port open on the router while that is wanted: one task, `run`."""

    def __init__(
        self,
        inner_port: Callable[[], int | None],
        changed: Callable[[], None],
        call: Call = call_in_child,
    ) -> None:
        """`changed` is called when the port was opened, renewed or closed."""
        self._call = call
        self._inner_port = inner_port
        self._changed = changed
        self._is_wanted = False
        self._woken = trio.Event()  # replaced whenever the router is to be asked now
        self._running = trio.CancelScope()
        self.answer = RouterAnswer(state=RouterPort.OFF)
        # The last one with a port, also one that was only asked for; it outlasts a silent router.
        self._opened = self.answer

    @property
    def port(self) -> int | None:
        """The port on the router that is open for us."""
        return self.answer.port or None

    def set_wanted(self, *, is_wanted: bool) -> None:
        if is_wanted is not self._is_wanted:
            self._is_wanted = is_wanted
            self.renew()

    def renew(self) -> None:
        """Ask the router now, not only after the pause: it may have forgotten the port."""
        self._woken.set()
        self._woken = trio.Event()

    def end(self) -> None:
        """Have `run` close the port now, and end."""
        self._running.cancel()

    async def run(self) -> None:
        """Open, renew and close the port until cancelled or told to `end`; then it is closed."""
        try:
            with self._running:
                while True:
                    woken = self._woken
                    pause_s = await self._update()
                    with trio.move_on_after(pause_s):
                        await woken.wait()
        finally:
            await self._close()

    async def _update(self) -> float:
        """Do what is wanted; returns the pause before it is done again."""
        before, inner = self.answer.port, self._inner_port()
        if not self._is_wanted:
            await self._close()
            self.answer = RouterAnswer(state=RouterPort.OFF)
            pause_s = math.inf
        elif inner is None:
            pause_s = RETRY_S
        else:
            if not before:
                self.answer = RouterAnswer(state=RouterPort.SEARCHING)
            self.answer = await self._open(inner, self._opened.port or inner)
            renew_s = min(RENEW_S, max(SOONEST_RENEW_S, self.answer.lease_s / 2))
            pause_s = renew_s if self.answer.port else RETRY_S
        if self.answer.port or before:
            self._changed()
        return pause_s

    async def _open(self, inner: int, outer: int) -> RouterAnswer:
        found, before = RouterAnswer(state=RouterPort.NO_ROUTER), self._opened

        def report(answer: RouterAnswer) -> None:
            nonlocal found
            found = answer
            if answer.port:  # also one that is only asked for: nobody may be left to say that it is
                self._opened = answer

        with trio.move_on_after(CALL_S):
            await self._call(report, "open", str(inner), str(outer))
        if found.state is RouterPort.SEARCHING:
            found = RouterAnswer(state=RouterPort.NO_ROUTER)
        elif not found.port:
            self._opened = before
        log.info("port on the router", state=found.state.value, port=found.port, why=found.problem)
        return found

    async def _close(self) -> None:
        opened, self._opened = self._opened, RouterAnswer(state=RouterPort.OFF)
        if not opened.port:
            return
        found = RouterAnswer(state=RouterPort.NO_ROUTER)

        def report(answer: RouterAnswer) -> None:
            nonlocal found
            found = answer

        with shielded(CLOSE_S):
            await self._call(report, "close", opened.way, str(opened.inner), str(opened.port))
        if found.state is not RouterPort.OFF:
            state, why = found.state.value, found.problem
            log.info(
                "the port on the router was not closed", port=opened.port, state=state, why=why
            )
