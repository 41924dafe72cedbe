"""Audits by repeated training on a page: who repeated whose contribution, and what was found.

All of it is in the records of rounds: an order in a roster, its report among the round's entries,
and the contribution among those of an earlier round. A case is over at most `LAST_AUDIT` rounds
after its contribution, so an audit costs a page a few more rounds, of which most are cached.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from msgspec import UNSET

from tequio_ledger.web.pages.text import StatusLabel
from tequio_shared.errors import RefusedError
from tequio_shared.head.contribution import contribution_id
from tequio_shared.ids import PeerKey, RunId, from_text, to_text
from tequio_shared.limits import REVIEW_ROUNDS
from tequio_shared.round.audits import AuditVerdict, judge

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from tequio_ledger.web.pages.round_view import RoundReader, RoundRecord
    from tequio_shared.round.documents import AuditOrder
    from tequio_shared.statements.runs import AuditFigures, AuditReport

LAST_AUDIT = REVIEW_ROUNDS + 1
"""Rounds after a contribution's own in which audits of it may be ordered."""

_ORDERED = StatusLabel("Ordered", "busy", "The auditor has not reported yet.")
_MISSING = StatusLabel("No report", "off", "The round ended without the auditor's report.")
_DECLINED = StatusLabel(
    "Declined", "off", "The auditor lacked something for it; this says nothing about the trainer."
)
VERDICTS: Mapping[AuditVerdict, StatusLabel] = {
    AuditVerdict.CLEAR: StatusLabel("Clear", "ok", "The repeated training gave the same."),
    AuditVerdict.WARNED: StatusLabel(
        "Clear, near a limit", "ok", "It counts as clear. Unusual hardware can cause this."
    ),
    AuditVerdict.NOT_DONE: StatusLabel(
        "Not done",
        "danger",
        "According to this auditor, the contribution is not the training that it claims. It counts "
        "against the trainer only if five sixths of all its auditors agree.",
    ),
    AuditVerdict.WITHHELD: StatusLabel(
        "Withheld", "warn", "The trainer did not open its contribution to this auditor."
    ),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditLine:
    """One order; `figures` are ratios, such as 0.05."""

    ordered_round: int
    """The round whose roster has the order."""
    auditor: str
    work_round: int
    trainer: str
    """Empty if the round of the contribution was not read."""
    verdict: StatusLabel
    figures: tuple[float, ...]
    entry: int | None
    """Of the report."""


def audits_in(record: RoundRecord, number: int, works: Works) -> list[AuditLine]:
    """List the audits that a round orders, by slot."""
    return [
        AuditLine(
            ordered_round=number,
            auditor=record.roster.members[order.slot].peer,
            work_round=order.round,
            trainer=works.trainer_of(order),
            verdict=_verdict(record, order),
            figures=_figures(record, order),
            entry=record.reports[order.slot].index if order.slot in record.reports else None,
        )
        for order in record.roster.audits
    ]


def _verdict(record: RoundRecord, order: AuditOrder) -> StatusLabel:
    sent = record.reports.get(order.slot)
    if sent is None:
        return _ORDERED if record.ended is None else _MISSING
    return report_label(sent.body)


def report_label(body: AuditReport) -> StatusLabel:
    """Describe what a report says of the contribution."""
    return _DECLINED if body.declines else VERDICTS[judge(_figures_of(body))]


def _figures_of(body: AuditReport) -> AuditFigures | None:
    return None if body.figures is UNSET else body.figures


def _figures(record: RoundRecord, order: AuditOrder) -> tuple[float, ...]:
    sent = record.reports.get(order.slot)
    found = None if sent is None else _figures_of(sent.body)
    if found is None:
        return ()
    return tuple(one / 10_000 for one in (found.hidden, found.other, found.rounding, found.leaves))


class Works:
    """Trainers of contributions, from the records of rounds that a page has read."""

    def __init__(self, records: Iterable[tuple[int, RoundRecord]]) -> None:
        self._trainers = {
            (number, to_text(contribution_id(from_text(one.body.header, None)))): one.author
            for number, record in records
            for one in record.commits.values()
        }

    def trainer_of(self, order: AuditOrder) -> str:
        key = self._trainers.get((order.round, order.contribution))
        return "" if key is None else to_text(key)


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundAudits:
    """Audits ordered in a round, and those of its contributions."""

    here: list[AuditLine]
    of_it: list[AuditLine]


def round_audits(
    reader: RoundReader, connection: Connection, run: RunId, number: int, record: RoundRecord
) -> RoundAudits:
    """Read the audits about a round: up to `LAST_AUDIT` rounds before and after it."""
    before = {order.round for order in record.roster.audits}
    works = Works([*_read(reader, connection, run, before), (number, record)])
    later = range(number + 1, number + 1 + LAST_AUDIT) if record.commits else ()
    return RoundAudits(
        here=audits_in(record, number, works),
        of_it=[
            line
            for at, one in _read(reader, connection, run, later)
            for line in audits_in(one, at, works)
            if line.work_round == number
        ],
    )


def _read(
    reader: RoundReader, connection: Connection, run: RunId, numbers: Iterable[int]
) -> Iterator[tuple[int, RoundRecord]]:
    for number in sorted(numbers):
        try:
            yield number, reader.read(connection, run, number)
        except RefusedError:  # not begun yet, or its documents are lost
            continue


@dataclass(frozen=True, slots=True, kw_only=True)
class PeerAudit:
    """One audit by a key or of its work, in a run."""

    run: str
    run_name: str
    line: AuditLine


@dataclass(frozen=True, slots=True, kw_only=True)
class PeerAudits:
    by_it: list[PeerAudit]
    of_it: list[PeerAudit]


def peer_audits(key: PeerKey, rounds: Iterable[tuple[RunId, str, int, RoundRecord]]) -> PeerAudits:
    """Find the audits of a key in rounds that were read already, in their order.

    An audit of its work is missed if it was ordered in a round that was not read.
    """
    read, name = list(rounds), to_text(key)
    works = {
        run: Works((number, record) for at, _, number, record in read if at == run)
        for run in {run for run, _, _, _ in read}
    }
    found = [
        PeerAudit(run=to_text(run), run_name=title, line=line)
        for run, title, number, record in read
        for line in audits_in(record, number, works[run])
    ]
    return PeerAudits(
        by_it=[one for one in found if one.line.auditor == name],
        of_it=[one for one in found if one.line.trainer == name],
    )
