"""`tequio demo` and `tequio competition demo`: a whole network on this computer, in minutes."""

from __future__ import annotations

import json
import os
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

import click

from tequio_client import cli
from tequio_client.platform import programs
from tequio_shared.errors import UserFacingError

ENDLESS = 1_000_000
"""Rounds of a demo that is kept running."""
_FOLDER = click.option(
    "--dir",
    "folder",
    type=click.Path(path_type=Path, file_okay=False),
    help="New folder for all files (default: a temporary folder).",
)


def _check_algorithm(_context: click.Context, _option: click.Parameter, name: str) -> str:
    from tequio_client.demo.script import ALGORITHMS

    if name not in ALGORITHMS:
        raise click.BadParameter(f"{name!r} is none of {', '.join(ALGORITHMS)}")
    return name


@click.command()
@click.option("--rounds", type=click.IntRange(1, 10_000), help="Rounds to train (default: 32).")
@click.option(
    "--peers",
    default=4,
    show_default=True,
    type=click.IntRange(2, 16),
    help="Number of volunteers.",
)
@_FOLDER
@click.option(
    "--json", "json_file", type=cli.OutputFile(), help="Write the report to this file as JSON."
)
@click.option(
    "--share",
    default=100,
    show_default=True,
    type=click.IntRange(1, 100),
    help="Percent of the time that the volunteers compute.",
)
@click.option(
    "--algorithm",
    default="sparseloco",
    show_default=True,
    metavar="NAME",
    callback=_check_algorithm,
    help="Outer step of the run, such as diloco; an unknown name lists all.",
)
@click.option(
    "--late",
    "late_after",
    default=0,
    metavar="ROUNDS",
    type=click.IntRange(0, 10_000),
    help="Let one more volunteer join after this many rounds (default: none).",
)
@click.option("--quick", is_flag=True, help="Train five rounds only, in about a minute.")
@click.option(
    "--keep-running",
    is_flag=True,
    help="Train until Ctrl-C, so that others can join; skips measurement and audit.",
)
def demo(  # noqa: PLR0913 - one parameter an option
    rounds: int | None,
    peers: int,
    folder: Path | None,
    json_file: Path | None,
    *,
    share: int,
    algorithm: str,
    late_after: int,
    quick: bool,
    keep_running: bool,
) -> None:
    """Train a real model with a ledger, a seed and volunteers, and audit the result.

    Exit status: 0 the audit passed, 2 it did not.
    """
    from tequio_client.demo import main, script
    from tequio_client.runtime import configure_logging

    _check_sources()
    configure_logging(style="console", level="warning")
    with tempfile.TemporaryDirectory(prefix="tequio-demo-", ignore_cleanup_errors=True) as spare:
        place = new_folder(folder) if folder else Path(spare)
        chosen = (
            script.quick_script(place, peers)
            if quick
            else script.DemoScript(folder=place, peers=peers, rates=script.FAST)
        )
        chosen = replace(chosen, share_percent=share, algorithm=algorithm, late_after=late_after)
        if keep_running:
            main.keep_running(replace(chosen, rounds=rounds or ENDLESS))
            return
        if rounds is not None:
            chosen = replace(chosen, rounds=rounds)
        report = main.run_demo(chosen)
    if json_file is not None:
        cli.write_output(json_file, json.dumps(report, indent=1).encode() + b"\n")
    sys.exit(0 if report["audit_exit"] == 0 else 2)


def _check_sources() -> None:
    """Raise UserFacingError in a package, which has no ledger to start."""
    if programs.is_packaged():
        raise UserFacingError(
            "a demo starts a ledger, which this package does not contain: get Tequio's source code "
            "and run `make demo` there"
        )


def new_folder(folder: Path) -> Path:
    """Create the folder of a demo; raises UserFacingError unless it is new, or empty."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        is_empty = not any(folder.iterdir())
    except OSError as err:
        raise UserFacingError(f"cannot use the folder {folder} ({err.strerror})") from err
    if not is_empty or not os.access(folder, os.W_OK):
        raise UserFacingError(f"{folder} is not empty or not writable: give a new folder")
    return folder


@click.command("demo")
@_FOLDER
@click.option(
    "--pace",
    default=1.0,
    show_default=True,
    type=cli.Number(0.5, 20.0),
    help="Factor for all dates; increase it on a slow computer.",
)
@click.option(
    "--keep-running", is_flag=True, help="Keep the ledger and its pages running until Ctrl-C."
)
def competition_demo(folder: Path | None, pace: float, *, keep_running: bool) -> None:
    """Let two runs compete on unseen texts, and verify the result.

    Exit status: 0 everything ended as expected.
    """
    from tequio_client.demo import competition
    from tequio_client.demo.script import CompetitionScript
    from tequio_client.runtime import configure_logging

    _check_sources()
    configure_logging(style="console", level="error")
    with tempfile.TemporaryDirectory(prefix="tequio-contest-", ignore_cleanup_errors=True) as spare:
        place = new_folder(folder) if folder else Path(spare)
        script = CompetitionScript(folder=place, pace=pace)
        status = competition.run_demo(script, keep_running=keep_running)
    sys.exit(status)
