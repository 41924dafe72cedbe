"""Which guests a host lets in, over the real peer network."""

from __future__ import annotations

import dataclasses
import os
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import trio
from msgspec.structs import replace

from tequio_client.worker.cells.code import CellKeys, derive_keys, fingerprint
from tequio_client.worker.cells.computer import Terminal
from tequio_client.worker.cells.host import GUESSES, CellHost, Check, GuestList, why_unfit
from tequio_client.worker.cells.hosting import MOST_GUESTS, HostSettings, guest_limits
from tequio_client.worker.cells.messages import (
    PROTOCOL,
    AskForPlace,
    CellConversation,
    CellDevice,
    CellOffer,
    GuestHello,
    Leave,
    RankPlace,
    RefusedPlaceError,
)
from tequio_client.worker.settings import NetSettings, WorkerSettings
from tequio_client.worker.swarm.limits import CONNECTIONS, HANDSHAKES, PeerLimits
from tequio_client.worker.swarm.peers import PeerNetwork
from tequio_shared.errors import PeerError, UserFacingError
from tequio_shared.ids import PeerKey, to_text
from tequio_shared.limits import RECEIVERS
from tequio_shared.version import BUILD
from tests.support.attack_table import attack
from tests.support.loopback import LOOPBACK, network
from tests.support.tiny_run import signer

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

CPU = CellDevice(id="cpu", name="a processor", memory_mb=8_192)
OFFER = CellOffer(
    host="tower",
    key="points-of-ana",
    ledger="http://127.0.0.1:9",
    run="small",
    ranks=3,
    division="pipeline",
    device=CPU,
    torch="2.13.0",
    need_mb=8_000,
)
ASK = AskForPlace(host="laptop", device=CPU, torch="2.13.0")
PATIENCE_S = 60.0


@pytest.fixture(scope="module")
def keys() -> CellKeys:
    return derive_keys("K7QF-2MXD-9TRP")


class Hosted:
    """A running host, and what its owner was told."""

    def __init__(
        self,
        peers: PeerNetwork,
        keys: CellKeys,
        guests: GuestList,
        answers: str,
        check: Check | None,
        offer: CellOffer,
    ) -> None:
        reading, writing = os.pipe()
        os.write(writing, answers.encode())
        os.close(writing)
        self.said: list[str] = []
        self.owner = Terminal(says_yes=False, descriptor=reading, write=self.said.append)
        self.peers, self.keys = peers, keys
        self.host = CellHost(peers, keys, offer, self.owner, guests, check)
        self.descriptor = reading

    @asynccontextmanager
    async def visitor(
        self, name: str, proof: str | None = None, software: str = BUILD, receiver: str = ""
    ) -> AsyncIterator[CellConversation]:
        """A guest that has sent its hello."""
        async with network(name) as guest:
            await guest.connect(self.peers.addresses()[0])
            stream = await guest.open_stream(self.peers.key, PROTOCOL)
            talk = CellConversation(stream)
            right = to_text(self.keys.proof(guest.key))
            proof = right if proof is None else proof
            await talk.send(GuestHello(proof=proof, software=software, receiver=receiver))
            try:
                yield talk
            finally:
                await stream.drop()


@asynccontextmanager
async def hosted(
    keys: CellKeys,
    answers: str = "",
    guests: GuestList | None = None,
    check: Check | None = None,
    offer: CellOffer = OFFER,
    limits: PeerLimits | None = None,
) -> AsyncIterator[Hosted]:
    with trio.fail_after(PATIENCE_S):
        async with PeerNetwork(seed=keys.host.seed, listen=LOOPBACK, limits=limits) as peers:
            found = Hosted(peers, keys, guests or GuestList(), answers, check, offer)
            try:
                async with found.host.opened():
                    yield found
            finally:
                os.close(found.descriptor)


async def refusal(talk: CellConversation) -> str:
    """Why the host refuses."""
    try:
        while True:
            await talk.receive_a(CellOffer)
    except RefusedPlaceError as err:
        return err.refusal.reason


async def until(holds: Callable[[], bool]) -> None:
    while not holds():  # noqa: ASYNC110 - of a host, which knows of no test
        await trio.sleep(0.01)


async def ask(talk: CellConversation, asked: AskForPlace = ASK) -> None:
    assert await talk.receive_a(CellOffer) == OFFER
    await talk.send(asked)


def test_a_guest_whose_card_is_smaller_than_its_part_is_refused() -> None:
    small = replace(ASK, device=replace(CPU, memory_mb=7_999))
    assert "needs about 8,000 MiB, and this one's cpu has 7,999 MiB" in why_unfit(OFFER, small)
    assert not why_unfit(OFFER, replace(ASK, device=replace(CPU, memory_mb=0)))  # unknown
    assert not why_unfit(OFFER, ASK)


@pytest.mark.trio
async def test_guests_whose_owners_and_host_agree_get_ranks_once_all_are_there(
    keys: CellKeys,
) -> None:
    accepted: list[PeerKey] = []
    guests = GuestList(on_accepted=accepted.append)
    async with (
        hosted(keys, "y\nyes\n", guests) as party,
        party.visitor("ana") as ana,
        party.visitor("bo") as bo,
    ):
        await ask(ana)
        with trio.move_on_after(0.5) as early:
            await ana.receive()
        assert early.cancelled_caught, "one guest is missing"
        await ask(bo)
        places = {(await one.receive_a(RankPlace)).rank for one in (ana, bo)}
        assert places == {1, 2}
        await party.host.complete.wait()
        place = party.host.place()
        assert (place.rank, place.size, place.division) == (0, 3, "pipeline")
        assert place.address == "127.0.0.1"
        assert len(accepted) == 2
        told = "".join(party.said)
        assert (
            f"Let laptop [{fingerprint(accepted[0])}] with a processor (cpu, 8 GiB) join?" in told
        )


@pytest.mark.trio
async def test_all_guests_of_a_large_cell_may_come_at_once_from_one_network(
    keys: CellKeys,
) -> None:
    guests = 33
    async with (
        hosted(
            keys,
            "y\n" * guests,
            offer=replace(OFFER, ranks=guests + 1),
            limits=dataclasses.replace(guest_limits(guests), loopback_factor=1),
        ) as party,
        trio.open_nursery() as nursery,
    ):

        async def visit(name: str) -> None:
            async with party.visitor(name) as one:
                await one.receive_a(CellOffer)
                await one.send(ASK)
                await one.receive_a(RankPlace)

        for number in range(guests):
            nursery.start_soon(visit, f"guest {number}")


def test_the_largest_cell_leaves_room_for_strangers() -> None:
    limits = guest_limits(MOST_GUESTS)
    assert MOST_GUESTS < limits.inbound < CONNECTIONS
    assert MOST_GUESTS < limits.handshakes < HANDSHAKES
    worker = WorkerSettings(net=NetSettings(ledger=OFFER.ledger, folder=Path("here")))
    for guests in (0, MOST_GUESTS + 1):
        with pytest.raises(UserFacingError, match=f"a cell has 1 to {MOST_GUESTS} guests"):
            HostSettings(worker=worker, guests=guests)


@attack("D13", layer="net", ends="learns nothing; the owner is not asked about it")
@pytest.mark.trio
async def test_a_stranger_without_the_code_learns_nothing_and_is_asked_about_by_nobody(
    keys: CellKeys,
) -> None:
    async with hosted(keys, "y\n") as party:
        for proof in ("", "?", to_text(b"x" * 32)):
            async with party.visitor("eve", proof=proof) as eve:
                assert await refusal(eve) == "wrong code: ask the host to read it out again"
        assert party.said == []


@attack("D13", layer="net", ends="six proofs of an address are looked at, then one a minute")
@pytest.mark.trio
async def test_a_computer_that_guesses_on_is_not_even_looked_at(keys: CellKeys) -> None:
    async with hosted(keys, "y\n") as party:
        for number in range(GUESSES + 1):
            async with party.visitor("eve", proof=to_text(bytes([number]) * 32)) as eve:
                assert (await refusal(eve)).startswith("wrong code")
        async with party.visitor("eve") as eve:
            assert "too many wrong codes from 127.0.0.1: wait" in await refusal(eve)


@pytest.mark.trio
async def test_a_guest_that_the_owner_does_not_want_is_refused_and_not_asked_about_again(
    keys: CellKeys,
) -> None:
    async with hosted(keys, "n\ny\n") as party:
        for _ in range(2):
            async with party.visitor("eve") as eve:
                await ask(eve)
                assert await refusal(eve) == "the host did not accept this computer"
        assert sum("Let laptop" in one for one in party.said) == 1


@pytest.mark.trio
async def test_without_an_answer_nobody_is_let_in(keys: CellKeys) -> None:
    async with hosted(keys) as party, party.visitor("ana") as ana:
        await ask(ana)
        assert await refusal(ana) == "the host did not accept this computer"
        assert any("standard input has ended" in one for one in party.said)


@pytest.mark.trio
async def test_a_full_cell_names_the_way_out(keys: CellKeys) -> None:
    async with (
        hosted(keys, "y\ny\n") as party,
        party.visitor("ana") as ana,
        party.visitor("bo") as bo,
    ):
        await ask(ana)
        await ask(bo)
        await bo.receive_a(RankPlace)
        async with party.visitor("cleo") as cleo:
            why = await refusal(cleo)
        assert why == "the cell is full: its host opened it for 2 guests; ask for --guests 3"


@pytest.mark.trio
async def test_a_guest_that_leaves_makes_room_and_one_that_is_away_keeps_its_rank(
    keys: CellKeys,
) -> None:
    async with hosted(keys, "y\ny\ny\n") as party:
        async with party.visitor("ana") as ana:
            await ask(ana)
            async with party.visitor("bo") as bo:
                await ask(bo)
                rank = (await bo.receive_a(RankPlace)).rank
                await bo.send(Leave())
                await until(lambda: len(party.host.seats) == 1)
            async with party.visitor("cleo") as cleo:
                await ask(cleo)
                assert (await cleo.receive_a(RankPlace)).rank == rank
        await until(lambda: any(one.talk is None for one in party.host.seats.values()))
        async with party.visitor("dan") as dan:
            assert "the cell is full" in await refusal(dan)
        async with party.visitor("ana") as ana:
            await ask(ana)
            assert (await ana.receive_a(RankPlace)).rank == 3 - rank
        assert sum("Let laptop" in one for one in party.said) == 3, "of ana once"


@pytest.mark.trio
@pytest.mark.parametrize(
    ("asked", "why"),
    [
        (
            replace(ASK, device=CellDevice(id="cuda:0", name="card")),
            "the host trains on cpu, and this computer on cuda:0",
        ),
        (replace(ASK, torch="2.12.1"), "this computer has torch 2.12.1, and the host torch 2.13.0"),
    ],
)
async def test_a_computer_that_does_not_fit_is_told_why(
    keys: CellKeys, asked: AskForPlace, why: str
) -> None:
    async with hosted(keys, "y\n") as party, party.visitor("ana") as ana:
        await ask(ana, asked)
        assert (await refusal(ana)).startswith(why)


@pytest.mark.trio
async def test_another_version_is_named(keys: CellKeys) -> None:
    async with hosted(keys) as party, party.visitor("ana", software="0.0.1") as ana:
        why = await refusal(ana)
    assert why.startswith(f"this computer runs Tequio 0.0.1, and the host Tequio {BUILD}")


@pytest.mark.trio
async def test_an_expected_guest_is_let_in_without_asking(keys: CellKeys) -> None:
    async with network("ana") as known, network("bo") as expected:
        names = GuestList(known={known.key}, expected=frozenset({fingerprint(expected.key)}))
    async with (
        hosted(keys, guests=names) as party,
        party.visitor("ana") as ana,
        party.visitor("bo") as bo,
    ):
        for one in (ana, bo):
            await ask(one)
        assert {(await one.receive_a(RankPlace)).rank for one in (ana, bo)} == {1, 2}


RECEIVER = signer("owner").key


async def registered(key: PeerKey) -> str:
    return "" if key == RECEIVER else "is not registered"


async def offered(talk: CellConversation) -> CellOffer:
    offer = await talk.receive_a(CellOffer)
    await talk.send(ASK)
    return offer


@pytest.mark.trio
async def test_a_guests_key_gets_the_points_of_its_rank_until_it_leaves(keys: CellKeys) -> None:
    async with hosted(keys, "y\ny\n", check=registered) as party:
        async with (
            party.visitor("ana", receiver=to_text(RECEIVER)) as ana,
            party.visitor("bo") as bo,
        ):
            assert (await offered(ana)).receiver == to_text(RECEIVER)
            assert (await offered(bo)).receiver == ""
            rank = (await ana.receive_a(RankPlace)).rank
            assert party.host.rank_owners == {rank: RECEIVER}
            assert f"points goes to {to_text(RECEIVER)}" in "".join(party.said)
        await until(lambda: all(one.talk is None for one in party.host.seats.values()))
        assert party.host.rank_owners == {rank: RECEIVER}, "its place is kept"
        async with party.visitor("ana", receiver=to_text(RECEIVER)) as ana:
            await offered(ana)
            await ana.receive_a(RankPlace)
            await ana.send(Leave())
            await until(lambda: party.host.rank_owners == {})


@pytest.mark.trio
async def test_a_returning_guest_may_name_another_key_or_none(keys: CellKeys) -> None:
    async with hosted(keys, "y\n", check=registered) as party:
        for receiver, owners in ((to_text(RECEIVER), [RECEIVER]), ("", [])):
            async with party.visitor("ana", receiver=receiver) as ana:
                await offered(ana)
                await until(lambda: any(one.talk for one in party.host.seats.values()))
                assert list(party.host.rank_owners.values()) == owners
            await until(lambda: all(one.talk is None for one in party.host.seats.values()))


@pytest.mark.trio
@pytest.mark.parametrize(
    ("receiver", "check", "why"),
    [
        (to_text(RECEIVER), None, "the host keeps all points"),
        ("ana", registered, "it is not a key"),
        (to_text(signer("nobody").key), registered, "this key is not registered"),
    ],
)
async def test_a_guest_is_told_why_its_key_gets_nothing(
    keys: CellKeys, receiver: str, check: Check | None, why: str
) -> None:
    async with hosted(keys, check=check) as party, party.visitor("ana", receiver=receiver) as ana:
        offer = await ana.receive_a(CellOffer)
        assert offer.receiver == ""
        assert why in offer.why_none


@pytest.mark.trio
async def test_a_guest_waits_for_a_ledger_that_does_not_answer(
    keys: CellKeys, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tequio_client.worker.cells.host.RECHECK_S", 0.01)
    answers = iter([None, None, ""])

    async def check(_: PeerKey) -> str:
        await trio.lowlevel.checkpoint()
        if (why := next(answers)) is None:
            raise PeerError("connection refused")
        return why

    receiver = to_text(RECEIVER)
    async with (
        hosted(keys, check=check) as party,
        party.visitor("ana", receiver=receiver) as ana,
    ):
        offer = await ana.receive_a(CellOffer)
    assert (offer.receiver, offer.why_none) == (to_text(RECEIVER), "")


@pytest.mark.trio
async def test_a_cell_shares_with_as_many_keys_as_a_commitment_names(keys: CellKeys) -> None:
    async with hosted(keys, check=registered) as party:
        party.host.rank_owners.update((at, signer(f"{at}").key) for at in range(RECEIVERS))
        async with party.visitor("ana", receiver=to_text(RECEIVER)) as ana:
            assert f"at most {RECEIVERS} keys" in (await ana.receive_a(CellOffer)).why_none
        party.host.rank_owners[0] = RECEIVER
        async with party.visitor("ana", receiver=to_text(RECEIVER)) as ana:
            assert (await ana.receive_a(CellOffer)).receiver == to_text(RECEIVER)
