"""The working folder shared with the trainer process, and the larger files of a run beside it.

A file from the trainer is named by its hash before it is used. Nothing in the folder outlives the
worker: files that have to stay are moved into the store or beside it.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Annotated, TypeVar

import msgspec
import structlog
import trio
from msgspec import Meta, Struct

from tequio_client import files
from tequio_client.ipc import trainer as link
from tequio_client.worker.children.trainer import TrainerFailedError, TrainerProcess
from tequio_client.worker.lending.lending import LendingLimits
from tequio_client.worker.lending.needs import MAX_HEADS, ROUNDS_KEPT
from tequio_client.worker.store.store import StorePins
from tequio_client.worker.store.trees import TreeRef
from tequio_client.worker.swarm.transfer import Exchange
from tequio_shared.errors import MalformedError, PeerError, UserFacingError
from tequio_shared.head.chain import Head
from tequio_shared.head.head import head_hash
from tequio_shared.head.layout import FrozenBase
from tequio_shared.ids import (
    Digest,
    HeadHash,
    RunId,
    digest_from_text,
)
from tequio_shared.round.plugin import PluginSpec

log = structlog.get_logger(__name__)

R = TypeVar("R", bound=link.Report)

HEADS_FILE = "heads-{run}.json"
"""Name of a run's file; `run` is the beginning of its id."""
_MAX_FILE_BYTES = 1 << 16
_OTHER_CARDS = (
    "; the run may fit several cards together: open a cell of your own (--cell) or with others in "
    "your network (tequio cell host)"
)
_LASTING = frozenset({"device", "model", "input", "memory"})
"""Error codes of a trainer that cannot be prepared; another attempt would end the same."""
_GB = 1e9
_NAME_DIGITS = 16


class BaseFiles:
    """The files of a run's frozen base, in the store; empty for a run without one.

    They are trees like shards: any peer serves them in pieces, and an interrupted fetch continues.
    They are hashed once after each start, before the trainer reads them, because files on a disk
    can decay; only damaged pieces are fetched again.
    """

    def __init__(self, base: FrozenBase | None, pins: StorePins, exchange: Exchange) -> None:
        self._refs = tuple(
            TreeRef.of_file(one.root, one.size_bytes) for one in (base.files if base else ())
        )
        self._store, self._pins = pins.store, pins
        self._exchange = exchange
        self._fetching = trio.Lock()
        self._is_sound = False

    async def paths(self) -> tuple[Path, ...]:
        """Paths in the base's order; fetches and hashes the files at the first call.

        They stay in the store from then on. Raises UserFacingError if the room is too small.
        """
        async with self._fetching:
            if not self._is_sound:
                await trio.to_thread.run_sync(self._check_room)
                # Pin all before fetching any: the store must not trim one to make room for another.
                for ref in self._refs:
                    self._pins.pin(ref.root)
                for ref in self._refs:
                    await self._make_sound(ref)
                self._is_sound = True
        return tuple(self._store.tree_path(ref.root) for ref in self._refs)

    async def _make_sound(self, ref: TreeRef) -> None:
        # Hashing marks the pieces that decayed as missing, so that only those are fetched again.
        while not await trio.to_thread.run_sync(self._store.verify_tree, ref.root):
            log.info("fetching a file of the frozen base", root=ref.root.hex()[:12])
            await self._exchange.fetch_tree(ref)

    def _check_room(self) -> None:
        """Raise UserFacingError if the files have no room, before the first byte is fetched."""
        whole = sum(ref.size_bytes for ref in self._refs)
        missing = sum(self._store.missing_bytes(ref) for ref in self._refs)
        if whole > self._store.quota_bytes:
            raise UserFacingError(
                f"this run's base model takes {whole / _GB:.1f} GB, but the storage limit is "
                f"{self._store.quota_bytes / _GB:.1f} GB: raise the storage limit"
            )
        free = shutil.disk_usage(self._store.folder).free
        if missing > free:
            raise UserFacingError(
                f"{missing / _GB:.1f} GB of this run's base model are still to be downloaded, but "
                f"the disk of {self._store.folder} has {free / _GB:.1f} GB free: free some space"
            )


class AllowedArchive:
    """The archive of a run's own code, in the store; fetched once its owner has allowed it.

    A file that only a trainer opens: this process neither unpacks nor reads it.
    """

    def __init__(
        self,
        spec: PluginSpec | None,
        pins: StorePins,
        exchange: Exchange,
        may_run: Callable[[PluginSpec], bool],
    ) -> None:
        """Without a spec, the trainer gets none: the run has none, or the role needs none."""
        self._spec, self._pins, self._exchange = spec, pins, exchange
        self._may_run = may_run

    async def path(self) -> str | None:
        """Path of the archive; raises TrainerFailedError unless it is allowed at this moment."""
        spec = self._spec
        if spec is None:
            return None
        if not self._may_run(spec):
            raise TrainerFailedError(
                "plugin",
                f"the code of this run, {spec.label}, is not allowed here: allow it "
                f"with `tequio plugin allow {spec.archive}`, or choose another run",
            )
        digest = digest_from_text(spec.archive)
        path = await self._exchange.fetch_blob_file(digest)
        self._pins.pin(digest)
        return str(path)


class _HeadsFile(Struct, frozen=True, forbid_unknown_fields=True):
    run: RunId
    heads: Annotated[tuple[Head, ...], Meta(max_length=MAX_HEADS)] = ()
    steps: dict[HeadHash, Digest] = {}

    def __post_init__(self) -> None:
        for one in self.heads:
            parts = (one.parent, one.set_root, one.weights_root, one.aux_root)
            if one.hash != head_hash(self.run, one.round, *parts):
                raise ValueError(f"the parts of head {one.round} have another hash")


class RecordedHeads:
    """The file that lists the heads of one run whose weights are in the store, or on their way.

    After a restart the worker replays from one of them instead of fetching the whole present head.
    The file is only a hint: a head counts once the log names the hash of its fields.
    """

    def __init__(self, folder: Path, run: RunId) -> None:
        self._path = folder / HEADS_FILE.format(run=run.hex()[:_NAME_DIGITS])
        self._run = run
        found = self._read()
        self.heads = found.heads  # newest first
        self.steps = found.steps  # roots, by the head that each made; written with that head

    def record(self, head: Head) -> tuple[Head, ...]:
        """Add a head to the file; returns those that are no longer in it. Blocks.

        Raises UserFacingError.
        """
        if self.heads[:1] == (head,) and head.hash not in self.steps:
            return ()
        heads = (head, *(one for one in self.heads if one != head))
        self.heads, left = heads[:MAX_HEADS], heads[MAX_HEADS:]
        made = {one.hash: self.steps[one.hash] for one in self.heads if one.hash in self.steps}
        content = msgspec.json.encode(_HeadsFile(run=self._run, heads=self.heads, steps=made))
        files.write_for_user(self._path, content)
        return left

    def remove(self) -> None:
        """Delete the file, when the run has ended; one that stays in use costs nothing. Blocks."""
        with suppress(OSError):
            files.delete(self._path)

    def _read(self) -> _HeadsFile:
        try:
            found = files.read_record(self._path, _HeadsFile, _MAX_FILE_BYTES)
        except (OSError, MalformedError) as err:
            # Losing the hint costs only bytes: the present head is fetched instead.
            log.warning("list of heads ignored", file=str(self._path), error=str(err))
            found = None
        return found if found and found.run == self._run else _HeadsFile(self._run)


class TrainerWorkdir:
    """The trainer process of one run and its working folder."""

    def __init__(  # noqa: PLR0913 - what a trainer reads comes from several places
        self,
        *,
        trainer: TrainerProcess,
        prepare: link.Prepare,
        folder: Path,
        pins: StorePins,
        exchange: Exchange,
        frozen: FrozenBase | None,
        plugin: AllowedArchive | None = None,
    ) -> None:
        self._trainer = trainer
        self._prepare = prepare
        self._folder = folder
        self._store = pins.store
        self._exchange = exchange
        self._base = BaseFiles(frozen, pins, exchange)
        self._plugin = plugin

    def file(self, what: str, number: int) -> Path:
        return self._folder / f"{what}-{number}"

    def apply_limits(self, limits: LendingLimits) -> None:
        """Apply limits from now on, also to the command under way."""
        limited = msgspec.structs.replace(
            self._prepare,
            threads=limits.threads,
            memory_mb=limits.memory_mb,
            share_percent=max(limits.share_percent, 1),
        )
        if limited == self._prepare:
            return
        self._prepare = limited
        # A trainer that is not ready gets the limits with its next Prepare, or once it is ready.
        if self._trainer.ready is not None:
            # Not waited for: the answer comes with the trainer's next step, and pauses come sooner.
            # A trainer that cannot follow them fails the next command, which reports it.
            self._trainer.prepare_again(self._numbered)

    async def prepare_trainer(self) -> link.TrainerReady:
        """Prepare the trainer if needed; raises UserFacingError if this computer cannot train."""
        if self._trainer.ready is not None:
            return self._trainer.ready
        try:
            return await self._ask_prepared()
        except TrainerFailedError as err:
            if err.code not in _LASTING:
                raise
            way = _OTHER_CARDS if err.code == "memory" else ""
            raise UserFacingError(f"this computer cannot train the run: {err}{way}") from err

    async def _ask_prepared(self) -> link.TrainerReady:
        plugin = await self._plugin.path() if self._plugin else None
        paths = await self._base.paths()
        self._prepare = msgspec.structs.replace(
            self._prepare, base=tuple(map(str, paths)), plugin=plugin
        )
        return await self._trainer.ask(self._numbered, link.TrainerReady)

    def _numbered(self, command: int) -> link.Prepare:
        return msgspec.structs.replace(self._prepare, command=command)

    async def ask(self, make: Callable[[int], link.Command], answer: type[R]) -> R:
        """Send a command to the prepared trainer; raises TrainerFailedError."""
        await self.prepare_trainer()
        return await self._trainer.ask(make, answer)

    async def store_file(self, file: Path, piece_bytes: int) -> Digest:
        """Move a file that the trainer wrote into the store; returns its root.

        Raises PeerError if the file does not exist.
        """
        if not await trio.Path(file).is_file():
            raise PeerError(f"the trainer did not write {file}")
        ref = await trio.to_thread.run_sync(self._store.move_tree_file, file, piece_bytes)
        self._exchange.wake_waiters()
        return ref.root

    def delete(self, what: str) -> None:
        """Delete the working files whose names begin so; one in use stays. Blocks."""
        for path in self._folder.glob(f"{what}-*"):
            _delete(path)

    def delete_old(self, number: int) -> None:
        """Delete working files as `delete`, of rounds more than `ROUNDS_KEPT` before this one."""
        for path in self._folder.glob("*-*"):
            tail = path.name.rpartition("-")[2].partition(".")[0]  # unfinished ones end in .part
            if tail.isdecimal() and int(tail) + ROUNDS_KEPT < number:
                _delete(path)


def _delete(path: Path) -> None:
    """Delete a file unless it is in use; a folder that a run's code made in its place stays."""
    # Windows deletes no file that a trainer has mapped, and no duty waits for it to let go.
    with suppress(OSError):
        if path.is_symlink() or not path.is_dir():
            files.delete_at_once(path)


def clear_work_folder(folder: Path) -> None:
    """Create the folder for working files, and empty it; raises UserFacingError."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        files.empty_folder(folder)
    except OSError as err:
        raise UserFacingError(
            f"cannot use the folder {folder} ({err.strerror}): check its permissions and free space"
        ) from err
