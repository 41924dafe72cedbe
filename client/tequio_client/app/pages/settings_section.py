"""One section of the settings: cards of rows that show what holds, and change it at once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QCoreApplication
from PySide6.QtWidgets import QFrame, QVBoxLayout, QWidget

from tequio_client.app import words
from tequio_client.app.pages.deciders import deciding
from tequio_client.app.theme import sizes
from tequio_client.app.widgets import figures
from tequio_client.app.widgets.card import Card
from tequio_client.app.widgets.number_box import NumberBox
from tequio_client.app.widgets.setting_row import SettingRow
from tequio_client.app.widgets.switch import Switch
from tequio_client.link.preferences import Preferences

if TYPE_CHECKING:
    from collections.abc import Callable

    from tequio_client.app.pages.edits import Edits
    from tequio_client.app.pages.page import Means
    from tequio_client.app.widgets.undo_toast import UndoToast
    from tequio_client.link.snapshot import Snapshot

translate = QCoreApplication.translate
USUAL = Preferences()
"""What holds by default."""


class Section(QWidget):
    """A section; `rows` by the field that each changes."""

    def __init__(self, means: Means, edits: Edits, toast: UndoToast) -> None:
        super().__init__()
        self.means, self.edits, self.toast = means, edits, toast
        self.rows: dict[str, SettingRow] = {}
        self._cards: list[tuple[Card, list[tuple[QFrame, SettingRow]]]] = []
        self._shows: list[Callable[[Preferences], None]] = []
        self.body = QVBoxLayout(self)
        self.body.setContentsMargins(0, 0, 0, 0)
        self.body.setSpacing(sizes.GAP)

    def refresh(self, snapshot: Snapshot | None) -> None:
        """Show what holds now, and which of it stops lending."""
        current = self.edits.current
        for show in self._shows:
            show(current)
        decider = deciding(snapshot.decision) if snapshot else ""
        for field, row in self.rows.items():
            stops = snapshot is not None and field == decider
            why = ""
            if snapshot is not None and stops:
                why = words.reason(snapshot.decision, self.means.now_ms())
            row.say_stops(translate("settings", "Stops lending now") if stops else "", why)

    def filter(self, wanted: list[str]) -> bool:
        """Show only the rows with all of these words; says whether there are any."""
        found = False
        for card, rows in self._cards:
            has_any = False
            for rule, row in rows:
                is_shown = row.matches(wanted)
                row.setVisible(is_shown)
                rule.setVisible(is_shown and has_any)
                has_any = has_any or is_shown
            card.setVisible(has_any)
            found = found or has_any
        return found

    # --- what a section is made of

    def card(self, heading: str = "") -> Card:
        """Begin another card."""
        made = Card(heading)
        made.body.setSpacing(0)
        if heading:
            made.body.addSpacing(4)
        self._cards.append((made, []))
        self.body.addWidget(made)
        return made

    def add(self, field: str, row: SettingRow) -> SettingRow:
        """Add a row to the card that was begun last."""
        card, rows = self._cards[-1]
        rule = QFrame()
        rule.setProperty("kind", "rule")
        card.body.addWidget(rule)
        rule.setVisible(bool(rows))
        rows.append((rule, row))
        card.body.addWidget(row)
        self.rows[field] = row
        return row

    def follow(self, show: Callable[[Preferences], None]) -> None:
        """Have this called with what holds, now and at every change."""
        self._shows.append(show)

    def switch(self, field: str, name: str, note: str) -> Switch:
        """Add a switch for that field of the preferences."""
        usual = bool(getattr(USUAL, field))
        switch = Switch(name)
        switch.clicked.connect(lambda is_on: self.edits.change({field: is_on}))
        self.follow(lambda chosen: switch.setChecked(getattr(chosen, field)))
        self.add(field, SettingRow(name, with_default(note, on_or_off(is_on=usual)), switch))
        return switch

    def number(  # noqa: PLR0913  # one a property of the number
        self,
        field: str,
        name: str,
        note: str,
        span: tuple[float, float],
        unit: str,
        *,
        nothing: str = "",
        places: int = 0,
        is_optional: bool = False,
    ) -> NumberBox:
        """Add a number for that field; one that is optional is None at its least value."""
        box = NumberBox(name, *span, unit, nothing=nothing, places=places)

        def change(value: float) -> None:
            chosen: Any = value if places else round(value)
            self.edits.change_soon({field: None if is_optional and value == span[0] else chosen})

        def show(chosen: Preferences) -> None:
            value = getattr(chosen, field)
            box.choose(span[0] if value is None else value)

        box.chosen.connect(change)
        self.follow(show)
        usual = getattr(USUAL, field)
        is_nothing = usual is None or (nothing and usual == span[0])
        written = nothing.lower() if is_nothing else f"{figures.count(usual)} {unit}"
        self.add(field, SettingRow(name, with_default(note, written), box))
        return box


def with_default(note: str, default: str) -> str:
    """The note of a setting, and what holds by default."""
    return translate("settings", "{note} Default: {default}.").format(note=note, default=default)


def on_or_off(*, is_on: bool) -> str:
    """The word of a switch's place."""
    return translate("settings", "on") if is_on else translate("settings", "off")
