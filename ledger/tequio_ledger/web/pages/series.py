"""Rounds in a row as charts: what trainers say of their loss, and how fast tokens came."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tequio_ledger.web.pages import figures
from tequio_ledger.web.pages.chart import Chart, Reading, as_bars, chart

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tequio_ledger.store.history import PastRound

SPAN_DAYS = 30


def losses(rounds: Sequence[PastRound]) -> Chart:
    """Median claimed loss over rounds."""
    readings = [
        _reading(one, value, f"{value:.4f} nats a token")
        for one in rounds
        if (value := figures.loss(one.loss_q16)) is not None and value > 0
    ]
    return chart(
        "loss",
        "Training loss",
        summary("The median loss that trainers claim", readings, "nats a token"),
        readings,
        figures.brief,
        from_zero=False,
    )


def rates(rounds: Sequence[PastRound]) -> Chart:
    """Tokens a second over closed rounds, from opening to close."""
    readings = [
        _reading(one, value, f"{figures.short_count(value)} tokens/s")
        for one in rounds
        if (value := rate(one)) is not None
    ]
    return chart(
        "rate",
        "Tokens per second",
        summary("Accepted tokens a second", readings, "tokens/s"),
        readings,
        figures.brief,
        from_zero=True,
    )


def rate(one: PastRound) -> float | None:
    """Accepted tokens a second of a closed round."""
    if one.outcome != "closed" or one.opened_ms is None or one.ended_ms is None:
        return None
    return one.tokens / max(one.ended_ms - one.opened_ms, 1) * 1_000


def points_per_day(by_day: dict[int, int], now_ms: int, name: str = "points") -> Chart:
    """Points a day over the last days, days without any included."""
    today = now_ms // figures.DAY_MS
    first = max(today - SPAN_DAYS + 1, min(by_day, default=today) - 1)
    readings = [_day(day, by_day.get(day, 0), today) for day in range(first, today + 1)]
    total = sum(by_day.get(day, 0) for day in range(first, today + 1))
    summary = (
        f"{figures.points(total)} points in {figures.plural(len(readings), 'day')}"
        if total
        else "No points in these days"
    )
    made = chart(
        name,
        "Points per day",
        f"{summary}; today, so far, {figures.points(by_day.get(today, 0))}" if total else summary,
        readings if total else [],
        figures.brief,
        from_zero=True,
    )
    return as_bars(made)


def _day(number: int, micropoints: int, today: int) -> Reading:
    label = figures.day(number * figures.DAY_MS)
    is_open = number == today
    return Reading(
        at=number,
        value=micropoints / figures.MICRO,
        label=label,
        said=f"{label}{', so far' if is_open else ''}: {figures.points(micropoints)} points",
        is_open=is_open,
    )


def _reading(one: PastRound, value: float, said: str) -> Reading:
    return Reading(
        at=one.round, value=value, label=str(one.round), said=f"round {one.round}: {said}"
    )


def summary(what: str, readings: Sequence[Reading], unit: str) -> str:
    """Say a series by rounds in a sentence."""
    if not readings:
        return "No round has closed yet"
    first, last = readings[0], readings[-1]
    if len(readings) == 1:
        return f"{what} was {_short(last.value)} {unit} in round {last.label}"
    least, most = (pick(one.value for one in readings) for pick in (min, max))
    return (
        f"{what}: from {_short(first.value)} in round {first.label} to {_short(last.value)} {unit} "
        f"in round {last.label}, between {_short(least)} and {_short(most)}"
    )


def _short(value: float) -> str:
    return figures.short_count(value) if value >= 100 else f"{value:.3g}"  # noqa: PLR2004
