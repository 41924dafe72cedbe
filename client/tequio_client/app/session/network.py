"""Qt's word on the network, for systems where Qt has one."""

from __future__ import annotations

from PySide6.QtNetwork import QNetworkInformation

from tequio_client.system.errors import AbsentError


class QtMetered:
    """Whether the network is metered, by Qt.

    Made in the thread of the window, since Qt wants that, and only where its plug-in does not wait
    for a service (on Linux it would, so D-Bus is asked there).
    """

    source = "qt"

    def __init__(self) -> None:
        self._said: bool | None = None
        self._problem = "Qt does not know this system's networks"
        if QNetworkInformation.loadBackendByFeatures(QNetworkInformation.Feature.Metered):
            network = QNetworkInformation.instance()
            network.isMeteredChanged.connect(self._take)
            self._take(is_metered=network.isMetered())

    def read(self) -> bool:
        """See Probe."""
        if self._said is None:
            raise AbsentError(self._problem)
        return self._said

    def _take(self, is_metered: bool) -> None:  # noqa: FBT001 - Qt's signal
        self._said = is_metered
