"""The product's audits and vesting against a second implementation: 1,000 cases, and whole logs."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from random import Random
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import msgspec
import pytest

from tequio_shared.errors import RefusedError
from tequio_shared.ids import (
    ContributionId,
    Digest,
    NetworkId,
    PeerKey,
    RunId,
    key_from_text,
    sha256,
    to_text,
)
from tequio_shared.keys import Signer
from tequio_shared.limits import JURY, PROBATION_WORK, STRIKE_ROUNDS, VESTING
from tequio_shared.network.audits import AuditBook, AuditStage
from tequio_shared.network.vesting import Vesting
from tequio_shared.round import audit_draws, audits
from tequio_shared.round.audit_draws import AuditedWork, Candidate
from tequio_shared.round.audits import AuditVerdict, AuditVote
from tequio_shared.round.documents import Roster, RosterMember
from tequio_shared.round.manifest import AuditRules
from tequio_shared.round.proof import RejectionReason, Verdict
from tequio_shared.statements.network import (
    InviteOpen,
    MemberLeave,
    MemberVouch,
    RoleGrant,
    StandingAppeal,
    StandingChange,
    StandingRelease,
)
from tequio_shared.statements.runs import AuditFigures, AuditReport, RunFinish
from tests.support import second_audits, second_run, second_standing
from tests.support.key_swarm import KeySwarm
from tests.support.memory_swarm import Swarm
from tests.support.second_audits import Somebody, Work
from tests.support.second_run import Auditing
from tests.support.tiny_run import signer, tiny_manifest
from tests.support.volunteers import FailureRates, StatementDraft

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tequio_shared.round.round import RoundView

DRAWS, JURIES, OPENINGS, DISPUTES, PURSES, RUNS = 300, 200, 150, 300, 50, 40
ROUNDS_OF_RUN = 8
WORDS = {
    AuditVerdict.CLEAR: second_audits.CLEAR,
    AuditVerdict.NOT_DONE: second_audits.NOT_DONE,
    AuditVerdict.WITHHELD: second_audits.WITHHELD,
    None: None,
}


def chance(case: str) -> Random:
    """Numbers of a case, the same in every run."""
    return Random(f"second audits: {case}")  # fixed on purpose


def test_there_are_a_thousand_cases() -> None:
    steps = RUNS * ROUNDS_OF_RUN
    assert DRAWS + JURIES + OPENINGS + DISPUTES + PURSES + steps > 1_000


# --- draws


@dataclass
class Crowd:
    """The same members for both implementations."""

    candidates: list[Candidate]
    people: list[Somebody]

    @classmethod
    def of(cls, rng: Random, most: int = 14) -> Crowd:
        owners = [rng.randbytes(32) for _ in range(rng.choice((1, 3, 20)))]
        people = [
            Somebody(rng.randbytes(32), rng.choice(owners), rng.choice((0, 70, 75, 99, 100, 900)))
            for _ in range(rng.randint(0, most))
        ]
        lots = {one: rng.randbytes(64) for one in people if rng.random() < 0.8}
        return cls(
            candidates=[
                Candidate(
                    key=PeerKey(one.key),
                    owner=Digest(one.owner),
                    speed=one.speed,
                    lot=lots.get(one, b""),
                )
                for one in people
            ],
            people=people,
        )

    @property
    def witnesses(self) -> list[Candidate]:
        return [one for one in self.candidates if one.lot]

    @property
    def lots(self) -> dict[Somebody, bytes]:
        pairs = zip(self.people, self.candidates, strict=True)
        return {one: each.lot for one, each in pairs if each.lot}

    def some(self, rng: Random) -> tuple[list[Candidate], list[Somebody]]:
        """A part of them, in order."""
        at = [at for at in range(len(self.people)) if rng.random() < 0.8]
        return [self.candidates[one] for one in at], [self.people[one] for one in at]


def works_of(
    rng: Random, crowd: Crowd, count: int
) -> tuple[list[tuple[AuditedWork, int]], list[Work]]:
    ours, theirs = [], []
    for _ in range(count):
        known = [one.owner for one in crowd.people] + [rng.randbytes(32)]
        owners = frozenset(rng.choice(known) for _ in range(rng.choice((1, 1, 2))))
        one = Work(
            rng.randbytes(32), owners, rng.choice((0, 100, 133, 10_000)), rng.choice((500, 10_000))
        )
        theirs.append(one)
        ours.append(
            (
                AuditedWork(
                    contribution=ContributionId(one.id),
                    owners=frozenset(map(Digest, owners)),
                    speed=one.speed,
                ),
                one.rate,
            )
        )
    return ours, theirs


def plain(drawn: Iterable[audit_draws.DrawnAudit]) -> list[tuple[bytes, bytes, bytes]]:
    return [
        (bytes(one.work.contribution), bytes(one.auditor.key), bytes(one.opening)) for one in drawn
    ]


def with_openings(picks: Iterable[second_audits.Pick]) -> list[tuple[bytes, bytes, bytes]]:
    return [
        (one.id, one.auditor, second_audits.opening_seed(one.lot, one.id, one.auditor))
        for one in picks
    ]


def test_both_draw_the_same_auditors() -> None:
    found = 0
    for case in range(DRAWS):
        rng = chance(f"draw {case}")
        crowd = Crowd.of(rng)
        free, among = crowd.some(rng)
        ours, theirs = works_of(rng, crowd, rng.randint(0, 9))
        elected, most = [one.owner for one in crowd.candidates], rng.choice((0, 1, 3, 100))
        drawn = audit_draws.draw_some(
            ours, crowd.witnesses, elected, audit_draws.AuditorPool(free), most
        )
        wanted = second_audits.draw(theirs, crowd.lots, among, elected, most)
        assert plain(drawn) == with_openings(wanted)
        found += len(drawn)
    assert found > DRAWS // 2


def test_both_draw_the_same_juries() -> None:
    full = waiting = 0
    for case in range(JURIES):
        rng = chance(f"jury {case}")
        crowd = Crowd.of(rng)
        free, among = crowd.some(rng)
        ((ours, _),), (theirs,) = works_of(rng, crowd, 1)
        drawn = audit_draws.draw_jury(ours, free, JURY, crowd.candidates)
        wanted = second_audits.jury(theirs, crowd.lots, among, crowd.people)
        assert plain(drawn) == with_openings(wanted)
        full += len(drawn) == JURY
        waiting += not drawn and bool(among)
    assert full > 20
    assert waiting > 20


def test_both_open_the_same_chunks_and_read_the_same_inputs() -> None:
    for case in range(OPENINGS):
        rng = chance(f"opening {case}")
        seed, chunks = rng.randbytes(32), rng.choice((1, 2, 7, 255, 256, 261, rng.randint(1, 9999)))
        opened = second_audits.opened_chunks(seed, chunks)
        assert list(audits.opened_chunks(Digest(seed), chunks)) == sorted(opened)
        net, run, number = rng.randbytes(32), rng.randbytes(32), rng.getrandbits(40)
        witness = rng.randbytes(32)
        assert audits.lot_input(
            NetworkId(net), RunId(run), number, Digest(witness)
        ) == second_audits.audit_lot_input(net, run, number, witness)
        key, name = rng.randbytes(32), rng.randbytes(32)
        assert audits.sketch_seed(PeerKey(key), ContributionId(name)) == second_audits.sketch_seed(
            key, name
        )


# --- settling


def random_report(rng: Random, earlier: int, contribution: str) -> AuditReport:
    limits = (0, 1_800, 2_000, 2_001, 2_500, 2_501, 5_000, 5_001)
    figures: Any = msgspec.UNSET
    is_calm = rng.random() < 0.6
    if rng.random() < 0.75:
        figures = AuditFigures(
            **{name: 0 if is_calm else rng.choice(limits) for name in audits.LIMITS}
        )
    if rng.random() < 0.08:
        return AuditReport(contribution=contribution, cosine=0, sketch=(), checked=())
    checked = tuple(rng.choice((9_990, 9_000, 8_999, -5)) for _ in range(earlier))
    return AuditReport(
        contribution=contribution, figures=figures, cosine=0, sketch=(0,) * 64, checked=checked
    )


def test_both_settle_disputes_alike() -> None:
    seen = set()
    for case in range(DISPUTES):
        rng = chance(f"dispute {case}")
        first = rng.randint(0, 2)
        votes: list[AuditVote] = []
        reports: list[second_audits.Report] = []
        mood = rng.choice((None, None, 0, 1))
        for at in range(rng.randint(first, 8)):
            one = random_report(rng, min(len(votes), first), to_text(bytes(32)))
            if one.declines:
                continue
            if mood is not None and votes:  # most agree
                high = mood * 9_999
                one = msgspec.structs.replace(
                    one, figures=AuditFigures(hidden=high, other=0, rounding=0, leaves=0)
                )
            key = rng.randbytes(32)
            figures = None if one.figures is msgspec.UNSET else one.figures
            votes.append(
                AuditVote(
                    auditor=PeerKey(key),
                    verdict=audits.judge(figures),
                    checked=one.checked,
                )
            )
            pairs = zip(reports, one.checked, strict=False)
            body = msgspec.to_builtins(one)
            reports.append(
                second_audits.Report(
                    at,
                    key,
                    second_audits.Report.said_by(body),
                    {each.auditor: cosine for each, cosine in pairs},
                )
            )
        drawn = len(votes) + rng.choice((0, 0, 1, 4))
        settled = audits.settle(votes, drawn)
        verdict, wrong = second_audits.settled(reports, drawn)
        assert (WORDS[settled.verdict], set(settled.contradicted)) == (verdict, wrong)
        assert audits.is_disputed(votes) == second_audits.is_disputed(reports)
        seen.add((verdict, bool(wrong)))
    assert len(seen) >= 5


# --- vesting


def test_both_let_the_same_points_wait() -> None:
    for case in range(PURSES):
        rng = chance(f"purse {case}")
        ours, theirs = Vesting(), second_standing.Purse()
        for number in range(1, rng.choice((5, 2 * VESTING, 4 * VESTING))):
            if rng.random() < 0.9:
                points = rng.randint(1, 99)
                ours.pay(number, points)
                theirs.pay(number, points)
            if rng.random() < 0.02:
                back = number - rng.randint(0, 4)
                assert ours.withdraw(back).gflop == theirs.lose(back)
                ours.restart()
                theirs.wait_anew()
            if rng.random() < 0.005:
                assert ours.take_all().gflop == theirs.lose()
            assert ours.total == theirs.unvested


# --- the step at round.close


class RandomRun:
    """Rounds at random, without statements: the step at each `round.close` on both sides."""

    def __init__(self, case: int) -> None:
        self.rng = rng = chance(f"run {case}")
        self.keys = [rng.randbytes(32) for _ in range(rng.randint(3, 16))]
        owners = [rng.randbytes(32) for _ in range(rng.choice((4, 40)))]
        self.owner = {key: rng.choice(owners) for key in self.keys}
        self.rules = AuditRules(
            unproven_bp=rng.choice((5_000, 10_000)), others_bp=rng.choice((500, 10_000))
        )
        self.book = AuditBook(self.rules)
        self.mine = Auditing({})
        self.mine._rates = {  # noqa: SLF001 - as a manifest would
            "unproven_bp": self.rules.unproven_bp,
            "others_bp": self.rules.others_bp,
        }
        self.mine._run = b""  # noqa: SLF001
        self.mine.owners = cast(
            "second_standing.SecondOwners", SimpleNamespace(owner=lambda key, *_: self.owner[key])
        )
        for key in self.keys:
            self.mine.members[key] = second_run.Member()
            standing = rng.choice(("active", "newcomer", "suspected"))
            self.mine.records[key] = second_standing.Record(standing=standing)
        self.index = 0
        self.reports = 0

    def play(self, number: int) -> None:
        """One round."""
        rng, mine = self.rng, self.mine
        present = [key for key in self.keys if rng.random() < 0.9]
        members = tuple(
            RosterMember(
                peer=to_text(key),
                roles=rng.choice((("trainer", "witness"),) * 5 + (("trainer",), ("witness",))),
                speed=rng.choice((0, 100, 120, 140, 9_000)),
                share=1,
            )
            for key in present
        )
        roster = Roster(members=members, pool=(), train_ms=1)
        now = second_run.SecondRound(self.index, number, msgspec.to_builtins(roster))
        slots = {
            PeerKey(key): slot
            for slot, key in enumerate(present)
            if "trainer" in members[slot].roles
        }
        orders = self.book.orders(slots)
        assert [msgspec.to_builtins(one) for one in orders] == [
            {**one, "earlier": tuple(one["earlier"])} for one in mine.order(now)
        ]
        view = self.witnessed(number, roster, now)
        view.orders = {order.slot: order for order in orders}
        for slot, order in view.orders.items():
            self.index += 1
            if rng.random() < 0.85:
                body = random_report(rng, len(order.earlier), order.contribution)
                view.reports[slot] = self.index, body
                now.reports[slot] = self.index, msgspec.to_builtins(body)
                self.reports += 1
        for key in present:
            if rng.random() < 0.04:  # leaves; or leaves and returns
                mine._retire(key)  # noqa: SLF001 - as a member.leave
            if rng.random() < 0.7:
                mine.members[key].is_active = True
        self.index += 1
        self.close(view, now)

    def witnessed(
        self, number: int, roster: Roster, now: second_run.SecondRound
    ) -> SimpleNamespace:
        """The part of a round's statements that both read."""
        rng, slots = self.rng, range(len(roster.members))
        view = SimpleNamespace(number=number, roster=roster, reports={}, commitments={})
        for slot in slots:
            if rng.random() < 0.9:
                now.lots[slot] = b""
            if now.shares[slot] and rng.random() < 0.8:
                now.ids[slot] = rng.randbytes(32)
                tokens = rng.randrange(9_999)
                member = self.mine.members[now.keys[slot]]
                member.tokens = rng.choice((0, 50_000, 99_999))
                member.repeated = rng.choice((member.repeated, 5_000, 9_999))
                now.headers[slot] = (
                    bytes(12) + (8).to_bytes(4, "little") + bytes(24) + tokens.to_bytes(8, "little")
                )
                header = SimpleNamespace(tokens=tokens)
                view.commitments[slot] = SimpleNamespace(
                    id=ContributionId(now.ids[slot]), header=header
                )
        view.attests = dict.fromkeys(now.lots)
        view.slot_of = {PeerKey(key): slot for slot, key in enumerate(now.keys)}
        now.elected = [slot for slot in now.witnesses if slot in now.lots]
        view.elected = tuple(now.elected)
        view.audit_lots = {slot: rng.randbytes(64) for slot in now.elected if rng.random() < 0.9}
        reasons = (RejectionReason.NONE, RejectionReason.SCALE, RejectionReason.COPY)
        given = {
            slot: rng.choice(((Verdict.ACCEPTED, reasons[0]),) * 6 + self._others(reasons))
            for slot in now.ids
        }
        view.auditable = lambda: {
            slot: view.commitments[slot]
            for slot, (verdict, reason) in given.items()
            if verdict is Verdict.ACCEPTED or reason is RejectionReason.COPY
        }
        self.rows = [
            {
                "verdict": int(given.get(slot, (0, 0))[0]),
                "reason": int(given.get(slot, (0, 0))[1]),
            }
            for slot in slots
        ]
        return view

    def _others(
        self, reasons: tuple[RejectionReason, ...]
    ) -> tuple[tuple[Verdict, RejectionReason], ...]:
        return (
            (Verdict.NOT_SELECTED, reasons[0]),
            (Verdict.REJECTED, reasons[1]),
            (Verdict.REJECTED, reasons[2]),
        )

    def close(self, view: SimpleNamespace, now: second_run.SecondRound) -> None:
        """The step, on both sides."""
        mine, book = self.mine, self.book
        before = len(mine.outcomes)
        over = book.close_round(
            cast("RoundView", view),
            lambda key: Digest(self.owner[key]),
            lambda key, tokens: (
                mine.records[key].standing != "active"
                or mine.members[key].tokens < 10 * tokens
                or mine.members[key].repeated < tokens
            ),
            lambda key: mine.members[key].is_active,
        )
        for outcome in over:
            if outcome.verdict is AuditVerdict.WITHHELD:
                book.watch(outcome.trainer)
        lots: dict[int, bytes] = dict(view.audit_lots)
        setattr(mine, "_audit_lots", lambda _: lots)  # noqa: B010 - as the proofs would give
        wrong = len(mine.contradicted)
        mine.audit(now, self.index, 0, self.rows)
        assert same_book(book, mine, now.number)
        told = {auditor for one in over for auditor in one.contradicted}
        assert told == {PeerKey(key) for key, _ in mine.contradicted[wrong:]}
        theirs = [verdict for _, verdict in mine.outcomes[before:]]
        assert [WORDS[one.verdict] for one in over if one.verdict is not None] == [
            verdict for verdict in theirs if verdict is not None
        ]


def same_book(book: AuditBook, mine: Auditing, number: int) -> bool:
    """Assert that both hold the same cases, duties and pauses."""
    assert [
        (bytes(key), bytes(duty.contribution), bytes(duty.opening), duty.rosters)
        for key, duty in book.duties.items()
    ] == [
        (
            duty.auditor,
            duty.case.id,
            second_audits.opening_seed(duty.lot, duty.case.id, duty.auditor),
            duty.used,
        )
        for duty in mine.duties
    ]
    assert [
        (bytes(case.id), case.stage.value, case.entries, bytes(case.trainer), case.drawn)
        for case in book.cases.values()
    ] == [
        (case.id, case.stage, [one.index for one in case.reports], case.trainer, case.drawn)
        for case in mine.cases.values()
    ]
    assert {bytes(key): left for key, left in book.watched.items()} == mine.watched
    assert {bytes(key): until for key, until in book.paused.items() if until > number} == {
        key: until for key, until in mine.barred.items() if until > number
    }
    return True


def test_both_take_the_same_steps_when_rounds_close() -> None:
    reports, verdicts, stages = 0, set(), set()
    for case in range(RUNS):
        run = RandomRun(case)
        for number in range(1, ROUNDS_OF_RUN + 1):
            run.play(number)
            stages |= {one.stage for one in run.book.cases.values()}
        reports += run.reports
        verdicts |= {verdict for _, verdict in run.mine.outcomes}
    assert reports > 5 * RUNS
    assert verdicts >= {None, "clear", "withheld"}
    assert stages == set(AuditStage)


# --- whole logs


class Follower:
    """A swarm, and the second implementation that reads its log."""

    def __init__(self, swarm: Swarm, *, verify_lots: bool = False) -> None:
        self.swarm = swarm
        self.blobs: dict[bytes, bytes] = {}
        self.mine = Auditing(self.blobs, verify_lots=verify_lots)
        self.read = 0
        self.compared = 0

    def follow(self, rounds: int) -> None:
        """Go on up to that many rounds, and compare after each."""
        view = self.swarm.view
        while view.closed + view.voided < rounds and self.swarm.step():
            self.catch_up()

    def catch_up(self) -> None:
        """Read what is new in the log."""
        view = self.swarm.view
        self.blobs.update({bytes(name): one for name, one in self.swarm.blobs.items()})
        for entry in self.swarm.entries[self.read :]:
            self.mine.read(entry.leaf())
        self.read = len(self.swarm.entries)
        if view.closed + view.voided > self.compared:
            self.compared = view.closed + view.voided
            self.compare()

    def compare(self) -> None:
        """Assert that both hold the same points, cases and records."""
        accounts, mine = self.swarm.view.accounts, self.mine
        for key, one in accounts.earned.items():
            wallet = mine.purses.get(bytes(key), second_standing.Wallet())
            trained, witnessed = wallet.trainer, wallet.witness
            assert (one.trainer, one.witness) == (trained.total, witnessed.total)
            assert (one.training.total, one.witnessing.total, one.forfeited) == (
                trained.unvested,
                witnessed.unvested,
                wallet.forfeited,
            )
        assert same_book(accounts.audits, mine, self.swarm.view.number)
        for key, record in self.swarm.standings.records.items():
            recent = record.audits - STRIKE_ROUNDS
            wrong = [one[1:] for one in record.contradictions if one[0] > recent]
            theirs = mine.records.get(bytes(key), second_standing.Record())
            assert wrong == theirs.contradictions()
            if not theirs.is_revoked:
                assert (record.standing, record.since) == (theirs.standing, theirs.since)
        for key, member in accounts.members.items():
            assert member.is_active == mine.members[bytes(key)].is_active


def causes(swarm: Swarm, *wanted: int) -> list[PeerKey]:
    bodies = [entry.statement.body for entry in swarm.entries]
    return [
        key_from_text(body.peer)
        for body in bodies
        if isinstance(body, StandingChange) and body.cause in wanted
    ]


def mixed_swarm(members: int, seed: int, *, most: int = 200) -> Swarm:
    """Volunteers of every kind, the more honest ones the more there are."""
    rng = chance(f"swarm {seed}")
    unproven, others = rng.choice(((5_000, 500), (10_000, 10_000), (5_000, 5_000)))
    rules = AuditRules(unproven_bp=unproven, others_bp=others)
    swarm = Swarm(msgspec.structs.replace(tiny_manifest(most=most), audit=rules), seed=seed)
    kinds = [
        swarm.arithmetic.idle,
        swarm.arithmetic.accusers,
        swarm.arithmetic.closed,
        swarm.arithmetic.lazy,
        swarm.arithmetic.hidden,
    ]
    for at in range(members):
        one = swarm.volunteer(f"second audits {at}")
        kind = rng.randrange(14)
        if kind < len(kinds):
            kinds[kind].add(one.key)
        elif kind == 5:
            one.failure_rates = FailureRates(silent=20, leaving=5)
        elif kind == 6:
            one.failure_rates = FailureRates(silent=8, leaving=8, lying=5, partial=30)
        elif kind == 7:
            one.audits = False
        elif kind == 8:
            swarm.arithmetic.blames[one.key] = RejectionReason.NORM
    return swarm


@pytest.mark.parametrize(
    ("members", "seed"), [(14, 0), (9, 1), (12, 4), (11, 5), (8, 6), (13, 11), (10, 12)]
)
def test_both_read_the_same_audits_and_points_from_a_log(members: int, seed: int) -> None:
    swarm = mixed_swarm(members, seed)
    both = Follower(swarm)
    both.follow(20)
    assert any(both.mine.orders)
    done = causes(swarm, second_standing.NOT_DONE_CAUSE)
    # after the last close, a conviction may still wait for its standing.change
    due = [key for key in both.mine.convictions if not both.mine.records[key].fault]
    # Of several at one close, the coordinator states the order.
    assert sorted(map(bytes, done)) == sorted(due)


@pytest.mark.parametrize("standing", ["quarantined", "probation", "active"])
def test_both_follow_a_run_with_returns_rulings_and_its_end(standing: str) -> None:
    swarm = Swarm(msgspec.structs.replace(tiny_manifest(most=200), audit=AuditRules()), seed=4)
    for at in range(9):
        swarm.volunteer(f"second audits {at}")
    swarm.arithmetic.idle.add(swarm.volunteers[0].key)
    both = Follower(swarm, verify_lots=True)
    both.follow(4)
    for number in range(5, 13):
        gone = swarm.rng.choice(swarm.volunteers[1:])
        if swarm.view.accounts.members[gone.key].is_active:
            swarm.post(gone, StatementDraft(MemberLeave(reason=1)))
        with suppress(RefusedError):  # it may be quarantined
            swarm.post(gone, gone.ready(swarm.view))
        both.follow(number)
    lost = causes(swarm, second_standing.NOT_DONE_CAUSE)
    assert lost
    cheat = swarm.volunteers[0]
    if standing != "quarantined":
        change = swarm.standings.records[cheat.key].since
        swarm.post(cheat, StatementDraft(StandingAppeal(change=change, text="")))
        swarm.now_ms = swarm.standings.records[lost[0]].until
        swarm.post(cheat, cheat.ready(swarm.view))
        both.follow(14)
    if standing == "active":
        swarm.arithmetic.idle.clear()
        both.follow(14 + PROBATION_WORK)
    assert swarm.standings.of(lost[0]) == standing
    assert swarm.view.accounts.earned[lost[0]].forfeited
    swarm.organise(StandingRelease(peer=to_text(lost[0]), reason=0))
    assert not swarm.view.accounts.earned[lost[0]].forfeited
    both.follow(swarm.view.closed + swarm.view.voided + 1)
    swarm.organise(RunFinish(reason=0))
    for _ in range(400):
        if not swarm.step():
            break
        both.catch_up()
    both.compare()
    assert all(not wallet.trainer.unvested for wallet in both.mine.purses.values())


def test_both_take_the_points_of_a_cheat_that_revoked_its_key() -> None:
    rules = AuditRules(unproven_bp=5_000, others_bp=500)
    swarm = KeySwarm(msgspec.structs.replace(tiny_manifest(most=200), audit=rules), seed=5)
    cheat, *_ = [swarm.volunteer(f"second audits {at}") for at in range(8)]
    swarm.arithmetic.idle.add(cheat.key)
    both = Follower(swarm)
    while not any(
        case.trainer == cheat.key and case.is_disputed
        for case in swarm.view.accounts.audits.cases.values()
    ):
        assert swarm.step()
        both.catch_up()
    swarm.revoke(cheat, cheat.key)
    swarm.volunteers.remove(cheat)
    both.follow(12)
    assert causes(swarm, second_standing.NOT_DONE_CAUSE) == [cheat.key]
    wallet = both.mine.purses[bytes(cheat.key)]
    assert wallet.forfeited > 0 == wallet.trainer.total


def test_both_know_the_same_owners_of_auditors() -> None:
    swarm = mixed_swarm(8, 21)
    connector = signer("connector")
    invitation = Signer(sha256(b"second audits: invitation"))
    organise = swarm.organise
    organise(InviteOpen(invitation=to_text(invitation.key), uses=9, until=1 << 50, run=""))
    host = swarm.volunteers[7]
    organise(RoleGrant(peer=to_text(host.key), role="connector", until=1 << 50))
    assert connector.key != host.key
    both = Follower(swarm)
    rng = chance("vouches")
    for number in range(1, 16):
        for one in rng.sample(swarm.volunteers, 2):
            vouch = MemberVouch(
                peer=to_text(one.key),
                owner=to_text(sha256(rng.choice((b"ana", b"ben")))),
                until=swarm.now_ms + rng.choice((-1, 5_000, 10**7)),
            )
            swarm.post(host, StatementDraft(vouch))
        both.follow(number)


def test_both_let_points_vest_after_as_many_rounds() -> None:
    rules = AuditRules(unproven_bp=5_000, others_bp=500)
    swarm = Swarm(msgspec.structs.replace(tiny_manifest(most=200), audit=rules), seed=5)
    for at in range(8):
        swarm.volunteer(f"vesting {at}")
    both = Follower(swarm)
    both.follow(4)
    key, number = swarm.volunteers[2].key, 4
    points = swarm.view.accounts.earned[key]
    swarm.arithmetic.closed.add(key)
    while not points.forfeited:  # a second case would quarantine it
        number += 1
        both.follow(number)
    swarm.arithmetic.closed.clear()
    both.follow(number + VESTING + 3)
    assert 0 < points.training.total < points.trainer
