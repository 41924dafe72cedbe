"""Settings, Privacy says of everything that a volunteer's worker can sign that it is sent."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tequio_client.app.pages.settings import SettingsPage
from tequio_client.app.window import AppWindow
from tequio_shared.network.genesis import COORDINATOR_BODIES, ORGANISER_BODIES
from tequio_shared.statements.network import MemberVouch
from tequio_shared.statements.statement import BODIES
from tests.support.app_scenes import NOW_MS

if TYPE_CHECKING:
    from pytestqt.qtbot import QtBot

    from tequio_client.app.language import Language
    from tequio_client.app.model import AppModel
    from tequio_client.app.theme.look import Theme

SAID = {
    "key.register": {"ledger-key"},
    "key.recovery": {"ledger-keys"},
    "key.replace": {"ledger-keys"},
    "key.revoke": {"ledger-keys"},
    "member.ready": {"ledger-ready"},
    "member.leave": {"ledger-leave"},
    "head.attest": {"ledger-head"},
    "work.commit": {"ledger-work"},
    "witness.proof": {"ledger-witness"},
    "audit.report": {"ledger-audit"},
    "head.measure": {"ledger-measure"},
    "fault.report": {"ledger-fault"},
    "standing.appeal": {"ledger-fault", "operator-appeal"},
    "member.name": {"ledger-commands"},
    "member.team": {"ledger-commands"},
    "team.define": {"ledger-commands"},
    "team.member": {"ledger-commands"},
    "comp.enter": {"ledger-commands"},
    "comp.submit": {"ledger-commands"},
    "comp.reveal": {"ledger-commands"},
    "comp.challenge": {"ledger-commands"},
    "eval.offer": {"ledger-judging"},
    "eval.lot": {"ledger-judging"},
    "eval.commit": {"ledger-judging"},
    "eval.result": {"ledger-judging"},
}
"""Rows about a statement, by the statement's type."""


def test_every_statement_of_a_volunteer_is_told(
    model: AppModel, theme: Theme, language: Language, qtbot: QtBot
) -> None:
    window = AppWindow(model, theme, lambda: NOW_MS)
    qtbot.addWidget(window)
    window.open_page("settings")
    page = window.page
    assert isinstance(page, SettingsPage)
    others = {*COORDINATOR_BODIES, *ORGANISER_BODIES, MemberVouch}  # the last is said by connectors
    assert SAID.keys() == {kind for (kind, _), body in BODIES.items() if body not in others}
    assert set.union(*SAID.values()) <= page.section_of("privacy").rows.keys()
