"""Checkpoints passed among peers: whoever is shown another history than others hears of it here.

Each peer tells, on one topic of the network, the newest checkpoint that it verified, unless it has
just heard the same one from somebody else. A message is the signed note; only the log can make
one, so anybody may send it. A checkpoint that our log does not continue, or that does not continue
ours, proves a split view: both notes are kept as evidence, the ledger is shown the other one, and
the program ends. One that is larger than ours waits until our log has grown that far; two of one
size are held against each other at once.

Topic: `/tequio/<first 16 hex of the network id>/checkpoint/1`.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING, NoReturn

import structlog
import trio

from tequio_client.ledger.http import LedgerRefusedError, LedgerUnavailableError, LogForkedError
from tequio_client.ledger.proofs import LogProofs
from tequio_client.worker.ledger import last_checkpoint
from tequio_shared.errors import MalformedError, PeerError
from tequio_shared.log.merkle import verify_consistency
from tequio_shared.log.notes import open_checkpoint

if TYPE_CHECKING:
    from pathlib import Path
    from random import Random

    from tequio_client.ledger.api import LedgerApi, Network
    from tequio_client.worker.peers import Announcement, PeerNetwork
    from tequio_shared.ids import Digest, NetworkId, PeerKey
    from tequio_shared.log.notes import Checkpoint, VerifierKey

log = structlog.get_logger(__name__)

MESSAGE_BYTES = 16_384
"""Longest note that is passed on; dozens of cosignatures fit."""
TELL_S = 30.0
"""Pause between two times at which we may tell what we have."""
WITHHELD_S = 120.0
"""A ledger that shows us less than it showed a peer for so long withholds entries from us."""
REMEMBERED = 1_024
"""Trees that were found to fit; one of them is not looked at again."""

_Tree = tuple[int, "Digest"]


def topic_of(network_id: NetworkId) -> str:
    """Name the topic of a network's checkpoints."""
    return f"/tequio/{network_id.hex()[:16]}/checkpoint/1"


class CheckpointJudge:
    """Passes on what bears the log's signature."""

    def __init__(self, log_key: VerifierKey) -> None:
        self._log_key = log_key

    def screen(self, _author: PeerKey, content: bytes) -> bool:
        """Look at the length alone."""
        return len(content) <= MESSAGE_BYTES

    def check(self, _author: PeerKey, content: bytes) -> bool:
        """Verify the log's signature; raises PeerError when it is not there."""
        open_checkpoint(content, self._log_key)
        return True


class CheckpointWatch:
    """Holds what peers tell against the log that the ledger shows us; `run` does all of it."""

    def __init__(
        self,
        peers: PeerNetwork,
        ledger: LedgerApi,
        network: Network,
        folder: Path,
        *,
        rng: Random,
    ) -> None:
        self._peers = peers
        self._ledger = ledger
        self._network = network
        self._memory = folder / last_checkpoint.FILE
        self._folder = folder
        self._rng = rng
        self._topic = topic_of(network.id)
        self._fit: OrderedDict[_Tree, None] = OrderedDict()
        self._heard: set[_Tree] = set()  # from others, since we told ours last
        self._ahead: bytes | None = None  # the largest note that our log has not reached
        self._ahead_since_s = 0.0
        self._is_told_withheld = False

    async def run(self) -> NoReturn:
        """Tell, hear and judge until cancelled; raises LogForkedError at a split view."""
        judge = CheckpointJudge(self._network.log_key)
        received = await self._peers.subscribe(self._topic, judge)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._hear, received)
            nursery.start_soon(self._tell)
        raise AssertionError("both go on for ever")

    async def _hear(self, received: trio.MemoryReceiveChannel[Announcement]) -> None:
        async for announcement in received:
            if announcement.author != self._peers.key:
                await self._judge(announcement.content)

    async def _tell(self) -> None:
        while True:
            await trio.sleep(TELL_S * self._rng.uniform(0.5, 1.5))
            if self._ahead is not None:
                await self._judge(self._ahead)
            ours, note = await self._ours()
            if ours is not None and note and _tree(ours) not in self._heard:
                await self._peers.publish(self._topic, note)
            self._heard.clear()

    async def _judge(self, note: bytes) -> None:
        theirs = open_checkpoint(note, self._network.log_key).checkpoint
        self._heard.add(_tree(theirs))
        ours, own_note = await self._ours()
        if _tree(theirs) in self._fit or ours is None:
            return
        if theirs.size > ours.size:
            await self._wait_for(note, theirs, ours)
            return
        try:
            await self._check_fits(theirs, ours, note, own_note)
        except LedgerUnavailableError as err:
            log.info("a peer's checkpoint is judged later", why=str(err))
            return
        self._note_fit(theirs)
        if self._ahead == note:
            self._ahead = None

    async def _wait_for(self, note: bytes, theirs: Checkpoint, ours: Checkpoint) -> None:
        """Keep the largest checkpoint that is ahead of ours, and say when it stays ahead."""
        now_s = trio.current_time()
        ahead = self._checkpoint_ahead()
        if ahead is not None and ahead.size == theirs.size and ahead.root != theirs.root:
            await self._raise_fork((note, self._ahead or b""), f"two roots of size {theirs.size}")
        if ahead is None or theirs.size > ahead.size:
            if self._ahead is None:
                self._ahead_since_s, self._is_told_withheld = now_s, False
            self._ahead = note
        elif now_s - self._ahead_since_s > WITHHELD_S and not self._is_told_withheld:
            self._is_told_withheld = True
            log.error(
                "the ledger shows us less of its log than it showed a peer",
                ours=ours.size,
                theirs=theirs.size,
            )
            await self._show(note)

    def _checkpoint_ahead(self) -> Checkpoint | None:
        if self._ahead is None:
            return None
        return open_checkpoint(self._ahead, self._network.log_key).checkpoint

    async def _raise_fork(self, notes: tuple[bytes, bytes], what: str) -> NoReturn:
        """Keep what peers told that no one log can be, show it, and raise LogForkedError."""
        key = self._network.log_key
        path = await last_checkpoint.keep(self._folder, key, f"split view: {what}", notes, [])
        for note in notes:
            await self._show(note)
        raise LogForkedError(
            f"the ledger showed others two histories of {key.name}: {what}; the proof is in {path}"
        )

    async def _check_fits(
        self, theirs: Checkpoint, ours: Checkpoint, note: bytes, own_note: bytes
    ) -> None:
        """Return if our log begins with theirs; raises LogForkedError, LedgerUnavailableError."""
        proof: list[Digest] = []
        try:
            if 0 < theirs.size < ours.size:
                proof = await LogProofs(self._ledger, ours.size).consistency(theirs.size)
            if theirs.size > 0:
                verify_consistency(theirs.size, theirs.root, ours.size, ours.root, proof)
        except LedgerRefusedError as err:
            raise LedgerUnavailableError(str(err)) from err
        except PeerError as err:
            key, why = self._network.log_key, f"split view: {err}"
            path = await last_checkpoint.keep(self._folder, key, why, (note, own_note), proof)
            await self._show(note)
            raise LogForkedError(
                f"the ledger showed others another history of {ours.origin}: a checkpoint of "
                f"{theirs.size} entries and ours of {ours.size} do not fit; the proof is in {path}"
            ) from err

    async def _show(self, note: bytes) -> None:
        """Show the ledger what others have: one that lost entries must not sign any more."""
        try:
            await self._ledger.show_checkpoint(note)
        except (LedgerUnavailableError, LedgerRefusedError, PeerError) as err:
            log.warning("the ledger did not take a peer's checkpoint", why=str(err))

    async def _ours(self) -> tuple[Checkpoint | None, bytes]:
        note = await trio.to_thread.run_sync(last_checkpoint.recall_note, self._memory)
        if not note:
            return None, b""
        try:
            return open_checkpoint(note, self._network.log_key).checkpoint, note
        except MalformedError:
            return None, b""

    def _note_fit(self, fitting: Checkpoint) -> None:
        self._fit[_tree(fitting)] = None
        if len(self._fit) > REMEMBERED:
            self._fit.popitem(last=False)


def _tree(checkpoint: Checkpoint) -> _Tree:
    return checkpoint.size, checkpoint.root
