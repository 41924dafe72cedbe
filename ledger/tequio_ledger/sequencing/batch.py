"""Entries that will be committed together, admitted one by one, and what became of each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import structlog

from tequio_ledger.log.admitted import Admitted
from tequio_ledger.sequencing import admission
from tequio_ledger.store.derived import Changes, derive, write
from tequio_shared.errors import PeerError, RefusedError
from tequio_shared.ids import to_text

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from tequio_ledger.log.log import Log
    from tequio_ledger.state import State
    from tequio_shared.ids import Digest, PeerKey
    from tequio_shared.statement import Entry

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Logged:
    """The entry is in the log."""

    id: Digest
    index: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """The same statement was in the log before."""

    id: Digest
    index: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Refused:
    """The rules do not admit the statement."""

    id: Digest
    code: str
    detail: str


Outcome = Logged | Known | Refused


class Batch:
    """Admits entries one by one against a state that is already ahead of the disk."""

    def __init__(self, state: State, log_: Log, now_ms: int) -> None:
        self.admitted: list[Admitted] = []
        self.refused: list[tuple[Entry, str]] = []  # with the code of the refusal
        self.now_ms = now_ms
        self._state = state
        self._first = log_.size
        self._find_index = log_.find_index
        self._find_leaf = log_.find_leaf
        self._fresh: dict[Digest, int] = {}
        self._changes = Changes()

    def take(self, entry: Entry) -> Outcome:
        """Admit or refuse one entry; an admitted one counts for all that follow."""
        candidate = Admitted.of(entry, self._state.net, self.now_ms)
        known = self._known_index(candidate)
        if known is not None:
            return Known(id=candidate.id, index=known)
        try:
            return self._admit(candidate)
        except RefusedError as err:
            refused = err
        except PeerError as err:  # a document that an entry builds on does not hold
            refused = RefusedError("malformed", str(err))
        _tell_refused(entry, refused)
        self.refused.append((entry, refused.code))
        return Refused(id=candidate.id, code=refused.code, detail=str(refused))

    def find_leaf(self, author: PeerKey, seq: int) -> bytes | None:
        """Give the author's entry of that number, of this batch or of the log."""
        for one in reversed(self.admitted):
            statement = one.entry.statement
            if (statement.author, statement.seq) == (author, seq):
                return one.leaf
        return self._find_leaf(author, seq)

    def write(self, connection: Connection) -> None:
        """Write what follows from the batch."""
        write(connection, self._changes, self._state)

    def _admit(self, candidate: Admitted) -> Logged:
        index = self._first + len(self.admitted)
        admission.admit(index, candidate.entry, self._state, self.now_ms)
        derive(self._changes, index, candidate.entry, self._state)
        self.admitted.append(candidate)
        self._fresh[candidate.id] = index
        return Logged(id=candidate.id, index=index)

    def _known_index(self, candidate: Admitted) -> int | None:
        statement = candidate.entry.statement
        chain = self._state.peers.get(statement.author)
        if chain is None or statement.seq > chain.seq:
            return None
        fresh = self._fresh.get(candidate.id)
        return self._find_index(candidate.id) if fresh is None else fresh


def _tell_refused(entry: Entry, err: RefusedError) -> None:
    statement = entry.statement
    log.info(
        "statement refused",
        code=err.code,
        type=statement.type,
        author=to_text(statement.author),
        seq=statement.seq,
        detail=str(err),
    )
