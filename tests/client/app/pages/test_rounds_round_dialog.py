"""One round in full: what was checked is said, and nothing else is claimed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QLabel, QPushButton

from tequio_client.app.pages.rounds import RoundDialog
from tequio_client.app.widgets import figures
from tests.support import app_worker_answers

if TYPE_CHECKING:
    from pytestqt.qtbot import QtBot

    from tequio_client.ipc.points import PointsRow

pytestmark = pytest.mark.usefixtures("theme", "language")
PENDING, VERIFIED = app_worker_answers.ROWS[0], app_worker_answers.ROWS[4]
REJECTED = next(row for row in app_worker_answers.ROWS if row.reason == "norm")
URL = "https://ledger.example"


def test_the_proof_is_told_in_words_and_can_be_copied(qtbot: QtBot) -> None:
    dialog = RoundDialog(VERIFIED, URL, "RTX 4070")
    qtbot.addWidget(dialog)
    dialog.show()
    dialog.copy.click()
    copied = QGuiApplication.clipboard().text()
    assert copied == dialog.text
    for line in (
        "nova-350m, round 1,837",
        "Verified",
        f"Points: {figures.exact_points(VERIFIED.gflop)}",
        f"For training: {figures.exact_points(VERIFIED.trained)}",
        f"For checking others' work: {figures.exact_points(VERIFIED.witnessed)}",
        f"Ledger: {URL}",
        "Log entry: 48,017",
        "Checkpoint, entries: 91,204",
        f"Checkpoint, root: {VERIFIED.root}",
        f"tequio audit --ledger {URL}",
    ):
        assert line in copied.splitlines()


def test_each_part_of_the_proof_is_copied_as_it_is(qtbot: QtBot) -> None:
    dialog = RoundDialog(VERIFIED, URL, "RTX 4070")
    qtbot.addWidget(dialog)
    copied = {}
    for button in dialog.findChildren(QPushButton):
        name = button.accessibleName()
        if name.startswith("Copy: "):
            button.click()
            copied[name.removeprefix("Copy: ")] = QGuiApplication.clipboard().text()
    command = f"tequio audit --ledger {URL}"
    assert copied == {**dict(dialog.proof), "The command that checks it": command}
    labels = dialog.findChildren(QLabel)
    selectable = Qt.TextInteractionFlag.TextSelectableByKeyboard
    assert [one.text() for one in labels if one.textInteractionFlags() & selectable] == []


@pytest.mark.parametrize("row", [PENDING, REJECTED, replace(VERIFIED, size=None)])
def test_no_proof_is_claimed_where_none_was_checked(row: PointsRow, qtbot: QtBot) -> None:
    dialog = RoundDialog(row, URL, "RTX 4070")
    qtbot.addWidget(dialog)
    assert dialog.proof == ()
    assert "Log entry" not in dialog.text
    assert "audit" not in dialog.text
