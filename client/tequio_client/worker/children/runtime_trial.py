"""The trial of a new version's runtime in training: one that keeps crashing is put aside by itself.

A self-test is a minute on a small model; a driver may fail only under a real one. A runtime belongs
to its version of the app, so putting it aside goes back to the version before, which was kept with
its own runtime (`versions.go_back`), from the next start on. Beyond the trial crashes are counted
no more: a runtime whose training was accepted once works, and what fails later is something else.

A run can make trainers crash, too, with a model that no memory holds. It must not choose what runs
here: a crash counts only in a run that has accepted work of this key, and nothing goes back to a
version that the network finds too old, such as one with a known hole. A manifest does not change,
so such a run has been trained here before, with the version before or with this one; and one that
was joined since the update says nothing about the new version: its model may fit on no card.

    runtime/trial.json      the version on trial, its crashes, and the versions that were put aside
"""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import msgspec
import structlog
import trio

from tequio_client import files
from tequio_client.platform import programs, versions
from tequio_shared.errors import MalformedError, TequioError
from tequio_shared.version import BUILD, version_number

log = structlog.get_logger(__name__)

MOST_CRASHES = 3
"""Crashes in training, before the first accepted contribution, that put a runtime aside."""
_MOST_KEPT = 20


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
                await trio.to_thread.run_sync(lambda: begin(BUILD, self._last_accepted("")))

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
            f"the runtime of version {BUILD} crashed {MOST_CRASHES} times before its "
            f"first accepted contribution: version {before} starts the next time Tequio starts"
        )

    def _count(self, run: str) -> str:
        if not run or self._last_accepted(run) < 0:
            log.info("crash of the trainer not counted: it is the first work in this run", run=run)
            return ""
        return record_crash(BUILD, self._last_accepted(""), oldest=self._oldest())


class TrialState(msgspec.Struct, frozen=True, omit_defaults=True):
    version: str = ""
    accepted: int = -1
    """The newest accepted contribution when the trial began, by the log index of its roster."""
    crashes: int = 0
    put_aside: tuple[str, ...] = ()
    """Versions that were put aside once, newest first: none is a second time."""


def begin(version: str, accepted: int) -> None:
    """Begin the trial of this version, unless it has begun. Raises OSError."""
    if state().version != version:
        _save(_begun(state(), version, accepted))


def record_crash(version: str, accepted: int, *, oldest: str = "") -> str:
    """Count a crash in training; return the version that was gone back to, empty: none was.

    `accepted` is the newest accepted contribution: one of after `begin` ends the trial. `oldest` is
    the oldest version that may be gone back to; empty: any. Raises OSError.
    """
    now = state()
    if now.version != version:
        now = _begun(now, version, accepted)
    if accepted > now.accepted:
        return ""
    now = msgspec.structs.replace(now, crashes=now.crashes + 1)
    before = _kept_before(version, oldest)
    is_over = now.crashes >= MOST_CRASHES and before and version not in now.put_aside
    if is_over:
        aside = (version, *now.put_aside)[:_MOST_KEPT]
        now = msgspec.structs.replace(now, put_aside=aside)
    _save(now)  # first: after a power cut in between nothing is gone back to, and never twice
    return versions.go_back() if is_over else ""


def state() -> TrialState:
    """Read the state; a damaged one counts as none."""
    try:
        return files.read_record(_file(), TrialState) or TrialState()
    except (OSError, MalformedError):
        return TrialState()


def _begun(now: TrialState, version: str, accepted: int) -> TrialState:
    return msgspec.structs.replace(now, version=version, accepted=accepted, crashes=0)


def _kept_before(version: str, oldest: str) -> str:
    """The version before, if it is complete, would start and is not too old; empty: it is not."""
    now = versions.state()
    if now.current != version or programs.RUNTIME_VARIABLE in os.environ:
        return ""
    before = now.previous
    if before and oldest and version_number(before) < version_number(oldest):
        return ""
    return before if before and versions.program_of("runtime", before).is_file() else ""


def _file() -> Path:
    return versions.data_folder() / "runtime" / "trial.json"


def _save(now: TrialState) -> None:
    _file().parent.mkdir(parents=True, exist_ok=True)
    files.write_private(_file(), msgspec.json.encode(now))
