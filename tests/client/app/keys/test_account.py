"""The key's account in the app: recovery key, replacement, revocation and appeal, by dialogs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from shiboken6 import delete

from tequio_client.app.keys.account import (
    AppealDialog,
    KeyAccount,
    LostKeyDialog,
    NameDialog,
    RecoveryDialog,
    ReplaceDialog,
)
from tequio_client.app.keys.service import KeyService
from tequio_client.app.model import AppModel
from tequio_client.ipc import control
from tequio_client.ipc.account import (
    AccountReply,
    AskAccount,
    KeyChangeReply,
    RequestAppeal,
    RequestRecovery,
    RequestReplacement,
    RequestRevocation,
)
from tequio_client.keys import identity
from tequio_client.keys.backup import read_backup, save_backup, to_words
from tequio_client.keys.state import KeyProtection
from tequio_shared.ids import from_text, to_text
from tequio_shared.keys import Signer
from tests.support.app_scenes import NEW, NOW_MS
from tests.support.app_worker import ScriptedWorker
from tests.support.app_worker_answers import ACCOUNT, QUARANTINED

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from pytestqt.qtbot import QtBot

    from tequio_client.app.keys.dialogs import BackupSource, KeyDialog
    from tequio_client.app.widgets.buttons import Segmented

pytestmark = pytest.mark.usefixtures("theme", "language")
RECOVERY = bytes([7]) * 32
PHRASE = "correct horse"
SLOW_MS = 20_000
DONE = KeyChangeReply(key=ACCOUNT.key)


@pytest.fixture
def worker() -> ScriptedWorker:
    return ScriptedWorker({AskAccount: ACCOUNT})


@pytest.fixture
def account(worker: ScriptedWorker) -> Iterator[KeyAccount]:
    model = AppModel(worker)
    worker.setParent(model)
    made = KeyAccount(model, lambda: NOW_MS, model)
    worker.send_snapshot(NEW)
    made.poll()
    yield made
    model.deleteLater()


@pytest.fixture
def keys(tmp_path: Path, qtbot: QtBot) -> Iterator[KeyService]:
    made = KeyService(tmp_path / "worker", lambda: NOW_MS, lambda: True)
    with qtbot.waitSignal(made.changed, timeout=SLOW_MS):
        made.make(KeyProtection.OPEN, None, lambda _: None, lambda _: None)
    yield made
    made.close()


def opened(qtbot: QtBot, dialog: KeyDialog) -> None:
    qtbot.addWidget(dialog)
    dialog.open()


def asked(worker: ScriptedWorker, kind: type) -> list[control.Question]:
    questions = [one.question for one in worker.received if isinstance(one, control.AskQuestion)]
    return [one for one in questions if isinstance(one, kind)]


def give(source: BackupSource, seed: bytes) -> None:
    source.words.setPlainText(" ".join(to_words(seed)))


def shown_words(dialog: RecoveryDialog, qtbot: QtBot) -> list[str]:
    dialog.main.click()
    grid = dialog.words.grid
    qtbot.waitUntil(lambda: bool(grid.accessibleDescription()), timeout=SLOW_MS)
    return grid.accessibleDescription().split(", ")


def switch(ways: Segmented, way: str) -> None:
    ways.select(way)
    ways.chosen.emit(way)


def confirm_words(dialog: RecoveryDialog, words: list[str], qtbot: QtBot) -> None:
    for number, line in zip(dialog.words.asked, dialog.words.lines, strict=True):
        qtbot.keyClicks(line, words[number - 1])
    with qtbot.waitSignal(dialog.accepted, timeout=SLOW_MS):
        dialog.main.click()


def bound_before(worker: ScriptedWorker, account: KeyAccount) -> None:
    worker.replies[AskAccount] = QUARANTINED
    account.request(AskAccount(), lambda: None, lambda _: None)


def test_words_are_bound_only_once_two_of_them_were_typed(
    worker: ScriptedWorker, account: KeyAccount, keys: KeyService, qtbot: QtBot
) -> None:
    worker.replies[RequestRecovery] = ACCOUNT
    dialog = RecoveryDialog(account, keys)
    opened(qtbot, dialog)
    words = shown_words(dialog, qtbot)
    dialog.main.click()
    assert not dialog.main.isEnabled()
    assert not asked(worker, RequestRecovery)
    confirm_words(dialog, words, qtbot)
    (request,) = asked(worker, RequestRecovery)
    assert isinstance(request, RequestRecovery)
    assert list(to_words(from_text(request.seed))) == words
    assert request.former == ""
    assert dialog.words.grid.accessibleDescription() == ""


def test_a_file_that_was_not_saved_leaves_the_words_on_paper_the_key_that_is_bound(
    worker: ScriptedWorker, account: KeyAccount, keys: KeyService, qtbot: QtBot
) -> None:
    worker.replies[RequestRecovery] = ACCOUNT
    cancelled: list[str] = []
    dialog = RecoveryDialog(account, keys, None, lambda _parent, title: cancelled.append(title))
    opened(qtbot, dialog)
    words = shown_words(dialog, qtbot)
    switch(dialog.ways, "file")
    for line in (dialog.file.first, dialog.file.second):
        qtbot.keyClicks(line, PHRASE)
    dialog.main.click()
    qtbot.waitUntil(lambda: bool(cancelled), timeout=SLOW_MS)
    switch(dialog.ways, "words")
    dialog.main.click()
    confirm_words(dialog, words, qtbot)
    (request,) = asked(worker, RequestRecovery)
    assert isinstance(request, RequestRecovery)
    assert list(to_words(from_text(request.seed))) == words


def recovery_by_file(
    account: KeyAccount, keys: KeyService, qtbot: QtBot, path: Path
) -> RecoveryDialog:
    """The dialog for a new recovery key, with a passphrase typed for its file."""
    dialog = RecoveryDialog(account, keys, None, lambda _parent, _title: path)
    opened(qtbot, dialog)
    switch(dialog.ways, "file")
    for line in (dialog.file.first, dialog.file.second):
        qtbot.keyClicks(line, PHRASE)
    return dialog


def test_a_file_is_read_back_before_it_is_bound_and_the_former_key_agrees(
    worker: ScriptedWorker, account: KeyAccount, keys: KeyService, qtbot: QtBot, tmp_path: Path
) -> None:
    bound_before(worker, account)
    worker.replies[RequestRecovery] = QUARANTINED
    path = tmp_path / "recovery.tequio-key"
    dialog = recovery_by_file(account, keys, qtbot, path)
    assert not dialog.main.isEnabled(), "the present recovery key is missing"
    assert dialog.former is not None
    give(dialog.former, RECOVERY)
    with qtbot.waitSignal(dialog.accepted, timeout=SLOW_MS):
        dialog.main.click()
    (request,) = asked(worker, RequestRecovery)
    assert isinstance(request, RequestRecovery)
    assert from_text(request.seed) == read_backup(path, PHRASE)
    assert from_text(request.former) == RECOVERY


def test_a_file_saved_again_holds_the_key_that_the_first_request_may_still_bind(
    worker: ScriptedWorker, account: KeyAccount, keys: KeyService, qtbot: QtBot, tmp_path: Path
) -> None:
    path = tmp_path / "recovery.tequio-key"
    dialog = recovery_by_file(account, keys, qtbot, path)
    dialog.main.click()
    qtbot.waitUntil(lambda: len(asked(worker, RequestRecovery)) == 1, timeout=SLOW_MS)
    worker.answer_last("the network does not answer")
    assert dialog.trouble.isVisible()
    dialog.main.click()
    qtbot.waitUntil(lambda: len(asked(worker, RequestRecovery)) == 2, timeout=SLOW_MS)
    first, second = asked(worker, RequestRecovery)
    assert first == second
    assert isinstance(first, RequestRecovery)
    assert from_text(first.seed) == read_backup(path, PHRASE)


def test_a_replacement_is_confirmed_stored_first_and_installed_last(
    worker: ScriptedWorker, account: KeyAccount, keys: KeyService, qtbot: QtBot, tmp_path: Path
) -> None:
    folder, before = tmp_path / "worker", keys.seed()
    staged: list[bytes] = []

    def accept(question: control.Question) -> KeyChangeReply:
        assert keys.seed() == before, "not installed before the ledger accepts it"
        staged.append(identity.load(folder / "successor").seed)
        return DONE

    worker.replies[RequestReplacement] = accept
    dialog = ReplaceDialog(account, keys)
    opened(qtbot, dialog)
    assert not dialog.main.isEnabled()
    dialog.sure.click()
    with qtbot.waitSignals([keys.key_changed, dialog.accepted], timeout=SLOW_MS):
        dialog.main.click()
    (request,) = asked(worker, RequestReplacement)
    assert isinstance(request, RequestReplacement)
    assert (request.former, request.recovery) == (ACCOUNT.key, "")
    assert [from_text(request.seed)] == staged == [keys.seed()]
    assert identity.load(folder).seed == staged[0]
    assert (folder / "identity.key.old").read_bytes() == before
    assert not (folder / "successor" / "identity.key").exists()


def test_a_refused_replacement_changes_nothing_and_is_tried_with_the_same_new_key(
    worker: ScriptedWorker, account: KeyAccount, keys: KeyService, qtbot: QtBot
) -> None:
    bound_before(worker, account)
    before = keys.seed()
    worker.replies[RequestReplacement] = "the ledger accepted nothing"
    dialog = ReplaceDialog(account, keys)
    opened(qtbot, dialog)
    dialog.sure.click()
    assert not dialog.main.isEnabled(), "its recovery key is missing"
    assert dialog.source is not None
    give(dialog.source, RECOVERY)
    dialog.main.click()
    qtbot.waitUntil(dialog.trouble.isVisible, timeout=SLOW_MS)
    assert dialog.trouble.words.text() == "The ledger accepted nothing."
    assert keys.seed() == before
    worker.replies[RequestReplacement] = DONE
    with qtbot.waitSignal(dialog.accepted, timeout=SLOW_MS):
        dialog.main.click()
    first, second = asked(worker, RequestReplacement)
    assert first == second
    assert isinstance(first, RequestReplacement)
    assert from_text(first.recovery) == RECOVERY


def leave(dialog: KeyDialog) -> None:
    """Cancel the dialog, and destroy it as its owner does."""
    dialog.reject()
    delete(dialog)


def test_a_replacement_goes_on_without_its_dialog(
    worker: ScriptedWorker, account: KeyAccount, keys: KeyService, qtbot: QtBot
) -> None:
    before = keys.seed()
    dialog = ReplaceDialog(account, keys)
    dialog.open()
    dialog.sure.click()
    dialog.main.click()
    qtbot.waitUntil(lambda: bool(asked(worker, RequestReplacement)), timeout=SLOW_MS)
    leave(dialog)
    with qtbot.waitSignal(keys.key_changed, timeout=SLOW_MS):
        worker.answer_last(DONE)
    assert keys.seed() != before


@pytest.mark.parametrize("reply", [ACCOUNT, "this name is taken"])
def test_an_answer_after_its_dialog_was_left_is_dropped(
    worker: ScriptedWorker, account: KeyAccount, keys: KeyService, reply: AccountReply | str
) -> None:
    dialog = NameDialog(account, keys)
    dialog.open()
    dialog.line.setText("Ada")
    dialog.main.click()
    leave(dialog)
    worker.answer_last(reply)


@pytest.mark.parametrize(
    ("way", "typed"),
    [("revoke", " {key} "), ("move", "https://ledger.example/peers/{key}#rounds-title")],
)
def test_a_lost_computers_key_is_stopped_or_moved_here(  # noqa: PLR0913  # a table
    worker: ScriptedWorker,
    account: KeyAccount,
    keys: KeyService,
    qtbot: QtBot,
    tmp_path: Path,
    *,
    way: str,
    typed: str,
) -> None:
    worker.replies |= {RequestRevocation: DONE, RequestReplacement: DONE}
    lost, before = to_text(Signer(bytes([3]) * 32).key), keys.seed()
    path = tmp_path / "recovery.tequio-key"
    save_backup(path, RECOVERY, PHRASE)
    dialog = LostKeyDialog(account, keys, None, lambda _parent, _title: path)
    opened(qtbot, dialog)
    switch(dialog.ways, way)
    switch(dialog.source.ways, "file")
    dialog.source.pick.click()
    qtbot.keyClicks(dialog.source.phrase, PHRASE)
    dialog.sure.click()
    qtbot.keyClicks(dialog.key, "not a key")
    assert not dialog.main.isEnabled()
    dialog.key.setText(typed.format(key=lost))
    with qtbot.waitSignal(dialog.accepted, timeout=SLOW_MS):
        dialog.main.click()
    revoked, moved = asked(worker, RequestRevocation), asked(worker, RequestReplacement)
    if way == "revoke":
        assert revoked == [RequestRevocation(key=lost, seed=to_text(RECOVERY))]
        assert not moved
        assert keys.seed() == before
    else:
        assert not revoked
        (request,) = moved
        assert isinstance(request, RequestReplacement)
        assert (request.former, request.recovery) == (lost, to_text(RECOVERY))
        assert keys.seed() == from_text(request.seed) != before


def test_an_appeal_is_sent_with_its_text(
    worker: ScriptedWorker, account: KeyAccount, keys: KeyService, qtbot: QtBot
) -> None:
    worker.replies[RequestAppeal] = QUARANTINED
    dialog = AppealDialog(account, keys)
    opened(qtbot, dialog)
    dialog.text.setPlainText("é" * 3_000)
    assert not dialog.main.isEnabled()
    assert dialog.excess.words.text().startswith("The text has 6,000 bytes, at most 4,096")
    assert dialog.excess.isVisible()
    dialog.text.setPlainText("My disk failed.\n")
    assert not dialog.excess.isVisible()
    with qtbot.waitSignal(dialog.accepted, timeout=SLOW_MS):
        dialog.main.click()
    assert asked(worker, RequestAppeal) == [RequestAppeal(text="My disk failed.")]
    assert dialog.text.toPlainText() == ""


def test_nobody_remembers_a_request_with_its_secrets(
    worker: ScriptedWorker, account: KeyAccount
) -> None:
    worker.replies[RequestRevocation] = DONE
    question = RequestRevocation(key=ACCOUNT.key, seed=to_text(RECOVERY))
    said: list[str] = []
    account.request(question, lambda: said.append("done"), said.append)
    assert said == ["done"]
    model = account.parent()
    assert isinstance(model, AppModel)
    assert model.reply(question) is None
