"""One audit from end to end, over a source of the log and one of contributions.

The audit itself is synchronous. Of a live ledger it runs in a thread, and what it reads is fetched
in trio: the log over HTTP, contributions over libp2p unless store folders were given.
"""

from __future__ import annotations

from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import trio

from tequio_client.ledger.api import LedgerApi
from tequio_client.verify.claims import LedgerClaims
from tequio_client.verify.folded_log import FoldedLog
from tequio_client.verify.heads import HeadAudit
from tequio_client.verify.progress import NoProgress
from tequio_client.verify.report import AuditReport, LogPlace
from tequio_client.verify.source import FallbackSource, LiveLog, NotAvailableError, open_seeds
from tequio_shared.errors import PeerError
from tequio_shared.ids import to_text

if TYPE_CHECKING:
    from tequio_client.verify.fold import Fold
    from tequio_client.verify.progress import WorkProgress
    from tequio_client.verify.source import ContributionSource, LedgerSource
    from tequio_shared.ids import RunId
    from tequio_shared.log.policy import Policy

PUBLISHED_S = 15.0
"""How long a ledger's answers may be ahead of its checkpoint: witnesses cosign in between."""
UNVOUCHED = (
    "cannot vouch for {} rosters, as something that they rest on is missing: "
    "who trained and witnessed there is the ledger's word alone"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditOptions:
    """Heads to check: of one run, or of all; without contributions, only the log is checked."""

    run: RunId | None = None
    contributions: ContributionSource | None = None
    trust: Policy | None = None
    patience_s: float = 0.0
    """How long to wait for a checkpoint that covers what the ledger answers."""


def audit(
    source: LedgerSource, scope: AuditOptions, progress: WorkProgress | None = None
) -> AuditReport:
    """Check the log, what the ledger derived from it, and the heads; never raises for a fault."""
    report = AuditReport()
    shown = progress or NoProgress()
    try:
        log = LogAudit(source, scope, report, shown)
        log.read()
    except NotAvailableError as err:
        report.missing("log", LogPlace(), str(err))
        return report
    except PeerError as err:
        report.mismatch("log", LogPlace(), str(err))
        return report
    _check_heads(log.fold, scope, report, shown)
    return report


async def audit_live(
    url: str,
    scope: AuditOptions,
    *,
    cache: Path | None,
    progress: WorkProgress,
) -> AuditReport:
    """Audit a ledger; with a `cache` folder, what the scope's stores lack comes from seeds."""
    async with AsyncExitStack() as stack:
        api = await stack.enter_async_context(LedgerApi(url, trust=scope.trust))
        sources = [scope.contributions] if scope.contributions else []
        if cache is not None:
            sources.append(await stack.enter_async_context(open_seeds(api, cache)))
        whole = replace(scope, contributions=FallbackSource(*sources) if sources else None)
        return await trio.to_thread.run_sync(audit, LiveLog(api), whole, progress)


class LogAudit:
    """Reads the log to its newest checkpoint, and further if the ledger's answers are newer.

    Can be read again when the log has grown: only what is new is read.
    """

    def __init__(
        self, source: LedgerSource, scope: AuditOptions, report: AuditReport, progress: WorkProgress
    ) -> None:
        """Read nothing but the genesis; raises NotAvailableError, PeerError."""
        self._source = source
        self._report = report
        self._progress = progress
        self._patience_s = scope.patience_s
        self._log = FoldedLog(source, report, tiles=source, policy=scope.trust)

    @property
    def fold(self) -> Fold:
        """State that follows from the log."""
        return self._log.fold

    def read(self) -> None:
        """Check everything that needs no contributions; raises NotAvailableError, PeerError."""
        self._log.read(self._progress)
        claims = LedgerClaims(self._source, self.fold, self._report)
        newest = claims.collect()
        if newest > self._log.reader.size:
            self._log.read(self._progress, at_least=newest, patience_s=self._patience_s)
        claims.compare(self._log.reader.size)
        if self.fold.unvouched:
            self._report.missing("rosters", LogPlace(), UNVOUCHED.format(self.fold.unvouched))


def _check_heads(
    fold: Fold, scope: AuditOptions, report: AuditReport, progress: WorkProgress
) -> None:
    if scope.run is not None and scope.run not in fold.runs:
        report.missing("run", LogPlace(run=to_text(scope.run)), "the log has no such run")
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
