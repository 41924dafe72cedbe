"""The seam to the worker: what the app may say to it, and what it hears.

One implementation starts the process and speaks `link.control` over its pipes; the tests have
another that follows a script.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

if TYPE_CHECKING:
    from tequio_client.link.preferences import Preferences
    from tequio_client.link.questions import Question
    from tequio_client.link.wish import Wish


class Worker(QObject):
    """A worker somewhere; signals carry values that nobody changes."""

    snapshot = Signal(object)
    """A `link.snapshot.Snapshot`: everything that there is to see, at least once a second."""
    answer = Signal(object)
    """A `link.control.Answer` to a question, by its number."""
    gone = Signal(str)
    """There is no worker now, and why: a sentence for people, or empty when all is as it should."""

    def want(self, wish: Wish) -> None:
        """Wish this until the worker shows it."""
        raise NotImplementedError

    def choose(self, preferences: Preferences) -> None:
        """Let these preferences hold."""
        raise NotImplementedError

    def ask(self, number: int, question: Question) -> None:
        """Ask; the answer has the same number."""
        raise NotImplementedError
