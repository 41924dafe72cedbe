"""Our programs, forked from a process that has imported them: a start costs milliseconds.

Each is a process of its own that runs the real command line; only the start of an interpreter and
the imports, which take most of the time of a short test, are shared. All programs end with the
process that started them. Forked programs share memory: a test that measures it starts an
interpreter instead.

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
import resource
import select
import selectors
import signal
import socket
import subprocess
import sys
import threading
import traceback
import warnings
from pathlib import Path
from typing import IO, TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Self

LEDGER, CLIENT = "tequio_ledger.__main__", "tequio_client.__main__"
STRICT, MODELS = "tests.support.windows_program", "tests.support.model_program"
"""The client under Windows' rules for files, which forked programs do not follow otherwise."""
TRAINER = "tests.support.trainer_program"
_CLIENTS = (
    "tequio_client.worker.main",
    "tequio_client.worker.seed",
    "tequio_client.organiser.opening",
    "tequio_client.verify.audit",
)
PRELOADED = {
    LEDGER: ("tequio_ledger.app", "tequio_ledger.witness.app"),
    CLIENT: _CLIENTS,
    STRICT: _CLIENTS,
    "tests.support.faulty_worker": _CLIENTS,
}
"""Modules that the forking process imports before it forks a program for the first time."""
ORDER_BYTES = 1 << 17
STDIN_BYTES = 1 << 16
"""Room in a pipe that nobody reads yet."""
START_S = 60.0
_ENVIRON = dict(os.environ)  # before any test changes it


class Order(msgspec.Struct, frozen=True, kw_only=True):
    """A program to fork."""

    module: str
    """Module whose `main` is called, with `words` as its arguments."""
    words: list[str]
    env: dict[str, str]
    folder: str
    open_files: tuple[int, int]
    """Limits of open files, soft and hard."""
    setup: tuple[str, str] | None = None
    """`module:function` that changes what the program does, called before it; its argument."""


class ForkedProgram:
    """A forked program, with the methods of `subprocess.Popen` and text streams."""

    def __init__(  # noqa: PLR0913 - those of a process
        self,
        module: str,
        *words: str,
        stdout: int | None = None,
        stderr: int | Path | None = None,
        env: Mapping[str, str] | None = None,
        stdin: str | int = "",
        setup: tuple[str, str] | None = None,
        ends: tuple[int, int, int] | None = None,
        folder: str | None = None,
    ) -> None:
        """Fork a program. `subprocess.PIPE` opens a stream, a path appends to a file.

        The program reads the text `stdin`, up to STDIN_BYTES, and then the end of its input. With
        `ends`, which stay open here, it has these three streams instead. Raises RuntimeError when
        it cannot be forked.
        """
        order = Order(
            module=module,
            words=list(words),
            env=dict(os.environ if env is None else env),
            folder=folder or str(Path.cwd()),
            open_files=resource.getrlimit(resource.RLIMIT_NOFILE),
            setup=setup,
        )
        self.args = [module, *words]
        self._returncode: int | None = None
        self._has_ended = threading.Event()
        with contextlib.ExitStack() as theirs, contextlib.ExitStack() as streams:
            status, status_end = os.pipe()
            theirs.callback(os.close, status_end)
            status_file = streams.enter_context(os.fdopen(status, "rb"))
            self.stdout, stdout_end = _stream(stdout, 1, streams)
            theirs.callback(os.close, stdout_end)
            self.stderr, stderr_end = _stream(stderr, 2, streams)
            theirs.callback(os.close, stderr_end)
            self.stdin, stdin_end = _input(stdin, streams)
            theirs.callback(os.close, stdin_end)
            order_fds = [*(ends or (stdin_end, stdout_end, stderr_end)), status_end]
            socket.send_fds(_forker(), [msgspec.json.encode(order)], order_fds)
            theirs.close()
            pid = status_file.readline() if select.select([status], [], [], START_S)[0] else b""
            if not pid:
                raise RuntimeError(f"{module} could not be forked: see standard error")
            self.pid = int(pid)
            streams.pop_all()
        threading.Thread(target=self._read_status, args=(status_file,), daemon=True).start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()
        self.wait()
        self.close()

    @property
    def returncode(self) -> int | None:
        """The exit status, negative for a signal; None while the program runs."""
        return self._returncode

    def close(self) -> None:
        """Close the streams."""
        for stream in (self.stdin, self.stdout, self.stderr):
            if stream is not None:
                stream.close()

    def poll(self) -> int | None:
        """Return the exit status; None while the program runs."""
        return self._returncode

    def wait(self, timeout: float | None = None) -> int:
        """Wait for the end; raises TimeoutExpired, and RuntimeError without a forking process."""
        if not self._has_ended.wait(timeout):
            raise subprocess.TimeoutExpired(self.args, timeout or 0)
        if self._returncode is None:
            raise RuntimeError("the forking process has ended")
        return self._returncode

    def send_signal(self, number: int) -> None:
        """Send a signal, unless the program has ended."""
        if not self._has_ended.is_set():
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, number)

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)

    def communicate(self, timeout: float) -> tuple[str, str]:
        """Read both streams to their ends and wait.

        Kills the program and raises TimeoutExpired when it takes longer.
        """
        is_late = threading.Event()

        def end() -> None:
            is_late.set()
            self.kill()

        timer = threading.Timer(timeout, end)
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
        if is_late.is_set():
            raise subprocess.TimeoutExpired(self.args, timeout, written[0], errors)
        return written[0], errors

    def _read_status(self, status: IO[bytes]) -> None:
        with status:
            line = status.readline()
        if line:
            self._returncode = int(line)
        else:  # the forking process has gone, and nobody else can stop the program
            self.kill()
        self._has_ended.set()


def run_forked(
    module: str,
    *words: str,
    timeout_s: float = 30,
    env: Mapping[str, str] | None = None,
    stdin: str = "",
) -> subprocess.CompletedProcess[str]:
    """Run a program to its end; raises TimeoutExpired."""
    program = ForkedProgram(
        module, *words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=env, stdin=stdin
    )
    stdout, stderr = program.communicate(timeout_s)
    return subprocess.CompletedProcess(program.args, program.wait(), stdout, stderr)


def pipes_of(process: subprocess.Popen[bytes] | ForkedProgram) -> tuple[IO[bytes], IO[bytes]]:
    """Input and output of a program for which both are pipes; a forked one's carry bytes, too."""
    if not isinstance(process, ForkedProgram):
        assert process.stdin
        assert process.stdout
        return process.stdin, process.stdout
    assert isinstance(process.stdin, io.TextIOWrapper)
    assert isinstance(process.stdout, io.TextIOWrapper)
    return process.stdin.buffer, process.stdout.buffer


def _input(wanted: str | int, streams: contextlib.ExitStack) -> tuple[IO[str] | None, int]:
    """Return the writing end, if it stays open, and the program's end."""
    read_end, write_end = os.pipe()
    file = os.fdopen(write_end, "w")
    if wanted == subprocess.PIPE:
        return streams.enter_context(file), read_end
    assert isinstance(wanted, str)
    assert len(wanted.encode()) <= STDIN_BYTES
    with file:
        file.write(wanted)
    return None, read_end


def _stream(
    wanted: int | Path | None, number: int, streams: contextlib.ExitStack
) -> tuple[IO[str] | None, int]:
    """Return the reading end, if there is one, and the program's end."""
    if wanted == subprocess.PIPE:
        read_end, write_end = os.pipe()
        return streams.enter_context(os.fdopen(read_end, "r")), write_end
    if isinstance(wanted, Path):
        return None, os.open(wanted, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    return None, os.dup(number)


def _read(stream: IO[str] | None) -> str:
    return stream.read() if stream is not None else ""


_orders: list[socket.socket] = []  # to the forking process, once it is needed
_orders_lock = threading.Lock()


def _forker() -> socket.socket:
    """Start the forking process, which ends when the socket is closed; return the socket."""
    with _orders_lock:
        if not _orders:
            _orders.append(_start_forker())
        return _orders[0]


def _start_forker() -> socket.socket:
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with theirs:
        process = subprocess.Popen(
            [sys.executable, "-m", "tests.support.forked_program", str(theirs.fileno())],
            stdin=subprocess.DEVNULL,
            cwd=Path(__file__).parents[2],
            pass_fds=[theirs.fileno()],
            env=_ENVIRON,
            start_new_session=True,  # Ctrl-C must not end it before it has ended its programs
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
                if self._fork(order, ends) == 0:
                    self._become(ends)
                    return order
                for end in ends:
                    os.close(end)

    def _fork(self, order: Order, ends: list[int]) -> int | None:
        """Return the process id, 0 in the new process, None if it could not be forked."""
        try:
            _import(order)
            gc.freeze()  # or the first collection of each child would copy every page
            pid = os.fork()
        except Exception:  # noqa: BLE001 - one bad order must not end the other programs
            traceback.print_exc()
            return None
        if pid:
            pidfd = os.pidfd_open(pid)
            status_end = ends.pop()
            self._running[pidfd] = (pid, status_end)
            self._selector.register(pidfd, selectors.EVENT_READ)
            try:
                os.write(status_end, b"%d\n" % pid)
            except BrokenPipeError:  # its starter has given up
                os.kill(pid, signal.SIGKILL)
        return pid

    def _become(self, ends: list[int]) -> None:
        """Give this new process the program's streams and nothing of the others'."""
        self._orders.close()
        self._selector.close()
        for pidfd, (_, status_end) in self._running.items():
            os.close(pidfd)
            os.close(status_end)
        for target, end in enumerate(ends[:-1]):
            os.dup2(end, target)
        for end in ends:
            os.close(end)

    def _report_end(self, pidfd: int) -> None:
        self._selector.unregister(pidfd)
        pid, status_end = self._running.pop(pidfd)
        status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        with contextlib.suppress(BrokenPipeError):  # its starter has ended
            os.write(status_end, b"%d\n" % status)
        os.close(status_end)
        os.close(pidfd)

    def _kill_all(self) -> None:
        for pid, _ in self._running.values():
            os.kill(pid, signal.SIGKILL)


def _import(order: Order) -> None:
    with warnings.catch_warnings():
        if "PYTHONWARNINGS" in order.env:  # a warning would stand in the program's log
            warnings.simplefilter("error")
        for module in (order.module, *PRELOADED.get(order.module, ())):
            importlib.import_module(module)
        if order.setup:
            importlib.import_module(order.setup[0].partition(":")[0])


def carry_out(order: Order) -> None:
    """Run the ordered program in this process."""
    os.setsid()  # Ctrl-C is for those who started it
    os.environ.clear()
    os.environ.update(order.env)
    os.chdir(order.folder)
    resource.setrlimit(resource.RLIMIT_NOFILE, order.open_files)
    # An interpreter looks at these when it starts.
    if filters := order.env.get("PYTHONWARNINGS"):
        assert filters == "default"
        warnings.simplefilter("default")
    if order.env.get("PYTHONUNBUFFERED") or os.isatty(1):
        assert isinstance(sys.stdout, io.TextIOWrapper)
        sys.stdout.reconfigure(line_buffering=True)
    # pytest's runners ignore Ctrl-C, and so would their children.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    sys.argv = [order.module, *order.words]
    if order.setup:
        module, _, name = order.setup[0].partition(":")
        getattr(sys.modules[module], name)(order.setup[1])
    sys.modules[order.module].main()


if __name__ == "__main__":
    ordered = ForkingProcess(socket.socket(fileno=int(sys.argv[1]))).run()
    if ordered is not None:
        carry_out(ordered)
