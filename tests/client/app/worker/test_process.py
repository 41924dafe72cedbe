"""The app's side of a worker: real processes, which follow a script."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from tequio_client.app.model import AppModel
from tequio_client.app.worker import connection
from tequio_client.app.worker.connection import WorkerLimits
from tequio_client.app.worker.process import MOST_FAILURES, WorkerProcess, worker_command
from tequio_client.ipc import control
from tequio_client.ipc.account import RequestName
from tequio_client.ipc.facts import SessionFacts
from tequio_client.ipc.points import AskActivity
from tequio_client.ipc.preferences import Preferences
from tequio_client.ipc.snapshot import DesiredState
from tequio_client.worker.children.trainer import BENCHMARK_S
from tequio_client.worker.ledger.connection import PUBLISHED_S
from tequio_client.worker.ledger.outbox import SUBMIT_S
from tequio_shared.errors import UserFacingError
from tequio_shared.ids import to_text
from tequio_shared.version import BUILD
from tests.support.timing_slack import allowed_s

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from pytestqt.qtbot import QtBot

SEED = bytes(range(32))
LIMITS = WorkerLimits(pauses_ms=(50, 50, 50, 50))
BRIEF, BRIEF_SLOW = replace(LIMITS, answer_ms=200), replace(LIMITS, slow_answer_ms=200)


def no_seed() -> bytes | None:
    return None


@contextmanager
def worker_of(
    mode: str,
    folder: Path,
    seed: Callable[[], bytes | None] = no_seed,
    limits: WorkerLimits = LIMITS,
) -> Iterator[WorkerProcess]:
    command = (sys.executable, "-m", "tests.support.app_worker_program", mode, str(folder))
    worker = WorkerProcess(command, folder, seed, limits=limits)
    try:
        yield worker
    finally:
        worker.close()


def starts(folder: Path) -> list[int]:
    path = folder / "starts"
    return [int(line) for line in path.read_text().split()] if path.exists() else []


def heard(folder: Path) -> list[control.ToWorker]:
    lines = (folder / "heard").read_bytes().splitlines()
    return [control.decode_to_worker(line) for line in lines]


def is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def test_a_worker_is_greeted_with_the_key_and_told_what_holds(tmp_path: Path, qtbot: QtBot) -> None:
    chosen = Preferences(consent=True, idle_minutes=7)
    with worker_of("good", tmp_path, lambda: SEED) as worker:
        model = AppModel(worker)
        model.set_preferences(chosen)
        worker.send_facts(SessionFacts(idle_s=12.0))
        worker.start()
        qtbot.waitUntil(
            lambda: model.snapshot is not None and model.preferences.consent, timeout=90_000
        )
    hello, *rest = heard(tmp_path)
    assert hello == control.ControllerHello(who="app", build=BUILD, seed=to_text(SEED))
    assert rest[:2] == [
        control.SetPreferences(preferences=chosen),
        control.ReportSessionFacts(facts=SessionFacts(idle_s=12.0)),
    ]
    assert rest[-1] == control.EndWorker()


def test_a_worker_keeps_its_own_preferences_until_some_are_chosen(
    tmp_path: Path, qtbot: QtBot
) -> None:
    with worker_of("good", tmp_path) as worker, qtbot.waitSignal(worker.snapshot, timeout=90_000):
        worker.start()
    assert not [one for one in heard(tmp_path) if isinstance(one, control.SetPreferences)]


def test_a_wish_is_said_until_it_is_shown_and_no_longer(tmp_path: Path, qtbot: QtBot) -> None:
    with worker_of("slow-wish", tmp_path) as worker:
        model = AppModel(worker)
        worker.start()
        qtbot.waitUntil(lambda: model.snapshot is not None, timeout=90_000)
        model.contribute()
        assert model.desired.lend
        shown = lambda: model.snapshot is not None and model.snapshot.wish.number == 5  # noqa: E731
        qtbot.waitUntil(shown, timeout=90_000)
        said = len(heard(tmp_path))
        qtbot.wait(2 * LIMITS.command_repeat_ms + 100)
        assert [
            one for one in heard(tmp_path)[said:] if isinstance(one, control.SetDesiredState)
        ] == []


def test_a_greater_wish_of_somebody_else_is_taken_over(tmp_path: Path, qtbot: QtBot) -> None:
    with worker_of("other-wish", tmp_path) as worker:
        model = AppModel(worker)
        worker.send_desired(DesiredState(number=3, lend=False))
        worker.start()
        qtbot.waitUntil(lambda: model.desired.number == 41, timeout=90_000)
        model.pause()
        qtbot.waitUntil(
            lambda: model.snapshot is not None and model.snapshot.wish == DesiredState(number=42),
            timeout=90_000,
        )


def test_facts_are_told_again_and_again(tmp_path: Path, qtbot: QtBot) -> None:
    def told() -> int:
        return sum(isinstance(one, control.ReportSessionFacts) for one in heard(tmp_path))

    limits = replace(LIMITS, facts_repeat_ms=100)
    with worker_of("good", tmp_path, limits=limits) as worker:
        with qtbot.waitSignal(worker.snapshot, timeout=90_000):
            worker.start()
        qtbot.waitUntil(lambda: told() >= 4, timeout=90_000)


def test_a_question_has_its_answer_even_if_it_is_late(tmp_path: Path, qtbot: QtBot) -> None:
    with worker_of("late", tmp_path) as worker:
        model = AppModel(worker)
        worker.start()
        qtbot.waitUntil(lambda: model.snapshot is not None, timeout=90_000)
        with qtbot.waitSignal(model.replied, timeout=90_000):
            model.ask(AskActivity())


@pytest.mark.parametrize(
    ("question", "limits", "why"),
    [
        (AskActivity(), BRIEF, "The worker has not answered in time."),
        (control.AskBenchmark(device="cpu"), BRIEF_SLOW, "has not answered in time."),
        (RequestName(name="Ada"), BRIEF_SLOW, "It may still carry out the request."),
    ],
)
def test_a_question_without_an_answer_is_refused_in_the_end(
    tmp_path: Path, qtbot: QtBot, question: control.Question, limits: WorkerLimits, why: str
) -> None:
    with worker_of("mute", tmp_path, limits=limits) as worker:
        model = AppModel(worker)
        worker.start()
        qtbot.waitUntil(lambda: model.snapshot is not None, timeout=90_000)
        with qtbot.waitSignal(model.refused, timeout=90_000) as told:
            model.ask(question)
    assert told.args is not None
    assert told.args[1].endswith(why)


def test_the_app_waits_longer_than_the_worker_works() -> None:
    assert LIMITS.slow_answer_ms > 1_000 * max(BENCHMARK_S, SUBMIT_S, PUBLISHED_S)


def test_without_a_worker_a_question_is_refused_at_once(tmp_path: Path, qtbot: QtBot) -> None:
    with worker_of("good", tmp_path) as worker:
        model = AppModel(worker)
        with qtbot.waitSignal(model.refused, timeout=1_000):
            model.ask(AskActivity())


def test_a_killed_worker_is_started_again_and_its_wish_holds(tmp_path: Path, qtbot: QtBot) -> None:
    with worker_of("good", tmp_path) as worker:
        model = AppModel(worker)
        worker.start()
        qtbot.waitUntil(lambda: model.snapshot is not None, timeout=90_000)
        with qtbot.waitSignal(worker.gone, timeout=90_000):
            os.kill(worker.pid, signal.SIGKILL)
        assert model.snapshot is None
        assert model.why_gone == "The worker was ended from outside (9). It is started again."
        worker.send_desired(DesiredState(number=9, lend=True))
        qtbot.waitUntil(
            lambda: model.desired.number == 9 and model.snapshot is not None, timeout=90_000
        )
        assert len(starts(tmp_path)) == 2


@pytest.mark.parametrize(
    ("mode", "why"),
    [
        ("garbage", "The worker sent an invalid message"),
        ("endless", "a line of more than 1048576 bytes"),
        ("dying", "The disk under the folder is gone"),
        ("taken", "Another process uses the folder"),
    ],
)
def test_a_worker_that_keeps_failing_is_given_up_with_the_reason(
    mode: str, why: str, tmp_path: Path, qtbot: QtBot
) -> None:
    with worker_of(mode, tmp_path) as worker:
        model = AppModel(worker)
        worker.start()
        qtbot.waitUntil(
            lambda: f"failed {MOST_FAILURES} times in a row" in model.why_gone, timeout=90_000
        )
        assert why in model.why_gone
        assert len(starts(tmp_path)) == MOST_FAILURES
        assert not any(map(is_alive, starts(tmp_path)))
        worker.retry()
        qtbot.waitUntil(lambda: len(starts(tmp_path)) > MOST_FAILURES, timeout=90_000)


def test_a_worker_that_hangs_is_replaced_although_it_will_not_end(
    tmp_path: Path, qtbot: QtBot
) -> None:
    limits = replace(LIMITS, silence_ms=150, terminate_ms=200)
    with worker_of("hung", tmp_path, limits=limits) as worker:
        worker.start()
        with qtbot.waitSignal(worker.gone, timeout=90_000) as gone:
            pass
        assert gone.args == ["The worker does not answer any more. It is started again."]
        first = starts(tmp_path)[0]
        assert not is_alive(first)
        qtbot.waitUntil(lambda: len(starts(tmp_path)) == 2, timeout=90_000)


def test_a_worker_that_never_says_a_word_is_replaced(tmp_path: Path, qtbot: QtBot) -> None:
    limits = replace(LIMITS, starting_ms=1_500)
    with (
        worker_of("silent", tmp_path, limits=limits) as worker,
        qtbot.waitSignal(worker.gone, timeout=90_000),
    ):
        worker.start()


def test_a_worker_of_another_version_is_not_tried_again(tmp_path: Path, qtbot: QtBot) -> None:
    with worker_of("refusing", tmp_path) as worker:
        with qtbot.waitSignal(worker.gone, timeout=90_000) as gone:
            worker.start()
        assert gone.args == ["App 0.1 speaks version 1, this worker speaks 2."]
        qtbot.wait(300)
        assert len(starts(tmp_path)) == 1


def test_a_key_that_cannot_be_had_is_said_and_nothing_runs(tmp_path: Path, qtbot: QtBot) -> None:
    def locked() -> bytes | None:
        raise UserFacingError("the keyring is locked: unlock it and try again")

    with worker_of("good", tmp_path, locked) as worker:
        with qtbot.waitSignal(worker.gone, timeout=90_000) as gone:
            worker.start()
        assert gone.args == ["The keyring is locked: unlock it and try again."]
        assert worker.pid == 0


def test_a_worker_is_started_once_its_key_is_there(tmp_path: Path, qtbot: QtBot) -> None:
    is_asked, is_unlocked = threading.Event(), threading.Event()

    def unlock() -> bytes | None:
        is_asked.set()
        is_unlocked.wait()
        return SEED

    with worker_of("good", tmp_path, unlock) as worker:
        worker.start()
        qtbot.waitUntil(is_asked.is_set, timeout=90_000)
        assert worker.pid == 0, "it would wait in vain for its greeting"
        with qtbot.waitSignal(worker.snapshot, timeout=90_000):
            is_unlocked.set()


def test_a_program_that_is_not_there_is_given_up_with_the_reason(
    tmp_path: Path, qtbot: QtBot
) -> None:
    worker = WorkerProcess((str(tmp_path / "none"),), tmp_path, no_seed, limits=LIMITS)
    said: list[str] = []
    worker.gone.connect(said.append)
    worker.start()
    qtbot.waitUntil(lambda: len(said) == MOST_FAILURES, timeout=90_000)
    assert f"failed {MOST_FAILURES} times" in said[-1]
    worker.close()


def test_a_folder_that_cannot_be_made_is_said(tmp_path: Path, qtbot: QtBot) -> None:
    (tmp_path / "file").write_text("")
    with (
        worker_of("good", tmp_path / "file" / "folder") as worker,
        qtbot.waitSignal(worker.gone, timeout=90_000) as gone,
    ):
        worker.start()
    assert "Not a directory" in gone.args[0]


def test_another_ledger_ends_the_worker_and_starts_one_with_it(
    tmp_path: Path, qtbot: QtBot
) -> None:
    with worker_of("good", tmp_path) as worker:
        model = AppModel(worker)
        worker.start()
        qtbot.waitUntil(lambda: model.snapshot is not None, timeout=90_000)
        worker.set_command(
            (sys.executable, "-m", "tests.support.app_worker_program", "other-wish", str(tmp_path))
        )
        qtbot.waitUntil(lambda: model.desired.number == 41, timeout=90_000)
        assert control.EndWorker() in heard(tmp_path)
        assert not is_alive(starts(tmp_path)[0])


def test_closing_waits_for_a_goodbye_but_not_for_ever(tmp_path: Path, qtbot: QtBot) -> None:
    limits = replace(LIMITS, goodbye_ms=200, terminate_ms=200)
    with worker_of("hung", tmp_path, limits=limits) as worker:
        with qtbot.waitSignal(worker.snapshot, timeout=90_000):
            worker.start()
        begun = time.monotonic()
        worker.close()
        assert time.monotonic() - begun < allowed_s(3)
    assert not is_alive(starts(tmp_path)[0])


def test_a_long_log_is_put_aside(tmp_path: Path, qtbot: QtBot) -> None:
    (tmp_path / connection.LOG).write_text("tequio: words of an earlier one\n")
    with (
        worker_of("good", tmp_path, limits=replace(LIMITS, log_bytes=10)) as worker,
        qtbot.waitSignal(worker.snapshot, timeout=90_000),
    ):
        worker.start()
    assert (tmp_path / f"{connection.LOG}.1").read_text() == "tequio: words of an earlier one\n"
    assert "earlier" not in (tmp_path / connection.LOG).read_text()


def test_the_command_starts_a_worker_for_that_ledger_and_folder(tmp_path: Path) -> None:
    tail = ("worker", "--link", "--ledger", "http://l", "--dir", str(tmp_path))
    assert worker_command("http://l", tmp_path) == (sys.executable, "-m", "tequio_client", *tail)
