"""Rows that follow from a log: what a ledger derives, and what anyone can derive again.

One room for all who need them. The ledger writes these rows and checks what it has written; the
monitor and the audit compare its answers with them.

Rules. The rows of a round follow from the entries about this round, the documents that these name,
the teams of its members, and which of these were revoked. A measure's row follows from its entry.
The rows of a key follow from the state, which contains every key. So each row can be derived again
without the log before it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from itertools import groupby
from statistics import median_low
from typing import NamedTuple, get_args

import msgspec
from msgspec import UNSET

from tequio_shared import encoding
from tequio_shared.head.contribution import ContributionHeader
from tequio_shared.ids import Digest, PeerKey, RunId, digest_from_text, from_text, to_text
from tequio_shared.network.full_run import FullRunView
from tequio_shared.network.rollback import Rollback
from tequio_shared.network.run import Documents
from tequio_shared.network.verdicts import JudgedHead, judge
from tequio_shared.round import measures
from tequio_shared.round.documents import TRAINER, WITNESS, Roster, RoundResult, SlotResult
from tequio_shared.round.manifest import MeasureRules
from tequio_shared.round.measures import tasks_of
from tequio_shared.round.proof import Verdict
from tequio_shared.statements.runs import (
    HeadMeasure,
    RoundClose,
    RoundOpen,
    RoundRoster,
    RoundVoid,
    RunOpen,
    Sample,
    TaskCounts,
    WorkCommit,
)
from tequio_shared.statements.statement import Statement

OPEN, CLOSED, VOID = "open", "closed", "void"
RECEIVED = "received"
"""Kind of points that a key has for the work of another; the others are the roles."""
RoundEntry = tuple[int, Statement]
"""Log index, and the statement."""
RosterOf = Callable[[Digest], Roster]
"""Reads a roster; raises as `Documents` does."""
TeamOf = Callable[[PeerKey, int], int]
"""Team of a key when an entry was logged; 0 without one."""
IsPaid = Callable[[PeerKey, int], bool]
"""Tells whether a round that closes with that entry pays the key (`KeyLinks.is_paid`)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenedRunRow:
    run: bytes
    opened_index: int
    manifest: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundRow:
    """One round: where it opened, how it ended; times in ms by the coordinator's clock."""

    run: bytes
    round: int
    roster_index: int
    roster: bytes
    outcome: str = OPEN
    opened_index: int | None = None
    closed_index: int | None = None
    """Log index of its close or void."""
    accepted: int = 0
    head: bytes | None = None
    """The head that it started from."""
    result: bytes | None = None
    opened_ms: int | None = None
    ended_ms: int | None = None
    tokens: int = 0
    """Sum over all accepted contributions."""
    loss_q16: int | None = None
    """Median of the losses that its accepted trainers claim, in 2^-16 nats per token."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CreditRow:
    """Points of one key in one round, by kind: trainer, witness, or received from an author."""

    run: bytes
    round: int
    peer: bytes
    kind: str
    author: bytes
    """Key that did the work: `peer` itself, unless the points are received."""
    gflop: int
    team: int
    """Team of the author when the round closed, by the entry that founded it; 0 without one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AttendedRow:
    """One key of one finished round, by the entry that ended it.

    It is in the round's roster, or receives points of another's work there.
    """

    peer: bytes
    closed_index: int


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasureRow:
    """One member's measure of the head that a round made; both or neither of the texts."""

    run: bytes
    round: int
    peer: bytes
    entry: int
    head: bytes
    millibits: int
    size_bytes: int
    tokens: int
    prompt: str | None
    written: str | None
    tasks: str | None
    """JSON of the counts in the statement; None without any."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PeerRow:
    """One registered key: the end of its chain of statements, and its points in all runs."""

    key: bytes
    registered_index: int
    last_seq: int
    last_hash: bytes
    gflop: int
    unvested: int
    """Part of `gflop` that can still be lost."""
    forfeited: int
    """No longer part of `gflop`."""
    received: int
    """Part of `gflop` that is for the work of other keys."""
    recovery: bytes | None
    """The recovery key."""
    replaces: bytes | None
    """The key whose place it took."""
    replaced_by: bytes | None
    name: str
    """Public name; empty without one."""
    badges: tuple[tuple[str, int], ...]
    """Badges and the entries that prove them, the earliest first."""
    accepted: int
    """Accepted contributions."""
    streak_day: int
    """Day of the last one, counted from 1970 (UTC)."""
    streak_days: int
    """Days in a row with one, up to that day."""
    team: int
    """Team for which it earns, by the entry that founded it; 0 without one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StandingRow:
    """The standing of one key, and the log indices of the reasons."""

    peer: bytes
    standing: str
    since: int
    cause: int | None
    evidence: tuple[int, ...]
    until: int
    appeal: int | None
    is_restricted: bool
    """Quarantined or banned; of a revoked key, whether its record is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TierRow:
    """Tier and owner of one key; `since` is the log index of the entry that set them."""

    peer: bytes
    tier: int
    owner: bytes
    run: bytes | None
    until: int
    since: int | None


Row = (
    OpenedRunRow | RoundRow | CreditRow | AttendedRow | MeasureRow | PeerRow | StandingRow | TierRow
)


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundRows:
    """All rows of one round; `measures` are of the head that it made."""

    round: RoundRow | None = None
    credits: tuple[CreditRow, ...] = ()
    attended: tuple[AttendedRow, ...] = ()
    measures: tuple[MeasureRow, ...] = ()


def round_rows(
    entries: Iterable[RoundEntry],
    roster_of: RosterOf,
    documents: Documents,
    team_of: TeamOf,
    is_paid: IsPaid,
) -> RoundRows:
    """Derive the rows of a round from the entries about it, in log order.

    Raises KeyError when a document is missing, MalformedError when it is damaged.
    """
    rows, commits = RoundRows(), dict[PeerKey, str]()
    for index, statement in entries:
        found = rows.round
        match statement.body:
            case RoundRoster(roster=roster):
                run, number = place_of(statement)
                named = digest_from_text(roster)
                found = RoundRow(run=run, round=number, roster_index=index, roster=named)
                rows = replace(rows, round=found)
            case RoundOpen(head=head, opened=opened_ms) if found is not None:
                opened = replace(
                    found, opened_index=index, opened_ms=opened_ms, head=from_text(head)
                )
                rows = replace(rows, round=opened)
            case WorkCommit(header=header):
                commits[statement.author] = header
            case RoundClose(result=result) as body if found is not None:
                members = roster_of(Digest(found.roster)).keys
                slots = RoundResult.parse(documents(digest_from_text(result))).slots
                closed = _closed(found, index, statement, body, _accepted(slots, members, commits))
                paid = _credits(closed, index, slots, members, team_of, is_paid)
                present = (*members.values(), *(PeerKey(one.peer) for one in paid))
                attended = _attended(index, present)
                rows = replace(rows, round=closed, credits=paid, attended=attended)
            case RoundVoid() if found is not None:
                ended = replace(found, closed_index=index, ended_ms=statement.ts, outcome=VOID)
                members = roster_of(Digest(found.roster)).keys
                rows = replace(rows, round=ended, attended=_attended(index, members.values()))
            case HeadMeasure() as body:
                measure = measure_row(index, statement, body)
                rows = replace(rows, measures=(*rows.measures, measure))
    return rows


def _accepted(
    slots: Sequence[SlotResult], members: Mapping[int, PeerKey], commits: Mapping[PeerKey, str]
) -> list[ContributionHeader]:
    return [
        ContributionHeader.parse(from_text(commits[members[slot]], None))
        for slot, row in enumerate(slots)
        if row.verdict == Verdict.ACCEPTED
    ]


def _closed(
    found: RoundRow,
    index: int,
    statement: Statement,
    body: RoundClose,
    headers: Sequence[ContributionHeader],
) -> RoundRow:
    losses = [header.claimed_loss_last_q16 for header in headers]
    return replace(
        found,
        closed_index=index,
        outcome=CLOSED,
        accepted=body.accepted,
        result=digest_from_text(body.result),
        ended_ms=statement.ts,
        tokens=sum(header.tokens for header in headers),
        loss_q16=median_low(losses) if losses else None,  # after the last training
    )


def _credits(
    found: RoundRow,
    index: int,
    slots: Sequence[SlotResult],
    members: Mapping[int, PeerKey],
    team_of: TeamOf,
    is_paid: IsPaid,
) -> tuple[CreditRow, ...]:
    return tuple(
        CreditRow(
            run=found.run,
            round=found.round,
            peer=one.peer,
            kind=one.kind,
            author=members[slot],
            gflop=one.gflop,
            # The team of that moment: a member that leaves takes no points away from it.
            team=team_of(members[slot], index),
        )
        for slot, row in enumerate(slots)
        for one in slot_payments(members[slot], row, index, is_paid)
    )


class Payment(NamedTuple):
    """Points of one key for one slot of a round."""

    peer: PeerKey
    kind: str
    gflop: int


def slot_payments(
    author: PeerKey, row: SlotResult, index: int, is_paid: IsPaid
) -> tuple[Payment, ...]:
    """List what the slot of a key pays in a round that closes with that entry.

    Nothing to a key if it, or one that followed it, was revoked before; and nothing at all if that
    is the slot's own.
    """
    if not is_paid(author, index):
        return ()
    due = (
        Payment(author, TRAINER, row.trainer_gflop),
        Payment(author, WITNESS, row.witness_gflop),
        *(Payment(key, RECEIVED, gflop) for key, gflop in row.received.items()),
    )
    return tuple(one for one in due if one.gflop and is_paid(one.peer, index))


def _attended(index: int, keys: Iterable[PeerKey]) -> tuple[AttendedRow, ...]:
    return tuple(AttendedRow(peer=key, closed_index=index) for key in dict.fromkeys(keys))


def run_row(index: int, statement: Statement) -> OpenedRunRow:
    if statement.run is None or not isinstance(statement.body, RunOpen):
        raise AssertionError(f"{statement.type} opens no run")
    manifest = digest_from_text(statement.body.manifest)
    return OpenedRunRow(run=statement.run, opened_index=index, manifest=manifest)


def measure_row(index: int, statement: Statement, body: HeadMeasure) -> MeasureRow:
    run, number = place_of(statement)
    sample = measures.sample_of(body)
    return MeasureRow(
        run=run,
        round=number,
        peer=statement.author,
        entry=index,
        head=from_text(body.head),
        millibits=body.millibits,
        size_bytes=body.size_bytes,
        tokens=body.tokens,
        prompt=sample.prompt if sample else None,
        written=sample.text if sample else None,
        tasks=encoding.encode(body.tasks).decode() if tasks_of(body) else None,
    )


def place_of(statement: Statement) -> tuple[RunId, int]:
    """Give run and round of a statement about a round."""
    if statement.run is None or statement.round is None:
        raise AssertionError(f"{statement.type} without run and round was admitted")
    return statement.run, statement.round


# --- Rows of a key; `state` derives them.


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyRows:
    peer: PeerRow
    standing: StandingRow
    tier: TierRow


@dataclass(frozen=True, slots=True, kw_only=True)
class RankedRow:
    """One key's place, from 1 on."""

    rank: int
    key: PeerKey
    name: str
    gflop: int


@dataclass(frozen=True, slots=True, kw_only=True)
class AttendedRound:
    """One finished round, and the points that a key earned in it."""

    run: bytes
    round: int
    roster_index: int
    closed_index: int
    outcome: str
    gflop: int


# --- Measures, by head.


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuredRow:
    """The measurement of one member, and the entry that contains it."""

    entry: int
    peer: PeerKey
    said: HeadMeasure
    is_outlier: bool
    tasks: tuple[AnsweredTask, ...] = ()
    """In the order of the run's tasks; none if it answered none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AnsweredTask:
    """Counts of one member, and whether they disagree with the median of the members."""

    counts: TaskCounts
    is_outlier: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuredHead:
    """One head, by the round that made it; `rows` in log order, at least one."""

    round: int
    head: bytes
    median: HeadMeasure
    rows: tuple[MeasuredRow, ...]
    shown: MeasuredRow | None = None
    """The row whose sample of the head's text is shown."""
    tasks: tuple[TaskCounts, ...] = ()
    """Medians, in the order of the run's tasks; none if no member answered them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class VerdictRules:
    """Rules and rollbacks on which the verdicts on a run's heads depend, beside the measures."""

    measures: MeasureRules
    rollbacks: tuple[Rollback, ...]
    """All of the run. Later ones change no verdict on a head that was made before them."""

    @classmethod
    def of(cls, view: FullRunView) -> VerdictRules:
        return cls(measures=view.manifest.measures, rollbacks=tuple(view.rollbacks))

    def judge(self, heads: Sequence[MeasuredHead]) -> list[JudgedHead]:
        """Judge ascending heads, each by those before it among them."""
        said = [(head.round, [row.said for row in head.rows]) for head in heads]
        return judge(said, self.rollbacks, self.measures)


def measured_heads(rows: Iterable[MeasureRow]) -> list[MeasuredHead]:
    """Group measures of one run, which come by round and then by entry."""
    return [
        _measured_head(number, list(of_head))
        for number, of_head in groupby(rows, lambda row: row.round)
    ]


def _measured_head(number: int, rows: Sequence[MeasureRow]) -> MeasuredHead:
    measured = {PeerKey(row.peer): _measure(row) for row in rows}
    outliers, best = measures.outliers(measured), measures.best_sample(measured)
    of_tasks = measures.answers_by_task(measured)
    away = [measures.task_outliers(counts) for counts in of_tasks]
    by_peer = {
        peer: MeasuredRow(
            entry=row.entry,
            peer=peer,
            said=body,
            is_outlier=peer in outliers,
            tasks=tuple(
                AnsweredTask(counts=counts, is_outlier=peer in off)
                for counts, off in zip(tasks_of(body), away, strict=False)
            ),
        )
        for row, (peer, body) in zip(rows, measured.items(), strict=True)
    }
    return MeasuredHead(
        round=number,
        head=rows[0].head,
        median=measures.median(measured.values()),
        rows=tuple(by_peer.values()),
        shown=by_peer[best[0]] if best else None,
        tasks=tuple(measures.task_median(counts.values()) for counts in of_tasks),
    )


def _measure(row: MeasureRow) -> HeadMeasure:
    has_sample = row.prompt is not None and row.written is not None
    return HeadMeasure(
        head=to_text(row.head),
        millibits=row.millibits,
        size_bytes=row.size_bytes,
        tokens=row.tokens,
        sample=Sample(prompt=row.prompt or "", text=row.written or "") if has_sample else UNSET,
        tasks=msgspec.json.decode(row.tasks, type=tuple[TaskCounts, ...]) if row.tasks else UNSET,
    )


def columns(row: Row) -> dict[str, object]:
    """Give the columns of a row by name."""
    return {name: getattr(row, name) for name in _COLUMNS[type(row)]}


_COLUMNS: Mapping[type[Row], tuple[str, ...]] = {
    kind: tuple(one.name for one in fields(kind)) for kind in get_args(Row)
}
