"""Numbers, times and keys as people read them. Points are never rounded up."""

from __future__ import annotations

import math
from datetime import UTC, datetime
from itertools import pairwise

MICRO = 1_000_000
SECOND_MS, MINUTE_MS, HOUR_MS, DAY_MS = 1_000, 60_000, 3_600_000, 86_400_000
ABSENT = "–"
KEY_CHARS = 10
"""Of a key where space is short; as many as the app shows."""
_PLACES = ((1_000, 0), (100, 1), (1, 2))
"""From how many points on, how many decimals are shown."""
_SIGNIFICANT = 3
_SCALES = ((12, "T"), (9, "B"), (6, "M"), (3, "k"))
_UNITS = ((DAY_MS, "d"), (HOUR_MS, "h"), (MINUTE_MS, "min"), (SECOND_MS, "s"))
_Q16 = 1 << 16


def points(micropoints: int) -> str:
    """Points, short: 18,930 or 412.5 or 0.00123; cut, not rounded."""
    whole = micropoints // MICRO
    places = next((places for least, places in _PLACES if whole >= least), None)
    if places is None:
        places = min(6, 6 - len(str(micropoints)) + _SIGNIFICANT) if micropoints else 0
    return _decimal(micropoints, places)


def exact_points(micropoints: int) -> str:
    """Points to the micro-point, without zeros at the end."""
    return _decimal(micropoints, len(f"{micropoints % MICRO:06d}".rstrip("0")))


def count(number: int) -> str:
    """A whole number."""
    return f"{number:,}"


def short_count(number: float) -> str:
    """A great number, in three digits: 950, 12.4k, 350M, 1.31B."""
    for power, letter in _SCALES:
        part = number / 10**power
        if part >= 1:
            places = 0 if part >= 100 else 1 if part >= 10 else 2  # noqa: PLR2004 - three digits
            return f"{part:.{places}f}{letter}"
    return f"{number:,.0f}" if number >= 10 or number == int(number) else f"{number:.1f}"  # noqa: PLR2004


def brief(number: float) -> str:
    """A number for an axis, in at most three digits and without zeros at the end: 2.5k, 0.075."""
    for power, letter in _SCALES:
        if abs(number) >= 10**power:
            return f"{number / 10**power:.3g}{letter}"
    return f"{number:.3g}"


def decimal(number: float | None, places: int = 2) -> str:
    """A number with so many decimals."""
    return ABSENT if number is None or not math.isfinite(number) else f"{number:,.{places}f}"


def percent(part: float) -> str:
    """A share of one."""
    return f"{100 * part:.0f} %"


def plural(number: int, one: str, many: str | None = None) -> str:
    """A number with its noun: 1 round, 12 rounds."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def size(size_bytes: int) -> str:
    """Bytes in decimal units, as disks and lines are sold."""
    if size_bytes < 1_000:  # noqa: PLR2004 - a kilobyte
        return f"{size_bytes} B"
    power = min(int(math.log10(size_bytes)) // 3, 4)
    return f"{size_bytes / 1_000**power:.3g} {'kMGT'[power - 1]}B"


def duration(length_ms: int) -> str:
    """How long, in at most two units: 38 s, 2 min 5 s, 2 h 14 min, 3 d 4 h."""
    rest = max(0, length_ms)
    for (unit_ms, unit), (next_ms, next_unit) in pairwise(_UNITS):
        if rest >= unit_ms:
            more = rest % unit_ms // next_ms
            return (
                f"{rest // unit_ms} {unit} {more} {next_unit}"
                if more
                else f"{rest // unit_ms} {unit}"
            )
    return f"{rest // SECOND_MS} s"


def moment(at_ms: int) -> str:
    """A time for people: 21 Nov 2026, 14:03:22 UTC."""
    at = _utc(at_ms)
    return f"{at.day} {at:%b %Y, %H:%M:%S} UTC" if at else f"{at_ms} ms since 1970"


def day(at_ms: int) -> str:
    """A day for an axis: 21 Nov."""
    at = _utc(at_ms)
    return f"{at.day} {at:%b}" if at else ABSENT


def machine_time(at_ms: int) -> str:
    """The same for machines, as ISO 8601; empty for a time that no calendar has."""
    at = _utc(at_ms)
    return at.isoformat(timespec="milliseconds").replace("+00:00", "Z") if at else ""


def short_key(text: str) -> str:
    """The front of a key or digest."""
    return text if len(text) <= KEY_CHARS + 1 else text[:KEY_CHARS] + "…"


def loss(loss_q16: int | None) -> float | None:
    """Nats a token."""
    return None if loss_q16 is None else loss_q16 / _Q16


def _utc(at_ms: int) -> datetime | None:
    try:
        return datetime.fromtimestamp(at_ms / SECOND_MS, UTC)
    except (OverflowError, ValueError, OSError):  # a member may claim any time
        return None


def _decimal(micropoints: int, places: int) -> str:
    whole, part = divmod(micropoints, MICRO)
    return f"{whole:,}.{f'{part:06d}'[:places]}" if places else f"{whole:,}"


FILTERS = {
    "points": points,
    "exact_points": exact_points,
    "count": count,
    "short_count": short_count,
    "decimal": decimal,
    "percent": percent,
    "plural": plural,
    "size": size,
    "duration": duration,
    "moment": moment,
    "day": day,
    "machine_time": machine_time,
    "short_key": short_key,
}
"""By their names in templates."""
