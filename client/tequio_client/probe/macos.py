"""A Mac's own graphics, from the output of `ioreg` about IOAccelerator.

The load by program needs the rights of root. So the load of others is unknown while the worker
computes, and the whole load otherwise. The memory is the machine's.
"""

from __future__ import annotations

import plistlib
from typing import TYPE_CHECKING
from xml.parsers.expat import ExpatError

from tequio_client.ipc.facts import AcceleratorFacts
from tequio_client.platform.dbus import NoAnswerError
from tequio_client.probe.cards import Cards

if TYPE_CHECKING:
    from tequio_client.ipc.facts import ProbeInstructions
    from tequio_client.platform.dbus import ProgramRunner

COMMAND = ("/usr/sbin/ioreg", "-r", "-d", "1", "-w", "0", "-c", "IOAccelerator", "-a")
_WHOLE = 100


class AppleCards:
    """The one accelerator of an Apple processor."""

    name = "ioaccelerator"

    def __init__(self, output_of: ProgramRunner) -> None:
        self._output_of = output_of

    def read(self, watch: ProbeInstructions) -> Cards:
        """Raises UnknownError when ioreg fails."""
        content = self._output_of(COMMAND)
        try:
            entries = plistlib.loads(content) if content.strip() else []
        except (plistlib.InvalidFileException, ExpatError, ValueError) as err:
            raise NoAnswerError(f"ioreg did not print a property list: {err}") from err
        for entry in entries if isinstance(entries, list) else ():
            if isinstance(entry, dict) and str(entry.get("IOClass", "")).startswith("AGX"):
                return Cards(gpus=(_card(entry, is_ours=watch.is_computing),))
        return Cards()


def _card(entry: dict[str, object], *, is_ours: bool) -> AcceleratorFacts:
    statistics = entry.get("PerformanceStatistics")
    percent = statistics.get("Device Utilization %") if isinstance(statistics, dict) else None
    is_sane = isinstance(percent, int) and 0 <= percent <= _WHOLE
    load = percent / _WHOLE if is_sane and isinstance(percent, int) else None
    model = entry.get("model")
    return AcceleratorFacts(
        id="mps",
        name=model[:256] if isinstance(model, str) else "Apple GPU",
        load=load,
        others_load=None if is_ours else load,
    )
