"""Settings, Account and keys: who this computer is in the network."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtWidgets import QLineEdit

from tequio_client.app.keys.key_card import KeyCard
from tequio_client.app.pages.settings_own import OwnSection
from tequio_client.app.pages.settings_section import with_default
from tequio_client.app.widgets.button import Button
from tequio_client.app.widgets.chip import Chip
from tequio_client.app.widgets.copy_line import CopyLine
from tequio_client.app.widgets.setting_row import SettingRow
from tequio_client.link.decision import Reason

if TYPE_CHECKING:
    from tequio_client.app.pages.edits import Edits
    from tequio_client.app.pages.page import Means, Own
    from tequio_client.app.widgets.undo_toast import UndoToast
    from tequio_client.link.snapshot import Snapshot

LONGEST = 64
NAME_WIDTH = 200


class AccountSection(OwnSection):
    """The key, its standing and its backup."""

    def __init__(self, means: Means, edits: Edits, toast: UndoToast, own: Own) -> None:
        super().__init__(means, edits, toast, own)
        self._add_key()
        self._add_name()

    def refresh(self, snapshot: Snapshot | None) -> None:
        """Show who we are."""
        super().refresh(snapshot)
        status = snapshot.status if snapshot else None
        self.peer.show_text(status.peer if status else "")
        self.key.show_text(status.key if status else "")
        self._show_standing(snapshot)

    # --- the key

    def _add_key(self) -> None:
        self.card(self.tr("Key"))
        self.peer = CopyLine(self.tr("Peer id"))
        self.add(
            "peer",
            SettingRow(
                self.tr("Peer id"),
                self.tr("Your name in the network; everybody may see it."),
                self.peer,
                is_wide=True,
            ),
        )
        self.key = CopyLine(self.tr("Key fingerprint"))
        self.add(
            "key",
            SettingRow(
                self.tr("Key fingerprint"),
                self.tr(
                    "The public half of your key, as points and ranking name you. The secret half "
                    "never leaves this computer; nobody who helps you will ask for it."
                ),
                self.key,
                is_wide=True,
            ),
        )
        self.standing = Chip()
        self.standing_row = SettingRow(self.tr("Standing"), "", self.standing)
        self.add("standing", self.standing_row)
        self._add_backup()

    def _add_backup(self) -> None:
        if self.own.keys is not None:
            name = self.tr("Backup and restore")
            kept = KeyCard(self.own.keys, is_framed=False)
            self.add("backup", SettingRow(name, "", kept, is_wide=True))
        again = Button(self.tr("Open it"), picture="arrow-right")
        again.clicked.connect(lambda: self.means.open_page("first-run"))
        note = self.tr("The six steps of the beginning. Nothing changes before their end.")
        self.add("first-run", SettingRow(self.tr("First run"), note, again))

    def _show_standing(self, snapshot: Snapshot | None) -> None:
        if snapshot is None or snapshot.status is None:
            self.standing.show_as(self.tr("Not known yet"), "hourglass")
            self.standing_row.show_note(self.tr("Shown once this computer is in the network."))
            return
        need = next((one for one in snapshot.needs if one.kind == "standing"), None)
        decision = snapshot.decision
        if decision.reason is Reason.QUARANTINED:
            self.standing.show_as(self.tr("Excluded"), "octagon-x", "danger")
            said = self.tr("No round takes your key now ({why}). Activity says what you can do.")
            why = str(decision.values.get("problem", ""))
            self.standing_row.show_note(said.format(why=why), "danger")
        elif need is not None:
            self.standing.show_as(self.tr("Changed"), "triangle-alert", "warn")
            self.standing_row.show_note(need.text or self.tr("Activity says what has happened."))
        else:
            self.standing.show_as(self.tr("Good"), "circle-check", "ok")
            self.standing_row.show_note(self.tr("Rounds take your key."))

    # --- the name

    def _add_name(self) -> None:
        self.card(self.tr("Name"))
        self.nickname = QLineEdit()
        self.nickname.setAccessibleName(self.tr("Nickname"))
        self.nickname.setMaxLength(LONGEST)
        self.nickname.setMinimumWidth(NAME_WIDTH)
        self.nickname.setPlaceholderText(self.tr("No nickname"))
        self.nickname.editingFinished.connect(self._take_name)
        note = with_default(
            self.tr("How this app greets you. It stays on this computer; others see your key."),
            self.tr("none"),
        )
        self.add("nickname", SettingRow(self.tr("Nickname"), note, self.nickname))
        self.follow(lambda _: self._show_name())

    def _take_name(self) -> None:
        self.own.book.change(nickname=" ".join(self.nickname.text().split()))
        self.nickname.setModified(False)
        self._show_name()

    def _show_name(self) -> None:
        if not (self.nickname.hasFocus() and self.nickname.isModified()):
            self.nickname.setText(self.settings.nickname)
