"""Results that a former coordinator left without a decision, and members that lie about them."""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, cast

import pytest
from msgspec import structs

from tequio_client.group.coordinator import RoundCoordinator
from tequio_client.group.member_network import ask_itself
from tequio_client.group.messages import HeadVote, SumResult
from tequio_shared.errors import RefusedError
from tequio_shared.ids import to_text
from tests.client.group.test_member_service import COUNT, GroupServices, run

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Collection
    from pathlib import Path

    from tequio_client.group.head_store import Content
    from tequio_client.group.member_network import MemberNetwork
    from tequio_client.group.member_service import MemberService
    from tequio_client.group.messages import GroupMessage


class DirectTalk:
    """A conversation with a member of the same process."""

    def __init__(self, service: MemberService) -> None:
        self._service = service

    async def request(
        self, message: GroupMessage, payload: Content = b"", *, timeout_s: float
    ) -> tuple[GroupMessage, Content]:
        """Answer at once."""
        del timeout_s
        return await ask_itself(self._service, message, payload)


class DirectNetwork:
    """The members that are not away, without connections."""

    def __init__(self, group: GroupServices, away: Collection[int]) -> None:
        self._group = group
        self._away = away

    def connected(self) -> list[int]:
        """Places of those that are not away."""
        return [place for place in range(COUNT) if place not in self._away]

    @asynccontextmanager
    async def open(self, place: int) -> AsyncIterator[DirectTalk]:
        """Begin a conversation."""
        yield DirectTalk(self._group.members[place])


class Group(GroupServices):
    """A group whose members coordinate."""

    async def coordinate(self, number: int, away: Collection[int] = ()) -> None:
        """Coordinate a round; its members leave it in the end."""
        network = cast("MemberNetwork", DirectNetwork(self, away))
        try:
            await RoundCoordinator(self.members[number % COUNT], network).coordinate(number)
        finally:
            self.leave(number)

    async def voted(
        self, number: int, places: Collection[int], voters: Collection[int]
    ) -> SumResult:
        """Bring a round of some members to a result, for which only some of them vote."""
        result, total = await self.result(number, sorted(places))
        await self.votes(result, total, sorted(voters))
        self.leave(number)
        return result

    def leave(self, number: int) -> None:
        """End a round for all."""
        for member in self.members:
            member.leave_round(number)

    def heads(self, *places: int) -> set[str]:
        """The heads of these members."""
        return {self.members[place].store.state.head for place in places}


@pytest.fixture
def group(tmp_path: Path) -> Group:
    return Group(tmp_path)


def test_of_two_results_the_one_that_can_be_decided_is_finished(group: Group) -> None:
    async def main() -> None:
        await group.voted(1, (0, 1, 2, 3), voters=(1,))
        second = await group.voted(2, (0, 2, 3), voters=(2, 3))
        with pytest.raises(RefusedError, match="2 of 3 votes at most"):
            await group.coordinate(4, away=(3,))
        assert group.members[0].store.state.vote is None, "it would miss at the other one"
        await group.coordinate(5)
        assert group.heads(0, 2, 3) == {second.head}

    run(main)


@pytest.mark.parametrize("lie", ["another head", "no sum", "wrong sum"])
def test_a_member_that_lies_about_a_result_does_not_stop_the_others(group: Group, lie: str) -> None:
    async def main() -> None:
        liar = group.members[3]
        if lie == "wrong sum":
            result = await group.voted(2, range(COUNT), voters=(3,))
            path = liar.store.sum_path(result.head)
            path.write_bytes(path.read_bytes()[::-1])
        else:
            result, _ = await group.result(3)
            group.leave(3)
            result = structs.replace(result, head=to_text(bytes(32)))
            if lie == "another head":
                result = structs.replace(result, parent=to_text(bytes(32)))
            vote = HeadVote(number=result.number, parent=result.parent, head=result.head)
            liar.store.record_vote(vote, liar.mail.sign(result).text)
        before = group.heads(0, 1, 2)
        await group.coordinate(4)
        (after,) = group.heads(0, 1, 2)
        assert after not in before
        assert all(member.failure is None for member in group.members)

    run(main)


def test_two_results_of_one_round_name_their_coordinator(group: Group) -> None:
    async def main() -> None:
        first = await group.voted(1, range(COUNT), voters=(1,))
        other = structs.replace(first, head=to_text(bytes(32)))
        vote = HeadVote(number=other.number, parent=other.parent, head=other.head)
        group.members[2].store.record_vote(vote, group.mails[1].sign(other).text)
        with pytest.raises(RefusedError):
            await group.coordinate(4, away=(3,))
        assert "member 1 signed two different results of round 1" in str(group.members[0].failure)

    run(main)
