"""Answers of the API that follow from the log, made of rows and of the state.

The ledger sends them; the monitor and the audit make the same ones from rows and a state of their
own, and compare.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from typing import Protocol

from msgspec import structs

from tequio_shared.api.admission import (
    ConnectorAnswer,
    ConnectorsAnswer,
    InvitationAnswer,
    InvitationsAnswer,
)
from tequio_shared.api.answer import AsOf
from tequio_shared.api.network import (
    ReleaseAnswer,
    ReleasesAnswer,
    SnapshotAnswer,
    SnapshotsAnswer,
)
from tequio_shared.api.peers import (
    AttendedAnswer,
    BadgeAnswer,
    PeerAnswer,
    PeerRoundsAnswer,
    PeersAnswer,
    PeerStandingAnswer,
    QuarantineAnswer,
    RankedAnswer,
    RankingAnswer,
    StandingAnswer,
    TeamAnswer,
    TeamMemberAnswer,
    TierAnswer,
)
from tequio_shared.api.runs import (
    MeasureAnswer,
    MeasuredAnswer,
    MeasuredTaskAnswer,
    MeasuresAnswer,
    NetworkNoticeAnswer,
    NoticeAnswer,
    PublishedAnswer,
    ResumeAnswer,
    RollbackAnswer,
    RoundAnswer,
    RoundsAnswer,
    RunAnswer,
    RunsAnswer,
    SampleAnswer,
    TaskAnswer,
    WrittenAnswer,
)
from tequio_shared.errors import RefusedError
from tequio_shared.ids import PeerKey, RunId, peer_id_text, to_text
from tequio_shared.limits import COMPARED_HEADS, PUBLISHED_HEADS
from tequio_shared.multiple_choice import MeasuredTask
from tequio_shared.network.full_run import FullRunView
from tequio_shared.network.notices import Notice
from tequio_shared.network.standing import Standing, describe_cause
from tequio_shared.network.tiers import Invitation
from tequio_shared.network.verdicts import JudgedHead
from tequio_shared.round import measures
from tequio_shared.served.rows import (
    AttendedRound,
    KeyRows,
    MeasuredHead,
    RankedRow,
    RoundRow,
    StandingRow,
    VerdictRules,
)
from tequio_shared.served.state import State

LISTED_ROLLBACKS = 8
"""Rollbacks listed for one run; older ones are left out."""
LISTED_STANDINGS = (Standing.QUARANTINED, Standing.BANNED, Standing.SUSPECTED, Standing.PROBATION)
"""Standings that the quarantine list includes; keys with an open appeal are on it besides."""


class DerivedRows(Protocol):
    """The rows that answers are made of: of a database, or of a log that was folded in memory."""

    def keys(self, after: PeerKey | None, limit: int) -> Sequence[KeyRows]:
        """Give keys in order of registration, then by key, after a key."""

    def ranked(self, after: int, limit: int) -> Sequence[RankedRow]:
        """Give the keys with points after a rank, the best first."""

    def ranked_count(self) -> int:
        """Count the keys with points."""

    def standings(self, after: int, limit: int) -> Sequence[StandingRow]:
        """Give keys of the quarantine list by the entry of their standing, after an index."""

    def rounds(self, run: RunId, after: int, limit: int) -> Sequence[RoundRow]:
        """Give the rounds of a run after a number, ascending."""

    def measured(self, run: RunId, after: int, limit: int) -> Sequence[MeasuredHead]:
        """Give the measured heads of the rounds of a run after a number, ascending."""

    def measured_before(self, run: RunId, before: int, limit: int) -> Sequence[MeasuredHead]:
        """Give the last measured heads of the rounds of a run before a number, ascending."""

    def attended(self, key: PeerKey, before: int, limit: int) -> Sequence[AttendedRound]:
        """Give the rounds of a key that ended with an entry below an index, the newest first."""


# --- Keys.


def peers_page(rows: DerivedRows, after: PeerKey | None, limit: int, as_of: AsOf) -> PeersAnswer:
    page = rows.keys(after, limit)
    last = to_text(page[-1].peer.key) if len(page) == limit else None
    return PeersAnswer([peer_answer(one, as_of) for one in page], last, as_of)


def peer_answer(row: KeyRows, as_of: AsOf) -> PeerAnswer:
    peer, tier = row.peer, row.tier
    return PeerAnswer(
        key=to_text(peer.key),
        peer_id=peer_id_text(PeerKey(peer.key)),
        registered_index=peer.registered_index,
        last_seq=peer.last_seq,
        last_hash=to_text(peer.last_hash),
        gflop=peer.gflop,
        unvested=peer.unvested,
        forfeited=peer.forfeited,
        received=peer.received,
        recovery=None if peer.recovery is None else to_text(peer.recovery),
        replaces=None if peer.replaces is None else to_text(peer.replaces),
        replaced_by=None if peer.replaced_by is None else to_text(peer.replaced_by),
        name=peer.name,
        badges=tuple(BadgeAnswer(badge, index) for badge, index in peer.badges),
        accepted=peer.accepted,
        streak_day=peer.streak_day,
        streak_days=peer.streak_days,
        team=peer.team,
        standing=_standing_answer(row.standing),
        tier=TierAnswer(
            tier=tier.tier,
            owner=to_text(tier.owner),
            run=None if tier.run is None else to_text(tier.run),
            until=tier.until,
            since=tier.since,
        ),
        as_of=as_of,
    )


def _standing_answer(row: StandingRow) -> StandingAnswer:
    return StandingAnswer(
        standing=row.standing,
        since=row.since,
        cause=row.cause,
        why=describe_cause(row.cause),
        evidence=row.evidence,
        until=row.until,
        appeal=row.appeal,
    )


def quarantine_page(rows: DerivedRows, after: int, limit: int, as_of: AsOf) -> QuarantineAnswer:
    page = rows.standings(after, limit)
    held = [
        PeerStandingAnswer(
            key=to_text(row.peer),
            peer_id=peer_id_text(PeerKey(row.peer)),
            standing=_standing_answer(row),
        )
        for row in page
    ]
    return QuarantineAnswer(held, page[-1].since if len(page) == limit else None, as_of)


def team_answer(state: State, team: int, after: int, limit: int, as_of: AsOf) -> TeamAnswer:
    """Describe a team and its members after a rank; raises RefusedError("not-found").

    O(limit): `served/team_order.py` says what keeps the order costs.
    """
    record = state.teams.records.get(team)
    if record is None:
        raise RefusedError("not-found", f"entry {team} did not found a team")
    order = state.team_orders.of(team)
    members = [
        TeamMemberAnswer(
            rank=rank, key=to_text(key), name=state.names.of(key), since=since, gflop=gflop
        )
        for rank, (key, since, gflop) in enumerate(order.page(after, limit), after + 1)
    ]
    invitation, goal = record.invitation, record.goal
    return TeamAnswer(
        team=team,
        name=record.name,
        owner=to_text(record.owner),
        founded=record.founded,
        ended=record.ended,
        members=len(record.members),
        gflop=order.gflop,
        invitation=to_text(invitation.key) if invitation else None,
        until=invitation.until if invitation else 0,
        most=invitation.most if invitation else 0,
        goal=goal.gflop if goal else 0,
        goal_since=goal.since if goal else 0,
        goal_until=goal.until if goal else 0,
        reached=goal.reached if goal else 0,
        rows=members,
        next=after + limit if len(members) == limit else None,
        as_of=as_of,
    )


def ranking_page(rows: DerivedRows, after: int, limit: int, as_of: AsOf) -> RankingAnswer:
    """List keys after a rank."""
    page = rows.ranked(after, limit)
    last = page[-1].key if len(page) == limit else None
    return ranking_answer(page, last, rows.ranked_count(), as_of)


def ranking_answer(
    page: Sequence[RankedRow], last: PeerKey | None, ranked: int, as_of: AsOf
) -> RankingAnswer:
    rows = [
        RankedAnswer(rank=row.rank, key=to_text(row.key), name=row.name, gflop=row.gflop)
        for row in page
    ]
    return RankingAnswer(rows, None if last is None else to_text(last), ranked, as_of)


def peer_rounds_page(
    rows: DerivedRows, key: PeerKey, before: int, limit: int, as_of: AsOf
) -> PeerRoundsAnswer:
    found = rows.attended(key, before, limit)
    page = [
        AttendedAnswer(
            run=to_text(row.run),
            round=row.round,
            roster_index=row.roster_index,
            closed_index=row.closed_index,
            outcome=row.outcome,
            gflop=row.gflop,
        )
        for row in found
    ]
    return PeerRoundsAnswer(page, found[-1].closed_index if len(found) == limit else None, as_of)


# --- Runs.


def runs_page(state: State, after: int, limit: int, as_of: AsOf) -> RunsAnswer:
    """List runs in the order in which they were opened, after the entry that opened one."""
    later = (run for run, index in state.opened.items() if index > after)
    runs = [run_answer(state, run, as_of) for run in islice(later, limit)]
    return RunsAnswer(runs, runs[-1].opened_index if len(runs) == limit else None, as_of)


def run_answer(state: State, run: RunId, as_of: AsOf) -> RunAnswer:
    """Describe a run; raises RefusedError("not-found")."""
    view, resume = state.run(run), state.resumes[run]
    head = view.head
    return RunAnswer(
        run=to_text(run),
        name=view.manifest.name,
        manifest=to_text(run),
        state=view.state,
        phase=view.round.phase.value if view.round else None,
        round=view.number,
        closed=view.closed,
        voided=view.voided,
        members=len(view.accounts.active()),
        tokens=view.accounts.tokens,
        roster_index=view.round.roster_index if view.round else None,
        opened_index=state.opened[run],
        head=to_text(head.hash) if head else None,
        head_round=head.round if head else None,
        weights_root=to_text(head.weights_root) if head else None,
        aux_root=to_text(head.aux_root) if head else None,
        published=published_heads(view),
        rollbacks=_rollbacks(view),
        announcement=_notice(view.notices.announcement),
        pause_reason=_notice(view.shown_pause_reason),
        chat=_notice(view.notices.chat),
        sample=_sample(view),
        resume=ResumeAnswer(after=resume.after, head=resume.head, close=resume.close),
        as_of=as_of,
    )


def published_heads(view: FullRunView) -> tuple[PublishedAnswer, ...]:
    """List publications: those of the newest head first, of one head the newest first."""
    found = (
        PublishedAnswer(number, one.body.location, one.body.revision, one.index)
        for number, places in sorted(view.published.items(), reverse=True)
        for one in sorted(places.values(), key=lambda one: -one.index)
    )
    return tuple(islice(found, PUBLISHED_HEADS))


def _rollbacks(view: FullRunView) -> tuple[RollbackAnswer, ...]:
    return tuple(
        RollbackAnswer(one.head_round, one.last_round, one.index)
        for one in reversed(view.rollbacks[-LISTED_ROLLBACKS:])
    )


def _notice(notice: Notice | None) -> NoticeAnswer | None:
    return NoticeAnswer(notice.text, notice.ts, notice.index) if notice else None


def _sample(view: FullRunView) -> WrittenAnswer | None:
    """Give the sample of the newest head that has one, among the heads still being measured."""
    for draw in reversed(view.draws.open):
        found = measures.best_sample(draw.measures)
        if found is not None:
            peer, sample = found
            return WrittenAnswer(draw.head.round, to_text(peer), sample.prompt, sample.text)
    return None


def rounds_page(rows: DerivedRows, run: RunId, after: int, limit: int, as_of: AsOf) -> RoundsAnswer:
    page = [round_answer(row, as_of) for row in rows.rounds(run, after, limit)]
    return RoundsAnswer(page, page[-1].round if len(page) == limit else None, as_of)


def round_answer(row: RoundRow, as_of: AsOf) -> RoundAnswer:
    return RoundAnswer(
        round=row.round,
        outcome=row.outcome,
        roster_index=row.roster_index,
        roster=to_text(row.roster),
        opened_index=row.opened_index,
        closed_index=row.closed_index,
        accepted=row.accepted,
        head=to_text(row.head) if row.head else None,
        result=to_text(row.result) if row.result else None,
        loss_q16=row.loss_q16,
        as_of=as_of,
    )


def measures_page(
    rules: VerdictRules, rows: DerivedRows, run: RunId, after: int, limit: int, as_of: AsOf
) -> MeasuresAnswer:
    heads = rows.measured(run, after, limit)
    last = heads[-1].round if len(heads) == limit else None
    earlier = rows.measured_before(run, after + 1, COMPARED_HEADS) if heads else ()
    judged = rules.judge([*earlier, *heads])[len(earlier) :]
    page = [
        _measured_answer(head, one, rules.measures.answered)
        for head, one in zip(heads, judged, strict=True)
    ]
    return MeasuresAnswer(page, last, as_of)


def _measured_answer(
    head: MeasuredHead, judged: JudgedHead, tasks: Sequence[MeasuredTask]
) -> MeasuredAnswer:
    shown = head.shown
    sample = measures.sample_of(shown.said) if shown else None
    return MeasuredAnswer(
        round=head.round,
        head=to_text(head.head),
        millibits=head.median.millibits,
        size_bytes=head.median.size_bytes,
        tokens=head.median.tokens,
        measures=[
            MeasureAnswer(
                entry=row.entry,
                peer=to_text(row.peer),
                millibits=row.said.millibits,
                size_bytes=row.said.size_bytes,
                tokens=row.said.tokens,
                is_outlier=row.is_outlier,
                tasks=[
                    TaskAnswer(is_outlier=one.is_outlier, **structs.asdict(one.counts))
                    for one in row.tasks
                ],
            )
            for row in head.rows
        ],
        tasks=[
            MeasuredTaskAnswer(
                file=task.file,
                name=task.name,
                chance_e6=task.chance_e6,
                members=sum(bool(row.tasks) for row in head.rows),
                **structs.asdict(median),
            )
            for task, median in zip(tasks, head.tasks, strict=False)
        ],
        verdict=judged.verdict,
        best=judged.best.round if judged.best else None,
        sample=SampleAnswer(
            entry=shown.entry, peer=to_text(shown.peer), prompt=sample.prompt, text=sample.text
        )
        if shown and sample
        else None,
    )


# --- Invitations, connectors, announcements and releases.


def invitations_page(state: State, after: int, limit: int, as_of: AsOf) -> InvitationsAnswer:
    """List invitations, after the entry that opened one."""
    later = ((key, one) for key, one in state.tiers.invitations.items() if one.index > after)
    page = [_invitation_answer(key, one) for key, one in islice(later, limit)]
    return InvitationsAnswer(page, page[-1].index if len(page) == limit else None, as_of)


def _invitation_answer(key: PeerKey, one: Invitation) -> InvitationAnswer:
    return InvitationAnswer(
        invitation=to_text(key),
        index=one.index,
        uses=one.uses,
        used=one.used,
        until=one.until,
        run=None if one.run is None else to_text(one.run),
        closed=one.closed,
        revoked=one.revoked,
    )


def connectors_answer(state: State, as_of: AsOf) -> ConnectorsAnswer:
    known = sorted(state.tiers.connectors.items())
    page = [ConnectorAnswer(key=to_text(key), until=until) for key, until in known]
    return ConnectorsAnswer(page, as_of)


def notice_answer(state: State, as_of: AsOf) -> NetworkNoticeAnswer:
    return NetworkNoticeAnswer(announcement=_notice(state.notices.announcement), as_of=as_of)


def releases_answer(state: State, as_of: AsOf) -> ReleasesAnswer:
    """List the releases that organisers named, the newest first."""
    rows = [ReleaseAnswer.of(one) for one in reversed(state.releases.releases)]
    return ReleasesAnswer(rows, as_of)


def snapshots_answer(state: State, as_of: AsOf) -> SnapshotsAnswer:
    rows = [SnapshotAnswer.of(one) for one in reversed(state.snapshots.stated)]
    return SnapshotsAnswer(rows, as_of)
