"""The statements of a round of thousands of peers, posted one by one, with thousands of readers.

Starts `tequio-ledger serve` on SQLite and on PostgreSQL (fsync on), on PostgreSQL also a second
process that follows the first. Members register and sign real rounds ahead (`ledgers.signed_rounds`);
locust posts them from more and more connections; streams of `/v1/events` are open beside it. Times
depend on what else this computer does, processor time of a statement hardly does: the last table
is made of it.

    .venv/load/bin/locust is needed: installer/setup.sh load
    python bench/load.py [--members N] [--streams 1000,5000] [--only KIND] [--document docs/scale.md]
"""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click
from ledgers.program import DURABLE, KINDS, LedgerProgram, served, tree_cpu_s
from ledgers.signed_rounds import SignedRounds
from loops import table
from loops.machine import machine
from tequio_ledger.web.limits import MAX_EVENT_STREAMS
from tests.support import postgres

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

HERE = Path(__file__).parent / "ledgers"
READER = "reader"
"""The kind of a measurement whose streams are at a second process on the same database."""
_KEYS = ("log.key", "log.signed", "coordinator.key")
_RAMP_S = 2.0
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
    report: dict[str, object] = {**machine(), "members": members}
    ramp, counts = ([int(one) for one in text.split(",")] for text in (connections, streams))
    for kind in kinds:
        with ledger_of(kind, max(counts)) as ledger:
            report[kind] = measured(ledger, members, ramp, counts)
    print(json.dumps(report, indent=1))
    if json_file:
        json_file.write_text(json.dumps(report) + "\n")


@contextmanager
def ledger_of(kind: str, streams: int) -> Iterator[Measured]:
    """Start what a kind of measurement needs."""
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
            options += ["--connections", str(2 * streams + 1_000)]
        writer = reader = stack.enter_context(served(folder / "writer", url, *options))
        if kind == READER:
            (folder / "reader").mkdir()
            for name in _KEYS:
                shutil.copy(folder / "writer" / name, folder / "reader" / name)
            reader = stack.enter_context(served(folder / "reader", url, *options))
        yield Measured(writer=writer, reader=reader, database_cpu_s=database_cpu_s, folder=folder)


def measured(
    ledger: Measured, members: int, ramp: list[int], counts: list[int]
) -> list[dict[str, float]]:
    """A round without streams for each step of the ramp, and then one for each count of streams."""
    begun_s = time.perf_counter()
    rounds = SignedRounds(ledger.writer, members)
    print(f"{members} members after {time.perf_counter() - begun_s:.0f} s", file=sys.stderr)
    found = []
    for streams, connections in [(0, one) for one in ramp] + [(one, ramp[-1]) for one in counts]:
        with reading(ledger.reader, streams, rounds.entries) as readers:
            figures = one_round(ledger, rounds, connections)
            figures["resident_mb"] = round(ledger.reader.resident_bytes() / 1e6, 1)
            figures |= readers.close(figures.pop("posted"))
        found.append({"connections": connections, "streams": streams, **figures})
        print(found[-1], file=sys.stderr)
        rounds.close()
    return found


def one_round(ledger: Measured, rounds: SignedRounds, connections: int) -> dict[str, object]:
    """Post a round's attestations and commitments; figures of both together."""
    posted, spent = [], [0.0, 0.0, 0.0]
    rates, latencies = [], []
    for sign in (rounds.attestations, rounds.commitments):
        signed = sign()
        before = _spent(ledger)
        report = run_locust(ledger, signed, connections)
        if report["refused"] or report["missing"]:
            raise SystemExit(f"not logged: {report['missing']} and {report['refused'][:3]}")
        time.sleep(_SETTLE_S)
        spent = [one + after - old for one, after, old in zip(spent, _spent(ledger), before, strict=True)]
        posted += report["posted"]
        answered = sorted(one[1] for one in report["posted"])
        half = answered[len(answered) // 2 :]
        rates.append((len(half) - 1) / (half[-1] - half[0]))
    latencies = sorted(answered_s - begun_s for begun_s, answered_s, _ in posted)
    names = ("writer_cpu_us", "reader_cpu_us", "database_cpu_us")
    return {
        "statements": len(posted),
        "statements_per_s": round(sum(rates) / len(rates)),
        **{f"p{share}_ms": _at(latencies, share) for share in (50, 95, 99)},
        **{name: round(1e6 * one / len(posted)) for name, one in zip(names, spent, strict=True)},
        "posted": posted,
    }


def _spent(ledger: Measured) -> list[float]:
    """Processor time in seconds of the writer, of another process with the streams, and of the database."""
    reader_s = 0.0 if ledger.reader is ledger.writer else ledger.reader.cpu_s()
    return [ledger.writer.cpu_s(), reader_s, ledger.database_cpu_s()]


def _at(times: list[float], percent: int) -> float:
    return round(1e3 * times[(len(times) - 1) * percent // 100], 1)


def run_locust(ledger: Measured, signed: list[bytes], connections: int) -> dict[str, list]:
    """Post statements that were signed, one by one, from so many connections; the report."""
    statements, report = ledger.folder / "statements", ledger.folder / "report"
    statements.write_bytes(b"".join(len(one).to_bytes(4, "big") + one for one in signed))
    report.unlink(missing_ok=True)
    rate = max(connections / _RAMP_S, 1)
    command = [*locust_command(), "--locustfile", str(HERE / "locustfile.py"), "--headless"]
    command += ["--host", ledger.writer.url, "--users", str(connections)]
    command += ["--spawn-rate", str(rate), "--only-summary", "--loglevel", "WARNING"]
    env = {**os.environ, "LOAD_STATEMENTS": str(statements), "LOAD_REPORT": str(report)}
    done = subprocess.run(command, check=False, env=env, capture_output=True, text=True)
    if not report.exists():
        raise SystemExit(f"locust failed: {done.stdout[-2000:]}{done.stderr[-2000:]}")
    return json.loads(report.read_text())


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

    def __init__(self, process: subprocess.Popen[str] | None) -> None:
        self._process = process

    def close(self, posted: list) -> dict[str, float]:
        """End it; figures of the time from posting a statement to its arrival at a reader."""
        if self._process is None:
            return {}
        out, _ = self._process.communicate("")
        report = json.loads(out)
        if report["lost"] or report["least"] != report["most"]:
            raise SystemExit(f"streams differ: {report | {'arrivals': ''}}")
        begun = {index: begun_s for begun_s, _, index in posted}
        arrivals = report["arrivals"].items()
        seen = sorted(at - begun[int(i)] for i, times in arrivals if int(i) in begun for at in times)
        return {f"seen_p{share}_ms": _at(seen, share) for share in (50, 95, 99)}


@contextmanager
def reading(program: LedgerProgram, streams: int, after: int) -> Iterator[Readers]:
    """Hold streams open until the end of the block."""
    if not streams:
        yield Readers(None)
        return
    host, port = program.url.removeprefix("http://").split(":")
    command = [sys.executable, str(HERE / "many_streams.py"), host, port, str(streams)]
    with subprocess.Popen(
        [*command, str(after - 1)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            if process.stdout is None or process.stdout.readline() != "ready\n":
                raise SystemExit(f"{streams} streams could not be opened")
            yield Readers(process)
        finally:
            process.kill()


if __name__ == "__main__":
    main()
