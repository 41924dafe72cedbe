"""Joining a network: the known ones, and a field for an address or an invitation link.

Nothing changes before a ledger has answered at the address, and before an invitation was used. A
folder belongs to one network, because its key and points do.
"""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QCoreApplication, Signal
from PySide6.QtWidgets import QLineEdit, QWidget

from tequio_client.app.keys.dialogs import QuestionDialog
from tequio_client.app.language import join_sentences
from tequio_client.app.ledger_queries import LedgerCheck
from tequio_client.app.theme.style import TextStyle, font
from tequio_client.app.widgets.base import (
    Label,
    WrappedLabel,
    caption,
    caption_line,
    fill,
    hbox,
    vbox,
)
from tequio_client.app.widgets.buttons import Button, ChoiceRow
from tequio_client.app.widgets.messages import Banner
from tequio_client.ledger.networks import KnownNetwork, clean_ledger_address, known_networks
from tequio_client.links import (
    SCHEME,
    CompetitionLink,
    InvitationLink,
    NetworkLink,
    TeamLink,
    is_competition_link,
    is_network_link,
    is_team_link,
)
from tequio_client.runtime import NETWORK_FILE
from tequio_shared.errors import UserFacingError
from tequio_shared.ids import NetworkId, to_text

_MOST_BYTES = 4_096
LONGEST_LINK = 4_096


def belongs_elsewhere(folder: Path, network: NetworkId) -> bool:
    """True if the worker's folder holds the key and points of another network."""
    try:
        with (folder / NETWORK_FILE).open("rb") as file:
            pinned = file.read(_MOST_BYTES).decode("ascii", "replace").strip()
    except OSError:
        return False
    return bool(pinned) and pinned != to_text(network)


def offered_networks(settings: Path) -> tuple[KnownNetwork, ...]:
    """The networks to choose from; none while their file is damaged, as the worker then says."""
    try:
        return known_networks(settings)
    except UserFacingError:
        return ()


class NetworkChooser(QWidget):
    chosen = Signal(str, str)
    """The address of a ledger that has answered, and the name of its network."""
    link_given = Signal(str)
    """A whole invitation, or a whole link to a competition."""

    def __init__(self, networks: tuple[KnownNetwork, ...], folder: Path) -> None:
        """`folder` is the worker's."""
        super().__init__()
        self._folder = folder
        self.run = ""
        """Id of the run that the link named, if the text is still that of a link."""
        self.check = LedgerCheck(self)
        self.check.answered.connect(self._receive)
        self.rows = {one.url: _row(one) for one in networks}
        for url, row in self.rows.items():
            row.clicked.connect(lambda _=False, url=url: self._start(url))
        self.line = QLineEdit()
        self.line.setFont(font(TextStyle.BODY))
        self.line.setMaxLength(LONGEST_LINK)
        self.line.setAccessibleName(self.tr("Address or invitation link"))
        self.line.setPlaceholderText(f"https://ledger.example  ·  {SCHEME}://join?…")
        self.line.setClearButtonEnabled(True)
        self.use = Button(self.tr("Join"), "primary")
        self.use.setEnabled(False)
        self.result = Banner()
        self.result.hide()
        heading = self.tr("Or paste an address") if networks else self.tr("Paste an address")
        self._heading = Label(heading, TextStyle.STRONG)
        self._note = caption(
            self.tr(
                "Organisers publish the address of their network's ledger, or send you an "
                "invitation link. Nothing is lent by joining."
            )
        )
        pasting = hbox((self.line, 1), self.use, spacing=10)
        column = vbox(*self.rows.values(), spacing=10, parent=self)
        fill(column, self._heading, pasting, self._note, self.result)
        self.line.textChanged.connect(self._edit)
        self.line.returnPressed.connect(self.use.click)
        self.use.clicked.connect(self.submit)

    def offer(self, text: str) -> None:
        """Fill in the address of a link to a network; any web page could open it, so wait."""
        try:
            link = NetworkLink.parse(text)
        except UserFacingError:
            self.line.setText(text)
            self.submit()
            return
        self.line.setText(link.ledger)
        self.run = to_text(link.run) if link.run else ""

    def hide_choice(self) -> None:
        """Show the address alone: a link has chosen it."""
        for part in (*self.rows.values(), self._heading, self._note):
            part.hide()

    def submit(self) -> None:
        """Check what was pasted, and go on with it."""
        text = self.line.text().strip()
        if not text:
            return
        if not text.startswith(f"{SCHEME}:"):
            self._start(clean_ledger_address(text))
            return
        try:
            if is_network_link(text):
                NetworkLink.parse(text)
                self.offer(text)
                self._start(self.line.text())
                return
            _link_kind(text).parse(text)
        except UserFacingError as err:
            self.show_problem(
                self.tr(
                    "This link is not complete. Copy all of it, from {scheme}:// to its end."
                ).format(scheme=SCHEME),
                str(err),
            )
            return
        self.result.hide()
        self.link_given.emit(text)

    def show_problem(self, words: str, details: str = "") -> None:
        self.result.show_words("error", words, details=details)
        self.result.show()

    def _start(self, address: str) -> None:
        self.use.setEnabled(False)
        words = self.tr("Looking for a ledger at {address}…").format(address=address)
        self.result.show_words("info", words)
        self.result.show()
        self.check.start(address)

    def _receive(self, address: str, problem: str) -> None:
        self.use.setEnabled(bool(self.line.text().strip()))
        found = self.check.network
        if problem or found is None:
            self.show_problem(problem, self.check.details)
        elif belongs_elsewhere(self._folder, found.id):
            self.show_problem(elsewhere_text(found.name, self._folder))
        else:
            self.result.hide()
            self.chosen.emit(address, found.name)

    def _edit(self, text: str) -> None:
        self.check.stop()
        self.run = ""
        self.result.hide()
        self.use.setEnabled(bool(text.strip()))


def _link_kind(text: str) -> type[CompetitionLink | TeamLink | InvitationLink]:
    if is_competition_link(text):
        return CompetitionLink
    return TeamLink if is_team_link(text) else InvitationLink


def elsewhere_text(name: str, folder: Path) -> str:
    """Why this folder cannot join that network, and the way out."""
    words = QCoreApplication.translate(
        "NetworkChooser",
        "“{name}” is not the network that your key and points belong to. To join it as well, start "
        "the app with another folder: tequio app --dir {folder}",
    )
    return words.format(name=name, folder=folder.with_name(f"{folder.name}-2"))


class JoinNetworkDialog(QuestionDialog):
    """Asks which network to join; accepted once one was chosen, or a link was given."""

    def __init__(
        self,
        networks: tuple[KnownNetwork, ...],
        folder: Path,
        current: str,
        parent: QWidget | None = None,
        link: str = "",
    ) -> None:
        """`current` is the ledger in use; empty: there is none. `link` names a network to join."""
        instead = self.tr("This computer is in the network at {ledger} now.").format(ledger=current)
        note = (
            self.tr(
                "A link names the network at this address. Nothing is lent by joining: you decide "
                "later when this computer works for it."
            )
            if link
            else self.tr("Choose the network that this computer should work for.")
        )
        super().__init__(
            self.tr("Join this network?") if link else self.tr("Join a network"),
            join_sentences(note, instead) if current else note,
            "",
            self.tr("Cancel"),
            parent,
        )
        self.setObjectName("join-network")
        self.main.hide()
        self.chooser = NetworkChooser(networks, folder)
        self.body.addWidget(self.chooser)
        self.chooser.chosen.connect(self.accept)
        self.chooser.link_given.connect(self.accept)
        if link:
            self.chooser.hide_choice()
            self.chooser.offer(link)

    def focus_first(self) -> None:
        chooser = self.chooser
        (chooser.use if chooser.use.isEnabled() else chooser.line).setFocus()


def _row(network: KnownNetwork) -> ChoiceRow:
    made = ChoiceRow()
    made.setAccessibleName(f"{network.name}: {network.description or network.url}")
    fill(made.body, Label(network.name, TextStyle.HEADING))
    if network.description:
        made.body.addWidget(WrappedLabel(network.description, tone="sub"))
    made.body.addWidget(caption_line(network.url))
    if network.policy:
        words = QCoreApplication.translate(
            "NetworkChooser", "Its log must be signed by independent witnesses, too."
        )
        made.body.addWidget(caption(words))
    made.finish_layout()
    return made
