"""A group over real connections: members that crash, hang, come late and come back."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import trio

from tequio_client.group.member_network import IDLE_S, protocol_of
from tequio_client.group.messages import Ask, GroupMail, MemberStatus
from tequio_client.worker.swarm.peers import PeerNetwork
from tequio_shared import encoding
from tequio_shared.errors import PeerError
from tests.support.group_members import first_weights
from tests.support.group_swarm import GroupSwarm, group_swarm
from tests.support.loopback import LOOPBACK, network

if TYPE_CHECKING:
    from pathlib import Path

    from tequio_client.worker.swarm.peers import PeerStream


def same_heads(swarm: GroupSwarm, number: int) -> bool:
    found = {(one.number, one.head) for one in swarm.running.values()}
    return len(found) == 1 and next(iter(found))[0] >= number


def test_heads_are_equal_and_are_those_of_the_plain_sums(tmp_path: Path) -> None:
    async def main() -> None:
        async with group_swarm(tmp_path, 3, rounds=3) as swarm:
            for place in range(3):
                await swarm.start(place)
            await swarm.until(lambda: same_heads(swarm, 3))
            for member in swarm.running.values():
                rows = member.service.store.state.rows
                assert [row.members for row in rows] == [(0, 1, 2)] * 3
                assert [row.loss for row in rows] == [1.5] * 3
                assert len(set(member.updates.asked)) == 3  # trained once for each head
            first = swarm.expected_head(first_weights(), (0, 1, 2))
            assert swarm.running[0].updates.asked[1] == first

    trio.run(main)


def test_a_member_that_crashes_while_others_train_is_left_out_and_catches_up(
    tmp_path: Path,
) -> None:
    async def main() -> None:
        async with group_swarm(tmp_path, 4, rounds=2) as swarm:
            for place in range(4):
                await swarm.start(place, opened=place != 3)
            # Round 1 is coordinated by member 1; member 3 has dealt shares, and trains.
            await swarm.until(lambda: bool(swarm.running[3].updates.asked))
            await swarm.crash(3)
            await swarm.until(lambda: same_heads(swarm, 2))
            rows = swarm.running[0].service.store.state.rows
            assert rows[0].members == (0, 1, 2)
            assert swarm.running[0].updates.asked[-1] == swarm.expected_head(
                first_weights(), (0, 1, 2)
            )
            await swarm.start(3)
            await swarm.until(lambda: same_heads(swarm, 2))

    trio.run(main)


def test_the_next_member_coordinates_when_a_coordinator_crashes(tmp_path: Path) -> None:
    async def main() -> None:
        async with group_swarm(tmp_path, 4, rounds=2) as swarm:
            for place in range(4):
                await swarm.start(place, opened=False)
            await swarm.until(lambda: all(one.updates.asked for one in swarm.running.values()))
            coordinator = swarm.running[0].service.store.state.round % 4
            await swarm.crash(coordinator)
            for member in swarm.running.values():
                member.updates.gate.set()
            await swarm.until(lambda: same_heads(swarm, 2))
            some = next(iter(swarm.running))
            row = swarm.running[some].service.store.state.rows[0]
            assert row.members == tuple(sorted(swarm.running))
            await swarm.start(coordinator)
            await swarm.until(lambda: same_heads(swarm, 2))

    trio.run(main)


def test_below_the_threshold_the_group_waits_and_goes_on_later(tmp_path: Path) -> None:
    async def main() -> None:
        async with group_swarm(tmp_path, 4, rounds=1) as swarm:
            await swarm.start(0)
            await swarm.start(2)
            await swarm.until(lambda: swarm.running[0].service.store.state.number == 0)
            assert not swarm.running[0].updates.asked
            await swarm.start(3)
            await swarm.until(lambda: same_heads(swarm, 1))
            assert swarm.running[0].service.store.state.rows[0].members == (0, 2, 3)

    trio.run(main)


def test_a_member_without_an_update_still_helps_to_unmask(tmp_path: Path) -> None:
    async def main() -> None:
        async with group_swarm(tmp_path, 4, rounds=2) as swarm:
            for place in range(4):
                member = await swarm.start(place)
                member.updates.fails = place == 2
            await swarm.until(lambda: same_heads(swarm, 2))
            rows = swarm.running[2].service.store.state.rows
            assert [row.members for row in rows] == [(0, 1, 3)] * 2
            assert [row.loss for row in rows] == [None, None]

    trio.run(main)


def test_a_newcomer_fetches_the_first_head_from_the_others(tmp_path: Path) -> None:
    async def main() -> None:
        async with group_swarm(tmp_path, 3, rounds=1) as swarm:
            await swarm.start(0)
            for place in (1, 2):
                await swarm.start(place, has_model=False)
            await swarm.until(lambda: same_heads(swarm, 1))

    trio.run(main)


async def frames_answered(swarm: GroupSwarm, attacker: PeerNetwork, *frames: bytes) -> int:
    """Send frames to member 0, each on a new stream; returns how many it answered."""
    answered = 0
    key = await attacker.connect(swarm.running[0].network.addresses()[0])
    for frame in frames:
        stream = await attacker.open_stream(key, protocol_of(swarm.group))
        try:
            await stream.send_frame(frame)
            await stream.receive_frame(timeout_s=5)
            answered += 1
        except PeerError:
            pass
        finally:
            await stream.drop()
    return answered


def test_strangers_and_garbage_get_no_answer_and_the_group_goes_on(tmp_path: Path) -> None:
    async def main() -> None:
        async with group_swarm(tmp_path, 4, rounds=2) as swarm:
            for place in range(3):
                await swarm.start(place, opened=False)
            mail = GroupMail(group=swarm.group, signer=swarm.signers[3])
            other = GroupMail(group=swarm.group, signer=swarm.signers[2])
            asked = mail.sign(Ask()).frame
            async with network("a stranger") as stranger:
                assert await frames_answered(swarm, stranger, asked, other.sign(Ask()).frame) == 0
            async with PeerNetwork(seed=swarm.signers[3].seed, listen=LOOPBACK) as member:
                garbage = (b"", asked[:-1], asked[:64], bytes(64) + asked[64:])
                wrong = (*garbage, other.sign(Ask()).frame)
                assert await frames_answered(swarm, member, *wrong[:2]) == 0
                assert await frames_answered(swarm, member, asked) == 1
                with pytest.raises(PeerError):  # too much garbage: the key is banned for a while
                    await frames_answered(swarm, member, *wrong, *wrong, asked)
            for running in swarm.running.values():
                running.updates.gate.set()
            await swarm.until(lambda: same_heads(swarm, 2))

    trio.run(main)


@pytest.mark.parametrize(
    "fields", [{"type": "unknown"}, {"type": "ask", "addresses": [], "extra": 1}]
)
def test_a_body_of_an_unknown_kind_is_refused_and_the_group_goes_on(
    tmp_path: Path, fields: dict[str, object]
) -> None:
    async def main() -> None:
        async with group_swarm(tmp_path, 4, rounds=2) as swarm:
            frame = signed_fields(GroupMail(group=swarm.group, signer=swarm.signers[3]), fields)

            async def answer(stream: PeerStream) -> None:
                while True:
                    asked.append(bytes(await stream.receive_frame(timeout_s=IDLE_S)))
                    await stream.send_frame(frame)

            asked: list[bytes] = []
            async with PeerNetwork(seed=swarm.signers[3].seed, listen=LOOPBACK) as member:
                member.serve(protocol_of(swarm.group), answer)
                for place in range(3):
                    await swarm.start(place, opened=False)
                assert await frames_answered(swarm, member, frame) == 0
                await swarm.until(lambda: bool(asked))
                for running in swarm.running.values():
                    running.updates.gate.set()
                await swarm.until(lambda: same_heads(swarm, 2))

    trio.run(main)


def signed_fields(mail: GroupMail, fields: dict[str, object]) -> bytes:
    """A frame with a body of any fields, which its author signed."""
    place = mail.group.index_of(mail.signer.key)
    assert place is not None
    signed = bytes((place,)) + encoding.encode(fields)
    return mail.signer.sign(b"tequio/v1/group-message\x00" + mail.group.id + signed) + signed


def test_another_group_file_is_another_protocol(tmp_path: Path) -> None:
    async def main() -> None:
        async with group_swarm(tmp_path, 3) as swarm, group_swarm(tmp_path, 4) as larger:
            await swarm.start(0)
            async with PeerNetwork(seed=swarm.signers[1].seed, listen=LOOPBACK) as member:
                key = await member.connect(swarm.running[0].network.addresses()[0])
                with pytest.raises(PeerError):
                    await member.open_stream(key, protocol_of(larger.group))
                stream = await member.open_stream(key, protocol_of(swarm.group))
                mail = GroupMail(group=swarm.group, signer=swarm.signers[1])
                await stream.send_frame(mail.sign(Ask()).frame)
                answer = mail.parse(bytes(await stream.receive_frame()))
                assert isinstance(answer.body, MemberStatus)
                await stream.drop()

    trio.run(main)
