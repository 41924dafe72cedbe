"""Controls of the settings that concern the key in the network: appeal, recovery, replacement."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QCoreApplication
from PySide6.QtWidgets import QWidget

from tequio_client.app import worker_texts
from tequio_client.app.keys.account import (
    RESTRICTED,
    AccountDialog,
    AppealDialog,
    KeyAccount,
    LostKeyDialog,
    NameDialog,
    RecoveryDialog,
    ReplaceDialog,
)
from tequio_client.app.keys.connection import ConnectDialog
from tequio_client.app.keys.service import KeyService
from tequio_client.app.keys.team import TeamDialog
from tequio_client.app.pages.settings_control import SettingControl, SettingsContext
from tequio_client.app.widgets.base import hbox
from tequio_client.app.widgets.buttons import Button
from tequio_client.app.widgets.indicators import Chip
from tequio_client.ipc.account import AccountReply
from tequio_client.ipc.snapshot import Snapshot

MakeDialog = Callable[[KeyAccount, KeyService, QWidget], AccountDialog]


class AccountControl(SettingControl):
    """A button that opens a dialog about the key's account, once the account is known."""

    def __init__(self, context: SettingsContext, keys: KeyService, make: MakeDialog) -> None:
        super().__init__(context)
        self._keys, self._make = keys, make
        self.dialog: AccountDialog | None = None
        self.chip = Chip()
        self.chip.hide()
        self.button = Button("")
        self.button.clicked.connect(self._open)
        self.column.addLayout(hbox(self.chip, self.button, spacing=10))

    def refresh(self, snapshot: Snapshot | None) -> None:
        self.context.account.poll()
        reply = self.context.account.reply
        # Without a worker there is nobody to send a statement.
        is_known = snapshot is not None and reply is not None and bool(reply.standing)
        self.button.setEnabled(is_known and self.is_offered(reply))
        self.describe(reply)

    def is_offered(self, reply: AccountReply | None) -> bool:
        return reply is not None

    def describe(self, reply: AccountReply | None) -> None:
        """Show what is known of the account."""

    def _open(self) -> None:
        # A click gives it no focus. Once a dialog that was used with the keyboard has closed, the
        # ring would be where the focus was before: on Home, far away.
        self.button.setFocus()
        self.dialog = self._make(self.context.account, self._keys, self)
        self.dialog.finished.connect(self.dialog.deleteLater)
        self.dialog.open()


class NameControl(AccountControl):
    def __init__(self, context: SettingsContext, keys: KeyService) -> None:
        super().__init__(context, keys, NameDialog)
        self.button.set_label(self.tr("Choose…"))

    def is_offered(self, reply: AccountReply | None) -> bool:
        return reply is not None and reply.can_be_named

    def describe(self, reply: AccountReply | None) -> None:
        name = reply.name if reply is not None else ""
        self.chip.setVisible(bool(name))
        self.chip.set_label(name)
        self.button.set_label(self.tr("Change…") if name else self.tr("Choose…"))
        is_new = reply is not None and not reply.can_be_named
        words = self.tr("You can choose a name once a round has accepted your work.")
        self.note_changed.emit(words if is_new else "", "")


class TeamControl(AccountControl):
    def __init__(self, context: SettingsContext, keys: KeyService) -> None:
        super().__init__(context, keys, TeamDialog)
        self.button.set_label(self.tr("Join or found…"))

    def describe(self, reply: AccountReply | None) -> None:
        team = reply.team if reply is not None else 0
        self.chip.setVisible(bool(team))
        if reply is not None:
            number = self.tr("Team {number}").format(number=team)
            self.chip.set_label(reply.team_name or number)
        self.button.set_label(self.tr("Open…") if team else self.tr("Join or found…"))


class ConnectControl(AccountControl):
    def __init__(self, context: SettingsContext, keys: KeyService) -> None:
        super().__init__(context, keys, ConnectDialog)
        self.button.set_label(self.tr("Link…"))

    def describe(self, reply: AccountReply | None) -> None:
        words = {1: self.tr("Linked"), 2: self.tr("Invited")}
        label = words.get(reply.tier, "") if reply is not None else ""
        self.chip.setVisible(bool(label))
        self.chip.set_label(label, "circle-check", "ok")


class AppealControl(AccountControl):
    def __init__(self, context: SettingsContext, keys: KeyService) -> None:
        super().__init__(context, keys, AppealDialog)
        self.button.set_label(self.tr("Appeal…"))

    def is_offered(self, reply: AccountReply | None) -> bool:
        return reply is not None and reply.standing in RESTRICTED and reply.appeal is None

    def describe(self, reply: AccountReply | None) -> None:
        if reply is not None and reply.appeal is not None:
            words = self.tr("Your appeal is in log entry {entry} and waits for the organisers.")
            self.note_changed.emit(words.format(entry=reply.appeal), "")
        elif reply is None or reply.standing not in RESTRICTED:
            self.note_changed.emit("", "")
        else:
            words = self.tr("Restricted by log entry {entry}: {why}.")
            why = QCoreApplication.translate(worker_texts.CONTEXT, reply.why or reply.standing)
            self.note_changed.emit(words.format(entry=reply.since, why=why), "warn")


class RecoveryControl(AccountControl):
    def __init__(self, context: SettingsContext, keys: KeyService) -> None:
        super().__init__(context, keys, RecoveryDialog)
        self.button.set_label(self.tr("Make one…"), "shield-check")
        self.chip.show()

    def describe(self, reply: AccountReply | None) -> None:
        if reply is None or not reply.standing:
            self.chip.set_label(self.tr("Not known yet"), "hourglass")
        elif reply.recovery:
            self.chip.set_label(self.tr("Set"), "circle-check", "ok")
            self.button.set_label(self.tr("Change it…"), "shield-check")
        else:
            self.chip.set_label(self.tr("None yet"), "triangle-alert", "warn")
            self.button.set_label(self.tr("Make one…"), "shield-check")


class ReplaceControl(AccountControl):
    def __init__(self, context: SettingsContext, keys: KeyService) -> None:
        super().__init__(context, keys, ReplaceDialog)
        self.button.set_label(self.tr("Replace…"))


class LostKeyControl(AccountControl):
    def __init__(self, context: SettingsContext, keys: KeyService) -> None:
        super().__init__(context, keys, LostKeyDialog)
        self.button.set_label(self.tr("Use a recovery key…"))


def account_control(
    kind: Callable[[SettingsContext, KeyService], AccountControl],
) -> Callable[[SettingsContext], SettingControl | None]:
    """A factory of that control; None in a window that does not manage the key."""

    def build(context: SettingsContext) -> SettingControl | None:
        keys = context.app.keys
        return None if keys is None else kind(context, keys)

    return build
