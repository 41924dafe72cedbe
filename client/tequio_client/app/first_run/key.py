"""Step 3: the key, made here or restored, how it is kept, its backup, and a name if one likes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtWidgets import QHBoxLayout, QLineEdit, QVBoxLayout, QWidget

from tequio_client.app.first_run.step import Kit, Step
from tequio_client.app.keys import problems
from tequio_client.app.keys.keep_panel import KeepPanel
from tequio_client.app.keys.key_card import KeyCard
from tequio_client.app.keys.restore_dialog import RestoreDialog
from tequio_client.app.theme.fonts import Type, font
from tequio_client.app.widgets.banner import Banner
from tequio_client.app.widgets.button import Button
from tequio_client.app.widgets.card import Card
from tequio_client.app.widgets.text import Paragraph, Text
from tequio_client.keys.state import Kept

if TYPE_CHECKING:
    from tequio_client.keys.state import IdentityError, KeyState


MOST_NAME = 32


class KeyStep(Step):
    """Ready as soon as there is a key."""

    def __init__(self, kit: Kit) -> None:
        super().__init__(
            kit,
            self.tr("Your key"),
            self.tr(
                "Your key is your account: no e-mail and no sign-up. It signs your work, and the "
                "points belong to it."
            ),
        )
        self.making, self.card = MakingCard(kit), KeyCard(kit.desk)
        self.making.restore.clicked.connect(self._restore)
        self.name = NameCard(kit)
        for part in (self.making, self.card, self.name):
            self.body.addWidget(part)
        self.body.addStretch(1)
        self.dialog: RestoreDialog | None = None
        kit.desk.changed.connect(self._follow)
        self._follow(kit.desk.state)

    @property
    def is_ready(self) -> bool:
        """Whether there is a key."""
        return self.kit.desk.state.kept is not Kept.ABSENT

    def enter(self) -> None:
        """See whether there is a key already, and a keyring."""
        self.kit.desk.look(self._follow, self.making.fail)
        self.making.look_for_keyring()

    def _follow(self, state: KeyState) -> None:
        has_key = state.kept is not Kept.ABSENT
        self.card.setVisible(has_key)
        self.making.setVisible(not has_key)
        self.changed.emit()

    def _restore(self) -> None:
        self.dialog = RestoreDialog(self.kit.desk, self)
        self.dialog.open()


class MakingCard(Card):
    """Asks how a new key shall be kept, and makes it."""

    def __init__(self, kit: Kit) -> None:
        super().__init__()
        self._desk = kit.desk
        self.keep = KeepPanel()
        self.trouble = Banner("warning")
        self.trouble.hide()
        self.make = Button(self.tr("Make my key"), "primary", "key-round")
        self.restore = Button(self.tr("I have one already…"), "quiet")
        feet = QHBoxLayout()
        feet.setSpacing(10)
        feet.addWidget(self.make)
        feet.addWidget(self.restore)
        feet.addStretch(1)
        self.title(self.tr("Where shall it be kept?"))
        for part in (self.keep, self.trouble):
            self.body.addWidget(part)
        self.body.addLayout(feet)
        self.keep.changed.connect(self._follow)
        self.make.clicked.connect(self._make)
        self._follow()

    def look_for_keyring(self) -> None:
        """Offer the keyring only where there is one."""
        self._desk.find_keyring(self._find_keyring, self._miss_keyring)

    def fail(self, error: IdentityError) -> None:
        """Say what is wrong; another way, or the same again, can be tried."""
        level = "info" if error.code == "keyring-absent" else "warning"
        self.trouble.show_words(level, problems.say(error))
        self.trouble.show()
        self._follow()

    def _find_keyring(self, _: str) -> None:
        self.keep.offer_keyring(is_there=True)

    def _miss_keyring(self, error: IdentityError) -> None:
        self.keep.offer_keyring(is_there=False)
        self.fail(error)

    def _follow(self) -> None:
        self.make.setEnabled(self.keep.is_ready)

    def _make(self) -> None:
        self.make.setEnabled(False)
        self.trouble.hide()
        self._desk.make(self.keep.way, self.keep.secret, self._finish, self.fail)

    def _finish(self, _: KeyState) -> None:
        self.keep.passphrase.clear()


class NameCard(Card):
    """The nickname."""

    def __init__(self, kit: Kit) -> None:
        super().__init__()
        self._own = kit.means.own
        self.line = QLineEdit()
        self.line.setFont(font(Type.BODY))
        self.line.setMaxLength(MOST_NAME)
        self.line.setFixedWidth(240)
        self.line.setAccessibleName(self.tr("Nickname"))
        self.line.setPlaceholderText(self.tr("Nickname (optional)"))
        if self._own is not None:
            self.line.setText(self._own.book.settings.nickname)
        self.line.editingFinished.connect(self._keep)
        row, words = QHBoxLayout(), QVBoxLayout()
        words.setSpacing(1)
        words.addWidget(Text(self.tr("A name, if you like"), Type.STRONG))
        note = self.tr("Only you see this. Others see the start of your key.")
        words.addWidget(Paragraph(note, Type.CAPTION, "sub"))
        row.setSpacing(18)
        row.addLayout(words, 1)
        row.addWidget(self.line)
        holder = QWidget()
        holder.setLayout(row)
        row.setContentsMargins(0, 0, 0, 0)
        self.body.addWidget(holder)

    def _keep(self) -> None:
        if self._own is not None:
            self._own.book.change(nickname=self.line.text().strip())
