"""The running member of a group: connections, turns as coordinator, and catching up.

Members coordinate in turn, by the number of the round. A member whose turn it is begins; the others
wait for it, for a shorter time if they see no connection to it, and then for the next one. A round
that fails costs its number, and the next coordinator tries again.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import structlog
import trio

from tequio_client.cli import LISTEN_EVERYWHERE
from tequio_client.group.coordinator import RoundCoordinator
from tequio_client.group.group_file import GroupFile
from tequio_client.group.head_store import HeadStore
from tequio_client.group.member_network import MemberNetwork
from tequio_client.group.member_service import MOST_SKIPPED, MemberService
from tequio_client.group.messages import (
    Ask,
    FetchFile,
    FileSent,
    GroupMail,
    HeadDecision,
    MemberStatus,
    body_as,
)
from tequio_client.group.updates import PrivateTrainer, TrainerOptions
from tequio_client.keys import identity
from tequio_client.runtime import locked
from tequio_client.trainer.private.texts import NoTextsError, text_files
from tequio_client.worker import shutdown
from tequio_client.worker.shutdown import StoppableProgram
from tequio_client.worker.swarm.listening import check_announced, own_port, with_ports
from tequio_client.worker.swarm.peers import PeerNetwork
from tequio_shared.errors import PeerError, RefusedError

if TYPE_CHECKING:
    from tequio_client.group.member_network import MemberConversation

log = structlog.get_logger(__name__)

CATCH_UP_S = 10.0
"""Pause between questions for a later head, unless a message shows that there is one."""
ALONE_S = 1.0
"""The same while nobody answered yet, or the model is missing."""
_PAUSES = 4
"""A coordinator that is not connected is waited for by this part of the reply's deadline, and one
whose last round failed waits as long."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupOptions:
    """Folder, addresses and trainer of a member."""

    folder: Path
    trainer: TrainerOptions
    listen: Sequence[str] = LISTEN_EVERYWHERE
    announce: Sequence[str] = ()
    peers: Sequence[str] = ()

    def __post_init__(self) -> None:
        check_announced(self.announce)


def run(group: GroupFile, options: GroupOptions) -> None:
    """Take part in a group until a signal; raises UserFacingError."""
    group.check_complete()
    if not text_files(options.trainer.data):
        raise NoTextsError(options.trainer.data)
    with shutdown.ungrouped_errors():
        trio.run(StoppableProgram().run, partial(_main, group, options))


async def _main(group: GroupFile, options: GroupOptions) -> None:
    async with AsyncExitStack() as stack:
        stack.enter_context(locked(options.folder))
        signer = identity.load_or_create(options.folder)
        store = HeadStore(options.folder, group)
        trainer = PrivateTrainer(options.folder, group, options.trainer)
        service = MemberService(
            GroupMail(group=group, signer=signer), store, trainer, secrets.token_bytes
        )
        network = await stack.enter_async_context(
            PeerNetwork(
                seed=signer.seed,
                listen=with_ports(options.listen, own_port(signer.key)),
                announce=options.announce,
            )
        )
        members = MemberNetwork(network, service, options.peers)
        member = GroupRun(service, members)
        log.info(
            "member of a group",
            group=group.name,
            fingerprint=fingerprint(group),
            members=group.size,
            needed=group.threshold,
            addresses=network.addresses(),
        )
        async with trio.open_nursery() as nursery:
            for task in (trainer.run, members.run, member.run_turns, member.run_catch_up):
                nursery.start_soon(task)
            await member.wait_failed()


def fingerprint(group: GroupFile) -> str:
    """The group's id as people compare it: 24 hexadecimal digits."""
    digits = group.id.hex()[:24]
    return " ".join(digits[at : at + 4] for at in range(0, len(digits), 4))


class GroupRun:
    """The tasks of a member; `run_turns` and `run_catch_up` run until cancelled."""

    def __init__(self, service: MemberService, network: MemberNetwork) -> None:
        self._service = service
        self._network = network
        self._group: GroupFile = service.group
        self._coordinator = RoundCoordinator(service, network)
        self._reply_s = service.group.times.reply_ms / 1000
        self._alone_with: list[int] | None = None  # members connected when there were too few

    async def wait_failed(self) -> None:
        """Raise the failure that stops this member, once there is one."""
        while self._service.failure is None:
            await self._service.changed.wait()
        raise self._service.failure

    async def run_turns(self) -> None:
        """Coordinate the rounds that are this member's, and wait for those of others."""
        service, turn = self._service, 0
        seen = service.store.state
        while True:
            await self._until(lambda: self._can_begin)
            before, seen = seen, service.store.state
            if seen.round > before.round and seen.number == before.number:
                await trio.sleep(self._reply_s / _PAUSES)  # a round failed: no hurry to fail again
                continue
            turn = max(turn, seen.round + 1)
            if self._group.coordinator_of(turn) != service.place:
                turn += await self._waited_in_vain(turn)
            elif self._has_company():
                await self._coordinate(turn)
            else:
                await trio.sleep(ALONE_S)
                turn += 1

    async def run_catch_up(self) -> None:
        """Ask for later heads, and fetch what this member lacks."""
        service = self._service
        while True:
            is_informed = await self._catch_up() and service.store.has_model
            with trio.move_on_after(CATCH_UP_S if is_informed else ALONE_S):
                await self._until(lambda: service.is_behind)
                await trio.sleep(ALONE_S)  # it may be seen again while nobody has the head
            service.is_behind = False

    @property
    def _can_begin(self) -> bool:
        """Check that the member has its model, is in no round, and rounds remain."""
        service = self._service
        is_over = service.store.state.number >= self._group.training.rounds
        return service.store.has_model and not service.is_busy and not is_over

    def _has_company(self) -> bool:
        """Check that enough members are connected for a round; log when they are not."""
        connected = [one for one in self._network.connected() if one != self._service.place]
        missing = self._group.threshold - len(connected) - 1
        if missing > 0 and connected != self._alone_with:
            log.info(
                "waiting for more members",
                connected=self._group.names(tuple(connected)) or "nobody",
                missing=missing,
            )
        self._alone_with = connected if missing > 0 else None
        return missing <= 0

    async def _coordinate(self, turn: int) -> None:
        try:
            await self._coordinator.coordinate(turn)
        except (RefusedError, PeerError) as err:
            log.info(
                "a round failed, and the next coordinator tries again", round=turn, reason=str(err)
            )
            if self._service.store.state.round < turn:
                self._service.store.begin_round(turn)

    async def _waited_in_vain(self, turn: int) -> bool:
        """Wait for the coordinator of a turn; False once a round began, or a head came."""
        service = self._service
        before = service.store.state
        is_connected = self._group.coordinator_of(turn) in self._network.connected()
        patience_s = self._reply_s if is_connected else self._reply_s / _PAUSES
        with trio.move_on_after(patience_s) as waiting:
            await self._until(lambda: service.is_busy or service.store.state != before)
        return waiting.cancelled_caught

    async def _until(self, holds: Callable[[], bool]) -> None:
        while not holds():
            await self._service.changed.wait()

    async def _catch_up(self) -> bool:
        """Ask all connected members; False if none answered."""
        answered = 0
        others = [one for one in self._network.connected() if one != self._service.place]
        for place in others:
            try:
                async with self._network.open(place) as talk:
                    await self._learn(talk)
                answered += 1
            except (PeerError, RefusedError) as err:
                log.debug("nothing learned from a member", member=place, error=str(err))
        return answered > 0

    async def _learn(self, talk: MemberConversation) -> None:
        """Ask one member for its head, and adopt it if it is later and its votes are enough."""
        service, store = self._service, self._service.store
        ask = service.mail.sign(Ask(addresses=tuple(sorted(service.addresses.items()))))
        answer, _ = await talk.request(ask, timeout_s=self._reply_s)
        status = body_as(answer.body, MemberStatus)
        service.on_addresses(talk.place, status.addresses)
        # Up to the round before the present one, which the member may still be asked into.
        if store.state.round + 1 < status.round <= store.state.round + MOST_SKIPPED:
            store.begin_round(status.round - 1)
        if store.tokenizer is not None and not store.tokenizer.is_file():
            content = await self._fetch(talk, "tokenizer", self._group.tokenizer.file)
            await trio.to_thread.run_sync(store.add_tokenizer, content)
        if status.number < store.state.number:
            return
        if status.number == store.state.number:
            if status.head == store.state.head and not store.weights_path(status.head).is_file():
                await self._fetch_weights(talk, status.head)
            return
        vote = service.check_decision(status.votes)
        if not store.weights_path(vote.head).is_file():
            await self._fetch_weights(talk, vote.head)
        service.adopt(HeadDecision(votes=status.votes))

    async def _fetch_weights(self, talk: MemberConversation, head: str) -> None:
        content = await self._fetch(talk, "weights", head)
        await trio.to_thread.run_sync(self._service.store.add_weights, head, content)
        self._service.notify()

    async def _fetch(self, talk: MemberConversation, kind: str, name: str) -> bytes:
        log.info("fetching from a member", what=kind, member=self._group.members[talk.place].name)
        message = self._service.mail.sign(FetchFile(kind=kind, name=name))
        train_s = self._group.times.train_ms / 1000
        answer, content = await talk.request(message, timeout_s=train_s)
        body_as(answer.body, FileSent)
        return bytes(content)
