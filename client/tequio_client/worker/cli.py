"""`tequio status`, `contribute`, `pause`, `snooze`, `finish`, `points` and `diagnostics`.

They talk to the worker that runs, whether the app started it or a person did.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import click

from tequio_client import cli, heap

if TYPE_CHECKING:
    from collections.abc import Callable

    import msgspec

    from tequio_client.ipc.snapshot import Snapshot, Snooze, Wish
    from tequio_client.ipc.texts import LocalTime
    from tequio_client.worker.settings import NetSettings
    from tequio_shared.statements.network import Role

# --- `tequio worker` and `tequio seed`.


@click.command()
@cli.ledger
@cli.folder("worker")
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
@cli.networking
@cli.logging
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

    cli.set_up_logs(log_json=log_json, log_level=log_level)
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
@cli.ledger
@cli.folder("seed")
@click.option(
    "--heads-every",
    default=10,
    show_default=True,
    type=click.IntRange(1),
    help="Keep the head of every n-th round.",
)
@cli.networking
@cli.logging
def seed(*, heads_every: int, log_json: bool, log_level: str, **net: object) -> None:
    """Be a public entry to the swarm: first address for newcomers, and a cache of its bytes."""
    with heap.collection_paused():
        from tequio_client.worker import seed as seeds

    cli.set_up_logs(log_json=log_json, log_level=log_level)
    seeds.run(
        _net(**net, run_name=None),  # type: ignore[arg-type]  # as above
        heads_every=heads_every,
    )


def _join(invitation: str, folder: object) -> str:
    """Join by the link; gives the address of its ledger."""
    from tequio_client.invitation_link import InvitationLink
    from tequio_client.worker.ledger import account

    link = InvitationLink.parse(invitation)
    click.echo(account.enter(link, Path(str(folder))), err=True)
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
        quota_bytes=int(quota_gib * cli.GIB),
        upload_bytes_per_s=cli.bytes_per_s(upload_mbit),
        download_bytes_per_s=cli.bytes_per_s(download_mbit),
        run=run_name,
        status_lines=status_lines,
        trust=read_policy(trust_file),
    )


F = TypeVar("F", bound="Callable[..., object]")
MICRO = 1_000_000
_UNTIL_TOMORROW = "tomorrow"
_UNTIL_GAME = "game"
_MINUTES = {"m": 1, "h": 60}


def _as_json(command: F) -> F:
    return click.option("--json", "as_json", is_flag=True, help="Everything, as JSON.")(command)


@click.command()
@cli.folder("worker")
@_as_json
def status(*, folder: Path, as_json: bool) -> None:
    """Say what the worker does now, and why."""
    from tequio_client.control_socket import WorkerCall

    with WorkerCall.to(folder) as call:
        shown = call.snapshot()
    _say(shown, as_json=as_json)  # outside the call, which blames the worker for a broken pipe


@click.command()
@cli.folder("worker")
@_as_json
def contribute(*, folder: Path, as_json: bool) -> None:
    """Lend this computer from now on, as far as the preferences allow."""
    _wish(folder, as_json=as_json, lend=True)


@click.command()
@cli.folder("worker")
@_as_json
def pause(*, folder: Path, as_json: bool) -> None:
    """Lend nothing until told otherwise; the device is free at once."""
    _wish(folder, as_json=as_json, lend=False)


@click.command()
@click.argument("length", metavar="LENGTH", default="1h")
@cli.folder("worker")
@_as_json
def snooze(*, length: str, folder: Path, as_json: bool) -> None:
    """Lend nothing for a while: 15m, 1h, `tomorrow` (8 o'clock), or `game` (until it closes)."""
    _wish(folder, as_json=as_json, lend=True, snooze=_snooze(length))


@click.command()
@cli.folder("worker")
@_as_json
def finish(*, folder: Path, as_json: bool) -> None:
    """Finish the round under way, then lend nothing until told otherwise."""
    _wish(folder, as_json=as_json, lend=True, finish=True)


@click.command()
@cli.folder("worker")
@click.option("--rounds", default=10, show_default=True, type=click.IntRange(1, 500))
@_as_json
def points(*, folder: Path, rounds: int, as_json: bool) -> None:
    """Show points: verified, pending, and what the last rounds gave."""
    from tequio_client.control_socket import WorkerCall
    from tequio_client.ipc.control import AskPoints, Points

    with WorkerCall.to(folder) as call:
        shown = call.snapshot().points
        rows = call.ask(AskPoints(limit=rounds), Points)
    if as_json:
        _dump({"points": shown, "rounds": rows.rows})
        return
    click.echo(f"{_points(shown.total)} verified, {_points(shown.today)} of them today")
    click.echo(f"{shown.pending} rounds pending")
    if shown.unverified:
        click.echo(f"{_points(shown.unverified)} said by the ledger and not checked yet")
    for one in rows.rows:
        what = _points(one.micropoints) if one.state == "verified" else one.reason
        click.echo(f"round {one.round} of {one.run_name}: {one.state} {what}".rstrip())


@click.command()
@cli.folder("worker")
@_as_json
def diagnostics(*, folder: Path, as_json: bool) -> None:
    """Print what helps to find a fault; no keys, no names of files beyond the worker's folder."""
    from tequio_client.control_socket import WorkerCall
    from tequio_client.ipc.control import AskDiagnostics, Diagnostics

    with WorkerCall.to(folder) as call:
        text = call.ask(AskDiagnostics(), Diagnostics).text
    if as_json:
        _dump({"text": text})
    else:
        click.echo(text)


def _wish(
    folder: Path,
    *,
    as_json: bool,
    lend: bool,
    snooze: Snooze | None = None,
    finish: bool = False,
) -> None:
    from tequio_client.control_socket import WorkerCall
    from tequio_client.ipc.snapshot import Wish

    def make(shown: Snapshot) -> Wish:
        number = shown.wish.number + 1
        return Wish(number=number, lend=lend, snooze=snooze, finish=finish)

    with WorkerCall.to(folder) as call:
        shown = call.want(make)
    _say(shown, as_json=as_json)


def _snooze(length: str) -> Snooze:
    from tequio_client import clock
    from tequio_client.ipc.snapshot import Snooze

    now_ms = clock.now_ms()
    if length == _UNTIL_GAME:
        return Snooze(asked_ms=now_ms)
    if length == _UNTIL_TOMORROW:
        return Snooze(until_ms=clock.tomorrow_ms(now_ms), asked_ms=now_ms)
    number, unit = length[:-1], length[-1:]
    if not number.isdigit() or unit not in _MINUTES or not int(number):
        raise click.BadParameter(
            f"{length!r} is no length: give 15m, 1h, tomorrow or game", param_hint="LENGTH"
        )
    return Snooze(until_ms=now_ms + int(number) * _MINUTES[unit] * 60_000, asked_ms=now_ms)


def _local(at_ms: int) -> LocalTime:
    from tequio_client.clock import local_time
    from tequio_client.ipc.texts import LocalTime

    at = local_time(at_ms)
    return LocalTime(weekday=f"{at:%A}", date=f"{at.day} {at:%B}", time=f"{at:%H:%M}")


def _say(shown: Snapshot, *, as_json: bool) -> None:
    from tequio_client import clock
    from tequio_client.ipc.texts import decision_sentence

    if as_json:
        _dump(shown)
        return
    click.echo(decision_sentence(shown.decision, clock.now_ms(), _local))
    if shown.round is not None:
        one = shown.round
        click.echo(f"{one.run_name}: round {one.number} of {one.rounds}, {one.role or 'no role'}")
    if shown.status is not None:
        click.echo(f"{shown.status.peers} peers; {shown.status.verdict or 'no round closed yet'}")
    if shown.ledger.problem and shown.ledger.problem not in shown.decision.values.values():
        click.echo(f"The ledger does not answer: {shown.ledger.problem}")
    click.echo(f"{_points(shown.points.total)} verified, {shown.points.pending} rounds pending")


def _points(micro: int) -> str:
    return f"{micro // MICRO:,}.{micro % MICRO:06} points"


def _dump(value: msgspec.Struct | dict[str, object]) -> None:
    import msgspec

    click.echo(msgspec.json.format(msgspec.json.encode(value), indent=2))
