"""`tequio-ledger sign`."""

from __future__ import annotations

from pathlib import Path

import click
import platformdirs

from tequio_ledger import logs
from tequio_ledger.folder import Folder
from tequio_ledger.signing import server
from tequio_ledger.signing.notary import Notary
from tequio_ledger.signing.places import KEY, MEMORY


@click.command("sign", context_settings={"auto_envvar_prefix": "TEQUIO_SIGN"})
@click.option(
    "--dir",
    "folder",
    type=click.Path(path_type=Path),
    default=Path(platformdirs.user_data_dir("tequio-signer")),
    show_default=True,
    help="Where the log's key and the last signed size are kept.",
)
@click.option(
    "--socket",
    "socket",
    type=click.Path(path_type=Path),
    help="Unix socket to answer at; sign.socket in the folder if not given.",
)
@click.option("--log-json", is_flag=True, help="Log as JSON lines, for machines.")
@click.option("--log-level", type=click.Choice(logs.LEVELS), default="info", show_default=True)
def sign(*, folder: Path, socket: Path | None, log_json: bool, log_level: str) -> None:
    """Hold a log's key and sign its checkpoints, and never one that would fork it.

    `tequio-ledger serve --signer SOCKET` asks here. Give this process a user of its own that may
    share the socket's folder, and the ledger none of its files.
    """
    logs.configure(logs.Style.JSON if log_json else logs.Style.CONSOLE, log_level)
    with Folder(folder.absolute()) as opened:
        notary = Notary(opened.signer(KEY), opened.path / MEMORY)
        server.serve(notary, (socket or folder / "sign.socket").absolute())
