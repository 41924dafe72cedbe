"""Whoever controls this worker: the app that started it, and command lines of the same user.

Each gets everything that is to be seen at once, on every change and once a second, and answers to
its questions; what they wish, tell and choose goes to the one owner of it. A line that is no
message, or too long, ends its connection and nothing else. Only the app that started us may end us.
"""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from typing import TYPE_CHECKING, Protocol

import structlog
import trio

from tequio_client.control_socket import ControlListener
from tequio_client.ipc import control
from tequio_client.ipc.control import LINE_BYTES
from tequio_client.worker.shutdown import first_of
from tequio_shared.errors import MalformedError, TequioError
from tequio_shared.version import BUILD

if TYPE_CHECKING:
    from pathlib import Path

    from tequio_client.control_socket import LoopbackPort
    from tequio_client.ipc.control import Question, Reply
    from tequio_client.ipc.facts import SessionFacts
    from tequio_client.ipc.preferences import Preferences
    from tequio_client.ipc.snapshot import Snapshot, Wish

# --- Lines to and from a controller: over a local socket, or our own standard input and output.

SEND_S = 10.0
"""A controller that takes nothing for so long is hung up on."""
GONE = (OSError, trio.BrokenResourceError, trio.ClosedResourceError, trio.TooSlowError)
"""What says that nobody is there any more."""
_READ_BYTES = 1 << 16


class Lines(Protocol):
    """A connection that carries lines; several tasks may send."""

    async def receive(self) -> bytes | None:
        """The next line without its end; None once the other end has hung up.

        Raises MalformedError for one that is too long, and one of GONE.
        """

    async def send(self, line: bytes) -> None:
        """Send a line, end included; raises one of GONE."""


class SocketLines:
    """Over a stream."""

    def __init__(self, stream: trio.abc.Stream) -> None:
        self._stream = stream
        self._sending = trio.Lock()
        self._rest = bytearray()

    async def receive(self) -> bytes | None:
        """As `Lines` says."""
        while (end := self._rest.find(b"\n")) < 0:
            if len(self._rest) > LINE_BYTES:
                raise MalformedError(f"a line of more than {LINE_BYTES} bytes")
            chunk = await self._stream.receive_some(_READ_BYTES)
            if not chunk:
                return None
            self._rest += chunk
        line = bytes(self._rest[:end])
        del self._rest[: end + 1]
        return line

    async def send(self, line: bytes) -> None:
        """As `Lines` says."""
        with trio.fail_after(SEND_S):
            async with self._sending:
                await self._stream.send_all(line)


class PipeLines:
    """Over standard input and output, in threads: they may be pipes, files or consoles anywhere.

    From now on nothing else may be written to standard output: whoever tries writes to the log.
    """

    def __init__(self) -> None:
        self._input = sys.stdin.buffer
        self._output = os.dup(sys.stdout.fileno())
        os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
        self._sending = trio.Lock()

    async def receive(self) -> bytes | None:
        """As `Lines` says."""
        line = await trio.to_thread.run_sync(
            self._input.readline,
            LINE_BYTES + 1,
            abandon_on_cancel=True,  # type: ignore[call-arg]  # libp2p brings older stubs
        )
        if len(line) > LINE_BYTES:
            raise MalformedError(f"a line of more than {LINE_BYTES} bytes")
        return line[:-1] if line.endswith(b"\n") else None  # or cut off: whoever wrote is gone

    async def send(self, line: bytes) -> None:
        """As `Lines` says."""
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


log = structlog.get_logger(__name__)

HELLO_S = 10.0
EVERY_S, RESTING_S = 1.0, 2.0
"""Between snapshots without news, and while nothing computes: then hardly anything moves."""
LEAST_S = 0.1
"""Between two snapshots to one controller, however much changes."""
MOST = 8
"""Controllers at a time."""
ASKING = 4
"""Questions of one controller under way."""
_ERROR_CHARACTERS = 4_096


class Host(Protocol):
    """What controllers speak to."""

    def changed(self) -> trio.Event:
        """Set at the next change."""

    def snapshot(self) -> Snapshot:
        """Everything that there is to see."""

    def want(self, wish: Wish) -> None:
        """Take a wish."""

    def choose(self, preferences: Preferences) -> None:
        """Take preferences."""

    def tell(self, facts: SessionFacts, controller: object) -> None:
        """Take facts of the user's session."""

    def hung_up(self, controller: object) -> None:
        """That controller is gone, and what it told with it."""

    async def answer(self, question: Question) -> Reply:
        """Answer; raises TequioError."""


class Controllers:
    """All controllers of one worker."""

    def __init__(self, host: Host, folder: Path) -> None:
        self._host = host
        self._folder = folder
        self._here = 0  # through the door

    async def listen(self) -> None:
        """Serve the folder's door until cancelled; raises UserFacingError."""
        door = ControlListener(self._folder)
        try:
            listener = trio.SocketListener(trio.socket.from_stdlib_socket(door.socket))
            async with trio.open_nursery() as nursery:
                while True:
                    nursery.start_soon(self._visited, await listener.accept(), door.port)
        finally:
            door.close()

    async def _visited(self, stream: trio.SocketStream, port: LoopbackPort | None) -> None:
        self._here += 1
        try:
            async with stream:
                if self._here <= MOST:
                    await self._serve_stranger(SocketLines(stream), port)
        except GONE as err:
            log.debug("a controller is gone", why=repr(err))
        finally:
            self._here -= 1

    async def _serve_stranger(self, lines: SocketLines, port: LoopbackPort | None) -> None:
        is_greeted = False
        with trio.move_on_after(HELLO_S):
            is_known = port is None or await _is_known(lines, port)
            is_greeted = is_known and await self._greeted(lines)
        if is_greeted:
            await self.serve(lines)

    async def _greeted(self, lines: Lines) -> bool:
        try:
            return await greet(lines, self._folder) is not None
        except MalformedError as err:
            await _send(lines, control.Refused(why=str(err), build=BUILD))
            return False

    async def serve(self, lines: Lines, *, is_parent: bool = False) -> None:
        """Serve one that was greeted until it says goodbye, hangs up or talks nonsense."""
        try:
            async with trio.open_nursery() as nursery:
                nursery.start_soon(self._show, lines, nursery.cancel_scope)
                await self._hear(lines, nursery, is_parent=is_parent)
                nursery.cancel_scope.cancel()
        except* MalformedError as group:
            log.warning("a controller talked nonsense", error=str(first_of(group)))
            with suppress(*GONE):
                await _send(lines, control.Refused(why=str(first_of(group)), build=BUILD))
        except* GONE as group:
            log.debug("a controller is gone", why=repr(first_of(group)))
        finally:
            self._host.hung_up(lines)

    async def _hear(self, lines: Lines, nursery: trio.Nursery, *, is_parent: bool) -> None:
        places = trio.Semaphore(ASKING)
        while (line := await lines.receive()) is not None:
            match control.decode_to_worker(line):
                case control.Ask() as ask:
                    await places.acquire()
                    nursery.start_soon(self._reply, lines, ask, places)
                case control.Bye() if is_parent:
                    return
                case message:
                    self._take(message, lines)

    def _take(self, message: control.ToWorker, lines: Lines) -> None:
        match message:
            case control.Want(wish=wish):
                self._host.want(wish)
            case control.Choose(preferences=preferences):
                self._host.choose(preferences)
            case control.Tell(facts=facts):
                self._host.tell(facts, lines)
            case control.Hello():
                raise MalformedError("a hello comes once, and first")
            case _:
                pass  # a goodbye of somebody who did not start us

    async def _show(self, lines: Lines, scope: trio.CancelScope) -> None:
        with suppress(*GONE):
            while True:
                changed = self._host.changed()
                snapshot = self._host.snapshot()
                await _send(lines, control.Shown(snapshot=snapshot))
                await trio.sleep(LEAST_S)
                every_s = EVERY_S if any(one.pid for one in snapshot.trainers) else RESTING_S
                with trio.move_on_after(every_s - LEAST_S):
                    await changed.wait()
        scope.cancel()

    async def _reply(self, lines: Lines, ask: control.Ask, places: trio.Semaphore) -> None:
        """Answer, if what was found can be understood: a ledger's figures may be beyond all."""
        try:
            answer = control.Answer(id=ask.id, reply=await self._host.answer(ask.question))
            control.decode_from_worker(control.encode(answer))
        except* TequioError as group:
            answer = control.Answer(id=ask.id, error=str(first_of(group))[:_ERROR_CHARACTERS])
        places.release()
        with suppress(*GONE):
            await _send(lines, answer)


async def greet(lines: Lines, folder: Path) -> control.Hello | None:
    """Welcome whoever speaks our version; None after a refusal, or when nobody says anything.

    Raises MalformedError.
    """
    line = await lines.receive()
    if line is None:
        return None
    hello = control.decode_to_worker(line)
    if not isinstance(hello, control.Hello):
        raise MalformedError("the first line must be a hello")
    if hello.v != control.V:
        await _send(
            lines,
            control.Refused(
                why=f"{hello.who} {hello.build} speaks version {hello.v}, this worker ({BUILD}) "
                f"speaks {control.V}: restart both to finish the update",
                build=BUILD,
            ),
        )
        return None
    await _send(lines, control.Welcome(build=BUILD, pid=os.getpid(), folder=str(folder)))
    return hello


async def _is_known(lines: Lines, port: LoopbackPort) -> bool:
    """Whether a caller has read our file; then it hears that we wrote it."""
    if not port.is_asked((await lines.receive() or b"") + b"\n"):
        return False
    await lines.send(port.answered)
    return True


async def _send(lines: Lines, message: control.FromWorker) -> None:
    await lines.send(control.encode(message))
