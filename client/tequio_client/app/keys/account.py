"""Measures for a key in the network: name, recovery key, replacement, revocation, appeal.

The worker writes the statements, since it holds the key's chain; this side keeps the secrets of
recovery keys, which are stored nowhere. Everything that cannot be undone is confirmed with a tick.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QCheckBox, QLineEdit, QPlainTextEdit, QStackedWidget, QWidget

from tequio_client.app.keys.backup import BackupWordsPane, choose_backup_path
from tequio_client.app.keys.dialogs import BackupSource, KeyDialog, choose_file
from tequio_client.app.keys.inputs import NewPassphrase
from tequio_client.app.keys.service import SEED_BYTES, KeyService, is_gone
from tequio_client.app.language import as_sentence
from tequio_client.app.model import PeriodicQuestion
from tequio_client.app.theme.style import TextStyle, font
from tequio_client.app.widgets import figures
from tequio_client.app.widgets.base import Label, WrappedLabel, caption, fill, holding, vbox
from tequio_client.app.widgets.buttons import Segmented
from tequio_client.app.widgets.messages import Banner
from tequio_client.ipc import control
from tequio_client.ipc.account import (
    AccountReply,
    AskAccount,
    RequestAppeal,
    RequestName,
    RequestRecovery,
    RequestReplacement,
    RequestRevocation,
)
from tequio_shared.errors import MalformedError
from tequio_shared.ids import key_from_text, to_text
from tequio_shared.limits import APPEAL_BYTES, NAME_CHARS
from tequio_shared.names import check_name, clean_name

if TYPE_CHECKING:
    from tequio_client.app.model import AppModel

RECOVERY_FILE = "recovery.tequio-key"
TEXT_HEIGHT = 110
EVERY_MS = 30_000
"""Interval of questions about the account while it is shown."""
TYPED_CHARS = 3 * NAME_CHARS
"""Characters of the longest name as it is typed: some Korean letters are then three each."""
RESTRICTED = ("suspected", "quarantined", "banned")
"""Standings against which one can appeal."""


class KeyAccount(QObject):
    """The account of the worker's key, and requests to change it."""

    changed = Signal()

    def __init__(
        self, model: AppModel, now_ms: Callable[[], int], parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._model = model
        self._asked: dict[control.Question, tuple[Callable[[], None], Callable[[str], None]]] = {}
        self.answer: control.Reply | None = None
        """The reply to the last request."""
        self._question = PeriodicQuestion(model, now_ms, AccountReply, EVERY_MS, parent=self)
        self._question.set_question(AskAccount())
        self._question.changed.connect(self.changed)
        model.replied.connect(self._receive)
        model.refused.connect(self._handle_refusal)

    @property
    def reply(self) -> AccountReply | None:
        """The account as last told; None: not known yet."""
        return self._question.reply

    def poll(self) -> None:
        """Ask the worker for the account, if the last answer is old."""
        self._question.poll()

    def request(
        self, question: control.Question, then: Callable[[], None], fail: Callable[[str], None]
    ) -> None:
        """Have the worker send a statement; one of the two functions is called.

        Neither is called if it is a method of a widget that has been destroyed by then.
        """
        self._asked[question] = then, fail
        self._model.ask(question)

    def _receive(self, question: control.Question, reply: control.Reply) -> None:
        if (asked := self._asked.pop(question, None)) is not None:
            then, _ = asked
            self.answer = reply
            self._question.ask()
            if not is_gone(then):
                then()

    def _handle_refusal(self, question: control.Question, why: str) -> None:
        if (asked := self._asked.pop(question, None)) is not None:
            _, fail = asked
            if not is_gone(fail):
                fail(as_sentence(why or self.tr("The worker does not answer")))


class AccountDialog(KeyDialog):
    """A dialog that ends with a request to the worker; subclasses call `_send`."""

    def __init__(
        self, account: KeyAccount, keys: KeyService, parent: QWidget | None = None
    ) -> None:
        super().__init__("", "", "", parent)
        self._account, self._keys = account, keys
        self._is_closed = False

    def set_texts(self, heading: str, note: str, main: str = "") -> None:
        self.setWindowTitle(heading)
        self.heading.setText(heading)
        self.note.setText(note)
        self.main.setText(main)

    def set_busy(self, *, is_busy: bool) -> None:
        super().set_busy(is_busy=is_busy)
        if not is_busy:
            self._follow()

    def _follow(self) -> None:
        """Enable the main button if all that is needed was given; subclasses override it."""

    def _send(self, question: control.Question, then: Callable[[], None] | None = None) -> None:
        if not self._is_closed:
            self.set_busy(is_busy=True)
            self._account.request(question, then or self.accept, self.show_problem)

    def _read(self, source: BackupSource, then: Callable[[bytes], None]) -> None:
        """Read a recovery key from the words or the file that were given."""
        if not self._is_closed and source.value is not None:
            self.set_busy(is_busy=True)
            self._keys.read_recovery(source.value, then, self.show_error)

    def _replace(self, former: str, recovery: bytes) -> None:
        """Put a new key in the place of another one, with the latter's recovery key if it has one.

        The new key is stored before the request and installed after it, so it cannot get lost
        between.
        """

        def send(seed: bytes) -> None:
            by = to_text(recovery) if recovery else ""
            question = RequestReplacement(former=former, seed=to_text(seed), recovery=by)
            self._send(
                question, lambda: self._keys.install_successor(self._finish, self.show_error)
            )

        self.set_busy(is_busy=True)
        self._keys.prepare_successor(send, self.show_error)

    def done(self, result: int) -> None:
        """Close; nothing more is sent, and a request that was sent is carried out."""
        self._is_closed = True
        super().done(result)


class RecoveryDialog(AccountDialog):
    """Makes a recovery key, has it kept elsewhere, and binds it to the key.

    Words count once two of them were typed from the paper, a file once it was read back. Nothing is
    bound before: a recovery key that nobody has would take the owner's own say away.
    """

    def __init__(
        self,
        account: KeyAccount,
        keys: KeyService,
        parent: QWidget | None = None,
        choose_path: Callable[[QWidget, str], Path | None] | None = None,
        choose: Callable[[QWidget, str], Path | None] = choose_file,
    ) -> None:
        super().__init__(account, keys, parent)
        self.set_texts(
            self.tr("Make a recovery key"),
            self.tr(
                "If this computer is stolen or breaks, the recovery key stops its key and moves "
                "your points to a new one. Keep it away from this computer.",
            ),
        )
        self._choose_path = choose_path or partial(choose_backup_path, name=RECOVERY_FILE)
        self._stage = "shut"
        # One for words, file and every retry: a request that seemed to fail may still be accepted.
        self._seed = secrets.token_bytes(SEED_BYTES)
        self.former: BackupSource | None = None
        if account.reply is not None and account.reply.recovery:
            # One that is bound already must agree: otherwise a thief could bind another one.
            self.setWindowTitle(self.tr("Change the recovery key"))
            self.heading.setText(self.windowTitle())
            self.former = BackupSource(self.tr("Passphrase of the file"), choose)
            title = Label(self.tr("The present recovery key"), TextStyle.STRONG)
            fill(self.body, title, self.former, Label(self.tr("The new one"), TextStyle.STRONG))
            self.former.changed.connect(self._follow)
        self.ways = Segmented(
            self.tr("Store it as"), {"words": self.tr("24 words"), "file": self.tr("A file")}
        )
        self.words, self.file = BackupWordsPane(), NewPassphrase()
        note = WrappedLabel(
            self.tr(
                "The file is sealed under a passphrase. Put it on a USB stick or another computer."
            )
        )
        self._panes = QStackedWidget()
        for pane in (self.words, holding(vbox(note, self.file, None))):
            self._panes.addWidget(pane)
        fill(self.body, self.ways, self._panes)
        self.ways.chosen.connect(self._switch)
        self.file.changed.connect(self._follow)
        self.words.changed.connect(self._follow)
        self.main.clicked.connect(self._go_on)
        self._switch("words")

    def _switch(self, way: str) -> None:
        self._panes.setCurrentIndex(0 if way == "words" else 1)
        self.trouble.hide()
        self._follow()

    def _follow(self) -> None:
        is_allowed = self.former is None or self.former.value is not None
        if self.ways.selected == "file":
            self.main.setText(self.tr("Save the file…"))
            self.main.setEnabled(is_allowed and self.file.value is not None)
            return
        texts = {
            "shut": self.tr("Show the words"),
            "shown": self.tr("I have written them down"),
            "asked": self.tr("Use this recovery key"),
        }
        self.main.setText(texts[self._stage])
        is_done = self._stage != "asked" or self.words.is_right
        self.main.setEnabled(is_allowed and is_done)

    def _go_on(self) -> None:
        if self.ways.selected == "file":
            self._save()
        elif self._stage == "shut":
            self._keys.recovery_words(self._seed, self._show_words)
        elif self._stage == "shown":
            self._stage = "asked"
            self.words.ask()
            self._follow()
        else:
            self._bind()

    def _show_words(self, words: tuple[str, ...]) -> None:
        self._stage = "shown"
        self.words.show_words(words)
        self._follow()

    def _save(self) -> None:
        path = self._choose_path(self, self.tr("Save the recovery key"))
        if path is None or self.file.value is None:
            return
        self.set_busy(is_busy=True)
        self._keys.save_recovery(
            path, self._seed, self.file.value, lambda _: self._bind(), self.show_error
        )

    def _bind(self) -> None:
        if self.former is not None:
            self._read(self.former, lambda former: self._bind_with(to_text(former)))
        else:
            self._bind_with("")

    def _bind_with(self, former: str) -> None:
        self._send(RequestRecovery(seed=to_text(self._seed), former=former))

    def done(self, result: int) -> None:
        self.words.clear()
        self._seed = b""
        super().done(result)


class ReplaceDialog(AccountDialog):
    """Puts a new key in the place of this computer's."""

    def __init__(
        self,
        account: KeyAccount,
        keys: KeyService,
        parent: QWidget | None = None,
        choose: Callable[[QWidget, str], Path | None] = choose_file,
    ) -> None:
        super().__init__(account, keys, parent)
        self.set_texts(
            self.tr("Replace this computer's key"),
            self.tr(
                "A new key takes over your points, standing, name and team. Do this if somebody "
                "else may have seen the key. It does not end a quarantine.",
            ),
        )
        self.main.setText(self.tr("Replace the key"))
        self.source: BackupSource | None = None
        if account.reply is not None and account.reply.recovery:
            self.source = BackupSource(self.tr("Passphrase of the file"), choose)
            title = Label(self.tr("Your recovery key"), TextStyle.STRONG)
            fill(self.body, title, self.source)
            self.source.changed.connect(self._follow)
        self.sure = QCheckBox(self.tr("I know that the present key can never be used again"))
        self.sure.setFont(font(TextStyle.BODY))
        advice = caption(self.tr("Afterwards, back up the new key: old backups become worthless."))
        fill(self.body, self.sure, advice)
        self.sure.toggled.connect(self._follow)
        self.main.clicked.connect(self._go_on)
        self._follow()

    def _follow(self) -> None:
        has_source = self.source is None or self.source.value is not None
        is_known = self._account.reply is not None
        self.main.setEnabled(self.sure.isChecked() and has_source and is_known)

    def _go_on(self) -> None:
        if self.source is not None:
            self._read(self.source, self._prepare)
        else:
            self._prepare(b"")

    def _prepare(self, recovery: bytes) -> None:
        if self._account.reply is not None:
            self._replace(self._account.reply.key, recovery)


class LostKeyDialog(AccountDialog):
    """Revokes the key of a lost computer, or moves its account to a new key here."""

    def __init__(
        self,
        account: KeyAccount,
        keys: KeyService,
        parent: QWidget | None = None,
        choose: Callable[[QWidget, str], Path | None] = choose_file,
    ) -> None:
        super().__init__(account, keys, parent)
        self.set_texts(
            self.tr("A lost or stolen computer"),
            self.tr(
                "The recovery key stops that computer's key permanently: a thief can no longer use "
                "it. If the key had no recovery key, a backup of the key itself does the same.",
            ),
        )
        self.ways = Segmented(
            self.tr("What to do"),
            {"revoke": self.tr("Only stop its key"), "move": self.tr("Move its points here")},
        )
        self.key = QLineEdit()
        self.key.setFont(font(TextStyle.BODY))
        self.key.setAccessibleName(self.tr("Key of the lost computer"))
        self.key.setPlaceholderText(self.tr("Its 43 characters, or the address of its page"))
        where = caption(self.tr("In the full ranking, its name opens that page."))
        self.source = BackupSource(self.tr("Passphrase of the file"), choose)
        self.sure = QCheckBox(self.tr("I know that this key can never be used again"))
        self.sure.setFont(font(TextStyle.BODY))
        self.effect = Banner("info", "")
        name = Label(self.key.accessibleName(), TextStyle.STRONG)
        secret = Label(self.tr("Its recovery key"), TextStyle.STRONG)
        fill(self.body, self.ways, self.effect, name, self.key, where)
        fill(self.body, secret, self.source, self.sure)
        self.ways.chosen.connect(self._follow)
        self.key.textChanged.connect(self._follow)
        self.source.changed.connect(self._follow)
        self.sure.toggled.connect(self._follow)
        self.main.clicked.connect(lambda: self._read(self.source, self._go_on))
        self._follow()

    def _follow(self) -> None:
        is_move = self.ways.selected == "move"
        self.main.setText(self.tr("Move the points") if is_move else self.tr("Stop the key"))
        self.effect.show_words(
            "info",
            self.tr(
                "A new key on this computer gets the points, standing, name and team of the lost "
                "one. The key that this computer has now is kept aside, with its own points."
            )
            if is_move
            else self.tr("It earns nothing more. You can still move its points later."),
        )
        is_ready = bool(self.lost) and self.source.value is not None
        self.main.setEnabled(is_ready and self.sure.isChecked())

    @property
    def lost(self) -> str:
        """The key, typed itself or in the address of its page; empty: neither."""
        key = re.sub(r".*/peers/|[/?#].*", "", self.key.text().strip())
        try:
            key_from_text(key)
        except MalformedError:
            return ""
        return key

    def _go_on(self, recovery: bytes) -> None:
        key, seed = self.lost, to_text(recovery)
        if self.ways.selected == "revoke":
            self._send(RequestRevocation(key=key, seed=seed))
            return
        self._replace(key, recovery)


class NameDialog(AccountDialog):
    """Gives the key a public name."""

    def __init__(
        self, account: KeyAccount, keys: KeyService, parent: QWidget | None = None
    ) -> None:
        super().__init__(account, keys, parent)
        self._present = account.reply.name if account.reply is not None else ""
        self.set_texts(
            self.tr("Public name"),
            self.tr(
                "The name is unique in this network. You can change it once every 30 days, "
                "and nobody else can take your former name for that long.",
            ),
        )
        self.line = QLineEdit(self._present)
        self.line.setFont(font(TextStyle.BODY))
        self.line.setMaxLength(TYPED_CHARS)
        self.line.setAccessibleName(self.tr("Name"))
        self.line.setPlaceholderText(self.tr("No name"))
        self.rule = caption("")
        warning = Banner(
            "warning",
            self.tr("Names are public and permanent: old ones stay in the log."),
        )
        fill(self.body, self.line, self.rule, warning)
        self.line.textChanged.connect(self._follow)
        self.main.clicked.connect(self._request)
        self._follow()

    @property
    def name(self) -> str:
        return clean_name(self.line.text())

    def _follow(self) -> None:
        is_possible = True
        try:
            if self.name:
                check_name(self.name)
        except MalformedError:
            is_possible = False
        self.rule.setText(
            self.tr(
                "2 to 32 letters of one script and digits, with single spaces, hyphens or "
                "underscores between them."
            )
            if is_possible
            else self.tr(
                "This is not a possible name: use 2 to 32 letters of one script and digits, with "
                "single spaces, hyphens or underscores between them."
            )
        )
        is_removal = bool(self._present) and not self.name
        self.main.setText(self.tr("Remove the name") if is_removal else self.tr("Use this name"))
        self.main.setEnabled(is_possible and self.name != self._present)

    def _request(self) -> None:
        self._send(RequestName(name=self.name))


class AppealDialog(AccountDialog):
    """Asks the organisers to review the key's standing, with a text that becomes public."""

    def __init__(
        self, account: KeyAccount, keys: KeyService, parent: QWidget | None = None
    ) -> None:
        super().__init__(account, keys, parent)
        self.set_texts(
            self.tr("Appeal"),
            self.tr(
                "An organiser reviews what your key is accused of. You can appeal once a day. If "
                "nobody answers within 14 days, a quarantine turns into probation.",
            ),
        )
        self.main.setText(self.tr("Send the appeal"))
        self.text = QPlainTextEdit()
        self.text.setAccessibleName(self.tr("What happened (optional)"))
        self.text.setPlaceholderText(self.text.accessibleName())
        self.text.setFont(font(TextStyle.BODY))
        self.text.setTabChangesFocus(True)
        self.text.setFixedHeight(TEXT_HEIGHT)
        self.excess = Banner("error", "")
        warning = Banner(
            "warning",
            self.tr("The text is public and permanent: no names, addresses or passwords."),
        )
        fill(self.body, self.text, self.excess, warning)
        self.text.textChanged.connect(self._follow)
        self.main.clicked.connect(self._appeal)
        self._follow()

    def _follow(self) -> None:
        length = len(self.text.toPlainText().encode())
        words = self.tr("The text has {length} bytes, at most {most} are allowed: shorten it.")
        self.excess.show_words(
            "error",
            words.format(length=figures.count(length), most=figures.count(APPEAL_BYTES)),
        )
        self.excess.setVisible(length > APPEAL_BYTES)
        self.main.setEnabled(length <= APPEAL_BYTES)

    def _appeal(self) -> None:
        self._send(RequestAppeal(text=self.text.toPlainText().strip()))
