"""A member's answer to each message: the rules of rounds, votes and heads, without a network.

Requests come from other members' streams and, for the rounds that this member coordinates, from
itself; both are treated alike. Everything that must survive a crash is on disk before the answer
is given. Rules beside those of `member_round`:

1. A member takes part in each round number once, also after a restart.
2. It stays in a round until its coordinator ends it or is gone, and declines others meanwhile.
3. It votes for one child of each head. Since two sets of the threshold of members have more members
   in common than may collude, at most one child gets enough votes: heads never fork.
4. It adopts a head that the threshold of members voted for, and no other.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import structlog
import trio
from numpy.typing import NDArray

from tequio_client.group.coordinator_round import check_sum
from tequio_client.group.group_file import GroupFile
from tequio_client.group.head_store import Content, HeadStore, ProgressRow, next_weights
from tequio_client.group.masks import RandomBytes
from tequio_client.group.member_round import MemberRound, parse_enough
from tequio_client.group.messages import (
    AckList,
    AnyBody,
    Ask,
    DealtList,
    Declined,
    Done,
    FetchFile,
    FileSent,
    ForwardedSum,
    GroupMail,
    GroupMessage,
    HeadDecision,
    HeadVote,
    KeyList,
    MaskedUpdate,
    MembersAck,
    MemberStatus,
    RoundBegin,
    SumMembers,
    SumResult,
    Unfinished,
    body_as,
    cut_reason,
)
from tequio_client.group.updates import LocalUpdate, NoUpdateError, UpdateSource
from tequio_shared.errors import MalformedError, PeerError, RefusedError, UserFacingError
from tequio_shared.head.head import weights_root
from tequio_shared.ids import from_text, to_text

log = structlog.get_logger(__name__)

MOST_SKIPPED = 1_000_000
"""Most rounds that a coordinator may skip: a number near the largest would end the group."""

AddressList = tuple[tuple[int, tuple[str, ...]], ...]


class MemberAnswer(NamedTuple):
    """A body, and the bytes that follow it."""

    body: AnyBody
    payload: Content = b""


class MemberService:
    """Owner of a member's state; `handle` is called for one message of each member at a time."""

    def __init__(
        self, mail: GroupMail, store: HeadStore, updates: UpdateSource, random: RandomBytes
    ) -> None:
        self.mail = mail
        self.group: GroupFile = mail.group
        self.store = store
        self._updates = updates
        self._random = random
        place = mail.group.index_of(mail.signer.key)
        if place is None:
            raise UserFacingError(
                f"the key of {store.folder} is not in the group {mail.group.name}: add it with "
                "`tequio group add`, and give everybody the new group file"
            )
        self.place = place
        self._current: MemberRound | None = None
        self._used: LocalUpdate | None = None  # of the current round
        self.changed = trio.Event()  # replaced; set when a round begins or ends, or a head comes
        self.failure: UserFacingError | None = None
        """Why this member stopped: its head, or a coordinator, is not what it should be."""
        self.addresses: dict[int, tuple[str, ...]] = {}
        """Where members listen, this one too, as they or others said last."""
        self.on_addresses: Callable[[int, AddressList], None] = lambda _source, _addresses: None
        self.is_behind = False
        """True if others seem to have a later head."""

    @property
    def is_busy(self) -> bool:
        """Check for a round whose coordinator is still connected."""
        return self._current is not None

    async def handle(self, message: GroupMessage, payload: Content = b"") -> MemberAnswer:
        """MemberAnswer a request; whatever is wrong with it becomes a `Declined`."""
        try:
            return await self._answer(message, payload)
        except NoUpdateError:
            # The reason names files and counts of this member's texts: it stays in its own log.
            return self._declined("it did not train")
        except (RefusedError, PeerError) as err:
            name = self.group.members[message.author].name
            log.info("declined", what=type(message.body).__name__, member=name, reason=str(err))
            return self._declined(str(err))
        except UserFacingError as err:
            self._fail(str(err))
            return self._declined("this member stops")

    def leave_round(self, round_number: int) -> None:
        """End a round whose coordinator is done or gone; its secrets are dropped."""
        if self._current is not None and self._current.round == round_number:
            self._current = None
            self.notify()

    def adopt(self, decision: HeadDecision) -> bool:
        """Adopt a decided head whose weights are in the folder; False if it is not a later one.

        Raises MalformedError for a decision without enough votes, or if the weights are missing.
        """
        vote = self.check_decision(decision.votes)
        if vote.number <= self.store.state.number:
            return False
        used = self._used if self._used and self._used.head == vote.parent else None
        row = ProgressRow(
            number=vote.number,
            members=self._members_of(vote),
            loss=used.loss if used else None,
        )
        self.store.adopt(vote, decision.votes, row)
        self._updates.spend()
        self._used, self._current, self.is_behind = None, None, False
        log.info(
            "new head", number=vote.number, head=vote.head[:10], members=len(row.members) or None
        )
        if vote.number == self.group.training.rounds:
            log.info("this was the last round: others may still fetch the head; stop with Ctrl+C")
        self.notify()
        return True

    def check_decision(self, frames: tuple[str, ...]) -> HeadVote:
        """The head that these votes decided; raises MalformedError or SignatureInvalidError."""
        votes = self.mail.parse_all(frames, HeadVote)
        if len(votes) < self.group.threshold or len(set(votes.values())) != 1:
            raise MalformedError(f"{len(votes)} votes do not decide about a head")
        return next(iter(votes.values()))

    async def _answer(self, message: GroupMessage, payload: Content) -> MemberAnswer:
        author = message.author
        match message.body:
            case RoundBegin() as body:
                return self._begin(author, body)
            case KeyList() | DealtList() | SumMembers() | AckList() as body:
                return await self._go_on(self._in_round(author, body.round), body)
            case ForwardedSum() as body:
                return await self._vote(author, body, payload)
            case HeadDecision() as body:
                return self._decide(body)
            case Ask() as body:
                self.on_addresses(author, body.addresses)
                return MemberAnswer(self.status())
            case FetchFile() as body:
                return await trio.to_thread.run_sync(self._send_file, body)
            case body:
                raise MalformedError(f"a {type(body).__name__} is not a request")

    async def _go_on(
        self, current: MemberRound, body: KeyList | DealtList | SumMembers | AckList
    ) -> MemberAnswer:
        """Take the next step of the round that this member is in."""
        match body:
            case KeyList():
                return MemberAnswer(current.deal(body))
            case DealtList():
                return await self._train_and_mask(current, body)
            case SumMembers():
                return MemberAnswer(current.acknowledge(body))
            case AckList():
                return MemberAnswer(current.reveal(body))

    def status(self) -> MemberStatus:
        state = self.store.state
        return MemberStatus(
            round=state.round,
            number=state.number,
            head=state.head,
            votes=state.votes,
            addresses=tuple(sorted(self.addresses.items())),
        )

    def _begin(self, author: int, body: RoundBegin) -> MemberAnswer:
        state = self.store.state
        if self.group.coordinator_of(body.round) != author:
            raise MalformedError(f"round {body.round} has another coordinator")
        if not state.round < body.round <= state.round + MOST_SKIPPED:
            return self._declined(f"round {body.round} is over")
        if self._current is not None:
            return self._declined(f"in round {self._current.round}")
        if body.head != state.head or not self.store.has_model:
            self.is_behind = True
            self.notify()
            return self._declined(f"at head {state.number}")
        if state.result:
            return MemberAnswer(Unfinished(result=state.result))
        self.store.begin_round(body.round)
        self._used = None
        self._current = MemberRound(self.mail, body.round, body.head, self._random)
        self.notify()
        return MemberAnswer(self._current.keys())

    async def _train_and_mask(self, current: MemberRound, body: DealtList) -> MemberAnswer:
        current.receive(body)
        head = self.store.state.head
        update = await self._updates.update(head, self.store.weights_path(head), body.round)
        if self._current is not current:
            raise RefusedError("round", f"round {body.round} is over")
        # Before the vector can reach anybody: an update goes into one vector only.
        self._updates.spend()
        self._used = update
        vector = await trio.to_thread.run_sync(current.mask, update.numbers)
        return MemberAnswer(MaskedUpdate(round=body.round), vector.astype("<u4", copy=False).data)

    async def _vote(self, author: int, body: ForwardedSum, payload: Content) -> MemberAnswer:
        message = self.mail.parse(from_text(body.result, None))
        result = body_as(message.body, SumResult)
        members = self.check_result(message.author, result)
        vote = HeadVote(number=result.number, parent=result.parent, head=result.head)
        if (answer := self._known_vote(vote, message)) is not None:
            return answer
        head, weights = await trio.to_thread.run_sync(
            self.next_head, result.parent, payload, len(members)
        )
        if head != vote.head:
            if author != message.author:
                raise MalformedError(f"the sum is not that of round {result.round}")
            name = self.group.members[message.author].name
            self._fail(
                f"the sum of round {result.round} leads to the head {head[:10]} on this computer, "
                f"and to {vote.head[:10]} for its coordinator {name}: both need the same version "
                "of Tequio; if they have it, one of the two computers computes wrongly or lies"
            )
            return self._declined("computed another head")
        await trio.to_thread.run_sync(self.store.add_candidate, head, weights, payload)
        if (answer := self._known_vote(vote, message)) is not None:  # it came twice at once
            return answer
        self.store.record_vote(vote, body.result)
        return MemberAnswer(vote)

    def _known_vote(self, vote: HeadVote, message: GroupMessage) -> MemberAnswer | None:
        """The answer to a result that needs no work; None: vote for it after computing it."""
        state = self.store.state
        if (vote.head, vote.number) == (state.head, state.number) or vote == state.vote:
            return MemberAnswer(vote)
        if (vote.parent, vote.number) != (state.head, state.number + 1):
            self.is_behind = vote.number > state.number + 1
            return self._declined(f"at head {state.number}")
        if state.vote is not None:
            self.accuse(self.mail.parse(from_text(state.result, None)), message)
            return self._declined("voted for another head")
        return None

    def check_result(self, author: int, result: SumResult) -> tuple[int, ...]:
        """Return the members in a result's sum; raises MalformedError or RefusedError."""
        if self.group.coordinator_of(result.round) != author:
            raise MalformedError(
                f"a result of round {result.round} by another than its coordinator"
            )
        acks = parse_enough(self.mail, result.acks, MembersAck, result.round)
        if len(set(acks.values())) != 1:
            raise MalformedError("the acknowledgements are of different sets")
        ack = next(iter(acks.values()))
        if ack.head != result.parent:
            raise MalformedError(f"round {result.round} began from another head")
        return ack.members

    def next_head(
        self, parent: str, payload: Content, members: int
    ) -> tuple[str, NDArray[np.int32]]:
        """The head that a sum leads to, and its weights; raises MalformedError. Blocks."""
        if len(payload) != self.group.weights_bytes:
            raise MalformedError(f"a sum of {len(payload)} bytes")
        total = np.frombuffer(payload, "<i4").astype(np.int64)
        check_sum(total, members)
        moved = next_weights(self.group, self.store.weights(parent), total, members)
        return to_text(weights_root(moved)), moved

    def _decide(self, body: HeadDecision) -> MemberAnswer:
        vote = self.check_decision(body.votes)
        state = self.store.state
        if vote.number > state.number and not self.store.weights_path(vote.head).is_file():
            self.is_behind = True
            self.notify()
            return self._declined("the weights are missing here")
        self.adopt(body)
        return MemberAnswer(Done())

    def _send_file(self, body: FetchFile) -> MemberAnswer:
        state = self.store.state
        if body.kind == "tokenizer" and self.store.tokenizer is not None:
            path = self.store.tokenizer
        elif body.kind == "weights" and body.name == state.head:
            path = self.store.weights_path(body.name)
        elif body.kind == "sum" and state.vote is not None and body.name == state.vote.head:
            path = self.store.sum_path(body.name)
        else:
            return self._declined("that file is not here")
        try:
            content = path.read_bytes()
        except OSError:
            return self._declined("that file is not here")
        return MemberAnswer(FileSent(size_bytes=len(content)), content)

    def _members_of(self, vote: HeadVote) -> tuple[int, ...]:
        state = self.store.state
        if state.vote != vote:
            return ()
        message = self.mail.parse(from_text(state.result, None))
        return self.check_result(message.author, body_as(message.body, SumResult))

    def accuse(self, former: GroupMessage, message: GroupMessage) -> None:
        """Stop if one coordinator signed two results of one round: it tries to split the group."""
        ours, theirs = body_as(former.body, SumResult), body_as(message.body, SumResult)
        if ours.round == theirs.round:
            name = self.group.members[message.author].name
            self._fail(
                f"{name} signed two different results of round {ours.round}, and may try to split "
                f"the group: talk with {name}, and go on with a new group file without that key"
            )

    def _in_round(self, author: int, round_number: int) -> MemberRound:
        current = self._current
        if current is None or current.round != round_number:
            raise RefusedError("round", f"not in round {round_number}")
        if self.group.coordinator_of(round_number) != author:
            raise MalformedError(f"round {round_number} has another coordinator")
        return current

    def _fail(self, why: str) -> None:
        self.failure = UserFacingError(why)
        self.notify()

    def _declined(self, reason: str) -> MemberAnswer:
        return MemberAnswer(Declined(round=self.store.state.round, reason=cut_reason(reason)))

    def notify(self) -> None:
        """Wake the tasks that wait for a change."""
        self.changed.set()
        self.changed = trio.Event()
