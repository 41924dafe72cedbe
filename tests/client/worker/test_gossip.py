"""Announcements arrive once and checked; addresses travel signed."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pytest
import trio

from tequio_client.worker.addressbook import AddressBook
from tequio_client.worker.gossip import (
    PEERS_PROTOCOL,
    RECORDS,
    Gossip,
    PeerExchange,
    pack_records,
    parse_records,
    topic_of,
)
from tequio_shared.addresses import LIFE_MS, AddressRecord, sign_addresses
from tequio_shared.errors import MalformedError, PeerError
from tequio_shared.ids import NetworkId, RunId, peer_id_text
from tequio_shared.keys import Signer
from tests.support.loopback import Takes, network, two_peers

if TYPE_CHECKING:
    from tequio_client.worker.peers import PeerNetwork

NETWORK, RUN = NetworkId(bytes(range(32))), RunId(bytes(range(32, 64)))
NOW = 1_800_000_000_000


def signer(number: int) -> Signer:
    return Signer(number.to_bytes(32, "big"))


def record(number: int, ts: int = NOW) -> AddressRecord:
    author = signer(number)
    return sign_addresses(author, [f"/ip4/10.0.0.1/tcp/1/p2p/{peer_id_text(author.key)}"], ts)


def book() -> AddressBook:
    return AddressBook(lambda: NOW)


def exchange(peers: PeerNetwork, addresses: AddressBook) -> PeerExchange:
    return PeerExchange(peers, addresses, rng=random.Random(1))


def test_the_topic_follows_from_network_and_run() -> None:
    assert topic_of(NETWORK, RUN) == "/tequio/0001020304050607/work/2021222324252627/1"


@pytest.mark.trio
async def test_an_announcement_is_received_once_and_only_when_it_passes_the_check() -> None:
    async with two_peers() as (first, second):
        ours = await Gossip.join(first, NETWORK, RUN, Takes(lambda _, content: content != b"bad"))
        theirs = await Gossip.join(second, NETWORK, RUN, Takes())

        async def announce() -> None:
            while True:  # before the mesh stands, messages are lost
                for content in (b"bad", b"one", b"one", b"two"):
                    await theirs.announce(content)
                await trio.sleep(1)

        with trio.fail_after(30):
            async with trio.open_nursery() as nursery:
                nursery.start_soon(announce)
                received = [await ours.receive(), await ours.receive()]
                nursery.cancel_scope.cancel()
        assert {item.content for item in received} == {b"one", b"two"}
        assert {item.author for item in received} == {second.key}


def test_a_book_keeps_the_freshest_record_of_each_peer() -> None:
    addresses = book()
    assert addresses.add(record(1, NOW - 2))
    assert addresses.add(record(1, NOW - 1))
    assert not addresses.add(record(1, NOW - 2))
    assert addresses.get(signer(1).key) == record(1, NOW - 1)


def test_a_book_takes_nothing_old_nothing_from_the_future_and_nothing_forged() -> None:
    addresses, honest = book(), record(1)
    forged = AddressRecord(author=honest.author, addrs=(), ts=honest.ts, signature=honest.signature)
    assert not addresses.add(record(1, NOW - LIFE_MS))
    assert not addresses.add(record(1, NOW + 400_000))
    assert not addresses.add(forged)
    assert len(addresses) == 0


def test_records_become_old() -> None:
    times = [NOW, NOW, NOW + LIFE_MS]
    addresses = AddressBook(lambda: times.pop(0))
    addresses.add(record(1))
    assert addresses.get(signer(1).key)
    assert addresses.current() == ()


@pytest.mark.trio
async def test_peers_learn_from_each_other_and_can_then_connect() -> None:
    async with two_peers() as (first, second), network("third") as third:
        known = book()
        third_record = sign_addresses(Signer(b"third".ljust(32, b".")), third.addresses(), NOW)
        known.add(third_record)
        exchange(first, known)
        asker = exchange(second, book())
        own = sign_addresses(Signer(b"second".ljust(32, b".")), second.addresses(), NOW)
        assert await asker.ask(first.key, own) == 1
        assert known.get(second.key) == own
        third.serve("/test/hello/1", lambda stream: stream.close())
        await (await second.open_stream(third.key, "/test/hello/1")).close()
        assert third.key in second.connected()


@pytest.mark.trio
async def test_a_garbled_answer_is_a_peer_error() -> None:
    async with two_peers() as (first, second):
        first.serve(PEERS_PROTOCOL, lambda stream: stream.send_frame(b"\xff\xff garbage"))
        with pytest.raises(PeerError):
            await exchange(second, book()).ask(first.key)


def test_an_answer_holds_at_most_its_bound_of_records() -> None:
    many = [record(number) for number in range(RECORDS + 2)]
    assert parse_records(pack_records(many)) == many[:RECORDS]


@pytest.mark.parametrize(
    "raw", [b"", b"\x00", b"\x00\x01", b"\x00\x00x", b"\xff\xff", b"\x00\x01\x00\x02{}"]
)
def test_what_is_no_answer_is_malformed(raw: bytes) -> None:
    with pytest.raises(MalformedError):
        parse_records(raw)
