"""The commands that start a worker or a seed, and those that control a running worker.

`tequio worker` and `tequio seed` start one. `status`, `contribute`, `pause`, `snooze`, `finish`,
`points` and `diagnostics` talk to the running worker, whether the app or a person started it.
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

F = TypeVar("F", bound="Callable[..., object]")
MICRO = 1_000_000
_UNTIL_TOMORROW = "tomorrow"
_UNTIL_GAME = "game"
_MINUTES = {"m": 1, "h": 60}


@click.command()
@cli.ledger
@cli.folder("worker")
@click.option("--run", "run_name", help="Name or id of the run. Default: the only open run.")
@click.option(
    "--role",
    "roles",
    type=click.Choice(["trainer", "witness"]),
    multiple=True,
    default=("trainer", "witness"),
    show_default=True,
    help="Role to offer; give the option twice for both.",
)
@click.option(
    "--device",
    default="auto",
    show_default=True,
    help="Device that trains: auto, cpu, cuda:N, mps or xpu:N.",
)
@click.option(
    "--threads",
    default=1,
    show_default=True,
    type=click.IntRange(1, 1024),
    help="Processor threads that train.",
)
@click.option(
    "--memory-mb",
    default=0,
    type=click.IntRange(0, 1 << 30),
    help="GPU memory limit (MiB, 0 = unlimited).",
)
@click.option(
    "--share",
    default=100,
    show_default=True,
    type=click.IntRange(1, 100),
    help="Share of the time to compute (percent).",
)
@click.option(
    "--manners",
    "is_minded",
    is_flag=True,
    help="Lend only when the saved preferences and the state of this computer allow it.",
)
@click.option(
    "--judge",
    "is_judge",
    is_flag=True,
    help="With --manners: help judge competitions, even if the saved preferences say no.",
)
@click.option(
    "--invitation",
    metavar="LINK",
    help="Join with this invitation first, if your key is not registered yet.",
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
            "--judge needs --manners: a worker that stops with its run may miss the judging"
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
    help="Keep the model of every Nth round.",
    metavar="N",
)
@cli.networking
@cli.logging
def seed(*, heads_every: int, log_json: bool, log_level: str, **net: object) -> None:
    """Run a seed: a public entry point for new peers, and a cache of models and data."""
    with heap.collection_paused():
        from tequio_client.worker import seed as seeds

    cli.set_up_logs(log_json=log_json, log_level=log_level)
    seeds.run(
        _net(**net, run_name=None),  # type: ignore[arg-type]  # as above
        heads_every=heads_every,
    )


def _join(invitation: str, folder: object) -> str:
    """Register with the invitation; returns the address of its ledger."""
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


def _as_json(command: F) -> F:
    return click.option("--json", "as_json", is_flag=True, help="Print everything as JSON.")(
        command
    )


@click.command()
@cli.folder("worker")
@_as_json
def status(*, folder: Path, as_json: bool) -> None:
    """Show what the worker is doing now, and why."""
    from tequio_client.control_socket import WorkerCall

    with WorkerCall.to(folder) as call:
        _print_status(call.snapshot(), as_json=as_json)


@click.command()
@cli.folder("worker")
@_as_json
def contribute(*, folder: Path, as_json: bool) -> None:
    """Start lending this computer, whenever the preferences allow it."""
    _wish(folder, as_json=as_json, lend=True)


@click.command()
@cli.folder("worker")
@_as_json
def pause(*, folder: Path, as_json: bool) -> None:
    """Stop lending until you run `tequio contribute`; frees the GPU at once."""
    _wish(folder, as_json=as_json, lend=False)


@click.command()
@click.argument("length", metavar="LENGTH", default="1h")
@cli.folder("worker")
@_as_json
def snooze(*, length: str, folder: Path, as_json: bool) -> None:
    """Stop lending for a while: 15m, 1h, `tomorrow` (8:00) or `game` (until the game closes)."""
    _wish(folder, as_json=as_json, lend=True, snooze=_snooze(length))


@click.command()
@cli.folder("worker")
@_as_json
def finish(*, folder: Path, as_json: bool) -> None:
    """Finish the current round, then stop lending until you run `tequio contribute`."""
    _wish(folder, as_json=as_json, lend=True, finish=True)


@click.command()
@cli.folder("worker")
@click.option(
    "--rounds",
    default=10,
    show_default=True,
    type=click.IntRange(1, 500),
    help="Number of rounds to list.",
)
@_as_json
def points(*, folder: Path, rounds: int, as_json: bool) -> None:
    """Show your points: verified, pending, and earned in the last rounds."""
    from tequio_client.control_socket import WorkerCall
    from tequio_client.ipc.control import AskPoints, Points

    with WorkerCall.to(folder) as call:
        shown = call.snapshot().points
        rows = call.ask(AskPoints(limit=rounds), Points)
    if as_json:
        _dump({"points": shown, "rounds": rows.rows})
        return
    click.echo(_verified(shown.total, f", {_points(shown.today)} of them today"))
    click.echo(_pending(shown.pending))
    if shown.unverified:
        click.echo(f"{_points(shown.unverified)} reported by the ledger, not verified yet")
    for one in rows.rows:
        what = _points(one.micropoints) if one.state == "verified" else one.reason
        click.echo(f"round {one.round} of {one.run_name}: {one.state} {what}".rstrip())


@click.command()
@cli.folder("worker")
@_as_json
def diagnostics(*, folder: Path, as_json: bool) -> None:
    """Print information for a bug report: no keys, no file names outside the worker's folder."""
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
        _print_status(call.want(make), as_json=as_json)


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
            f"invalid duration {length!r}: use 15m, 1h, tomorrow or game", param_hint="LENGTH"
        )
    return Snooze(until_ms=now_ms + int(number) * _MINUTES[unit] * 60_000, asked_ms=now_ms)


def _local(at_ms: int) -> LocalTime:
    from tequio_client.clock import local_time
    from tequio_client.ipc.texts import LocalTime

    at = local_time(at_ms)
    return LocalTime(weekday=f"{at:%A}", date=f"{at.day} {at:%B}", time=f"{at:%H:%M}")


def _print_status(shown: Snapshot, *, as_json: bool) -> None:
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
        peers = shown.status.peers
        verdict = shown.status.verdict or "no round finished yet"
        click.echo(f"{peers} {'peer' if peers == 1 else 'peers'}; {verdict}")
    if shown.ledger.problem and shown.ledger.problem not in shown.decision.values.values():
        click.echo(f"Cannot reach the ledger: {shown.ledger.problem}")
    click.echo(_verified(shown.points.total, f", {_pending(shown.points.pending)}"))


def _verified(total: int, more: str) -> str:
    return f"{_points(total)} verified{more}" if total else f"no verified points yet{more}"


def _pending(rounds: int) -> str:
    return f"{rounds} {'round' if rounds == 1 else 'rounds'} pending"


def _points(micro: int) -> str:
    return f"{micro // MICRO:,}.{micro % MICRO:06} points"


def _dump(value: msgspec.Struct | dict[str, object]) -> None:
    import msgspec

    click.echo(msgspec.json.format(msgspec.json.encode(value), indent=2))
