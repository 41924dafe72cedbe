"""`tequio status`, `contribute`, `pause`, `snooze`, `finish`, `points` and `diagnostics`.

They talk to the worker that runs, whether the app started it or a person did.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

import click

from tequio_client.cli import options

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    import msgspec

    from tequio_client.link.snapshot import Snapshot
    from tequio_client.link.texts import LocalTime
    from tequio_client.link.wish import Snooze, Wish


F = TypeVar("F", bound="Callable[..., object]")
MICRO = 1_000_000
_UNTIL_TOMORROW = "tomorrow"
_UNTIL_GAME = "game"
_MINUTES = {"m": 1, "h": 60}


def _as_json(command: F) -> F:
    return click.option("--json", "as_json", is_flag=True, help="Everything, as JSON.")(command)


@click.command()
@options.folder("worker")
@_as_json
def status(*, folder: Path, as_json: bool) -> None:
    """Say what the worker does now, and why."""
    from tequio_client.control_socket import WorkerCall

    with WorkerCall.to(folder) as call:
        _say(call.snapshot(), as_json=as_json)


@click.command()
@options.folder("worker")
@_as_json
def contribute(*, folder: Path, as_json: bool) -> None:
    """Lend this computer from now on, as far as the preferences allow."""
    _wish(folder, as_json=as_json, lend=True)


@click.command()
@options.folder("worker")
@_as_json
def pause(*, folder: Path, as_json: bool) -> None:
    """Lend nothing until told otherwise; the device is free at once."""
    _wish(folder, as_json=as_json, lend=False)


@click.command()
@click.argument("length", metavar="LENGTH", default="1h")
@options.folder("worker")
@_as_json
def snooze(*, length: str, folder: Path, as_json: bool) -> None:
    """Lend nothing for a while: 15m, 1h, `tomorrow` (8 o'clock), or `game` (until it closes)."""
    _wish(folder, as_json=as_json, lend=True, snooze=_snooze(length))


@click.command()
@options.folder("worker")
@_as_json
def finish(*, folder: Path, as_json: bool) -> None:
    """Finish the round under way, then lend nothing until told otherwise."""
    _wish(folder, as_json=as_json, lend=True, finish=True)


@click.command()
@options.folder("worker")
@click.option("--rounds", default=10, show_default=True, type=click.IntRange(1, 500))
@_as_json
def points(*, folder: Path, rounds: int, as_json: bool) -> None:
    """Show points: verified, pending, and what the last rounds gave."""
    from tequio_client.control_socket import WorkerCall
    from tequio_client.link.questions import AskPoints, Points

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
@options.folder("worker")
@_as_json
def diagnostics(*, folder: Path, as_json: bool) -> None:
    """Print what helps to find a fault; no keys, no names of files beyond the worker's folder."""
    from tequio_client.control_socket import WorkerCall
    from tequio_client.link.questions import AskDiagnostics, Diagnostics

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
    from tequio_client.link.wish import Wish

    def make(shown: Snapshot) -> Wish:
        number = shown.wish.number + 1
        return Wish(number=number, lend=lend, snooze=snooze, finish=finish)

    with WorkerCall.to(folder) as call:
        _say(call.want(make), as_json=as_json)


def _snooze(length: str) -> Snooze:
    from tequio_client import clock
    from tequio_client.link.wish import Snooze

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
    from tequio_client.link.texts import LocalTime

    at = local_time(at_ms)
    return LocalTime(weekday=f"{at:%A}", date=f"{at.day} {at:%B}", time=f"{at:%H:%M}")


def _say(shown: Snapshot, *, as_json: bool) -> None:
    from tequio_client import clock
    from tequio_client.link.texts import decision_sentence

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
