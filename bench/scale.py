"""The log at scale: starts, proofs and memory of a ledger whose log gets longer and longer.

Fills logs of growing length (`ledgers/long_log.py`), with one snapshot near the end of each, and
measures on SQLite and on PostgreSQL: the start of the program until it serves, what of it is
reading the state, a start without a snapshot for comparison, proofs over HTTP, and a seed's way to
the state (list, proof, bytes, decoding). Processor time is given beside the clock's, because it
also holds on a busy computer. Targets: 2 s to start at 10 million entries, 1 s of it for opening
the log; nothing that grows with the log. Ten million entries need 20 GB of disk and half an hour.

    python bench/scale.py [--entries N]... [--only KIND] [--folder DIR] [--document FILE]
"""

from __future__ import annotations

import json
import shutil
import sys
import tempfile
import time
from collections import deque
from contextlib import ExitStack, closing
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click
import httpx
import trio
from ledgers import copied, long_log, million
from ledgers.program import KINDS, databases, served, settings_of
from loops.machine import machine
from loops.table import markdown, put
from tests.support.memory_swarm import Swarm
from tests.support.tiny_run import tiny_manifest

from tequio_client.ledger.api import LedgerApi
from tequio_client.ledger.snapshots import newest_snapshot
from tequio_ledger.data_folder import DataFolder
from tequio_ledger.ledger import open_ledger
from tequio_ledger.log.snapshots import newest_start
from tequio_ledger.runtime import now_ms
from tequio_shared.ids import Digest, PeerKey, sha256, to_text
from tequio_shared.limits import TEAM_MEMBERS, VESTING
from tequio_shared.network.vesting import Vesting
from tequio_shared.served import snapshot
from tequio_shared.served.state import State
from tequio_shared.statements.network import TeamDefine

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

ROWS = (
    ("entries", "entries", ""),
    ("disk, all tables, MB", "disk_mb", ""),
    ("snapshot, bytes", "snapshot_bytes", ""),
    ("from the command to serving, s by the clock", "serves_s", "2"),
    ("the same, s of a processor", "cpu_s", "2"),
    ("of these: opening the ledger", "opens_s", "1"),
    ("of these: reading the snapshot", "snapshot_s", ""),
    ("entries folded after the snapshot", "tail", ""),
    ("opening the ledger from entry 0, s of a processor", "replays_s", ""),
    ("proof over HTTP, p50, ms", "proof_p50_ms", ""),
    ("a seed from the list to the state, s of a processor", "seed_s", "1"),
    ("memory after the start, MB", "resident_mb", ""),
)
"""Label of a row, name of its figure, and the target."""
ROUNDS, MANY = 12, 1_000
"""Rounds that are played, and things that are added, to measure what a snapshot grows by."""
FIRST, NOW_MS = 100_000, 1_760_000_000_000
"""Log index of the first team, and a time."""
PAYMENT = 5_000_000_000
"""GFLOP of a large contribution."""
REPLAYED = 100_000
"""Longest log that is also opened without its snapshot."""
STARTS = 3
"""Starts of which the median counts."""


@click.command()
@click.option(
    "--entries",
    "sizes",
    multiple=True,
    type=int,
    default=(10_000, 100_000, 1_000_000),
    show_default=True,
    help="Length of a log; repeat it for several.",
)
@click.option("--only", type=click.Choice(KINDS), help="Measure only this database.")
@click.option(
    "--folder",
    type=click.Path(path_type=Path, file_okay=False),
    help="Keep the filled logs in this folder, and use those that are there.",
)
@click.option(
    "--document",
    type=click.Path(path_type=Path, exists=True),
    help="Write the tables into this document (docs/scale.md).",
)
@click.option(
    "--json", "json_file", type=click.Path(path_type=Path), help="Write the figures to this file."
)
def main(
    sizes: tuple[int, ...],
    only: str | None,
    folder: Path | None,
    document: Path | None,
    json_file: Path | None,
) -> None:
    """Measure starts of ledgers with logs of growing length, and print a table."""
    report: dict[str, object] = {**machine(), "logs": []}
    kinds = [only] if only else list(KINDS)
    columns: list[tuple[str, dict[str, float]]] = []
    with ExitStack() as stack:
        place = folder or Path(stack.enter_context(tempfile.TemporaryDirectory()))
        long_log.check(fresh(place / "check"))
        for size in sizes:
            log = place / str(size)
            if not (log / "ledger.sqlite").exists():
                long_log.write(fresh(log), size)
            for kind in kinds:
                figures = measured(log, kind, size)
                columns.append((f"{size:,}, {kind}", figures))
                print(figures, file=sys.stderr)
    report["logs"] = [{"log": name, **figures} for name, figures in columns]
    names = [name for name, _ in columns]
    rows = [
        [label, target, *(f"{figures[key]:,}" if key in figures else "" for _, figures in columns)]
        for label, key, target in ROWS
    ]
    note = f"{report['machine']}, {report['cores']} cores."
    tables = {
        "starts": f"{markdown(('', 'target', *names), rows)}\n\n{note}",
        "growth": markdown(("one more", "bytes in each snapshot"), growth()),
    }
    for name, text in tables.items():
        print(text, end="\n\n")
        if document:
            put(document, name, text)
    if json_file:
        json_file.write_text(json.dumps(report) + "\n")


def growth() -> list[list[str]]:
    """Bytes that one more of each thing adds to a snapshot."""
    state = played()
    (run,) = state.runs.values()
    accounts, key = run.accounts, next(iter(state.peers))
    names = [sha256(b"name %d" % number) for number in range(MANY)]
    payments = accounts.earned[key].training
    changes: dict[str, tuple[int, Callable[[], object]]] = {
        "payment that may still be lost": (VESTING - 1, lambda: _pay(payments)),
        "key with a part of such a payment": (VESTING - 1, lambda: _share(payments, names[0])),
        "promoted head": (len(run.heads), run.heads.clear),
        "closed round (tokens and time)": (len(accounts.trained), accounts.trained.clear),
        "key that ever had a slot in a run": (
            MANY,
            lambda: accounts.rostered.update(PeerKey(name) for name in names),
        ),
        "document that a member or organiser named": (MANY, lambda: state.named.update(names)),
        "team with a join link and a goal": (MANY, lambda: _found_teams(state, names)),
        "member of a team": (MANY, lambda: _join_team(state, names)),
        "key that a round paid for a team": (MANY, lambda: _pay_team(state, names)),
    }
    rows = []
    for name, (count, change) in changes.items():
        before = len(snapshot.encode(state, 1))
        change()
        rows.append([name, f"{abs(len(snapshot.encode(state, 1)) - before) / count:.0f}"])
    return rows


def _pay(payments: Vesting) -> None:
    for number in range(1, VESTING):
        payments.pay(number, PAYMENT)


def _share(payments: Vesting, receiver: Digest) -> None:
    payments.waiting = deque(
        replace(one, given=((PeerKey(receiver), one.gflop),)) for one in payments.waiting
    )


def _found_teams(state: State, names: Sequence[Digest]) -> None:
    for number, name in enumerate(names, FIRST):
        body = TeamDefine(
            team=0,
            name=f"Team of volunteers {number}",
            invitation=to_text(name),
            until=NOW_MS,
            most=50,
            goal=PAYMENT,
            goal_until=NOW_MS,
        )
        state.teams.define(number, NOW_MS, PeerKey(name), body)


def _join_team(state: State, names: Sequence[Digest]) -> None:
    link = PeerKey(names[0])
    body = TeamDefine(
        team=FIRST,
        name=f"Team of volunteers {FIRST}",
        invitation=to_text(link),
        until=2 * NOW_MS,
        most=TEAM_MEMBERS,
        goal=PAYMENT,
        goal_until=NOW_MS,
    )
    state.teams.define(FIRST, NOW_MS, link, body)
    for number in range(MANY):
        key = PeerKey(sha256(b"member %d" % number))
        state.teams.join(FIRST + MANY + number, NOW_MS, key, FIRST, (link,))


def _pay_team(state: State, names: Sequence[Digest]) -> None:
    for name in names:
        state.teams.pay(FIRST + 2 * MANY, NOW_MS, PeerKey(name), PAYMENT)


def played() -> State:
    """The state after some rounds of three members."""
    swarm = Swarm(manifest=tiny_manifest(most=ROUNDS), seed=5)
    for name in ("ana", "bo", "cleo"):
        swarm.volunteer(name)
    swarm.run()
    state = State(swarm.genesis, swarm.blobs.__getitem__)
    for index, entry in enumerate(swarm.entries):
        state.apply(index, entry, 0)
    return state


def fresh(folder: Path) -> Path:
    """An empty folder."""
    shutil.rmtree(folder, ignore_errors=True)
    return folder


def measured(folder: Path, kind: str, size: int) -> dict[str, float]:
    """Measure one log on one database, to which it is copied first unless it is SQLite."""
    with databases(kind) as urls:
        url = urls[2]
        place = folder
        if url:
            place = fresh(folder.with_name(f"{folder.name}-copied"))
            copied.copied(folder, place, url)
        figures = opened(place, url)
        starts = []
        for _ in range(STARTS):
            since_s = time.perf_counter()
            with served(place, url) as program:
                starts.append((time.perf_counter() - since_s, program.cpu_s()))
                names = million.some_ids(place, url)
                figures["proof_p50_ms"] = million.over_http(program.url, names)
                figures["seed_s"] = round(trio.run(seeded, program.url), 2)
                httpx.get(program.url, timeout=60).raise_for_status()  # loads the pages
                figures["resident_mb"] = round(program.resident_bytes() / 1e6, 1)
        for at, name in enumerate(("serves_s", "cpu_s")):
            figures[name] = round(sorted(one[at] for one in starts)[STARTS // 2], 2)
        sizes = million.sizes(place, url)
        figures["entries"] = sizes["entries"]
        figures["disk_mb"] = round(sizes["entries"] * sizes["bytes_per_entry"] / 1e6)
        if size <= REPLAYED:
            figures["replays_s"] = replayed(place, url)
        if url:
            shutil.rmtree(place)
    return figures


def opened(folder: Path, url: str) -> dict[str, float]:
    """Open the ledger in this process, with its modules loaded; gives processor time."""
    settings = settings_of(folder, url)
    with DataFolder(folder) as held:
        since_s = time.process_time()
        ledger = open_ledger(settings, held, now_ms)
        opens_s = time.process_time() - since_s
        with closing(ledger.database):
            since_s = time.process_time()
            start = newest_start(ledger.database, ledger.genesis, ledger.blobs)
            snapshot_s = time.process_time() - since_s
            (stated,) = ledger.state.snapshots.stated
            return {
                "opens_s": round(opens_s, 2),
                "snapshot_s": round(snapshot_s, 2),
                "snapshot_bytes": ledger.blobs.size(stated.digest) or 0,
                "tail": ledger.log.size - start.tree.size,
            }


def replayed(folder: Path, url: str) -> float:
    """Processor time to open the ledger while the bytes of its snapshot are away."""
    settings = settings_of(folder, url)
    with DataFolder(folder) as held:
        ledger = open_ledger(settings, held, now_ms)
        with closing(ledger.database):
            (stated,) = ledger.state.snapshots.stated
            path = ledger.blobs.path(stated.digest)
        away = path.with_suffix(".away")
        path.rename(away)
        since_s = time.process_time()
        ledger = open_ledger(settings, held, now_ms)
        seconds = time.process_time() - since_s
        ledger.database.close()
        away.rename(path)
    return round(seconds, 1)


async def seeded(url: str) -> float:
    """Processor time from the list of snapshots to the state, as a seed reads it."""
    async with LedgerApi(url) as api:
        network = await api.network()

        async def fetch(name: Digest) -> bytes:
            return await api.get_blob(name) or b""

        since_s = time.process_time()
        if await newest_snapshot(api, network, fetch) is None:
            raise SystemExit("no snapshot could be used")
        return time.process_time() - since_s


if __name__ == "__main__":
    main()
