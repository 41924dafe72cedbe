"""Ranking and a key's rounds in the answers of the real program."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import httpx
import pytest

from tequio_shared.ids import to_text
from tests.ledger.test_replay import CLOCK, live_through
from tests.support.ledgers import make_settings, opened, served

if TYPE_CHECKING:
    from collections.abc import Iterator

NOBODY = to_text(bytes(32))


@pytest.fixture(scope="module")
def http(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    """Talk to a ledger that has seen two closed rounds and a void one."""
    folder = tmp_path_factory.mktemp("ledger")
    with opened(make_settings(folder), CLOCK) as ledger:
        asyncio.run(live_through(ledger))
    with served(folder) as program, httpx.Client(base_url=program.url, timeout=10) as client:
        yield client


def peers(http: httpx.Client) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = http.get("/v1/peers").json()["peers"]
    return found


def test_the_ranking_is_that_of_the_peers(http: httpx.Client) -> None:
    answer = http.get("/v1/ranking").json()
    best = sorted(
        (one for one in peers(http) if one["gflop"]),
        key=lambda one: (-one["gflop"], one["registered_index"]),
    )
    assert answer["rows"] == [
        {"rank": rank, "key": one["key"], "name": one["name"], "gflop": one["gflop"]}
        for rank, one in enumerate(best, 1)
    ]
    assert answer["ranked"] == len(best) == 2
    assert answer["as_of"] == http.get("/v1/runs").json()["as_of"]


def test_the_ranking_is_read_page_by_page_and_around_a_key(http: httpx.Client) -> None:
    whole = http.get("/v1/ranking").json()["rows"]
    paged = [
        row
        for after in range(4)
        for row in http.get("/v1/ranking", params={"after": after, "limit": 1}).json()["rows"]
    ]
    assert paged == whole
    middle = {"around": whole[1]["key"], "n": 1}
    assert http.get("/v1/ranking", params=middle).json()["rows"] == whole
    alone = {"around": whole[1]["key"], "n": 0}
    assert http.get("/v1/ranking", params=alone).json()["rows"] == whole[1:2]
    without = next(one["key"] for one in peers(http) if not one["gflop"])
    last = http.get("/v1/ranking", params={"around": without, "n": 2}).json()
    assert (last["rows"], last["ranked"]) == (whole[-2:], 2)


def test_a_keys_rounds_add_up_to_its_points(http: httpx.Client) -> None:
    for one in peers(http):
        rounds = http.get(f"/v1/peers/{one['key']}/rounds").json()
        paid = sum(row["gflop"] for row in rounds["rounds"])
        assert paid == one["gflop"] + one["forfeited"]
        assert rounds["next"] is None
        ends = [row["closed_index"] for row in rounds["rounds"]]
        assert ends == sorted(ends, reverse=True)
        for row in rounds["rounds"]:
            told = http.get(f"/v1/runs/{row['run']}/rounds/{row['round']}").json()
            names = ("outcome", "roster_index", "closed_index")
            assert [told[name] for name in names] == [row[name] for name in names]
    outcomes = {row["outcome"] for row in rounds_of_the_best(http)}
    assert outcomes == {"closed", "void"}


def rounds_of_the_best(http: httpx.Client) -> list[dict[str, Any]]:
    key = http.get("/v1/ranking").json()["rows"][0]["key"]
    found: list[dict[str, Any]] = http.get(f"/v1/peers/{key}/rounds").json()["rounds"]
    return found


def test_rounds_are_listed_page_by_page(http: httpx.Client) -> None:
    key = http.get("/v1/ranking").json()["rows"][0]["key"]
    paged, before = [], "9007199254740991"
    while before:
        page = http.get(f"/v1/peers/{key}/rounds", params={"limit": 1, "before": before}).json()
        paged += page["rounds"]
        before = page["next"]
    assert paged == rounds_of_the_best(http)
    assert len(paged) == 3


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("/v1/runs/zz", "run"),
        ("/v1/peers?after=zz", "after"),
        ("/v1/ranking?behind=zz", "behind"),
        ("/v1/competitions/zz", "competition"),
    ],
)
def test_an_id_that_is_none_is_named_with_its_form(
    http: httpx.Client, path: str, name: str
) -> None:
    said = f"{name}: 'zz' is not an id: an id has 43 letters, digits, - and _"
    assert http.get(path).json()["detail"] == said


@pytest.mark.parametrize(
    ("path", "status", "code"),
    [
        (f"/v1/peers/{NOBODY}/rounds", 404, "not-found"),
        ("/v1/peers/short/rounds", 400, "malformed"),
        (f"/v1/ranking?around={NOBODY}", 404, "not-found"),
        ("/v1/ranking?around=short", 400, "malformed"),
        (f"/v1/ranking?around={NOBODY}&after=3", 400, "malformed"),
        ("/v1/ranking?after=-1", 400, "malformed"),
        ("/v1/ranking?limit=0", 400, "malformed"),
        (f"/v1/ranking?around={NOBODY}&n=101", 400, "malformed"),
    ],
)
def test_bad_questions_are_problems(http: httpx.Client, path: str, status: int, code: str) -> None:
    answer = http.get(path)
    assert (answer.status_code, answer.json()["type"]) == (status, f"urn:tequio:problem:{code}")
