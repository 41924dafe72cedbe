"""Settings, Advanced: the ledger, where the worker lives and listens, and the way back."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, TypeAlias

from PySide6.QtCore import QUrl
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QHBoxLayout, QLineEdit, QVBoxLayout, QWidget

from tequio_client.app.keys.card import KeyCard
from tequio_client.app.language import LANGUAGES
from tequio_client.app.ledger_check import LedgerCheck
from tequio_client.app.pages.settings_section import USUAL as SETTINGS_SECTION_USUAL
from tequio_client.app.pages.settings_section import Section, on_or_off, with_default
from tequio_client.app.settings_file import AppSettings
from tequio_client.app.theme.look import Choice
from tequio_client.app.theme.style import Type
from tequio_client.app.widgets import figures
from tequio_client.app.widgets.base import Paragraph
from tequio_client.app.widgets.buttons import Button, Dropdown, Segmented, Switch
from tequio_client.app.widgets.cards import CopyLine
from tequio_client.app.widgets.indicators import Chip, Meter
from tequio_client.app.widgets.inputs import SettingRow
from tequio_client.ipc.snapshot import Reason

if TYPE_CHECKING:
    from collections.abc import Callable

    from tequio_client.app.pages.page import Means, Own
    from tequio_client.app.pages.settings_section import Edits
    from tequio_client.app.widgets.messages import UndoToast
    from tequio_client.ipc.snapshot import Snapshot

# --- Settings, Network and Storage: what may go over the line, and what may lie on the disk.

MOST_MBIT = 100_000.0
MOST_GB = 1_000_000
GB = 10**9
GIB = 1 << 30
Write: TypeAlias = "Callable[[int], str]"


class NetworkSection(Section):
    """How much of the line is taken."""

    def __init__(self, means: Means, edits: Edits, toast: UndoToast) -> None:
        super().__init__(means, edits, toast)
        unlimited = self.tr("No limit")
        self.card(self.tr("Rate"))
        self.upload = self.number(
            "upload_mbit",
            self.tr("Upload"),
            self.tr("Most that is sent; below half of your line, games and calls do not notice."),
            (0, MOST_MBIT),
            self.tr("Mbit/s"),
            nothing=unlimited,
            places=1,
            is_optional=True,
        )
        self.download = self.number(
            "download_mbit",
            self.tr("Download"),
            self.tr("Most that is received."),
            (0, MOST_MBIT),
            self.tr("Mbit/s"),
            nothing=unlimited,
            places=1,
            is_optional=True,
        )
        self.card(self.tr("Month"))
        self.month = self.number(
            "month_gb",
            self.tr("Monthly quota"),
            self.tr("Up and down together, from the first of the month; then lending waits."),
            (0, MOST_GB),
            self.tr("GB"),
            nothing=unlimited,
        )
        self.used = Meter(self.tr("Used this month"))
        row = SettingRow("", "", self.used, is_wide=True)
        row.also(self.tr("Used this month"))
        self.add("month_used", row)
        self.card(self.tr("Kind of network"))
        self.metered = self.switch(
            "on_metered",
            self.tr("Lend on metered networks"),
            self.tr("On a phone's hotspot, or where the system calls the network metered."),
        )

    def refresh(self, snapshot: Snapshot | None) -> None:
        """Show what holds, and what was used."""
        super().refresh(snapshot)
        used = snapshot.line.month_bytes if snapshot else None
        most = self.edits.current.month_gb * GB
        _show(self.used, used, most, figures.data)


class StorageSection(Section):
    """How much of the disk is taken."""

    def __init__(self, means: Means, edits: Edits, toast: UndoToast) -> None:
        super().__init__(means, edits, toast)
        self.card(self.tr("Store"))
        self.cap = self.number(
            "disk_gib",
            self.tr("Most that is kept"),
            self.tr("Model, data and updates of the runs you are in; the oldest goes first."),
            (1, MOST_GB),
            self.tr("GiB"),
        )
        self.used = Meter(self.tr("Used by Tequio"))
        row = SettingRow("", "", self.used, is_wide=True)
        row.also(self.tr("Used by Tequio"))
        self.add("disk_used", row)
        self.card(self.tr("Disk"))
        self.free = self.number(
            "disk_free_gib",
            self.tr("Stays free"),
            self.tr("Lending waits when less of the disk is free than this."),
            (0, MOST_GB),
            self.tr("GiB"),
        )
        self.left = SettingRow(self.tr("Free now"), "")
        self.add("disk_left", self.left)

    def refresh(self, snapshot: Snapshot | None) -> None:
        """Show what holds, and what is used."""
        super().refresh(snapshot)
        used = snapshot.disk.store_bytes if snapshot else None
        _show(self.used, used, self.edits.current.disk_gib * GIB, _binary)
        free = _binary(snapshot.disk.free_bytes) if snapshot else figures.ABSENT
        self.left.show_note(free)


def _show(meter: Meter, used: int | None, most: int, write: Write) -> None:
    if used is None:
        meter.show_use(figures.ABSENT, None)
    elif not most:
        meter.show_use(write(used), None)
    else:
        words = figures.translate("figures", "{used} of {most}").format(
            used=write(used), most=write(most)
        )
        meter.show_use(words, used / most)


def _binary(size_bytes: int) -> str:
    """In GiB, as the limits are: one decimal below ten."""
    gib = size_bytes / GIB
    shown = figures.decimal(gib, 1 if gib < 10 else 0)  # noqa: PLR2004  # digits
    return figures.translate("figures", "{size} GiB").format(size=shown)


# --- Settings of the app itself: Notifications, Appearance and Startup.

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


# --- Settings, Account and keys: who this computer is in the network.

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


FIELD_WIDTH = 240
LISTEN = re.compile(
    r"/ip4/(\d{1,3}(?:\.\d{1,3}){3})/tcp/(\d{1,5})|/ip6/([0-9a-fA-F:.]+)/tcp/(\d{1,5})"
)
PORTS = 65_535


class AdvancedSection(OwnSection):
    """What hardly anybody needs."""

    def __init__(self, means: Means, edits: Edits, toast: UndoToast, own: Own) -> None:
        super().__init__(means, edits, toast, own)
        self._taken = ""  # the ledger's address of a worker that is to come
        self.check = LedgerCheck(self)
        self.check.answered.connect(self._take_ledger)
        self._add_ledger()
        self._add_worker()
        self._add_reset()

    def refresh(self, snapshot: Snapshot | None) -> None:
        """Show what holds."""
        super().refresh(snapshot)
        self.folder.show_text(str(self.own.folder))
        ledger = snapshot.ledger if snapshot else None
        if ledger is None or not ledger.url or self._is_checking:
            return
        if self._taken not in {"", ledger.url.rstrip("/")}:
            return  # of the worker that was there before
        self._taken = ""
        reached = (
            self.tr("{url} answers.")
            if ledger.is_reached
            else self.tr("{url} does not answer now.")
        )
        self._say(reached.format(url=ledger.url), "ok" if ledger.is_reached else "warn")

    # --- the ledger

    def _add_ledger(self) -> None:
        self.card(self.tr("Ledger"))
        self._is_checking = False
        self.ledger = QLineEdit()
        self.ledger.setAccessibleName(self.tr("Ledger's address"))
        self.ledger.setMinimumWidth(FIELD_WIDTH)
        self.ledger.setMaxLength(2_048)
        self.ledger.setPlaceholderText(self.own.usual_ledger)
        self.take = Button(self.tr("Check and use"))
        self.take.setEnabled(False)
        self.said = Paragraph("", Type.CAPTION, "sub")
        self.said.hide()
        self.ledger.textEdited.connect(self._edit_ledger)
        self.ledger.returnPressed.connect(self._check_ledger)
        self.take.clicked.connect(self._check_ledger)
        both, row = QWidget(), QHBoxLayout()
        column = QVBoxLayout(both)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(6)
        row.setSpacing(10)
        row.addWidget(self.ledger, 1)
        row.addWidget(self.take)
        column.addLayout(row)
        column.addWidget(self.said)
        note = with_default(
            self.tr("Keeps the public log of work and points. It is asked before it is taken."),
            self.own.usual_ledger,
        )
        self.add("ledger", SettingRow(self.tr("Address"), note, both, is_wide=True))
        self.follow(lambda _: self._show_ledger())

    def _show_ledger(self) -> None:
        if not self.ledger.isModified():
            self.ledger.setText(self.settings.ledger)

    def _edit_ledger(self) -> None:
        self._is_checking = True
        self.check.stop()
        self.said.hide()
        self.take.setEnabled(self.ledger.text().strip() != self.settings.ledger)

    def _check_ledger(self) -> None:
        address = self.ledger.text().strip().rstrip("/")
        self._is_checking = True
        if not address:
            self._take_ledger("", "")
            return
        self.take.setEnabled(False)
        self._say(self.tr("Asking {address}…").format(address=address), "sub")
        self.check.start(address)

    def _take_ledger(self, address: str, wrong: str) -> None:
        if wrong:
            self._say(wrong, "danger")
            self.take.setEnabled(True)
            return
        self.ledger.setModified(False)
        self.ledger.setText(address)
        self._is_checking = False
        self._taken = (address or self.own.usual_ledger).rstrip("/")
        self._say(self.tr("Taken; the worker starts anew with it."), "ok")
        self.take.setEnabled(False)
        self.own.book.change(ledger=address)

    def _say(self, words: str, tone: str) -> None:
        self.said.setText(words)
        self.said.set_tone(tone)
        self.said.show()

    # --- the worker

    def _add_worker(self) -> None:
        self.card(self.tr("Worker"))
        self.folder = CopyLine(self.tr("Folder"))
        self.open_folder = Button(self.tr("Open"), "quiet", "folder-open")
        self.open_folder.setAccessibleName(self.tr("Open the folder"))
        self.open_folder.clicked.connect(
            lambda: QDesktopServices.openUrl(QUrl.fromLocalFile(str(self.own.folder)))
        )
        self.folder.add(self.open_folder)
        self.add(
            "folder",
            SettingRow(
                self.tr("Folder"),
                self.tr("Key, store and state. To move it: quit, move it, and start with --dir."),
                self.folder,
                is_wide=True,
            ),
        )
        self.listen = QLineEdit()
        self.listen.setAccessibleName(self.tr("Listen address"))
        self.listen.setMinimumWidth(FIELD_WIDTH)
        self.listen.setPlaceholderText("/ip4/0.0.0.0/tcp/0")
        self.listen.editingFinished.connect(self._take_listen)
        self._listen_note = with_default(
            self.tr("Where peers reach this computer, as in /ip4/0.0.0.0/tcp/4001."),
            self.tr("any free port"),
        )
        self.listen_row = SettingRow(self.tr("Listen address"), self._listen_note, self.listen)
        self.add("listen", self.listen_row)
        self.level = Dropdown(
            self.tr("Log level"),
            {
                "debug": self.tr("Everything"),
                "info": self.tr("Events"),
                "warning": self.tr("Warnings"),
                "error": self.tr("Errors"),
            },
        )
        self.level.chosen.connect(lambda level: self.own.book.change(log_level=level))
        note = with_default(
            self.tr("What worker.log in the folder is told; a change starts the worker anew."),
            self.tr("events"),
        )
        self.add("log_level", SettingRow(self.tr("Log"), note, self.level))
        self.follow(lambda _: self._show_worker())

    def _show_worker(self) -> None:
        if not (self.listen.hasFocus() and self.listen.isModified()):
            self.listen.setText(self.settings.listen)
        self.level.choose(self.settings.log_level)

    def _take_listen(self) -> None:
        address = self.listen.text().strip()
        if address and not is_listen(address):
            said = self.tr(
                "{address} is no address to listen on: write /ip4/0.0.0.0/tcp/4001, or leave it "
                "empty."
            )
            self.listen_row.show_note(said.format(address=address), "danger")
            return
        self.listen.setModified(False)
        self.listen_row.show_note(self._listen_note)
        self.own.book.change(listen=address)

    # --- the way back

    def _add_reset(self) -> None:
        self.card(self.tr("Reset"))
        self.reset = Button(self.tr("Reset all settings"), "danger", "rotate-ccw")
        self.reset.clicked.connect(self._ask_reset)
        self.add(
            "reset",
            SettingRow(
                self.tr("Reset all settings"),
                self.tr("Every setting gets its default. Key, points, consent and run stay."),
                self.reset,
            ),
        )

    def _ask_reset(self) -> None:
        lending, own = self.edits.current, self.settings
        usual = AppSettings()
        kept = {
            "version",
            "knows_hiding",
            "knows_points",
            "week",
            "week_rank",
            "page",
            "geometry",
            "nickname",
            "consent",
            "run",
        }
        fresh = {
            field: getattr(SETTINGS_SECTION_USUAL, field)
            for field in _fields(SETTINGS_SECTION_USUAL) - kept
        }
        fresh_own = {field: getattr(usual, field) for field in _fields(usual) - kept}
        was = {field: getattr(lending, field) for field in fresh}
        was_own = {field: getattr(own, field) for field in fresh_own}
        self.edits.change(fresh)
        self.own.book.change(**fresh_own)

        def undo() -> None:
            self.edits.change(was)
            self.own.book.change(**was_own)

        self.toast.offer(self.tr("Every setting has its default again."), undo)


def is_listen(address: str) -> bool:
    """Whether that may be an address to listen on."""
    found = LISTEN.fullmatch(address)
    if found is None:
        return False
    parts = [int(part) for part in (found[1] or "0").split(".")]
    return max(parts) <= 255 and int(found[2] or found[4]) <= PORTS  # noqa: PLR2004  # of a byte


def _fields(settings: object) -> set[str]:
    return set(settings.__struct_fields__)  # type: ignore[attr-defined]  # msgspec's


# --- Settings, Privacy: everything that leaves this computer, to whom, and what never does.
#
# The lists follow docs/protocol.md: statements and requests to the ledger, messages between
# peers.


class PrivacySection(Section):
    """What is sent."""

    def __init__(self, means: Means, edits: Edits, toast: UndoToast) -> None:
        super().__init__(means, edits, toast)
        self.card()
        none = Chip(self.tr("None"), "shield-check", "ok")
        self.add(
            "telemetry",
            SettingRow(
                self.tr("Telemetry"),
                self.tr(
                    "No usage figures and no crash reports are sent, to anybody, ever. After "
                    "an error you may copy a report and send it yourself."
                ),
                none,
            ),
        )
        self._list(
            self.tr("To the ledger, where everybody can read it for ever"),
            (
                (
                    "ledger-key",
                    self.tr("Your public key, and the work that a new key costs"),
                    self.tr("Once, so that points have an owner."),
                ),
                (
                    "ledger-ready",
                    self.tr("That you are ready, in which roles, with which model"),
                    self.tr(
                        "Run, roles, the hash of the model you hold, a commitment for the draw."
                    ),
                ),
                (
                    "ledger-leave",
                    self.tr("That you leave, with a reason's code"),
                    self.tr("When lending stops; the code never says why you stopped."),
                ),
                (
                    "ledger-work",
                    self.tr("The header of each update that you trained"),
                    self.tr(
                        "Run, round, windows of data, tokens, steps, two losses, hashes of "
                        "model and update."
                    ),
                ),
                (
                    "ledger-head",
                    self.tr("Which model you hold or computed for a round"),
                    self.tr(
                        "Hashes of its parts, the commitment for the draw opened, and the next one."
                    ),
                ),
                (
                    "ledger-witness",
                    self.tr("What you found as a witness"),
                    self.tr(
                        "Which updates arrived, which were refused and by which rule, hashes, "
                        "the hash of the next model."
                    ),
                ),
                (
                    "ledger-measure",
                    self.tr("How good a model is, where you were drawn to measure it"),
                    self.tr(
                        "Its hash, how many bits it needs for text that the run holds out, and "
                        "what it writes after a beginning of it."
                    ),
                ),
                (
                    "ledger-judging",
                    self.tr("Your offer to judge competitions, and your scores"),
                    self.tr(
                        "If you switched it on: a commitment, a secret for the draw, the bits of "
                        "each text, the program's version, the device's name and its threads."
                    ),
                ),
                (
                    "ledger-fault",
                    self.tr("Proofs that somebody contradicted themselves"),
                    self.tr("Two statements that they signed; and your appeal, if you make one."),
                ),
                (
                    "ledger-commands",
                    self.tr("What you say by a command of your own"),
                    self.tr("The team that you earn for; entries and challenges in competitions."),
                ),
                (
                    "ledger-envelope",
                    self.tr("Beside each statement"),
                    self.tr(
                        "Its number, your clock's time, the statement before it, your signature."
                    ),
                ),
            ),
        )
        self._list(
            self.tr("To the ledger's operator"),
            (
                (
                    "operator-address",
                    self.tr("Your internet address, and what you ask for"),
                    self.tr(
                        "As with every web server: log entries, runs, your own points and ranking."
                    ),
                ),
                (
                    "operator-appeal",
                    self.tr("The text of an appeal, if you write one"),
                    self.tr("With your key, the time and your signature."),
                ),
            ),
        )
        self._list(
            self.tr("To other volunteers in your runs"),
            (
                (
                    "peers-address",
                    self.tr("Your peer id, addresses and ports"),
                    self.tr(
                        "Of this computer in its own network too, and the version of the "
                        "network library."
                    ),
                ),
                (
                    "peers-bytes",
                    self.tr("Updates, models and training data"),
                    self.tr(
                        "What you trained, and pieces of public model and data that others ask for."
                    ),
                ),
                (
                    "peers-statements",
                    self.tr("Your statements of the round under way"),
                    self.tr("The same that the ledger gets."),
                ),
            ),
        )
        self._list(
            self.tr("Never, to nobody"),
            (
                (
                    "never-files",
                    self.tr("Your files, programs, games and windows"),
                    self.tr("Looked at here, to decide here whether to lend."),
                ),
                (
                    "never-machine",
                    self.tr("Names of user and computer, and readings of devices"),
                    self.tr(
                        "Others see how fast you train; who judges names the device that scored."
                    ),
                ),
                (
                    "never-choices",
                    self.tr("Your settings, nickname and hours"),
                    self.tr("They stay in the app's folder."),
                ),
            ),
        )

    def _list(self, heading: str, fields: tuple[tuple[str, str, str], ...]) -> None:
        self.card(heading)
        for field, name, note in fields:
            self.add(field, SettingRow(name, note))
