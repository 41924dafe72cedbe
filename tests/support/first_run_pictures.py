"""Writes a picture of each step of the first run, and of the dialogs about a key.

`app_pictures` writes them with all others; clock, figures, typeface and key are fixed.
"""

from __future__ import annotations

import tempfile
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

import keyring
from msgspec.structs import replace
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QWidget

from tequio_client.app.first_run.checks import CHECK_TIMEOUT_MS, CheckStep
from tequio_client.app.first_run.draft import STEPS, DraftStore
from tequio_client.app.first_run.first_run import FirstRun
from tequio_client.app.first_run.setup_steps import KeyStep
from tequio_client.app.keys.account import (
    AppealDialog,
    KeyAccount,
    LostKeyDialog,
    RecoveryDialog,
    ReplaceDialog,
)
from tequio_client.app.keys.backup import BackupDialog
from tequio_client.app.keys.dialogs import RestoreDialog, UnlockDialog
from tequio_client.app.keys.service import KeyService
from tequio_client.app.language import Language
from tequio_client.app.model import AppModel
from tequio_client.app.pages.page import PageContext, ProgramContext
from tequio_client.app.pages.settings import SettingsPage
from tequio_client.app.registration import DesktopEntryAutostart
from tequio_client.app.settings_file import SettingsStore
from tequio_client.app.theme import style
from tequio_client.app.theme.look import Appearance, Theme
from tequio_client.ipc.account import AccountReply, AskAccount
from tequio_client.ipc.runs import AskRuns
from tequio_client.keys.state import KeyProtection
from tests.support.app_language import speak
from tests.support.app_scenes import NEW as NEWEST
from tests.support.app_scenes import NOW_MS, replies
from tests.support.app_worker import ScriptedWorker
from tests.support.app_worker_answers import ACCOUNT, QUARANTINED
from tests.support.memory_keyring import ScriptedKeyring

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from keyring.backend import KeyringBackend
    from PySide6.QtGui import QPixmap

    from tequio_client.ipc.snapshot import Snapshot

SEED = bytes(range(32))
PATIENCE = 2_000
"""Most turns of the event loop to wait for a condition."""
NEW = replace(NEWEST, disk=replace(NEWEST.disk, free_bytes=240 * 10**9))
NO_CARD = replace(NEW, machine=replace(NEW.machine, gpus=()))


class FirstRunSetup:
    """Everything that a first run needs, in its own folder."""

    def __init__(self, app: QApplication, look: Theme, folder: Path) -> None:
        self._app, self._look, self.folder = app, look, folder
        self.ledger = "https://ledger.example"
        self.size = style.WINDOW
        """Of the first run's window."""
        self.worker = ScriptedWorker(replies())
        self.model = AppModel(self.worker)
        self.desk = KeyService(folder / "worker", lambda: NOW_MS, lambda: True)
        self.book = DraftStore(folder)
        self.settings = SettingsStore(folder)
        self.entry = DesktopEntryAutostart(("tequio", "app", "--background"), folder / "autostart")

    def first_run(
        self,
        step: str,
        snapshot: Snapshot | None = NEW,
        *,
        check_timeout_ms: int = CHECK_TIMEOUT_MS,
    ) -> FirstRun:
        """The first run, at that step."""
        self.book.change(step=STEPS.index(step))
        made = FirstRun(
            self.page_context(),
            self.desk,
            self.folder / "worker",
            self.book,
            check_timeout_ms=check_timeout_ms,
        )
        made.setAttribute(Qt.WidgetAttribute.WA_DontShowOnScreen)
        made.resize(*self.size)
        if snapshot is not None:
            self.worker.send_snapshot(snapshot)
        made.show()
        return made

    def page_context(self) -> PageContext:
        """The context that the first run's pages work with."""
        own = ProgramContext(
            settings=self.settings,
            autostart=self.entry,
            folder=self.folder / "worker",
            ledger=lambda: self.ledger,
            use_network=lambda ledger, _name: setattr(self, "ledger", ledger),
            programs=tuple,
            keys=self.desk,
        )
        return PageContext(
            model=self.model,
            look=self._look,
            now_ms=lambda: NOW_MS,
            open_page=lambda _: None,
            program=own,
        )

    def until(self, holds: Callable[[], bool]) -> None:
        """Process events until the condition holds; raises AssertionError."""
        for _ in range(PATIENCE):
            if holds():
                break
            self._app.thread().msleep(5)
            self._app.processEvents()
        assert holds()
        for _ in range(5):
            self._app.processEvents()

    def make_key(self, how: KeyProtection = KeyProtection.KEYRING) -> None:
        """Make the key that all pictures have, unless it is there."""
        if self.desk.state.protection is how:
            return
        self.desk._new_seed = SEED  # noqa: SLF001 - one key for all pictures
        self.desk.make(how, None, lambda _: None, _fail)
        self.until(lambda: self.desk.state.protection is how)


def _fail(error: Exception) -> None:
    raise error


@contextmanager
def first_run_setup(app: QApplication, look: Theme) -> Iterator[FirstRunSetup]:
    """A first run with a keyring, for one picture."""
    keyring.set_keyring(ScriptedKeyring())
    with tempfile.TemporaryDirectory() as place:
        made = FirstRunSetup(app, look, Path(place))
        yield made
        made.model.deleteLater()  # with all that belongs to it, as in the app


def welcome(made: FirstRunSetup) -> QWidget:
    """The first step."""
    return made.first_run("welcome")


def check(made: FirstRunSetup) -> QWidget:
    """The second step, when everything has answered."""
    return _checked(made, NEW)


def check_no_card(made: FirstRunSetup) -> QWidget:
    """The second step on a computer without a GPU, and without a ledger."""
    made.worker.replies[AskRuns] = "the ledger is away"
    return _checked(made, NO_CARD)


def _checked(made: FirstRunSetup, snapshot: Snapshot) -> QWidget:
    shown = made.first_run("check", snapshot)
    assert isinstance(shown.step, CheckStep)
    step = shown.step
    made.until(step.again.isEnabled)
    return shown


def key_new(made: FirstRunSetup) -> QWidget:
    """The third step, before there is a key."""
    return made.first_run("key")


def key_no_keyring(made: FirstRunSetup) -> QWidget:
    """The third step where there is no keyring."""
    ring = ScriptedKeyring()
    ring.is_locked = True
    keyring.set_keyring(_absent())
    shown = made.first_run("key")
    assert isinstance(shown.step, KeyStep)
    trouble = shown.step.making.trouble
    made.until(lambda: not trouble.isHidden())
    return shown


def _absent() -> KeyringBackend:
    from keyring.backends import fail  # noqa: PLC0415 - here only

    return fail.Keyring()  # type: ignore[no-untyped-call]  # the library's


def key_made(made: FirstRunSetup) -> QWidget:
    """The third step, with a key."""
    made.make_key()
    return made.first_run("key")


def when(made: FirstRunSetup) -> QWidget:
    """The fourth step, with consent."""
    made.book.change(is_agreed=True)
    return made.first_run("when")


def run(made: FirstRunSetup) -> QWidget:
    """The fifth step."""
    return made.first_run("run")


def run_away(made: FirstRunSetup) -> QWidget:
    """The fifth step without a ledger."""
    made.worker.replies[AskRuns] = "the ledger is away"
    return made.first_run("run")


def ready(made: FirstRunSetup) -> QWidget:
    """The last step."""
    made.make_key()
    made.book.change(is_agreed=True)
    return made.first_run("ready")


def backup_words(made: FirstRunSetup) -> QWidget:
    """The dialog with the words."""
    made.make_key()
    dialog = BackupDialog(made.desk)
    _open(dialog)
    dialog.main.click()
    made.until(lambda: bool(dialog.words.grid.accessibleDescription()))
    return dialog


def backup_file(made: FirstRunSetup) -> QWidget:
    """The dialog for a file."""
    made.make_key()
    return _open(BackupDialog(made.desk, None, "file"))


def restore(made: FirstRunSetup) -> QWidget:
    """The dialog that restores a backup, with a wrong word."""
    dialog = RestoreDialog(made.desk)
    _open(dialog)
    dialog.source.words.setPlainText("abandom " * 24)
    dialog.main.click()
    made.until(lambda: not dialog.trouble.isHidden())
    return dialog


def unlock(made: FirstRunSetup) -> QWidget:
    """The dialog that asks for a passphrase."""
    return _open(UnlockDialog(made.desk))


def account(made: FirstRunSetup, reply: AccountReply) -> KeyAccount:
    """The account of the worker's key, as the worker has told it."""
    made.worker.replies[AskAccount] = reply
    known = KeyAccount(made.model, lambda: NOW_MS, made.model)
    made.worker.send_snapshot(NEW)
    known.poll()
    return known


def recovery_words(made: FirstRunSetup) -> QWidget:
    """The dialog that makes a recovery key, before it shows the words."""
    made.make_key()
    return _open(RecoveryDialog(account(made, ACCOUNT), made.desk))


def recovery_change(made: FirstRunSetup) -> QWidget:
    """The dialog that changes a recovery key, as a file."""
    made.make_key()
    dialog = RecoveryDialog(account(made, QUARANTINED), made.desk)
    dialog.ways.select("file")
    dialog.ways.chosen.emit("file")
    return _open(dialog)


def replace_key(made: FirstRunSetup) -> QWidget:
    """The dialog that replaces the key, which has no recovery key."""
    made.make_key()
    dialog = ReplaceDialog(account(made, ACCOUNT), made.desk)
    dialog.sure.setChecked(True)
    return _open(dialog)


def replace_refused(made: FirstRunSetup) -> QWidget:
    """The dialog that replaces the key with its recovery key, refused."""
    made.make_key()
    dialog = ReplaceDialog(account(made, QUARANTINED), made.desk)
    dialog.show_problem("Tequio cannot reach the ledger.")
    return _open(dialog)


def lost_key(made: FirstRunSetup) -> QWidget:
    """The dialog about a lost computer."""
    made.make_key()
    dialog = LostKeyDialog(account(made, ACCOUNT), made.desk)
    dialog.ways.select("move")
    dialog.ways.chosen.emit("move")
    dialog.key.setText(ACCOUNT.key)
    return _open(dialog)


def appeal(made: FirstRunSetup) -> QWidget:
    """The dialog for an appeal."""
    made.make_key()
    return _open(AppealDialog(account(made, QUARANTINED), made.desk))


def settings_account(made: FirstRunSetup) -> QWidget:
    """The section of the settings about the key."""
    return _settings(made, ACCOUNT)


def settings_restricted(made: FirstRunSetup) -> QWidget:
    """The same for a key that is quarantined."""
    return _settings(made, QUARANTINED)


def _settings(made: FirstRunSetup, reply: AccountReply) -> QWidget:
    made.make_key()
    made.worker.replies[AskAccount] = reply
    made.worker.send_snapshot(NEW)
    page = SettingsPage(made.page_context())
    page.resize(900, 1_260)
    page.open_section("account")
    _open(page)
    made.until(lambda: page.account.reply is not None)
    page.refresh()
    return page


def _open(dialog: QWidget) -> QWidget:
    dialog.setAttribute(Qt.WidgetAttribute.WA_DontShowOnScreen)
    dialog.show()
    return dialog


STEP_PICTURES = (
    welcome, check, check_no_card, key_new, key_no_keyring, key_made, when, run, run_away, ready,
)  # fmt: skip
PICTURES = (
    *STEP_PICTURES, backup_words, backup_file, restore, unlock, recovery_words, recovery_change,
    replace_key, replace_refused, lost_key, appeal,
)  # fmt: skip


SECTIONS = settings_account, settings_restricted
"""The section of the settings about the key, in two situations."""


def write_pictures(
    folder: Path,
    scale: float,
    appearances: Iterable[tuple[Appearance, str]],
    size: tuple[int, int] = style.WINDOW,
    dialogs: Mapping[str, Callable[[FirstRunSetup], QWidget]] = MappingProxyType({}),
) -> None:
    """Write the pictures of one scale, in a window of that size, with the dialogs by their names.

    A dialog that is among the pictures here, in another state, is drawn twice.
    """
    app = QApplication.instance() or QApplication([])
    assert isinstance(app, QApplication)
    look, language = Theme(app, Appearance.DARK), Language(app, "en")
    for choice, spoken in appearances:
        look.choose(choice)
        speak(language, spoken)
        named: dict[str, Callable[[FirstRunSetup], QWidget]] = {}
        named |= {f"first-run-{make.__name__}": make for make in (*PICTURES, *SECTIONS)}
        named |= {f"dialog-{name}": make for name, make in dialogs.items()}
        for name, make in named.items():
            file = folder / f"{name}-{choice}-{spoken}-{scale:g}x.png"
            _picture(app, look, make, size).save(str(file))


def _picture(
    app: QApplication,
    look: Theme,
    make: Callable[[FirstRunSetup], QWidget],
    size: tuple[int, int],
) -> QPixmap:
    with first_run_setup(app, look) as made:
        made.size = size
        shown = make(made)
        made.until(lambda: True)
        taken = shown.grab()
        made.desk.close()
        shown.close()
        shown.deleteLater()
        app.processEvents()
        return taken
