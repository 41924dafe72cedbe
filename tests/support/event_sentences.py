"""Events of the activity log as English sentences, for tests of the programs that record them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tequio_client.ipc.texts import (
    POINT_VALUES,
    UNKNOWN_EVENT,
    ActivityEvent,
    LocalTime,
    decision_sentence,
    event_decision,
    event_template,
)
from tequio_shared.round.points import points

if TYPE_CHECKING:
    from collections.abc import Callable

    from tequio_client.ipc.points import ActivityRow


def event_sentence(row: ActivityRow, local: Callable[[int], LocalTime]) -> str:
    """The event as a sentence; `local` reads the local clock."""
    try:
        if row.code == ActivityEvent.DECIDED:
            return decision_sentence(event_decision(row), row.at_ms, local)
        values: dict[str, Any] = {**row.values, "code": row.code}
        for name in POINT_VALUES & values.keys():
            values[name] = points(values[name])
        return event_template(row).format(**values)
    except (KeyError, ValueError):
        return UNKNOWN_EVENT.format(code=row.code)
