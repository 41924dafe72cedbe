"""A source that hangs or fails is unknown, costs one thread and holds nobody up."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import pytest

from tequio_client.platform.asker import NOT_POLLED, SourcePoller
from tequio_client.platform.dbus import AbsentError

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture
def let_go() -> Iterator[threading.Event]:
    event = threading.Event()
    yield event
    event.set()


def test_nothing_is_known_before_the_first_answer() -> None:
    answer = SourcePoller(lambda: 7, timeout_s=1.0).latest()
    assert (answer.value, answer.error) == (None, NOT_POLLED)


def test_the_last_answer_holds_until_the_next() -> None:
    values = iter([7, 8])
    asker: SourcePoller[int] = SourcePoller(lambda: next(values), timeout_s=1.0)
    for expected in (7, 8):
        asker.poll()
        asker.wait(30)
        assert asker.latest().value == expected
    asker.close()


@pytest.mark.parametrize(
    ("error", "said"),
    [(OSError("broken"), "OSError: broken"), (AbsentError("no bus"), "no bus")],
)
def test_what_a_source_raises_is_told(error: Exception, said: str) -> None:
    def fails() -> int:
        raise error

    asker: SourcePoller[int] = SourcePoller(fails, timeout_s=1.0)
    asker.poll()
    asker.wait(30)
    assert (asker.latest().value, asker.latest().error) == (None, said)
    asker.close()


def test_a_call_that_takes_too_long_makes_the_old_answer_unknown(
    let_go: threading.Event,
) -> None:
    now_s, calls = [0.0], []

    def source() -> int:
        calls.append(1)
        if len(calls) > 1:
            let_go.wait(60)
        return len(calls)

    asker: SourcePoller[int] = SourcePoller(source, timeout_s=2.0, clock=lambda: now_s[0])
    asker.poll()
    asker.wait(30)
    asker.poll()
    assert asker.latest().value == 1
    now_s[0] = 2.5
    assert asker.latest().value is None
    assert asker.latest().error == "no answer for 2.5 s"
    for _ in range(50):
        asker.poll()
    let_go.set()
    asker.wait(30)
    assert asker.latest().value == 2
    assert len(calls) == 2
    asker.close()


def test_a_hundred_questions_to_what_hangs_cost_one_thread(let_go: threading.Event) -> None:
    before = set(threading.enumerate())
    asker: SourcePoller[bool] = SourcePoller(lambda: let_go.wait(60), timeout_s=0.0)
    for _ in range(100):
        asker.poll()
    assert len(set(threading.enumerate()) - before) == 1
    asker.close()


def test_after_its_end_nobody_is_called(let_go: threading.Event) -> None:
    called, ended, begun = threading.Event(), threading.Event(), threading.Event()

    def source() -> bool:
        begun.set()
        return let_go.wait(60)

    asker = SourcePoller(source, timeout_s=1.0, on_answer=called.set, on_end=ended.set)
    asker.poll()
    assert begun.wait(30)
    asker.close()
    let_go.set()
    assert ended.wait(30), "what the source holds open is to be closed"
    assert not called.is_set()
