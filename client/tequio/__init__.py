"""Read a network from Python: its runs, rounds, heads, competitions, members and log.

    import tequio

    network = tequio.Network("https://ledger.example")
    for run in network.runs():
        print(run.name, run.round)

Every call is synchronous, opens its own connection and closes it. What a call returns is checked
before it is returned:

- The network is that of the first call: its id is the hash of its genesis document.
- The checkpoint is signed by the log's key (with `trust`, also by enough witnesses), and extends
  every checkpoint that this object has seen.
- An answer is true for a log that this checkpoint continues, so the ledger cannot take it back.
- `entry`, `Run.heads` and `Run.prove` read statements from the log, each with its proof of
  inclusion and its signatures.

Other figures are what the ledger derived from its log. `Network.verify` derives all of them again.
A failed check raises PeerError; an answer that did not come, LedgerUnavailableError. Both are a
TequioError, as is every error that this module raises on purpose.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Protocol, TypeVar

import trio

from tequio_client.ledger.api import LedgerApi, LedgerNetwork, check_page
from tequio_client.ledger.http import ApiLimits, LedgerRefusedError, LedgerUnavailableError
from tequio_client.ledger.networks import read_policy
from tequio_client.ledger.proofs import LogProofs, check_measure
from tequio_client.names import find_one, read_key
from tequio_client.verify.audit import AuditOptions, audit_live
from tequio_client.verify.reader import POLL_S, PUBLISHED_S
from tequio_client.verify.report import LogReport, NoProgress
from tequio_shared.api.answer import PAGE_ROWS, AsOf
from tequio_shared.api.competitions import CompetitionAnswer, CompetitionLine
from tequio_shared.api.peers import PeerAnswer
from tequio_shared.api.runs import (
    MeasuredAnswer,
    PublishedAnswer,
    RoundAnswer,
    RunAnswer,
)
from tequio_shared.errors import PeerError, TequioError, UserFacingError
from tequio_shared.ids import Digest, digest_from_text, key_from_text, to_text
from tequio_shared.log.merkle import verify_consistency
from tequio_shared.log.notes import Checkpoint
from tequio_shared.multiple_choice import MeasuredTask
from tequio_shared.round import measures
from tequio_shared.round.manifest import Manifest
from tequio_shared.statements.runs import HeadMeasure, RoundClose, RoundVoid, TaskCounts
from tequio_shared.statements.statement import Statement

__all__ = [
    "Checkpoint",
    "CompetitionAnswer",
    "CompetitionLine",
    "LedgerRefusedError",
    "LedgerUnavailableError",
    "LogReport",
    "Network",
    "PeerAnswer",
    "PeerError",
    "ProvenHead",
    "ProvenMeasure",
    "ProvenTask",
    "PublishedAnswer",
    "RoundAnswer",
    "Run",
    "RunAnswer",
    "Statement",
    "TequioError",
    "UserFacingError",
]

T = TypeVar("T")


class _Caller(Protocol):
    """Opens a connection for one call, and closes it."""

    def __call__(self, work: Callable[[_LedgerCall], Awaitable[T]]) -> T: ...


class Network:
    """A network, by the address of its ledger; nothing is sent before the first call."""

    def __init__(
        self, url: str, *, trust: str | Path | None = None, timeout_s: float = 20.0
    ) -> None:
        """`trust` is a policy file: checkpoints then need the quorum of its witnesses.

        Without it, the policy counts that is listed with the network (`tequio network add`), if any
        is. Raises UserFacingError for an invalid address or policy.
        """
        self.url = url
        self._trust = read_policy(None if trust is None else Path(trust), url)
        self._limits = ApiLimits(call_s=timeout_s)
        self._network: LedgerNetwork | None = None
        self._newest: Checkpoint | None = None

    @property
    def id(self) -> str:
        """The network's id: the hash of its genesis document, in base64url."""
        return to_text(self._call(_LedgerCall.network).id)

    @property
    def name(self) -> str:
        """The network's name, from its genesis document."""
        return self._call(_LedgerCall.network).genesis.name

    def checkpoint(self) -> Checkpoint:
        """Get the newest checkpoint: size and root of the log, signed and checked."""
        return self._call(_LedgerCall.newest)

    def runs(self) -> list[Run]:
        """List all runs, the oldest first."""
        return [Run(self._call, one) for one in self._call(_LedgerCall.runs)]

    def run(self, name: str) -> Run:
        """Find a run by its name, its id, or the beginning of its id; raises UserFacingError."""
        return find_one("run", self.runs(), lambda one: (one.name, one.id), name)

    def competitions(self) -> list[CompetitionLine]:
        """List all competitions, the oldest first."""
        return self._call(_LedgerCall.competitions)

    def competition(self, name: str) -> CompetitionAnswer:
        """Find a competition as `run` does, with its rules, entrants and evaluators."""
        lines = self.competitions()
        line = find_one("competition", lines, lambda one: (one.name, one.competition), name)
        return self._call(partial(_LedgerCall.competition, wanted=line.id))

    def peers(self) -> Iterator[PeerAnswer]:
        """Iterate over all members in order of registration, one request for each 250."""
        last: PeerAnswer | None = None
        is_more = True
        while is_more:
            rows, is_more = self._call(partial(_LedgerCall.peers, after=last))
            yield from rows
            last = rows[-1] if rows else None

    def peer(self, key: str) -> PeerAnswer:
        """Describe one member by its key; LedgerRefusedError if there is none.

        Raises UserFacingError if the text is not a key.
        """
        return self._call(partial(_LedgerCall.peer, key=key))

    def entry(self, index: int) -> Statement:
        """Read one statement of the log, with its proof of inclusion and its signatures.

        Raises UserFacingError if the log does not have it yet.
        """
        return self._call(partial(_LedgerCall.entry, index=index))

    def verify(self) -> LogReport:
        """Read the whole log and derive everything that the ledger reports, as `tequio audit` does.

        It takes long for a long log. Weights are not recomputed: `tequio audit` does that, too. The
        report lists what does not hold, also if the log does not continue what this object has seen
        of it; its `exit_code` is 0 if everything holds.
        """
        options = AuditOptions(
            trust=self._trust,
            patience_s=PUBLISHED_S,
            network=self._call(_LedgerCall.network).id,
            seen=self._newest,
        )
        work = partial(audit_live, self.url, options, cache=None, progress=NoProgress())
        report = trio.run(work)
        if report.exit_code == 0:
            self._newest = report.checkpoint
        return report

    def _call(self, work: Callable[[_LedgerCall], Awaitable[T]]) -> T:
        async def run() -> T:
            async with LedgerApi(self.url, limits=self._limits, trust=self._trust) as api:
                call = _LedgerCall(api, self._newest)
                network = await api.network()
                if self._network is not None and network.id != self._network.id:
                    raise PeerError(
                        f"{self.url} is the ledger of another network now: {to_text(network.id)}"
                    )
                found = await work(call)
                self._network, self._newest = network, call.checkpoint
                return found

        return trio.run(run)


class Run:
    """A run as it was when it was read; its methods read on from the ledger."""

    def __init__(self, call: _Caller, answer: RunAnswer) -> None:
        self._call = call
        self.answer = answer
        """Everything that the ledger reports about it."""

    def __repr__(self) -> str:
        return f"<Run {self.name} ({self.state}, round {self.round})>"

    @property
    def id(self) -> str:
        """Hash of the run's manifest, in base64url."""
        return self.answer.run

    @property
    def name(self) -> str:
        return self.answer.name

    @property
    def state(self) -> str:
        """Such as `round_train` or `finished` (docs/protocol.md, 9)."""
        return self.answer.state

    @property
    def round(self) -> int:
        """Number of the newest round."""
        return self.answer.round

    @property
    def members(self) -> int:
        """Members that are ready for a round."""
        return self.answer.members

    @property
    def tokens(self) -> int:
        """Tokens that were trained on and accepted."""
        return self.answer.tokens

    @property
    def published(self) -> tuple[PublishedAnswer, ...]:
        """Published heads, where they are, and the entries that state it; the newest first."""
        return self.answer.published

    def rounds(self, *, after: int = 0, limit: int | None = None) -> list[RoundAnswer]:
        """List rounds with a number above `after`, ascending; all of them without a limit."""
        return self._call(partial(_LedgerCall.rounds, run=self.answer, after=after, limit=limit))

    def heads(self, *, after: int = -1, limit: int | None = None) -> list[ProvenHead]:
        """List the heads that drawn members measured, of rounds above `after`, ascending.

        Each measure is read from the log, and the median is computed here.
        """
        return self._call(partial(_LedgerCall.heads, run=self.answer, after=after, limit=limit))

    def prove(self, number: int) -> Statement:
        """Read the statement that closed a round, or declared it void, from the log.

        Raises UserFacingError while the round has not ended, and PeerError if the ledger reports
        another end than the log has.
        """
        return self._call(partial(_LedgerCall.prove, run=self.answer, number=number))


@dataclass(frozen=True, slots=True, kw_only=True)
class ProvenMeasure:
    """One member's measure of a head, as its statement in the log says."""

    entry: int
    peer: str
    bits_per_byte: float
    perplexity: float
    """Per token: it compares heads of one run only."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProvenTask:
    """Answers of a head to a task of the run, as statements in the log count them."""

    name: str
    file: str
    """SHA-256 of the task's file."""
    chance: float
    """Share of right answers by guessing."""
    asked: int
    right: int
    """Median of the members' counts, as every figure below."""
    right_normed: int
    """The same by the fewest bits per character."""
    close: int
    """Questions that honest members may count differently in `right`."""
    close_normed: int
    members: int
    """Members that answered."""
    outliers: int
    """Members whose counts are too far from the median."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProvenHead:
    """The model after a round, measured on text that nobody trains on."""

    round: int
    hash: str
    bits_per_byte: float
    """Median of `measures`; perplexity too."""
    perplexity: float
    measures: tuple[ProvenMeasure, ...]
    prompt: str
    """Beginning of a text that nobody trains on; empty without a sample."""
    text: str
    """Text that the model adds to it, as one of the members reports."""
    tasks: tuple[ProvenTask, ...]
    """In the order of the run's manifest; none if no member answered them."""


class _LedgerCall:
    """One call over an open connection: asks, and checks what is answered."""

    def __init__(self, api: LedgerApi, seen: Checkpoint | None) -> None:
        self._api = api
        self.checkpoint = seen
        """The newest checkpoint that was seen and checked."""
        self._tasks_of: dict[str, tuple[MeasuredTask, ...]] = {}  # by run

    async def network(self) -> LedgerNetwork:
        return await self._api.network()

    async def newest(self, at_least: int = 0) -> Checkpoint:
        """Get the newest checkpoint, which must extend the last one; waits for one of that size.

        What the ledger reports may be ahead of what its witnesses have cosigned for a while.
        """
        deadline_s = trio.current_time() + PUBLISHED_S
        found = await self._api.checkpoint()
        while found.size < at_least and trio.current_time() < deadline_s:
            await trio.sleep(POLL_S)
            found = await self._api.checkpoint()
        older, newer = sorted((found, self.checkpoint or found), key=lambda one: one.size)
        await self._check_prefix(older.size, older.root, newer)
        self.checkpoint = newer
        if newer.size < at_least:
            raise PeerError(f"no checkpoint covers the {at_least} entries that the ledger reports")
        return newer

    async def _check_prefix(self, size: int, root: bytes, newer: Checkpoint) -> None:
        """Raise PeerError unless the log of that size and root is the beginning of the newer."""
        proof = []
        if size < newer.size:
            proof = await LogProofs(self._api, newer).consistency(size)
        verify_consistency(size, root, newer.size, newer.root, proof)

    async def _check(self, *answers: AsOf) -> None:
        """Check the logs that answers are true for; raises PeerError."""
        for size, root in sorted({(one.size, one.root) for one in answers}):
            newest = self.checkpoint
            if newest is None or newest.size < size:
                newest = await self.newest(size)
            await self._check_prefix(size, digest_from_text(root), newest)

    async def runs(self) -> tuple[RunAnswer, ...]:
        found = await self._api.runs()
        await self._check(*(one.as_of for one in found))
        return found

    async def rounds(self, *, run: RunAnswer, after: int, limit: int | None) -> list[RoundAnswer]:
        found: list[RoundAnswer] = []
        while limit is None or len(found) < limit:
            most = PAGE_ROWS if limit is None else min(limit - len(found), PAGE_ROWS)
            page = await self._api.rounds(run.id, after=after, limit=most)
            found += page
            if len(page) < most:
                break
            after = page[-1].round
        await self._check(*(one.as_of for one in found))
        return found

    async def heads(self, *, run: RunAnswer, after: int, limit: int | None) -> list[ProvenHead]:
        found: list[ProvenHead] = []
        following: int | None = after
        while following is not None and (limit is None or len(found) < limit):
            most = PAGE_ROWS if limit is None else min(limit - len(found), PAGE_ROWS)
            page = await self._api.measures(run.id, after=following, limit=most)
            await self._check(page.as_of)
            found += [await self._head(run, one) for one in page.heads]
            following = page.next
        return found

    async def _head(self, run: RunAnswer, answer: MeasuredAnswer) -> ProvenHead:
        """Read the measures of a head from the log; raises PeerError for one that differs."""
        rows = {one.entry: one for one in answer.measures}
        if not rows:
            raise PeerError(f"nobody measured the head of round {answer.round}")
        said = dict(zip(rows, await self.statements(indices=list(rows)), strict=True))
        bodies = {
            entry: check_measure(run, answer, rows[entry], one) for entry, one in said.items()
        }
        middle, sample = measures.median(bodies.values()), answer.sample
        if sample is not None:
            told = bodies.get(sample.entry)
            text = None if told is None else measures.sample_of(told)
            if text is None or (text.prompt, text.text) != (sample.prompt, sample.text):
                raise PeerError(f"entry {sample.entry} has another text than the ledger reports")
        return ProvenHead(
            round=answer.round,
            hash=answer.head,
            bits_per_byte=measures.bits_per_byte(middle),
            perplexity=measures.perplexity(middle),
            measures=tuple(
                ProvenMeasure(
                    entry=entry,
                    peer=rows[entry].peer,
                    bits_per_byte=measures.bits_per_byte(body),
                    perplexity=measures.perplexity(body),
                )
                for entry, body in bodies.items()
            ),
            prompt=sample.prompt if sample else "",
            text=sample.text if sample else "",
            tasks=await self._answers(run, bodies),
        )

    async def _answers(
        self, run: RunAnswer, bodies: Mapping[int, HeadMeasure]
    ) -> tuple[ProvenTask, ...]:
        """Count what measures of one head answered; the tasks are those of the run's manifest."""
        answers = measures.answers_by_task(bodies)
        if not answers:
            return ()
        return tuple(
            _task(task, counts)
            for task, counts in zip(await self._tasks(run), answers, strict=True)
        )

    async def _tasks(self, run: RunAnswer) -> tuple[MeasuredTask, ...]:
        """Read the tasks in a run's manifest, whose hash is the run's id; raises PeerError."""
        if run.run not in self._tasks_of:
            raw = await self._api.get_blob(digest_from_text(run.run))
            if raw is None:
                raise PeerError(f"the ledger does not have the manifest of the run {run.run}")
            self._tasks_of[run.run] = Manifest.parse(raw).measures.answered
        return self._tasks_of[run.run]

    async def prove(self, *, run: RunAnswer, number: int) -> Statement:
        found = await self.rounds(run=run, after=number - 1, limit=1) if number > 0 else []
        if not found or found[0].round != number or found[0].closed_index is None:
            raise UserFacingError(f"round {number} of {run.name} has not ended")
        row = found[0]
        (said,) = await self.statements(indices=(found[0].closed_index,))
        end: tuple[str, int, str | None]
        match said.body:
            case RoundClose(accepted=accepted, result=result):
                end = ("closed", accepted, result)
            case RoundVoid():
                end = ("void", row.accepted, row.result)
            case _:
                end = ("", 0, "")
        stated = (row.outcome, row.accepted, row.result)
        if (said.run, said.round) != (run.id, number) or end != stated:
            raise PeerError(f"entry {row.closed_index} does not end round {number} as reported")
        return said

    async def competitions(self) -> list[CompetitionLine]:
        pages = await self._api.competition_pages()
        await self._check(*(page.as_of for page in pages))
        return [one for page in pages for one in page.competitions]

    async def competition(self, *, wanted: Digest) -> CompetitionAnswer:
        found = await self._api.competition(wanted)
        await self._check(found.as_of)
        return found

    async def peers(self, *, after: PeerAnswer | None) -> tuple[list[PeerAnswer], bool]:
        """Read the page after a member, and tell whether there is another one."""
        name = after.key if after else ""
        page = await self._api.peers(after=name, limit=PAGE_ROWS)
        places = [_registration(after) if after else _FIRST, *map(_registration, page.peers)]
        check_page("members", places, PAGE_ROWS)
        if page.next is not None and (not page.peers or page.next != page.peers[-1].key):
            raise PeerError(f"the members after {name!r} continue after {page.next}")
        await self._check(page.as_of)
        return list(page.peers), page.next is not None

    async def peer(self, *, key: str) -> PeerAnswer:
        found = await self._api.peer(read_key(key))
        await self._check(found.as_of)
        return found

    async def entry(self, *, index: int) -> Statement:
        size = self.checkpoint.size if self.checkpoint else 0
        if size <= index:
            size = (await self.newest()).size
        if not 0 <= index < size:
            raise UserFacingError(f"there is no entry {index} in a log of {size} entries")
        (found,) = await self.statements(indices=(index,))
        return found

    async def statements(self, *, indices: Sequence[int]) -> list[Statement]:
        """Read statements, each proven against the newest checkpoint."""
        newest = self.checkpoint
        if newest is None or newest.size <= max(indices):
            newest = await self.newest()
        network = await self._api.network()
        found = await LogProofs(self._api, newest).entries(network, indices)
        return [found[index].statement for index in indices]


_FIRST = -1, ""
"""Before every place of `_registration`."""


def _registration(peer: PeerAnswer) -> tuple[int, str]:
    """Give the place of a key in the order of registration; some were registered by one entry."""
    return peer.registered_index, key_from_text(peer.key).hex()


def _task(task: MeasuredTask, counts: Mapping[int, TaskCounts]) -> ProvenTask:
    median = measures.task_median(counts.values())
    return ProvenTask(
        name=task.name,
        file=task.file,
        chance=task.chance,
        asked=median.asked,
        right=median.right,
        right_normed=median.right_normed,
        close=median.close,
        close_normed=median.close_normed,
        members=len(counts),
        outliers=len(measures.task_outliers(counts)),
    )
