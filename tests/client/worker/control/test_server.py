"""Controllers over the real door: who is welcome, what they see, and what ends them."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

import pytest
import trio
from msgspec.structs import replace

from tequio_client.control_socket import PATH_BYTES, SOCKET, WorkerCall, connect, read_address
from tequio_client.ipc import control
from tequio_client.ipc.control import AskDiagnostics, DiagnosticsReply
from tequio_client.ipc.facts import SessionFacts
from tequio_client.ipc.points import AskPoints, PointsReply, PointsRow
from tequio_client.ipc.runs import AskRuns
from tequio_client.ipc.snapshot import DesiredState
from tequio_client.worker.control.server import MAX_CONTROLLERS, ControlTimes
from tequio_shared.errors import RefusedError, UserFacingError
from tests.support.recording_worker import is_well, served

if TYPE_CHECKING:
    from pathlib import Path

    from tequio_client.ipc.snapshot import Snapshot

pytestmark = pytest.mark.trio
HELLO = control.ControllerHello(who="cli", build="test")


async def test_a_call_shows_wishes_and_asks(tmp_path: Path) -> None:
    def call() -> tuple[Snapshot, str]:
        with WorkerCall.to(tmp_path) as worker:
            shown = worker.set_state(
                lambda one: DesiredState(number=one.wish.number + 1, lend=True)
            )
            return shown, worker.ask(AskDiagnostics(), DiagnosticsReply).text

    async with served(tmp_path) as desk:
        desk.wish = DesiredState(number=41)
        shown, text = await trio.to_thread.run_sync(call)
        assert shown.wish == desk.wish == DesiredState(number=42, lend=True)
        assert text == "all is well"


@pytest.mark.parametrize(
    "refusal", [RefusedError("unknown-question", "nobody knows"), OSError("nobody knows")]
)
async def test_a_question_without_an_answer_is_said_and_ends_nothing(
    tmp_path: Path, refusal: Exception
) -> None:
    def call() -> str:
        with WorkerCall.to(tmp_path) as worker:
            with pytest.raises(UserFacingError, match="nobody knows"):
                worker.ask(AskRuns(), DiagnosticsReply)
            return worker.ask(AskDiagnostics(), DiagnosticsReply).text

    async with served(tmp_path) as desk:
        desk.refusal = refusal
        assert await trio.to_thread.run_sync(call) == "all is well"


async def open_stream(folder: Path) -> trio.abc.Stream:
    address = read_address(folder)
    assert address is not None
    if address.port:
        return await trio.open_tcp_stream("127.0.0.1", address.port)
    return await trio.open_unix_socket(str(folder / SOCKET))


@pytest.mark.parametrize("length", [1, PATH_BYTES], ids=["unix", "loopback"])
async def test_a_caller_shows_the_secret_before_it_is_answered(tmp_path: Path, length: int) -> None:
    folder = tmp_path / ("d" * length)
    folder.mkdir()
    async with served(folder):
        assert await trio.to_thread.run_sync(is_well, folder)
        address = read_address(folder)
        assert address is not None
        for first in (b"x" + address.caller_line, control.encode(HELLO)):
            async with await open_stream(folder) as stranger:
                await stranger.send_all(first)
                assert await stranger.receive_some(100) == b"", "no answer without the secret"
        async with await open_stream(folder) as stranger:
            with suppress(trio.BrokenResourceError):
                await stranger.send_all(b"x" * (control.LINE_BYTES + 10))
                assert await stranger.receive_some(100) == b"", "and none for an endless line"
        assert await trio.to_thread.run_sync(is_well, folder)


async def test_an_answer_that_nobody_could_read_is_an_error_and_no_answer(tmp_path: Path) -> None:
    def call() -> str:
        with WorkerCall.to(tmp_path) as worker:
            with pytest.raises(UserFacingError, match="not a message"):
                worker.ask(AskPoints(), PointsReply)
            return worker.ask(AskDiagnostics(), DiagnosticsReply).text

    async with served(tmp_path) as desk:
        row = PointsRow(number=1, run="r", run_name="r", round=1, at_ms=1, state="verified")
        desk.rows = (replace(row, gflop=2**60),)
        assert await trio.to_thread.run_sync(call) == "all is well"


async def test_a_call_without_a_worker_says_how_to_get_one(tmp_path: Path) -> None:
    with (
        pytest.raises(UserFacingError, match="start the app or `tequio worker`"),
        WorkerCall.to(tmp_path),
    ):
        pass


class _Caller:
    """A connection that sends any bytes."""

    def __init__(self, folder: Path) -> None:
        self._connection = connect(folder)
        self._lines = self._connection.makefile("rb")

    def send(self, raw: bytes) -> None:
        self._connection.sendall(raw)

    def receive(self) -> control.FromWorker | None:
        line = self._lines.readline()
        return control.decode_from_worker(line) if line else None

    def close(self) -> None:
        self._lines.close()
        self._connection.close()


@pytest.mark.parametrize(
    "first",
    [
        b"GET / HTTP/1.1\r\n\r\n",
        b"{}\n",
        control.encode(control.SetDesiredState(wish=DesiredState(number=9))),
        b"x" * (control.LINE_BYTES + 10) + b"\n",
    ],
    ids=["http", "empty", "no hello", "endless"],
)
async def test_who_does_not_say_hello_is_refused(tmp_path: Path, first: bytes) -> None:
    def call() -> control.FromWorker | None:
        caller = _Caller(tmp_path)
        try:
            caller.send(first)
            return caller.receive()
        except OSError:
            return None
        finally:
            caller.close()

    async with served(tmp_path) as desk:
        answer = await trio.to_thread.run_sync(call)
        assert answer is None or isinstance(answer, control.RefuseController)
        assert desk.wish == DesiredState()
        assert await trio.to_thread.run_sync(is_well, tmp_path)


async def test_another_version_hears_what_to_do(tmp_path: Path) -> None:
    def call() -> control.FromWorker | None:
        caller = _Caller(tmp_path)
        caller.send(
            control.encode(control.ControllerHello(v=control.V + 1, who="app", build="9.9"))
        )
        answer = caller.receive()
        assert caller.receive() is None, "it hangs up"
        caller.close()
        return answer

    async with served(tmp_path):
        answer = await trio.to_thread.run_sync(call)
        assert isinstance(answer, control.RefuseController)
        assert "restart both to finish the update" in answer.why


async def test_nonsense_after_the_hello_ends_that_connection_alone(tmp_path: Path) -> None:
    def call() -> list[control.FromWorker | None]:
        caller = _Caller(tmp_path)
        caller.send(control.encode(HELLO) + b'{"type":"want"}\n')
        received = [caller.receive()]
        while received[-1] is not None:
            received.append(caller.receive())
        caller.close()
        return received

    async with served(tmp_path):
        received = await trio.to_thread.run_sync(call)
        assert isinstance(received[0], control.AcceptController)
        assert isinstance(received[-2], control.RefuseController)
        assert await trio.to_thread.run_sync(is_well, tmp_path)


async def test_what_a_controller_told_is_forgotten_when_it_is_gone(tmp_path: Path) -> None:
    def call() -> _Caller:
        caller = _Caller(tmp_path)
        caller.send(
            control.encode(HELLO)
            + control.encode(control.ReportSessionFacts(facts=SessionFacts(idle_s=9)))
        )
        return caller

    async with served(tmp_path) as desk:
        caller = await trio.to_thread.run_sync(call)
        while not desk.facts:  # noqa: ASYNC110 - said elsewhere
            await trio.sleep(0.01)
        assert [one.idle_s for one in desk.facts.values()] == [9]
        caller.close()
        while desk.facts:  # noqa: ASYNC110 - as above
            await trio.sleep(0.01)


async def test_a_stranger_cannot_end_the_worker(tmp_path: Path) -> None:
    def call() -> control.FromWorker | None:
        caller = _Caller(tmp_path)
        caller.send(control.encode(HELLO) + control.encode(control.EndWorker()))
        received = [caller.receive(), caller.receive(), caller.receive()]
        caller.close()
        return received[-1]

    async with served(tmp_path):
        assert isinstance(await trio.to_thread.run_sync(call), control.SnapshotMessage)


async def test_a_controller_that_reads_nothing_is_hung_up_on(tmp_path: Path) -> None:
    hasty = ControlTimes(computing_s=0.001, resting_s=0.001, least_s=0.0, send_s=0.2)
    async with served(tmp_path, hasty) as desk:
        caller = await trio.to_thread.run_sync(_Caller, tmp_path)
        caller.send(
            control.encode(HELLO) + control.encode(control.ReportSessionFacts(facts=SessionFacts()))
        )
        while not desk.facts:  # noqa: ASYNC110 - said elsewhere
            await trio.sleep(0.01)
        while desk.facts:  # noqa: ASYNC110 - as above
            await trio.sleep(0.01)
        caller.close()


async def test_too_many_controllers_are_turned_away_and_places_come_back(tmp_path: Path) -> None:
    def all_at_once() -> list[str]:
        callers, refusals = [], []
        for _ in range(MAX_CONTROLLERS + 2):
            try:
                callers.append(_Caller(tmp_path))
            except UserFacingError as err:
                refusals.append(str(err))
        for one in callers:
            one.send(control.encode(HELLO))
        assert all(isinstance(one.receive(), control.AcceptController) for one in callers)
        for one in callers:  # only now: a place that is given back goes to the next in the queue
            one.close()
        return refusals

    async with served(tmp_path):
        address = read_address(tmp_path)
        refusals = await trio.to_thread.run_sync(all_at_once)
        assert 2 <= len(refusals) <= 3, "one may still be on its way out"
        is_port = address is not None and address.port
        assert is_port or all("does not answer" in one for one in refusals)
        while not await trio.to_thread.run_sync(is_well, tmp_path):  # noqa: ASYNC110 - as above
            await trio.sleep(0.05)
