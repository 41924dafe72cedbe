"""One verification of a competition from its log alone: of a ledger, or of a bundle offline.

The fold checks who stated what, when, and whether it follows. What is left are the texts, which
have to open against the root that was committed to, and the outcome, which follows from the drawn
texts and the evaluations that count. A stated outcome has to equal it byte for byte; where it
differs, the report names each field.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypeAlias, TypeVar

import trio

from tequio_client.clock import now_ms
from tequio_client.ledger.api import LedgerApi
from tequio_client.names import short_id
from tequio_client.organiser import sealing
from tequio_client.verify import archive
from tequio_client.verify.archive import OtherArchiveError
from tequio_client.verify.bundle import BundleFile, RecordedLog
from tequio_client.verify.reader import FoldedLog, display_name, find_competitions
from tequio_client.verify.report import LogPlace, LogReport, WorkProgress
from tequio_client.verify.source import LiveLog, NotAvailableError
from tequio_shared.competition import result
from tequio_shared.competition.result import DrawnText, JudgedEntrant
from tequio_shared.competition.rules import (
    CompetitionOutcome,
    CompetitionRules,
    Evaluation,
    RankedEntrant,
)
from tequio_shared.competition.state import CompetitionPhase, CompetitionView
from tequio_shared.errors import MalformedError, PeerError, UserFacingError
from tequio_shared.ids import Digest, digest_from_text, sha256, to_text
from tequio_shared.log.policy import NoQuorumError, Policy
from tequio_shared.wording import plural

ArchiveOf: TypeAlias = "Callable[[CompetitionRules], Path]"
"""Gets the sealed archive as a file; raises NotAvailableError, OtherArchiveError."""


_OF_A_PLACE = (
    "submission",
    "author",
    "rank",
    "refusal",
    "millibits",
    "size_bytes",
    "nanobits_per_byte",
    "low",
    "high",
)
_OF_A_PAIR = ("winner", "low", "high", "against")
_OF_AN_EVALUATOR = ("scores", "millibits", "off", "outside", "is_outlier")

K = TypeVar("K", str, tuple[str, str])
V = TypeVar("V")
Difference = tuple[str, str, object, object]
"""Name of the difference, possible reason, due value, and stated value."""
_PHASES = {
    CompetitionPhase.OPEN: "opened",
    CompetitionPhase.CLOSED: "closed",
    CompetitionPhase.DRAWN: "drawn",
    CompetitionPhase.REVEALED: "revealed",
    CompetitionPhase.DECIDED: "decided",
}
_ARCHIVE = "archive.sealed"
_PAGE = re.compile(r"(?P<ledger>https?://.+)/competitions/(?P<competition>[A-Za-z0-9_-]{43})/?")


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedCompetition:
    """A decided competition, judged again: the due outcome, and what it rests on."""

    view: CompetitionView
    texts: tuple[bytes, ...]
    """The drawn ones, in their order."""
    contenders: tuple[JudgedEntrant, ...]
    outcome: CompetitionOutcome
    """As it is due."""


def judge(
    view: CompetitionView,
    source: RecordedLog,
    archive_of: ArchiveOf,
    folder: Path,
    report: LogReport,
) -> JudgedCompetition | None:
    """Open the texts in `folder` and compute the outcome; None when either cannot be done.

    What is wrong goes into the report.
    """
    if view.outcome is None or view.draw is None:
        return None
    texts = _texts(view, source, archive_of, folder, report)
    if texts is None:
        return None
    place = LogPlace(entry=view.phase_starts[CompetitionPhase.DECIDED].index)
    try:
        found = contenders(view, source.blob)
        raw = source.blob(view.outcome)
        stated = None if raw is None else CompetitionOutcome.parse(raw)
    except (NotAvailableError, UserFacingError) as err:
        report.missing("scores", place, str(err))
        return None
    except PeerError as err:
        report.mismatch("scores", place, str(err))
        return None
    if stated is None:
        report.missing("scores", place, "the outcome document is not available")
        return None
    named = [DrawnText.of(one) for one in texts]
    due = result.compute_outcome(view.id, view.draw.beacon, named, found)
    _compare(due, stated, place, report)
    return JudgedCompetition(view=view, texts=texts, contenders=found, outcome=due)


def _texts(
    view: CompetitionView,
    source: RecordedLog,
    archive_of: ArchiveOf,
    folder: Path,
    report: LogReport,
) -> tuple[bytes, ...] | None:
    if view.draw is None:
        return None
    place, sealed = (
        LogPlace(entry=view.phase_starts[CompetitionPhase.OPEN].index),
        view.rules.sealed,
    )
    try:
        path = archive_of(view.rules)
    except (OtherArchiveError, PeerError) as err:
        report.mismatch("sealed archive", place, str(err))
        return None
    except (NotAvailableError, UserFacingError) as err:
        report.missing("sealed archive", place, str(err))
        return None
    source.add(digest_from_text(sealed.archive), path)
    try:
        documents = archive.decrypt_archive(view.rules, view.draw.key, path, folder)
    except UserFacingError as err:
        report.mismatch("texts", place, f"they are not the sealed ones: {err.__cause__ or err}")
        return None
    report.checked["documents opened"] += sealed.documents
    return tuple(archive.read_document(documents, number) for number in view.draw.documents)


def _compare(
    due: CompetitionOutcome, stated: CompetitionOutcome, place: LogPlace, report: LogReport
) -> None:
    if due.encode() == stated.encode():
        report.checked["outcomes"] += 1
        return
    found = list(differences(due, stated)) or [("order in the outcome", "", "another", "this")]
    for what, why, expected, given in found:
        report.mismatch(what, place, why, expected=expected, found=given)


def contenders(
    view: CompetitionView, blob: Callable[[Digest], bytes | None]
) -> tuple[JudgedEntrant, ...]:
    """Entrants whose submission counts, with their evaluations; raises UserFacingError."""
    return tuple(
        JudgedEntrant(
            entrant=name,
            author=view.entrants[name].author,
            submission=submission,
            evaluations=tuple(_evaluations(view, name, blob)),
        )
        for name, submission in view.submissions.items()
    )


def differences(due: CompetitionOutcome, stated: CompetitionOutcome) -> Iterator[Difference]:
    """Differences of two outcomes: entrants first, and the most telling field of each first."""
    due_places = {one.entrant: one for one in due.places}
    stated_places = {one.entrant: one for one in stated.places}
    for name, ours, theirs in _matched(due_places, stated_places):
        yield from _fields(f"entrant {name}", "of", _OF_A_PLACE, (ours, theirs))
        if ours is not None and theirs is not None:
            yield from _evaluator_differences(ours, theirs)
    due_pairs = {(one.first, one.other): one for one in due.pairs}
    stated_pairs = {(one.first, one.other): one for one in stated.pairs}
    for names, one, other in _matched(due_pairs, stated_pairs):
        what = f"comparison of {names[0]} and {names[1]}"
        yield from _fields(what, "in the", _OF_A_PAIR, (one, other))
    if due.documents != stated.documents:
        yield "number of documents", "", due.documents, stated.documents
    ours_order, theirs_order = list(due_places), list(stated_places)
    if ours_order != theirs_order and set(ours_order) == set(theirs_order):
        yield "order of the entrants", "", ", ".join(ours_order), ", ".join(theirs_order)


def _evaluator_differences(due: RankedEntrant, stated: RankedEntrant) -> Iterator[Difference]:
    ours = {one.evaluator: one for one in due.evaluators}
    theirs = {one.evaluator: one for one in stated.evaluators}
    for key, one, other in _matched(ours, theirs):
        what = f"evaluator {short_id(key)} of entrant {due.entrant}"
        yield from _fields(what, "of", _OF_AN_EVALUATOR, (one, other))


def _matched(due: Mapping[K, V], stated: Mapping[K, V]) -> Iterator[tuple[K, V | None, V | None]]:
    for key in sorted(due.keys() | stated.keys()):
        yield key, due.get(key), stated.get(key)


def _fields(
    what: str, of: str, names: Sequence[str], pair: tuple[object | None, object | None]
) -> Iterator[Difference]:
    """Differences in the fields of a thing, or that only one of the outcomes has it."""
    due, stated = pair
    if due is None or stated is None:
        yield what, "", "none" if due is None else "one", "none" if stated is None else "one"
        return
    for name in names:
        expected, found = getattr(due, name), getattr(stated, name)
        if expected != found:
            why = ""
            if name == "millibits" and isinstance(due, RankedEntrant):
                why = _whose(due, found)
            yield f"{name} {of} {what}", why, expected, found


def _whose(due: RankedEntrant, millibits: object) -> str:
    """The evaluator whose own sum equals the stated one, if there is one."""
    for one in due.evaluators:
        if one.millibits == millibits:
            lies = ", which is an outlier," if one.is_outlier else ""
            return (
                f"that is what evaluator {short_id(one.evaluator)}{lies} scored alone; "
                "the medians of all evaluators count"
            )
    return ""


def _evaluations(
    view: CompetitionView, name: str, blob: Callable[[Digest], bytes | None]
) -> Iterator[Evaluation]:
    for (entrant, evaluator), scored in sorted(view.results.items()):
        if entrant != name:
            continue
        raw, who = blob(scored.scores), short_id(to_text(evaluator))
        if raw is None:
            raise UserFacingError(
                f"the ledger does not have the scores of evaluator {who} for {name}: "
                "ask its operator to restore them"
            )
        try:
            yield Evaluation.parse(raw)
        except MalformedError as err:
            raise UserFacingError(f"invalid scores of evaluator {who} for {name}: {err}") from err


def describe_log(log: FoldedLog) -> str:
    names = ", ".join(one.key.name for one in log.signed.cosignatures)
    cosigned = f", cosigned by {names}" if names else ""
    return (
        f"log: {plural(log.checkpoint.size, 'entry makes', 'entries make')} the root that "
        f"{log.checkpoint.origin} "
        f"signed{cosigned}; network {log.genesis.name} ({to_text(log.genesis.network_id)})"
    )


def describe_statements(view: CompetitionView, number: int) -> str:
    order = ", ".join(
        f"{_PHASES[phase]} {mark.index}"
        for phase, mark in sorted(view.phase_starts.items(), key=lambda one: one[1].index)
    )
    return f"statements: {number:,} are signed, each follows from those before (entries: {order})"


def describe_texts(judged: JudgedCompetition) -> str:
    number = judged.view.rules.sealed.documents
    return (
        f"texts: {plural(number, 'document matches', 'documents match')} the sealed root, "
        f"{plural(len(judged.texts), 'was', 'were')} drawn"
    )


def describe_evaluators(judged: JudgedCompetition) -> str:
    view, draw = judged.view, judged.view.draw
    drawn = ", ".join(short_id(to_text(key)) for key in draw.evaluators) if draw else ""
    return (
        f"evaluators: {len(view.offers)} offered, {drawn} were drawn; they committed to "
        f"{len(view.commits)} evaluations, those of each model before any of that model was "
        f"published, and published {len(view.results)}"
    )


def describe_missing(view: CompetitionView) -> list[str]:
    silent = [
        f"evaluator {short_id(to_text(key))} never committed to scores of {entrant}"
        for entrant, key in view.missing_commitments
    ]
    withheld = [
        f"evaluator {short_id(to_text(key))} committed to scores of {entrant} (entry "
        f"{view.commits[entrant, key].committed_at.index}) and did not publish them: they do not "
        "count"
        for entrant, key in view.withheld
    ]
    return silent + withheld


def describe_outcome(judged: JudgedCompetition) -> str:
    name = to_text(sha256(judged.outcome.encode()))
    same = "medians, totals, intervals and ranks equal those in the log, byte for byte"
    return f"outcome: {same} ({name})"


def describe_rescoring(documents: int, device: str) -> str:
    scored = plural(documents, "document")
    return f"scored again on {device}: {scored}, each within tolerance of the median"


@dataclass(frozen=True, slots=True, kw_only=True)
class VerifyOptions:
    """Place to verify, and files to write."""

    place: str
    """The address of a ledger, or the file of a bundle."""
    wanted: str = ""
    """The competition's name or the beginning of its id; empty: the only one."""
    trust: Policy | None = None
    bundle: Path | None = None
    """File for all that was read."""

    @classmethod
    def of(
        cls,
        place: str,
        *,
        wanted: str = "",
        bundle: Path | None = None,
    ) -> VerifyOptions:
        """Read a place; the address of a competition's page names the competition, too."""
        page = _PAGE.fullmatch(place)
        if page is not None:
            place, wanted = page["ledger"], wanted or page["competition"]
        return cls(place=place, wanted=wanted, bundle=bundle)

    @property
    def is_live(self) -> bool:
        """True for a ledger, False for a bundle."""
        return self.place.startswith(("http://", "https://"))


@dataclass(slots=True, kw_only=True)
class CompetitionFindings:
    """Findings; `verify` and the rescoring after it write to them."""

    report: LogReport = field(default_factory=LogReport)
    lines: list[str] = field(default_factory=list)
    """Sentences about what holds."""
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
        async with LedgerApi(options.place, trust=options.trust) as api:
            recorded = RecordedLog(LiveLog(api), folder / "log", with_entries=bool(options.bundle))
            archive_of = partial(
                archive.fetch_archive,
                to=folder / _ARCHIVE,
                blob=recorded.blob,
                ledger=options.place,
            )
            checking = _Checking(options, recorded, archive_of, found, folder, progress)
            await trio.to_thread.run_sync(checking.run, options.wanted)
            return recorded

    return trio.run(check)


def _offline(
    options: VerifyOptions, found: CompetitionFindings, folder: Path, progress: WorkProgress
) -> RecordedLog | None:
    try:
        with BundleFile(Path(options.place)) as file:
            recorded = RecordedLog(file, folder / "log", with_entries=bool(options.bundle))
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
        found.lines.append(describe_log(found.log))
        found.view = find(found.log, wanted, report)
        if found.view is None:
            return
        self._check_state(found.log, found.view)
        before = len(report.findings)
        found.judged = judge(found.view, self.source, self.archive_of, self.folder / "set", report)
        if found.judged is None:
            return
        found.lines.append(describe_texts(found.judged))
        found.lines.append(describe_evaluators(found.judged))
        if len(report.findings) == before:
            found.lines.append(describe_outcome(found.judged))

    def _check_state(self, log: FoldedLog, view: CompetitionView) -> None:
        found, report = self.found, self.found.report
        if not report.findings:
            number = log.fold.followed[to_text(view.id)]
            found.lines.append(describe_statements(view, number))
        if view.outcome is None:
            as_of_ms = now_ms() if self.options.is_live else log.last_ms
            found.void = view.void_reason(as_of_ms)
            report_open(view, as_of_ms, report)
        if found.void or view.outcome is not None:
            found.deviations += describe_missing(view)


def _read(
    source: RecordedLog, trust: Policy | None, report: LogReport, progress: WorkProgress
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
    return log if log.reader.signed else None


def find(log: FoldedLog, wanted: str, report: LogReport) -> CompetitionView | None:
    """Find the one competition that is meant; if there is none, or several, the report says so."""
    views = list(log.competitions.values())
    found = find_competitions(views, wanted)
    if len(found) == 1:
        return found[0]
    which = f"{len(found) or 'no'} competitions" + (f" are called {wanted!r}" if wanted else "")
    known = ", ".join(map(display_name, found or views))
    choice = f"; it has: {known}; choose one with --competition" if known else ""
    report.missing("competition", LogPlace(), f"{which} in the log{choice}")
    return None


def report_open(view: CompetitionView, now_ms: int, report: LogReport) -> None:
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


def _extracted(file: BundleFile, to: Path, rules: CompetitionRules) -> Path:
    """Copy the archive out of the bundle; nothing is fetched."""
    if not file.extract(digest_from_text(rules.sealed.archive), to):
        raise NotAvailableError("the bundle does not have the sealed archive")
    name = sealing.file_digest(to)
    if name != rules.sealed.archive:
        raise OtherArchiveError(
            f"the archive in the bundle is {name[:10]}, and {rules.sealed.archive[:10]} was sealed"
        )
    return to
