"""Settings of lending, network and storage: each control changes its preference and shows it."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest
from msgspec.structs import replace
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton

from tequio_client.app import worker_texts
from tequio_client.app.pages.page import PageContext
from tequio_client.app.pages.settings import SettingsPage
from tequio_client.app.pages.settings_lending import (
    NIGHTS,
    OFFICE,
    ExclusiveList,
    FreeSpace,
    PresetPicker,
    ReachabilityChip,
    UsageMeter,
    UsedSwitch,
    WeekEditor,
)
from tequio_client.app.widgets.buttons import Switch
from tequio_client.app.widgets.inputs import NumberBox, SliderRow
from tequio_client.ipc import control
from tequio_client.ipc.preferences import PRESETS, WHOLE_WEEK, LendingPreset, Preferences
from tequio_client.ipc.snapshot import (
    LendingReason,
    LendingState,
    ReachabilityView,
    ReachState,
    RouterPort,
)
from tests.support.app_pages import open_page
from tests.support.app_program import PROGRAMS, own
from tests.support.app_scenes import AGREED, LENDING, idle

if TYPE_CHECKING:
    from pathlib import Path

    from pytestqt.qtbot import QtBot

    from tequio_client.app.pages.settings import SettingsSection
    from tequio_client.app.widgets.inputs import SettingRow
    from tests.support.app_worker import ScriptedWorker

pytestmark = pytest.mark.usefixtures("theme", "language")
ALL_DAY = WHOLE_WEEK[0]


@pytest.fixture
def page(
    context: PageContext, worker: ScriptedWorker, qtbot: QtBot, tmp_path: Path
) -> SettingsPage:
    made = SettingsPage(dataclasses.replace(context, program=own(tmp_path)))
    worker.send_snapshot(LENDING)
    return open_page(made, qtbot)


@pytest.fixture
def lending(page: SettingsPage) -> SettingsSection:
    return page.section_of("lending")


@pytest.fixture
def presets(lending: SettingsSection) -> PresetPicker:
    found = lending.controls["preset"]
    assert isinstance(found, PresetPicker)
    return found


@pytest.fixture
def used(lending: SettingsSection) -> UsedSwitch:
    found = lending.controls["while_used"]
    assert isinstance(found, UsedSwitch)
    return found


@pytest.fixture
def hours(lending: SettingsSection) -> WeekEditor:
    found = lending.controls["week"]
    assert isinstance(found, WeekEditor)
    return found


@pytest.fixture
def exclusive(lending: SettingsSection) -> ExclusiveList:
    found = lending.controls["exclusive"]
    assert isinstance(found, ExclusiveList)
    return found


SWITCHES = {
    "lending": ("keep_awake", "pause_for_games", "pause_for_films", "on_battery",
                "while_saving_power"),
    "network": ("on_metered",),
}  # fmt: skip


@pytest.mark.parametrize(
    ("section", "field"), [(name, one) for name, fields in SWITCHES.items() for one in fields]
)
def test_each_switch_turns_just_its_preference(
    page: SettingsPage, worker: ScriptedWorker, qtbot: QtBot, section: str, field: str
) -> None:
    page.open_section(section)
    switch = _row(page, section, field).control
    assert isinstance(switch, Switch)
    was = getattr(AGREED, field)
    assert switch.isChecked() is was
    qtbot.mouseClick(switch, Qt.MouseButton.LeftButton)
    told = _chosen(worker)
    assert replace(told, preset=AGREED.preset) == replace(AGREED, **{field: not was})
    worker.send_snapshot(replace(LENDING, preferences=AGREED))
    worker.send_snapshot(replace(LENDING, preferences=told))
    page.refresh()
    assert switch.isChecked() is not was
    worker.send_snapshot(LENDING)
    page.refresh()
    assert switch.isChecked() is was


@dataclass(frozen=True, kw_only=True)
class Typed:
    """A text typed into a number's box, and the resulting value and display."""

    section: str
    field: str
    text: str
    value: Any
    shown: str


NUMBERS = (
    Typed(section="lending", field="idle_minutes", text="12", value=12, shown="12 min"),
    Typed(section="lending", field="idle_minutes", text="0", value=0, shown="Immediately"),
    Typed(section="lending", field="others_gpu_percent", text="40", value=40, shown="40%"),
    Typed(section="lending", field="others_cpu_percent", text="100", value=100, shown="100%"),
    Typed(section="network", field="upload_mbit", text="2.5", value=2.5, shown="2.5 Mbit/s"),
    Typed(section="network", field="upload_mbit", text="0", value=None, shown="No limit"),
    Typed(section="network", field="download_mbit", text="80", value=80.0, shown="80.0 Mbit/s"),
    Typed(section="network", field="month_gb", text="0", value=0, shown="No limit"),
    Typed(section="network", field="month_gb", text="250", value=250, shown="250 GB"),
    Typed(section="storage", field="disk_gib", text="64", value=64, shown="64 GB"),
    Typed(section="storage", field="disk_free_gib", text="0", value=0, shown="0 GB"),
)


@pytest.mark.parametrize("typed", NUMBERS, ids=lambda one: f"{one.field}-{one.text}")
def test_each_number_is_typed_into_just_its_preference(
    page: SettingsPage, worker: ScriptedWorker, typed: Typed
) -> None:
    page.open_section(typed.section)
    box = _row(page, typed.section, typed.field).control
    assert isinstance(box, NumberBox)
    _type(box, typed.text)
    page.edits.flush()
    told = _chosen(worker)
    assert replace(told, preset=AGREED.preset) == replace(AGREED, **{typed.field: typed.value})
    worker.send_snapshot(replace(LENDING, preferences=told))
    page.refresh()
    assert box.text() == typed.shown


@pytest.mark.parametrize(
    ("section", "field", "text", "least", "most"),
    [
        ("lending", "idle_minutes", "99999", 0, 1_440),
        ("lending", "others_gpu_percent", "0", 1, 100),
        ("lending", "others_cpu_percent", "101", 1, 100),
        ("network", "upload_mbit", "-4", 0.1, 100_000),
        ("storage", "disk_gib", "0", 1, 1_000_000),
    ],
)
def test_what_is_out_of_range_cannot_be_entered(  # noqa: PLR0913  # a table
    page: SettingsPage,
    worker: ScriptedWorker,
    *,
    section: str,
    field: str,
    text: str,
    least: float,
    most: float,
) -> None:
    page.open_section(section)
    box = _row(page, section, field).control
    assert isinstance(box, NumberBox)
    _type(box, text)
    page.edits.flush()
    sent = [one.preferences for one in worker.received if isinstance(one, control.SetPreferences)]
    assert all(least <= getattr(one, field) <= most for one in sent)
    assert str(text) not in {box.text(), box.cleanText()}


# --- presets


@pytest.mark.parametrize("preset", [LendingPreset.GENTLE, LendingPreset.BALANCED])
def test_a_preset_is_chosen_and_taken_back(
    page: SettingsPage,
    presets: PresetPicker,
    worker: ScriptedWorker,
    qtbot: QtBot,
    preset: LendingPreset,
) -> None:
    before = replace(AGREED, idle_minutes=7, preset=LendingPreset.CUSTOM)
    worker.send_snapshot(replace(LENDING, preferences=before))
    page.refresh()
    assert not any(card.isChecked() for card in presets.presets.cards.values())
    qtbot.mouseClick(presets.presets.cards[preset], Qt.MouseButton.LeftButton)
    assert _chosen(worker) == replace(before, preset=preset, **PRESETS[preset])
    page.refresh()
    assert [name for name, card in presets.presets.cards.items() if card.isChecked()] == [preset]
    qtbot.mouseClick(page.toast.button, Qt.MouseButton.LeftButton)
    assert _chosen(worker) == before


def test_max_asks_before_it_lends_while_the_computer_is_used(
    page: SettingsPage, presets: PresetPicker, worker: ScriptedWorker, qtbot: QtBot
) -> None:
    qtbot.mouseClick(presets.presets.cards[LendingPreset.MAX], Qt.MouseButton.LeftButton)
    assert _nothing_chosen(worker)
    assert presets.presets.cards[LendingPreset.BALANCED].isChecked()
    assert not presets.presets.cards[LendingPreset.MAX].isChecked()
    assert "30% of the time" in presets.question.words.text()
    qtbot.mouseClick(presets.question.button, Qt.MouseButton.LeftButton)
    assert _chosen(worker) == replace(
        AGREED, preset=LendingPreset.MAX, **PRESETS[LendingPreset.MAX]
    )
    assert presets.question.isHidden()
    page.refresh()
    assert presets.presets.cards[LendingPreset.MAX].isChecked()


def test_another_preset_answers_the_question_with_no(
    presets: PresetPicker, worker: ScriptedWorker, qtbot: QtBot
) -> None:
    qtbot.mouseClick(presets.presets.cards[LendingPreset.MAX], Qt.MouseButton.LeftButton)
    qtbot.mouseClick(presets.presets.cards[LendingPreset.BALANCED], Qt.MouseButton.LeftButton)
    assert presets.question.isHidden()
    assert _nothing_chosen(worker)


def test_a_choice_of_ones_own_is_no_preset(
    page: SettingsPage, lending: SettingsSection, worker: ScriptedWorker
) -> None:
    idle = lending.rows["idle_minutes"].control
    assert isinstance(idle, NumberBox)
    assert lending.rows["preset"].note.text().startswith("Default: Balanced")
    _type(idle, "4")
    page.edits.flush()
    assert _chosen(worker) == replace(AGREED, idle_minutes=4, preset=LendingPreset.CUSTOM)
    page.refresh()
    assert lending.rows["preset"].note.text().startswith("You have changed settings")
    _type(idle, "5")
    page.edits.flush()
    assert _chosen(worker) == AGREED


# --- lending while the computer is used


def test_lending_while_used_asks_first(
    page: SettingsPage,
    lending: SettingsSection,
    used: UsedSwitch,
    worker: ScriptedWorker,
    qtbot: QtBot,
) -> None:
    share = lending.rows["used_share_percent"].control
    assert isinstance(share, SliderRow)
    assert not share.isEnabled()
    qtbot.mouseClick(used.switch, Qt.MouseButton.LeftButton)
    assert _nothing_chosen(worker)
    assert not used.switch.isChecked()
    qtbot.mouseClick(used.question.button, Qt.MouseButton.LeftButton)
    assert _chosen(worker) == replace(AGREED, while_used=True, preset=LendingPreset.CUSTOM)
    page.refresh()
    assert used.switch.isChecked()
    assert share.isEnabled()
    qtbot.mouseClick(used.switch, Qt.MouseButton.LeftButton)
    assert _chosen(worker) == AGREED


def test_the_warning_holds_also_while_games_do_not_pause(
    lending: SettingsSection, used: UsedSwitch, worker: ScriptedWorker, qtbot: QtBot
) -> None:
    worker.send_snapshot(replace(LENDING, preferences=replace(AGREED, pause_for_games=False)))
    qtbot.mouseClick(used.switch, Qt.MouseButton.LeftButton)
    rules = "The rules for games and films still apply."
    assert used.question.words.text().endswith(rules)
    assert rules in lending.rows["while_used"].note.text()


def test_the_share_while_used(
    page: SettingsPage, lending: SettingsSection, worker: ScriptedWorker, qtbot: QtBot
) -> None:
    used = replace(AGREED, while_used=True)
    share = lending.rows["used_share_percent"].control
    assert isinstance(share, SliderRow)
    worker.send_snapshot(replace(LENDING, preferences=used))
    page.refresh()
    slider = next(one for one in share.children() if one.inherits("QSlider"))
    qtbot.keyClick(slider, Qt.Key.Key_Right)
    page.edits.flush()
    assert _chosen(worker) == replace(used, used_share_percent=35)
    page.refresh()
    assert share.words.text() == "35%"


# --- the week


def test_hours_are_drawn_with_the_mouse(
    page: SettingsPage, hours: WeekEditor, worker: ScriptedWorker, qtbot: QtBot
) -> None:
    page.grab()
    grid = hours.week
    left = grid.width() - 24 * ((grid.width() - grid._beside - 2) / 24) - 2  # noqa: SLF001  # place of an hour
    cell = (grid.width() - left - 2) / 24
    at = [QPoint(round(left + (hour + 0.5) * cell), 30) for hour in (9, 10, 11)]
    QTest.mousePress(grid, Qt.MouseButton.LeftButton, pos=at[0])
    QTest.mouseMove(grid, at[1])
    QTest.mouseMove(grid, at[2])
    QTest.mouseRelease(grid, Qt.MouseButton.LeftButton, pos=at[2])
    qtbot.waitUntil(lambda: not _nothing_chosen(worker))
    week = (ALL_DAY & ~(0b111 << 9), *WHOLE_WEEK[1:])
    assert _chosen(worker) == replace(AGREED, week=week)
    page.refresh()
    assert hours.hours.selected == "own"


def test_hours_are_drawn_with_the_keyboard(
    page: SettingsPage, hours: WeekEditor, worker: ScriptedWorker, qtbot: QtBot
) -> None:
    for key in (Qt.Key.Key_Down, Qt.Key.Key_Space):
        qtbot.keyClick(hours.week, key)
    qtbot.keyClick(hours.week, Qt.Key.Key_Right, Qt.KeyboardModifier.ShiftModifier)
    page.edits.flush()
    week = (ALL_DAY, ALL_DAY & ~0b11, *WHOLE_WEEK[2:])
    assert _chosen(worker) == replace(AGREED, week=week)


@pytest.mark.parametrize(("name", "week"), [("nights", NIGHTS), ("office", OFFICE)])
def test_hours_of_a_name_are_chosen_and_taken_back(  # fixtures
    page: SettingsPage,
    hours: WeekEditor,
    worker: ScriptedWorker,
    qtbot: QtBot,
    *,
    name: str,
    week: tuple[int, ...],
) -> None:
    hours.hours.chosen.emit(name)
    assert _chosen(worker) == replace(AGREED, week=week)
    page.refresh()
    assert (hours.hours.selected, hours.week.week) == (name, week)
    qtbot.mouseClick(page.toast.button, Qt.MouseButton.LeftButton)
    assert _chosen(worker) == AGREED


def test_the_hours_of_a_name_are_those() -> None:
    assert [bool(NIGHTS[2] >> hour & 1) for hour in (7, 8, 21, 22)] == [True, False, False, True]
    assert [bool(OFFICE[4] >> hour & 1) for hour in (7, 8, 17, 18)] == [True, False, False, True]
    assert OFFICE[5:] == WHOLE_WEEK[5:]


def test_a_week_without_hours_says_what_that_means(
    page: SettingsPage, lending: SettingsSection, worker: ScriptedWorker
) -> None:
    worker.send_snapshot(replace(LENDING, preferences=replace(AGREED, week=(0,) * 7)))
    page.refresh()
    assert lending.rows["week"].note.text() == "No hour is selected, so nothing is ever lent."


# --- exclusive programs


def test_a_program_is_picked_among_those_that_run(
    page: SettingsPage, exclusive: ExclusiveList, worker: ScriptedWorker, qtbot: QtBot
) -> None:
    qtbot.mouseClick(exclusive.add, Qt.MouseButton.LeftButton)
    picker = exclusive.picker
    assert picker is not None
    qtbot.waitUntil(lambda: picker.programs.count() == len(PROGRAMS))
    assert not picker.add.isEnabled()
    qtbot.keyClicks(picker.name, "kden")
    shown = [row for row in range(len(PROGRAMS)) if not picker.programs.item(row).isHidden()]
    assert [picker.programs.item(row).text() for row in shown] == ["kdenlive"]
    picker.programs.setCurrentRow(shown[0])
    qtbot.mouseClick(picker.add, Qt.MouseButton.LeftButton)
    assert _chosen(worker) == replace(AGREED, exclusive=("kdenlive",))
    page.refresh()
    assert exclusive.names == ("kdenlive",)


@pytest.mark.parametrize(
    ("typed", "chosen"), [("My Studio.exe", "My Studio.exe"), ("lender", "lender"), ("OBS", "obs")]
)
def test_a_program_is_typed_and_no_other_is_added(
    exclusive: ExclusiveList, worker: ScriptedWorker, qtbot: QtBot, typed: str, chosen: str
) -> None:
    exclusive.open_picker()
    picker = exclusive.picker
    assert picker is not None
    qtbot.waitUntil(lambda: picker.programs.count() == len(PROGRAMS))
    qtbot.keyClicks(picker.name, typed)
    is_part = any(typed.casefold() in name.casefold() for name in PROGRAMS)
    assert picker.note.isHidden() == is_part
    qtbot.keyClick(picker.name, Qt.Key.Key_Return)
    assert _chosen(worker).exclusive == (chosen,)


def test_a_program_is_removed_and_taken_back(
    page: SettingsPage, exclusive: ExclusiveList, worker: ScriptedWorker, qtbot: QtBot
) -> None:
    listed = replace(AGREED, exclusive=("obs", "zoom"))
    worker.send_snapshot(replace(LENDING, preferences=listed))
    page.refresh()
    remove = next(
        one
        for one in exclusive.findChildren(QAbstractButton)
        if one.accessibleName() == "Remove obs"
    )
    qtbot.mouseClick(remove, Qt.MouseButton.LeftButton)
    assert _chosen(worker) == replace(AGREED, exclusive=("zoom",))
    assert page.toast.words.text() == "obs was removed from the list."
    qtbot.mouseClick(page.toast.button, Qt.MouseButton.LeftButton)
    assert _chosen(worker) == listed


def test_a_program_stands_on_the_list_once(
    exclusive: ExclusiveList, page: SettingsPage, worker: ScriptedWorker
) -> None:
    worker.send_snapshot(replace(LENDING, preferences=replace(AGREED, exclusive=("obs",))))
    page.refresh()
    exclusive.open_picker()
    assert exclusive.picker is not None
    exclusive.picker.picked.emit("OBS")
    assert _nothing_chosen(worker)


# --- what is used, and what stops lending now


def test_what_is_used_stands_beside_its_limit(page: SettingsPage, worker: ScriptedWorker) -> None:
    network, storage = page.section_of("network"), page.section_of("storage")
    traffic, store = network.controls["month_used"], storage.controls["disk_used"]
    free = storage.controls["disk_left"]
    assert isinstance(traffic, UsageMeter)
    assert isinstance(store, UsageMeter)
    assert isinstance(free, FreeSpace)
    for section in (network, storage):
        section.refresh(LENDING)
    assert traffic.meter.figures.text() == "31 GB of 100 GB"
    assert store.meter.figures.text() == "10 GB of 30 GB"
    assert free.shown.text() == "224 GB"
    worker.send_snapshot(replace(LENDING, preferences=replace(AGREED, month_gb=0)))
    network.refresh(LENDING)
    assert traffic.meter.figures.text() == "31 GB"
    storage.refresh(None)
    assert store.meter.figures.text() == "–"


STOPS: tuple[tuple[str, str, LendingReason, dict[str, Any]], ...] = (
    ("lending", "idle_minutes", LendingReason.IN_USE, {"minutes": 5}),
    ("lending", "week", LendingReason.SCHEDULE, {"fact": "never"}),
    ("lending", "pause_for_games", LendingReason.GAME, {"program": "doom"}),
    ("lending", "pause_for_games", LendingReason.CANNOT_TELL, {"fact": "game"}),
    ("lending", "pause_for_films", LendingReason.FILM, {"program": "vlc"}),
    ("lending", "exclusive", LendingReason.EXCLUSIVE, {"program": "obs"}),
    ("lending", "on_battery", LendingReason.BATTERY, {}),
    ("lending", "while_saving_power", LendingReason.BATTERY_UNKNOWN, {"fact": "saver"}),
    ("lending", "others_gpu_percent", LendingReason.OTHERS_GPU, {"device": "RTX", "percent": 80}),
    ("lending", "others_cpu_percent", LendingReason.OTHERS_CPU, {"percent": 80, "below": 24}),
    ("network", "on_metered", LendingReason.METERED, {}),
    ("storage", "disk_free_gib", LendingReason.DISK, {"free": 3.0, "wanted": 20}),
    ("storage", "disk_gib", LendingReason.DISK, {"fact": "store", "used": 33.5, "most": 30}),
)


@pytest.mark.parametrize(("section", "field", "reason", "values"), STOPS)
def test_the_setting_that_stops_lending_is_named(  # a table
    page: SettingsPage,
    worker: ScriptedWorker,
    *,
    section: str,
    field: str,
    reason: LendingReason,
    values: dict[str, Any],
) -> None:
    page.open_section(section)
    worker.send_snapshot(idle(LendingState.WAITING, reason, **values))
    page.refresh()
    rows = page.section_of(page.location).rows
    assert [name for name, row in rows.items() if not row.chip.isHidden()] == [field]
    assert rows[field].chip.text == "Stops lending now"
    assert [name for name, one in page.list.buttons.items() if one.reason] == [section]
    worker.send_snapshot(LENDING)
    page.refresh()
    assert all(row.chip.isHidden() for row in rows.values())
    assert not any(one.reason for one in page.list.buttons.values())


def test_a_pause_by_hand_is_no_settings_fault(page: SettingsPage, worker: ScriptedWorker) -> None:
    worker.send_snapshot(idle(LendingState.PAUSED, LendingReason.BY_HAND))
    page.refresh()
    assert all(row.chip.isHidden() for row in page.section_of(page.location).rows.values())


def _row(page: SettingsPage, section: str, field: str) -> SettingRow:
    return page.section_of(section).rows[field]


def _type(box: NumberBox, text: str) -> None:
    """Type as a hand does: over what stood there, then Enter."""
    box.setFocus()
    box.selectAll()
    QTest.keyClicks(box, text)
    QTest.keyClick(box, Qt.Key.Key_Return)


def _chosen(worker: ScriptedWorker) -> Preferences:
    sent = worker.last(control.SetPreferences)
    assert isinstance(sent, control.SetPreferences)
    return sent.preferences


def _nothing_chosen(worker: ScriptedWorker) -> bool:
    return not any(isinstance(one, control.SetPreferences) for one in worker.received)


@pytest.mark.parametrize(
    ("reach", "word", "note"),
    [
        (ReachabilityView(), "Not known yet", "not known yet"),
        (ReachabilityView(state=ReachState.REACHABLE), "Yes", "can connect to this one."),
        (
            ReachabilityView(state=ReachState.UNREACHABLE, port=24_811),
            "No",
            "forward TCP port 24811",
        ),
        (
            ReachabilityView(state=ReachState.UNREACHABLE, is_own_address=True, port=24_811),
            "No",
            "connections to TCP port 24811",
        ),
        (
            ReachabilityView(
                state=ReachState.UNREACHABLE,
                router=RouterPort.REFUSED,
                router_problem="Action Not Authorized",
            ),
            "No",
            "refused to open a port (Action Not Authorized)",
        ),
        (
            ReachabilityView(state=ReachState.UNREACHABLE, port=24_811, keeps_ports=True),
            "No",
            "to this computer there. Other members can still connect directly",
        ),
        (
            ReachabilityView(state=ReachState.UNREACHABLE, port=24_811, keeps_ports=False),
            "No",
            "your router gives each connection another port",
        ),
    ],
)
def test_whether_others_can_connect_is_said_with_what_to_do(
    page: SettingsPage, reach: ReachabilityView, word: str, note: str
) -> None:
    network = page.section_of("network")
    chip = network.controls["reach"]
    assert isinstance(chip, ReachabilityChip)
    network.refresh(replace(LENDING, reach=reach))
    assert chip.chip.text == word
    assert note in network.rows["reach"].note.text()


def test_every_state_of_the_router_has_a_sentence() -> None:
    for state in ReachState:
        for router in RouterPort:
            shown = ReachabilityView(state=state, router=router, router_problem="?")
            assert "{" not in worker_texts.reachability_text(shown)
