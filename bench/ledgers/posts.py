"""Statements over HTTP: how many a second in batches, and how long one waits for its receipt."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING

import httpx

from tequio_shared.ids import ZERO_DIGEST, NetworkId, sha256
from tequio_shared.keys import Signer
from tequio_shared.statement import make, sign
from tequio_shared.statements.members import KeyRegister
from tequio_shared.tlog import bundle

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ledgers.program import Program

BATCH = 64
LIFE_MS = 600_000


def newcomers(net: NetworkId, name: str, count: int) -> list[bytes]:
    """Sign registrations: of all statements those that leave the ledger the most to remember."""
    now_ms = time.time_ns() // 1_000_000
    return [
        _registered(net, sha256(name.encode(), at.to_bytes(4, "big")), now_ms)
        for at in range(count)
    ]


def bundles(leaves: Sequence[bytes], size: int = BATCH) -> list[bytes]:
    """Cut leaves into requests."""
    return [bundle(leaves[at : at + size]) for at in range(0, len(leaves), size)]


def throughput(program: Program, statements: int, connections: int) -> dict[str, float]:
    """Post batches from several connections at once; signed beforehand."""
    each = statements // connections
    chains = [bundles(newcomers(program.net, f"batch {n}", each)) for n in range(connections)]
    before_s = program.cpu_s()
    seconds, latencies = asyncio.run(_post_all(program.url, chains))
    return {
        "cpu_us_per_statement": round(1e6 * (program.cpu_s() - before_s) / (each * connections)),
        "statements_per_s": round(each * connections / seconds),
        "batch_p50_ms": _at(latencies, 0.5),
        "batch_p99_ms": _at(latencies, 0.99),
    }


def receipts(program: Program, count: int) -> dict[str, float]:
    """Post single statements, one after the other: until its answer one is durable and signed."""
    chain = bundles(newcomers(program.net, "single", count), 1)
    _, latencies = asyncio.run(_post_all(program.url, [chain]))
    return {"receipt_p50_ms": _at(latencies, 0.5), "receipt_p99_ms": _at(latencies, 0.99)}


def _registered(net: NetworkId, seed: bytes, now_ms: int) -> bytes:
    signer = Signer(seed)
    statement = make(
        body=KeyRegister(nonce=0),
        author=signer.key,
        seq=1,
        ts=now_ms,
        exp=now_ms + LIFE_MS,
        prev=ZERO_DIGEST,
    )
    return sign(net, statement, signer).leaf()


async def _post_all(url: str, chains: list[list[bytes]]) -> tuple[float, list[float]]:
    latencies: list[float] = []
    begun_s = time.perf_counter()
    async with asyncio.TaskGroup() as tasks:
        for requests in chains:
            tasks.create_task(_post_chain(url, requests, latencies))
    return time.perf_counter() - begun_s, sorted(latencies)


async def _post_chain(url: str, requests: list[bytes], latencies: list[float]) -> None:
    async with httpx.AsyncClient(base_url=url, timeout=60) as client:
        for request in requests:
            begun_s = time.perf_counter()
            answer = await client.post("/v1/statements", content=request)
            latencies.append(time.perf_counter() - begun_s)
            statuses = {item["status"] for item in answer.raise_for_status().json()["items"]}
            if statuses != {"logged"}:
                raise SystemExit(f"not logged: {answer.text[:500]}")


def _at(latencies: list[float], share: float) -> float:
    return round(1e3 * latencies[int((len(latencies) - 1) * share)], 1)
