"""Worker commands: `worker`, `seed`, and those that talk to a running worker.

The latter (`status`, `top`, `contribute`, `pause`, `snooze`, `finish`, `points`, `diagnostics`)
work whether the app or a person started the worker.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tequio_client import cli, heap
from tequio_shared.wording import plural

if TYPE_CHECKING:
    from collections.abc import Iterator

    import msgspec

    from tequio_client.ipc.cell import Division
    from tequio_client.ipc.snapshot import (
        AuditsView,
        CurrentRoundView,
        Decision,
        DesiredState,
        PointsView,
        Snapshot,
        Snooze,
        TrainerView,
    )
    from tequio_client.ipc.texts import LocalTime
    from tequio_client.worker.settings import NetSettings
    from tequio_shared.statements.network import Role

_MINUTES = {"m": 1, "h": 60}
_json_option = click.option("--json", "as_json", is_flag=True, help="Print everything as JSON.")


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
@cli.ledger_option
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
    help="Only lend when the stored preferences and the state of the computer allow it.",
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
    help="Store the head of every N-th round.",
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
    click.echo(account.register_by_invitation(link, folder), err=True)
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


@click.command()
@cli.folder_option("worker")
@_json_option
def status(*, folder: Path, as_json: bool) -> None:
    """Show what the running worker is doing, and why."""
    from tequio_client.control_socket import WorkerCall

    with WorkerCall.to(folder) as call:
        snapshot = call.snapshot()
    # Outside the call, which would blame the worker for a broken pipe of standard output.
    _print_status(snapshot, as_json=as_json)


@click.command()
@cli.folder_option("worker")
def top(*, folder: Path) -> None:
    """Show the running worker live, until Ctrl-C."""
    from rich.console import Console

    from tequio_client.worker import top as view

    view.watch(folder, Console(), _local)


@click.command()
@cli.folder_option("worker")
@click.option(
    "--now",
    "is_now",
    is_flag=True,
    help="Start although you use the computer, other programs are busy, it is outside your hours, "
    "or it runs on battery. Games and full screen still pause it.",
)
@_json_option
def contribute(*, folder: Path, is_now: bool, as_json: bool) -> None:
    """Start lending this computer, as far as the preferences allow."""
    _set_state(folder, as_json=as_json, lend=True, anyway=is_now)


@click.command()
@cli.folder_option("worker")
@_json_option
def pause(*, folder: Path, as_json: bool) -> None:
    """Stop lending until `tequio contribute`; the device is freed at once."""
    _set_state(folder, as_json=as_json, lend=False)


@click.command()
@click.argument("length", metavar="LENGTH", default="1h")
@cli.folder_option("worker")
@_json_option
def snooze(*, length: str, folder: Path, as_json: bool) -> None:
    """Pause lending for LENGTH: 15m, 1h, `tomorrow` (8 am), or `game` (until the game closes)."""
    _set_state(folder, as_json=as_json, lend=True, snooze=_snooze(length))


@click.command()
@cli.folder_option("worker")
@_json_option
def finish(*, folder: Path, as_json: bool) -> None:
    """Finish the current round, then stop lending until `tequio contribute`."""
    _set_state(folder, as_json=as_json, lend=True, finish=True)


@click.command()
@cli.folder_option("worker")
@click.option(
    "--rounds",
    default=10,
    show_default=True,
    type=click.IntRange(1, 500),
    help="Number of recent rounds to list.",
)
@_json_option
def points(*, folder: Path, rounds: int, as_json: bool) -> None:
    """Show verified and pending points, and the results of recent rounds."""
    from tequio_client.control_socket import WorkerCall
    from tequio_client.ipc.points import AskPoints, PointsReply
    from tequio_shared.round.points import comparison

    with WorkerCall.to(folder) as call:
        shown = call.snapshot().points
        rows = call.ask(AskPoints(limit=rounds), PointsReply)
    if as_json:
        _dump({"points": shown, "rounds": rows.rows})
        return
    click.echo(f"{_points(shown.total)} verified, {_points(shown.today)} of them today")
    if words := comparison(shown.today):
        click.echo(f"Today's are {words}")
    _print_vesting(shown)
    click.echo(_pending(shown.pending))
    if shown.unverified:
        click.echo(f"{_points(shown.unverified)} reported by the ledger, not verified yet")
    for one in rows.rows:
        what = _points(one.gflop) if one.state == "verified" else one.reason
        click.echo(f"round {one.round} of {one.run_name}: {one.state} {what}".rstrip())


@click.command()
@cli.folder_option("worker")
@_json_option
def diagnostics(*, folder: Path, as_json: bool) -> None:
    """Print a report for troubleshooting, without keys or names of your files."""
    from tequio_client.control_socket import WorkerCall
    from tequio_client.ipc.control import AskDiagnostics, DiagnosticsReply

    with WorkerCall.to(folder) as call:
        text = call.ask(AskDiagnostics(), DiagnosticsReply).text
    if as_json:
        _dump({"text": text})
    else:
        click.echo(text)


def _set_state(
    folder: Path,
    *,
    as_json: bool,
    lend: bool,
    snooze: Snooze | None = None,
    finish: bool = False,
    anyway: bool = False,
) -> None:
    from tequio_client.control_socket import WorkerCall
    from tequio_client.ipc.snapshot import DesiredState

    def make(shown: Snapshot) -> DesiredState:
        number = shown.wish.number + 1
        # What was started anyway may finish its round, too.
        goes_on = anyway or (finish and shown.wish.anyway)
        return DesiredState(number=number, lend=lend, snooze=snooze, finish=finish, anyway=goes_on)

    with WorkerCall.to(folder) as call:
        snapshot = call.set_state(make)
    _print_status(snapshot, as_json=as_json)


def _snooze(length: str) -> Snooze:
    from tequio_client import clock
    from tequio_client.ipc.snapshot import Snooze

    now_ms = clock.now_ms()
    if length == "game":
        return Snooze(asked_ms=now_ms)
    if length == "tomorrow":
        return Snooze(until_ms=clock.tomorrow_ms(now_ms), asked_ms=now_ms)
    number, unit = length[:-1], length[-1:]
    if not number.isdigit() or unit not in _MINUTES or not int(number):
        raise click.BadParameter(
            f"invalid duration {length!r}: expected 15m, 1h, tomorrow or game",
            param_hint="LENGTH",
        )
    return Snooze(until_ms=now_ms + int(number) * _MINUTES[unit] * 60_000, asked_ms=now_ms)


def _local(at_ms: int) -> LocalTime:
    from tequio_client.clock import local_time
    from tequio_client.ipc.texts import LocalTime

    at = local_time(at_ms)
    return LocalTime(weekday=f"{at:%A}", date=f"{at.day} {at:%B}", time=f"{at:%H:%M}")


def _print_status(shown: Snapshot, *, as_json: bool) -> None:
    if as_json:
        _dump(shown)
        return
    for line in _status_lines(shown):
        click.echo(line)
    _print_vesting(shown.points)


def _round_lines(one: CurrentRoundView) -> Iterator[str]:
    yield f"{one.run_name}: round {one.number} of {one.rounds}, {one.role or 'no role'}"
    if one.pause_reason:
        yield f"Paused by its organisers: {one.pause_reason}"
    if one.announcement:
        yield f"From its organisers: {one.announcement}"


def _status_lines(shown: Snapshot) -> Iterator[str]:
    from tequio_client.ipc.texts import reachability_templates, reachability_values

    yield from _decision_lines(shown.decision)
    yield from _network_lines(shown)
    if shown.round is not None:
        yield from _round_lines(shown.round)
    if shown.audits.ordered_round:
        yield _audit_line(shown.audits)
    if shown.status is not None:
        peers = plural(shown.status.peers, "peer")
        yield f"{peers}; {shown.status.verdict or 'no round closed yet'}"
    if shown.reach.port:
        sentences = " ".join(reachability_templates(shown.reach))
        yield sentences.format(**reachability_values(shown.reach))
    yield from _device_lines(shown)
    sandboxes = sorted({one.sandbox for one in shown.trainers if one.sandbox})
    yield from (f"Trainer's sandbox: {one}" for one in sandboxes)
    yield f"{_points(shown.points.total)} verified, {_pending(shown.points.pending)}"
    if shown.points.per_day and shown.decision.may_compute:
        yield f"About {_points(shown.points.per_day)} a day at the pace of the last rounds"
    if shown.line.cap_reached_ms:
        cap_gb, at = shown.line.month_cap_bytes // 10**9, _local(shown.line.cap_reached_ms)
        yield f"At the present rate, this month's {cap_gb} GB of traffic end on {at.date}"


def _network_lines(shown: Snapshot) -> Iterator[str]:
    from tequio_client.ipc.snapshot import LendingReason

    if shown.ledger.announcement:
        yield f"From the network's organisers: {shown.ledger.announcement}"
    told = (LendingReason.LEDGER_AWAY, LendingReason.LEDGER_UNKNOWN)
    if shown.ledger.problem and shown.decision.reason not in told:
        yield f"Can't reach the network at {shown.ledger.url}"


def _decision_lines(decision: Decision) -> Iterator[str]:
    """The decision, and the command that changes it, if there is one."""
    from tequio_client import clock
    from tequio_client.ipc.snapshot import LendingReason
    from tequio_client.ipc.texts import decision_sentence

    yield decision_sentence(decision, clock.now_ms(), _local)
    if decision.reason is LendingReason.NO_RUNTIME:
        yield "The app downloads it; without the app: tequio runtime install"
    if decision.is_startable:
        yield "Start now anyway: tequio contribute --now"


def _device_lines(shown: Snapshot) -> Iterator[str]:
    names = {gpu.id: gpu.name for gpu in shown.machine.gpus or ()}
    for trainer in shown.trainers if len(shown.trainers) > 1 else ():
        yield _device_line(trainer, names.get(trainer.device, trainer.device))


def _device_line(trainer: TrainerView, name: str) -> str:
    """A device of several: its run and what its trainer does, or why it is not lent now."""
    from tequio_client import clock
    from tequio_client.ipc.texts import decision_sentence

    current = trainer.round
    if current is None or not trainer.decision.may_compute:
        return f"{name}: {decision_sentence(trainer.decision, clock.now_ms(), _local)}"
    place = f"round {current.number} of {current.rounds}, {current.role or 'no role'}"
    return f"{name}: {current.run_name}, {place}, {trainer.state}"


def _audit_line(audits: AuditsView) -> str:
    work = f"another volunteer's work of round {audits.ordered_round}"
    if audits.is_running:
        return f"Auditing: repeating {work}"
    return f"Auditor in this round: repeats {work}"


def _print_vesting(shown: PointsView) -> None:
    if shown.unvested:
        click.echo(
            f"{_points(shown.unvested)} of them still vest: they can be lost if work turns out "
            "not to have been done"
        )
    if shown.forfeited:
        click.echo(f"{_points(shown.forfeited)} were forfeited")


def _pending(rounds: int) -> str:
    return f"{plural(rounds, 'round')} pending" if rounds else "no rounds pending"


def _points(micro: int) -> str:
    from tequio_shared.round.points import points

    return f"{points(micro)} points"


def _dump(value: msgspec.Struct | dict[str, object]) -> None:
    import msgspec

    click.echo(msgspec.json.format(msgspec.json.encode(value), indent=2))
