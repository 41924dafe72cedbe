"""Votes, heads and what survives a restart: members answer messages, without a network."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
import trio
import trio.testing
from msgspec import structs

from tequio_client.group import member_service
from tequio_client.group.coordinator_round import RoundTally
from tequio_client.group.head_store import GroupState, HeadStore, next_weights
from tequio_client.group.member_service import MemberService
from tequio_client.group.messages import (
    Ask,
    DealtList,
    Declined,
    Done,
    FetchFile,
    FileSent,
    ForwardedSum,
    GroupMail,
    HeadDecision,
    HeadVote,
    MaskedUpdate,
    MemberStatus,
    RoundBegin,
    RoundKeys,
    SumResult,
    Unfinished,
)
from tequio_shared.errors import MalformedError, UserFacingError
from tequio_shared.head.head import weights_root
from tequio_shared.ids import to_text
from tests.support.group_members import first_weights, group_signers, make_group
from tests.support.group_swarm import StubTrainer

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from tequio_client.group.member_service import MemberAnswer
    from tequio_client.group.messages import AnyBody

COUNT = 4


class GroupServices:
    """The services of all members, in folders; a member can be opened again."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.signers = group_signers(COUNT)
        self.group = make_group(self.signers)
        self.mails = [GroupMail(group=self.group, signer=one) for one in self.signers]
        self.rng = np.random.default_rng(3)
        self.members: list[MemberService] = []
        for place in range(COUNT):
            (folder / str(place)).mkdir()
            HeadStore.write_origin(folder / str(place), first_weights(), b"")
            self.members.append(self.open(place))

    def open(self, place: int) -> MemberService:
        trainer = StubTrainer(self.signers[place].key, self.group.layout.elements)
        trainer.gate.set()
        store = HeadStore(self._folder / str(place), self.group)
        return MemberService(self.mails[place], store, trainer, self.rng.bytes)

    async def ask(
        self, asking: int, place: int, body: AnyBody, payload: bytes = b""
    ) -> MemberAnswer:
        message = self.mails[0].parse(self.mails[asking].sign(body).frame)
        return await self.members[place].handle(message, payload)

    async def result(
        self, number: int, places: Sequence[int] = range(COUNT)
    ) -> tuple[SumResult, bytes]:
        """Bring a round to its result, which the coordinator has signed and not sent yet."""
        asking = number % COUNT
        state = self.members[asking].store.state
        tally = RoundTally(self.group, number, state.head)

        async def step(body: AnyBody, collect: Callable[[int, MemberAnswer], object]) -> None:
            for place in places:
                collect(place, await self.ask(asking, place, body))

        def signed(add: Callable[..., None]) -> Callable[[int, MemberAnswer], None]:
            return lambda place, answer: add(self.mails[place].sign(answer.body))

        def vector(place: int, answer: MemberAnswer) -> None:
            assert isinstance(answer.body, MaskedUpdate)
            tally.add_vector(place, np.frombuffer(answer.payload, "<u4"))

        await step(RoundBegin(round=number, head=state.head), signed(tally.add_keys))
        await step(tally.key_list(), signed(tally.add_dealt))
        await step(tally.dealt_list(), vector)
        await step(tally.close(), signed(tally.add_ack))
        acks = tally.ack_list()
        await step(acks, signed(tally.add_shares))
        total = tally.unmask()
        weights = self.members[asking].store.weights(state.head)
        head = next_weights(self.group, weights, total, len(places))
        result = SumResult(
            round=number,
            parent=state.head,
            number=state.number + 1,
            acks=acks.acks,
            head=to_text(weights_root(head)),
        )
        return result, total.astype("<i4").tobytes()

    async def dealt_list(self) -> DealtList:
        """Bring round 1 to the shares of all members, which each of them is sent next."""
        head = self.group.model.weights_root
        tally = RoundTally(self.group, 1, head)
        for place, mail in enumerate(self.mails):
            answer = await self.ask(1, place, RoundBegin(round=1, head=head))
            tally.add_keys(mail.sign(answer.body))
        for place, mail in enumerate(self.mails):
            answer = await self.ask(1, place, tally.key_list())
            tally.add_dealt(mail.sign(answer.body))
        return tally.dealt_list()

    def trainer(self, place: int) -> StubTrainer:
        trainer = self.members[place]._updates  # noqa: SLF001 - the stub of `open`
        assert isinstance(trainer, StubTrainer)
        return trainer

    def forward(self, result: SumResult, asking: int) -> ForwardedSum:
        return ForwardedSum(result=self.mails[asking].sign(result).text)

    async def adopt_without(self, late: int) -> None:
        """Let the others agree on a head in a later round, and that member adopt it."""
        others = [place for place in range(COUNT) if place != late]
        for place in others:
            self.members[place].leave_round(1)
        result, total = await self.result(2, others)
        decision = await self.votes(result, total, others)
        weights = self.members[others[0]].store.weights_path(result.head).read_bytes()
        self.members[late].store.add_weights(result.head, weights)
        assert self.members[late].adopt(decision)

    async def votes(self, result: SumResult, total: bytes, places: Sequence[int]) -> HeadDecision:
        forward = self.forward(result, result.round % COUNT)
        frames = []
        for place in places:
            answer = await self.ask(result.round % COUNT, place, forward, total)
            assert isinstance(answer.body, HeadVote), answer.body
            frames.append(self.mails[place].sign(answer.body).text)
        return HeadDecision(votes=tuple(frames))


@pytest.fixture
def group(tmp_path: Path) -> GroupServices:
    return GroupServices(tmp_path)


def run(main: Callable[[], Awaitable[None]]) -> None:
    async def bounded() -> None:
        with trio.fail_after(60):
            await main()

    trio.run(bounded)


def reason(answer: MemberAnswer) -> str:
    assert isinstance(answer.body, Declined), answer.body
    return answer.body.reason


def test_a_head_is_adopted_after_enough_votes_and_not_before(group: GroupServices) -> None:
    async def main() -> None:
        result, total = await group.result(1)
        decision = await group.votes(result, total, range(COUNT))
        few = HeadDecision(votes=decision.votes[:2])
        assert "2 votes do not decide" in reason(await group.ask(1, 0, few))
        twice = HeadDecision(votes=(*decision.votes[:2], decision.votes[0]))
        assert "two HeadVote" in reason(await group.ask(1, 0, twice))
        assert group.members[0].store.state.number == 0
        for place in range(COUNT):
            assert isinstance((await group.ask(1, place, decision)).body, Done)
        states = {(one.store.state.number, one.store.state.head) for one in group.members}
        assert states == {(1, result.head)}
        assert group.members[0].store.weights(result.head).size == group.group.layout.elements
        # The same again changes nothing; it may have been sent twice.
        assert isinstance((await group.ask(1, 0, decision)).body, Done)
        assert group.members[0].store.state.number == 1

    run(main)


def test_a_vote_and_its_sum_survive_a_restart_and_lead_to_the_head(group: GroupServices) -> None:
    async def main() -> None:
        result, total = await group.result(1)
        await group.votes(result, total, range(1))
        group.members[0] = group.open(0)  # the coordinator and this member crash
        begin = RoundBegin(round=2, head=result.parent)
        answer = await group.ask(2, 0, begin)
        assert isinstance(answer.body, Unfinished)
        sent = await group.ask(2, 0, FetchFile(kind="sum", name=result.head))
        assert isinstance(sent.body, FileSent)
        assert bytes(sent.payload) == total
        frames = []
        for place in range(COUNT):
            vote = await group.ask(
                2, place, ForwardedSum(result=answer.body.result), bytes(sent.payload)
            )
            frames.append(group.mails[place].sign(vote.body).text)
        assert isinstance((await group.ask(2, 0, HeadDecision(votes=tuple(frames)))).body, Done)
        assert group.members[0].store.state.head == result.head

    run(main)


def test_a_member_takes_part_in_each_round_once_also_after_a_restart(
    group: GroupServices,
) -> None:
    async def main() -> None:
        begin = RoundBegin(round=1, head=group.group.model.weights_root)
        assert isinstance((await group.ask(1, 0, begin)).body, RoundKeys)
        assert reason(await group.ask(1, 0, begin)) == "round 1 is over"
        group.members[0] = group.open(0)
        assert reason(await group.ask(1, 0, begin)) == "round 1 is over"
        far = RoundBegin(round=2**40 + 1, head=begin.head)
        assert "is over" in reason(await group.ask(far.round % COUNT, 0, far))
        assert isinstance(
            (await group.ask(2, 0, RoundBegin(round=2, head=begin.head))).body, RoundKeys
        )

    run(main)


def test_a_member_stays_in_its_round_until_the_coordinator_is_gone(group: GroupServices) -> None:
    async def main() -> None:
        head = group.group.model.weights_root
        assert isinstance((await group.ask(1, 0, RoundBegin(round=1, head=head))).body, RoundKeys)
        second = RoundBegin(round=2, head=head)
        assert reason(await group.ask(2, 0, second)) == "in round 1"
        group.members[0].leave_round(9)
        assert reason(await group.ask(2, 0, second)) == "in round 1"
        group.members[0].leave_round(1)
        assert isinstance((await group.ask(2, 0, second)).body, RoundKeys)

    run(main)


def test_the_reason_of_a_failed_training_is_not_sent(group: GroupServices) -> None:
    async def main() -> None:
        listed = await group.dealt_list()
        trainer = group.trainer(0)
        trainer.fails = True  # because of a folder, which nobody else has to know
        assert reason(await group.ask(1, 0, listed)) == "it did not train"
        assert trainer.spent == 0

    run(main)


@pytest.mark.parametrize("is_adopting", [False, True])
def test_an_update_of_a_round_that_ended_meanwhile_is_not_sent(
    group: GroupServices, *, is_adopting: bool
) -> None:
    async def main() -> None:
        listed = await group.dealt_list()
        member, trainer = group.members[0], group.trainer(0)
        answers: list[MemberAnswer] = []
        trainer.gate = trio.Event()

        async def ask() -> None:
            answers.append(await group.ask(1, 0, listed))

        async with trio.open_nursery() as nursery:
            nursery.start_soon(ask)
            await trio.testing.wait_all_tasks_blocked()
            if is_adopting:
                await group.adopt_without(0)
            else:
                member.leave_round(1)
            spent = trainer.spent
            trainer.gate.set()
        assert reason(answers[0]) == "round 1 is over"
        assert trainer.spent == spent, "it goes into the vector of a later round"

    run(main)


def test_only_the_coordinator_of_a_round_leads_it(group: GroupServices) -> None:
    async def main() -> None:
        head = group.group.model.weights_root
        begin = RoundBegin(round=1, head=head)
        assert "has another coordinator" in reason(await group.ask(2, 0, begin))
        result, total = await group.result(5)
        forged = group.forward(result, asking=2)
        assert "by another than its coordinator" in reason(await group.ask(2, 0, forged, total))

    run(main)


def test_an_update_is_spent_as_soon_as_it_is_masked(group: GroupServices) -> None:
    async def main() -> None:
        await group.result(1)
        assert [group.trainer(place).spent for place in range(COUNT)] == [1] * COUNT

    run(main)


@pytest.mark.parametrize("wrong", ["head", "sum"])
def test_a_member_that_computes_another_head_stops(group: GroupServices, wrong: str) -> None:
    async def main() -> None:
        result, total = await group.result(1)
        if wrong == "head":
            result = structs.replace(result, head=to_text(bytes(32)))
        else:
            total = total[4:8] + total[:4] + total[8:]
        answer = await group.ask(1, 0, group.forward(result, 1), total)
        assert reason(answer) == "computed another head"
        failure = group.members[0].failure
        assert failure is not None
        assert "for its coordinator member 1" in str(failure)
        assert group.members[0].store.state.vote is None

    run(main)


def test_a_forwarder_of_a_wrong_sum_accuses_nobody_else(group: GroupServices) -> None:
    async def main() -> None:
        result, total = await group.result(1)
        wrong = total[4:8] + total[:4] + total[8:]
        answer = await group.ask(2, 0, group.forward(result, 1), wrong)
        assert reason(answer) == "the sum is not that of round 1"
        assert group.members[0].failure is None

    run(main)


def test_a_coordinator_that_signs_two_results_is_named(group: GroupServices) -> None:
    async def main() -> None:
        result, total = await group.result(1)
        await group.votes(result, total, range(1))
        numbers: NDArray[np.int32] = np.frombuffer(total, "<i4") + 8
        other = np.where(np.arange(numbers.size) < 4, numbers, np.frombuffer(total, "<i4"))
        weights = group.members[0].store.weights(result.parent)
        head = next_weights(group.group, weights, other.astype(np.int64), COUNT)
        second = structs.replace(result, head=to_text(weights_root(head)))
        answer = await group.ask(1, 0, group.forward(second, 1), other.astype("<i4").tobytes())
        assert reason(answer) == "voted for another head"
        assert "member 1 signed two different results of round 1" in str(group.members[0].failure)

    run(main)


def test_the_acknowledgements_of_a_round_make_one_head_only(group: GroupServices) -> None:
    async def main() -> None:
        result, total = await group.result(1)
        decision = await group.votes(result, total, range(COUNT))
        for place in range(COUNT):
            await group.ask(1, place, decision)
        weights = next_weights(
            group.group,
            group.members[0].store.weights(result.head),
            np.frombuffer(total, "<i4").astype(np.int64),
            COUNT,
        )
        again = structs.replace(
            result, parent=result.head, number=2, head=to_text(weights_root(weights))
        )
        answer = await group.ask(1, 0, group.forward(again, 1), total)
        assert reason(answer) == "round 1 began from another head"
        assert group.members[0].store.state.vote != HeadVote(
            number=2, parent=again.parent, head=again.head
        )

    run(main)


def test_sums_that_no_updates_give_are_declined(group: GroupServices) -> None:
    async def main() -> None:
        result, total = await group.result(1)
        forward = group.forward(result, 1)
        assert "a sum of 8 bytes" in reason(await group.ask(1, 0, forward, total[:8]))
        huge = np.full(group.group.layout.elements, 2**31 - 1, "<i4").tobytes()
        assert "beyond what 4 updates" in reason(await group.ask(1, 0, forward, huge))
        few = structs.replace(result, acks=result.acks[:2])
        assert "2 MembersAck where 3" in reason(await group.ask(1, 0, group.forward(few, 1), total))

    run(main)


def test_a_head_that_is_adopted_while_a_member_computes_its_vote_accuses_nobody(
    group: GroupServices, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def main() -> None:
        result, total = await group.result(1)
        decision = await group.votes(result, total, range(1, COUNT))
        late = group.members[0]
        late.store.add_weights(
            result.head, group.members[1].store.weights_path(result.head).read_bytes()
        )

        def adopt(*_: object) -> None:  # as when it catches up meanwhile
            assert trio.from_thread.run_sync(late.adopt, decision)

        monkeypatch.setattr(member_service, "check_sum", adopt)
        answer = await group.ask(1, 0, group.forward(result, 1), total)
        assert "cannot be read" in reason(answer)
        assert late.failure is None

    run(main)


def test_an_earlier_decision_is_not_adopted_again(group: GroupServices) -> None:
    async def main() -> None:
        result, total = await group.result(1)
        first = await group.votes(result, total, range(COUNT))
        for place in range(COUNT):
            await group.ask(1, place, first)
        result, total = await group.result(2)
        second = await group.votes(result, total, range(COUNT))
        for place in range(COUNT):
            await group.ask(2, place, second)
        assert not group.members[0].adopt(first)
        assert group.members[0].store.state.head == result.head

    run(main)


def test_a_decision_about_unknown_weights_makes_the_member_catch_up(group: GroupServices) -> None:
    async def main() -> None:
        result, total = await group.result(1)
        decision = await group.votes(result, total, range(3))
        assert "weights are missing" in reason(await group.ask(1, 3, decision))
        assert group.members[3].is_behind
        await group.ask(1, 0, decision)
        status = (await group.ask(3, 0, Ask())).body
        assert isinstance(status, MemberStatus)
        sent = await group.ask(3, 0, FetchFile(kind="weights", name=status.head))
        store = group.members[3].store
        with pytest.raises(MalformedError, match="not those of the head"):
            store.add_weights(status.head, bytes(len(sent.payload)))
        with pytest.raises(MalformedError, match="bytes of weights"):
            store.add_weights(status.head, sent.payload[:-4])
        store.add_weights(status.head, sent.payload)
        assert group.members[3].adopt(HeadDecision(votes=status.votes))
        assert store.state.rows[-1].members == ()

    run(main)


def test_what_is_no_request_is_declined(group: GroupServices) -> None:
    async def main() -> None:
        assert "Done is not a request" in reason(await group.ask(1, 0, Done()))
        assert "not in round 3" in reason(await group.ask(3, 0, (await group_key_list(group))))
        gone = FetchFile(kind="tokenizer", name=to_text(bytes(32)))
        assert reason(await group.ask(1, 0, gone)) == "that file is not here"

    run(main)


async def group_key_list(group: GroupServices) -> AnyBody:
    tally = RoundTally(group.group, 3, group.group.model.weights_root)
    for place in range(COUNT):
        begin = RoundBegin(round=3, head=group.group.model.weights_root)
        answer = await group.ask(3, place, begin)
        tally.add_keys(group.mails[place].sign(answer.body))
        group.members[place].leave_round(3)
    return tally.key_list()


def test_the_folder_of_another_group_is_refused(group: GroupServices, tmp_path: Path) -> None:
    other = structs.replace(group.group, name="other")
    with pytest.raises(UserFacingError, match="belongs to another group"):
        HeadStore(tmp_path / "0", other)
    (tmp_path / "0" / "state.json").write_text("{")
    with pytest.raises(UserFacingError, match=r"state\.json is damaged"):
        HeadStore(tmp_path / "0", group.group)


def test_a_member_whose_disk_fails_stops_with_one_sentence(
    group: GroupServices, tmp_path: Path
) -> None:
    async def main() -> None:
        (tmp_path / "0" / "state.json.new").mkdir()
        begin = RoundBegin(round=1, head=group.group.model.weights_root)
        assert reason(await group.ask(1, 0, begin)) == "this member stops"
        assert "free some space" in str(group.members[0].failure)

    run(main)


def test_a_key_outside_the_group_cannot_run(group: GroupServices, tmp_path: Path) -> None:
    mail = GroupMail(group=group.group, signer=group_signers(COUNT + 1)[COUNT])
    trainer = StubTrainer(mail.signer.key, 1)
    with pytest.raises(UserFacingError, match="is not in the group test"):
        MemberService(mail, HeadStore(tmp_path / "0", group.group), trainer, group.rng.bytes)


@pytest.mark.parametrize(
    ("total", "members", "moved"),
    [(3, 2, 2), (-3, 2, -1), (1, 3, 0), (2, 3, 1), (-2, 3, -1), (5, 2, 3), (-1, 2, 0)],
)
def test_the_mean_is_rounded_half_up(
    group: GroupServices, total: int, members: int, moved: int
) -> None:
    weights = first_weights()
    found = next_weights(group.group, weights, np.full(weights.size, total, np.int64), members)
    layout = group.group.layout
    expected = layout.unflatten(weights)
    for name, tensor in layout.unflatten(found).items():
        assert (tensor == expected[name] + moved).all()
    assert not found[weights.size - 1]  # padding stays zero


def test_a_state_has_nothing_that_unmasks(group: GroupServices) -> None:
    async def main() -> None:
        result, total = await group.result(1)
        await group.votes(result, total, range(COUNT))

    run(main)
    assert set(structs.asdict(group.members[0].store.state)) == {
        *("v", "round", "number", "head", "votes", "vote", "result", "rows")
    }
    assert isinstance(group.members[0].store.state, GroupState)
