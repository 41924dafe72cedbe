"""A decided competition judged again: its texts opened, its outcome computed and compared.

The outcome follows from the evaluations that count and from the texts that were drawn. A stated
outcome has to equal it byte for byte; where it differs, the report names each field.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from tequio_client.names import short_id
from tequio_client.verify import archive
from tequio_client.verify.archive import OtherArchiveError
from tequio_client.verify.report import LogPlace
from tequio_client.verify.source import NotAvailableError
from tequio_shared.competition import result
from tequio_shared.competition.result import DrawnText, JudgedEntrant
from tequio_shared.competition.rules import CompetitionOutcome, Evaluation
from tequio_shared.competition.state import CompetitionPhase
from tequio_shared.errors import MalformedError, PeerError, UserFacingError
from tequio_shared.ids import digest_from_text, sha256, to_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from tequio_client.verify.bundle import RecordedLog
    from tequio_client.verify.folded_log import FoldedLog
    from tequio_client.verify.report import AuditReport
    from tequio_shared.competition.competition import CompetitionView
    from tequio_shared.competition.rules import ComparedEntrants, CompetitionRules, RankedEntrant
    from tequio_shared.ids import Digest


ArchiveOf: TypeAlias = "Callable[[CompetitionRules], Path]"
"""Gets the sealed archive as a file; raises NotAvailableError, OtherArchiveError."""


_OF_A_PLACE = (
    "submission",
    "author",
    "rank",
    "millibits",
    "size_bytes",
    "nanobits_per_byte",
    "low",
    "high",
)
_OF_A_PAIR = ("winner", "low", "high", "against")
_OF_AN_EVALUATOR = ("scores", "millibits", "off", "outside", "is_outlier")

Difference = tuple[str, str, object, object]
"""What differs, why that may be, what is due, and what was stated."""


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
    report: AuditReport,
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
        stated = _stated(view.outcome, source)
    except (NotAvailableError, UserFacingError) as err:
        report.missing("scores", place, str(err))
        return None
    except PeerError as err:
        report.mismatch("scores", place, str(err))
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
    report: AuditReport,
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
        report.mismatch("texts", place, f"they are not the sealed ones: {_why(err)}")
        return None
    report.checked["documents opened"] += sealed.documents
    return tuple(archive.read_document(documents, number) for number in view.draw.documents)


def _why(err: UserFacingError) -> str:
    """Without the name of the file, which is a temporary one."""
    return str(err.__cause__ or err)


def _stated(name: Digest, source: RecordedLog) -> CompetitionOutcome:
    raw = source.blob(name)
    if raw is None:
        raise NotAvailableError("the outcome document is not available")
    return CompetitionOutcome.parse(raw)


def _compare(
    due: CompetitionOutcome, stated: CompetitionOutcome, place: LogPlace, report: AuditReport
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


def differences(due: CompetitionOutcome, said: CompetitionOutcome) -> Iterator[Difference]:
    """Differences of two outcomes: entrants first, and the most telling field of each first."""
    due_places = {one.entrant: one for one in due.places}
    said_places = {one.entrant: one for one in said.places}
    for name in sorted(due_places.keys() | said_places.keys()):
        ours, theirs = due_places.get(name), said_places.get(name)
        if ours is None or theirs is None:
            yield f"entrant {name}", "", _presence(ours), _presence(theirs)
            continue
        yield from _place(ours, theirs)
    yield from _pairs(due, said)
    if due.documents != said.documents:
        yield "number of documents", "", due.documents, said.documents
    ours_order = [one.entrant for one in due.places]
    theirs_order = [one.entrant for one in said.places]
    if ours_order != theirs_order and set(ours_order) == set(theirs_order):
        yield "order of the entrants", "", ", ".join(ours_order), ", ".join(theirs_order)


def _place(due: RankedEntrant, said: RankedEntrant) -> Iterator[Difference]:
    for name in _OF_A_PLACE:
        expected, found = getattr(due, name), getattr(said, name)
        if expected != found:
            why = _whose(due, found) if name == "millibits" else ""
            yield f"{name} of entrant {due.entrant}", why, expected, found
    ours = {one.evaluator: one for one in due.evaluators}
    theirs = {one.evaluator: one for one in said.evaluators}
    for key in sorted(ours.keys() | theirs.keys()):
        one, other = ours.get(key), theirs.get(key)
        what = f"evaluator {short_id(key)} of entrant {due.entrant}"
        if one is None or other is None:
            yield what, "", _presence(one), _presence(other)
            continue
        for name in _OF_AN_EVALUATOR:
            if getattr(one, name) != getattr(other, name):
                yield f"{name} of {what}", "", getattr(one, name), getattr(other, name)


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


def _pairs(due: CompetitionOutcome, said: CompetitionOutcome) -> Iterator[Difference]:
    ours = {(one.first, one.other): one for one in due.pairs}
    theirs = {(one.first, one.other): one for one in said.pairs}
    for names in sorted(ours.keys() | theirs.keys()):
        one, other = ours.get(names), theirs.get(names)
        what = f"comparison of {names[0]} and {names[1]}"
        if one is None or other is None:
            yield what, "", _presence(one), _presence(other)
            continue
        yield from _pair(what, one, other)


def _pair(what: str, due: ComparedEntrants, said: ComparedEntrants) -> Iterator[Difference]:
    for name in _OF_A_PAIR:
        if getattr(due, name) != getattr(said, name):
            yield f"{name} in the {what}", "", getattr(due, name), getattr(said, name)


def _presence(one: object) -> str:
    return "none" if one is None else "one"


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


_PHASES = {
    CompetitionPhase.OPEN: "opened",
    CompetitionPhase.CLOSED: "closed",
    CompetitionPhase.DRAWN: "drawn",
    CompetitionPhase.REVEALED: "revealed",
    CompetitionPhase.DECIDED: "decided",
}


def describe_log(log: FoldedLog) -> str:
    """About signature and root."""
    cosigned = f", cosigned by {', '.join(log.cosigners)}" if log.cosigners else ""
    return (
        f"log: {log.checkpoint.size:,} entries make the root that {log.checkpoint.origin} "
        f"signed{cosigned}; network {log.genesis.name} ({to_text(log.genesis.network_id)})"
    )


def describe_statements(view: CompetitionView, number: int) -> str:
    """About order and signatures."""
    order = ", ".join(
        f"{_PHASES[phase]} {mark.index}"
        for phase, mark in sorted(view.phase_starts.items(), key=lambda one: one[1].index)
    )
    return f"statements: {number:,} are signed, each follows from those before (entries: {order})"


def describe_texts(judged: JudgedCompetition) -> str:
    """About the sealed set."""
    number = judged.view.rules.sealed.documents
    return f"texts: {number:,} documents match the sealed root, {len(judged.texts):,} were drawn"


def describe_evaluators(judged: JudgedCompetition) -> str:
    """About who scored."""
    view, draw = judged.view, judged.view.draw
    drawn = ", ".join(short_id(to_text(key)) for key in draw.evaluators) if draw else ""
    return (
        f"evaluators: {len(view.offers)} offered, {drawn} were drawn; they committed to "
        f"{len(view.commits)} evaluations before any was published, then published "
        f"{len(view.results)}"
    )


def describe_unheard(view: CompetitionView) -> list[str]:
    """About each evaluator who was drawn, and whose scores of an entrant do not count."""
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
    """About the result."""
    name = to_text(sha256(judged.outcome.encode()))
    same = "medians, totals, intervals and ranks equal those in the log, byte for byte"
    return f"outcome: {same} ({name})"


def describe_rescoring(documents: int, device: str) -> str:
    """About what was scored again."""
    return f"scored again on {device}: {documents:,} documents, each within tolerance of the median"
