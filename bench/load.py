"""The statements of a round of thousands of peers, posted one by one, with thousands of readers.

Starts `tequio-ledger serve` on SQLite and on PostgreSQL (fsync on), on PostgreSQL also a second
process that follows the first. Members register and sign real rounds ahead
(`ledgers.signed_rounds`); locust posts them from more and more connections; streams of
`/v1/events` are open beside it. Times depend on what else this computer does, processor time of a
statement hardly does: the last table is made of it.

    installer/setup.sh load    # locust
    python bench/load.py [--members N] [--streams 1000,5000] [--only KIND] [--document PAGE]
"""

from __future__ import annotations

import importlib.util
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from ledgers import reads
from ledgers.program import DURABLE, KINDS, LedgerProgram, served, tree_cpu_s
from ledgers.signed_rounds import SignedRounds
from loops import table
from loops.machine import machine
from tests.support import postgres

from tequio_ledger.web.connections import MAX_CONNECTIONS, ConnectionLimits
from tequio_ledger.web.limits import MAX_EVENT_STREAMS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

HERE = Path(__file__).parent / "ledgers"
READER = "reader"
"""The kind of a measurement whose streams are at a second process on the same database."""
_KEYS = ("log.key", "log.signed", "coordinator.key")
CPU = ("writer_cpu_us", "reader_cpu_us", "database_cpu_us")
"""Processor time per statement: writer, a second process with the streams, database."""
PACE, PACED = 20, 200
"""Statements per second, and how many of them, that are posted as a real network would."""
STATEMENTS = 2
"""Of each member in a round: `head.attest` and `work.commit`, without the committee's 32."""
CHECK_S = 2.0
"""A follower asks for a checkpoint so often while entries come (`FollowerLimits.check_s`)."""
ROWS = (
    ("statements_per_s", "statements/s accepted, last half of a ramp"),
    ("p50_ms", "answer to a statement, p50, ms"),
    ("p95_ms", "p95"),
    ("p99_ms", "p99"),
    ("seen_p50_ms", "until a reader has it, p50, ms"),
    ("seen_p95_ms", "p95"),
    ("writer_cpu_us", "µs of a processor per statement, writer"),
    ("reader_cpu_us", "the process with the streams"),
    ("database_cpu_us", "PostgreSQL"),
    ("paced_writer_cpu_us", "the same at 20 statements/s, writer"),
    ("paced_reader_cpu_us", "the process with the streams"),
    ("paced_database_cpu_us", "PostgreSQL"),
    ("resident_mb", "memory of the process with the streams, MB"),
)
_RAMP_S = 2.0
_READ_S = 3.0
_SETTLE_S = 3.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """The ledger of one measurement, and who else works for it."""

    writer: LedgerProgram
    reader: LedgerProgram
    """The process whose streams are read; often the writer."""
    database_cpu_s: Callable[[], float]
    folder: Path


@click.command()
@click.option("--members", default=1_000, show_default=True, help="Members of a round.")
@click.option("--connections", default="8,32,128", show_default=True, help="Steps of the ramp.")
@click.option("--streams", default="1000,5000", show_default=True, help="Open event streams.")
@click.option("--only", type=click.Choice((*KINDS, READER)), help="Measure only this.")
@click.option("--json", "json_file", type=click.Path(path_type=Path), help="Write the figures.")
@click.option(
    "--document", type=click.Path(path_type=Path), help="Write the tables into this page."
)
def main(
    members: int,
    connections: str,
    streams: str,
    only: str | None,
    json_file: Path | None,
    document: Path | None,
) -> None:
    """Measure a ledger under the statements and readers of large rounds."""
    kinds = [only] if only else [*KINDS, READER]
    report: dict[str, Any] = {**machine(), "members": members}
    ramp = [int(one) for one in connections.split(",")]
    counts = [allowed_streams(int(one)) for one in streams.split(",")]
    for kind in kinds:
        with ledger_of(kind, max(counts)) as ledger:
            report[kind] = measured(ledger, members, ramp, counts)
    if document:
        table.put(document, "load", figures_table(report, kinds))
        table.put(document, "load of a network", network_table(report[kinds[-1]]))
    print(figures_table(report, kinds), network_table(report[kinds[-1]]), sep="\n\n")
    if json_file:
        json_file.write_text(json.dumps(report) + "\n")


def figures_table(report: dict[str, Any], kinds: list[str]) -> str:
    """One column for each measured round, one row for each figure."""
    columns, steps = [""], []
    for kind in kinds:
        for step in report[kind]["steps"]:
            columns.append(
                f"{kind}, {step['connections']} connections, {step['streams']:,} streams"
            )
            steps.append(step)
    rows = [
        [label, *(f"{step[key]:,}" if step.get(key) else "" for step in steps)]
        for key, label in ROWS
    ]
    return table.markdown(columns, rows)


def network_table(figures: dict[str, Any]) -> str:
    """Costs of peers that are all in a round, at rounds of different lengths."""
    step = [one for one in figures["steps"] if not one["streams"]][-1]
    cost_us = step["writer_cpu_us"] + step["database_cpu_us"]
    rows = []
    for peers in (1_000, 10_000):
        for minutes in (5, 30, 60):
            per_s = STATEMENTS * peers / (60 * minutes)
            mbit = peers * per_s * figures["event_bytes"] * 8 / 1e6
            share = 100 * per_s * cost_us / 1e6
            burst_s = peers * cost_us / 1e6
            asked = peers / CHECK_S
            cells = (
                f"{per_s:.1f}",
                f"{share:.1f}",
                f"{burst_s:.0f}",
                f"{asked:,.0f}",
                f"{mbit:,.0f}",
            )
            rows.append([f"{peers:,}", str(minutes), *cells])
    columns = ("peers", "minutes of a round", "statements/s", "% of a core for them")
    more = ("s of a core if all post at once", "checkpoints/s", "Mbit/s of events, all readers")
    return table.markdown((*columns, *more), rows)


def allowed_streams(wanted: int) -> int:
    """As many of these streams as a ledger takes with the file descriptors of this computer.

    It answers each further one with 503 (`queue-full`), and a measurement would end there.
    """
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))  # as the ledger does for itself
    most = ConnectionLimits.of_process(most=_connections(wanted)).most
    allowed = min(wanted, MAX_EVENT_STREAMS * most // MAX_CONNECTIONS)
    if allowed < wanted:
        print(f"{allowed:,} streams instead of {wanted:,}: ulimit -n is {hard}", file=sys.stderr)
    return allowed


def _connections(streams: int) -> int:
    return max(2 * streams + 1_000, MAX_CONNECTIONS)


@contextmanager
def ledger_of(kind: str, streams: int) -> Iterator[Measured]:
    """Start the programs of a kind of measurement."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        url, database_cpu_s = "", lambda: 0.0
        if kind != KINDS[0]:
            found = postgres.binaries()
            if found is None:
                raise SystemExit("PostgreSQL is not installed: run installer/setup.sh tools")
            cluster = stack.enter_context(postgres.cluster(found, DURABLE))
            url, database_cpu_s = cluster.database(), lambda: tree_cpu_s(cluster.pid)
        blobs = f"--blobs=file://{folder}/blobs"
        (folder / "blobs").mkdir()
        options = [blobs] if kind == READER else []
        if streams > MAX_EVENT_STREAMS:
            options += ["--connections", str(_connections(streams))]
        writer = reader = stack.enter_context(served(folder / "writer", url, *options))
        if kind == READER:
            (folder / "reader").mkdir()
            for name in _KEYS:
                shutil.copy(folder / "writer" / name, folder / "reader" / name)
            reader = stack.enter_context(served(folder / "reader", url, *options))
        yield Measured(writer=writer, reader=reader, database_cpu_s=database_cpu_s, folder=folder)


def measured(
    ledger: Measured, members: int, ramp: list[int], counts: list[int]
) -> dict[str, object]:
    """A round without streams for each step of the ramp, and then one for each count of streams."""
    begun_s = time.perf_counter()
    rounds = SignedRounds(ledger.writer, members)
    print(f"{members} members after {time.perf_counter() - begun_s:.0f} s", file=sys.stderr)
    found: list[dict[str, float]] = []
    for streams, connections in [(0, one) for one in ramp] + [(one, ramp[-1]) for one in counts]:
        with reading(ledger.reader, streams, rounds.entries) as readers:
            figures, posted = one_round(ledger, rounds, connections, is_paced=bool(streams))
            figures["resident_mb"] = round(ledger.reader.resident_bytes() / 1e6, 1)
            figures |= readers.close(posted)
        found.append({"connections": connections, "streams": streams, **figures})
        print(found[-1], file=sys.stderr)
        rounds.close()
    before_s, begun_s = ledger.reader.cpu_s(), time.perf_counter()
    answers = reads.rate(ledger.reader, "/log/checkpoint", _READ_S)
    answers *= time.perf_counter() - begun_s
    cpu_us = round(1e6 * (ledger.reader.cpu_s() - before_s) / answers)
    return {"steps": found, "event_bytes": rounds.event_bytes, "checkpoint_cpu_us": cpu_us}


def one_round(
    ledger: Measured, rounds: SignedRounds, connections: int, *, is_paced: bool
) -> tuple[dict[str, float], list[list[float]]]:
    """Post a round's attestations, then its commitments; figures of both, and what was posted.

    If it `is_paced`, the first commitments come one after the other, `PACE` in a second.
    """
    figures: dict[str, float] = {}
    loads = [run_locust(ledger, rounds.attestations(), connections)]
    commitments = rounds.commitments()
    if is_paced:
        paced = run_locust(ledger, commitments[:PACED], PACE, pause_s=1.0)
        names = (f"paced_{name}" for name in CPU)
        figures |= dict(zip(names, paced.cpu_us(), strict=True))
        commitments = commitments[PACED:]
    loads.append(run_locust(ledger, commitments, connections))
    posted = [one for load in loads for one in load.posted]
    latencies = sorted(answered_s - begun_s for begun_s, answered_s, _ in posted)
    spent = [sum(load.cpu_s[at] for load in loads) for at in range(len(CPU))]
    figures |= {
        "statements": len(posted),
        "statements_per_s": round(sum(load.last_rate() for load in loads) / len(loads)),
        **{f"p{share}_ms": _at(latencies, share) for share in (50, 95, 99)},
        **{name: round(1e6 * s / len(posted)) for name, s in zip(CPU, spent, strict=True)},
    }
    return figures, posted


@dataclass(frozen=True, slots=True, kw_only=True)
class PostedLoad:
    """Statements that locust posted: when each was begun and answered, and its index."""

    posted: list[list[float]]
    cpu_s: list[float]
    """Of the programs in `CPU`, until everything was sent to the readers."""

    def last_rate(self) -> float:
        """Statements per second in the last half, when all connections post."""
        answered = sorted(one[1] for one in self.posted)
        half = answered[len(answered) // 2 :]
        return (len(half) - 1) / (half[-1] - half[0])

    def cpu_us(self) -> list[int]:
        return [round(1e6 * one / len(self.posted)) for one in self.cpu_s]


def _spent(ledger: Measured) -> list[float]:
    """Processor time in seconds of the programs in `CPU`."""
    reader_s = 0.0 if ledger.reader is ledger.writer else ledger.reader.cpu_s()
    return [ledger.writer.cpu_s(), reader_s, ledger.database_cpu_s()]


def _at(times: list[float], percent: int) -> float:
    return round(1e3 * times[(len(times) - 1) * percent // 100], 1)


def run_locust(
    ledger: Measured, signed: list[bytes], connections: int, pause_s: float = 0.0
) -> PostedLoad:
    """Post statements that were signed, one by one, from a number of connections."""
    statements, path = ledger.folder / "statements", ledger.folder / "report"
    statements.write_bytes(b"".join(len(one).to_bytes(4, "big") + one for one in signed))
    path.unlink(missing_ok=True)
    rate = max(connections / _RAMP_S, 1)
    command = [*locust_command(), "--locustfile", str(HERE / "locustfile.py"), "--headless"]
    command += ["--host", ledger.writer.url, "--users", str(connections)]
    command += ["--spawn-rate", str(rate), "--only-summary", "--loglevel", "WARNING"]
    env = {**os.environ, "LOAD_STATEMENTS": str(statements), "LOAD_REPORT": str(path)}
    env["LOAD_PAUSE_S"] = str(pause_s)
    before = _spent(ledger)
    done = subprocess.run(command, check=False, env=env, capture_output=True, text=True)
    time.sleep(_SETTLE_S)
    cpu_s = [after - old for after, old in zip(_spent(ledger), before, strict=True)]
    if not path.exists():
        raise SystemExit(f"locust failed: {done.stdout[-2000:]}{done.stderr[-2000:]}")
    report = json.loads(path.read_text())
    if report["refused"] or report["missing"]:
        raise SystemExit(f"not logged: {report['missing']} and {report['refused'][:3]}")
    return PostedLoad(posted=report["posted"], cpu_s=cpu_s)


def locust_command() -> list[str]:
    """The environment that `installer/setup.sh load` makes, or else this one."""
    own = Path(sys.prefix) / "load" / "bin" / "python"
    if own.exists():
        return [str(own), "-m", "locust"]
    if importlib.util.find_spec("locust"):
        return [sys.executable, "-m", "locust"]
    raise SystemExit("locust is not installed: run installer/setup.sh load")


class Readers:
    """The process that holds the streams open; without streams there is none."""

    def __init__(self, process: subprocess.Popen[str] | None, after: int) -> None:
        self._process = process
        self._after = after

    def close(self, posted: list[list[float]]) -> dict[str, float]:
        """End it; figures of the time from posting a statement to its arrival at a reader."""
        if self._process is None:
            return {}
        wanted = int(max(index for _, _, index in posted)) - self._after
        out, _ = self._process.communicate(str(wanted))
        report = json.loads(out)
        if report["lost"] or report["least"] < wanted:
            raise SystemExit(
                f"of {wanted} entries a stream got {report['least']}, {report['lost']} ended"
            )
        begun = {index: begun_s for begun_s, _, index in posted}
        arrivals = report["arrivals"].items()
        seen = sorted(
            at - begun[int(i)] for i, times in arrivals if int(i) in begun for at in times
        )
        return {f"seen_p{share}_ms": _at(seen, share) for share in (50, 95, 99)}


@contextmanager
def reading(program: LedgerProgram, streams: int, after: int) -> Iterator[Readers]:
    """Hold streams open until the end of the block."""
    if not streams:
        yield Readers(None, after)
        return
    host, port = program.url.removeprefix("http://").split(":")
    command = [sys.executable, str(HERE / "many_streams.py"), host, port, str(streams)]
    with subprocess.Popen(
        [*command, str(after - 1)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            if process.stdout is None or process.stdout.readline() != "ready\n":
                raise SystemExit(f"{streams} streams could not be opened")
            yield Readers(process, after - 1)
        finally:
            process.kill()


if __name__ == "__main__":
    main()
