"""Answers that are true for more of the log than is published: held against it once it is.

What is signed may wait for its witnesses, and answers do not wait with it. So one that is ahead is
neither right nor wrong; but the log has to come to that size, and have that root there.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from tequio_ledger.log.proofs import root_at

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from tequio_shared.ids import Digest

MOST = 64
"""Answers that are remembered; of more at once, the first."""


class Ahead:
    """What answers named that is not published yet."""

    def __init__(self) -> None:
        self._named: dict[tuple[int, Digest], float] = {}  # size and root, since when

    def note(self, size: int, root: Digest) -> None:
        """Remember what an answer named."""
        if len(self._named) < MOST:
            self._named.setdefault((size, root), time.monotonic())

    def broken(self, connection: Connection, size: int, patience_s: float) -> list[str]:
        """List what the log of `size` entries does not keep; what it has come to is forgotten."""
        faults = []
        for (named, root), since_s in list(self._named.items()):
            if named <= size:
                del self._named[named, root]
                if root_at(connection, named) != root:
                    faults.append(f"an answer named another root of {named} entries")
            elif time.monotonic() - since_s >= patience_s:
                faults.append(f"an answer was true for {named} entries, which are not published")
        return faults
