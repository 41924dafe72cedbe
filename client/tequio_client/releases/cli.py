"""The commands `tequio update` and `tequio runtime`; the app starts them, too, with --json."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import TYPE_CHECKING, cast

import click
from click.core import ParameterSource

from tequio_client.cli import Number
from tequio_client.ipc.releases import (
    Downloaded,
    Fetching,
    Installed,
    Offer,
    ReleaseEvent,
    ReleaseFailed,
    encode,
)
from tequio_client.ledger import networks
from tequio_client.platform import programs, versions
from tequio_client.releases.install import disk_errors_explained, installed_bundle
from tequio_client.releases.log_check import LedgerChoice, ListDiffersError
from tequio_client.releases.update import ACCELERATORS, open_releases
from tequio_shared.errors import UserFacingError
from tequio_shared.version import BUILD

if TYPE_CHECKING:
    from tequio_client.platform.bundle import Accelerator, Bundle
    from tequio_client.releases.update import Releases

Show = Callable[[ReleaseEvent], None]

_json_option = click.option("--json", "is_json", is_flag=True, help="Report as JSON lines.")
_check_option = click.option("--check", is_flag=True, help="Say what there is, and fetch nothing.")
_yes_option = click.option("--yes", is_flag=True, help="Do not ask before the download.")


def _with_ledger(command: Callable[..., None]) -> Callable[..., None]:
    """Give the command the ledger to ask, which must answer if the command line names it."""

    @click.option(
        "--ledger",
        envvar="TEQUIO_LEDGER",
        show_envvar=True,
        help="Ledger whose log is asked.  [default: the network in use, if any]",
    )
    @wraps(command)
    def with_ledger(*, ledger: str | None, **values: object) -> None:
        source = click.get_current_context().get_parameter_source("ledger")
        choice = LedgerChoice(
            url=ledger or networks.chosen_ledger(None),
            must_answer=source is ParameterSource.COMMANDLINE,
        )
        command(ledger=choice, **values)

    return with_ledger


@click.command()
@click.option("--check", "action", flag_value="check", help="Say what there is, and fetch nothing.")
@click.option("--back", "action", flag_value="back", help="Go back to the version before this one.")
@click.option(
    "--download",
    "action",
    flag_value="download",
    help="Fetch and check it, but do not try it out yet.",
)
@click.option(
    "--most-mbit",
    type=Number(0, min_open=True),
    help="With --download: mean rate, in Mbit/s.  [default: no limit]",
)
@_yes_option
@_json_option
@_with_ledger
def update(
    *, action: str | None, most_mbit: float | None, yes: bool, is_json: bool, ledger: LedgerChoice
) -> None:
    """Fetch the newest version of Tequio; it starts the next time Tequio starts.

    Nothing is replaced: the new version is tried out beside this one, and this one starts again if
    the new one fails. The list of releases is compared with the one that the network's log names;
    if the ledger does not answer, that is left out, unless it was given with --ledger.
    """
    with _reported(is_json=is_json) as show:
        if action == "back":
            before = versions.state().current
            if not versions.folder_of("app", before or "none").is_dir():
                raise UserFacingError("no update is installed, so there is none to go back from")
            with disk_errors_explained():
                now = versions.go_back() or "the original version"
            show(Installed(version=now, is_update=True))
            click.echo(
                f"{now} starts from now on, and {before} is not installed again by itself", err=True
            )
            return
        with open_releases(ledger) as releases:
            releases.save_networks()
            offer, bundles = releases.offer_update()
            if action == "download" and bundles:
                show(offer)
                releases.download(bundles, show, most_mbit)
                show(Downloaded(version=offer.version))
                return
            is_check = action == "check"
            _run(releases, offer, bundles, show, check=is_check, yes=yes or is_json)


@click.group()
def runtime() -> None:
    """Manage the runtime with torch, which trains on this computer's card."""


@runtime.command("install")
@click.option(
    "--for",
    "accelerator",
    type=click.Choice(ACCELERATORS),
    help="What it computes on.  [default: this computer's best card]",
)
@_check_option
@_yes_option
@_json_option
@_with_ledger
def install_command(
    *, accelerator: str | None, check: bool, yes: bool, is_json: bool, ledger: LedgerChoice
) -> None:
    """Fetch and try out the runtime for this version of Tequio."""
    with _reported(is_json=is_json) as show, open_releases(ledger) as releases:
        wanted = cast("Accelerator | None", accelerator)
        _run(releases, *releases.offer_runtime(wanted), show, check=check, yes=yes or is_json)


@runtime.command("status")
def status_command() -> None:
    """Show which runtimes are installed, and where."""
    if not programs.is_packaged():
        click.echo("this Tequio runs from source: its own Python has torch, or gets it from pip")
    for version in versions.installed("runtime"):
        folder = versions.folder_of("runtime", version)
        found = installed_bundle(folder)
        accelerator = found.accelerator if found else "unknown"
        used = "  (in use)" if version == BUILD else ""
        click.echo(f"{version}  {accelerator}  {folder}{used}")
    if programs.is_packaged() and not programs.runtime().is_file():
        click.echo(f"no runtime for version {BUILD} is installed: run `tequio runtime install`")


@runtime.command("remove")
def remove_command() -> None:
    """Delete all runtimes; this computer then helps without training."""
    shutil.rmtree(versions.data_folder() / "runtime", ignore_errors=True)
    click.echo("removed")


def _run(
    releases: Releases,
    offer: Offer,
    bundles: list[Bundle],
    show: Show,
    *,
    check: bool,
    yes: bool,
) -> None:
    show(offer)
    if check or not bundles:
        return
    if offer.download_bytes and not yes and sys.stdin.isatty():
        click.confirm("Download and install it?", default=True, abort=True, err=True)
    releases.install(bundles, show)
    show(Installed(version=offer.version, is_update=offer.is_update))


@contextmanager
def _reported(*, is_json: bool) -> Iterator[Show]:
    """Report as the user, or the app, wants it; with JSON errors are events, too.

    Raises UserFacingError.
    """
    try:
        yield _write_event if is_json else _show_to_person
    except UserFacingError as err:
        if not is_json:
            raise
        is_alarm = isinstance(err, ListDiffersError)
        _write_event(ReleaseFailed(reason=str(err), is_alarm=is_alarm))
        sys.exit(1)


def _write_event(event: ReleaseEvent) -> None:
    sys.stdout.buffer.write(encode(event))
    sys.stdout.buffer.flush()


def _show_to_person(event: ReleaseEvent) -> None:
    if isinstance(event, Offer):
        if not event.disk_bytes:
            click.echo(f"{event.version} is the newest version")
            return
        what = f"version {event.version}" if event.is_update else "the runtime"
        on = f" for {event.accelerator}" if event.accelerator else ""
        click.echo(
            f"{what}{on}: {event.download_bytes / 1e6:,.0f} MB to download, "
            f"{event.disk_bytes / 1e6:,.0f} MB on the disk"
        )
    elif isinstance(event, Fetching):
        share = event.done / event.total if event.total else 1
        if sys.stderr.isatty():
            click.echo(f"\r{event.part}: {share:4.0%}", err=True, nl=event.done == event.total)
    elif isinstance(event, Downloaded):
        click.echo(f"{event.version} is downloaded: `tequio update` tries it out and installs it")
    elif isinstance(event, Installed):
        click.echo(f"{event.version} is installed")
