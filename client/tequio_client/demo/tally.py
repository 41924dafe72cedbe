"""What the log says about the demo's run, counted from its entries."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import trio

from tequio_client.verify.reader import LogReader
from tequio_client.verify.report import Report
from tequio_client.verify.source import LiveLog
from tequio_shared.contribution import Header
from tequio_shared.errors import UserFacingError
from tequio_shared.ids import from_text
from tequio_shared.statement import Entry
from tequio_shared.statements.rounds import (
    HeadAttest,
    HeadPromote,
    RoundClose,
    RoundOpen,
    RoundVoid,
    WorkCommit,
)

if TYPE_CHECKING:
    from tequio_client.ledger.api import LedgerApi


@dataclass(slots=True, kw_only=True)
class LogTally:
    """Counts over one log."""

    size: int
    root: str  # hex
    committed: int = 0
    void: int = 0
    heads: list[str] = field(default_factory=list)  # hex, as promoted, head 0 first
    stated: dict[int, set[str]] = field(default_factory=lambda: defaultdict(set))
    proofs: int = 0
    opened_ms: dict[int, int] = field(default_factory=dict)  # by round, coordinator's clock
    closed_ms: dict[int, int] = field(default_factory=dict)
    tokens: Counter[int] = field(default_factory=Counter)  # committed, by round
    steps: Counter[int] = field(default_factory=Counter)

    @property
    def steady_tokens_per_s(self) -> float:
        """Tokens of closed rounds over the time from the second opening to the last close."""
        first, *steady = sorted(self.closed_ms)
        if not steady:
            raise UserFacingError(f"only round {first} was closed: nothing steady to measure")
        seconds = (self.closed_ms[steady[-1]] - self.opened_ms[steady[0]]) / 1000
        return sum(self.tokens[number] for number in steady) / seconds

    @property
    def tokens_per_step(self) -> float:
        """Mean tokens of one trainer's inner step, in the last closed round."""
        last = max(self.closed_ms)
        return self.tokens[last] / self.steps[last]

    @property
    def all_agree(self) -> bool:
        """Whether every peer that stated a head for a round stated the same one."""
        return all(len(heads) == 1 for heads in self.stated.values())

    def add(self, entry: Entry) -> None:
        """Count one entry."""
        statement = entry.statement
        match statement.body:
            case RoundClose(proofs=proofs):
                self.committed += 1
                self.proofs += proofs
                self.closed_ms[statement.round or 0] = statement.ts
            case RoundOpen(opened=opened):
                self.opened_ms[statement.round or 0] = opened
            case WorkCommit(header=text):
                header = Header.parse(from_text(text, None))
                self.tokens[header.round] += header.tokens
                self.steps[header.round] += header.inner_steps
            case RoundVoid():
                self.void += 1
            case HeadPromote(head=head):
                self.heads.append(from_text(head).hex())
            case HeadAttest(head=head):
                self.stated[statement.round or 0].add(head)


async def read_log(ledger: LedgerApi) -> LogTally:
    """Count the whole log up to its newest checkpoint; raises UserFacingError if unsound."""
    return await trio.to_thread.run_sync(_read, LiveLog(ledger))


def _read(source: LiveLog) -> LogTally:
    report = Report()
    reader = LogReader(source, report)
    signed, note = reader.newest()
    checkpoint = signed.checkpoint
    tally = LogTally(size=checkpoint.size, root=checkpoint.root.hex())
    for _, leaf in reader.entries(signed, note, lambda _: None):
        tally.add(Entry.parse(leaf))
    report.check("the log of the demo", "this is an error in tequio: please report it")
    return tally
