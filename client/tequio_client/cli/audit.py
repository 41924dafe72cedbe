"""`tequio audit`: check a ledger as a stranger who trusts nobody."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click
import trio

from tequio_client.cli import options

if TYPE_CHECKING:
    from tequio_shared.ids import RunId


@click.command()
@options.ledger
@click.option(
    "--mirror",
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    help="Audit a folder of the ledger's files instead of the ledger.",
)
@click.option("--run", "run_text", metavar="RUN", help="Compute the heads of this run only.")
@click.option(
    "--store",
    "stores",
    multiple=True,
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    help="Store folder of a worker or seed to read contributions from; may be repeated.",
)
@options.trust
@click.option("--from-log-only", is_flag=True, help="Check the log; compute no heads.")
@click.option(
    "--json",
    "json_file",
    type=options.OutputFile(),
    help="Write all findings to this file.",
)
def audit(  # noqa: PLR0913 - one parameter an option
    ledger: str,
    mirror: Path | None,
    run_text: str | None,
    stores: tuple[Path, ...],
    json_file: Path | None,
    trust_file: Path | None,
    *,
    from_log_only: bool,
) -> None:
    """Check a ledger from its signed checkpoint to the last weight.

    Without --store, contributions and weights are fetched from the seeds that the ledger lists.
    Exit status: 0 all is sound, 2 something does not match, 3 something could not be had.
    """
    from tequio_client.audit import command
    from tequio_client.ledger.proofs import read_policy
    from tequio_client.worker import endings

    wish = command.Wish(
        ledger=ledger,
        mirror=mirror,
        run=_run_id(run_text),
        stores=stores,
        from_log_only=from_log_only,
        trust=read_policy(trust_file),
    )
    if mirror is None:
        options.set_up_logs(log_json=False, log_level="warning")
        with endings.reached(ledger):
            trio.run(_greet, ledger)
    report = command.run(wish)
    if json_file is not None:
        json_file.write_bytes(report.encode())
    sys.exit(report.exit_code)


async def _greet(ledger: str) -> None:
    """Ask the ledger who it is: an audit of nothing at all is no audit."""
    from tequio_client.ledger.api import LedgerApi

    async with LedgerApi(ledger) as api:
        await api.network()


def _run_id(text: str | None) -> RunId | None:
    from tequio_shared.errors import MalformedError
    from tequio_shared.ids import RunId, digest_from_text

    try:
        return RunId(digest_from_text(text)) if text else None
    except MalformedError as err:
        raise click.BadParameter(
            f"{err}; a run's id has 43 characters", param_hint="--run"
        ) from err
