"""Settings, When to lend: presets, presence, hours, games, power and other programs."""

from __future__ import annotations

import threading
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QCoreApplication, QObject, Qt, Signal
from PySide6.QtWidgets import (
    QDialog,
    QHBoxLayout,
    QLineEdit,
    QListWidget,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from tequio_client.app.pages import competition_text
from tequio_client.app.pages.settings_section import USUAL, Section, with_default
from tequio_client.app.theme.style import Type
from tequio_client.app.widgets import figures
from tequio_client.app.widgets.base import Line, Paragraph, Text
from tequio_client.app.widgets.buttons import Button, ChoiceCards, Segmented
from tequio_client.app.widgets.inputs import SettingRow, SliderRow, WeekGrid
from tequio_client.app.widgets.messages import Banner
from tequio_client.ipc.preferences import ALWAYS, PRESETS, Preset

if TYPE_CHECKING:
    from collections.abc import Callable

    from tequio_client.app.pages.page import Means
    from tequio_client.app.pages.settings_section import Edits
    from tequio_client.app.widgets.messages import UndoToast
    from tequio_client.ipc.preferences import Preferences, Week

# --- Choosing a program among those that run, or by its name.

SIZE = (420, 460)
LONGEST = 256


class _Relay(QObject):
    """What the thread holds in place of the dialog.

    A thread that lets go of a window last destroys it while the main one handles its events. This
    belongs to the application, whoever holds it.
    """

    found = Signal(object)


class ProgramPicker(QDialog):
    """Asks for one program; `picked` has its name."""

    picked = Signal(str)

    def __init__(self, look: Callable[[], tuple[str, ...]], parent: QWidget | None = None) -> None:
        """`look` is called in a thread."""
        super().__init__(parent)
        self.setWindowTitle(self.tr("Choose a program"))
        self.resize(*SIZE)
        self.name = QLineEdit()
        self.name.setAccessibleName(self.tr("Name of the program"))
        self.name.setPlaceholderText(self.tr("Search, or type a name such as blender"))
        self.name.setMaxLength(LONGEST)
        self.name.setClearButtonEnabled(True)
        self.programs = QListWidget()
        self.programs.setAccessibleName(self.tr("Programs that run now"))
        self.note = Paragraph(self.tr("Looking for programs…"), tone="sub")
        self.note.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.add = Button(self.tr("Add"), "primary")
        self.cancel = Button(self.tr("Cancel"))
        self._stack = QStackedWidget()
        self._stack.addWidget(self.note)
        self._stack.addWidget(self.programs)
        self._lay()
        self.name.textChanged.connect(self._filter)
        self.programs.currentRowChanged.connect(self._show_add)
        self.programs.itemActivated.connect(self._pick)
        self.name.returnPressed.connect(self._pick)
        self.add.clicked.connect(self._pick)
        self.cancel.clicked.connect(self.reject)
        self._show_add()
        relay = _Relay(QCoreApplication.instance())
        relay.found.connect(self._show)
        relay.found.connect(relay.deleteLater)
        threading.Thread(target=_tell, args=(look, relay), daemon=True).start()

    @property
    def choice(self) -> str:
        """The program that is chosen, or typed; empty: none."""
        row = self.programs.currentRow()
        item = self.programs.item(row)
        if row >= 0 and not item.isHidden():
            return item.text()
        return self.name.text().strip()

    def _show(self, found: tuple[str, ...]) -> None:
        self.programs.addItems(found)
        self._stack.setCurrentWidget(self.programs)
        self._filter()

    def _filter(self) -> None:
        wanted, first = self.name.text().strip().casefold(), -1
        for row in range(self.programs.count()):
            item = self.programs.item(row)
            item.setHidden(wanted not in item.text().casefold())
            if first < 0 and not item.isHidden():
                first = row
        self.programs.setCurrentRow(first if wanted else -1)
        is_empty = first < 0 and self.programs.count() > 0
        self.note.setText(self.tr("No such program runs now. Add takes the name as you typed it."))
        self._stack.setCurrentWidget(self.note if is_empty else self.programs)
        self._show_add()

    def _show_add(self) -> None:
        self.add.setEnabled(bool(self.choice))

    def _pick(self) -> None:
        if self.choice:
            self.picked.emit(self.choice)
            self.accept()

    def _lay(self) -> None:
        column, row = QVBoxLayout(self), QHBoxLayout()
        column.setContentsMargins(20, 18, 20, 18)
        column.setSpacing(12)
        column.addWidget(Text(self.tr("Choose a program"), Type.HEADING))
        column.addWidget(
            Paragraph(
                self.tr(
                    "While it runs, nothing is lent. Pick one that runs now, or type its name."
                ),
                Type.CAPTION,
                "sub",
            )
        )
        column.addWidget(self.name)
        column.addWidget(self._stack, 1)
        row.setSpacing(10)
        row.addStretch(1)
        row.addWidget(self.cancel)
        row.addWidget(self.add)
        column.addLayout(row)


def _tell(look: Callable[[], tuple[str, ...]], relay: _Relay) -> None:
    found = look()
    with suppress(RuntimeError):  # the application has ended
        relay.found.emit(found)


# --- The programs beside which nothing is lent, with the ways to add and to remove one.

MOST = 64


class ExclusiveList(QWidget):
    """The list; `chosen` has all of it when it was changed by hand."""

    chosen = Signal(tuple)
    removed = Signal(str, tuple)
    """What was removed, and the list as it was."""

    def __init__(self, look: Callable[[], tuple[str, ...]]) -> None:
        super().__init__()
        self._look = look
        self._names: tuple[str, ...] = ("",)
        self.picker: ProgramPicker | None = None
        self.add = Button(self.tr("Add a program"), picture="plus")
        self.add.clicked.connect(self.open_picker)
        self._rows = QVBoxLayout()
        self._rows.setSpacing(2)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(8)
        column.addLayout(self._rows)
        column.addWidget(self.add, 0, Qt.AlignmentFlag.AlignLeading)

    @property
    def names(self) -> tuple[str, ...]:
        """What it shows."""
        return self._names

    def choose(self, names: tuple[str, ...]) -> None:
        """Show these."""
        if names == self._names:
            return
        self._names = names
        while (item := self._rows.takeAt(0)) is not None:
            widget = item.widget()
            if widget is not None:
                widget.hide()
                widget.deleteLater()
        for name in names:
            self._rows.addWidget(self._row(name))
        if not names:
            self._rows.addWidget(Paragraph(self.tr("No program is on the list."), tone="sub"))
        self.add.setEnabled(len(names) < MOST)

    def open_picker(self) -> None:
        """Ask for a program to add."""
        self.picker = ProgramPicker(self._look, self)
        self.picker.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.picker.picked.connect(self._add)
        self.picker.open()

    def _add(self, name: str) -> None:
        if name.casefold() not in {one.casefold() for one in self._names}:
            self.chosen.emit((*self._names, name))

    def _remove(self, name: str) -> None:
        before = self._names
        self.chosen.emit(tuple(one for one in before if one != name))
        self.removed.emit(name, before)

    def _row(self, name: str) -> QWidget:
        made = QWidget()
        row = QHBoxLayout(made)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(10)
        remove = Button(self.tr("Remove"), "quiet", "x")
        remove.setAccessibleName(self.tr("Remove {program}").format(program=name))
        remove.clicked.connect(lambda: self._remove(name))
        row.addWidget(Line(name), 1)
        row.addWidget(remove)
        return made


NEVER = (0,) * 7
OFFICE = tuple((1 << 24) - 1 & ~(((1 << 10) - 1) << 8) for _ in range(5)) + ALWAYS[:2]
"""All hours but those from 8 to 18 on working days."""
NIGHTS = tuple(((1 << 8) - 1) | (((1 << 2) - 1) << 22) for _ in range(7))
"""From 22 to 8."""


class LendingSection(Section):
    """When to lend."""

    def __init__(self, means: Means, edits: Edits, toast: UndoToast) -> None:
        super().__init__(means, edits, toast)
        self._is_asking = ""
        self._add_presets()
        self._add_presence()
        self._add_hours()
        self._add_games()
        self._add_power()
        self._add_others()
        self._add_judging()

    # --- presets

    def _add_presets(self) -> None:
        self.presets = ChoiceCards(
            self.tr("Preset"),
            {
                Preset.GENTLE: (
                    self.tr("Gentle"),
                    self.tr(
                        "After 15 min away. Films pause it, and so does a quarter of the "
                        "processor in use."
                    ),
                ),
                Preset.BALANCED: (
                    self.tr("Balanced"),
                    self.tr("After 5 min away. Films go on; others may use half of the processor."),
                ),
                Preset.MAX: (
                    self.tr("Max"),
                    self.tr(
                        "After 1 min away, and gently while you use it. Others may use three "
                        "quarters of the processor."
                    ),
                ),
            },
        )
        self.question = Banner()
        self.question.hide()
        both = QWidget()
        column = QVBoxLayout(both)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(10)
        column.addWidget(self.presets)
        column.addWidget(self.question)
        self.presets.chosen.connect(self._choose_preset)
        self.question.button.clicked.connect(self._agree)
        self.card()
        row = SettingRow(self.tr("Preset"), "", both, is_wide=True)
        self.add("preset", row)

        def show(chosen: Preferences) -> None:
            self.presets.choose("" if chosen.preset is Preset.CUSTOM else chosen.preset)
            custom = self.tr(
                "Your own choices hold: no preset says just that. A preset changes only what its "
                "card names."
            )
            usual = self.tr("Default: Balanced. A preset changes only what its card names.")
            row.show_note(custom if chosen.preset is Preset.CUSTOM else usual)

        self.follow(show)

    def _choose_preset(self, name: str) -> None:
        preset = Preset(name)
        self._ask_nothing()
        if preset is Preset.MAX and not self.edits.current.while_used:
            self._ask(self.question, "preset", self.tr("Use Max"))
        elif preset is not self.edits.current.preset:
            self._take_preset(preset)
        self.refresh(self.means.model.snapshot)

    def _take_preset(self, preset: Preset) -> None:
        before = self.edits.current
        fixed = PRESETS[preset]
        undone: dict[str, Any] = {field: getattr(before, field) for field in fixed}
        self.edits.change({"preset": preset, **fixed})
        self.toast.offer(
            self.tr("{preset} holds now.").format(preset=self.presets.cards[preset].text()),
            lambda: self.edits.change(undone),
        )

    # --- lending while the computer is used asks first

    def _ask(self, banner: Banner, about: str, button: str) -> None:
        self._is_asking = about
        said = self.tr(
            "While you work, the device then computes for {share} of the time. That is audible, "
            "takes power, and videos or scrolling may stutter. Games still pause it."
        ).format(share=figures.percent(self.edits.current.used_share_percent))
        banner.show_words("warning", said, button)
        banner.show()

    def _ask_nothing(self) -> None:
        self._is_asking = ""
        self.question.hide()
        self.used_question.hide()

    def _agree(self) -> None:
        about = self._is_asking
        self._ask_nothing()
        if about == "preset":
            self._take_preset(Preset.MAX)
        else:
            self.edits.change({"while_used": True})

    # --- presence

    def _add_presence(self) -> None:
        self.card(self.tr("You at the computer"))
        self.idle = self.number(
            "idle_minutes",
            self.tr("Minutes away"),
            self.tr("Lends after so long without keyboard, mouse or gamepad; at once when locked."),
            (0, 1_440),
            self.tr("min"),
            nothing=self.tr("At once"),
        )
        self.while_used = self.switch(
            "while_used",
            self.tr("Lend while I use it"),
            self.tr("Computes for a part of the time while you work. Games still pause it."),
        )
        self.while_used.clicked.disconnect()
        self.while_used.clicked.connect(self._switch_used)
        self.used_question = Banner()
        self.used_question.hide()
        self.used_question.button.clicked.connect(self._agree)
        self._cards[-1][0].body.addWidget(self.used_question)
        self.used_share = SliderRow(
            self.tr("Share of the time while used"),
            5,
            100,
            figures.percent,
            with_default(
                self.tr("How much of the time is computed while you work."),
                figures.percent(USUAL.used_share_percent),
            ),
        )
        self.used_share.set_step(5)
        self.used_share.chosen.connect(
            lambda value: self.edits.change_soon({"used_share_percent": value})
        )
        row = SettingRow("", "", self.used_share, is_wide=True)
        row.also(self.used_share.name)
        self.add("used_share_percent", row)
        self.awake = self.switch(
            "keep_awake",
            self.tr("Keep the computer awake"),
            self.tr("While something is lent the computer does not go to sleep by itself."),
        )

        def show(chosen: Preferences) -> None:
            self.used_share.choose(chosen.used_share_percent)
            self.used_share.setEnabled(chosen.while_used)

        self.follow(show)

    def _switch_used(self, is_on: bool) -> None:  # noqa: FBT001  # Qt's signal
        self._ask_nothing()
        if not is_on:
            self.edits.change({"while_used": False})
            return
        self.while_used.setChecked(False)
        self._ask(self.used_question, "while_used", self.tr("Lend while I use it"))

    # --- hours

    def _add_hours(self) -> None:
        self.card()
        self.week = WeekGrid(self.tr("Hours in which to lend"))
        self.hours = Segmented(
            self.tr("Hours"),
            {
                "always": self.tr("Always"),
                "nights": self.tr("Nights"),
                "office": self.tr("Not in office hours"),
                "own": self.tr("My own"),
            },
        )
        self.hours.chosen.connect(self._choose_hours)
        self.week.chosen.connect(self._choose_week)
        both = QWidget()
        column = QVBoxLayout(both)
        column.setContentsMargins(0, 2, 0, 2)
        column.setSpacing(12)
        column.addWidget(self.hours)
        column.addWidget(self.week)
        note = with_default(
            self.tr("Draw with the mouse, or with Shift and the arrow keys; Space turns an hour."),
            self.tr("all hours"),
        )
        row = SettingRow(self.tr("Hours of the week"), note, both, is_wide=True)
        self.add("week", row)

        def show(chosen: Preferences) -> None:
            self.week.choose(chosen.week)
            self.hours.choose(self._hours_of(chosen.week))
            never = self.tr("No hour is chosen: nothing is ever lent.")
            row.show_note(
                never if chosen.week == NEVER else note, "warn" if chosen.week == NEVER else "sub"
            )

        self.follow(show)

    def _hours_of(self, week: Week) -> str:
        known = {ALWAYS: "always", NIGHTS: "nights", OFFICE: "office"}
        return known.get(week, "own")

    def _choose_hours(self, name: str) -> None:
        weeks = {"always": ALWAYS, "nights": NIGHTS, "office": OFFICE}
        before = self.edits.current.week
        week = weeks.get(name, before)
        if week != before:
            self.edits.change({"week": week})
            self.toast.offer(
                self.tr("Other hours hold now."), lambda: self.edits.change({"week": before})
            )
        self.refresh(self.means.model.snapshot)

    def _choose_week(self, week: Week) -> None:
        self.edits.change_soon({"week": week})

    # --- games, films, exclusive programs

    def _add_games(self) -> None:
        self.card(self.tr("Games and films"))
        self.switch(
            "pause_for_games",
            self.tr("Pause for games"),
            self.tr(
                "Nothing is lent while a game runs or fills the screen, and for 60 s after it."
            ),
        )
        self.switch(
            "pause_for_films",
            self.tr("Pause for films"),
            self.tr("Nothing is lent while a browser or a player fills the screen."),
        )
        own = self.means.own
        self.exclusive = ExclusiveList(own.programs if own else tuple)
        self.exclusive.chosen.connect(lambda names: self.edits.change({"exclusive": names}))
        self.exclusive.removed.connect(self._offer_program)
        self.follow(lambda chosen: self.exclusive.choose(chosen.exclusive))
        note = with_default(
            self.tr("Nothing is lent while one of these runs: video editing, calls, recording."),
            self.tr("none"),
        )
        self.add(
            "exclusive",
            SettingRow(self.tr("Exclusive programs"), note, self.exclusive, is_wide=True),
        )

    def _offer_program(self, name: str, before: tuple[str, ...]) -> None:
        self.toast.offer(
            self.tr("{program} is off the list.").format(program=name),
            lambda: self.edits.change({"exclusive": before}),
        )

    # --- power and others

    def _add_power(self) -> None:
        self.card(self.tr("Power"))
        self.switch(
            "on_battery",
            self.tr("Lend on battery"),
            self.tr("Goes on when the computer is unplugged."),
        )
        self.switch(
            "while_saving_power",
            self.tr("Lend while the system saves power"),
            self.tr("Goes on when you or the system switched the power saver on."),
        )

    def _add_others(self) -> None:
        self.card(self.tr("Other programs"))
        self.others_gpu = self.number(
            "others_gpu_percent",
            self.tr("Others on the graphics card"),
            self.tr("Pauses while other programs keep the card busier than this for 3 s."),
            (1, 100),
            "%",
        )
        self.others_cpu = self.number(
            "others_cpu_percent",
            self.tr("Others on the processor"),
            self.tr("Pauses while other programs keep all cores together busier than this."),
            (1, 100),
            "%",
        )

    # --- judging

    def _add_judging(self) -> None:
        self.card(self.tr("Competitions"))
        self.switch("judge", self.tr("Help to judge competitions"), competition_text.cost())
