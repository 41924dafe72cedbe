"""Invariants of a swarm that must hold after any fault; each check raises AssertionError.

- The log continues: it begins with the log of the checkpoint from before the fault, and an audit of
  every entry finds nothing.
- Each acknowledged statement is logged, exactly once; no member states the same thing twice.
- All members state the same head for a round; within two rounds of being in a roster again, every
  member holds it.
- No member is blamed: crashes, silence and late work do not worsen anybody's standing.
- No program's log has a traceback or an error, and no trainer outlives its worker.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import psutil
import trio

from tequio_client.clock import now_ms
from tequio_client.verify.audit import PUBLISHED_S, AuditOptions, LogAudit
from tequio_client.verify.report import LogReport, NoProgress
from tequio_client.verify.source import LiveLog
from tequio_shared.head.contribution import ContributionHeader
from tequio_shared.ids import from_text, to_text
from tequio_shared.statements.network import MemberLeave, MemberReady, StandingChange
from tequio_shared.statements.runs import HeadAttest, HeadPromote, WorkCommit
from tests.support.fault_swarm import PATIENCE_S, VOLUNTEERS
from tests.support.real_network import TRAINER

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tequio_shared.log.notes import Checkpoint
    from tequio_shared.statements.statement import Statement
    from tests.support.fault_swarm import FaultSwarm

WITHIN_ROUNDS = 2
STARTS_MS = 15_000
"""A trainer's start on a busy machine: it loads torch."""
ORPHAN_S = 30.0
RECENT_BYTES = 1 << 16
LOUD = {"error", "critical"}
FULL = "is full"
"""A full disk: an error that the operator must see, and that one of the faults causes."""
CLOSED = "takes no statements"
"""Logged by a ledger after that; where its database met it, by a reason that names no disk."""
BLAME = {"suspected", "quarantined"}


@dataclass(frozen=True, slots=True, kw_only=True)
class LogState:
    """The log before a fault."""

    checkpoint: Checkpoint
    size: int


class Invariants:
    """Checks one swarm repeatedly; each check reads only what is new."""

    def __init__(self, swarm: FaultSwarm) -> None:
        self._swarm = swarm
        self._report = LogReport()
        self._audit: LogAudit | None = None
        self._logs: dict[Path, _LogFile] = {}
        self._seqs: dict[str, dict[int, str]] = defaultdict(dict)  # types by key and number
        self._said: Counter[tuple[str, int | None, str, bytes]] = Counter()
        self._taken = 0

    async def before(self) -> LogState:
        """The log's present state."""
        return LogState(
            checkpoint=await self._swarm.watch.checkpoint(), size=self._swarm.watch.size
        )

    async def check(self, before: LogState) -> None:
        """Check every invariant, once the fault is over."""
        since = self._swarm.watch.size
        await self._swarm.watch.check_continues(before.checkpoint)
        for name in VOLUNTEERS:
            await self._check_equal(name, since)
        self._check_one_head()
        self._check_blame()
        await self._check_statements()
        await self._check_audit()
        await self._check_orphans()

    # --- heads

    async def _check_equal(self, name: str, since: int) -> None:
        """Wait until a volunteer is in a roster again and holds its head; at most two rounds.

        Those before its trainer can have started do not count: a round takes a second here.
        """
        swarm, key = self._swarm, self._swarm.keys[name]
        started_ms = now_ms() + STARTS_MS

        def find() -> bool | None:
            rosters = [one for one in swarm.watch.after(since) if _is_roster(one)]
            listed = {
                one.round or 0: one.ts
                for one in rosters
                if key in swarm.watch.rosters[one.round or 0]
            }
            if any(self._holds(name, number, since) for number in listed):
                return True
            over = set(swarm.watch.closed_after(since))
            missed = [number for number, ts in listed.items() if number in over and ts > started_ms]
            assert len(missed) <= WITHIN_ROUNDS, f"{name} held no head in rounds {missed}"
            return None

        await swarm.watch.until(f"{name} takes part again", find, PATIENCE_S)

    def _holds(self, name: str, number: int, since: int) -> bool:
        """True once a volunteer has shown that it holds the head from which that round started.

        It shows that by stating it, by training from it, in its status line or in its log: rounds
        are so quick here that the next one may open before a member has stated the head.
        """
        head = self._swarm.watch.head_of(number)
        if head is None:
            return False
        program = self._swarm.actors[name].program
        if _has_got(program.log, head):
            return True
        status = program.status
        shown = {status.head} if status is not None else set()
        shown |= set(_stated(self._swarm.watch.after(since), self._swarm.keys[name], number))
        return head in shown

    def _check_one_head(self) -> None:
        heads = self._swarm.watch.heads()
        split = {number: found for number, found in heads.items() if len(found) > 1}
        assert not split, f"more than one head was stated: {split}"
        promoted = self._swarm.watch.all_of(HeadPromote)
        by_round = {one.round: body.head for one, body in promoted}
        for name in VOLUNTEERS:
            status = self._swarm.actors[name].program.status
            if status is not None and status.head_round in by_round:
                assert status.head == by_round[status.head_round], f"{name} has another head"

    def _check_blame(self) -> None:
        changes = [body for _, body in self._swarm.watch.all_of(StandingChange)]
        blamed = [body for body in changes if body.to in BLAME]
        assert not blamed, f"everybody is honest, and yet: {blamed}"

    # --- statements

    async def _check_statements(self) -> None:
        """No acknowledged statement is missing, and none is logged twice."""
        acknowledged = list(self._acknowledged())
        await self._swarm.up_to_date()
        self._take_statements()
        for name, fields in acknowledged:
            found = self._seqs[self._swarm.keys[name]].get(fields["seq"])
            assert found == fields["type"], f"{name}: {fields} is {found} in the log"
        # Who was dropped, or left, is ready again, in the same words.
        once = {what: count for what, count in self._said.items() if what[2] != MemberReady.TYPE}
        twice = [what for what, count in once.items() if count > 1]
        assert not twice, f"said twice: {twice}"

    def _acknowledged(self) -> Iterator[tuple[str, dict[str, Any]]]:
        """Statements newly acknowledged to programs, with the programs' names."""
        for path in sorted((self._swarm.network.folder / "logs").glob("*.log")):
            for fields in self._logs.setdefault(path, _LogFile(path)).read():
                if fields.get("event") == "statement logged":
                    yield path.stem, fields

    def _take_statements(self) -> None:
        for one in self._swarm.watch.after(self._taken):
            key = to_text(one.author)
            assert one.seq not in self._seqs[key], f"{key} has number {one.seq} twice"
            self._seqs[key][one.seq] = one.type
            if key in self._swarm.keys.values() and not isinstance(one.body, MemberLeave):
                self._said[key, one.round, one.type, repr(one.body).encode()] += 1
            self._taken += 1

    async def _check_audit(self) -> None:
        """Audit the new entries of the log as a stranger would."""
        await trio.to_thread.run_sync(self._read_on)
        assert not self._report.findings, [one.line() for one in self._report.findings]

    def _read_on(self) -> None:
        if self._audit is None:
            scope = AuditOptions(patience_s=PUBLISHED_S)
            self._audit = LogAudit(LiveLog(self._swarm.api), scope, self._report, NoProgress())
        self._audit.read()

    # --- processes

    async def _check_orphans(self) -> None:
        """Every trainer ends once its worker has ended."""

        def none_left() -> bool:
            return not _orphans(self._swarm)

        await self._swarm.network.until("no trainer is left alone", none_left, ORPHAN_S)


class _LogFile:
    """A program's log, read from the last position; raises AssertionError for errors in it."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._offset = 0
        self._cause = ""  # of the last fault of the ledger's database

    def read(self) -> Iterator[dict[str, Any]]:
        """Events in the new lines."""
        with self._path.open("rb") as file:
            file.seek(self._offset)
            new = file.read()
        new = new[: new.rfind(b"\n") + 1]
        self._offset += len(new)
        trace = new[new.index(b"Traceback") :] if b"Traceback" in new else b""
        assert not trace, f"{self._path}: {trace[:1000]!r} … {trace[-2000:]!r}"
        for line in new.splitlines():
            with suppress(json.JSONDecodeError, UnicodeDecodeError):
                fields = json.loads(line)
                if fields.get("event") == "the database failed":
                    self._cause = str(fields["reason"])
                told = str(fields) + (self._cause if fields.get("event") == CLOSED else "")
                is_loud = fields.get("level") in LOUD and FULL not in told
                assert not is_loud, f"{self._path.name}: {fields}"
                yield fields


def _is_roster(one: Statement) -> bool:
    return one.type == "round.roster"


def _has_got(log: Path, head: str) -> bool:
    """True if the end of a worker's log reports that head as computed or fetched."""
    with log.open("rb") as file:
        file.seek(max(log.stat().st_size - RECENT_BYTES, 0))
        lines = file.read().decode(errors="replace").splitlines()
    events = [f'"event": "{event}"' for event in ("head computed", "head fetched")]
    name = f'"head": "{head[:10]}"'
    return any(name in line and any(one in line for one in events) for line in lines)


def _stated(statements: Iterator[Statement], key: str, number: int) -> Iterator[str]:
    """The heads that a member stated for that round, or trained from."""
    for one in statements:
        if one.round == number and to_text(one.author) == key:
            match one.body:
                case HeadAttest(head=head):
                    yield head
                case WorkCommit(header=header):
                    yield to_text(ContributionHeader.parse(from_text(header, None)).base_head)
                case _:
                    pass


def _orphans(swarm: FaultSwarm) -> list[int]:
    """Trainers of this network whose worker is gone."""
    workers = set(swarm.pids().values())
    found = []
    for process in psutil.process_iter():
        with suppress(psutil.Error):
            is_trainer = TRAINER in process.cmdline() and process.ppid() not in workers
            if is_trainer and str(swarm.network.folder) in process.environ().get(
                "NUMBA_CACHE_DIR", ""
            ):
                found.append(process.pid)
    return found
