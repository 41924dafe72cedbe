"""`tequio-ledger witness`."""

from __future__ import annotations

from ipaddress import IPv4Network, IPv6Network, ip_network
from pathlib import Path

import click
import platformdirs

from tequio_ledger import logs
from tequio_ledger.witness import main
from tequio_shared.errors import UserFacingError


@click.command("witness", context_settings={"auto_envvar_prefix": "TEQUIO_WITNESS"})
@click.option(
    "--dir",
    "folder",
    type=click.Path(path_type=Path),
    default=Path(platformdirs.user_data_dir("tequio-witness")),
    show_default=True,
    help="Where its key and what it saw are kept.",
)
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option("--port", default=8601, show_default=True, type=click.IntRange(0, 65_535))
@click.option("--name", required=True, help="Name of its key, such as witness.example/w1.")
@click.option("--log", "texts", multiple=True, help="Verifier key of a log to witness; repeat.")
@click.option("--trusted-proxy", "proxies", multiple=True, help="Network of a proxy of yours.")
@click.option("--log-json", is_flag=True, help="Log as JSON lines, for machines.")
@click.option("--log-level", type=click.Choice(logs.LEVELS), default="info", show_default=True)
def witness(  # noqa: PLR0913 - one parameter an option
    *,
    folder: Path,
    host: str,
    port: int,
    name: str,
    texts: tuple[str, ...],
    proxies: tuple[str, ...],
    log_json: bool,
    log_level: str,
) -> None:
    """Watch other logs: cosign each checkpoint that continues what was seen of its log before.

    The logs' operators post to /add-checkpoint; they and their clients need the key that is told
    at the start. Keep the folder: a witness that forgets can be shown another history.
    """
    logs.configure(logs.Style.JSON if log_json else logs.Style.CONSOLE, log_level)
    main.serve(
        main.WitnessSettings(
            folder=folder.absolute(),
            host=host,
            port=port,
            name=name,
            logs=main.read_logs(texts),
            trusted_proxies=tuple(_network(one) for one in proxies),
        )
    )


def _network(text: str) -> IPv4Network | IPv6Network:
    try:
        return ip_network(text)
    except ValueError as err:
        raise UserFacingError(
            f"--trusted-proxy is {text!r}, but must be a network: 10.0.0.0/8"
        ) from err
