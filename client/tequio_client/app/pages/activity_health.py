"""Which probes answer, by what, and what to do about those that do not."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QSize, Qt
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from tequio_client.app.pages import health_words
from tequio_client.app.theme import sizes
from tequio_client.app.theme.fonts import Type
from tequio_client.app.widgets import figures
from tequio_client.app.widgets.card import Card
from tequio_client.app.widgets.chip import Chip
from tequio_client.app.widgets.columns import Columns
from tequio_client.app.widgets.picture import Picture
from tequio_client.app.widgets.text import Line, Paragraph

if TYPE_CHECKING:
    from tequio_client.app.model import Model
    from tequio_client.link.facts import Fact

LEAST = 300
NOBODY = "none"
"""Source of what nothing on this system can tell."""


class Health(QWidget):
    """The probes of the session and those of the machine."""

    def __init__(self) -> None:
        super().__init__()
        self.summary = Card()
        self._picture, self._words = Picture("circle-check", QSize(20, 20), "ok"), Paragraph()
        row = QHBoxLayout()
        row.setSpacing(12)
        row.addWidget(self._picture)
        row.addWidget(self._words, 1)
        self.summary.body.addLayout(row)
        self.session = Probes(
            self.tr("Your session"), self.tr("Nothing was told of your session yet.")
        )
        self.machine = Probes(
            self.tr("This computer"),
            self.tr("The hardware probe is not responding. The worker restarts it automatically."),
        )
        both = Columns()
        both.hold((self.session, self.machine))
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(sizes.GAP)
        column.addWidget(self.summary)
        column.addWidget(both)
        column.addStretch(1)

    def show_health(self, model: Model) -> None:
        """Show what the probes say now."""
        machine = model.snapshot.machine.health if model.snapshot else ()
        self.session.show_facts(model.session.health)
        self.machine.show_facts(machine)
        told = (*model.session.health, *machine)
        amber = sum(not fact.ok for fact in told)
        all_well = bool(model.session.health and machine) and not amber
        self._picture.show_as(*(("circle-check", "ok") if all_well else ("triangle-alert", "warn")))
        self._words.setText(self._summary(len(told), amber, all_well=all_well))

    @property
    def words(self) -> str:
        """What it says of all probes together."""
        return self._words.text()

    def _summary(self, told: int, amber: int, *, all_well: bool) -> str:
        if all_well:
            return self.tr("All %n check(s) are working.", "", told)
        if amber:
            unknown = self.tr("%n check(s) aren't working.", "", amber)
            never = self.tr("If Tequio isn't sure, it stays paused.")
            return f"{unknown} {never}"
        return self.tr("Some checks have not responded yet.")


class Probes(Card):
    """Some probes, each with its shape."""

    def __init__(self, heading: str, empty: str) -> None:
        super().__init__(heading)
        self.setMinimumWidth(LEAST)
        self.setAccessibleName(heading)
        self.rows: list[ProbeRow] = []
        self.empty = Paragraph(empty, tone="sub")
        self._column = QVBoxLayout()
        self._column.setSpacing(12)
        self.body.setSpacing(12)
        self.body.addWidget(self.empty)
        self.body.addLayout(self._column)
        self.body.addStretch(1)

    def show_facts(self, facts: tuple[Fact, ...]) -> None:
        """Show these."""
        self.empty.setVisible(not facts)
        while len(self.rows) > len(facts):
            gone = self.rows.pop()
            self._column.removeWidget(gone)
            gone.hide()
            gone.deleteLater()
        while len(self.rows) < len(facts):
            self.rows.append(ProbeRow())
            self._column.addWidget(self.rows[-1])
        for row, fact in zip(self.rows, facts, strict=True):
            row.show_fact(fact)


class ProbeRow(QWidget):
    """One probe: what it looks at, by what, and how that goes."""

    def __init__(self) -> None:
        super().__init__()
        self._shown: Fact | None = None
        self.name, self.chip = Line("", Type.STRONG), Chip()
        self.source = Line("", Type.CAPTION, "sub")
        self.error = Paragraph("", Type.CAPTION, "warn")
        self.remedy = Paragraph("", Type.CAPTION, "sub")
        words, row = QVBoxLayout(), QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(12)
        words.setSpacing(2)
        for part in (self.name, self.source, self.error, self.remedy):
            words.addWidget(part)
        row.addLayout(words, 1)
        row.addWidget(self.chip, 0, Qt.AlignmentFlag.AlignTop)

    def show_fact(self, fact: Fact) -> None:
        """Show that."""
        if fact == self._shown:
            return
        self._shown = fact
        self.name.setText(health_words.name(fact))
        how = self.tr("by {source}, in {time} ms")
        nobody = self.tr("Nothing on this system can tell")
        asked = how.format(source=fact.source, time=figures.count(fact.took_ms))
        self.source.setText(nobody if fact.source == NOBODY else asked)
        self.error.setText(fact.error)
        self.error.setVisible(bool(fact.error))
        self.remedy.setText("" if fact.ok else health_words.remedy(fact))
        self.remedy.setVisible(not fact.ok)
        if fact.ok:
            self.chip.show_as(self.tr("OK"), "circle-check", "ok")
        else:
            self.chip.show_as(self.tr("Unknown"), "triangle-alert", "warn")
        parts = (self.name.text(), self.chip.words, self.source.text(), fact.error)
        self.setAccessibleName(", ".join(filter(None, (*parts, self.remedy.text()))))
