"""The round under way: whose run, how far, how well, and what it takes of the machine."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from tequio_client.app.theme.fonts import Type
from tequio_client.app.widgets import figures
from tequio_client.app.widgets.card import Card
from tequio_client.app.widgets.chip import Chip
from tequio_client.app.widgets.columns import Columns
from tequio_client.app.widgets.progress import Meter, Ring, RoundBar
from tequio_client.app.widgets.text import Line, Paragraph, Text

if TYPE_CHECKING:
    from tequio_client.app.pages.page import Means
    from tequio_client.link.facts import Gpu
    from tequio_client.link.snapshot import RoundShown, Snapshot

BETWEEN = "  ·  "
BITS = 8
MEGA = 1_000_000
NAMES = 220
"""Pixels that names need."""
GIGA = 1_000_000_000


class RoundCard(Card):
    """The round's card."""

    def __init__(self, means: Means) -> None:
        super().__init__()
        self._means = means
        self.ring, self.bar = Ring(self.tr("Round")), RoundBar(self.tr("Run"))
        self.name, self.line = Line("", Type.HEADING), Paragraph("", Type.BODY, "sub")
        self.role = Chip()
        self.loss, self.bits = Reading(self.tr("Loss")), Reading(self.tr("Bits per byte"))
        self.caps = Caps()
        row = QHBoxLayout()
        row.setContentsMargins(4, 4, 4, 4)
        row.setSpacing(22)
        row.addWidget(self.ring, 0, Qt.AlignmentFlag.AlignVCenter)
        row.addLayout(self._column(), 1)
        self.body.addLayout(row)

    def show_snapshot(self, snapshot: Snapshot | None) -> None:
        """Show its round, or what will stand here."""
        current = snapshot.round if snapshot else None
        for part in (self.bar, self.role, self.loss, self.bits):
            part.setVisible(current is not None)
        self.caps.setVisible(current is not None)
        if snapshot is None or current is None:
            self._show_none(lends=snapshot is not None and snapshot.decision.may_compute)
        else:
            self._show_round(snapshot, current)

    def _show_none(self, *, lends: bool) -> None:
        self.ring.show_percent(None)
        if lends:
            self.name.setText(self.tr("Joining a run"))
            self.line.setText(
                self.tr("The model and its data are fetched once; then the first round begins.")
            )
            return
        self.name.setText(self.tr("No round yet"))
        self.line.setText(
            self.tr("Once this computer lends, it joins a run and trains round by round.")
        )

    def _show_round(self, snapshot: Snapshot, current: RoundShown) -> None:
        takes_part = snapshot.decision.may_compute
        done = current.done_percent if takes_part else None
        self.ring.show_percent(done, self.tr("of round") if takes_part else "")
        self.name.setText(current.run_name or current.run)
        words, picture, tone = {
            "trainer": (self.tr("Trainer"), "cpu", "accent"),
            "witness": (self.tr("Witness"), "eye", "accent"),
        }.get(current.role, (self.tr("No role yet"), "hourglass", ""))
        if not takes_part:
            words, picture, tone = self.tr("Not taking part"), "circle-pause", ""
        self.role.show_as(words, picture, tone)
        self.line.setText(self._sentence(snapshot, current))
        self.bar.show_part(current.number / current.rounds if current.rounds else 0.0)
        self.bar.setVisible(bool(current.rounds))
        self.loss.show_reading(figures.decimal(current.loss, 3))
        self.caps.show_snapshot(snapshot)
        self._head.fold()
        self.bits.show_reading(figures.decimal(current.bits_per_byte, 3))

    def _sentence(self, snapshot: Snapshot, current: RoundShown) -> str:
        number, rounds = figures.count(current.number), figures.count(current.rounds)
        of_all = self.tr("Round {number} of {rounds}").format(number=number, rounds=rounds)
        alone = self.tr("Round {number}").format(number=number)
        parts = [of_all if current.rounds else alone]
        if snapshot.status is not None:
            parts.append(self.tr("%n peer(s)", "", snapshot.status.peers))
        left_s = (current.ends_ms - self._means.now_ms()) // 1_000
        if current.ends_ms and left_s > 0:
            parts.append(self.tr("{time} left").format(time=figures.duration(left_s)))
        return BETWEEN.join(parts)

    def _column(self) -> QVBoxLayout:
        column, head = QVBoxLayout(), Columns(gap=12)
        names, readings = QWidget(), QWidget()
        under, beside = QVBoxLayout(names), QHBoxLayout(readings)
        names.setMinimumWidth(NAMES)
        for layout in (under, beside):
            layout.setContentsMargins(0, 0, 0, 0)
        under.setSpacing(3)
        under.addWidget(self.name)
        under.addWidget(self.line)
        beside.setSpacing(26)
        for part in (self.role, self.loss, self.bits):
            beside.addWidget(part, 0, Qt.AlignmentFlag.AlignTop)
        head.hold((names, readings), shares=(1, 0))
        self._head = head
        column.setSpacing(12)
        column.addWidget(head)
        column.addWidget(self.bar)
        column.addWidget(self.caps)
        return column


class Reading(QWidget):
    """A small figure with its name."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self._name, self._figure = Text(name, Type.SMALL, "sub"), Text("", Type.HEADING)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(1)
        for part in (self._name, self._figure):
            column.addWidget(part, 0, Qt.AlignmentFlag.AlignTrailing)

    def show_reading(self, words: str) -> None:
        """Show that."""
        self._figure.setText(words)
        self.setAccessibleName(f"{self._name.text()}: {words}")

    @property
    def words(self) -> str:
        """What it shows."""
        return self._figure.text()


class Caps(Columns):
    """What is used of the machine and the line, beside the limits."""

    def __init__(self) -> None:
        super().__init__(folded=2, gap=20)
        self.memory = Meter(self.tr("VRAM"))
        self.upload = Meter(self.tr("Upload"))
        self.month = Meter(self.tr("Month"))
        self.disk = Meter(self.tr("Disk"))
        self.hold((self.memory, self.upload, self.month, self.disk))

    def show_snapshot(self, snapshot: Snapshot) -> None:
        """Show its use and its limits."""
        self._show_memory(snapshot)
        line, disk, preferences = snapshot.line, snapshot.disk, snapshot.preferences
        up_mbit, cap_mbit = line.up_bytes_per_s * BITS / MEGA, preferences.upload_mbit
        up = figures.decimal(up_mbit, 1)
        if cap_mbit is None:
            self.upload.show_use(figures.rate(line.up_bytes_per_s), None)
        else:
            limit = figures.rate(cap_mbit * MEGA / BITS)
            self.upload.show_use(self._of(up, limit), up_mbit / cap_mbit)
        self._show_bytes(self.month, line.month_bytes, line.month_cap_bytes)
        self._show_bytes(self.disk, disk.store_bytes, disk.cap_bytes)
        self.fold()

    def _show_bytes(self, meter: Meter, used: int, most: int) -> None:
        if most:
            meter.show_use(self._of(figures.data(used), figures.data(most)), used / most)
        else:
            meter.show_use(figures.data(used), None)

    def _show_memory(self, snapshot: Snapshot) -> None:
        card = card_of(snapshot)
        if card is not None and card.memory_mb and card.free_mb is not None:
            used = card.memory_mb - card.free_mb
            self.memory.rename(self.tr("VRAM"))
            words = self._of(figures.memory(used), figures.memory(card.memory_mb))
            self.memory.show_use(words, used / card.memory_mb)
            return
        self.memory.rename(self.tr("Memory"))
        used = sum(trainer.resident_mb for trainer in snapshot.trainers)
        most = snapshot.machine.memory_mb
        if most:
            words = self._of(figures.memory(used), figures.memory(most))
            self.memory.show_use(words, used / most)
        else:
            self.memory.show_use(figures.memory(used), None)

    def _of(self, used: str, most: str) -> str:
        number, _, unit = used.rpartition(" ")
        is_same = bool(number) and most.endswith(f" {unit}")
        return self.tr("{used} of {most}").format(used=number if is_same else used, most=most)


def card_of(snapshot: Snapshot) -> Gpu | None:
    """The accelerator that is lent, or the first one."""
    cards = snapshot.machine.gpus or ()
    lent = {trainer.device for trainer in snapshot.trainers}
    return next((card for card in cards if card.id in lent), cards[0] if cards else None)
