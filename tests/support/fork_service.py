"""Programs forked for processes that know nothing of it: they start a small command instead.

The command (`command`) hands its own three streams, variables and folder to the service, a thread
of the process that runs tests. The service forks the program (`forked_program`) and answers with
its exit status, which becomes the command's. When either ends, so does the other.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import shutil
import socket
import sys
import tempfile
import threading
from functools import cache
from pathlib import Path

import msgspec

from tequio_client.worker.children import trainer as trainer_child
from tests.support.forked_program import TRAINER, ForkedProgram

_ORDER_BYTES = 1 << 17
_COMMAND = """
import json, os, signal, socket, sys
address, module, *words = sys.argv[1:]
link = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
link.connect(address)
order = [module, words, dict(os.environ), os.getcwd()]
socket.send_fds(link, [json.dumps(order).encode()], [0, 1, 2])
for end in range(3):
    os.close(end)
signal.signal(signal.SIGTERM, lambda *_: link.send(b"end"))
status = int(link.recv(16) or b"-9")
if status < 0:
    signal.signal(-status, signal.SIG_DFL)
    os.kill(os.getpid(), -status)
os._exit(status)
"""


def trainer_command(module: str = "tequio_client.trainer") -> tuple[str, ...]:
    """A command like `python -m MODULE`, to which words are added; it need not load torch."""
    return (sys.executable, "-S", "-E", "-c", _COMMAND, _address(), TRAINER, module)


def use_for_trainers(command: str) -> None:
    """Let the worker that this process is going to be start its trainers by that command."""
    vars(trainer_child)["TRAINER"] = tuple(msgspec.json.decode(command, type=list[str]))


@cache
def _address() -> str:
    """Start the service, once in a process; return where it is."""
    folder = tempfile.mkdtemp(prefix="tequio-fork-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    path = str(Path(folder) / "socket")
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    listener.bind(path)
    listener.listen(64)
    threading.Thread(target=_serve, args=(listener,), daemon=True).start()
    return path


def _serve(listener: socket.socket) -> None:
    while True:
        link, _ = listener.accept()
        threading.Thread(target=_run, args=(link,), daemon=True).start()


def _run(link: socket.socket) -> None:
    """Fork one program, and end it when its command has ended."""
    with link:
        content, ends, _, _ = socket.recv_fds(link, _ORDER_BYTES, 3)
        try:
            module, words, env, folder = msgspec.json.decode(
                content, type=tuple[str, list[str], dict[str, str], str]
            )
            first, second, third = ends
            program = ForkedProgram(
                module, *words, env=env, folder=folder, ends=(first, second, third)
            )
        finally:
            for end in ends:
                os.close(end)
        threading.Thread(target=_pass_signals, args=(link, program), daemon=True).start()
        status = program.wait()
        with contextlib.suppress(OSError):
            link.send(b"%d" % status)


def _pass_signals(link: socket.socket, program: ForkedProgram) -> None:
    try:
        while link.recv(16):
            program.terminate()
    except OSError:  # it has been answered
        return
    program.kill()
