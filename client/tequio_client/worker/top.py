"""`tequio top`: a running worker in a terminal, live."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from rich.box import SIMPLE
from rich.console import Console, Group
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from tequio_client import clock
from tequio_client.control_socket import WorkerCall
from tequio_client.ipc.points import AskPoints, PointsReply
from tequio_client.ipc.texts import ROUND_REASON_TEXTS, ROUND_STATES, decision_sentence
from tequio_shared.errors import UserFacingError
from tequio_shared.round.points import points
from tequio_shared.wording import plural

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from rich.console import RenderableType

    from tequio_client.ipc.points import PointsRow
    from tequio_client.ipc.snapshot import Snapshot, TrainerView
    from tequio_client.ipc.texts import LocalTime

ROUNDS = 8
"""Recent rounds in the view."""
_BAR = 12
_GIB, _GB, _MB = 1 << 30, 10**9, 10**6


def watch(folder: Path, console: Console, local: Callable[[int], LocalTime]) -> None:
    """Show the worker until Ctrl-C; raises UserFacingError, also when the worker ends."""
    if not console.is_terminal:
        raise UserFacingError("tequio top needs a terminal: use `tequio status`, also with --json")
    with suppress(KeyboardInterrupt), WorkerCall.to(folder) as call:
        rows: tuple[PointsRow, ...] = ()
        shown, asked = call.snapshot(), -1
        with Live(console=console, screen=True, auto_refresh=False) as live:
            while True:
                if shown.rounds != asked:  # only then are there other rounds
                    rows, asked = call.ask(AskPoints(limit=ROUNDS), PointsReply).rows, shown.rounds
                live.update(render(shown, rows, local), refresh=True)
                shown = call.snapshot()


def render(
    shown: Snapshot, rows: Sequence[PointsRow], local: Callable[[int], LocalTime]
) -> RenderableType:
    """Render the whole view; `local` names an instant."""
    parts: list[RenderableType] = [_header(shown, local), _surroundings(shown)]
    if shown.trainers:
        parts.append(_devices(shown))
    if rows:
        parts.append(_rounds(rows))
    parts.append(Text("Ctrl-C ends this view; the worker goes on.", style="dim"))
    return Group(*parts)


def _header(shown: Snapshot, local: Callable[[int], LocalTime]) -> Text:
    style = "bold green" if shown.decision.may_compute else "bold yellow"
    text = Text("Tequio  ", style="bold")
    text.append(decision_sentence(shown.decision, clock.now_ms(), local), style=style)
    return text


def _surroundings(shown: Snapshot) -> Table:
    line, disk, total = shown.line, shown.disk, shown.points
    table = Table.grid(padding=(0, 2))
    table.add_column(style="dim")
    table.add_column()
    peers = plural(shown.status.peers if shown.status else 0, "peer")
    reached = "" if shown.ledger.is_reached else " (does not answer)"
    table.add_row("Network", Text(f"{shown.ledger.url}{reached}, {peers}"))
    traffic = f"{line.up_bytes_per_s / _MB:.1f} MB/s up, {line.down_bytes_per_s / _MB:.1f} down"
    most = f" of {line.month_cap_bytes / _GB:.0f}" if line.month_cap_bytes else ""
    table.add_row("Traffic", f"{traffic}; {line.month_bytes / _GB:.1f}{most} GB this month")
    store = f"{disk.store_bytes / _GIB:.1f} of {disk.cap_bytes / _GIB:.0f} GiB"
    table.add_row("Storage", f"{store}; {disk.free_bytes / _GIB:.0f} GiB free on the disk")
    forecast = f"; about {points(total.per_day)} a day" if total.per_day else ""
    today = f"{points(total.total)} verified, {points(total.today)} of them today"
    table.add_row("Points", f"{today}; {plural(total.pending, 'round')} pending{forecast}")
    return table


def _devices(shown: Snapshot) -> Table:
    names = {gpu.id: gpu.name for gpu in shown.machine.gpus or ()}
    table = Table(box=SIMPLE, pad_edge=False)
    for title in ("Device", "Run", "Round", "Role", "Trainer", "Done", "Loss", "Memory"):
        is_number = title in {"Loss", "Memory"}
        table.add_column(title, justify="right" if is_number else "left", no_wrap=True)
    for one in shown.trainers:
        table.add_row(Text(names.get(one.device, one.device)), *_device_cells(one))
    return table


def _device_cells(one: TrainerView) -> list[RenderableType]:
    current = one.round
    memory = f"{one.resident_mb:,} MiB" if one.resident_mb else ""
    if current is None:
        return ["", "", "", one.state, "", "", memory]
    done = current.done_percent
    bar = "" if done is None else ProgressBar(completed=done, width=_BAR)
    loss = "" if current.loss is None else f"{current.loss:.3f}"
    role = "auditor" if one.audits.ordered_round else current.role
    number = (
        f"{current.number:,} of {current.rounds:,}" if current.rounds else f"{current.number:,}"
    )
    return [Text(current.run_name), number, role, one.state, bar, loss, memory]


def _rounds(rows: Sequence[PointsRow]) -> Table:
    table = Table(box=SIMPLE, pad_edge=False)
    for title in ("Time", "Run", "Round", "Result", "Points"):
        is_number = title in {"Round", "Points"}
        table.add_column(title, justify="right" if is_number else "left", no_wrap=True)
    for row in rows:
        state = ROUND_STATES.get(row.state, row.state).lower()
        reason = ROUND_REASON_TEXTS.get(row.reason, row.reason)
        result = f"{state}: {reason}" if reason else state
        earned = points(row.gflop) if row.gflop else ""
        at = f"{clock.local_time(row.at_ms):%H:%M:%S}"
        table.add_row(at, Text(row.run_name), str(row.round), result, earned)
    return table
