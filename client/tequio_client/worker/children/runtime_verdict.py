"""Judges crashes of the trainer while its runtime is on trial (`platform.runtime_trial`)."""

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

    def __init__(self, last_accepted: Callable[[], int]) -> None:
        """`last_accepted` gives the newest accepted contribution, as a number that grows."""
        self._last_accepted = last_accepted

    async def begin(self) -> None:
        """Remember what was accepted before this version's runtime, if it is a new one."""
        if programs.is_packaged():
            with suppress(OSError, TequioError):  # its first crash begins the trial, then
                await trio.to_thread.run_sync(
                    lambda: runtime_trial.begin(BUILD, self._last_accepted())
                )

    async def judge(self, reason: str) -> str:
        """Count a crash; return why the trainer is given up, as its runtime is put aside.

        Empty: it is tried again.
        """
        if not programs.is_packaged():
            return ""
        try:
            before = await trio.to_thread.run_sync(
                lambda: runtime_trial.record_crash(BUILD, self._last_accepted())
            )
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
