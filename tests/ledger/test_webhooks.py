"""Webhooks over real HTTP: what is posted, to whom, how often, and where it continues."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import hmac
import json
import threading
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

import msgspec
import pytest
from sqlalchemy import select
from structlog.testing import capture_logs

from tequio_ledger.log.sequencer import Logged
from tequio_ledger.replay import replay
from tequio_ledger.store.models import SENT_POSITION
from tequio_ledger.webhooks import (
    ATTEMPTS,
    NewsMessage,
    Webhook,
    Webhooks,
    WebhookSettings,
    as_discord,
    as_json,
    as_matrix,
)
from tequio_shared.served.answers import published_heads
from tequio_shared.statements.network import NetNotice
from tequio_shared.statements.runs import RunNotice
from tests.support.ledgers import VirtualClock, make_settings, opened, running, wait_until
from tests.support.sample_ledger import SampleLedger

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator
    from pathlib import Path

    from tequio_ledger.ledger import Ledger
    from tequio_ledger.log.guard import Published
    from tequio_shared.served.state import State

PATIENCE_S = 60
ACCESS = "t"
CUT_SHORT = "abc\u2026"
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


@dataclass(slots=True)
class LedgerProcess:
    """One process of a ledger as its webhooks see it."""

    ledger: Ledger
    leads: bool = True
    asked: int = 0
    """How often they asked whether it leads."""

    @property
    def is_leading(self) -> bool:
        self.asked += 1
        return self.leads

    @property
    def state(self) -> State:
        return self.ledger.state

    @property
    def published(self) -> Published:
        return self.ledger.published


@asynccontextmanager
async def posting(
    process: Ledger | LedgerProcess, *hooks: Webhook, pause_s: float = 0.0
) -> AsyncIterator[None]:
    """Post the news of a ledger, by default without pauses between attempts."""
    ledger = process.ledger if isinstance(process, LedgerProcess) else process
    made = Webhooks(
        ledger=process,
        genesis=ledger.genesis,
        database=ledger.database,
        changed=ledger.sequencer.changed,
        settings=WebhookSettings(ledger="https://ledger.example", webhook=hooks),
        pause_s=pause_s,
    )
    task = asyncio.create_task(made.run())
    if process.is_leading:
        await positions_pass(ledger, 0, len(hooks))
    try:
        yield
    finally:
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task


async def positions_pass(ledger: Ledger, index: int, count: int) -> None:
    """Wait until `count` webhooks know where they begin, and are done with an entry."""
    await wait_until(lambda: sum(position > index for _, position in stored(ledger)) >= count)


def stored(ledger: Ledger) -> list[tuple[bytes, int]]:
    with ledger.database.glance.connect() as connection:
        return [(row.place, row.position) for row in connection.execute(select(SENT_POSITION))]


def opening(ledger: Ledger) -> int:
    """Give the entry that opened the only run."""
    return next(iter(ledger.state.opened.values()))


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
                await positions_pass(ledger, opening(ledger), 1)
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


def test_an_announcement_to_the_network_is_posted_and_taking_it_back_is_not(
    tmp_path: Path,
) -> None:
    clock, told = VirtualClock(), "The ledger moves on Sunday."

    async def run(ledger: Ledger, inbox: Inbox) -> int:
        async with running(ledger):
            shown = SampleLedger(ledger, clock)
            await shown.open()
            async with posting(ledger, hook(inbox)):
                entries = [shown.organiser.sign(NetNotice(text=one), clock()) for one in (told, "")]
                first, _ = await ledger.sequencer.submit(entries)
                assert isinstance(first, Logged), first
                await shown.steer(RunNotice(about="run", text="Soon: maths."))
                await inbox.wait_for(2)
                return first.index

    with listening() as inbox, opened(make_settings(tmp_path), clock) as ledger:
        index = asyncio.run(run(ledger, inbox))
        posted, of_run = inbox.bodies()
    assert (posted["event"], of_run["event"]) == ("network.announced", "run.announced")
    assert (posted["index"], posted["text"], posted["run"]) == (index, told, None)
    assert posted["title"] == f"Organisers of the network {posted['network']} announce"
    assert posted["url"] == "https://ledger.example/"
    assert posted["proof"] == f"https://ledger.example/entries/{index}"


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
            await positions_pass(ledger, opening(ledger), 2)
            assert len(sound.requests) == 1

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


def test_a_dead_webhook_holds_back_no_other_one_and_continues_where_it_was(tmp_path: Path) -> None:
    clock = VirtualClock()

    async def run(ledger: Ledger, dead: Inbox, sound: Inbox) -> None:
        async with running(ledger):
            shown, hooks = SampleLedger(ledger, clock), (hook(dead), hook(sound))
            async with posting(ledger, *hooks, pause_s=10 * PATIENCE_S):
                await shown.open()
                await dead.wait_for(1)
                await play_rounds(shown, 3)
                await shown.publish(1)
                await shown.publish(2)
                last = ledger.published.size - 1
                await positions_pass(ledger, last, 1)
                assert (len(sound.requests), len(dead.requests)) == (3, 1)
            async with posting(ledger, *hooks):
                await positions_pass(ledger, last, 2)

    with listening() as dead, listening() as sound, opened(make_settings(tmp_path), clock) as one:
        dead.statuses = [503]
        asyncio.run(run(one, dead, sound))
        events = ["run.opened", "head.published", "head.published"]
        assert [body["event"] for body in sound.bodies()] == events
        assert dead.bodies()[1:] == sound.bodies()


@pytest.mark.usefixtures("either_database")
def test_when_another_process_writes_the_log_no_news_is_lost_or_repeated(tmp_path: Path) -> None:
    clock = VirtualClock()

    async def run(ledger: Ledger, inbox: Inbox) -> None:
        first, second = LedgerProcess(ledger), LedgerProcess(ledger, leads=False)
        async with running(ledger), posting(first, hook(inbox)), posting(second, hook(inbox)):
            shown = SampleLedger(ledger, clock)
            await shown.open()
            await positions_pass(ledger, opening(ledger), 1)
            await play_rounds(shown, 3)
            for number, writer in enumerate((second, first), 1):
                first.leads = second.leads = False
                await shown.publish(number)  # while nobody posts
                index = ledger.published.size - 1
                writer.leads = True
                await shown.pass_ms(1)
                await positions_pass(ledger, index, 1)

    with listening() as inbox, opened(make_settings(tmp_path), clock) as ledger:
        asyncio.run(run(ledger, inbox))
        indices = [body["index"] for body in inbox.bodies()]
        run_id = next(iter(ledger.state.opened))
        heads = published_heads(ledger.state.run(run_id))
        assert len(heads) == 2
        assert indices == sorted([opening(ledger), *(one.index for one in heads)])


def test_a_process_that_no_longer_writes_the_log_leaves_its_item_to_the_next_one(
    tmp_path: Path,
) -> None:
    clock = VirtualClock()

    async def run(ledger: Ledger, inbox: Inbox) -> None:
        first, second = LedgerProcess(ledger), LedgerProcess(ledger, leads=False)
        async with running(ledger), posting(first, hook(inbox), pause_s=0.5):
            await SampleLedger(ledger, clock).open()
            await inbox.wait_for(1)
            first.leads, second.leads = False, True
            asked = first.asked
            async with posting(second, hook(inbox)):
                await positions_pass(ledger, opening(ledger), 1)
            await wait_until(lambda: first.asked > asked)  # its pause is over

    with listening() as inbox, opened(make_settings(tmp_path), clock) as ledger:
        inbox.statuses = [503]
        asyncio.run(run(ledger, inbox))
        assert len(inbox.requests) == 2


async def play_rounds(shown: SampleLedger, count: int) -> None:
    """Play rounds, the head of the last one of which is not attested yet."""
    for _ in range(count):
        await shown.play(shown.peers[:6])
        await shown.pass_ms(4_000)


def test_replay_keeps_how_far_the_news_are_posted(tmp_path: Path) -> None:
    clock = VirtualClock()

    async def run(ledger: Ledger, inbox: Inbox) -> None:
        async with running(ledger), posting(ledger, hook(inbox)):
            await SampleLedger(ledger, clock).open()
            await positions_pass(ledger, opening(ledger), 1)

    settings = make_settings(tmp_path)
    with listening() as inbox, opened(settings, clock) as ledger:
        asyncio.run(run(ledger, inbox))
        before = stored(ledger)
    replay(settings)
    with opened(settings, clock) as ledger:
        assert len(before) == 1
        assert stored(ledger) == before
        assert ledger.database.damaged == {}


def test_a_webhook_that_cannot_work_is_dropped_and_ends_nothing(tmp_path: Path) -> None:
    clock = VirtualClock()

    async def run(ledger: Ledger, inbox: Inbox) -> None:
        urls = ("https://[::1", "https://h:80a/", "https://bot..example.org")
        wrong = [hook(inbox, url=url) for url in urls]
        wrong.append(hook(inbox, format="matrix", room="!a:b", secret=CUT_SHORT))
        async with running(ledger), posting(ledger, *wrong, hook(inbox)):
            await SampleLedger(ledger, clock).open()
            await positions_pass(ledger, opening(ledger), len(wrong) + 1)

    with (
        capture_logs() as lines,
        listening() as inbox,
        opened(make_settings(tmp_path), clock) as ledger,
    ):
        asyncio.run(run(ledger, inbox))
        assert len(inbox.requests) == 1
    assert len([one for one in lines if one["event"] == "webhook dropped"]) == 4


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
            await positions_pass(ledger, opening(ledger), 3)
            assert len(other.requests) == 1

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
            await positions_pass(ledger, 0, 1)
            await SampleLedger(ledger, clock).open()
            await inbox.wait_for(1)

    with listening() as inbox:
        file = tmp_path / "webhooks.toml"
        file.write_text(
            f'ledger = "https://l.example"\n[[webhook]]\nurl = "{inbox.url}"\nsecret = "x"\n'
            "allow-private = true\n"
        )
        file.chmod(0o600)
        settings = make_settings(tmp_path / "ledger", webhooks=str(file))
        with opened(settings, clock) as ledger:
            asyncio.run(run(ledger, inbox))
        assert inbox.bodies()[0]["event"] == "run.opened"


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
