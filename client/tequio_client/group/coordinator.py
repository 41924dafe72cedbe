"""A member coordinates a round: it asks all others in turn, and goes on with those that answer.

The steps are those of `member_round`; a member that fails at one of them, or is late, is left out
of those that follow. A round ends early with `RefusedError` when fewer members remain than the
threshold. A result without a decision, left by a former coordinator, is brought to its end first.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from typing import TYPE_CHECKING, TypeAlias

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
"""Records one answer; raises PeerError or RefusedError for one that is wrong."""
UnfinishedResults: TypeAlias = dict[str, dict[int, GroupMessage]]
"""Results without a decision: by the head that they lead to, and by the member that voted."""


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
        state = self._service.store.state
        tally = RoundTally(self._group, round_number, state.head)
        unfinished: UnfinishedResults = {}

        def collect_keys(message: GroupMessage, _: Content) -> None:
            if isinstance(message.body, Unfinished):
                self._add_unfinished(unfinished, message.author, message.body)
            else:
                tally.add_keys(message)

        begin = RoundBegin(round=round_number, head=state.head)
        await talks.ask(begin, collect_keys, self._reply_s)
        if await self._finish(unfinished, talks):
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

    def _add_unfinished(self, found: UnfinishedResults, holder: int, body: Unfinished) -> None:
        """Add the result that a member voted for; raises MalformedError or RefusedError."""
        state = self._service.store.state
        message = self._service.mail.parse(from_text(body.result, None))
        result = body_as(message.body, SumResult)
        self._service.check_result(message.author, result)
        if (result.parent, result.number) != (state.head, state.number + 1):
            raise MalformedError(f"a result of round {result.round} for another head than ours")
        for head, holders in found.items():
            if head != result.head:
                self._service.accuse(next(iter(holders.values())), message)
        found.setdefault(result.head, {})[holder] = message

    async def _finish(self, unfinished: UnfinishedResults, talks: RoundTalks) -> bool:
        """Bring the result of a former round to its decision; False if nobody gives the sum of one.

        Votes are final. So of several results the one with the most votes is finished, and only if
        those that have not voted can still decide it: their votes for one that cannot be decided
        would keep them from one that can. Raises RefusedError when there are too few of them.
        """
        while unfinished:
            head = max(unfinished, key=lambda one: (len(unfinished[one]), one))
            holders = unfinished.pop(head)
            votes = len(talks.members) - sum(map(len, unfinished.values()))
            if votes < self._group.threshold:
                raise RefusedError(
                    "threshold",
                    f"{votes} of {self._group.threshold} votes at most for the head {head[:10]}: "
                    "the others are away, or voted for another one",
                )
            for holder, message in sorted(holders.items()):
                try:
                    total = await self._fetch_sum(holder, message, talks)
                except PeerError as err:
                    talks.leave_out(holder, FetchFile, err)
                    continue
                await self._decide(message.text, total, talks)
                return True
        return False

    async def _fetch_sum(self, holder: int, message: GroupMessage, talks: RoundTalks) -> Content:
        """Fetch the sum of a result from a member that voted for it; raises PeerError."""
        result = body_as(message.body, SumResult)
        log.info("finishing the result of an earlier round", round=result.round)
        fetch = self._service.mail.sign(FetchFile(kind="sum", name=result.head))
        answer, content = await talks.ask_one(holder, fetch, self._train_s)
        body_as(answer.body, FileSent)
        members = self._service.check_result(message.author, result)
        head, _ = await trio.to_thread.run_sync(
            self._service.next_head, result.parent, content, len(members)
        )
        if head != result.head:
            raise MalformedError(f"a sum that does not lead to the head {result.head[:10]}")
        return content

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
        except (PeerError, RefusedError) as err:
            self.leave_out(place, type(message.body), err)

    def leave_out(self, place: int, step: type[AnyBody], reason: Exception) -> None:
        self._left.discard(place)
        log.info(
            "a member is left out",
            member=self._service.group.members[place].name,
            at=step.__name__,
            reason=str(reason),
        )


def _check_done(message: GroupMessage) -> None:
    body_as(message.body, Done)
