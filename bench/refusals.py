"""The cost of refusing each kind of garbage, next to an honest message, in microseconds.

Three checks: a statement at the ledger (before it is queued), a commitment in a peer's gossip, an
address record for a peer's address book. Garbage that costs as much as an honest message was
recognised by its signature alone; everything else should cost far less. No network, no disk.

    python bench/refusals.py [--json FILE]
"""

from __future__ import annotations

import json
import logging
import os
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import click
import structlog
from loops.machine import machine

from tequio_client.worker.rounds.gossip import commitment_filter
from tequio_client.worker.swarm.membership import AddressRecords
from tequio_shared.addresses import AddressRecord, sign_addresses
from tequio_shared.errors import PeerError, RefusedError
from tequio_shared.head.contribution import ContributionHeader
from tequio_shared.ids import (
    ZERO_DIGEST,
    Digest,
    HeadHash,
    NetworkId,
    RunId,
    peer_id_text,
    sha256,
    to_text,
)
from tequio_shared.keys import Signer
from tequio_shared.network.genesis import Genesis
from tequio_shared.served.admission import screen
from tequio_shared.served.state import State
from tequio_shared.statements.network import KeyRegister, MemberLeave, find_nonce
from tequio_shared.statements.runs import WorkCommit
from tequio_shared.statements.statement import Entry, make, sign

if TYPE_CHECKING:
    from collections.abc import Callable

    from tequio_shared.statements.statement import Body


NOW_MS = 1_800_000_000_000
LIFE_MS = 60_000
WORK_BITS = 8
ROUND = 7
RUN = RunId(sha256(b"bench run"))
ORGANISER, TRAINER, STRANGER = (Signer(sha256(b"bench", bytes([n]))) for n in range(3))
GENESIS = Genesis(
    name="bench",
    origin="bench.example/log",
    log_key="unused",
    coordinator=to_text(ORGANISER.key),
    organisers=(to_text(ORGANISER.key),),
    threshold=1,
    rules=to_text(ZERO_DIGEST),
    work_bits=WORK_BITS,
)
NET = GENESIS.network_id
LOOPS_S = 0.3


@click.command()
@click.option(
    "--json", "json_file", type=click.Path(path_type=Path), help="Write the figures to this file."
)
def main(json_file: Path | None) -> None:
    """Measure the cost of refusing garbage, in microseconds, and print it as JSON."""
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.WARNING))
    load_before = os.getloadavg()[0]
    checks = {"statement": statements(), "gossip": gossip(), "address record": records()}
    costs = {
        check: {kind: round(cost_us(call), 1) for kind, call in kinds.items()}
        for check, kinds in checks.items()
    }
    report = {"microseconds": costs, **machine(), "load_before": load_before}
    print(json.dumps(report, indent=2))
    if json_file:
        json_file.write_text(json.dumps(report) + "\n")


def cost_us(call: Callable[[], object]) -> float:
    """The lowest cost of several rounds of calls."""
    best = float("inf")
    for _ in range(3):
        count, begun_s = 0, time.perf_counter()
        while (spent_s := time.perf_counter() - begun_s) < LOOPS_S / 3:
            for _ in range(10):
                call()
            count += 10
        best = min(best, 1e6 * spent_s / count)
    return best


def _no_document(name: Digest) -> bytes:
    raise KeyError(name)


def statements() -> dict[str, Callable[[], object]]:
    """Leaves at the ledger: parsed, screened, signatures verified."""
    state = State(GENESIS, _no_document)
    honest = signed(ORGANISER, MemberLeave(reason=1), run=RUN).leaf()
    nonce = find_nonce(NET, STRANGER.key, WORK_BITS, 0, 1 << 30) or 0
    kinds = {
        "honest": honest,
        "random bytes": b"\x01\x01" + bytes(len(honest) - 2),
        "deep JSON": honest[:98] + b"[" * 16_000,
        "unknown type": honest.replace(b"member.leave", b"member.greet"),
        "expired": signed(ORGANISER, MemberLeave(reason=1), run=RUN, ts=1).leaf(),
        "unknown key": signed(STRANGER, MemberLeave(reason=1), run=RUN).leaf(),
        "registration without work": signed(STRANGER, KeyRegister(nonce=nonce + 1)).leaf(),
        "bad signature": honest[:34] + bytes(64) + honest[98:],
    }

    def judge(leaf: bytes) -> None:
        with suppress(PeerError, RefusedError):
            entry = Entry.parse(leaf)
            screen(entry, state, NOW_MS)
            entry.verify(NET)

    return {kind: lambda leaf=leaf: judge(leaf) for kind, leaf in kinds.items()}  # type: ignore[misc]


def gossip() -> dict[str, Callable[[], object]]:
    """Messages at a peer, from screen to signatures; the honest one is a first message."""
    honest = commitment(TRAINER).leaf()
    kinds = {
        "honest": (TRAINER, honest),
        "too long": (TRAINER, honest.ljust(100_000)),
        "from outside the round": (STRANGER, commitment(STRANGER).leaf()),
        "in another's name": (STRANGER, honest),
        "does not parse": (TRAINER, honest[:-1]),
        "of another round": (TRAINER, commitment(TRAINER, ROUND + 1).leaf()),
        "bad signature": (TRAINER, honest[:34] + bytes(64) + honest[98:]),
    }

    def judge(sender: Signer, leaf: bytes) -> None:
        judges = commitment_filter(NET, RUN, {TRAINER.key: ROUND}.get, lambda *_: None)
        with suppress(PeerError):
            if judges.screen(sender.key, leaf):
                judges.check(sender.key, leaf)

    return {kind: lambda pair=pair: judge(*pair) for kind, pair in kinds.items()}  # type: ignore[misc]


def records() -> dict[str, Callable[[], object]]:
    """Address records at a peer, as received bytes."""
    addr = f"/ip4/192.0.2.1/tcp/4001/p2p/{peer_id_text(TRAINER.key)}"
    honest = sign_addresses(TRAINER, NET, [addr], NOW_MS)
    forged = AddressRecord(author=honest.author, addrs=(addr,), ts=NOW_MS, signature=bytes(64))
    kinds = {
        "honest": honest.encode(),
        "random bytes": bytes(300),
        "of another network": sign_addresses(
            TRAINER, NetworkId(bytes(32)), [addr], NOW_MS
        ).encode(),
        "too old": sign_addresses(TRAINER, NET, [addr], 1).encode(),
        "forged": forged.encode(),
    }

    def judge(raw: bytes) -> None:
        with suppress(PeerError):
            AddressRecords(NET, lambda: NOW_MS).add(AddressRecord.parse(raw), "here")

    return {kind: lambda raw=raw: judge(raw) for kind, raw in kinds.items()}  # type: ignore[misc]


def signed(
    author: Signer,
    body: Body,
    *,
    run: RunId | None = None,
    number: int | None = None,
    ts: int = NOW_MS,
) -> Entry:
    """Sign the first statement of a key."""
    statement = make(
        body=body,
        author=author.key,
        seq=1,
        ts=ts,
        exp=ts + LIFE_MS,
        prev=ZERO_DIGEST,
        run=run,
        round=number,
    )
    return sign(NET, statement, author)


def commitment(trainer: Signer, number: int = ROUND) -> Entry:
    """Sign a commitment; gossip checks only the author in the header."""
    header = ContributionHeader(
        algorithm=1,
        bits=2,
        k=64,
        inner_steps=30,
        chunk_count=1,
        round=number,
        window_first=0,
        window_count=4,
        tokens=1_024,
        run_id=RUN,
        base_head=HeadHash(Digest(bytes(32))),
        trainer=trainer.key,
        payload_root=Digest(bytes(32)),
    )
    body = WorkCommit(header=to_text(header.pack()), seal=to_text(bytes(32)), feedback="")
    return signed(trainer, body, run=RUN, number=number)


if __name__ == "__main__":
    main()
