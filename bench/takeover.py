"""Time without a writer of the log after its process was killed, frozen, or cut off from storage.

A client posts to the follower alone, which forwards statements to the writer; the time ends when
the first of them is acknowledged afterwards. Real processes, and a PostgreSQL of their own.

Run: python bench/takeover.py [--times 10] [--json FILE]
"""

from __future__ import annotations

import json
import statistics
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

import click
from loops import repository  # noqa: F401
from tests.support import loopback_link, postgres
from tests.support.observed_log import Ingest, ObservedLog
from tests.support.replicas import LedgerReplica, replica_group

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.support.loopback_link import LoopbackLink
    from tests.support.postgres import Cluster

WAYS: dict[str, Callable[[LedgerReplica, LoopbackLink], None]] = {
    "killed": lambda writer, _: writer.kill(),
    "frozen": lambda writer, _: writer.freeze(),
    "cut off": lambda _, line: line.cut(),
}


@click.command()
@click.option("--times", default=10, show_default=True, help="Repetitions of each way.")
@click.option("--json", "json_file", type=click.Path(path_type=Path))
def main(times: int, json_file: Path | None) -> None:
    """Print the median and the longest time of each way."""
    found = {}
    programs = postgres.binaries()
    if programs is None:
        raise click.ClickException(
            "PostgreSQL is not installed: `installer/setup.sh tools` brings it"
        )
    with postgres.cluster(programs) as cluster:
        for way in WAYS:
            taken = [_take_over(cluster, way) for _ in range(times)]
            found[way] = {"median_s": statistics.median(taken), "longest_s": max(taken)}
            click.echo(f"{way}: " + ", ".join(f"{k} {v:.2f}" for k, v in found[way].items()))
    if json_file:
        json_file.write_text(json.dumps(found, indent=2))


def _take_over(cluster: Cluster, way: str) -> float:
    """Seconds until the follower has a statement logged."""
    database = cluster.database()
    with (
        tempfile.TemporaryDirectory() as folder,
        loopback_link.opened(cluster.port) as line,
        replica_group(Path(folder), database) as team,
    ):
        name = database.rpartition("/")[2]
        writer, follower = team.start(postgres.url(line.port, name)), team.start()
        seen = ObservedLog()
        with Ingest([follower.url], writer.net, seen, way):
            seen.wait_for_answer()
            begun_s = time.monotonic()
            WAYS[way](writer, line)
            follower.wait_for("writes the log")
            seen.wait_for_answer()
            taken = time.monotonic() - begun_s
        if way == "frozen":
            writer.thaw()
        return taken


if __name__ == "__main__":
    main()
