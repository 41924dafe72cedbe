"""The monitor's settings.

To add a setting: a field here and a line in `installer/monitor.toml`.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import platformdirs
from msgspec import Meta, field

from tequio_ledger.config.settings import Folder, OptionalPath
from tequio_ledger.config.sources import Program, ProgramSettings


class MonitorSettings(ProgramSettings, frozen=True, kw_only=True, rename="kebab"):
    """All settings of the monitor."""

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
