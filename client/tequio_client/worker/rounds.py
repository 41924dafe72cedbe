"""A volunteer in one run: follows the log, and does what follows from it.

Two tasks share the view. `_follow` is the only writer: it applies entry after entry and wakes
`_act`, which works out the duty (`duty.duty`) and has it done, dropping a duty that the log has
overtaken. `_gather` fetches contributions as they are committed, so that a witness has them when
the training phase ends.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import structlog
import trio

from tequio_client.worker import duty as duties
from tequio_client.worker.duty import ClosedRound, Duty, Member, Own
from tequio_shared.errors import RefusedError, TequioError
from tequio_shared.ids import HeadHash, PeerKey, digest_from_text, to_text
from tequio_shared.round import Phase, RoundView
from tequio_shared.run import RunView, State, needed_document
from tequio_shared.statements.members import MemberLeave, MemberReady
from tequio_shared.statements.rounds import HeadAttest, HeadPromote, RoundClose, RoundOpen

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from tequio_client.worker.beacon_secrets import BeaconSecrets
    from tequio_client.worker.deeds import Deeds
    from tequio_client.worker.exchange import Exchange
    from tequio_shared.contribution import Header
    from tequio_shared.ids import Digest
    from tequio_shared.statement import Entry, Statement

log = structlog.get_logger(__name__)

CLOSED_KEPT = 8
"""Closed rounds whose accepted sets are remembered, to go on from an older head."""
RETRY_S = 2.0
"""Pause after a duty that failed for a reason that may pass."""


class LedgerLiedError(TequioError):
    """An entry does not follow from the log before it: this run's coordinator broke the rules."""


class Clock(Protocol):
    """The wall clock, in milliseconds since 1970."""

    def __call__(self) -> int:
        """Tell the time."""


class Rounds:
    """One volunteer's part in one run. `run` returns when the run has ended."""

    def __init__(
        self,
        *,
        view: RunView,
        key: PeerKey,
        deeds: Deeds,
        exchange: Exchange,
        secrets: BeaconSecrets,
        clock: Clock,
    ) -> None:
        self.view = view  # written by _follow only
        self._key = key
        self._deeds = deeds
        self._exchange = exchange
        self._secrets = secrets
        self._clock = clock
        self._closed: dict[HeadHash, ClosedRound] = {}  # by parent; written by _follow
        self._ready_index: int | None = None
        self._is_leaving = False
        self._moved = trio.Event()  # replaced at every change
        self._heard: dict[Digest, PeerKey] = {}  # payload root to trainer, this round's gossip
        self.opened_at_s = 0.0  # trio time at which we saw the last round.open

    async def run(self, entries: AsyncIterator[tuple[int, Entry]]) -> None:
        """Take part until the run ends; raises LedgerLiedError when the log breaks the rules."""
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._follow, entries)
            nursery.start_soon(self._gather)
            await self._act()
            nursery.cancel_scope.cancel()

    async def leave(self) -> None:
        """Say that we leave; no further duty of a round is begun."""
        if not self._is_leaving:
            self._is_leaving = True
            self._wake()
            await self._deeds.leave()

    def own(self) -> Own:
        """What we hold and have said."""
        return Own(
            key=self._key,
            held=self._deeds.held,
            closed=self._closed,
            ready_index=self._ready_index,
            is_leaving=self._is_leaving,
        )

    # --- following the log

    async def _follow(self, entries: AsyncIterator[tuple[int, Entry]]) -> None:
        run = self.view.manifest.run_id
        async for index, entry in entries:
            if entry.statement.run == run:
                await self._take(index, entry.statement)
                self._wake()

    async def _take(self, index: int, statement: Statement) -> None:
        name = needed_document(statement)
        document = await self._exchange.blob(name) if name else b""
        try:
            self.view.apply(index, statement, self._clock(), lambda _: document)
        except RefusedError as err:
            raise LedgerLiedError(
                f"entry {index} ({statement.type}) does not follow from the log: {err}"
            ) from err
        if statement.author == self._key:
            self._confirm(index, statement)
        self._after(statement)

    def _confirm(self, index: int, statement: Statement) -> None:
        """Note what the log now has of ours."""
        match statement.body:
            case MemberReady(commit=commit):
                self._ready_index = index
                self._secrets.confirm(digest_from_text(commit), index)
            case HeadAttest(commit=commit):
                self._secrets.confirm(digest_from_text(commit), index)
            case MemberLeave():
                self._ready_index = None

    def _after(self, statement: Statement) -> None:
        current = self.view.round
        match statement.body:
            case RoundOpen():
                self.opened_at_s = trio.current_time()
                self._heard.clear()
            case RoundClose() if current is not None:
                self._remember(current)
            case HeadPromote(head=head):
                log.info("head is canonical", round=statement.round, head=head[:10])

    def _remember(self, current: RoundView) -> None:
        if current.head is None or self.view.next_head is None:
            return
        accepted = current.accepted()
        parent = current.head.hash
        self._closed[parent] = ClosedRound(
            round=current.number,
            k=current.k,
            parent=parent,
            set_root=self.view.next_head.set_root,
            members=tuple(
                Member(
                    trainer=one.header.trainer,
                    id=one.id,
                    header=one.header.pack(),
                    payload_root=one.header.payload_root,
                )
                for one in accepted.values()
            ),
        )
        while len(self._closed) > CLOSED_KEPT:
            del self._closed[next(iter(self._closed))]
        mine = current.slot_of.get(self._key)
        self._deeds.settle(current.number, was_accepted=mine in accepted)
        log.info(
            "round closed",
            round=current.number,
            accepted=len(accepted),
            committed=len(current.commitments),
            proofs=len(current.proofs),
            elected=len(current.elected),
        )

    # --- acting on it

    async def _act(self) -> None:
        while True:
            now = duties.duty(self.view, self.own())
            if isinstance(now, duties.Done):
                return
            if isinstance(now, duties.Wait):
                await self._moved.wait()
                continue
            await self._do(now)

    async def _do(self, now: Duty) -> None:
        """Do one duty; stop early when the log has made it pointless."""
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._watch_overtaken, now, nursery.cancel_scope)
            try:
                await self._deeds.do(now, self)
            except TequioError as err:
                log.warning("duty failed; trying again", duty=type(now).__name__, error=str(err))
                await self._moved_or(RETRY_S)
            nursery.cancel_scope.cancel()

    async def _watch_overtaken(self, mine: Duty, scope: trio.CancelScope) -> None:
        while duties.duty(self.view, self.own()) == mine:
            await self._moved.wait()
        if self._deeds.may_drop(mine):
            scope.cancel()

    async def _moved_or(self, patience_s: float) -> None:
        with trio.move_on_after(patience_s):
            await self._moved.wait()

    async def wait_until(self, holds: Callable[[], bool], patience_s: float) -> bool:
        """Wait until the log makes something true; False when the time is up first."""
        with trio.move_on_after(patience_s):
            while not holds():
                await self._moved.wait()
        return holds()

    def _wake(self) -> None:
        self._moved.set()
        self._moved = trio.Event()

    # --- gathering contributions

    def hear(self, trainer: PeerKey, header: Header) -> None:
        """Somebody announced a commitment: fetch it now if it is of the round we are in."""
        current = self.view.round
        if current is None or self._key not in current.slot_of or trainer == self._key:
            return
        fits = header.round == current.number and trainer in current.slot_of
        if fits and header.chunk_count == current.chunks:
            self._heard[header.payload_root] = trainer
            self._wake()

    async def _gather(self) -> None:
        """Fetch the payload of every commitment of a round that we are in."""
        asked: set[Digest] = set()
        async with trio.open_nursery() as nursery:
            while True:
                for key, root, size, piece in self._wanted():
                    if root not in asked:
                        asked.add(root)
                        nursery.start_soon(self._exchange.tree_or_log, root, size, piece, key)
                await self._moved.wait()

    def _wanted(self) -> list[tuple[PeerKey, Digest, int, int]]:
        current = self.view.round
        if current is None or self._key not in current.slot_of or current.phase is Phase.OVER:
            return []
        size = current.chunks * current.shape.record_bytes
        logged = {
            one.header.payload_root: one.header.trainer for one in current.commitments.values()
        }
        return [
            (trainer, root, size, current.shape.group_bytes)
            for root, trainer in (logged | self._heard).items()
            if trainer != self._key
        ]


def describe(view: RunView) -> dict[str, object]:
    """The run in a few fields, for logs and status."""
    head = view.head
    return {
        "state": str(view.state),
        "round": view.number,
        "head": to_text(head.hash) if head else None,
        "head_round": head.round if head else None,
        "is_over": view.state is State.FINISHED,
    }
