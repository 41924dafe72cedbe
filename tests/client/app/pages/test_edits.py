"""Preferences as they are edited: at once or at rest, beside what others choose, and by presets."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace
from PySide6.QtCore import QObject

from tequio_client.app.pages.settings_control import PreferenceEdits, preset_of
from tequio_client.ipc import control
from tequio_client.ipc.preferences import (
    PRESETS,
    DeviceChoice,
    LendingPreset,
    Preferences,
    apply_preset,
)
from tests.support.app_scenes import AGREED, LENDING

if TYPE_CHECKING:
    from pytestqt.qtbot import QtBot

    from tequio_client.app.model import AppModel
    from tests.support.app_worker import ScriptedWorker


@pytest.fixture
def edits(model: AppModel, worker: ScriptedWorker) -> PreferenceEdits:
    worker.send_snapshot(LENDING)
    model.setParent(worker)
    return PreferenceEdits(model, QObject(worker))


def chosen(worker: ScriptedWorker) -> list[Preferences]:
    """All that the worker was told, oldest first."""
    return [one.preferences for one in worker.received if isinstance(one, control.SetPreferences)]


def test_a_deed_is_sent_at_once_and_changes_nothing_else(
    edits: PreferenceEdits, worker: ScriptedWorker
) -> None:
    edits.change({"on_battery": True})
    assert chosen(worker) == [replace(AGREED, on_battery=True)]


def test_a_hand_that_moves_is_waited_for(
    edits: PreferenceEdits, worker: ScriptedWorker, qtbot: QtBot
) -> None:
    for minutes in (6, 7, 8):
        edits.change_soon({"idle_minutes": minutes})
        assert edits.current.idle_minutes == minutes
    assert chosen(worker) == []
    qtbot.waitUntil(lambda: bool(chosen(worker)))
    assert [one.idle_minutes for one in chosen(worker)] == [8]


def test_what_waits_goes_with_the_next_deed(edits: PreferenceEdits, worker: ScriptedWorker) -> None:
    edits.change_soon({"disk_gib": 40})
    edits.change({"on_metered": True})
    assert chosen(worker) == [replace(AGREED, disk_gib=40, on_metered=True)]


def test_what_others_choose_meanwhile_stays(
    edits: PreferenceEdits, worker: ScriptedWorker, model: AppModel
) -> None:
    edits.change_soon({"disk_gib": 40})
    worker.send_snapshot(replace(LENDING, preferences=replace(AGREED, month_gb=7)))
    assert (edits.current.disk_gib, edits.current.month_gb) == (40, 7)
    edits.flush()
    assert model.preferences == replace(AGREED, disk_gib=40, month_gb=7)


def test_nothing_is_sent_that_is_no_change(edits: PreferenceEdits, worker: ScriptedWorker) -> None:
    edits.change({"disk_gib": AGREED.disk_gib})
    edits.flush()
    assert chosen(worker) == []


def test_a_device_keeps_its_place_and_its_other_choices(
    edits: PreferenceEdits, worker: ScriptedWorker
) -> None:
    first, second = DeviceChoice(id="cuda:0", watts=150), DeviceChoice(id="cuda:1")
    worker.send_snapshot(replace(LENDING, preferences=replace(AGREED, devices=(first, second))))
    edits.change({"use": False}, device="cuda:0")
    assert chosen(worker)[-1].devices == (replace(first, use=False), second)
    edits.change({"threads": 3}, device="cpu")
    assert chosen(worker)[-1].devices[2] == DeviceChoice(id="cpu", threads=3)


@pytest.mark.parametrize("preset", PRESETS)
def test_a_preset_is_known_by_what_it_fixes(preset: LendingPreset) -> None:
    assert preset_of(apply_preset(Preferences(month_gb=3), preset)) is preset


def test_a_change_of_what_a_preset_fixes_is_custom_and_back(
    edits: PreferenceEdits, worker: ScriptedWorker
) -> None:
    edits.change({"idle_minutes": 4})
    assert chosen(worker)[-1].preset is LendingPreset.CUSTOM
    edits.change({"idle_minutes": 5})
    assert chosen(worker)[-1].preset is LendingPreset.BALANCED
    edits.change({"idle_minutes": 15, "pause_for_films": True, "others_cpu_percent": 25})
    assert chosen(worker)[-1].preset is LendingPreset.GENTLE


def test_a_change_of_what_no_preset_fixes_leaves_the_preset(
    edits: PreferenceEdits, worker: ScriptedWorker
) -> None:
    worker.send_snapshot(replace(LENDING, preferences=replace(AGREED, preset=LendingPreset.CUSTOM)))
    edits.change({"month_gb": 9})
    assert chosen(worker)[-1].preset is LendingPreset.CUSTOM
