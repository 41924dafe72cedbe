"""How a volunteer does each duty: with the trainer, the store, the exchange and its own voice.

Large things move as files of the store; what the trainer hands back is checked against its name
before anything is signed. Nothing that a trainer says of itself is passed on as fact.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, TypeVar

import msgspec
import structlog
import trio

from tequio_client.link import messages as link
from tequio_client.worker import duty as duties
from tequio_client.worker.trainer_process import TrainerFailedError
from tequio_client.worker.trees import TreeRef
from tequio_shared import proof
from tequio_shared.contribution import RecordShape
from tequio_shared.errors import PeerError, RefusedError, UserFacingError
from tequio_shared.ids import (
    ZERO_DIGEST,
    Digest,
    HeadHash,
    digest_from_text,
    peer_id_text,
    to_text,
)
from tequio_shared.limits import PIECE_BYTES
from tequio_shared.proof import Reason
from tequio_shared.round import Head, RoundView
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

PATIENCE_S = 60.0
"""How long accepted contributions are looked for before the promoted head is fetched instead."""
SAID_KEPT = 16
WORK_FILES = ("delta", "feedback", "payload", "head")

_LASTING = frozenset({"device", "model", "input", "memory"})
"""Codes of a trainer that cannot be prepared: asking again would change nothing."""
_REASONS = {reason.name.lower(): reason for reason in Reason}


@dataclass(slots=True)
class Tally:
    """What this volunteer has done since the start; for status and logs."""

    rounds_trained: int = 0
    proofs: int = 0
    tokens: int = 0
    train_seconds: float = 0.0
    loss_last: float = 0.0


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


class Deeds:
    """Does duties, one at a time."""

    def __init__(self, means: Means) -> None:
        self._means = means
        self._head: Head | None = None  # whose weights lie in the store
        self._fetching: Head | None = None
        self._kept: list[Digest] = []  # weights that are pinned, oldest first
        self._feedback: Path | None = None  # after our last accepted contribution
        self._fresh_feedback: tuple[int, Path] | None = None  # of that round, until it is settled
        self._delta: tuple[int, Path] | None = None  # pseudo-gradient of that round
        self._speaking = 0  # statements on their way
        self.said: deque[Duty] = deque(maxlen=SAID_KEPT)  # what the ledger has answered
        self.tally = Tally()

    @property
    def held(self) -> Head | None:
        """The head whose weights are in our store."""
        return self._head

    @property
    def fetching(self) -> Head | None:
        """The head whose weights we are getting from others, also between two attempts."""
        return self._fetching

    @property
    def is_speaking(self) -> bool:
        """Whether a statement is on its way: what it belongs to should not be cancelled."""
        return self._speaking > 0

    async def do(self, now: Duty, rounds: Tracker) -> None:
        """Do one duty; returns when it is done or no longer possible. Raises TequioError."""
        match now:
            case duties.FetchHead(head=head):
                await self._fetch_head(head)
            case duties.Advance(closed=closed):
                await self._advance(closed)
            case duties.Ready():
                await self._say_ready(now)
            case duties.Attest():
                await self._attest(now, rounds)
            case duties.Train():
                await self._train(now, rounds)
            case duties.Prove():
                await self._prove(now, rounds)
            case _:
                raise AssertionError(f"{now} is nothing to do")

    async def leave(self) -> None:
        """Say goodbye to the run."""
        await self._say(MemberLeave(reason=LEAVING), None)

    def settle(self, round_number: int, *, was_accepted: bool) -> None:
        """A round is over: what was not sent stays in the error feedback.

        Training that did not count leaves the feedback as it was before.
        """
        if self._fresh_feedback is None or self._fresh_feedback[0] != round_number:
            return
        if was_accepted:
            self._feedback = self._fresh_feedback[1]
        self._fresh_feedback = None

    # --- heads

    async def _fetch_head(self, head: Head) -> None:
        manifest = self._means.manifest
        size = 4 * manifest.layout.elements
        ref = TreeRef(root=head.weights_root, size_bytes=size, piece_bytes=PIECE_BYTES)
        if head.aux_root != ZERO_DIGEST:
            raise RefusedError("no-aux", "runs with state beside the weights cannot be joined yet")
        await self._ask_prepared()  # a computer that cannot train need not fetch
        if not self._means.store.has_tree(head.weights_root):
            log.info("fetching head", round=head.round, size_bytes=size)
        self._fetching = head
        came = await self._means.exchange.tree(ref)
        self._fetching = None
        if came:
            sources = {peer_id_text(peer): count for peer, count in came.items()}
            log.info("head fetched", round=head.round, sources=sources)
        self._hold(head)

    async def _advance(self, closed: ClosedRound) -> None:
        held = self._head
        if held is None or held.hash != closed.parent:
            raise RefusedError("no-head", "the head before that round is not here")
        with trio.move_on_after(PATIENCE_S) as patience:
            await self._gather_payloads(closed)
        if patience.cancelled_caught:
            raise PeerError(f"contributions of round {closed.round} are not to be had")
        out = self._means.work_folder / f"head-{closed.round}"
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
        root = await self._take_in(out, PIECE_BYTES)
        self._hold(_advanced_head(closed, report, root))
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

    async def _say_ready(self, now: duties.Ready) -> None:
        await self._ask_prepared()
        held = self._head or first_head(self._means.manifest)
        body = MemberReady(
            head=to_text(held.hash), roles=self._means.roles, commit=await self._commit()
        )
        await self._say(body, None)
        self.said.append(now)

    async def _attest(self, now: duties.Attest, rounds: Tracker) -> None:
        current, held = _current(rounds, now.round), self._head
        if held is None:
            raise RefusedError("no-head", "no head is here yet")
        body = HeadAttest(
            head=to_text(held.hash),
            weights_root=to_text(held.weights_root),
            aux_root=to_text(held.aux_root),
            reveal=to_text(self._means.secrets.reveal(current.roster_index)),
            commit=await self._commit(),
        )
        refusal = await self._say_once(now, body, current.number)
        if refusal is not None and refusal.code == "wrong-reveal":
            # Our file is behind the log. We train and witness all the same; for the coming
            # rounds we commit anew.
            await self._say_ready(duties.Ready(current.roster_index))

    async def _commit(self) -> str:
        return to_text(await trio.to_thread.run_sync(self._means.secrets.commit))

    async def _train(self, now: duties.Train, rounds: Tracker) -> None:
        current, held = _current(rounds, now.round), self._head
        slot = current.slot_of[self._means.key]
        if held is None or held != current.head:
            raise RefusedError("no-head", "our head is not the one this round starts from")
        report = await self._trained(rounds, current, held, current.assignment[slot])
        payload = self._means.work_folder / f"payload-{current.number}"
        root = await self._take_in(payload, current.shape.group_bytes)
        if to_text(root) != report.payload_root:
            raise PeerError("the trainer's payload is not what its header says")
        self._count(report)
        await self._say_once(now, WorkCommit(header=report.header), current.number)

    def _count(self, report: link.Trained) -> None:
        self.tally.rounds_trained += 1
        self.tally.tokens += report.tokens
        self.tally.train_seconds += report.train_seconds
        self.tally.loss_last = report.loss_last

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
        self._fresh_feedback = (number, feedback)
        await trio.to_thread.run_sync(self._sweep, number)
        return report

    async def _prove(self, now: duties.Prove, rounds: Tracker) -> None:
        current = _current(rounds, now.round)
        if current.head is None:
            raise RefusedError("no-head", "the round has no head")
        await self._wait_for_payloads(current)
        verdicts = await self._screened(current, current.head, self._candidates(current))
        body = proof.make(
            seed=current.seed,
            slots=len(current.roster.members),
            trainers=len(current.trainers),
            vouched={
                one.slot: current.commitments[one.slot].id for one in verdicts if not one.reason
            },
            rejected={one.slot: _REASONS[one.reason] for one in verdicts if one.reason in _REASONS},
            head=current.head.hash,
        )
        if await self._say_once(now, body, current.number) is None:
            self.tally.proofs += 1

    def _candidates(self, current: RoundView) -> tuple[link.Candidate, ...]:
        """The contributions that are here, in the order of their commitments.

        Of two that are alike the later one is the copy.
        """
        return tuple(
            link.Candidate(
                slot=slot,
                trainer=to_text(one.header.trainer),
                header=to_text(one.header.pack()),
                payload=self._tree_path(one.header.payload_root),
                windows=current.assignment[slot],
            )
            for slot, one in sorted(current.commitments.items(), key=lambda item: item[1].index)
            if self._means.store.has_tree(one.header.payload_root)
        )

    async def _wait_for_payloads(self, current: RoundView) -> None:
        patience_s = self._means.manifest.rounds.witness / 1000 * GATHER_SHARE
        roots = [one.header.payload_root for one in current.commitments.values()]
        with trio.move_on_after(patience_s):
            await self._means.exchange.wait_for(roots)

    async def _screened(
        self, current: RoundView, head: Head, candidates: tuple[link.Candidate, ...]
    ) -> tuple[link.Verdict, ...]:
        if not candidates:
            return ()
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
                log.warning(
                    "contribution refused", round=current.number, slot=one.slot, why=one.reason
                )
        return report.verdicts

    # --- with the trainer

    async def _ask_prepared(self) -> link.Ready:
        """Raises UserFacingError when the trainer cannot be prepared on this computer."""
        trainer, prepare = self._means.trainer, self._means.prepare
        if trainer.ready is not None:
            return trainer.ready
        try:
            return await trainer.ask(
                lambda wish: msgspec.structs.replace(prepare, wish=wish), link.Ready
            )
        except TrainerFailedError as err:
            if err.code not in _LASTING:
                raise
            raise UserFacingError(f"this computer cannot train the run: {err}") from err

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
        """Delete working files of rounds long past, but not the feedback in use."""
        for path in self._means.work_folder.glob("*-*"):
            stem, _, tail = path.name.partition("-")
            old = tail.isdigit() and int(tail) + 2 < number
            if old and stem in WORK_FILES and path != self._feedback:
                path.unlink(missing_ok=True)

    async def _ask(self, make: Callable[[int], link.Wish], answer: type[R]) -> R:
        await self._ask_prepared()
        return await self._means.trainer.ask(make, answer)

    async def _take_in(self, file: Path, piece_bytes: int) -> Digest:
        """Move a file that the trainer says it wrote into the store; returns its root."""
        if not await trio.Path(file).is_file():
            raise PeerError(f"the trainer did not leave {file}")
        ref = await trio.to_thread.run_sync(self._means.store.move_tree_file, file, piece_bytes)
        self._means.exchange.note_local()
        return ref.root

    # --- our voice

    async def _say_once(self, now: Duty, body: Body, round_number: int) -> RefusedError | None:
        """Say what a round takes once; a refusal is final for this round, logged and returned."""
        try:
            entry = await self._say(body, round_number)
        except RefusedError as err:
            self.said.append(now)
            return err  # the outbox has logged it
        self.said.append(now)
        if isinstance(body, WorkCommit):
            await self._means.announcer.announce(entry)
        return None

    async def _say(self, body: Body, round_number: int | None) -> Entry:
        self._speaking += 1
        try:
            return await self._means.outbox.say(body, self._means.manifest.run_id, round_number)
        finally:
            self._speaking -= 1


def clear_work_folder(folder: Path) -> None:
    """Make the folder for working files, without what an earlier life left there.

    Raises UserFacingError.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for path in folder.glob("*-*"):
            if path.name.partition("-")[0] in WORK_FILES:
                path.unlink()
    except OSError as err:
        raise UserFacingError(f"cannot use the folder {folder}: {err.strerror}") from err


def _current(rounds: Tracker, number: int) -> RoundView:
    current = rounds.view.round
    if current is None or current.number != number:
        raise RefusedError("not-in-round", f"round {number} is no longer under way")
    return current


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
