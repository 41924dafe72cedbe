"""A network is chosen from the known ones, by an address, or by a link; what is wrong is said."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel

from tequio_client.app.networks import JoinNetworkDialog, NetworkChooser
from tequio_client.ledger.networks import KnownNetwork
from tequio_client.links import CompetitionLink, InvitationLink, NetworkLink
from tequio_client.runtime import NETWORK_FILE
from tequio_shared.ids import Digest, NetworkId, RunId, sha256, to_text
from tests.support.ledgers import served

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from pytestqt.qtbot import QtBot

    from tests.support.ledgers import Served

pytestmark = pytest.mark.usefixtures("theme", "language")
LEFT = Qt.MouseButton.LeftButton
SLOW_MS = 90_000
NOWHERE = "http://127.0.0.1:9"
INVITATION = InvitationLink(
    ledger="https://ledger.example", network=NetworkId(sha256(b"net")), seed=bytes(32)
).text()
COMPETITION = CompetitionLink(ledger="https://ledger.example", competition=Digest(bytes(32))).text()


@pytest.fixture(scope="module")
def ledger(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with served(tmp_path_factory.mktemp("ledger")) as running:
        yield running


@pytest.fixture
def chooser(tmp_path: Path, ledger: Served, qtbot: QtBot) -> NetworkChooser:
    known = (KnownNetwork(name="demo", url=ledger.url, description="For everybody."),)
    made = NetworkChooser(known, tmp_path)
    qtbot.addWidget(made)
    made.show()
    return made


def test_a_row_says_whether_independent_witnesses_sign_the_log(tmp_path: Path) -> None:
    plain = KnownNetwork(name="plain", url="https://plain.example")
    watched = KnownNetwork(name="watched", url="https://watched.example", policy="quorum w")
    made = NetworkChooser((plain, watched), tmp_path)
    words = "Its log must be signed by independent witnesses, too."
    for network, expected in ((plain, False), (watched, True)):
        shown = [one.text() for one in made.rows[network.url].findChildren(QLabel)]
        assert (words in shown) is expected


def test_a_known_network_is_chosen_with_one_click(
    chooser: NetworkChooser, ledger: Served, qtbot: QtBot
) -> None:
    row = chooser.rows[ledger.url]
    assert row.accessibleName() == "demo: For everybody."
    with qtbot.waitSignal(chooser.chosen, timeout=SLOW_MS) as chosen:
        qtbot.mouseClick(row, LEFT)
    address, name = chosen.args or ("", "")
    assert address == ledger.url
    assert name


def test_an_address_is_pasted_and_taken_once_a_ledger_answers(
    chooser: NetworkChooser, ledger: Served, qtbot: QtBot
) -> None:
    assert not chooser.use.isEnabled()
    chooser.line.setText(f"  {ledger.url}/ ")
    with qtbot.waitSignal(chooser.chosen, timeout=SLOW_MS) as chosen:
        qtbot.keyClick(chooser.line, Qt.Key.Key_Return)
    assert (chosen.args or [""])[0] == ledger.url


@pytest.mark.parametrize(
    ("typed", "problem"),
    [
        ("ftp://ledger.example", "is not a valid ledger address"),
        (NOWHERE, f"Nothing answers at {NOWHERE}."),
        ("tequio://join?ledger=ftp://x", "This link is not complete."),
        (INVITATION[:-9], "This link is not complete."),
        (COMPETITION[:-3], "This link is not complete."),
    ],
)
def test_bad_input_is_explained_in_plain_words(
    chooser: NetworkChooser, qtbot: QtBot, typed: str, problem: str
) -> None:
    chooser.line.setText(typed)
    with qtbot.assertNotEmitted(chooser.chosen), qtbot.assertNotEmitted(chooser.link_given):
        qtbot.mouseClick(chooser.use, LEFT)
        qtbot.waitUntil(lambda: problem in chooser.result.words.text(), timeout=SLOW_MS)
    assert "refused" not in chooser.result.words.text()
    chooser.line.setText("another")
    assert chooser.result.isHidden()


def test_the_technical_reason_is_behind_a_button(chooser: NetworkChooser, qtbot: QtBot) -> None:
    chooser.line.setText(NOWHERE)
    qtbot.mouseClick(chooser.use, LEFT)
    details = chooser.result.details
    qtbot.waitUntil(lambda: not details.isHidden(), timeout=SLOW_MS)
    qtbot.mouseClick(details, LEFT)
    assert details.dialog is not None
    assert "refused" in details.dialog.text.toPlainText()
    details.dialog.close()


@pytest.mark.parametrize("link", [INVITATION, COMPETITION])
def test_a_whole_link_is_passed_on(chooser: NetworkChooser, qtbot: QtBot, link: str) -> None:
    chooser.line.setText(f" {link} ")
    with qtbot.waitSignal(chooser.link_given) as given:
        qtbot.mouseClick(chooser.use, LEFT)
    assert given.args == [link]


def test_a_link_of_a_web_page_fills_in_the_address_and_waits(
    chooser: NetworkChooser, ledger: Served, qtbot: QtBot
) -> None:
    run = RunId(sha256(b"a run"))
    chooser.offer(NetworkLink(ledger=ledger.url, run=run).text())
    assert chooser.line.text() == ledger.url
    assert chooser.result.isHidden(), "nothing is looked up before the user agrees"
    with qtbot.waitSignal(chooser.chosen, timeout=SLOW_MS) as chosen:
        qtbot.mouseClick(chooser.use, LEFT)
    assert (chosen.args or [""])[0] == ledger.url
    assert chooser.run == to_text(run)
    chooser.line.setText("https://other.example")
    assert not chooser.run, "another address has other runs"


def test_such_a_link_can_be_pasted_too(
    chooser: NetworkChooser, ledger: Served, qtbot: QtBot
) -> None:
    chooser.line.setText(NetworkLink(ledger=ledger.url).text())
    with qtbot.waitSignal(chooser.chosen, timeout=SLOW_MS) as chosen:
        qtbot.keyClick(chooser.line, Qt.Key.Key_Return)
    assert (chosen.args or [""])[0] == ledger.url


def test_a_folder_of_another_network_joins_none(
    chooser: NetworkChooser, ledger: Served, qtbot: QtBot, tmp_path: Path
) -> None:
    (tmp_path / NETWORK_FILE).write_text(to_text(sha256(b"another")))
    chooser.line.setText(ledger.url)
    with qtbot.assertNotEmitted(chooser.chosen):
        qtbot.mouseClick(chooser.use, LEFT)
        qtbot.waitUntil(lambda: "tequio app --dir" in chooser.result.words.text(), timeout=SLOW_MS)
    (tmp_path / NETWORK_FILE).write_text(to_text(ledger.net))
    with qtbot.waitSignal(chooser.chosen, timeout=SLOW_MS):
        qtbot.mouseClick(chooser.use, LEFT)


def test_a_dialog_of_a_link_asks_about_its_network_alone(
    ledger: Served, qtbot: QtBot, tmp_path: Path
) -> None:
    known = (KnownNetwork(name="other", url="https://other.example"),)
    link = NetworkLink(ledger=ledger.url).text()
    dialog = JoinNetworkDialog(known, tmp_path, "", link=link)
    qtbot.addWidget(dialog)
    dialog.open()
    assert dialog.heading.text() == "Join this network?"
    assert "Nothing is lent by joining" in dialog.note.text()
    assert not any(row.isVisible() for row in dialog.chooser.rows.values())
    assert dialog.chooser.line.text() == ledger.url
    with qtbot.waitSignal(dialog.accepted, timeout=SLOW_MS):
        qtbot.mouseClick(dialog.chooser.use, LEFT)


def test_the_dialog_ends_with_a_choice(ledger: Served, qtbot: QtBot, tmp_path: Path) -> None:
    dialog = JoinNetworkDialog((), tmp_path, "https://old.example")
    qtbot.addWidget(dialog)
    dialog.open()
    assert "https://old.example" in dialog.note.text()
    dialog.chooser.line.setText(ledger.url)
    with qtbot.waitSignal(dialog.accepted, timeout=SLOW_MS):
        qtbot.keyClick(dialog.chooser.line, Qt.Key.Key_Return)
