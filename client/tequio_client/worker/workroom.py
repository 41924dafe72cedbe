"""The trainer's room: what it is asked for, and the files that it leaves there.

What it hands back is named by its hash before anybody goes on with it. Nothing in the folder
outlives the worker: what has to be kept is moved out of it, into the store or beside it.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, TypeVar

import msgspec
import trio

from tequio_client.link import messages as link
from tequio_client.worker.children.trainer import TrainerFailedError
from tequio_shared.errors import PeerError, UserFacingError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tequio_client.worker.base_files import BaseFiles
    from tequio_client.worker.children.trainer import TrainerProcess
    from tequio_client.worker.lending import Limits
    from tequio_client.worker.store.store import Store
    from tequio_client.worker.swarm.transfer import Exchange
    from tequio_shared.ids import Digest


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
