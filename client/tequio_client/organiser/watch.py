"""`tequio run watch`: pause a run whose model got worse, and take it back to its last fine head.

The verdicts follow from what drawn members state in the log; the watch only signs what an organiser
would. So it measures nothing, needs no accelerator, and two of them agree. What it has done is in
the log, too: the reason of a pause names the round, so a watch that was killed in between goes on.
One thing is not: that organisers resumed a run with its worse head, and so accepted it. The rounds
that a run was paused for are in a file beside the key; later heads are compared with those from the
last such round on.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

import msgspec
import structlog
import trio

from tequio_client import files
from tequio_client.clock import BackOff
from tequio_client.ledger.api import LedgerApi
from tequio_client.organiser import opening, rollback
from tequio_client.organiser.verdicts import HeadVerdicts, VerdictReader, describe
from tequio_client.worker import shutdown
from tequio_shared.api.runs import RunAnswer
from tequio_shared.errors import MalformedError, TequioError, UserFacingError, first_error
from tequio_shared.network.rollback import is_given_up
from tequio_shared.network.run_states import RunState
from tequio_shared.network.verdicts import HeadVerdict, JudgedHead

log = structlog.get_logger(__name__)

FILE = "watched-runs.json"
POLL_S = 30.0
MAX_BACKOFF_S = 900.0
"""Longest pause after a failure."""
UNMEASURED_HEADS = 3
"""Heads in a row without a verdict that the watch reports: members should measure each."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WatchOptions:
    """Which run is watched; `folders` are those of the organisers that sign, the first one's first.

    With `only_reports` nothing is signed.
    """

    run: str
    ledger: str
    folders: tuple[Path, ...]
    rolls_back: bool = False
    only_reports: bool = False
    margin: int | None = None
    """Thousandths of a bit per byte; None: the margin in the run's rules."""


_REASON = re.compile(r"The model got worse: round ([0-9]+) needs ")


def paused_for(run: RunAnswer) -> int | None:
    """Round for whose head a watch paused the run, by the reason in the log; None: none did."""
    found = _REASON.match(run.pause_reason.text) if run.pause_reason else None
    return int(found[1]) if found else None


def reason_text(judged: JudgedHead) -> str:
    """One line for volunteers: the rounds, both figures, and where to check them."""
    measured, best = judged.measured, judged.best
    if measured is None or best is None:
        raise ValueError(f"the head of round {judged.round} is not worse than another")
    return (
        f"The model got worse: round {judged.round} needs {measured.bits_per_byte:.3f} bits per "
        f"byte (perplexity {measured.perplexity:.4g} per token) of held-out text, round "
        f"{best.round} {best.bits_per_byte:.3f} ({best.perplexity:.4g}). "
        f"{measured.agreeing} members measured it: see the run's page."
    )


@dataclass(slots=True, kw_only=True)
class RunWatch:
    """The watch over one run; `report` gets a line whenever something has changed."""

    options: WatchOptions
    report: Callable[[str], None]
    reader: VerdictReader = field(init=False)
    _said: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.reader = VerdictReader(name=self.options.run, margin=self.options.margin)

    def check(self) -> tuple[HeadVerdict, bool]:
        """Look once, and act; gives the newest verdict, and whether the run has ended.

        Raises UserFacingError.
        """
        seen = shutdown.ask_ledger(self.options.ledger, self.reader.read)
        since = _accepted(seen, self._read_file().get(seen.run.run, ()))
        newest = _newest(seen, since)
        is_over = seen.run.state == RunState.FINISHED
        self._report_silence(seen, newest)
        if newest is None:
            self._report("verdict", f"{seen.run.name}: no head has a verdict yet")
            return HeadVerdict.UNMEASURED, is_over
        self._report("verdict", f"{seen.run.name}, {describe(newest)}")
        if newest.verdict is HeadVerdict.WORSE and not is_over and not self.options.only_reports:
            self._act(seen, newest, since)
        return newest.verdict, is_over

    def _act(self, seen: HeadVerdicts, newest: JudgedHead, since: int) -> None:
        run, options = seen.run, self.options
        if not _is_pausing(seen):
            said = opening.steer_run(
                "pause", run.run, options.ledger, options.folders, reason_text(newest)
            )
            self._remember(run.run, newest.round)
            self.report(said)
            return
        # A pause for any other reason is the organisers' own, and so is what follows from it.
        if paused_for(run) is None:
            return
        # Also when a watch was killed right after the pause, or later heads were measured since.
        self._remember(run.run, newest.round)
        if run.state != RunState.PAUSED or not options.rolls_back:
            return
        target = seen.newest_fine(since)
        if target is None:
            self._report("rollback", f"{run.name}: no fine head to go back to; it stays paused")
            return
        self.report(
            rollback.roll_back(run.run, options.ledger, options.folders, target, lambda _: True)
        )

    def _report(self, about: str, line: str) -> None:
        if self._said.get(about) != line:
            self._said[about] = line
            self.report(line)

    def _report_silence(self, seen: HeadVerdicts, newest: JudgedHead | None) -> None:
        """Report that members measure nothing: a model may be so broken that nobody can."""
        last = newest.round if newest else 0
        due = ((seen.run.head_round or 0) - last) // seen.rules.every
        if due > UNMEASURED_HEADS:
            self._report(
                "silence",
                f"{seen.run.name}: no head after round {last} has a verdict, and the run is at "
                f"round {seen.run.head_round}: members are too busy to measure, or cannot",
            )

    # --- The rounds for whose heads the run was paused.

    @property
    def _file(self) -> Path:
        return self.options.folders[0] / FILE

    def _remember(self, run: str, head_round: int) -> None:
        known = self._read_file()
        before = known.get(run, ())
        if head_round in before:
            return
        rounds = (*before, head_round)
        files.write_for_user(self._file, msgspec.json.encode({**known, run: rounds}))

    def _read_file(self) -> dict[str, tuple[int, ...]]:
        try:
            return files.read_record(self._file, dict[str, tuple[int, ...]]) or {}
        except (OSError, MalformedError) as err:
            raise UserFacingError(
                f"cannot read {self._file} ({err}): delete it; then a run that was resumed with a "
                "worse head may be paused once more"
            ) from err


def _is_pausing(seen: HeadVerdicts) -> bool:
    """Return whether the run is paused, or will be after this round."""
    return seen.run.state == RunState.PAUSED or seen.run.pause_reason is not None


def _accepted(seen: HeadVerdicts, rounds: tuple[int, ...]) -> int:
    """Round from which on heads are compared: the last worse one with which the run went on."""
    now, last = paused_for(seen.run), seen.run.round
    went_on = (
        one
        for one in rounds
        if (now is None or one < now) and not is_given_up(seen.rollbacks, one, last)
    )
    return max(went_on, default=0)


def _newest(seen: HeadVerdicts, since: int) -> JudgedHead | None:
    """The newest head with a verdict that the next round builds on."""
    last = seen.run.round
    return next(
        (
            one
            for one in reversed(seen.judged(since))
            if one.measured is not None and not is_given_up(seen.rollbacks, one.round, last)
        ),
        None,
    )


def check_once(options: WatchOptions, report: Callable[[str], None]) -> HeadVerdict:
    """Look once, act, and give the newest verdict; raises UserFacingError."""
    return _opened(options, report).check()[0]


def watch_run(
    options: WatchOptions,
    report: Callable[[str], None],
    pause: Callable[[float], None] = time.sleep,
) -> None:
    """Watch a run until it ends; what fails later is logged and tried again.

    Raises UserFacingError for a run without verdicts and for keys that cannot sign.
    """
    watch = _opened(options, report)
    back_off = BackOff(Random(options.run), MAX_BACKOFF_S)  # noqa: S311 - pauses, no secrets
    _, is_over = watch.check()
    wait_s = POLL_S
    while not is_over:
        pause(wait_s)
        wait_s = POLL_S
        try:
            _, is_over = watch.check()
            back_off.reset()
        except* TequioError as group:
            wait_s = back_off.next_s()
            log.warning("not checked", error=str(first_error(group)), again_s=wait_s)
    report(f"{options.run} has ended")


def _opened(options: WatchOptions, report: Callable[[str], None]) -> RunWatch:
    """Check that the organisers can sign before it matters."""
    if not options.only_reports:
        with shutdown.explain_unreachable_ledger(options.ledger):
            trio.run(_check_signers, options)
    return RunWatch(options=options, report=report)


async def _check_signers(options: WatchOptions) -> None:
    async with LedgerApi(options.ledger) as api:
        opening.load_organisers(await api.network(), options.folders)
