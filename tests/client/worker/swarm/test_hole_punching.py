"""Introductions over real sockets, without routers (`test_home_networks` has those)."""

from __future__ import annotations

from contextlib import asynccontextmanager
from random import Random
from typing import TYPE_CHECKING

import pytest
import trio

from tequio_client.worker.swarm.hole_punching import (
    PUNCH_PROTOCOL,
    HolePuncher,
    PunchAnswer,
    PunchKind,
    PunchRequest,
    PunchStatus,
)
from tequio_client.worker.swarm.peers import PeerNetwork, PunchedPort
from tequio_shared.errors import MalformedError, PeerError
from tequio_shared.ids import PeerKey
from tests.support.loopback import network

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Coroutine

    from tequio_client.worker.swarm.peers import PeerStream

REQUEST = PunchRequest(kind=PunchKind.ASK, peer=PeerKey(b"k" * 32), port=4001, seen_port=4002)
INVITATION = PunchRequest(
    kind=PunchKind.INVITE, peer=PeerKey(b"k" * 32), port=4001, seen_port=4002, host="45.0.7.2"
)
ANSWER = PunchAnswer(status=PunchStatus.READY, port=4001, host="2600::5")


def test_requests_and_answers_are_read_back() -> None:
    assert PunchRequest.parse(REQUEST.encode()) == REQUEST
    assert PunchRequest.parse(INVITATION.encode()) == INVITATION
    assert PunchAnswer.parse(ANSWER.encode()) == ANSWER
    assert PunchAnswer.parse(b"\x01\x00\x00") == PunchAnswer(status=PunchStatus.ABSENT)


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"\x07" + REQUEST.encode()[1:],
        REQUEST.encode() + b"45.0.7.2",  # an asker names no address of its own
        INVITATION.encode()[:37],
        INVITATION.encode() + b".9",
        INVITATION.encode()[:-1] + b"\xff",
    ],
)
def test_a_malformed_request_is_refused(raw: bytes) -> None:
    with pytest.raises(MalformedError):
        PunchRequest.parse(raw)


@pytest.mark.parametrize("raw", [b"", b"\x00\x0f", b"\x09\x0f\xa1", b"\x00\x0f\xa1example.org"])
def test_a_malformed_answer_is_refused(raw: bytes) -> None:
    with pytest.raises(MalformedError):
        PunchAnswer.parse(raw)


@pytest.mark.trio
async def test_a_member_is_reached_where_its_introducer_says() -> None:
    """The invited one names its listening port: on one computer, two attempts would not meet."""
    async with introduced() as (seed, asker, asked):
        asked.serve(PUNCH_PROTOCOL, answers(ANSWER, port=asked.listen_ports()[0]))
        puncher = HolePuncher(asker, members_of(asked), Random(1))
        assert asked.key not in asker.connected_peers()
        await asker.open_stream(asked.key, PUNCH_PROTOCOL)
        assert asker.connected_peers() == {seed.key, asked.key}
        assert puncher.keeps_ports is True


@pytest.mark.trio
async def test_only_members_of_our_round_are_asked_for() -> None:
    async with introduced() as (_, asker, asked):
        asked.serve(PUNCH_PROTOCOL, answers(ANSWER, port=asked.listen_ports()[0]))
        HolePuncher(asker, (), Random(1))
        with pytest.raises(PeerError, match="no address that answers"):
            await asker.open_stream(asked.key, PUNCH_PROTOCOL)


@pytest.mark.trio
async def test_an_introducer_tells_who_is_not_there_and_whose_router_changes_ports() -> None:
    async with introduced() as (seed, asker, asked):
        assert await ask(asker, seed, PeerKey(b"k" * 32)) is PunchStatus.ABSENT
        assert await ask(asker, seed, asker.key) is PunchStatus.ABSENT
        assert await ask(asker, seed, asked.key, seen=4001) is PunchStatus.OTHER_PORTS
        assert await ask(asker, seed, asked.key, port=25) is PunchStatus.REFUSED
        # It does not speak the protocol.
        assert await ask(asker, seed, asked.key) is PunchStatus.ABSENT


@pytest.mark.trio
async def test_an_introducer_that_cannot_see_where_peers_come_from_introduces_nobody() -> None:
    async with introduced() as (seed, asker, asked):
        seed.public_only = True
        assert await ask(asker, seed, asked.key) is PunchStatus.REFUSED


@pytest.mark.trio
async def test_a_router_that_changes_ports_is_found_out_and_nobody_is_asked_again() -> None:
    async with introduced() as (seed, asker, asked):
        seed.serve(PUNCH_PROTOCOL, answers(PunchAnswer(status=PunchStatus.OTHER_PORTS)))
        puncher = HolePuncher(asker, members_of(asked), Random(1))
        assert await puncher.test_router()
        assert puncher.keeps_ports is False
        with pytest.raises(PeerError, match="another port"):
            await puncher.connect(asked.key)


@pytest.mark.trio
async def test_a_member_that_could_not_be_met_is_left_alone_for_a_while() -> None:
    async with introduced() as (_, asker, asked):
        asked.serve(PUNCH_PROTOCOL, answers(PunchAnswer(status=PunchStatus.OTHER_PORTS)))
        puncher = HolePuncher(asker, members_of(asked), Random(1))
        with pytest.raises(PeerError, match="through the routers"):
            await puncher.connect(asked.key)
        with pytest.raises(PeerError, match="a short time ago"):
            await puncher.connect(asked.key)
        assert puncher.keeps_ports is True, "it was the other one's router"


@pytest.mark.trio
async def test_an_invitation_is_accepted_for_members_from_those_that_we_chose_alone() -> None:
    async with introduced() as (seed, asker, asked):
        partners = members_of()
        puncher = HolePuncher(asked, partners, Random(1))
        assert await ask(asker, seed, asked.key) is PunchStatus.REFUSED
        partners += members_of(asker)
        assert await ask(asker, seed, asked.key) is PunchStatus.READY
        assert puncher.keeps_ports is True
        assert await ask(asker, seed, asked.key) is PunchStatus.BUSY, "once at a time"
        async with network("stranger") as stranger:
            await stranger.connect(asked.addresses()[0])
            invitation = PunchRequest(
                kind=PunchKind.INVITE,
                peer=asker.key,
                port=4001,
                seen_port=1,
                host="127.0.0.1",
            )
            assert (await send(stranger, asked, invitation)).status is PunchStatus.REFUSED


@pytest.mark.trio
@pytest.mark.parametrize("host", ["127.0.0.1", "::1"])
async def test_a_port_is_the_same_in_each_attempt(host: str) -> None:
    with PunchedPort(host) as port, PunchedPort(host) as nobody:
        async with trio.open_nursery() as nursery:
            connected = []

            async def connect() -> None:
                connected.append(await port.connect(host, nobody.number))

            nursery.start_soon(connect)
            await trio.sleep(0.3)  # some attempts are refused
            nobody.__exit__()
            (listener,) = await trio.open_tcp_listeners(nobody.number, host=host)
            async with await listener.accept() as accepted:
                assert accepted.socket.getpeername()[1] == port.number
            await listener.aclose()
        await connected[0].aclose()


@asynccontextmanager
async def introduced() -> AsyncIterator[tuple[PeerNetwork, PeerNetwork, PeerNetwork]]:
    """A peer to which two others are connected that know nothing of each other."""
    async with network("seed") as seed, network("asker") as asker, network("asked") as asked:
        HolePuncher(seed, (), Random(0))
        for peer in (asker, asked):
            await peer.connect(seed.addresses()[0])
        yield seed, asker, asked


def answers(
    answer: PunchAnswer, *, port: int = 0
) -> Callable[[PeerStream], Coroutine[None, None, None]]:
    """A handler that answers each request with that status and port."""

    async def serve(stream: PeerStream) -> None:
        await stream.receive_frame()
        await stream.send_frame(PunchAnswer(status=answer.status, port=port).encode())

    return serve


async def ask(
    asker: PeerNetwork,
    seed: PeerNetwork,
    peer: PeerKey,
    *,
    seen: int | None = None,
    port: int = 4001,
) -> PunchStatus:
    stream = await asker.open_stream(seed.key, PUNCH_PROTOCOL)
    try:
        request = PunchRequest(
            kind=PunchKind.ASK,
            peer=peer,
            port=port,
            seen_port=stream.local_port if seen is None else seen,
        )
        await stream.send_frame(request.encode())
        return PunchAnswer.parse(bytes(await stream.receive_frame())).status
    finally:
        await stream.drop()


async def send(sender: PeerNetwork, receiver: PeerNetwork, request: PunchRequest) -> PunchAnswer:
    stream = await sender.open_stream(receiver.key, PUNCH_PROTOCOL)
    await stream.send_frame(request.encode())
    answer = PunchAnswer.parse(bytes(await stream.receive_frame()))
    await stream.drop()
    return answer


def members_of(*peers: PeerNetwork) -> list[Callable[[], set[PeerKey]]]:
    return [lambda: {peer.key for peer in peers}]
