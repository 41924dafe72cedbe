"""Blobs over HTTP: whose, how much, and never other bytes than the name says."""

from __future__ import annotations

from typing import TYPE_CHECKING

import httpx
import pytest

from tequio_shared.addresses import sign_addresses
from tequio_shared.ids import sha256, to_text
from tequio_shared.keys import Signer
from tequio_shared.limits import STATEMENT_BYTES
from tequio_shared.log.tiles import encode_bundle
from tequio_shared.statements.network import KeyRevoke
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


def test_a_key_that_was_revoked_may_not_put(
    http: httpx.Client, member: Author, now_ms: int
) -> None:
    revoking = member.sign(KeyRevoke(peer=to_text(member.key)), now_ms)
    told = http.post("/v1/statements", content=encode_bundle([revoking.leaf()])).json()
    assert told["items"][0]["status"] == "logged"
    digest = sha256(b"from a revoked key")
    headers = put_headers(member.signer, member.net, digest, now_ms)
    answer = http.put(f"/v1/blobs/{to_text(digest)}", content=b"never read", headers=headers)
    assert (answer.status_code, answer.json()["title"]) == (403, "key ended")


@pytest.mark.parametrize("off_ms", [-61_000, 61_000])
def test_a_request_of_another_time_is_refused(
    http: httpx.Client, member: Author, now_ms: int, off_ms: int
) -> None:
    assert put(http, member, b"late", now_ms + off_ms) == 422


def test_a_member_may_put_no_more_than_a_small_document(
    http: httpx.Client, member: Author, now_ms: int
) -> None:
    assert put(http, member, b"x" * (STATEMENT_BYTES + 1), now_ms) == 413
    assert put(http, member, b"x" * STATEMENT_BYTES, now_ms) == 201


def test_requests_that_cost_the_ledger_work_have_a_rate_for_each_address(
    tmp_path: Path, author: Author, now_ms: int
) -> None:
    digest = sha256(b"never sent")
    blob = f"/v1/blobs/{to_text(digest)}"
    for method, path in (("PUT", blob), ("PUT", "/v1/seeds"), ("POST", "/log/checkpoint")):
        with (
            served(tmp_path / method / path.rpartition("/")[2], "--address-rate", "1") as program,
            httpx.Client(base_url=program.url) as http,
        ):
            headers = put_headers(author.signer, program.net, digest, now_ms)
            record = sign_addresses(Signer(sha256(b"forged")), program.net, [], now_ms).encode()
            content = record if path == "/v1/seeds" else b"garbage\n"
            told = [
                http.request(method, path, content=content, headers=headers).status_code
                for _ in range(13)
            ]
        assert told[12] == 429, path
        assert 429 not in told[:10], path


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
