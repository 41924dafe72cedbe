"""`tequio audit`: check a ledger from its published files, without trusting it."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import click
import trio

from tequio_client import cli

if TYPE_CHECKING:
    from rich.console import Console

    from tequio_client.verify.report import LogReport
    from tequio_shared.ids import RunId


@click.command()
@cli.ledger_option_unless("mirror")
@click.option(
    "--mirror",
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    help="Audit a folder with a copy of the ledger's files instead of a live ledger.",
)
@click.option(
    "--copy",
    type=click.Path(path_type=Path, file_okay=False),
    help="Keep a copy of the log in this folder, for --mirror; one that is there is continued.",
)
@click.option("--run", "run_text", metavar="RUN", help="Recompute the heads of this run only.")
@cli.stores_option
@cli.trust_option
@click.option(
    "--omissions",
    "omissions",
    type=click.Path(path_type=Path, exists=True),
    multiple=True,
    help="File or folder with workers' evidence of attestations that the ledger left out. Repeat "
    "for several; without it, the evidence of a worker on this computer is used.",
)
@click.option("--from-log-only", is_flag=True, help="Check the log only; recompute no heads.")
@click.option(
    "--json", "json_file", type=cli.OutputFile(), help="Write all findings to this file as JSON."
)
def audit(  # noqa: PLR0913 - one parameter an option
    *,
    ledger: str,
    mirror: Path | None,
    copy: Path | None,
    run_text: str | None,
    stores: tuple[Path, ...],
    json_file: Path | None,
    trust_file: Path | None,
    omissions: tuple[Path, ...],
    from_log_only: bool,
) -> None:
    """Check a ledger, from its signed checkpoint to the last weight.

    Without --store, contributions and weights are fetched from the seeds that the ledger lists.

    Exit status: 0 everything holds, 1 a file or address given is not usable, 2 something does not
    match (or the command line is wrong), 3 something was unavailable or --json could not be
    written, 4 workers claim that the ledger left something out, but too few of them.
    """
    from rich.console import Console

    from tequio_client.ledger.api import LedgerApi
    from tequio_client.ledger.networks import read_policy
    from tequio_client.verify import audit as program
    from tequio_client.verify.report import LogPlace, LogReport, ProgressBars
    from tequio_client.verify.source import MirrorFolder
    from tequio_client.worker import shutdown
    from tequio_client.worker.swarm.seeds import StoreFolders

    if mirror is not None and copy is not None:
        raise click.UsageError("--copy needs a live ledger: leave out --mirror")
    reads_stores = not from_log_only and (stores or mirror)
    scope = program.AuditOptions(
        run=_run_id(run_text),
        contributions=(StoreFolders(stores),) if reads_stores else (),
        trust=read_policy(trust_file, "" if mirror else ledger),
        patience_s=0.0 if mirror else program.PUBLISHED_S,
        omissions=omissions or _own_omissions(),
    )
    if mirror is None:
        cli.set_up_logs(log_json=False, log_level="warning")
        # What the person can do about a ledger that does not answer is said before long work.
        try:
            shutdown.ask_ledger(ledger, LedgerApi.network)
        except shutdown.UnreachableLedgerError as err:
            report = LogReport()
            why, _, _ = str(err).partition(" (--verbose")  # a report has no further details
            report.missing("log", LogPlace(), why)
            _print(report, Console())
            cli.exit_checked(report.exit_code, json_file, report.encode())
    with (
        ProgressBars(Console(stderr=True)) as bars,
        TemporaryDirectory(prefix="tequio-audit-") as folder,
    ):
        if mirror is not None:
            report = program.audit(MirrorFolder(mirror), scope, bars)
        else:
            cache = None if stores or from_log_only else Path(folder)
            report = trio.run(
                partial(program.audit_live, ledger, scope, cache=cache, progress=bars, copy=copy)
            )
    _print(report, Console())
    cli.exit_checked(report.exit_code, json_file, report.encode())


def _own_omissions() -> tuple[Path, ...]:
    from tequio_client.worker.rounds.omissions import FOLDER

    own = cli.default_folder("worker") / FOLDER
    return (own,) if own.is_dir() else ()


def _print(report: LogReport, console: Console) -> None:
    from rich.table import Table

    from tequio_client.verify.report import STYLES, AuditGrade

    report.print_findings(console)
    table = Table(title="audit", title_justify="left")
    table.add_column("checked")
    table.add_column("count", justify="right")
    for what, number in sorted(report.checked.items()):
        table.add_row(what, str(number))
    for grade in AuditGrade:
        found = sum(one.grade is grade for one in report.findings)
        table.add_row(grade.name.lower(), str(found), style=STYLES[grade] if found else None)
    console.print(table)
    for line in report.totals.lines() if report.totals else ():
        console.print(line, markup=False, highlight=False, soft_wrap=True)
    console.print(report.verdict("ledger"))


def _run_id(text: str | None) -> RunId | None:
    from tequio_shared.errors import MalformedError
    from tequio_shared.ids import RunId, digest_from_text

    try:
        return RunId(digest_from_text(text)) if text else None
    except MalformedError as err:
        raise click.BadParameter(f"{err}; a run id has 43 characters", param_hint="--run") from err
