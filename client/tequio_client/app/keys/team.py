"""The dialog of the key's team: found one, join by a link, leave, and lead it as its owner.

Nothing is joined before the person has seen which team the link names and what joining means: any
web page could have opened the link.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication, QDate, QDateTime, QTimeZone, QUrl
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QAbstractItemView, QDateEdit, QLineEdit, QStackedWidget, QWidget

from tequio_client.app.keys.account import TYPED_CHARS, AccountDialog, KeyAccount
from tequio_client.app.keys.dialogs import QuestionDialog
from tequio_client.app.keys.service import KeyService
from tequio_client.app.theme.style import TextStyle, font
from tequio_client.app.widgets import figures
from tequio_client.app.widgets.base import Label, WrappedLabel, caption, fill, hbox, holding, vbox
from tequio_client.app.widgets.buttons import Button, Segmented
from tequio_client.app.widgets.cards import CopyLine, RankingTable
from tequio_client.app.widgets.indicators import ProgressBar
from tequio_client.app.widgets.inputs import NumberBox
from tequio_client.ipc import control
from tequio_client.ipc.account import (
    AskTeam,
    RequestMembership,
    RequestTeam,
    RequestTeamMember,
    TeamReply,
)
from tequio_client.ipc.points import RankRow
from tequio_shared.errors import MalformedError
from tequio_shared.names import check_name, clean_name
from tequio_shared.round.points import GFLOP_PER_POINT

if TYPE_CHECKING:
    from collections.abc import Callable

ROSTER_HEIGHT, ROSTER_MARGIN = 190, 6
MOST_POINTS = 10**9
LINK_DAYS = 30
LINK_CHARS = 512


class TeamDialog(AccountDialog):
    """Three panes: how to enter a team, the team of a link, and the key's own team."""

    def __init__(
        self, account: KeyAccount, keys: KeyService, parent: QWidget | None = None, link: str = ""
    ) -> None:
        """With `link` it asks for that team at once, instead of for the key's own."""
        super().__init__(account, keys, parent)
        self.team = TeamReply()
        self.question: QuestionDialog | None = None  # before what cannot be undone
        self.entry, self.offer, self.own = EntryPane(), WrappedLabel(""), OwnTeamPane()
        self.pane: QWidget = self.entry
        """The one that is visible."""
        fill(self.body, self.entry, self.offer, self.own)
        self.main.clicked.connect(self._go_on)
        self.entry.ways.chosen.connect(self._follow)
        self.entry.link.textChanged.connect(self._follow)
        self.entry.name.textChanged.connect(self._follow)
        self._connect_own()
        self.entry.link.setText(link)
        self._show_entry()
        self._ask(AskTeam(link=link.strip()))

    def _connect_own(self) -> None:
        own = self.own
        own.new_link.clicked.connect(lambda: self._ask(RequestTeam(days=LINK_DAYS)))
        own.close_link.clicked.connect(lambda: self._ask(RequestTeam(days=0)))
        own.set_goal.clicked.connect(self._set_goal)
        own.rename.clicked.connect(self._rename)
        own.leave_team.clicked.connect(self._confirm_leave)
        own.remove.clicked.connect(lambda: self._confirm_member("removed"))
        own.hand_over.clicked.connect(lambda: self._confirm_member("owner"))
        own.page.clicked.connect(lambda: QDesktopServices.openUrl(QUrl(self.team.page)))

    def _ask(self, question: control.Question) -> None:
        self._send(question, self._show_answer)

    def _show_answer(self) -> None:
        """Show the team of the last answer, or how to enter one."""
        self.set_busy(is_busy=False)
        found = self._account.answer
        if not isinstance(found, TeamReply):
            return
        self.team = found
        if not found.team:
            self._show_entry()
        elif found.is_member:
            self._show_own()
        else:
            self._show_offer()
        self._follow()

    def _follow(self) -> None:
        if self.pane is self.entry:
            is_link = self.entry.ways.selected == "link"
            words = self.tr("Look at the team") if is_link else self.tr("Found the team")
            self.main.setText(words)
            self.main.setEnabled(self.entry.is_filled)
        self.main.setVisible(self.pane is not self.own)
        self.leave.setText(self.tr("Close") if self.pane is self.own else self.tr("Cancel"))

    def _go_on(self) -> None:
        if self.pane is self.offer:
            self._ask(RequestMembership(link=self.entry.link.text().strip()))
        elif self.entry.ways.selected == "link":
            self._ask(AskTeam(link=self.entry.link.text().strip()))
        else:
            self._ask(RequestTeam(name=self.entry.team_name))

    def _show_entry(self) -> None:
        self.set_texts(
            self.tr("Team"),
            self.tr(
                "What you earn in a team also counts for the team. What you earned for it stays "
                "with it when you leave."
            ),
        )
        self._show_pane(self.entry)

    def _show_offer(self) -> None:
        one, other = self.team, self._account.reply
        self.set_texts(
            self.tr("Join the team “{team}”?").format(team=team_name(one)),
            self.tr("Its owner, {owner}, invites everyone who has this link.").format(
                owner=one.owner_name or f"{one.owner[:8]}…"
            ),
            self.tr("Join the team"),
        )
        members = self.tr("%n member(s)", "", one.members)
        points_so_far = self.tr("{points} points so far").format(
            points=figures.short_points(one.gflop)
        )
        points = [
            f"{members}; {points_so_far}.",
            self.tr("Everyone can see that you are in the team, and what you earn for it."),
            self.tr("Your points stay yours. They also count for the team, from now on."),
            self.tr("The owner can remove you; you can leave at any time."),
        ]
        if other is not None and other.team:
            points.append(self.tr("You are in another team. Leave it before you join this one."))
        self.offer.setText("\n".join(f"• {point}" for point in points))
        self.main.setEnabled(other is None or not other.team)
        self._show_pane(self.offer)

    def _show_own(self) -> None:
        one = self.team
        owner = (
            self.tr("You own this team.")
            if one.is_ours
            else self.tr("Its owner is {owner}.").format(
                owner=one.owner_name or f"{one.owner[:8]}…"
            )
        )
        members = self.tr("%n member(s)", "", one.members)
        points = self.tr("{points} points").format(points=figures.short_points(one.gflop))
        self.set_texts(team_name(one), f"{owner} {members}, {points}.")
        self.own.show_team(one)
        self._show_pane(self.own)

    def _show_pane(self, pane: QWidget) -> None:
        self.pane = pane
        for one in (self.entry, self.offer, self.own):
            one.setVisible(one is pane)
        self.fit()
        if self.isVisible():
            self.focus_first()

    def _set_goal(self) -> None:
        goal = int(self.own.points.value()) * GFLOP_PER_POINT
        until_ms = self.own.goal_until_ms if goal else 0
        self._ask(RequestTeam(goal=goal, goal_until_ms=until_ms))

    def _rename(self) -> None:
        self._ask(RequestTeam(name=clean_name(self.own.name.text())))

    def _confirm_leave(self) -> None:
        note = self.tr("What you earned for the team stays with it.")
        if self.team.is_ours and self.team.members > 1:
            note += " " + self.tr("The member that joined first becomes its owner.")
        elif self.team.is_ours:
            note += " " + self.tr("You are its last member: the team ends for good.")
        self._confirm(
            self.tr("Leave the team?"),
            note,
            self.tr("Leave the team"),
            lambda: self._ask(RequestMembership()),
        )

    def _confirm_member(self, to: str) -> None:
        row = self.own.selected
        if row is None:
            return
        name = row.name or f"{row.key[:8]}…"
        question = RequestTeamMember(peer=row.key, to=to)
        if to == "owner":
            self._confirm(
                self.tr("Hand the team over to {name}?").format(name=name),
                self.tr("You stay a member, and cannot take the team back."),
                self.tr("Hand over"),
                lambda: self._ask(question),
            )
            return
        self._confirm(
            self.tr("Remove {name} from the team?").format(name=name),
            self.tr("The join link stops working, as {name} has it. Points stay.").format(
                name=name
            ),
            self.tr("Remove"),
            lambda: self._ask(question),
        )

    def _confirm(self, heading: str, note: str, main: str, then: Callable[[], None]) -> None:
        self.question = QuestionDialog(heading, note, main, self.tr("Cancel"), self)
        self.question.leave.setDefault(True)
        self.question.main.clicked.connect(self.question.accept)
        self.question.accepted.connect(then)
        self.question.finished.connect(self.question.deleteLater)
        self.question.open()


def team_name(team: TeamReply) -> str:
    words = QCoreApplication.translate("TeamDialog", "Team {number}")
    return team.name or words.format(number=team.team)


class EntryPane(QWidget):
    """A join link to paste, or the name of a new team."""

    def __init__(self) -> None:
        super().__init__()
        self.ways = Segmented(
            self.tr("How"), {"link": self.tr("Join with a link"), "name": self.tr("Found a team")}
        )
        self.link, self.name = QLineEdit(), QLineEdit()
        for line, words, most in (
            (self.link, self.tr("Join link or code of a team"), LINK_CHARS),
            (self.name, self.tr("Name of the new team"), TYPED_CHARS),
        ):
            line.setFont(font(TextStyle.BODY))
            line.setMaxLength(most)
            line.setAccessibleName(words)
            line.setPlaceholderText(words)
        rule = caption(
            self.tr(
                "2 to 32 letters of one script and digits. The name is public and stays. You can "
                "found one team every 30 days."
            )
        )
        ask = caption(self.tr("Ask the owner of the team for its link or code."))
        self._panes = QStackedWidget()
        for parts in ((self.link, ask, None), (self.name, rule, None)):
            self._panes.addWidget(holding(vbox(*parts, spacing=8)))
        self.ways.chosen.connect(self._switch)
        vbox(self.ways, self._panes, spacing=12, parent=self)

    def _switch(self, way: str) -> None:
        self._panes.setCurrentIndex(0 if way == "link" else 1)

    @property
    def team_name(self) -> str:
        return clean_name(self.name.text())

    @property
    def is_filled(self) -> bool:
        if self.ways.selected == "link":
            return bool(self.link.text().strip())
        try:
            check_name(self.team_name)
        except MalformedError:
            return False
        return True


class OwnTeamPane(QWidget):
    """Goal, members and join link; what only the owner can do is hidden from others."""

    def __init__(self) -> None:
        super().__init__()
        self.team = TeamReply()
        self.goal, self.bar = WrappedLabel(""), ProgressBar(self.tr("Goal"))
        self.roster = RankingTable(self.tr("Members of the team"))
        self.roster.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.link = CopyLine(self.tr("Join link"))
        self.code = CopyLine(self.tr("Code"))
        self.link_note = caption()
        self.new_link = Button(self.tr("Make a new link"))
        self.close_link = Button(self.tr("Close the link"))
        self.points = NumberBox(self.tr("Points of the goal"), 0, MOST_POINTS)
        self.points.setSpecialValueText(self.tr("No goal"))
        self.until = QDateEdit(QDate.currentDate().addMonths(1))
        self.until.setCalendarPopup(True)
        self.until.setMinimumDate(QDate.currentDate())
        self.until.setAccessibleName(self.tr("Last day of the goal"))
        self.until.setFont(font(TextStyle.BODY))
        self.set_goal = Button(self.tr("Set the goal"))
        self.name = QLineEdit()
        self.name.setFont(font(TextStyle.BODY))
        self.name.setMaxLength(TYPED_CHARS)
        self.name.setAccessibleName(self.tr("New name of the team"))
        self.name.setPlaceholderText(self.name.accessibleName())
        self.rename = Button(self.tr("Use this name"))
        self.remove = Button(self.tr("Remove…"))
        self.hand_over = Button(self.tr("Hand over…"))
        self.page = Button(self.tr("Open its page"), "quiet", "external-link")
        self.leave_team = Button(self.tr("Leave the team…"))
        self._fill()

    def _fill(self) -> None:
        join = Label(self.tr("Join link"), TextStyle.STRONG)
        goal = Label(self.tr("Goal"), TextStyle.STRONG)
        withdrawn = WrappedLabel(
            self.tr("The organisers of the network withdrew the team's name. Choose another one.")
        )
        self.naming = holding(vbox(withdrawn, hbox((self.name, 1), self.rename, spacing=8)))
        links = hbox(self.new_link, self.close_link, None, spacing=8)
        self.leading = holding(
            vbox(
                hbox(self.remove, self.hand_over, None, spacing=8),
                join,
                self.link,
                caption(self.tr("The same as a code, for people in this network:")),
                self.code,
                self.link_note,
                links,
                goal,
                hbox(self.points, self.until, self.set_goal, None, spacing=8),
                spacing=8,
            )
        )
        vbox(
            self.naming,
            self.goal,
            self.bar,
            self.roster,
            self.leading,
            hbox(self.page, None, self.leave_team, spacing=8),
            spacing=10,
            parent=self,
        )
        self.roster.selectionModel().selectionChanged.connect(self._follow)

    def show_team(self, team: TeamReply) -> None:
        self.team = team
        self.roster.rows.replace(team.rows)
        rows = self.roster.verticalHeader().defaultSectionSize() * (len(team.rows) + 1)
        self.roster.setFixedHeight(min(rows + ROSTER_MARGIN, ROSTER_HEIGHT))
        modes = QAbstractItemView.SelectionMode
        self.roster.setSelectionMode(modes.SingleSelection if team.is_ours else modes.NoSelection)
        self.leading.setVisible(team.is_ours)
        self.naming.setVisible(team.is_ours and not team.name)
        self._show_goal(team)
        self._show_link(team)
        self._follow()

    def _show_goal(self, team: TeamReply) -> None:
        self.goal.setVisible(bool(team.goal))
        self.bar.setVisible(bool(team.goal))
        self.points.set_number(team.goal // GFLOP_PER_POINT)
        if not team.goal:
            return
        ends = QDateTime.fromMSecsSinceEpoch(team.goal_until_ms, QTimeZone.systemTimeZone())
        self.until.setDate(ends.date())
        words = self.tr("Goal: {reached} of {goal} points by {day}")
        if team.reached >= team.goal:
            words = self.tr("Goal reached: {reached} of {goal} points by {day}")
        reached, goal = (figures.short_points(one) for one in (team.reached, team.goal))
        day = figures.day(team.goal_until_ms)
        self.goal.setText(words.format(reached=reached, goal=goal, day=day))
        self.bar.set_share(team.reached / team.goal)

    def _show_link(self, team: TeamReply) -> None:
        self.link.show_text(team.link)
        self.code.show_text(team.code)
        if team.link:
            words = self.tr("Everyone who has it can join until {day}. A new link ends this one.")
            self.link_note.setText(words.format(day=figures.day(team.until_ms)))
        elif team.until_ms:
            self.link_note.setText(self.tr("The present link was made with another key or ended."))
        else:
            self.link_note.setText(self.tr("Nobody can join at the moment."))
        self.close_link.setEnabled(bool(team.until_ms))

    def _follow(self) -> None:
        row = self.selected
        for button in (self.remove, self.hand_over):
            button.setEnabled(row is not None and not row.is_ours)

    @property
    def selected(self) -> RankRow | None:
        rows = self.roster.selectionModel().selectedRows()
        return self.roster.rows.rows[rows[0].row()] if rows else None

    @property
    def goal_until_ms(self) -> int:
        """The last millisecond of the chosen day, by this computer's clock."""
        after = self.until.date().addDays(1).startOfDay(QTimeZone.systemTimeZone())
        return QDateTime(after).toMSecsSinceEpoch() - 1
