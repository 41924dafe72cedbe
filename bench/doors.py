"""Waiting times of honest peers while a ledger's doors are attacked, with memory and descriptors.

Eight honest peers send ten requests a second each, statements and reads, from networks of their
own; a newcomer from another network opens a connection for each of as many requests. First they are
alone (calm), then there is an attack:

- silent: 1,200 connections that send nothing, opened again as the ledger closes them;
- slow bodies: as many connections whose request promises a body that never comes;
- bombs: a drawn evaluator uploads and names documents that are made to be expensive to parse;
- tiny blobs: registered keys upload blobs of a few bytes as fast as they are answered;
- tiny chunks: 20 connections send a body in chunks of one byte, and open again when closed;
- small chunks: 400 connections send a body in chunks of 300 bytes, in the same way;
- bursts: 1,200 connections whose body never comes, each opened again when it is closed;
- pipelines: as many connections that send 100 short requests in advance;
- long answers: 400 connections request 250 keys again and again, and do not read the answers.

The ledger may open 1,024 descriptors. All programs share the cores; the attackers have a lower
priority, since they would come from other machines. Whatever else runs on the machine counts too,
so each row states the load and the time for which the ledger was ready to run and had no core. The
goal: p99 below 500 ms under each attack, and memory and descriptors back to where they were.

    python bench/doors.py [--minutes 10] [--attack NAME]... [--nice N] [--json FILE]
"""

from __future__ import annotations

import asyncio
import json
import multiprocessing
import os
import resource
import selectors
import socket
import tempfile
import threading
import time
from collections import deque
from collections.abc import Callable
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, cast

import click
import httpx
from loops import repository  # noqa: F401 - finds the tests
from loops.machine import machine
from tests.support.attackers import post
from tests.support.attackers_exhaustion import (
    CHUNKED_HEAD,
    HEAD_ONLY,
    ProcessUse,
    connections,
    nested_arrays,
    put_tiny_blobs,
    under_limit,
    wait_until_released,
)
from tests.support.authors import Author
from tests.support.evaluator_bombs import LONG_DATES, commit_bomb
from tests.support.ledgers import ORGANISER, served
from tests.support.request_loops import CALM_S, RequestConnection, SenderReplies

from tequio_ledger.runtime import TRIM_S
from tequio_shared.log.tiles import encode_bundle

if TYPE_CHECKING:
    from collections.abc import Iterator
    from multiprocessing.synchronize import Event

    from tests.support.ledgers import Served

OPEN_FILES = 1_024
CONNECTIONS = 1_200
NETWORKS = 24
PEOPLE = 8
READS = ("/v1/network", "/log/checkpoint", "/log/tile/entries/000.p/1", "/v1/peers", "/v1/runs")
OPTIONS = ("--trusted-proxy", "127.0.0.1/32", "--peer-quota-mb", "1")
BASELINE_S = 60.0
"""Time before an attack, at most, in which the same peers ask the same ledger."""
SETTLE_S = 2 * TRIM_S
"""After the descriptors are back, until memory is read for the last time."""
RELEASE_S = 75.0
ATTACKERS_NICE = 10
GOAL_MS = 500
REOPEN_S = 5.0
PAUSE_S = 0.1
OWN_PAUSE_S = 0.02
BLOBS_EACH = 200
MIB = 1 << 20


@click.command()
@click.option("--minutes", type=float, default=10.0, help="Duration of each attack.")
@click.option("--attack", "names", multiple=True, help="Only this attack. Repeatable.")
@click.option(
    "--json", "json_file", type=click.Path(path_type=Path), help="Write the figures to this file."
)
@click.option(
    "--nice",
    default=0,
    help="Niceness of ledger and peers: below 0, which root may choose, neighbours count less.",
)
def main(minutes: float, names: tuple[str, ...], json_file: Path | None, nice: int) -> None:
    """Measure each attack on a fresh ledger, and print a table."""
    set_niceness(nice)
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    load_before = os.getloadavg()[0]
    rows = {
        name: measure(attack, 60 * minutes)
        for name, attack in ATTACKS.items()
        if not names or name in names
    }
    print(table(rows))
    report = {
        "minutes": minutes,
        "nice": nice,
        "attacks": rows,
        **machine(),
        "load_before": load_before,
    }
    print(json.dumps(report, indent=2))
    if json_file:
        json_file.write_text(json.dumps(report) + "\n")


def set_niceness(nice: int) -> None:
    """Set the niceness of this process, and of its session where Linux schedules by session."""
    os.nice(nice)
    session = Path("/proc/self/autogroup")
    if nice and session.exists():
        session.write_text(str(nice))


def measure(attack: Attack, seconds: float) -> dict[str, float]:
    """Let honest peers ask a ledger for so long while it is attacked."""
    program = under_limit(OPEN_FILES)
    with (
        tempfile.TemporaryDirectory() as folder,
        served(Path(folder), *OPTIONS, program=program) as ledger,
        reading_log(ledger),
        attack(ledger) as begin,
    ):
        asyncio.run(ask_all(ledger, "warm", 5))  # loads what is loaded once
        calm = asyncio.run(ask_all(ledger, "calm", min(BASELINE_S, seconds)))
        before = ProcessUse.of(ledger.process.pid)
        # A process of its own: in a thread it would slow down those who measure.
        forked = multiprocessing.get_context("fork")
        is_over = forked.Event()
        attacker = forked.Process(target=attack_at_low_priority, args=(begin, is_over))
        attacker.start()
        try:
            during = asyncio.run(ask_all(ledger, "during", seconds))
        finally:
            is_over.set()
            attacker.join()
        wait_until_released(ledger.process.pid, before.descriptors + 8, RELEASE_S)
        time.sleep(SETTLE_S)
        after = ProcessUse.of(ledger.process.pid)
        return {
            "calm_p99_ms": calm.figures()["p99_ms"],
            "calm_most_ms": calm.figures()["most_ms"],
            "calm_newcomer_p99_ms": calm.figures()["newcomer_p99_ms"],
            **during.figures(),
            **use_of(before, during.most, after),
        }


@contextmanager
def reading_log(ledger: Served) -> Iterator[None]:
    """Read what the ledger logs: it would wait for a full pipe."""
    log = ledger.process.stderr or ()
    reader = threading.Thread(target=lambda: deque(log, maxlen=0), daemon=True)
    reader.start()
    yield
    ledger.process.terminate()
    reader.join()


def attack_at_low_priority(begin: Begin, is_over: Event) -> None:
    """Attack from a process that the scheduler prefers others to."""
    os.nice(ATTACKERS_NICE - os.nice(0))
    begin(is_over)


@dataclass(kw_only=True)
class Phase:
    """Answers to all honest peers for a while, and what else was seen meanwhile."""

    replies: list[SenderReplies]
    most: ProcessUse
    loop: LoopUse
    newcomer: SenderReplies = field(default_factory=SenderReplies)
    own_delays_s: list[float] = field(default_factory=list)
    """How late the event loop of this process was, which adds to the waiting times."""
    loads: list[float] = field(default_factory=list)
    """Load averages of the machine."""

    def figures(self) -> dict[str, float]:
        """Answers, waiting times, and how busy the machine was."""
        waits = sorted(wait for one in self.replies for wait in one.waits_s)
        return {
            "asked": sum(one.asked for one in self.replies),
            "served": sum(one.served for one in self.replies),
            "p50_ms": in_ms(waits, 0.5),
            "p99_ms": in_ms(waits, 0.99),
            "most_ms": in_ms(waits, 1),
            "newcomer_asked": self.newcomer.asked,
            "newcomer_served": self.newcomer.served,
            "newcomer_p99_ms": in_ms(sorted(self.newcomer.waits_s), 0.99),
            "own_p99_ms": in_ms(sorted(self.own_delays_s), 0.99),
            "loop_ran_percent": self.loop.ran_percent,
            "loop_had_no_core_percent": self.loop.waited_percent,
            "load_mean": round(sum(self.loads) / len(self.loads), 1),
            "load_most": round(max(self.loads), 1),
        }


@dataclass(frozen=True, slots=True)
class LoopUse:
    """Shares of a time in which the ledger's event loop ran, and in which it waited for a core."""

    ran_percent: float
    waited_percent: float

    @classmethod
    def since(cls, earlier_ns: tuple[int, int], pid: int, seconds: float) -> LoopUse:
        """Compare with what `loop_times_ns` gave earlier."""
        ran, waited = (
            round((now - then) / seconds / 1e7, 1)
            for now, then in zip(loop_times_ns(pid), earlier_ns, strict=True)
        )
        return cls(ran, waited)


def loop_times_ns(pid: int) -> tuple[int, int]:
    """Time for which the first thread of a process ran, and was ready but had no core."""
    ran, waited, _ = Path(f"/proc/{pid}/schedstat").read_text().split()
    return int(ran), int(waited)


async def ask_all(ledger: Served, name: str, seconds: float) -> Phase:
    """Ask calmly as several peers, and watch the ledger's process."""
    pid, begun, times_ns = ledger.process.pid, time.monotonic(), loop_times_ns(ledger.process.pid)
    replies = [SenderReplies() for _ in range(PEOPLE)]
    end = begun + seconds
    phase = Phase(replies=replies, most=ProcessUse.of(pid), loop=LoopUse(0, 0))
    async with asyncio.TaskGroup() as tasks:
        for number, one in enumerate(replies):
            tasks.create_task(ask_one(ledger, f"{name} {number}", number, one, end))
        tasks.create_task(ask_anew(ledger, phase.newcomer, end))
        tasks.create_task(measure_delays(phase.own_delays_s, end))
        while time.monotonic() < end:
            now, most = await asyncio.to_thread(ProcessUse.of, pid), phase.most
            phase.most = ProcessUse(
                max(most.resident_bytes, now.resident_bytes), max(most.descriptors, now.descriptors)
            )
            phase.loads.append(os.getloadavg()[0])
            await asyncio.sleep(0.5)
    phase.loop = LoopUse.since(times_ns, pid, time.monotonic() - begun)
    return phase


async def measure_delays(delays_s: list[float], end: float) -> None:
    """Record how late this event loop is."""
    loop = asyncio.get_running_loop()
    while time.monotonic() < end:
        due = loop.time() + OWN_PAUSE_S
        await asyncio.sleep(OWN_PAUSE_S)
        delays_s.append(loop.time() - due)


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


async def ask_anew(ledger: Served, replies: SenderReplies, end: float) -> None:
    """Read until the end, over a new connection each time, without a proxy."""
    host, _, port = ledger.url.removeprefix("http://").rpartition(":")
    while time.monotonic() < end:
        begun = time.monotonic()
        try:
            reader, writer = await asyncio.open_connection(
                host, int(port), local_addr=("127.0.99.1", 0)
            )
            writer.write(b"GET /log/checkpoint HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n")
            answer = await reader.read()
            writer.close()
            replies.statuses[int(answer.split(b" ", 2)[1])] += 1
            replies.waits_s.append(time.monotonic() - begun)
        except (OSError, IndexError):
            replies.broken += 1
        await asyncio.sleep(CALM_S)


Begin = Callable[["Event"], None]
"""Attacks until the event is set."""


@contextmanager
def none(_ledger: Served) -> Iterator[Begin]:
    """No attack."""
    yield lambda _is_over: None


@contextmanager
def silent(ledger: Served, begin: bytes = b"") -> Iterator[Begin]:
    """Connections that send nothing but `begin`."""

    def hold(is_over: Event) -> None:
        while not is_over.is_set():
            with connections(ledger, CONNECTIONS, NETWORKS, begin):
                is_over.wait(REOPEN_S)

    yield hold


def slow_bodies(ledger: Served) -> AbstractContextManager[Begin]:
    """Requests whose body never comes."""
    return silent(ledger, HEAD_ONLY)


@contextmanager
def bombs(ledger: Served) -> Iterator[Begin]:
    """Documents of a drawn evaluator: one that an organiser stored for it, far above its bound."""
    with httpx.Client(base_url=ledger.url, timeout=120) as http:
        bomb = commit_bomb(ledger, http, nested_arrays(63 * MIB), LONG_DATES)
        if bomb.upload(http, ORGANISER) != httpx.codes.CREATED:
            raise SystemExit("the organiser's upload was refused")

        def post_all(is_over: Event) -> None:
            while not is_over.is_set():
                bomb.upload(http)
                bomb.post()
                is_over.wait(PAUSE_S)

        yield post_all


@contextmanager
def tiny_blobs(ledger: Served) -> Iterator[Begin]:
    """Tiny blobs of one key after the other."""

    def put_all(is_over: Event) -> None:
        number = 0
        while not is_over.is_set():
            author = Author(f"hoarder {number}", ledger.net)
            post(ledger.url, [author.register(time.time_ns() // 1_000_000)])
            put_tiny_blobs(ledger, author.signer, BLOBS_EACH, first=number * BLOBS_EACH)
            number += 1

    yield put_all


@contextmanager
def tiny_chunks(ledger: Served) -> Iterator[Begin]:
    """Bodies in chunks of one byte."""
    yield lambda is_over: send_on(ledger, 20, CHUNKED_HEAD + b"1\r\na\r\n" * MIB, is_over)


@contextmanager
def small_chunks(ledger: Served) -> Iterator[Begin]:
    """Bodies in chunks as small as the ledger accepts."""
    content = CHUNKED_HEAD + (b"12c\r\n" + b"a" * 300 + b"\r\n") * (MIB // 307)
    yield lambda is_over: send_on(ledger, 400, content, is_over)


@contextmanager
def bursts(ledger: Served) -> Iterator[Begin]:
    """As many new connections as the ledger closes."""
    yield lambda is_over: send_on(ledger, CONNECTIONS, HEAD_ONLY, is_over)


@contextmanager
def pipelines(ledger: Served) -> Iterator[Begin]:
    """Short requests in advance, many on each connection."""
    request = b"GET /v1/network HTTP/1.1\r\nhost: x\r\n\r\n" * 100
    yield lambda is_over: send_on(ledger, CONNECTIONS, request, is_over)


@contextmanager
def long_answers(ledger: Served) -> Iterator[Begin]:
    """Long lists, requested in advance and not read."""
    for number in range(25):
        authors = [Author(f"listed {number} {at}", ledger.net) for at in range(40)]
        entries = [author.register(time.time_ns() // 1_000_000) for author in authors]
        body, network = encode_bundle([one.leaf() for one in entries]), f"198.18.{number}.7"
        head = {"x-forwarded-for": network}
        httpx.post(f"{ledger.url}/v1/statements", content=body, headers=head, timeout=60)
    request = b"GET /v1/peers?limit=250 HTTP/1.1\r\nhost: x\r\n\r\n" * 100
    yield lambda is_over: send_on(ledger, 400, request, is_over)


def send_on(ledger: Served, count: int, content: bytes, is_over: Event) -> None:
    """Send the same on that many connections, read nothing, and reopen those that are closed."""
    host, _, port = ledger.url.removeprefix("http://").rpartition(":")
    numbers = iter(range(1 << 40))
    while not is_over.is_set():
        left: dict[socket.socket, memoryview] = {}
        end = time.monotonic() + REOPEN_S
        with selectors.DefaultSelector() as selector:
            while time.monotonic() < end and not is_over.is_set():
                for _ in range(count - len(left)):
                    line = connected(
                        (f"127.0.{1 + next(numbers) % NETWORKS}.1", 0), host, int(port)
                    )
                    if line is None:
                        break
                    selector.register(line, selectors.EVENT_WRITE)
                    left[line] = memoryview(content)
                for key, _ in selector.select(PAUSE_S):
                    line = cast("socket.socket", key.fileobj)
                    if not send_some(selector, line, left):
                        selector.unregister(line)
                        del left[line]
                        line.close()
        for line in left:
            line.close()


def send_some(
    selector: selectors.BaseSelector, line: socket.socket, left: dict[socket.socket, memoryview]
) -> bool:
    """Send what a connection takes, then wait for its end; False when it is closed."""
    try:
        if left[line]:
            left[line] = left[line][line.send(left[line]) :]
            if not left[line]:
                selector.modify(line, selectors.EVENT_READ)
            return True
        is_open = bool(line.recv(1, socket.MSG_PEEK))
    except BlockingIOError:
        return True
    except OSError:
        return False
    if is_open:  # an answer, which stays unread
        selector.unregister(line)
    return is_open


def connected(source: tuple[str, int], host: str, port: int) -> socket.socket | None:
    """Connect from an address; None if that fails."""
    line = socket.socket()
    line.settimeout(REOPEN_S)
    try:
        line.bind(source)
        line.connect((host, port))
    except OSError:
        line.close()
        return None
    line.setblocking(False)  # noqa: FBT003  # the standard library's own parameter
    return line


Attack = Callable[["Served"], AbstractContextManager[Begin]]
ATTACKS: dict[str, Attack] = {
    "none": none,
    "silent": silent,
    "slow bodies": slow_bodies,
    "bombs": bombs,
    "tiny blobs": tiny_blobs,
    "tiny chunks": tiny_chunks,
    "small chunks": small_chunks,
    "bursts": bursts,
    "pipelines": pipelines,
    "long answers": long_answers,
}


def in_ms(waits_s: list[float], part: float) -> float:
    """A quantile of sorted waiting times."""
    return round(1000 * waits_s[min(int(len(waits_s) * part), len(waits_s) - 1)], 1)


def use_of(before: ProcessUse, most: ProcessUse, after: ProcessUse) -> dict[str, float]:
    """Memory in MiB and descriptors: before, at most, and after."""
    uses = {"before": before, "most": most, "after": after}
    memory = {f"memory_{name}_mib": use.resident_bytes // MIB for name, use in uses.items()}
    return {**memory, **{f"descriptors_{name}": use.descriptors for name, use in uses.items()}}


def table(rows: dict[str, dict[str, float]]) -> str:
    """The figures as text, one line for each attack."""
    lines = [
        f"{'attack':16} {'asked':>6} {'served':>6} {'p50 ms':>7} {'p99 ms':>7} {'most ms':>8}"
        f" {'newcomer':>8} {'calm p99':>8} {'memory MiB':>14} {'descriptors':>12} {'load':>5}"
        f" {'no core':>7}  goal"
    ]
    for name, row in rows.items():
        memory, files = (
            " ".join(f"{row[f'{what}_{when}{unit}']:.0f}" for when in ("before", "most", "after"))
            for what, unit in (("memory", "_mib"), ("descriptors", ""))
        )
        is_served = all(row[f"{who}served"] == row[f"{who}asked"] for who in ("", "newcomer_"))
        is_met = max(row["p99_ms"], row["newcomer_p99_ms"]) < GOAL_MS and is_served
        lines.append(
            f"{name:16} {row['asked']:6.0f} {row['served']:6.0f} {row['p50_ms']:7.1f}"
            f" {row['p99_ms']:7.1f} {row['most_ms']:8.1f} {row['newcomer_p99_ms']:8.1f}"
            f" {row['calm_p99_ms']:8.1f} {memory:>14} {files:>12} {row['load_mean']:5.1f}"
            f" {row['loop_had_no_core_percent']:6.1f}%  {'met' if is_met else 'missed'}"
        )
    return "\n".join(lines)


if __name__ == "__main__":
    main()
