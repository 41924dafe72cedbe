"""The limits on requests: whose request it is behind a proxy, and how many one address has."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from ipaddress import ip_network
from typing import TYPE_CHECKING, Any

import pytest

from tequio_ledger.web.middleware import MAX_REQUESTS, MAX_TARGET_BYTES, RequestLimits, with_limits
from tests.support.attack_table import attack

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, MutableMapping

    from starlette.types import ASGIApp

    Fields = MutableMapping[str, Any]  # as ASGI has it
    Send = Callable[[Fields], Awaitable[None]]
    Said = list[Fields]

PROXIES = (ip_network("10.0.0.0/8"), ip_network("fd00::/8"))


class RecordingApp:
    """An application that records the askers, and answers once it may."""

    def __init__(self) -> None:
        self.hosts: list[str] = []
        self.may_answer = asyncio.Event()

    async def __call__(self, scope: Fields, _receive: object, send: Send) -> None:
        """Answer with 200 and nothing more."""
        self.hosts.append(scope["client"][0])
        await self.may_answer.wait()
        await send({"type": "http.response.start", "status": 200, "headers": []})


def scope(host: str, forwarded: str = "", path: str = "/") -> dict[str, Any]:
    headers = [(b"x-forwarded-for", forwarded.encode())] if forwarded else []
    client = (host, 1)
    return {
        "type": "http",
        "client": client,
        "headers": headers,
        "path": path,
        "query_string": b"",
    }


async def asked(app: ASGIApp, given: dict[str, Any]) -> Said:
    sent: Said = []

    async def send(message: Fields) -> None:
        sent.append(message)

    async def receive() -> Fields:
        return {"type": "http.request"}

    await app(given, receive, send)
    return sent


@pytest.mark.parametrize(
    ("host", "forwarded", "counts"),
    [
        ("192.0.2.1", "", "192.0.2.1"),
        ("192.0.2.1", "198.51.100.7", "192.0.2.1"),  # not a trusted proxy: its header is ignored
        ("10.1.2.3", "198.51.100.7", "198.51.100.7"),
        ("10.1.2.3", "203.0.113.5, 198.51.100.7", "198.51.100.7"),  # the first was only claimed
        ("10.1.2.3", "203.0.113.5, 198.51.100.7, 10.9.9.9", "198.51.100.7"),
        ("10.1.2.3", "10.4.4.4", "10.4.4.4"),
        ("10.1.2.3", "", "10.1.2.3"),
        ("fd00::1", "2001:db8::7", "2001:db8::7"),
        ("::ffff:10.1.2.3", "198.51.100.7", "198.51.100.7"),  # IPv4 on a listener of both kinds
        ("10.1.2.3", "198.51.100.7:51234", "198.51.100.7"),  # some proxies add the port
        ("10.1.2.3", "203.0.113.5, [2001:db8::7]:443, 10.9.9.9:80", "2001:db8::7"),
        ("10.1.2.3", "2001:db8::443", "2001:db8::443"),
        ("10.1.2.3", "garbage", "garbage"),  # counts with all that nobody can tell
    ],
)
def test_only_a_named_proxy_is_believed_about_who_asks(
    host: str, forwarded: str, counts: str
) -> None:
    async def scenario() -> None:
        app = RecordingApp()
        app.may_answer.set()
        await asked(with_limits(app, PROXIES, 64), scope(host, forwarded))
        assert app.hosts == [counts]

    asyncio.run(scenario())


def test_one_address_holds_so_many_requests_and_others_are_served() -> None:
    async def scenario() -> None:
        app = RecordingApp()
        door = with_limits(app, (), 8)
        async with asyncio.TaskGroup() as tasks:
            most = MAX_REQUESTS + 8
            held = [tasks.create_task(asked(door, scope("192.0.2.1"))) for _ in range(most)]
            await asyncio.sleep(0.1)
            refused = await asked(door, scope("192.0.2.250"))  # the same /24
            other = tasks.create_task(asked(door, scope("192.0.3.1")))
            await asyncio.sleep(0.1)
            app.may_answer.set()
        assert refused[0]["status"] == 429
        assert {one.result()[0]["status"] for one in (*held, other)} == {200}
        assert (await asked(door, scope("192.0.2.1")))[0]["status"] == 200

    asyncio.run(scenario())


def test_without_a_limit_on_streams_an_address_has_as_many_requests_as_it_likes() -> None:
    async def scenario() -> None:
        app = RecordingApp()
        door = with_limits(app, (), 0)
        async with asyncio.TaskGroup() as tasks:
            held = [
                tasks.create_task(asked(door, scope("192.0.2.1"))) for _ in range(MAX_REQUESTS + 1)
            ]
            await asyncio.sleep(0.1)
            app.may_answer.set()
        assert {one.result()[0]["status"] for one in held} == {200}

    asyncio.run(scenario())


@attack("D9", layer="net", ends="requests begin in turns of their networks")
def test_a_newcomer_does_not_wait_for_all_requests_that_others_sent_in_advance() -> None:
    async def scenario() -> None:
        app = RecordingApp()
        app.may_answer.set()
        door = with_limits(app, (), 64)
        async with asyncio.TaskGroup() as tasks:
            for number in range(400):
                tasks.create_task(asked(door, scope(f"192.0.{number % 24}.1")))
            await asyncio.sleep(0)
            tasks.create_task(asked(door, scope("198.51.100.1")))
        assert app.hosts.index("198.51.100.1") < 2 * 24

    asyncio.run(scenario())


def test_a_path_without_end_is_refused() -> None:
    app = RecordingApp()
    sent = asyncio.run(
        asked(with_limits(app, (), 64), scope("192.0.2.1", path="/" * (MAX_TARGET_BYTES + 1)))
    )
    assert sent[0]["status"] == 400
    assert app.hosts == []


def test_path_and_query_together_have_a_limit() -> None:
    def status(path: str, query: str) -> int:
        app = RecordingApp()
        app.may_answer.set()
        target = {**scope("192.0.2.1", path=path), "query_string": query.encode()}
        found: int = asyncio.run(asked(with_limits(app, (), 64), target))[0]["status"]
        return found

    half = MAX_TARGET_BYTES // 2
    assert status("/" * half, "x" * half) == 200
    assert status("/" * half, "x" * (half + 1)) == 400


def test_a_reader_that_accepts_nothing_is_given_up() -> None:
    async def stuck(_message: object) -> None:
        await asyncio.Event().wait()

    async def scenario() -> None:
        app = RecordingApp()
        app.may_answer.set()
        door = RequestLimits(app, 64, slow_reader_s=0.02)
        with suppress(TimeoutError):
            await asyncio.wait_for(door(scope("192.0.2.1"), stuck, stuck), 5)  # type: ignore[arg-type]  # takes nothing at all
        assert len(app.hosts) == 1

    asyncio.run(scenario())
