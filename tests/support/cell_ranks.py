"""Cells of real processes on this computer, for tests that train."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

import psutil
from msgspec.structs import replace

from tequio_client.ipc import cell as link
from tequio_client.ipc.trainer import TrainerHeartbeat
from tequio_client.platform.call_filter import NetworkAccess
from tequio_client.platform.sandbox import VARIABLE, SandboxRules
from tests.client.trainer.conftest import Child
from tests.support.confined import FOLDERS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


@contextmanager
def cell_of(
    ranks: int, command: Sequence[str] = (), division: link.Division = "none"
) -> Iterator[Child]:
    """Rank 0 of a cell on CPUs, in the sandbox of such a cell; the test is its worker."""
    place = replace(link.local_place(["cpu"] * ranks), division=division)
    rules = SandboxRules(writes=FOLDERS, network=NetworkAccess.CELL)
    with _child(place, rules, command) as child:
        yield child


@contextmanager
def first_rank(size: int, port: int, address: str = link.LOOPBACK) -> Iterator[Child]:
    """Rank 0 of a cell whose other ranks are started elsewhere."""
    rules = SandboxRules(writes=FOLDERS, network=NetworkAccess.HOSTS, port=port)
    place = link.CellPlace(rank=0, size=size, device="cpu", address=address, port=port)
    with _child(place, rules) as child:
        yield child


@contextmanager
def _child(
    place: link.CellPlace, rules: SandboxRules, command: Sequence[str] = ()
) -> Iterator[Child]:
    variables = {
        VARIABLE: rules.encode(),
        link.VARIABLE: place.encode(),
        "GLOO_SOCKET_IFNAME": "lo",
    }
    child = Child(command, variables)
    try:
        yield child
    finally:
        child.end()


def until_it_trains(child: Child) -> None:
    """Read reports until one says that the cell trains."""
    while not (isinstance(report := child.next(), TrainerHeartbeat) and report.doing == "training"):
        pass


def other_ranks(child: Child) -> list[psutil.Process]:
    """Processes of the ranks that rank 0 started."""
    return [one for one in psutil.Process(child.process.pid).children() if "rank" in one.cmdline()]
