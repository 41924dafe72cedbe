"""Attackers that introduce peers, or have themselves introduced. Layer: net; real sockets."""

from __future__ import annotations

from contextlib import asynccontextmanager
from random import Random
from typing import TYPE_CHECKING

import pytest
import trio

from tequio_client.worker.swarm.hole_punching import (
    INTRODUCTIONS,
    INVITE_S,
    PUNCH_PROTOCOL,
    HolePuncher,
    PunchAnswer,
    PunchKind,
    PunchRequest,
    PunchStatus,
)
from tequio_client.worker.swarm.limits import BURST_S, PeerLimits
from tequio_client.worker.swarm.peers.punched_ports import ATTEMPTS
from tequio_shared.errors import PeerError
from tests.support.attack_table import attack
from tests.support.loopback import network, victim

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from tequio_client.worker.swarm.peers import PeerNetwork, PeerStream
    from tequio_shared.ids import PeerKey


@attack("D11", layer="net", ends="introductions at a bounded rate")
@pytest.mark.trio
async def test_a_flood_of_requests_reaches_the_invited_one_at_a_bounded_rate() -> None:
    limits = PeerLimits(loopback_factor=1, arrivals_per_s=100)
    invitations = []

    async def count(stream: PeerStream) -> None:
        invitations.append(await stream.receive_frame())
        await stream.send_frame(PunchAnswer(status=PunchStatus.REFUSED).encode())

    async with (
        network("seed", limits) as seed,
        network("attacker") as attacker,
        network("invited") as invited,
    ):
        HolePuncher(seed, (), Random(0))
        invited.serve(PUNCH_PROTOCOL, count)
        for peer in (attacker, invited):
            await peer.connect(seed.addresses()[0])
        since_s = trio.current_time()
        found = [await ask(attacker, seed, invited) for _ in range(60)]
        passed_s = trio.current_time() - since_s
        assert found[0] is PunchStatus.REFUSED
        assert found[-1] is PunchStatus.BUSY
        most = limits.introductions_per_s * (BURST_S + passed_s)
        assert len(invitations) == found.count(PunchStatus.REFUSED) <= most


@attack("D11", layer="net", ends="an invitation that nobody answers is forgotten within seconds")
@pytest.mark.trio
async def test_invitations_that_nobody_answers_take_no_place_for_long() -> None:
    """The attacker is the asker and the invited one, and never answers itself."""

    async def say_nothing(stream: PeerStream) -> None:
        await stream.receive_frame()
        await trio.sleep_forever()

    async with (
        network("seed") as seed,
        network("attacker") as attacker,
        network("silent") as silent,
        network("honest") as honest,
    ):
        puncher = HolePuncher(seed, (), Random(0))
        silent.serve(PUNCH_PROTOCOL, say_nothing)
        for peer in (attacker, silent, honest):
            await peer.connect(seed.addresses()[0])
        HolePuncher(honest, (), Random(1))
        found: list[PunchStatus] = []

        async def flood() -> None:
            found.append(await ask(attacker, seed, silent))

        with trio.fail_after(4 * INVITE_S):
            async with trio.open_nursery() as nursery:
                for _ in range(INTRODUCTIONS - 2):
                    nursery.start_soon(flood)
        assert set(found) <= {PunchStatus.ABSENT, PunchStatus.BUSY}
        assert puncher._introducing == 0  # noqa: SLF001 - shown nowhere else
        assert await ask(attacker, seed, honest) is PunchStatus.REFUSED, "it was invited"


@attack("L11", layer="net", ends="what an introducer names is dialled as far as it reaches")
@pytest.mark.trio
async def test_an_introducer_cannot_send_us_to_our_own_computer() -> None:
    """A public one that names a loopback address to whom it introduces, and to whom it invites."""
    async with victim() as (port, times), lied_to(port) as (liar, attacked, puncher, named):
        attacked.public_only = True  # the liar counts as public, as on the internet
        with pytest.raises(PeerError, match="no address that we dial"):
            await puncher.connect(named.key)
        assert await invite(liar, attacked, named, port) is PunchStatus.BUSY
        assert times == []


@attack("L11", layer="net", ends="who is there proves no key, and few attempts are made")
@pytest.mark.trio
async def test_an_introducer_that_names_a_victim_gets_a_bounded_number_of_attempts() -> None:
    async with victim() as (port, times), lied_to(port) as (liar, attacked, puncher, named):
        with pytest.raises(PeerError):
            await puncher.connect(named.key)
        with pytest.raises(PeerError, match="a short time ago"):
            await puncher.connect(named.key)
        for _ in range(30):
            await invite(liar, attacked, named, port)
        limits = attacked.limiter.limits
        most = limits.dials_per_s * limits.loopback_factor * (BURST_S + 5) + ATTEMPTS
        assert 1 <= len(times) <= most
        assert named.key not in attacked.connected_peers()


@attack("L11", layer="net", ends="only members of our round have us dial")
@pytest.mark.trio
async def test_a_stranger_cannot_have_itself_introduced() -> None:
    """Nor can a stranger that connected to us introduce a member."""
    async with victim() as (port, times), lied_to(port) as (liar, attacked, _, named):
        async with network("stranger") as stranger:
            assert await invite(liar, attacked, stranger, port) is PunchStatus.REFUSED
            await stranger.connect(attacked.addresses()[0])
            assert await invite(stranger, attacked, named, port) is PunchStatus.REFUSED
        assert times == []


@asynccontextmanager
async def lied_to(
    port: int,
) -> AsyncIterator[tuple[PeerNetwork, PeerNetwork, HolePuncher, PeerNetwork]]:
    """An introducer that names this port for everybody, a peer that chose it, and a member."""

    async def lie(stream: PeerStream) -> None:
        await stream.receive_frame()
        answer = PunchAnswer(status=PunchStatus.READY, port=port, host="127.0.0.1")
        await stream.send_frame(answer.encode())

    async with (
        network("liar") as liar,
        network("attacked") as attacked,
        network("named") as named,
    ):
        liar.serve(PUNCH_PROTOCOL, lie)
        puncher = HolePuncher(attacked, members_of(named), Random(1))
        await attacked.connect(liar.addresses()[0])
        yield liar, attacked, puncher, named


async def ask(asker: PeerNetwork, seed: PeerNetwork, peer: PeerNetwork) -> PunchStatus:
    stream = await asker.open_stream(seed.key, PUNCH_PROTOCOL)
    try:
        request = PunchRequest(
            kind=PunchKind.ASK, peer=peer.key, port=4001, seen_port=stream.local_port
        )
        await stream.send_frame(request.encode())
        return PunchAnswer.parse(bytes(await stream.receive_frame())).status
    finally:
        await stream.drop()


async def invite(
    liar: PeerNetwork, attacked: PeerNetwork, member: PeerNetwork, port: int
) -> PunchStatus:
    stream = await liar.open_stream(attacked.key, PUNCH_PROTOCOL)
    try:
        invitation = PunchRequest(
            kind=PunchKind.INVITE,
            peer=member.key,
            port=port,
            seen_port=stream.remote_port,
            host="127.0.0.1",
        )
        await stream.send_frame(invitation.encode())
        return PunchAnswer.parse(bytes(await stream.receive_frame())).status
    finally:
        await stream.drop()


def members_of(*peers: PeerNetwork) -> list[Callable[[], set[PeerKey]]]:
    return [lambda: {peer.key for peer in peers}]
