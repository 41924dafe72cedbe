"""How good a run's heads are on held-out text, as its page shows it: a curve, and who says so."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tequio_ledger.web.pages import figures
from tequio_ledger.web.pages.chart import Chart, Reading, Single, chart
from tequio_ledger.web.pages.series import summary
from tequio_ledger.web.pages.words import Mark
from tequio_shared import samples
from tequio_shared.ids import to_text
from tequio_shared.measures import bits_per_byte

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tequio_ledger.store.measured import MeasuredHead, MeasuredRow

_AGREES = Mark("with the median", "ok")
_OUTLIER = Mark("far from the median", "warn")


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasureLine:
    """What one drawn member says of the last measured head."""

    peer: str
    entry: int
    bits_per_byte: float
    mark: Mark


@dataclass(frozen=True, slots=True, kw_only=True)
class Writing:
    """What the model writes after a beginning, and who says so."""

    round: int
    peer: str
    entry: int
    prompt: str
    text: str
    alike: int
    """So many say the same, word for word."""
    told: int
    """So many say anything."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldOut:
    """The curve, and the last measured head."""

    curve: Chart
    round: int
    bits_per_byte: float
    """Median of its lines."""
    size_bytes: int
    lines: tuple[MeasureLine, ...]
    writing: Writing | None
    """Of the newest head of which there is a sample."""


def held_out(heads: Sequence[MeasuredHead]) -> HeldOut | None:
    """Show measured heads, the last one last; nothing without any."""
    if not heads:
        return None
    last = heads[-1]
    return HeldOut(
        curve=_curve(heads),
        round=last.round,
        bits_per_byte=bits_per_byte(last.median),
        size_bytes=last.median.size_bytes,
        lines=tuple(_line(row) for row in last.rows),
        writing=next((one for head in reversed(heads) if (one := _writing(head))), None),
    )


def _curve(heads: Sequence[MeasuredHead]) -> Chart:
    readings = [_reading(head) for head in heads]
    return chart(
        "held-out",
        "Held-out text",
        summary("The median that drawn members measure", readings, "bits per byte"),
        readings,
        figures.brief,
        from_zero=False,
    )


def _reading(head: MeasuredHead) -> Reading:
    value, away = bits_per_byte(head.median), sum(row.is_outlier for row in head.rows)
    count = f"median of {len(head.rows)}" + (f", {away} far from it" if away else "")
    return Reading(
        at=head.round,
        value=value,
        label=str(head.round),
        said=f"head of round {head.round}: {value:.4f} bits per byte, {count}",
        singles=tuple(
            Single(value=bits_per_byte(row.said), is_outlier=row.is_outlier) for row in head.rows
        ),
    )


def _writing(head: MeasuredHead) -> Writing | None:
    sample = samples.of(head.shown.said) if head.shown else None
    if head.shown is None or sample is None:
        return None
    told = [one for row in head.rows if (one := samples.of(row.said)) is not None]
    return Writing(
        round=head.round,
        peer=to_text(head.shown.peer),
        entry=head.shown.entry,
        prompt=sample.prompt,
        text=sample.text,
        alike=told.count(sample),
        told=len(told),
    )


def _line(row: MeasuredRow) -> MeasureLine:
    return MeasureLine(
        peer=to_text(row.peer),
        entry=row.entry,
        bits_per_byte=bits_per_byte(row.said),
        mark=_OUTLIER if row.is_outlier else _AGREES,
    )
