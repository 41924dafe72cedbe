"""Every dialog of the app, open as a user meets it, with the button that leads on.

The tests of the keyboard walk all of them, and `app_pictures` draws them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from msgspec.structs import replace
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QDialog, QPushButton

from tequio_client.app.errors import ErrorReportDialog
from tequio_client.app.first_run.first_run import LeaveDialog
from tequio_client.app.invitation import InvitationDialog
from tequio_client.app.keys.account import (
    AppealDialog,
    LostKeyDialog,
    NameDialog,
    RecoveryDialog,
    ReplaceDialog,
)
from tequio_client.app.keys.backup import BackupDialog
from tequio_client.app.keys.connection import ConnectDialog
from tequio_client.app.keys.dialogs import (
    ProtectionDialog,
    QuestionDialog,
    RestoreDialog,
    UnlockDialog,
)
from tequio_client.app.keys.team import TeamDialog
from tequio_client.app.ledger_queries import InvitationOffer, InvitationProblem
from tequio_client.app.networks import JoinNetworkDialog
from tequio_client.app.pages import PAGES
from tequio_client.app.pages.rounds import RoundDialog
from tequio_client.app.pages.run_code import CodeConsentDialog
from tequio_client.app.pages.settings_lending import ProgramPicker
from tequio_client.app.share import KEY, TEAM, ShareDialog, SharedPage
from tequio_client.app.widgets.messages import DetailsDialog
from tequio_client.app.window import HelpDialog
from tequio_client.ipc.account import AskTeam, TeamReply
from tequio_client.ipc.points import RankRow
from tequio_client.ipc.runs import RunPlugin
from tequio_client.ledger.networks import KnownNetwork
from tequio_shared.ids import sha256, to_text
from tequio_shared.round.plugin import PluginSpec
from tests.support.app_scenes import NOW_MS
from tests.support.app_worker_answers import ACCOUNT, QUARANTINED, ROWS, RUNS
from tests.support.first_run_pictures import FirstRunSetup, account

LEDGER = "https://ledger.example"
DAY_MS = 86_400_000
NETWORKS = (
    KnownNetwork(
        name="first light", url=LEDGER, description="The first of all.", policy="quorum none"
    ),
)
PLUGIN = PluginSpec(
    name="tiny",
    version="1.0",
    archive=to_text(sha256(b"archive")),
    size_bytes=1_825,
    provides=("model", "optimiser"),
)
TEAM_OF_TWO = TeamReply(
    team=1_204,
    name="Milpa",
    page=f"{LEDGER}/teams/1204",
    owner=ACCOUNT.key,
    owner_name="Ana",
    is_member=True,
    is_ours=True,
    members=2,
    gflop=52_340_000,
    rows=(
        RankRow(rank=1, key="Kq9sPd2f" + "A" * 35, name="Bruno", gflop=50_000_000),
        RankRow(rank=2, key=ACCOUNT.key, name="Ana", gflop=2_340_000, is_ours=True),
    ),
    link=f"tequio://team?ledger={LEDGER}&network={ACCOUNT.key}&id=1204&key={ACCOUNT.key}",
    code=f"1204-{ACCOUNT.key}",
    until_ms=NOW_MS + 30 * DAY_MS,
    most=50,
)


class ShownDialog(NamedTuple):
    """A dialog, and the button that leads on."""

    dialog: QDialog
    forward: QPushButton
    is_safe: bool = False
    """True where leading on cannot be undone: Enter does the other thing at first."""


def _question(dialog: QuestionDialog, *, is_safe: bool = False) -> ShownDialog:
    return ShownDialog(dialog, dialog.main, is_safe)


def _invitation(_: FirstRunSetup) -> ShownDialog:
    dialog = InvitationDialog(LEDGER)
    offer = InvitationOffer(network="first light", index=7, left=3, until_ms=NOW_MS + DAY_MS)
    dialog.show_offer(offer, NOW_MS, old_ledger="", may_lend=False, has_key=True)
    return _question(dialog)


def _invitation_refused(_: FirstRunSetup) -> ShownDialog:
    dialog = InvitationDialog(LEDGER)
    dialog.show_problem(InvitationProblem.EXPIRED, "")
    return ShownDialog(dialog, dialog.leave)


def _join(made: FirstRunSetup) -> ShownDialog:
    dialog = JoinNetworkDialog(NETWORKS, made.folder, "")
    return ShownDialog(dialog, dialog.chooser.use)


def _join_by_link(made: FirstRunSetup) -> ShownDialog:
    link = f"tequio://join?ledger={LEDGER}"
    dialog = JoinNetworkDialog((), made.folder, "", link=link)
    return ShownDialog(dialog, dialog.chooser.use)


def _run_code(_: FirstRunSetup) -> ShownDialog:
    run = RUNS.rows[0]
    return _question(CodeConsentDialog(run, RunPlugin(spec=PLUGIN, is_confined=True)), is_safe=True)


def _run_code_unconfined(_: FirstRunSetup) -> ShownDialog:
    run = RUNS.rows[0]
    plugin = RunPlugin(spec=PLUGIN, is_confined=False)
    return _question(CodeConsentDialog(run, plugin), is_safe=True)


def _share(_: FirstRunSetup) -> ShownDialog:
    pages = {KEY: SharedPage(LEDGER, KEY, ACCOUNT.key), TEAM: SharedPage(LEDGER, TEAM, "7")}
    return _question(ShareDialog(pages))


def _team(made: FirstRunSetup, team: TeamReply) -> TeamDialog:
    made.make_key()
    made.worker.replies[AskTeam] = team
    return TeamDialog(account(made, ACCOUNT), made.desk)


def _team_entry(made: FirstRunSetup) -> ShownDialog:
    return _question(_team(made, TeamReply()))


def _team_offer(made: FirstRunSetup) -> ShownDialog:
    return _question(_team(made, replace(TEAM_OF_TWO, is_member=False, is_ours=False)))


def _team_own(made: FirstRunSetup) -> ShownDialog:
    dialog = _team(made, TEAM_OF_TWO)
    return ShownDialog(dialog, dialog.leave)


def _team_leaving(made: FirstRunSetup) -> ShownDialog:
    dialog = _team(made, TEAM_OF_TWO)
    dialog.own.leave_team.click()
    assert dialog.question is not None
    dialog.question.setParent(None)  # it is looked at without the one behind it
    dialog.question.finished.disconnect()
    return _question(dialog.question, is_safe=True)


def _lost_key(made: FirstRunSetup) -> ShownDialog:
    made.make_key()
    return _question(LostKeyDialog(account(made, ACCOUNT), made.desk))


def _replace_key(made: FirstRunSetup) -> ShownDialog:
    made.make_key()
    return _question(ReplaceDialog(account(made, QUARANTINED), made.desk))


def _recovery(made: FirstRunSetup) -> ShownDialog:
    made.make_key()
    return _question(RecoveryDialog(account(made, ACCOUNT), made.desk))


def _recovery_change(made: FirstRunSetup) -> ShownDialog:
    made.make_key()
    return _question(RecoveryDialog(account(made, QUARANTINED), made.desk))


def _name(made: FirstRunSetup) -> ShownDialog:
    made.make_key()
    return _question(NameDialog(account(made, ACCOUNT), made.desk))


def _appeal(made: FirstRunSetup) -> ShownDialog:
    made.make_key()
    return _question(AppealDialog(account(made, QUARANTINED), made.desk))


def _connect(made: FirstRunSetup) -> ShownDialog:
    made.make_key()
    return _question(ConnectDialog(account(made, ACCOUNT), made.desk))


def _backup(made: FirstRunSetup) -> ShownDialog:
    made.make_key()
    return _question(BackupDialog(made.desk))


def _backup_file(made: FirstRunSetup) -> ShownDialog:
    made.make_key()
    return _question(BackupDialog(made.desk, None, "file"))


def _restore(made: FirstRunSetup) -> ShownDialog:
    return _question(RestoreDialog(made.desk))


def _unlock(made: FirstRunSetup) -> ShownDialog:
    return _question(UnlockDialog(made.desk))


def _protection(made: FirstRunSetup) -> ShownDialog:
    made.make_key()
    return _question(ProtectionDialog(made.desk))


def _leave(_: FirstRunSetup) -> ShownDialog:
    return _question(LeaveDialog(), is_safe=True)


def _round(_: FirstRunSetup) -> ShownDialog:
    dialog = RoundDialog(ROWS[4], LEDGER, "RTX 4070")
    return ShownDialog(dialog, dialog.closes)


def _program(made: FirstRunSetup) -> ShownDialog:
    dialog = ProgramPicker(lambda: ("blender", "steam"))
    made.until(lambda: dialog.programs.count() > 0)
    return ShownDialog(dialog, dialog.add)


def _details(_: FirstRunSetup) -> ShownDialog:
    dialog = DetailsDialog("GET /v1/runs failed: connection refused")
    return ShownDialog(dialog, dialog.closes)


def _help(_: FirstRunSetup) -> ShownDialog:
    dialog = HelpDialog([entry.translated_title() for entry in PAGES])
    return ShownDialog(dialog, dialog.close_button)


def _fault(_: FirstRunSetup) -> ShownDialog:
    dialog = ErrorReportDialog("ValueError: 7", "Traceback (most recent call last): …")
    return ShownDialog(dialog, dialog.copy)


DIALOGS: dict[str, Callable[[FirstRunSetup], ShownDialog]] = {
    make.__name__.lstrip("_"): make
    for make in (
        _invitation, _invitation_refused, _join, _join_by_link, _run_code, _run_code_unconfined,
        _share, _team_entry, _team_offer, _team_own, _team_leaving, _lost_key, _replace_key,
        _recovery, _recovery_change, _name, _appeal, _connect, _backup, _backup_file, _restore,
        _unlock, _protection, _leave, _round, _program, _details, _help, _fault,
    )
}  # fmt: skip
"""How to make each dialog, by its name; not shown yet."""


def open_dialog(name: str, made: FirstRunSetup) -> QDialog:
    """Lay that dialog out for a picture."""
    dialog = DIALOGS[name](made).dialog
    dialog.setAttribute(Qt.WidgetAttribute.WA_DontShowOnScreen)
    dialog.show()
    return dialog
