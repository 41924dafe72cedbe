"""Points in time as people write them in a plan: a time of day somewhere, or how long from before.

`90s`, `30m`, `12h`, `30d` and sums such as `1d12h` count from the point before;
`2026-12-01T18:00Z` says when. A time without a zone is refused: entrants live everywhere.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime

from tequio_shared.errors import MalformedError
from tequio_shared.limits import JSON_INTEGER

_UNITS_MS = {"s": 1_000, "m": 60_000, "h": 3_600_000, "d": 86_400_000}
_PART = re.compile(r"(\d{1,9}(?:\.\d{1,3})?)([smhd])")
_LENGTH = re.compile(rf"(?:{_PART.pattern})+")


def moment(said: str, before_ms: int) -> int:
    """When that is, in milliseconds since 1970; raises MalformedError."""
    text = said.strip()
    if _LENGTH.fullmatch(text):
        length = sum(float(many) * _UNITS_MS[unit] for many, unit in _PART.findall(text))
        return _within(before_ms + round(length))
    try:
        return _of_time(datetime.fromisoformat(text))
    except ValueError as err:
        raise MalformedError(
            f"{said!r} is neither a length such as 90s, 30m, 12h or 30d nor a time such as "
            "2026-12-01T18:00Z"
        ) from err


def told(ms: int) -> str:
    """A point in time for people, to the second, in UTC."""
    return datetime.fromtimestamp(ms / 1_000, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")


def _of_time(time: datetime) -> int:
    if time.tzinfo is None:
        raise MalformedError(
            f"{time.isoformat()} has no zone: end it with Z for UTC, or with +01:00"
        )
    return _within(round(time.timestamp() * 1_000))


def _within(ms: int) -> int:
    if not 0 <= ms <= JSON_INTEGER:
        raise MalformedError("that is no time that a calendar has")
    return ms
