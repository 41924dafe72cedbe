"""Attacks on the ledger's HTTP doors. Layers that stop them: net (limits), adm (who is known)."""

from __future__ import annotations

import asyncio
import socket
import time
from contextlib import ExitStack
from types import MappingProxyType
from typing import TYPE_CHECKING, cast

import httpx
import pytest

from tequio_client.clock import now_ms
from tequio_ledger.store.blobs import occupied_bytes
from tequio_ledger.web.limits import BURST_S, REGISTRATION_COST, read_chunks
from tequio_ledger.web.write_api import MAX_RECORDS, SeedStore
from tequio_shared.addresses import AddressRecord
from tequio_shared.api.answer import PAGE_ROWS
from tequio_shared.errors import RefusedError
from tequio_shared.ids import RunId, sha256, to_text
from tequio_shared.limits import STATEMENT_BYTES
from tequio_shared.log.tiles import encode_bundle
from tequio_shared.statements.network import MemberLeave
from tests.support.attack_table import attack
from tests.support.attackers import codes, forged, key_number, post, put_headers, status_of
from tests.support.attackers_flood import flood
from tests.support.authors import Author
from tests.support.ledgers import ORGANISER, Served, served
from tests.support.timing_slack import allowed_s

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator, Mapping

    from starlette.requests import Request

    from tequio_shared.statements.statement import Entry


KEY_RATE, ADDRESS_RATE, STREAMS = 2, 30, 8
MEBIBYTE = 1 << 20


@pytest.fixture
def ledger(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    options = ("--key-rate", str(KEY_RATE), "--address-rate", str(ADDRESS_RATE))
    streams = ("--address-streams", str(STREAMS))
    with served(tmp_path_factory.mktemp("ledger"), *options, *streams) as program:
        yield program


@pytest.fixture
def small(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A program with little room for blobs, which takes as many at once as are sent."""
    options = ("--key-rate", "0", "--peer-quota-mb", "1", "--blob-quota-mb", "4")
    with served(tmp_path_factory.mktemp("small"), *options) as program:
        yield program


@pytest.fixture(scope="module")
def calm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """One program for the attacks that leave no trace."""
    with served(tmp_path_factory.mktemp("calm")) as program:
        yield program


def leave(author: Author) -> Entry:
    """A statement whose signature holds, on a run that there is not."""
    return author.sign(MemberLeave(reason=1), now_ms(), run=RunId(sha256(b"no run")))


def is_well(ledger: Served) -> bool:
    return httpx.get(f"{ledger.url}/healthz", timeout=2).status_code == 200


@attack("L7", layer="net", ends="refused as `rate-limited`; an honest key is served")
def test_a_key_that_floods_is_refused_and_others_are_not(ledger: Served) -> None:
    flooder, honest = Author("flooder", ledger.net), Author("honest", ledger.net)
    assert codes(post(ledger.url, [flooder.register(now_ms()), honest.register(now_ms())])) == [
        "logged",
        "logged",
    ]
    flood = [leave(flooder)] * (KEY_RATE * BURST_S + 5)  # each copy costs a token
    said = codes(post(ledger.url, flood))
    assert said.count("rate-limited") >= 5
    assert codes(post(ledger.url, [leave(honest)])) == ["not-found"]


@attack("L7", layer="net", ends="forged statements cost their victim nothing")
def test_nobody_can_empty_anothers_bucket_with_forged_statements(ledger: Served) -> None:
    victim = Author("victim", ledger.net)
    post(ledger.url, [victim.register(now_ms())])
    false = forged(leave(Author("victim", ledger.net)))
    assert set(codes(post(ledger.url, [false] * KEY_RATE * BURST_S))) == {"bad-signature"}
    assert codes(post(ledger.url, [leave(victim)])) == ["not-found"]


@attack("L7", layer="net", ends="refused as `rate-limited`: registrations cost ten tokens")
@attack("A12", layer="net", ends="each key costs work, and an address has a rate")
def test_an_address_that_registers_keys_without_end_is_stopped(ledger: Served) -> None:
    most = ADDRESS_RATE * BURST_S // REGISTRATION_COST
    sybils = [Author(f"sybil {n}", ledger.net).register(now_ms()) for n in range(2 * most)]
    said = codes(post(ledger.url, sybils))
    assert said.count("logged") <= most
    assert set(said[most:]) == {"rate-limited"}


@attack("L7", layer="net", ends="refused with 429 and a time to retry")
def test_garbage_costs_its_address_and_the_answer_says_when_to_come_again(ledger: Served) -> None:
    stranger = Author("stranger", ledger.net)
    entry = stranger.register(now_ms()).leaf()
    content = encode_bundle([entry[:-1]] * 200)
    answers = [httpx.post(f"{ledger.url}/v1/statements", content=content) for _ in range(4)]
    assert answers[-1].status_code == 429
    assert answers[-1].headers["retry-after"]
    assert is_well(ledger)


@attack("L7", layer="net", ends="refused as `queue-full`; closed streams free their slots")
def test_event_streams_of_one_address_are_bounded(ledger: Served) -> None:
    with ExitStack() as open_streams, httpx.Client(base_url=ledger.url, timeout=5) as http:
        reading = []  # an iterator that is dropped closes its stream
        for _ in range(STREAMS):
            answer = open_streams.enter_context(http.stream("GET", "/v1/events"))
            reading.append(answer.iter_raw())
            assert next(reading[-1])
        refused = http.get("/v1/events")
        assert refused.status_code == 503
        assert "your address" in refused.json()["detail"]
    deadline = time.monotonic() + 5
    while time.monotonic() < deadline:  # closed streams are counted no more
        with httpx.stream("GET", f"{ledger.url}/v1/events", timeout=2) as again:
            if again.status_code == 200:
                return
        time.sleep(0.05)
    pytest.fail("the places of closed streams were not given back")


@pytest.mark.parametrize(
    ("method", "target", "headers"),
    [
        ("GET", "/v1/blobs/" + "%20" * 64, ""),
        ("HEAD", "/v1/blobs/" + "%20" * 64, ""),
        ("HEAD", "/v1/blobs/" + "%09" * 64, ""),
        ("GET", "/v1/blobs/..%2f..%2fcoordinator.key", ""),
        ("GET", "/v1/blobs/" + "ab" * 31 + "%20%20", ""),
        ("GET", "/log/tile/0/..%2f..%2f000", ""),
        ("GET", "/log/tile/entries/x999/x999/x999/x999/x999/x999/999", ""),
        ("GET", "/log/tile/0/000.p/0256", ""),
        ("GET", "/v1/events", "last-event-id: \xb2\r\n"),
        ("GET", "/v1/events", f"last-event-id: {'9' * 5000}\r\n"),
        ("GET", f"/v1/events?after={1 << 80}", ""),
        ("GET", f"/v1/runs/{'A' * 43}/rounds?after={1 << 80}", ""),
        ("GET", f"/v1/runs/{'A' * 43}/rounds/{1 << 80}", ""),
        ("GET", f"/v1/runs/{'A' * 43}/rounds/-1", ""),
        ("PUT", "/v1/blobs/" + "A" * 43, f"x-tequio-author: {'A' * 43}\r\nx-tequio-ts: \xb2\r\n"),
        ("PUT", "/v1/blobs/" + "A" * 43, f"x-tequio-author: {'A' * 43}\r\nx-tequio-ts: 1\r\n"),
        ("POST", "/v1/statements", "content-length: 99999999999\r\n"),
        ("POST", "/v1/statements", "content-length: 0\r\n"),
    ],
)
def test_names_and_numbers_that_no_client_sends_are_the_senders_fault(
    calm: Served, method: str, target: str, headers: str
) -> None:
    assert 400 <= status_of(calm.url, method, target, headers) < 500
    assert is_well(calm)


@attack("W16", layer="net", ends="cut off at the size limit")
def test_a_body_without_a_length_is_cut_off_at_the_limit(calm: Served) -> None:
    def endless() -> Iterator[bytes]:
        for _ in range(64):
            yield bytes(1 << 16)

    try:
        answer = httpx.post(f"{calm.url}/v1/statements", content=endless(), timeout=10)
        assert answer.status_code == 413
    except httpx.TransportError:
        pass  # the door was shut while we were still pushing
    assert is_well(calm)


@attack("L8", layer="env", ends="refused as `malformed`")
def test_json_nested_without_end_is_malformed(calm: Served) -> None:
    deep = b"[" * 16_000
    leaf = b"\x01\x01" + bytes(96) + deep
    answer = httpx.post(f"{calm.url}/v1/statements", content=encode_bundle([leaf] * 4))
    assert codes(answer) == ["malformed"] * 4


def test_uploads_side_by_side_cannot_fill_a_quota_twice(small: Served) -> None:
    peer = Author("hoarder", small.net)
    post(small.url, [peer.register(now_ms())])
    size = STATEMENT_BYTES
    for number in range(MEBIBYTE // occupied_bytes(size) - 1):  # then there is room for one more
        assert put_own(small, peer, bytes([number]) * size) == 201
    place = small.url.removeprefix("http://").split(":")
    answers: list[int] = []
    with ExitStack() as lines:
        open_lines = []
        for number in range(100, 102):
            content = bytes([number]) * size
            headers = put_headers(peer.signer, small.net, sha256(content), now_ms())
            head = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
            line = lines.enter_context(socket.create_connection((place[0], int(place[1])), 5))
            start = f"PUT /v1/blobs/{to_text(sha256(content))} HTTP/1.1\r\nhost: x\r\n{head}"
            line.sendall(f"{start}content-length: {size}\r\n\r\n".encode() + content[: size // 2])
            open_lines.append((line, content))
            time.sleep(0.2)
        for line, content in open_lines:
            try:
                line.sendall(content[size // 2 :])
                answers.append(int(line.recv(4096).split(b" ", 2)[1]))
            except OSError:
                answers.append(0)
    assert answers.count(201) == 1, answers


def put_own(ledger: Served, author: Author, content: bytes) -> int:
    headers = put_headers(author.signer, ledger.net, sha256(content), now_ms())
    url = f"{ledger.url}/v1/blobs/{to_text(sha256(content))}"
    return httpx.put(url, content=content, headers=headers).status_code


@attack("L7", layer="net", ends="half of the blob space stays reserved for organisers")
def test_strangers_together_leave_half_of_the_room_to_the_organisers(small: Served) -> None:
    taken, each = 0, MEBIBYTE // occupied_bytes(STATEMENT_BYTES)
    for number in range(3):
        peer = Author(f"stranger {number}", small.net)
        post(small.url, [peer.register(now_ms())])
        for at in range(each):
            content = bytes([number, at]) * (STATEMENT_BYTES // 2)
            taken += put_own(small, peer, content) == 201
    half = 2 * MEBIBYTE // occupied_bytes(STATEMENT_BYTES)  # of the four that there are
    assert half - 1 <= taken <= half
    content = b"o" * (1 << 20)
    headers = put_headers(ORGANISER, small.net, sha256(content), now_ms())
    url = f"{small.url}/v1/blobs/{to_text(sha256(content))}"
    assert httpx.put(url, content=content, headers=headers).status_code == 201


def record(number: int, ts: int) -> AddressRecord:
    return AddressRecord(author=key_number(number), addrs=(), ts=ts, signature=bytes(64))


@attack("M3", layer="net", ends="the most active address loses its own oldest record")
def test_one_address_cannot_fill_the_list_of_seeds() -> None:
    book, now = SeedStore(), 1_000_000
    book.put(record(0, now), "home", now)
    for number in range(1, MAX_RECORDS):
        book.put(record(number, now), "flood", now)
    with pytest.raises(RefusedError, match="full"):
        book.put(record(MAX_RECORDS, now), "flood", now)
    book.put(record(MAX_RECORDS + 1, now), "somebody else", now)
    held = book.current(now)
    assert set(held[:3]) >= {one.encode() for one in (record(0, now), record(MAX_RECORDS + 1, now))}


@attack("D7", layer="net", ends="an answer has at most 250 records, of each network in turn")
def test_a_list_full_of_long_records_is_a_short_answer() -> None:
    book, now = SeedStore(), 1_000_000
    book.put(record(0, now - 60_000), "home", now)
    for number in range(1, MAX_RECORDS):
        book.put(record(number, now), f"flood {number % 24}", now)
    held = book.current(now)
    assert len(held) == PAGE_ROWS
    assert record(0, now - 60_000).encode() in held[:25]


class _Trickle:
    """A request whose body comes byte by byte, and never to its end."""

    headers: Mapping[str, str] = MappingProxyType({})

    async def stream(self) -> AsyncIterator[bytes]:
        while True:
            yield b"x"
            await asyncio.sleep(0.01)


@attack("W16", layer="net", ends="given up as too slow")
def test_a_body_that_trickles_is_given_up() -> None:
    async def read() -> None:
        async for _ in read_chunks(cast("Request", _Trickle()), 1_000, patience_s=0.1):
            pass

    with pytest.raises(RefusedError, match="slowly"):
        asyncio.run(asyncio.wait_for(read(), 5))


@attack("L7", layer="net", ends="honest members are answered within 2 s all the while")
def test_a_flood_from_other_addresses_does_not_keep_honest_members_waiting(ledger: Served) -> None:
    honest = Author("steady", ledger.net)
    entries = [honest.register(now_ms())]
    assert codes(post(ledger.url, entries)) == ["logged"]
    with flood(ledger, networks=6) as spent, httpx.Client(base_url=ledger.url, timeout=20) as http:
        waits = []
        for _ in range(20):
            began = time.monotonic()
            answer = http.post("/v1/statements", content=encode_bundle([entries[0].leaf()]))
            waits.append(time.monotonic() - began)
            assert codes(answer) in (["known"], ["rate-limited"])
            time.sleep(1 / KEY_RATE / 4)
    assert spent.requests > 50, spent
    assert sorted(waits)[-2] < allowed_s(2), waits
