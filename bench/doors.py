"""Waiting times of honest peers while a ledger's doors are attacked, with memory and descriptors.

Eight honest peers send ten requests a second each, statements and reads, from networks of their
own; first alone, then during each attack:

- silent: 1,200 connections that send nothing, opened again as the ledger closes them;
- slow bodies: as many connections whose request promises a body that never comes;
- bombs: a drawn evaluator uploads and names documents that are made to be expensive to parse;
- tiny blobs: registered keys upload blobs of a few bytes as fast as they are answered.

The ledger may open 1,024 descriptors. All programs share the cores, the attackers included. The
goal: p99 below 500 ms under each attack, and memory and descriptors back to where they were.

    python bench/doors.py [--minutes 10] [--attack NAME]... [--json FILE]
"""

from __future__ import annotations

import asyncio
import json
import os
import resource
import tempfile
import threading
import time
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

import click
import httpx
from loops import repository  # noqa: F401 - finds the tests
from loops.machine import machine
from tests.support.attackers_exhaustion import (
    HEAD_ONLY,
    ProcessUse,
    connections,
    put_tiny_blobs,
    wait_until_released,
)
from tests.support.authors import Author
from tests.support.evaluator_bombs import commit_bomb, post_result
from tests.support.ledgers import served
from tests.support.request_loops import CALM_S, RequestConnection, SenderReplies

from tequio_shared.log.tiles import encode_bundle

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.support.ledgers import Served

OPEN_FILES = 1_024
CONNECTIONS = 1_200
NETWORKS = 24
PEOPLE = 8
READS = ("/v1/network", "/log/checkpoint", "/log/tile/entries/000.p/1", "/v1/peers", "/v1/runs")
OPTIONS = ("--trusted-proxy", "127.0.0.1/32", "--peer-quota-mb", "1")
RELEASE_S = 75.0
GOAL_MS = 500
_MIB = 1 << 20


@click.command()
@click.option("--minutes", type=float, default=10.0, help="Duration of each attack.")
@click.option("--attack", "names", multiple=True, help="Only this attack. Repeatable.")
@click.option(
    "--json", "json_file", type=click.Path(path_type=Path), help="Write the figures to this file."
)
def main(minutes: float, names: tuple[str, ...], json_file: Path | None) -> None:
    """Measure each attack on a fresh ledger, and print a table."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    load_before = os.getloadavg()[0]
    rows = {
        name: measure(attack, 60 * minutes if name != "none" else min(60 * minutes, 30))
        for name, attack in ATTACKS.items()
        if not names or name in names
    }
    print(table(rows))
    report = {"minutes": minutes, "attacks": rows, **machine(), "load_before": load_before}
    print(json.dumps(report, indent=2))
    if json_file:
        json_file.write_text(json.dumps(report) + "\n")


def measure(attack: Attack, seconds: float) -> dict[str, float]:
    """Let honest peers ask a ledger for so long while it is attacked."""
    program = under_limit(OPEN_FILES)
    with (
        tempfile.TemporaryDirectory() as folder,
        served(Path(folder), *OPTIONS, program=program) as ledger,
        attack(ledger) as begin,
    ):
        asyncio.run(ask_all(ledger, "before", 5))  # loads what is loaded once
        before = ProcessUse.of(ledger.process.pid)
        is_over = threading.Event()
        attacker = threading.Thread(target=begin, args=(is_over,))
        attacker.start()
        try:
            replies, most = asyncio.run(ask_all(ledger, "during", seconds))
        finally:
            is_over.set()
            attacker.join()
        after = wait_until_released(ledger.process.pid, before.descriptors + 8, RELEASE_S)
        return summary(replies) | use_of(before, most, after)


async def ask_all(
    ledger: Served, name: str, seconds: float
) -> tuple[list[SenderReplies], ProcessUse]:
    """Ask calmly as several peers; returns the answers and the largest use of resources."""
    replies = [SenderReplies() for _ in range(PEOPLE)]
    end = time.monotonic() + seconds
    most = ProcessUse.of(ledger.process.pid)
    async with asyncio.TaskGroup() as tasks:
        for number, one in enumerate(replies):
            tasks.create_task(ask_one(ledger, f"{name} {number}", number, one, end))
        while time.monotonic() < end:
            now = await asyncio.to_thread(ProcessUse.of, ledger.process.pid)
            most = ProcessUse(
                max(most.resident_bytes, now.resident_bytes), max(most.descriptors, now.descriptors)
            )
            await asyncio.sleep(0.5)
    return replies, most


async def ask_one(
    ledger: Served, name: str, number: int, replies: SenderReplies, end: float
) -> None:
    """Register keys and read in turn until the end."""
    line, asked = RequestConnection(ledger.url, f"198.51.{number}.7"), 0
    while time.monotonic() < end:
        if asked % 10 == 0:
            author = Author(f"{name} {asked}", ledger.net)
            entry = author.register(time.time_ns() // 1_000_000)
            await line.ask(("POST", "/v1/statements", encode_bundle([entry.leaf()])), replies)
        else:
            await line.ask(("GET", READS[asked % len(READS)], b""), replies)
        asked += 1
        await asyncio.sleep(CALM_S)
    await line.close()


Begin = "Callable[[threading.Event], None]"
Attack = "Callable[[Served], contextmanager[Begin]]"


@contextmanager
def none(_ledger: Served) -> Iterator[Callable[[threading.Event], None]]:
    """No attack."""
    yield lambda _is_over: None


@contextmanager
def silent(ledger: Served, begin: bytes = b"") -> Iterator[Callable[[threading.Event], None]]:
    """Silent connections."""

    def hold(is_over: threading.Event) -> None:
        while not is_over.is_set():
            with connections(ledger, CONNECTIONS, NETWORKS, begin, first=16):
                is_over.wait(5)

    yield hold


def slow_bodies(ledger: Served) -> contextmanager[Callable[[threading.Event], None]]:
    """Requests whose body never comes."""
    return silent(ledger, HEAD_ONLY)


@contextmanager
def bombs(ledger: Served) -> Iterator[Callable[[threading.Event], None]]:
    """Documents of a drawn evaluator."""
    with httpx.Client(base_url=ledger.url, timeout=120) as http:
        bomb = commit_bomb(ledger, http)

        def post_all(is_over: threading.Event) -> None:
            while not is_over.is_set():
                with suppress(httpx.HTTPError):
                    bomb.upload(http)
                    post_result(http, bomb)

        yield post_all


@contextmanager
def tiny_blobs(ledger: Served) -> Iterator[Callable[[threading.Event], None]]:
    """Tiny blobs of one key after the other."""

    def put_all(is_over: threading.Event) -> None:
        number = 0
        while not is_over.is_set():
            author, number = Author(f"hoarder {number}", ledger.net), number + 1
            entry = author.register(time.time_ns() // 1_000_000)
            with suppress(httpx.HTTPError):
                httpx.post(f"{ledger.url}/v1/statements", content=encode_bundle([entry.leaf()]))
                put_tiny_blobs(ledger, author.signer, 1_000, is_over)

    yield put_all
