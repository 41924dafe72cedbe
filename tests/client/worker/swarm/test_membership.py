"""Peers stay connected; addresses travel signed; announcements arrive once and checked."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pytest
import trio

from tequio_client import clock
from tequio_client.ledger.api import LedgerApi
from tequio_client.worker.swarm.dials import LEDGER_SOURCE, Reach
from tequio_client.worker.swarm.limits import PeerLimits
from tequio_client.worker.swarm.membership import (
    MAX_RECORDS,
    PEERS_PROTOCOL,
    POLL_S,
    AddressRecords,
    Membership,
    PeerExchange,
    ReconnectPauses,
    RecordBounds,
    pack_records,
    parse_records,
)
from tequio_shared.addresses import LIFE_MS, AddressRecord, sign_addresses
from tequio_shared.errors import MalformedError, PeerError
from tequio_shared.ids import NetworkId, RunId, peer_id_text
from tequio_shared.keys import Signer
from tests.support.attackers_peers import until
from tests.support.loopback import network, two_peers
from tests.support.memory_log import NET, MemoryLog, serving, unused_url

if TYPE_CHECKING:
    from collections.abc import Callable

    from tequio_client.worker.swarm.peers import PeerNetwork, PeerStream

NETWORK, RUN = NetworkId(bytes(range(32))), RunId(bytes(range(32, 64)))
NOW = 1_800_000_000_000
AT_ONCE_S = 10.0  # well below the 15 s after which a silent address is given up


def signer(number: int) -> Signer:
    return Signer(number.to_bytes(32, "big"))


def record(number: int, ts: int = NOW) -> AddressRecord:
    author = signer(number)
    return sign_addresses(
        author, NETWORK, [f"/ip4/10.0.0.1/tcp/1/p2p/{peer_id_text(author.key)}"], ts
    )


def book(bounds: RecordBounds | None = None) -> AddressRecords:
    return AddressRecords(NETWORK, lambda: NOW, bounds)


def exchange(peers: PeerNetwork, addresses: AddressRecords) -> PeerExchange:
    return PeerExchange(peers, addresses, rng=random.Random(1))


def test_a_book_keeps_the_freshest_record_of_each_peer() -> None:
    addresses = book()
    assert addresses.add(record(1, NOW - 2), "here")
    assert addresses.add(record(1, NOW - 1), "here")
    assert not addresses.add(record(1, NOW - 2), "here")
    assert addresses.get(signer(1).key) == record(1, NOW - 1)


def test_a_book_takes_nothing_old_nothing_from_the_future_and_nothing_forged() -> None:
    addresses, honest = book(), record(1)
    forged = AddressRecord(author=honest.author, addrs=(), ts=honest.ts, signature=honest.signature)
    assert not addresses.add(record(1, NOW - LIFE_MS), "here")
    assert not addresses.add(record(1, NOW + 400_000), "here")
    assert not addresses.add(forged, "here")
    assert len(addresses) == 0


def test_records_become_old() -> None:
    times = [NOW, NOW, NOW + LIFE_MS]
    addresses = AddressRecords(NETWORK, lambda: times.pop(0))
    addresses.add(record(1), "here")
    assert addresses.get(signer(1).key)
    assert addresses.current() == ()


@pytest.mark.trio
async def test_peers_learn_from_each_other_and_can_then_connect() -> None:
    async with two_peers() as (first, second), network("third") as third:
        known = book()
        third_record = sign_addresses(
            Signer(b"third".ljust(32, b".")), NETWORK, third.addresses(), NOW
        )
        known.add(third_record, "here", Reach.LOOPBACK)
        exchange(first, known)
        asker = exchange(second, book())
        own = sign_addresses(Signer(b"second".ljust(32, b".")), NETWORK, second.addresses(), NOW)
        assert await asker.ask(first.key, own) == 1
        assert known.get(second.key) == own
        third.serve("/test/hello/1", lambda stream: stream.close())
        await (await second.open_stream(third.key, "/test/hello/1")).close()
        assert third.key in second.connected_peers()


@pytest.mark.trio
async def test_a_garbled_answer_is_a_peer_error() -> None:
    async with two_peers() as (first, second):
        first.serve(PEERS_PROTOCOL, lambda stream: stream.send_frame(b"\xff\xff garbage"))
        with pytest.raises(PeerError):
            await exchange(second, book()).ask(first.key)


def test_an_answer_holds_at_most_its_bound_of_records() -> None:
    many = [record(number) for number in range(MAX_RECORDS + 2)]
    assert parse_records(pack_records(many)) == many[:MAX_RECORDS]


@pytest.mark.parametrize(
    "raw", [b"", b"\x00", b"\x00\x01", b"\x00\x00x", b"\xff\xff", b"\x00\x01\x00\x02{}"]
)
def test_what_is_no_answer_is_malformed(raw: bytes) -> None:
    with pytest.raises(MalformedError):
        parse_records(raw)


def told(number: int, host: str, ts: int = NOW) -> AddressRecord:
    author = signer(number)
    addr = f"/ip4/{host}/tcp/1/p2p/{peer_id_text(author.key)}"
    return sign_addresses(author, NETWORK, [addr], ts)


def test_a_record_of_another_network_is_not_kept() -> None:
    elsewhere = AddressRecords(NetworkId(bytes(32)), lambda: NOW)
    assert not elsewhere.add(record(1), "here")


def test_one_source_cannot_push_out_what_others_told() -> None:
    addresses = book(RecordBounds(peers=12, per_source=8))
    honest = [told(number, f"198.51.{number}.1", NOW - 9) for number in range(1, 5)]
    seed = told(9, "203.0.113.1", NOW - 99)
    assert addresses.add(seed, LEDGER_SOURCE)
    assert all(addresses.add(one, f"10.0.{at}.0/24") for at, one in enumerate(honest))
    for number in range(100, 150):
        addresses.add(told(number, f"192.0.{number}.1"), "10.9.9.0/24")
    assert {seed, *honest} <= set(addresses.current())
    assert len(addresses) == 12


def claimed(number: int, *hosts: str, ts: int = NOW) -> AddressRecord:
    author = signer(number)
    addrs = [f"/ip4/{host}/tcp/1/p2p/{peer_id_text(author.key)}" for host in hosts]
    return sign_addresses(author, NETWORK, addrs, ts)


def test_no_peer_vouches_for_a_private_address_that_a_public_one_named() -> None:
    """A peer in our network would dial it on our word, as we would not have on the stranger's."""
    addresses, chance = book(), random.Random(1)
    mixed, public = claimed(1, "8.8.8.8", "192.168.1.1"), claimed(2, "8.8.4.4")
    neighbour = claimed(3, "192.168.1.2")
    addresses.add(mixed, "8.8.8.0/24", Reach.PUBLIC)
    addresses.add(public, "8.8.8.0/24", Reach.PUBLIC)
    addresses.add(neighbour, "192.168.1.0/24", Reach.PRIVATE)
    assert set(addresses.sample(9, chance, Reach.PUBLIC)) == {mixed, public, neighbour}
    assert set(addresses.sample(9, chance, Reach.PRIVATE)) == {public, neighbour}
    assert set(addresses.sample(9, chance, Reach.LOOPBACK)) == {public, neighbour}


def test_news_from_afar_takes_no_reach_from_the_same_addresses_and_gives_none_to_others() -> None:
    addresses, key = book(), signer(1).key
    addresses.add(claimed(1, "192.168.1.2", ts=NOW - 2), "192.168.1.0/24", Reach.PRIVATE)
    addresses.add(claimed(1, "192.168.1.2", ts=NOW - 1), "8.8.8.0/24", Reach.PUBLIC)
    claim = addresses.claim(key)
    assert claim
    assert claim.reach is Reach.PRIVATE
    addresses.add(claimed(1, "192.168.1.3", ts=NOW), "8.8.8.0/24", Reach.PUBLIC)
    claim = addresses.claim(key)
    assert claim
    assert claim.reach is Reach.PUBLIC


def test_one_place_cannot_fill_the_book() -> None:
    addresses = book(RecordBounds(per_network=4))
    taken = [addresses.add(told(at, "192.0.2.7"), f"10.0.{at}.0/24") for at in range(1, 9)]
    assert taken == [True] * 4 + [False] * 4
    assert addresses.add(told(1, "192.0.2.9", NOW + 1), "10.0.9.0/24"), "news of one that is here"
    assert addresses.add(told(9, "192.0.3.7"), "10.0.1.0/24")


@pytest.mark.trio
async def test_a_peer_that_pours_records_is_cut_short() -> None:
    limits = PeerLimits(records_per_s=0.3)
    async with network("first", limits) as first, network("second") as second:
        await second.connect(first.addresses()[0])
        addresses = book()
        exchange(first, addresses)
        for number in range(1, 100):
            stream = await second.open_stream(first.key, PEERS_PROTOCOL)
            await stream.send_frame(told(number, f"192.0.{number}.1").encode())
            try:
                await stream.receive_frame()
            except PeerError:
                break
            finally:
                await stream.drop()
        else:
            pytest.fail("all of them were taken")
        assert len(addresses) == number - 1 >= 3


def membership_of(
    ours: PeerNetwork,
    ledger: LedgerApi,
    *bootstrap: str,
    pauses: ReconnectPauses | None = None,
    now_ms: Callable[[], int] = clock.now_ms,
) -> Membership:
    return Membership(
        net=NET,
        network=ours,
        ledger=ledger,
        signer=Signer(b"ours".ljust(32, b".")),
        clock=now_ms,
        rng=random.Random(1),
        bootstrap=bootstrap,
        pauses=pauses,
    )


@pytest.mark.trio
async def test_a_silent_address_keeps_us_from_no_other(nursery: trio.Nursery) -> None:
    (deaf,) = await trio.open_tcp_listeners(0, host="127.0.0.1")  # takes connections, says nothing
    port = deaf.socket.getsockname()[1]
    silent = f"/ip4/127.0.0.1/tcp/{port}/p2p/{peer_id_text(Signer(bytes([2]) * 32).key)}"
    async with (
        deaf,
        network("ours") as ours,
        network("other") as other,
        LedgerApi(unused_url()) as ledger,
    ):
        nursery.start_soon(membership_of(ours, ledger, silent, other.addresses()[0]).run)
        with trio.fail_after(AT_ONCE_S):
            while other.key not in ours.connected_peers():  # noqa: ASYNC110 - libp2p tells nobody
                await trio.sleep(0.05)
        nursery.cancel_scope.cancel()


@pytest.mark.trio
async def test_seeds_that_are_dead_keep_us_from_no_other(nursery: trio.Nursery) -> None:
    (deaf,) = await trio.open_tcp_listeners(0, host="127.0.0.1")
    port = deaf.socket.getsockname()[1]
    asked = trio.Event()

    async def answer(stream: PeerStream) -> None:
        asked.set()
        await stream.send_frame(pack_records([]))

    async with (
        deaf,
        network("ours") as ours,
        network("live") as live,
        network("other") as other,
        serving(MemoryLog()) as server,
        LedgerApi(server.url) as ledger,
    ):
        dead = [signer(number) for number in range(1, 5)]
        listed = [(one, [f"/ip4/127.0.0.1/tcp/{port}/p2p/{peer_id_text(one.key)}"]) for one in dead]
        listed.append((Signer(b"live".ljust(32, b".")), list(live.addresses())))
        records = [sign_addresses(one, NET, addrs, clock.now_ms()) for one, addrs in listed]
        server.seeds += [one.encode() for one in records]
        other.serve(PEERS_PROTOCOL, answer)
        nursery.start_soon(membership_of(ours, ledger, other.addresses()[0]).run)
        with trio.fail_after(AT_ONCE_S):
            await until(lambda: {live.key, other.key} <= ours.connected_peers(), AT_ONCE_S)
            await asked.wait()
        nursery.cancel_scope.cancel()


@pytest.mark.trio
async def test_a_lost_peer_is_dialled_soon_however_long_the_pauses_have_grown(
    nursery: trio.Nursery,
) -> None:
    pauses = ReconnectPauses(first_s=1_000.0, after_loss_s=0.1)  # as after hours without a loss
    async with (
        network("ours") as ours,
        network("other") as other,
        LedgerApi(unused_url()) as ledger,
    ):
        own = membership_of(ours, ledger, other.addresses()[0], pauses=pauses)
        nursery.start_soon(own.run)
        with trio.fail_after(60):
            while other.key not in ours.connected_peers():  # noqa: ASYNC110 - libp2p tells nobody
                await trio.sleep(0.05)
            await trio.sleep(POLL_S)
            await ours.disconnect(other.key)
            assert other.key not in ours.connected_peers()
            while other.key not in ours.connected_peers():  # noqa: ASYNC110 - libp2p tells nobody
                await trio.sleep(0.05)
        nursery.cancel_scope.cancel()


@pytest.mark.trio
async def test_a_peer_that_came_to_us_and_leaves_makes_us_ask_nobody(
    nursery: trio.Nursery,
) -> None:
    pauses = ReconnectPauses(first_s=1_000.0, after_loss_s=0.1)
    asked = 0

    async def count(stream: PeerStream) -> None:
        nonlocal asked
        asked += 1
        await stream.send_frame(pack_records([]))

    async with (
        network("ours") as ours,
        network("other") as other,
        LedgerApi(unused_url()) as ledger,
    ):
        other.serve(PEERS_PROTOCOL, count)
        own = membership_of(ours, ledger, other.addresses()[0], pauses=pauses)
        nursery.start_soon(own.run)
        await until(lambda: asked > 0, 60)
        async with network("guest") as guest:
            await guest.connect(ours.addresses()[0])
            await until(lambda: guest.key in ours.connected_peers(), 60)
            await trio.sleep(2 * POLL_S)
        await until(lambda: guest.key not in ours.connected_peers(), 60)
        await trio.sleep(2 * POLL_S)
        assert asked == 1
        nursery.cancel_scope.cancel()


@pytest.mark.trio
async def test_addresses_are_signed_again_after_the_clock_was_set_back() -> None:
    times = [NOW + LIFE_MS, NOW]
    async with network("ours") as ours, LedgerApi(unused_url()) as ledger:
        own = membership_of(ours, ledger, now_ms=lambda: times.pop(0))
        own._own_record()  # noqa: SLF001 - signed while the clock was ahead
        assert own._own_record().is_current(NOW)  # noqa: SLF001
