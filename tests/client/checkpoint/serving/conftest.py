"""A real model behind the real service in this process, whose pace a test sets."""

from __future__ import annotations

import threading
from contextlib import asynccontextmanager, nullcontext
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import httpx
import msgspec
import pytest
import trio

from tequio_client.checkpoint import export
from tequio_client.checkpoint.export import WeightsOrigin
from tequio_client.checkpoint.serving import connections
from tequio_client.checkpoint.serving.connections import Deadlines, HttpServer
from tequio_client.checkpoint.serving.host import Limits, ModelHost
from tequio_client.checkpoint.serving.page import VisitorPage
from tequio_client.checkpoint.serving.service import COMPLETIONS, ChatService, refuse_request
from tequio_client.trainer import device
from tequio_client.trainer.conversation import WritingModel, WritingStyle, seed_chance
from tequio_client.verify.report import NoProgress
from tests.support.llama_swarm import ROUNDS, ServedLog, played

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable
    from pathlib import Path

    from tequio_client.checkpoint.serving.connections import Network
    from tequio_client.trainer.conversation import Show, WrittenText

PATIENCE_S = 120
NAME = "maize- 1.0"
CPU = device.open_device("cpu")


@dataclass(slots=True)
class Pace:
    """Tokens that the model may write; unlimited until `hold`."""

    _allowed: threading.Semaphore | None = None
    written: int = 0

    def hold(self) -> None:
        """From now on, write only what is allowed."""
        self._allowed = threading.Semaphore(0)

    def allow(self, tokens: int) -> None:
        assert self._allowed is not None
        self._allowed.release(tokens)

    def step(self) -> None:
        """Wait until one more token may be written."""
        self.written += 1
        if self._allowed is not None:
            assert self._allowed.acquire(timeout=PATIENCE_S)


class PacedModel(WritingModel):
    """The real model, which waits before it goes on after each token."""

    def __init__(self, folder: Path, pace: Pace) -> None:
        super().__init__(folder, CPU)
        self._pace = pace

    def write(
        self,
        ids: Any,  # noqa: ANN401 - as in the class
        style: WritingStyle,
        show: Show,
        is_unwanted: Callable[[], bool] = lambda: False,
    ) -> WrittenText:
        """See WritingModel."""

        def paced() -> bool:
            self._pace.step()
            return is_unwanted()

        return super().write(ids, style, show, paced)


@dataclass(slots=True)
class RunningService:
    """The service, and requests to it."""

    url: str
    pace: Pace
    host: ModelHost
    folders: list[Path]
    """The last one has the newest head."""
    client: httpx.AsyncClient
    sockets: list[trio.SocketStream] = field(default_factory=list)

    async def post(self, path: str = COMPLETIONS, **body: object) -> httpx.Response:
        """Ask; without other words, for the likeliest continuation of `maize`."""
        asked = {"model": NAME, **body}
        if path == COMPLETIONS:
            asked = {"prompt": "maize", "temperature": 0, "max_tokens": 6} | asked
        content, headers = msgspec.json.encode(asked), {"content-type": "application/json"}
        return await self.client.post(path, content=content, headers=headers)

    async def connect(self) -> trio.SocketStream:
        """Open a separate connection."""
        asked = httpx.URL(self.url)
        stream = await trio.open_tcp_stream(asked.host, asked.port or 0)
        self.sockets.append(stream)
        return stream

    async def ask_raw(self, **body: object) -> trio.SocketStream:
        """Ask for a stream over a separate connection."""
        content = msgspec.json.encode(
            {"model": NAME, "prompt": "maize", "temperature": 0, "stream": True, **body}
        )
        stream = await self.connect()
        head = (
            f"POST {COMPLETIONS} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n"
            f"content-length: {len(content)}\r\n\r\n"
        )
        await stream.send_all(head.encode() + content)
        return stream

    async def until(self, is_so: Callable[[], bool]) -> None:
        """Wait for a state of the service."""
        with trio.fail_after(PATIENCE_S):
            while not is_so():  # noqa: ASYNC110 - nothing tells of it
                await trio.sleep(0.01)


Serve = Any
"""`serve(folder, limits=…)`, as `_serve` below."""


@asynccontextmanager
async def _serve(
    folder: Path,
    *,
    limits: Limits | None = None,
    deadlines: Deadlines | None = None,
    per_minute: float = 6_000,
    proxies: tuple[Network, ...] = (),
) -> AsyncIterator[RunningService]:
    pace, folders = Pace(), [folder]
    chosen = limits or Limits(tokens=24, prompt_tokens=32)
    host = ModelHost(lambda place: nullcontext(PacedModel(place, pace)), seed_chance, chosen)
    service = ChatService(host, VisitorPage(), "https://ledger.example/", WritingStyle, per_minute)
    server = HttpServer(service.handle, refuse_request, proxies=proxies, deadlines=deadlines)
    async with trio.open_nursery() as nursery:
        listeners = await connections.listen("127.0.0.1", 0)
        await host.begin(lambda: folders[-1])
        nursery.start_soon(host.follow, lambda: folders[-1], 0.05)
        nursery.start_soon(host.run)
        nursery.start_soon(server.serve, listeners)
        url = f"http://127.0.0.1:{listeners[0].socket.getsockname()[1]}"
        async with httpx.AsyncClient(base_url=url, timeout=PATIENCE_S) as client:
            running = RunningService(url, pace, host, folders, client)
            yield running
            for one in running.sockets:
                await one.aclose()
        nursery.cancel_scope.cancel()


@pytest.fixture
def serve() -> Serve:
    """Start the service for a model's folder."""
    return _serve


@pytest.fixture(scope="module")
def earlier(site: ServedLog, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The head before the last one, exported."""
    folder = tmp_path_factory.mktemp("earlier")
    store = played().store(folder / "store", ROUNDS - 1)
    options = export.ExportOptions(
        origin=WeightsOrigin(ledger=site.url, stores=[store]),
        run=NAME,
        target=folder / "out",
    )
    export.export_head(replace(options, round=ROUNDS - 1), NoProgress())
    return folder / "out"
