"""An invitation in the app: a ledger says what it is, one click joins, a bad link says why."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

import httpx
import pytest
from click.testing import CliRunner
from msgspec import structs

from tequio_client.__main__ import cli
from tequio_client.app.invitation import InvitationFlow
from tequio_client.app.keys.service import KeyService
from tequio_client.app.model import AppModel
from tequio_client.app.settings_file import SettingsStore
from tequio_client.app.worker.connection import WorkerLimits
from tequio_client.app.worker.process import WorkerProcess
from tequio_client.ipc import control
from tequio_client.ipc.preferences import Preferences
from tequio_client.keys import identity
from tequio_client.keys.state import KeyProtection
from tequio_client.links import InvitationLink
from tequio_client.runtime import NETWORK_FILE
from tequio_shared.ids import NetworkId, sha256, to_text
from tequio_shared.keys import Signer
from tests.support.attack_table import attack
from tests.support.equivocators import key_folder
from tests.support.ledger_with_history import live_yesterday
from tests.support.ledgers import ORGANISER, UNLIMITED, served

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from pytestqt.qtbot import QtBot

    from tequio_client.app.invitation import InvitationDialog


pytestmark = pytest.mark.usefixtures("theme", "language")
SLOW_MS = 60_000
NOW_MS = 1_795_285_800_000
SEED = bytes(range(32))
OLD = "https://old.example"


@dataclass(frozen=True, slots=True, kw_only=True)
class InvitingLedger:
    """A ledger with a run, and its organiser's folder."""

    url: str
    organiser: str

    def tequio(self, *words: str) -> str:
        """Run an organiser's command."""
        result = CliRunner().invoke(cli, (*words, "--ledger", self.url, "--dir", self.organiser))
        if result.exception is not None:
            raise result.exception
        return result.stdout.strip()

    def invite(self, *words: str) -> str:
        """Give a link for the run."""
        return self.tequio("run", "invite", RUN, *words)


RUN = "paper"


def points(dialog: InvitationDialog) -> str:
    """The consequences of joining, as shown."""
    return " ".join(one.text() for one in dialog.consequences)


@pytest.fixture(scope="module")
def inviter(tmp_path_factory: pytest.TempPathFactory) -> Iterator[InvitingLedger]:
    folder = tmp_path_factory.mktemp("host")
    live_yesterday(folder / "ledger")
    organiser = key_folder(folder / "organiser", ORGANISER)
    with served(folder / "ledger", *UNLIMITED) as running:
        yield InvitingLedger(url=running.url, organiser=str(organiser))


class InvitedApp:
    """The app of a person with an invitation link; its worker follows a script."""

    def __init__(self, folder: Path, mode: str = "good") -> None:
        self.folder = key_folder(folder, Signer(SEED))
        self.asked: list[str] = []
        self.now_ms = NOW_MS
        self.mode = mode
        self.book = SettingsStore(folder / "settings")
        self.book.change(ledger=OLD)
        self.keys = KeyService(folder, lambda: NOW_MS, lambda: True)
        limits = WorkerLimits(pauses_ms=(50, 50, 50, 50))
        self.worker = WorkerProcess(self.command(OLD), folder, lambda: SEED, limits=limits)
        self.model = AppModel(self.worker)
        self.joining = InvitationFlow(
            worker=self.worker,
            model=self.model,
            settings_store=self.book,
            keys=self.keys,
            folder=folder,
            now_ms=lambda: self.now_ms,
            ledger=lambda: self.book.settings.ledger,
            command=self.command,
        )

    def command(self, ledger: str) -> tuple[str, ...]:
        """Start the scripted worker; which ledger it would get is remembered."""
        self.asked.append(ledger)
        mode = "good" if ledger == OLD else self.mode
        return (sys.executable, "-m", "tests.support.app_worker_program", mode, str(self.folder))

    @property
    def dialog(self) -> InvitationDialog:
        """The one that asks."""
        assert self.joining.dialog is not None
        return self.joining.dialog

    def invitations(self) -> list[str]:
        """Invitations in all hellos that the worker has received so far."""
        lines = (self.folder / "heard").read_bytes().splitlines()
        said = [control.decode_to_worker(line) for line in lines]
        return [one.invitation for one in said if isinstance(one, control.ControllerHello)]

    def open_link(self, link: str, qtbot: QtBot) -> InvitationDialog:
        """Open the link, and wait until there is something to read."""
        self.joining.open(link, None)
        dialog = self.dialog
        qtbot.waitUntil(
            lambda: bool(dialog.consequences or dialog.trouble.words.text()), timeout=SLOW_MS
        )
        return dialog

    def close(self) -> None:
        """End its worker."""
        if self.joining.dialog is not None:
            self.joining.dialog.reject()
        self.worker.close()
        self.keys.close()


@pytest.fixture
def invited(tmp_path: Path) -> Iterator[InvitedApp]:
    made = InvitedApp(tmp_path / "worker")
    yield made
    made.close()


def test_one_click_joins_the_run_of_the_link(
    inviter: InvitingLedger, invited: InvitedApp, qtbot: QtBot
) -> None:
    invited.worker.start()
    qtbot.waitUntil(lambda: invited.model.snapshot is not None, timeout=SLOW_MS)
    link = inviter.invite("--uses", "3")
    dialog = invited.open_link(link, qtbot)
    assert dialog.heading.text() == f"Join the run “{RUN}”?"
    assert dialog.focusWidget() is dialog.main, "the keyboard is not left at “Not now”"
    assert inviter.url in dialog.note.text()
    said = points(dialog)
    assert "3 uses left, valid until" in said
    assert f"instead of {OLD}" in said
    assert "Nothing is lent before" in said
    with qtbot.waitSignal(invited.joining.joined, timeout=SLOW_MS):
        dialog.main.click()
        assert not dialog.main.isEnabled()
        assert invited.book.settings.ledger == OLD
    assert invited.invitations() == ["", link]
    assert invited.book.settings.ledger == inviter.url
    (run,) = httpx.get(f"{inviter.url}/v1/runs").json()["runs"]
    assert invited.model.preferences.run == run["run"]
    assert invited.joining.dialog is None


@attack(
    "P15",
    layer="cli",
    ends="a question; before a click nothing changes, and no other ledger learns our key",
)
def test_who_does_not_join_keeps_all_as_it_was(
    inviter: InvitingLedger, invited: InvitedApp, qtbot: QtBot
) -> None:
    identity.write(invited.folder, ORGANISER.seed, KeyProtection.OPEN)
    dialog = invited.open_link(inviter.invite(), qtbot)
    assert "stays as it is" not in points(dialog)
    dialog.leave.click()
    assert invited.joining.dialog is None
    assert invited.book.settings.ledger == OLD
    assert not invited.model.preferences.run
    assert invited.asked == [OLD]


def test_a_worker_that_cannot_join_says_why_and_giving_up_undoes_it(
    inviter: InvitingLedger, tmp_path: Path, qtbot: QtBot
) -> None:
    invited = InvitedApp(tmp_path / "worker", mode="taken")
    try:
        link = inviter.invite()
        dialog = invited.open_link(link, qtbot)
        dialog.main.click()
        qtbot.waitUntil(
            lambda: "Another process uses the folder" in dialog.trouble.words.text(),
            timeout=SLOW_MS,
        )
        assert set(invited.invitations()) == {link}
        dialog.leave.click()
        with qtbot.waitSignal(invited.worker.snapshot, timeout=SLOW_MS):
            pass
        assert invited.invitations()[-1] == ""
        assert invited.book.settings.ledger == OLD
        assert not invited.model.preferences.run
    finally:
        invited.close()


def test_a_key_that_is_in_already_needs_no_invitation(
    inviter: InvitingLedger, invited: InvitedApp, qtbot: QtBot
) -> None:
    identity.write(invited.folder, ORGANISER.seed, KeyProtection.OPEN)
    invited.book.change(ledger=inviter.url)
    link = inviter.invite()
    inviter.tequio("invite", "close", link)
    dialog = invited.open_link(link, qtbot)
    assert "stays as it is" in points(dialog)
    assert dialog.main.isEnabled()


@attack("P15", layer="cli", ends="refused if the ledger's network is not that of link and folder")
@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        ("closed", "have ended this invitation"),
        ("over", "This invitation has expired"),
        ("unknown", "does not know this invitation"),
        ("other", "belongs to another network"),
        ("silent", "does not answer"),
        ("cut", "invitation link is incomplete"),
        ("password", "invalid ledger address"),
        ("pinned", "belongs to another network"),
    ],
)
def test_a_link_that_cannot_be_used_says_why(
    spoil: str, said: str, inviter: InvitingLedger, invited: InvitedApp, qtbot: QtBot
) -> None:
    link = spoilt(spoil, inviter, invited)
    if spoil == "over":
        invited.now_ms = 4_000_000_000_000
    dialog = invited.open_link(link, qtbot)
    assert said in dialog.trouble.words.text()
    assert dialog.main.isHidden()
    assert dialog.heading.text() == "This invitation cannot be used"
    dialog.leave.click()
    assert invited.book.settings.ledger == OLD


def spoilt(how: str, inviter: InvitingLedger, invited: InvitedApp) -> str:
    """A link that something is wrong with."""
    link = inviter.invite()
    whole = InvitationLink.parse(link)
    if how == "closed":
        inviter.tequio("invite", "close", link)
    if how == "pinned":
        (invited.folder / NETWORK_FILE).write_text(to_text(sha256(b"another")))
    changes: dict[str, dict[str, object]] = {
        "unknown": {"seed": bytes(32)},
        "other": {"network": NetworkId(sha256(b"another"))},
        "silent": {"ledger": "http://127.0.0.1:9"},
    }
    if how in changes:
        fields = {name: getattr(whole, name) for name in ("ledger", "network", "seed")}
        return InvitationLink(**(fields | changes[how])).text()
    if how == "password":
        return link.replace("http://", "http://ana:secret@")
    return link[:-20] if how == "cut" else link


def test_a_second_link_takes_the_place_of_the_first(
    inviter: InvitingLedger, invited: InvitedApp, qtbot: QtBot
) -> None:
    left: list[None] = []
    invited.open_link(inviter.invite(), qtbot).rejected.connect(lambda: left.append(None))
    second = invited.open_link(inviter.invite("--uses", "7"), qtbot)
    assert left == [None]
    assert "7 uses left" in points(second)


def test_what_was_chosen_about_lending_holds(
    inviter: InvitingLedger, invited: InvitedApp, qtbot: QtBot
) -> None:
    chosen = Preferences(consent=True, idle_minutes=9)
    invited.model.set_preferences(chosen)
    dialog = invited.open_link(inviter.invite(), qtbot)
    assert "holds as before" in points(dialog)
    with qtbot.waitSignal(invited.joining.joined, timeout=SLOW_MS):
        dialog.main.click()
    run = invited.model.preferences.run
    assert invited.model.preferences == structs.replace(chosen, run=run)


def test_who_has_no_key_makes_one_and_is_asked_again(
    inviter: InvitingLedger, invited: InvitedApp, qtbot: QtBot
) -> None:
    """A key that nobody keeps would take the invitation with it."""
    (invited.folder / "identity.key").unlink()
    link = inviter.invite()
    dialog = invited.open_link(link, qtbot)
    assert dialog.main.text() == "Make my key"
    with qtbot.waitSignal(invited.joining.key_wanted):
        dialog.main.click()
    assert invited.joining.dialog is None
    assert invited.asked == [OLD]
    invited.keys.make(KeyProtection.OPEN, None, lambda _: None, lambda _: None)
    qtbot.waitUntil(lambda: invited.joining.dialog is not None, timeout=SLOW_MS)
    again = invited.dialog
    qtbot.waitUntil(lambda: bool(again.consequences), timeout=SLOW_MS)
    assert again.main.text() == "Join"
    with qtbot.waitSignal(invited.joining.joined, timeout=SLOW_MS):
        again.main.click()
    assert invited.invitations()[-1] == link
