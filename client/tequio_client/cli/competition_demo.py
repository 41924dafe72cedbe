"""`tequio competition demo`: a whole competition on this computer, in minutes."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import click

from tequio_client.cli.demo import fresh


@click.command()
@click.option(
    "--dir",
    "folder",
    type=click.Path(path_type=Path, file_okay=False),
    help="Where everything is kept; a temporary folder if not given.",
)
@click.option(
    "--pace",
    default=1.0,
    show_default=True,
    type=click.FloatRange(0.5, 20.0),
    help="Stretch all dates so many times, for a slow computer.",
)
@click.option("--keep-running", is_flag=True, help="Leave ledger and pages up until Ctrl-C.")
def demo(folder: Path | None, pace: float, *, keep_running: bool) -> None:
    """Let two swarms compete on texts that nobody has seen, and check the result as a stranger.

    Ends with exit status 0 if all that the stranger did ended as it has to.
    """
    from tequio_client.demo import contest_main
    from tequio_client.demo.contest_script import ContestScript
    from tequio_client.runtime import configure_logging

    configure_logging(style="console", level="error")
    with tempfile.TemporaryDirectory(prefix="tequio-contest-", ignore_cleanup_errors=True) as spare:
        place = fresh(folder) if folder else Path(spare)
        script = ContestScript(folder=place, pace=pace)
        status = contest_main.perform(script, keep_running=keep_running)
    sys.exit(status)
