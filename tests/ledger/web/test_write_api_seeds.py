"""PUT /v1/seeds on the real program: addresses are listed as their peers signed them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from tequio_ledger.web.write_api import MAX_RECORDS, SeedStore
from tequio_shared.addresses import LIFE_MS, AddressRecord, sign_addresses
from tequio_shared.errors import RefusedError
from tequio_shared.ids import peer_id_text
from tequio_shared.limits import CLOCK_SKEW_MS
from tests.support.attackers import key_number

if TYPE_CHECKING:
    import httpx

    from tests.support.authors import Author


def test_addresses_that_their_peer_did_not_sign_are_not_listed(
    http: httpx.Client, author: Author, now_ms: int
) -> None:
    address = f"/ip4/192.0.2.1/tcp/4001/p2p/{peer_id_text(author.key)}"
    record = sign_addresses(author.signer, author.net, [address], now_ms)
    for forged in (replace(record, ts=now_ms + 1), replace(record, signature=bytes(64))):
        answer = http.put("/v1/seeds", content=forged.encode())
        assert (answer.status_code, answer.json()["type"]) == (
            400,
            "urn:tequio:problem:bad-signature",
        )
        assert address not in http.get("/v1/seeds").text
    assert http.put("/v1/seeds", content=record.encode()).status_code == 204
    assert address in http.get("/v1/seeds").text


NOW_MS = 1_800_000_000_000


def record(number: int, ts: int = NOW_MS) -> AddressRecord:
    return AddressRecord(author=key_number(number), addrs=(), ts=ts, signature=bytes(64))


def full_store(ts: int = NOW_MS) -> SeedStore:
    """A full list: one record of each peer, and each peer at another address."""
    store = SeedStore()
    for number in range(MAX_RECORDS):
        store.put(record(number, ts), f"network {number}", NOW_MS)
    return store


@pytest.mark.parametrize("ts", [NOW_MS - LIFE_MS, NOW_MS + CLOCK_SKEW_MS + 1])
def test_a_record_of_another_time_is_refused(ts: int) -> None:
    with pytest.raises(RefusedError, match="check your clock") as refused:
        SeedStore().put(record(1, ts), "home", NOW_MS)
    assert refused.value.code == "expired"


def test_a_peer_may_send_its_record_again_but_no_older_one() -> None:
    store = SeedStore()
    for _ in range(2):
        store.put(record(1), "home", NOW_MS)
    with pytest.raises(RefusedError, match="newer record"):
        store.put(record(1, NOW_MS - 1), "home", NOW_MS)
    assert store.current(NOW_MS) == [record(1).encode()]


def test_a_record_that_has_become_too_old_is_not_listed() -> None:
    store = SeedStore()
    store.put(record(1), "home", NOW_MS)
    assert store.current(NOW_MS + LIFE_MS - 1)
    assert store.current(NOW_MS + LIFE_MS) == []


def test_old_records_make_room_in_a_full_list() -> None:
    store = full_store()
    with pytest.raises(RefusedError, match="full"):
        store.put(record(MAX_RECORDS), "network 0", NOW_MS)
    later_ms = NOW_MS + LIFE_MS
    store.put(record(MAX_RECORDS, later_ms), "network 0", later_ms)


def test_a_peer_renews_its_record_in_a_full_list() -> None:
    store = full_store(NOW_MS - 1)
    store.put(record(0), "network 0", NOW_MS)
    assert record(0).encode() == store.current(NOW_MS)[0]


def test_the_address_with_most_records_loses_its_oldest_and_its_newest_are_listed_first() -> None:
    store = SeedStore()
    for number in range(MAX_RECORDS):
        store.put(record(number, NOW_MS + number), "crowd", NOW_MS)
    store.put(record(MAX_RECORDS), "home", NOW_MS)
    newest = record(MAX_RECORDS - 1, NOW_MS + MAX_RECORDS - 1)
    assert store.current(NOW_MS)[:2] == [newest.encode(), record(MAX_RECORDS).encode()]
