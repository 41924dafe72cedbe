"""Statements over HTTP: throughput in batches, and the time to a single receipt."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

import httpx
import trio
from tests.support.signing_swarm import manifest

from ledgers.program import ORGANISER
from tequio_client.ledger.api import LedgerApi
from tequio_shared.ids import ZERO_DIGEST, Digest, sha256, to_text
from tequio_shared.keys import Signer
from tequio_shared.log.tiles import encode_bundle
from tequio_shared.network.run import first_head
from tequio_shared.statements.network import KeyRegister, MemberLeave, MemberReady
from tequio_shared.statements.runs import RunOpen
from tequio_shared.statements.statement import make, sign

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ledgers.program import LedgerProgram
    from tequio_shared.ids import NetworkId, RunId
    from tequio_shared.round.manifest import Manifest
    from tequio_shared.statements.statement import Body


BATCH = 64
LIFE_MS = 600_000
STATEMENTS_EACH = 10


def newcomers(net: NetworkId, name: str, count: int) -> list[bytes]:
    """Sign registrations, the statements that take most memory in the ledger."""
    seeds = [sha256(name.encode(), at.to_bytes(4, "big")) for at in range(count)]
    return [PostingAuthor(Signer(seed)).sign_next(net, KeyRegister(nonce=0)) for seed in seeds]


def bundles(leaves: Sequence[bytes], size: int = BATCH) -> list[bytes]:
    """Split leaves into requests."""
    return [encode_bundle(leaves[at : at + size]) for at in range(0, len(leaves), size)]


def throughput(program: LedgerProgram, statements: int, connections: int) -> dict[str, float]:
    """Post presigned batches from several connections at once: new keys, then known ones.

    A known key's are those of a run's members, who come and go; the run waits for more of them.
    """
    each = statements // connections
    report = {}
    chains = [bundles(newcomers(program.net, f"batch {n}", each)) for n in range(connections)]
    report["registrations_per_s"] = _rate(program, chains, each)["statements_per_s"]
    run = _open_run(program)
    crews = [MemberGroup.of(program.net, n, each // STATEMENTS_EACH) for n in range(connections)]
    asyncio.run(post_all(program.url, [bundles(crew.register()) for crew in crews]))
    chains = [bundles(crew.come_and_go(run)) for crew in crews]
    return report | _rate(program, chains, each // STATEMENTS_EACH * STATEMENTS_EACH)


def _rate(program: LedgerProgram, chains: list[list[bytes]], each: int) -> dict[str, float]:
    before_s = program.cpu_s()
    seconds, latencies = asyncio.run(post_all(program.url, chains))
    return {
        "cpu_us_per_statement": round(1e6 * (program.cpu_s() - before_s) / (each * len(chains))),
        "statements_per_s": round(each * len(chains) / seconds),
        "batch_p50_ms": _at(latencies, 0.5),
        "batch_p99_ms": _at(latencies, 0.99),
    }


def receipts(program: LedgerProgram, count: int) -> dict[str, float]:
    """Post single statements one after the other; an answer means durable and signed."""
    chain = bundles(newcomers(program.net, "single", count), 1)
    _, latencies = asyncio.run(post_all(program.url, [chain]))
    return {"receipt_p50_ms": _at(latencies, 0.5), "receipt_p99_ms": _at(latencies, 0.99)}


@dataclass(slots=True)
class MemberGroup:
    """Members of one run that share one connection."""

    net: NetworkId
    authors: list[PostingAuthor]

    @classmethod
    def of(cls, net: NetworkId, number: int, members: int) -> MemberGroup:
        seeds = [sha256(b"member %d of %d" % (at, number)) for at in range(members)]
        return cls(net=net, authors=[PostingAuthor(Signer(seed)) for seed in seeds])

    def register(self) -> list[bytes]:
        """Sign one registration per member."""
        return [one.sign_next(self.net, KeyRegister(nonce=0)) for one in self.authors]

    def come_and_go(self, run: RunId) -> list[bytes]:
        """Sign `STATEMENTS_EACH` statements per member: ready, then leave."""
        ready = MemberReady(head=to_text(sha256(b"head")), roles=("trainer", "witness"))
        bodies = (ready, MemberLeave(reason=1)) * (STATEMENTS_EACH // 2)
        return [one.sign_next(self.net, body, run) for body in bodies for one in self.authors]


@dataclass(slots=True)
class PostingAuthor:
    """A key and the end of its chain."""

    signer: Signer
    seq: int = 0
    last: Digest = ZERO_DIGEST

    def sign_next(self, net: NetworkId, body: Body, run: RunId | None = None) -> bytes:
        now_ms = time.time_ns() // 1_000_000
        statement = make(
            body=body,
            author=self.signer.key,
            seq=self.seq + 1,
            ts=now_ms,
            exp=now_ms + LIFE_MS,
            prev=self.last,
            run=run,
        )
        self.seq, self.last = statement.seq, statement.digest
        return sign(net, statement, self.signer).leaf()


def _open_run(program: LedgerProgram) -> RunId:
    """Open a run that needs more members than there are, so that it never starts."""
    return open_run_of(program, manifest(min_members=4_000, most_members=4_000))


def open_run_of(program: LedgerProgram, rules: Manifest) -> RunId:
    """Open the run of a manifest, on a new ledger: it is the organiser's first statement."""
    trio.run(_put_blob, program.url, rules.encode())
    body = RunOpen(manifest=to_text(rules.run_id), head=to_text(first_head(rules).hash))
    opening = PostingAuthor(ORGANISER).sign_next(program.net, body, rules.run_id)
    asyncio.run(post_all(program.url, [bundles([opening])]))
    return rules.run_id


async def _put_blob(url: str, content: bytes) -> None:
    async with LedgerApi(url) as api:
        await api.put_blob(content, ORGANISER, time.time_ns() // 1_000_000)


async def post_all(url: str, chains: list[list[bytes]]) -> tuple[float, list[float]]:
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
