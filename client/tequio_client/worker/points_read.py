"""What the points book answers: pure reading, mapped to the replies that controllers get."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from tequio_client.link.questions import (
    AskLosses,
    AskPoints,
    AskSeries,
    Losses,
    LossRow,
    Points,
    PointsRow,
    Series,
)

if TYPE_CHECKING:
    from sqlite3 import Row

    from tequio_client.worker.book_file import BookFile

STEPS = 10_000
"""Most steps of one series; more would not be drawn."""


class Sums(NamedTuple):
    """Of the whole book: micro-points proven today and in all; rounds open, and rejected today."""

    today: int
    total: int
    pending: int
    rejected: int


def sums(book: BookFile, midnight_ms: int) -> Sums:
    """Add up; `midnight_ms` is when the local day began. Raises BookError."""
    (row,) = book.rows(
        "SELECT (SELECT COALESCE(SUM(trained + witnessed), 0) FROM round "
        "  WHERE at_ms >= ?1 AND state != 'pending') AS today, "
        "(SELECT COALESCE(SUM(trained + witnessed), 0) FROM round "
        "  WHERE state IN ('verified', 'rejected')) AS total, "
        "(SELECT COUNT(*) FROM round WHERE state = 'pending') AS pending, "
        "(SELECT COUNT(*) FROM round WHERE at_ms >= ?1 AND state = 'rejected') AS rejected",
        midnight_ms,
    )
    return Sums(*row)


def of_runs(book: BookFile) -> dict[str, int]:
    """Proven micro-points by run; raises BookError."""
    rows = book.rows(
        "SELECT run, SUM(trained + witnessed) AS amount FROM round "
        "WHERE state IN ('verified', 'rejected') GROUP BY run"
    )
    return {row["run"]: row["amount"] for row in rows}


def runs(book: BookFile) -> frozenset[str]:
    """In which runs we took part in a round; raises BookError."""
    return frozenset(row["run"] for row in book.rows("SELECT DISTINCT run FROM round"))


def points(book: BookFile, asked: AskPoints) -> Points:
    """Give rounds, the newest first; raises BookError."""
    rows = book.rows(
        "SELECT * FROM round WHERE (?1 IS NULL OR number < ?1) AND at_ms >= ?2 "
        "AND (?3 = '' OR run = ?3) AND (?4 = '' OR device = ?4) ORDER BY number DESC LIMIT ?5",
        asked.before,
        asked.since_ms,
        asked.run,
        asked.device,
        asked.limit + 1,
    )
    shown = tuple(_points_row(row) for row in rows[: asked.limit])
    return Points(rows=shown, has_more=len(rows) > asked.limit)


def series(book: BookFile, asked: AskSeries, now_ms: int) -> Series:
    """Add up by steps, from the first round if no time is given, to now.

    Rounds are timed by the coordinator: those beyond our own clock belong to the last step. Steps
    are doubled until they are few enough. Raises BookError.
    """
    since_ms = asked.since_ms or _first_ms(book, asked, now_ms)
    span_ms, step_ms = max(now_ms - since_ms, 0), asked.step_ms
    while span_ms // step_ms >= STEPS:
        step_ms *= 2
    count = span_ms // step_ms + 1
    verified, energy = [0] * count, [0.0] * count
    for row in book.rows(
        "SELECT (at_ms - ?1) / ?2 AS step, SUM(energy_j) AS energy, "
        "COALESCE(SUM(CASE WHEN state != 'pending' THEN trained + witnessed END), 0) AS amount "
        "FROM round WHERE at_ms >= ?1 AND (?3 = '' OR run = ?3) AND (?4 = '' OR device = ?4) "
        "GROUP BY step",
        since_ms,
        step_ms,
        asked.run,
        asked.device,
    ):
        step = min(row["step"], count - 1)
        verified[step] += row["amount"]
        energy[step] += row["energy"]
    return Series(
        since_ms=since_ms, step_ms=step_ms, verified=tuple(verified), energy_j=tuple(energy)
    )


def losses(book: BookFile, asked: AskLosses) -> Losses:
    """Give what is known of a run's newest rounds, the oldest first; raises BookError."""
    rows = book.rows(
        "SELECT round, MAX(loss) AS loss, MAX(bits) AS bits FROM ("
        "SELECT round, loss, NULL AS bits FROM round WHERE run = ?1 AND loss IS NOT NULL "
        "UNION ALL SELECT round, NULL, bits_per_byte FROM head WHERE run = ?1) "
        "GROUP BY round ORDER BY round DESC LIMIT ?2",
        asked.run,
        asked.limit,
    )
    return Losses(
        rows=tuple(
            LossRow(round=row["round"], loss=row["loss"], bits_per_byte=row["bits"])
            for row in reversed(rows)
        )
    )


def _first_ms(book: BookFile, asked: AskSeries, now_ms: int) -> int:
    ((first,),) = book.rows(
        "SELECT MIN(at_ms) FROM round WHERE (?1 = '' OR run = ?1) AND (?2 = '' OR device = ?2)",
        asked.run,
        asked.device,
    )
    return now_ms if first is None else int(first)


def _points_row(row: Row) -> PointsRow:
    return PointsRow(
        number=row["number"],
        run=row["run"],
        run_name=row["run_name"],
        round=row["round"],
        at_ms=row["at_ms"],
        state=row["state"],
        reason=row["reason"],
        micropoints=row["trained"] + row["witnessed"],
        trained=row["trained"],
        witnessed=row["witnessed"],
        device=row["device"],
        tokens=row["tokens"],
        energy_j=row["energy_j"],
        entry=row["entry"],
        size=row["size"],
        root=row["root"],
    )
