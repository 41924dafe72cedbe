"""The dialog that links an account, at GitHub for example, to the key."""

from __future__ import annotations

from PySide6.QtCore import QTimer, QUrl
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QLineEdit, QWidget

from tequio_client.app.keys.account import AccountDialog, KeyAccount
from tequio_client.app.keys.service import KeyService
from tequio_client.app.language import as_sentence
from tequio_client.app.theme.style import TextStyle, font
from tequio_client.app.widgets.base import Label, WrappedLabel, caption, fill, holding, vbox
from tequio_client.app.widgets.buttons import Button
from tequio_client.app.widgets.cards import CopyLine
from tequio_client.app.widgets.messages import Banner
from tequio_client.ipc.account import AskConnection, ConnectionReply, RequestConnection
from tequio_client.ledger.networks import clean_ledger_address

LONGEST = 256
"""Characters of the address and of the provider."""


class ConnectDialog(AccountDialog):
    """Gets a code from a connector, shows it, and waits until the person has used it.

    The secret of the code stays in this dialog, which asks for the outcome while it is open.
    """

    def __init__(
        self, account: KeyAccount, keys: KeyService, parent: QWidget | None = None
    ) -> None:
        super().__init__(account, keys, parent)
        self.set_texts(
            self.tr("Link an account"),
            self.tr(
                "Some runs ask for it. The public log then shows that a person is behind your key, "
                "and which keys are theirs, but not who it is.",
            ),
            self.tr("Get a code"),
        )
        self._url, self._code, self._left_s, self._interval_s = "", "", 0, 0
        self.address, self.provider = QLineEdit(), QLineEdit()
        names = (self.tr("Address of the connector"), self.tr("Provider, if it has several"))
        for line, name in zip((self.address, self.provider), names, strict=True):
            line.setFont(font(TextStyle.BODY))
            line.setMaxLength(LONGEST)
            line.setAccessibleName(name)
            line.setPlaceholderText(name)
        advice = caption(self.tr("The organisers of the network name connectors that they trust."))
        self._form = holding(vbox(self.address, self.provider, advice, spacing=10))
        self.code = CopyLine(self.tr("Code"))
        self.page = Button(self.tr("Open the page"), picture="external-link")
        self.page.clicked.connect(lambda: QDesktopServices.openUrl(QUrl(self._url)))
        self._where = WrappedLabel("", tone="sub")
        warning = Banner(
            "warning",
            self.tr("Never share this code, and never enter one that somebody else gave you."),
        )
        title = Label(self.tr("Enter this code"), TextStyle.STRONG)
        self._shown = holding(vbox(title, self.code, self._where, self.page, warning, spacing=10))
        self._shown.hide()
        self.result_line = Banner("info", "")
        self.result_line.hide()
        fill(self.body, self._form, self._shown, self.result_line)
        self.timer = QTimer(self)
        self.timer.setSingleShot(True)
        self.timer.timeout.connect(self._poll)
        self.address.textChanged.connect(self._follow)
        self.main.clicked.connect(self._go_on)
        self._follow()

    @property
    def connector(self) -> str:
        """The address with a scheme; empty: none was typed."""
        return clean_ledger_address(self.address.text())

    def _follow(self) -> None:
        self.main.setEnabled(self._form.isHidden() or bool(self.connector))

    def _go_on(self) -> None:
        if self._form.isHidden():
            self.accept()
            return
        question = RequestConnection(
            connector=self.connector, provider=self.provider.text().strip().lower()
        )
        self._send(question, self._show_code)

    def _show_code(self) -> None:
        reply = self._account.answer
        if not isinstance(reply, ConnectionReply):
            return
        self._url, self._code, self._left_s = reply.url, reply.code, reply.expires_s
        self._form.hide()
        self._shown.show()
        self.code.show_text(reply.user_code)
        words = self.tr("At {url}, signed in with your account there.")
        self._where.setText(words.format(url=reply.url))
        self.main.setText(self.tr("Close"))
        self.leave.hide()
        self.set_busy(is_busy=False)
        self.focus_first()
        self._wait(reply)

    def _wait(self, reply: ConnectionReply) -> None:
        """Ask for the outcome after the connector's interval, and show why it takes long."""
        self._interval_s = max(reply.interval_s, 1)
        self._wait_on(reply.problem)

    def _wait_on(self, problem: str) -> None:
        self._left_s -= self._interval_s
        if self._left_s < 0:
            problem = self.tr("The code was not used in time. Open this dialog again.")
        else:
            self.timer.start(self._interval_s * 1_000)
        if problem:
            self.show_problem(as_sentence(problem))
        else:
            self.trouble.hide()

    def _poll(self) -> None:
        question = AskConnection(connector=self.connector, code=self._code)
        self._account.request(question, self._show_outcome, self._wait_on)

    def _show_outcome(self) -> None:
        reply = self._account.answer
        if not isinstance(reply, ConnectionReply):
            return
        if not reply.outcome:
            self._wait(reply)
            return
        self.trouble.hide()
        self._shown.hide()
        self.result_line.show_words("info", f"{reply.outcome[:1].upper()}{reply.outcome[1:]}.")
        self.result_line.show()

    def done(self, result: int) -> None:
        self.timer.stop()
        self._code = ""
        super().done(result)
