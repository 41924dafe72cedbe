"""The ledger on SQLite and on PostgreSQL: throughput, receipts, proofs, disk, memory, readers.

Starts `tequio-ledger serve` in fresh folders, PostgreSQL with fsync on. An answer means that entry
and signed checkpoint are on disk. Everything runs on this machine, including the clients. Targets
on 2 cores: 3,000 statements/s in batches of 64; proofs of a log of a million entries in 1 ms, 0.1
ms from cached tiles; 300 MB resident at a million entries; 1,000 listeners that get every event.

    python bench/ledger.py [--statements N] [--entries N] [--listeners N] [--only KIND]
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from pathlib import Path

import click
from ledgers import million, posts, reads, streams
from ledgers.program import KINDS, databases, served
from loops.machine import machine
from loops.table import markdown

ROWS = (
    ("statements/s of known keys over HTTP, batches of 64", "statements_per_s", "3,000"),
    ("registrations of new keys/s, in the same way", "registrations_per_s", ""),
    ("processor time of the ledger per statement, µs", "cpu_us_per_statement", ""),
    ("a batch's receipt, p50 / p99, ms", "batch_p50_ms batch_p99_ms", ""),
    ("a single statement's receipt, p50 / p99, ms", "receipt_p50_ms receipt_p99_ms", ""),
    ("tiles/s over HTTP", "tiles_per_s", ""),
    ("checkpoints/s over HTTP", "checkpoints_per_s", ""),
    ("pages/s over HTTP", "pages_per_s", ""),
    ("listeners that got every event", "listeners_complete", "1,000"),
    ("time of an event to a listener, p50 / p99, ms", "event_p50_ms event_p99_ms", ""),
    ("memory with the listeners, MB", "listeners_resident_mb", ""),
    ("entries of the large log", "entries", ""),
    ("bytes per entry on disk, all tables (the leaf)", "bytes_per_entry leaf_bytes", ""),
    ("seconds to fill, or to move from SQLite", "fill_s", ""),
    ("seconds to start, every byte checked", "start_s", ""),
    ("memory after the start, MB", "resident_mb", "300"),
    ("inclusion proof of an entry, first request, p50, ms", "proof_p50_ms", "1"),
    ("the same, first request after a start, ms", "first_proof_p50_ms", ""),
    ("the same, repeated, ms", "cached_proof_p50_ms", "0.1"),
    ("the same over HTTP, with leaf and checkpoint, ms", "http_proof_p50_ms", ""),
)
"""Label of a row, names of its figures in the report, and the target."""


@click.command()
@click.option("--statements", default=20_000, show_default=True, help="Statements to post.")
@click.option("--connections", default=8, show_default=True, help="Connections that post.")
@click.option(
    "--entries", default=1_000_000, show_default=True, help="Entries of the large log; 0 skips it."
)
@click.option(
    "--listeners",
    default=1_000,
    show_default=True,
    type=click.IntRange(min=1),
    help="Event streams.",
)
@click.option("--only", type=click.Choice(KINDS), help="Measure only this database.")
@click.option(
    "--json", "json_file", type=click.Path(path_type=Path), help="Write the figures to this file."
)
def main(
    statements: int,
    connections: int,
    entries: int,
    listeners: int,
    only: str | None,
    json_file: Path | None,
) -> None:
    """Measure the ledger on SQLite and on PostgreSQL, and print a table."""
    report: dict[str, object] = {**machine(), "load_before": round(os.getloadavg()[0], 2)}
    kinds = [only] if only else list(KINDS)
    for kind in kinds:
        with tempfile.TemporaryDirectory() as folder, databases(kind) as urls:
            figures = served_figures(Path(folder), urls, statements, connections, listeners)
            if entries:
                figures |= large_log(Path(folder) / "large", urls[2], entries)
        report[kind] = figures
    print(markdown(("", "target", *kinds), table(report, kinds)))
    print(f"\n{report['machine']}, {report['cores']} cores, load before {report['load_before']}")
    if json_file:
        json_file.write_text(json.dumps(report) + "\n")


def served_figures(
    folder: Path, urls: list[str], statements: int, connections: int, listeners: int
) -> dict[str, float]:
    """Measure two new ledgers: one for statements and reads, one for event streams."""
    with served(folder / "posts", urls[0]) as program:
        figures = posts.throughput(program, statements, connections)
        figures |= posts.receipts(program, 300)
        figures["tiles_per_s"] = reads.rate(program, "/log/tile/0/000")
        figures["checkpoints_per_s"] = reads.rate(program, "/log/checkpoint")
        figures["pages_per_s"] = reads.rate(program, "/")
    print(figures, file=sys.stderr)
    with served(folder / "listeners", urls[1]) as program:
        figures |= streams.listeners(program, listeners)
    print(figures, file=sys.stderr)
    return figures


def large_log(folder: Path, url: str, entries: int) -> dict[str, float]:
    """Fill a log (in PostgreSQL by moving it there) and measure it."""
    figures = {"fill_s": round(million.fill(folder, entries), 1)}
    if url:
        figures["fill_s"] = round(million.moved(folder, url), 1)
    return figures | million.measured(folder, url)


def table(report: dict[str, object], kinds: list[str]) -> list[list[str]]:
    """The rows that have figures."""
    rows = []
    for name, keys, limit in ROWS:
        cells = [_cell(report[kind], keys.split()) for kind in kinds]
        if any(cells):
            rows.append([name, limit, *cells])
    return rows


def _cell(figures: object, keys: list[str]) -> str:
    found = [figures[key] for key in keys if isinstance(figures, dict) and key in figures]
    return " / ".join(f"{value:,}" for value in found)


if __name__ == "__main__":
    main()
