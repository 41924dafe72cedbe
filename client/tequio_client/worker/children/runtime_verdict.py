"""Judges crashes of the trainer while its runtime is on trial (`platform.runtime_trial`).

A crash counts in a run that has accepted work of this key. A manifest does not change, so such a
run has been trained here before, with the version before or with this one; and one that was joined
since the update says nothing about the new version: its model may fit on no card.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress

import structlog
import trio

from tequio_client.platform import programs, runtime_trial
from tequio_shared.errors import TequioError
from tequio_shared.version import BUILD

log = structlog.get_logger(__name__)


class RuntimeVerdict:
    """Of a package's runtime; from source there is none to go back to."""

    def __init__(self, last_accepted: Callable[[str], int], oldest: Callable[[], str]) -> None:
        """`last_accepted` gives the newest accepted contribution, as a number that grows.

        Of a run by its id, or of all runs for an empty one; -1: there is none.
        `oldest` gives the oldest version that members of the network should run; empty: unknown.
        """
        self._last_accepted, self._oldest = last_accepted, oldest

    async def begin(self) -> None:
        """Remember what was accepted before this version's runtime, if it is a new one."""
        if programs.is_packaged():
            with suppress(OSError, TequioError):  # its first crash begins the trial, then
                await trio.to_thread.run_sync(
                    lambda: runtime_trial.begin(BUILD, self._last_accepted(""))
                )

    async def judge(self, reason: str, run: str) -> str:
        """Count a crash in a run; return why the trainer is given up, as its runtime is put aside.

        Empty: it is tried again.
        """
        if not programs.is_packaged():
            return ""
        try:
            before = await trio.to_thread.run_sync(self._count, run)
        except (OSError, TequioError) as err:
            log.warning("crash of the trainer not counted", error=str(err))
            return ""
        if not before:
            return ""
        log.error("runtime put aside", version=BUILD, back_to=before, reason=reason)
        return (
            f"the runtime of version {BUILD} crashed {runtime_trial.MOST_CRASHES} times before its "
            f"first accepted contribution: version {before} starts the next time Tequio starts"
        )

    def _count(self, run: str) -> str:
        if not run or self._last_accepted(run) < 0:
            log.info("crash of the trainer not counted: it is the first work in this run", run=run)
            return ""
        return runtime_trial.record_crash(BUILD, self._last_accepted(""), oldest=self._oldest())
