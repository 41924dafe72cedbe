"""Hardware: a card for each device, its readings, its limits, and unknown readings."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QSlider

from tequio_client.app.pages.device_limits import LimitSlider
from tequio_client.app.pages.devices import READINGS, ReadingsHistory
from tequio_client.app.pages.hardware import HardwarePage
from tequio_client.app.pages.page import PageContext
from tequio_client.ipc import control
from tequio_client.ipc.control import AskBenchmark, BenchmarkReply
from tequio_client.ipc.facts import MachineFacts, ProbeHealth
from tequio_client.ipc.preferences import DeviceChoice
from tequio_client.ipc.runs import AskRuns, RunsReply
from tequio_client.ipc.snapshot import AuditsView, LendingReason, LendingState, TrainerView
from tests.support.app_pages import open_page, show_snapshot
from tests.support.app_scenes import AGREED, CARD, LENDING, MACHINE, SCENES, idle
from tests.support.app_worker_answers import NOVA, RUNS

if TYPE_CHECKING:
    from pytestqt.qtbot import QtBot

    from tequio_client.app.pages.hardware import DeviceCard
    from tequio_client.ipc.snapshot import Snapshot
    from tests.support.app_worker import ScriptedWorker

pytestmark = pytest.mark.usefixtures("theme", "language")
PAUSED = SCENES["paused"]


@pytest.fixture
def page(context: PageContext, qtbot: QtBot) -> HardwarePage:
    return open_page(HardwarePage(context), qtbot, height=900)


def test_each_device_has_its_card(page: HardwarePage, worker: ScriptedWorker) -> None:
    second = replace(CARD, id="cuda:1", name="NVIDIA RTX A6000", memory_mb=49_140)
    show_snapshot(page, worker, _with_machine(replace(MACHINE, gpus=(CARD, second))))
    assert list(page.cards) == ["cuda:0", "cuda:1", "cpu"]
    card = page.cards["cuda:0"]
    assert card.name.text() == "NVIDIA GeForce RTX 4070"
    assert card.note.text() == "12 GB  ·  cuda:0  ·  driver 570.124"
    assert page.cards["cpu"].note.text() == "16 cores  ·  31 GB of memory"


def test_a_worker_that_is_gone_can_be_started_again(
    page: HardwarePage, worker: ScriptedWorker, opened_pages: list[str], qtbot: QtBot
) -> None:
    assert page.banner.words.text().startswith("The worker is being started")
    assert not page.banner.button.isVisible()
    worker.gone.emit("The worker failed 5 times in a row.")
    page.refresh()
    assert page.banner.words.text() == "The worker failed 5 times in a row."
    assert page.banner.button.text() == "Try again"
    qtbot.mouseClick(page.banner.button, Qt.MouseButton.LeftButton)
    assert opened_pages == ["try-again"]


def test_readings_are_shown_with_what_they_were(page: HardwarePage, worker: ScriptedWorker) -> None:
    for load in (0.2, 0.5):
        worker.send_snapshot(_with_machine(replace(MACHINE, gpus=(replace(CARD, load=load),))))
    show_snapshot(page, worker, LENDING)
    readings = page.cards["cuda:0"].readings
    assert [tile.figure.text() for tile in readings.tiles] == [
        "96%",
        "1%",
        "7.4 / 12 GB",
        "61 °C",
        "148 W",
    ]
    assert readings.load.line.values[-3:] == (0.2, 0.5, 0.96)
    assert readings.memory.accessibleName() == "VRAM: 7.4 GB of 12 GB"


def test_a_reading_that_nobody_can_tell_is_a_dash(
    page: HardwarePage, worker: ScriptedWorker
) -> None:
    bare = replace(CARD, load=None, free_mb=None, temperature_c=None, watts=None)
    show_snapshot(page, worker, _with_machine(replace(MACHINE, gpus=(bare,))))
    assert [tile.figure.text() for tile in page.cards["cuda:0"].readings.tiles] == [
        "–",
        "1%",
        "–",
        "–",
        "–",
    ]
    limits = page.cards["cuda:0"].limits
    assert limits.temperature is None, "no limit holds before the first reading"
    page.grab()
    show_snapshot(page, worker, LENDING)
    assert page.cards["cuda:0"].limits.temperature is not None


def test_of_readings_a_minute_is_remembered() -> None:
    history = ReadingsHistory()
    for watts in range(READINGS + 5):
        history.record(replace(MACHINE, gpus=(replace(CARD, watts=float(watts)),)))
    known = [device.watts for device in history.of("cuda:0")]
    assert known == [float(one) for one in range(5, READINGS + 5)]
    assert history.of("cuda:7") == ()


@pytest.mark.parametrize(
    ("trainer", "words"),
    [
        (TrainerView(device="cuda:0", state="computing"), "Computing"),
        (
            TrainerView(device="cuda:0", state="computing", share_percent=40),
            "Computing, 40% of the time",
        ),
        (TrainerView(device="cuda:0", state="starting"), "Starting"),
        (TrainerView(device="cuda:0", state="stopping"), "Stopping"),
        (TrainerView(device="cuda:0", state="broken"), "Failed"),
        (TrainerView(device="cuda:0", state="off"), "Ready"),
        (TrainerView(device="cpu", state="computing"), "Ready"),
    ],
)
def test_the_device_that_computes_says_so(
    page: HardwarePage, worker: ScriptedWorker, trainer: TrainerView, words: str
) -> None:
    show_snapshot(page, worker, replace(LENDING, trainers=(trainer,)))
    assert page.cards["cuda:0"].state.text == words


def test_the_processor_is_lent_only_where_it_is_alone_or_chosen(
    page: HardwarePage, worker: ScriptedWorker
) -> None:
    show_snapshot(page, worker, LENDING)
    assert not page.cards["cpu"].switch.isChecked()
    assert page.cards["cpu"].state.text == "Not lent"
    page.cards["cpu"].switch.click()
    assert _chosen(worker) == (DeviceChoice(id="cpu"),)
    show_snapshot(page, worker, _with_machine(replace(MACHINE, gpus=())))
    assert page.cards["cpu"].switch.isChecked()


def test_a_device_is_switched_off_and_taken_back(
    page: HardwarePage, worker: ScriptedWorker, qtbot: QtBot
) -> None:
    show_snapshot(page, worker, LENDING)
    card = page.cards["cuda:0"]
    qtbot.mouseClick(card.switch, Qt.MouseButton.LeftButton)
    assert _chosen(worker) == (DeviceChoice(id="cuda:0", use=False),)
    page.refresh()
    assert not card.limits.isEnabled()
    assert page.toast.words.text() == "NVIDIA GeForce RTX 4070 is no longer lent."
    qtbot.mouseClick(page.toast.button, Qt.MouseButton.LeftButton)
    assert _chosen(worker) == (DeviceChoice(id="cuda:0", use=True),)
    page.refresh()
    assert card.switch.isChecked()
    assert card.limits.isEnabled()


def test_a_role_is_chosen(page: HardwarePage, worker: ScriptedWorker) -> None:
    show_snapshot(page, worker, LENDING)
    page.cards["cuda:0"].role.chosen.emit("witness")
    assert _chosen(worker) == (DeviceChoice(id="cuda:0", role="witness"),)
    page.refresh()
    assert page.cards["cuda:0"].role.selected == "witness"


@pytest.mark.parametrize(
    ("limit", "key", "field", "value", "words"),
    [
        ("memory", Qt.Key.Key_Home, "memory_mb", 1_024, "1 GB"),
        ("watts", Qt.Key.Key_Left, "watts", 195, "195 W"),
        ("temperature", Qt.Key.Key_Left, "temperature_c", 79, "79 °C"),
        ("share", Qt.Key.Key_Left, "share_percent", 95, "95%"),
    ],
)
def test_each_limit_changes_just_its_choice_and_goes_back(  # noqa: PLR0913  # a table
    page: HardwarePage,
    worker: ScriptedWorker,
    qtbot: QtBot,
    *,
    limit: str,
    key: Qt.Key,
    field: str,
    value: int,
    words: str,
) -> None:
    show_snapshot(page, worker, LENDING)
    part = _limit(page.cards["cuda:0"], limit)
    before = part.slider.words.text()
    qtbot.keyClick(_slider(part), key)
    assert part.slider.words.text().replace(".0", "") == words
    assert _slider(part).value() == value, "a screen reader reads it"
    page.edits.flush()
    assert _chosen(worker) == (replace(DeviceChoice(id="cuda:0"), **{field: value}),)
    page.refresh()
    assert part.slider.words.text().replace(".0", "") == words
    assert not part.reset.isHidden()
    qtbot.mouseClick(part.reset, Qt.MouseButton.LeftButton)
    assert _chosen(worker) == (DeviceChoice(id="cuda:0"),)
    page.refresh()
    assert part.slider.words.text() == before
    assert part.reset.isHidden()


def test_threads_of_the_processor(page: HardwarePage, worker: ScriptedWorker, qtbot: QtBot) -> None:
    show_snapshot(page, worker, _with_machine(replace(MACHINE, gpus=())))
    threads = page.cards["cpu"].limits.threads
    assert threads is not None
    assert threads.slider.words.text() == "15, automatic"
    qtbot.keyClick(_slider(threads), Qt.Key.Key_Left)
    page.edits.flush()
    assert _chosen(worker) == (DeviceChoice(id="cpu", threads=14),)


def test_a_slider_that_moves_is_waited_for(
    page: HardwarePage, worker: ScriptedWorker, qtbot: QtBot
) -> None:
    show_snapshot(page, worker, LENDING)
    slider = _slider(_limit(page.cards["cuda:0"], "temperature"))
    for _ in range(5):
        qtbot.keyClick(slider, Qt.Key.Key_Left)
    assert not any(isinstance(one, control.SetPreferences) for one in worker.received)
    qtbot.waitUntil(lambda: any(isinstance(one, control.SetPreferences) for one in worker.received))
    assert _chosen(worker) == (DeviceChoice(id="cuda:0", temperature_c=75),)
    assert sum(isinstance(one, control.SetPreferences) for one in worker.received) == 1


def test_what_waits_is_sent_when_the_page_is_left(
    page: HardwarePage, worker: ScriptedWorker, qtbot: QtBot
) -> None:
    show_snapshot(page, worker, LENDING)
    qtbot.keyClick(_slider(_limit(page.cards["cuda:0"], "temperature")), Qt.Key.Key_Left)
    page.hide()
    assert _chosen(worker) == (DeviceChoice(id="cuda:0", temperature_c=79),)


def test_more_than_the_device_has_is_shown_as_what_it_has(
    page: HardwarePage, worker: ScriptedWorker
) -> None:
    choice = DeviceChoice(id="cuda:0", memory_mb=40_000, watts=900)
    show_snapshot(page, worker, replace(LENDING, preferences=replace(AGREED, devices=(choice,))))
    limits = page.cards["cuda:0"].limits
    assert limits.memory is not None
    assert limits.watts is not None
    assert limits.memory.slider.words.text() == "12 GB"
    assert limits.watts.slider.words.text() == "200 W"
    assert not any(isinstance(one, control.SetPreferences) for one in worker.received)


def test_a_power_limit_that_changes_moves_the_end_of_its_slider_alone(
    page: HardwarePage, worker: ScriptedWorker
) -> None:
    show_snapshot(page, worker, LENDING)
    card = page.cards["cuda:0"]
    part = _limit(card, "watts")
    slider = _slider(part)
    slider.setSliderDown(True)
    lower = replace(CARD, watts_limit=150.0)
    show_snapshot(page, worker, _with_machine(replace(MACHINE, gpus=(lower,))))
    assert page.cards["cuda:0"] is card
    assert slider.isSliderDown()
    assert (slider.minimum(), slider.maximum()) == (45, 150)
    assert part.slider.note.text().endswith("limit is 150 W.")


def test_a_card_that_does_not_tell_its_power_has_no_goal_for_it(
    page: HardwarePage, worker: ScriptedWorker
) -> None:
    mute = replace(CARD, watts_limit=None, memory_mb=None)
    show_snapshot(page, worker, _with_machine(replace(MACHINE, gpus=(mute,))))
    limits = page.cards["cuda:0"].limits
    assert (limits.watts, limits.memory) == (None, None)
    assert len(limits.findChildren(LimitSlider)) == 2


def test_without_a_graphics_card_the_processor_is_offered(
    page: HardwarePage, worker: ScriptedWorker, qtbot: QtBot
) -> None:
    off = replace(AGREED, devices=(DeviceChoice(id="cpu", use=False),))
    show_snapshot(page, worker, replace(_with_machine(replace(MACHINE, gpus=())), preferences=off))
    assert list(page.cards) == ["cpu"]
    assert page.banner.words.text().startswith("No graphics card was found")
    qtbot.mouseClick(page.banner.button, Qt.MouseButton.LeftButton)
    assert _chosen(worker) == (DeviceChoice(id="cpu"),)
    page.refresh()
    assert "slower" in page.banner.words.text()
    assert not page.banner.button.isVisible()


def test_a_probe_that_does_not_answer_is_named(page: HardwarePage, worker: ScriptedWorker) -> None:
    health = (ProbeHealth(name="gpu", source="nvml", ok=False, error="driver not loaded"),)
    show_snapshot(page, worker, _with_machine(MachineFacts(health=health)))
    assert page.banner.words.text().startswith("The hardware probe is not responding")
    assert page.banner.words.text().endswith("driver not loaded")
    assert page.cards == {}


def test_a_probe_that_has_just_started_is_not_called_silent(
    page: HardwarePage, worker: ScriptedWorker
) -> None:
    show_snapshot(page, worker, replace(_with_machine(MachineFacts()), is_probe_starting=True))
    assert page.banner.words.text().startswith("The hardware is being checked")


def test_without_a_worker_only_the_banner_speaks(
    page: HardwarePage, worker: ScriptedWorker
) -> None:
    show_snapshot(page, worker, LENDING)
    worker.gone.emit("The worker has ended.")
    page.refresh()
    assert page.banner.words.text() == "The worker has ended."
    assert page.cards == {}
    show_snapshot(page, worker, LENDING)
    assert list(page.cards) == ["cuda:0", "cpu"]


# --- several cards


def test_each_card_shows_its_run_or_why_it_has_none(
    page: HardwarePage, worker: ScriptedWorker
) -> None:
    show_snapshot(page, worker, SCENES["two-cards"])
    assert page.cards["cuda:0"].work.text() == "nova-350m: round 1,841 of 4,000"
    assert page.cards["cuda:1"].work.text().startswith("Waiting: Every open run that fits")
    assert page.cards["cpu"].work.isHidden()


def test_choices_about_a_card_are_kept_under_its_serial(
    page: HardwarePage, worker: ScriptedWorker, qtbot: QtBot
) -> None:
    show_snapshot(page, worker, SCENES["two-cards"])
    card = page.cards["cuda:1"]
    qtbot.mouseClick(card.spare, Qt.MouseButton.LeftButton)
    assert _chosen(worker) == (DeviceChoice(id="GPU-9b1e", while_used=True),)
    qtbot.mouseClick(card.switch, Qt.MouseButton.LeftButton)
    off = DeviceChoice(id="GPU-9b1e", use=False, while_used=True)
    assert _chosen(worker) == (off,)
    qtbot.mouseClick(page.toast.button, Qt.MouseButton.LeftButton)
    assert _chosen(worker) == (replace(off, use=True),)


def test_a_run_is_chosen_for_a_card_where_there_are_several(
    page: HardwarePage, worker: ScriptedWorker
) -> None:
    worker.replies[AskRuns] = RUNS
    show_snapshot(page, worker, LENDING)
    assert page.cards["cuda:0"].run_row.isHidden(), "one device is lent: Runs is the place"
    show_snapshot(page, worker, SCENES["two-cards"])
    card, run = page.cards["cuda:1"], next(one for one in RUNS.rows if one.is_open)
    assert card.run.findData(run.run) > 0
    card.run.chosen.emit(run.run)
    assert _chosen(worker) == (DeviceChoice(id="GPU-9b1e", run=run.run),)
    page.refresh()
    assert card.run.selected == run.run


@pytest.mark.parametrize(
    ("listed", "words"),
    [
        (None, "Not known yet"),
        (RUNS, "nova-350m"),
        (RunsReply(rows=(), unread=(NOVA.run,)), "Not readable now"),
        (RunsReply(rows=()), "No longer open"),
    ],
)
def test_a_run_chosen_for_the_only_card_is_named_as_far_as_it_is_known(
    listed: RunsReply | None, words: str, page: HardwarePage, worker: ScriptedWorker
) -> None:
    worker.replies.pop(AskRuns, None)
    if listed is not None:
        worker.replies[AskRuns] = listed
    chosen = replace(AGREED, devices=(DeviceChoice(id=CARD.key, run=NOVA.run),))
    show_snapshot(page, worker, replace(LENDING, preferences=chosen))
    card = page.cards["cuda:0"]
    assert not card.run_row.isHidden()
    assert card.run.currentText() == words


# --- measuring


def test_a_device_is_measured_while_nothing_is_lent(
    page: HardwarePage, worker: ScriptedWorker, qtbot: QtBot
) -> None:
    show_snapshot(page, worker, PAUSED)
    row = page.cards["cuda:0"].benchmark
    qtbot.mouseClick(row.button, Qt.MouseButton.LeftButton)
    asked = worker.last(control.AskQuestion)
    assert isinstance(asked, control.AskQuestion)
    assert asked.question == AskBenchmark(device="cuda:0")
    assert row.button.text() == "Measuring"
    assert not row.button.isEnabled()
    reply = BenchmarkReply(device="cuda:0", tokens_per_s=12_345.6, watts=170.0, memory_mb=3_277)
    worker.send(control.QuestionAnswer(id=asked.id, reply=reply))
    assert row.note.text() == "12,346 tokens per second, 170 W, 3.2 GB of memory."
    assert row.button.text() == "Measure again"


def test_a_measurement_that_fails_says_why_and_can_be_tried_again(
    page: HardwarePage, worker: ScriptedWorker, qtbot: QtBot
) -> None:
    worker.replies[AskBenchmark] = "cuda:0 could not be measured: out of memory"
    show_snapshot(page, worker, PAUSED)
    row = page.cards["cuda:0"].benchmark
    qtbot.mouseClick(row.button, Qt.MouseButton.LeftButton)
    assert row.note.text() == "Not measured: cuda:0 could not be measured: out of memory."
    assert row.button.isEnabled()
    assert page.cards["cpu"].benchmark.note.text().startswith("Trains a small model")


@pytest.mark.parametrize(
    "snapshot",
    [LENDING, replace(PAUSED, trainers=(TrainerView(device="cuda:0", state="stopping"),))],
)
def test_beside_lending_nothing_is_measured(
    page: HardwarePage, worker: ScriptedWorker, snapshot: Snapshot
) -> None:
    show_snapshot(page, worker, snapshot)
    row = page.cards["cuda:0"].benchmark
    assert not row.button.isEnabled()
    assert row.note.text() == "Switch the device off first to get a meaningful result."


# --- an audit of our work with figures near a limit


def test_an_audit_near_a_limit_offers_to_measure_the_device(
    page: HardwarePage, worker: ScriptedWorker, qtbot: QtBot
) -> None:
    show_snapshot(page, worker, PAUSED)
    assert page.audit.isHidden()
    warned = SCENES["audit-warned"]
    show_snapshot(page, worker, warned)
    assert "your work of round 1,836" in page.audit.words.text()
    assert page.audit.button.text() == "Measure again"
    qtbot.mouseClick(page.audit.button, Qt.MouseButton.LeftButton)
    asked = worker.last(control.AskQuestion)
    assert isinstance(asked, control.AskQuestion)
    assert asked.question == AskBenchmark(device="cuda:0")
    reply = BenchmarkReply(device="cuda:0", tokens_per_s=12_345.6)
    worker.send(control.QuestionAnswer(id=asked.id, reply=reply))
    show_snapshot(page, worker, warned)
    assert page.audit.isHidden(), "it was measured"
    show_snapshot(page, worker, replace(warned, audits=AuditsView(warned_round=1_840)))
    assert not page.audit.isHidden(), "another one"


def test_while_lending_the_notice_offers_to_pause_first(
    page: HardwarePage, worker: ScriptedWorker, qtbot: QtBot
) -> None:
    show_snapshot(page, worker, replace(LENDING, audits=AuditsView(warned_round=7)))
    assert page.audit.button.text() == "Pause to measure"
    qtbot.mouseClick(page.audit.button, Qt.MouseButton.LeftButton)
    assert not page.model.desired.lend


# --- what stops lending


def test_the_limit_that_stops_lending_is_named(page: HardwarePage, worker: ScriptedWorker) -> None:
    hot = idle(LendingState.WAITING, LendingReason.HOT, device=CARD.name, degrees=86, limit=80)
    measured = replace(hot.machine, cpu_temperature_c=50.0)
    show_snapshot(page, worker, replace(hot, machine=measured))
    chip = _limit(page.cards["cuda:0"], "temperature").chip
    assert not chip.isHidden()
    assert "86 °C" in chip.toolTip()
    assert _limit(page.cards["cpu"], "temperature").chip.isHidden()
    show_snapshot(page, worker, replace(LENDING, machine=measured))
    assert chip.isHidden()


def test_a_limit_whose_reading_is_lost_stays_with_its_mark_and_the_keyboard(
    page: HardwarePage, worker: ScriptedWorker
) -> None:
    hot = idle(LendingState.WAITING, LendingReason.HOT, device=CARD.name, degrees=86, limit=80)
    show_snapshot(page, worker, hot)
    limit = _limit(page.cards["cuda:0"], "temperature")
    _slider(limit).setFocus()
    silent = replace(hot.machine, gpus=(replace(CARD, temperature_c=None),))
    show_snapshot(page, worker, replace(hot, machine=silent))
    assert _limit(page.cards["cuda:0"], "temperature") is limit
    assert not limit.chip.isHidden()
    assert page.focusWidget() is _slider(limit)


def test_a_limit_whose_reading_was_lost_before_the_page_was_opened_has_its_mark(
    page: HardwarePage, worker: ScriptedWorker
) -> None:
    hot = idle(LendingState.WAITING, LendingReason.HOT, device=CARD.name, degrees=80, limit=80)
    silent = replace(hot.machine, gpus=(replace(CARD, temperature_c=None),))
    show_snapshot(page, worker, replace(hot, machine=silent))
    assert not _limit(page.cards["cuda:0"], "temperature").chip.isHidden()
    assert page.cards["cpu"].limits.temperature is None


def test_that_nothing_is_switched_on_is_named(page: HardwarePage, worker: ScriptedWorker) -> None:
    show_snapshot(page, worker, idle(LendingState.ATTENTION, LendingReason.NO_DEVICE))
    assert not page.cards["cuda:0"].stops.isHidden()


def _with_machine(machine: MachineFacts) -> Snapshot:
    return replace(LENDING, machine=machine)


def _chosen(worker: ScriptedWorker) -> tuple[DeviceChoice, ...]:
    """The devices that were chosen last; everything else must be as it was."""
    sent = worker.last(control.SetPreferences)
    assert isinstance(sent, control.SetPreferences)
    assert replace(sent.preferences, devices=()) == AGREED
    return sent.preferences.devices


def _limit(card: DeviceCard, name: str) -> LimitSlider:
    found: LimitSlider | None = getattr(card.limits, name)
    assert found is not None
    return found


def _slider(limit: LimitSlider) -> QSlider:
    found = limit.slider.findChild(QSlider)
    assert isinstance(found, QSlider)
    return found
