"""One audit from end to end: synchronous, over a source of the log and one of contributions."""

from __future__ import annotations

from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Protocol

from tequio_client.audit.claims import Claims
from tequio_client.audit.findings import Place, Report
from tequio_client.audit.fold import Fold
from tequio_client.audit.heads import HeadAudit
from tequio_client.audit.sources import NotHadError
from tequio_client.audit.tree import TreeAudit
from tequio_shared.errors import PeerError
from tequio_shared.ids import to_text
from tequio_shared.log.notes import VerifierKey
from tequio_shared.network.genesis import Genesis

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tequio_client.audit.contributions import ContributionSource
    from tequio_client.audit.sources import LogSource
    from tequio_shared.ids import RunId
    from tequio_shared.log.notes import Checkpoint

UNVOUCHED = (
    "cannot vouch for {} rosters, as something that they rest on is missing: "
    "who trained and witnessed there is the ledger's word alone"
)


class Progress(Protocol):
    """Shows how far long work is."""

    def work(self, what: str, total: int) -> AbstractContextManager[Callable[[int], None]]:
        """Begin a piece of work of `total` steps; call what is given with the steps done."""


class Quiet:
    """Shows nothing."""

    @contextmanager
    def work(self, what: str, total: int) -> Iterator[Callable[[int], None]]:
        """Do nothing."""
        yield lambda _: None


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """What to check: heads of one run or of all; without contributions, the log alone."""

    run: RunId | None = None
    contributions: ContributionSource | None = None


def audit(source: LogSource, scope: Scope, progress: Progress | None = None) -> Report:
    """Check the log, what the ledger derived from it, and the heads; never raises for a fault."""
    report = Report()
    shown = progress or Quiet()
    try:
        genesis = Genesis.parse(source.genesis())
        log = LogAudit(source, genesis, report, shown)
        log.read()
    except NotHadError as err:
        report.missing("log", Place(), str(err))
        return report
    except PeerError as err:
        report.mismatch("log", Place(), str(err))
        return report
    _check_heads(log.fold, scope, report, shown)
    return report


class LogAudit:
    """Reads the log to its newest checkpoint, and further if the ledger's answers are newer."""

    def __init__(
        self, source: LogSource, genesis: Genesis, report: Report, progress: Progress
    ) -> None:
        self._source = source
        self._log_key = VerifierKey.parse(genesis.log_key)
        self._report = report
        self._progress = progress
        self._tree = TreeAudit(source, report)
        self.fold = Fold(genesis, source, report)

    def read(self) -> None:
        """Check everything that needs no contributions."""
        self._read_to(self._source.checkpoint(self._log_key))
        claims = Claims(self._source, self.fold, self._report)
        newest = claims.collect()
        if newest > self._tree.size:
            self._read_to(self._source.checkpoint(self._log_key, newest))
        claims.compare(self._tree.size)
        if self.fold.unvouched:
            self._report.missing("rosters", Place(), UNVOUCHED.format(self.fold.unvouched))

    def _read_to(self, checkpoint: Checkpoint) -> None:
        with self._progress.work("entries", checkpoint.size - self._tree.size) as tick:
            for index, leaf in self._tree.extend(checkpoint, tick):
                self.fold.take(index, leaf)


def _check_heads(fold: Fold, scope: Scope, report: Report, progress: Progress) -> None:
    if scope.run is not None and scope.run not in fold.runs:
        report.missing("run", Place(run=to_text(scope.run)), "the log has no such run")
    if scope.contributions is None:
        return
    for run, history in fold.runs.items():
        if scope.run not in (None, run):
            continue
        with (
            TemporaryDirectory(prefix="tequio-audit-") as folder,
            progress.work("heads", len(history.promoted)) as tick,
        ):
            HeadAudit(history, scope.contributions, report, Path(folder)).run(tick)
