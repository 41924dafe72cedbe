"""Webhooks over real HTTP: what is posted, to whom, how often, and where it continues."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import hmac
import json
import threading
import time
from contextlib import asynccontextmanager, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

import msgspec
import pytest
from structlog.testing import capture_logs

from tequio_ledger.webhooks import (
    ATTEMPTS,
    NewsMessage,
    Webhook,
    Webhooks,
    WebhookSettings,
    as_discord,
    as_json,
    as_matrix,
    read_settings,
)
from tequio_shared.errors import UserFacingError
from tests.support.ledgers import VirtualClock, make_settings, opened, running
from tests.support.sample_ledger import SampleLedger

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator
    from pathlib import Path

    from tequio_ledger.ledger import Ledger

PATIENCE_S = 60
ACCESS = "t"
TOLD = NewsMessage(
    network="test",
    network_id="N" * 43,
    event="run.opened",
    index=7,
    at=1_700_000_000_000,
    title="The run <b>@everyone</b> is open",
    text="Anyone may take part.",
    url="https://ledger.example/runs/x",
    proof="https://ledger.example/entries/7",
    run="R" * 43,
)


class Inbox:
    """Requests that arrived, and the statuses of the next answers; afterwards 204."""

    def __init__(self) -> None:
        self.requests: list[tuple[str, str, dict[str, str], bytes]] = []
        self.statuses: list[int] = []
        self.url = ""
        self.arrived = threading.Event()

    async def wait_for(self, count: int) -> None:
        async with asyncio.timeout(PATIENCE_S):
            while len(self.requests) < count:
                await asyncio.to_thread(self.arrived.wait, 0.2)
                self.arrived.clear()

    def bodies(self) -> list[Any]:
        return [json.loads(body) for *_, body in self.requests]


@contextmanager
def listening() -> Iterator[Inbox]:
    inbox = Inbox()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            headers = {name.lower(): value for name, value in self.headers.items()}
            status = inbox.statuses.pop(0) if inbox.statuses else 204
            inbox.requests.append((self.command, self.path, headers, body))
            self.send_response(status)
            self.send_header("location", inbox.url)
            self.send_header("content-length", "0")
            self.end_headers()
            inbox.arrived.set()

        def log_message(self, *_: object) -> None:
            """Stay silent."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    inbox.url = f"http://127.0.0.1:{server.server_address[1]}/hook"
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield inbox
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@asynccontextmanager
async def posting(ledger: Ledger, *hooks: Webhook) -> AsyncIterator[None]:
    """Post the news of a ledger, without pauses between attempts."""
    made = Webhooks(
        ledger=ledger,
        genesis=ledger.genesis,
        database=ledger.database,
        changed=ledger.sequencer.changed,
        settings=WebhookSettings(ledger="https://ledger.example", webhook=hooks),
        position=ledger.settings.folder / "webhooks.position",
        pause_s=0.0,
    )
    task = asyncio.create_task(made.run())
    await asyncio.to_thread(await_start, ledger)
    try:
        yield
    finally:
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task


def await_start(ledger: Ledger) -> None:
    """Wait until the webhooks know where they begin."""
    until_s = time.monotonic() + PATIENCE_S
    while not (ledger.settings.folder / "webhooks.position").exists():
        assert time.monotonic() < until_s
        time.sleep(0.01)


def hook(inbox: Inbox, **fields: object) -> Webhook:
    given = {"url": inbox.url, "secret": "s3cret", "allow-private": True, **fields}
    return msgspec.convert(given, Webhook)


def test_news_are_posted_signed_and_in_order_and_a_restart_continues(tmp_path: Path) -> None:
    clock = VirtualClock()

    async def run(ledger: Ledger, inbox: Inbox) -> None:
        async with running(ledger):
            shown = SampleLedger(ledger, clock)
            async with posting(ledger, hook(inbox)):
                await shown.open()
                await inbox.wait_for(1)
            workers = shown.peers[:6]
            await shown.play(workers)  # while nobody posts
            await shown.pass_ms(4_000)
            await shown.play(workers)
            await shown.publish(1)
            async with posting(ledger, hook(inbox)):
                await inbox.wait_for(2)

    with listening() as inbox, opened(make_settings(tmp_path), clock) as ledger:
        asyncio.run(run(ledger, inbox))
        opened_run, published = inbox.bodies()
        index = next(iter(ledger.state.opened.values()))
    assert (opened_run["event"], opened_run["index"]) == ("run.opened", index)
    assert opened_run["proof"] == f"https://ledger.example/entries/{index}"
    assert opened_run["url"] == f"https://ledger.example/runs/{opened_run['run']}"
    assert published["event"] == "head.published"
    assert published["index"] > index
    for method, path, headers, body in inbox.requests:
        assert (method, path) == ("POST", "/hook")
        expected = hmac.new(b"s3cret", body, hashlib.sha256).hexdigest()
        assert headers["x-tequio-signature"] == f"sha256={expected}"
        assert headers["host"] == inbox.url.split("/")[2]


@pytest.mark.parametrize(
    ("statuses", "requests"),
    [([503, 429], 3), ([500] * 9, ATTEMPTS), ([404], 1), ([302], 1)],
    ids=["recovers", "given-up", "refused", "redirected"],
)
def test_a_failure_is_tried_again_within_a_bound_and_stops_nobody_else(
    tmp_path: Path, statuses: list[int], requests: int
) -> None:
    clock = VirtualClock()

    async def run(ledger: Ledger, broken: Inbox, sound: Inbox) -> None:
        async with running(ledger), posting(ledger, hook(broken), hook(sound)):
            await SampleLedger(ledger, clock).open()
            await sound.wait_for(1)
            await broken.wait_for(requests)

    with (
        capture_logs() as lines,
        listening() as broken,
        listening() as sound,
        opened(make_settings(tmp_path), clock) as ledger,
    ):
        broken.statuses = statuses
        asyncio.run(run(ledger, broken, sound))
        assert len(broken.requests) == requests
        assert len({body for *_, body in broken.requests}) == 1
    dropped = [one for one in lines if one["event"] == "webhook dropped"]
    assert len(dropped) <= 1
    assert "s3cret" not in str(lines)
    assert "/hook" not in str(lines), "the path of an address may be a secret"


def test_an_address_that_is_not_public_is_refused_unless_it_is_allowed(tmp_path: Path) -> None:
    clock = VirtualClock()

    async def run(ledger: Ledger, inbox: Inbox, other: Inbox) -> None:
        port = inbox.url.split(":")[2]
        private = (
            hook(inbox, **{"allow-private": False}),
            hook(inbox, **{"allow-private": False, "url": f"http://localhost:{port}"}),
        )
        async with running(ledger), posting(ledger, *private, hook(other)):
            await SampleLedger(ledger, clock).open()
            await other.wait_for(1)

    with (
        capture_logs() as lines,
        listening() as inbox,
        listening() as other,
        opened(make_settings(tmp_path), clock) as ledger,
    ):
        asyncio.run(run(ledger, inbox, other))
        assert inbox.requests == []
    why = [one["why"] for one in lines if one["event"] == "webhook dropped"]
    assert len(why) == 2
    assert all("is not a public address: set allow-private" in one for one in why)


def test_the_settings_name_the_file_and_the_ledger_posts(tmp_path: Path) -> None:
    clock = VirtualClock()

    async def run(ledger: Ledger, inbox: Inbox) -> None:
        async with running(ledger):
            await asyncio.to_thread(await_start, ledger)
            await SampleLedger(ledger, clock).open()
            await inbox.wait_for(1)

    with listening() as inbox:
        file = written(
            tmp_path,
            f'ledger = "https://l.example"\n[[webhook]]\nurl = "{inbox.url}"\nsecret = "x"\n'
            "allow-private = true\n",
        )
        settings = make_settings(tmp_path / "ledger", webhooks=str(file))
        with opened(settings, clock) as ledger:
            asyncio.run(run(ledger, inbox))
        assert inbox.bodies()[0]["event"] == "run.opened"


def written(folder: Path, text: str, mode: int = 0o600) -> Path:
    file = folder / "webhooks.toml"
    file.write_text(text, "utf-8")
    file.chmod(mode)
    return file


GOOD = 'ledger = "https://l.example"\n[[webhook]]\nurl = "https://h.example/x"\n'


@pytest.mark.parametrize(
    ("text", "mode", "said"),
    [
        (GOOD + 'secret = "x"', 0o604, "chmod 600"),
        (GOOD, 0o600, "h.example needs a secret"),
        (GOOD + 'format = "matrix"\nsecret = "x"', 0o600, "`room`"),
        (GOOD + 'format = "smoke"', 0o600, "smoke"),
        (GOOD + 'colour = "red"', 0o600, "colour"),
        (GOOD.replace("https://h", "ftp://h"), 0o600, "url"),
        ('ledger = "https://l.example"', 0o600, "webhook"),
        ("ledger = ", 0o600, "not a valid file of webhooks"),
    ],
)
def test_a_file_that_cannot_work_is_refused_with_the_reason(
    tmp_path: Path, text: str, mode: int, said: str
) -> None:
    with pytest.raises(UserFacingError, match=said):
        read_settings(written(tmp_path, text, mode))


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(UserFacingError, match=r"missing\.toml"):
        read_settings(tmp_path / "missing.toml")


def test_discord_gets_a_message_that_mentions_nobody() -> None:
    made = as_discord(Webhook(url="https://discord.example/api/webhooks/1/x"), TOLD)
    body = json.loads(made.body)
    assert made.method == "POST"
    assert body["allowed_mentions"] == {"parse": []}
    assert TOLD.url in body["content"]
    long = msgspec.structs.replace(TOLD, text="x" * 5_000)
    assert (
        len(json.loads(as_discord(Webhook(url="https://d.example"), long).body)["content"]) == 2_000
    )


def test_matrix_gets_a_notice_under_a_name_of_its_own() -> None:
    hook = Webhook(url="https://m.example/", secret=ACCESS, room="!a/b:m.example")
    made = as_matrix(hook, TOLD)
    body = json.loads(made.body)
    rooms = "https://m.example/_matrix/client/v3/rooms/%21a%2Fb%3Am.example"
    assert (made.method, made.url) == ("PUT", f"{rooms}/send/m.room.message/{'N' * 43}-7")
    assert made.headers["authorization"] == f"Bearer {ACCESS}"
    assert body["msgtype"] == "m.notice"
    assert "<b>@everyone" not in body["formatted_body"]
    assert TOLD.title in body["body"]


def test_the_signature_depends_on_every_byte() -> None:
    one, other = (as_json(Webhook(url="https://h.example", secret=key), TOLD) for key in "ab")
    assert one.body == other.body
    assert one.headers["x-tequio-signature"] != other.headers["x-tequio-signature"]
