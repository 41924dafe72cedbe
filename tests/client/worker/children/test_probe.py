"""The probe child as the worker sees it: scripted children of every kind, and once the real one."""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import psutil
import pytest
import trio

from tequio_client.ipc.facts import LINE_BYTES, ProbeInstructions
from tequio_client.worker.children import probe as probe_child
from tequio_client.worker.children.probe import ProbeProcess, probe_program
from tequio_client.worker.children.process import ChildProgram, child_environment
from tests.support.scripted_child import lives, scripted

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable
    from pathlib import Path

pytestmark = pytest.mark.trio
PRELUDE = """
def say(**fields):
    print(json.dumps(fields), flush=True)
"""


def playing(folder: Path, script: str) -> ChildProgram:
    return ChildProgram(
        command=scripted(folder, PRELUDE + script),
        environment=child_environment(),
        line_bytes=LINE_BYTES,
        first_pause_s=0.01,
    )


@asynccontextmanager
async def running(program: ChildProgram) -> AsyncIterator[ProbeProcess]:
    probe = ProbeProcess(program)
    with trio.fail_after(30):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(probe.run)
            yield probe
            nursery.cancel_scope.cancel()


async def until(holds: Callable[[], bool]) -> None:
    while not holds():  # noqa: ASYNC110 - another process speaks
        await trio.sleep(0.01)


async def test_the_newest_facts_are_known_and_when_they_came(tmp_path: Path) -> None:
    script = "say(cores=1); say(cores=8)\nsys.stdin.read()"
    async with running(playing(tmp_path, script)) as probe:
        await until(lambda: probe.facts is not None and probe.facts.cores == 8)
        assert trio.current_time() - probe.at_s < 10
        assert not probe.is_starting


async def test_a_probe_is_starting_until_it_answers_ends_or_has_had_its_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    silent = "sys.stdin.read()"
    assert ProbeProcess(playing(tmp_path, silent)).is_starting
    async with running(playing(tmp_path, "sys.exit(3)")) as probe:
        await until(lambda: not probe.is_starting)
        assert probe.facts is None
    monkeypatch.setattr(probe_child, "PROBE_START_S", 0.3)
    async with running(playing(tmp_path, silent)) as probe:
        await until(lambda: not probe.is_starting)
        assert probe.facts is None


async def test_the_probe_hears_what_is_ours(tmp_path: Path) -> None:
    script = "for line in sys.stdin: say(cores=sum(json.loads(line)['ours']))"
    async with running(playing(tmp_path, script)) as probe:
        await until(lambda: probe.facts is not None)
        probe.send_instructions(ProbeInstructions(ours=(40, 2)))
        await until(lambda: probe.facts is not None and probe.facts.cores == 42)


@pytest.mark.parametrize(
    "noise",
    [
        "sys.exit(3)",
        "print('Warning: driver'); sys.stdout.flush(); time.sleep(9)",
        "say(cores=-1); time.sleep(9)",
        "sys.stdout.write('x' * (1 << 20)); sys.stdout.flush(); time.sleep(9)",
    ],
    ids=["ends", "no facts", "wrong facts", "an endless line"],
)
async def test_a_probe_that_fails_is_replaced_and_nothing_is_known_meanwhile(
    tmp_path: Path, noise: str
) -> None:
    script = f"if life == 0:\n    {noise}\nsay(cores=2)\nsys.stdin.read()"
    async with running(playing(tmp_path, script)) as probe:
        assert probe.facts is None
        await until(lambda: probe.facts is not None and probe.facts.cores == 2)
    assert lives(tmp_path) == 2


async def test_facts_of_a_probe_that_ended_are_not_known_any_more(tmp_path: Path) -> None:
    script = "if life: sys.stdin.read()\nsay(cores=2)\nfor _ in range(2): sys.stdin.readline()"
    async with running(playing(tmp_path, script)) as probe:
        await until(lambda: probe.facts is not None)
        probe.send_instructions(ProbeInstructions(ours=(40,)))  # the second line, which ends it
        await until(lambda: lives(tmp_path) == 2)
        assert probe.facts is None


async def test_a_probe_that_will_not_go_is_killed(tmp_path: Path) -> None:
    script = "say(cores=2)\nwhile True: time.sleep(60)"
    before = set(psutil.Process().children())
    async with running(playing(tmp_path, script)) as probe:
        await until(lambda: probe.facts is not None)
        children = set(psutil.Process().children()) - before
        assert children
    assert not [one for one in children if one.is_running()]


async def test_the_real_probe_says_what_this_machine_is(tmp_path: Path) -> None:
    async with running(probe_program()) as probe:
        await until(lambda: probe.facts is not None)
        assert probe.facts is not None
        assert probe.facts.cores == psutil.cpu_count()
        assert probe.facts.memory_mb == psutil.virtual_memory().total >> 20
