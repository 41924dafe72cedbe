"""How a volunteer does each duty: with the trainer, the store, the exchange and its own voice.

Large things move as files of the store; what the trainer hands back is checked against its name
before anything is signed. Nothing that a trainer says of itself is passed on as fact.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol, TypeVar

import structlog
import trio

from tequio_client.link import messages as link
from tequio_client.worker import duty as duties
from tequio_client.worker.trees import TreeRef
from tequio_shared import proof
from tequio_shared.contribution import RecordShape
from tequio_shared.errors import PeerError, RefusedError
from tequio_shared.ids import (
    ZERO_DIGEST,
    Digest,
    HeadHash,
    digest_from_text,
    from_text,
    peer_id_text,
    to_text,
)
from tequio_shared.limits import PIECE_BYTES
from tequio_shared.proof import Reason
from tequio_shared.round import Head, Phase, RoundView
from tequio_shared.run import first_head
from tequio_shared.statements.members import MemberLeave, MemberReady
from tequio_shared.statements.rounds import HeadAttest, WorkCommit

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from tequio_client.worker.announce import Announcer
    from tequio_client.worker.beacon_secrets import BeaconSecrets
    from tequio_client.worker.duty import ClosedRound, Duty
    from tequio_client.worker.exchange import Exchange
    from tequio_client.worker.outbox import Outbox
    from tequio_client.worker.store import Store
    from tequio_client.worker.trainer_process import TrainerProcess
    from tequio_shared.corpus import Corpus
    from tequio_shared.ids import PeerKey
    from tequio_shared.manifest import Manifest
    from tequio_shared.run import RunView
    from tequio_shared.statement import Entry
    from tequio_shared.statements import Body
    from tequio_shared.statements.members import Role

log = structlog.get_logger(__name__)

LEAVING = 1
"""Code of member.leave: the volunteer stops."""
UPLOAD_MARGIN_MS = 2_000
"""A trainer stops this long before the deadline, to encode and to commit."""
GATHER_SHARE = 0.5
"""Part of the witness time that a witness waits for contributions still on their way."""
HEADS_KEPT = 2

R = TypeVar("R", bound=link.Report)

_OVERTAKEN = frozenset({"too-late", "already-said", "not-in-round", "run-finished"})
"""Refusals that only say that the run has gone on."""

_REASONS = {reason.name.lower(): reason for reason in Reason} | {"copied": Reason.COPY}


@dataclass(slots=True)
class Tally:
    """What this volunteer has done since the start; for status and logs."""

    rounds_trained: int = 0
    proofs: int = 0
    tokens: int = 0
    train_seconds: float = 0.0
    loss_last: float = 0.0
    heads: dict[int, str] = field(default_factory=dict)  # round to head hash, as computed here


@dataclass(frozen=True, slots=True, kw_only=True)
class Means:
    """What the deeds are done with."""

    key: PeerKey
    manifest: Manifest
    corpus: Corpus
    roles: tuple[Role, ...]
    store: Store
    exchange: Exchange
    outbox: Outbox
    announcer: Announcer
    secrets: BeaconSecrets
    trainer: TrainerProcess
    prepare: link.Prepare
    work_folder: Path


class Tracker(Protocol):
    """Whoever follows the run: what a deed asks it."""

    view: RunView
    opened_at_s: float

    def own(self) -> duties.Own:
        """What we hold and have said."""

    async def wait_until(self, holds: Callable[[], bool], patience_s: float) -> bool:
        """Wait until the log makes something true; False when the time is up first."""


class Deeds:
    """Does duties, one at a time."""

    def __init__(self, means: Means) -> None:
        self._means = means
        self._head: Head | None = None  # whose weights lie in the store
        self._kept: list[Digest] = []  # weights that are pinned, oldest first
        self._feedback: Path | None = None  # after our last accepted contribution
        self._fresh_feedback: dict[int, Path] = {}  # by round, until it is settled
        self._delta: tuple[int, Path] | None = None  # pseudo-gradient of that round
        self._committing = False
        self.tally = Tally()

    @property
    def held(self) -> HeadHash | None:
        """The head whose weights are in our store."""
        return self._head.hash if self._head else None

    @property
    def held_head(self) -> Head | None:
        """The head whose weights are in our store, with what its hash is made of."""
        return self._head

    def may_drop(self, now: Duty) -> bool:
        """Whether an overtaken duty may be cancelled: not while a statement is on its way."""
        return not self._committing and not isinstance(now, duties.Ready | duties.Attest)

    async def do(self, now: Duty, rounds: Tracker) -> None:
        """Do one duty; returns when it is done or no longer possible. Raises TequioError."""
        match now:
            case duties.FetchHead(head=head):
                await self._fetch_head(head)
            case duties.Advance(closed=closed):
                await self._advance(closed)
            case duties.Ready():
                await self._say_ready(rounds)
            case duties.Attest():
                await self._attest(rounds)
            case duties.Train():
                await self._train(rounds)
            case duties.Prove():
                await self._prove(rounds)
            case _:
                raise AssertionError(f"{now} is nothing to do")

    async def leave(self) -> None:
        """Say goodbye to the run."""
        await self._say(MemberLeave(reason=LEAVING), None)

    def settle(self, round_number: int, *, was_accepted: bool) -> None:
        """A round closed: what was not sent stays in the error feedback."""
        fresh = self._fresh_feedback.pop(round_number, None)
        if was_accepted and fresh is not None:
            self._feedback = fresh

    # --- heads

    async def _fetch_head(self, head: Head) -> None:
        manifest = self._means.manifest
        size = 4 * manifest.layout.elements
        ref = TreeRef(root=head.weights_root, size_bytes=size, piece_bytes=PIECE_BYTES)
        if head.aux_root != ZERO_DIGEST:
            raise RefusedError("no-aux", "runs with state beside the weights cannot be joined yet")
        if not self._means.store.has_tree(head.weights_root):
            log.info("fetching head", round=head.round, size_bytes=size)
        came = await self._means.exchange.tree(ref)
        if came:
            sources = {peer_id_text(peer): count for peer, count in came.items()}
            log.info("head fetched", round=head.round, sources=sources)
        self._hold(head)

    async def _advance(self, closed: ClosedRound) -> None:
        held = self._head
        if held is None or held.hash != closed.parent:
            raise RefusedError("no-head", "the head before that round is not here")
        await self._gather_payloads(closed)
        out = self._means.work_folder / f"head-{closed.round}.i32"
        members = tuple(
            link.Contribution(to_text(one.header), self._tree_path(one.payload_root))
            for one in closed.members
        )
        report = await self._ask(
            lambda wish: link.Advance(
                wish=wish,
                round=closed.round,
                run=to_text(self._means.manifest.run_id),
                parent=to_text(closed.parent),
                k=closed.k,
                weights=self._tree_path(held.weights_root),
                weights_out=str(out),
                contributions=members,
            ),
            link.Advanced,
        )
        ref = await trio.to_thread.run_sync(self._means.store.move_tree_file, out, PIECE_BYTES)
        self._hold(_advanced_head(closed, report, ref.root))
        self.tally.heads[closed.round] = report.head
        log.info("head computed", round=closed.round, head=report.head[:10], seconds=report.seconds)

    async def _gather_payloads(self, closed: ClosedRound) -> None:
        shape_bytes, piece = _payload_shape(self._means.manifest, closed.k)
        async with trio.open_nursery() as nursery:
            for one in closed.members:
                ref = TreeRef(root=one.payload_root, size_bytes=shape_bytes, piece_bytes=piece)
                nursery.start_soon(self._means.exchange.tree, ref, one.trainer)

    def _hold(self, head: Head) -> None:
        """Pin the weights of this head and let go of the oldest."""
        self._head = head
        if head.weights_root in self._kept:
            return
        self._means.store.pin(head.weights_root)
        self._kept.append(head.weights_root)
        while len(self._kept) > HEADS_KEPT:
            oldest = self._kept.pop(0)
            self._means.store.unpin(oldest)

    # --- statements

    async def _say_ready(self, rounds: Tracker) -> None:
        await self._ask_prepared()
        held = self._head or first_head(self._means.manifest)
        body = MemberReady(
            head=to_text(held.hash),
            roles=self._means.roles,
            commit=to_text(self._means.secrets.commit()),
        )
        await self._say(body, None)
        await rounds.wait_until(lambda: rounds.own().ready_index is not None, 5.0)

    async def _attest(self, rounds: Tracker) -> None:
        current, held = _current(rounds), self._head
        expected = current.expected_head(held.weights_root, held.aux_root) if held else None
        if held is None or expected is None or expected.hash != held.hash:
            raise RefusedError("no-head", "our head is not the one this round starts from")
        body = HeadAttest(
            head=to_text(held.hash),
            weights_root=to_text(held.weights_root),
            aux_root=to_text(held.aux_root),
            reveal=to_text(self._means.secrets.reveal(current.roster_index)),
            commit=to_text(self._means.secrets.commit()),
        )
        try:
            await self._say(body, current.number)
        except RefusedError as err:
            if err.code == "wrong-reveal":  # our file is behind the log: commit anew for the next
                await self._say_ready(rounds)
            elif err.code not in _OVERTAKEN:
                raise
        await _past(rounds, current, lambda: current.phase is not Phase.ATTEST)

    async def _train(self, rounds: Tracker) -> None:
        current, held = _current(rounds), self._head
        slot = current.slot_of[self._means.key]
        if held is None or current.head is None or held.hash != current.head.hash:
            raise RefusedError("no-head", "our head is not the one this round starts from")
        report = await self._trained(rounds, current, held, current.assignment[slot])
        header = from_text(report.header, None)
        payload = self._means.work_folder / f"payload-{current.number}"
        ref = await trio.to_thread.run_sync(
            self._means.store.move_tree_file, payload, current.shape.group_bytes
        )
        if to_text(ref.root) != report.payload_root:
            raise PeerError("the trainer's payload is not what its header says")
        self.tally.rounds_trained += 1
        self.tally.tokens += report.tokens
        self.tally.train_seconds += report.train_seconds
        self.tally.loss_last = report.loss_last
        self._committing = True
        try:
            entry = await self._say(WorkCommit(header=to_text(header)), current.number)
            await self._means.announcer.announce(entry)
        except RefusedError as err:
            log.warning("commitment refused", round=current.number, code=err.code, why=str(err))
        finally:
            self._committing = False
        await _past(rounds, current, lambda: slot in current.commitments)

    async def _trained(
        self,
        rounds: Tracker,
        current: RoundView,
        held: Head,
        windows: Sequence[tuple[int, int]],
    ) -> link.Trained:
        number, folder = current.number, self._means.work_folder
        shards = await self._shards(windows)
        delta, feedback = folder / f"delta-{number}", folder / f"feedback-{number}"
        report = await self._ask(
            lambda wish: link.Train(
                wish=wish,
                round=number,
                run=to_text(self._means.manifest.run_id),
                head=to_text(held.hash),
                weights=self._tree_path(held.weights_root),
                trainer=to_text(self._means.key),
                k=current.k,
                windows=tuple(windows),
                shards=shards,
                payload_out=str(folder / f"payload-{number}"),
                feedback_out=str(feedback),
                delta_out=str(delta),
                feedback_in=str(self._feedback) if self._feedback else None,
                stop_after_ms=_time_left_ms(rounds, current),
            ),
            link.Trained,
        )
        self._delta = (number, delta)
        self._fresh_feedback[number] = feedback
        self._sweep(number)
        return report

    async def _prove(self, rounds: Tracker) -> None:
        current = _current(rounds)
        await self._wait_for_payloads(rounds, current)
        here = {
            slot: one
            for slot, one in current.commitments.items()
            if self._means.store.has_tree(one.header.payload_root)
        }
        keys = current.roster.keys
        candidates = tuple(
            link.Candidate(
                slot=slot,
                trainer=to_text(keys[slot]),
                header=to_text(one.header.pack()),
                payload=self._tree_path(one.header.payload_root),
                windows=current.assignment[slot],
            )
            for slot, one in sorted(here.items())
        )
        verdicts = await self._screened(current, candidates) if candidates else ()
        rejected = {one.slot: _REASONS[one.reason] for one in verdicts if one.reason in _REASONS}
        vouched = {one.slot: current.commitments[one.slot].id for one in verdicts if not one.reason}
        head = current.head
        if head is None:
            raise RefusedError("no-head", "the round has no head")
        body = proof.make(
            seed=current.seed,
            slots=len(current.roster.members),
            trainers=len(current.trainers),
            vouched=vouched,
            rejected=rejected,
            head=head.hash,
        )
        self._committing = True
        try:
            await self._say(body, current.number)
            self.tally.proofs += 1
        except RefusedError as err:
            log.warning("proof refused", round=current.number, code=err.code, why=str(err))
        finally:
            self._committing = False
        me = current.slot_of[self._means.key]
        await _past(rounds, current, lambda: me in current.proofs)

    async def _wait_for_payloads(self, rounds: Tracker, current: RoundView) -> None:
        patience_s = self._means.manifest.rounds.witness / 1000 * GATHER_SHARE
        roots = [one.header.payload_root for one in current.commitments.values()]
        with trio.move_on_after(patience_s):
            await self._means.exchange.wait_for(roots)

    async def _screened(
        self, current: RoundView, candidates: tuple[link.Candidate, ...]
    ) -> tuple[link.Verdict, ...]:
        head = current.head
        if head is None:
            raise RefusedError("no-head", "the round has no head")
        delta = self._delta
        report = await self._ask(
            lambda wish: link.Screen(
                wish=wish,
                round=current.number,
                run=to_text(self._means.manifest.run_id),
                head=to_text(head.hash),
                k=current.k,
                candidates=candidates,
                own_delta=str(delta[1]) if delta and delta[0] == current.number else None,
            ),
            link.Screened,
        )
        for one in report.verdicts:
            if one.reason:
                log.warning("contribution refused", round=current.number, slot=one.slot, why=one)
        return report.verdicts

    # --- with the trainer

    async def _ask_prepared(self) -> link.Ready:
        prepare = self._means.prepare
        if self._means.trainer.ready is not None:
            return self._means.trainer.ready
        return await self._means.trainer.ask(
            lambda wish: link.Prepare(
                wish=wish,
                manifest=prepare.manifest,
                config=prepare.config,
                data_manifest=prepare.data_manifest,
                tokenizer=prepare.tokenizer,
                device=prepare.device,
                threads=prepare.threads,
                memory_mb=prepare.memory_mb,
                share_percent=prepare.share_percent,
            ),
            link.Ready,
        )

    async def _shards(self, windows: Sequence[tuple[int, int]]) -> tuple[link.Shard, ...]:
        manifest, corpus = self._means.manifest, self._means.corpus
        order = corpus.order(manifest.windows.seed)
        touched = order.shards_of(windows, manifest.windows.samples)
        for index in touched:
            shard = corpus.train[index]
            root = digest_from_text(shard.root)
            ref = TreeRef(root=root, size_bytes=shard.size_bytes, piece_bytes=PIECE_BYTES)
            await self._means.exchange.tree(ref)
        roots = corpus.train_roots()
        return tuple(link.Shard(index, self._tree_path(roots[index])) for index in touched)

    def _tree_path(self, root: Digest) -> str:
        return str(self._means.store.tree_path(root))

    def _sweep(self, number: int) -> None:
        """Delete working files of rounds long past."""
        for path in self._means.work_folder.glob("*-*"):
            stem, _, tail = path.name.partition("-")
            old = tail.isdigit() and int(tail) + 2 < number
            if old and stem in ("delta", "feedback", "payload") and path != self._feedback:
                path.unlink(missing_ok=True)

    async def _ask(self, make: Callable[[int], link.Wish], answer: type[R]) -> R:
        await self._ask_prepared()
        return await self._means.trainer.ask(make, answer)

    async def _say(self, body: Body, round_number: int | None) -> Entry:
        return await self._means.outbox.say(body, self._means.manifest.run_id, round_number)


def _current(rounds: Tracker) -> RoundView:
    current = rounds.view.round
    if current is None:
        raise RefusedError("not-in-round", "no round is under way")
    return current


async def _past(rounds: Tracker, current: RoundView, holds: Callable[[], bool]) -> None:
    """Wait until the log shows what we said, or the round has gone on without it."""
    phase = current.phase
    await rounds.wait_until(
        lambda: holds() or rounds.view.round is not current or current.phase is not phase, 30.0
    )


def _time_left_ms(rounds: Tracker, current: RoundView) -> int:
    """Time until the trainer must stop, by the time since we saw the round open; at least 1 ms."""
    if current.open is None:
        raise RefusedError("not-in-round", "the round is not open")
    whole = current.open.train_by - current.open.opened
    gone = int((trio.current_time() - rounds.opened_at_s) * 1000)
    return max(whole - gone - min(UPLOAD_MARGIN_MS, whole // 4), 1)


def _payload_shape(manifest: Manifest, k: int) -> tuple[int, int]:
    """(bytes of a payload, bytes of a piece) of contributions with that k."""
    algorithm = manifest.algorithm
    shape = RecordShape(algorithm=algorithm.name, k=k, bits=algorithm.bits)
    return manifest.chunks * shape.record_bytes, shape.group_bytes


def _advanced_head(closed: ClosedRound, report: link.Advanced, weights_root: Digest) -> Head:
    """The head that the trainer computed; raises PeerError when its files say something else."""
    if to_text(weights_root) != report.weights_root:
        raise PeerError("the trainer's weights are not what it says")
    if report.set_root != to_text(closed.set_root):
        raise PeerError("the trainer advanced over another set than the log's")
    return Head(
        hash=HeadHash(digest_from_text(report.head)),
        round=closed.round,
        parent=closed.parent,
        set_root=closed.set_root,
        weights_root=weights_root,
        aux_root=digest_from_text(report.aux_root),
    )
