"""A member coordinates a round: it asks all others in turn, and goes on with those that answer.

The steps are those of `member_round`; a member that fails at one of them, or is late, is left out
of those that follow. A round ends early with `RefusedError` when fewer members remain than the
threshold. A result without a decision, left by a former coordinator, is brought to its end first.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from typing import TYPE_CHECKING

import numpy as np
import structlog
import trio

from tequio_client.group.coordinator_round import RoundTally
from tequio_client.group.head_store import Content, next_weights
from tequio_client.group.member_network import MemberConversation, MemberNetwork, ask_itself
from tequio_client.group.member_service import MemberService
from tequio_client.group.messages import (
    AnyBody,
    DealtList,
    Declined,
    Done,
    FetchFile,
    FileSent,
    ForwardedSum,
    GroupMessage,
    HeadDecision,
    HeadVote,
    MaskedUpdate,
    RoundBegin,
    SumResult,
    Unfinished,
    body_as,
)
from tequio_shared.errors import MalformedError, PeerError, RefusedError
from tequio_shared.head.head import weights_root
from tequio_shared.ids import from_text, to_text

if TYPE_CHECKING:
    from tequio_client.group.group_file import GroupFile

log = structlog.get_logger(__name__)

Collect = Callable[[GroupMessage, Content], None]
"""Records one answer; raises PeerError for one that is wrong."""


class RoundCoordinator:
    def __init__(self, service: MemberService, network: MemberNetwork) -> None:
        self._service = service
        self._network = network
        self._group: GroupFile = service.group
        self._reply_s = service.group.times.reply_ms / 1000
        self._train_s = service.group.times.train_ms / 1000

    async def coordinate(self, round_number: int) -> None:
        """Bring one round to its end; raises RefusedError or MalformedError if it fails."""
        async with self._conversations() as talks:
            try:
                await self._coordinate(round_number, RoundTalks(self._service, talks))
            finally:
                self._service.leave_round(round_number)

    async def _coordinate(self, round_number: int, talks: RoundTalks) -> None:
        state, tally = self._service.store.state, RoundTally(self._group, round_number)
        unfinished: list[tuple[int, str]] = []

        def collect_keys(message: GroupMessage, _: Content) -> None:
            if isinstance(message.body, Unfinished):
                unfinished.append((message.author, message.body.result))
            else:
                tally.add_keys(message)

        begin = RoundBegin(round=round_number, head=state.head)
        await talks.ask(begin, collect_keys, self._reply_s)
        if unfinished:
            await self._finish(*unfinished[0], talks)
            return
        await talks.ask(tally.key_list(), lambda one, _: tally.add_dealt(one), self._reply_s)
        log.info("round begins", round=round_number, members=self._group.names(talks.members))
        await talks.ask(tally.dealt_list(), self._collect_vectors(tally), self._train_s)
        chosen = tally.close()
        await talks.ask(chosen, lambda one, _: tally.add_ack(one), self._reply_s)
        acks = tally.ack_list()
        await talks.ask(acks, lambda one, _: tally.add_shares(one), self._reply_s)
        total = await trio.to_thread.run_sync(tally.unmask)
        weights = self._service.store.weights(state.head)
        moved = await trio.to_thread.run_sync(
            next_weights, self._group, weights, total, len(chosen.members)
        )
        result = SumResult(
            round=round_number,
            parent=state.head,
            number=state.number + 1,
            acks=acks.acks,
            head=to_text(weights_root(moved)),
        )
        frame = self._service.mail.sign(result).text
        await self._decide(frame, total.astype("<i4").tobytes(), talks)

    def _collect_vectors(self, tally: RoundTally) -> Collect:
        def collect(message: GroupMessage, payload: Content) -> None:
            body = body_as(message.body, MaskedUpdate)
            if body.round != tally.round:
                raise MalformedError(f"a vector of round {body.round}")
            tally.add_vector(message.author, np.frombuffer(payload, "<u4"))

        return collect

    async def _finish(self, holder: int, result: str, talks: RoundTalks) -> None:
        """Bring the result of a former round, which a member holds, to its decision."""
        parsed = self._service.mail.parse(from_text(result, None))
        body = body_as(parsed.body, SumResult)
        self._service.check_result(parsed.author, body)
        log.info("finishing the result of an earlier round", round=body.round)
        fetch = self._service.mail.sign(FetchFile(kind="sum", name=body.head))
        answer, content = await talks.ask_one(holder, fetch, self._train_s)
        body_as(answer.body, FileSent)
        await self._decide(result, content, talks)

    async def _decide(self, result: str, total: Content, talks: RoundTalks) -> None:
        votes: dict[int, GroupMessage] = {}

        def collect_vote(message: GroupMessage, _: Content) -> None:
            body_as(message.body, HeadVote)
            votes[message.author] = message

        # Also members that missed the round, or a step of it, vote and go on with the new head.
        await talks.add_missing(self._network)
        await talks.ask(ForwardedSum(result=result), collect_vote, self._train_s, total)
        texts = tuple(message.text for _, message in sorted(votes.items()))
        decision = HeadDecision(votes=texts)
        try:
            self._service.check_decision(texts)
        except MalformedError as err:
            raise RefusedError("threshold", f"the head is not decided: {err}") from err
        await talks.ask(decision, lambda one, _: _check_done(one), self._reply_s)

    @asynccontextmanager
    async def _conversations(self) -> AsyncIterator[ConversationStack]:
        async with AsyncExitStack() as stack:
            talks = ConversationStack(stack)
            await talks.open_missing(self._network, self._service.place)
            yield talks


class ConversationStack:
    """Open conversations, by place; all are closed with the stack."""

    def __init__(self, stack: AsyncExitStack) -> None:
        self._stack = stack
        self.open: dict[int, MemberConversation] = {}

    async def open_missing(self, network: MemberNetwork, own: int) -> None:
        for place in network.connected():
            if place != own and place not in self.open:
                try:
                    self.open[place] = await self._stack.enter_async_context(network.open(place))
                except PeerError as err:
                    log.debug("no stream to a member", member=place, error=str(err))


class RoundTalks:
    """The members that still answer in a round; this member is always one of them."""

    def __init__(self, service: MemberService, stack: ConversationStack) -> None:
        self._service = service
        self._stack = stack
        self._left: set[int] = {service.place, *stack.open}

    @property
    def members(self) -> tuple[int, ...]:
        return tuple(sorted(self._left))

    async def add_missing(self, network: MemberNetwork) -> None:
        """Ask members again that were left out, over new streams, and those that came back."""
        for place in [one for one in self._stack.open if one not in self._left]:
            del self._stack.open[place]
        await self._stack.open_missing(network, self._service.place)
        self._left = {self._service.place, *self._stack.open}

    async def ask(
        self, body: AnyBody, collect: Collect, timeout_s: float, payload: Content = b""
    ) -> None:
        """Ask all members at once; one that fails, or gives a wrong answer, is left out."""
        message = self._service.mail.sign(body)
        async with trio.open_nursery() as nursery:
            for place in self.members:
                nursery.start_soon(self._ask, place, message, collect, timeout_s, payload)

    async def ask_one(
        self, place: int, message: GroupMessage, timeout_s: float, payload: Content = b""
    ) -> tuple[GroupMessage, Content]:
        """Ask one member; raises PeerError."""
        if place == self._service.place:
            with trio.move_on_after(timeout_s):
                return await ask_itself(self._service, message, payload)
            raise PeerError(f"not done in {timeout_s:.0f} s")
        return await self._stack.open[place].request(message, payload, timeout_s=timeout_s)

    async def _ask(
        self,
        place: int,
        message: GroupMessage,
        collect: Collect,
        timeout_s: float,
        payload: Content,
    ) -> None:
        try:
            answer, content = await self.ask_one(place, message, timeout_s, payload)
            # A member without an update still holds shares of the others' secrets.
            if not (isinstance(answer.body, Declined) and isinstance(message.body, DealtList)):
                collect(answer, content)
        except PeerError as err:
            self._left.discard(place)
            log.info(
                "a member is left out",
                member=self._service.group.members[place].name,
                at=type(message.body).__name__,
                reason=str(err),
            )


def _check_done(message: GroupMessage) -> None:
    body_as(message.body, Done)
