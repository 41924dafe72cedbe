"""A swarm under random faults: `make soak MINUTES=30`, again with the same faults by `SEED=`.

After every fault everything of `tests.support.invariants` has to hold; all along, no process may
grow. It says how it goes once a minute, stops at the first thing that does not hold, and ends
with what it measured; the exit status is 0 only if nothing was wrong. What the programs logged
lies in the folder that it names, unless all was well.
"""

from __future__ import annotations

import secrets
import shutil
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, NoReturn

import click
import trio

from tequio_client.cli import Number
from tequio_client.demo.programs import start_process
from tequio_shared.statements.runs import RoundClose, RoundVoid
from tests.soak.chance import drawn
from tests.soak.judge import CLASSES, judged
from tests.soak.readings import Readings
from tests.support.fault_swarm import SEED, VOLUNTEERS, opened
from tests.support.invariants import Invariants
from tests.support.real_network import left_over

if TYPE_CHECKING:
    from tests.support.fault_swarm import FaultSwarm

FAULT_S = 300.0
"""How long one fault and the way back from it may take, on a busy machine."""
MINUTE_S = 60.0
INTERRUPTED = 130


@dataclass(slots=True)
class Soak:
    """One soak under way."""

    swarm: FaultSwarm
    readings: Readings
    until: float  # trio time
    faults: int = 0
    broken: list[str] = field(default_factory=list)

    async def suffer(self, chance: Random) -> None:
        """Fault after fault until the time is over or something does not hold."""
        invariants = Invariants(self.swarm)
        for fault, moment in drawn(chance):
            if trio.current_time() >= self.until or self.broken:
                return
            name = f"{fault.name} ({', '.join(fault.victims)}), {moment.name.lower()}"
            try:
                with trio.fail_after(FAULT_S):
                    before = await invariants.before()
                    await self.swarm.moment(moment, fault.victims[0])
                    await fault.act(self.swarm, fault.victims)
                    await invariants.check(before)
            except (AssertionError, trio.TooSlowError) as err:
                self.broken.append(f"fault {self.faults}, {name}: {str(err) or 'it took too long'}")
            self.faults += 1

    async def report(self) -> NoReturn:
        """Print a status line once a minute."""
        minute = 0
        while True:
            await trio.sleep(MINUTE_S)
            minute += 1
            click.echo(f"minute {minute}: {self.line()}")

    def line(self) -> str:
        """The status in one line."""
        watch = self.swarm.watch
        sizes = ", ".join(
            f"{kind} {size:.0f} MB/{files}"
            for kind in CLASSES
            for size, files in [self.readings.largest(kind)]
        )
        rounds, void = len(watch.rounds(RoundClose)), len(watch.rounds(RoundVoid))
        return f"{self.faults} faults, {rounds} rounds, {void} void, {watch.size} entries; {sizes}"

    async def audit(self) -> None:
        """Audit the whole log."""
        stage = self.swarm.network
        stores = [
            word
            for name in (SEED, *VOLUNTEERS)
            for word in ("--store", str(stage.folder / name / "store"))
        ]
        try:
            await self.swarm.network.command(
                "audit", "audit", "--ledger", self.swarm.network.url, *stores
            )
        except AssertionError as err:
            self.broken.append(f"the audit: {err}")


@click.command()
@click.option("--minutes", default=30.0, show_default=True, type=Number(0.1))
@click.option("--seed", type=int, help="Faults of an earlier soak; drawn if not given.")
def main(minutes: float, seed: int | None) -> None:
    """Soak a swarm in random faults and check it all along."""
    number = secrets.randbelow(1 << 32) if seed is None else seed
    folder = Path(tempfile.mkdtemp(prefix="tequio-soak-"))
    click.echo(f"soak of {minutes:g} minutes, SEED={number}, folder {folder}")
    broken = _run(folder, minutes, number)
    broken += [f"still running: {one}" for one in left_over(folder)]
    for one in broken:
        click.echo(f"broken: {one}", err=True)
    if broken:
        click.echo(f"make soak MINUTES={minutes:g} SEED={number} brings the same faults", err=True)
        sys.exit(1)
    shutil.rmtree(folder)
    click.echo("all of it held")


def _run(folder: Path, minutes: float, seed: int) -> list[str]:
    """Give what was broken; a Ctrl-C ends the soak and breaks nothing."""
    broken: list[str] = []
    try:
        broken = trio.run(_soak, folder, minutes, seed)
    except* KeyboardInterrupt:
        click.echo("stopped by hand", err=True)
        sys.exit(INTERRUPTED)
    except* AssertionError as group:
        broken = [f"the swarm itself: {one}" for one in group.exceptions]
    return broken


async def _soak(folder: Path, minutes: float, seed: int) -> list[str]:
    async with opened(folder, start=start_process) as swarm, trio.open_nursery() as nursery:
        until = trio.current_time() + minutes * MINUTE_S
        soak = Soak(swarm=swarm, readings=Readings(swarm), until=until)
        nursery.start_soon(soak.readings.run)
        nursery.start_soon(soak.report)
        await soak.suffer(Random(seed))
        await soak.audit()
        nursery.cancel_scope.cancel()
    click.echo(f"in all: {soak.line()}")
    soak.readings.write(folder / "readings.csv")
    verdicts = judged(soak.readings.lives)
    for one in verdicts:
        click.echo(one.line())
    return [*soak.broken, *(fault for one in verdicts for fault in one.faults())]


if __name__ == "__main__":
    main()
