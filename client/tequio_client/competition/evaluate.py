"""The evaluator's program: one competition to its end, or every competition that ever opens."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console

from tequio_client.clock import now_ms
from tequio_client.competition.evaluator import Evaluator, EvaluatorContext
from tequio_client.competition.participation import FolderSubmitter
from tequio_client.runtime import locked
from tequio_client.trainer import device
from tequio_client.verify.reader import LedgerReader
from tequio_client.verify.report import NoProgress, ProgressBars, WorkProgress
from tequio_shared.competition.state import CompetitionPhase, CompetitionView
from tequio_shared.errors import TequioError, UserFacingError, first_error
from tequio_shared.ids import to_text
from tequio_shared.log.policy import Policy

POLL_S = 20.0
NEAR_POLL_S = 2.0
"""Between two requests for the log: usually, and when something is due within `NEAR_MS`."""
NEAR_MS = 120_000
_LONGEST_S = 120.0


class NothingToDoError(UserFacingError):
    """An error that waiting does not resolve."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluateOptions:
    """Options of an evaluator; `competition` is a name, the beginning of an id, or None."""

    ledger: str
    folder: Path
    competition: str | None = None
    stores: Sequence[Path] = ()
    device: str = "auto"
    threads: int | None = None
    trust: Policy | None = None


def evaluate_one(options: EvaluateOptions, report: Callable[[str], None]) -> None:
    """Evaluate in one competition until nothing is left to do; raises UserFacingError."""
    has_begun = False

    def rounds(reader: LedgerReader, evaluator: Evaluator) -> bool:
        nonlocal has_begun
        try:
            view = reader.competition(options.competition)
        except UserFacingError as err:
            if has_begun:  # a log that has to be read again is empty for a while
                raise
            raise NothingToDoError(str(err)) from err
        has_begun = True
        if evaluator.key not in view.offers:
            raise NothingToDoError(_not_offered(view, to_text(evaluator.key), options.folder))
        return evaluator.step(view)

    console = Console(stderr=True)
    bars = ProgressBars(console) if console.is_terminal else nullcontext(NoProgress())
    _work(options, report, rounds, bars)


def evaluate_all(options: EvaluateOptions, report: Callable[[str], None]) -> None:
    """Offer in every competition that opens, and evaluate where the key is drawn; never ends."""
    done: set[bytes] = set()

    def rounds(reader: LedgerReader, evaluator: Evaluator) -> bool:
        failed: BaseException | None = None
        for view in reader.competitions.values():
            if view.id in done:
                continue
            try:
                if view.phase is CompetitionPhase.OPEN and now_ms() < view.rules.dates.deadline:
                    evaluator.offer(view)
                if not evaluator.step(view):
                    done.add(view.id)
            except* TequioError as group:  # the others have their dates, too
                failed = first_error(group)
        if failed is not None:
            raise failed
        return True

    _work(options, report, rounds, nullcontext(NoProgress()))


def _work(
    options: EvaluateOptions,
    report: Callable[[str], None],
    rounds: Callable[[LedgerReader, Evaluator], bool],
    bars: AbstractContextManager[WorkProgress],
) -> None:
    """Read the log and do what is due, again and again; what fails is tried again."""
    chosen = device.open_device(options.device)
    if options.threads:
        device.limit_threads(options.threads)
    reader = LedgerReader(options.ledger, options.trust)
    pause_s = NEAR_POLL_S
    with locked(options.folder), bars as progress:
        reader.read(progress)
        context = EvaluatorContext(
            folder=options.folder,
            device=chosen,
            progress=progress,
            report=report,
            stores=options.stores,
        )
        submitter = FolderSubmitter(options.ledger, options.folder)
        evaluator = Evaluator(reader, context, submitter)
        while True:
            try:
                reader.read()
                if not rounds(reader, evaluator):
                    return
                pause_s = _pause_s(reader)
            except* TequioError as group:
                why = first_error(group)
                if isinstance(why, NothingToDoError):
                    raise
                pause_s = min(pause_s * 2, _LONGEST_S)
                report(f"{why}; again in {pause_s:.0f} s")
            time.sleep(pause_s)


def _pause_s(reader: LedgerReader) -> float:
    """Poll often around the dates at which something is due."""
    now = now_ms()
    every = (view.rules.dates for view in reader.competitions.values())
    due = (date for dates in every for date in (dates.deadline, dates.draw, dates.scored))
    return NEAR_POLL_S if any(abs(date - now) < NEAR_MS for date in due) else POLL_S


def _not_offered(view: CompetitionView, key: str, folder: Path) -> str:
    name = view.rules.name
    if view.phase is CompetitionPhase.OPEN:
        return (
            f"the key in {folder} has not offered to evaluate {name}: do that first with "
            "`tequio competition offer`"
        )
    return f"the key in {folder} ({key[:10]}) did not offer to evaluate {name} in time"
