"""The commands that start a program of the swarm: `worker` and `seed`."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tequio_client import cli, heap

if TYPE_CHECKING:
    from tequio_client.ipc.cell import Division
    from tequio_client.worker.settings import NetSettings
    from tequio_shared.statements.network import Role

device_option = click.option(
    "--device",
    default="auto",
    show_default=True,
    help="Device to train on: auto, cpu, cuda:N, mps or xpu:N.",
)
run_options = cli.together(
    click.option("--run", help="Name or id of the run. Default: the only open one."),
    click.option(
        "--role",
        "roles",
        type=click.Choice(["trainer", "witness"]),
        multiple=True,
        default=("trainer", "witness"),
        show_default=True,
        help="Role to offer in each round; repeatable.",
    ),
)
"""The run to take part in, and the roles in it."""
limit_options = cli.together(
    click.option(
        "--threads",
        default=1,
        show_default=True,
        type=click.IntRange(1, 1024),
        help="CPU threads for training.",
    ),
    click.option(
        "--memory-mb",
        default=0,
        type=click.IntRange(0, 1 << 30),
        help="Accelerator memory limit in MiB (0 = unlimited).",
    ),
    click.option(
        "--share",
        default=100,
        show_default=True,
        type=click.IntRange(1, 100),
        help="Percentage of the time to compute.",
    ),
)
"""Limits of a trainer."""


@click.command()
@cli.ledger_option_unless("invitation")
@cli.folder_option("worker")
@run_options
@device_option
@click.option(
    "--cell",
    metavar="DEVICES|env",
    help="Train one contribution with several devices: a list such as cuda:0,cuda:1, or `env` for "
    "the variables of torchrun, Slurm or Kubernetes (RANK, WORLD_SIZE, MASTER_ADDR, MASTER_PORT).",
)
@click.option(
    "--shard",
    "is_sharded",
    is_flag=True,
    help="With --cell: divide every tensor among the devices, for a model that none of them holds.",
)
@click.option(
    "--pipeline",
    "is_pipelined",
    is_flag=True,
    help="With --cell: divide the layers among the devices, for a model that none of them holds "
    "and a slow network between them.",
)
@click.option(
    "--tensor",
    "is_tensor_parallel",
    is_flag=True,
    help="With --cell: divide the matrices of each layer among the devices, which compute every "
    "token together, for a model that none of them holds and fast links between them (NVLink).",
)
@click.option(
    "--share-points",
    "owners",
    multiple=True,
    metavar="RANK=KEY",
    help="With --cell: the key of the owner of a rank, who gets the points of its part of the "
    "work; repeatable.",
)
@limit_options
@click.option(
    "--apply-preferences",
    "applies_preferences",
    is_flag=True,
    help="Only lend when the stored preferences and the state of the computer allow it, and stay "
    "when a run ends, for the next one.",
)
@click.option(
    "--judge",
    "is_judge",
    is_flag=True,
    help="With --apply-preferences: help to judge competitions, whatever the preferences say.",
)
@click.option(
    "--invitation",
    metavar="LINK",
    help="Invitation to join with first, if the key is not registered yet.",
)
@click.option("--link", "is_linked", is_flag=True, hidden=True)
@cli.network_options
@cli.logging_options
def worker(  # noqa: PLR0913 - one parameter an option
    *,
    roles: tuple[Role, ...],
    device: str,
    cell: str | None,
    is_sharded: bool,
    is_pipelined: bool,
    is_tensor_parallel: bool,
    owners: tuple[str, ...],
    threads: int,
    memory_mb: int,
    share: int,
    invitation: str | None,
    applies_preferences: bool,
    is_judge: bool,
    is_linked: bool,
    log_json: bool,
    log_level: str,
    **net: Any,  # noqa: ANN401 - click's own
) -> None:
    """Lend this computer to a run: train, witness, and earn points."""
    with heap.collection_paused():
        from tequio_client.worker import main, rank
        from tequio_client.worker.settings import (
            TrainerSettings,
            WorkerSettings,
            cell_place,
            rank_owners,
        )

    cli.set_up_logs(log_json=log_json, log_level=log_level)
    if is_judge and not applies_preferences:
        raise click.UsageError(
            "--judge needs --apply-preferences: without it the worker stops when its run ends, "
            "possibly before the competition does"
        )
    asked: dict[Division, bool] = {
        "shard": is_sharded,
        "pipeline": is_pipelined,
        "tensor": is_tensor_parallel,
    }
    division = _division(cell, [kind for kind, is_asked in asked.items() if is_asked])
    place = cell_place(cell, device, os.environ, division) if cell else None
    trainer = TrainerSettings(
        device=place.device if place else device,
        threads=threads,
        memory_mb=memory_mb,
        share_percent=share,
        log_style="json" if log_json else "console",
        cell=place,
        rank_owners=rank_owners(owners),
    )
    if place is not None and place.rank:
        rank.run(net["folder"], place, trainer.log_style)
        return
    if invitation:
        net["ledger"] = _join(invitation, net["folder"])
    if is_linked:
        net["otlp_endpoint"] = None  # the app's worker sends nothing that the app does not show
    main.run(
        WorkerSettings(
            net=net_settings(**net),
            trainer=trainer,
            roles=tuple(sorted(set(roles))),
            applies_preferences=applies_preferences or is_linked,
            is_linked=is_linked,
            is_judge=is_judge,
        )
    )


def _division(cell: str | None, chosen: list[Division]) -> Division:
    if len(chosen) > 1:
        raise click.UsageError(
            f"--{chosen[0]} and --{chosen[1]} exclude each other: each divides the model in "
            "another way"
        )
    if chosen and not cell:
        raise click.UsageError(
            f"--{chosen[0]} divides a model among the devices of --cell: name them"
        )
    return chosen[0] if chosen else "none"


@click.command()
@cli.ledger_option
@cli.folder_option("seed")
@click.option(
    "--heads-every",
    default=10,
    show_default=True,
    type=click.IntRange(1),
    help="Store the head of every N-th round, beside the newest and the last measured ones.",
)
@click.option(
    "--mirror",
    "release_mirror",  # `mirror` names a log elsewhere
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="Folder of a mirror of releases, whose chunks newcomers then fetch from this seed, too.",
)
@cli.network_options
@cli.logging_options
def seed(*, heads_every: int, log_json: bool, log_level: str, **net: Any) -> None:  # noqa: ANN401 - click's own
    """Run a public seed node: an entry point to the swarm, and a cache of its data."""
    with heap.collection_paused():
        from tequio_client.worker import seed as program

    cli.set_up_logs(log_json=log_json, log_level=log_level)
    program.run(net_settings(**net), heads_every=heads_every)


def _join(invitation: str, folder: Path) -> str:
    """Join with the invitation; returns the address of its ledger."""
    from tequio_client.links import InvitationLink
    from tequio_client.worker.ledger import account

    link = InvitationLink.parse(invitation)
    click.echo(account.register_by_invitation(link, folder).said, err=True)
    return link.ledger


def net_settings(
    *,
    ledger: str,
    folder: Path,
    trust_file: Path | None,
    metrics_host: str,
    metrics_port: int | None,
    otlp_endpoint: str | None,
    **net: Any,  # noqa: ANN401 - click's own
) -> NetSettings:
    from tequio_client.ledger.networks import read_policy
    from tequio_client.worker.settings import MetricsAddress, NetSettings, OtlpEndpoint

    metrics = None
    if metrics_port is not None:
        metrics = MetricsAddress(host=metrics_host, port=metrics_port)
    otlp = OtlpEndpoint(url=otlp_endpoint) if otlp_endpoint else None
    trust = read_policy(trust_file, ledger, folder)
    return NetSettings(ledger=ledger, folder=folder, metrics=metrics, otlp=otlp, trust=trust, **net)
