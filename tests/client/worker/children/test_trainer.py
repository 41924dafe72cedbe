"""The trainer child and the benchmark: scripted children of every kind, and once the real trainer.

A scripted child reads commands and prints what its script says; it needs no torch and starts at
once.
"""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import msgspec
import psutil
import pytest
import trio
import trio.testing

from tequio_client.ipc import trainer as link
from tequio_client.ipc.control import BenchmarkReply
from tequio_client.platform import programs
from tequio_client.worker.children.process import ChildProgram
from tequio_client.worker.children.trainer import (
    MAX_FAILURES,
    JudgeCrash,
    TrainerFailedError,
    TrainerProcess,
    benchmark_child,
    run_benchmark,
    trainer_environment,
    trainer_program,
)
from tequio_shared.errors import RefusedError
from tests.support.attack_table import attack
from tests.support.scripted_child import lives, scripted
from tests.support.timing_slack import allowed_s

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from trio.testing import MockClock

pytestmark = pytest.mark.trio

PRELUDE = """
def say(tag, **fields):
    print(json.dumps({"type": tag, **fields}), flush=True)

def rest(command):
    say("resting", command=command)

commands = (json.loads(line) for line in sys.stdin)
"""


@asynccontextmanager
async def running(
    folder: Path, script: str, silence_s: float = 20.0, judge_crash: JudgeCrash | None = None
) -> AsyncIterator[TrainerProcess]:
    program = ChildProgram(
        command=scripted(folder, PRELUDE + script),
        environment={"PATH": os.environ["PATH"]},
        line_bytes=link.LINE_BYTES,
        silence_s=silence_s,
        grace_s=0.2,
        first_pause_s=0.01,
    )
    trainer = TrainerProcess(program, judge_crash)
    with trio.fail_after(20):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(trainer.run)
            yield trainer
            nursery.cancel_scope.cancel()


async def rest(trainer: TrainerProcess) -> link.Resting:
    return await trainer.ask(lambda command: link.Rest(command=command), link.Resting)


def evaluate(number: int) -> link.Evaluate:
    return link.Evaluate(command=number, round=0, weights="w", shards=(link.Shard(0, "s"),))


def prepare(number: int) -> link.Prepare:
    return link.Prepare(command=number, manifest="m", config="c", data_manifest="d")


def is_gone(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    return False


async def test_a_command_is_answered(tmp_path: Path) -> None:
    async with running(tmp_path, "for command in commands: rest(command['command'])") as trainer:
        assert (await rest(trainer)).command == 1
        assert (await rest(trainer)).command == 2


async def test_a_child_that_dies_at_once_is_given_up_with_its_reason(tmp_path: Path) -> None:
    async with running(tmp_path, "sys.exit(7)") as trainer:
        with pytest.raises(TrainerFailedError, match="exit status 7"):
            await rest(trainer)
        with pytest.raises(TrainerFailedError, match="5 times"):
            await rest(trainer)
    assert lives(tmp_path) == MAX_FAILURES


async def test_a_trainer_that_lost_a_rank_of_its_cell_is_never_given_up(tmp_path: Path) -> None:
    script = """
for command in commands:
    if life > MOST: rest(command["command"])
    else:
        say("failed", command=command["command"], code="cell", reason="rank 1 ended", fatal=True)
        sys.exit(1)
""".replace("MOST", str(MAX_FAILURES))
    async with running(tmp_path, script) as trainer:
        for _ in range(MAX_FAILURES + 1):
            with pytest.raises(TrainerFailedError, match="rank 1 ended") as caught:
                await rest(trainer)
            assert caught.value.code == "cell"
            await gone(trainer)
        assert (await rest(trainer)).command
        assert trainer.failure is None
    assert lives(tmp_path) == MAX_FAILURES + 2


async def test_what_a_trainer_says_of_its_trouble_can_be_shown(tmp_path: Path) -> None:
    trouble = "say('failed', command=0, code='malformed', reason='no\\n\\x1b[2J' + 60_000 * 'x')"
    async with running(tmp_path, trouble) as trainer:
        with pytest.raises(TrainerFailedError):
            await rest(trainer)
        assert trainer.failure is not None
        assert trainer.failure.isprintable()
        assert len(trainer.failure) < 1_200


async def test_a_command_survives_the_child_that_dies_of_it(tmp_path: Path) -> None:
    script = "for command in commands: life == 0 and os._exit(9); rest(command['command'])"
    async with running(tmp_path, script) as trainer:
        assert (await rest(trainer)).command == 1
    assert lives(tmp_path) == 2


async def test_a_command_is_made_anew_for_each_child(tmp_path: Path) -> None:
    made: list[int] = []

    def make(number: int) -> link.Command:
        made.append(number)
        return link.Rest(command=number)

    script = "for command in commands: life == 0 and os._exit(9); rest(command['command'])"
    async with running(tmp_path, script) as trainer:
        await trainer.ask(make, link.Resting)
    assert set(made) == {1}
    assert len(made) >= 2


READY = """
def ready(command):
    say("ready", command=command, device="cpu", device_name="", precision="float32", memory_mb=0,
        parameters=1, torch="")
"""


async def test_a_command_that_always_kills_is_given_up_although_prepare_succeeds(
    tmp_path: Path,
) -> None:
    script = (
        READY + "for command in commands: ready(1) if command['type'] == 'prepare' else os._exit(3)"
    )
    async with running(tmp_path, script) as trainer:
        assert (await trainer.ask(prepare, link.TrainerReady)).device == "cpu"
        with pytest.raises(TrainerFailedError, match="exit status 3"):
            await trainer.ask(evaluate, link.Evaluated)
    assert lives(tmp_path) == MAX_FAILURES


async def test_a_new_child_is_prepared_before_it_gets_its_task(tmp_path: Path) -> None:
    script = (
        READY
        + """
prepared = False
for command in commands:
    if command["type"] == "prepare":
        prepared = True
        ready(command["command"])
    elif life == 0:
        os._exit(3)
    elif prepared:
        rest(command["command"])
"""
    )
    async with running(tmp_path, script) as trainer:
        await trainer.ask(prepare, link.TrainerReady)
        assert (await rest(trainer)).command == 2


@pytest.mark.parametrize("is_second", [False, True])
async def test_limits_that_change_while_a_child_prepares_itself_reach_it(
    tmp_path: Path, *, is_second: bool
) -> None:
    script = (
        READY
        + """
share = 0
for command in commands:
    if command["type"] == "prepare":
        share = command["share_percent"]
        ready(command["command"])
    else:
        lives.with_name("share").write_text(str(share))
        rest(command["command"])
"""
    )
    # Made for the first child, when it is ready, for the second child, and when that is ready.
    shares = [100, 100, 100, 30] if is_second else [100, 30]

    def make(number: int) -> link.Prepare:
        share = shares.pop(0) if len(shares) > 1 else shares[0]
        return msgspec.structs.replace(prepare(number), share_percent=share)

    async with running(tmp_path, script) as trainer:
        await rest(trainer)  # it runs
        await trainer.ask(make, link.TrainerReady)
        if is_second:
            trainer.child.stop()
        await rest(trainer)
        await rest(trainer)
    assert (tmp_path / "share").read_text() == "30"


async def test_a_prepare_that_another_replaces_is_waited_for_no_longer(tmp_path: Path) -> None:
    script = "for command in commands: pass"
    async with running(tmp_path, script) as trainer, trio.open_nursery() as nursery:

        async def ask() -> None:
            with pytest.raises(TrainerFailedError, match="newer command"):
                await trainer.ask(prepare, link.TrainerReady)

        nursery.start_soon(ask)
        await trio.testing.wait_all_tasks_blocked()
        trainer.prepare_again(prepare)


@pytest.mark.parametrize(
    "noise",
    [
        "print('Warning: something', flush=True); time.sleep(9)",
        "say('alive', command='no number'); time.sleep(9)",
        "sys.stdout.write('x' * (9 << 20)); sys.stdout.flush(); time.sleep(9)",
        "say('failed', command=0, code='malformed', reason='what?'); time.sleep(9)",
        "os.close(1); time.sleep(9)",
        "say('alive', command=0, doing='x' * 300, step=0, steps=0, tokens=0, resident_mb=0)\n"
        "    time.sleep(9)",
    ],
    ids=[
        "no report",
        "a wrong field",
        "an endless line",
        "cannot read us",
        "closes its output",
        "endless words",
    ],
)
async def test_a_child_that_says_garbage_is_replaced(tmp_path: Path, noise: str) -> None:
    script = f"if life == 0:\n    {noise}\nfor command in commands: rest(command['command'])"
    async with running(tmp_path, script) as trainer:
        assert (await rest(trainer)).command == 1
    assert lives(tmp_path) == 2


async def test_a_child_that_falls_silent_is_replaced(tmp_path: Path, mock_clock: MockClock) -> None:
    mock_clock.rate = 1
    script = "if life == 0: time.sleep(60)\nfor command in commands: rest(command['command'])"
    async with running(tmp_path, script, silence_s=10) as trainer:
        while not (lives(tmp_path) and trainer.child.is_running):  # noqa: ASYNC110 - as above
            await trio.sleep(0.01)
        mock_clock.jump(10)
        assert (await rest(trainer)).command == 1
    assert lives(tmp_path) == 2


async def test_a_child_that_will_not_go_is_killed(tmp_path: Path) -> None:
    script = """
signal.signal(signal.SIGTERM, signal.SIG_IGN)
for command in commands: rest(command["command"])
time.sleep(60)
"""
    async with running(tmp_path, script) as trainer:
        await rest(trainer)
        pid = trainer.child.pid
        assert pid is not None
        started = trio.current_time()
    assert trio.current_time() - started < allowed_s(2)
    assert is_gone(pid)


async def test_a_command_that_is_dropped_is_taken_back(tmp_path: Path) -> None:
    told = tmp_path / "told"
    script = """
told = pathlib.Path(sys.argv[1]).with_name("told")
for command in commands:
    with told.open("a") as file:
        file.write(command["type"] + "\\n")
    if command["type"] == "rest" and command["command"] > 2:
        rest(command["command"])
"""
    async with running(tmp_path, script) as trainer:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(trainer.ask, evaluate, link.Evaluated)
            while not told.exists():  # noqa: ASYNC110 - the child reads elsewhere
                await trio.sleep(0.01)
            nursery.cancel_scope.cancel()
        assert (await rest(trainer)).command == 3
    assert told.read_text().split() == ["evaluate", "rest", "rest"]


async def test_a_caller_that_is_cancelled_tears_no_line(tmp_path: Path) -> None:
    def large(number: int) -> link.Command:
        shards = tuple(link.Shard(index, "p" * 4_000) for index in range(1_000))
        return link.Evaluate(command=number, round=0, weights="w", shards=shards)

    script = """
time.sleep(0.5)
for command in commands:
    if command["command"] > 2: rest(command["command"])
"""
    async with running(tmp_path, script) as trainer:
        while trainer.child.pid is None:  # noqa: ASYNC110 - the child starts elsewhere
            await trio.sleep(0.01)
        with trio.move_on_after(0.2):
            await trainer.ask(large, link.Evaluated)
        assert (await rest(trainer)).command == 3
    assert lives(tmp_path) == 1


async def test_an_answer_of_another_kind_is_an_error(tmp_path: Path) -> None:
    async with running(tmp_path, "for command in commands: rest(command['command'])") as trainer:
        with pytest.raises(TrainerFailedError, match="Resting"):
            await trainer.ask(evaluate, link.Evaluated)


async def test_the_child_gets_no_secret_of_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_TOKEN", "secret")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "1")
    given = trainer_environment(tmp_path)
    assert "secret" not in given.values()
    assert given["CUDA_VISIBLE_DEVICES"] == "1"


async def test_the_real_trainer_says_why_it_cannot_be_prepared(tmp_path: Path) -> None:
    trainer = TrainerProcess(trainer_program(tmp_path))
    with trio.fail_after(allowed_s(60)):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(trainer.run)
            with pytest.raises(TrainerFailedError, match="cannot read") as caught:
                await trainer.ask(
                    lambda command: link.Prepare(
                        command=command, manifest=str(tmp_path / "m"), config="c", data_manifest="d"
                    ),
                    link.TrainerReady,
                )
            assert caught.value.code == "input"
            pid = trainer.child.pid
            assert pid is not None
            nursery.cancel_scope.cancel()
    assert is_gone(pid)


# --- permission


async def gone(trainer: TrainerProcess) -> None:
    while trainer.child.pid is not None:  # noqa: ASYNC110 - the child ends elsewhere
        await trio.sleep(0.01)


async def test_a_forbidden_child_goes_and_what_was_asked_is_answered_by_the_next(
    tmp_path: Path,
) -> None:
    script = "for command in commands: life and rest(command['command'])"
    async with running(tmp_path, script) as trainer, trio.open_nursery() as nursery:
        answers: list[link.Resting] = []

        async def ask() -> None:
            answers.append(await rest(trainer))

        nursery.start_soon(ask)
        while not lives(tmp_path):  # noqa: ASYNC110 - the child starts elsewhere
            await trio.sleep(0.01)
        pid = trainer.child.pid
        assert pid is not None
        trainer.child.forbid()
        await gone(trainer)
        assert is_gone(pid)
        assert trainer.child.freed_in_s is not None
        assert lives(tmp_path) == 1
        assert not answers
        trainer.child.allow()
    assert [one.command for one in answers] == [1]


async def test_a_child_that_was_told_to_go_has_not_failed(tmp_path: Path) -> None:
    async with running(tmp_path, "for command in commands: rest(command['command'])") as trainer:
        for _ in range(MAX_FAILURES + 1):
            while trainer.child.pid is None:  # noqa: ASYNC110 - the child starts elsewhere
                await trio.sleep(0.01)
            trainer.child.forbid()
            await gone(trainer)
            trainer.child.allow()
        assert (await rest(trainer)).command == 1
        assert trainer.failure is None


async def test_a_forbidden_child_that_will_not_go_is_killed(tmp_path: Path) -> None:
    script = """
signal.signal(signal.SIGTERM, signal.SIG_IGN)
for command in commands: rest(command["command"])
time.sleep(60)
"""
    async with running(tmp_path, script) as trainer:
        await rest(trainer)
        pid = trainer.child.pid
        assert pid is not None
        trainer.child.forbid()
        await gone(trainer)
        assert is_gone(pid)
        assert trainer.child.freed_in_s is not None
        assert trainer.child.freed_in_s < allowed_s(2)


async def test_nothing_starts_while_it_is_forbidden(tmp_path: Path) -> None:
    async with running(tmp_path, "sys.exit(7)") as trainer:
        trainer.child.forbid()
        await trio.testing.wait_all_tasks_blocked(0.3)
        begun = lives(tmp_path)
        await trio.testing.wait_all_tasks_blocked(0.3)
        assert lives(tmp_path) == begun < MAX_FAILURES
        assert trainer.failure is None


async def test_a_permission_that_is_taken_away_at_once_starts_nothing(tmp_path: Path) -> None:
    async with running(tmp_path, "for command in commands: rest(command['command'])") as trainer:
        await rest(trainer)
        trainer.child.forbid()
        await gone(trainer)
        trainer.child.allow()
        trainer.child.forbid()
        await trio.testing.wait_all_tasks_blocked(0.3)
        assert trainer.child.pid is None
        assert lives(tmp_path) == 1


async def test_a_trainer_that_was_given_up_can_be_reset(tmp_path: Path) -> None:
    script = (
        f"life < {MAX_FAILURES} and sys.exit(7)\nfor command in commands: rest(command['command'])"
    )
    async with running(tmp_path, script) as trainer:
        with pytest.raises(TrainerFailedError, match="exit status 7"):
            await rest(trainer)
        trainer.reset()
        async with trio.open_nursery() as nursery:
            nursery.start_soon(trainer.run)
            assert (await rest(trainer)).command == 2
            nursery.cancel_scope.cancel()


# --- benchmark

FIGURES = BenchmarkReply(device="cpu", tokens_per_s=1_234.5)
REFUSAL = link.Failed(command=0, code="device", reason=f"no such\x1b[2J device {9_000 * 'x'}")
SAYS = 'print(\'{"type":"benchmark","device":"cpu","tokens_per_s":1234.5}\')'


async def benchmarked(folder: Path, script: str, limit_s: float = 20.0) -> BenchmarkReply:
    command = (sys.executable, "-S", "-c", f"import os, sys\n{script}")
    return await run_benchmark(benchmark_child(folder, "cpu", command), "cpu", limit_s=limit_s)


async def test_figures_are_read_whatever_is_logged_beside_them(tmp_path: Path) -> None:
    script = f"sys.stderr.write('y' * 300_000)\n{SAYS}"
    assert await benchmarked(tmp_path, script) == FIGURES


@pytest.mark.parametrize(
    ("script", "why"),
    [
        ("", "exit status 0"),
        ("print('[' * 60_000)", "not figures"),
        ("sys.stdout.buffer.write(b'\\xff\\xfe\\n')", "not figures"),
        ('print(\'{"type":"benchmark","device":"cpu"}\')', "not figures"),
        (f"print({link.encode(REFUSAL).decode()!r})", "no such \\[2J device x"),
        ("sys.exit(3)", "exit status 3"),
    ],
    ids=["nothing", "deep", "bytes", "incomplete", "refusal", "silence"],
)
async def test_anything_else_is_a_reason(tmp_path: Path, script: str, why: str) -> None:
    with pytest.raises(RefusedError, match=why) as refusal:
        await benchmarked(tmp_path, script)
    assert len(str(refusal.value)) < 1_200


@pytest.mark.parametrize("script", ["while True: os.write(1, bytes(65536))", "while True: pass"])
async def test_a_benchmark_that_never_ends_is_ended(tmp_path: Path, script: str) -> None:
    with pytest.raises(RefusedError, match=r"no figures in|a line of more than"):
        await benchmarked(tmp_path, script, limit_s=0.5)


async def test_a_benchmark_without_a_runtime_says_how_to_get_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    monkeypatch.setenv(programs.RUNTIME_VARIABLE, str(tmp_path))
    child = benchmark_child(tmp_path, "cpu", (str(tmp_path / "tequio-runtime"),))
    with pytest.raises(RefusedError, match="tequio runtime install"):
        await run_benchmark(child, "cpu")


ENDLESS = """
import os, runpy, sys, time, types
def measure_speed(device):
    sys.stderr.write(f"measuring {os.getpid()}")
    time.sleep(600)
sys.modules["tequio_client.trainer.benchmark"] = types.SimpleNamespace(measure_speed=measure_speed)
runpy.run_module("tequio_client.trainer", run_name="__main__")
"""
"""The trainer's program, with a measurement that takes long."""


async def test_a_benchmark_ends_with_its_worker(tmp_path: Path) -> None:
    """Killed, so that nothing of the worker's can end it."""
    words = "import sys; from pathlib import Path; from tests.client.worker.children import"
    worker = f"{words} test_trainer as own; own.trio.run(own.measure, Path(sys.argv[1]))"
    process = await trio.lowlevel.open_process(
        [sys.executable, "-c", worker, str(tmp_path)], stderr=subprocess.PIPE
    )
    assert process.stderr is not None
    said = b""
    with trio.fail_after(60):
        async with process.stderr as told:
            while b"measuring " not in said:
                said += await told.receive_some()
        process.kill()
        await process.wait()
        measuring = int(said.rpartition(b" ")[2])
        while lives_on(measuring):  # noqa: ASYNC110 - another program's child
            await trio.sleep(0.05)


def lives_on(pid: int) -> bool:
    """Check for a process that computes, and does not only wait for somebody to read its status."""
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


async def measure(folder: Path) -> None:
    """Measure a device for longer than a test lasts."""
    child = benchmark_child(folder, "cpu", (sys.executable, "-c", ENDLESS, "benchmark"))
    await run_benchmark(child, "cpu")


async def test_a_crash_in_a_task_is_judged_and_can_give_the_trainer_up(tmp_path: Path) -> None:
    reasons: list[str] = []

    async def judge(reason: str) -> str:
        reasons.append(reason)
        return "the runtime is put aside" if len(reasons) == 2 else ""

    script = "for command in commands: sys.exit(7)"
    async with running(tmp_path, script, judge_crash=judge) as trainer:
        with pytest.raises(TrainerFailedError, match="the runtime is put aside"):
            await trainer.ask(evaluate, link.Evaluated)
        assert trainer.failure == "the runtime is put aside"
    assert ["exit status 7" in one for one in reasons] == [True, True]
    assert lives(tmp_path) == 2


async def test_a_crash_without_a_task_is_not_judged(tmp_path: Path) -> None:
    judged: list[str] = []

    async def judge(reason: str) -> str:
        judged.append(reason)
        return "put aside"

    async with running(tmp_path, "sys.exit(7)", judge_crash=judge) as trainer:
        with pytest.raises(TrainerFailedError, match="5 times"):
            await trainer.ask(prepare, link.TrainerReady)
    assert judged == []


@attack("P22", layer="cli", ends="crashes while a run's own code is loaded are not counted")
async def test_a_crash_beside_a_runs_own_code_is_not_judged(tmp_path: Path) -> None:
    judged: list[str] = []

    async def judge(reason: str) -> str:
        judged.append(reason)
        return "put aside"

    def with_plugin(number: int) -> link.Prepare:
        return msgspec.structs.replace(prepare(number), plugin="plugin.zip")

    script = """
for command in commands:
    if command["type"] != "prepare": sys.exit(7)
    facts = {"device": "cpu", "device_name": "c", "precision": "float32", "torch": "2"}
    say("ready", command=command["command"], memory_mb=0, parameters=1, **facts)
"""
    async with running(tmp_path, script, judge_crash=judge) as trainer:
        await trainer.ask(with_plugin, link.TrainerReady)
        with pytest.raises(TrainerFailedError, match="5 times"):
            await trainer.ask(evaluate, link.Evaluated)
        assert judged == []
    async with running(tmp_path, script, judge_crash=judge) as trainer:
        await trainer.ask(prepare, link.TrainerReady)
        with pytest.raises(TrainerFailedError, match="put aside"):
            await trainer.ask(evaluate, link.Evaluated)
    assert len(judged) == 1
