"""Our programs, forked from a process that has imported them: a start costs milliseconds.

Each is a process of its own that runs the real command line; only the start of an interpreter and
the imports, which take most of the time of a short test, are shared. A program ends with its
`with` block, and all of them end with the process that started them.

Started as `python -m tests.support.forked_program FD`, this module is the process that forks. It
reads orders from the socket FD, one message each, with the program's standard streams and a pipe
for its process id and exit status.
"""

from __future__ import annotations

import atexit
import contextlib
import gc
import importlib
import io
import os
import selectors
import signal
import socket
import subprocess
import sys
import threading
import time
import traceback
import warnings
from functools import cache
from pathlib import Path
from typing import IO, TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from collections.abc import Mapping
    from types import TracebackType
    from typing import Self

LEDGER, CLIENT = "tequio_ledger.__main__", "tequio_client.__main__"
PRELOADED = {
    LEDGER: ("tequio_ledger.app", "tequio_ledger.witness.app"),
    CLIENT: (
        "tequio_client.worker.main",
        "tequio_client.worker.seed",
        "tequio_client.organiser.opening",
        "tequio_client.verify.audit",
    ),
}
"""Modules that the forking process imports before it forks a program for the first time."""
ORDER_BYTES = 1 << 17
START_S = 60.0


class Order(msgspec.Struct, frozen=True, kw_only=True):
    """A program to fork."""

    module: str
    """Module whose `main` is called, with `words` as its arguments."""
    words: list[str]
    env: dict[str, str]
    folder: str
    setup: tuple[str, str] | None = None
    """`module:function` that changes what the program does, called before it; its argument."""


class ForkedProgram:
    """A forked program; a subset of `subprocess.Popen` with text streams."""

    def __init__(
        self,
        module: str,
        *words: str,
        stdout: int | None = None,
        stderr: int | Path | None = None,
        env: Mapping[str, str] | None = None,
        stdin: str = "",
        setup: tuple[str, str] | None = None,
    ) -> None:
        """Fork a program. `subprocess.PIPE` opens a stream, a path appends to a file.

        The program reads `stdin`, a pipe's fill at most, and then the end of its input.

        Raises RuntimeError when the program cannot be imported.
        """
        order = Order(
            module=module,
            words=list(words),
            env=dict(os.environ if env is None else env),
            folder=str(Path.cwd()),
            setup=setup,
        )
        self.args = [module, *words]
        self.returncode: int | None = None
        self._lock = threading.Lock()
        self._status, status_end = os.pipe()
        self.stdout, stdout_end = _stream(stdout)
        self.stderr, stderr_end = _stream(stderr)
        stdin_end, input_end = os.pipe()
        with os.fdopen(input_end, "w") as file:
            file.write(stdin)
        ends = [stdin_end, stdout_end, stderr_end, status_end]
        try:
            socket.send_fds(_forker(), [msgspec.json.encode(order)], ends)
        finally:
            for end in ends:
                os.close(end)
        pid = self._read_number(START_S)
        if pid is None:
            os.close(self._status)
            self.close()
            raise RuntimeError(f"{module} could not be forked: see standard error")
        self.pid = pid

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, err: BaseException | None, at: TracebackType | None
    ) -> None:
        self.kill()
        self.wait()
        self.close()

    def close(self) -> None:
        """Close the streams."""
        for stream in (self.stdout, self.stderr):
            if stream is not None:
                stream.close()

    def poll(self) -> int | None:
        """Return the exit status, negative for a signal; None while it runs."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.wait(0)
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        """Wait for the end; raises TimeoutExpired."""
        with self._lock:
            if self.returncode is None:
                self.returncode = self._read_number(timeout)
                os.close(self._status)
            return self.returncode if self.returncode is not None else -signal.SIGKILL

    def send_signal(self, number: int) -> None:
        """Send a signal, unless the program has ended."""
        if self.poll() is None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, number)

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)

    def communicate(self, timeout: float) -> tuple[str, str]:
        """Read both streams to their ends and wait; kills the program when it takes longer."""
        timer = threading.Timer(timeout, self.kill)
        timer.start()
        try:
            written: list[str] = []
            reader = threading.Thread(target=lambda: written.append(_read(self.stdout)))
            reader.start()
            errors = _read(self.stderr)
            reader.join()
            self.wait()
        finally:
            timer.cancel()
            self.close()
        return written[0], errors

    def _read_number(self, timeout_s: float | None) -> int | None:
        """Read a line of the status pipe; None when the forking process has gone."""
        line = b""
        deadline = None if timeout_s is None else time.monotonic() + timeout_s
        with selectors.DefaultSelector() as selector:
            selector.register(self._status, selectors.EVENT_READ)
            while not line.endswith(b"\n"):
                left = None if deadline is None else max(deadline - time.monotonic(), 0)
                if not selector.select(left):
                    raise subprocess.TimeoutExpired(self.args, timeout_s or 0)
                byte = os.read(self._status, 1)
                if not byte:
                    return None
                line += byte
        return int(line)


def run_forked(
    module: str,
    *words: str,
    timeout_s: float = 30,
    env: Mapping[str, str] | None = None,
    stdin: str = "",
) -> subprocess.CompletedProcess[str]:
    """Run a program to its end; one that takes longer than `timeout_s` is killed."""
    program = ForkedProgram(
        module, *words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=env, stdin=stdin
    )
    stdout, stderr = program.communicate(timeout_s)
    return subprocess.CompletedProcess(program.args, program.wait(), stdout, stderr)


def _stream(wanted: int | Path | None) -> tuple[IO[str] | None, int]:
    """Return the reading end, if there is one, and the program's end."""
    if wanted == subprocess.PIPE:
        read_end, write_end = os.pipe()
        return os.fdopen(read_end, "r"), write_end
    path = wanted if isinstance(wanted, Path) else Path(os.devnull)
    return None, os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)


def _read(stream: IO[str] | None) -> str:
    return stream.read() if stream is not None else ""


@cache
def _forker() -> socket.socket:
    """Start the forking process, which ends when the socket is closed; return the socket."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with theirs:
        process = subprocess.Popen(
            [sys.executable, "-m", "tests.support.forked_program", str(theirs.fileno())],
            stdin=subprocess.DEVNULL,
            cwd=Path(__file__).parents[2],
            pass_fds=[theirs.fileno()],
        )

    def end() -> None:
        ours.close()
        process.wait()

    atexit.register(end)
    return ours


class ForkingProcess:
    """Forks what is ordered until the socket is closed; then kills all that still runs."""

    def __init__(self, orders: socket.socket) -> None:
        self._orders = orders
        self._running: dict[int, tuple[int, int]] = {}  # by pidfd: process id, status pipe
        self._selector = selectors.DefaultSelector()
        self._selector.register(orders, selectors.EVENT_READ)

    def run(self) -> Order | None:
        """Return the order in the process that is to carry it out, None at the end."""
        while True:
            for key, _ in self._selector.select():
                if key.fd in self._running:
                    self._report_end(key.fd)
                    continue
                flags = socket.MSG_CMSG_CLOEXEC
                content, ends, _, _ = socket.recv_fds(self._orders, ORDER_BYTES, 4, flags)
                if not content:
                    self._kill_all()
                    return None
                order = msgspec.json.decode(content, type=Order)
                if _can_import(order) and self._fork(ends):
                    return order
                for end in ends:
                    os.close(end)

    def _kill_all(self) -> None:
        for pid, _ in self._running.values():
            os.kill(pid, signal.SIGKILL)

    def _fork(self, ends: list[int]) -> bool:
        """Return true in the new process; takes the status pipe from `ends` in the other."""
        gc.freeze()  # or the first collection of each child would copy every page
        pid = os.fork()
        if pid:
            os.write(ends[-1], b"%d\n" % pid)
            pidfd = os.pidfd_open(pid)
            self._running[pidfd] = (pid, ends.pop())
            self._selector.register(pidfd, selectors.EVENT_READ)
            return False
        self._orders.close()
        self._selector.close()
        for pidfd, (_, status_end) in self._running.items():
            os.close(pidfd)
            os.close(status_end)
        for target, end in enumerate(ends[:-1]):
            os.dup2(end, target)
        for end in ends:
            os.close(end)
        return True

    def _report_end(self, pidfd: int) -> None:
        self._selector.unregister(pidfd)
        pid, status_end = self._running.pop(pidfd)
        status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        with contextlib.suppress(BrokenPipeError):  # its starter has ended
            os.write(status_end, b"%d\n" % status)
        os.close(status_end)
        os.close(pidfd)


def _can_import(order: Order) -> bool:
    try:
        for module in (order.module, *PRELOADED.get(order.module, ())):
            importlib.import_module(module)
        if order.setup:
            importlib.import_module(order.setup[0].partition(":")[0])
    except ImportError:
        traceback.print_exc()
        return False
    return True


def carry_out(order: Order) -> None:
    """Run the ordered program in this process."""
    os.environ.clear()
    os.environ.update(order.env)
    os.chdir(order.folder)
    if order.env.get("PYTHONWARNINGS"):  # read by an interpreter when it starts
        warnings.simplefilter("default")
    if order.env.get("PYTHONUNBUFFERED"):
        assert isinstance(sys.stdout, io.TextIOWrapper)
        sys.stdout.reconfigure(write_through=True)
    os.setsid()  # Ctrl-C is for those who started it
    sys.argv = [order.module, *order.words]
    if order.setup:
        module, _, name = order.setup[0].partition(":")
        getattr(sys.modules[module], name)(order.setup[1])
    sys.modules[order.module].main()


if __name__ == "__main__":
    ordered = ForkingProcess(socket.socket(fileno=int(sys.argv[1]))).run()
    if ordered is not None:
        carry_out(ordered)
