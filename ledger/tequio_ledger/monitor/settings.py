"""What the monitor was asked to be: one frozen value, read once at its start.

To add a setting: a constant here, in `ALL`, with a field in `Settings`, and a line in
`installer/monitor.toml`.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import platformdirs

from tequio_ledger.settings.logging import LOG_JSON, LOG_LEVEL
from tequio_ledger.settings.reader import Reader
from tequio_ledger.settings.setting import Form, Setting, maybe_place, number, place
from tequio_ledger.settings.sources import Program

if TYPE_CHECKING:
    from tequio_ledger.settings.sources import Gathered

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
