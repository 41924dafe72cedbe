"""The estimate of a planned run on a terminal: a table, and how the run would progress."""

from __future__ import annotations

import math

from rich.console import Console
from rich.markup import escape
from rich.progress_bar import ProgressBar
from rich.table import Table

from tequio_client.organiser.estimate import Estimate, duration_text
from tequio_client.organiser.outline import RunOutline

_DRAWN_TIMES = 8
_BAR_COLUMNS = 24


def print_estimate(outline: RunOutline, found: Estimate) -> None:
    """Print the estimate, and its warnings; raises UserFacingError if the run cannot work."""
    table = Table("what", "estimate", "note", title=escape(outline.manifest.name))
    for row in found.rows:
        table.add_row(row.label, row.value, row.note)
    console = Console()
    console.print(table)
    found.check()
    if console.is_terminal:
        console.print(_progress(outline, found))
    for warning in found.warnings:
        Console(stderr=True, soft_wrap=True).print(f"warning: {escape(warning)}", style="yellow")


def _progress(outline: RunOutline, found: Estimate) -> Table:
    """Draw tokens over time, with the passes over the data and the learning rate by then."""
    manifest = outline.manifest
    table = Table("after", "rounds", "tokens", "", "passes", "learning rate", title="progress")
    for column in table.columns[:3] + table.columns[4:]:
        column.justify = "right"
    times = min(manifest.rounds.most, _DRAWN_TIMES)
    for time in range(1, times + 1):
        number = math.ceil(manifest.rounds.most * time / times)
        share = number / manifest.rounds.most
        rate = manifest.inner_at(number).lr_e9 / manifest.inner.lr_e9
        table.add_row(
            duration_text(number * found.round_s),
            f"{number:,}",
            f"{number * found.round_tokens / 1e6:,.1f}M",
            ProgressBar(
                total=1, completed=share, width=_BAR_COLUMNS, finished_style="bar.complete"
            ),
            f"{share * found.passes:,.1f}",
            f"{rate:.0%}",
        )
    return table
