"""Watches for training in tests."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tequio_client.trainer.inner import TrainingProgress


class UninterruptedControl:
    """Lets training run to its end, or for `steps` steps."""

    def __init__(self, steps: int | None = None) -> None:
        self._steps = steps

    def check(self) -> None:
        """Let it go on."""

    def should_stop(self, progress: TrainingProgress) -> bool:
        """Stop after the steps."""
        return progress.step == self._steps
