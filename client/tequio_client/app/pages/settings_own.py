"""Settings of the app itself: Notifications, Appearance and Startup."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tequio_client.app.app_settings import AppSettings
from tequio_client.app.language import LANGUAGES
from tequio_client.app.pages.settings_section import Section, on_or_off, with_default
from tequio_client.app.theme.look import Choice
from tequio_client.app.widgets.dropdown import Dropdown
from tequio_client.app.widgets.segmented import Segmented
from tequio_client.app.widgets.setting_row import SettingRow
from tequio_client.app.widgets.switch import Switch

if TYPE_CHECKING:
    from tequio_client.app.pages.edits import Edits
    from tequio_client.app.pages.page import Means, Own
    from tequio_client.app.widgets.undo_toast import UndoToast
    from tequio_client.link.snapshot import Snapshot

USUAL = AppSettings()
NAMES = {"en": "English", "es": "Español"}
"""What speakers of a language call it."""


class OwnSection(Section):
    """A section about the app; what it shows is in the settings' book."""

    def __init__(self, means: Means, edits: Edits, toast: UndoToast, own: Own) -> None:
        super().__init__(means, edits, toast)
        self.own = own

    @property
    def settings(self) -> AppSettings:
        """What holds."""
        return self.own.book.settings

    def own_switch(self, field: str, name: str, note: str) -> Switch:
        """Add a switch for that field of the app's settings."""
        switch = Switch(name)
        switch.clicked.connect(lambda is_on: self.own.book.change(**{field: is_on}))
        self.follow(lambda _: switch.setChecked(getattr(self.settings, field)))
        usual = on_or_off(is_on=getattr(USUAL, field))
        self.add(field, SettingRow(name, with_default(note, usual), switch))
        return switch


class NotificationsSection(OwnSection):
    """What the desktop is told."""

    def __init__(self, means: Means, edits: Edits, toast: UndoToast, own: Own) -> None:
        super().__init__(means, edits, toast, own)
        self.card()
        self.own_switch(
            "notify_points",
            self.tr("First points"),
            self.tr("Once, when your first points were verified."),
        )
        self.own_switch(
            "notify_rank", self.tr("Weekly rank"), self.tr("Once a week, how your rank changed.")
        )
        self.own_switch(
            "notify_attention",
            self.tr("Attention"),
            self.tr("When nothing can be lent before you have done something about it."),
        )
        self.own_switch(
            "notify_runs",
            self.tr("Runs"),
            self.tr("When a run that you are in begins or ends."),
        )
        self.own_switch(
            "notify_competitions",
            self.tr("Competitions"),
            self.tr(
                "When one begins, when its deadline is near, and how it came out; when you are "
                "drawn to judge, and when you have."
            ),
        )
        never = self.tr("While something fills the screen nothing is shown; it waits until then.")
        self.add("notify_never", SettingRow("", never))


class AppearanceSection(OwnSection):
    """How the app looks and speaks."""

    def __init__(self, means: Means, edits: Edits, toast: UndoToast, own: Own) -> None:
        super().__init__(means, edits, toast, own)
        self.card()
        self.look = Segmented(
            self.tr("Colours"),
            {
                Choice.SYSTEM: self.tr("As the system"),
                Choice.LIGHT: self.tr("Light"),
                Choice.DARK: self.tr("Dark"),
            },
        )
        self.look.chosen.connect(self._choose_look)
        self.add(
            "appearance",
            SettingRow(
                self.tr("Colours"),
                with_default(self.tr("Light or dark surroundings."), self.tr("as the system")),
                self.look,
            ),
        )
        names = {code: NAMES.get(code, code) for code in LANGUAGES}
        self.language = Dropdown(self.tr("Language"), {"": self.tr("As the system"), **names})
        self.language.chosen.connect(lambda code: own.book.change(language=code))
        self.add(
            "language",
            SettingRow(
                self.tr("Language"),
                with_default(
                    self.tr("Of all texts, dates and numbers; what is not translated is English."),
                    self.tr("as the system"),
                ),
                self.language,
            ),
        )
        self.own_switch(
            "reduced_motion",
            self.tr("Reduced motion"),
            self.tr("Nothing slides or fades; the system's own setting does the same."),
        )
        self.follow(lambda _: self._show())

    def _show(self) -> None:
        known = self.settings.appearance in list(Choice)
        self.look.choose(self.settings.appearance if known else Choice.SYSTEM)
        self.language.choose(self.settings.language)

    def _choose_look(self, name: str) -> None:
        self.own.book.change(appearance=name)


class StartupSection(OwnSection):
    """Whether the app starts by itself."""

    def __init__(self, means: Means, edits: Edits, toast: UndoToast, own: Own) -> None:
        super().__init__(means, edits, toast, own)
        self.card()
        self._problem = ""
        self._is_on: bool | None = None
        self.login = Switch(self.tr("Start at login"))
        self.login.clicked.connect(self._switch)
        self.row = SettingRow(self.tr("Start at login"), "", self.login)
        self.row.also(self.tr("autostart background hidden"))
        self.add("login", self.row)

    def refresh(self, snapshot: Snapshot | None) -> None:
        """Show what the system says, asked when the section is opened."""
        super().refresh(snapshot)
        if self._is_on is None:
            self.read_back()

    def read_back(self) -> None:
        """Ask the system what will happen at the next login."""
        self._is_on = self.own.autostart.is_on()
        self.login.setChecked(self._is_on)
        if self._problem:
            self.row.show_note(self._problem, "danger")
            return
        note = self.tr("Starts hidden in the panel; the window stays closed.")
        self.row.show_note(with_default(note, self.tr("asked in the first run")))

    def _switch(self, is_on: bool) -> None:  # noqa: FBT001  # Qt's signal
        self._problem = ""
        try:
            (self.own.autostart.turn_on if is_on else self.own.autostart.turn_off)()
        except OSError as err:
            why = f"{err.strerror or err}".rstrip(".")
            self._problem = self.tr(
                "The system did not take it: {why}. Add Tequio to its startup programs by hand."
            ).format(why=why)
        self.read_back()
        if not self._problem and self.login.isChecked() != is_on:
            self._problem = self.tr(
                "The system was told, and says otherwise. Look at its own list of startup programs."
            )
            self.read_back()
