"""`tequio cell`: train one contribution together with others in the local network."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tequio_client import cli, heap
from tequio_client.worker.cli import device_option, limit_options, net_settings, run_options

if TYPE_CHECKING:
    from tequio_shared.statements.network import Role

_yes_option = click.option(
    "--yes", "says_yes", is_flag=True, help="Agree without being asked, for scripts."
)


@click.group(cls=cli.PlainGroup)
def cell() -> None:
    """Train together with others in your local network, as one volunteer.

    One computer hosts a cell; the others join it with a code, and get their part of its points.
    """


@cell.command()
@cli.ledger_option
@cli.folder_option("worker")
@click.option(
    "--guests",
    default=1,
    show_default=True,
    type=click.IntRange(1),
    help="Number of other computers; training starts when all of them are there.",
)
@click.option(
    "--pipeline",
    "is_pipelined",
    is_flag=True,
    help="Divide the layers among the computers, for a model that none of them holds.",
)
@click.option(
    "--accept",
    "accepts",
    multiple=True,
    metavar="GUEST",
    help="Let in this guest without asking: the eight characters that `tequio cell join` prints; "
    "may be repeated.",
)
@click.option(
    "--new-code",
    "renews_code",
    is_flag=True,
    help="Make a new code, and forget accepted guests. Default: those of this folder's last cell.",
)
@click.option(
    "--port",
    type=click.IntRange(1_024, 65_535),
    help="TCP port for guests. Default: 21084, or any free one.",
)
@click.option(
    "--keep-points",
    "keeps_points",
    is_flag=True,
    help="Keep all points. Default: a guest's key gets those of its computer's part of the work.",
)
@_yes_option
@run_options
@device_option
@limit_options
@cli.network_options
@cli.logging_options
def host(  # noqa: PLR0913 - one parameter an option
    *,
    guests: int,
    is_pipelined: bool,
    accepts: tuple[str, ...],
    renews_code: bool,
    port: int | None,
    keeps_points: bool,
    says_yes: bool,
    roles: tuple[Role, ...],
    device: str,
    threads: int,
    memory_mb: int,
    share: int,
    log_json: bool,
    log_level: str,
    **net: Any,  # noqa: ANN401 - click's own
) -> None:
    """Open a cell, let guests in, and train with them."""
    with heap.collection_paused():
        from tequio_client.worker.cells import hosting
        from tequio_client.worker.cells.computer import Terminal
        from tequio_client.worker.settings import TrainerSettings, WorkerSettings

    cli.set_up_logs(log_json=log_json, log_level=log_level)
    trainer = TrainerSettings(
        device=device,
        threads=threads,
        memory_mb=memory_mb,
        share_percent=share,
        log_style="json" if log_json else "console",
    )
    worker = WorkerSettings(
        net=net_settings(**net), trainer=trainer, roles=tuple(sorted(set(roles)))
    )
    hosting.run(
        hosting.HostSettings(
            worker=worker,
            guests=guests,
            division="pipeline" if is_pipelined else "none",
            port=port,
            accepts=accepts,
            renews_code=renews_code,
            keeps_points=keeps_points,
        ),
        Terminal(says_yes=says_yes),
    )


@cell.command()
@click.argument("code", required=False)
@cli.folder_option("worker")
@click.option(
    "--address",
    metavar="HOST:PORT",
    help="Address of the host, where the local network lets no announcements through.",
)
@device_option
@click.option(
    "--points-to",
    "receiver",
    metavar="KEY",
    help="Key that gets the points of this computer's part. Default: the key in --dir, if any.",
)
@click.option(
    "--find",
    "find_s",
    metavar="SECONDS",
    type=cli.Number(1.0, 86_400.0),
    default=30.0,
    show_default=True,
    help="How long to look for the host.",
)
@_yes_option
@cli.logging_options
def join(  # noqa: PLR0913 - one parameter an option
    *,
    code: str | None,
    folder: Path,
    address: str | None,
    device: str,
    receiver: str | None,
    find_s: float,
    says_yes: bool,
    log_json: bool,
    log_level: str,
) -> None:
    """Join the cell with this CODE, until you stop it; asks for the code if it is left out."""
    with heap.collection_paused():
        from tequio_client.worker.cells import guest
        from tequio_client.worker.cells.computer import Terminal
        from tequio_client.worker.cells.discovery import HostAddress
        from tequio_client.worker.settings import TrainerSettings, receiver_key

    cli.set_up_logs(log_json=log_json, log_level=log_level)
    code = code or click.prompt("Code of the cell", err=True)
    guest.run(
        guest.GuestSettings(
            folder=folder,
            code=code,
            address=HostAddress.parse(address) if address else None,
            device=TrainerSettings(device=device).device,  # checked there
            receiver=receiver_key("--points-to", receiver) if receiver else None,
            find_s=find_s,
            log_style="json" if log_json else "console",
        ),
        Terminal(says_yes=says_yes),
    )
