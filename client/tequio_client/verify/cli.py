"""`tequio verify-competition`: check a competition as a stranger who trusts nobody."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import trio

from tequio_client import cli

if TYPE_CHECKING:
    from tequio_shared.ids import RunId

# --- `tequio audit`: check a ledger as a stranger who trusts nobody.


@click.command()
@cli.ledger
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
@cli.trust
@click.option("--from-log-only", is_flag=True, help="Check the log; compute no heads.")
@click.option(
    "--json",
    "json_file",
    type=cli.OutputFile(),
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
    from tequio_client.worker import shutdown

    wish = command.Wish(
        ledger=ledger,
        mirror=mirror,
        run=_run_id(run_text),
        stores=stores,
        from_log_only=from_log_only,
        trust=read_policy(trust_file),
    )
    if mirror is None:
        cli.set_up_logs(log_json=False, log_level="warning")
        with shutdown.reached(ledger):
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


USAGE = 64
"""Exit status for what was not asked rightly: 2 says that a competition does not hold."""
_GIVEN = re.compile(r"(?P<name>[a-z0-9][a-z0-9-]{0,31})=(?P<folder>.+)", re.DOTALL)


class _NotAskedRightlyError(click.UsageError):
    """A fault of the command line, with an exit status that no verdict has."""

    exit_code = USAGE


class _Checking(click.Command):
    """A command whose own faults have an exit status of their own."""

    def make_context(
        self,
        info_name: str | None,
        args: list[str],
        parent: click.Context | None = None,
        **extra: Any,  # noqa: ANN401 - click's own
    ) -> click.Context:
        """Read the command line."""
        try:
            return super().make_context(info_name, args, parent, **extra)
        except click.UsageError as err:
            raise _NotAskedRightlyError(err.format_message(), err.ctx) from err

    def invoke(self, ctx: click.Context) -> Any:  # noqa: ANN401 - click's own
        """Run the command."""
        try:
            return super().invoke(ctx)
        except click.UsageError as err:
            raise _NotAskedRightlyError(err.format_message(), err.ctx) from err


@click.command("verify-competition", cls=_Checking)
@click.argument("place", metavar="URL|BUNDLE")
@click.option(
    "--competition",
    "wanted",
    metavar="ID|NAME",
    default="",
    help="Which one, if there are several.",
)
@click.option(
    "--rescore",
    "documents",
    metavar="N",
    type=click.IntRange(1),
    help="Score N documents of each entrant again on this computer.",
)
@click.option(
    "--bundle",
    type=cli.OutputFile(),
    help="Write all that was read to this file, which can be verified offline.",
)
@cli.trust
@click.option("--json", "json_file", type=cli.OutputFile(), help="Write all findings to this file.")
@click.option(
    "--model",
    "models",
    multiple=True,
    metavar="ENTRANT=FOLDER",
    help="An entrant's model that is here: an export of its head, or the files that it submitted.",
)
@click.option(
    "--store",
    "stores",
    multiple=True,
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    help="Store folder of a worker or seed to read heads from; may be repeated.",
)
@click.option("--device", default="auto", show_default=True, help="cpu, cuda, cuda:1, xpu, mps.")
@click.option("--threads", type=click.IntRange(1, 1024), help="CPU threads to compute with.")
def verify_competition(  # noqa: PLR0913 - one parameter an option
    *,
    place: str,
    wanted: str,
    documents: int | None,
    bundle: Path | None,
    trust_file: Path | None,
    json_file: Path | None,
    models: tuple[str, ...],
    stores: tuple[Path, ...],
    device: str,
    threads: int | None,
) -> None:
    """Check a competition from its log alone: of a ledger at URL, or of a BUNDLE without a network.

    The URL may be that of the competition's page.
    Signatures, order, draw, openings of the texts, medians, intervals and ranks are computed again.
    Exit status: 0 all is sound, 2 something does not match, 3 something could not be had.
    """
    from tequio_client.ledger.proofs import read_policy
    from tequio_client.verifying import command
    from tequio_client.verifying.main import Wish
    from tequio_shared.errors import UserFacingError

    cli.set_up_logs(log_json=False, log_level="warning")
    try:
        trust = read_policy(trust_file)
    except UserFacingError as err:
        raise click.UsageError(str(err)) from err
    wish = Wish.of(place, wanted=wanted, trust=trust, bundle=bundle)
    if not wish.is_live and not Path(place).is_file():
        raise click.UsageError(
            f"{place} is no file that is here; name a bundle, or a ledger by http:// or https://"
        )
    given = _given(models)
    rescoring = command.Rescoring(
        documents=documents or 0, models=given, stores=stores, device=device, threads=threads
    )
    try:
        found = command.run(wish, rescoring if documents else None)
    except UserFacingError as err:  # no address of a ledger, no such device, no room for a bundle
        raise click.UsageError(str(err)) from err
    if json_file is not None:
        json_file.write_bytes(command.encode(found))
    sys.exit(found.report.exit_code)


def _given(texts: tuple[str, ...]) -> dict[str, Path]:
    found: dict[str, Path] = {}
    for text in texts:
        match = _GIVEN.fullmatch(text)
        if match is None or not Path(match["folder"]).is_dir():
            raise click.UsageError(
                f"--model {text} is no ENTRANT=FOLDER with a folder that is here"
            )
        found[match["name"]] = Path(match["folder"])
    return found
