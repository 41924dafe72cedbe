"""One verification of a competition from its log alone: of a ledger, or of a bundle offline.

The fold checks who stated what, when, and whether it follows. What is left are the texts, which
have to open against the root that was committed to, and the outcome, which is computed again.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import trio

from tequio_client.clock import now_ms
from tequio_client.ledger.api import LedgerApi
from tequio_client.verify import archive, judgement
from tequio_client.verify.archive import OtherArchiveError
from tequio_client.verify.bundle import BundleFile, RecordedLog, RecordingMode
from tequio_client.verify.folded_log import FoldedLog, display_name, find_competitions
from tequio_client.verify.judgement import judge
from tequio_client.verify.report import AuditReport, LogPlace
from tequio_client.verify.source import LiveLog, NotAvailableError
from tequio_shared.errors import MalformedError, PeerError
from tequio_shared.ids import digest_from_text, to_text
from tequio_shared.log.policy import NoQuorumError

if TYPE_CHECKING:
    from collections.abc import Callable

    from tequio_client.verify.judgement import ArchiveOf, JudgedCompetition
    from tequio_client.verify.progress import WorkProgress
    from tequio_shared.competition.competition import CompetitionView
    from tequio_shared.competition.rules import CompetitionRules
    from tequio_shared.log.policy import Policy

_ARCHIVE = "archive.sealed"
_PAGE = re.compile(r"(?P<ledger>https?://.+)/competitions/(?P<competition>[A-Za-z0-9_-]{43})/?")


@dataclass(frozen=True, slots=True, kw_only=True)
class VerifyOptions:
    """Place to verify, and files to write."""

    place: str
    """The address of a ledger, or the file of a bundle."""
    wanted: str = ""
    """The competition's name or the beginning of its id; empty: the only one."""
    trust: Policy | None = None
    bundle: Path | None = None
    """Where to write all that was read."""

    @classmethod
    def of(
        cls,
        place: str,
        *,
        wanted: str = "",
        trust: Policy | None = None,
        bundle: Path | None = None,
    ) -> VerifyOptions:
        """Read a place; the address of a competition's page names the competition, too."""
        page = _PAGE.fullmatch(place)
        if page is not None:
            place, wanted = page["ledger"], wanted or page["competition"]
        return cls(place=place, wanted=wanted, trust=trust, bundle=bundle)

    @property
    def is_live(self) -> bool:
        """True for a ledger, False for a bundle."""
        return self.place.startswith(("http://", "https://"))

    @property
    def recording(self) -> RecordingMode:
        """How much of the log is needed again."""
        return RecordingMode.ALL if self.bundle else RecordingMode.DOCUMENTS


@dataclass(slots=True, kw_only=True)
class CompetitionFindings:
    """Findings; `verify` and the rescoring after it write to them."""

    report: AuditReport = field(default_factory=AuditReport)
    lines: list[str] = field(default_factory=list)
    """What held, a sentence each."""
    log: FoldedLog | None = None
    view: CompetitionView | None = None
    judged: JudgedCompetition | None = None
    void: str = ""
    """Why it ended without a ranking; empty: it did not."""
    deviations: list[str] = field(default_factory=list)
    """Evaluators whose scores do not count, or whose scores differ from the rescoring."""


def verify(
    options: VerifyOptions,
    progress: WorkProgress,
    then: Callable[[CompetitionFindings, Path], None] | None = None,
) -> CompetitionFindings:
    """Verify; never raises for what is wrong with the log, nor for a ledger that is away.

    `then` goes on with a competition that could be judged, in a folder for files. Raises
    UserFacingError when the bundle cannot be written.
    """
    found = CompetitionFindings()
    with TemporaryDirectory(prefix="tequio-verify-") as name:
        folder = Path(name)
        read = _live if options.is_live else _offline
        recorded = read(options, found, folder, progress)
        if options.bundle and recorded and found.view:
            recorded.write(options.bundle, found.view.id)
        if then and found.judged:
            then(found, folder)
    return found


def _live(
    options: VerifyOptions, found: CompetitionFindings, folder: Path, progress: WorkProgress
) -> RecordedLog:
    async def check() -> RecordedLog:
        async with LedgerApi(options.place) as api:
            recorded = RecordedLog(LiveLog(api), folder / "log", options.recording)
            archive_of = partial(_fetched, recorded, folder / _ARCHIVE, options.place)
            checking = _Checking(options, recorded, archive_of, found, folder, progress)
            await trio.to_thread.run_sync(checking.run, options.wanted)
            return recorded

    return trio.run(check)


def _offline(
    options: VerifyOptions, found: CompetitionFindings, folder: Path, progress: WorkProgress
) -> RecordedLog | None:
    try:
        with BundleFile(Path(options.place)) as file:
            recorded = RecordedLog(file, folder / "log", options.recording)
            archive_of = partial(_extracted, file, folder / _ARCHIVE)
            checking = _Checking(options, recorded, archive_of, found, folder, progress)
            checking.run(options.wanted or file.about.competition)
            return recorded
    except NotAvailableError as err:
        found.report.missing("bundle", LogPlace(), str(err))
    except MalformedError as err:
        found.report.mismatch("bundle", LogPlace(), str(err))
    return None


@dataclass(frozen=True, slots=True)
class _Checking:
    """The steps of one verification, whatever the log is read from."""

    options: VerifyOptions
    source: RecordedLog
    archive_of: ArchiveOf
    found: CompetitionFindings
    folder: Path
    progress: WorkProgress

    def run(self, wanted: str) -> None:
        """Go from the log to the outcome, as far as it holds; findings go to the report."""
        found, report = self.found, self.found.report
        found.log = _read(self.source, self.options.trust, report, self.progress)
        if found.log is None:
            return
        found.lines.append(judgement.describe_log(found.log))
        found.view = find(found.log, wanted, report)
        if found.view is None:
            return
        self._check_state(found.log, found.view)
        before = len(report.findings)
        found.judged = judge(found.view, self.source, self.archive_of, self.folder / "set", report)
        if found.judged is None:
            return
        found.lines.append(judgement.describe_texts(found.judged))
        found.lines.append(judgement.describe_evaluators(found.judged))
        if len(report.findings) == before:
            found.lines.append(judgement.describe_outcome(found.judged))

    def _check_state(self, log: FoldedLog, view: CompetitionView) -> None:
        """True if the competition was decided, or ended without a ranking."""
        found, report = self.found, self.found.report
        if not report.findings:
            number = log.fold.followed[to_text(view.id)]
            found.lines.append(judgement.describe_statements(view, number))
        if view.outcome is None:
            as_of_ms = now_ms() if self.options.is_live else log.last_ms
            found.void = view.void_reason(as_of_ms)
            report_open(view, as_of_ms, report)
        if found.void or view.outcome is not None:
            found.deviations += judgement.describe_unheard(view)


def _read(
    source: RecordedLog, trust: Policy | None, report: AuditReport, progress: WorkProgress
) -> FoldedLog | None:
    """Read and fold a whole log; None when it has no beginning or no end that can be trusted."""
    try:
        log = FoldedLog(source, report, policy=trust)
        log.read(progress)
    except (NotAvailableError, NoQuorumError) as err:
        report.missing("checkpoint", LogPlace(), str(err))
        return None
    except PeerError as err:
        report.mismatch("checkpoint", LogPlace(), str(err))
        return None
    return log if log.is_whole else None


def find(log: FoldedLog, wanted: str, report: AuditReport) -> CompetitionView | None:
    """Find the one competition that is meant; if there is none, or several, the report says so."""
    views = list(log.competitions.values())
    found = find_competitions(views, wanted)
    if len(found) == 1:
        return found[0]
    known = ", ".join(map(display_name, found or views)) or "none"
    which = f"{len(found) or 'no'} competitions" + (f" are called {wanted!r}" if wanted else "")
    report.missing(
        "competition",
        LogPlace(),
        f"{which} in the log; it has: {known}; choose one with --competition",
    )
    return None


def report_open(view: CompetitionView, now_ms: int, report: AuditReport) -> None:
    """Report that nothing was decided, yet or finally, unless something wrong was found before."""
    if report.findings:
        return
    void, lacks = view.void_reason(now_ms), view.missing_for_ranking()
    if void:
        why = f"{display_name(view)} ended without a ranking: {void}"
    else:
        why = f"{display_name(view)} is {view.phase.value}, and no result was stated"
        why += f": {lacks}" if lacks else ""
    report.missing("result", LogPlace(), why)


def _fetched(recorded: RecordedLog, to: Path, ledger: str, rules: CompetitionRules) -> Path:
    return archive.fetch_archive(rules, to, recorded.blob, ledger)


def _extracted(file: BundleFile, to: Path, rules: CompetitionRules) -> Path:
    """Copy the archive out of the bundle; nothing is fetched."""
    if not file.extract(digest_from_text(rules.sealed.archive), to):
        raise NotAvailableError("the bundle does not have the sealed archive")
    with to.open("rb") as opened:
        name = to_text(hashlib.file_digest(opened, "sha256").digest())
    if name != rules.sealed.archive:
        raise OtherArchiveError(
            f"the archive in the bundle is {name[:10]}, and {rules.sealed.archive[:10]} was sealed"
        )
    return to
