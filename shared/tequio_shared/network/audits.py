"""The audits of a run: who still owes one, what was reported, and what follows from it.

Theory. A round that closes draws audits of its accepted contributions from the lots of its
witnesses. Who is drawn repeats the contribution in one of the next rounds, trains what its speed
leaves time for, and is paid for both. One report that accuses, or a second one that contradicts the
first, opens a dispute: a jury is drawn from the lots of the round in which it was logged, which
nobody knew before. A verdict needs five sixths of all who reported, so neither one auditor nor a
few together convict anybody; and who contradicts it has failed its own duty.

A jury has nobody after it, so one more auditor reviews its sketches: else jurors could report
without training. What the review doubts goes to a second jury, which judges sketches alone.

Every step follows from log entries, and costs what the round has: members times open audits.
(docs/protocol.md, 10.4)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum

from msgspec import UNSET

from tequio_shared.ids import ContributionId, Digest, PeerKey, digest_from_text, to_text
from tequio_shared.limits import (
    AUDIT_PAUSE,
    AUDIT_ROUNDS,
    CHECKED_BP,
    JURY,
    NEWCOMER_WORK,
    REVIEW_ROUNDS,
)
from tequio_shared.round import audit_draws, audits
from tequio_shared.round.audit_draws import AuditedWork, AuditorPool, Candidate, DrawnAudit
from tequio_shared.round.audits import AuditVerdict, AuditVote
from tequio_shared.round.documents import TRAINER, WITNESS, AuditOrder
from tequio_shared.round.manifest import AuditRules
from tequio_shared.round.round import Commitment, RoundView
from tequio_shared.statements.runs import AuditReport


class AuditStage(Enum):
    FIRST = "first"  # drawn at random
    CHECK = "check"  # cleared, and drawn again
    DISPUTE = "dispute"
    REVIEW = "review"  # settled; one more auditor checks the sketches
    SECOND_DISPUTE = "second dispute"  # about sketches alone


@dataclass(slots=True, kw_only=True)
class AuditCase:
    """One contribution under audit; `AuditBook` alone writes it."""

    id: ContributionId
    round: int
    trainer: PeerKey
    owner: Digest
    tokens: int
    speed: int
    stage: AuditStage = AuditStage.FIRST
    votes: list[AuditVote] = field(default_factory=list)
    entries: list[int] = field(default_factory=list)
    """Log index of each vote's report, and in `reported` its round."""
    reported: list[int] = field(default_factory=list)
    owners: set[Digest] = field(default_factory=set)
    """Owners of its auditors so far."""
    drawn: int = 0
    """Auditors so far, whether or not they reported; from 0 again after a jury."""
    settled: int = 0
    """Votes that a jury has settled, and with `contradicted` whom it contradicted."""
    contradicted: tuple[PeerKey, ...] = ()

    @property
    def is_reviewed(self) -> bool:
        return self.stage in (AuditStage.REVIEW, AuditStage.SECOND_DISPUTE)

    @property
    def is_disputed(self) -> bool:
        """True if a jury has to settle reports that are not settled yet."""
        if self.stage is AuditStage.REVIEW:
            return audits.is_doubted(self.votes, self.settled, self.contradicted)
        return audits.is_disputed(self.votes)

    @property
    def last_draw(self) -> int:
        """Last round at whose close auditors may be drawn, for members keep heads of few rounds."""
        return self.round + (REVIEW_ROUNDS if self.is_reviewed else AUDIT_ROUNDS)

    @property
    def last_order(self) -> int:
        """Last round in which an auditor may report."""
        return self.round + (REVIEW_ROUNDS + 1 if self.is_reviewed else 2 * AUDIT_ROUNDS)

    @property
    def work(self) -> AuditedWork:
        return AuditedWork(
            contribution=self.id,
            owners=frozenset({self.owner, *self.owners}),
            speed=self.speed,
        )


@dataclass(slots=True, kw_only=True)
class OwedAudit:
    """An audit that a key owes."""

    contribution: ContributionId
    opening: Digest
    earlier: tuple[int, ...]
    rosters: int = 0
    """Closed rounds in which it had the order."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditOutcome:
    """A case that is over, or that a jury settled; `entries` are the log indices of its reports."""

    trainer: PeerKey
    round: int
    tokens: int
    verdict: AuditVerdict | None
    """None: nothing follows for the trainer."""
    contradicted: tuple[PeerKey, ...]
    auditors: tuple[PeerKey, ...]
    entries: tuple[int, ...]
    unpaid: tuple[tuple[PeerKey, int], ...] = ()
    """The contradicted ones with the rounds of their reports, whose pay is taken back."""
    denied: tuple[PeerKey, ...] = ()
    """Auditors that found withheld what the verdict says was opened."""


KeyTest = Callable[[PeerKey], bool]
WorkTest = Callable[[PeerKey, int], bool]
"""Of a key's contribution with that many tokens."""
OwnerOf = Callable[[PeerKey], Digest]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Candidates:
    """Members of a closed round, in order of slot."""

    elected: list[Digest]
    """Owner of each elected slot."""
    lots: list[Candidate]
    """Members with an audit lot."""
    pool: AuditorPool
    """Members that may audit; free are those without a duty."""
    judges: list[Candidate]
    """Members with an audit lot that may audit, busy or not."""
    barred: list[Candidate]
    """Members that might, were they not paused."""
    owners: frozenset[Digest]
    """Owners of members that could audit, were they neither busy nor paused."""

    def seat(self, jury: list[DrawnAudit]) -> list[DrawnAudit]:
        """Take these out of the pool."""
        self.pool.remove(jury)
        return jury


@dataclass(slots=True)
class AuditBook:
    """The audits of one run; a fold."""

    rules: AuditRules
    duties: dict[PeerKey, OwedAudit] = field(default_factory=dict)
    """In the order of the draws."""
    cases: dict[ContributionId, AuditCase] = field(default_factory=dict)
    watched: dict[PeerKey, int] = field(default_factory=dict)
    """Keys that withheld a contribution, with the contributions that are still audited more."""
    paused: dict[PeerKey, int] = field(default_factory=dict)
    """Keys that owed an audit and did not report, with the round from which they may be drawn."""
    judges: frozenset[Digest] = frozenset()
    """Owners of members that could audit at the last close, were they neither busy nor paused."""

    def orders(self, slots: Mapping[PeerKey, int]) -> tuple[AuditOrder, ...]:
        """Orders for a roster whose trainers have these slots: for at most half of them.

        The others must go on training, or a round would have nothing to accept.
        """
        present = [key for key in self.duties if key in slots][: len(slots) // 2]
        orders = []
        for key in present:
            duty = self.duties[key]
            case = self.cases[duty.contribution]
            orders.append(
                AuditOrder(
                    slot=slots[key],
                    round=case.round,
                    contribution=to_text(case.id),
                    tokens=case.tokens,
                    opening=to_text(duty.opening),
                    earlier=duty.earlier,
                )
            )
        return tuple(sorted(orders, key=lambda order: order.slot))

    def has_time(self, number: int) -> bool:
        """Return whether some case may still get a report after that round. O(open cases)."""
        return any(case.last_order > number for case in self.cases.values())

    def move_key(self, former: PeerKey, successor: PeerKey) -> None:
        """Let a successor be watched and paused like its former key, and not audit its work."""
        duty = self.duties.pop(former, None)
        if duty is not None:
            self.paused[former] = self.cases[duty.contribution].round + AUDIT_PAUSE
        for moved in (self.watched, self.paused):
            if former in moved:
                moved[successor] = moved.pop(former)
        for case in self.cases.values():
            # A key without a known owner is its own; so is its successor, which is the same person.
            if Digest(former) in case.work.owners:
                case.owners.add(Digest(successor))

    def close_round(
        self, view: RoundView, owner_of: OwnerOf, is_unproven: WorkTest, is_present: KeyTest
    ) -> list[AuditOutcome]:
        """Take in the reports of a closed round, and draw the next audits; returns what is over.

        Unproven contributions are audited more often; keys that are not present are in
        no roster until they return.
        """
        self._take_reports(view)
        self._drop_late(view, is_present)
        members = self._candidates(view, owner_of, is_present)
        self.judges = members.owners
        over = self._go_on(view, members)
        self._draw_first(view, members, owner_of, is_unproven)
        # Not a contradiction, for the trainer may answer some and not others. But they are not
        # drawn for a while: else anybody could call juries without end.
        for key in [key for one in over for key in one.denied]:
            self.paused[key] = view.number + AUDIT_PAUSE
        return over

    def _take_reports(self, view: RoundView) -> None:
        for slot, (index, body) in sorted(view.reports.items()):
            key = view.roster.members[slot].key
            self.duties.pop(key, None)  # its key may have been replaced since its report
            if body.declines:
                self.paused[key] = view.number + AUDIT_PAUSE
                continue
            case = self.cases[ContributionId(digest_from_text(body.contribution))]
            case.votes.append(_vote(key, body))
            case.entries.append(index)
            case.reported.append(view.number)

    def _drop_late(self, view: RoundView, is_present: KeyTest) -> None:
        for slot in view.orders.keys() - view.reports.keys():
            key = view.roster.members[slot].key
            duty = self.duties.get(key)
            if duty is not None:
                duty.rosters += 1
            if duty is not None and duty.rosters >= AUDIT_ROUNDS:
                del self.duties[key]
                self.paused[key] = view.number + AUDIT_PAUSE
        # A duty whose holder was in no roster, or whose order had to wait, ends with its case.
        for key, duty in list(self.duties.items()):
            # A key that has left is paused too: else it would leave and return each time. One that
            # is back by now keeps its duty.
            is_gone = not is_present(key)
            if is_gone:
                self.paused[key] = view.number + AUDIT_PAUSE
            if is_gone or self.cases[duty.contribution].last_order <= view.number:
                del self.duties[key]

    def _candidates(self, view: RoundView, owner_of: OwnerOf, is_present: KeyTest) -> _Candidates:
        """Members that may witness, with the lots of those that did."""
        self.paused = {key: until for key, until in self.paused.items() if until > view.number}
        found = []
        for slot in view.roster.slots_of(WITNESS):
            member = view.roster.members[slot]
            lot = view.audit_lots.get(slot, b"")
            owner = owner_of(member.key)
            found.append(Candidate(key=member.key, owner=owner, speed=member.speed, lot=lot))
        # Once for all cases of the round: trainers that hold the head, are still there, and are not
        # paused.
        trainers = {view.roster.members[slot].key for slot in view.roster.slots_of(TRAINER)}
        attested = {view.roster.members[slot].key for slot in view.attests}
        holders = trainers & attested
        able = [one for one in found if one.key in holders and is_present(one.key)]
        auditors = [one for one in able if one.key not in self.paused]
        elected = {view.roster.members[slot].key for slot in view.elected}
        return _Candidates(
            elected=[one.owner for one in found if one.key in elected],
            lots=[one for one in found if one.lot],
            pool=AuditorPool(auditors, self.duties),
            judges=[one for one in auditors if one.lot],
            barred=[one for one in able if one.key in self.paused],
            owners=frozenset(one.owner for one in able),
        )

    def _go_on(self, view: RoundView, members: _Candidates) -> list[AuditOutcome]:
        """Take each case whose auditors have all reported, or lost their turn, a step on."""
        awaited = {duty.contribution for duty in self.duties.values()}
        over = []
        for case in [one for one in self.cases.values() if one.id not in awaited]:
            if case.stage in (AuditStage.DISPUTE, AuditStage.SECOND_DISPUTE):
                over.extend(_settle(view, case))
            drawn = self._next_auditors(view, case, members)
            for one in drawn:
                self._order(one)
            if not drawn and not (case.is_disputed and self._goes_on(view, case)):
                # A dispute for which nobody was free may find a jury in the next round.
                del self.cases[case.id]
                over.extend(_cleared(view, case))
        return over

    def _next_auditors(
        self, view: RoundView, case: AuditCase, members: _Candidates
    ) -> list[DrawnAudit]:
        if case.stage is AuditStage.DISPUTE and case.votes:
            case.stage = AuditStage.REVIEW
            free = members.pool.free_with_lot()
            return members.seat(audit_draws.draw_jury(case.work, free, 1, free))
        if not self._goes_on(view, case):
            return []
        if case.is_disputed:
            free = members.pool.free_with_lot()
            jury = audit_draws.draw_jury(case.work, free, JURY, members.judges, members.barred)
            seated = members.seat(jury)
            if seated:
                is_second = case.stage is AuditStage.REVIEW
                case.stage = AuditStage.SECOND_DISPUTE if is_second else AuditStage.DISPUTE
            return seated
        # However often it was checked: who knew that nobody comes after it would not have to work.
        case.stage = AuditStage.REVIEW if case.is_reviewed else AuditStage.CHECK
        works = [(case.work, CHECKED_BP)]
        return audit_draws.draw_some(works, members.lots, members.elected, members.pool, 1)

    def _goes_on(self, view: RoundView, case: AuditCase) -> bool:
        """Return whether auditors may be drawn after those that have reported."""
        has_jury = case.stage in (AuditStage.DISPUTE, AuditStage.SECOND_DISPUTE)
        is_answered = len(case.votes) > case.settled
        return is_answered and not has_jury and view.number <= case.last_draw

    def _draw_first(
        self,
        view: RoundView,
        members: _Candidates,
        owner_of: OwnerOf,
        is_unproven: WorkTest,
    ) -> None:
        cases, works = {}, []
        for slot, work in view.auditable().items():
            member = view.roster.members[slot]
            case = _case(view, member.key, owner_of(member.key), member.speed, work)
            is_watched = self._count_watched(member.key)
            is_often = is_unproven(member.key, work.header.tokens) or is_watched
            rate = self.rules.unproven_bp if is_often else self.rules.others_bp
            cases[case.id] = case
            works.append((case.work, rate))
        most = len(view.roster.slots_of(TRAINER)) // 2 - len(self.duties)
        for one in audit_draws.draw_some(works, members.lots, members.elected, members.pool, most):
            self.cases[one.work.contribution] = cases[one.work.contribution]
            self._order(one)

    def _order(self, drawn: DrawnAudit) -> None:
        case = self.cases[drawn.work.contribution]
        case.owners.add(drawn.auditor.owner)
        case.drawn += 1
        self.duties[drawn.auditor.key] = OwedAudit(
            contribution=case.id,
            opening=drawn.opening,
            earlier=tuple(case.entries),
        )

    def watch(self, key: PeerKey) -> None:
        """Audit a key that withheld a contribution as often as a newcomer, for as long."""
        self.watched[key] = NEWCOMER_WORK

    def _count_watched(self, key: PeerKey) -> bool:
        left = self.watched.pop(key, 0)
        if left > 1:
            self.watched[key] = left - 1
        return left > 0


def _case(
    view: RoundView, trainer: PeerKey, owner: Digest, speed: int, work: Commitment
) -> AuditCase:
    return AuditCase(
        id=work.id,
        round=view.number,
        trainer=trainer,
        owner=owner,
        tokens=work.header.tokens,
        speed=speed,
    )


def _vote(auditor: PeerKey, body: AuditReport) -> AuditVote:
    figures = None if body.figures is UNSET else body.figures
    return AuditVote(auditor=auditor, verdict=audits.judge(figures), checked=body.checked)


def _settle(view: RoundView, case: AuditCase) -> list[AuditOutcome]:
    """Settle what a jury has answered: none if nobody reported, or too many differ."""
    since, verdict = case.settled, None
    if case.stage is AuditStage.SECOND_DISPUTE:
        # In a small run the second jury may be one or two: they contradict nobody.
        drawn = max(case.drawn, JURY)
        found = audits.settle_sketches(case.votes, since, drawn) - set(case.contradicted)
        contradicted = tuple(sorted(found))
    else:
        settled = audits.settle(case.votes, case.drawn)
        verdict, contradicted = settled.verdict, settled.contradicted
    case.settled, case.drawn, case.contradicted = len(case.votes), 0, contradicted
    return _outcome(view, case, since, verdict)


def _cleared(view: RoundView, case: AuditCase) -> list[AuditOutcome]:
    """Outcome of a case that never had a jury: none after an accusation that came too late."""
    if case.settled or not case.votes or case.is_disputed:
        return []
    return _outcome(view, case, 0, AuditVerdict.CLEAR)


def _outcome(
    view: RoundView, case: AuditCase, since: int, verdict: AuditVerdict | None
) -> list[AuditOutcome]:
    """Outcome of the reports from number `since` on, and of earlier ones that they contradict."""
    if verdict is None and not case.contradicted:
        return []
    rows = [
        (vote, entry, number)
        for at, (vote, entry, number) in enumerate(
            zip(case.votes, case.entries, case.reported, strict=True)
        )
        if at >= since or vote.auditor in case.contradicted
    ]
    is_opened = verdict in (AuditVerdict.CLEAR, AuditVerdict.NOT_DONE)
    return [
        AuditOutcome(
            trainer=case.trainer,
            round=case.round,
            tokens=case.tokens,
            verdict=verdict,
            contradicted=case.contradicted,
            auditors=tuple(vote.auditor for vote, _, _ in rows),
            entries=tuple(entry for _, entry, _ in rows),
            unpaid=tuple(
                (vote.auditor, number)
                for vote, _, number in rows
                if vote.auditor in case.contradicted
            ),
            denied=tuple(
                vote.auditor
                for vote, _, _ in rows
                if is_opened and vote.verdict is AuditVerdict.WITHHELD
            ),
        )
    ]
