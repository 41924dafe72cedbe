"""This computer as a part of a cell: its device, its version of torch, its owner, its memory of it.

An owner is asked at the terminal, one question at a time; without an answer nothing is agreed to.
"""

from __future__ import annotations

import importlib.metadata
import os
import platform
import secrets
import sys
from collections.abc import Callable, Hashable
from pathlib import Path

import msgspec
import trio

from tequio_client import files
from tequio_client.ipc.facts import AcceleratorFacts, MachineFacts
from tequio_client.ipc.preferences import Preferences
from tequio_client.names import clean_text
from tequio_client.worker.cells.messages import CellDevice
from tequio_client.worker.children.probe import ProbeProcess, probe_program
from tequio_client.worker.lending.facts import CPU, select_chosen_devices, sort_devices
from tequio_shared.errors import MalformedError, UserFacingError
from tequio_shared.ids import PeerKey, from_text, to_text
from tequio_shared.keys import SEED_BYTES

PROBE_S = 20.0
"""Longest wait for the probe's first answer."""
_POLL_S = 0.05
_FILE = "cell.json"
_CHARACTERS = 64
_LINE_BYTES = 1_024
_YES = ("y", "yes")


class CellFile(msgspec.Struct, kw_only=True):
    """The memory that a folder keeps of its cells; only its owner can read it."""

    seed: str
    """Of this computer's key as a guest, as text."""
    code: str = ""
    """Of its own cell; empty: none yet."""
    guests: tuple[str, ...] = ()
    """Keys that were accepted into it, as text."""

    @classmethod
    def load(cls, folder: Path) -> CellFile:
        """Read the file, or begin one; raises UserFacingError."""
        path = folder / _FILE
        try:
            found = files.read_record(path, cls) or cls(
                seed=to_text(secrets.token_bytes(SEED_BYTES))
            )
            from_text(found.seed, SEED_BYTES)
        except (OSError, MalformedError) as err:
            raise UserFacingError(f"cannot read {path} ({err}): delete it") from err
        return found

    def save(self, folder: Path) -> None:
        """Write the file; raises UserFacingError."""
        path = folder / _FILE
        try:
            files.write_private(path, msgspec.json.encode(self))
        except OSError as err:
            raise UserFacingError(
                f"cannot write {path} ({err.strerror}): free some space, or choose another --dir"
            ) from err

    def accept(self, folder: Path, key: PeerKey) -> None:
        """Remember an accepted guest; raises UserFacingError."""
        self.guests = tuple(dict.fromkeys((*self.guests, to_text(key))))
        self.save(folder)


def computer_name() -> str:
    return clean_text(platform.node(), _CHARACTERS) or "unnamed"


def torch_version() -> str:
    """The version of torch here; empty where another program of a package has it."""
    try:
        return importlib.metadata.version("torch")
    except importlib.metadata.PackageNotFoundError:
        return ""


async def own_device(wanted: str) -> CellDevice:
    """Find out what a device is, by the probe; `auto` is the most able one."""
    machine = await _machine()
    if machine is None:
        if wanted == "auto":
            raise UserFacingError(
                f"the devices of this computer are unknown: the probe gave no answer in "
                f"{PROBE_S:.0f} s; name one with --device"
            )
        return CellDevice(id=wanted, name=wanted)
    known = select_chosen_devices(machine, Preferences()) or ()
    if wanted == "auto":
        first = next(iter(sort_devices(known)), None)
        wanted = first.gpu.id if first else CPU
    if wanted == CPU:
        return CellDevice(id=CPU, name=machine.cpu_name or CPU, memory_mb=machine.memory_mb or 0)
    number = wanted if ":" in wanted or wanted == "mps" else f"{wanted}:0"
    plain = AcceleratorFacts(id=number, name=number)
    gpu = next((one.gpu for one in known if one.gpu.id == number), plain)
    return CellDevice(id=number, name=gpu.name, memory_mb=gpu.memory_mb or machine.memory_mb or 0)


async def _machine() -> MachineFacts | None:
    probe = ProbeProcess(probe_program())
    with trio.move_on_after(PROBE_S):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(probe.run)
            while probe.facts is None or probe.facts.gpus is None:  # noqa: ASYNC110 - of a child
                await trio.sleep(_POLL_S)
            nursery.cancel_scope.cancel()
    return probe.facts


class Terminal:
    """The owner at standard input and standard error."""

    def __init__(
        self,
        *,
        says_yes: bool,
        descriptor: int = 0,
        write: Callable[[str], object] | None = None,
    ) -> None:
        """With `says_yes` nobody is asked; answers are read from the descriptor."""
        self._says_yes, self._descriptor = says_yes, descriptor
        self._write = write or _write_error
        self._asking = trio.Lock()
        self._rest = b""  # read, and not a whole line yet; owned by the task that asks

    def print_line(self, text: str) -> None:
        self._write(f"{text}\n")

    async def agrees(self, text: str) -> bool:
        """Ask the owner; False also when standard input has ended."""
        async with self._asking:
            if self._says_yes:
                self.print_line(f"{text} yes (--yes)")
                return True
            self._write(f"{text} [y/N] ")
            answer = await self._read_line()
            if answer is None:
                self.print_line("no answer: standard input has ended; --yes agrees without asking")
            return answer is not None and answer.strip().lower() in _YES

    async def _read_line(self) -> str | None:
        while b"\n" not in self._rest and len(self._rest) < _LINE_BYTES:
            # Not `input`: a thread that waits in it holds a lock, without which no program ends.
            read = await trio.to_thread.run_sync(
                os.read,
                self._descriptor,
                _LINE_BYTES,
                abandon_on_cancel=True,  # type: ignore[call-arg]  # libp2p brings older stubs
            )
            if not read:
                return None
            self._rest += read
        line, _, self._rest = self._rest.partition(b"\n")
        return line.decode(errors="replace")


def _write_error(text: str) -> None:
    sys.stderr.write(text)
    sys.stderr.flush()


class Decisions:
    """Decisions of this computer's owner, each asked for once.

    A question stays when those that wait for its answer are cancelled: the other side may come
    back, and a line that the owner types must not get lost.
    """

    def __init__(self, owner: Terminal, nursery: trio.Nursery) -> None:
        self._owner, self._nursery = owner, nursery
        self._made: dict[Hashable, bool] = {}
        self._asked: dict[Hashable, trio.Event] = {}

    async def agrees(self, name: Hashable, text: str) -> bool:
        """Wait for the decision of that name; `text` asks for it."""
        if name not in self._asked:
            self._asked[name] = trio.Event()
            self._nursery.start_soon(self._ask, name, text)
        await self._asked[name].wait()
        return self._made[name]

    async def _ask(self, name: Hashable, text: str) -> None:
        self._made[name] = await self._owner.agrees(text)
        self._asked[name].set()
