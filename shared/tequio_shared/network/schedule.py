"""When snapshots of the state are due, and which of them the log names (docs/protocol.md, 6.9).

A snapshot costs as much as there are keys and known heads. So the next one is due after
`SNAPSHOT_ENTRIES`, or after as many entries as there are of these if they are more: per entry,
making or checking snapshots costs the same in a small network as in a large one, and a reader that
begins at the newest one has few entries left to fold. Sizes follow from the log alone, so a reader
of the whole log encodes its state only at these.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from tequio_shared.errors import RefusedError
from tequio_shared.ids import Digest, digest_from_text
from tequio_shared.limits import SNAPSHOT_ENTRIES
from tequio_shared.statements.network import LogSnapshot

SNAPSHOTS = 4
"""Most sizes that wait for a statement, and most statements that are kept."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StatedSnapshot:
    """A snapshot that the log names, by its `log.snapshot` at `index`."""

    index: int
    size: int
    layout: Digest
    digest: Digest


@dataclass(slots=True)
class SnapshotSchedule:
    """The sizes at which snapshots are due, and the newest stated ones; a fold."""

    next_size: int = SNAPSHOT_ENTRIES
    due: list[int] = field(default_factory=list)
    """Sizes, ascending, of snapshots that the coordinator may state."""
    stated: list[StatedSnapshot] = field(default_factory=list)
    """The newest ones, ascending."""

    def advance(self, size: int, count: Callable[[], int]) -> None:
        """Take notice of an entry: the log has that many now; `count` tells keys and heads."""
        if size >= self.next_size:
            self.due.append(size)
            del self.due[:-SNAPSHOTS]
            self.next_size = size + max(SNAPSHOT_ENTRIES, count())

    def apply(self, index: int, body: LogSnapshot) -> None:
        """Apply log.snapshot; raises RefusedError unless a snapshot of that size is due.

        Whether its hash is right, only a reader can tell that has folded the entries.
        """
        if body.size not in self.due:
            due = ", ".join(map(str, self.due)) or "none"
            raise RefusedError(
                "wrong-state", f"no snapshot of {body.size} entries is due; due are: {due}"
            )
        self.due = [size for size in self.due if size > body.size]
        made = StatedSnapshot(
            index=index,
            size=body.size,
            layout=digest_from_text(body.layout),
            digest=digest_from_text(body.state),
        )
        self.stated.append(made)
        del self.stated[:-SNAPSHOTS]
