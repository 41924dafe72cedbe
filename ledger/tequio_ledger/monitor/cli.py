"""`tequio-ledger monitor`."""

from __future__ import annotations

import sys
import time
from contextlib import closing
from http import HTTPStatus
from pathlib import Path
from typing import Annotated

import click
import platformdirs
import structlog
from msgspec import Meta, field

from tequio_ledger import runtime
from tequio_ledger.config.options import with_settings
from tequio_ledger.config.settings import Folder, OptionalPath
from tequio_ledger.config.sources import Program, ProgramSettings
from tequio_ledger.data_folder import DataFolder
from tequio_ledger.log.publisher import load_policy
from tequio_ledger.monitor.alarms import Alarms, FoundError
from tequio_ledger.monitor.mirror import Mirror, stored_genesis
from tequio_ledger.monitor.remote import RemoteLedger, UnreachableError, WithheldError
from tequio_ledger.monitor.watch import AWAY, QUESTIONS, Watch
from tequio_ledger.runtime import now_ms
from tequio_shared.errors import PeerError, UserFacingError
from tequio_shared.ids import from_text, to_text
from tequio_shared.log.notes import VerifierKey
from tequio_shared.log.policy import Policy
from tequio_shared.network.genesis import Genesis

ALARM_STATUS = 2
UNCHECKED_STATUS = 3
NO_LEDGER = (HTTPStatus.NOT_FOUND, *range(300, 400))
"""Statuses that no ledger answers to the question for its network."""

log = structlog.get_logger(__name__)


class MonitorSettings(ProgramSettings, frozen=True, kw_only=True, rename="kebab"):
    """To add a setting: a field here and a line in `installer/monitor.toml`."""

    folder: Annotated[
        Folder, Meta(description="Folder of the monitor's copy of the log and of its alarms.")
    ] = field(name="dir", default=Path(platformdirs.user_data_dir("tequio-monitor")))
    trust: Annotated[
        OptionalPath,
        Meta(
            description="Policy file (C2SP tlog-policy) with the log's key and the required "
            "cosignatures. Default: no cosignature is required."
        ),
    ] = None
    every_s: Annotated[int, Meta(ge=1, le=3_600, description="Seconds between two checks.")] = (
        field(name="every", default=10)
    )


MONITOR = Program(MonitorSettings, "TEQUIO_MONITOR_", "tequio-ledger monitor --help")


@click.command("monitor")
@with_settings(MONITOR)
@click.argument("url")
@click.option(
    "--once",
    is_flag=True,
    help="Check once and exit: status 0 if all is well, 1 if it could not start, 2 after an alarm, "
    "3 if something could not be checked.",
)
def monitor(settings: MonitorSettings, url: str, *, once: bool) -> None:
    """Verify a ledger's whole log as it grows, and raise an alarm for any fault.

    Run it on another machine than the ledger. An alarm is a line in the program's log and a file
    in DIR/alarms that others can verify. After a fork or an invalid entry, the program exits with
    status 2: such a log cannot be followed any further.
    """
    runtime.configure_by(settings)
    with DataFolder(settings.folder) as opened, RemoteLedger(url) as ledger:
        policy = load_policy(settings.trust) if settings.trust else None
        sys.exit(_run(ledger, opened.path, policy, 0.0 if once else settings.every_s))


def _run(ledger: RemoteLedger, folder: Path, policy: Policy | None, every_s: float) -> int:
    """Watch until a final alarm, or once if `every_s` is 0; gives the exit status."""
    try:
        genesis = _genesis(ledger, folder)
    except UnreachableError as err:
        if every_s:
            raise UserFacingError(f"the ledger at {ledger.url} does not answer: {err}") from err
        log.warning(AWAY, detail=str(err))
        return UNCHECKED_STATUS
    alarms = Alarms(folder / "alarms", ledger.url, now_ms)

    def open_mirror() -> Mirror:
        mirror = Mirror(folder, genesis, ledger.blob, now_ms)
        mirror.load()
        return mirror

    with closing(Watch(ledger, open_mirror, alarms, policy, now_ms)) as watch:
        log.info(
            "tequio-ledger monitor watches",
            url=ledger.url,
            log_key=genesis.log_key,
            network_id=to_text(genesis.network_id),
            size=watch.mirror.size,
        )
        while True:
            try:
                is_whole = watch.check(QUESTIONS if every_s else sys.maxsize)
            except FoundError as err:
                alarms.ring(err.alarm)
                return ALARM_STATUS
            if not every_s:
                unrung = 0 if is_whole else UNCHECKED_STATUS
                return ALARM_STATUS if alarms.rang else unrung
            time.sleep(every_s)


def _genesis(ledger: RemoteLedger, folder: Path) -> Genesis:
    """Give the network of this folder; the first time, the one that the ledger names.

    Raises UserFacingError for an address of something else than a ledger, and when the ledger now
    serves another network; UnreachableError only the first time.
    """
    before = stored_genesis(folder)
    try:
        answer = ledger.ask("/v1/network")
        genesis = Genesis.parse(from_text(str(answer.get("genesis", "")), None))
        key = VerifierKey.parse(genesis.log_key)
    except UnreachableError as err:
        if before is not None:
            return before
        if isinstance(err, WithheldError) and err.status in NO_LEDGER:
            raise UserFacingError(f"{ledger.url} is not the address of a ledger: {err}") from err
        raise
    except PeerError as err:
        raise UserFacingError(f"{ledger.url} is not the address of a ledger: {err}") from err
    if before is not None and before != genesis:
        raise UserFacingError(
            f"{folder} watches the log {before.origin}, but {ledger.url} serves {key.name}: "
            "choose another --dir"
        )
    return genesis
