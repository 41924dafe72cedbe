"""Which log entries the topics of a run's round pass on: commitments and attestations.

A message is checked in the order of cost: sender and length, then content, then signatures. A
message that an honest peer may pass on because its clock or its log is ahead is only ignored; a
message that nobody may send is a `PeerError`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from tequio_shared.errors import MalformedError, RefusedError
from tequio_shared.ids import NetworkId, PeerKey, RunId
from tequio_shared.statements.statement import Entry

MAX_LEAF_BYTES = 4_096
"""Longest leaf of an entry, with all its signatures."""
MAX_PER_AUTHOR = 2
"""Different entries of one author that are passed on per round: two commitments prove
equivocation, and a member whose ledger is busy signs its attestation again."""
_AUTHOR = slice(2, 34)  # of a leaf

RoundOf: TypeAlias = Callable[[PeerKey], int | None]
"""Number of the round under way if the key may send such an entry in it now, else None."""


class EntryFilter:
    """Decides which messages of one run's topic are passed on (a `TopicFilter`).

    `check_content` gets sender and entry, and raises MalformedError unless it is one that the
    sender may send here. `on_verified` gets an author's entries of the round, the newest last.
    """

    def __init__(
        self,
        net: NetworkId,
        run: RunId,
        round_of: RoundOf,
        check_content: Callable[[PeerKey, Entry], None],
        on_verified: Callable[[Sequence[Entry]], None] = lambda _: None,
    ) -> None:
        self._net = net
        self._run = run
        self._round_of = round_of
        self._check_content = check_content
        self._on_verified = on_verified
        self._round = 0
        self._verified: dict[PeerKey, list[Entry]] = {}  # of that round, by author

    def screen(self, author: PeerKey, content: bytes) -> bool:
        """True if the message claims to be from a member of the round that may send one more.

        Reads no signature: this runs for every message, also for those of a flood.
        """
        if len(content) > MAX_LEAF_BYTES or content[_AUTHOR] != author:
            return False
        number = self._round_of(author)
        return number is not None and len(self._of(number, author)) < MAX_PER_AUTHOR

    def check(self, author: PeerKey, content: bytes) -> bool:
        """True if the message is passed on; raises MalformedError and SignatureInvalidError."""
        number = self._round_of(author)
        if number is None or not self.screen(author, content):
            return False
        try:
            entry = Entry.parse(content)
        except RefusedError as err:
            raise MalformedError(str(err)) from err
        statement = entry.statement
        self._check_content(author, entry)
        if (statement.run, statement.round) != (self._run, number):
            return False
        verified = self._of(number, author)
        # Compared before the signatures are checked: most messages arrive from several peers.
        if any(statement.raw == known.statement.raw for known in verified):
            return False
        entry.verify(self._net)
        verified.append(entry)
        self._on_verified(verified)
        return True

    def _of(self, number: int, author: PeerKey) -> list[Entry]:
        """Verified entries of an author of this round; earlier rounds are dropped."""
        # Only the round under way is remembered: a table of all rounds would grow with the run.
        if number != self._round:
            self._round, self._verified = number, {}
        return self._verified.setdefault(author, [])
