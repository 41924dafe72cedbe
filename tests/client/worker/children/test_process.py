"""One child process: permission, the device, lines both ways, and the kill ladder to its end."""

from __future__ import annotations

import os
import time
from dataclasses import replace
from typing import TYPE_CHECKING

import psutil
import pytest
import trio
import trio.testing

from tequio_client.worker.children.process import (
    UNSENT_LINES,
    ChildProcess,
    ChildProgram,
    child_environment,
)
from tequio_shared.errors import MalformedError
from tests.support.scripted_child import lives, scripted

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.trio

ECHO = "for line in sys.stdin: print(line, end='', flush=True)"


class ChildRun:
    """A child that runs a script, the lines that it wrote, and why it ended."""

    def __init__(self, folder: Path, script: str, silence_s: float = 20.0) -> None:
        self.folder, self.device = folder, trio.Lock()
        program = ChildProgram(
            command=scripted(folder, script),
            environment=child_environment(),
            line_bytes=1 << 10,
            silence_s=silence_s,
            grace_s=0.2,
            first_pause_s=0.5,
            longest_pause_s=4.0,
        )
        self.child = ChildProcess(program)
        self.child.device = self.device
        self.lines: list[bytes] = []
        self.ends: list[str | None] = []

    async def run(self, *first: bytes) -> None:
        """Run one child to its end; append the reason of the end to `ends`."""
        with trio.fail_after(20):
            self.ends.append(await self.child.run_once(lambda: first, self.on_line))

    def on_line(self, line: bytes) -> None:
        """Collect a line; "garbage" does not parse, and "last" is the last one."""
        if line == b"garbage":
            raise MalformedError("that is garbage")
        self.lines.append(line)
        if line == b"last":
            self.child.stop()

    async def until_line(self) -> None:
        """Wait for the first line of the child."""
        with trio.fail_after(20):
            while not self.lines:  # noqa: ASYNC110 - another process writes it
                await trio.sleep(0.01)


async def test_lines_go_both_ways_in_order(tmp_path: Path) -> None:
    child_run = ChildRun(tmp_path, ECHO)
    child_run.child.allow()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(child_run.run, b"first\n", b"second\n")
        await child_run.until_line()
        child_run.child.send(b"third\nlast\nafter the last\n")
    assert child_run.lines == [b"first", b"second", b"third", b"last"]
    assert child_run.ends == [None]


async def test_nothing_starts_without_permission_or_without_the_device(tmp_path: Path) -> None:
    child_run = ChildRun(tmp_path, ECHO)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(child_run.run, b"last\n")
        await trio.testing.wait_all_tasks_blocked(0.1)
        async with child_run.device:
            child_run.child.allow()
            await trio.testing.wait_all_tasks_blocked(0.1)
            child_run.child.forbid()
        await trio.testing.wait_all_tasks_blocked(0.1)
        assert lives(tmp_path) == 0
        assert not child_run.device.locked()
        child_run.child.allow()
    assert lives(tmp_path) == 1


async def test_a_child_that_is_given_another_device_while_it_waits_holds_that_one(
    tmp_path: Path,
) -> None:
    child_run, other = ChildRun(tmp_path, ECHO), trio.Lock()
    child_run.child.allow()
    async with trio.open_nursery() as nursery:
        async with child_run.device:
            nursery.start_soon(child_run.run, b"up\n")
            await trio.testing.wait_all_tasks_blocked()
            child_run.child.device = other
        await child_run.until_line()
        assert (child_run.device.locked(), other.locked()) == (False, True)
        child_run.child.stop()


async def test_a_running_child_of_another_program_is_ended_and_one_of_the_same_is_not(
    tmp_path: Path,
) -> None:
    child_run = ChildRun(tmp_path, ECHO)
    child_run.child.allow()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(child_run.run, b"up\n")
        await child_run.until_line()
        child_run.child.replace_program(replace(child_run.child.program))
        await trio.testing.wait_all_tasks_blocked(0.05)
        assert child_run.child.is_running
        child_run.child.replace_program(replace(child_run.child.program, grace_s=0.1))
    assert child_run.ends == [None]


async def test_the_device_is_given_back_only_when_the_process_is_gone(tmp_path: Path) -> None:
    deaf = "signal.signal(signal.SIGTERM, signal.SIG_IGN)\nprint('up', flush=True)\ntime.sleep(600)"
    child_run = ChildRun(tmp_path, deaf)
    child_run.child.allow()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(child_run.run)
        await child_run.until_line()
        pid = child_run.child.pid
        assert pid is not None
        child_run.child.forbid()
        async with child_run.device:
            assert not psutil.pid_exists(pid)
    assert child_run.ends == [None]


async def test_a_child_is_not_running_any_more_while_it_is_being_ended(tmp_path: Path) -> None:
    deaf = "signal.signal(signal.SIGTERM, signal.SIG_IGN)\nprint('up', flush=True)\ntime.sleep(600)"
    child_run = ChildRun(tmp_path, deaf)
    child_run.child.allow()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(child_run.run)
        await child_run.until_line()
        before = child_run.child.is_running
        child_run.child.stop()
        await trio.testing.wait_all_tasks_blocked(0.05)
        assert (before, child_run.child.is_running) == (True, False)
        assert child_run.child.pid is not None
        child_run.child.send(b"nobody reads this\n")
    assert child_run.child.permission.is_set(), "the next one may start"


@pytest.mark.parametrize(
    ("script", "reason"),
    [
        ("sys.exit(7)", "exit status 7"),
        ("print('garbage', flush=True); time.sleep(9)", "that is garbage"),
        ("print('x' * 2_000, end='', flush=True); time.sleep(9)", "a line of more than 1024 bytes"),
        ("os.close(1); time.sleep(9)", "it closed its output"),
        ("time.sleep(9)", "no sign of life for 0 s"),
    ],
)
async def test_a_child_that_fails_is_ended_with_a_reason(
    tmp_path: Path, script: str, reason: str
) -> None:
    child_run = ChildRun(tmp_path, script, silence_s=20.0 if "life" not in reason else 0.4)
    child_run.child.allow()
    await child_run.run()
    assert child_run.ends == [reason]


async def test_a_long_line_in_small_pieces_is_one_line(tmp_path: Path) -> None:
    script = """
for piece in ("a" * 400, "b" * 400, "\\nlast\\n"):
    print(piece, end="", flush=True)
    time.sleep(0.05)
time.sleep(9)
"""
    child_run = ChildRun(tmp_path, script)
    child_run.child.allow()
    await child_run.run()
    assert child_run.lines == [b"a" * 400 + b"b" * 400, b"last"]


async def test_a_child_that_reads_nothing_is_ended(tmp_path: Path) -> None:
    child_run = ChildRun(tmp_path, "print('up', flush=True)\ntime.sleep(600)")
    child_run.child.allow()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(child_run.run)
        await child_run.until_line()
        for _ in range(UNSENT_LINES + 1):
            child_run.child.send(b"x" * 4_096)
    assert child_run.ends == [f"it does not read its input: {UNSENT_LINES} lines wait"]


async def test_a_program_that_is_not_there_is_a_failure_like_others() -> None:
    program = ChildProgram(command=("/no/such/program",), environment={}, line_bytes=1)
    child = ChildProcess(program)
    child.allow()
    reason = await child.run_once(tuple, lambda _: None)
    assert reason is not None
    assert "could not be started" in reason


async def test_a_worker_that_is_cancelled_leaves_no_child_behind(tmp_path: Path) -> None:
    deaf = "signal.signal(signal.SIGTERM, signal.SIG_IGN)\nprint('up', flush=True)\ntime.sleep(600)"
    child_run = ChildRun(tmp_path, deaf)
    child_run.child.allow()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(child_run.run)
        await child_run.until_line()
        pid = child_run.child.pid
        nursery.cancel_scope.cancel()
    assert pid is not None
    assert not psutil.pid_exists(pid)


async def test_a_task_of_a_child_ends_with_it(tmp_path: Path) -> None:
    child_run = ChildRun(tmp_path, ECHO)
    child_run.child.allow()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(child_run.run, b"up\n")
        await child_run.until_line()
        child_run.child.start_soon(trio.sleep_forever)
        child_run.child.stop()
    assert child_run.ends == [None]


async def test_pauses_grow_and_a_withdrawn_permission_ends_one(tmp_path: Path) -> None:
    child_run = ChildRun(tmp_path, "sys.exit(1)")
    child_run.child.allow()
    assert [child_run.child.pause_s(n) for n in (1, 2, 3, 4, 5, 99)] == [
        0.5,
        1.0,
        2.0,
        4.0,
        4.0,
        4.0,
    ]
    await child_run.run()
    began_s = time.monotonic()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(child_run.child.pause, 60.0)
        await trio.testing.wait_all_tasks_blocked()
        child_run.child.forbid()
    assert time.monotonic() - began_s < 30


async def test_the_child_gets_no_secret_of_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SSH_AUTH_SOCK", "secret")
    monkeypatch.setenv("HTTPS_PROXY", "http://user:secret@proxy")
    monkeypatch.setenv("NVIDIA_VISIBLE_DEVICES", "0")
    monkeypatch.setenv("USERPROFILE", r"C:\Users\Ana")
    given = child_environment()
    assert not any("secret" in value for value in given.values())
    assert given["USERPROFILE"] == r"C:\Users\Ana"  # without it Windows' libraries find no home
    assert given["PATH"] == os.environ["PATH"]
    assert given["NVIDIA_VISIBLE_DEVICES"] == "0"
