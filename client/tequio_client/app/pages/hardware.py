"""Hardware: every device of this computer, what it does now, and how much of it is lent."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtWidgets import QVBoxLayout, QWidget

from tequio_client.app.pages.devices import CPU, Device, History, devices
from tequio_client.app.pages.edits import Edits
from tequio_client.app.pages.hardware_card import DeviceCard
from tequio_client.app.pages.page import Page
from tequio_client.app.theme.fonts import Type
from tequio_client.app.widgets.banner import Banner
from tequio_client.app.widgets.text import Paragraph, Text
from tequio_client.app.widgets.undo_toast import UndoToast

if TYPE_CHECKING:
    from PySide6.QtGui import QHideEvent

    from tequio_client.app.pages.page import Means
    from tequio_client.link.snapshot import Snapshot


class Hardware(Page):
    """One card for each device."""

    def __init__(self, means: Means) -> None:
        super().__init__(means)
        self.edits, self.history = Edits(means.model, self), History()
        self.cards: dict[str, DeviceCard] = {}
        self._shapes: tuple[object, ...] = ()
        self.banner = Banner()
        self.toast = UndoToast(self)
        self._column = QVBoxLayout()
        self._column.setSpacing(self.body.spacing())
        self.body.addWidget(self._head())
        self.body.addWidget(self.banner)
        self.body.addLayout(self._column)
        self.body.addStretch(1)
        self.banner.button.clicked.connect(self._use_processor)
        self.edits.changed.connect(self.expect)
        means.model.shown.connect(self._remember)
        self._remember(means.model.snapshot)

    def refresh(self) -> None:
        """Show the latest readings."""
        snapshot = self.model.snapshot
        self._show_banner(snapshot)
        if snapshot is None:
            for card in self.cards.values():
                card.show_nothing()
            return
        shown = devices(snapshot.machine)
        if snapshot.machine.gpus is None and not snapshot.machine.cpu_name:
            shown = ()
        self._hold(shown)
        for device in shown:
            self.cards[device.id].show_device(device, snapshot)

    def hideEvent(self, event: QHideEvent) -> None:
        """Send what was not sent yet."""
        super().hideEvent(event)
        self.edits.flush()

    def _remember(self, snapshot: Snapshot | None) -> None:
        if snapshot is not None:
            self.history.take(snapshot.machine)

    # --- what is said above the cards

    def _show_banner(self, snapshot: Snapshot | None) -> None:
        level, said, button = self._said(snapshot)
        self.banner.setVisible(bool(said))
        self.banner.show_words(level, said, button)

    def _said(self, snapshot: Snapshot | None) -> tuple[str, str, str]:
        if snapshot is None:
            return "info", self.tr("The worker is being started; then its devices stand here."), ""
        machine = snapshot.machine
        if machine.gpus is None:
            broken = next((one.error for one in machine.health if not one.ok and one.error), "")
            said = self.tr(
                "The hardware probe is not responding, so the state of the graphics cards is "
                "unknown. Nothing is lent until it responds; Tequio restarts it automatically."
            )
            return "warning", f"{said} {broken}".strip(), ""
        if any(gpu.id != CPU for gpu in machine.gpus):
            return "info", "", ""
        if self.edits.current.device(CPU).use:
            said = self.tr(
                "No graphics card was found that can train. The CPU is lent instead. It's "
                "slower, but still earns points."
            )
            return "info", said, ""
        said = self.tr("No graphics card was found that can train. The CPU can be lent instead.")
        return "info", said, self.tr("Lend the processor")

    def _use_processor(self) -> None:
        self.edits.change_device(CPU, {"use": True})

    # --- the cards

    def _hold(self, shown: tuple[Device, ...]) -> None:
        """Have a card for each of these; one whose limits are others is made anew."""
        shapes = tuple(_shape(device) for device in shown)
        if shapes == self._shapes:
            return
        self._shapes = shapes
        for card in self.cards.values():
            self._column.removeWidget(card)
            card.hide()
            card.deleteLater()
        self.cards = {}
        for device in shown:
            card = DeviceCard(device, self.means, self.edits, self.history)
            card.switched.connect(self._offer_undo)
            self.cards[device.id] = card
            self._column.addWidget(card)

    def _offer_undo(self, name: str, is_on: bool) -> None:  # noqa: FBT001  # Qt's signal
        if is_on:
            self.toast.hide()
            return
        device = self.cards[name].device
        self.toast.offer(
            self.tr("{device} is lent no more.").format(device=device.name or device.id),
            lambda: self.edits.change_device(name, {"use": True}),
        )

    def _head(self) -> QWidget:
        made = QWidget()
        column = QVBoxLayout(made)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(2)
        column.addWidget(Text(self.tr("Hardware"), Type.TITLE))
        said = self.tr(
            "Choose what Tequio may use. It trains on the device with the most memory. Changes "
            "apply immediately."
        )
        column.addWidget(Paragraph(said, Type.CAPTION, "sub"))
        return made


def _shape(device: Device) -> tuple[object, ...]:
    """What the limits of a device's card are made of."""
    return (device.id, device.name, device.memory_mb, device.watts_limit, device.cores)
