"""Custom controls for lending: presets, presence, hours, programs and usage."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Literal

from PySide6.QtCore import QCoreApplication, QObject, Qt, Signal
from PySide6.QtWidgets import QDialog, QLineEdit, QListWidget, QStackedWidget, QVBoxLayout, QWidget

from tequio_client.app import worker_texts
from tequio_client.app.pages.settings_control import SettingControl, SettingsContext, translated
from tequio_client.app.theme.style import TextStyle
from tequio_client.app.widgets import figures
from tequio_client.app.widgets.base import (
    LEADING,
    ElidedLabel,
    Label,
    WrappedLabel,
    caption,
    discard,
    fill,
    hbox,
    holding,
    vbox,
)
from tequio_client.app.widgets.buttons import Button, ChoiceCards, Segmented, Switch
from tequio_client.app.widgets.indicators import Chip, Meter
from tequio_client.app.widgets.inputs import WeekGrid
from tequio_client.app.widgets.messages import Banner
from tequio_client.ipc.preferences import PRESETS, WHOLE_WEEK, LendingPreset, Week
from tequio_client.ipc.snapshot import ReachabilityView, ReachState, Snapshot

OFFICE = tuple((1 << 24) - 1 & ~(((1 << 10) - 1) << 8) for _ in range(5)) + WHOLE_WEEK[:2]
"""All hours except 8 to 18 on working days."""
NIGHTS = tuple(((1 << 8) - 1) | (((1 << 2) - 1) << 22) for _ in range(7))
"""From 22 to 8."""
MOST_PROGRAMS = 64
LONGEST_NAME = 256
PICKER_SIZE = (420, 460)
GB = 10**9
GIB = 1 << 30
_WEEKS: dict[str, Week] = {"always": WHOLE_WEEK, "nights": NIGHTS, "office": OFFICE}


class UsedQuestion(Banner):
    """The warning to confirm before lending while the computer is in use."""

    def __init__(self, agree: Callable[[], None]) -> None:
        super().__init__()
        self.hide()
        self.button.clicked.connect(self.hide)
        self.button.clicked.connect(agree)

    def open(self, share_percent: int, button: str) -> None:
        """Show the warning with that label on its button."""
        words = self.tr(
            "While you use the computer, the device will be busy for {share} of the time. It gets "
            "louder and uses more power, and videos or scrolling may stutter. The rules for games "
            "and films still apply."
        ).format(share=figures.percent(share_percent))
        self.show_words("warning", words, button)
        self.show()


class PresetPicker(SettingControl):
    """The presets as cards; Max asks first, because it lends while the computer is in use."""

    def __init__(self, context: SettingsContext) -> None:
        super().__init__(context)
        self.presets = ChoiceCards(
            self.tr("Preset"),
            {
                LendingPreset.GENTLE: (
                    self.tr("Gentle"),
                    self.tr(
                        "Starts after 15 min without input. Pauses for films, and when other "
                        "programs use a quarter of the CPU."
                    ),
                ),
                LendingPreset.BALANCED: (
                    self.tr("Balanced"),
                    self.tr(
                        "Starts after 5 min without input. Continues during films; other programs "
                        "may use half of the CPU."
                    ),
                ),
                LendingPreset.MAX: (
                    self.tr("Max"),
                    self.tr(
                        "Starts after 1 min without input, and runs gently while you use the "
                        "computer. Other programs may use three quarters of the CPU."
                    ),
                ),
            },
        )
        self.question = UsedQuestion(lambda: self._apply(LendingPreset.MAX))
        fill(self.column, self.presets, self.question)
        self.presets.chosen.connect(self._choose)

    def refresh(self, snapshot: Snapshot | None) -> None:
        current = self.context.edits.current
        is_custom = current.preset is LendingPreset.CUSTOM
        self.presets.select("" if is_custom else current.preset)
        if current.while_used:
            self.question.hide()
        custom = self.tr(
            "You have changed settings that presets cover. A preset changes only the settings "
            "named on its card."
        )
        self.note_changed.emit(custom if is_custom else "", "")

    def _choose(self, name: str) -> None:
        edits, preset = self.context.edits, LendingPreset(name)
        self.question.hide()
        if preset is LendingPreset.MAX and not edits.current.while_used:
            self.question.open(edits.current.used_share_percent, self.tr("Use Max"))
        elif preset is not edits.current.preset:
            self._apply(preset)
        self.refresh(None)  # a click has checked its card, whatever holds

    def _apply(self, preset: LendingPreset) -> None:
        edits, fixed = self.context.edits, PRESETS[preset]
        undone: dict[str, Any] = {field: getattr(edits.current, field) for field in fixed}
        edits.change({"preset": preset, **fixed})
        self.context.toast.open_with_undo(
            self.tr("Preset: {preset}").format(preset=self.presets.cards[preset].text()),
            lambda: edits.change(undone),
        )


class UsedSwitch(SettingControl):
    """Lending while the computer is in use; switching it on asks first."""

    def __init__(self, context: SettingsContext) -> None:
        super().__init__(context)
        self.default = QCoreApplication.translate("settings", "off")
        self.switch = Switch(self.tr("Lend while I use the computer"))
        self.column.addWidget(self.switch)
        self.question = UsedQuestion(lambda: context.edits.change({"while_used": True}))
        self.below = self.question
        self.switch.clicked.connect(self._switch)

    def refresh(self, snapshot: Snapshot | None) -> None:
        is_on = self.context.edits.current.while_used
        self.switch.setChecked(is_on)
        if is_on:
            self.question.hide()

    def _switch(self, is_on: bool) -> None:  # noqa: FBT001  # Qt's signal
        edits = self.context.edits
        self.question.hide()
        if not is_on:
            edits.change({"while_used": False})
            return
        self.switch.setChecked(False)
        self.question.open(
            edits.current.used_share_percent, self.tr("Lend while I use the computer")
        )


class WeekEditor(SettingControl):
    def __init__(self, context: SettingsContext) -> None:
        super().__init__(context)
        self.week = WeekGrid(self.tr("Hours in which to lend"))
        self.hours = Segmented(
            self.tr("Hours"),
            {
                "always": self.tr("Always"),
                "nights": self.tr("Nights"),
                "office": self.tr("Outside office hours"),
                "own": self.tr("Custom"),
            },
        )
        self.column.setContentsMargins(0, 2, 0, 2)
        self.column.setSpacing(12)
        fill(self.column, self.hours, self.week)
        self.hours.chosen.connect(self._choose_hours)
        self.week.chosen.connect(lambda week: context.edits.change_soon({"week": week}))

    def refresh(self, snapshot: Snapshot | None) -> None:
        week = self.context.edits.current.week
        self.week.set_week(week)
        named = next((name for name, hours in _WEEKS.items() if hours == week), "own")
        self.hours.select(named)
        never = self.tr("No hour is selected, so nothing is ever lent.")
        self.note_changed.emit("" if any(week) else never, "sub" if any(week) else "warn")

    def _choose_hours(self, name: str) -> None:
        edits = self.context.edits
        before, week = edits.current.week, _WEEKS.get(name, edits.current.week)
        if week != before:
            edits.change({"week": week})
            self.context.toast.open_with_undo(
                self.tr("Hours changed."), lambda: edits.change({"week": before})
            )
        self.refresh(None)  # "custom" cannot be chosen, only drawn


class ExclusiveList(SettingControl):
    def __init__(self, context: SettingsContext) -> None:
        super().__init__(context)
        self.names: tuple[str, ...] | None = None
        """The programs in the list; None: not shown yet."""
        self._shown: list[QWidget] = []
        self.picker: ProgramPicker | None = None
        self.add = Button(self.tr("Add a program"), picture="plus")
        self.add.clicked.connect(self.open_picker)
        self._rows = QVBoxLayout()
        self._rows.setSpacing(2)
        self.column.setSpacing(8)
        fill(self.column, self._rows, (self.add, LEADING))

    def refresh(self, snapshot: Snapshot | None) -> None:
        """Rows are rebuilt only where they changed."""
        names = self.context.edits.current.exclusive
        if names == self.names:
            return
        self.names = names
        discard(*self._shown)
        self._shown = [self._row(name) for name in names]
        self._shown = self._shown or [WrappedLabel(self.tr("No programs yet."), tone="sub")]
        fill(self._rows, *self._shown)
        self.add.setEnabled(len(names) < MOST_PROGRAMS)

    def open_picker(self) -> None:
        app = self.context.page.program
        self.picker = ProgramPicker(app.programs if app else tuple, self)
        self.picker.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.picker.picked.connect(self._add)
        self.picker.open()

    def _add(self, name: str) -> None:
        names = self.context.edits.current.exclusive
        if name.casefold() not in {one.casefold() for one in names}:
            self.context.edits.change({"exclusive": (*names, name)})

    def _remove(self, name: str) -> None:
        edits = self.context.edits
        before = edits.current.exclusive
        edits.change({"exclusive": tuple(one for one in before if one != name)})
        self.context.toast.open_with_undo(
            self.tr("{program} was removed from the list.").format(program=name),
            lambda: edits.change({"exclusive": before}),
        )

    def _row(self, name: str) -> QWidget:
        remove = Button(self.tr("Remove"), "quiet", "x")
        remove.setAccessibleName(self.tr("Remove {program}").format(program=name))
        remove.clicked.connect(lambda: self._remove(name))
        return holding(hbox((ElidedLabel(name), 1), remove, spacing=10))


class _Relay(QObject):
    """Carries a thread's answer to the dialog, in place of a reference to the dialog itself.

    A thread that drops the last reference to a window destroys it while the main thread handles
    the window's events. The relay belongs to the application, so that cannot happen to it.
    """

    found = Signal(object)


class ProgramPicker(QDialog):
    """Asks for one of the running programs, or any name; `picked` carries the answer."""

    picked = Signal(str)

    def __init__(
        self, list_programs: Callable[[], tuple[str, ...]], parent: QWidget | None = None
    ) -> None:
        """`list_programs` is called in a thread."""
        super().__init__(parent)
        self.setWindowTitle(self.tr("Choose a program"))
        self.resize(*PICKER_SIZE)
        self.name = QLineEdit()
        self.name.setAccessibleName(self.tr("Name of the program"))
        self.name.setPlaceholderText(self.tr("Search, or type a name such as blender"))
        self.name.setMaxLength(LONGEST_NAME)
        self.name.setClearButtonEnabled(True)
        self.programs = QListWidget()
        self.programs.setAccessibleName(self.tr("Programs running now"))
        self.note = WrappedLabel(self.tr("Looking for programs…"), tone="sub")
        self.note.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.add = Button(self.tr("Add"), "primary")
        self.cancel = Button(self.tr("Cancel"))
        self._stack = QStackedWidget()
        self._stack.addWidget(self.note)
        self._stack.addWidget(self.programs)
        self._arrange()
        self.name.textChanged.connect(self._filter)
        self.programs.currentRowChanged.connect(self._enable_add)
        self.programs.itemDoubleClicked.connect(self._pick)
        self.add.setDefault(True)
        self.add.clicked.connect(self._pick)
        self.cancel.clicked.connect(self.reject)
        self._enable_add()
        relay = _Relay(QCoreApplication.instance())
        relay.found.connect(self._show_programs)
        relay.found.connect(relay.deleteLater)
        threading.Thread(target=_send_programs, args=(list_programs, relay), daemon=True).start()

    @property
    def choice(self) -> str:
        """The program that is selected or typed; empty: none."""
        row = self.programs.currentRow()
        item = self.programs.item(row)
        if row >= 0 and not item.isHidden():
            return item.text()
        return self.name.text().strip()

    def _show_programs(self, found: tuple[str, ...]) -> None:
        self.programs.addItems(found)
        self._stack.setCurrentWidget(self.programs)
        self._filter()

    def _filter(self) -> None:
        wanted, same = self.name.text().strip().casefold(), -1
        items = [self.programs.item(row) for row in range(self.programs.count())]
        for row, item in enumerate(items):
            name = item.text().casefold()
            item.setHidden(wanted not in name)
            same = row if name == wanted else same
        self.programs.setCurrentRow(same)  # no other: Add would add it instead of what was typed
        is_empty = bool(items) and all(item.isHidden() for item in items)
        self.note.setText(self.tr("No running program has this name. Add uses it as you typed it."))
        self._stack.setCurrentWidget(self.note if is_empty else self.programs)
        self._enable_add()

    def _enable_add(self) -> None:
        self.add.setEnabled(bool(self.choice))

    def _pick(self) -> None:
        if self.choice:
            self.picked.emit(self.choice)
            self.accept()

    def _arrange(self) -> None:
        note = self.tr("Nothing is lent while it runs. Pick a running program, or type its name.")
        row = hbox(None, self.cancel, self.add, spacing=10)
        vbox(
            Label(self.tr("Choose a program"), TextStyle.HEADING),
            caption(note),
            self.name,
            (self._stack, 1),
            row,
            spacing=12,
            margins=(20, 18, 20, 18),
            parent=self,
        )


def _send_programs(list_programs: Callable[[], tuple[str, ...]], relay: _Relay) -> None:
    found = list_programs()
    with suppress(RuntimeError):  # the application has ended
        relay.found.emit(found)


class UsageMeter(SettingControl):
    """Usage beside its limit; without a limit there is a figure but not a bar."""

    def __init__(
        self, context: SettingsContext, resource: Literal["traffic", "disk"], title: str
    ) -> None:
        super().__init__(context)
        self._resource, self.meter = resource, Meter(translated(title))
        self.column.addWidget(self.meter)

    def refresh(self, snapshot: Snapshot | None) -> None:
        if snapshot is None:
            self.meter.show_use(figures.ABSENT, None)
            return
        limits = self.context.edits.current
        if self._resource == "traffic":
            used, most, write = snapshot.line.month_bytes, limits.month_gb * GB, figures.data
        else:
            used, most, write = snapshot.disk.store_bytes, limits.disk_gib * GIB, figures.storage
        words = write(used)
        if most:
            both = figures.translate("figures", "{used} of {most}")
            words = both.format(used=words, most=write(most))
        self.meter.show_use(words, used / most if most else None)


class ReachabilityChip(SettingControl):
    """Reachability of this computer; the note says what it means."""

    def __init__(self, context: SettingsContext) -> None:
        super().__init__(context)
        self.chip = Chip()
        self.column.addWidget(self.chip)

    def refresh(self, snapshot: Snapshot | None) -> None:
        reach = snapshot.reach if snapshot else ReachabilityView()
        match reach.state:
            case ReachState.REACHABLE:
                self.chip.set_label(self.tr("Yes"), "circle-check", "ok")
            case ReachState.UNREACHABLE:
                self.chip.set_label(self.tr("No"), "info")
            case ReachState.UNKNOWN:
                self.chip.set_label(self.tr("Not known yet"), "hourglass")
        self.note_changed.emit(worker_texts.reachability_text(reach), "")


class FreeSpace(SettingControl):
    def __init__(self, context: SettingsContext) -> None:
        super().__init__(context)
        self.shown = Label("", TextStyle.LABEL)
        self.column.addWidget(self.shown)

    def refresh(self, snapshot: Snapshot | None) -> None:
        self.shown.setText(
            figures.storage(snapshot.disk.free_bytes) if snapshot else figures.ABSENT
        )
