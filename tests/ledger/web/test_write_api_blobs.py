"""Blobs over HTTP: whose, how much, and never other bytes than the name says."""

from __future__ import annotations

from typing import TYPE_CHECKING

import httpx
import pytest

from tequio_shared.ids import sha256, to_text
from tequio_shared.keys import Signer
from tequio_shared.log.tiles import encode_bundle
from tests.support.attackers import put_headers
from tests.support.authors import Author
from tests.support.ledgers import ORGANISER, served

if TYPE_CHECKING:
    from pathlib import Path

MEBIBYTE = 1 << 20


def put(http: httpx.Client, author: Author, content: bytes, now_ms: int) -> int:
    headers = put_headers(author.signer, author.net, sha256(content), now_ms)
    path = f"/v1/blobs/{to_text(sha256(content))}"
    return http.put(path, content=content, headers=headers).status_code


@pytest.fixture
def member(http: httpx.Client, author: Author, now_ms: int) -> Author:
    http.post("/v1/statements", content=encode_bundle([author.register(now_ms).leaf()]))
    return author


@pytest.fixture
def organiser(author: Author) -> Author:
    author.signer = ORGANISER
    return author


def test_a_blob_comes_back_under_both_spellings_of_its_name(
    http: httpx.Client, member: Author, now_ms: int
) -> None:
    content = b"a small document"
    assert put(http, member, content, now_ms) == 201
    for name in (to_text(sha256(content)), sha256(content).hex()):
        assert http.get(f"/v1/blobs/{name}").content == content
        found = http.head(f"/v1/blobs/{name}")
        assert (found.status_code, found.headers["content-length"]) == (200, str(len(content)))


def test_a_blob_that_is_here_is_not_taken_again(
    http: httpx.Client, member: Author, now_ms: int
) -> None:
    assert [put(http, member, b"twice", now_ms) for _ in range(2)] == [201, 200]


def test_a_key_that_sends_too_many_blobs_is_told_to_wait(tmp_path: Path, now_ms: int) -> None:
    with (
        served(tmp_path, "--key-rate", "1") as program,
        httpx.Client(base_url=program.url) as http,
    ):
        member = Author("who sends many", program.net)
        http.post("/v1/statements", content=encode_bundle([member.register(now_ms).leaf()]))
        told = [put(http, member, b"%d" % number, now_ms) for number in range(20)]
    assert (told[:9], told[-1]) == ([201] * 9, 429)


def test_a_stranger_may_not_put(http: httpx.Client, author: Author, now_ms: int) -> None:
    assert put(http, author, b"from a stranger", now_ms) == 403


def test_an_old_request_is_refused(http: httpx.Client, member: Author, now_ms: int) -> None:
    assert put(http, member, b"late", now_ms - 61_000) == 422


def test_another_body_than_the_signed_one_is_refused(
    http: httpx.Client, member: Author, now_ms: int
) -> None:
    digest = sha256(b"promised")
    headers = put_headers(member.signer, member.net, digest, now_ms)
    path = f"/v1/blobs/{to_text(digest)}"
    assert http.put(path, content=b"delivered", headers=headers).status_code == 400
    assert http.get(path).status_code == 404


def test_a_forged_request_is_refused(http: httpx.Client, member: Author, now_ms: int) -> None:
    digest = sha256(b"forged")
    headers = put_headers(Signer(bytes(32)), member.net, digest, now_ms)
    headers["x-tequio-author"] = to_text(member.key)
    answer = http.put(f"/v1/blobs/{to_text(digest)}", content=b"forged", headers=headers)
    assert answer.json()["type"] == "urn:tequio:problem:bad-signature"
    assert http.put(f"/v1/blobs/{to_text(digest)}", content=b"forged").status_code == 400


def test_an_organiser_may_put_more_than_a_members_quota(
    http: httpx.Client, organiser: Author, now_ms: int
) -> None:
    content = bytes(64 * MEBIBYTE)
    assert put(http, organiser, content, now_ms) == 201
    assert http.get(f"/v1/blobs/{to_text(sha256(content))}").content == content


def test_a_blob_above_the_limit_is_refused(
    http: httpx.Client, organiser: Author, now_ms: int
) -> None:
    assert put(http, organiser, bytes(64 * MEBIBYTE + 1), now_ms) == 413


@pytest.mark.parametrize("content", [b"<script>alert(1)</script>", b"alert(1)"])
def test_a_browser_makes_nothing_of_what_a_member_brought(
    http: httpx.Client, member: Author, now_ms: int, content: bytes
) -> None:
    put(http, member, content, now_ms)
    path = f"/v1/blobs/{to_text(sha256(content))}"
    whole = http.get(path)
    known = http.get(path, headers={"if-none-match": whole.headers["etag"]})
    tile = http.get("/log/tile/entries/000.p/1")
    for answer in (whole, http.head(path), known, tile):
        assert answer.status_code in (200, 304)
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["content-disposition"] == "attachment"
        assert answer.headers["content-security-policy"] == "default-src 'none'; sandbox"
    assert http.get("/log/checkpoint").headers["x-content-type-options"] == "nosniff"
