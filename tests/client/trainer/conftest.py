"""A trainer child over pipes, and a small run for it."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import threading
from types import MappingProxyType
from typing import TYPE_CHECKING, TypeVar

import pytest

from tequio_client.ipc import trainer
from tequio_client.trainer import engines
from tests.client.trainer.small_run import SmallRun, small_run
from tests.support.confined import CONFINED
from tests.support.forked_program import TRAINER, ForkedProgram, pipes_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

INTERPRETED = ("-m", "tequio_client.trainer")
"""Words with which Python starts a trainer."""
LONGEST_S = 90.0
"""A child that a test waits on for longer is ended: the test then fails instead of hanging."""

R = TypeVar("R", bound=trainer.Report)


@pytest.fixture(params=["numpy", "compiled"])
def both_kernels(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Encode and screen small models in numpy, and again with the kernels of large ones."""
    least = {"sparseloco": 0, "diloco": 0} if request.param == "compiled" else {}
    monkeypatch.setattr(engines, "COMPILED_FROM", least)


class Child:
    """A real trainer process; the test is its worker."""

    def __init__(
        self,
        command: Sequence[str] = (),
        variables: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        """Start Python with these words; without any, fork a trainer that has loaded torch."""
        environ = {**os.environ, **CONFINED, **variables}
        pipe = subprocess.PIPE
        self.process: subprocess.Popen[bytes] | ForkedProgram
        if command:
            words = [sys.executable, *command]
            self.process = subprocess.Popen(words, stdin=pipe, stdout=pipe, env=environ)
        else:
            self.process = ForkedProgram(
                TRAINER, INTERPRETED[1], stdin=pipe, stdout=pipe, env=environ
            )
        self._input, self._output = pipes_of(self.process)
        self._watchdog = threading.Timer(0.0, self.process.kill)
        self.allow()

    def allow(self) -> None:
        """Let it run for another LONGEST_S."""
        self._watchdog.cancel()
        self._watchdog = threading.Timer(LONGEST_S, self.process.kill)
        self._watchdog.start()

    def send(self, command: trainer.Command) -> None:
        """Send a command."""
        self.send_line(trainer.encode(command))

    def send_line(self, line: bytes) -> None:
        """Send any line."""
        self._input.write(line)
        self._input.flush()

    def next(self) -> trainer.Report:
        """Read the next report; fails the test when the child ended."""
        line = self._output.readline()
        assert line, f"the trainer ended with {self.process.wait(5)}"
        return trainer.decode_report(line)

    def until(self, kind: type[R]) -> R:
        """Read reports until one of this kind."""
        while True:
            report = self.next()
            if isinstance(report, kind):
                return report
            assert not isinstance(report, trainer.Failed), report

    def end(self) -> int:
        """Close its input and wait for the exit status."""
        self._watchdog.cancel()
        with contextlib.suppress(BrokenPipeError):
            self._input.close()
        status = self.process.wait(5)
        self._output.close()
        return status


@pytest.fixture(scope="session")
def run(tmp_path_factory: pytest.TempPathFactory) -> SmallRun:
    return small_run(tmp_path_factory.mktemp("run"))


@pytest.fixture(scope="module")
def child() -> Iterator[Child]:
    """Start a trainer that several tests of a module talk to, one after the other."""
    one = Child()
    yield one
    one.end()
