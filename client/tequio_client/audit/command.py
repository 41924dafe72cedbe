"""The audit as a person sees it: bars for long work, one line per finding, a table at the end."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Self

import trio
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

from tequio_client.audit.contributions import StoreFolders
from tequio_client.audit.findings import Grade
from tequio_client.audit.main import Scope, audit
from tequio_client.audit.online import audit_live
from tequio_client.audit.sources import Mirror

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tequio_client.audit.findings import Report
    from tequio_shared.ids import RunId
    from tequio_shared.log.policy import Policy

_STYLES = {Grade.MISMATCH: "bold red", Grade.MISSING: "yellow"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """What the person asked for."""

    ledger: str
    mirror: Path | None
    run: RunId | None
    stores: tuple[Path, ...]
    from_log_only: bool
    trust: Policy | None = None


def run(wish: Wish, console: Console | None = None) -> Report:
    """Audit, and show what was found."""
    shown = console or Console()
    with Bars(shown) as bars:
        report = _mirror(wish, wish.mirror, bars) if wish.mirror else _live(wish, bars)
    _show(report, shown)
    return report


class Bars:
    """Progress bars; `with` shows them."""

    def __init__(self, console: Console) -> None:
        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
        self._progress = Progress(*columns, TimeRemainingColumn(), console=console, transient=True)

    def __enter__(self) -> Self:
        self._progress.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._progress.stop()

    @contextmanager
    def work(self, what: str, total: int) -> Iterator[Callable[[int], None]]:
        """Show a bar for one piece of work."""
        task = self._progress.add_task(what, total=total)
        yield partial(self._progress.advance, task)


def _live(wish: Wish, bars: Bars) -> Report:
    stores = StoreFolders(wish.stores) if wish.stores and not wish.from_log_only else None
    with TemporaryDirectory(prefix="tequio-audit-") as folder:
        cache = Path(folder) if not wish.stores and not wish.from_log_only else None
        call = partial(
            audit_live,
            wish.ledger,
            run=wish.run,
            stores=stores,
            cache=cache,
            progress=bars,
            trust=wish.trust,
        )
        return trio.run(call)


def _mirror(wish: Wish, folder: Path, bars: Bars) -> Report:
    contributions = None if wish.from_log_only else StoreFolders(wish.stores)
    scope = Scope(run=wish.run, contributions=contributions)
    return audit(Mirror(folder, wish.trust), scope, bars)


def _show(report: Report, console: Console) -> None:
    for finding in report.findings:
        style = _STYLES[finding.grade]
        console.print(finding.line(), style=style, markup=False, highlight=False, soft_wrap=True)
    table = Table(title="audit", title_justify="left")
    table.add_column("checked")
    table.add_column("number", justify="right")
    for what, number in sorted(report.checked.items()):
        table.add_row(what, str(number))
    for grade in Grade:
        found = sum(one.grade is grade for one in report.findings)
        table.add_row(grade.name.lower(), str(found), style=_STYLES[grade] if found else None)
    console.print(table)
    console.print(_VERDICTS[report.exit_code])


_VERDICTS = {
    0: "All of it is sound.",
    Grade.MISMATCH.value: "The ledger does not hold: see above.",
    Grade.MISSING.value: "What could be had is sound, but not everything could be had.",
}
