"""The settings about the key's account: what they offer in which situation."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from msgspec import structs
from PySide6.QtCore import Qt

from tequio_client.app.keys.account import NameDialog
from tequio_client.app.keys.team import TeamDialog
from tequio_client.app.pages.settings import SettingsPage
from tequio_client.app.pages.settings_account import AccountControl
from tequio_client.app.pages.settings_control import StandingChip
from tequio_client.app.window import AppWindow
from tequio_client.ipc.account import AccountReply, AskAccount, AskTeam, RequestName, TeamReply
from tequio_client.ipc.control import AskQuestion
from tests.support.app_language import LONG, speak
from tests.support.app_worker_answers import ACCOUNT, QUARANTINED
from tests.support.first_run_pictures import NEW, first_run_setup
from tests.support.window_contents import is_cut, labels

if TYPE_CHECKING:
    from collections.abc import Iterator

    from PySide6.QtWidgets import QApplication
    from pytestqt.qtbot import QtBot

    from tequio_client.app.language import Language
    from tequio_client.app.theme.look import Theme
    from tests.support.first_run_pictures import FirstRunSetup

pytestmark = pytest.mark.usefixtures("language")
NARROWEST = 554
"""The width of a page in the smallest window, in pixels."""


@pytest.fixture
def made(qapp: QApplication, theme: Theme) -> Iterator[FirstRunSetup]:
    with first_run_setup(qapp, theme) as one:
        one.make_key()
        yield one
        one.desk.close()


def page_with(made: FirstRunSetup, qtbot: QtBot, reply: AccountReply) -> SettingsPage:
    made.worker.replies[AskAccount] = reply
    made.worker.send_snapshot(NEW)
    page = SettingsPage(made.page_context())
    qtbot.addWidget(page)
    page.open_section("account")
    page.refresh()
    page.refresh()
    return page


def section(made: FirstRunSetup, qtbot: QtBot, reply: AccountReply) -> dict[str, AccountControl]:
    controls = page_with(made, qtbot, reply).section_of("account").controls
    names = ("name", "team", "appeal", "recovery", "replace-key", "lost-key")
    found = {name: controls[name] for name in names}
    assert all(isinstance(one, AccountControl) for one in found.values())
    return found  # type: ignore[return-value]  # as just asserted


def enabled(controls: dict[str, AccountControl]) -> set[str]:
    return {name for name, one in controls.items() if one.button.isEnabled()}


@pytest.mark.parametrize(
    ("standing", "chip", "note"),
    [
        ("", "Not known yet", "Shown once"),
        ("newcomer", "New", "Ten accepted contributions"),
        ("active", "Good", ""),
        ("suspected", "Changed", "Activity explains"),
        ("probation", "Changed", "Activity explains"),
        ("quarantined", "Excluded", "(committed to bytes that break a rule)"),
        ("banned", "Excluded", "(committed to bytes that break a rule)"),
        ("revoked", "Ended", "Log entry 9120"),
        ("replaced", "Ended", "Log entry 9120"),
    ],
)
def test_the_keys_standing_is_named(
    made: FirstRunSetup, qtbot: QtBot, standing: str, chip: str, note: str
) -> None:
    page = page_with(made, qtbot, structs.replace(QUARANTINED, standing=standing))
    shown = page.section_of("account").controls["standing"]
    assert isinstance(shown, StandingChip)
    assert shown.chip.text == chip
    assert note in page.section_of("account").rows["standing"].note.text()


def test_a_key_in_good_standing_has_nothing_to_appeal(made: FirstRunSetup, qtbot: QtBot) -> None:
    controls = section(made, qtbot, ACCOUNT)
    assert enabled(controls) == {"name", "team", "recovery", "replace-key", "lost-key"}
    assert controls["recovery"].chip.text == "None yet"


def test_a_quarantined_key_can_appeal_once(made: FirstRunSetup, qtbot: QtBot) -> None:
    controls = section(made, qtbot, QUARANTINED)
    assert "appeal" in enabled(controls)
    assert controls["recovery"].chip.text == "Set"


@pytest.mark.parametrize("standing", ["quarantined", "probation", "active"])
def test_an_open_appeal_is_named(made: FirstRunSetup, qtbot: QtBot, standing: str) -> None:
    reply = structs.replace(QUARANTINED, standing=standing, appeal=9_321)
    controls = section(made, qtbot, reply)
    assert "appeal" not in enabled(controls)
    controls["appeal"].note_changed.connect(lambda words, _: said.append(words))
    said: list[str] = []
    controls["appeal"].refresh(NEW)
    assert said == ["Your appeal is in log entry 9321 and waits for the organisers."]


def test_a_key_that_is_not_registered_offers_nothing(made: FirstRunSetup, qtbot: QtBot) -> None:
    assert enabled(section(made, qtbot, AccountReply(key=ACCOUNT.key))) == set()


def test_a_new_key_learns_when_it_can_have_a_name(made: FirstRunSetup, qtbot: QtBot) -> None:
    controls = section(made, qtbot, AccountReply(key=ACCOUNT.key, standing="newcomer"))
    assert "name" not in enabled(controls)
    said: list[str] = []
    controls["name"].note_changed.connect(lambda words, _: said.append(words))
    controls["name"].refresh(NEW)
    assert said == ["You can choose a name once a round has accepted your work."]


@pytest.mark.parametrize("spoken", LONG)
def test_longer_texts_have_their_room(
    made: FirstRunSetup, qtbot: QtBot, qapp: QApplication, language: Language, spoken: str
) -> None:
    speak(language, spoken)
    made.worker.replies[AskAccount] = QUARANTINED
    made.worker.send_snapshot(NEW)
    page = SettingsPage(made.page_context())
    qtbot.addWidget(page)
    page.open_section("account")
    page.show()
    for width in (NARROWEST, 900):
        page.resize(width, 700)
        for _ in range(3):
            page.refresh()
            qapp.processEvents()
        content = page.widget()
        assert content is not None
        assert content.width() <= page.viewport().width(), width
        assert [label.text() for label in labels(page) if is_cut(label)] == [], width


def test_a_dialog_gives_the_focus_back_to_the_button_that_opened_it(
    made: FirstRunSetup, qtbot: QtBot, theme: Theme
) -> None:
    made.worker.replies[AskAccount] = made.worker.replies[RequestName] = ACCOUNT
    context = made.page_context()
    window = AppWindow(made.model, theme, context.now_ms, own=context.program)
    qtbot.addWidget(window)
    window.show()
    made.worker.send_snapshot(NEW)
    window.open_page("settings")
    assert isinstance(window.page, SettingsPage)
    window.page.open_section("account")
    window.page.refresh()
    control = window.page.section_of("account").controls["name"]
    assert isinstance(control, AccountControl)
    qtbot.mouseClick(control.button, Qt.MouseButton.LeftButton)
    assert isinstance(control.dialog, NameDialog)
    dialog = control.dialog
    qtbot.keyClicks(dialog.line, "Ana")
    qtbot.keyClick(dialog.line, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: dialog.result() == dialog.DialogCode.Accepted)
    assert window.focusWidget() is control.button


def test_a_name_is_asked_for_and_shown(made: FirstRunSetup, qtbot: QtBot) -> None:
    control = section(made, qtbot, ACCOUNT)["name"]
    control.button.click()
    dialog = control.dialog
    assert isinstance(dialog, NameDialog)
    assert not dialog.main.isEnabled()
    for text, is_possible in (("a", False), ("Ana!", False), ("Ana \u0416", False), ("Ana", True)):
        dialog.line.setText(text)
        assert dialog.main.isEnabled() is is_possible, text
    dialog.line.setText("\u1106\u1175\u11ab" * 32)
    assert dialog.name == "\ubbfc" * 32
    dialog.line.setText("  Ana   Sofi\u0301a ")
    made.worker.replies[RequestName] = structs.replace(ACCOUNT, name="Ana Sof\u00eda")
    made.worker.replies[AskAccount] = made.worker.replies[RequestName]
    dialog.main.click()
    qtbot.waitUntil(lambda: dialog.result() == dialog.DialogCode.Accepted)
    assert RequestName(name="Ana Sof\u00eda") in [
        one.question for one in made.worker.received if isinstance(one, AskQuestion)
    ]
    control.refresh(NEW)
    assert (control.chip.text, control.button.text()) == ("Ana Sof\u00eda", "Change\u2026")


def test_a_team_is_named_and_opened(made: FirstRunSetup, qtbot: QtBot) -> None:
    made.worker.replies[AskTeam] = TeamReply()
    control = section(made, qtbot, ACCOUNT)["team"]
    assert (control.chip.isHidden(), control.button.text()) == (True, "Join or found\u2026")
    for name, shown in (("Milpa", "Milpa"), ("", "Team 1204")):
        account = structs.replace(ACCOUNT, team=1_204, team_name=name)
        control = section(made, qtbot, account)["team"]
        assert (control.chip.text, control.button.text()) == (shown, "Open\u2026")
    control.button.click()
    assert isinstance(control.dialog, TeamDialog)
