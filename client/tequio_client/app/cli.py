"""The command `tequio app`."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import click

from tequio_client import cli, heap
from tequio_client.ledger import networks
from tequio_client.platform import child, versions
from tequio_shared.version import BUILD


@click.command()
@click.argument("link", default="")
@click.option(
    "--ledger",
    envvar="TEQUIO_LEDGER",
    show_envvar=True,
    help="Address of the ledger, for this time. A set-up that ends with it keeps it.",
)
@cli.folder_option("worker")
@click.option("--background", is_flag=True, help="Start without a window, as at login.")
@click.option("--selftest", is_flag=True, help="Check that the installation is whole, and end.")
def app(*, link: str, ledger: str | None, folder: Path, background: bool, selftest: bool) -> None:
    """Open the window: lend this computer, and see what came of it.

    With a LINK of an invitation it asks whether to join, with one to a competition it shows that;
    so does an app that runs already.
    """
    if selftest:
        child.end_with_parent()  # of an update that is held back
        os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
        from tequio_client.app.selftest import run_selftest

        sys.exit(run_selftest())
    with versions.trial_of(BUILD):
        sys.exit(_run(link, ledger, folder, is_background=background))


def _run(link: str, ledger: str | None, folder: Path, *, is_background: bool) -> int:
    with heap.collection_paused():
        from tequio_client.app import main
    from tequio_client.app.registration import app_command, system_link_handler

    link_handler = None
    # An app that is tried out in its own folder must not take over the links of the real one.
    if folder == cli.default_folder("worker"):
        link_handler = system_link_handler(
            app_command()[:-1], system=sys.platform, home=Path.home(), environ=os.environ
        )
    return main.run(
        main.AppOptions(
            ledger=ledger,
            folder=folder,
            settings=_settings(folder),
            is_background=is_background,
            restart_options=_again(folder),
            link=" ".join(link.split()),
            link_handler=link_handler,
        )
    )


def _again(folder: Path) -> tuple[str, ...]:
    """The options with which a start at login opens the same folder, and so the same ledger."""
    return () if folder == cli.default_folder("worker") else ("--dir", str(folder.absolute()))


def _settings(folder: Path) -> Path:
    """The folder of the app's settings: the user's, or inside another folder than the usual one.

    An app that is tried out in its own folder must not change the settings of the real one.
    """
    if folder == cli.default_folder("worker"):
        return networks.user_settings_folder()
    return folder / "settings"
