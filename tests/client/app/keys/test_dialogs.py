"""The key in the app: made, unlocked, backed up, restored and kept, by its dialogs."""

from __future__ import annotations

import gc
from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLineEdit, QWidget

from tequio_client.app.keys import service
from tequio_client.app.keys.backup import BackupDialog
from tequio_client.app.keys.card import KeyCard
from tequio_client.app.keys.dialogs import ProtectionDialog, RestoreDialog, UnlockDialog
from tequio_client.app.keys.inputs import SECRET_INPUT_HINTS, ProtectionPanel
from tequio_client.app.keys.service import KeyService
from tequio_client.app.pages.home import backup_reminder
from tequio_client.app.widgets.indicators import Chip
from tequio_client.keys import identity
from tequio_client.keys.backup import read_backup, save_backup, to_words
from tequio_client.keys.state import ERROR_TEMPLATES, IdentityError, KeyProtection, KeyState
from tequio_shared.errors import UserFacingError
from tests.support.memory_keyring import ScriptedKeyring, keyring_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from pytestqt.qtbot import QtBot

    from tequio_client.app.language import Language


pytestmark = pytest.mark.usefixtures("theme", "language")
NOW_MS = 1_795_285_800_000
SEED = bytes(range(32))
PHRASE = "correct horse"
SLOW_MS = 20_000


@pytest.fixture
def ring() -> Iterator[ScriptedKeyring]:
    made = ScriptedKeyring()
    with keyring_of(made):
        yield made
        made.release()


@pytest.fixture
def desk(tmp_path: Path, ring: ScriptedKeyring) -> Iterator[KeyService]:
    del ring
    made = KeyService(tmp_path / "worker", lambda: NOW_MS, lambda: True)
    yield made
    made.close()


def fail(error: IdentityError) -> None:
    raise error


def make(desk: KeyService, qtbot: QtBot, how: KeyProtection = KeyProtection.KEYRING) -> None:
    with qtbot.waitSignal(desk.changed, timeout=SLOW_MS):
        desk.make(how, PHRASE if how is KeyProtection.PASSPHRASE else None, lambda _: None, fail)


def test_the_key_that_is_made_is_the_one_that_the_worker_has(
    desk: KeyService, qtbot: QtBot, tmp_path: Path
) -> None:
    before = desk.seed()
    assert desk.seed() == before
    assert not (tmp_path / "worker").exists()
    make(desk, qtbot)
    assert desk.seed() == before
    assert desk.state.protection is KeyProtection.KEYRING


def test_where_something_was_lent_a_missing_key_is_no_beginning(tmp_path: Path) -> None:
    desk = KeyService(tmp_path, lambda: NOW_MS, lambda: False)
    with pytest.raises(UserFacingError, match="No key found in"):
        desk.seed()


def test_a_locked_keyring_keeps_the_worker_waiting_with_the_reason(
    desk: KeyService, qtbot: QtBot, ring: ScriptedKeyring
) -> None:
    make(desk, qtbot)
    ring.is_locked = True
    with pytest.raises(UserFacingError, match=r"^The system's keyring is locked: unlock it"):
        desk.seed()
    ring.is_locked = False
    assert len(desk.seed()) == 32


def test_a_sealed_key_is_asked_for_once(desk: KeyService, qtbot: QtBot, tmp_path: Path) -> None:
    make(desk, qtbot, KeyProtection.PASSPHRASE)
    assert len(desk.seed()) == 32
    other = KeyService(tmp_path / "worker", lambda: NOW_MS, lambda: True)
    with (
        qtbot.waitSignal(other.passphrase_needed),
        pytest.raises(UserFacingError, match="is sealed"),
    ):
        other.seed()
    dialog = UnlockDialog(other)
    qtbot.addWidget(dialog)
    dialog.open()
    dialog.phrase.setText("wrong horse")
    dialog.main.click()
    qtbot.waitUntil(dialog.trouble.isVisible, timeout=SLOW_MS)
    assert dialog.trouble.words.text() == "The passphrase does not open the key file."
    dialog.phrase.setText(PHRASE)
    with qtbot.waitSignal(dialog.accepted, timeout=SLOW_MS):
        dialog.main.click()
    assert other.seed() == desk.seed()
    assert dialog.phrase.text() == ""


def test_words_are_a_backup_when_two_of_them_were_typed(desk: KeyService, qtbot: QtBot) -> None:
    make(desk, qtbot)
    words = to_words(desk.seed())
    dialog = BackupDialog(desk)
    qtbot.addWidget(dialog)
    dialog.open()
    assert words[5] not in dialog.words.grid.accessibleDescription()
    dialog.main.click()
    grid = dialog.words.grid
    qtbot.waitUntil(lambda: grid.accessibleDescription() == ", ".join(words), timeout=SLOW_MS)
    dialog.main.click()
    assert not dialog.main.isEnabled()
    assert not grid.isVisible()
    reminder = backup_reminder(desk)
    assert reminder is not None
    assert "Your key has no backup" in reminder.words
    for number, line in zip(dialog.words.asked, dialog.words.lines, strict=True):
        qtbot.keyClicks(line, f" {words[number - 1].upper()}")
    with qtbot.waitSignal(dialog.accepted, timeout=SLOW_MS):
        dialog.main.click()
    assert desk.state.record.backup == "words"
    assert grid.accessibleDescription() == ""
    assert all(line.text() == "" for line in dialog.findChildren(QLineEdit))


def test_a_file_is_a_backup_when_it_was_read_back(
    desk: KeyService, qtbot: QtBot, tmp_path: Path
) -> None:
    make(desk, qtbot)
    path = tmp_path / "mine.tequio-key"
    dialog = BackupDialog(desk, None, "file", lambda _parent, _title: path)
    qtbot.addWidget(dialog)
    dialog.open()
    qtbot.keyClicks(dialog.file.first, "correct horse")
    qtbot.keyClicks(dialog.file.second, "correct hors")
    assert not dialog.main.isEnabled()
    assert dialog.file.advice.text() == "The two are not the same."
    qtbot.keyClicks(dialog.file.second, "e")
    with qtbot.waitSignal(dialog.accepted, timeout=SLOW_MS):
        dialog.main.click()
    assert read_backup(path, PHRASE) == desk.seed()
    assert desk.state.record.backup == "file"


def test_a_file_that_cannot_be_written_is_said_and_can_be_tried_again(
    desk: KeyService, qtbot: QtBot, tmp_path: Path
) -> None:
    make(desk, qtbot)
    dialog = BackupDialog(desk, None, "file", lambda _parent, _title: tmp_path / "no" / "mine")
    qtbot.addWidget(dialog)
    dialog.open()
    for line in (dialog.file.first, dialog.file.second):
        line.setText(PHRASE)
    dialog.main.click()
    qtbot.waitUntil(dialog.trouble.isVisible, timeout=SLOW_MS)
    assert "No such file or directory" in dialog.trouble.words.text()
    assert dialog.main.isEnabled()
    assert desk.state.wants_backup


def test_words_bring_a_key_back_and_a_wrong_one_is_named(
    desk: KeyService, qtbot: QtBot, tmp_path: Path
) -> None:
    make(desk, qtbot)
    dialog = RestoreDialog(desk)
    qtbot.addWidget(dialog)
    dialog.open()
    words = to_words(SEED)
    dialog.source.words.setPlainText(" ".join((*words[:2], "lier", *words[3:])))
    dialog.main.click()
    qtbot.waitUntil(dialog.trouble.isVisible, timeout=SLOW_MS)
    assert dialog.trouble.words.text().startswith("Word 3, lier, is not in the list of words")
    dialog.source.words.setPlainText(" ".join(words))
    with qtbot.waitSignals([desk.key_changed, dialog.accepted], timeout=SLOW_MS):
        dialog.main.click()
    assert desk.seed() == SEED
    assert not desk.state.wants_backup
    assert dialog.source.words.toPlainText() == ""
    assert (tmp_path / "worker" / "identity.key.old").exists()


def test_a_file_brings_a_key_back(desk: KeyService, qtbot: QtBot, tmp_path: Path) -> None:
    path = tmp_path / "mine.tequio-key"
    save_backup(path, SEED, PHRASE)
    dialog = RestoreDialog(desk, None, lambda _parent, _title: path)
    qtbot.addWidget(dialog)
    dialog.open()
    dialog.source.ways.select("file")
    dialog.source.ways.chosen.emit("file")
    dialog.source.pick.click()
    assert not dialog.main.isEnabled()
    qtbot.keyClicks(dialog.source.phrase, PHRASE)
    dialog.protection.rows[KeyProtection.OPEN].click()
    with qtbot.waitSignal(dialog.accepted, timeout=SLOW_MS):
        dialog.main.click()
    assert identity.load(tmp_path / "worker").seed == SEED


def test_no_keyboard_on_the_screen_learns_a_secret(desk: KeyService, qtbot: QtBot) -> None:
    backup, restore = BackupDialog(desk), RestoreDialog(desk)
    for dialog in (backup, restore):
        qtbot.addWidget(dialog)
    phrase = backup.file
    for is_shown in (True, False, True):
        phrase.shown.setChecked(is_shown)
        for field in (phrase.first, phrase.second, *backup.words.lines, restore.source.words):
            assert SECRET_INPUT_HINTS & field.inputMethodHints() == SECRET_INPUT_HINTS
    phrase.clear()
    assert phrase.first.echoMode() is QLineEdit.EchoMode.Password, "the next one is typed as dots"


def test_without_a_keyring_tab_comes_to_the_passphrase(qtbot: QtBot) -> None:
    panel = ProtectionPanel()
    qtbot.addWidget(panel)
    panel.show()
    panel.activateWindow()
    qtbot.waitUntil(panel.isActiveWindow)
    keyring, passphrase = (
        panel.rows[way] for way in (KeyProtection.KEYRING, KeyProtection.PASSPHRASE)
    )
    keyring.setFocus()
    panel.offer_keyring(is_there=False)
    panel.passphrase.first.setFocus()
    qtbot.keyClick(panel.passphrase.first, Qt.Key.Key_Backtab)
    assert panel.focusWidget() is passphrase


def test_a_key_is_kept_otherwise(desk: KeyService, qtbot: QtBot, ring: ScriptedKeyring) -> None:
    make(desk, qtbot)
    seed = desk.seed()
    dialog = ProtectionDialog(desk)
    qtbot.addWidget(dialog)
    dialog.open()
    assert dialog.protection.choice is KeyProtection.KEYRING
    dialog.protection.rows[KeyProtection.PASSPHRASE].click()
    assert not dialog.main.isEnabled()
    for line in (dialog.protection.passphrase.first, dialog.protection.passphrase.second):
        qtbot.keyClicks(line, PHRASE)
    with qtbot.waitSignal(dialog.accepted, timeout=SLOW_MS):
        dialog.main.click()
    assert desk.state.protection is KeyProtection.PASSPHRASE
    assert desk.seed() == seed
    assert ring.entries == {}


def test_the_card_says_how_the_key_stands(desk: KeyService, qtbot: QtBot) -> None:
    card = KeyCard(desk)
    qtbot.addWidget(card)
    make(desk, qtbot)
    chip = card.findChildren(Chip)[0]
    assert chip.text == "No backup yet"
    with qtbot.waitSignal(desk.changed, timeout=SLOW_MS):
        desk.confirm_words(lambda _: None, fail)
    assert chip.text == "Backed up as words, 21 Nov"


def test_an_answer_for_somebody_who_is_gone_is_dropped(
    desk: KeyService, qtbot: QtBot, ring: ScriptedKeyring
) -> None:
    class ClosedDialog(QWidget):
        def on_key(self, _: KeyState) -> None:
            raise AssertionError("it is gone")

        def refuse(self, _: IdentityError) -> None:
            raise AssertionError("it is gone")

    asker = ClosedDialog()
    ring.hold()
    desk.make(KeyProtection.KEYRING, None, asker.on_key, asker.refuse)
    asker.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    asker.close()
    asker.deleteLater()
    gc.collect()
    qtbot.waitUntil(lambda: ring.calls > 0, timeout=SLOW_MS)
    with qtbot.waitSignal(desk.changed, timeout=SLOW_MS):
        ring.release()


@pytest.mark.parametrize("code", ERROR_TEMPLATES)
def test_every_problem_has_a_whole_sentence(code: str, language: Language) -> None:
    del language
    said = service.error_text(IdentityError(code, **VALUES))
    assert said[0].isupper()
    assert said.endswith(".")
    assert "{" not in said


VALUES: dict[str, str | int] = {
    "path": "/p", "folder": "/f", "why": "it is", "mode": "644", "size": 3, "due": 32, "least": 8,
    "seconds": 30, "count": 3, "number": 7, "word": "a", "near": "b", "first": 1, "second": 2,
}  # fmt: skip
