"""The log of a program: a line for each event, whatever others have said in it."""

from __future__ import annotations

import subprocess
import sys

import pytest

SAYS = """
import structlog
from tequio_client import runtime
runtime.configure_logging(style=STYLE)
log = structlog.get_logger("x")
log.warning("a peer said", error="no\\n\\x1b]52;c;aGFo\\x07tequio: pay here\\u202e", size=3)
assert "tequio: pay here" in runtime.recent_log_lines()[0]
"""


@pytest.mark.parametrize("style", ["console", "json"])
def test_what_others_said_steers_no_terminal_and_begins_no_line(style: str) -> None:
    command = [sys.executable, "-c", SAYS.replace("STYLE", repr(style))]
    done = subprocess.run(command, capture_output=True, check=True)
    (line,) = done.stderr.decode().splitlines()
    assert line.isprintable()
    assert "a peer said" in line
    assert "size" in line
