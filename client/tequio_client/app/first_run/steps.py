"""STEPS"""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QLocale, QSize, Qt
from PySide6.QtWidgets import QCheckBox, QHBoxLayout, QLineEdit, QVBoxLayout, QWidget

from tequio_client.app.first_run.step import USUAL, Kit, Power, Step, power
from tequio_client.app.keys import service
from tequio_client.app.keys.card import KeyCard
from tequio_client.app.keys.dialogs import KeepPanel, RestoreDialog
from tequio_client.app.pages.run_needs import Fit, is_full, needs, overall, room
from tequio_client.app.theme.style import Type, font
from tequio_client.app.widgets import figures
from tequio_client.app.widgets.base import Card, Columns, Line, Paragraph, Picture, Text
from tequio_client.app.widgets.buttons import Button, ChoiceCards, ChoiceRow, Switch
from tequio_client.app.widgets.cards import Tile
from tequio_client.app.widgets.indicators import Chip
from tequio_client.app.widgets.inputs import NumberBox, SettingRow, SliderRow
from tequio_client.app.widgets.messages import Banner
from tequio_client.ipc.control import AskRuns, Runs
from tequio_client.ipc.preferences import PRESETS, Preset, with_preset
from tequio_client.keys.state import Kept

if TYPE_CHECKING:
    from tequio_client.ipc.control import Question, Reply, RunRow
    from tequio_client.ipc.preferences import Preferences
    from tequio_client.keys.state import IdentityError, KeyState


MOST_NAME = 32


class KeyStep(Step):
    """Step 3: the key with its storage and backup, and an optional nickname."""

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
        return self.kit.desk.state.kept is not Kept.ABSENT

    def enter(self) -> None:
        """Look for a key and for a keyring."""
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
    """Asks how to store a new key, and makes it."""

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
        """Offer the keyring only if there is one."""
        self._desk.find_keyring(self._find_keyring, self._miss_keyring)

    def fail(self, error: IdentityError) -> None:
        """Show the error; another storage, or the same again, can be tried."""
        level = "info" if error.code == "keyring-absent" else "warning"
        self.trouble.show_words(level, service.say(error))
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
    """An optional nickname, saved with the settings."""

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


LINE_BYTES_PER_S = 50e6 / 8
"""Bytes per second of a 50 Mbit/s connection."""


class ReadyStep(Step):
    """Step 6: what happens next, and when the first points come."""

    def __init__(self, kit: Kit) -> None:
        super().__init__(
            kit,
            self.tr("Ready"),
            self.tr("Nothing has been used yet. Press the button below to start."),
        )
        self.events = [Event(picture) for picture in ("download", "moon", "badge-check")]
        card = Card(self.tr("What happens next"))
        card.body.setSpacing(14)
        for event in self.events:
            card.body.addWidget(event)
        self.chips = [Chip() for _ in range(4)]
        row = QHBoxLayout()
        row.setSpacing(8)
        for chip in self.chips:
            row.addWidget(chip)
        row.addStretch(1)
        self.body.addLayout(row)
        self.body.addWidget(card)
        hint = self.tr(
            "Closing the window hides it; the icon in the panel shows the state, and pauses "
            "everything with two clicks."
        )
        self.body.addWidget(Paragraph(hint, tone="sub"))
        self.body.addStretch(1)

    @property
    def is_ready(self) -> bool:
        """Consent is required here too, since a saved draft may open at this step."""
        return self.kit.book.draft.is_agreed

    @property
    def next_words(self) -> str:
        return self.tr("Contribute")

    def enter(self) -> None:
        self.refresh()

    def refresh(self) -> None:
        """Describe the next events for the choices made."""
        self._recall()
        first, second, third = self.events
        first.say(self.tr("Join and fetch"), self._fetching())
        second.say(self.tr("Begin when you are away"), self._beginning())
        third.say(
            self.tr("First points"),
            self.tr(
                "They are pending when your first round ends, and verified when the ledger has "
                "closed it and your computer has checked the proof, usually one round later."
            ),
        )

    def _recall(self) -> None:
        draft, run = self.kit.book.draft, self._run()
        presets = {
            Preset.GENTLE: self.tr("Gentle"),
            Preset.BALANCED: self.tr("Balanced"),
            Preset.MAX: self.tr("Max"),
        }
        when, login, what, backup = self.chips
        when.show_as(presets.get(draft.preset, ""), "clock", "accent")
        starts, waits = self.tr("Starts at login"), self.tr("Starts by hand")
        login.show_as(starts if draft.starts_at_login else waits, "power", "accent")
        what.show_as(run.name if run else self.tr("Run: automatic"), "boxes", "accent")
        backup.setVisible(self.kit.desk.state.wants_backup)
        backup.show_as(self.tr("Key not backed up"), "triangle-alert", "warn")

    def _fetching(self) -> str:
        run = self._run()
        if run is None:
            return self.tr(
                "The run that fits best is joined, and its model and first data are fetched once."
            )
        seconds = run.first_bytes / LINE_BYTES_PER_S
        return self.tr(
            "{run}: {data} are fetched once, about {time} on a line of 50 Mbit/s."
        ).format(run=run.name, data=figures.data(run.first_bytes), time=figures.duration(seconds))

    def _beginning(self) -> str:
        preset = self.kit.book.draft.preset
        if preset is Preset.MAX:
            return self.tr(
                "At once at 30 % of the time, and in full after a minute without input. Games "
                "stop it, always."
            )
        minutes = int(PRESETS[preset]["idle_minutes"])
        return self.tr(
            "%n minute(s) after your last input. A key or the mouse stops it; games do, always.",
            "",
            minutes,
        )

    def _run(self) -> RunRow | None:
        known = self.kit.means.model.reply(AskRuns())
        if not isinstance(known, Runs):
            return None
        chosen = self.kit.book.draft.run
        return next((row for row in known.rows if row.run == chosen), None)


class Event(QWidget):
    """One future event: picture, heading and text."""

    def __init__(self, picture: str) -> None:
        super().__init__()
        self._heading, self._words = Paragraph("", Type.STRONG), Paragraph("", tone="sub")
        row, column = QHBoxLayout(self), QVBoxLayout()
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(14)
        column.setSpacing(1)
        column.addWidget(self._heading)
        column.addWidget(self._words)
        row.addWidget(Picture(picture, QSize(20, 20), "accent"), 0, Qt.AlignmentFlag.AlignTop)
        row.addLayout(column, 1)

    def say(self, heading: str, words: str) -> None:
        self._heading.setText(heading)
        self._words.setText(words)

    @property
    def words(self) -> str:
        return self._words.text()


QUESTION = AskRuns()
ANY = ""


class RunStep(Step):
    """Step 5: the run to train; one row for the automatic choice and one for each open run."""

    def __init__(self, kit: Kit) -> None:
        super().__init__(
            kit,
            self.tr("What would you like to train?"),
            self.tr("A run is one model that many train together. You can change it at any time."),
        )
        self.away = Banner()
        self.away.hide()
        self.away.button.clicked.connect(self.enter)
        self.rows: dict[str, ChoiceRow] = {}
        self._list = QVBoxLayout()
        self._list.setSpacing(10)
        holder = QWidget()
        holder.setLayout(self._list)
        self._list.setContentsMargins(0, 0, 0, 0)
        self.body.addWidget(self.away)
        self.body.addWidget(holder)
        self.body.addStretch(1)
        self._shown: tuple[RunRow, ...] | None = None
        kit.means.model.replied.connect(self._take)
        kit.means.model.refused.connect(self._miss)
        self._show(())

    def enter(self) -> None:
        """Request the list of runs again."""
        self.away.hide()
        self.kit.means.model.ask(QUESTION)
        known = self.kit.means.model.reply(QUESTION)
        if isinstance(known, Runs):
            self._show(known.rows)

    def _take(self, question: Question, reply: Reply) -> None:
        if question == QUESTION and isinstance(reply, Runs):
            self.away.hide()
            self._show(reply.rows)

    def _miss(self, question: Question, _: str) -> None:
        if question != QUESTION:
            return
        self.away.show_words(
            "info",
            self.tr(
                "The ledger does not answer now, so there is no list. Go on: the run that fits "
                "this computer best is joined when it does."
            ),
            self.tr("Try again"),
        )
        self.away.show()

    def _show(self, rows: tuple[RunRow, ...]) -> None:
        found = tuple(row for row in rows if row.is_open)
        if found == self._shown:
            return
        self._shown = found
        had_keyboard = any(row.hasFocus() for row in self.rows.values())
        while (item := self._list.takeAt(0)) is not None:
            if (old := item.widget()) is not None:
                old.setParent(None)
                old.deleteLater()
        self.rows = {ANY: self._any()} | {row.run: self._row(row) for row in found}
        for run, row in self.rows.items():
            row.settle()
            row.setChecked(run == self._chosen())
            row.clicked.connect(lambda _=False, run=run: self._choose(run))
            self._list.addWidget(row)
        if had_keyboard:
            self.rows[self._chosen()].setFocus()

    def _choose(self, run: str) -> None:
        self.kit.book.change(run=run)
        self.changed.emit()

    def _chosen(self) -> str:
        run = self.kit.book.draft.run
        return run if run in self.rows else ANY

    def _any(self) -> ChoiceRow:
        made = ChoiceRow()
        head = self.tr("Choose for me")
        note = self.tr("The open run that fits this computer and needs it most.")
        made.setAccessibleName(f"{head}: {note}")
        made.body.addLayout(_head(head, Chip(self.tr("Recommended"), "sparkles", "accent")))
        made.body.addWidget(Paragraph(note, tone="sub"))
        return made

    def _row(self, run: RunRow) -> ChoiceRow:
        made, fit = ChoiceRow(), self._fit(run)
        note = self._needs(run)
        made.setAccessibleName(f"{run.name}: {fit.words}. {note}")
        made.body.addLayout(_head(run.name, fit))
        made.body.addWidget(Paragraph(note, tone="sub"))
        return made

    def _fit(self, run: RunRow) -> Chip:
        snapshot, model = self.kit.means.model.snapshot, self.kit.means.model
        if is_full(run):
            return Chip(self.tr("Full now"), "users", "warn")
        if snapshot is None:
            return Chip(self.tr("Not known yet"), "hourglass")
        chosen = with_preset(model.preferences, self.kit.book.draft.preset)
        return {
            Fit.FITS: Chip(self.tr("Fits"), "circle-check", "ok"),
            Fit.TIGHT: Chip(self.tr("Just fits"), "circle-check", "ok"),
            Fit.LITTLE: Chip(self.tr("Needs more than there is"), "triangle-alert", "warn"),
            Fit.UNKNOWN: Chip(self.tr("Not known yet"), "hourglass"),
        }[overall(needs(run, room(snapshot, chosen)))]

    def _needs(self, run: RunRow) -> str:
        parts = [
            self.tr("%n volunteer(s)", "", run.members),
            self.tr("{memory} of memory").format(memory=figures.memory(run.memory_mb)),
            self.tr("{data} to fetch once").format(data=figures.data(run.first_bytes)),
            self.tr("{data} up per hour").format(data=figures.data(run.hourly_up_bytes)),
        ]
        if run.rounds:
            number, rounds = figures.count(run.round), figures.count(run.rounds)
            told = self.tr("round {number} of {rounds}").format(number=number, rounds=rounds)
            parts.insert(0, told)
        return " · ".join(parts)


def _head(words: str, chip: Chip) -> QHBoxLayout:
    made = QHBoxLayout()
    made.setSpacing(10)
    made.addWidget(Line(words, Type.HEADING), 1)
    made.addWidget(chip)
    return made


MOST_TARIFF = 1_000_000.0
LEAST = 180


class WelcomeStep(Step):
    """Step 1: three promises, and the cost in power."""

    def __init__(self, kit: Kit) -> None:
        super().__init__(
            kit,
            self.tr("Lend your idle computer to open models"),
            self.tr(
                "Tequio trains open language models on the computers of volunteers, while nobody "
                "needs them. Nothing is lent before you agree to it at the end."
            ),
        )
        promises = Columns()
        promises.hold(
            (
                Promise(
                    "gamepad-2",
                    self.tr("Stops when you play"),
                    self.tr(
                        "Starting a game or going full screen stops it within seconds and "
                        "frees all GPU memory."
                    ),
                ),
                Promise(
                    "coins",
                    self.tr("Points you can check"),
                    self.tr("Each round gives compute points. Your computer checks every proof."),
                ),
                Promise(
                    "shield-check",
                    self.tr("Keeps to itself"),
                    self.tr("It reads none of your files. Settings lists all that it sends."),
                ),
            )
        )
        self.cost = CostCard(kit)
        self.body.addWidget(promises)
        self.body.addWidget(self.cost)
        self.body.addStretch(1)

    def refresh(self) -> None:
        self.cost.refresh()


class Promise(Card):
    """One promise: picture, heading and text."""

    def __init__(self, picture: str, heading: str, words: str) -> None:
        super().__init__()
        self.setMinimumWidth(LEAST)
        head = QHBoxLayout()
        head.setSpacing(10)
        head.addWidget(Tile(picture))
        head.addWidget(Paragraph(heading, Type.HEADING), 1)
        self.body.addLayout(head)
        self.body.addWidget(Paragraph(words, tone="sub"))
        self.body.addStretch(1)


class CostCard(Card):
    """Power, and its monthly cost for the given hours and price."""

    def __init__(self, kit: Kit) -> None:
        super().__init__()
        self._kit = kit
        self._device = Paragraph("", Type.CAPTION, "sub")
        self._draw, self._energy, self._money = (Figure() for _ in range(3))
        code = QLocale().currencySymbol(QLocale.CurrencySymbolFormat.CurrencyIsoCode)
        self._usual = USUAL.get(code)
        self.hours = SliderRow(self.tr("Hours per day"), 1, 24, self._write_hours)
        name = self.tr("Price per kWh")
        self.tariff = NumberBox(
            name, 0.0, MOST_TARIFF, code, places=2, nothing=self.tr("not entered")
        )
        self.tariff.choose(self._tariff() or 0.0)
        self.hours.choose(kit.book.draft.hours)
        self.hours.chosen.connect(lambda hours: self._change(hours=hours))
        self.tariff.chosen.connect(lambda price: self._change(tariff=price))
        self.title(self.tr("What it costs in power"))
        figures_row, inputs, price = Columns(gap=20), QHBoxLayout(), QWidget()
        figures_row.hold((self._draw, self._energy, self._money))
        column = QVBoxLayout(price)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(4)
        column.addWidget(Text(name))
        column.addWidget(self.tariff)
        inputs.setSpacing(26)
        inputs.addWidget(self.hours, 1)
        inputs.addWidget(price, 0, Qt.AlignmentFlag.AlignTop)
        self.body.addWidget(self._device)
        self.body.addWidget(figures_row)
        self.body.addLayout(inputs)
        self._note = Paragraph("", Type.CAPTION, "sub")
        self.body.addWidget(self._note)
        self.refresh()

    def refresh(self) -> None:
        """Show the range for the device and the inputs known now."""
        found, draft = power(self._kit.machine), self._kit.book.draft
        least, most = found.month_kwh(draft.hours)
        tariff = self._tariff()
        self._device.setText(self._say_device(found))
        self._draw.say(
            _range(figures.count(round(found.least_w)), figures.power(found.most_w)),
            self.tr("while it trains"),
        )
        kwh = self.tr("{energy} kWh")
        self._energy.say(
            _range(figures.count(round(least)), kwh.format(energy=figures.count(round(most)))),
            self.tr("per month"),
        )
        money = _range(_money(least * (tariff or 0)), _money(most * (tariff or 0)))
        self._money.say(money if tariff else figures.ABSENT, self.tr("per month"))
        self._note.setText(self._say_price())

    @property
    def words(self) -> tuple[str, str, str]:
        """The figures shown: power, energy and money."""
        return self._draw.words, self._energy.words, self._money.words

    def _say_device(self, found: Power) -> str:
        if not found.device:
            return self.tr("Looking at this computer. The range is that of most graphics cards.")
        if found.is_processor:
            said = self.tr("{device}: no graphics card was found. The range is that of processors.")
        elif found.is_known:
            said = self.tr("{device}: from 60 % of its power limit to all of it.")
        else:
            said = self.tr("{device} does not say its limit. The range is that of most cards.")
        return said.format(device=found.device)

    def _say_price(self) -> str:
        rest = self.tr(
            "For this device only. If your PC would otherwise be asleep, add 40 to 90 W."
        )
        if self._kit.book.draft.tariff is None and self._usual:
            guess = self.tr("This is a rough household price: enter yours.")
            return f"{guess} {rest}"
        return rest

    def _tariff(self) -> float | None:
        chosen = self._kit.book.draft.tariff
        return self._usual if chosen is None else chosen

    def _write_hours(self, hours: int) -> str:
        return self.tr("%n hour(s)", "", hours)

    def _change(self, **changes: float) -> None:
        self._kit.book.change(**changes)
        self.refresh()


class Figure(QWidget):
    """A figure above its caption."""

    def __init__(self) -> None:
        super().__init__()
        self._figure, self._caption = Text("", Type.TITLE), Text("", Type.CAPTION, "sub")
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 2, 0, 2)
        column.setSpacing(0)
        column.addWidget(self._figure)
        column.addWidget(self._caption)

    def say(self, figure: str, caption: str) -> None:
        self._figure.setText(figure)
        self._caption.setText(caption)
        self.setAccessibleName(f"{figure} {caption}")

    @property
    def words(self) -> str:
        return self._figure.text()


def _range(least: str, most: str) -> str:
    return f"{least} – {most}"


def _money(amount: float) -> str:
    places = 0 if amount >= 100 else 2  # noqa: PLR2004 - cents matter below
    return QLocale().toCurrencyString(amount, QLocale().currencySymbol(), places)


class WhenStep(Step):
    """Step 4: when to lend, and the consent to it."""

    def __init__(self, kit: Kit) -> None:
        super().__init__(
            kit,
            self.tr("When may Tequio use this computer?"),
            self.tr(
                "In every case it stops for games, on battery and on metered networks, and it "
                "stays below 80 °C. Each of these can be changed in Settings."
            ),
        )
        self.presets = ChoiceCards(
            self.tr("When to lend"),
            {
                Preset.GENTLE: (
                    self.tr("Gentle"),
                    self.tr("After 15 minutes without input. Films pause it too."),
                ),
                Preset.BALANCED: (
                    self.tr("Balanced"),
                    self.tr("After 5 minutes without input. This suits most people."),
                ),
                Preset.MAX: (
                    self.tr("Max"),
                    self.tr("After 1 minute, and at 30 % of the time while you use it."),
                ),
            },
        )
        name = self.tr("Start when I log in")
        self.login = Switch(name)
        note = self.tr("Starts minimised to the tray. Otherwise you have to start Tequio yourself.")
        card = Card()
        card.body.addWidget(SettingRow(name, note, self.login))
        self.consent = ConsentCard(kit.means.model.preferences)
        for part in (self.presets, card, self.consent):
            self.body.addWidget(part)
        self.body.addStretch(1)
        self.presets.chosen.connect(lambda preset: self._change(preset=Preset(preset)))
        self.login.toggled.connect(lambda is_on: self._change(starts_at_login=is_on))
        self.consent.box.toggled.connect(lambda is_on: self._change(is_agreed=is_on))
        self.refresh()

    @property
    def is_ready(self) -> bool:
        return self.kit.book.draft.is_agreed

    def refresh(self) -> None:
        draft = self.kit.book.draft
        self.presets.choose(draft.preset)
        self.login.setChecked(draft.starts_at_login)
        self.consent.box.setChecked(draft.is_agreed)

    def _change(self, **changes: object) -> None:
        self.kit.book.change(**changes)
        self.refresh()
        self.changed.emit()


class ConsentCard(Card):
    """The consent sentence and its check box."""

    def __init__(self, chosen: Preferences) -> None:
        super().__init__()
        traffic = self.tr("{traffic} GB of traffic a month").format(traffic=chosen.month_gb)
        words = self.tr(
            "I lend this computer to Tequio as chosen here: it may use the graphics card, the "
            "processor, up to {disk} GiB of disk, {traffic}, and the power that takes. I am "
            "allowed to decide this for this computer."
        ).format(
            disk=chosen.disk_gib,
            traffic=traffic if chosen.month_gb else self.tr("traffic without a limit"),
        )
        self.box = QCheckBox()
        self.box.setAccessibleName(self.tr("I agree"))
        self.box.setAccessibleDescription(words)
        sentence = Consent(words, self.box)
        row, column = QHBoxLayout(), QVBoxLayout()
        row.setSpacing(12)
        column.setSpacing(3)
        column.addWidget(Line(self.tr("I agree"), Type.HEADING))
        column.addWidget(sentence)
        note = self.tr("You can pause, change or stop at any time.")
        column.addWidget(Paragraph(note, Type.CAPTION, "sub"))
        row.addWidget(self.box)
        row.addLayout(column, 1)
        self.body.addLayout(row)


class Consent(Paragraph):
    """The sentence; clicking it toggles the box."""

    def __init__(self, words: str, box: QCheckBox) -> None:
        super().__init__(words)
        self.setBuddy(box)
        self._box = box

    def mousePressEvent(self, event: object) -> None:
        del event
        self._box.toggle()
