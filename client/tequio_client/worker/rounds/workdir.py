"""The trainer's room: what it is asked for, and the files that it leaves there.

What it hands back is named by its hash before anybody goes on with it. Nothing in the folder
outlives the worker: what has to be kept is moved out of it, into the store or beside it.
"""

from __future__ import annotations

import shutil
from contextlib import suppress
from typing import TYPE_CHECKING, Annotated, TypeVar

import msgspec
import structlog
import trio
from msgspec import Meta, Struct

from tequio_client import files
from tequio_client.ipc import trainer as link
from tequio_client.worker.children.trainer import TrainerFailedError
from tequio_client.worker.store.trees import TreeRef
from tequio_shared.errors import PeerError, UserFacingError
from tequio_shared.ids import Bytes32Text, HeadHash, Natural, digest_from_text, to_text
from tequio_shared.limits import PIECE_BYTES
from tequio_shared.round.round import Head

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tequio_client.worker.children.trainer import TrainerProcess
    from tequio_client.worker.lending.lending import Limits
    from tequio_client.worker.store.store import Store
    from tequio_client.worker.swarm.transfer import Exchange
    from tequio_shared.head.layout import Base, BaseFile
    from tequio_shared.ids import Digest, RunId

# --- The frozen base of a run, in the store: fetched once, by hash, and hashed again in every
# life.
#
# Its files are trees like shards: any peer gives them, piece by piece, and what was cut off goes
# on where it was. What lies on the disk may change there, so they are hashed before the trainer
# gets them; of a damaged one only the damaged pieces are fetched.

log = structlog.get_logger(__name__)

_GB = 1e9


def reference(file: BaseFile) -> TreeRef:
    """The tree of a file of a base."""
    root = digest_from_text(file.root)
    return TreeRef(root=root, size_bytes=file.size_bytes, piece_bytes=PIECE_BYTES)


class BaseFiles:
    """The files of one base; without one there are none."""

    def __init__(self, base: Base | None, store: Store, exchange: Exchange) -> None:
        self._refs = tuple(map(reference, base.files)) if base else ()
        self._store = store
        self._exchange = exchange
        self._fetching = trio.Lock()
        self._is_sound = False

    async def paths(self) -> tuple[Path, ...]:
        """Where the files lie, in the base's order; fetches and hashes them the first time.

        They stay in the store from then on. Raises UserFacingError when they have no room.
        """
        async with self._fetching:
            if not self._is_sound:
                await trio.to_thread.run_sync(self._check_room)
                for ref in self._refs:
                    self._store.pin(ref.root)
                for ref in self._refs:
                    await self._make_sound(ref)
                self._is_sound = True
        return tuple(self._store.tree_path(ref.root) for ref in self._refs)

    async def _make_sound(self, ref: TreeRef) -> None:
        if not await trio.to_thread.run_sync(self._store.has_tree, ref.root):
            log.info("fetching a file of the frozen base", root=ref.root.hex()[:12])
        await self._exchange.tree(ref)
        while not await trio.to_thread.run_sync(self._store.verify_tree, ref.root):
            await self._exchange.tree(ref)

    def _check_room(self) -> None:
        """Before the first byte is fetched: gigabytes that come to nothing help nobody."""
        whole = sum(ref.size_bytes for ref in self._refs)
        missing = sum(self._store.missing_bytes(ref) for ref in self._refs)
        if whole > self._store.quota_bytes:
            raise UserFacingError(
                f"the model that this run trains adapters beside has {whole / _GB:.1f} GB, and "
                f"{self._store.quota_bytes / _GB:.1f} GB of the disk are lent: lend more"
            )
        free = shutil.disk_usage(self._store.folder).free
        if missing > free:
            raise UserFacingError(
                f"{missing / _GB:.1f} GB of the model that this run trains adapters beside are to "
                f"be fetched, and the disk of {self._store.folder} has {free / _GB:.1f} GB free: "
                "free some space on it"
            )


# --- The heads whose weights this folder's store has, or has begun to fetch, written down.
#
# A later life goes on from one of them instead of fetching all of the present head. The file is a
# hint: a head counts when its hash is made of what the file says, and when the log names that
# hash.

FILE = "heads.json"
MOST = 8
"""Heads written down; the store's quota decides whether their bytes are still there."""
_MOST_BYTES = 1 << 16


class _Head(Struct, frozen=True, forbid_unknown_fields=True):
    round: Natural
    parent: Bytes32Text
    set_root: Bytes32Text
    weights_root: Bytes32Text
    aux_root: Bytes32Text


class _File(Struct, frozen=True, forbid_unknown_fields=True):
    run: Bytes32Text
    heads: Annotated[tuple[_Head, ...], Meta(max_length=MOST)]


class KeptHeads:
    """The record of one run in one folder; another run's is replaced by it."""

    def __init__(self, folder: Path, run: RunId) -> None:
        self._path = folder / FILE
        self._run = run
        self.heads: tuple[Head, ...] = self._recall()  # the last one first

    def remember(self, head: Head) -> None:
        """Write a head down; blocks. Raises UserFacingError."""
        others = [one for one in self.heads if one != head]
        if self.heads[:1] == (head,):
            return
        self.heads = (head, *others)[:MOST]
        heads = tuple(
            _Head(
                round=one.round,
                parent=to_text(one.parent),
                set_root=to_text(one.set_root),
                weights_root=to_text(one.weights_root),
                aux_root=to_text(one.aux_root),
            )
            for one in self.heads
        )
        content = msgspec.json.encode(_File(run=to_text(self._run), heads=heads))
        files.write_or_explain(self._path, content)

    def _recall(self) -> tuple[Head, ...]:
        try:
            with self._path.open("rb") as file:
                found = msgspec.json.decode(file.read(_MOST_BYTES), type=_File)
            if found.run != to_text(self._run):
                return ()
            return tuple(self._head(one) for one in found.heads)
        except FileNotFoundError:
            return ()
        except (OSError, msgspec.MsgspecError, PeerError) as err:
            log.warning("not read, and not needed", file=str(self._path), error=str(err))
            return ()

    def _head(self, said: _Head) -> Head:
        return Head.of(
            self._run,
            said.round,
            parent=HeadHash(digest_from_text(said.parent)),
            set_root=digest_from_text(said.set_root),
            weights_root=digest_from_text(said.weights_root),
            aux_root=digest_from_text(said.aux_root),
        )


R = TypeVar("R", bound=link.Report)

ROUNDS_KEPT = 2
"""Working files of so many rounds before the present one are left alone."""
_LASTING = frozenset({"device", "model", "input", "memory"})
"""Codes of a trainer that cannot be prepared: asking again would change nothing."""


class Workroom:
    """One trainer and its folder."""

    def __init__(
        self,
        *,
        trainer: TrainerProcess,
        prepare: link.Prepare,
        folder: Path,
        store: Store,
        exchange: Exchange,
        base: BaseFiles,
    ) -> None:
        self._trainer = trainer
        self._prepare = prepare
        self._folder = folder
        self._store = store
        self._exchange = exchange
        self._base = base

    def file(self, what: str, number: int) -> Path:
        """Where something of a round lies, or will lie."""
        return self._folder / f"{what}-{number}"

    async def limit(self, limits: Limits) -> None:
        """Take so much of the machine from now on; what is under way goes on within it."""
        limited = msgspec.structs.replace(
            self._prepare,
            threads=limits.threads,
            memory_mb=limits.memory_mb,
            share_percent=max(limits.share_percent, 1),
        )
        if limited == self._prepare:
            return
        self._prepare = limited
        if self._trainer.ready is not None:
            with suppress(TrainerFailedError):  # whoever needs it next hears why
                await self._ask_prepared()

    async def prepared(self) -> link.Ready:
        """Raises UserFacingError when the trainer cannot be prepared on this computer."""
        if self._trainer.ready is not None:
            return self._trainer.ready
        try:
            return await self._ask_prepared()
        except TrainerFailedError as err:
            if err.code not in _LASTING:
                raise
            raise UserFacingError(f"this computer cannot train the run: {err}") from err

    async def _ask_prepared(self) -> link.Ready:
        paths = await self._base.paths()
        self._prepare = msgspec.structs.replace(self._prepare, base=tuple(map(str, paths)))
        return await self._trainer.ask(
            lambda command: msgspec.structs.replace(self._prepare, command=command), link.Ready
        )

    async def ask(self, make: Callable[[int], link.Command], answer: type[R]) -> R:
        """Have the prepared trainer do something; raises TrainerFailedError."""
        await self.prepared()
        return await self._trainer.ask(make, answer)

    async def take_in(self, file: Path, piece_bytes: int) -> Digest:
        """Move a file that the trainer says it wrote into the store; returns its root."""
        if not await trio.Path(file).is_file():
            raise PeerError(f"the trainer did not leave {file}")
        ref = await trio.to_thread.run_sync(self._store.move_tree_file, file, piece_bytes)
        self._exchange.wake_waiters()
        return ref.root

    async def sweep(self, number: int) -> None:
        """Delete working files of rounds long past."""
        await trio.to_thread.run_sync(self._sweep, number)

    def _sweep(self, number: int) -> None:
        for path in self._folder.glob("*-*"):
            tail = path.name.partition("-")[2].partition(".")[0]  # half-written ones end in .part
            if tail.isdigit() and int(tail) + ROUNDS_KEPT < number:
                path.unlink(missing_ok=True)


def clear_work_folder(folder: Path) -> None:
    """Make the folder for working files, without what an earlier life left there.

    Raises UserFacingError.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for path in folder.iterdir():
            if path.is_file():
                path.unlink()
    except OSError as err:
        raise UserFacingError(f"cannot use the folder {folder}: {err.strerror}") from err
