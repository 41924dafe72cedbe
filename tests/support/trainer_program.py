"""`python -m tequio_client.trainer`, or `.private`, to be forked: a start need not load torch.

It confines itself as one that an interpreter starts does, but after torch is loaded: what a sandbox
leaves of the start itself is tested with an interpreter. It keeps its priority: tests run beside
each other, and give a trainer up that gets no processor for long.
"""

from __future__ import annotations

import runpy
import sys

import tequio_client.trainer.loop  # noqa: F401 - loads torch, for seconds
from tequio_client.platform import child
from tests.support import windows_rules


def main() -> None:
    """Run the module that the first word names, under Windows' rules for files."""
    windows_rules.follow()
    vars(child)["lower_priority"] = lambda _pid: None
    runpy.run_module(sys.argv.pop(1), run_name="__main__", alter_sys=True)
