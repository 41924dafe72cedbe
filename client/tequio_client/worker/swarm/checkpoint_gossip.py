"""Checkpoints exchanged among peers, so that a ledger cannot show two peers two histories.

Each peer publishes, on one topic of the network, the newest checkpoint that it verified, unless it
has just received one that fits its log and is at least as new as its own was before: one message in
each interval shows all of them one history, however many they are and however fast the log grows.
One from before a fork fits both sides, so old ones silence nobody. A message is the signed note;
only the log can make one, so any peer may send it. A checkpoint that our log does not continue, or
that does not continue ours, proves a split view: both notes are stored as evidence, the ledger is
sent the other one, and the program ends. One that is larger than ours waits until our log has grown
that far; two of one size are compared at once. A smaller one costs requests to the ledger, and a
peer may replay every checkpoint of years: so few are compared in each interval, drawn by lot, and
few of one author are forwarded.

Topic: `/tequio/<first 16 hex of the network id>/checkpoint/1`.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import NoReturn, TypeAlias

import structlog
import trio

from tequio_client.ledger.api import LedgerApi, LedgerNetwork
from tequio_client.ledger.http import LedgerRefusedError, LedgerUnavailableError, LogForkedError
from tequio_client.ledger.proofs import LogProofs
from tequio_client.worker.ledger import last_checkpoint
from tequio_client.worker.ledger.follower import read_continued
from tequio_client.worker.swarm.peers import Announcement, PeerNetwork
from tequio_shared.errors import MalformedError, PeerError
from tequio_shared.ids import Digest, NetworkId, PeerKey
from tequio_shared.log.merkle import verify_consistency
from tequio_shared.log.notes import Checkpoint, VerifierKey, open_checkpoint
from tequio_shared.ratelimit import TokenBuckets

log = structlog.get_logger(__name__)

MESSAGE_BYTES = 16_384
"""Longest note that is forwarded; dozens of cosignatures fit."""
PUBLISH_EVERY_S = 30.0
"""Pause between two times at which our own checkpoint may be published."""
WITHHELD_S = 120.0
"""A ledger that shows us less than it showed a peer for this long withholds entries from us."""
PER_TURN = 4
"""Notes of one author that are forwarded, and notes that are proven, in the time of
`PUBLISH_EVERY_S`."""
WAITING = 64
"""Notes that may wait for their proof."""
FITTING = 1_024
"""Trees remembered that were found to fit; they are not checked again."""

_Tree: TypeAlias = tuple[int, Digest]


def checkpoint_topic(network_id: NetworkId) -> str:
    return f"/tequio/{network_id.hex()[:16]}/checkpoint/1"


class CheckpointFilter:
    """Accepts messages that bear the log's signature, a few of each author."""

    def __init__(
        self,
        log_key: VerifierKey,
        publish_every_s: float = PUBLISH_EVERY_S,
        clock: Callable[[], float] = trio.current_time,
    ) -> None:
        self._log_key = log_key
        self._clock = clock
        self._authors = TokenBuckets(PER_TURN / publish_every_s, PER_TURN)

    def screen(self, _author: PeerKey, content: bytes) -> bool:
        """Check the length alone, which costs no signature."""
        return len(content) <= MESSAGE_BYTES

    def check(self, author: PeerKey, content: bytes) -> bool:
        """Verify the log's signature; raises PeerError without one."""
        open_checkpoint(content, self._log_key)
        return self._authors.try_spend(author, 1, self._clock())


class CheckpointGossip:
    """Compares checkpoints of peers with the log that the ledger shows us; `run` does it all."""

    def __init__(  # noqa: PLR0913 - composition
        self,
        peers: PeerNetwork,
        ledger: LedgerApi,
        network: LedgerNetwork,
        folder: Path,
        *,
        rng: Random,
        publish_every_s: float = PUBLISH_EVERY_S,
        withheld_s: float = WITHHELD_S,
    ) -> None:
        self._peers = peers
        self._ledger = ledger
        self._network = network
        self._memory = folder / last_checkpoint.CHECKPOINT_FILE
        self._folder = folder
        self._rng = rng
        self._publish_every_s = publish_every_s
        self._withheld_s = withheld_s
        self._topic = checkpoint_topic(network.id)
        self._proofs = TokenBuckets(PER_TURN / publish_every_s, PER_TURN)
        self._waiting: dict[_Tree, bytes] = {}  # notes that wait for their proof
        self.fitting: OrderedDict[_Tree, None] = OrderedDict()  # compared with our log
        self._largest_fitting = 0  # size of a checkpoint received since the last turn to publish
        self.largest_ahead: bytes | None = None  # the largest note that our log has not reached
        self._ahead_since_s = 0.0
        self._is_withheld_reported = False

    async def run(self) -> NoReturn:
        """Publish, receive and compare until cancelled; raises LogForkedError at a split view."""
        signed = CheckpointFilter(self._network.log_key, self._publish_every_s)
        received = await self._peers.subscribe(self._topic, signed)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._receive, received)
            nursery.start_soon(self._publish)
        raise AssertionError("neither task returns")

    async def _receive(self, received: trio.MemoryReceiveChannel[Announcement]) -> None:
        async for announcement in received:
            if announcement.author != self._peers.key:
                await self.compare(announcement.content)

    async def _publish(self) -> None:
        size_before = 1
        while True:
            # Jittered, so that one peer publishes first and the others stay silent.
            await trio.sleep(self._publish_every_s * self._rng.uniform(0.5, 1.5))
            if self.largest_ahead is not None:
                await self.compare(self.largest_ahead)
            await self._prove_waiting()
            ours, note = await self._ours()
            if ours is None:
                continue
            if self._largest_fitting < size_before:
                await self._peers.publish(self._topic, note)
            size_before, self._largest_fitting = ours.size, 0

    async def compare(self, note: bytes) -> None:
        """Compare a signed checkpoint with our log, later if there are many.

        Raises LogForkedError at a split view.
        """
        theirs = open_checkpoint(note, self._network.log_key).checkpoint
        ours, own_note = await self._ours()
        if ours is None:
            return
        # Those that repeat a checkpoint that was compared already cost no request to the ledger, so
        # a flood of them does not become one.
        if _tree(theirs) in self.fitting:
            self._largest_fitting = max(self._largest_fitting, theirs.size)
            return
        if theirs.size > ours.size:
            await self._wait_for(note, theirs, ours)
        elif theirs.size == ours.size:
            await self._settle(note, theirs, ours, own_note)
        else:
            self._waiting[_tree(theirs)] = note
            await self._prove_waiting()
            if len(self._waiting) > WAITING:
                self._draw()

    async def _prove_waiting(self) -> None:
        """Compare as many of the notes that wait as the rate of proofs allows."""
        while self._waiting and self._proofs.try_spend("", 1, trio.current_time()):
            note = self._draw()
            ours, own_note = await self._ours()
            if ours is not None:
                theirs = open_checkpoint(note, self._network.log_key).checkpoint
                await self._settle(note, theirs, ours, own_note)

    def _draw(self) -> bytes:
        """Take a note that waits: which one, no peer can tell."""
        return self._waiting.pop(self._rng.choice(list(self._waiting)))

    async def _settle(
        self, note: bytes, theirs: Checkpoint, ours: Checkpoint, own_note: bytes
    ) -> None:
        """Compare a checkpoint that is not larger than ours; raises as `compare` does."""
        try:
            await self._check_fits(theirs, ours, note, own_note)
        # Without a proof nothing is decided: a ledger that does not answer has not forked, and the
        # next message about this checkpoint tries again.
        except LedgerUnavailableError as err:
            log.info("a peer's checkpoint is compared later", why=str(err))
            return
        self.fitting[_tree(theirs)] = None
        self._largest_fitting = max(self._largest_fitting, theirs.size)
        if len(self.fitting) > FITTING:
            self.fitting.popitem(last=False)
        if self.largest_ahead == note:
            self.largest_ahead = None

    async def _wait_for(self, note: bytes, theirs: Checkpoint, ours: Checkpoint) -> None:
        """Remember the largest checkpoint ahead of our log, and report one that stays ahead."""
        now_s = trio.current_time()
        ahead: Checkpoint | None = None
        if self.largest_ahead is not None:
            ahead = open_checkpoint(self.largest_ahead, self._network.log_key).checkpoint
        # Two roots for one size need no proof: both notes bear the log's signature, so they convict
        # it although we have not read that far.
        if ahead is not None and ahead.size == theirs.size and ahead.root != theirs.root:
            await self._raise_fork(
                (note, self.largest_ahead or b""), f"two roots of size {theirs.size}"
            )
        if ahead is None or theirs.size > ahead.size:
            # The clock runs from the first note ahead, not from the latest: a ledger that keeps
            # serving peers and starves us would otherwise never be reported.
            if self.largest_ahead is None:
                self._ahead_since_s, self._is_withheld_reported = now_s, False
            self.largest_ahead = note
        elif now_s - self._ahead_since_s > self._withheld_s and not self._is_withheld_reported:
            await self._report_withheld(note, theirs)

    async def _report_withheld(self, note: bytes, theirs: Checkpoint) -> None:
        """Report a checkpoint that the ledger shows to a peer, and not to us."""
        # Only a run reads the log: without one, ours is as old as the last time somebody asked.
        try:
            ours, _ = await read_continued(self._ledger, self._memory)
        except LogForkedError:
            raise
        except (LedgerUnavailableError, LedgerRefusedError, PeerError) as err:
            log.info("no newer checkpoint to compare a peer's with", why=str(err))
            return
        if ours.size < theirs.size:
            self._is_withheld_reported = True
            log.error(
                "ledger withholds entries that it showed a peer",
                ours=ours.size,
                theirs=theirs.size,
            )
            await self._report(note)

    async def _raise_fork(self, notes: tuple[bytes, bytes], what: str) -> NoReturn:
        """Store and report two notes that no one log can have signed; raises LogForkedError."""
        key = self._network.log_key
        # The evidence is on disk before the ledger hears of it: once reported, it may hide what it
        # signed.
        path = await last_checkpoint.store_evidence(
            self._folder, key, f"split view: {what}", notes, []
        )
        for note in notes:
            await self._report(note)
        raise LogForkedError(
            f"the ledger signed two histories of {key.name}: {what}; the evidence is in {path}"
        )

    async def _check_fits(
        self, theirs: Checkpoint, ours: Checkpoint, note: bytes, own_note: bytes
    ) -> None:
        """Return if our log begins with theirs; raises LogForkedError, LedgerUnavailableError."""
        proof: list[Digest] = []
        try:
            if 0 < theirs.size < ours.size:
                proof = await LogProofs(self._ledger, ours).consistency(theirs.size)
            if theirs.size > 0:
                verify_consistency(theirs.size, theirs.root, ours.size, ours.root, proof)
        except LedgerRefusedError as err:
            raise LedgerUnavailableError(str(err)) from err
        except PeerError as err:
            key, why = self._network.log_key, f"split view: {err}"
            path = await last_checkpoint.store_evidence(
                self._folder, key, why, (note, own_note), proof
            )
            await self._report(note)
            raise LogForkedError(
                f"the ledger signed another history of {ours.origin} for others: a checkpoint of "
                f"{theirs.size} entries contradicts ours of {ours.size}; the evidence is in {path}"
            ) from err

    async def _report(self, note: bytes) -> None:
        """Send the ledger a note that peers have: a ledger that lost entries must stop signing."""
        try:
            await self._ledger.send_checkpoint(note)
        except (LedgerUnavailableError, LedgerRefusedError, PeerError) as err:
            log.warning("ledger refused a peer's checkpoint", why=str(err))

    async def _ours(self) -> tuple[Checkpoint | None, bytes]:
        note = await trio.to_thread.run_sync(last_checkpoint.load_note, self._memory)
        if not note:
            return None, b""
        try:
            return open_checkpoint(note, self._network.log_key).checkpoint, note
        except MalformedError:
            return None, b""


def _tree(checkpoint: Checkpoint) -> _Tree:
    return checkpoint.size, checkpoint.root
