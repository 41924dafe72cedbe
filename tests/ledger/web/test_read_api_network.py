"""The JSON answers of the real program."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tequio_shared.ids import from_text, peer_id_text, to_text
from tequio_shared.log.tiles import encode_bundle
from tequio_shared.network.genesis import Genesis
from tests.support.ledgers import ORGANISER, Served

if TYPE_CHECKING:
    import httpx

    from tests.support.authors import Author


def test_the_genesis_hashes_to_the_network_id(http: httpx.Client, program: Served) -> None:
    answer = http.get("/v1/network").json()
    genesis = Genesis.parse(from_text(answer["genesis"], None))
    assert genesis.network_id == program.net == from_text(answer["network_id"])
    assert genesis.organiser_keys == {ORGANISER.key}
    assert answer["coordinator"] == genesis.coordinator


def test_a_peer_can_find_the_end_of_its_chain(
    http: httpx.Client, author: Author, now_ms: int
) -> None:
    assert http.get(f"/v1/peers/{to_text(author.key)}").status_code == 404
    http.post("/v1/statements", content=encode_bundle([author.register(now_ms).leaf()]))
    answer = http.get(f"/v1/peers/{to_text(author.key)}").json()
    assert (answer["last_seq"], answer["last_hash"]) == (1, to_text(author.last))
    assert answer["peer_id"] == peer_id_text(author.key)


def test_peers_are_listed_page_by_page(http: httpx.Client, author: Author, now_ms: int) -> None:
    http.post("/v1/statements", content=encode_bundle([author.register(now_ms).leaf()]))
    whole = http.get("/v1/peers").json()["peers"]
    page = http.get("/v1/peers", params={"limit": 1}).json()
    paged = page["peers"]
    while page["next"]:
        page = http.get("/v1/peers", params={"limit": 1, "after": page["next"]}).json()
        paged += page["peers"]
    assert [one["key"] for one in paged] == [one["key"] for one in whole]


NOWHERE = to_text(bytes(32))


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/v1/nothing", 404),
        ("DELETE", "/v1/network", 405),
        ("GET", f"/v1/runs/{NOWHERE}", 404),
        ("GET", "/v1/runs/short", 400),
        ("GET", f"/v1/runs/{NOWHERE}/rounds/1", 404),
        ("GET", f"/v1/peers/{NOWHERE}", 404),
        ("GET", "/v1/peers?limit=100000", 400),
        ("GET", f"/v1/blobs/{NOWHERE}", 404),
        ("GET", "/v1/blobs/zz", 400),
        ("GET", "/log/tile/9/000", 404),
        ("GET", "/log/tile/0/1", 404),
        ("GET", "/v1/events?after=-9", 400),
    ],
)
def test_every_error_is_a_problem_document(
    http: httpx.Client, method: str, path: str, status: int
) -> None:
    answer = http.request(method, path)
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.json()["type"].startswith("urn:tequio:problem:")


def test_it_says_that_it_is_well(http: httpx.Client) -> None:
    assert http.get("/healthz").json() == {"status": "ok"}
