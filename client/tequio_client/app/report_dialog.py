"""The report of a fault, to read and to copy."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtGui import QFontDatabase, QGuiApplication
from PySide6.QtWidgets import QDialog, QHBoxLayout, QPlainTextEdit, QVBoxLayout

from tequio_client.app.theme.fonts import Type
from tequio_client.app.theme.marks import app_icon
from tequio_client.app.widgets.banner import LevelIcon
from tequio_client.app.widgets.button import Button
from tequio_client.app.widgets.text import Paragraph, Text

if TYPE_CHECKING:
    from PySide6.QtWidgets import QWidget

SIZE = (620, 420)


class ReportDialog(QDialog):
    """Says that something went wrong, that the program goes on, and what to copy."""

    def __init__(self, line: str, report: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle(self.tr("Tequio – a fault"))
        self.setWindowIcon(app_icon())
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setModal(False)
        self.resize(*SIZE)
        self._more = 0
        self.count = Text("", Type.CAPTION, "sub")
        self.report = QPlainTextEdit(report)
        self.report.setReadOnly(True)
        self.report.setFont(QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont))
        self.report.setAccessibleName(self.tr("Report"))
        self.copy = Button(self.tr("Copy report"), "primary", "copy")
        self.copy.clicked.connect(self._copy)
        close = Button(self.tr("Go on"))
        close.clicked.connect(self.close)
        column = QVBoxLayout(self)
        column.setContentsMargins(24, 22, 24, 20)
        column.setSpacing(12)
        column.addLayout(self._head())
        column.addWidget(Paragraph(line, Type.CAPTION, "sub"))
        column.addWidget(self.report, 1)
        row = QHBoxLayout()
        row.setSpacing(10)
        row.addWidget(self.count, 1)
        row.addWidget(close)
        row.addWidget(self.copy)
        column.addLayout(row)

    def add(self) -> None:
        """Another fault came meanwhile."""
        self._more += 1
        self.count.setText(self.tr("%n more fault(s) since", "", self._more))

    def _head(self) -> QVBoxLayout:
        head, row = QVBoxLayout(), QHBoxLayout()
        mark = LevelIcon()
        mark.show_level("error")
        row.setSpacing(10)
        row.addWidget(mark)
        row.addWidget(Text(self.tr("Something went wrong in Tequio's window"), Type.TITLE), 1)
        head.setSpacing(6)
        head.addLayout(row)
        head.addWidget(
            Paragraph(
                self.tr(
                    "Lending is not affected: it runs in a program of its own. Nothing was sent "
                    "to anybody. If you want to report this, copy the text below; keys and names "
                    "of your folders were taken out of it."
                )
            )
        )
        return head

    def _copy(self) -> None:
        QGuiApplication.clipboard().setText(self.report.toPlainText())
        self.copy.show_as(self.tr("Copied"), "check")


class Reports:
    """Shows one report at a time."""

    def __init__(self) -> None:
        self.dialog: ReportDialog | None = None

    def show(self, line: str, report: str) -> None:
        """Show it, or count it while another is read."""
        if self.dialog is not None:
            self.dialog.add()
            return
        self.dialog = ReportDialog(line, report)
        self.dialog.destroyed.connect(self._forget)
        self.dialog.show()
        self.dialog.raise_()

    def close(self) -> None:
        """Show nothing more."""
        if self.dialog is not None:
            self.dialog.close()

    def _forget(self) -> None:
        self.dialog = None
