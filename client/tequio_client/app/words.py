"""What worker and app say to each other in codes, in the user's language.

The English templates are `link.words`; their translations stand in the context `words`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication, QDateTime, QLocale

from tequio_client.app.widgets import figures
from tequio_client.link import texts
from tequio_client.link.texts import Event

if TYPE_CHECKING:
    from tequio_client.link.decision import Decision, State, Value
    from tequio_client.link.questions import ActivityRow

CONTEXT = "words"
AMOUNTS = ("points", "ledger", "proven")
"""Values of events that are points."""


def state(now: State) -> str:
    """The state in a word."""
    return _say(texts.STATES[now])


def reason(decision: Decision, now_ms: int) -> str:
    """Why, and until when: one or two sentences."""
    values = dict(decision.values)
    if decision.until_ms is not None:
        values["until"] = until(decision.until_ms, now_ms)
    filled = _say(texts.decision_template(decision)).format(**values)
    return filled[:1].upper() + filled[1:]


def until(at_ms: int, now_ms: int) -> str:
    """When something ends."""
    template, values = texts.end_template(at_ms, now_ms, _local)
    return _say(template).format(**values)


def event(row: ActivityRow) -> str:
    """What happened, as one or two sentences."""
    try:
        if row.code == Event.DECIDED:
            decision = texts.event_decision(row)
            return f"{state(decision.state)}: {_reason_of_then(decision, row.at_ms)}"
        filled = {name: _spoken(name, value) for name, value in row.values.items()}
        return _say(texts.event_template(row)).format(**filled, code=row.code)
    except (KeyError, ValueError):
        return _say(texts.UNKNOWN_EVENT).format(code=row.code)


def _reason_of_then(decision: Decision, then_ms: int) -> str:
    """A decision of the past: its end is a time, for `in 5 min` would be read as from now on."""
    values = dict(decision.values)
    if decision.until_ms is not None:
        template, named = texts.time_template(decision.until_ms, then_ms, _local)
        values["until"] = _say(template).format(**named)
    return _say(texts.decision_template(decision)).format(**values)


def _local(at_ms: int) -> texts.LocalTime:
    weekday = QLocale().toString(QDateTime.fromMSecsSinceEpoch(at_ms).date(), "dddd")
    return texts.LocalTime(weekday=weekday, date=figures.day(at_ms), time=figures.clock(at_ms))


def round_state(name: str) -> str:
    """How a round stands, in a word."""
    return _say(texts.ROUND_STATES.get(name, name))


def round_reason(name: str) -> str:
    """Why a round gave nothing: half a sentence; empty for no reason."""
    return _say(texts.round_reason(name)).format(reason=name) if name else ""


def _spoken(name: str, value: Value) -> object:
    if name in AMOUNTS:
        return _Amount(value)
    if name == "reason":
        return round_reason(str(value))
    if name == "standing":
        return _say(texts.STANDINGS.get(str(value), str(value)))
    return figures.count(value) if isinstance(value, int) else value


class _Amount(float):
    """Points, that are written to the micro-point in the user's way whatever a template says."""

    def __format__(self, _form: str) -> str:
        return figures.exact_points(round(self * figures.MICRO))


def _say(template: str) -> str:
    return QCoreApplication.translate(CONTEXT, template)
