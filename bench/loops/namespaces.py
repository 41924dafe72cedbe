"""Network namespaces of their own, and lines with a rate and a delay between them. Needs root."""

from __future__ import annotations

import shutil
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

IP = shutil.which("ip") or "ip"
SHAPER = Path(__file__).with_name("shaped_link.py")


@contextmanager
def namespace(name: str) -> Iterator[Sequence[str]]:
    """Make a namespace for the block; yields the words that run a command inside."""
    _ip("netns", "add", name)
    try:
        _ip("-n", name, "link", "set", "lo", "up")
        yield (IP, "netns", "exec", name)
    finally:
        _ip("netns", "del", name)


@contextmanager
def shaped_line(
    here: str,
    there: str,
    name: str,
    *,
    mbit: float,
    round_trip_ms: float,
    inside: Sequence[str] = (),
) -> Iterator[None]:
    """Join the present namespace, or `inside` another, to that of this name for the block.

    `here` and `there` are the addresses of the two ends.
    """
    rate = ("--mbit", str(mbit), "--delay-ms", str(round_trip_ms / 2))
    command = (*inside, sys.executable, str(SHAPER), here, there, name, *rate)
    with subprocess.Popen(command, stdout=subprocess.PIPE) as shaper:
        try:
            if shaper.stdout is None or not shaper.stdout.readline():
                raise SystemExit("the line could not be made: run this as root, with /dev/net/tun")
            yield
        finally:
            shaper.terminate()


def _ip(*words: str) -> None:
    subprocess.run((IP, *words), check=True)
