"""The connector as an author of statements: one chain, one statement under way at a time.

A number is in the book before anything is signed under it. An entry whose fate is unknown, because
the ledger went away while it had it, is sent again as it is before anything else is said: the same
bytes are logged once, however often they come.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import structlog

from tequio_ledger.connector.ledger import ChainEnd
from tequio_shared import statement
from tequio_shared.errors import PeerError, RefusedError, UserFacingError
from tequio_shared.ids import ZERO_DIGEST, digest_from_text, to_text
from tequio_shared.limits import STATEMENT_LIFE_MS
from tequio_shared.statements.members import KeyRegister
from tequio_shared.work import find_nonce

if TYPE_CHECKING:
    from tequio_ledger.clock import Clock
    from tequio_ledger.connector.book import Book
    from tequio_ledger.connector.ledger import LedgerClient
    from tequio_shared.ids import NetworkId, PeerKey
    from tequio_shared.keys import Signer
    from tequio_shared.statement import Entry
    from tequio_shared.statements import Body
    from tequio_shared.statements.connectors import MemberVouch

LEAP = 1_000
"""Numbers passed over when the log has statements of ours that the book does not know: it may be an
old copy, and others may have been signed that nobody has logged."""
MOST_AHEAD = 1 << 32
"""How far a ledger's numbers for our key may lie beyond the book's. Numbers end at 2^53 - 1, and
what is in the book is used up: a ledger that names the last one would silence us for good."""
STRIDE = 1 << 15
"""Nonces tried at once: some 15 ms."""
_BEHIND = ("equivocation", "seq-gap")
_MAY_STAND = ("expired", "clock-skew")
"""Refusals of what may have been logged before, when its answer was lost: it goes on to count."""

log = structlog.get_logger(__name__)


class Author:
    """Says things in the name of one key; used from one event loop."""

    def __init__(
        self, ledger: LedgerClient, net: NetworkId, signer: Signer, book: Book, clock: Clock
    ) -> None:
        self._ledger = ledger
        self._net = net
        self._signer = signer
        self._book = book
        self._clock = clock
        self._chain = ChainEnd(last_seq=0, last_hash=to_text(ZERO_DIGEST))
        self._sent: Entry | None = None
        self._lock = asyncio.Lock()

    async def join(self, work_bits: int) -> None:
        """Have the key registered, if it is not; raises LedgerAwayError, UserFacingError."""
        async with self._lock:
            if await self._is_in_log():
                return
            log.info("working for our key to be admitted", bits=work_bits)
            body = KeyRegister(nonce=await self._work(work_bits))
            if not self._book.used:
                self._book.take(1)
            try:
                await self._ledger.post(self._net, self._signed(body, 1))
            except RefusedError as err:
                raise UserFacingError(f"the ledger does not take our key: {err}") from err
            await self._catch_up()

    async def is_member(self, key: PeerKey) -> bool:
        """Say whether a key is registered; raises LedgerAwayError, PeerError."""
        return await self._ledger.chain(key) is not None

    async def vouch(self, body: MemberVouch) -> int:
        """Say it and give its log index.

        Raises LedgerAwayError when nobody knows yet: say the same again. Raises RefusedError with
        the ledger's code when it is not taken, PeerError for an answer that cannot be.
        """
        async with self._lock:
            index = await self._send_again(body)
            if index is not None:
                return index
            try:
                return await self._say(body)
            except RefusedError as err:
                if err.code not in _BEHIND:
                    raise
            await self._catch_up()
            return await self._say(body)

    # --- one statement

    async def _say(self, body: MemberVouch) -> int:
        seq = max(self._chain.last_seq, self._book.used) + 1
        self._book.take(seq, body)
        self._sent = self._signed(body, seq)
        return await self._send(self._sent)

    async def _send_again(self, body: MemberVouch) -> int | None:
        """Settle what is under way; gives its index if it says the same about the same key."""
        entry = self._sent
        if entry is None:
            return None
        try:
            index = await self._send(entry)
        except RefusedError as err:
            log.info("what was under way came to nothing", code=err.code)
            return None
        said = entry.statement.body
        is_same = (getattr(said, "peer", ""), getattr(said, "owner", "")) == (body.peer, body.owner)
        return index if is_same else None

    async def _send(self, entry: Entry) -> int:
        try:
            index = await self._ledger.post(self._net, entry)
        except RefusedError as err:
            self._sent = None
            if err.code not in _MAY_STAND:
                self._book.give_up(entry.statement.seq)
            raise
        self._sent = None
        made = entry.statement
        self._chain = ChainEnd(last_seq=made.seq, last_hash=to_text(made.digest))
        return index

    def _signed(self, body: Body, seq: int) -> Entry:
        ts = self._clock()
        made = statement.make(
            body=body,
            author=self._signer.key,
            seq=seq,
            ts=ts,
            exp=ts + STATEMENT_LIFE_MS,
            prev=digest_from_text(self._chain.last_hash),
        )
        return statement.sign(self._net, made, self._signer)

    # --- where the chain ends

    async def _catch_up(self) -> bool:
        """Read where the log has our chain; says whether we are registered."""
        chain = await self._ledger.chain(self._signer.key)
        if chain is None:
            return False
        if chain.last_seq > self._book.used + MOST_AHEAD:
            raise PeerError(
                f"the ledger has a statement {chain.last_seq} of our key, which has signed "
                f"{self._book.used}: no key says that much; is it the right ledger?"
            )
        if chain.last_seq > self._book.used:
            log.warning("the log has statements of ours that our book does not know")
            self._book.take(chain.last_seq + LEAP)
        self._chain = chain
        return True

    async def _is_in_log(self) -> bool:
        try:
            return await self._catch_up()
        except PeerError as err:
            raise UserFacingError(str(err)) from err

    async def _work(self, bits: int) -> int:
        first = 0
        while True:
            found = await asyncio.to_thread(
                find_nonce, self._net, self._signer.key, bits, first, STRIDE
            )
            if found is not None:
                return found
            first += STRIDE
