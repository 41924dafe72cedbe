"""The desk holds the latest Prepare and the latest task, and nothing else."""

from __future__ import annotations

import msgspec
import pytest

from tequio_client.ipc.trainer import Finish, Prepare, Rest
from tequio_client.trainer.main import TaskQueue, TaskReplacedError, is_same_model

PREPARE = Prepare(command=1, manifest="m", config="c", data_manifest="d")


def _with(command: int, **changes: object) -> Prepare:
    return msgspec.structs.replace(PREPARE, command=command, **changes)


def test_a_prepare_comes_before_the_task_that_came_first() -> None:
    desk = TaskQueue()
    desk.put(Rest(command=2))
    desk.put(_with(3))
    assert desk.wait().command == 3
    desk.mark_answered(_with(3))
    assert desk.wait().command == 2


def test_only_the_latest_task_is_in_force() -> None:
    desk = TaskQueue()
    for number in (1, 2, 3):
        desk.put(Rest(command=number))
    assert desk.wait().command == 3
    desk.mark_answered(Rest(command=3))
    desk.put(Rest(command=2))  # late: a newer one was met
    desk.put(Rest(command=3))
    assert desk.wait().command == 3


def test_work_goes_on_under_new_limits_but_not_for_another_task_or_model() -> None:
    desk = TaskQueue()
    desk.put(PREPARE)
    desk.put(Rest(command=2))
    limited = _with(3, threads=4, share_percent=50)
    desk.put(limited)
    assert desk.current_prepare(Rest(command=2), PREPARE) == limited
    desk.put(_with(4, device="cpu"))
    with pytest.raises(TaskReplacedError, match="model"):
        desk.current_prepare(Rest(command=2), PREPARE)
    desk.put(Rest(command=5))
    with pytest.raises(TaskReplacedError, match="task"):
        desk.current_prepare(Rest(command=2), PREPARE)


def test_finish_is_for_one_task_only() -> None:
    desk = TaskQueue()
    desk.put(Rest(command=2))
    desk.put(Finish(command=2))
    assert desk.should_finish(Rest(command=2))
    assert not desk.should_finish(Rest(command=3))


def test_limits_do_not_make_another_model() -> None:
    assert is_same_model(PREPARE, _with(9, threads=7, memory_mb=5, share_percent=1))
    assert not is_same_model(PREPARE, _with(9, config="other"))
