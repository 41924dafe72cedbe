"""Statements per second through a real ledger over HTTP, signatures made beforehand.

Starts `tequio-ledger serve` in a fresh folder, lets AUTHORS peers post batches of 64 statements
from several connections, and times from the first request to the last answer. An answer means
that entry and signed checkpoint are on the disk. Limit to beat: 1,000 statements/s on 2 cores,
150 MB resident.

    python bench/ledger.py [--statements N] [--connections N] [--json FILE]
"""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import click
import httpx
from loops.machine import machine

from tequio_shared.ids import ZERO_DIGEST, NetworkId, from_text, sha256
from tequio_shared.keys import Signer
from tequio_shared.statement import make, sign
from tequio_shared.statements.members import KeyRegister
from tequio_shared.tlog import bundle

BATCH = 64
UNLIMITED = ("--key-rate", "0", "--address-rate", "0", "--request-rate", "0", "--work-bits", "0")
LIFE_MS = 600_000


@click.command()
@click.option("--statements", default=20_000, show_default=True)
@click.option("--connections", default=8, show_default=True)
@click.option("--json", "json_file", type=click.Path(path_type=Path))
def main(statements: int, connections: int, json_file: Path | None) -> None:
    """Measure and print."""
    load_before = os.getloadavg()[0]
    with tempfile.TemporaryDirectory() as folder:
        process, url, net = start(Path(folder))
        try:
            batches = make_batches(net, statements, connections)
            latencies, seconds = asyncio.run(post_all(url, batches))
            resident_mb = resident_bytes(process.pid) / 1e6
        finally:
            process.terminate()
            process.wait(10)
    count = BATCH * sum(len(chain) for chain in batches)
    report = {
        "statements": count,
        "batch": BATCH,
        "connections": connections,
        "seconds": round(seconds, 3),
        "statements_per_s": round(count / seconds),
        "batch_p50_ms": round(1e3 * latencies[len(latencies) // 2], 1),
        "batch_p99_ms": round(1e3 * latencies[int(len(latencies) * 0.99)], 1),
        "resident_mb": round(resident_mb, 1),
        **machine(),
        "load_before": load_before,
    }
    print(json.dumps(report, indent=2))
    if json_file:
        json_file.write_text(json.dumps(report) + "\n")


def start(folder: Path) -> tuple[subprocess.Popen[str], str, NetworkId]:
    """Start the service and wait for its first line."""
    command = [sys.executable, "-m", "tequio_ledger", "serve", "--dir", str(folder)]
    process = subprocess.Popen(
        [*command, "--port", "0", "--log-json", *UNLIMITED],
        stderr=subprocess.PIPE,
        text=True,
    )
    first_line = process.stderr.readline() if process.stderr else ""
    fields: dict[str, Any] = json.loads(first_line)
    return process, fields["url"], NetworkId(from_text(fields["network_id"]))


def make_batches(net: NetworkId, statements: int, authors: int) -> list[list[bytes]]:
    """Sign registrations: of all statements those that leave the ledger the most to remember."""
    per_connection = statements // authors // BATCH
    return [newcomers(net, author, per_connection) for author in range(authors)]


def newcomers(net: NetworkId, author: int, batches: int) -> list[bytes]:
    """Sign the registrations of new keys, cut into bundles."""
    now_ms = time.time_ns() // 1_000_000
    leaves = [registered(net, author, at, now_ms) for at in range(batches * BATCH)]
    return [bundle(leaves[at : at + BATCH]) for at in range(0, len(leaves), BATCH)]


def registered(net: NetworkId, author: int, number: int, now_ms: int) -> bytes:
    """Sign the registration of one key."""
    signer = Signer(sha256(b"bench", author.to_bytes(4, "big"), number.to_bytes(4, "big")))
    statement = make(
        body=KeyRegister(nonce=0),
        author=signer.key,
        seq=1,
        ts=now_ms,
        exp=now_ms + LIFE_MS,
        prev=ZERO_DIGEST,
    )
    return sign(net, statement, signer).leaf()


async def post_all(url: str, chains: list[list[bytes]]) -> tuple[list[float], float]:
    """Post every chain from its own connection; give sorted latencies and the whole time."""
    latencies: list[float] = []
    start_s = time.perf_counter()
    async with asyncio.TaskGroup() as tasks:
        for batches in chains:
            tasks.create_task(post_chain(url, batches, latencies))
    return sorted(latencies), time.perf_counter() - start_s


async def post_chain(url: str, batches: list[bytes], latencies: list[float]) -> None:
    """Post one author's batches in order; every statement must be logged."""
    async with httpx.AsyncClient(base_url=url, timeout=60) as client:
        for batch in batches:
            begun_s = time.perf_counter()
            answer = await client.post("/v1/statements", content=batch)
            latencies.append(time.perf_counter() - begun_s)
            statuses = {item["status"] for item in answer.raise_for_status().json()["items"]}
            if statuses != {"logged"}:
                raise SystemExit(f"not logged: {answer.text[:500]}")


def resident_bytes(pid: int) -> int:
    """Read the service's resident memory (Linux)."""
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


if __name__ == "__main__":
    main()
