"""The typed calls: what is believed of a ledger, and what a hostile one can do to us."""

from __future__ import annotations

from contextlib import asynccontextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

import msgspec
import pytest
import trio

from tequio_client.ledger.api import LedgerApi
from tequio_client.ledger.http import (
    ApiLimits,
    LedgerRefusedError,
    LedgerUnavailableError,
    UnnamedRefusalError,
)
from tequio_shared.addresses import sign_addresses
from tequio_shared.api.answer import AsOf
from tequio_shared.api.runs import RunAnswer, RunsAnswer
from tequio_shared.errors import (
    MalformedError,
    PeerError,
    RefusedError,
    SignatureInvalidError,
    UserFacingError,
)
from tequio_shared.ids import peer_id_text, sha256, to_text
from tequio_shared.keys import Signer
from tequio_shared.log.notes import sign_checkpoint
from tests.support.answers import filled
from tests.support.memory_log import (
    NET,
    LogServer,
    MemoryLog,
    Reply,
    chain_of,
    genesis,
    problem,
    serving,
    unused_url,
)

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

ME = Signer(bytes([1]) * 32)
BRISK = ApiLimits(call_s=0.4, blob_s=0.4, idle_s=0.4)


@asynccontextmanager
async def joined(entries: int = 0) -> AsyncIterator[tuple[LogServer, LedgerApi]]:
    """A ledger with a log, and a client of it."""
    log = MemoryLog.founded()
    log.extend(chain_of(ME, entries))
    async with serving(log) as server, LedgerApi(server.url, limits=BRISK) as api:
        yield server, api


def answering(path: str, **changes: object) -> Callable[[str, str, Reply], Reply]:
    """Change the replies to one path."""

    def tamper(_method: str, asked: str, reply: Reply) -> Reply:
        return replace(reply, **changes) if asked.startswith(path) else reply  # type: ignore[arg-type]  # the test's own fields

    return tamper


@pytest.mark.trio
async def test_the_network_is_its_genesis() -> None:
    async with joined() as (_, api):
        network = await api.network()
        assert network.id == NET
        assert network.genesis == genesis()
        assert network.log_key.text() == genesis().log_key


@pytest.mark.parametrize("old", ["log.test/net1", to_text(NET)])
@pytest.mark.trio
async def test_a_network_answer_that_its_genesis_does_not_bear_out_is_refused(old: str) -> None:
    async with joined() as (server, api):

        def tamper(_method: str, _path: str, reply: Reply) -> Reply:
            lie = reply.body.replace(old.encode(), (old[:-1] + "A").encode(), 1)
            return replace(reply, body=lie)

        server.tamper = tamper
        with pytest.raises(PeerError):
            await api.network()


@pytest.mark.trio
async def test_statements_are_logged_once_and_known_after() -> None:
    async with joined() as (_, api):
        entries = chain_of(ME, 3)
        first = await api.post_entries(entries)
        assert [(item.status, item.index) for item in first] == [
            ("logged", 1),
            ("logged", 2),
            ("logged", 3),
        ]
        again = await api.post_entries(entries)
        assert [(item.status, item.index) for item in again] == [
            ("known", 1),
            ("known", 2),
            ("known", 3),
        ]
        refused = await api.post_entries([chain_of(ME, 3, salt=1)[2]])
        assert (refused[0].status, refused[0].code) == ("refused", "equivocation")
        account = await api.peer(ME.key)
        assert (account.last_seq, account.last) == (3, entries[2].statement.digest)


@pytest.mark.trio
async def test_an_answer_about_other_statements_is_refused() -> None:
    async with joined() as (server, api):
        server.tamper = answering("/v1/statements", body=b'{"items":[]}')
        with pytest.raises(PeerError, match="other statements"):
            await api.post_entries(chain_of(ME, 1))


@pytest.mark.trio
async def test_a_checkpoint_counts_only_under_the_genesis_key() -> None:
    async with joined(4) as (server, api):
        assert (await api.checkpoint()) == server.log.checkpoint()
        forged = sign_checkpoint(server.log.checkpoint(), ME)
        server.tamper = answering("/log/checkpoint", body=forged)
        with pytest.raises(SignatureInvalidError):
            await api.checkpoint()


@pytest.mark.trio
async def test_tiles_and_entries_come_as_the_log_has_them() -> None:
    async with joined(600) as (server, api):
        log = server.log
        assert await api.tile(0, 0) == log.hashes[:256]
        assert await api.tile(0, 2, 89) == log.hashes[512:]
        assert await api.entries(0, 1) == log.leaves[:1]
        assert await api.entries(250, 260) == log.leaves[250:260]
        assert await api.entries(345, 601) == log.leaves[345:]
        with pytest.raises(RefusedError, match="1 to 256"):
            await api.entries(0, 257)
        with pytest.raises(LedgerRefusedError) as refusal:
            await api.entries(601, 602)
        assert refusal.value.code == "not-found"


@pytest.mark.trio
async def test_a_full_tile_stands_in_for_a_partial_one_that_is_gone() -> None:
    async with joined(300) as (server, api):

        def tamper(_method: str, path: str, reply: Reply) -> Reply:
            return problem("not-found", "collected", 404) if ".p/" in path else reply

        server.tamper = tamper
        assert await api.entries(10, 12) == server.log.leaves[10:12]
        assert await api.tile(0, 0, 7) == server.log.hashes[:7]


@pytest.mark.trio
async def test_a_truncated_bundle_or_tile_is_malformed() -> None:
    async with joined(9) as (server, api):

        def shorten(_method: str, _path: str, reply: Reply) -> Reply:
            return replace(reply, body=reply.body[:-5])

        server.tamper = shorten
        with pytest.raises(MalformedError, match="ends inside"):
            await api.entries(0, 10)
        with pytest.raises(MalformedError, match="tile of"):
            await api.tile(0, 0, 10)


@pytest.mark.trio
async def test_a_blob_is_what_its_name_says_or_nothing() -> None:
    async with joined() as (server, api):
        content = b"content" * 1000
        digest = await api.put_blob(content, ME, 1_700_000_000_000)
        assert digest == sha256(content)
        assert await api.get_blob(digest) == content
        assert await api.get_blob(sha256(b"other")) is None
        server.tamper = answering("/v1/blobs", body=content[1:])
        with pytest.raises(PeerError, match="came with hash"):
            await api.get_blob(digest)


@pytest.mark.trio
async def test_seeds_whose_record_does_not_hold_are_left_out() -> None:
    async with joined() as (server, api):
        addr = f"/ip4/192.0.2.1/tcp/4001/p2p/{peer_id_text(ME.key)}"
        record = sign_addresses(ME, NET, [addr], 5)
        await api.put_seed(record)
        server.seeds.append(replace(record, ts=6).encode())
        server.seeds.append(b'{"no":"record"}')
        assert await api.seeds(NET) == (record,)


@pytest.mark.trio
async def test_an_answer_beyond_its_limit_is_cut_off() -> None:
    async with joined() as (server, api):
        server.tamper = answering("/v1/peers", body=bytes(64 << 20))
        with pytest.raises(MalformedError, match="more than"):
            await api.peer(ME.key)
        assert server.sent_bytes < 16 << 20


@pytest.mark.parametrize("end", ["hang", "cut"])
@pytest.mark.trio
async def test_an_answer_that_hangs_or_breaks_off_is_unavailable(end: str) -> None:
    async with joined() as (server, api):
        server.tamper = answering("/v1/network", end=end)
        with pytest.raises(LedgerUnavailableError), trio.fail_after(2):
            await api.network()


@pytest.mark.trio
async def test_refusals_carry_their_code_and_server_faults_their_pause() -> None:
    async with joined() as (server, api):
        with pytest.raises(LedgerRefusedError) as refusal:
            await api.peer(ME.key)
        assert refusal.value.code == "not-found"
        busy = replace(problem("queue-full", "busy", 503), headers={"retry-after": "7"})
        server.tamper = lambda *_: busy
        with pytest.raises(LedgerUnavailableError) as away:
            await api.peer(ME.key)
        assert away.value.retry_after_s == 7


def moved(location: str) -> Reply:
    return Reply(status=302, headers={"location": location})


NOT_A_LEDGERS = "this is not the answer of a ledger"


@pytest.mark.parametrize(
    ("page", "told"),
    [
        (moved("https://ledger.example/v1?token=x"), "moved to https://ledger.example"),
        (moved("/log-in?from=x"), "moved to http://127.0.0.1:"),
        (Reply(status=304), NOT_A_LEDGERS),
        (Reply(status=403, body=b"<html>no"), NOT_A_LEDGERS),
        (Reply(status=404, body=b"404 page not found\n"), NOT_A_LEDGERS),
        (Reply(status=404, body=b'{"type": "about:blank", "status": 404}'), NOT_A_LEDGERS),
        # a hotel's log-in page, in place of any other
        (Reply(body=b"<html>Room?", headers={"content-type": "Text/HTML; x"}), NOT_A_LEDGERS),
    ],
)
@pytest.mark.trio
async def test_a_page_of_a_proxy_is_no_answer_of_the_ledger(page: Reply, told: str) -> None:
    async with joined() as (server, api):
        server.tamper = lambda *_: page
        with pytest.raises(UnnamedRefusalError, match=told) as refusal:
            await api.find_peer(ME.key)
        assert "token" not in str(refusal.value)


HOSTILE = "no\n\x1b]52;c;aGFo\x07tequio: pay here \u202e" + 5_000 * "x"


@pytest.mark.parametrize("status", [404, 409, 503])
@pytest.mark.trio
async def test_what_a_ledger_says_is_short_on_one_line_and_steers_no_terminal(status: int) -> None:
    async with joined() as (server, api):
        server.tamper = lambda *_: problem("x\x1b[2J" + 5_000 * "y", HOSTILE, status)
        with pytest.raises((LedgerRefusedError, LedgerUnavailableError)) as refusal:
            await api.peer(ME.key)
        for said in (
            str(refusal.value),
            api.http.reach.problem,
            getattr(refusal.value, "code", ""),
        ):
            assert said.isprintable()
            assert len(said) < 700


@pytest.mark.trio
async def test_an_answer_that_is_no_http_is_told_in_short() -> None:
    """The library quotes what it cannot read: up to 100 kB of it."""

    async def babble(stream: trio.SocketStream) -> None:
        async with stream:
            await stream.receive_some(1_000)
            await stream.send_all(b"HTTP/1.1 200 OK\r\n" + 20_000 * b"\x1bx" + b"\r\n\r\n")

    async with trio.open_nursery() as nursery:
        (listener,) = await trio.open_tcp_listeners(0, host="127.0.0.1")
        nursery.start_soon(trio.serve_listeners, babble, [listener])
        _, port = listener.socket.getsockname()
        async with LedgerApi(f"http://127.0.0.1:{port}", limits=BRISK) as api:
            with pytest.raises(LedgerUnavailableError):
                await api.network()
            assert api.http.reach.problem.isprintable()
            assert len(api.http.reach.problem) < 700
        nursery.cancel_scope.cancel()


@pytest.mark.parametrize("field", ["name", "state"])
@pytest.mark.trio
async def test_words_of_a_run_that_are_not_plain_are_refused(field: str) -> None:
    row = filled(RunAnswer, run=to_text(NET), name="tiny", state="training")
    async with joined() as (server, api):
        said = filled(RunsAnswer, runs=(msgspec.structs.replace(row, **{field: "a\x1b[2Jb"}),))
        server.tamper = answering("/v1/runs", status=200, body=msgspec.json.encode(said))
        with pytest.raises(MalformedError, match=field):
            await api.runs()
        said = filled(RunsAnswer, runs=(row,))
        server.tamper = answering("/v1/runs", status=200, body=msgspec.json.encode(said))
        assert (await api.runs())[0].name == "tiny"


@pytest.mark.trio
async def test_an_encoding_that_was_not_asked_for_is_refused() -> None:
    async with joined() as (server, api):
        server.tamper = answering("/v1/network", headers={"content-encoding": "gzip"})
        with pytest.raises(MalformedError, match="encoded"):
            await api.network()


@pytest.mark.trio
async def test_nobody_there_is_unavailable() -> None:
    async with LedgerApi(unused_url()) as api:
        with pytest.raises(LedgerUnavailableError):
            await api.network()


@pytest.mark.parametrize("url", ["", "example.org", "ftp://example.org", "http://", "http://[::1"])
def test_what_is_no_address_is_said_plainly(url: str) -> None:
    with pytest.raises(UserFacingError, match="address of a ledger"):
        LedgerApi(url)


def test_a_password_in_the_address_is_refused_and_not_said() -> None:
    """The worker gets the address as an argument, which every user of the computer can read."""
    with pytest.raises(UserFacingError, match="contains a user name or password") as refusal:
        LedgerApi("https://me:secret@ledger.example")
    assert "secret" not in str(refusal.value)


@pytest.mark.trio
async def test_events_come_in_order_and_go_on_as_the_log_grows() -> None:
    async with joined(3) as (server, api), api.events(after=1) as events:
        assert [(await anext(events)).index for _ in range(2)] == [2, 3]
        server.log.extend(chain_of(Signer(bytes([2]) * 32), 1))
        event = await anext(events)
        assert (event.index, event.leaf) == (4, server.log.leaves[4])


@pytest.mark.trio
async def test_a_silent_or_cut_event_stream_is_unavailable() -> None:
    async with joined(1) as (server, api):
        async with api.events(after=1) as events:
            with pytest.raises(LedgerUnavailableError, match="in time"):
                await anext(events)
        server.cut_events_after = 1
        async with api.events() as events:
            await anext(events)
            with pytest.raises(LedgerUnavailableError, match="ended"):
                await anext(events)


RUN = to_text(sha256(b"a run"))


def round_that_ended(at: int) -> dict[str, object]:
    told = {"run": RUN, "round": 1, "roster_index": 1, "closed_index": at, "outcome": "void"}
    return {**told, "gflop": 0, "a_new_field": 1}


@pytest.mark.trio
async def test_a_page_of_rounds_goes_down_and_is_no_longer_than_asked() -> None:
    async with joined() as (server, api):

        def serve_rounds(*ends: int) -> None:
            rounds = [round_that_ended(at) for at in ends]
            body = msgspec.json.encode(
                {"rounds": rounds, "next": None, "as_of": AsOf(size=10, root=RUN)}
            )
            server.tamper = answering("/v1/peers", status=200, body=body)

        serve_rounds(9, 7, 2)
        page = await api.peer_rounds(ME.key, before=10, limit=3)
        assert [one.closed_index for one in page.rounds] == [9, 7, 2]
        assert server.requests[-1] == f"GET /v1/peers/{to_text(ME.key)}/rounds?before=10&limit=3"
        for ends in ((7, 9), (7, 7), (10,), (9, 8, 7, 6), (-1,)):
            serve_rounds(*ends)
            with pytest.raises(PeerError):
                await api.peer_rounds(ME.key, before=10, limit=3)


@pytest.mark.trio
async def test_a_ranking_goes_down_from_place_to_place() -> None:
    async with joined() as (server, api):

        def serve_ranking(*rows: tuple[int, int]) -> None:
            told = [{"rank": rank, "key": RUN, "gflop": points} for rank, points in rows]
            as_of = AsOf(size=10, root=RUN)
            body = msgspec.json.encode({"rows": told, "next": None, "ranked": 9, "as_of": as_of})
            server.tamper = answering("/v1/ranking", status=200, body=body)

        serve_ranking((4, 9), (5, 9), (6, 1))
        found = await api.ranking_around(ME.key, 1)
        assert ([row.rank for row in found.rows], found.ranked) == ([4, 5, 6], 9)
        assert server.requests[-1] == f"GET /v1/ranking?around={to_text(ME.key)}&n=1"
        for rows in (((4, 1), (5, 9)), ((4, 9), (6, 9)), ((5, 9), (4, 9)), ((-1, 9),)):
            serve_ranking(*rows)
            with pytest.raises(PeerError):
                await api.ranking_around(ME.key, 1)
