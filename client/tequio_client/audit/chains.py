"""Who may say what: keys known before use, chains without forks, roles, and signatures."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tequio_shared.errors import RefusedError
from tequio_shared.ids import CLOCK_SKEW_MS, ZERO_DIGEST, Digest, PeerKey, from_text, to_text
from tequio_shared.network.accounts import check_forward
from tequio_shared.network.genesis import check_role
from tequio_shared.statements.network import KeyRegister
from tequio_shared.statements.proof_of_work import check_work
from tequio_shared.statements.runs import NetGenesis

if TYPE_CHECKING:
    from tequio_client.audit.unread import Unread
    from tequio_shared.network.genesis import Genesis
    from tequio_shared.statements.statement import Entry, Statement


@dataclass(frozen=True, slots=True)
class Link:
    """The end of an author's chain right after log index `index`."""

    index: int
    seq: int
    last: Digest


class Chains:
    """Every author's chain, with its past; only `take` changes it."""

    def __init__(self, genesis: Genesis) -> None:
        self._genesis = genesis
        self._net = genesis.network_id
        self._coordinator_ms = 0  # latest ts of the coordinator's statements
        founders = {genesis.coordinator_key, *genesis.organiser_keys}
        self._links = {key: [Link(-1, 0, ZERO_DIGEST)] for key in founders}

    @property
    def keys(self) -> list[PeerKey]:
        """Every known key."""
        return list(self._links)

    def at(self, key: PeerKey, size: int) -> Link | None:
        """Find where the chain ended in the log of that size."""
        links = self._links[key]
        at = bisect_right(links, size - 1, key=lambda link: link.index)
        return links[at - 1] if at else None

    def take(self, index: int, entry: Entry) -> None:
        """Take the next entry; raises RefusedError or SignatureInvalidError as the rules say.

        Whatever it breaks, the author's chain goes on from here, so one fault is told once.
        """
        statement = entry.statement
        is_known = self._register(index, entry)
        try:
            self._check_registration(statement, is_known=is_known)
            self._check_keys(entry)
            self._check_chain(statement)
            check_role(entry, self._genesis)
            self._check_genesis(index, statement)
            self._check_times(statement)
            entry.verify(self._net)
        finally:
            link = Link(index, statement.seq, statement.digest)
            self._links.setdefault(statement.author, []).append(link)
            if statement.author == self._genesis.coordinator_key:
                self._coordinator_ms = max(self._coordinator_ms, statement.ts)

    def take_unread(self, index: int, entry: Unread) -> bool:
        """Take an entry of a type that we do not know; say whether its author is known.

        Raises RefusedError or SignatureInvalidError if it holds in no version.
        """
        entry.verify(self._net)
        ends = self._links.get(entry.author)
        if ends is None:
            return False
        follows = entry.follows(ends[-1].seq, ends[-1].last)
        ends.append(Link(index, entry.seq or ends[-1].seq, entry.digest))
        if not follows:
            raise RefusedError("seq-gap", "it does not continue its author's chain")
        return True

    def _register(self, index: int, entry: Entry) -> bool:
        """Let a chain begin; say whether the author was known before."""
        author = entry.statement.author
        is_known = author in self._links
        if isinstance(entry.statement.body, KeyRegister) and not is_known:
            self._links[author] = [Link(index - 1, 0, ZERO_DIGEST)]
        return is_known

    def _check_registration(self, statement: Statement, *, is_known: bool) -> None:
        check_work(statement, self._net, self._genesis.work_bits)
        if isinstance(statement.body, KeyRegister) and is_known:
            key = to_text(statement.author)
            raise RefusedError("wrong-state", f"key {key} was registered before")

    def _check_keys(self, entry: Entry) -> None:
        registers = isinstance(entry.statement.body, KeyRegister)  # its invitation is `Entrance`'s
        for key, _ in entry.signatures[: 1 if registers else None]:
            if key not in self._links:
                raise RefusedError("not-admitted", f"key {to_text(key)} was not registered before")

    def _check_chain(self, statement: Statement) -> None:
        end = self._links[statement.author][-1]
        if statement.seq <= end.seq:
            raise RefusedError("equivocation", f"seq {statement.seq} after seq {end.seq}")
        if statement.prev != end.last:
            raise RefusedError(
                "seq-gap", "prev is not the digest of the author's last statement in the log"
            )

    def _check_genesis(self, index: int, statement: Statement) -> None:
        body = statement.body
        if isinstance(body, NetGenesis) != (index == 0):
            raise RefusedError("wrong-network", "the genesis is entry 0, and nothing else is")
        if isinstance(body, NetGenesis) and from_text(body.doc, None) != self._genesis.encode():
            raise RefusedError("wrong-network", "entry 0 holds another genesis document")

    def _check_times(self, statement: Statement) -> None:
        """What was logged after the coordinator's last word had to be fresh then, its own too."""
        if statement.author == self._genesis.coordinator_key:
            check_forward(self._coordinator_ms, statement.ts)
        if statement.exp + CLOCK_SKEW_MS < self._coordinator_ms:
            late_s = (self._coordinator_ms - statement.exp) // 1000
            raise RefusedError("expired", f"had expired {late_s} s before it was logged")
