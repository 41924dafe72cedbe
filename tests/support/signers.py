"""The signing process with the log's key: the real program."""

from __future__ import annotations

import contextlib
import os
import subprocess
from contextlib import contextmanager
from typing import TYPE_CHECKING

from tests.support.forked_program import LEDGER, ForkedProgram

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@contextmanager
def signing(folder: Path, origin: str) -> Iterator[Path]:
    """Start the program for that log and stop it afterwards; yields its socket."""
    process = ForkedProgram(
        LEDGER,
        *("sign", "--log-json", "--dir", str(folder), "--origin", origin),
        stderr=subprocess.PIPE,
        env={**os.environ, "PYTHONWARNINGS": "default"},
    )
    assert process.stderr is not None
    try:
        line = process.stderr.readline()
        assert "tequio-ledger sign serves" in line, line + process.stderr.read()
        yield folder / "sign.socket"
    finally:
        with contextlib.suppress(ProcessLookupError):
            process.terminate()
        process.wait(10)
        process.stderr.close()
