"""Waiting times of honest peers while a ledger with its usual limits is flooded with requests.

Eight honest peers send ten requests a second each, first alone, then while four networks send
requests as fast as they are answered: long lists, statements with invalid signatures, missing blobs
and an unknown path. The limits are low, so that the floods exceed them 20 times on any machine. All
programs share the cores, including the senders.

    python bench/floods.py [--json FILE]
"""

from __future__ import annotations

import asyncio
import json
import os
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

import click
from loops import repository  # noqa: F401 - finds the tests
from loops.machine import machine
from tests.support.authors import Author, newcomers
from tests.support.ledgers import PROGRAM, served
from tests.support.request_loops import meet

from tequio_shared.log.tiles import encode_bundle

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.support.ledgers import Served
    from tests.support.request_loops import Outcome, Request


RATE = 10
PEOPLE = 8
ASKS = 100
LIMITS = (
    *("--trusted-proxy", "127.0.0.0/8", "--request-rate", str(RATE)),
    *("--address-rate", str(RATE)),
)
READS = ("/v1/network", "/log/checkpoint", "/log/tile/0/000.p/1", "/v1/ranking", "/v1/runs")


@click.command()
@click.option(
    "--json", "json_file", type=click.Path(path_type=Path), help="Write the figures to this file."
)
def main(json_file: Path | None) -> None:
    """Measure the waiting times of honest peers during floods, and print them as JSON."""
    load_before = os.getloadavg()[0]
    with (
        tempfile.TemporaryDirectory() as folder,
        served(Path(folder), *LIMITS, program=PROGRAM) as program,
    ):
        calm = asyncio.run(meet(program.url, honest_peers(program, "calm", 1), {}))
        flooded = asyncio.run(
            meet(program.url, honest_peers(program, "flooded", 2), floods(program))
        )
    report = {
        "request_rate_limit": RATE,
        "times_the_limit": {
            network: round(told.asked / flooded.seconds / RATE, 1)
            for network, told in flooded.floods.items()
        },
        "refused": sum(told.statuses[429] for told in flooded.floods.values()),
        "calm": summary(calm),
        "flooded": summary(flooded),
        **machine(),
        "load_before": load_before,
    }
    print(json.dumps(report, indent=2))
    if json_file:
        json_file.write_text(json.dumps(report) + "\n")


def summary(outcome: Outcome) -> dict[str, float]:
    """The share of honest requests that was served, and their waiting times."""
    waits = sorted(wait for told in outcome.honest for wait in told.waits_s)
    asked = sum(told.asked for told in outcome.honest)
    return {
        "served": sum(told.served for told in outcome.honest) / asked,
        "p50_ms": round(1000 * waits[len(waits) // 2], 2),
        "p99_ms": round(1000 * waits[int(len(waits) * 0.99)], 2),
        "most_ms": round(1000 * waits[-1], 2),
    }


def honest_peers(program: Served, name: str, net: int) -> dict[str, list[Request]]:
    """Honest peers by network: each registers, then reads."""
    now_ms = time.time_ns() // 1_000_000
    return {
        f"198.{net}.{number}.7": [
            ("POST", "/v1/statements", registration(program, f"{name} {number}", now_ms)),
            *(("GET", READS[at % len(READS)], b"") for at in range(ASKS - 1)),
        ]
        for number in range(PEOPLE)
    }


def registration(program: Served, name: str, now_ms: int) -> bytes:
    """A body that registers a new key."""
    return encode_bundle([Author(name, program.net).register(now_ms).leaf()])


def floods(program: Served) -> dict[str, Callable[[int], Request]]:
    """Flooding loops by network."""
    now_ms = time.time_ns() // 1_000_000
    broken = [one.leaf()[:-1] + b"!" for one in newcomers("flood", program.net, 16, now_ms)]
    return {
        "192.0.2.1": lambda _: ("GET", "/v1/peers?limit=250", b""),
        "192.0.3.1": lambda n: ("POST", "/v1/statements", encode_bundle([broken[n % 16]])),
        "192.0.4.1": lambda n: ("GET", f"/v1/blobs/{n:064x}", b""),
        "192.0.5.1": lambda _: ("GET", "/v1/nowhere", b""),
    }


if __name__ == "__main__":
    main()
