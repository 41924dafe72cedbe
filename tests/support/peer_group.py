"""A swarm that outlives a test: its trio loop runs in a thread, and tests call into it."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Generic, TypeVar

import trio

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from contextlib import AbstractAsyncContextManager

S = TypeVar("S")
T = TypeVar("T")

CLOSE_S = 60.0


class TrioThread(Generic[S]):
    """Runs the context manager of `opening` in a thread until `close`; raises its errors."""

    def __init__(self, opening: Callable[[], AbstractAsyncContextManager[S]]) -> None:
        self._opening = opening
        self._failures: list[BaseException] = []
        self._thread = threading.Thread(target=self._live)
        self._is_open = threading.Event()
        self._token: trio.lowlevel.TrioToken
        self._leave: trio.Event
        self._value: S
        self._thread.start()
        self._is_open.wait()
        if self._failures:
            self.close()

    def do(self, what: Callable[[S], Awaitable[T]]) -> T:
        """Run an async function on the opened value, in the thread's loop; returns its result."""
        return trio.from_thread.run(what, self._value, trio_token=self._token)

    def close(self) -> None:
        """Leave the context manager and wait for it; raises its errors."""
        if not self._failures and self._thread.is_alive():
            trio.from_thread.run_sync(self._leave.set, trio_token=self._token)
        self._thread.join(CLOSE_S)
        for failure in self._failures:
            raise failure

    def _live(self) -> None:
        try:
            trio.run(self._open)
        except BaseException as failure:  # noqa: BLE001 - `close` raises it
            self._failures.append(failure)
        finally:
            self._is_open.set()

    async def _open(self) -> None:
        self._token, self._leave = trio.lowlevel.current_trio_token(), trio.Event()
        async with self._opening() as self._value:
            self._is_open.set()
            await self._leave.wait()
