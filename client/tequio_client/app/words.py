"""What worker and app say to each other in codes, in the user's language.

The English templates are `link.words`; their translations stand in the context `words`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication

from tequio_client.app.widgets import figures
from tequio_client.link import words

if TYPE_CHECKING:
    from tequio_client.link.decision import Decision, State

CONTEXT = "words"


def state(now: State) -> str:
    """The state in a word."""
    return _say(words.STATES[now])


def reason(decision: Decision, now_ms: int) -> str:
    """Why, and until when: one or two sentences."""
    values = dict(decision.values)
    if decision.until_ms is not None:
        values["until"] = until(decision.until_ms, now_ms)
    filled = _say(words.template(decision)).format(**values)
    return filled[:1].upper() + filled[1:]


def until(at_ms: int, now_ms: int) -> str:
    """When something ends."""
    template, values = words.when(at_ms, now_ms, figures.weekday)
    return _say(template).format(**values)


def _say(template: str) -> str:
    return QCoreApplication.translate(CONTEXT, template)
