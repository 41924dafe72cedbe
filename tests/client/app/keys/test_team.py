"""The dialog of a team: what joining means comes before it, and owners alone lead."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from msgspec import structs
from PySide6.QtCore import QItemSelectionModel

from tequio_client.app.keys.account import KeyAccount
from tequio_client.app.keys.team import TeamDialog
from tequio_client.ipc.account import (
    AskAccount,
    AskTeam,
    RequestMembership,
    RequestTeam,
    RequestTeamMember,
    TeamReply,
)
from tequio_client.ipc.control import AskQuestion, Question
from tequio_client.ipc.points import RankRow
from tests.support.app_worker_answers import ACCOUNT
from tests.support.first_run_pictures import NEW, first_run_setup

if TYPE_CHECKING:
    from collections.abc import Iterator

    from PySide6.QtWidgets import QApplication
    from pytestqt.qtbot import QtBot

    from tequio_client.app.theme.look import Theme
    from tests.support.first_run_pictures import FirstRunSetup

pytestmark = pytest.mark.usefixtures("language")
CODE = f"1204-{ACCOUNT.key}"
LINK = (
    f"tequio://team?ledger=https://tequio.example&network={ACCOUNT.key}&id=1204&key={ACCOUNT.key}"
)
OTHER = "Zr4mXw7p" + "A" * 35
TEAM = TeamReply(
    team=1_204,
    name="Milpa",
    page="https://tequio.example/teams/1204",
    owner=OTHER,
    owner_name="Bruno",
    members=2,
    gflop=52_340_000,
    rows=(
        RankRow(rank=1, key=OTHER, name="Bruno", gflop=50_000_000),
        RankRow(rank=2, key="Kq9sPd2f" + "A" * 35, gflop=2_340_000),
    ),
)
MEMBER = structs.replace(
    TEAM,
    is_member=True,
    members=3,
    rows=(*TEAM.rows, RankRow(rank=3, key=ACCOUNT.key, name="Ana", gflop=0, is_ours=True)),
    goal=100_000_000,
    goal_until_ms=1_798_761_600_000,
    reached=52_340_000,
)
OWNER = structs.replace(
    MEMBER,
    is_ours=True,
    owner=ACCOUNT.key,
    owner_name="Ana",
    link=LINK,
    code=CODE,
    until_ms=1_798_761_600_000,
    most=50,
)


@pytest.fixture
def made(qapp: QApplication, theme: Theme) -> Iterator[FirstRunSetup]:
    with first_run_setup(qapp, theme) as one:
        one.make_key()
        one.worker.replies[AskAccount] = ACCOUNT
        one.worker.send_snapshot(NEW)
        yield one
        one.desk.close()


def opened(made: FirstRunSetup, qtbot: QtBot, now: TeamReply, link: str = "") -> TeamDialog:
    made.worker.replies[AskTeam] = now
    context = made.page_context()
    account = KeyAccount(context.model, lambda: 1_795_285_800_000, made.desk)
    account.poll()
    assert context.program is not None
    assert context.program.keys is not None
    dialog = TeamDialog(account, context.program.keys, None, link)
    qtbot.addWidget(dialog)
    dialog.show()
    return dialog


def asked(made: FirstRunSetup) -> list[Question]:
    return [one.question for one in made.worker.received if isinstance(one, AskQuestion)]


def test_a_link_is_shown_before_anything_is_joined(made: FirstRunSetup, qtbot: QtBot) -> None:
    dialog = opened(made, qtbot, TEAM, LINK)
    assert dialog.heading.text() == "Join the team \u201cMilpa\u201d?"
    for words in (
        "2 members; 5,234 points so far.",
        "The owner can remove you",
        "Everyone can see",
    ):
        assert words in dialog.offer.text()
    assert not any(isinstance(one, RequestMembership) for one in asked(made))
    made.worker.replies[RequestMembership] = MEMBER
    dialog.main.click()
    assert RequestMembership(link=LINK) in asked(made)
    assert dialog.pane is dialog.own
    assert dialog.main.isHidden()


def test_a_member_of_another_team_is_told_to_leave_it_first(
    made: FirstRunSetup, qtbot: QtBot
) -> None:
    made.worker.replies[AskAccount] = structs.replace(ACCOUNT, team=9, team_name="Sierra")
    dialog = opened(made, qtbot, TEAM, LINK)
    assert "Leave it before you join this one" in dialog.offer.text()
    assert not dialog.main.isEnabled()


def test_a_pasted_code_is_looked_at_and_a_refusal_shown(made: FirstRunSetup, qtbot: QtBot) -> None:
    dialog = opened(made, qtbot, TeamReply())
    assert not dialog.main.isEnabled()
    dialog.entry.link.setText(f" {CODE} ")
    made.worker.replies[AskTeam] = "the network has no such team"
    dialog.main.click()
    assert asked(made)[-1] == AskTeam(link=CODE)
    assert not dialog.trouble.isHidden()
    assert dialog.main.isEnabled()


def test_a_team_is_founded_by_its_name(made: FirstRunSetup, qtbot: QtBot) -> None:
    dialog = opened(made, qtbot, TeamReply())
    dialog.entry.ways.select("name")
    dialog.entry.ways.chosen.emit("name")
    for text, is_possible in (("a", False), ("Milpa!", False), ("  Mi\u0301lpa  Alta ", True)):
        dialog.entry.name.setText(text)
        assert dialog.main.isEnabled() is is_possible, text
    made.worker.replies[RequestTeam] = OWNER
    dialog.main.click()
    assert RequestTeam(name="M\u00edlpa Alta") in asked(made)
    assert dialog.own.link.text == LINK
    assert dialog.own.code.text == CODE


def test_a_member_sees_goal_and_roster_and_cannot_lead(made: FirstRunSetup, qtbot: QtBot) -> None:
    dialog = opened(made, qtbot, MEMBER)
    assert dialog.own.leading.isHidden()
    assert "5,234 of 10,000 points by" in dialog.own.goal.text()
    # What is set again as it is must not move the day, which would begin the goal again.
    assert abs(dialog.own.goal_until_ms - 1_798_761_600_000) < 86_400_000
    assert dialog.own.bar.share == pytest.approx(0.5234)
    assert [row.name for row in dialog.own.roster.rows.rows] == ["Bruno", "", "Ana"]
    made.worker.replies[RequestMembership] = TeamReply()
    dialog.own.leave_team.click()
    assert RequestMembership() not in asked(made), "it asks first"
    assert dialog.question is not None
    dialog.question.main.click()
    assert RequestMembership() in asked(made)
    assert dialog.pane is dialog.entry


def test_an_owner_sets_a_goal_makes_links_and_removes_members(
    made: FirstRunSetup, qtbot: QtBot
) -> None:
    dialog = opened(made, qtbot, OWNER)
    made.worker.replies[RequestTeam] = made.worker.replies[RequestTeamMember] = OWNER
    dialog.own.points.setValue(25_000)
    dialog.own.set_goal.click()
    goal = RequestTeam(goal=250_000_000, goal_until_ms=dialog.own.goal_until_ms)
    dialog.own.new_link.click()
    dialog.own.close_link.click()
    assert asked(made)[-6:].count(goal) == 1
    assert {RequestTeam(days=30).days, 0} <= {
        one.days for one in asked(made) if isinstance(one, RequestTeam)
    }
    assert not dialog.own.remove.isEnabled()
    rows = dialog.own.roster.selectionModel()
    for at, is_other in ((2, False), (1, True)):
        which = QItemSelectionModel.SelectionFlag
        rows.select(dialog.own.roster.rows.index(at, 0), which.ClearAndSelect | which.Rows)
        assert dialog.own.remove.isEnabled() is is_other
    dialog.own.remove.click()
    assert dialog.question is not None
    dialog.question.main.click()
    assert RequestTeamMember(peer=TEAM.rows[1].key, to="removed") in asked(made)


def test_an_owner_without_a_name_is_asked_for_another(made: FirstRunSetup, qtbot: QtBot) -> None:
    dialog = opened(made, qtbot, structs.replace(OWNER, name=""))
    assert dialog.heading.text() == "Team 1204"
    assert not dialog.own.naming.isHidden()
    made.worker.replies[RequestTeam] = OWNER
    dialog.own.name.setText(" Mi\u0301lpa ")
    dialog.own.rename.click()
    assert RequestTeam(name="M\u00edlpa") in asked(made)
    assert dialog.own.naming.isHidden()
