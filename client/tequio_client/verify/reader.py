"""The one reader of a log: checkpoint, entries and tiles, checked as they come.

The reader holds its own tree over the leaves that it handed on. What is served as tiles has to be
that tree, and its root the one that the log signed; then every entry is in the log, and none was
left out. An older checkpoint has to be a beginning of what was read.

Reading can go on later from where it ended. In memory are one bundle of leaves and the unfinished
tiles (at most 255 hashes a level), however long the log is; each bundle and each tile is fetched
once. What is wrong goes into the report, so that an audit can list all of it; callers that can do
nothing with a log that is not sound call `Report.check`.
"""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from typing import TypeVar

import trio

from tequio_client.ledger.api import LedgerApi, LedgerNetwork
from tequio_client.ledger.http import AddressOf, LedgerUnavailableError
from tequio_client.names import find_one, matches_name_or_id, name_with_id
from tequio_client.verify.fold import Fold, RunHistory
from tequio_client.verify.report import LogPlace, LogReport, NoProgress, WorkProgress
from tequio_client.verify.source import LiveLog, LogSource, NotAvailableError, TileSource
from tequio_client.worker import shutdown
from tequio_client.worker.swarm.dials import hosts_named_by
from tequio_shared.competition.state import CompetitionView
from tequio_shared.errors import MalformedError, PeerError, RefusedError, UserFacingError
from tequio_shared.ids import DIGEST_BYTES, Digest, PeerKey, RunId, to_text
from tequio_shared.log import merkle
from tequio_shared.log import tiles as log_tiles
from tequio_shared.log.notes import Checkpoint, SignedCheckpoint, VerifierKey
from tequio_shared.log.policy import Policy, TlogProof
from tequio_shared.log.tiles import (
    TILE_WIDTH,
    Node,
    Range,
    Tile,
    TileName,
    TileTree,
    next_range,
    open_signed,
    span_in_tile,
    tile_of,
    tile_width,
)
from tequio_shared.network.genesis import Genesis
from tequio_shared.served.state import State
from tequio_shared.statements.statement import Entry

T = TypeVar("T")

POLL_S = 0.5
"""Between two requests for a checkpoint that is waited for."""
PUBLISHED_S = 5.0
"""Longest time until a logged statement appears under a signed checkpoint."""
FOLDED_LOG_POLL_S = 0.5


class LogReader:
    """Reads one log from its first entry on; one thread.

    With `tiles`, what the ledger serves as tiles is compared with the tree of the entries.
    """

    def __init__(
        self,
        source: LogSource,
        report: LogReport,
        *,
        tiles: TileSource | None = None,
        policy: Policy | None = None,
    ) -> None:
        self.signed: SignedCheckpoint | None = None
        """The last checkpoint that was read to, and whose root the entries make."""
        self.note = b""
        """The same, as it came."""
        self._source = source
        self._report = report
        self._tiles = tiles
        self._policy = policy
        self._tree = TileTree()
        self._genesis: Genesis | None = None

    @property
    def size(self) -> int:
        return self._tree.size

    def genesis(self) -> Genesis:
        """Get the network's genesis, fetched once; raises NotAvailableError, PeerError."""
        if self._genesis is None:
            self._genesis = Genesis.parse(self._source.genesis())
        return self._genesis

    def newest(self, at_least: int = 0, patience_s: float = 0.0) -> tuple[SignedCheckpoint, bytes]:
        """Get the newest checkpoint and its note; waits for one of that size, but no longer.

        What is signed is published only when witnesses have cosigned it, so a ledger's answers may
        be ahead of its checkpoint for a while. Raises NotAvailableError, and PeerError for a note
        that the log or too few witnesses signed.
        """
        deadline_s = time.monotonic() + patience_s
        key = VerifierKey.parse(self.genesis().log_key)
        while True:
            note = self._source.signed_note()
            signed = open_signed(note, key, self._policy)
            if signed.checkpoint.size >= at_least or time.monotonic() >= deadline_s:
                return signed, note
            time.sleep(POLL_S)

    def entries(
        self, signed: SignedCheckpoint, note: bytes, tick: Callable[[int], None]
    ) -> Iterator[tuple[int, bytes]]:
        """Read on to a checkpoint of `newest`, leaf by leaf; the last step checks the root.

        Stops early when a bundle cannot be read, which the report then says.
        """
        checkpoint = signed.checkpoint
        if checkpoint.size < self.size:
            self.check_beginning(checkpoint)
            return
        while self.size < checkpoint.size:
            leaves = self._leaves(*next_range(self.size, checkpoint.size))
            if leaves is None:
                return
            for leaf in leaves:
                self._tree.append(leaf)
                self._report.checked["entries"] += 1
                yield self.size - 1, leaf
            self._compare_tiles(self._tree.pop_full().items())
            tick(len(leaves))
        self._compare_tiles(self._tree.pop_changed().items())
        if self._tree.root() == checkpoint.root:
            self.signed, self.note = signed, note
            return
        self._report.mismatch(
            "root of the log",
            LogPlace(entry=checkpoint.size - 1),
            "the entries do not make the root that the log signed",
            expected=checkpoint.root.hex(),
            found=self._tree.root().hex(),
        )

    def proof(self, index: int) -> TlogProof:
        """Prove an entry under the checkpoint that was read to, with the leaf as `extra`.

        Costs O(log n) tiles, one bundle and no memory of the entries before. Raises as the source
        does, and PeerError for tiles that do not lead to the signed root.
        """
        if self.signed is None or self._tiles is None:
            raise NotAvailableError("no checkpoint was read to, or the source has no tiles")
        checkpoint = self.signed.checkpoint
        (leaf,) = self._source.entries(index, index + 1)
        path = self._hashes(log_tiles.inclusion_ranges(index, checkpoint.size), checkpoint.size)
        leaf_hash = merkle.leaf_hash(leaf)
        merkle.verify_inclusion(leaf_hash, index, checkpoint.size, path, checkpoint.root)
        return TlogProof(index=index, path=tuple(path), note=self.note, extra=leaf)

    def _leaves(self, first: int, end: int) -> list[bytes] | None:
        place, what = LogPlace(entry=first), f"bundle of entries {first} to {end - 1}"
        try:
            return self._source.entries(first, end)
        except NotAvailableError as err:
            self._report.missing(what, place, str(err))
        except PeerError as err:
            self._report.mismatch(what, place, str(err))
        return None

    def _compare_tiles(self, own: Iterable[tuple[TileName, bytes]]) -> None:
        """Fetch and compare tiles when they are full, or at their last width: each of them once."""
        if self._tiles is None:
            return
        for (level, number), hashes in own:
            tile = Tile(level=level, index=number, width=len(hashes) // DIGEST_BYTES)
            place = LogPlace(entry=number * TILE_WIDTH if level == 0 else None)
            try:
                served = self._tiles.tile(level, number, tile.width)
            except NotAvailableError as err:
                self._report.missing(tile.path(), place, str(err))
            except PeerError as err:
                self._report.mismatch(tile.path(), place, str(err))
            else:
                self._compare(tile, hashes, served)
            self._report.checked["tiles"] += 1

    def _compare(self, tile: Tile, hashes: bytes, served: Sequence[Digest]) -> None:
        width = DIGEST_BYTES
        ours = [hashes[at : at + width] for at in range(0, len(hashes), width)]
        for at, (own, other) in enumerate(zip(ours, served, strict=True)):
            if own != other:
                self._report.mismatch(
                    tile.path(),
                    LogPlace(entry=tile.index * TILE_WIDTH + at if tile.level == 0 else None),
                    f"hash {at} is not the hash of what lies below it",
                    expected=own.hex(),
                    found=other.hex(),
                )

    def check_beginning(self, older: Checkpoint) -> None:
        """Hold a checkpoint that was shown before, or by a cache, against the tree."""
        if self._tiles is None or older.size == 0:
            return
        place = LogPlace(entry=older.size - 1)
        if older.size > self.size:  # a fork, or a cache that is behind: nobody can tell yet
            detail = f"it has {older.size} entries, of which {self.size} were read"
            self._report.missing("older checkpoint", place, f"{detail}: audit again later")
            return
        try:
            proof = self._hashes(log_tiles.consistency_ranges(older.size, self.size), self.size)
            merkle.verify_consistency(older.size, older.root, self.size, self._tree.root(), proof)
        except NotAvailableError as err:
            self._report.missing("older checkpoint", place, str(err))
        except PeerError as err:
            why = f"the log of {self.size} entries does not continue it: {err}"
            self._report.mismatch("older checkpoint", place, why)

    def _hashes(self, ranges: Sequence[Range], size: int) -> list[Digest]:
        """Compute a proof from served tiles, which are held only until that is done."""
        if self._tiles is None:
            raise NotAvailableError("the source has no tiles")
        held = {
            tile: self._tiles.tile(*tile, tile_width(tile, size))
            for tile in log_tiles.tiles_of(ranges)
        }

        def node_of(node: Node) -> Digest:
            first, end = span_in_tile(node)
            return merkle.root_of_hashes(held[tile_of(node)][first:end])

        return [log_tiles.range_hash(span, node_of) for span in ranges]


# A log that is read, checked and folded: what every check of a ledger starts from.
#
# The fold computes runs, competitions, standings and points from the entries, so callers that
# decide by them decide by what every stranger can see, and not by the ledger's word.


class FoldedLog:
    """State that follows from a log as far as it was read; `read` continues from there."""

    def __init__(
        self,
        source: LogSource,
        report: LogReport,
        *,
        tiles: TileSource | None = None,
        policy: Policy | None = None,
    ) -> None:
        """Read nothing yet; raises NotAvailableError, PeerError for a log without a genesis."""
        self.reader = LogReader(source, report, tiles=tiles, policy=policy)
        self.genesis: Genesis = self.reader.genesis()
        self.fold = Fold(self.genesis, source, report)
        self.last_ms = 0
        """Time of the last entry that can be read, by its author's clock."""
        self.size = 0
        """Number of entries folded."""
        self._ahead: Iterator[tuple[int, bytes]] = iter(())  # of a checkpoint, not folded yet
        self._end = 0  # size of that checkpoint

    @property
    def checkpoint(self) -> Checkpoint:
        return self.signed.checkpoint

    @property
    def signed(self) -> SignedCheckpoint:
        """The last checkpoint that was read to, with its cosignatures by the policy's witnesses."""
        if self.reader.signed is None:
            raise AssertionError("nothing was read yet")
        return self.reader.signed

    @property
    def competitions(self) -> Mapping[Digest, CompetitionView]:
        return self.fold.view.competitions.views

    def read(
        self, progress: WorkProgress | None = None, *, at_least: int = 0, patience_s: float = 0.0
    ) -> None:
        """Read to the newest checkpoint; waits `patience_s` for one of `at_least` entries.

        Findings go to the report. Raises NotAvailableError, PeerError for a checkpoint that cannot
        be fetched, or that the log or too few witnesses signed.
        """
        self._fold_to(None)
        signed, note = self.reader.newest(at_least, patience_s)
        left = max(signed.checkpoint.size - self.reader.size, 0)
        with (progress or NoProgress()).work("entries", left) as tick:
            self._ahead = self.reader.entries(signed, note, tick)
            self._end = signed.checkpoint.size
            self._fold_to(None)

    def read_to(self, size: int, patience_s: float = 0.0) -> bool:
        """Fold up to exactly that size; False if they are not published within `patience_s`.

        Raises as `read`; the entries up to the newest checkpoint are folded by later calls.
        """
        if size > self._end:
            self._fold_to(None)
            signed, note = self.reader.newest(size, patience_s)
            self._ahead = self.reader.entries(signed, note, lambda _: None)
            self._end = signed.checkpoint.size
        self._fold_to(size)
        return self.size == size

    def _fold_to(self, size: int | None) -> None:
        """Fold entries of the checkpoint at hand up to a size, or all of them."""
        leaf = b""
        while size is None or self.size < size:
            step = next(self._ahead, None)
            if step is None:
                break
            index, leaf = step
            self.fold.apply(index, leaf)
            self.size = index + 1
        if leaf:
            with suppress(MalformedError, RefusedError):  # a finding of the fold
                self.last_ms = Entry.parse(leaf).statement.ts

    def run(self, wanted: str) -> RunHistory:
        """The run of that name or beginning of its id; raises UserFacingError."""
        return find_one("run", self.fold.runs.values(), _run_label, wanted)


def _run_label(history: RunHistory) -> tuple[str, str]:
    manifest = history.view.manifest
    return manifest.name, to_text(manifest.run_id)


def find_competitions(views: Iterable[CompetitionView], wanted: str) -> list[CompetitionView]:
    """Competitions of that name or beginning of an id; all of them for an empty text."""
    return [
        one for one in views if not wanted or matches_name_or_id(*_competition_label(one), wanted)
    ]


def _competition_label(view: CompetitionView) -> tuple[str, str]:
    return view.rules.name, to_text(view.id)


def display_name(view: CompetitionView) -> str:
    return name_with_id(*_competition_label(view))


class LedgerReader:
    """A ledger's log so far; `read` goes on to its present end, over a connection of its own."""

    def __init__(self, ledger: str, trust: Policy | None = None) -> None:
        self.ledger = ledger
        self.trust = trust
        self._network: LedgerNetwork | None = None
        self._source = LiveLog()
        self._report = LogReport()
        self._log: FoldedLog | None = None

    def read(self, progress: WorkProgress | None = None) -> None:
        """Read on; raises UserFacingError for a log that does not hold, or a ledger away.

        After an error the next call begins with the first entry.
        """
        with shutdown.explain_unreachable_ledger(self.ledger):
            trio.run(self._read, progress)
        try:
            self._report.check(
                f"the log at {self.ledger}",
                f"run `tequio audit --ledger {self.ledger}` for details",
            )
        except UserFacingError:
            self._report, self._log = LogReport(), None
            raise

    def wait_for(
        self, wanted: str | None, has: Callable[[CompetitionView], bool] = lambda _: True
    ) -> CompetitionView:
        """Read on, and find a competition; waits a while for what was just posted to be published.

        Raises UserFacingError as `read` and `competition`.
        """
        deadline_s = time.monotonic() + PUBLISHED_S
        while True:
            self.read()
            is_late = time.monotonic() > deadline_s
            try:
                view = self.competition(wanted)
            except UserFacingError:
                if is_late:
                    raise
            else:
                if is_late or has(view):
                    return view
            time.sleep(FOLDED_LOG_POLL_S)

    def blob(self, name: Digest) -> bytes | None:
        """Get a document from the ledger, its hash checked; None when it has none."""
        with shutdown.explain_unreachable_ledger(self.ledger):
            return trio.run(self._blob, name)

    def ask(self, question: Callable[[FoldedLog, LiveLog], T]) -> T:
        """Ask a question about the log as far as it was read, and of its ledger, in one connection.

        For what needs proofs or documents beside the entries; after the first `read`. Raises
        UserFacingError for a ledger that is away, and what the question raises.
        """
        with shutdown.explain_unreachable_ledger(self.ledger):
            found: T = trio.run(self._ask, question)
            return found

    @property
    def network(self) -> LedgerNetwork:
        """The network; after the first `read`."""
        if self._network is None:
            raise AssertionError("nothing was read yet")
        return self._network

    @property
    def state(self) -> State:
        """State that the log leads to; after the first `read`."""
        if self._log is None:
            raise AssertionError("nothing was read yet")
        return self._log.fold.view

    @property
    def competitions(self) -> Mapping[Digest, CompetitionView]:
        return {} if self._log is None else self._log.competitions

    @property
    def runs(self) -> Mapping[RunId, RunHistory]:
        return {} if self._log is None else self._log.fold.runs

    def competition(self, wanted: str | None) -> CompetitionView:
        """The competition of that name or beginning of its id; the only one if none is given.

        Raises UserFacingError.
        """
        views = list(self.competitions.values())
        if wanted:
            return find_one("competition", views, _competition_label, wanted)
        if len(views) == 1:
            return views[0]
        known = ", ".join(map(display_name, views))
        raise UserFacingError(
            f"choose a competition with --competition; the log has: {known}"
            if views
            else f"no competition was opened at {self.ledger}"
        )

    def run(self, wanted: str) -> RunHistory:
        """The run of that name or beginning of its id; raises UserFacingError."""
        if self._log is None:
            raise AssertionError("nothing was read yet")
        return self._log.run(wanted)

    def holder(self, key: PeerKey) -> PeerKey:
        """The key itself, or the one that took its place; after the first `read`."""
        if self._log is None:
            raise AssertionError("nothing was read yet")
        return self._log.fold.view.standings.links.holder(key)

    @asynccontextmanager
    async def _connected(self, address_of: AddressOf | None = None) -> AsyncIterator[LedgerApi]:
        """Connect the log's source for the block; raises LedgerUnavailableError for its answers."""
        async with LedgerApi(self.ledger, trust=self.trust, address_of=address_of) as api:
            self._source.api = api
            try:
                yield api
            except NotAvailableError as err:
                raise LedgerUnavailableError(str(err)) from err
            finally:
                self._source.api = None

    async def _read(self, progress: WorkProgress | None) -> None:
        async with self._connected(hosts_named_by(self.ledger).address_of) as api:
            self._network = await api.network()
            await trio.to_thread.run_sync(self._read_on, progress)

    def _read_on(self, progress: WorkProgress | None) -> None:
        if self._log is None:
            source = self._source
            self._log = FoldedLog(source, self._report, tiles=source, policy=self.trust)
        self._log.read(progress)

    async def _ask(self, question: Callable[[FoldedLog, LiveLog], T]) -> T:
        if self._log is None:
            raise AssertionError("nothing was read yet")
        async with self._connected():
            return await trio.to_thread.run_sync(question, self._log, self._source)

    async def _blob(self, name: Digest) -> bytes | None:
        async with LedgerApi(self.ledger, trust=self.trust) as api:
            return await api.get_blob(name)
