"""The ledger that the connector speaks to, over HTTP, as any member does.

Every answer has a deadline and a size limit. What cannot be had now is LedgerAwayError, answers
that cannot be right are PeerError, and what the ledger refuses is RefusedError with its code.
"""

from __future__ import annotations

import asyncio
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

import httpx
import msgspec
import structlog

from tequio_ledger.store import files
from tequio_shared.api.answer import parse_answer
from tequio_shared.api.network import NetworkAnswer, PostedAnswer
from tequio_shared.api.peers import PeerAnswer
from tequio_shared.errors import PeerError, RefusedError, TequioError, UserFacingError
from tequio_shared.ids import (
    ZERO_DIGEST,
    MaybeBytes32Text,
    Natural,
    Positive,
    digest_from_text,
    to_text,
)
from tequio_shared.limits import POST_BYTES, STATEMENT_LIFE_MS
from tequio_shared.log.tiles import encode_bundle
from tequio_shared.statements import statement
from tequio_shared.statements.network import KeyRegister, find_nonce
from tequio_shared.statements.statement import statement_id

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from tequio_ledger.runtime import Clock
    from tequio_shared.ids import NetworkId, PeerKey
    from tequio_shared.keys import Signer
    from tequio_shared.network.genesis import Genesis
    from tequio_shared.statements.network import MemberVouch
    from tequio_shared.statements.statement import Body, Entry


ANSWER_S = 15.0
_NOT_FOUND = 404
_TOO_MANY = 429
_SERVER_FAULT = 500
_FOREIGN_CHARACTERS = 200


class LedgerAwayError(TequioError):
    """The ledger does not answer, or says that it cannot now; try later."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChainEnd:
    """Where a key's statements end in the log."""

    last_seq: int
    last_hash: str


class LedgerClient:
    """One ledger; used from one event loop, its connections closed by who made them."""

    def __init__(self, url: str, http: httpx.AsyncClient) -> None:
        self.url = url.rstrip("/")
        self._http = http

    async def genesis(self) -> Genesis:
        """Get the network's genesis document, checked against the network's id."""
        return parse_answer(await self._call("GET", "/v1/network"), NetworkAnswer).checked_genesis()

    async def chain(self, key: PeerKey) -> ChainEnd | None:
        """Say where a key's chain ends; None when it is not registered."""
        try:
            answer = parse_answer(await self._call("GET", f"/v1/peers/{to_text(key)}"), PeerAnswer)
        except RefusedError as err:
            if err.code == "not-found":
                return None
            raise
        return ChainEnd(last_seq=answer.last_seq, last_hash=answer.last_hash)

    async def post(self, net: NetworkId, entry: Entry) -> int:
        """Have an entry logged and give its index, also when it was logged before.

        Raises RefusedError with the ledger's code.
        """
        raw = await self._call("POST", "/v1/statements", encode_bundle([entry.leaf()]))
        items = parse_answer(raw, PostedAnswer).items
        if len(items) != 1:
            raise PeerError("the ledger answered about other statements than the one sent")
        (item,) = items
        if item.status == "refused":
            if item.code in ("rate-limited", "queue-full", "read-only"):
                raise LedgerAwayError(f"the ledger accepts nothing now: {item.code}")
            raise RefusedError(item.code or "unnamed", _cleaned(item.detail or ""))
        if item.index is None or item.id != to_text(statement_id(net, entry.statement.raw)):
            raise PeerError("the ledger answered about other statements than the one sent")
        return item.index

    async def _call(self, method: str, path: str, content: bytes | None = None) -> bytes:
        try:
            async with asyncio.timeout(ANSWER_S):
                status, raw = await self._read(method, path, content)
        except TimeoutError as err:
            raise LedgerAwayError(f"no answer in {ANSWER_S:.0f} s") from err
        except (httpx.HTTPError, httpx.InvalidURL) as err:
            raise LedgerAwayError(str(err) or type(err).__name__) from err
        if status == _NOT_FOUND:
            raise RefusedError("not-found", f"{path} is not there")
        if status >= _SERVER_FAULT or status == _TOO_MANY:
            raise LedgerAwayError(f"{path} is answered with status {status}")
        if status != httpx.codes.OK:
            raise PeerError(f"{path} is answered with status {status}")
        return raw

    async def _read(self, method: str, path: str, content: bytes | None) -> tuple[int, bytes]:
        parts, size = [], 0
        async with self._http.stream(method, self.url + path, content=content) as answer:
            async for chunk in answer.aiter_raw():
                size += len(chunk)
                if size > POST_BYTES:
                    raise PeerError(f"{path} gives more than {POST_BYTES} bytes")
                parts.append(chunk)
        return answer.status_code, b"".join(parts)


def _cleaned(text: str) -> str:
    return "".join(one if one.isprintable() else " " for one in text[:_FOREIGN_CHARACTERS])


# --- The connector as an author of statements: one chain, one statement under way at a time.
#
# A number is in the book before anything is signed under it. An entry whose fate is unknown,
# because the ledger went away while it had it, is sent again as it is before anything else is
# said: the same bytes are logged once, however often they come.

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


# --- What the connector said: a number a statement, and for whom each of its owners' keys is.
#
# One line a statement, durable before anything is signed under its number: no number is ever used
# twice, which would be a fault that others can prove, and no key is vouched for beyond the limit
# because somebody pulled the plug. It holds what the log holds, so whoever reads it learns
# nothing more; accounts are not in it.


class _Line(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A number; with whom it was used for, or without: for nothing that stands."""

    seq: Positive
    peer: MaybeBytes32Text = ""
    owner: MaybeBytes32Text = ""
    until: Natural = 0


class Book:
    """The file; one caller at a time, who holds the lock of its folder."""

    def __init__(self, path: Path, now_ms: int) -> None:
        """Read it, and leave out what is over; raises UserFacingError."""
        self._path = path
        self._vouches: dict[str, _Line] = {}  # by peer
        self._before: _Line | None = None  # what the last one took the place of
        self.used = 0
        """The highest number that was ever taken."""
        for line in _read(path):
            self._take_in(line)
        self._tidy(now_ms)

    def take(self, seq: int, vouch: MemberVouch | None = None) -> None:
        """Use a number up, for this if it is for a vouch; raises RefusedError("read-only")."""
        if vouch is None:
            self._append(_Line(seq))
        else:
            self._append(_Line(seq, vouch.peer, vouch.owner, vouch.until))

    def give_up(self, seq: int) -> None:
        """Note that what was said under a number came to nothing; raises RefusedError."""
        self._append(_Line(seq))

    def keys_of(self, owner: str, now_ms: int) -> dict[str, int]:
        """List for which keys an owner stands now, and until when."""
        return {
            peer: line.until
            for peer, line in self._vouches.items()
            if line.owner == owner and line.until > now_ms
        }

    def _take_in(self, line: _Line) -> None:
        self.used = max(self.used, line.seq)
        if line.peer:
            self._before = self._vouches.get(line.peer)
            self._vouches[line.peer] = line
            return
        for peer in [peer for peer, one in self._vouches.items() if one.seq == line.seq]:
            del self._vouches[peer]
            if self._before is not None and self._before.peer == peer:
                self._vouches[peer] = self._before

    def _append(self, line: _Line) -> None:
        try:
            with self._path.open("ab") as file:
                end = file.tell()
                try:
                    file.write(msgspec.json.encode(line) + b"\n")
                    files.sync(file)
                except OSError:
                    os.truncate(self._path, end)
                    raise
        except OSError as err:
            log.error("the disk takes nothing, so nothing is said", error=str(err))  # noqa: TRY400 - the sentence says it
            raise RefusedError("read-only", "this connector cannot write now: try later") from err
        self._take_in(line)

    def _tidy(self, now_ms: int) -> None:
        """Write the file anew: the vouches that stand, and the highest number."""
        standing = [line for line in self._vouches.values() if line.until > now_ms]
        self._vouches = {line.peer: line for line in standing}
        lines = standing
        if self.used and all(line.seq != self.used for line in standing):
            lines = [*standing, _Line(self.used)]
        try:
            files.write_file(self._path, _written(lines))
        except OSError as err:
            raise UserFacingError(files.explain(err, self._path)) from err


def _written(lines: Iterable[_Line]) -> bytes:
    return b"".join(msgspec.json.encode(line) + b"\n" for line in lines)


def _read(path: Path) -> list[_Line]:
    """Read the whole lines; of one that a power cut left half, nothing was signed."""
    try:
        whole, _, _ = path.read_bytes().rpartition(b"\n")
    except FileNotFoundError:
        return []
    except OSError as err:
        raise UserFacingError(files.explain(err, path)) from err
    try:
        return [msgspec.json.decode(line, type=_Line) for line in whole.splitlines()]
    except (msgspec.DecodeError, UnicodeDecodeError) as err:
        raise UserFacingError(
            f"{path} is not what this connector wrote ({err}): restore it; without it, begin anew "
            "with another folder and key, which organisers have to name"
        ) from err
