"""The one way a statement leaves the worker: numbered, signed and sent, in order, each once.

`Outbox.submit` is the only call for the rest of the program. One task sends. Rules:

1. A statement is on disk before `submit` waits for it, and a signed copy is on disk before it is
   sent (`outbox_db`). So a kill at any moment loses nothing and repeats nothing.
2. A number is never used for two statements: two different ones under one number are proof of foul
   play against this key. The one exception is demanded by the format: as long as nothing of this
   key is in the log, its number is 1.
3. Of each type there is one statement per round. Signed again, it is the same body.
4. What may have been sent is signed again only after the ledger was asked where the chain of this
   key ends. Whatever was lost on the way, nothing is logged twice.
5. A busy or absent ledger is asked again, without end, with back-off. A refusal is final, and goes
   to the caller. A ledger that lost statements of this key, or invents some, stops the sending
   until the next `submit`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from random import Random
from typing import NoReturn, Self, TypeAlias, TypeVar

import structlog
import trio

from tequio_client.clock import BackOff, now_ms
from tequio_client.ledger.api import LedgerApi
from tequio_client.ledger.http import LedgerRefusedError, LedgerUnavailableError, LogForkedError
from tequio_client.worker.ledger.outbox_db import (
    FILE,
    B,
    OutboxDb,
    OwnChain,
    SignedCopy,
    UnsentStatement,
)
from tequio_shared.api.network import PostedStatement
from tequio_shared.errors import PeerError, RefusedError, UserFacingError
from tequio_shared.ids import ZERO_DIGEST, Digest, NetworkId, PeerKey, RunId
from tequio_shared.keys import Signer
from tequio_shared.limits import STATEMENT_LIFE_MS
from tequio_shared.statements import statement
from tequio_shared.statements.network import KeyRegister, find_nonce
from tequio_shared.statements.statement import Body, Entry, Statement

log = structlog.get_logger(__name__)

SUBMIT_S = 60.0
"""How long a caller waits that has something else to do; the statement stays in the queue."""
BATCH = 32
"""Statements in one request; 32 of the largest stay below the ledger's limit of 1 MiB."""
MOST_AHEAD = 1 << 32
"""Statements of this key that a ledger may have and the file does not know; numbers are never used
again, so a ledger that claims more could leave none."""
FRESH_MS = 120_000
"""A copy older than this is signed again; the ledger accepts 300 s, and clocks differ."""

_BUSY = frozenset({"rate-limited", "queue-full", "read-only", "no-quorum"})
_STALE = frozenset({"clock-skew", "expired"})
_OUT_OF_STEP = frozenset({"seq-gap", "wrong-prev", "equivocation", "not-admitted"})
_STALE_MS = 5_000
"""A copy younger than this that is called stale means that the clocks differ."""
STRIDE = 1 << 15
"""Nonces tried between two checks for cancellation: some 15 ms."""
FIRST_REPORT_S = 1.0
"""Work that takes longer is logged, and again each time that it has taken twice as long."""

_T = TypeVar("_T")
_Fatal: TypeAlias = LogForkedError | UserFacingError
"""The ledger lost or invented statements of this key, or the file cannot be used."""


class Outbox:
    """Owner of the chain of statements of one key, whose folder the caller has locked.

    An open outbox sends in the background; leaving the `async with` stops that. Statements that are
    not logged by then go out after the next start.
    """

    def __init__(
        self,
        ledger: LedgerApi,
        folder: Path,
        signer: Signer,
        *,
        clock: Callable[[], int] = now_ms,
        back_off: BackOff | None = None,
        invitation: Signer | None = None,
    ) -> None:
        """`invitation` signs the registration of the key too."""
        self._ledger, self._path, self._signer = ledger, folder / FILE, signer
        self._clock = clock
        self.on_sending: list[Callable[[Entry], None]] = []
        """Called with each entry right before it is sent, also when it is sent again."""
        self._back_off = back_off or BackOff(Random(signer.key))  # noqa: S311 - back-off only
        self._invitation = invitation
        self._net: NetworkId | None = None  # set by `open`; so the next
        self._work_bits = 0
        self._stack = AsyncExitStack()
        self._db: OutboxDb | None = None  # used under the lock, like every statement below it
        self.unlogged = 0
        """Statements in the file that are not logged, since its last use."""
        self.is_clock_refused = False
        """True if the ledger refused what was just signed as `clock-skew`, and logged nothing
        since."""
        self.problem = "nothing was sent yet"
        """Why the last try that failed did so."""
        self._lock = trio.Lock()
        self._submitted = trio.Event()  # replaced by the sending task
        self._waiting: dict[int, _Outcome] = {}  # by ticket
        # By ticket too, and only in memory: a secret of another key is not written to the disk.
        # Without it, as after a restart, the ledger refuses the statement.
        self._cosigners: dict[int, tuple[Signer, ...]] = {}
        self._failure = _Outcome()  # replaced when sending fails
        # The rest belongs to the sending task, from `_run` on.
        self._is_in_step = False
        self._doubts = 0  # refusals in a row that only a chain out of step explains
        self._fresh_from_ms = 0  # copies from before are not sent again

    async def __aenter__(self) -> Self:
        self._stack.callback(self._close_db)
        nursery = await self._stack.enter_async_context(trio.open_nursery())
        nursery.start_soon(self._run)
        self._stack.callback(nursery.cancel_scope.cancel)
        return self

    async def __aexit__(self, *exc: object) -> bool | None:
        return await self._stack.__aexit__(*exc)  # type: ignore[arg-type]  # the protocol's three

    async def open(self, net: NetworkId, work_bits: int) -> None:
        """Name the network, else the first `submit` asks the ledger; raises UserFacingError."""
        if self._net not in (None, net):
            raise UserFacingError("the ledger serves another network now: start the worker again")
        self._net, self._work_bits = net, work_bits
        await self._on_db(OutboxDb.chain)

    async def submit(
        self,
        body: Body,
        run: RunId | None = None,
        round: int | None = None,  # noqa: A002 - the protocol's word
        *,
        documents: Sequence[bytes] = (),
        cosigners: Sequence[Signer] = (),
    ) -> Entry:
        """Put the documents, then have the statement logged; returns its entry, whenever that is.

        A cancelled call leaves its statement in the queue, and submitting it again joins it. Raises
        RefusedError with the ledger's code when it refuses the statement, which is then forgotten;
        "malformed" when the rules forbid it; "already-said" or "too-late" when another statement
        about the round was submitted before. Raises LogForkedError and UserFacingError when nothing
        can be sent at all, and what the ledger's API raises before the statement is in the queue.
        """
        self._make(body, run, round, seq=1, prev=ZERO_DIGEST)  # raises if it can never be signed
        await self._ensure_network()
        # The ledger accepts documents from registered keys only.
        if documents and await self._ledger.find_peer(self._signer.key) is None:
            await self.register()
        for document in documents:
            await self._ledger.put_blob(document, self._signer, self._clock())
        return await self._queue(lambda db: db.add(body, run, round), tuple(cosigners))

    async def withdraw(self, body: Body) -> bool:
        """Give up a statement of no run that waits; False if it may have been sent."""
        if self._net is None:  # `submit` waited for the network's name, and stored nothing
            return True
        async with self._lock:
            ticket = await trio.to_thread.run_sync(self._with_db, OutboxDb.withdraw, body)
            if ticket is None:
                return False
            self._waiting.pop(ticket, None)
            self._cosigners.pop(ticket, None)
        return True

    async def register(self) -> Entry:
        """Register the key, under the invitation if there is one; raises as `submit` does."""
        await self._ensure_network()
        body = await self._registration()
        return await self._queue(lambda db: db.add_registration(body))

    async def submitted(self, body_type: type[B], run: RunId, round: int) -> B | None:  # noqa: A002 - the protocol's word
        """The body that was submitted for that round in this life or an earlier one, or None."""
        await self._ensure_network()
        return await self._on_db(OutboxDb.submitted, body_type, run, round)

    async def send_waiting(self) -> NoReturn:
        """Send statements of earlier lives too; raises, also later, when nothing can be sent."""
        await self._ensure_network()
        failure = self._failure
        self._submitted.set()
        await failure.wait()
        raise AssertionError("a failure does not return")

    async def _queue(
        self, add: Callable[[OutboxDb], int], cosigners: tuple[Signer, ...] = ()
    ) -> Entry:
        async with self._lock:
            ticket = await trio.to_thread.run_sync(self._with_db, add)
            if cosigners:
                self._cosigners[ticket] = cosigners
            outcome = self._waiting.setdefault(ticket, _Outcome())
        self._submitted.set()
        return await outcome.wait()

    async def _ensure_network(self) -> None:
        if self._net is None:
            network = await self._ledger.network()
            await self.open(network.id, network.genesis.work_bits)

    async def _run(self) -> NoReturn:
        # Nothing is sent before the first `submit` or `send_waiting`: a program that is open and
        # has nothing to do, since its user has not consented yet, does not call the ledger.
        while True:
            await self._submitted.wait()
            # Replaced before the queue is read, so a statement added meanwhile is seen next time.
            self._submitted = trio.Event()
            while not await self._try_to_send():
                pass

    async def _try_to_send(self) -> bool:
        """Try to empty the queue; False after a pause when that has to be tried again."""
        try:
            await self._send_all()
        except (LogForkedError, UserFacingError) as err:
            # First, since a LogForkedError is a PeerError too: a log that lost what it acknowledged
            # is not waited for. Asking again would not bring it back, and signing over the gap
            # would make this key the one that contradicts itself.
            await self._fail(err)
        except (LedgerUnavailableError, RefusedError, PeerError) as err:
            # What was on its way may have arrived although no answer did, so the ledger is asked
            # before anything is signed again.
            self._is_in_step = False
            self.problem = str(err)
            least_s = err.retry_after_s if isinstance(err, LedgerUnavailableError) else 0.0
            pause_s = self._back_off.next_s(least_s)
            log.warning(
                "statements wait for the ledger", error=self.problem, again_in_s=round(pause_s, 1)
            )
            await trio.sleep(pause_s)
            return False
        else:
            self._back_off.reset()
        return True

    async def _fail(self, err: _Fatal) -> None:
        log.warning("statements cannot be sent", error=str(err), waiting=len(self._waiting))
        self._is_in_step = False
        async with self._lock:
            # The next `submit` opens the file again: a person who moves a damaged one away, as the
            # error advises, need not restart the worker.
            self._close_db()
        failed = [*self._waiting.values(), self._failure]
        self._waiting, self._failure = {}, _Outcome()
        for outcome in failed:
            outcome.give(err)

    async def _send_all(self) -> None:
        while await self._on_db(OutboxDb.count_drafts):
            if not self._is_in_step:
                await self._get_in_step()
                continue  # a registration may stand first now, and some may be done
            copies = await self._on_db(self._sign)
            if not copies:  # what waited was withdrawn
                return
            for copy in copies:
                for listener in self.on_sending:
                    listener(copy.entry)
            posted = await self._ledger.post_entries([copy.entry for copy in copies])
            await self._apply(copies, posted)

    async def _get_in_step(self) -> None:
        """Learn from the ledger where the chain ends, and which drafts it therefore has."""
        seq, last = await self._last_logged()
        chain = await self._on_db(OutboxDb.chain)
        if seq < chain.seq or (seq == chain.seq and last != chain.last):
            raise LogForkedError(
                f"the ledger has our statements up to {seq}, but had {chain.seq} before"
            )
        if seq > chain.seq:
            await self._catch_up(chain, seq, last)
        self._is_in_step = True

    async def _last_logged(self) -> tuple[int, Digest]:
        account = await self._ledger.find_peer(self._signer.key)
        if account is not None:
            return account.last_seq, account.last
        # A key unknown to the network registers before its first statement, by itself.
        if not await self._on_db(OutboxDb.is_registering):
            await self._on_db(OutboxDb.add_registration, await self._registration())
        return 0, ZERO_DIGEST

    async def _catch_up(self, chain: OwnChain, seq: int, last: Digest) -> None:
        """Settle the copies that the ledger turns out to have, or go on from where it is."""
        by_digest = {c.entry.statement.digest: c for c in await self._on_db(OutboxDb.copies)}
        # Walked back by digest and not by number: the file may hold several copies of a draft, and
        # only the digest says which of them was logged.
        logged: list[SignedCopy] = []
        while last != chain.last and last in by_digest:
            logged.insert(0, by_digest[last])
            last = logged[0].entry.statement.prev
        is_known = last == chain.last
        if not is_known and seq > chain.used + MOST_AHEAD:
            raise UserFacingError(
                f"the ledger has a statement {seq} of our key, which has signed {chain.used}; "
                "no key says that much, and numbers end: give the right ledger with --ledger"
            )
        if not is_known:
            log.warning("the ledger has statements of our key that we do not know", last_seq=seq)
        if logged:
            await self._settle(logged)
        else:
            await self._on_db(OutboxDb.adopt, seq, last)

    def _sign(self, db: OutboxDb) -> list[SignedCopy]:
        """Give the first drafts young copies that continue the chain; new ones are recorded."""
        chain = db.chain()
        latest = {copy.ticket: copy for copy in db.copies()}
        prev, used = chain.last, chain.used
        copies: list[SignedCopy] = []
        fresh: list[SignedCopy] = []
        for draft in db.drafts(BATCH):
            copy = latest.get(draft.ticket)
            # A copy that still fits is sent as it is: the same bytes twice are harmless. A new one
            # costs a number, and there is one more that may come to be logged.
            if copy is None or not self._is_good(draft, copy.entry, prev):
                used = 1 if prev == ZERO_DIGEST else used + 1
                copy = self._copy(draft, used, prev)
                fresh.append(copy)
            copies.append(copy)
            prev = copy.entry.statement.digest
        if fresh:
            db.record(fresh)
        return copies

    def _is_good(self, draft: UnsentStatement, entry: Entry, prev: Digest) -> bool:
        signed = entry.statement
        if len(entry.signatures) != 1 + len(self._other_signers(draft)):
            return False
        age_ms = self._clock() - signed.ts
        return signed.prev == prev and 0 <= age_ms <= FRESH_MS and signed.ts >= self._fresh_from_ms

    def _copy(self, draft: UnsentStatement, seq: int, prev: Digest) -> SignedCopy:
        if self._net is None:
            raise AssertionError("nothing is signed before the network is known")
        made = self._make(draft.body, draft.run, draft.round, seq=seq, prev=prev)
        signers = self._signer, *self._other_signers(draft)
        return SignedCopy(ticket=draft.ticket, entry=statement.sign(self._net, made, *signers))

    def _other_signers(self, draft: UnsentStatement) -> tuple[Signer, ...]:
        if self._invitation is not None and isinstance(draft.body, KeyRegister):
            return (self._invitation,)
        return self._cosigners.get(draft.ticket, ())

    def _make(
        self, body: Body, run: RunId | None, round_: int | None, *, seq: int, prev: Digest
    ) -> Statement:
        now = self._clock()
        return statement.make(
            body=body,
            author=self._signer.key,
            seq=seq,
            ts=now,
            exp=now + STATEMENT_LIFE_MS,
            prev=prev,
            run=run,
            round=round_,
        )

    async def _apply(self, copies: Sequence[SignedCopy], posted: Sequence[PostedStatement]) -> None:
        # Up to the first refusal: the copies after it name it as their predecessor, so whatever the
        # ledger answers about them, they cannot be logged and are signed again.
        count = next((n for n, item in enumerate(posted) if item.status == "refused"), len(posted))
        if count:
            self._doubts = 0
            await self._settle(copies[:count])
        if count < len(posted):
            await self._handle_refusal(copies[count], posted[count])

    async def _handle_refusal(self, copy: SignedCopy, item: PostedStatement) -> None:
        code, detail = item.code or "unnamed", item.detail or "the ledger gives no reason"
        signed = copy.entry.statement
        if code in _BUSY:
            raise LedgerUnavailableError(f"{code}: {detail}")
        # A copy that is really old is signed again. A young one that is called stale will not get
        # better by that: the clocks differ, and the caller has to know.
        if code in _STALE and self._clock() - signed.ts > _STALE_MS:
            self._fresh_from_ms = self._clock()
        # Another program may have used this key (a restored backup, an organiser's command). Once
        # the ledger is asked where the chain ends; the same refusal after that is an answer.
        elif code in _OUT_OF_STEP and self._doubts == 0:
            self._doubts += 1
            self._is_in_step = False
        else:
            self.is_clock_refused |= code == "clock-skew"
            await self._give_up(copy, LedgerRefusedError(code, f"{signed.type}: {detail}"))

    async def _settle(self, copies: Sequence[SignedCopy]) -> None:
        self.is_clock_refused = False
        await self._on_db(OutboxDb.settle, copies)
        for copy in copies:
            signed = copy.entry.statement
            log.info("statement logged", type=signed.type, seq=signed.seq, round=signed.round)
            self._cosigners.pop(copy.ticket, None)
            if outcome := self._waiting.pop(copy.ticket, None):
                outcome.give(copy.entry)

    async def _give_up(self, copy: SignedCopy, err: LedgerRefusedError) -> None:
        self._doubts = 0
        await self._on_db(OutboxDb.drop, copy.ticket)
        self._cosigners.pop(copy.ticket, None)
        outcome = self._waiting.pop(copy.ticket, None)
        if outcome is None:
            log.warning("statement refused, nobody waits for it", code=err.code, error=str(err))
        else:  # whether it matters is for the caller to decide
            log.info("statement refused", code=err.code, error=str(err))
            outcome.give(err)

    async def _registration(self) -> KeyRegister:
        if self._net is None:
            raise AssertionError("the work of a key depends on its network")
        return await work_for_registration(self._net, self._signer.key, self._work_bits)

    async def _on_db(self, use: Callable[..., _T], *args: object) -> _T:
        async with self._lock:
            return await trio.to_thread.run_sync(self._with_db, use, *args)

    def _with_db(self, use: Callable[..., _T], *args: object) -> _T:
        if self._db is None:
            if self._net is None:
                raise AssertionError("the file belongs to a network")
            self._db = OutboxDb(self._path, self._net, self._signer.key)
        found = use(self._db, *args)
        self.unlogged = self._db.count_drafts()
        return found

    def _close_db(self) -> None:
        if self._db is not None:
            self._db.close()
            self._db = None


class _Outcome:
    """Result of a statement, for all callers that wait for it."""

    def __init__(self) -> None:
        self._came = trio.Event()
        self._value: Entry | LedgerRefusedError | _Fatal | None = None

    def give(self, value: Entry | LedgerRefusedError | _Fatal) -> None:
        self._value = value
        self._came.set()

    async def wait(self) -> Entry:
        """The entry; raises a new error for each caller, since each adds its own traceback."""
        await self._came.wait()
        match self._value:
            case LedgerRefusedError() as err:
                raise LedgerRefusedError(err.code, str(err))
            case LogForkedError() | UserFacingError() as err:
                raise type(err)(str(err))
            case None:
                raise AssertionError("set before the event")
            case entry:
                return entry


async def work_for_registration(
    net: NetworkId,
    key: PeerKey,
    bits: int,
    stride: int = STRIDE,
    find: Callable[[NetworkId, PeerKey, int, int, int], int | None] = find_nonce,
) -> KeyRegister:
    """Do the work that a network asks of a new key; may be cancelled at any time."""
    first, began_s, report_s = 0, trio.current_time(), FIRST_REPORT_S
    while True:
        nonce = await trio.to_thread.run_sync(find, net, key, bits, first, stride)
        if nonce is not None:
            return KeyRegister(nonce=nonce)
        first += stride
        if trio.current_time() - began_s >= report_s:
            report_s *= 2
            log.info("working for our key to be admitted", tried=first, about=1 << bits)
