"""`tequio-ledger monitor`."""

from __future__ import annotations

import sys
import time
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import platformdirs
import structlog

from tequio_ledger import runtime
from tequio_ledger.config.options import with_those
from tequio_ledger.config.settings import LOG_JSON, LOG_LEVEL
from tequio_ledger.config.sources import Form, Program, Reader, Setting, maybe_place, number, place
from tequio_ledger.data_folder import Folder
from tequio_ledger.log.publisher import load_policy
from tequio_ledger.monitor.alarms import FINAL, Alarms, FoundError
from tequio_ledger.monitor.mirror import Mirror, stored_genesis
from tequio_ledger.monitor.remote import RemoteLedger, UnreachableError
from tequio_ledger.monitor.watch import Watch
from tequio_ledger.runtime import now_ms
from tequio_shared.errors import PeerError, UserFacingError
from tequio_shared.ids import from_text, to_text
from tequio_shared.log.notes import VerifierKey
from tequio_shared.network.genesis import Genesis

if TYPE_CHECKING:
    from tequio_ledger.config.sources import Gathered
    from tequio_shared.log.notes import VerifierKey as Key
    from tequio_shared.log.policy import Policy

# --- What the monitor was asked to be: one frozen value, read once at its start.
#
# To add a setting: a constant here, in `ALL`, with a field in `Settings`, and a line in
# `installer/monitor.toml`.

PROGRAM = Program("TEQUIO_MONITOR_", "tequio-ledger monitor --help")

DIR = Setting(
    name="dir",
    default=platformdirs.user_data_dir("tequio-monitor"),
    parse=place,
    help="Where the copy of the log and the alarms are kept.",
)
TRUST = Setting(
    name="trust",
    default="",
    parse=maybe_place,
    help="Policy file (C2SP tlog-policy): the log's key, and who must have cosigned.",
)
EVERY = Setting(
    name="every",
    default="10",
    parse=number(1, 3_600),
    help="Seconds between two looks.",
    form=Form.NUMBER,
)

ALL: tuple[Setting[Any], ...] = (DIR, TRUST, EVERY, LOG_JSON, LOG_LEVEL)


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Everything that an operator may choose."""

    folder: Path
    trust: Path | None
    """The policy that the log is held to; None asks for no cosignature."""
    every_s: int
    log_json: bool
    log_level: str


def read(gathered: Gathered) -> Settings:
    """Turn texts into settings; raises UserFacingError naming every fault at once."""
    reader = Reader(gathered)
    settings = Settings(
        folder=reader.of(DIR, Path()),
        trust=reader.of(TRUST, None),
        every_s=reader.of(EVERY, 1),
        log_json=reader.of(LOG_JSON, False),  # noqa: FBT003 - a value among others
        log_level=reader.of(LOG_LEVEL, ""),
    )
    reader.finish()
    return settings


ALARM_STATUS = 2

log = structlog.get_logger(__name__)


@click.command("monitor")
@with_those(ALL, PROGRAM)
@click.argument("url")
@click.option("--once", is_flag=True, help="Look once, and end: 0 all is well, 2 an alarm rang.")
def monitor(gathered: Gathered, url: str, *, once: bool) -> None:
    """Read a ledger's log as it grows, verify all of it, and ring an alarm when it lies.

    Run it on another machine than the ledger. An alarm is a line in the log and a file in
    DIR/alarms that others can check. After a fork, or an entry that must not be there, it ends
    with status 2: that log cannot be read on.
    """
    given = read(gathered)
    runtime.configure(
        runtime.Style.JSON if given.log_json else runtime.Style.CONSOLE, given.log_level
    )
    with Folder(given.folder) as opened, RemoteLedger(url) as ledger:
        policy = load_policy(given.trust) if given.trust else None
        sys.exit(_run(ledger, opened.path, policy, 0.0 if once else given.every_s))


def _run(ledger: RemoteLedger, folder: Path, policy: Policy | None, every_s: float) -> int:
    """Watch until something final is found, or once if there is no pause; gives the status."""
    genesis = _genesis(ledger, folder)
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
            size=watch.size,
        )
        while True:
            try:
                watch.look()
            except FoundError as err:
                alarms.ring(err.alarm)
                if err.alarm.kind in FINAL:
                    return ALARM_STATUS
            if not every_s:
                return ALARM_STATUS if alarms.rang else 0
            time.sleep(every_s)


def _genesis(ledger: RemoteLedger, folder: Path) -> Genesis:
    """Give the network that this folder watches; at the first time, the one that the ledger names.

    Raises UserFacingError when the ledger is of another network now.
    """
    before = stored_genesis(folder)
    try:
        answer = ledger.ask("/v1/network")
        genesis = Genesis.parse(from_text(str(answer.get("genesis", "")), None))
        key: Key = VerifierKey.parse(genesis.log_key)
    except UnreachableError as err:
        if before is not None:
            return before
        raise UserFacingError(f"the ledger at {ledger.url} does not answer: {err}") from err
    except PeerError as err:
        raise UserFacingError(f"what answers at {ledger.url} is no ledger: {err}") from err
    if before is not None and before != genesis:
        raise UserFacingError(
            f"{folder} watches the log {before.origin}, but {ledger.url} serves {key.name}: "
            "choose another --dir"
        )
    return genesis
