"""Control server of a worker: serves the app that started it, and command lines of the same user.

Each controller gets a snapshot at once, on every change and once a second, and replies to its
questions; its commands go to the worker. An invalid or oversized line ends that connection and
nothing else. Only the app that started the worker may end it.
"""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import structlog
import trio

from tequio_client.control_socket import ControlAddress, ControlListener
from tequio_client.ipc import LineBuffer, control
from tequio_client.ipc.control import LINE_BYTES
from tequio_client.ledger.http import LedgerUnavailableError, UnansweredError
from tequio_shared.errors import MalformedError, TequioError, first_error
from tequio_shared.version import BUILD

if TYPE_CHECKING:
    from tequio_client.ipc.snapshot import Snapshot
    from tequio_client.worker.lending.lending import Lending


log = structlog.get_logger(__name__)

SEND_S = 10.0
"""A controller that reads nothing for this long is disconnected."""
GONE = (OSError, trio.BrokenResourceError, trio.ClosedResourceError, trio.TooSlowError)
"""Errors of a connection whose other end has gone."""
GREETING_TIMEOUT_S = 10.0
MAX_CONTROLLERS = 8
MAX_QUESTIONS = 4
"""Questions of one controller in progress."""
_ERROR_CHARACTERS = 4_096
_READ_BYTES = 1 << 16


class LineTransport(Protocol):
    """A transport of lines; several tasks may send."""

    async def receive(self) -> bytes | None:
        """Receive the next line without its end; None at the end. Raises MalformedError, GONE."""

    async def send(self, line: bytes) -> None:
        """Send a line, end included; raises one of GONE."""


class SocketTransport:
    def __init__(self, stream: trio.abc.Stream, send_s: float = SEND_S) -> None:
        self._stream = stream
        self._send_s = send_s
        self._sending = trio.Lock()
        self._lines = LineBuffer(LINE_BYTES)

    async def receive(self) -> bytes | None:
        while (line := self._lines.next_line()) is None:
            chunk = await self._stream.receive_some(_READ_BYTES)
            if not chunk:
                return None
            self._lines.feed(chunk)
        return line

    async def send(self, line: bytes) -> None:
        with trio.fail_after(self._send_s):
            async with self._sending:
                await self._stream.send_all(line)


class PipeTransport:
    """Transport over standard input and output, in threads: they may be pipes, files or consoles.

    Standard output is reserved from now on: prints of other code are redirected to the log.
    """

    def __init__(self) -> None:
        self._input = sys.stdin.buffer
        self._output = os.dup(sys.stdout.fileno())
        os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
        self._sending = trio.Lock()

    async def receive(self) -> bytes | None:
        line = await trio.to_thread.run_sync(
            self._input.readline,
            LINE_BYTES + 1,
            abandon_on_cancel=True,  # type: ignore[call-arg]  # libp2p brings older stubs
        )
        if len(line) > LINE_BYTES:
            raise MalformedError(f"a line of more than {LINE_BYTES} bytes")
        return line[:-1] if line.endswith(b"\n") else None  # a cut line: the sender has gone

    async def send(self, line: bytes) -> None:
        with trio.fail_after(SEND_S):
            async with self._sending:
                await trio.to_thread.run_sync(
                    self._write,
                    line,
                    abandon_on_cancel=True,  # type: ignore[call-arg]  # as above
                )

    def _write(self, line: bytes) -> None:
        left = memoryview(line)
        while left:
            left = left[os.write(self._output, left) :]


@dataclass(frozen=True, slots=True, kw_only=True)
class ControlTimes:
    computing_s: float = 1.0
    resting_s: float = 4.0
    """Interval of snapshots without changes, while a trainer computes and while none does."""
    least_s: float = 0.1
    """Minimum interval of snapshots to one controller, however much changes."""
    send_s: float = SEND_S


class ControlledWorker(Protocol):
    """The worker, as its controllers use it."""

    lending: Lending

    def snapshot(self) -> Snapshot: ...

    async def answer(self, question: control.Question) -> control.Reply: ...


class ControlServer:
    """Server of all controllers of one worker; `listen` accepts them on the folder's socket."""

    def __init__(
        self, worker: ControlledWorker, folder: Path, times: ControlTimes | None = None
    ) -> None:
        self._worker = worker
        self._folder = folder
        self._times = times or ControlTimes()
        self._connected = 0  # over the socket

    async def listen(self) -> None:
        """Serve controllers on the folder's socket until cancelled; raises UserFacingError."""
        listening = ControlListener(self._folder)
        try:
            listener = trio.SocketListener(trio.socket.from_stdlib_socket(listening.socket))
            async with trio.open_nursery() as nursery:
                while True:
                    nursery.start_soon(self._accept, await listener.accept(), listening.address)
        finally:
            listening.close()

    async def _accept(self, stream: trio.SocketStream, address: ControlAddress) -> None:
        self._connected += 1
        try:
            async with stream:
                if self._connected <= MAX_CONTROLLERS:
                    await self._serve_new(SocketTransport(stream, self._times.send_s), address)
        except GONE as err:
            log.debug("controller disconnected", why=repr(err))
        finally:
            self._connected -= 1

    async def _serve_new(self, lines: SocketTransport, address: ControlAddress) -> None:
        is_greeted = False
        # A deadline for the greeting only: without it a connection would hold a place permanently.
        with trio.move_on_after(GREETING_TIMEOUT_S):
            try:
                is_known = await _is_known(lines, address)
                is_greeted = is_known and await greet(lines, self._folder) is not None
            except MalformedError as err:
                await _refuse(lines, str(err))
        if is_greeted:
            await self.serve(lines)

    async def serve(self, lines: LineTransport, *, is_parent: bool = False) -> None:
        """Serve a greeted controller until it says goodbye, disconnects or sends garbage."""
        try:
            async with trio.open_nursery() as nursery:
                nursery.start_soon(self._send_snapshots, lines, nursery.cancel_scope)
                await self._receive(lines, nursery, is_parent=is_parent)
                nursery.cancel_scope.cancel()
        except* MalformedError as group:
            log.warning("invalid message from a controller", error=str(first_error(group)))
            with suppress(*GONE):
                await _refuse(lines, str(first_error(group)))
        except* GONE as group:
            log.debug("controller disconnected", why=repr(first_error(group)))
        finally:
            self._worker.lending.drop_controller(lines)

    async def _receive(
        self, lines: LineTransport, nursery: trio.Nursery, *, is_parent: bool
    ) -> None:
        # Taken before the task starts, so a controller with too many questions is not read from.
        places = trio.Semaphore(MAX_QUESTIONS)
        while (line := await lines.receive()) is not None:
            match control.decode_to_worker(line):
                case control.AskQuestion() as ask:
                    await places.acquire()
                    nursery.start_soon(self._reply, lines, ask, places)
                case control.SetDesiredState(wish=wish):
                    self._worker.lending.apply_state(wish)
                case control.SetPreferences(preferences=preferences):
                    self._worker.lending.apply_preferences(preferences)
                case control.ReportSessionFacts(facts=facts):
                    self._worker.lending.apply_session_facts(facts, lines)
                case control.ControllerHello():
                    raise MalformedError("a second hello")
                case control.EndWorker() if is_parent:  # ignored from others
                    return

    async def _send_snapshots(self, lines: LineTransport, scope: trio.CancelScope) -> None:
        times = self._times
        with suppress(*GONE):
            while True:
                # The event before the snapshot: a change between the two is sent next time.
                changed = self._worker.lending.changed
                snapshot = self._worker.snapshot()
                await _send(lines, control.SnapshotMessage(snapshot=snapshot))
                await trio.sleep(times.least_s)
                is_computing = any(one.pid for one in snapshot.trainers)
                every_s = times.computing_s if is_computing else times.resting_s
                with trio.move_on_after(every_s - times.least_s):
                    await changed.wait()
        scope.cancel()

    async def _reply(
        self, lines: LineTransport, ask: control.AskQuestion, places: trio.Semaphore
    ) -> None:
        try:
            answer = control.QuestionAnswer(
                id=ask.id, reply=await self._worker.answer(ask.question)
            )
            # Decoded once here: the ledger's figures in it may exceed the bounds of the message,
            # and the controller would drop the whole connection.
            control.decode_from_worker(control.encode(answer))
        except* (TequioError, OSError) as group:
            error = first_error(group)
            answer = control.QuestionAnswer(
                id=ask.id,
                error=str(error)[:_ERROR_CHARACTERS],
                is_ledger_away=isinstance(error, LedgerUnavailableError),
                may_be_logged=isinstance(error, UnansweredError),
            )
        places.release()
        with suppress(*GONE):
            await _send(lines, answer)


async def greet(lines: LineTransport, folder: Path) -> control.ControllerHello | None:
    """Exchange greetings; None after a refusal or a hang-up. Raises MalformedError."""
    line = await lines.receive()
    if line is None:
        return None
    hello = control.decode_to_worker(line)
    if not isinstance(hello, control.ControllerHello):
        raise MalformedError("the first line must be a hello")
    if hello.v != control.V:
        await _refuse(
            lines,
            f"{hello.who} {hello.build} uses protocol version {hello.v}, this worker ({BUILD}) "
            f"uses {control.V}: restart both to finish the update",
        )
        return None
    await _send(lines, control.AcceptController(build=BUILD, pid=os.getpid(), folder=str(folder)))
    return hello


async def _is_known(lines: LineTransport, address: ControlAddress) -> bool:
    """Check that the caller has read the address file, and prove in turn that we wrote it."""
    with suppress(MalformedError):  # from a stranger, which gets no answer
        if address.is_caller_line((await lines.receive() or b"") + b"\n"):
            await lines.send(address.worker_line)
            return True
    return False


async def _refuse(lines: LineTransport, why: str) -> None:
    await _send(lines, control.RefuseController(why=why, build=BUILD))


async def _send(lines: LineTransport, message: control.FromWorker) -> None:
    await lines.send(control.encode(message))
