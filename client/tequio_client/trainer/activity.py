"""What the trainer is busy with: written by the thread that works, read by the heartbeat."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(slots=True)
class Activity:
    """The fields of `link.messages.Alive`; each is read and written whole."""

    command: int = 0
    doing: str = "starting"
    step: int = 0
    steps: int = 0
    tokens: int = 0

    def begin(self, command: int, doing: str) -> None:
        """Start something new."""
        self.command, self.doing = command, doing
        self.step = self.steps = self.tokens = 0
