"""The rules of a competition in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QSize, Qt
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from tequio_client.app.theme.fonts import Type
from tequio_client.app.widgets import figures
from tequio_client.app.widgets.card import Card
from tequio_client.app.widgets.copy_line import CopyLine
from tequio_client.app.widgets.picture import Picture
from tequio_client.app.widgets.text import Paragraph, Text

if TYPE_CHECKING:
    from tequio_client.link.competitions import CompetitionRow


class RulesCard(Card):
    """What an entrant may take, and how it is decided who wins."""

    def __init__(self) -> None:
        super().__init__(self.tr("Rules"))
        self.budget = Rule("gauge", self.tr("What a side may take"))
        self.texts = Rule("file-lock", self.tr("Texts that nobody has seen"))
        self.scoring = Rule("scale", self.tr("How it is scored"))
        self.trust = Rule("shield-check", self.tr("Why it can be believed"))
        self.data = Rule("book-open-text", self.tr("Training data"))
        self.address = CopyLine(self.tr("Rules about training data"), is_for_machine=True)
        self.body.setSpacing(14)
        for part in (self.budget, self.texts, self.scoring, self.trust, self.data):
            self.body.addWidget(part)
        self.data.add(self.address)

    def show_row(self, row: CompetitionRow) -> None:
        """Say its rules."""
        self.budget.say(" ".join(self._budget(row)))
        self.texts.say(self._texts(row))
        self.scoring.say(self._scoring(row))
        self.trust.say(self._trust(row))
        stated = self.tr("What may be trained on is written at this address:")
        free = self.tr("These rules say nothing about what may be trained on.")
        self.data.say(stated if row.data else free)
        self.address.show_text(row.data)
        self.address.setVisible(bool(row.data))

    def _budget(self, row: CompetitionRow) -> list[str]:
        said = []
        if row.parameters:
            words = self.tr("A model has at most {count} parameters.")
            said.append(words.format(count=figures.short_count(row.parameters)))
        if row.tokens:
            words = self.tr("Its run may train on {count} tokens.")
            said.append(words.format(count=figures.short_count(row.tokens)))
        if row.hours:
            said.append(self.tr("It has %n hour(s) from the opening of its run.", "", row.hours))
        return said or [self.tr("As much as it likes: size, tokens and time have no limit.")]

    def _texts(self, row: CompetitionRow) -> str:
        sealed = self.tr(
            "{texts} texts, {size}, were sealed before the competition was opened. Only after the "
            "deadline are {drawn} of them drawn by lot."
        ).format(
            texts=figures.count(row.texts),
            size=figures.data(row.texts_bytes),
            drawn=figures.count(row.drawn),
        )
        if row.needed <= 1:
            alone = self.tr("One person alone holds the key to them, and has to be trusted.")
            return f"{sealed} {alone}"
        shared = self.tr(
            "The key to them is shared among {custodians} custodians; {needed} have to act "
            "together to open them."
        )
        return f"{sealed} " + shared.format(
            custodians=figures.count(row.custodians), needed=figures.count(row.needed)
        )

    def _scoring(self, row: CompetitionRow) -> str:
        return self.tr(
            "How many bits a model needs for each byte of the texts: fewer are better. It reads "
            "{window} tokens at a time, {stride} of them new. Sides that nothing tells apart share "
            "a place."
        ).format(window=figures.count(row.window), stride=figures.count(row.stride))

    def _trust(self, row: CompetitionRow) -> str:
        return self.tr(
            "{evaluators} computers that have no part in any side are drawn by lot to score. Of "
            "each text the middle score counts, so that a liar among them moves nothing, and "
            "everything stands in the log."
        ).format(evaluators=figures.count(row.evaluators))


class Rule(QWidget):
    """A heading and what is said below it."""

    def __init__(self, picture: str, heading: str) -> None:
        super().__init__()
        self._words = Paragraph("", Type.BODY, "sub")
        row, self._column = QHBoxLayout(self), QVBoxLayout()
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(12)
        self._column.setSpacing(3)
        self._column.addWidget(Text(heading, Type.STRONG))
        self._column.addWidget(self._words)
        row.addWidget(Picture(picture, QSize(18, 18)), 0, Qt.AlignmentFlag.AlignTop)
        row.addLayout(self._column, 1)

    def say(self, words: str) -> None:
        """Say that below the heading."""
        self._words.setText(words)

    def add(self, part: QWidget) -> None:
        """Add something below the words."""
        self._column.addWidget(part)

    @property
    def words(self) -> str:
        """What it says."""
        return self._words.text()
