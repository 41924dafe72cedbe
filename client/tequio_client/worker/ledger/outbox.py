"""The worker's voice: numbers, signs and posts its statements, in order and each once.

Rules. What is said is on disk before `say` goes on, and a number is on disk before a copy under it
is sent. One task posts. A statement that may have been sent is signed anew only after the ledger
was asked where our chain ends, so nothing is logged twice whatever was lost on the way; and a
number is never used again, so that two different statements under one are always foul play.
The one exception: as long as nothing of ours is in the log, the format demands number 1.
What is said of a round is said once (`outbox_file`): signed anew, it is the same body.
"""

from __future__ import annotations

from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from random import Random
from typing import TYPE_CHECKING, NoReturn, Self, TypeVar

import structlog
import trio

from tequio_client import clock
from tequio_client.clock import now_ms
from tequio_client.ledger.http import LedgerRefusedError, LedgerUnavailableError, LogForkedError
from tequio_client.worker.ledger.outbox_db import REGISTRATION, Copy, OutboxFile
from tequio_shared.errors import PeerError, RefusedError, TequioError, UserFacingError
from tequio_shared.ids import STATEMENT_LIFE_MS, ZERO_DIGEST, peer_id_text, to_text
from tequio_shared.statements import statement
from tequio_shared.statements.network import FaultReport, KeyRegister
from tequio_shared.statements.proof_of_work import find_nonce

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Sequence
    from pathlib import Path

    from tequio_client.ledger.api import LedgerApi, Network
    from tequio_client.worker.ledger.outbox_db import B, Chain, Draft
    from tequio_shared.api.log import PostedStatement
    from tequio_shared.ids import Digest, NetworkId, PeerKey, RunId
    from tequio_shared.keys import Signer
    from tequio_shared.statements import Body
    from tequio_shared.statements.statement import Entry, Statement

# --- Waiting longer after each failure in a row, with jitter so that a crowd does not come at
# once.

FIRST_S = 0.25
LONGEST_S = 30.0


class BackOff:
    """Says how long to wait; belongs to the one task that tries again."""

    def __init__(self, rng: Random, longest_s: float | None = None) -> None:
        self._rng = rng
        self._longest_s = LONGEST_S if longest_s is None else longest_s
        self._next_s = FIRST_S

    def next_s(self, least_s: float = 0.0) -> float:
        """Say how long to wait now, at least what the other side asked for; doubles each time."""
        pause = self._next_s * self._rng.uniform(0.5, 1.0)
        self._next_s = min(self._next_s * 2, self._longest_s)
        return max(pause, least_s)

    def reset(self) -> None:
        """Begin anew: the other side answered."""
        self._next_s = FIRST_S


# --- Doing the work that a network asks of a new key before it is registered.

log = structlog.get_logger(__name__)

STRIDE = 1 << 15
"""Nonces tried between two looks at whether somebody wants us to stop: some 15 ms."""
FIRST_WORD_S = 1.0
"""Work that takes longer is told of, and then each time that it has taken twice as long."""


async def registration(net: NetworkId, key: PeerKey, bits: int) -> KeyRegister:
    """Find the work and write the registration; may be cancelled at any time."""
    first, began_s, word_s = 0, trio.current_time(), FIRST_WORD_S
    while True:
        nonce = await trio.to_thread.run_sync(find_nonce, net, key, bits, first, STRIDE)
        if nonce is not None:
            return KeyRegister(nonce=nonce)
        first += STRIDE
        if trio.current_time() - began_s >= word_s:
            word_s *= 2
            log.info("working for our key to be admitted", tried=first, about=1 << bits)


FILE = "outbox.sqlite"
BATCH = 32
"""Statements in one request; 32 of the largest stay below the ledger's limit of 1 MiB."""
MOST_AHEAD = 1 << 32
"""Statements of our key that a ledger may have and we do not know; numbers are never used again, so
a ledger that claims more could leave us none."""
FRESH_MS = 120_000
"""A copy older than this is signed anew; the ledger takes 300 s, clocks differ."""

_BUSY = frozenset({"rate-limited", "queue-full", "read-only", "no-quorum"})
_STALE = frozenset({"clock-skew", "expired"})
_OUT_OF_STEP = frozenset({"seq-gap", "wrong-prev", "equivocation", "not-admitted"})
_STALE_MS = 5_000
"""A copy younger than this that is called stale means that the clocks differ."""

_T = TypeVar("_T")


class Outbox:
    """The one owner of the worker's chain of statements, while it is open.

    Leaving the `async with` stops posting; what was said and is not logged yet goes out after the
    next start. LogForkedError ends the `async with` when the ledger has lost statements of ours,
    UserFacingError when it claims more of us than there can be.
    """

    def __init__(  # noqa: PLR0913 - composition
        self,
        folder: Path,
        *,
        signer: Signer,
        net: NetworkId,
        work_bits: int,
        ledger: LedgerApi,
        clock: Callable[[], int],
        rng: Random,
        invitation: Signer | None = None,
    ) -> None:
        self._path = folder / FILE
        self._invitation = invitation  # signs our registration too
        self._signer = signer
        self._net = net
        self._work_bits = work_bits
        self._ledger = ledger
        self._clock = clock
        self._back_off = BackOff(rng)
        self._stack = AsyncExitStack()
        self._lock = trio.Lock()  # held by whoever uses the file
        self._spoken = trio.Event()  # replaced by the posting task
        self._waiting: dict[int, _Answer] = {}  # by ticket
        # The rest belongs to the posting task.
        self._is_in_step = False
        self._doubts = 0  # refusals in a row that only a chain out of step explains
        self._fresh_from_ms = 0  # copies from before are not sent again

    @classmethod
    def on(
        cls,
        ledger: LedgerApi,
        network: Network,
        folder: Path,
        signer: Signer,
        invitation: Signer | None = None,
    ) -> Self:
        """The outbox in that folder, for that ledger's network, by this machine's clock."""
        return cls(
            folder,
            signer=signer,
            net=network.id,
            work_bits=network.genesis.work_bits,
            ledger=ledger,
            clock=now_ms,
            rng=Random(signer.key),  # noqa: S311 - back-off only
            invitation=invitation,
        )

    async def __aenter__(self) -> Self:
        async with AsyncExitStack() as stack:
            opening = partial(OutboxFile, self._path, self._net, self._signer.key)
            self._file = stack.enter_context(await trio.to_thread.run_sync(opening))
            nursery = await stack.enter_async_context(trio.open_nursery())
            nursery.start_soon(self._run)
            stack.callback(nursery.cancel_scope.cancel)
            self._stack = stack.pop_all()
        return self

    async def __aexit__(self, *exc: object) -> bool | None:
        return await self._stack.__aexit__(*exc)  # type: ignore[arg-type]  # the protocol's three

    async def say(
        self,
        body: Body,
        run: RunId | None = None,
        round: int | None = None,  # noqa: A002 - the treaty's word
    ) -> Entry:
        """Say something; returns the entry once the ledger has it on disk, whenever that is.

        What is cancelled here is said nevertheless, and saying it again joins it. Raises
        RefusedError with the ledger's code when it does not take the statement, which is then
        forgotten, RefusedError("malformed") when the rules forbid it, and "already-said" or
        "too-late" when something was said of the round before that is not waiting any more.
        """
        self._make(body, run, round, seq=1, prev=ZERO_DIGEST)  # raises if it can never be signed
        async with self._lock:
            ticket = await trio.to_thread.run_sync(self._file.add, body, run, round)
            answer = self._waiting.setdefault(ticket, _Answer())
        self._spoken.set()
        return await answer.wait()

    async def register(self) -> Entry:
        """Register our key, under the invitation if there is one; raises as `say` does.

        What is refused is forgotten: without another word from us our key stays a stranger.
        """
        body = await registration(self._net, self._signer.key, self._work_bits)
        async with self._lock:
            await trio.to_thread.run_sync(self._file.add_first, body)
            answer = self._waiting.setdefault(REGISTRATION, _Answer())
        self._spoken.set()
        return await answer.wait()

    async def become_known(self) -> None:
        """Register our key unless it is: a ledger keeps documents of keys that it knows.

        Raises as `register` does, and what the ledger's API raises.
        """
        try:
            await self._ledger.peer(self._signer.key)
        except LedgerRefusedError as err:
            if err.code != "not-found":
                raise
            await self.register()

    async def word(self, body_type: type[B], run: RunId, round: int) -> B | None:  # noqa: A002 - the treaty's word
        """What was said of that round in this life or an earlier one, answered or not."""
        return await self._on_file(self._file.word, body_type, run, round)

    # --- the posting task

    async def _run(self) -> None:
        while True:
            spoken = self._spoken = trio.Event()
            try:
                await self._post_all()
            except LogForkedError:
                raise
            except (LedgerUnavailableError, RefusedError, PeerError) as err:
                await self._wait_after(err)
            else:
                self._back_off.reset()
                await spoken.wait()

    async def _wait_after(self, err: TequioError) -> None:
        """Whatever was on its way may have arrived: ask before anything is signed anew."""
        self._is_in_step = False
        least_s = err.retry_after_s if isinstance(err, LedgerUnavailableError) else 0.0
        pause_s = self._back_off.next_s(least_s)
        log.warning("statements wait for the ledger", error=str(err), again_in_s=round(pause_s, 1))
        await trio.sleep(pause_s)

    async def _post_all(self) -> None:
        while drafts := await self._on_file(self._file.drafts, BATCH):
            if not self._is_in_step:
                await self._get_in_step()
                continue  # a registration may stand first now, and some may be done
            copies = await self._on_file(self._sign, drafts)
            posted = await self._ledger.post([copy.entry for copy in copies])
            await self._take(copies, posted)

    async def _get_in_step(self) -> None:
        """Learn from the ledger where our chain ends, and what of ours it therefore has."""
        seq, last = await self._ask()
        chain = await self._on_file(self._file.chain)
        if seq < chain.seq or (seq == chain.seq and last != chain.last):
            raise LogForkedError(
                f"the ledger has our statements up to {seq}, but had {chain.seq} before"
            )
        if seq > chain.seq:
            await self._catch_up(chain, seq, last)
        self._is_in_step = True

    async def _ask(self) -> tuple[int, Digest]:
        try:
            account = await self._ledger.peer(self._signer.key)
        except LedgerRefusedError as err:
            if err.code != "not-found":
                raise
            await self._register()
            return 0, ZERO_DIGEST
        return account.last_seq, account.last

    async def _register(self) -> None:
        if not await self._on_file(self._file.is_registering):
            body = await registration(self._net, self._signer.key, self._work_bits)
            await self._on_file(self._file.add_first, body)

    async def _catch_up(self, chain: Chain, seq: int, last: Digest) -> None:
        by_digest = {c.entry.statement.digest: c for c in await self._on_file(self._file.copies)}
        logged: list[Copy] = []
        while last != chain.last and last in by_digest:
            logged.insert(0, by_digest[last])
            last = logged[0].entry.statement.prev
        if last != chain.last and seq > chain.used + MOST_AHEAD:
            raise UserFacingError(
                f"the ledger has a statement {seq} of our key, which has signed {chain.used}; "
                "no key says that much, and numbers end: give the right ledger with --ledger"
            )
        if last != chain.last:
            log.warning("the ledger has statements of our key that we do not know", last_seq=seq)
        if logged:
            await self._settle(logged)
        else:
            await self._on_file(self._file.adopt, seq, last)

    def _sign(self, drafts: Sequence[Draft]) -> list[Copy]:
        """Give each draft a copy that continues the chain and is young; new ones are kept first."""
        chain = self._file.chain()
        latest = {copy.ticket: copy for copy in self._file.copies()}
        prev, used = chain.last, chain.used
        copies: list[Copy] = []
        fresh: list[Copy] = []
        for draft in drafts:
            copy = latest.get(draft.ticket)
            if copy is None or not self._is_good(copy.entry, prev):
                used = 1 if prev == ZERO_DIGEST else used + 1
                copy = self._copy(draft, used, prev)
                fresh.append(copy)
            copies.append(copy)
            prev = copy.entry.statement.digest
        if fresh:
            self._file.keep(fresh)
        return copies

    def _is_good(self, entry: Entry, prev: Digest) -> bool:
        signed = entry.statement
        if len(entry.signatures) != 1 + len(self._others(signed.body)):
            return False
        age_ms = self._clock() - signed.ts
        return signed.prev == prev and 0 <= age_ms <= FRESH_MS and signed.ts >= self._fresh_from_ms

    def _copy(self, draft: Draft, seq: int, prev: Digest) -> Copy:
        made = self._make(draft.body, draft.run, draft.round, seq=seq, prev=prev)
        signers = self._signer, *self._others(draft.body)
        return Copy(ticket=draft.ticket, entry=statement.sign(self._net, made, *signers))

    def _others(self, body: Body) -> tuple[Signer, ...]:
        """Who signs beside us."""
        if self._invitation is None or not isinstance(body, KeyRegister):
            return ()
        return (self._invitation,)

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

    async def _take(self, copies: Sequence[Copy], posted: Sequence[PostedStatement]) -> None:
        """Note what became of a batch, up to the first refusal: those after it are out of step."""
        count = next((n for n, item in enumerate(posted) if item.status == "refused"), len(posted))
        if count:
            self._doubts = 0
            await self._settle(copies[:count])
        if count < len(posted):
            await self._refused(copies[count], posted[count])

    async def _refused(self, copy: Copy, item: PostedStatement) -> None:
        code, detail = item.code or "unnamed", item.detail or "the ledger gives no reason"
        signed = copy.entry.statement
        if code in _BUSY:
            raise LedgerUnavailableError(f"{code}: {detail}")
        if code in _STALE and self._clock() - signed.ts > _STALE_MS:
            self._fresh_from_ms = self._clock()
        elif code in _OUT_OF_STEP and self._doubts == 0:
            self._doubts += 1
            self._is_in_step = False
        else:
            await self._give_up(copy, LedgerRefusedError(code, f"{signed.type}: {detail}"))

    async def _settle(self, copies: Sequence[Copy]) -> None:
        await self._on_file(self._file.settle, copies)
        for copy in copies:
            signed = copy.entry.statement
            log.info("statement logged", type=signed.type, seq=signed.seq, round=signed.round)
            if answer := self._waiting.pop(copy.ticket, None):
                answer.give(copy.entry)

    async def _give_up(self, copy: Copy, err: LedgerRefusedError) -> None:
        self._doubts = 0
        await self._on_file(self._file.drop, copy.ticket)
        answer = self._waiting.pop(copy.ticket, None)
        if answer is None:
            log.warning("statement refused, nobody waits for it", code=err.code, error=str(err))
        else:  # whether it matters is for them to say
            log.info("statement refused", code=err.code, error=str(err))
            answer.give(err)

    async def _on_file(self, use: Callable[..., _T], *args: object) -> _T:
        async with self._lock:
            return await trio.to_thread.run_sync(use, *args)


class _Answer:
    """What became of a statement, for everybody who waits for it."""

    def __init__(self) -> None:
        self._came = trio.Event()
        self._outcome: Entry | LedgerRefusedError | None = None

    def give(self, outcome: Entry | LedgerRefusedError) -> None:
        self._outcome = outcome
        self._came.set()

    async def wait(self) -> Entry:
        await self._came.wait()
        if isinstance(self._outcome, LedgerRefusedError):
            raise LedgerRefusedError(self._outcome.code, str(self._outcome))
        assert self._outcome is not None  # noqa: S101 - set before the event
        return self._outcome


# --- The one mouth of a program's key: whoever speaks here, one outbox is open at a time.
#
# A chain of statements has one writer. Who takes part in a run holds the outbox open for as long
# as that lasts; others speak through the one that is held, and open it for a moment while nobody
# holds it. Whoever comes to hold it, or stops, cuts short who is speaking just then: what was
# said lies in the outbox's file, and saying it again through the next one joins it.

SAYING_S = 60.0
"""How long who speaks waits; what the ledger has not by then stays in the outbox."""
_SAID = "already-said"


class Mouth:
    """Speaks under one key, whose folder the caller has locked."""

    def __init__(self, ledger: LedgerApi, folder: Path, signer: Signer) -> None:
        self._ledger, self._folder, self._signer = ledger, folder, signer
        self._lock = trio.Lock()  # of the outbox's file
        self._held: Outbox | None = None  # owned by `held`
        self._speeches: set[trio.CancelScope] = set()

    @asynccontextmanager
    async def held(self, network: Network) -> AsyncIterator[Outbox]:
        """Have the outbox open for long; raises as the outbox does."""
        self._cut_short()
        async with self._lock, Outbox.on(self._ledger, network, *self._whose) as outbox:
            self._held = outbox
            self._cut_short()
            try:
                yield outbox
            finally:
                self._held = None
                self._cut_short()

    async def say(self, body: Body, documents: Sequence[bytes] = ()) -> bool:
        """Put the documents, then say it; whether it was new. Returns when the ledger has all.

        Raises RefusedError when the ledger does not take it, and what the outbox raises.
        """
        while True:
            with trio.CancelScope() as speech:
                self._speeches.add(speech)
                try:
                    refused = await self._say(body, documents)
                finally:
                    self._speeches.discard(speech)
            if not speech.cancelled_caught:
                break
        if refused is not None and refused.code != _SAID:
            raise refused
        return refused is None

    @property
    def _whose(self) -> tuple[Path, Signer]:
        return self._folder, self._signer

    def _cut_short(self) -> None:
        for speech in self._speeches:
            speech.cancel()

    async def _say(self, body: Body, documents: Sequence[bytes]) -> RefusedError | None:
        if self._held is not None:
            return await self._through(self._held, body, documents)
        async with self._lock:
            network = await self._ledger.network()
            async with Outbox.on(self._ledger, network, *self._whose) as outbox:
                return await self._through(outbox, body, documents)

    async def _through(
        self, outbox: Outbox, body: Body, documents: Sequence[bytes]
    ) -> RefusedError | None:
        """Say it; why not, as a value: an outbox that closes would wrap an error."""
        try:
            if documents:
                await outbox.become_known()
            for document in documents:
                await self._ledger.put_blob(document, self._signer, clock.now_ms())
            await outbox.say(body)
        except RefusedError as err:
            return err
        return None


# --- Tells the ledger of authors whom the gossip shows to have signed two works for one round.

WAITING = 16
"""Most reports that wait to be said; more equivocators at once are not all told of by us."""
REMEMBERED = 1_024
"""Authors reported so far; then all are forgotten, and may be reported anew."""


class Reporter:
    """Says one report for each author and round; `run` says them."""

    def __init__(self, outbox: Outbox, key: PeerKey) -> None:
        self._outbox = outbox
        self._key = key
        self._told: set[tuple[PeerKey, int | None]] = set()
        self._in, self._out = trio.open_memory_channel[FaultReport](WAITING)

    def hear(self, first: Entry, second: Entry) -> None:
        """Take two signed entries of one author that contradict each other."""
        one = first.statement
        about = one.author, one.round
        if one.author == self._key or about in self._told:
            return
        if len(self._told) >= REMEMBERED:
            self._told.clear()
        self._told.add(about)
        log.warning("two commitments for one round", author=peer_id_text(one.author))
        report = FaultReport(leaves=(to_text(first.leaf()), to_text(second.leaf())))
        try:
            self._in.send_nowait(report)
        except trio.WouldBlock:
            log.warning("too many reports wait; this one is dropped")

    async def run(self) -> NoReturn:
        """Say what was heard, until cancelled; the ledger may know it already."""
        while True:
            report = await self._out.receive()
            try:
                await self._outbox.say(report)
            except RefusedError as err:
                log.info("report not needed", code=err.code)
