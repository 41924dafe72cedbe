"""Loops of requests far beyond the limits, and honest peers who are served meanwhile.

Layer: net (limits). How fast everybody was is measured in bench/floods.py; here it only has to be
finite.
"""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING

import httpx
import pytest

from tequio_ledger.web.limits import BURST_S
from tequio_shared.log.tiles import encode_bundle
from tests.support.attack_table import attack
from tests.support.authors import Author, newcomers
from tests.support.ledgers import served
from tests.support.request_loops import Outcome, Request, meet

if TYPE_CHECKING:
    from collections.abc import Iterator


RATE = 5
TIMES = 8
"""How many times the limit each flood has to come to."""
PEOPLE = 6
ASKS = 30
PATIENCE_S = 10.0
OPTIONS = (
    *("--trusted-proxy", "127.0.0.0/8", "--request-rate", str(RATE)),
    *("--address-rate", str(RATE), "--address-streams", "4"),
)


@pytest.fixture(scope="module")
def outcome(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Outcome]:
    with served(tmp_path_factory.mktemp("ledger"), *OPTIONS) as program:
        now_ms = time.time_ns() // 1_000_000
        garbage = [one.leaf()[:-1] + b"!" for one in newcomers("flood", program.net, 16, now_ms)]
        people = {
            f"198.51.{number}.7": asks(Author(f"honest {number}", program.net), now_ms)
            for number in range(PEOPLE)
        }
        floods = {
            "192.0.2.1": lambda _: ("GET", "/v1/peers?limit=250", b""),
            "192.0.3.1": lambda n: ("POST", "/v1/statements", encode_bundle([garbage[n % 16]])),
            "192.0.4.1": lambda n: ("GET", f"/v1/blobs/{n:064x}", b""),
            "192.0.5.1": lambda _: ("GET", "/v1/nowhere", b""),
        }
        yield asyncio.run(meet(program.url, people, floods))
        assert httpx.get(f"{program.url}/healthz").json() == {"status": "ok"}


def asks(author: Author, now_ms: int) -> list[Request]:
    """A day of an honest peer, in small."""
    registration = encode_bundle([author.register(now_ms).leaf()])
    reads = ["/v1/network", "/log/checkpoint", "/log/tile/0/000.p/1", "/v1/ranking", "/v1/runs"]
    rest: list[Request] = [("GET", reads[n % len(reads)], b"") for n in range(ASKS - 1)]
    return [("POST", "/v1/statements", registration), *rest]


@attack("L7", layer="net", ends="refused as `rate-limited`; every honest request is served")
def test_every_request_of_an_honest_peer_is_served(outcome: Outcome) -> None:
    assert len(outcome.honest) == PEOPLE
    for told in outcome.honest:
        assert (told.served, told.asked) == (ASKS, ASKS), told.statuses


def test_no_honest_peer_waits_without_end(outcome: Outcome) -> None:
    assert max(wait for told in outcome.honest for wait in told.waits_s) < PATIENCE_S


def test_a_flood_gets_its_share_and_no_more(outcome: Outcome) -> None:
    share = RATE * (BURST_S + outcome.seconds)
    for network, told in outcome.floods.items():
        answered = told.statuses.total() - told.statuses[429]
        assert answered <= share + RATE, network
        assert told.statuses[429] > 0, network


def test_every_flood_came_to_many_times_the_limit(outcome: Outcome) -> None:
    """Or nothing above was shown."""
    for network, told in outcome.floods.items():
        assert told.asked > TIMES * RATE * outcome.seconds, network
