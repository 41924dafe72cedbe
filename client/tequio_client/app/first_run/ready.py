"""Step 6: what happens next, and when there will be first points."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QSize, Qt
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from tequio_client.app.first_run.step import Kit, Step
from tequio_client.app.theme.fonts import Type
from tequio_client.app.widgets import figures
from tequio_client.app.widgets.card import Card
from tequio_client.app.widgets.chip import Chip
from tequio_client.app.widgets.picture import Picture
from tequio_client.app.widgets.text import Paragraph
from tequio_client.link.preferences import PRESETS, Preset
from tequio_client.link.questions import AskRuns, Runs

if TYPE_CHECKING:
    from tequio_client.link.questions import RunRow

LINE_BYTES_PER_S = 50e6 / 8
"""Of a line of 50 Mbit/s."""


class ReadyStep(Step):
    """Three things that come by themselves."""

    def __init__(self, kit: Kit) -> None:
        super().__init__(
            kit,
            self.tr("Ready"),
            self.tr("Nothing has been used yet. Press the button below to start."),
        )
        self.events = [Event(picture) for picture in ("download", "moon", "badge-check")]
        card = Card(self.tr("What happens next"))
        card.body.setSpacing(14)
        for event in self.events:
            card.body.addWidget(event)
        self.chips = [Chip() for _ in range(4)]
        row = QHBoxLayout()
        row.setSpacing(8)
        for chip in self.chips:
            row.addWidget(chip)
        row.addStretch(1)
        self.body.addLayout(row)
        self.body.addWidget(card)
        hint = self.tr(
            "Closing the window hides it; the icon in the panel shows the state, and pauses "
            "everything with two clicks."
        )
        self.body.addWidget(Paragraph(hint, tone="sub"))
        self.body.addStretch(1)

    @property
    def is_ready(self) -> bool:
        """Whether there is consent, for somebody may have come here otherwise."""
        return self.kit.book.draft.is_agreed

    @property
    def next_words(self) -> str:
        """See Step."""
        return self.tr("Contribute")

    def enter(self) -> None:
        """See Step."""
        self.refresh()

    def refresh(self) -> None:
        """Say it for what is chosen."""
        self._recall()
        first, second, third = self.events
        first.say(self.tr("Join and fetch"), self._fetching())
        second.say(self.tr("Begin when you are away"), self._beginning())
        third.say(
            self.tr("First points"),
            self.tr(
                "They are pending when your first round ends, and verified when the ledger has "
                "closed it and your computer has checked the proof, usually one round later."
            ),
        )

    def _recall(self) -> None:
        draft, run = self.kit.book.draft, self._run()
        presets = {
            Preset.GENTLE: self.tr("Gentle"),
            Preset.BALANCED: self.tr("Balanced"),
            Preset.MAX: self.tr("Max"),
        }
        when, login, what, backup = self.chips
        when.show_as(presets.get(draft.preset, ""), "clock", "accent")
        starts, waits = self.tr("Starts at login"), self.tr("Starts by hand")
        login.show_as(starts if draft.starts_at_login else waits, "power", "accent")
        what.show_as(run.name if run else self.tr("Run: automatic"), "boxes", "accent")
        backup.setVisible(self.kit.desk.state.wants_backup)
        backup.show_as(self.tr("Key not backed up"), "triangle-alert", "warn")

    def _fetching(self) -> str:
        run = self._run()
        if run is None:
            return self.tr(
                "The run that fits best is joined, and its model and first data are fetched once."
            )
        seconds = run.first_bytes / LINE_BYTES_PER_S
        return self.tr(
            "{run}: {data} are fetched once, about {time} on a line of 50 Mbit/s."
        ).format(run=run.name, data=figures.data(run.first_bytes), time=figures.duration(seconds))

    def _beginning(self) -> str:
        preset = self.kit.book.draft.preset
        if preset is Preset.MAX:
            return self.tr(
                "At once at 30 % of the time, and in full after a minute without input. Games "
                "stop it, always."
            )
        minutes = int(PRESETS[preset]["idle_minutes"])
        return self.tr(
            "%n minute(s) after your last input. A key or the mouse stops it; games do, always.",
            "",
            minutes,
        )

    def _run(self) -> RunRow | None:
        known = self.kit.means.model.reply(AskRuns())
        if not isinstance(known, Runs):
            return None
        chosen = self.kit.book.draft.run
        return next((row for row in known.rows if row.run == chosen), None)


class Event(QWidget):
    """One thing that will happen."""

    def __init__(self, picture: str) -> None:
        super().__init__()
        self._heading, self._words = Paragraph("", Type.STRONG), Paragraph("", tone="sub")
        row, column = QHBoxLayout(self), QVBoxLayout()
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(14)
        column.setSpacing(1)
        column.addWidget(self._heading)
        column.addWidget(self._words)
        row.addWidget(Picture(picture, QSize(20, 20), "accent"), 0, Qt.AlignmentFlag.AlignTop)
        row.addLayout(column, 1)

    def say(self, heading: str, words: str) -> None:
        """Say that."""
        self._heading.setText(heading)
        self._words.setText(words)

    @property
    def words(self) -> str:
        """What it says."""
        return self._words.text()
