"""Steps 3 and 4: the key, and when to lend, with the consent to it."""

from __future__ import annotations

from PySide6.QtWidgets import QCheckBox, QWidget

from tequio_client.app.first_run.draft import FirstRunStep, StepContext
from tequio_client.app.keys import service
from tequio_client.app.keys.card import KeyCard
from tequio_client.app.keys.dialogs import RestoreDialog
from tequio_client.app.keys.inputs import ProtectionPanel
from tequio_client.app.theme.style import TextStyle
from tequio_client.app.widgets.base import (
    Card,
    ElidedLabel,
    WrappedLabel,
    caption,
    fill,
    hbox,
    vbox,
)
from tequio_client.app.widgets.buttons import Button, ChoiceCards, Switch
from tequio_client.app.widgets.inputs import SettingRow
from tequio_client.app.widgets.messages import Banner
from tequio_client.ipc.preferences import LendingPreset, Preferences
from tequio_client.keys.state import IdentityError, KeyProtection, KeyState


class KeyStep(FirstRunStep):
    """Step 3: the key with its storage and backup."""

    def __init__(self, context: StepContext) -> None:
        super().__init__(
            context,
            self.tr("Your key"),
            self.tr(
                "Your key is your account: no e-mail and no sign-up. It signs your work, and the "
                "points belong to it."
            ),
        )
        self.making, self.card = NewKeyCard(context), KeyCard(context.keys)
        self.making.restore.clicked.connect(self._restore)
        fill(self.body, self.making, self.card, None)
        self.dialog: RestoreDialog | None = None
        context.keys.changed.connect(self._follow)
        self._follow(context.keys.state)

    @property
    def is_ready(self) -> bool:
        return self.context.keys.state.protection is not KeyProtection.ABSENT

    @property
    def first_focus(self) -> QWidget | None:
        return None if self.is_ready else self.making.first_focus

    def enter(self) -> None:
        self.context.keys.refresh(self._follow, self.making.show_error)
        self.making.find_keyring()

    def _follow(self, state: KeyState) -> None:
        has_key = state.protection is not KeyProtection.ABSENT
        self.card.setVisible(has_key)
        self.making.setVisible(not has_key)
        self.changed.emit()

    def _restore(self) -> None:
        self.dialog = RestoreDialog(self.context.keys, self)
        self.dialog.open()


class NewKeyCard(Card):
    """Asks how to store a new key, and makes it."""

    def __init__(self, context: StepContext) -> None:
        super().__init__()
        self._keys = context.keys
        self.protection = ProtectionPanel()
        self.trouble = Banner("warning")
        self.trouble.hide()
        self.make = Button(self.tr("Make my key"), "primary", "key-round")
        self.restore = Button(self.tr("I have one already…"), "quiet")
        self.add_heading(self.tr("Where should it be stored?"))
        buttons = hbox(self.make, self.restore, None, spacing=10)
        fill(self.body, self.protection, self.trouble, buttons)
        self.protection.changed.connect(self._follow)
        self.make.clicked.connect(self._make)
        self._follow()

    @property
    def first_focus(self) -> QWidget:
        """The button that makes the key, or else the choice of where to store it."""
        return self.make if self.make.isEnabled() else self.protection.checked_row

    def find_keyring(self) -> None:
        self._keys.find_keyring(self._find_keyring, self._miss_keyring)

    def show_error(self, error: IdentityError) -> None:
        """Show the error; another storage, or the same again, can be tried."""
        level = "info" if error.code == "keyring-absent" else "warning"
        self.trouble.show_words(level, service.error_text(error))
        self.trouble.show()
        self._follow()

    def _find_keyring(self, _: str) -> None:
        self.protection.offer_keyring(is_there=True)

    def _miss_keyring(self, error: IdentityError) -> None:
        had_focus = self.make.hasFocus()
        self.protection.offer_keyring(is_there=False)
        self.show_error(error)
        if had_focus:  # the button is disabled now
            self.first_focus.setFocus()

    def _follow(self) -> None:
        self.make.setEnabled(self.protection.is_ready)

    def _make(self) -> None:
        self.make.setEnabled(False)
        self.trouble.hide()
        self._keys.make(
            self.protection.choice, self.protection.chosen_passphrase, self._finish, self.show_error
        )

    def _finish(self, _: KeyState) -> None:
        self.protection.passphrase.clear()


class ScheduleStep(FirstRunStep):
    """Step 4: when to lend, and the consent to it."""

    def __init__(self, context: StepContext) -> None:
        super().__init__(
            context,
            self.tr("When may Tequio use this computer?"),
            self.tr(
                "Unless you change this in Settings, it stops for games, on battery and on metered "
                "networks, and aims for at most 80 °C where the device reports its temperature."
            ),
        )
        self.presets = ChoiceCards(
            self.tr("When to lend"),
            {
                LendingPreset.GENTLE: (
                    self.tr("Gentle"),
                    self.tr("After 15 minutes without input. Films pause it too."),
                ),
                LendingPreset.BALANCED: (
                    self.tr("Balanced"),
                    self.tr("After 5 minutes without input. This suits most people."),
                ),
                LendingPreset.MAX: (
                    self.tr("Max"),
                    self.tr("After 1 minute, and at 30% of the time while you use it."),
                ),
            },
        )
        name = self.tr("Start when I log in")
        self.login = Switch(name)
        note = self.tr("Starts minimised to the tray. Otherwise you have to start Tequio yourself.")
        card = Card()
        card.body.addWidget(SettingRow(name, note, self.login))
        self.consent = ConsentCard(context.model.preferences)
        fill(self.body, self.presets, card, self.consent, None)
        self.presets.chosen.connect(lambda preset: self._change(preset=LendingPreset(preset)))
        self.login.toggled.connect(lambda is_on: self._change(starts_at_login=is_on))
        self.consent.box.toggled.connect(lambda is_on: self._change(is_agreed=is_on))
        self.refresh()

    @property
    def is_ready(self) -> bool:
        return self.context.draft_store.draft.is_agreed

    @property
    def first_focus(self) -> QWidget | None:
        draft = self.context.draft_store.draft
        if draft.is_agreed:
            return None
        return self.presets.cards.get(draft.preset, self.consent.box)

    def refresh(self) -> None:
        draft = self.context.draft_store.draft
        self.presets.select(draft.preset)
        self.login.setChecked(draft.starts_at_login)
        self.consent.box.setChecked(draft.is_agreed)

    def _change(self, **changes: object) -> None:
        self.context.draft_store.change(**changes)
        self.refresh()
        self.changed.emit()


class ConsentCard(Card):
    def __init__(self, chosen: Preferences) -> None:
        super().__init__()
        traffic = self.tr("{traffic} GB of traffic a month").format(traffic=chosen.month_gb)
        words = self.tr(
            "I lend this computer to Tequio as chosen here: it may use the graphics card, the "
            "processor, up to {disk} GB of disk, {traffic}, and the power that takes. I am "
            "allowed to decide this for this computer."
        ).format(
            disk=chosen.disk_gib,
            traffic=traffic if chosen.month_gb else self.tr("traffic without a limit"),
        )
        self.box = QCheckBox()
        self.box.setAccessibleName(self.tr("I agree"))
        self.box.setAccessibleDescription(words)
        heading = ElidedLabel(self.tr("I agree"), TextStyle.HEADING)
        note = caption(self.tr("You can pause, change or stop at any time."))
        column = vbox(heading, ConsentSentence(words, self.box), note, spacing=3)
        self.body.addLayout(hbox(self.box, (column, 1), spacing=12))


class ConsentSentence(WrappedLabel):
    """The sentence; clicking it toggles the box."""

    def __init__(self, words: str, box: QCheckBox) -> None:
        super().__init__(words)
        self.setBuddy(box)
        self._box = box

    def mousePressEvent(self, event: object) -> None:
        del event
        self._box.toggle()
