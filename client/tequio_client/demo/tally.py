"""What the log says about the demo's run: counted from its entries, not from anybody's claims."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tequio_shared.ids import from_text
from tequio_shared.statement import Entry
from tequio_shared.statements.rounds import HeadAttest, HeadPromote, RoundClose, RoundVoid

if TYPE_CHECKING:
    from tequio_client.ledger_api import LedgerApi

BATCH = 256


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
            case RoundVoid():
                self.void += 1
            case HeadPromote(head=head):
                self.heads.append(from_text(head).hex())
            case HeadAttest(head=head):
                self.stated[statement.round or 0].add(head)


async def read_log(ledger: LedgerApi) -> LogTally:
    """Read the whole log as its signed checkpoint stands now."""
    checkpoint = await ledger.checkpoint()
    tally = LogTally(size=checkpoint.size, root=checkpoint.root.hex())
    for first in range(0, checkpoint.size, BATCH):
        for leaf in await ledger.entries(first, min(first + BATCH, checkpoint.size)):
            tally.add(Entry.parse(leaf))
    return tally
