"""The picture of a simulation: how the network went over time, as SVG."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape

from tequio_client.simulator.report import SimulationReport, duration
from tequio_shared import curve
from tequio_shared.curve import Point
from tequio_shared.wording import short_count, size_text

WIDTH, HEIGHT, GAP = 460, 190, 24
TOP, LEFT, BOTTOM = 40, 16, 26
SMOOTHED = 6
"""Samples over which a rate is taken."""
_STYLE = """
text { font: 13px system-ui, sans-serif; fill: #24312b }
.title { font-size: 18px; font-weight: 600 }
.name { font-weight: 600 }
.edge { fill: none; stroke: #c9d3cc }
.line { fill: none; stroke: #1c7a4f; stroke-width: 2 }
.area { fill: #1c7a4f; opacity: .12 }
@media (prefers-color-scheme: dark) {
  text { fill: #e4ece7 } svg { background: #14201a } .edge { stroke: #3a4a41 }
}
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Panel:
    name: str
    last: str
    """Highest value, in words."""
    points: Sequence[Point]


def draw_picture(report: SimulationReport) -> str:
    """Draw the report's series; returns the SVG document."""
    panels = list(_panels(report))
    width, height = 2 * WIDTH + 3 * GAP, 60 + 2 * (HEIGHT + GAP)
    title = escape(f"{report.run}: {report.peers:,} simulated peers, {duration(report.days)}")
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
        f'width="{width}" height="{height}" role="img" aria-label="{title}">',
        f"<style>{_STYLE}</style>",
        f'<text class="title" x="{GAP}" y="36">{title}</text>',
    ]
    hours = report.samples[-1].hours
    for number, panel in enumerate(panels):
        x = GAP + (number % 2) * (WIDTH + GAP)
        y = 60 + (number // 2) * (HEIGHT + GAP)
        parts.append(f'<g transform="translate({x} {y})">{_draw(panel, hours)}</g>')
    return "\n".join([*parts, "</svg>", ""])


def _panels(report: SimulationReport) -> Iterator[_Panel]:
    samples = report.samples
    # Over several samples: most rounds are longer than one, and end in one of them.
    steps = [(samples[max(at - SMOOTHED, 0)], samples[at]) for at in range(1, len(samples))]
    at = [later.hours for _, later in steps]

    def rates(name: str) -> list[float]:
        return [
            24 * (getattr(later, name) - getattr(one, name)) / max(later.hours - one.hours, 1e-9)
            for one, later in steps
        ]

    tokens, down = rates("tokens"), rates("down")
    void = [
        (later.voided - one.voided) / max(later.voided - one.voided + later.closed - one.closed, 1)
        for one, later in steps
    ]
    online = [float(one.online) for one in samples]
    yield _panel("Tokens per day", at, tokens, short_count(max(tokens)))
    yield _panel("Peers online", [one.hours for one in samples], online, f"{max(online):,.0f}")
    yield _panel("Void rounds", at, void, f"{max(void):.0%}")
    yield _panel("Bytes fetched per day", at, down, size_text(max(down)))


def _panel(name: str, at: Sequence[float], values: Sequence[float], last: str) -> _Panel:
    return _Panel(name=name, last=f"highest: {last}", points=list(zip(at, values, strict=True)))


def _draw(panel: _Panel, hours: float) -> str:
    highest = max(value for _, value in panel.points) or 1.0
    base, wide = HEIGHT - BOTTOM, WIDTH - 2 * LEFT
    places = [
        (LEFT + wide * x / hours, base - (base - TOP) * value / highest)
        for x, value in panel.points
    ]
    line = _path(places)
    return (
        f'<text class="name" x="0" y="16">{panel.name}</text>'
        f'<text x="{WIDTH}" y="16" text-anchor="end">{panel.last}</text>'
        f'<path class="area" d="{line}V{base}H{places[0][0]:.1f}Z"/>'
        f'<path class="line" d="{line}"/>'
        f'<path class="edge" d="M0,{base}H{WIDTH}"/>'
        f'<text x="0" y="{HEIGHT - 6}">0</text>'
        f'<text x="{WIDTH}" y="{HEIGHT - 6}" text-anchor="end">{duration(hours / 24)}</text>'
    )


def _path(places: Sequence[Point]) -> str:
    pieces = (
        "C" + " ".join(f"{x:.1f},{y:.1f}" for x, y in piece) for piece in curve.smooth(places)
    )
    return f"M{places[0][0]:.1f},{places[0][1]:.1f}" + "".join(pieces)
