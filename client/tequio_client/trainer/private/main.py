"""The process that trains on a member's texts: reads requests, carries out one after another.

Three threads, as in the trainer of public runs (`trainer.main`): one reads, one sends a heartbeat,
the first one works. The reader ends the process when its input ends. It may be killed at any time:
output files get their names only when they are complete, and what a round spends is recorded before
its first step.

This module imports no torch: the process answers while torch loads, which takes seconds.
"""

from __future__ import annotations

import importlib
import os
import queue
import signal
import sys
import threading
import time
import traceback
from collections.abc import Callable
from typing import IO, NoReturn

import structlog

from tequio_client import heap
from tequio_client.ipc import private
from tequio_client.ipc.private import LocalTraining, PrivateFailed, PrivateReport
from tequio_client.platform import programs
from tequio_client.platform.child import ParentPipe
from tequio_client.runtime import configure_logging
from tequio_client.trainer.main import set_up_libraries
from tequio_shared.errors import MalformedError, UserFacingError
from tequio_shared.version import BUILD

HEARTBEAT_S = 2.0
_REASON_CHARS = 60_000
_OPACUS = ("opacus", "scipy", "opt_einsum")
log = structlog.get_logger(__name__)


class _Activity:
    """Progress of the request in force; written by the thread that works, read by the heartbeat."""

    command = step = steps = 0

    def start(self, command: int) -> None:
        self.command, self.step, self.steps = command, 0, 0

    def record(self, step: int, steps: int) -> None:
        self.step, self.steps = step, steps


def main(log_style: str, *, sandbox: str = "") -> NoReturn:
    """Carry out requests until the input ends; `log_style` is console or json.

    `sandbox` names what confines this process, for people.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the parent
    configure_logging(style=log_style)
    pipe, activity = ParentPipe(), _Activity()
    requests: queue.SimpleQueue[LocalTraining] = queue.SimpleQueue()

    def send(report: PrivateReport) -> None:
        pipe.send(private.encode(report))

    send(private.PrivateHello(pid=os.getpid(), software=BUILD, sandbox=sandbox))
    threading.Thread(target=_read, args=(sys.stdin.buffer, requests, send), daemon=True).start()
    threading.Thread(target=_send_heartbeats, args=(activity, send), daemon=True).start()
    set_up_libraries()
    try:
        _work(requests, send, activity)
    finally:
        traceback.print_exc()
        os._exit(1)  # an ordinary exit would wait for the reader


def _work(
    requests: queue.SimpleQueue[LocalTraining],
    send: Callable[[PrivateReport], None],
    activity: _Activity,
) -> NoReturn:
    trainer = None
    while True:
        request = requests.get()
        activity.start(request.command)
        try:
            if trainer is None:
                with heap.collection_paused():  # torch takes seconds to load
                    training = importlib.import_module("tequio_client.trainer.private.training")
                trainer = training.LocalTrainer(activity.record)
            answer: PrivateReport = trainer.train(request)
        except Exception as err:  # the outermost supervisor: reports it, and goes on
            answer = _failure(request.command, err)
            log.warning(
                "training failed",
                command=request.command,
                code=answer.code,
                exc_info=answer.code == "internal" and not isinstance(err, ModuleNotFoundError),
            )
        send(answer)
        activity.start(0)


def _read(
    lines: IO[bytes],
    requests: queue.SimpleQueue[LocalTraining],
    send: Callable[[PrivateReport], None],
) -> NoReturn:
    while line := lines.readline(private.LINE_BYTES + 1):
        try:
            requests.put(private.decode_request(line))
        except MalformedError as err:
            send(PrivateFailed(command=0, code="malformed", reason=str(err)))
            while line and not line.endswith(b"\n"):  # too long: drop the rest of the line
                line = lines.readline(private.LINE_BYTES)
    os._exit(0)


def _send_heartbeats(activity: _Activity, send: Callable[[PrivateReport], None]) -> NoReturn:
    while True:
        send(
            private.PrivateAlive(command=activity.command, step=activity.step, steps=activity.steps)
        )
        time.sleep(HEARTBEAT_S)


def _failure(command: int, err: Exception) -> PrivateFailed:
    if isinstance(err, ModuleNotFoundError):
        return PrivateFailed(command=command, code="internal", reason=_not_installed(str(err.name)))
    code = _code(err)
    reason = f"{type(err).__name__}: {err}" if code == "internal" else str(err)
    return PrivateFailed(command=command, code=code, reason=reason[:_REASON_CHARS])


def _code(err: Exception) -> str:
    # By name where the class would load torch, which may be what failed.
    names = {kind.__name__ for kind in type(err).__mro__}
    for name, code in (
        ("BudgetSpentError", "budget"),
        ("WeightsNotFiniteError", "non_finite"),
        ("DeviceError", "device"),
        ("MemoryError", "memory"),
        ("ModelError", "model"),
    ):
        if name in names:
            return code
    if isinstance(err, (UserFacingError, MalformedError)):
        return "input"
    if isinstance(err, RuntimeError):  # of torch, which is loaded then
        from tequio_client.trainer.device import is_out_of_memory  # noqa: PLC0415 - brings torch

        return "memory" if is_out_of_memory(err) else "internal"
    return "output" if isinstance(err, OSError) else "internal"


def _not_installed(package: str) -> str:
    name = package.partition(".")[0]
    if name in _OPACUS:
        return (
            f"{name} is not installed here, and this group trains with differential privacy: "
            "install Tequio with its extras 'client' and 'private', for example with "
            "`pipx install --force '.[client,private]'` in a checkout"
        )
    return programs.not_installed(package)
