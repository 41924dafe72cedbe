"""The dialog that asks whether to join by an invitation, with what joining means."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QDialog, QHBoxLayout, QVBoxLayout

from tequio_client.app.ledger_queries import InvitationOffer, InvitationProblem
from tequio_client.app.theme.style import TextStyle
from tequio_client.app.widgets import figures
from tequio_client.app.widgets.base import Label, WrappedLabel
from tequio_client.app.widgets.buttons import Button
from tequio_client.app.widgets.messages import Banner

if TYPE_CHECKING:
    from PySide6.QtWidgets import QWidget


WIDTH = 600


class InvitationDialog(QDialog):
    """Shows what the ledger says about an invitation; `wanted`: the user confirmed."""

    confirmed = Signal()

    def __init__(self, ledger: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._ledger = ledger
        self._points: list[WrappedLabel] = []
        self.setObjectName("join")
        self.setModal(True)
        self.setMinimumWidth(WIDTH)
        self.heading, self.note = Label("", TextStyle.TITLE), WrappedLabel(tone="sub")
        self.heading.setWordWrap(True)
        self.trouble, self.body = Banner("error"), QVBoxLayout()
        self.body.setSpacing(8)
        self.main = Button(self.tr("Join"), "primary")
        self.leave = Button(self.tr("Not now"))
        self.main.clicked.connect(self.confirmed)
        self.leave.clicked.connect(self.reject)
        column, feet = QVBoxLayout(self), QHBoxLayout()
        self._column = column
        column.setContentsMargins(26, 22, 26, 22)
        column.setSpacing(14)
        column.addWidget(self.heading)
        column.addWidget(self.note)
        column.addLayout(self.body)
        column.addWidget(self.trouble)
        column.addStretch(1)
        feet.addStretch(1)
        feet.setSpacing(10)
        feet.addWidget(self.leave)
        feet.addWidget(self.main)
        column.addLayout(feet)
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self._set_texts(
            self.tr("An invitation"),
            self.tr("Checking this invitation with {ledger}…").format(ledger=ledger),
        )

    @property
    def consequences(self) -> list[str]:
        """The consequences of joining, one a line."""
        return [one.text() for one in self._points]

    def show_offer(
        self, offer: InvitationOffer, now_ms: int, *, old_ledger: str, may_lend: bool, has_key: bool
    ) -> None:
        """Ask for confirmation; `old_ledger` is the ledger that joining replaces, or empty.

        Without a key the button leads to making one.
        """
        heading = self.tr("Join the run “{run}”?").format(run=offer.run_name)
        if not offer.run:
            heading = self.tr("Join the network “{network}”?").format(network=offer.network)
        note = self.tr(
            "The organisers of the network “{network}” invite you (entry {index} of the log at "
            "{ledger})."
        )
        self._set_texts(
            heading,
            note.format(network=offer.network, index=offer.index, ledger=self._ledger),
        )
        for point in self._consequences(offer, now_ms, old_ledger=old_ledger, may_lend=may_lend):
            self._add(point)
        if not has_key:
            self.main.setText(self.tr("Make my key"))
            self._add(
                self.tr(
                    "Your key comes first: it is made in the first steps. Then this question "
                    "comes again."
                )
            )
        self.main.setEnabled(True)
        self.main.setDefault(True)
        self._fit()

    def show_problem(self, wrong: str, detail: str) -> None:
        """Explain why the invitation cannot be used."""
        self.main.hide()
        self.leave.setText(self.tr("Close"))
        self._set_texts(
            self.tr("This invitation cannot be used"),
            self.tr("Nothing was changed."),
        )
        self.show_error(self._reason(wrong).format(ledger=self._ledger, detail=detail))

    def show_error(self, words: str) -> None:
        """Show an error; if there is something to join, it can be tried again."""
        self.trouble.show_words("error", words)
        self.trouble.show()
        self.main.setEnabled(not self.main.isHidden())
        self._fit()

    def show_joining(self) -> None:
        """Disable the button while joining."""
        self.main.setEnabled(False)
        self.trouble.show_words("info", self.tr("Joining. This may take a minute."))
        self.trouble.show()
        self._fit()

    def _add(self, point: str) -> None:
        row, text = QHBoxLayout(), WrappedLabel(point)
        row.setSpacing(8)
        row.addWidget(Label("•"), 0, Qt.AlignmentFlag.AlignTop)
        row.addWidget(text, 1)
        self.body.addLayout(row)
        self._points.append(text)

    def _set_texts(self, heading: str, note: str) -> None:
        self.setWindowTitle(heading)
        self.heading.setText(heading)
        self.note.setText(note)
        self.trouble.hide()
        self.main.setEnabled(False)

    def _consequences(
        self, offer: InvitationOffer, now_ms: int, *, old_ledger: str, may_lend: bool
    ) -> list[str]:
        lines = [self._scope(offer)]
        if offer.is_known:
            lines.append(
                self.tr(
                    "Your key is in this network already and stays as it is; the invitation is "
                    "not used up."
                )
            )
        else:
            count = self.tr("%n use(s) left, valid until {until}.", "", offer.left)
            lines.append(
                self.tr(
                    "Everybody can read in the log that this invitation let your key in; the "
                    "organisers can take it back."
                )
                + " "
                + count.format(until=figures.moment(offer.until_ms, now_ms))
            )
        if old_ledger:
            lines.append(
                self.tr(
                    "You will lend to this ledger instead of {old}. The settings change it back."
                ).format(old=old_ledger)
            )
        lines.append(
            self.tr("What you have chosen about when and how much to lend holds as before.")
            if may_lend
            else self.tr("Nothing is lent before you have gone through the first steps.")
        )
        return lines

    def _scope(self, offer: InvitationOffer) -> str:
        if not offer.run:
            return self.tr("You choose the run, among all of this network.")
        members = self.tr("%n computers are in it now", "", offer.members)
        tokens = self.tr("{tokens} tokens were trained so far")
        return f"{members}; {tokens.format(tokens=figures.short_count(offer.tokens))}."

    def _reason(self, wrong: str) -> str:
        reasons = {
            InvitationProblem.SILENT: self.tr(
                "The server at {ledger} does not answer as a ledger ({detail}). Try the link "
                "again later, or ask its sender."
            ),
            InvitationProblem.OTHER_NETWORK: self.tr(
                "{ledger} belongs to another network than this link. Ask its sender for a new link."
            ),
            InvitationProblem.UNKNOWN: self.tr(
                "The network does not know this invitation yet. A second organiser may still "
                "have to sign it. Try the link again later, or ask its sender."
            ),
            InvitationProblem.CLOSED: self.tr(
                "The organisers have ended this invitation. Ask for another."
            ),
            InvitationProblem.EXPIRED: self.tr("This invitation has expired. Ask for another."),
            InvitationProblem.USED_UP: self.tr(
                "This invitation has been used up. Ask for another."
            ),
            InvitationProblem.RUN_ENDED: self.tr("The run “{detail}” has ended."),
            InvitationProblem.OTHER_FOLDER: self.tr(
                "This app's folder belongs to another network, with its key and points. Join on "
                "the command line, in a folder of its own: tequio join LINK --dir FOLDER"
            ),
            InvitationProblem.INCOMPLETE_LINK: self.tr(
                "This invitation link is incomplete ({detail}). Open it again from where you got "
                "it."
            ),
            InvitationProblem.EXTERNAL_WORKER: self.tr(
                "The worker here was started elsewhere. End it, then open the link again."
            ),
        }
        return reasons[InvitationProblem(wrong)]

    def _fit(self) -> None:
        """Fit the height to the wrapped text at this width."""
        self._column.activate()
        width, least = max(self.width(), WIDTH), self._column.totalMinimumSize().height()
        self.resize(width, max(self._column.totalHeightForWidth(width), least))
