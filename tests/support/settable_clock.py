"""A wall clock that a test sets forward, in this process and in a ledger that it starts.

Days pass at once, and a busy machine makes nothing late. Run as a program, this module is the real
`tequio-ledger` with the time of the clock in the file that the first argument names.
"""

from __future__ import annotations

import sys
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.ledgers import served

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.support.ledgers import Served

_MS = 1_000_000


class SettableClock:
    """Replaces `time` in modules that read the wall clock; the file holds the offset in ms."""

    def __init__(self, file: Path) -> None:
        self._file = file

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - the rest of the module
        return getattr(time, name)

    def time_ns(self) -> int:
        """Give the time."""
        return time.time_ns() + int(self._file.read_text()) * _MS

    def go_to(self, ms: int) -> None:
        """Set the clock to that time, in milliseconds since 1970."""
        fresh = self._file.with_suffix(".new")
        fresh.write_text(str(ms - time.time_ns() // _MS))
        fresh.replace(self._file)


@contextmanager
def set_forward(folder: Path, *options: str) -> Iterator[tuple[SettableClock, Served]]:
    """Serve a ledger whose clock, and ours, can be set."""
    file = folder / "clock"
    file.write_text("0")
    clock, program = SettableClock(file), ("-m", "tests.support.settable_clock", str(file))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("tequio_client.clock.time", clock)
        with served(folder / "ledger", *options, program=program) as ledger:
            yield clock, ledger


def main() -> None:
    """Run the ledger."""
    from tequio_ledger import __main__ as program  # noqa: PLC0415 - only as a program
    from tequio_ledger import runtime  # noqa: PLC0415

    vars(runtime)["time"] = SettableClock(Path(sys.argv.pop(1)))
    program.main()


if __name__ == "__main__":
    main()
