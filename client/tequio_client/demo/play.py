"""The demo from curtain to curtain: found, build, open, train, measure, audit."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import structlog
import trio

from tequio_client.demo import programs
from tequio_client.demo.programs import Program, tequio
from tequio_client.demo.score import Measured, measure
from tequio_client.demo.tally import LogTally, read_log
from tequio_client.ledger.api import LedgerApi
from tequio_client.ledger.http import LedgerRefusedError, LedgerUnavailableError
from tequio_shared.ids import key_from_text

if TYPE_CHECKING:
    from collections.abc import Callable

    from tequio_client.demo.script import Script
    from tequio_client.link.status import Status
    from tequio_shared.api.runs import RunAnswer

log = structlog.get_logger(__name__)

POLL_S = 0.5
FINISHED = "finished"


@dataclass(slots=True, kw_only=True)
class Stage:
    """What there is to see while it plays."""

    script: Script
    url: str = ""
    act: str = ""
    run: RunAnswer | None = None
    seed: Program | None = None
    volunteers: list[Program] = field(default_factory=list)
    micropoints: dict[str, int] = field(default_factory=dict)  # by key as text
    opened_at: float = 0.0  # trio time at which the volunteers started
    ledger: Program | None = None

    def statuses(self) -> list[Status]:
        """The last status of each volunteer that has one."""
        return [one.status for one in self.volunteers if one.status is not None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Played:
    """What came out."""

    tally: LogTally
    statuses: list[Status]
    micropoints: dict[str, int]  # by key as text
    start: Measured
    end: Measured
    audit_exit: int
    audit_text: str
    trainer_mb: dict[str, int]  # the most of each volunteer's trainer, by key as text
    ledger_resident_mb: int
    seed_resident_mb: int
    seconds: float  # from the volunteers' start to the end of the run
    url: str


async def play(stage: Stage, after: Callable[[Played], None]) -> None:
    """Play the script; `after` gets the outcome. Every process ends with this function.

    Raises UserFacingError when a program fails.
    """
    async with trio.open_nursery() as nursery:
        await _raise_curtain(stage, nursery)
        await _watch(stage)
        seconds = trio.current_time() - stage.opened_at
        after(await _look_back(stage, seconds))
        nursery.cancel_scope.cancel()


async def keep_running(stage: Stage) -> None:
    """Play without an end, until cancelled: for whoever wants to join. Raises UserFacingError."""
    async with trio.open_nursery() as nursery:
        await _raise_curtain(stage, nursery)
        await _watch(stage)
        await trio.sleep_forever()


async def _raise_curtain(stage: Stage, nursery: trio.Nursery) -> None:
    await _found(stage, nursery)
    await _open_run(stage)
    _start(stage, nursery)


async def _found(stage: Stage, nursery: trio.Nursery) -> None:
    """Make organiser key, data and plan, and start the ledger."""
    folder = stage.script.folder
    stage.act = "building token shards from Python's standard library"
    plan = stage.script.write()
    build = tequio("data", "build", str(folder / "data"), "--stdlib", "--sequence", "128")
    await Program("data", build, folder).must_run()
    key = await Program(
        "organiser-key", tequio("run", "key", "--dir", str(folder / "organiser")), folder
    ).must_run()
    stage.act = f"starting the ledger ({plan.name})"
    port = programs.free_port()
    stage.url = f"http://127.0.0.1:{port}"
    stage.ledger = Program(
        "ledger", programs.ledger_command(folder / "ledger", port, key.strip()), folder
    )
    nursery.start_soon(stage.ledger.must_run)
    await programs.wait_healthy(stage.url)


async def _open_run(stage: Stage) -> None:
    folder = stage.script.folder
    stage.act = "making the first head and opening the run"
    command = tequio(
        "run",
        "open",
        str(folder / "plan.toml"),
        "--ledger",
        stage.url,
        "--dir",
        str(folder / "organiser"),
        "--seed-dir",
        str(folder / "seed"),
    )
    await Program("run-open", command, folder).must_run()


def _start(stage: Stage, nursery: trio.Nursery) -> None:
    """Start the seed and the volunteers."""
    folder = stage.script.folder
    common = ("--ledger", stage.url, "--listen", "/ip4/127.0.0.1/tcp/0", "--status")
    stage.seed = Program(
        "seed",
        tequio("seed", *common, "--dir", str(folder / "seed"), "--heads-every", "1"),
        folder,
    )
    nursery.start_soon(stage.seed.must_run)
    share = ("--share", str(stage.script.share_percent))
    for number in range(1, stage.script.peers + 1):
        name = f"volunteer-{number}"
        volunteer = Program(
            name,
            tequio("worker", *common, "--dir", str(folder / name), "--device", "cpu", *share),
            folder,
        )
        stage.volunteers.append(volunteer)
        nursery.start_soon(volunteer.must_run)
    stage.opened_at = trio.current_time()


async def _watch(stage: Stage) -> None:
    """Follow the run until it has ended."""
    stage.act = "training"
    async with LedgerApi(stage.url) as ledger:
        while stage.run is None or stage.run.state != FINISHED:
            try:
                (stage.run,) = await ledger.runs()
                stage.micropoints = await _micropoints(stage, ledger)
            except LedgerUnavailableError as err:
                log.warning("the ledger does not answer", error=str(err))
            await trio.sleep(POLL_S)


async def _micropoints(stage: Stage, ledger: LedgerApi) -> dict[str, int]:
    """What each volunteer has earned so far, by key; who is not registered yet has nothing."""
    earned = {}
    for one in stage.statuses():
        with suppress(LedgerRefusedError):
            earned[one.key] = (await ledger.peer(key_from_text(one.key))).micropoints
    return earned


async def _look_back(stage: Stage, seconds: float) -> Played:
    """Read the log, measure the last head, and let the audit check everything."""
    script = stage.script
    stage.act = "measuring the first and the last head"
    start, end = await measure(script, stage.url)
    stage.act = "auditing: replaying the log and every head as a stranger"
    store = str(script.folder / "seed" / "store")
    audit = Program(
        "audit", tequio("audit", "--ledger", stage.url, "--store", store), script.folder
    )
    audit_exit = await audit.run()
    async with LedgerApi(stage.url) as ledger:
        tally = await read_log(ledger)
        micropoints = await _micropoints(stage, ledger)
    return Played(
        tally=tally,
        statuses=stage.statuses(),
        micropoints=micropoints,
        start=start,
        end=end,
        audit_exit=audit_exit,
        audit_text=audit.output.decode(errors="replace") or audit.last_words(),
        trainer_mb={one.status.key: one.trainer_mb for one in stage.volunteers if one.status},
        ledger_resident_mb=stage.ledger.resident_mb if stage.ledger else 0,
        seed_resident_mb=stage.seed.resident_mb if stage.seed else 0,
        seconds=seconds,
        url=stage.url,
    )
