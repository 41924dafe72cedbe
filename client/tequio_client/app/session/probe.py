"""A source of one fact about the session, and two ways to combine several."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

from tequio_client.platform.dbus import AbsentError, NoAnswerError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)
RETRY_S = 60.0
"""Interval after which an absent better source is tried again."""


class Probe(Protocol[T_co]):
    """A source of one fact."""

    @property
    def source(self) -> str:
        """The interface that answers."""

    def read(self) -> T_co:
        """The current value; raises AbsentError, UnknownError, or an error of its library."""


def close_probe(probe: object) -> None:
    """Close the probe if it can be closed."""
    getattr(probe, "close", _nothing)()


def _nothing() -> None:
    pass


class FirstProbe(Generic[T]):
    """The first source that exists; later ones are asked only if it is absent or fails."""

    def __init__(
        self, probes: Sequence[Probe[T]], clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._probes, self._clock = probes, clock
        self._start, self._again_s = 0, 0.0
        self.source = probes[0].source if probes else "none"

    def read(self) -> T:
        """The first answer; raises AbsentError, UnknownError."""
        if self._clock() >= self._again_s:
            self._start, self._again_s = 0, self._clock() + RETRY_S
        problems: list[str] = []
        is_any_there = False
        for number in range(self._start, len(self._probes)):
            probe = self._probes[number]
            try:
                value = probe.read()
            except AbsentError as err:
                problems.append(f"{probe.source}: {err}")
                if not is_any_there:
                    self._start = number + 1
                continue
            except NoAnswerError as err:
                problems.append(f"{probe.source}: {err}")
                is_any_there = True
                continue
            self.source = probe.source
            return value
        # All sources absent: begin at the first one again, or nothing would ever be asked.
        self._start = 0 if self._start >= len(self._probes) else self._start
        raise (NoAnswerError if is_any_there else AbsentError)("; ".join(problems) or "no source")

    def close(self) -> None:
        for probe in self._probes:
            close_probe(probe)


class AnyProbe:
    """True if any source says so; False if at least one denies and none affirms."""

    def __init__(self, probes: Sequence[Probe[bool]]) -> None:
        self._probes = probes
        self.source = probes[0].source if probes else "none"

    def read(self) -> bool:
        """Asks all sources; raises AbsentError if none answers."""
        answers: list[bool] = []
        problems: list[str] = []
        for probe in self._probes:
            try:
                answer = probe.read()
            except (AbsentError, NoAnswerError) as err:
                problems.append(f"{probe.source}: {err}")
                continue
            if answer or not answers:
                self.source = probe.source
            answers.append(answer)
        if not answers:
            raise AbsentError("; ".join(problems) or "no source")
        return any(answers)

    def close(self) -> None:
        for probe in self._probes:
            close_probe(probe)
