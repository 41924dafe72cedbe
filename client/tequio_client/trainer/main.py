"""The trainer process: reads commands from its input, executes the latest, reports on its output.

Three threads: one reads, one sends a heartbeat every second, the first one works (`loop`). The
reader ends the process at once when it is told to quit or when its input ends, that is, when its
parent is gone (see `platform.child` too). Output files get their names only when they are complete,
so nothing half-done remains.

This module imports no torch: the process answers while torch loads, which takes seconds.
"""

from __future__ import annotations

import importlib
import os
import signal
import sys
import threading
import time
import traceback
from typing import IO, TYPE_CHECKING, NoReturn

import psutil

from tequio_client.ipc import trainer
from tequio_client.platform.child import ParentPipe
from tequio_client.runtime import configure_logging
from tequio_client.trainer.task_queue import TaskQueue, TrainerActivity
from tequio_shared.errors import MalformedError
from tequio_shared.version import BUILD

if TYPE_CHECKING:
    from tequio_client.ipc.trainer import Report


HEARTBEAT_S = 1.0
_MIB = 1 << 20


class ReportWriter:
    """The only writer of reports, used by all threads."""

    def __init__(self) -> None:
        self._pipe = ParentPipe()

    def send(self, report: Report) -> None:
        """Write one report; ends the process when the parent no longer reads."""
        self._pipe.send(trainer.encode(report))


def main(log_style: str) -> NoReturn:
    """Execute commands until told to quit; `log_style` is console or json."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the parent, which sends Quit
    configure_logging(style=log_style)
    voice, queue, activity = ReportWriter(), TaskQueue(), TrainerActivity()
    voice.send(trainer.TrainerHello(pid=os.getpid(), software=BUILD))
    threading.Thread(target=_read, args=(sys.stdin.buffer, queue, voice), daemon=True).start()
    threading.Thread(target=_send_heartbeats, args=(activity, voice), daemon=True).start()
    os.environ["HF_HUB_OFFLINE"] = "1"  # a trainer gets all it needs as files
    os.environ.setdefault("CUDA_DEVICE_ORDER", "PCI_BUS_ID")  # cuda:0 is the probe's first card
    try:
        loop = importlib.import_module("tequio_client.trainer.loop")  # seconds: it brings torch
        loop.TrainerLoop(queue, voice.send, activity).run()
    finally:
        traceback.print_exc()
        os._exit(1)  # an ordinary exit would wait for the reader


def _read(lines: IO[bytes], queue: TaskQueue, voice: ReportWriter) -> NoReturn:
    while line := lines.readline(trainer.LINE_BYTES + 1):
        try:
            command = trainer.decode_command(line)
        except MalformedError as err:
            voice.send(trainer.Failed(command=0, code="malformed", reason=str(err)))
            while line and not line.endswith(b"\n"):  # too long: drop the rest of the line
                line = lines.readline(trainer.LINE_BYTES)
            continue
        if isinstance(command, trainer.Quit):
            break
        queue.put(command)
    os._exit(0)


def _send_heartbeats(activity: TrainerActivity, voice: ReportWriter) -> NoReturn:
    process = psutil.Process()
    while True:
        voice.send(
            trainer.TrainerHeartbeat(
                command=activity.command,
                doing=activity.doing,
                step=activity.step,
                steps=activity.steps,
                tokens=activity.tokens,
                resident_mb=process.memory_info().rss // _MIB,
            )
        )
        time.sleep(HEARTBEAT_S)
