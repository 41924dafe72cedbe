"""The evaluator child as the worker sees it: scripted children, and words that we say for them."""

from __future__ import annotations

import os
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import psutil
import pytest
import trio
import trio.testing
from msgspec.structs import replace

from tequio_client.ipc import evaluator as link
from tequio_client.worker.children.evaluator import (
    EvaluatorEnd,
    EvaluatorProcess,
    write_document,
)
from tequio_client.worker.children.process import ChildProgram
from tequio_shared import encoding
from tequio_shared.errors import RefusedError
from tequio_shared.ids import sha256, to_text
from tequio_shared.limits import BLOB_BYTES
from tequio_shared.statements.competitions import CompEnter, EvalCommit
from tests.support.scripted_child import scripted

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence
    from pathlib import Path

    from tequio_shared.statements.statement import Body

pytestmark = pytest.mark.trio

HERE, ELSEWHERE, KEY = (to_text(sha256(word)) for word in (b"here", b"elsewhere", b"key"))
PRELUDE = """
def say(tag, **fields):
    print(json.dumps({"type": tag, **fields}), flush=True)

def hear():
    return json.loads(sys.stdin.readline())

begin = hear()
alive = {"doing": "scoring", "documents": 1, "of_documents": 4}
"""
WORD = """
say("say", number=1, kind={kind!r}, body={body!r}, documents={documents!r})
answer = hear()
pathlib.Path(begin["folder"], "answer").write_text(json.dumps(answer))
say("done", is_over=True)
"""


@dataclass
class FakeOutbox:
    """An outbox that remembers what is submitted, refuses it, or waits for its ledger."""

    refusal: RefusedError | None = None
    is_slow: bool = False
    submitted: list[tuple[Body, Sequence[bytes]]] = field(default_factory=list)

    async def submit(self, body: Body, documents: Sequence[bytes]) -> None:
        """Remember it, or raise the refusal."""
        await trio.lowlevel.checkpoint()
        if self.is_slow:
            await trio.sleep_forever()
        if self.refusal is not None:
            raise self.refusal
        self.submitted.append((body, documents))


@dataclass
class EvaluatorRun:
    """An evaluator process whose child runs a script."""

    process: EvaluatorProcess
    outbox: FakeOutbox
    device: trio.Lock
    begin: link.BeginEvaluation
    fetched: list[int]

    async def live(self) -> EvaluatorEnd:
        """Have it live once."""
        with trio.fail_after(20):
            return await self.process.run_once(lambda: self.begin)

    async def until_alive(self) -> int:
        """Wait for its first sign of life; its process."""
        with trio.fail_after(20):
            while self.process.heartbeat is None:  # noqa: ASYNC110 - a test's patience
                await trio.sleep(0.02)
        return self.process.child.pid or 0


@asynccontextmanager
async def running_script(
    folder: Path, script: str, refusal: RefusedError | None = None, silence_s: float = 20.0
) -> AsyncIterator[EvaluatorRun]:
    outbox, device = FakeOutbox(refusal), trio.Lock()
    program = ChildProgram(
        command=scripted(folder, PRELUDE + script),
        environment=os.environ,
        line_bytes=link.LINE_BYTES,
        silence_s=silence_s,
        grace_s=0.2,
    )
    fetched: list[int] = []
    process = EvaluatorProcess(program, outbox.submit, fetched.append)
    process.child.device = device
    process.child.allow()
    limit = link.EvaluatorLimits(threads=1, share_percent=50)
    begin = link.BeginEvaluation(
        competition=HERE,
        key=KEY,
        ledger="http://ledger.example",
        folder=str(folder),
        device="cpu",
        memory_mb=0,
        limit=limit,
    )
    yield EvaluatorRun(process, outbox, device, begin, fetched)
    assert process.child.pid is None


def spoken(competition: str, documents: tuple[str, ...] = ()) -> str:
    body = EvalCommit(competition=competition, entrant="maize", commit=KEY)
    text = encoding.encode(body).decode()
    return WORD.format(kind=body.TYPE, body=text, documents=documents)


def answer(folder: Path) -> link.StatementResult:
    raw = (folder / "answer").read_bytes()
    found = link.decode_to_child(raw)
    assert isinstance(found, link.StatementResult)
    return found


async def test_a_word_is_said_with_its_documents_and_the_child_hears_of_it(tmp_path: Path) -> None:
    name = write_document(tmp_path, b"scores")
    async with running_script(tmp_path, spoken(HERE, (name,))) as run:
        assert await run.live() is EvaluatorEnd.OVER
        ((body, documents),) = run.outbox.submitted
        assert isinstance(body, EvalCommit)
        assert list(documents) == [b"scores"]
        assert answer(tmp_path) == link.StatementResult(number=1)


async def test_each_byte_that_children_fetch_is_counted_once(tmp_path: Path) -> None:
    script = """
for size in (0, 700, 700, 900):
    say("alive", **alive, fetched_bytes=size)
say("done", is_over=False)
"""
    async with running_script(tmp_path, script) as run:
        assert await run.live() is EvaluatorEnd.RESTING
        assert sum(run.fetched) == 900
        assert await run.live() is EvaluatorEnd.RESTING
        assert sum(run.fetched) == 1_800


async def test_a_child_hears_why_the_ledger_does_not_take_its_word(tmp_path: Path) -> None:
    refusal = RefusedError("too-late", "scores of maize are shown already")
    async with running_script(tmp_path, spoken(HERE), refusal) as run:
        assert await run.live() is EvaluatorEnd.OVER
        assert answer(tmp_path).code == "too-late"
        assert "shown already" in answer(tmp_path).why


async def test_a_document_that_is_not_there_is_not_said(tmp_path: Path) -> None:
    async with running_script(tmp_path, spoken(HERE, (KEY,))) as run:
        assert await run.live() is EvaluatorEnd.OVER
        assert not run.outbox.submitted
        assert answer(tmp_path).code == link.NOT_LOGGED


async def test_a_document_larger_than_a_blob_is_not_sent(tmp_path: Path) -> None:
    name = write_document(tmp_path, bytes(BLOB_BYTES + 1))
    async with running_script(tmp_path, spoken(HERE, (name,))) as run:
        assert await run.live() is EvaluatorEnd.OVER
        assert not run.outbox.submitted
        assert "was changed or is incomplete" in answer(tmp_path).why


async def test_a_statement_waits_for_the_answer_to_the_last_one(tmp_path: Path) -> None:
    body = encoding.encode(EvalCommit(competition=HERE, entrant="maize", commit=KEY)).decode()
    twice = f"""
for number in (1, 2):
    say("say", number=number, kind={EvalCommit.TYPE!r}, body={body!r}, documents=())
hear()
hear()
"""
    async with running_script(tmp_path, twice) as run:
        run.outbox.is_slow = True
        assert await run.live() is EvaluatorEnd.FAILED
        assert "before the answer" in run.process.why
        assert not run.outbox.submitted


@pytest.mark.parametrize(
    "script",
    [
        pytest.param(spoken(ELSEWHERE), id="another competition"),
        pytest.param(
            WORD.format(
                kind=CompEnter.TYPE,
                body=encoding.encode(CompEnter(competition=HERE, entrant="mine", side="")).decode(),
                documents=(),
            ),
            id="a word of entrants",
        ),
        pytest.param("print('?', flush=True); hear()", id="no message"),
        pytest.param("print('x' * 200_000, flush=True); hear()", id="an endless line"),
        pytest.param("sys.exit(3)", id="its end"),
    ],
)
async def test_a_child_that_misbehaves_is_ended_and_nothing_is_said_for_it(
    tmp_path: Path, script: str
) -> None:
    async with running_script(tmp_path, script) as run:
        assert await run.live() is EvaluatorEnd.FAILED
        assert run.process.why
        assert not run.outbox.submitted


async def test_a_child_that_is_silent_is_ended(tmp_path: Path) -> None:
    async with running_script(tmp_path, "hear()", silence_s=0.3) as run:
        assert await run.live() is EvaluatorEnd.FAILED
        assert "no sign of life" in run.process.why


async def test_what_is_forbidden_is_ended_whatever_it_does_about_it(tmp_path: Path) -> None:
    deaf = "signal.signal(signal.SIGTERM, signal.SIG_IGN)\nsay('alive', **alive)\ntime.sleep(600)"
    async with running_script(tmp_path, deaf) as run, trio.open_nursery() as nursery:
        ends: list[EvaluatorEnd] = []

        async def live() -> None:
            ends.append(await run.live())

        nursery.start_soon(live)
        pid = await run.until_alive()
        run.process.child.forbid()
        while not ends:  # noqa: ASYNC110 - until `live` ends
            await trio.sleep(0.02)
        assert ends == [EvaluatorEnd.DISMISSED]
        assert not psutil.pid_exists(pid)


async def test_no_child_begins_while_another_has_the_device(tmp_path: Path) -> None:
    async with running_script(tmp_path, "say('done', is_over=False)") as run:
        ends: list[EvaluatorEnd] = []

        async def live() -> None:
            ends.append(await run.live())

        async with trio.open_nursery() as nursery, run.device:
            nursery.start_soon(live)
            await trio.testing.wait_all_tasks_blocked(0.2)
            assert run.process.child.pid is None
        assert ends == [EvaluatorEnd.RESTING]


async def test_a_child_hears_of_new_limits_and_ends_for_another_device(tmp_path: Path) -> None:
    script = "say('alive', **alive)\nlimit = hear()\n" + (
        "pathlib.Path(begin['folder'], 'limit').write_text(json.dumps(limit))\n"
        "say('alive', doing='waiting')\ntime.sleep(600)"
    )
    async with running_script(tmp_path, script) as run, trio.open_nursery() as nursery:
        ends: list[EvaluatorEnd] = []

        async def live() -> None:
            ends.append(await run.live())

        nursery.start_soon(live)
        await run.until_alive()
        gentler = link.EvaluatorLimits(threads=2, share_percent=10)
        now = replace(run.begin, limit=gentler)
        run.process.send_limits(now)
        with trio.fail_after(20):
            while run.process.heartbeat is None or run.process.heartbeat.doing != "waiting":  # noqa: ASYNC110 - as above
                await trio.sleep(0.02)
        assert link.decode_to_child((tmp_path / "limit").read_bytes()) == gentler
        run.process.send_limits(replace(now, device="cuda:1"))
    assert ends == [EvaluatorEnd.DISMISSED]
