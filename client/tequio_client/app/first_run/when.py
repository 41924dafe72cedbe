"""Step 4: when to lend, and the consent to it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtWidgets import QCheckBox, QHBoxLayout, QVBoxLayout

from tequio_client.app.first_run.step import Kit, Step
from tequio_client.app.theme.fonts import Type
from tequio_client.app.widgets.card import Card
from tequio_client.app.widgets.choice_card import ChoiceCards
from tequio_client.app.widgets.setting_row import SettingRow
from tequio_client.app.widgets.switch import Switch
from tequio_client.app.widgets.text import Line, Paragraph
from tequio_client.link.preferences import Preset

if TYPE_CHECKING:
    from tequio_client.link.preferences import Preferences


class WhenStep(Step):
    """Ready when consent was given."""

    def __init__(self, kit: Kit) -> None:
        super().__init__(
            kit,
            self.tr("When may Tequio use this computer?"),
            self.tr(
                "In every case it stops for games, on battery and on metered networks, and it "
                "stays below 80 °C. Each of these can be changed in Settings."
            ),
        )
        self.presets = ChoiceCards(
            self.tr("When to lend"),
            {
                Preset.GENTLE: (
                    self.tr("Gentle"),
                    self.tr("After 15 minutes without input. Films pause it too."),
                ),
                Preset.BALANCED: (
                    self.tr("Balanced"),
                    self.tr("After 5 minutes without input. This suits most people."),
                ),
                Preset.MAX: (
                    self.tr("Max"),
                    self.tr("After 1 minute, and at 30 % of the time while you use it."),
                ),
            },
        )
        name = self.tr("Start when I log in")
        self.login = Switch(name)
        note = self.tr("Starts minimised to the tray. Otherwise you have to start Tequio yourself.")
        card = Card()
        card.body.addWidget(SettingRow(name, note, self.login))
        self.consent = ConsentCard(kit.means.model.preferences)
        for part in (self.presets, card, self.consent):
            self.body.addWidget(part)
        self.body.addStretch(1)
        self.presets.chosen.connect(lambda preset: self._change(preset=Preset(preset)))
        self.login.toggled.connect(lambda is_on: self._change(starts_at_login=is_on))
        self.consent.box.toggled.connect(lambda is_on: self._change(is_agreed=is_on))
        self.refresh()

    @property
    def is_ready(self) -> bool:
        """Whether consent was given."""
        return self.kit.book.draft.is_agreed

    def refresh(self) -> None:
        """Show what is chosen."""
        draft = self.kit.book.draft
        self.presets.choose(draft.preset)
        self.login.setChecked(draft.starts_at_login)
        self.consent.box.setChecked(draft.is_agreed)

    def _change(self, **changes: object) -> None:
        self.kit.book.change(**changes)
        self.refresh()
        self.changed.emit()


class ConsentCard(Card):
    """The sentence, and the box that says yes to it."""

    def __init__(self, chosen: Preferences) -> None:
        super().__init__()
        traffic = self.tr("{traffic} GB of traffic a month").format(traffic=chosen.month_gb)
        words = self.tr(
            "I lend this computer to Tequio as chosen here: it may use the graphics card, the "
            "processor, up to {disk} GiB of disk, {traffic}, and the power that takes. I am "
            "allowed to decide this for this computer."
        ).format(
            disk=chosen.disk_gib,
            traffic=traffic if chosen.month_gb else self.tr("traffic without a limit"),
        )
        self.box = QCheckBox()
        self.box.setAccessibleName(self.tr("I agree"))
        self.box.setAccessibleDescription(words)
        sentence = Consent(words, self.box)
        row, column = QHBoxLayout(), QVBoxLayout()
        row.setSpacing(12)
        column.setSpacing(3)
        column.addWidget(Line(self.tr("I agree"), Type.HEADING))
        column.addWidget(sentence)
        note = self.tr("You can pause, change or stop at any time.")
        column.addWidget(Paragraph(note, Type.CAPTION, "sub"))
        row.addWidget(self.box)
        row.addLayout(column, 1)
        self.body.addLayout(row)


class Consent(Paragraph):
    """The sentence; a click on it is one on the box."""

    def __init__(self, words: str, box: QCheckBox) -> None:
        super().__init__(words)
        self.setBuddy(box)
        self._box = box

    def mousePressEvent(self, event: object) -> None:
        """Tick the box, or untick it."""
        del event
        self._box.toggle()
