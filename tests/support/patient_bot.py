"""A `QtBot` whose waits are long enough for a machine that runs other tests beside this one."""

from __future__ import annotations

from functools import partialmethod

from pytestqt.qtbot import QtBot

PATIENCE_MS = 60_000


class PatientBot(QtBot):
    """Ends a wait at the same moments as the library's, and gives up later."""

    # The library's names.
    waitUntil = partialmethod(QtBot.waitUntil, timeout=PATIENCE_MS)  # noqa: N815
    waitSignal = partialmethod(QtBot.waitSignal, timeout=PATIENCE_MS)  # noqa: N815
    waitSignals = partialmethod(QtBot.waitSignals, timeout=PATIENCE_MS)  # noqa: N815
