"""`tequio worker` and `tequio seed`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from tequio_client import heap
from tequio_client.cli import options

if TYPE_CHECKING:
    from tequio_client.worker.settings import NetSettings
    from tequio_shared.statements.members import Role


@click.command()
@options.ledger
@options.folder("worker")
@click.option("--run", "run_name", help="Name or id of the run; the only open one if not given.")
@click.option(
    "--role",
    "roles",
    type=click.Choice(["trainer", "witness"]),
    multiple=True,
    default=("trainer", "witness"),
    show_default=True,
)
@click.option("--device", default="auto", show_default=True, help="auto, cpu, cuda:N, mps, xpu:N.")
@click.option("--threads", default=1, show_default=True, type=click.IntRange(1, 1024))
@click.option(
    "--memory-mb",
    default=0,
    type=click.IntRange(0, 1 << 30),
    help="Most accelerator memory, MiB; 0 is no limit.",
)
@click.option(
    "--share",
    default=100,
    show_default=True,
    type=click.IntRange(1, 100),
    help="Percent of the time to compute.",
)
@click.option(
    "--manners",
    "is_minded",
    is_flag=True,
    help="Lend only when the stored preferences and the state of the machine allow it.",
)
@click.option(
    "--judge",
    "is_judge",
    is_flag=True,
    help="With --manners: help to judge competitions, whatever the stored preferences say.",
)
@click.option(
    "--invitation",
    metavar="LINK",
    help="Join by this invitation first, if our key is not registered yet.",
)
@click.option("--link", "is_linked", is_flag=True, hidden=True)
@options.networking
@options.logging
def worker(  # noqa: PLR0913 - one parameter an option
    *,
    roles: tuple[Role, ...],
    device: str,
    threads: int,
    memory_mb: int,
    share: int,
    invitation: str | None,
    is_minded: bool,
    is_judge: bool,
    is_linked: bool,
    log_json: bool,
    log_level: str,
    **net: object,
) -> None:
    """Lend this computer to a run: train, witness, and earn compute points."""
    with heap.collection_paused():
        from tequio_client.worker import main
        from tequio_client.worker.settings import TrainerSettings, WorkerSettings

    options.set_up_logs(log_json=log_json, log_level=log_level)
    if is_judge and not is_minded:
        raise click.UsageError(
            "--judge needs --manners: a worker that ends with its run cannot keep what it offers"
        )
    if invitation:
        net["ledger"] = _join(invitation, net["folder"])
    main.run(
        WorkerSettings(
            net=_net(**net),  # type: ignore[arg-type]  # click gives what the options declare
            trainer=TrainerSettings(
                device=device,
                threads=threads,
                memory_mb=memory_mb,
                share_percent=share,
                log_style="json" if log_json else "console",
            ),
            roles=tuple(sorted(set(roles))),
            is_minded=is_minded or is_linked,
            is_linked=is_linked,
            is_judge=is_judge,
        )
    )


@click.command()
@options.ledger
@options.folder("seed")
@click.option(
    "--heads-every",
    default=10,
    show_default=True,
    type=click.IntRange(1),
    help="Keep the head of every n-th round.",
)
@options.networking
@options.logging
def seed(*, heads_every: int, log_json: bool, log_level: str, **net: object) -> None:
    """Be a public entry to the swarm: first address for newcomers, and a cache of its bytes."""
    with heap.collection_paused():
        from tequio_client.worker import seed as seeds

    options.set_up_logs(log_json=log_json, log_level=log_level)
    seeds.run(
        _net(**net, run_name=None),  # type: ignore[arg-type]  # as above
        heads_every=heads_every,
    )


def _join(invitation: str, folder: object) -> str:
    """Join by the link; gives the address of its ledger."""
    from tequio_client.invitation_link import InvitationLink
    from tequio_client.worker import entering

    link = InvitationLink.parse(invitation)
    click.echo(entering.enter(link, Path(str(folder))), err=True)
    return link.ledger


def _net(  # noqa: PLR0913 - one parameter an option
    *,
    ledger: str,
    folder: Path,
    run_name: str | None,
    listen: tuple[str, ...],
    announce: tuple[str, ...],
    bootstrap: tuple[str, ...],
    wait_for_ledger_s: float,
    quota_gib: float,
    upload_mbit: float | None,
    download_mbit: float | None,
    status_lines: bool,
    trust_file: Path | None,
) -> NetSettings:
    from tequio_client.ledger.proofs import read_policy
    from tequio_client.worker.settings import NetSettings

    return NetSettings(
        ledger=ledger,
        folder=folder,
        listen=listen,
        announce=announce,
        bootstrap=bootstrap,
        wait_for_ledger_s=wait_for_ledger_s,
        quota_bytes=int(quota_gib * options.GIB),
        upload_bytes_per_s=options.bytes_per_s(upload_mbit),
        download_bytes_per_s=options.bytes_per_s(download_mbit),
        run=run_name,
        status_lines=status_lines,
        trust=read_policy(trust_file),
    )
