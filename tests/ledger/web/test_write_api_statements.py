"""POST /v1/statements on the real program: durable answers, one per entry."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any

import httpx

from tequio_shared.ids import ZERO_DIGEST, RunId, from_text, sha256, to_text
from tequio_shared.log.notes import VerifierKey, open_checkpoint
from tequio_shared.log.tiles import encode_bundle
from tequio_shared.statements.network import MemberLeave

if TYPE_CHECKING:
    from tequio_shared.statements.statement import Entry
    from tests.support.authors import Author

URL = "/v1/statements"


def post(http: httpx.Client, *entries: Entry) -> list[dict[str, Any]]:
    """Post a bundle; give the items, plain JSON."""
    answer = http.post(URL, content=encode_bundle([entry.leaf() for entry in entries]))
    assert answer.status_code == 200, answer.text
    items: list[dict[str, Any]] = answer.json()["items"]
    return items


def test_an_entry_is_logged_and_covered_by_the_checkpoint_at_once(
    http: httpx.Client, author: Author, now_ms: int
) -> None:
    (item,) = post(http, author.register(now_ms))
    assert item["status"] == "logged"
    vkey = VerifierKey.parse(http.get("/v1/network").json()["log_key"])
    signed = open_checkpoint(http.get("/log/checkpoint").content, vkey)
    assert signed.checkpoint.size > item["index"]


def test_the_same_statement_again_is_known_under_the_same_index(
    http: httpx.Client, author: Author, now_ms: int
) -> None:
    entry = author.register(now_ms)
    (first,) = post(http, entry)
    (again,) = post(http, entry)
    assert (again["status"], again["index"]) == ("known", first["index"])


def test_doubles_in_one_bundle_are_logged_once(
    http: httpx.Client, author: Author, now_ms: int
) -> None:
    entry = author.register(now_ms)
    first, again = post(http, entry, entry)
    assert (first["status"], again["status"]) == ("logged", "known")
    assert first["index"] == again["index"]


def test_one_bad_entry_does_not_hurt_its_neighbours(
    http: httpx.Client, author: Author, now_ms: int
) -> None:
    good, forged, later = (author.register(now_ms) for _ in range(3))
    leaf = bytearray(forged.leaf())
    leaf[40] ^= 1
    raw = encode_bundle([good.leaf(), bytes(leaf), b"garbage", later.leaf()])
    items = http.post(URL, content=raw).json()["items"]
    assert [item.get("code") for item in items] == [None, "bad-signature", "malformed", "seq-gap"]
    assert items[2]["id"] == to_text(sha256(b"garbage"))


def test_an_unknown_key_is_refused_unless_it_registers_in_the_same_bundle(
    http: httpx.Client, author: Author, now_ms: int
) -> None:
    run = to_text(sha256(b"no run"))
    register = author.register(now_ms)
    leave = author.sign(MemberLeave(reason=1), now_ms, run=RunId(from_text(run)))
    assert post(http, leave)[0]["code"] == "not-admitted"
    assert [item.get("code") for item in post(http, register, leave)] == [None, "not-found"]


def test_equivocation_is_told(http: httpx.Client, author: Author, now_ms: int) -> None:
    entry = author.register(now_ms)
    author.seq, author.last = 0, ZERO_DIGEST
    twin = author.register(now_ms + 1)
    post(http, entry)
    assert post(http, twin)[0]["code"] == "equivocation"


def test_too_many_entries_are_refused(http: httpx.Client, author: Author, now_ms: int) -> None:
    leaf = author.register(now_ms).leaf()
    assert http.post(URL, content=encode_bundle([leaf] * 257)).status_code == 400


def test_a_body_above_the_limit_is_refused_whether_announced_or_not(http: httpx.Client) -> None:
    size = (1 << 20) + 1
    announced = http.post(URL, content=bytes(size))
    assert announced.status_code == 413
    assert announced.headers["content-type"] == "application/problem+json"
    for _ in range(20):
        with suppress(httpx.TransportError):  # it is hung up on, which may overtake the answer
            streamed = http.post(URL, content=(bytes(1 << 16) for _ in range(40)))
            break
    assert streamed.status_code == 413
    assert streamed.json()["type"] == "urn:tequio:problem:too-large"


def test_what_is_no_bundle_is_malformed(http: httpx.Client) -> None:
    for body in (b"", b"\xff\xff short"):
        answer = http.post(URL, content=body)
        assert (answer.status_code, answer.json()["title"]) == (400, "malformed")
