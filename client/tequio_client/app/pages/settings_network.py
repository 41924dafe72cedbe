"""Settings, Network and Storage: what may go over the line, and what may lie on the disk."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from tequio_client.app.pages.settings_section import Section
from tequio_client.app.widgets import figures
from tequio_client.app.widgets.progress import Meter
from tequio_client.app.widgets.setting_row import SettingRow

if TYPE_CHECKING:
    from collections.abc import Callable

    from tequio_client.app.pages.edits import Edits
    from tequio_client.app.pages.page import Means
    from tequio_client.app.widgets.undo_toast import UndoToast
    from tequio_client.link.snapshot import Snapshot

MOST_MBIT = 100_000.0
MOST_GB = 1_000_000
GB = 10**9
GIB = 1 << 30
Write: TypeAlias = "Callable[[int], str]"


class NetworkSection(Section):
    """How much of the line is taken."""

    def __init__(self, means: Means, edits: Edits, toast: UndoToast) -> None:
        super().__init__(means, edits, toast)
        unlimited = self.tr("No limit")
        self.card(self.tr("Rate"))
        self.upload = self.number(
            "upload_mbit",
            self.tr("Upload"),
            self.tr("Most that is sent; below half of your line, games and calls do not notice."),
            (0, MOST_MBIT),
            self.tr("Mbit/s"),
            nothing=unlimited,
            places=1,
            is_optional=True,
        )
        self.download = self.number(
            "download_mbit",
            self.tr("Download"),
            self.tr("Most that is received."),
            (0, MOST_MBIT),
            self.tr("Mbit/s"),
            nothing=unlimited,
            places=1,
            is_optional=True,
        )
        self.card(self.tr("Month"))
        self.month = self.number(
            "month_gb",
            self.tr("Monthly quota"),
            self.tr("Up and down together, from the first of the month; then lending waits."),
            (0, MOST_GB),
            self.tr("GB"),
            nothing=unlimited,
        )
        self.used = Meter(self.tr("Used this month"))
        row = SettingRow("", "", self.used, is_wide=True)
        row.also(self.tr("Used this month"))
        self.add("month_used", row)
        self.card(self.tr("Kind of network"))
        self.metered = self.switch(
            "on_metered",
            self.tr("Lend on metered networks"),
            self.tr("On a phone's hotspot, or where the system calls the network metered."),
        )

    def refresh(self, snapshot: Snapshot | None) -> None:
        """Show what holds, and what was used."""
        super().refresh(snapshot)
        used = snapshot.line.month_bytes if snapshot else None
        most = self.edits.current.month_gb * GB
        _show(self.used, used, most, figures.data)


class StorageSection(Section):
    """How much of the disk is taken."""

    def __init__(self, means: Means, edits: Edits, toast: UndoToast) -> None:
        super().__init__(means, edits, toast)
        self.card(self.tr("Store"))
        self.cap = self.number(
            "disk_gib",
            self.tr("Most that is kept"),
            self.tr("Model, data and updates of the runs you are in; the oldest goes first."),
            (1, MOST_GB),
            self.tr("GiB"),
        )
        self.used = Meter(self.tr("Used by Tequio"))
        row = SettingRow("", "", self.used, is_wide=True)
        row.also(self.tr("Used by Tequio"))
        self.add("disk_used", row)
        self.card(self.tr("Disk"))
        self.free = self.number(
            "disk_free_gib",
            self.tr("Stays free"),
            self.tr("Lending waits when less of the disk is free than this."),
            (0, MOST_GB),
            self.tr("GiB"),
        )
        self.left = SettingRow(self.tr("Free now"), "")
        self.add("disk_left", self.left)

    def refresh(self, snapshot: Snapshot | None) -> None:
        """Show what holds, and what is used."""
        super().refresh(snapshot)
        used = snapshot.disk.store_bytes if snapshot else None
        _show(self.used, used, self.edits.current.disk_gib * GIB, _binary)
        free = _binary(snapshot.disk.free_bytes) if snapshot else figures.ABSENT
        self.left.show_note(free)


def _show(meter: Meter, used: int | None, most: int, write: Write) -> None:
    if used is None:
        meter.show_use(figures.ABSENT, None)
    elif not most:
        meter.show_use(write(used), None)
    else:
        words = figures.translate("figures", "{used} of {most}").format(
            used=write(used), most=write(most)
        )
        meter.show_use(words, used / most)


def _binary(size_bytes: int) -> str:
    """In GiB, as the limits are: one decimal below ten."""
    gib = size_bytes / GIB
    shown = figures.decimal(gib, 1 if gib < 10 else 0)  # noqa: PLR2004  # digits
    return figures.translate("figures", "{size} GiB").format(size=shown)
