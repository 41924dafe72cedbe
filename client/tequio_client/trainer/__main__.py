"""Start a trainer: `python -m tequio_client.trainer [console|json]`, driven over pipes.

With `rank` it is one of the other ranks of a cell. With `benchmark DEVICE` it measures a device
instead, with `selftest DEVICE` it checks that this runtime works on it, with `plugin` it tries an
organiser's plug-in, and with `tokenizer` it encodes texts with that of a plug-in.
"""

import importlib
import os
import sys
from types import ModuleType

from tequio_client import heap, ipc
from tequio_client.ipc import cell
from tequio_client.ipc.trainer import Failed
from tequio_client.platform import child, programs, sandbox
from tequio_shared.errors import UserFacingError


def _enter_sandbox(place: cell.CellPlace | None) -> str:
    """Confine this process before its first thread, before torch and any file of a stranger."""
    if place is not None and place.is_local and place.rank:
        return "that of rank 0, which started it"
    return sandbox.enter()


def _import(name: str) -> ModuleType:
    """Import one of our modules that loads torch, which takes seconds."""
    with heap.collection_paused():
        return importlib.import_module(name)


def _measure(device: str) -> None:
    """Write the figures of a device as one line: a `BenchmarkReply`, or `Failed`."""
    pipe = child.ParentPipe()
    try:
        figures = _import("tequio_client.trainer.benchmark").measure_speed(device)
    except ModuleNotFoundError as err:
        reason = programs.not_installed(str(err.name))
        figures = Failed(command=0, code="internal", reason=reason)
    except UserFacingError as err:
        figures = Failed(command=0, code="device", reason=str(err))
    except Exception as err:  # noqa: BLE001 - of drivers and libraries: a full card, say
        reason = f"{type(err).__name__}: {err}"[:60_000]
        figures = Failed(command=0, code="internal", reason=reason)
    pipe.send(ipc.encode(figures))


if __name__ == "__main__":
    child.lower_priority(os.getpid())  # before another thread begins
    if sys.argv[1:2] == ["selftest"]:
        child.end_with_parent()  # an update that is held back must give the card back at once
        selftest = _import("tequio_client.trainer.selftest")
        sys.exit(selftest.main("".join(sys.argv[2:3]) or "auto"))
    text = os.environ.get(cell.VARIABLE, "")
    try:
        place = cell.decode_place(text) if text else None
    except UserFacingError as err:
        sys.exit(str(err))
    confined = _enter_sandbox(place)
    if sys.argv[1:2] == ["plugin"]:
        sys.exit(_import("tequio_client.trainer.plugin_trial").main())
    if sys.argv[1:2] == ["tokenizer"]:
        sys.exit(importlib.import_module("tequio_client.trainer.plugin_tokenizer").main())
    child.end_with_parent()  # before the imports, which take a second
    if sys.argv[1:2] == ["benchmark"]:
        _measure("".join(sys.argv[2:3]) or "auto")
        sys.exit()
    main = importlib.import_module("tequio_client.trainer.main")
    if sys.argv[1:2] == ["rank"]:
        main.follow("".join(sys.argv[2:3]) or "console", place)
    sandbox.empty_temp()
    main.main("".join(sys.argv[1:2]) or "console", sandbox=confined, place=place)
