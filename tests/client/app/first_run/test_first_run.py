"""The first run, from the first look to lending: by mouse and keyboard, with a scripted worker."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from keyring.backends import fail
from msgspec.structs import replace
from PySide6.QtCore import QLocale, Qt
from PySide6.QtWidgets import QAbstractButton, QApplication, QLineEdit, QSlider, QWidget

from tequio_client.app.first_run.checks import CheckStep, verdicts
from tequio_client.app.first_run.draft import (
    DRAFT_FILE,
    STEPS,
    WORKER_PREFERENCES_FILE,
    DraftStore,
    FirstRunDraft,
    has_lent,
    is_first_run,
)
from tequio_client.app.first_run.first_run import FirstRun, FirstRunController
from tequio_client.app.first_run.run_steps import AUTOMATIC_RUN, ReadyStep, RunStep
from tequio_client.app.first_run.setup_steps import KeyStep, ScheduleStep
from tequio_client.app.first_run.welcome import WelcomeStep
from tequio_client.app.window import AppWindow
from tequio_client.ipc import control
from tequio_client.ipc.facts import MachineFacts
from tequio_client.ipc.preferences import DeviceChoice, LendingPreset, Preferences
from tequio_client.ipc.runs import AskRuns, RunsReply
from tequio_client.keys.backup import to_words
from tequio_client.keys.state import KeyProtection
from tests.support.app_language import LONG, MIRRORED, PseudoLocale, pseudo, speak, speak_both_ways
from tests.support.app_scenes import AGREED, NEW, NOW_MS
from tests.support.app_worker_answers import SMALL
from tests.support.first_run_pictures import NO_CARD, PICTURES, SEED, FirstRunSetup, first_run_setup
from tests.support.memory_keyring import ScriptedKeyring, keyring_of
from tests.support.window_contents import PaintedPart, is_cut, labels, not_mirrored, painted_parts

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from PySide6.QtWidgets import QApplication
    from pytestqt.qtbot import QtBot

    from tequio_client.app.language import Language
    from tequio_client.app.theme.look import Theme


pytestmark = pytest.mark.usefixtures("theme", "language")
LEFT = Qt.MouseButton.LeftButton


@pytest.fixture
def place(qapp: QApplication, theme: Theme) -> Iterator[FirstRunSetup]:
    with keyring_of(ScriptedKeyring()), first_run_setup(qapp, theme) as made:
        yield made
        made.desk.close()


@pytest.fixture
def shown(place: FirstRunSetup, qtbot: QtBot) -> FirstRun:
    made = place.first_run("welcome")
    qtbot.addWidget(made)
    return made


def go_on(shown: FirstRun, qtbot: QtBot) -> None:
    qtbot.mouseClick(shown.next, LEFT)


def make_key(shown: FirstRun, qtbot: QtBot) -> None:
    step = shown.step
    assert isinstance(step, KeyStep)
    qtbot.mouseClick(step.making.make, LEFT)
    qtbot.waitUntil(shown.next.isEnabled, timeout=90_000)


def agree(shown: FirstRun, qtbot: QtBot) -> None:
    step = shown.step
    assert isinstance(step, ScheduleStep)
    qtbot.mouseClick(step.presets.cards[LendingPreset.GENTLE], LEFT)
    assert not shown.next.isEnabled()
    step.consent.box.click()


def chosen(place: FirstRunSetup) -> list[control.ToWorker]:
    kinds = (control.SetPreferences, control.SetDesiredState)
    return [one for one in place.worker.received if isinstance(one, kinds)]


def test_six_steps_lead_to_lending_and_nothing_is_lent_before(
    place: FirstRunSetup, shown: FirstRun, qtbot: QtBot
) -> None:
    go_on(shown, qtbot)
    go_on(shown, qtbot)
    assert not shown.next.isEnabled()
    make_key(shown, qtbot)
    go_on(shown, qtbot)
    agree(shown, qtbot)
    go_on(shown, qtbot)
    step = shown.step
    assert isinstance(step, RunStep)
    first = next(run for run in step.rows if run != AUTOMATIC_RUN)
    qtbot.mouseClick(step.rows[first], LEFT)
    go_on(shown, qtbot)
    assert shown.step_name == STEPS[-1]
    assert chosen(place) == []
    assert not place.entry.is_on()
    with qtbot.waitSignal(shown.finished):
        go_on(shown, qtbot)
    choose, want = chosen(place)
    assert isinstance(choose, control.SetPreferences)
    assert isinstance(want, control.SetDesiredState)
    assert (choose.preferences.consent, choose.preferences.preset) == (True, LendingPreset.GENTLE)
    assert (choose.preferences.idle_minutes, choose.preferences.run) == (15, first)
    assert want.wish.lend
    assert place.entry.is_on()
    assert not (place.folder / DRAFT_FILE).exists()


def test_the_keyboard_alone_leads_through(
    place: FirstRunSetup, shown: FirstRun, qtbot: QtBot
) -> None:
    to_front(shown, qtbot)
    for _ in range(2):
        shown.next.setFocus()
        qtbot.keyClick(shown.next, Qt.Key.Key_Space)
    press(shown, qtbot, "Make my key")
    qtbot.waitUntil(shown.next.isEnabled, timeout=90_000)
    press(shown, qtbot, "Next")
    press(shown, qtbot, "I agree")
    press(shown, qtbot, "Next")
    press(shown, qtbot, "Next")
    with qtbot.waitSignal(shown.finished):
        press(shown, qtbot, "Contribute")
    assert place.model.preferences.consent


def test_two_blind_presses_of_space_never_end_the_first_run(
    place: FirstRunSetup, qtbot: QtBot
) -> None:
    with keyring_of(fail.Keyring()):  # type: ignore[no-untyped-call]  # the library's
        for name in STEPS[:-1]:
            shown = place.first_run(name)
            qtbot.addWidget(shown)
            to_front(shown, qtbot)
            with qtbot.assertNotEmitted(shown.left), qtbot.assertNotEmitted(shown.finished):
                for _ in range(2):
                    focus = QApplication.focusWidget()
                    assert focus is not None
                    assert focus is not shown.leave, name
                    qtbot.keyClick(focus, Qt.Key.Key_Space)
            assert not place.book.draft.is_agreed
            shown.hide()
        shown = place.first_run("welcome")
        qtbot.addWidget(shown)
        to_front(shown, qtbot)
        qtbot.keyClick(shown, Qt.Key.Key_Escape)
        dialog = shown.dialog
        assert dialog is not None
        with qtbot.assertNotEmitted(shown.left):
            qtbot.keyClick(dialog, Qt.Key.Key_Return)


def test_without_a_keyring_every_way_to_store_the_key_is_reached_by_the_keyboard(
    place: FirstRunSetup, qtbot: QtBot
) -> None:
    with keyring_of(fail.Keyring()):  # type: ignore[no-untyped-call]  # the library's
        shown = place.first_run("key")
        qtbot.addWidget(shown)
        step = shown.step
        assert isinstance(step, KeyStep)
        qtbot.waitUntil(lambda: not step.making.trouble.isHidden(), timeout=90_000)
        to_front(shown, qtbot)
        press(shown, qtbot, "Under a passphrase")
        qtbot.keyClick(step.making.protection.checked_row, Qt.Key.Key_Down)
        assert step.making.protection.choice is KeyProtection.OPEN
        press(shown, qtbot, "Make my key")
        qtbot.waitUntil(shown.next.isEnabled, timeout=90_000)


def test_a_network_is_chosen_before_the_run(place: FirstRunSetup, qtbot: QtBot) -> None:
    place.ledger = ""
    place.worker.replies[AskRuns] = "no network was chosen yet"
    shown = place.first_run("check")
    qtbot.addWidget(shown)
    step = shown.step
    assert isinstance(step, CheckStep)
    qtbot.waitUntil(step.again.isEnabled, timeout=90_000)
    assert step.rows[-1].text.text() == "You choose the network in step 5."
    shown.close()
    shown = place.first_run("run")
    qtbot.addWidget(shown)
    run = shown.step
    assert isinstance(run, RunStep)
    assert run.network.chooser.isVisible()
    assert not run.away.isVisible()
    run.network.chooser.chosen.emit("https://ledger.example", "first light")
    assert place.ledger == "https://ledger.example"
    run.refresh()
    assert not run.network.chooser.isVisible()
    assert run.network.change.isVisible()


def test_an_invitation_is_kept_through_the_steps(place: FirstRunSetup, qtbot: QtBot) -> None:
    place.book.change(invitation="tequio://join?x", invited_to="first light")
    shown = place.first_run("welcome")
    qtbot.addWidget(shown)
    assert "first light" in shown.invited.words.text()
    assert "Step 3" in shown.invited.words.text()
    assert shown.invited.button.isHidden()
    place.make_key()
    assert shown.invited.button.text() == "Join"
    place.book.change(invitation="")
    shown.back.click()
    shown.next.click()
    assert shown.invited.isHidden()


def to_front(shown: QWidget, qtbot: QtBot) -> None:
    """Have the keyboard."""
    shown.hide()
    shown.setAttribute(Qt.WidgetAttribute.WA_DontShowOnScreen, on=False)
    shown.show()
    shown.activateWindow()
    qtbot.waitUntil(shown.isActiveWindow)


def press(shown: FirstRun, qtbot: QtBot, name: str) -> None:
    """Go there by Tab, and press Space."""
    for _ in range(40):
        focus = shown.window().focusWidget()
        if name_of(focus) == name:
            qtbot.keyClick(focus, Qt.Key.Key_Space)
            return
        qtbot.keyClick(focus, Qt.Key.Key_Tab)
    raise AssertionError(f"the keyboard does not come to {name}")


def name_of(widget: QWidget) -> str:
    text = widget.text() if isinstance(widget, QAbstractButton) else ""
    return widget.accessibleName() or text


def test_it_goes_back_and_keeps_what_was_chosen(
    place: FirstRunSetup, shown: FirstRun, qtbot: QtBot
) -> None:
    step = shown.step
    assert isinstance(step, WelcomeStep)
    step.cost.hours.chosen.emit(12)
    go_on(shown, qtbot)
    qtbot.mouseClick(shown.back, LEFT)
    assert shown.step_name == "welcome"
    assert place.book.draft.hours == 12
    assert shown.back.isHidden()


@pytest.mark.parametrize("step", STEPS)
def test_a_restart_goes_on_at_the_same_step(place: FirstRunSetup, qtbot: QtBot, step: str) -> None:
    place.book.change(step=STEPS.index(step), preset=LendingPreset.MAX)
    place.book = DraftStore(place.folder)
    assert (place.folder / DRAFT_FILE).exists()
    made = place.first_run(step)
    qtbot.addWidget(made)
    assert made.step_name == step
    assert place.book.draft.preset is LendingPreset.MAX


@pytest.mark.parametrize("content", [b"", b"{", b'{"step": 99}', b"\xff"])
def test_a_damaged_draft_begins_at_the_beginning(tmp_path: Path, content: bytes) -> None:
    (tmp_path / DRAFT_FILE).write_bytes(content)
    assert DraftStore(tmp_path).draft == FirstRunDraft()


def test_escape_asks_before_it_leaves(place: FirstRunSetup, shown: FirstRun, qtbot: QtBot) -> None:
    to_front(shown, qtbot)
    qtbot.keyClick(shown, Qt.Key.Key_Escape)
    assert shown.dialog is not None
    shown.dialog.leave.click()
    assert shown.isVisible()
    shown.leave.click()
    with qtbot.waitSignal(shown.left):
        shown.dialog.main.click()
    assert chosen(place) == []


def test_the_check_says_what_is_there(place: FirstRunSetup, qtbot: QtBot) -> None:
    made = place.first_run("check")
    qtbot.addWidget(made)
    step = made.step
    assert isinstance(step, CheckStep)
    card, driver, disk, network = (row.text.text() for row in step.rows)
    assert card == "NVIDIA GeForce RTX 4070 with 12 GB, of which at most 9.6 GB are used."
    assert driver == "Version 570.124 can train."
    assert "GB are free" in disk
    assert network == "The network answers, and 4 runs are open."


@pytest.mark.parametrize(
    ("free", "sentence"),
    [
        (24, "Only 24 GB are free and 25 are needed, of which 20 stay free: make room before "),
        (25, "25 GB are free. 20 stay free, so Tequio has 5 GB: some runs fit."),
        (50, "50 GB are free. Tequio takes 30 GB at most, and 20 stay free."),
    ],
)
def test_the_check_names_all_the_disk_that_is_needed(free: int, sentence: str) -> None:
    found = verdicts(MachineFacts(), Preferences(), free << 30, 1, is_refused=False, is_over=True)
    assert found[2].sentence().startswith(sentence)


def test_what_does_not_answer_in_time_is_unknown_and_no_hindrance(
    place: FirstRunSetup, qtbot: QtBot
) -> None:
    place.worker.replies.clear()
    made = place.first_run("check", None, check_timeout_ms=50)
    qtbot.addWidget(made)
    step = made.step
    assert isinstance(step, CheckStep)
    assert step.rows[0].text.text() == "Looking…"
    qtbot.waitUntil(step.again.isEnabled, timeout=90_000)
    assert "has not answered" in step.rows[0].text.text()
    assert "does not answer" in step.rows[3].text.text()
    assert made.next.isEnabled()


@pytest.mark.parametrize("role", ["witness", "trainer", "auto"])
def test_a_computer_without_a_card_is_offered_another_part(
    place: FirstRunSetup, qtbot: QtBot, role: str
) -> None:
    made = place.first_run("check", NO_CARD)
    qtbot.addWidget(made)
    step = made.step
    assert isinstance(step, CheckStep)
    assert step.role.isVisible()
    if role != "witness":
        qtbot.mouseClick(step.role.choices.cards[role], LEFT)
    place.make_key()
    place.book.change(step=len(STEPS) - 1, is_agreed=True)
    last = place.first_run("ready", NO_CARD)
    qtbot.addWidget(last)
    last.next.click()
    assert place.model.preferences.devices == (DeviceChoice(id="cpu", role=role),)


@pytest.mark.usefixtures("shown")
def test_cost_follows_card_hours_and_tariff(place: FirstRunSetup, shown: FirstRun) -> None:
    step = shown.step
    assert isinstance(step, WelcomeStep)
    assert costs(step) == ["120 – 200 W", "22 – 36 kWh", "$3.94 – $6.57"]
    step.cost.hours.chosen.emit(12)
    step.cost.tariff.setValue(0.5)
    assert costs(step) == ["120 – 200 W", "44 – 73 kWh", "$21.89 – $36.48"]
    step.cost.tariff.setValue(0.0)
    assert costs(step)[2] == "–"
    place.worker.send_snapshot(NO_CARD)
    assert costs(step)[0] == "35 – 150 W"


def costs(step: WelcomeStep) -> list[str]:
    """Power, energy and money, as shown."""
    return [one.figure.text() for one in (step.cost.power, step.cost.energy, step.cost.money)]


@pytest.mark.parametrize("how", [KeyProtection.PASSPHRASE, KeyProtection.OPEN])
def test_without_a_keyring_a_key_is_made_as_chosen(
    place: FirstRunSetup, qtbot: QtBot, how: KeyProtection
) -> None:
    made = PICTURES_BY_NAME["key_no_keyring"](place)
    qtbot.addWidget(made)
    step = made.step  # type: ignore[attr-defined]  # it is the first run
    assert isinstance(step, KeyStep)
    making = step.making
    assert making.protection.choice is KeyProtection.PASSPHRASE
    assert not making.make.isEnabled()
    if how is KeyProtection.PASSPHRASE:
        for line in (making.protection.passphrase.first, making.protection.passphrase.second):
            qtbot.keyClicks(line, "correct horse")
    else:
        making.protection.rows[KeyProtection.OPEN].click()
        assert not making.protection.warning.isHidden()
    making.make.click()
    qtbot.waitUntil(lambda: place.desk.state.protection is how, timeout=90_000)
    assert making.protection.passphrase.first.text() == ""
    assert place.desk.state.wants_backup


def test_a_locked_keyring_is_said_and_tried_again(place: FirstRunSetup, qtbot: QtBot) -> None:
    ring = ScriptedKeyring()
    with keyring_of(ring):
        made = place.first_run("key")
        qtbot.addWidget(made)
        step = made.step
        assert isinstance(step, KeyStep)
        ring.is_locked = True
        step.making.make.click()
        qtbot.waitUntil(lambda: not step.making.trouble.isHidden(), timeout=90_000)
        assert "keyring is locked" in step.making.trouble.words.text()
        assert not made.next.isEnabled()
        ring.is_locked = False
        step.making.make.click()
        qtbot.waitUntil(made.next.isEnabled, timeout=90_000)


def test_without_a_ledger_a_run_is_chosen_later(place: FirstRunSetup, qtbot: QtBot) -> None:
    place.worker.replies[AskRuns] = "the ledger is away"
    made = place.first_run("run")
    qtbot.addWidget(made)
    step = made.step
    assert isinstance(step, RunStep)
    assert step.away.isVisible()
    assert list(step.rows) == [AUTOMATIC_RUN]
    assert made.next.isEnabled()


def test_a_worker_that_starts_again_lists_the_runs_at_once(
    place: FirstRunSetup, qtbot: QtBot
) -> None:
    reply, place.worker.replies[AskRuns] = place.worker.replies[AskRuns], "the ledger is away"
    made = place.first_run("run")
    qtbot.addWidget(made)
    step = made.step
    assert isinstance(step, RunStep)
    place.worker.gone.emit("")
    assert not step.away.isVisible()
    place.worker.replies[AskRuns] = reply
    place.worker.send_snapshot(NEW)
    assert len(step.rows) > 1
    assert not step.away.isVisible()


def test_what_fits_is_said_as_soon_as_the_machine_is_known(
    place: FirstRunSetup, qtbot: QtBot
) -> None:
    made = place.first_run("run", replace(NO_CARD, machine=replace(NO_CARD.machine, gpus=None)))
    qtbot.addWidget(made)
    step = made.step
    assert isinstance(step, RunStep)
    assert step.rows[SMALL.run].accessibleName().startswith(f"{SMALL.name}: Not known yet.")
    place.worker.send_snapshot(NO_CARD)
    assert step.rows[SMALL.run].accessibleName().startswith(f"{SMALL.name}: Fits.")


def test_a_restart_at_the_last_step_still_knows_the_chosen_run(
    place: FirstRunSetup, qtbot: QtBot
) -> None:
    reply, place.worker.replies[AskRuns] = place.worker.replies[AskRuns], lambda _: None
    place.book.change(run=SMALL.run)
    made = place.first_run("ready")
    qtbot.addWidget(made)
    step = made.step
    assert isinstance(step, ReadyStep)
    assert step.chips[2].text == "Run: as chosen"
    assert "the run that you chose" in step.events[0].text.text()
    assert isinstance(reply, RunsReply)
    place.worker.answer_last(reply)
    place.worker.send_snapshot(NEW)
    assert step.chips[2].text == SMALL.name
    assert step.events[0].text.text().startswith(f"{SMALL.name}: ")


@pytest.fixture
def window(place: FirstRunSetup, theme: Theme, qtbot: QtBot) -> AppWindow:
    made = AppWindow(place.model, theme, lambda: NOW_MS, own=place.page_context().program)
    made.setAttribute(Qt.WidgetAttribute.WA_DontShowOnScreen)
    qtbot.addWidget(made)
    made.show()
    return made


@pytest.fixture
def guide(place: FirstRunSetup, window: AppWindow) -> FirstRunController:
    return FirstRunController(window, place.desk, place.folder / "worker", place.folder)


def covering(window: AppWindow) -> FirstRun:
    """The setup that covers the window."""
    (shown,) = window.findChildren(FirstRun)
    return shown


@pytest.mark.parametrize("role", ["trainer", "auto"])
def test_a_second_setup_begins_with_what_was_chosen_before(
    place: FirstRunSetup, window: AppWindow, guide: FirstRunController, qtbot: QtBot, role: str
) -> None:
    processor = DeviceChoice(id="cpu", role=role, threads=3)
    before = replace(
        AGREED, preset=LendingPreset.CUSTOM, idle_minutes=7, run=SMALL.run, devices=(processor,)
    )
    place.worker.send_snapshot(replace(NO_CARD, preferences=before))
    guide.open()
    made = covering(window)
    place.make_key()
    go_on(made, qtbot)
    step = made.step
    assert isinstance(step, CheckStep)
    assert [name for name, card in step.role.choices.cards.items() if card.isChecked()] == [role]
    go_on(made, qtbot)
    go_on(made, qtbot)
    step = made.step
    assert isinstance(step, ScheduleStep)
    assert not any(card.isChecked() for card in step.presets.cards.values())
    assert made.focusWidget() is step.consent.box
    assert not step.login.isChecked()
    step.consent.box.click()
    go_on(made, qtbot)
    go_on(made, qtbot)
    step = made.step
    assert isinstance(step, ReadyStep)
    assert not step.chips[0].isVisible()
    assert step.events[1].text.text().startswith("7 minutes after")
    go_on(made, qtbot)
    assert place.model.preferences == before
    assert not place.entry.is_on()


def test_a_second_setup_left_half_way_begins_again_with_what_was_chosen_since(
    place: FirstRunSetup, window: AppWindow, guide: FirstRunController
) -> None:
    place.worker.send_snapshot(replace(NEW, preferences=AGREED))
    guide.open()
    guide.draft_store.change(step=4, is_agreed=True, hours=12, invitation="x", invited_to="nova")
    since = replace(AGREED, preset=LendingPreset.MAX, run=SMALL.run)
    place.worker.send_snapshot(replace(NEW, preferences=since))
    guide.open()
    made = covering(window)
    assert made.step_name == "welcome"
    assert guide.draft_store.draft == FirstRunDraft(
        hours=12,
        preset=LendingPreset.MAX,
        starts_at_login=False,
        role="auto",
        run=SMALL.run,
        invitation="x",
        invited_to="nova",
    )
    made.leave.click()
    assert made.dialog is not None
    assert made.dialog.note.text() == "What you chose here is dropped, and lending stays as it was."


def test_a_window_built_again_keeps_what_a_second_setup_has_chosen(
    place: FirstRunSetup, window: AppWindow, guide: FirstRunController, qtbot: QtBot
) -> None:
    place.worker.send_snapshot(replace(NEW, preferences=AGREED))
    place.make_key()
    guide.open()
    made = covering(window)
    for _ in range(3):
        go_on(made, qtbot)
    agree(made, qtbot)
    for _ in range(3):
        made.back.click()
    window.rebuild()
    made = covering(window)
    assert made.step_name == "welcome"
    assert guide.draft_store.draft.preset is LendingPreset.GENTLE
    assert guide.draft_store.draft.is_agreed


def test_max_says_how_much_it_works_at_once(place: FirstRunSetup, qtbot: QtBot) -> None:
    place.book.change(preset=LendingPreset.MAX)
    made = place.first_run("ready")
    qtbot.addWidget(made)
    step = made.step
    assert isinstance(step, ReadyStep)
    assert step.events[1].text.text() == (
        "Immediately at 30% of the time, and fully 1 minute after your last input."
    )


def test_a_run_that_has_ended_is_not_chosen_any_more(place: FirstRunSetup, qtbot: QtBot) -> None:
    rows, place.worker.replies[AskRuns] = place.worker.replies[AskRuns], "the ledger is away"
    place.book.change(run="a run of last week")
    made = place.first_run("run")
    qtbot.addWidget(made)
    assert place.book.draft.run, "nobody knows yet that it has ended"
    place.worker.replies[AskRuns] = rows
    made.step.enter()
    made.step.refresh()
    assert place.book.draft.run == AUTOMATIC_RUN


def test_the_window_is_covered_and_shown_again(
    place: FirstRunSetup, window: AppWindow, guide: FirstRunController, qtbot: QtBot
) -> None:
    place.worker.send_snapshot(NEW)
    guide.open()
    qtbot.waitUntil(covering(window).isVisible)
    assert not window.page.isVisible()
    covering(window).leave.click()
    dialog = next(one for one in window.findChildren(QWidget) if one.objectName() == "leave")
    dialog.main.click()  # type: ignore[attr-defined]  # it is the dialog
    qtbot.waitUntil(window.page.isVisible)
    assert window.page_name == "home"


@pytest.mark.parametrize(
    ("files", "consent", "wanted"),
    [
        ((), None, True),
        ((), False, True),
        ((), True, False),
        (("identity.key",), None, False),
        (("identity.key", DRAFT_FILE), False, True),
        (("identity.key", DRAFT_FILE), True, False),
    ],
)
def test_it_is_wanted_until_somebody_agreed(
    tmp_path: Path, files: tuple[str, ...], consent: object, wanted: object
) -> None:
    for name in files:
        (tmp_path / name).write_bytes(b"")
    chosen = None if consent is None else Preferences(consent=bool(consent))
    assert is_first_run(tmp_path, tmp_path, chosen) is wanted


@pytest.mark.parametrize("stored", [None, b"{", b"{}", b'{"consent":true}'])
def test_a_key_that_is_gone_is_missed_only_where_something_was_lent(
    tmp_path: Path, stored: bytes | None
) -> None:
    if stored is not None:
        (tmp_path / WORKER_PREFERENCES_FILE).write_bytes(stored)
    assert has_lent(tmp_path, None) is (stored == b'{"consent":true}')
    assert has_lent(tmp_path, Preferences(consent=True))


PICTURES_BY_NAME: dict[str, Callable[[FirstRunSetup], QWidget]] = {
    one.__name__: one for one in PICTURES
}


@pytest.mark.parametrize("spoken", LONG)
@pytest.mark.parametrize("name", PICTURES_BY_NAME)
def test_every_step_is_whole_in_a_long_language(
    place: FirstRunSetup,
    language: Language,
    qtbot: QtBot,
    qapp: QApplication,
    name: str,
    spoken: str,
) -> None:
    speak(language, spoken)
    made = PICTURES_BY_NAME[name](place)
    qtbot.addWidget(made)
    for width in (760, 1120):
        made.resize(width, made.height())
        for _ in range(4):
            qapp.processEvents()
        assert [label.text() for label in labels(made) if is_cut(label)] == []


@pytest.mark.parametrize("name", PICTURES_BY_NAME)
def test_every_step_has_its_names_in_every_language(
    place: FirstRunSetup, language: Language, qtbot: QtBot, name: str
) -> None:
    language.apply(QLocale("en_US"), PseudoLocale())
    made = PICTURES_BY_NAME[name](place)
    qtbot.addWidget(made)
    kinds = (QAbstractButton, QLineEdit, QSlider)
    controls = [one for kind in kinds for one in made.findChildren(kind) if one.isVisible()]
    assert [one for one in controls if not name_of(one) and not inner(one)] == []
    texts = {one.text() for one in labels(made)}
    plain = {text for text in texts if sum(map(str.isalpha, text)) > 3 and "[" not in text}
    assert {text for text in plain if not text.startswith(KEPT_WORDS)} == set()


@pytest.mark.parametrize("spoken", MIRRORED)
@pytest.mark.parametrize("name", PICTURES_BY_NAME)
def test_right_to_left_every_step_is_its_mirror_image(
    theme: Theme, language: Language, qapp: QApplication, name: str, spoken: str
) -> None:
    usual: list[PaintedPart] = []
    for _ in speak_both_ways(language, spoken):
        with keyring_of(ScriptedKeyring()), first_run_setup(qapp, theme) as place:
            made = PICTURES_BY_NAME[name](place)
            for _ in range(4):
                qapp.processEvents()
            differ = not_mirrored(usual, made) if usual else []
            usual = painted_parts(made)
            place.desk.close()
            made.close()
    assert [pair for pair in differ if pair[0].name not in TYPED] == []


KEY_NAME = "Key of the lost computer"
TYPED = (f"QLineEdit {KEY_NAME}", f"QLineEdit {pseudo(KEY_NAME)}", "QTextEdit ", "QWidget ")
"""Parts for text that a user types or pastes, which has the direction of its own letters."""


KEPT_WORDS = ("Tequio", "A6EHv", "nova", "cuentos", "atlas", "lingua", "$", *to_words(SEED))
"""Texts that are the same in every language."""


def inner(widget: QWidget) -> bool:
    """True for a part of a Qt control; only the control itself needs an accessible name."""
    return widget.objectName().startswith("qt_")
