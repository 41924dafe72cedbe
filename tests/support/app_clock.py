"""A clock that stands still until a test moves it."""

from __future__ import annotations

from tests.support.app_worker_answers import NOW_MS


class AppClock:
    """Milliseconds since 1970."""

    def __init__(self) -> None:
        self.ms = NOW_MS

    def __call__(self) -> int:
        """Give the time."""
        return self.ms
