"""The ledger's state: the view of the network, and what pages and answers need besides.

A pure fold: the same entries give the same state, at a start, while serving, and in a replay. Only
the sequencer applies entries.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable
from dataclasses import dataclass

from tequio_shared import vrf
from tequio_shared.badges import Badge, Badges
from tequio_shared.ids import Digest, PeerKey, RunId, digest_from_text, key_from_text
from tequio_shared.network.genesis import Genesis
from tequio_shared.network.run import Documents
from tequio_shared.network.vesting import MemberPoints
from tequio_shared.network_view import NetworkView
from tequio_shared.round.proof import Verdict
from tequio_shared.round.round import RoundView
from tequio_shared.served.rows import (
    KeyRows,
    PeerRow,
    RoundEntry,
    RoundRows,
    StandingRow,
    TierRow,
    round_rows,
    slot_payments,
)
from tequio_shared.served.team_order import TeamOrders
from tequio_shared.statements.competitions import (
    CompetitionBody,
    CompOpen,
    CompResult,
    CompSubmit,
    EvalResult,
)
from tequio_shared.statements.network import FaultReport, KeyReplace, StandingAppeal
from tequio_shared.statements.runs import (
    AuditReport,
    HeadMeasure,
    HeadPromote,
    RoundClose,
    RoundOpen,
    RoundRoster,
    RoundVoid,
    RoundWitness,
    RunOpen,
    RunRollback,
    WitnessProof,
    WorkCommit,
)
from tequio_shared.statements.statement import Body, Entry, Statement

_OF_ROUND = (RoundRoster, RoundOpen, WorkCommit, RoundClose, RoundVoid)
"""Statements from which the rows of a round follow."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Resume:
    """The log indices at which a reader of a run can begin later, and which it can verify."""

    after: int
    """The last run.open, round.close, round.void or run.rollback: a point between two rounds."""
    head: int | None = None
    """The last head.promote or run.rollback up to `after`."""
    close: int | None = None
    """The last round.close up to `after` whose head is not promoted."""


COMPETITION_EVENTS = 100
"""Newest statements about a competition that are kept to be shown; participants may repeat some."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CompetitionEvent:
    """One statement about a competition, and the log entry that holds it."""

    index: int
    author: PeerKey
    ts: int
    body: Body


def named_by(body: Body) -> Digest | None:
    """Document of a member or an organiser that this statement names, if any.

    Those of the coordinator are stored with its entries.
    """
    match body:
        case (
            RunOpen(manifest=text)
            | CompOpen(competition=text)
            | CompSubmit(submission=text)
            | EvalResult(scores=text)
            | CompResult(outcome=text)
            | StandingAppeal(text=text)
            | FaultReport(piece=text)
        ) if text:
            return digest_from_text(text)
    return None


class State(NetworkView):
    """A view that also records log indices and counts.

    A subclass, and not an owner of a view, so that code for views accepts a state.
    """

    def __init__(
        self,
        genesis: Genesis,
        documents: Documents,
        size_of: Callable[[Digest], int | None] = lambda _: None,
        check_proof: vrf.CheckProof = vrf.verify,
    ) -> None:
        """Begin before the first entry; arguments as for a view."""
        super().__init__(genesis, documents, size_of, check_proof)
        self.opened: dict[RunId, int] = {}  # log index of run.open
        self.resumes: dict[RunId, Resume] = {}
        self.types: Counter[str] = Counter()  # entries of each type
        self.asked: Counter[PeerKey] = Counter()  # rounds in which the key was drawn as a witness
        self.proofs: Counter[PeerKey] = Counter()  # witness proofs of the key
        self.named: set[Digest] = set()
        """Documents that members and organisers named; the coordinator's are not among them."""
        self.attended: Counter[PeerKey] = Counter()  # finished rounds by key (`AttendedRow`)
        self.badges = Badges()
        self.team_orders = TeamOrders(self)
        self._round_entries: dict[RunId, list[RoundEntry]] = {}  # of each run's last round
        self._competition_events: defaultdict[Digest, list[CompetitionEvent]] = defaultdict(list)
        self._heads: dict[RunId, int] = {}  # of the last head.promote or run.rollback
        self._pending: dict[RunId, int] = {}  # of the last round.close without one

    def apply_checked(self, index: int, entry: Entry, at_ms: int) -> None:
        """Apply a checked entry and record it; raises RefusedError as a view does."""
        super().apply_checked(index, entry, at_ms)
        statement = entry.statement
        self.types[statement.type] += 1
        name = named_by(statement.body)
        if name is not None:
            self.named.add(name)
        self.team_orders.follow(statement)
        if isinstance(statement.body, KeyReplace):
            self._move_counts(key_from_text(statement.body.former), statement.author)
        if statement.run is not None:
            self._record_resume(index, statement.run, statement)
            self._record_duty(index, statement.run, statement)
            self._record_round(index, statement.run, statement)
        elif isinstance(statement.body, CompetitionBody):
            body = statement.body
            event = CompetitionEvent(
                index=index, author=statement.author, ts=statement.ts, body=body
            )
            events = self._competition_events[digest_from_text(body.competition)]
            events.append(event)
            del events[:-COMPETITION_EVENTS]
            if isinstance(body, EvalResult):
                self.badges.award(index, statement.author, Badge.JUDGE)

    def _move_counts(self, former: PeerKey, successor: PeerKey) -> None:
        # Not the rounds attended: the rosters of these name the former key.
        for counts in (self.asked, self.proofs):
            if former in counts:
                counts[successor] = counts.pop(former)
        self.badges.replace(former, successor)

    def competition_events(self, competition: Digest) -> tuple[CompetitionEvent, ...]:
        """Give the newest statements about a competition, in log order."""
        return tuple(self._competition_events.get(competition, ()))

    def last_round(self, run: RunId) -> RoundRows:
        """Derive the rows of a run's last round from the entries so far; O(members).

        Raises as `round_rows` does.
        """
        current = self.runs[run].round
        if current is None:
            return RoundRows()
        # The roster that the view holds: its document was read when the round began.
        entries = self._round_entries[run]
        return round_rows(
            entries, lambda _: current.roster, self.documents, self.teams.at, self.links.is_paid
        )

    def last_members(self, run: RunId) -> list[PeerKey]:
        """Keys that have the accounts of the members of a run's last round."""
        current = self.runs[run].round
        return [] if current is None else [self.links.holder(key) for key in current.slot_of]

    def gflop(self, key: PeerKey) -> int:
        """Sum up the points of a key over all runs, without the forfeited ones; O(runs)."""
        return sum(one.gflop for one in self.points(key))

    def points(self, key: PeerKey) -> list[MemberPoints]:
        """List the points of a key in each run; O(runs)."""
        earned = (one.accounts.earned for one in self.runs.values())
        return [accounts[key] for accounts in earned if key in accounts]

    def _record_resume(self, index: int, run: RunId, statement: Statement) -> None:
        match statement.body:
            case RunOpen():
                self.opened[run] = index
            case HeadPromote() | RunRollback():
                self._heads[run] = index
                self._pending.pop(run, None)
            case RoundClose() if self.runs[run].next_head is not None:
                self._pending[run] = index
        if isinstance(statement.body, RunOpen | RoundClose | RoundVoid | RunRollback):
            self.resumes[run] = Resume(
                after=index, head=self._heads.get(run), close=self._pending.get(run)
            )

    def _record_duty(self, index: int, run: RunId, statement: Statement) -> None:
        current = self.runs[run].round
        match statement.body:
            case RoundWitness() if current is not None:
                slots = current.slot_of
                self.asked.update(key for key, slot in slots.items() if slot in current.elected)
            case WitnessProof():
                self.proofs[statement.author] += 1
            case AuditReport() as body if not body.declines:
                self.badges.award(index, statement.author, Badge.AUDIT)
            case HeadMeasure():
                self.badges.award(index, statement.author, Badge.MEASURE)
            case RoundClose() if current is not None:
                self._record_close(index, statement.ts, current)

    def _record_close(self, index: int, ts: int, current: RoundView) -> None:
        """Count what a closed round means for badges and teams; O(slots)."""
        verdicts, receivers = current.verdicts(), set[PeerKey]()
        slots = current.result(dict.fromkeys(current.commitments, 0)).slots  # points need no times
        for slot, member in enumerate(current.roster.members):
            key = self.links.holder(member.key)
            if slot in verdicts and verdicts[slot][0] is Verdict.ACCEPTED:
                self.badges.count_accepted(index, ts, key)
            # Of its own work: else a cheat's unvested points would buy another key's badge.
            own = sum(one.trainer + one.witness for one in self.points(key))
            self.badges.count_points(index, key, own)
            paid = slot_payments(member.key, slots[slot], index, self.links.is_paid)
            if paid:
                # Work counts for its author's team, also where others have its points.
                self.teams.pay(index, ts, member.key, sum(one.gflop for one in paid))
                self.team_orders.update(key)
            receivers.update(one.peer for one in paid)
        self.attended.update(receivers - current.slot_of.keys())

    def _record_round(self, index: int, run: RunId, statement: Statement) -> None:
        if isinstance(statement.body, RoundRoster):
            self._round_entries[run] = []
        if isinstance(statement.body, _OF_ROUND):
            self._round_entries[run].append((index, statement))
        if isinstance(statement.body, RoundClose | RoundVoid):
            current = self.runs[run].round
            self.attended.update([] if current is None else [*current.slot_of])


# --- Rows of a key.


def key_rows(state: State, key: PeerKey) -> KeyRows:
    """Derive the rows of a registered key; raises KeyError for another one."""
    return KeyRows(
        peer=peer_row(state, key), standing=standing_row(state, key), tier=tier_row(state, key)
    )


def peer_row(state: State, key: PeerKey) -> PeerRow:
    chain, links = state.peers[key], state.links
    replacement = links.replaced.get(key)
    points = state.points(key)
    accepted, streak_day, streak_days = state.badges.counts(key)
    return PeerRow(
        key=key,
        registered_index=chain.registered_index,
        last_seq=chain.seq,
        last_hash=chain.last,
        gflop=state.gflop(key),
        unvested=sum(one.unvested for one in points),
        forfeited=sum(one.forfeited for one in points),
        received=sum(one.received for one in points),
        recovery=links.recovery.get(key),
        replaces=links.formers.get(key),
        replaced_by=replacement.successor if replacement else None,
        name=state.names.of(key),
        badges=state.badges.of(key),
        accepted=accepted,
        streak_day=streak_day,
        streak_days=streak_days,
        team=state.teams.of(key),
    )


def standing_row(state: State, key: PeerKey) -> StandingRow:
    record = state.standings.records[key]
    return StandingRow(
        peer=key,
        standing=str(record.standing),
        since=record.since,
        cause=None if record.cause is None else int(record.cause),
        evidence=tuple(record.evidence),
        until=record.until,
        appeal=None if record.appeal is None else record.appeal[0],
        is_restricted=state.standings.is_restricted(key),
    )


def tier_row(state: State, key: PeerKey) -> TierRow:
    """Derive tier and owner; also of a key about which the log states nothing."""
    found = state.tiers.highest(key)
    return TierRow(
        peer=key,
        tier=int(found.tier),
        owner=found.owner,
        run=found.run,
        until=found.until,
        since=found.since,
    )
