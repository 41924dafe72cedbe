"""A real process that trains on private texts, driven over pipes as a group's member drives it."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import threading
from typing import TYPE_CHECKING, Any, TypeVar

import pytest

from tequio_client.ipc import private
from tequio_client.ipc.private import LocalTrained, PrivateAlive, PrivateFailed, PrivateHello
from tequio_client.platform.sandbox import VARIABLE, SandboxRules
from tequio_client.trainer.private import accountant
from tests.client.trainer.private.private_member import PrivateMember, rules
from tests.support.forked_program import TRAINER, ForkedProgram, pipes_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

MODULE = "tequio_client.trainer.private"
LONGEST_S = 600.0
"""The module's process is ended then, on however busy a machine: tests fail, and do not hang."""
R = TypeVar("R", LocalTrained, PrivateAlive, PrivateFailed, PrivateHello)


class PrivateChild:
    """The process, which may write to the state and output folders alone; the test is its group."""

    def __init__(self, member: PrivateMember, *, hides: str | None = None) -> None:
        """Start Python without the package that `hides` names; None: fork a process with torch."""
        folder = member.folder
        confined = SandboxRules(
            writes=(str(folder / "state"), str(folder / "out")),
            reads=tuple(str(folder / one) for one in ("config.json", "head.weights", "texts")),
            hidden=(str(folder),),
        )
        code = f"import sys, runpy; sys.modules[{hides!r}] = None; sys.argv[1:] = []; "
        code += f"runpy.run_module({MODULE!r}, run_name='__main__')"
        environ = {**os.environ, VARIABLE: confined.encode(), "TMPDIR": str(folder / "out")}
        pipe = subprocess.PIPE
        self.process: subprocess.Popen[bytes] | ForkedProgram
        if hides is None:
            self.process = ForkedProgram(TRAINER, MODULE, stdin=pipe, stdout=pipe, env=environ)
        else:
            words = ["-c", code] if hides else ["-m", MODULE]
            command = [sys.executable, *words]
            self.process = subprocess.Popen(command, stdin=pipe, stdout=pipe, env=environ)
        self._input, self._output = pipes_of(self.process)
        self._watchdog = threading.Timer(LONGEST_S, self.process.kill)
        self._watchdog.start()

    def send(self, line: bytes) -> None:
        self._input.write(line)
        self._input.flush()

    def until(self, kind: type[R]) -> R:
        """Read reports until one of this kind; fails the test if the process ended."""
        while True:
            line = self._output.readline()
            assert line, f"the process ended with {self.process.wait(5)}"
            report = private.decode_report(line)
            if isinstance(report, kind):
                return report
            assert isinstance(report, (PrivateAlive, PrivateHello)), report

    def train(self, member: PrivateMember, command: int, **changes: Any) -> LocalTrained:  # noqa: ANN401 - any field
        self.send(private.encode(member.request(command, **changes)))
        return self.until(LocalTrained)

    def fail(self, member: PrivateMember, command: int, **changes: Any) -> PrivateFailed:  # noqa: ANN401 - any field
        self.send(private.encode(member.request(command, **changes)))
        return self.until(PrivateFailed)

    def end(self) -> int:
        """Close its input and wait for the exit status."""
        self._watchdog.cancel()
        with contextlib.suppress(BrokenPipeError):
            self._input.close()
        status = self.process.wait(30)
        self._output.close()
        return status


@pytest.fixture(scope="module")
def member(tmp_path_factory: pytest.TempPathFactory) -> PrivateMember:
    return PrivateMember.create(tmp_path_factory.mktemp("member"))


@pytest.fixture(scope="module")
def child(member: PrivateMember) -> Iterator[PrivateChild]:
    """A process that Python starts, as a group does: it enters its sandbox before torch loads."""
    one = PrivateChild(member, hides="")
    yield one
    one.end()


def test_it_trains_round_after_round_in_its_sandbox(
    child: PrivateChild, member: PrivateMember
) -> None:
    plain = child.train(member, 1)
    assert plain.epsilon is None
    spent = [child.train(member, number, privacy=rules()).epsilon for number in (2, 3)]
    entries = accountant.read_record(member.folder / "state").entries
    assert [one.steps for one in entries] == [8]
    assert spent[1] == accountant.epsilon(entries, 1e-5)
    assert all(member.delta(number).size == member.elements for number in (1, 2, 3))


def test_a_request_that_fails_is_answered_and_the_next_one_is_met(
    child: PrivateChild, member: PrivateMember
) -> None:
    assert child.fail(member, 10, data=str(member.folder / "out")).code == "input"
    assert child.fail(member, 11, config=str(member.folder / "head.weights")).code == "model"
    assert child.fail(member, 12, device="cuda:7").code == "device"
    assert child.fail(member, 13, delta_out=str(member.folder / "no" / "x")).code == "output"
    child.send(b'{"type":"train"}\n')
    assert child.until(PrivateFailed).code == "malformed"
    child.send(b"x" * (private.LINE_BYTES + 99) + b"\n")
    assert child.until(PrivateFailed).code == "malformed"
    assert child.train(member, 14).command == 14


def test_the_limit_is_a_code_of_its_own(child: PrivateChild, member: PrivateMember) -> None:
    failed = child.fail(member, 20, privacy=rules(most=0.1))
    assert (failed.command, failed.code) == (20, "budget")
    assert "above the group's limit of 0.1" in failed.reason


def test_it_lives_while_it_computes(child: PrivateChild, member: PrivateMember) -> None:
    child.send(private.encode(member.request(30, steps=1_000)))
    while (alive := child.until(PrivateAlive)).step == 0:
        pass
    assert (alive.command, alive.steps) == (30, 1_000)
    assert child.until(LocalTrained).command == 30


def test_a_process_killed_in_a_round_has_spent_it(tmp_path: Path) -> None:
    member = PrivateMember.create(tmp_path)
    child = PrivateChild(member)
    child.send(private.encode(member.request(1, steps=100_000, privacy=rules())))
    while child.until(PrivateAlive).step == 0:
        pass
    child.process.kill()
    child.end()
    assert not member.out(1).exists()
    child = PrivateChild(member)
    report = child.train(member, 2, steps=1, privacy=rules())
    assert child.end() == 0
    entries = accountant.read_record(member.folder / "state").entries
    assert [one.steps for one in entries] == [100_001]
    assert report.epsilon == accountant.epsilon(entries, 1e-5)


def test_without_opacus_it_says_what_to_install_and_trains_without_privacy(tmp_path: Path) -> None:
    member = PrivateMember.create(tmp_path)
    child = PrivateChild(member, hides="opacus")
    failed = child.fail(member, 1, privacy=rules())
    assert failed.code == "internal"
    assert "opacus is not installed here" in failed.reason
    assert "'private'" in failed.reason
    assert not (member.folder / "state" / accountant.RECORD_NAME).exists()
    assert child.train(member, 2).command == 2
    assert child.end() == 0
