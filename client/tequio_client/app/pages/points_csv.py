"""Rounds as comma-separated values: micro-points whole, times in ISO 8601 and UTC.

What came over the network (a run's name) is written so that no spreadsheet takes it for a formula.
"""

from __future__ import annotations

import csv
import io
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from tequio_client.app.pages.rounds_rows import is_checked

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tequio_client.link.questions import PointsRow

HEADINGS = (
    "number",
    "run",
    "run_name",
    "round",
    "time",
    "state",
    "reason",
    "micropoints",
    "trained_micropoints",
    "witnessed_micropoints",
    "device",
    "tokens",
    "energy_j",
    "proof_checked",
    "log_entry",
    "checkpoint_size",
    "checkpoint_root",
)
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def heading() -> bytes:
    """The first line."""
    return _written([HEADINGS])


def lines(rows: Iterable[PointsRow]) -> bytes:
    """One line for each round."""
    return _written(_cells(row) for row in rows)


def _cells(row: PointsRow) -> tuple[object, ...]:
    return (
        row.number,
        row.run,
        _plain(row.run_name),
        row.round,
        _time(row.at_ms),
        row.state,
        _plain(row.reason),
        row.micropoints,
        row.trained,
        row.witnessed,
        _plain(row.device),
        row.tokens,
        repr(row.energy_j),
        "yes" if is_checked(row) else "no",
        "" if row.entry is None else row.entry,
        "" if row.size is None else row.size,
        row.root,
    )


def _time(at_ms: int) -> str:
    seconds, ms = divmod(at_ms, 1_000)
    try:
        return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%dT%H:%M:%S}.{ms:03d}Z"
    except (OverflowError, ValueError, OSError):
        return f"{at_ms} ms after 1970"


def _plain(text: str) -> str:
    return f"'{text}" if text.startswith(_FORMULA) else text


def _written(rows: Iterable[Iterable[object]]) -> bytes:
    text = io.StringIO()
    csv.writer(text, lineterminator="\r\n").writerows(rows)
    return text.getvalue().encode()
