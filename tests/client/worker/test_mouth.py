"""One mouth of one key: whoever speaks, and whoever comes and goes, there is one chain."""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import pytest
import trio
import trio.testing

from tequio_client.ledger.api import LedgerApi
from tequio_client.ledger.http import ApiLimits
from tequio_client.worker.ledger import outbox as ledger_outbox
from tequio_client.worker.ledger.outbox import Mouth
from tequio_shared.errors import RefusedError
from tequio_shared.ids import ZERO_DIGEST, RunId, sha256, to_text
from tequio_shared.keys import Signer
from tequio_shared.statements.competitions import EvalCommit
from tequio_shared.statements.network import MemberLeave
from tequio_shared.statements.statement import Entry
from tests.support.memory_log import MemoryLog, serving

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from tests.support.memory_log import LogServer

pytestmark = pytest.mark.trio

ME = Signer(bytes([1]) * 32)
RUN = RunId(bytes([5]) * 32)
WORD = EvalCommit(
    competition=to_text(sha256(b"c")), entrant="maize", commit=to_text(sha256(b"scores"))
)


@pytest.fixture(autouse=True)
def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ledger_outbox, "FIRST_S", 0.02)
    monkeypatch.setattr(ledger_outbox, "LONGEST_S", 0.1)


@asynccontextmanager
async def speaking(folder: Path) -> AsyncIterator[tuple[LogServer, LedgerApi, Mouth]]:
    with trio.fail_after(15):
        async with (
            serving(MemoryLog.founded()) as server,
            LedgerApi(server.url, limits=ApiLimits(call_s=0.5)) as ledger,
        ):
            yield server, ledger, Mouth(ledger, folder, ME)


def chain(server: LogServer) -> list[str]:
    """What we said, checked to be one chain."""
    entries = [Entry.parse(leaf) for leaf in server.log.leaves]
    ours = [entry.statement for entry in entries if entry.statement.author == ME.key]
    last = ZERO_DIGEST
    for statement in ours:
        assert statement.prev == last
        last = statement.digest
    return [statement.type for statement in ours]


BUSY = {"key.register": "rate-limited"}
"""Refusals of a ledger that takes nothing of ours for now."""


async def until_posted(server: LogServer) -> None:
    """Wait until somebody has tried to say something."""
    while not any(one.startswith("POST /v1/statements") for one in server.requests):
        await trio.testing.wait_all_tasks_blocked(0.02)


async def test_who_speaks_alone_opens_the_outbox_for_that_moment(tmp_path: Path) -> None:
    async with speaking(tmp_path) as (server, _, mouth):
        assert await mouth.say(WORD, [b"a document"])
        assert chain(server) == ["key.register", "eval.commit"]


async def test_who_speaks_beside_a_run_goes_on_in_its_chain(tmp_path: Path) -> None:
    async with speaking(tmp_path) as (server, ledger, mouth):
        async with mouth.held(await ledger.network()) as outbox:
            await outbox.say(MemberLeave(reason=1), RUN)
            await mouth.say(WORD)
            await outbox.say(MemberLeave(reason=2), RUN)
        assert chain(server) == ["key.register", "member.leave", "eval.commit", "member.leave"]


async def test_who_comes_to_hold_it_waits_for_nobody_and_what_was_said_goes_out(
    tmp_path: Path,
) -> None:
    async with speaking(tmp_path) as (server, ledger, mouth):
        network = await ledger.network()
        server.log.refusals.update(BUSY)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(mouth.say, WORD)
            await until_posted(server)
            with trio.fail_after(5):
                async with mouth.held(network) as outbox:
                    server.log.refusals.clear()
                    await outbox.say(MemberLeave(reason=1), RUN)
        assert chain(server) == ["key.register", "eval.commit", "member.leave"]


async def test_a_word_outlives_the_run_that_it_was_said_beside(tmp_path: Path) -> None:
    async with speaking(tmp_path) as (server, ledger, mouth):
        async with trio.open_nursery() as nursery:
            async with mouth.held(await ledger.network()):
                server.log.refusals.update(BUSY)
                nursery.start_soon(mouth.say, WORD)
                await until_posted(server)
            server.log.refusals.clear()
        assert chain(server) == ["key.register", "eval.commit"]


async def test_what_the_ledger_does_not_take_is_told_as_it_is(tmp_path: Path) -> None:
    async with speaking(tmp_path) as (server, _, mouth):
        server.log.refusals["eval.commit"] = "too-late"
        with pytest.raises(RefusedError, match=r"eval\.commit") as told:
            await mouth.say(WORD)
        assert told.value.code == "too-late"


async def test_what_is_in_the_log_already_is_said(tmp_path: Path) -> None:
    async with speaking(tmp_path) as (server, _, mouth):
        server.log.refusals["eval.commit"] = "already-said"
        assert not await mouth.say(WORD)
