"""Statements leave in order, each once, whatever is lost, refused or killed on the way."""

from __future__ import annotations

import contextlib
import subprocess
import sys
import threading
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, TypeAlias

import pytest
import trio
import trio.lowlevel
import trio.testing
from structlog.testing import CapturingLogger

from tequio_client.clock import BackOff
from tequio_client.ledger.api import LedgerApi
from tequio_client.ledger.http import (
    ApiLimits,
    LedgerRefusedError,
    LedgerUnavailableError,
    LogForkedError,
    UnansweredError,
)
from tequio_client.worker.ledger import outbox as module
from tequio_client.worker.ledger import teams
from tequio_client.worker.ledger.outbox import SUBMIT_S, Outbox, work_for_registration
from tequio_client.worker.ledger.outbox_db import NUMBER_GAP, OutboxDb
from tequio_shared.errors import RefusedError, UserFacingError
from tequio_shared.ids import ZERO_DIGEST, Digest, NetworkId, PeerKey, RunId, sha256, to_text
from tequio_shared.keys import Signer
from tequio_shared.limits import JSON_INTEGER
from tequio_shared.statements.competitions import EvalCommit
from tequio_shared.statements.network import (
    MemberLeave,
    MemberReady,
    MemberTeam,
    find_nonce,
    has_work,
)
from tequio_shared.statements.runs import RunPause, WitnessProof, WorkCommit
from tequio_shared.statements.statement import Body, Entry
from tests.support.authors import WORK_BITS
from tests.support.commitments import commitment_of_bytes
from tests.support.memory_log import NET, NOW_MS, MemoryLog, Reply, serving, unused_url

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable

    from trio.testing import MockClock


ME = Signer(bytes([1]) * 32)
RUN = RunId(bytes([5]) * 32)
BRISK = ApiLimits(call_s=0.5)
EndOnce: TypeAlias = "Callable[[Callable[[], bool]], Awaitable[None]]"


@dataclass
class MillisecondsClock:
    """Milliseconds since 1970, moved by the test."""

    now: int = NOW_MS

    def __call__(self) -> int:
        """Tell the time."""
        return self.now


@dataclass
class OutboxFolder:
    """One worker's folder, opened as often as the test likes."""

    folder: Path
    clock: MillisecondsClock = field(default_factory=MillisecondsClock)

    @asynccontextmanager
    async def open(self, url: str) -> AsyncIterator[Outbox]:
        """The outbox on this folder, speaking to the ledger at `url`."""
        with trio.fail_after(15):
            async with (
                LedgerApi(url, limits=BRISK) as ledger,
                Outbox(
                    ledger,
                    self.folder,
                    ME,
                    clock=self.clock,
                    back_off=BackOff(Random(1), longest_s=0.1, first_s=0.02),
                ) as outbox,
            ):
                await outbox.open(NET, WORK_BITS)
                yield outbox


@pytest.fixture
def desk(tmp_path: Path) -> OutboxFolder:
    return OutboxFolder(tmp_path)


def honest(_method: str, _path: str, reply: Reply) -> Reply:
    """Answer as it is."""
    return reply


def lose_answers(_method: str, _path: str, _reply: Reply) -> Reply:
    """Do what is asked, then break the connection off."""
    return Reply(end="cut")


def ours(log: MemoryLog) -> list[Entry]:
    """Our entries in the log, checked to be one chain."""
    entries = [
        entry for leaf in log.leaves if (entry := Entry.parse(leaf)).statement.author == ME.key
    ]
    last, seq = ZERO_DIGEST, 0
    for entry in entries:
        entry.verify(NET)
        assert entry.statement.prev == last
        assert entry.statement.seq > seq
        last, seq = entry.statement.digest, entry.statement.seq
    return entries


def words(log: MemoryLog) -> list[int]:
    """Reasons of our member.leave statements, which number the statements in these tests."""
    bodies = [entry.statement.body for entry in ours(log)]
    return [body.reason for body in bodies if isinstance(body, MemberLeave)]


async def send_leave(outbox: Outbox, word: int) -> Entry:
    return await outbox.submit(MemberLeave(reason=word), RUN)


async def until(is_so: Callable[[], bool]) -> None:
    while not is_so():  # noqa: ASYNC110 - the outbox works elsewhere
        await trio.sleep(0.01)


async def give_up_once(
    is_so: Callable[[], bool], submit: Callable[..., Awaitable[Entry]], *about: object
) -> None:
    """Submit a statement, and wait for its entry no longer once the condition holds."""
    async with trio.open_nursery() as nursery:
        nursery.start_soon(submit, *about)
        await until(is_so)
        nursery.cancel_scope.cancel()


def put_off(outbox: Outbox, code: str) -> Callable[[], bool]:
    """Check that the ledger could not accept what was sent, and said so."""
    return lambda: outbox.problem.startswith(code)


@pytest.fixture
def queued(monkeypatch: pytest.MonkeyPatch) -> list[Body]:
    """Each body that was put in a queue, as often as it was."""
    add, bodies = OutboxDb.add, list[Body]()

    def noted(db: OutboxDb, body: Body, run: RunId | None, round_: int | None) -> int:
        ticket = add(db, body, run, round_)
        bodies.append(body)
        return ticket

    monkeypatch.setattr(OutboxDb, "add", noted)
    return bodies


@pytest.mark.trio
async def test_the_first_word_registers_the_key(desk: OutboxFolder) -> None:
    async with serving(MemoryLog.founded()) as server, desk.open(server.url) as outbox:
        entry = await send_leave(outbox, 1)
        assert [one.statement.type for one in ours(server.log)] == ["key.register", "member.leave"]
        assert entry.statement.seq == 2
        assert entry.leaf() == server.log.leaves[-1]


@pytest.mark.trio
async def test_many_speakers_share_one_chain_in_their_order(desk: OutboxFolder) -> None:
    async with serving(MemoryLog.founded()) as server, desk.open(server.url) as outbox:
        async with trio.open_nursery() as nursery:
            for word in range(50):
                nursery.start_soon(send_leave, outbox, word)
                await trio.lowlevel.checkpoint()
        assert sorted(words(server.log)) == list(range(50))
        assert sum("POST" in request for request in server.requests) < 50


@pytest.mark.trio
async def test_the_chain_goes_on_after_a_restart(desk: OutboxFolder) -> None:
    async with serving(MemoryLog.founded()) as server:
        for word in range(3):
            async with desk.open(server.url) as outbox:
                await send_leave(outbox, word)
        assert words(server.log) == [0, 1, 2]


@pytest.mark.trio
async def test_what_was_said_while_the_ledger_was_away_goes_out_later(desk: OutboxFolder) -> None:
    async with desk.open(unused_url()) as outbox:
        await give_up_once(lambda: outbox.unlogged == 1, send_leave, outbox, 1)
        await give_up_once(lambda: outbox.unlogged == 2, send_leave, outbox, 2)
    desk.clock.now += 3_600_000  # long past any exp
    async with serving(MemoryLog.founded()) as server, desk.open(server.url) as outbox:
        assert outbox.unlogged == 2
        await send_leave(outbox, 3)
        assert outbox.unlogged == 0
        assert words(server.log) == [1, 2, 3]
        assert all(one.statement.ts == desk.clock.now for one in ours(server.log))


@pytest.mark.trio
async def test_saying_again_what_still_waits_joins_it(
    desk: OutboxFolder, queued: list[Body]
) -> None:
    async with desk.open(unused_url()) as outbox:
        for _ in range(3):
            queued.clear()
            await give_up_once(lambda: bool(queued), send_leave, outbox, 1)
    async with serving(MemoryLog.founded()) as server, desk.open(server.url) as outbox:
        await send_leave(outbox, 1)
        assert words(server.log) == [1]


@pytest.mark.parametrize("later_ms", [0, 600_000, 3_600_000])
@pytest.mark.trio
async def test_an_answer_that_was_lost_does_not_make_it_twice(
    desk: OutboxFolder, later_ms: int
) -> None:
    async with serving(MemoryLog.founded()) as server:
        async with desk.open(server.url) as outbox:
            await send_leave(outbox, 1)
            server.tamper = lose_answers
            server.requests.clear()
            # Sent, and asked about as no answer came.
            await give_up_once(lambda: len(server.requests) > 1, send_leave, outbox, 2)
            assert words(server.log) == [1, 2]
        server.tamper = honest
        desk.clock.now += later_ms
        async with desk.open(server.url) as outbox:
            entry = await send_leave(outbox, 2)
            assert entry.leaf() == server.log.leaves[-1]
            await send_leave(outbox, 3)
        assert words(server.log) == [1, 2, 3]


@pytest.mark.trio
async def test_a_refusal_reaches_the_speaker_and_costs_only_its_number(desk: OutboxFolder) -> None:
    async with serving(MemoryLog.founded()) as server, desk.open(server.url) as outbox:
        await send_leave(outbox, 1)
        server.log.refusals["member.ready"] = "wrong-head"
        text = to_text(bytes(32))
        body = MemberReady(head=text, roles=("trainer",))
        errors: list[str] = []

        async def get_ready() -> None:
            with pytest.raises(LedgerRefusedError) as refusal:
                await outbox.submit(body, RUN)
            errors.append(refusal.value.code)

        async with trio.open_nursery() as nursery:
            nursery.start_soon(get_ready)
            await trio.lowlevel.checkpoint()
            nursery.start_soon(send_leave, outbox, 2)
        assert errors == ["wrong-head"]
        assert words(server.log) == [1, 2]
        assert ours(server.log)[-1].statement.seq > 3


@pytest.mark.trio
async def test_a_clock_that_the_ledger_refuses_is_known_until_a_statement_is_logged(
    desk: OutboxFolder,
) -> None:
    async with serving(MemoryLog.founded()) as server, desk.open(server.url) as outbox:
        server.log.refusals["member.leave"] = "clock-skew"
        with pytest.raises(LedgerRefusedError):
            await send_leave(outbox, 1)
        assert outbox.is_clock_refused
        server.log.refusals.clear()
        await send_leave(outbox, 2)
        assert not outbox.is_clock_refused


@pytest.mark.trio
async def test_what_can_never_be_signed_is_refused_at_once(desk: OutboxFolder) -> None:
    async with desk.open(unused_url()) as outbox:
        with pytest.raises(RefusedError, match="wrong run or round field"):
            await outbox.submit(MemberLeave(reason=1))


@pytest.mark.trio
async def test_a_busy_ledger_is_asked_again(desk: OutboxFolder) -> None:
    async with serving(MemoryLog.founded()) as server, desk.open(server.url) as outbox:
        server.log.refusals["member.leave"] = "queue-full"
        async with trio.open_nursery() as nursery:
            nursery.start_soon(send_leave, outbox, 1)
            await until(put_off(outbox, "queue-full"))
            server.log.refusals.clear()
        assert words(server.log) == [1]


@pytest.mark.trio
async def test_answers_that_make_no_sense_are_no_answer(desk: OutboxFolder) -> None:
    async with serving(MemoryLog.founded()) as server, desk.open(server.url) as outbox:
        server.tamper = lambda _method, _path, reply: replace(reply, body=b"<html>")
        await give_up_once(lambda: len(server.requests) > 1, send_leave, outbox, 1)
        server.tamper = honest
        await send_leave(outbox, 1)
        assert words(server.log) == [1]


@pytest.mark.trio
async def test_a_page_of_a_proxy_does_not_say_that_the_ledger_lost_statements(
    desk: OutboxFolder,
) -> None:
    async with serving(MemoryLog.founded()) as server, desk.open(server.url) as outbox:
        await send_leave(outbox, 1)
        server.tamper = lambda *_: Reply(status=404, body=b"404 page not found\n")
        server.requests.clear()
        # Sent, then asked about, and asked about again after the page.
        await give_up_once(lambda: len(server.requests) > 2, send_leave, outbox, 2)
        server.tamper = honest
        await send_leave(outbox, 3)
        assert words(server.log) == [1, 2, 3]


@pytest.mark.trio
async def test_a_folder_from_a_backup_goes_on_where_the_log_is(desk: OutboxFolder) -> None:
    async with serving(MemoryLog.founded()) as server:
        async with desk.open(server.url) as outbox:
            await send_leave(outbox, 1)
        backup = (desk.folder / "outbox.sqlite").read_bytes()
        async with desk.open(server.url) as outbox:
            await send_leave(outbox, 2)
        (desk.folder / "outbox.sqlite").write_bytes(backup)
        async with desk.open(server.url) as outbox:
            await send_leave(outbox, 3)
        assert words(server.log) == [1, 2, 3]


@pytest.mark.trio
async def test_a_ledger_that_lost_what_it_acknowledged_is_a_fork(desk: OutboxFolder) -> None:
    async with serving(MemoryLog.founded()) as server:
        async with desk.open(server.url) as outbox:
            await send_leave(outbox, 1)
            before = server.log.copy()
            await send_leave(outbox, 2)
        server.log = before
        async with desk.open(server.url) as outbox:
            with pytest.raises(LogForkedError):
                await send_leave(outbox, 3)


@pytest.mark.trio
async def test_a_pending_organisers_word_needs_no_registration(tmp_path: Path) -> None:
    log = MemoryLog.founded()
    log.chains[ME.key] = (0, ZERO_DIGEST)  # a key that the genesis names
    async with serving(log) as server, OutboxFolder(tmp_path).open(server.url) as outbox:
        entry = await outbox.submit(RunPause(reason=1), RUN)
        assert entry.statement.seq == 1


@pytest.mark.trio
async def test_a_ledger_that_claims_all_numbers_leaves_us_ours(desk: OutboxFolder) -> None:
    liar = MemoryLog.founded()
    liar.chains[ME.key] = (JSON_INTEGER, Digest(bytes([9]) * 32))
    async with serving(liar) as server, desk.open(server.url) as outbox:
        with pytest.raises(UserFacingError, match="no key says that much"):
            await send_leave(outbox, 1)
    async with serving(MemoryLog.founded()) as server, desk.open(server.url) as outbox:
        assert (await send_leave(outbox, 2)).statement.seq < 10
        assert words(server.log) == [1, 2]


def commitment(number: int) -> WorkCommit:
    """One that differs from every other."""
    return commitment_of_bytes(number.to_bytes(216, "big"))


@pytest.mark.trio
async def test_nothing_else_is_ever_said_of_a_round_that_something_was_said_of(
    desk: OutboxFolder,
) -> None:
    async with desk.open(unused_url()) as outbox:
        await give_up_once(lambda: outbox.unlogged == 1, outbox.submit, commitment(1), RUN, 7)
    async with serving(MemoryLog.founded()) as server, desk.open(server.url) as outbox:
        assert await outbox.submitted(WorkCommit, RUN, 7) == commitment(1)
        assert await outbox.submitted(WorkCommit, RUN, 6) is None
        assert await outbox.submitted(WitnessProof, RUN, 7) is None
        for round_, code in ((7, "already-said"), (6, "too-late")):
            with pytest.raises(RefusedError) as refusal:
                await outbox.submit(commitment(2), RUN, round_)
            assert refusal.value.code == code
        with contextlib.suppress(RefusedError):  # it may be done by now
            await outbox.submit(commitment(1), RUN, 7)
        await outbox.submit(commitment(2), RUN, 8)
        await outbox.submit(commitment(3), RunId(bytes([6]) * 32), 3)
        assert commitments(server.log) == [commitment(1), commitment(2), commitment(3)]


@pytest.mark.trio
async def test_a_refused_word_stays_the_only_one_of_its_round(desk: OutboxFolder) -> None:
    async with serving(MemoryLog.founded()) as server:
        server.log.refusals["work.commit"] = "too-late"
        async with desk.open(server.url) as outbox:
            with pytest.raises(LedgerRefusedError):
                await outbox.submit(commitment(1), RUN, 7)
        server.log.refusals.clear()
        async with desk.open(server.url) as outbox:
            for number in (1, 2):
                with pytest.raises(RefusedError) as refusal:
                    await outbox.submit(commitment(number), RUN, 7)
                assert refusal.value.code == "already-said"
            assert await outbox.submitted(WorkCommit, RUN, 7) == commitment(1)
        assert commitments(server.log) == []


@pytest.mark.trio
async def test_a_commitment_that_became_old_is_signed_anew_with_the_same_header(
    desk: OutboxFolder,
) -> None:
    async with serving(MemoryLog.founded()) as server:
        server.log.refusals["work.commit"] = "queue-full"
        async with desk.open(server.url) as outbox:
            is_full = put_off(outbox, "queue-full")
            await give_up_once(is_full, outbox.submit, commitment(1), RUN, 7)
        server.log.refusals.clear()
        desk.clock.now += 600_000
        async with desk.open(server.url) as outbox:
            await outbox.submit(MemberLeave(reason=1), RUN)
        (logged,) = (one for one in ours(server.log) if one.statement.round == 7)
        assert logged.statement.ts == desk.clock.now
        assert logged.statement.body == commitment(1)


def commitments(log: MemoryLog) -> list[WorkCommit]:
    bodies = [entry.statement.body for entry in ours(log)]
    return [body for body in bodies if isinstance(body, WorkCommit)]


@pytest.mark.trio
async def test_an_empty_file_goes_on_far_above_the_numbers_that_were_used(
    desk: OutboxFolder,
) -> None:
    async with serving(MemoryLog.founded()) as server:
        async with desk.open(server.url) as outbox:
            await send_leave(outbox, 1)
        (desk.folder / "outbox.sqlite").write_bytes(b"")
        async with desk.open(server.url) as outbox:
            entry = await send_leave(outbox, 2)
        assert entry.statement.seq > NUMBER_GAP
        assert words(server.log) == [1, 2]


# --- one outbox of a program, many callers


EVALUATION = EvalCommit(
    competition=to_text(sha256(b"c")), entrant="maize", commit=to_text(sha256(b"scores"))
)


def types(log: MemoryLog) -> list[str]:
    return [entry.statement.type for entry in ours(log)]


@pytest.mark.trio
async def test_documents_come_before_the_statement_and_after_the_registration(
    desk: OutboxFolder,
) -> None:
    async with serving(MemoryLog.founded()) as server, desk.open(server.url) as outbox:
        await outbox.submit(EVALUATION, documents=[b"a document"])
        assert types(server.log) == ["key.register", "eval.commit"]


@pytest.mark.trio
async def test_the_ledger_is_asked_for_its_network_when_nobody_names_it(tmp_path: Path) -> None:
    async with (
        serving(MemoryLog.founded()) as server,
        LedgerApi(server.url, limits=BRISK) as ledger,
        Outbox(ledger, tmp_path, ME) as outbox,
    ):
        with trio.fail_after(15):
            await send_leave(outbox, 1)
        assert words(server.log) == [1]


@pytest.mark.trio
async def test_callers_beside_each_other_go_on_in_one_chain(desk: OutboxFolder) -> None:
    async with serving(MemoryLog.founded()) as server, desk.open(server.url) as outbox:
        await send_leave(outbox, 1)
        await outbox.submit(EVALUATION)
        await send_leave(outbox, 2)
        assert types(server.log) == ["key.register", "member.leave", "eval.commit", "member.leave"]


@pytest.mark.trio
async def test_what_a_caller_gave_up_is_sent_when_the_ledger_is_back(desk: OutboxFolder) -> None:
    async with serving(MemoryLog.founded()) as server, desk.open(server.url) as outbox:
        server.log.refusals["key.register"] = "rate-limited"
        await give_up_once(put_off(outbox, "rate-limited"), outbox.submit, EVALUATION)
        server.log.refusals.clear()
        await send_leave(outbox, 1)
        assert types(server.log) == ["key.register", "eval.commit", "member.leave"]


@pytest.fixture
def end_once(monkeypatch: pytest.MonkeyPatch) -> EndOnce:
    """End the time of a team's statement once a condition holds."""
    limits, limit = list[trio.CancelScope](), trio.move_on_after

    def known_limit(seconds: float) -> trio.CancelScope:
        scope = limit(seconds)
        if seconds == SUBMIT_S:
            limits.append(scope)
        return scope

    async def end_once(is_so: Callable[[], bool]) -> None:
        await until(is_so)
        limits.pop().cancel()

    monkeypatch.setattr(trio, "move_on_after", known_limit)
    return end_once


@pytest.mark.trio
async def test_what_a_person_is_told_was_given_up_is_not_sent_later(
    desk: OutboxFolder, nursery: trio.Nursery, end_once: EndOnce
) -> None:
    async with desk.open(unused_url()) as outbox:
        nursery.start_soon(end_once, lambda: outbox.unlogged == 1)
        with pytest.raises(LedgerUnavailableError, match="the request is given up") as caught:
            await teams.submit(outbox, MemberTeam(team=1))
        assert not isinstance(caught.value, UnansweredError)
    async with serving(MemoryLog.founded()) as server, desk.open(server.url) as outbox:
        await send_leave(outbox, 1)
        assert types(server.log) == ["key.register", "member.leave"]


@pytest.mark.trio
async def test_what_was_sent_without_an_answer_is_said_to_be_open_and_sent_again(
    desk: OutboxFolder, nursery: trio.Nursery, end_once: EndOnce
) -> None:
    async with serving(MemoryLog.founded()) as server, desk.open(server.url) as outbox:
        await send_leave(outbox, 1)
        server.log.refusals["member.team"] = "read-only"
        said = r"read-only.* may still be accepted: .* worker, or the next command in it, sends"
        nursery.start_soon(end_once, put_off(outbox, "read-only"))
        with pytest.raises(UnansweredError, match=said):
            await teams.submit(outbox, MemberTeam(team=1))
        server.log.refusals.clear()
        await send_leave(outbox, 2)
        assert types(server.log)[2:] == ["member.team", "member.leave"]


@pytest.mark.trio
async def test_an_open_outbox_without_a_caller_asks_nothing(desk: OutboxFolder) -> None:
    async with desk.open(unused_url()) as outbox:
        await give_up_once(lambda: outbox.unlogged == 1, send_leave, outbox, 1)
    async with serving(MemoryLog.founded()) as server, desk.open(server.url):
        await trio.testing.wait_all_tasks_blocked(0.2)
        assert not server.requests


@pytest.mark.trio
async def test_waiting_statements_of_earlier_lives_are_sent_when_asked_for(
    desk: OutboxFolder,
) -> None:
    async with desk.open(unused_url()) as outbox:
        await give_up_once(lambda: outbox.unlogged == 1, send_leave, outbox, 1)
    async with (
        serving(MemoryLog.founded()) as server,
        desk.open(server.url) as outbox,
        trio.open_nursery() as nursery,
    ):
        nursery.start_soon(outbox.send_waiting)
        await until(lambda: bool(words(server.log)))
        nursery.cancel_scope.cancel()


@pytest.mark.trio
async def test_a_fork_reaches_every_caller_and_the_next_one_asks_again(desk: OutboxFolder) -> None:
    async with serving(MemoryLog.founded()) as server, desk.open(server.url) as outbox:
        await send_leave(outbox, 1)
        before, whole = server.log.copy(), server.log
        await send_leave(outbox, 2)
        server.log = before
        raised: list[BaseException] = []

        async def watch() -> None:
            with pytest.raises(LogForkedError) as fork:
                await outbox.send_waiting()
            raised.append(fork.value)

        async def submit(word: int) -> None:
            with pytest.raises(LogForkedError) as fork:
                await send_leave(outbox, word)
            raised.append(fork.value)

        async with trio.open_nursery() as nursery:
            nursery.start_soon(watch)
            await trio.testing.wait_all_tasks_blocked()
            nursery.start_soon(submit, 3)
        assert len(raised) == 2
        server.log = whole
        await send_leave(outbox, 4)
        assert words(server.log) == [1, 2, 3, 4]


@pytest.mark.trio
async def test_a_file_that_was_moved_away_is_replaced_without_a_restart(desk: OutboxFolder) -> None:
    path = desk.folder / "outbox.sqlite"
    async with serving(MemoryLog.founded()) as server, desk.open(server.url) as outbox:
        await send_leave(outbox, 1)
        path.write_bytes(b"not a database" * 1_000)
        with pytest.raises(UserFacingError, match="is damaged"):
            await send_leave(outbox, 2)
        path.rename(path.with_suffix(".old"))
        await send_leave(outbox, 3)
        assert words(server.log) == [1, 3]
        assert ours(server.log)[-1].statement.seq > NUMBER_GAP


@pytest.mark.trio
async def test_one_program_serves_one_network(desk: OutboxFolder) -> None:
    async with desk.open(unused_url()) as outbox:
        with pytest.raises(UserFacingError, match="another network"):
            await outbox.open(NetworkId(bytes(32)), WORK_BITS)


# --- killed


SPEAKER = """
import sys
from pathlib import Path
import trio
from tequio_client.ledger.api import LedgerApi
from tequio_client.worker.ledger.outbox import Outbox
from tequio_shared.statements.network import MemberLeave
from tests.support.memory_log import NET, NOW_MS
from tests.client.worker.ledger.test_outbox import ME, RUN

async def main():
    folder, url, first = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
    async with LedgerApi(url) as ledger, Outbox(
        ledger, folder, ME, clock=lambda: NOW_MS
    ) as outbox:
        await outbox.open(NET, 8)
        for word in range(first, 60_000):
            await outbox.submit(MemberLeave(reason=word), RUN)
            print("said", word, flush=True)

trio.run(main)
"""


@pytest.mark.trio
async def test_killed_at_any_moment_it_says_each_word_once(desk: OutboxFolder) -> None:
    """Acknowledged statements are logged, in order; those in flight are logged once or lost."""
    rng, acknowledged = Random(7), list[int]()
    async with serving(MemoryLog.founded()) as server:
        for life in range(4):
            acknowledged += await trio.to_thread.run_sync(
                _speak_and_kill, desk.folder, server.url, life * 10_000, 3, rng.random() * 0.02
            )
        async with desk.open(server.url) as outbox:
            await send_leave(outbox, 60_000)
        in_log = words(server.log)
    assert len(acknowledged) >= 12
    assert in_log == sorted(set(in_log))
    assert set(acknowledged) <= set(in_log)


def _speak_and_kill(folder: Path, url: str, first: int, count: int, after_s: float) -> list[int]:
    """Let a process speak, kill it a little after some words, and give those that were logged."""
    command = [sys.executable, "-c", SPEAKER, str(folder), url, str(first)]
    root = Path(__file__).parents[4]
    with subprocess.Popen(command, stdout=subprocess.PIPE, cwd=root) as process:
        assert process.stdout is not None
        words = (line.split()[1] for line in process.stdout if line.startswith(b"said "))
        acknowledged = [int(next(words)) for _ in range(count)]
        killer = threading.Timer(after_s, process.kill)
        killer.start()
        acknowledged += [int(word) for word in words]
        killer.join()
    return acknowledged


# --- registration

REGISTRATION_NET, KEY = NetworkId(bytes([1]) * 32), PeerKey(bytes([2]) * 32)


@pytest.mark.trio
async def test_the_work_is_done_over_several_strides() -> None:
    body = await work_for_registration(REGISTRATION_NET, KEY, 12, stride=500)
    assert body.nonce > 500
    assert has_work(REGISTRATION_NET, KEY, 12, body.nonce)


@pytest.mark.trio
async def test_long_work_is_logged_ever_more_seldom_and_can_be_given_up(
    monkeypatch: pytest.MonkeyPatch, mock_clock: MockClock
) -> None:
    def slowly(net: NetworkId, key: PeerKey, bits: int, first: int, count: int) -> int | None:
        mock_clock.jump(0.25)
        return find_nonce(net, key, bits, first, count)

    logged = CapturingLogger()  # a logger that is in use already is not caught by `capture_logs`
    monkeypatch.setattr(module, "log", logged)
    with trio.move_on_after(60) as scope:  # nobody will ever find that
        await work_for_registration(REGISTRATION_NET, KEY, 256, stride=10, find=slowly)
    assert scope.cancelled_caught
    assert {call.args for call in logged.calls} == {("working for our key to be admitted",)}
    assert [call.kwargs["tried"] for call in logged.calls] == [40, 80, 160, 320, 640, 1280]
