"""The connector's statements, and its client of the ledger, over HTTP as for any member.

Every answer has a deadline and a size limit. A ledger that does not answer raises LedgerAwayError,
an invalid answer raises PeerError, and a refusal raises RefusedError with the ledger's code.
"""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import TYPE_CHECKING

import httpx
import msgspec
import structlog

from tequio_ledger.outgoing import read_bounded
from tequio_ledger.store import files
from tequio_shared import encoding
from tequio_shared.api.answer import PROBLEM_PREFIX
from tequio_shared.api.network import NetworkAnswer, PostedAnswer
from tequio_shared.api.peers import PeerAnswer
from tequio_shared.errors import (
    MalformedError,
    PeerError,
    RefusedError,
    TequioError,
    UserFacingError,
)
from tequio_shared.ids import (
    ZERO_DIGEST,
    MaybeBytes32Text,
    Natural,
    NetworkId,
    PeerKey,
    Positive,
    digest_from_text,
    key_from_text,
    to_text,
)
from tequio_shared.keys import Signer
from tequio_shared.limits import POST_BYTES, STATEMENT_LIFE_MS
from tequio_shared.log.tiles import encode_bundle
from tequio_shared.network.genesis import Genesis
from tequio_shared.network.standing import Standing
from tequio_shared.statements import statement
from tequio_shared.statements.network import KeyRegister, MemberVouch, find_nonce
from tequio_shared.statements.statement import Body, Entry, statement_id

if TYPE_CHECKING:
    from tequio_ledger.runtime import Clock


ANSWER_S = 15.0
_NOT_FOUND = 404
_MISSING = f"{PROBLEM_PREFIX}not-found".encode()
"""In the ledger's own answer, and not in the page of a proxy before it."""
_TOO_MANY = 429
_SERVER_FAULT = 500
_FOREIGN_CHARACTERS = 200


class LedgerAwayError(TequioError):
    """The ledger does not answer, or says that it cannot answer now; try later."""


class LedgerClient:
    """One ledger; used from one event loop. The caller closes the connections."""

    def __init__(self, url: str, http: httpx.AsyncClient) -> None:
        self.url = url.rstrip("/")
        self._http = http

    async def genesis(self) -> Genesis:
        """Get the network's genesis document, checked against the network's id."""
        answer = await self._call("GET", "/v1/network")
        return encoding.read(answer, NetworkAnswer).checked_genesis()

    async def peer(self, key: PeerKey) -> PeerAnswer | None:
        """Get what the log has of a key; None when it is not registered."""
        try:
            return encoding.read(await self._call("GET", f"/v1/peers/{to_text(key)}"), PeerAnswer)
        except RefusedError as err:
            if err.code == "not-found":
                return None
            raise

    async def post(self, net: NetworkId, entry: Entry) -> int:
        """Have an entry logged and give its index, even if it was logged before.

        Raises RefusedError with the ledger's code.
        """
        raw = await self._call("POST", "/v1/statements", encode_bundle([entry.leaf()]))
        items = encoding.read(raw, PostedAnswer).items
        if len(items) != 1:
            raise PeerError("the ledger answered about other statements than the one sent")
        (item,) = items
        if item.status == "refused":
            if item.code in ("rate-limited", "queue-full", "read-only"):
                raise LedgerAwayError(f"the ledger accepts nothing now: {item.code}")
            detail = (item.detail or "")[:_FOREIGN_CHARACTERS]
            cleaned = "".join(one if one.isprintable() else " " for one in detail)
            raise RefusedError(item.code or "unnamed", cleaned)
        if item.index is None or item.id != to_text(statement_id(net, entry.statement.raw)):
            raise PeerError("the ledger answered about other statements than the one sent")
        return item.index

    async def _call(self, method: str, path: str, content: bytes | None = None) -> bytes:
        try:
            async with (
                asyncio.timeout(ANSWER_S),
                self._http.stream(method, self.url + path, content=content) as answer,
            ):
                status, raw = answer.status_code, await read_bounded(answer, POST_BYTES)
        except PeerError as err:
            raise PeerError(f"{path} gives {err}") from err
        except TimeoutError as err:
            raise LedgerAwayError(f"no answer in {ANSWER_S:.0f} s") from err
        except (httpx.HTTPError, httpx.InvalidURL) as err:
            raise LedgerAwayError(str(err) or type(err).__name__) from err
        if status == _NOT_FOUND and _MISSING in raw:
            raise RefusedError("not-found", f"{path} is not there")
        if status >= _SERVER_FAULT or status in (_NOT_FOUND, _TOO_MANY):
            raise LedgerAwayError(f"{path} is answered with status {status}")
        if status != httpx.codes.OK:
            raise PeerError(f"{path} is answered with status {status}")
        return raw


# --- The connector as an author of statements: one chain, one statement in progress at a time.
#
# A number is in the book before anything is signed with it. If the ledger does not answer, nobody
# knows whether an entry was logged. Then it is sent again unchanged before any other statement: the
# same bytes are logged once, however often they are sent.

LEAP = 1_000
"""Numbers skipped when the log has statements of our key that the book lacks: the book may be an
old copy, and more of them may have been signed without being logged."""
MOST_AHEAD = 1 << 32
"""Maximum distance of a ledger's numbers for our key beyond the book's. Numbers end at 2^53 - 1,
and numbers in the book are used: a ledger that names the last one would silence us permanently."""
MOST_SUCCESSORS = 8
"""Successors of one key that the ledger is asked for: a longer line counts as one more key."""
STRIDE = 1 << 15
"""Nonces tried at once: some 15 ms."""
_BEHIND = ("equivocation", "seq-gap")
_MAY_STAND = ("expired", "clock-skew")
"""Refusals of statements that may have been logged before, if the answer was lost: they count."""

log = structlog.get_logger(__name__)


class StatementAuthor:
    """Signs and sends the statements of one key; used from one event loop."""

    def __init__(
        self, ledger: LedgerClient, net: NetworkId, signer: Signer, book: VouchBook, clock: Clock
    ) -> None:
        self._ledger = ledger
        self.net = net
        self.signer = signer
        self.book = book
        self._clock = clock
        self._last_seq, self._last_hash = 0, ZERO_DIGEST
        self._unsettled: tuple[Entry, MemberVouch] | None = None
        self._lock = asyncio.Lock()

    async def join(self, work_bits: int) -> None:
        """Register the key unless it is registered; raises LedgerAwayError, UserFacingError."""
        async with self._lock:
            try:
                if await self._catch_up():
                    return
            except PeerError as err:
                raise UserFacingError(str(err)) from err
            log.info("computing the proof of work for the connector's key", bits=work_bits)
            body = KeyRegister(nonce=await self._work(work_bits))
            if not self.book.used:
                self.book.use_number(1)
            try:
                await self._ledger.post(self.net, self._signed(body, 1))
            except RefusedError as err:
                raise UserFacingError(f"the ledger refuses the connector's key: {err}") from err
            await self._catch_up()

    async def is_member(self, key: PeerKey) -> bool:
        """Return whether a key is registered; raises LedgerAwayError, PeerError."""
        return await self._ledger.peer(key) is not None

    async def holder(self, key: str) -> str | None:
        """Return the last successor of a key, or None when it was revoked for good.

        Raises LedgerAwayError, PeerError.
        """
        found = await self._ledger.peer(key_from_text(key))
        for _ in range(MOST_SUCCESSORS):
            if found is None or found.replaced_by is None:
                break
            key = found.replaced_by
            found = await self._ledger.peer(key_from_text(key))
        # With a recovery key it may still be replaced, and its successor has the vouch again.
        if found and found.standing.standing == Standing.REVOKED and found.recovery is None:
            return None
        return key

    async def vouch(self, body: MemberVouch) -> int:
        """Log a vouch and give its index.

        Raises LedgerAwayError when the outcome is unknown: call it again with the same vouch.
        Raises RefusedError with the ledger's code, and PeerError for an invalid answer.
        """
        async with self._lock:
            index = await self._send_again(body)
            if index is not None:
                return index
            try:
                return await self._sign_and_send(body)
            except RefusedError as err:
                if err.code not in _BEHIND:
                    raise
            # Another process may have used the key, or the book is old: read the chain's end again.
            await self._catch_up()
            return await self._sign_and_send(body)

    # --- one statement

    async def _sign_and_send(self, body: MemberVouch) -> int:
        seq = max(self._last_seq, self.book.used) + 1
        self.book.use_number(seq, body)
        entry = self._signed(body, seq)
        self._unsettled = entry, body
        return await self._send(entry)

    async def _send_again(self, body: MemberVouch) -> int | None:
        """Send the unsettled entry again; gives its index if it makes the same vouch."""
        if self._unsettled is None:
            return None
        entry, sent = self._unsettled
        try:
            index = await self._send(entry)
        except RefusedError as err:
            log.info("the last statement was refused", code=err.code)
            return None
        return index if (sent.peer, sent.owner) == (body.peer, body.owner) else None

    async def _send(self, entry: Entry) -> int:
        try:
            index = await self._ledger.post(self.net, entry)
        except RefusedError as err:
            self._unsettled = None
            if err.code not in _MAY_STAND:
                self.book.use_number(entry.statement.seq)
            raise
        self._unsettled = None
        self._last_seq, self._last_hash = entry.statement.seq, entry.statement.digest
        return index

    def _signed(self, body: Body, seq: int) -> Entry:
        ts = self._clock()
        made = statement.make(
            body=body,
            author=self.signer.key,
            seq=seq,
            ts=ts,
            exp=ts + STATEMENT_LIFE_MS,
            prev=self._last_hash,
        )
        return statement.sign(self.net, made, self.signer)

    # --- where the chain ends

    async def _catch_up(self) -> bool:
        """Read the end of our chain; returns whether our key is registered."""
        own = await self._ledger.peer(self.signer.key)
        if own is None:
            return False
        if own.last_seq > self.book.used + MOST_AHEAD:
            raise PeerError(
                f"the ledger has statement {own.last_seq} of our key, which has signed only "
                f"{self.book.used}: check that it is the right ledger"
            )
        if own.last_seq > self.book.used:
            log.warning("the log has statements of this key that said.jsonl does not contain")
            self.book.use_number(own.last_seq + LEAP)
        self._last_seq, self._last_hash = own.last_seq, digest_from_text(own.last_hash)
        return True

    async def _work(self, bits: int) -> int:
        first = 0
        while True:
            found = await asyncio.to_thread(
                find_nonce, self.net, self.signer.key, bits, first, STRIDE
            )
            if found is not None:
                return found
            first += STRIDE


# --- The book: the number of each statement, and the vouches that are in force.
#
# One line per statement, durable before anything is signed with its number. So no number is used
# twice, which would be a provable fault, and a power cut cannot lead to vouches beyond the limit.
# The book contains nothing that is not in the log; accounts are not in it.


class _StoredVouch(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A number, with its vouch; without one, the number is used for nothing in force."""

    seq: Positive
    peer: MaybeBytes32Text = ""
    owner: MaybeBytes32Text = ""
    until: Natural = 0


class VouchBook:
    """The book; for one caller at a time, who holds the lock of its folder."""

    def __init__(self, path: Path, now_ms: int) -> None:
        """Read the book and drop expired vouches; raises UserFacingError."""
        self._path = path
        self._vouches: dict[str, _StoredVouch] = {}  # by peer
        self._before: _StoredVouch | None = None  # the vouch that the last one replaced
        self.used = 0
        """The highest number ever used."""
        for line in _read(path):
            self._apply(line)
        self._tidy(now_ms)

    def use_number(self, seq: int, vouch: MemberVouch | None = None) -> None:
        """Use up a number for a vouch, or for nothing in force, as when the vouch was refused.

        Raises RefusedError("read-only").
        """
        line = _StoredVouch(seq)
        if vouch is not None:
            line = _StoredVouch(seq, vouch.peer, vouch.owner, vouch.until)
        try:
            end = self._path.stat().st_size
            try:
                with self._path.open("ab") as file:
                    file.write(msgspec.json.encode(line) + b"\n")
                    files.sync(file)
            except OSError:
                # Half a line would swallow the next one. Closing writes what is still buffered.
                os.truncate(self._path, end)
                raise
        except OSError as err:
            log.error("signed nothing, because the disk failed", error=str(err))  # noqa: TRY400 - the sentence says it
            raise RefusedError("read-only", "this connector cannot write now: try later") from err
        self._apply(line)

    def keys_of(self, owner: str, now_ms: int) -> dict[str, int]:
        """List the keys for which an owner vouches now, with the end of each vouch (ms)."""
        return {
            peer: line.until
            for peer, line in self._vouches.items()
            if line.owner == owner and line.until > now_ms
        }

    def _apply(self, line: _StoredVouch) -> None:
        self.used = max(self.used, line.seq)
        if line.peer:
            self._before = self._vouches.get(line.peer)
            self._vouches[line.peer] = line
            return
        for peer in [peer for peer, one in self._vouches.items() if one.seq == line.seq]:
            del self._vouches[peer]
            if self._before is not None and self._before.peer == peer:
                self._vouches[peer] = self._before

    def _tidy(self, now_ms: int) -> None:
        """Rewrite the file: the vouches in force, and the highest number."""
        lines = [line for line in self._vouches.values() if line.until > now_ms]
        self._vouches = {line.peer: line for line in lines}
        if self.used and all(line.seq != self.used for line in lines):
            lines.append(_StoredVouch(self.used))
        try:
            raw = b"".join(msgspec.json.encode(line) + b"\n" for line in lines)
            files.write_file(self._path, raw)
        except OSError as err:
            raise UserFacingError(files.explain(err, self._path)) from err


def _read(path: Path) -> list[_StoredVouch]:
    # A last line without its end was cut off by a power cut; nothing was signed with its number.
    try:
        whole, _, _ = path.read_bytes().rpartition(b"\n")
    except FileNotFoundError:
        return []
    except OSError as err:
        raise UserFacingError(files.explain(err, path)) from err
    try:
        return [encoding.read(line, _StoredVouch) for line in whole.splitlines()]
    except MalformedError as err:
        raise UserFacingError(
            f"{path} is not what this connector wrote ({err}): restore it; without it, start again "
            "with another folder and key, which organisers must admit"
        ) from err
