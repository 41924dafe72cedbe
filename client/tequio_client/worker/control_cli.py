"""Commands that talk to a running worker: `status`, `top`, `contribute`, `pause` and others.

They work whether the app or a person started it.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import click

from tequio_client import cli
from tequio_shared.wording import plural

if TYPE_CHECKING:
    from collections.abc import Iterator

    import msgspec

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

CONSENT = (
    "You agree to lend this computer's devices, disk and connection to the network's runs, within "
    "its preferences; `tequio pause` stops it"
)
_SNOOZE = re.compile(r"[1-9]\d{0,2}", re.ASCII)
_MINUTES = {"m": 1, "h": 60}
_json_option = click.option("--json", "as_json", is_flag=True, help="Print everything as JSON.")


@click.command()
@cli.folder_option("worker")
@_json_option
def status(*, folder: Path, as_json: bool) -> None:
    """Show what the running worker is doing, and why.

    Points are in GFLOP with --json, 10,000 to a point; pending and rejected are rounds.
    """
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
    "or it runs on battery. All other rules still pause it.",
)
@_json_option
def contribute(*, folder: Path, is_now: bool, as_json: bool) -> None:
    """Start lending this computer, as far as the preferences allow.

    The first time, you agree with this command to lend it.
    """
    from tequio_client.control_socket import WorkerCall

    with WorkerCall.to(folder) as call:
        is_first = call.give_consent()
    if is_first:
        click.echo(CONSENT, err=True)
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
    """Show verified and pending points, and the results of recent rounds.

    Points are in GFLOP with --json, 10,000 to a point; pending and rejected are rounds.
    """
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
    import msgspec

    from tequio_client.control_socket import WorkerCall
    from tequio_client.ipc.snapshot import DesiredState
    from tequio_shared.errors import UserFacingError

    def make(shown: Snapshot) -> DesiredState:
        if snooze is not None and snooze.until_ms is None and not shown.has_session:
            raise UserFacingError("this worker cannot see games: give a time, such as 1h")
        number, asked = shown.wish.number + 1, snooze
        if snooze is not None and snooze.until_ms is None:
            asked = msgspec.structs.replace(snooze, game=_running_game(shown.decision))
        # What was started anyway may finish its round, too.
        goes_on = anyway or (finish and shown.wish.anyway)
        return DesiredState(number=number, lend=lend, snooze=asked, finish=finish, anyway=goes_on)

    with WorkerCall.to(folder) as call:
        snapshot = call.set_state(make)
    _print_status(snapshot, as_json=as_json)


def _running_game(decision: Decision) -> str:
    """The game for which nothing is lent now; empty: none, or unknown."""
    from tequio_client.ipc.snapshot import LendingReason

    games = (LendingReason.GAME, LendingReason.FULLSCREEN, LendingReason.UNTIL_GAME_CLOSES)
    return str(decision.values.get("program", "")) if decision.reason in games else ""


def _snooze(length: str) -> Snooze:
    from tequio_client import clock
    from tequio_client.ipc.snapshot import Snooze

    now_ms = clock.now_ms()
    if length == "game":
        return Snooze(asked_ms=now_ms)
    if length == "tomorrow":
        return Snooze(until_ms=clock.tomorrow_ms(now_ms), asked_ms=now_ms)
    number, unit = length[:-1], length[-1:]
    if not _SNOOZE.fullmatch(number) or unit not in _MINUTES:
        raise click.BadParameter(
            f"invalid duration {length!r}: expected 15m, 1h (at most 999h), tomorrow or game",
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
        cap = f"this month's {cap_gb} GB of traffic"
        yield f"At the present rate, {cap} will be used up on {at.date}"


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
    if decision.reason is LendingReason.NO_CONSENT:
        yield "Without the app: tequio contribute"
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
