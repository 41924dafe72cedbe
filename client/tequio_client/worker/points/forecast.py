"""Forecasts of points per day: before the first round by the device's speed, then by its rounds.

A device's speed is what its benchmark reached. It is kept in the worker's folder, so that lists of
runs can say what this computer would earn. A worker that takes part is judged by its last rounds.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import msgspec
import structlog

from tequio_client import files
from tequio_client.worker.points.points_db import DatabaseFile
from tequio_shared.errors import MalformedError, UserFacingError
from tequio_shared.round.points import FLOP_PER_GFLOP

log = structlog.get_logger(__name__)

SPEEDS_FILE = "speeds.json"
ROUNDS = 16
"""Last rounds that count."""
LEAST_ROUNDS = 4
LATE_FACTOR = 3
"""Rounds after which a key that earned nothing is not taking part any more."""
DAY_MS, DAY_S = 86_400_000, 86_400
_MOST_BYTES = 1 << 16
_MOST_DEVICES = 64

Speeds = Annotated[
    dict[str, Annotated[float, msgspec.Meta(ge=0.0, le=1e18)]],
    msgspec.Meta(max_length=_MOST_DEVICES),
]
"""FLOP/s in training, by device."""


def read_speeds(folder: Path) -> Speeds:
    """Read the measured devices; blocks. None are known without a readable file."""
    try:
        return files.read_record(folder / SPEEDS_FILE, Speeds, _MOST_BYTES) or {}
    except (OSError, MalformedError) as err:
        log.warning("speeds ignored: unreadable", folder=str(folder), error=str(err))
        return {}


def record_speed(folder: Path, device: str, flop_per_s: float) -> None:
    """Record what a benchmark found; blocks. A failed write is logged."""
    speeds = {**read_speeds(folder), device: flop_per_s}
    try:
        files.write_for_user(folder / SPEEDS_FILE, msgspec.json.encode(speeds))
    except UserFacingError as err:
        log.warning("speed not written", device=device, error=str(err))


def by_speed(flop_per_s: float, train_ms: int, round_ms: int) -> int:
    """GFLOP per day of a device that trains in each round of `round_ms`.

    It trains for `train_ms` of these, and waits for the witnesses in the rest.
    """
    share = min(train_ms / max(round_ms, 1), 1.0)
    return int(flop_per_s * DAY_S * share / FLOP_PER_GFLOP)


def by_rounds(file: DatabaseFile, now_ms: int) -> int:
    """GFLOP per day at the pace of the last rounds; 0: too few, or none lately.

    Raises DatabaseError.
    """
    rows = file.rows(
        "SELECT at_ms, trained + witnessed + received AS amount FROM round "
        "WHERE state != 'pending' ORDER BY number DESC LIMIT ?1",
        ROUNDS + 1,
    )
    if len(rows) <= LEAST_ROUNDS:
        return 0
    newest, oldest = rows[0]["at_ms"], rows[-1]["at_ms"]
    span_ms, count = newest - oldest, len(rows) - 1
    if span_ms <= 0 or now_ms - newest > LATE_FACTOR * span_ms / count:
        return 0
    # Without the oldest: its time was before the span.
    return int(sum(row["amount"] for row in rows[:-1]) * DAY_MS / span_ms)
