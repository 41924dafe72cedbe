"""A probe that reports two graphics cards on a computer without any; the processor is behind them.

The trainer takes every number of a processor for the same one, so real trainers train on both.
"""

from __future__ import annotations

import sys

from tequio_client.ipc import facts
from tequio_client.ipc.facts import AcceleratorFacts, MachineFacts
from tequio_client.worker.children.probe import ProbeProcess
from tequio_client.worker.children.process import ChildProgram, child_environment

FIRST = AcceleratorFacts(
    id="cpu:0",
    name="Stand-in 1",
    serial="GPU-first",
    memory_mb=16_384,
    free_mb=16_000,
    load=0.0,
    others_load=0.0,
)
SECOND = AcceleratorFacts(
    id="cpu:1",
    name="Stand-in 2",
    serial="GPU-second",
    memory_mb=8_192,
    free_mb=8_000,
    load=0.0,
    others_load=0.0,
)
MACHINE = MachineFacts(
    gpus=(SECOND, FIRST),
    cpu_name="A processor",
    cores=2,
    others_cpu=0.0,
    memory_mb=16_384,
    free_memory_mb=8_000,
    on_battery=False,
    is_saving_power=False,
)
SCRIPT = """
import sys, time
while True:
    print(sys.argv[1], end="", flush=True)
    time.sleep(0.5)
"""


def two_cards() -> ProbeProcess:
    """A probe process that reports `MACHINE` twice a second."""
    line = facts.encode(MACHINE).decode()
    command = (sys.executable, "-c", SCRIPT, line)
    program = ChildProgram(
        command=command, environment=child_environment(), line_bytes=facts.LINE_BYTES
    )
    return ProbeProcess(program)
