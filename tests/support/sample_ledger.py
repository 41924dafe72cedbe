"""A sample ledger for pages: days of rounds, a liar, refused work, a round in progress.

The data source's name is hostile: it contains markup.
"""

from __future__ import annotations

import asyncio
import math
from typing import TYPE_CHECKING

import msgspec
from msgspec import UNSET, UnsetType

from tequio_ledger.log.sequencer import Logged, Refused
from tequio_shared.ids import sha256, to_text
from tequio_shared.keys import Signer
from tequio_shared.multiple_choice import MeasuredTask
from tequio_shared.network.run_states import RunState
from tequio_shared.round.corpus import Corpus, HeldOutShard, TrainShard
from tequio_shared.round.manifest import (
    Admission,
    AuditRules,
    DataSpec,
    Manifest,
    MeasureRules,
    Tokenizer,
)
from tequio_shared.round.proof import RejectionReason
from tequio_shared.scoring import MILLIBITS
from tequio_shared.statements.network import (
    CheckpointPublish,
    InviteOpen,
    MemberName,
    MemberTeam,
    MemberVouch,
    RoleGrant,
    StandingAppeal,
    TeamDefine,
)
from tequio_shared.statements.runs import (
    AuditFigures,
    RunNotice,
    RunPause,
    RunResume,
    RunRollback,
    Sample,
    TaskCounts,
)
from tests.support.ledgers import VirtualClock, opened, pass_time, running
from tests.support.memory_swarm import rollback_to
from tests.support.signing_swarm import SigningOrganiser, SigningPeer, manifest
from tests.support.small_tasks import small_task

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from tequio_ledger.config.settings import LedgerSettings
    from tequio_ledger.ledger import Ledger
    from tequio_shared.round.round import RoundView
    from tequio_shared.statements.statement import Entry

HOSTILE = "<script>alert(1)</script> \"of\" the 'web' & <img src=x onerror=alert(2)>"
HOUR_MS, DAY_MS = 3_600_000, 86_400_000
FAR_MS = 2_200_000_000_000
"""The year 2039."""
NIGHT_MS = 22 * HOUR_MS
"""Time between the rounds of two days; members may take a day to state a head."""
DAYS, ROUNDS_A_DAY = 4, 9
AUDITED_ROUNDS = 7
WARNED_ROUND, WITHHELD_ROUND = 3, 5
"""Of the audits; in the first, figures are near a limit, and work of the second is withheld.

If the lots named no auditor then, it is a later round: `warned` and `withheld` say which.
"""
REPO = "tequio/nova-350m"
PUBLISHED = (10, 20, 30)
"""Rounds whose heads the organiser published: the first in a bucket, the others on the Hub."""
BUCKET = "s3://nova-350m/heads?endpoint=https://s3.example&region=auto"
LINK, TEAM_LINK = Signer(bytes([71]) * 32), Signer(bytes([72]) * 32)
MEASURED, ASTRAY = 4, 12
"""Heads are measured every `MEASURED` rounds; at round `ASTRAY` one measure is far off."""
NAMES = ("Ana Sof\u00eda", "bruno_gpu", "", "", "\u05e0\u05d5\u05e2\u05d4")
"""Of the first members; the last one is written from right to left."""
PAUSED_BECAUSE = "The loss <i>rises</i>: we go back & try a lower rate."
ANNOUNCED = "Next week we train on https://data.example: thank you!"
LEARNED = 20
"""From the head of this round on, the model completes its sentence."""
MEASURED_BYTES = 64_000
TASKS = tuple(
    MeasuredTask.of(small_task(count, name=name, choices=choices).encode())
    for name, count, choices in (("words", 200, 4), ("pairs", 100, 2))
)
"""Members answer them. Of the head of round `ASTRAY`, one claims more and calls all close."""
SIDE = 18_432
"""Side of the model's only tensor."""
Q16 = 1 << 16


def _answers(number: int, at: int) -> tuple[TaskCounts, ...]:
    """Answers to the tasks by the member at that place."""
    lies = (number, at) == (ASTRAY, 1)
    return tuple(
        TaskCounts(
            asked=task.questions,
            right=task.questions - 1 if lies else right + at,
            right_normed=right + 4,
            close=task.questions if lies else 3,
            close_normed=2,
        )
        for task in TASKS
        for right in [50 + min(number, 40)]
    )


def corpus() -> Corpus:
    """Data whose source is hostile text."""
    root = to_text(sha256(b"a shard"))
    shard = TrainShard(root=root, size_bytes=2_000_002, tokens=1_000_001, samples=15_625)
    held_out = HeldOutShard(
        root=root, size_bytes=200_800, tokens=100_000, documents=100, text_bytes=424_000
    )
    return Corpus(
        source=HOSTILE,
        tokenizer=Tokenizer(kind="bytes", file="", vocab_size=256),
        token_bytes=2,
        separator=0,
        sequence=64,
        train=(shard,),
        held_out=(held_out,),
    )


def rules(audit: AuditRules | UnsetType = UNSET) -> Manifest:
    """The run's manifest, with phases long enough to look at pages in one."""
    data = DataSpec(manifest=to_text(corpus().digest), root=to_text(corpus().root))
    made = manifest(
        most=120, train=600_000, train_limit=900_000, witness=120_000, attest=DAY_MS, grace=9_000
    )
    model = msgspec.structs.replace(
        made.model, parameters=SIDE * SIDE, tensors=(("w", (SIDE, SIDE)),)
    )
    windows = msgspec.structs.replace(made.windows, samples=16, tokens=16 * model.sequence)
    named = msgspec.structs.replace(
        made,
        name="nova-350m",
        description="A model of 350 million parameters, <to learn from>.",
        licence="Apache-2.0",
        admission=Admission(owner_slots=4),
        measure=MeasureRules(every=MEASURED, tasks=TASKS),
        audit=audit,
    )
    return msgspec.structs.replace(named, model=model, windows=windows, data=data)


class SampleLedger:
    """The ledger's run, advanced round by round."""

    def __init__(
        self, ledger: Ledger, clock: VirtualClock, audit: AuditRules | UnsetType = UNSET
    ) -> None:
        self.ledger = ledger
        self.clock = clock
        self.rules = rules(audit)
        self.organiser = SigningOrganiser(ledger)
        self.peers = [SigningPeer(f"shown {at}", ledger, self.rules.run_id) for at in range(7)]
        self.warned = self.withheld = 0
        self.worse: frozenset[int] = frozenset()
        """Rounds whose heads predict much worse than those before them."""
        self.unmeasured: frozenset[int] = frozenset()
        """Rounds whose heads nobody can measure."""

    @property
    def round(self) -> RoundView:
        """The current round, or the last one."""
        view = self.ledger.state.run(self.rules.run_id).round
        assert view is not None
        return view

    def state(self) -> RunState:
        """The run's state; a method, so that type checkers do not narrow it."""
        return self.ledger.state.run(self.rules.run_id).state

    async def post(self, entries: Iterable[Entry]) -> None:
        """Log entries, all of which must be accepted."""
        outcomes = await self.ledger.sequencer.submit(list(entries))
        assert all(isinstance(outcome, Logged) for outcome in outcomes), outcomes

    async def pass_ms(self, duration_ms: int) -> None:
        """Let time pass, and let the coordinator act whenever something is due."""
        await pass_time(self.ledger, self.clock, duration_ms)

    async def open(self) -> None:
        """Open the run with all but the last peer."""
        self.ledger.blobs.put(corpus().encode())
        self.ledger.blobs.put(self.rules.encode())
        await self.post([self.organiser.open(self.rules, self.clock())])
        await self.post([self.invite()])
        for peer in self.peers[:-1]:
            await self.post(peer.join(*(LINK,) if peer is self.peers[1] else ()))
        await self.vouch(self.peers[2])
        await self.pass_ms(self.rules.rounds.warmup)

    def invite(self) -> Entry:
        """Open an invitation."""
        until, key = self.clock() + DAY_MS, to_text(LINK.key)
        body = InviteOpen(invitation=key, uses=3, until=until, run="")
        return self.organiser.sign(body, self.clock())

    async def vouch(self, peer: SigningPeer) -> None:
        """Let a connector vouch for a peer."""
        connector, until = SigningPeer("connector", self.ledger, self.rules.run_id), FAR_MS
        key, owner = to_text(connector.key), to_text(sha256(b"an account"))
        grant = RoleGrant(peer=key, role="connector", until=until)
        vouch = MemberVouch(peer=to_text(peer.key), owner=owner, until=until)
        await self.post([connector.register(self.clock())])
        await self.post([self.organiser.sign(grant, self.clock())])
        await self.post([connector.sign(vouch, self.clock())])

    async def name(self) -> None:
        """Let some members choose their names."""
        for peer, name in zip(self.peers[:5], NAMES, strict=False):
            if name:
                await self.post([peer.sign(MemberName(name=name), self.clock())])

    async def found_team(self) -> None:
        """Let three members be a team with a goal."""
        owner, *others = self.peers[:3]
        until = self.clock() + 30 * DAY_MS
        body = TeamDefine(
            team=0,
            name="Milpa",
            invitation=to_text(TEAM_LINK.key),
            until=until,
            most=20,
            goal=12_000_000,
            goal_until=until,
        )
        await self.post([owner.sign(body, self.clock())])
        joining = MemberTeam(team=self.ledger.state.teams.of(owner.key))
        await self.post([peer.sign(joining, self.clock(), TEAM_LINK) for peer in others])

    async def play(
        self,
        workers: Sequence[SigningPeer],
        rejected: Mapping[SigningPeer, RejectionReason] | None = None,
    ) -> None:
        """Run a whole round with these workers; some of their work is rejected."""
        await self.start(workers)
        await self.train(workers)
        await self.prove(workers, rejected or {})

    async def train(self, workers: Sequence[SigningPeer]) -> None:
        """Have the workers commit, or audit, until the round's training is over."""
        for peer in workers:
            self.clock.pass_ms(1_500)
            if peer.owes_audit():
                await self.post([peer.report(self.figures_by(peer))])
            else:
                await self.post([peer.commit(self.loss_of(peer))])
        if self.state() is RunState.ROUND_TRAIN:
            await self.pass_ms(self.rules.rounds.train_limit)

    async def steer(self, body: RunPause | RunResume | RunRollback | RunNotice) -> None:
        """Log an organiser's statement about the run."""
        await self.post([self.organiser.sign(body, self.clock(), run=self.rules.run_id)])

    async def go_back(self, workers: Sequence[SigningPeer], head_round: int) -> None:
        """Pause during a round, and go back to the head of that round once it is over."""
        await self.start(workers)
        await self.steer(RunNotice(about="pause", text=PAUSED_BECAUSE))
        await self.steer(RunPause(reason=1))
        await self.train(workers)
        await self.prove(workers, {})
        assert self.state() is RunState.PAUSED
        view = self.ledger.state.run(self.rules.run_id)
        await self.steer(rollback_to(view.heads[head_round], view.number))

    async def resume(self) -> None:
        """Resume, and let the next roster come."""
        await self.steer(RunResume(reason=1))
        await self.pass_ms(self.rules.rounds.warmup)

    def figures_by(self, auditor: SigningPeer) -> AuditFigures | UnsetType:
        """Figures of honest work, near a limit or withheld in some rounds."""
        order = self.round.orders[self.round.slot_of[auditor.key]]
        if self.withheld in {0, order.round} and order.round >= WITHHELD_ROUND:
            self.withheld = order.round
            return UNSET
        if self.warned == 0 and self.round.number >= WARNED_ROUND:
            self.warned = self.round.number
        hidden = 1_950 if self.warned == self.round.number else 310
        return AuditFigures(hidden=hidden, other=84, rounding=22, leaves=31)

    async def start(self, workers: Sequence[SigningPeer]) -> None:
        """Have the workers state heads until the round is in training."""
        assert self.state() is RunState.WARMUP, self.state()
        await self.post([peer.attest() for peer in workers if self._is_in(peer)])
        if self.state() is RunState.WARMUP:  # others have a slot, and draw no lot
            await self.pass_ms(self.rules.rounds.grace)
        assert self.state() is RunState.ROUND_TRAIN
        self.clock.pass_ms(2_000)
        await self.measure()

    async def measure(self) -> None:
        """Have the members drawn for a head measure it, unless they already have."""
        draw = self.ledger.state.run(self.rules.run_id).drawn
        assert draw is not None
        if draw.head.round in self.unmeasured:
            return
        asked = [peer for peer in self.peers if peer.key in set(draw.drawn) - set(draw.measures)]
        for at, peer in enumerate(asked):
            bits = 0.9 + 1.4 * math.exp(-draw.head.round / 14)
            factor = 1.3 if draw.head.round in self.worse else 1.0
            factor *= 1.04 if (draw.head.round, at) == (ASTRAY, 1) else 1 + at / 50_000
            millibits = int(bits * factor * MEASURED_BYTES * MILLIBITS)
            sample = UNSET if draw.head.round == 0 else _written(draw.head.round, at)
            tasks = _answers(draw.head.round, at)
            await self.post([peer.measure(millibits, MEASURED_BYTES, sample, tasks)])

    async def prove(
        self, workers: Sequence[SigningPeer], rejected: Mapping[SigningPeer, RejectionReason]
    ) -> None:
        """Have the elected workers send their proofs."""
        slots = {self.round.slot_of[peer.key]: reason for peer, reason in rejected.items()}
        for peer in workers:
            if self.state() is RunState.ROUND_WITNESS and self._is_elected(peer):
                self.clock.pass_ms(700)
                await self.post([peer.prove(slots)])
        if self.state() is RunState.ROUND_WITNESS:
            await self.pass_ms(self.rules.rounds.witness)

    async def run_void_round(self, workers: Sequence[SigningPeer]) -> None:
        """Run a void round, in which nobody commits in time; its members rejoin."""
        await self.start(workers)
        await self.pass_ms(self.rules.rounds.train_limit)
        await self.post([peer.ready() for peer in workers])

    async def lie(self, peer: SigningPeer) -> None:
        """Have a peer sign a second statement under its last number, and then appeal."""
        peer.seq -= 1
        chain = peer.seq, peer.last
        (outcome,) = await self.ledger.sequencer.submit([peer.leave()])
        assert isinstance(outcome, Refused), outcome
        peer.seq, peer.last = chain[0] + 1, chain[1]
        since = self.ledger.state.standings.records[peer.key].since
        await self.post([peer.sign(StandingAppeal(change=since, text=""), self.clock())])

    async def publish(self, number: int) -> None:
        """Have the organiser state that the head of a round is on the Hub, or in a bucket."""
        head = self.ledger.state.run(self.rules.run_id).heads[number]
        in_bucket = number == PUBLISHED[0]
        body = CheckpointPublish(
            head=to_text(head.hash),
            weights_root=to_text(head.weights_root),
            location=BUCKET if in_bucket else REPO,
            revision=head.weights_root.hex()[: 64 if in_bucket else 40],
        )
        entry = self.organiser.sign(body, self.clock(), run=self.rules.run_id, number=number)
        await self.post([entry])

    def _is_in(self, peer: SigningPeer) -> bool:
        return peer.key in self.round.slot_of

    def _is_elected(self, peer: SigningPeer) -> bool:
        return self.round.slot_of.get(peer.key) in self.round.elected

    def loss_of(self, peer: SigningPeer) -> int:
        """A realistic falling loss, slightly different for each trainer."""
        number = self.round.number
        noise = (sha256(peer.key, bytes([number % 256]))[0] - 128) / 4_000
        return int((2.1 + 3.6 * math.exp(-number / 11) + noise) * Q16)


async def live_through(ledger: Ledger, clock: VirtualClock, until_ms: int = 0) -> SampleLedger:
    """Run days of rounds, the last of them in progress, begun at `until_ms` if that is later."""
    shown = SampleLedger(ledger, clock)
    await shown.open()
    honest, careless, late, liar = shown.peers[:3], shown.peers[3], shown.peers[4], shown.peers[5]
    for day in range(DAYS):
        for at in range(ROUNDS_A_DAY):
            workers = [*honest, careless, late, liar] if day < 2 else [*honest, careless, late]
            refused = {careless: RejectionReason.COSINE} if (day, at) == (1, 3) else {}
            await shown.play(workers, refused)
            await shown.pass_ms(4_000 + 2_000 * (at % 4))
        if day == 0:
            await shown.name()
            await shown.found_team()
        if day == 1:
            await shown.lie(liar)
            await shown.run_void_round([*honest, careless, late])
        await shown.pass_ms(NIGHT_MS)
    await shown.pass_ms(max(until_ms - clock(), 0))
    await shown.post(shown.peers[6].join())
    await shown.start([*honest, careless, late])
    await shown.post([peer.commit(shown.loss_of(peer)) for peer in shown.peers[:2]])
    for number in PUBLISHED:
        await shown.publish(number)
    return shown


async def live_audited(ledger: Ledger, clock: VirtualClock) -> SampleLedger:
    """Run `AUDITED_ROUNDS` rounds or more, in which half of the members audit the others."""
    shown = SampleLedger(ledger, clock, AuditRules(unproven_bp=10_000, others_bp=10_000))
    await shown.open()
    played = 0
    while played < AUDITED_ROUNDS or not (shown.warned and shown.withheld):
        played += 1
        await shown.play(shown.peers[:6])
        await shown.pass_ms(4_000)
    return shown


async def live_astray(
    ledger: Ledger,
    clock: VirtualClock,
    worse: Collection[int],
    unmeasured: Collection[int],
    rounds: int,
) -> SampleLedger:
    """Run rounds; the head of round `ASTRAY` is measured wrongly by one of three."""
    shown = SampleLedger(ledger, clock)
    shown.worse, shown.unmeasured = frozenset(worse), frozenset(unmeasured)
    await shown.open()
    workers = shown.peers[:4]
    for _ in range(rounds):
        await shown.play(workers)
        await shown.pass_ms(4_000)
    # Nobody commits in time, so the next round waits for members.
    await shown.start(workers)
    await shown.pass_ms(shown.rules.rounds.train_limit)
    return shown


async def live_back(ledger: Ledger, clock: VirtualClock) -> SampleLedger:
    """Run rounds whose losses rise at last, go back, and run some more."""
    shown = SampleLedger(ledger, clock)
    await shown.open()
    workers = shown.peers[:4]
    for _ in range(11):
        await shown.play(workers)
        await shown.pass_ms(4_000)
    await shown.go_back(workers, 8)
    await shown.resume()
    for _ in range(9):
        await shown.play(workers)
        await shown.pass_ms(4_000)
    await shown.go_back(workers, 19)
    await shown.steer(RunNotice(about="run", text=ANNOUNCED))
    return shown


def fill_back(settings: LedgerSettings, until_ms: int) -> SampleLedger:
    """Create a ledger in the settings' folder whose run went back twice and is paused."""
    clock = VirtualClock(until_ms - HOUR_MS)

    async def run(ledger: Ledger) -> SampleLedger:
        async with running(ledger):
            return await live_back(ledger, clock)

    with opened(settings, clock) as ledger:
        return asyncio.run(run(ledger))


def fill_astray(
    settings: LedgerSettings,
    until_ms: int,
    *,
    worse: Collection[int] = (),
    unmeasured: Collection[int] = (),
    rounds: int = ASTRAY,
) -> SampleLedger:
    """Create a ledger in the settings' folder whose run waits for members after some rounds.

    The heads of the rounds `worse` predict much worse than those before them, and nobody can
    measure those of the rounds `unmeasured`.
    """
    clock = VirtualClock(until_ms - HOUR_MS)

    async def run(ledger: Ledger) -> SampleLedger:
        async with running(ledger):
            return await live_astray(ledger, clock, worse, unmeasured, rounds)

    with opened(settings, clock) as ledger:
        return asyncio.run(run(ledger))


def fill_audited(settings: LedgerSettings, until_ms: int) -> SampleLedger:
    """Create a ledger in the settings' folder whose run is audited, begun an hour before."""
    clock = VirtualClock(until_ms - HOUR_MS)

    async def run(ledger: Ledger) -> SampleLedger:
        async with running(ledger):
            return await live_audited(ledger, clock)

    with opened(settings, clock) as ledger:
        return asyncio.run(run(ledger))


def fill(settings: LedgerSettings, until_ms: int) -> SampleLedger:
    """Create a ledger in the settings' folder, with its history up to that time."""
    clock = VirtualClock(until_ms - DAYS * NIGHT_MS - HOUR_MS)

    async def run(ledger: Ledger) -> SampleLedger:
        async with running(ledger):
            return await live_through(ledger, clock, until_ms)

    with opened(settings, clock) as ledger:
        return asyncio.run(run(ledger))


def _written(number: int, at: int) -> Sample:
    """A head's text, longer in later rounds; the third member's device gives another ending."""
    text = " fox that could <b>count</b> the stars.\nEvery night she began again & never"
    ends = " came to the end." if at < 2 else " slept before dawn."
    return Sample(
        prompt="Once upon a time, in the hills above the sea, there lived a",
        text=text[: 12 + 2 * number] + (ends if number >= LEARNED else ""),
    )
