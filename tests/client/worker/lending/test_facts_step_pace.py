"""Slowdown of the worker's own training steps, from a scripted trainer's heartbeats."""

from __future__ import annotations

import pytest

from tequio_client.ipc.trainer import TrainerHeartbeat
from tequio_client.worker.lending.facts import WARM_UP_S, StepPace


class _Trainer:
    """Reports its step count once a second; each step takes `step_s`."""

    def __init__(self) -> None:
        self.pace = StepPace()
        self.at_s = 0.0
        self.steps = 0.0
        self.command = 1

    def train(self, seconds: int, step_s: float, share: int = 100) -> float | None:
        """Let `seconds` pass; return the slowdown after them."""
        for _ in range(seconds):
            self.at_s += 1
            self.steps += share / 100 / step_s
            self.send_heartbeat("training", share)
        return self.pace.slowdown

    def send_heartbeat(self, doing: str, share: int = 100) -> None:
        alive = TrainerHeartbeat(self.command, doing, int(self.steps), 10_000, 0, 100)
        self.pace.observe(alive, share, self.at_s)


def test_nothing_is_known_before_the_trainer_is_warm() -> None:
    trainer = _Trainer()
    assert trainer.train(int(WARM_UP_S), 0.1) is None
    assert trainer.train(1, 0.1) == 1.0


@pytest.mark.parametrize("step_s", [0.01, 0.1, 0.7, 3.0])
def test_an_even_pace_is_no_slowdown(step_s: float) -> None:
    slowdown = _Trainer().train(90, step_s)
    assert slowdown == pytest.approx(1.0, abs=0.35)


def test_a_slower_pace_shows_within_seconds_and_goes_again() -> None:
    trainer = _Trainer()
    trainer.train(90, 0.1)
    slower = trainer.train(5, 0.2)
    assert slower is not None
    assert slower > 1.4
    again = trainer.train(15, 0.1)
    assert again is not None
    assert again < 1.1


def test_a_step_that_does_not_end_shows_too() -> None:
    trainer = _Trainer()
    trainer.train(90, 0.5)
    stuck = trainer.train(5, 1e9)
    assert stuck is not None
    assert stuck > 4


def test_another_share_is_no_slowdown() -> None:
    trainer = _Trainer()
    trainer.train(90, 0.1)
    assert trainer.train(30, 0.1, share=30) == pytest.approx(1.0, abs=0.2)


def test_the_next_round_goes_on_with_the_same_measure() -> None:
    trainer = _Trainer()
    trainer.train(60, 0.1)
    trainer.send_heartbeat("encoding")
    trainer.command, trainer.steps = 2, 0.0
    trainer.train(1, 0.1)
    assert trainer.pace.slowdown is None or trainer.pace.slowdown < 1.2
