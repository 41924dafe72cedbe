"""The trainer process: hears commands on its input, works on the latest, reports on its output.

Three threads: one listens, one beats the heart every second, the first one works. The listener
ends the process at once when it is told to or when its input ends, that is, when its parent is
gone (see `system.parent` too); output files take their names only when they are complete, so
nothing half-done remains.
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
import structlog

from tequio_client.link import messages
from tequio_client.runtime import configure_logging
from tequio_client.system.pipe_voice import PipeVoice
from tequio_client.trainer.activity import Activity
from tequio_client.trainer.desk import Desk
from tequio_shared.errors import MalformedError
from tequio_shared.version import BUILD

if TYPE_CHECKING:
    from tequio_client.link.messages import Report


log = structlog.get_logger(__name__)

HEARTBEAT_S = 1.0
_MIB = 1 << 20


class Voice:
    """The only writer of reports."""

    def __init__(self) -> None:
        self._pipe = PipeVoice()

    def say(self, report: Report) -> None:
        """Write one report; ends the process when nobody reads any more."""
        self._pipe.send(messages.encode(report))


def main(log_style: str) -> NoReturn:
    """Serve commands until told to leave; `log_style` is console or json."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for our parent, who tells us
    configure_logging(style=log_style)
    voice, desk, activity = Voice(), Desk(), Activity()
    voice.say(messages.Hello(pid=os.getpid(), software=BUILD))
    threading.Thread(target=_listen, args=(sys.stdin.buffer, desk, voice), daemon=True).start()
    threading.Thread(target=_beat, args=(activity, voice), daemon=True).start()
    os.environ["HF_HUB_OFFLINE"] = "1"  # what a trainer needs, it is given as files
    os.environ.setdefault("CUDA_DEVICE_ORDER", "PCI_BUS_ID")  # cuda:0 is the probe's first card
    try:
        # torch takes seconds to load: the threads above already work.
        shift = importlib.import_module("tequio_client.trainer.shift")
        shift.Shift(desk, voice.say, activity).serve()
    finally:
        traceback.print_exc()
        os._exit(1)  # an ordinary exit would wait for the thread that listens


def _listen(lines: IO[bytes], desk: Desk, voice: Voice) -> NoReturn:
    while line := lines.readline(messages.LINE_BYTES + 1):
        try:
            command = messages.decode_command(line)
        except MalformedError as err:
            voice.say(messages.Failed(command=0, code="malformed", reason=str(err)))
            _skip_line(lines, line)
            continue
        if isinstance(command, messages.Quit):
            break
        desk.put(command)
    os._exit(0)


def _skip_line(lines: IO[bytes], line: bytes) -> None:
    while line and not line.endswith(b"\n"):
        line = lines.readline(messages.LINE_BYTES)


def _beat(activity: Activity, voice: Voice) -> NoReturn:
    process = psutil.Process()
    while True:
        voice.say(
            messages.Alive(
                command=activity.command,
                doing=activity.doing,
                step=activity.step,
                steps=activity.steps,
                tokens=activity.tokens,
                resident_mb=process.memory_info().rss // _MIB,
            )
        )
        time.sleep(HEARTBEAT_S)
