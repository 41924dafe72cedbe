"""Talking with the newest model in the app: what is shown, what is in the way, and when it ends."""

from __future__ import annotations

import dataclasses
import sys
from typing import TYPE_CHECKING

import psutil
import pytest
from msgspec.structs import replace
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication

from tequio_client import cli
from tequio_client.app.pages.page import PageContext
from tequio_client.app.releases import ReleaseService
from tequio_client.app.run_model.chat_card import ChatCard, CommandsCard
from tequio_client.app.run_model.chat_process import (
    ChatProcess,
    ChatState,
    ChatTarget,
    chat_command,
)
from tequio_client.app.run_model.page import ModelPage
from tequio_client.app.window import AppWindow
from tequio_client.ipc.facts import SessionFacts
from tequio_client.ipc.runs import AskRuns, RunsReply
from tequio_shared.ids import to_text
from tests.support.app_pages import open_page
from tests.support.app_program import own
from tests.support.app_scenes import LENDING, NOW_MS, SCENES
from tests.support.app_worker_answers import NOVA
from tests.support.llama_swarm import ROUNDS, ServedLog, played, served_log
from tests.support.update_rules import update_rules

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from pytestqt.qtbot import QtBot

    from tequio_client.app.model import AppModel
    from tequio_client.app.theme.look import Theme
    from tests.support.app_worker import ScriptedWorker

pytestmark = pytest.mark.usefixtures("theme", "language")
GAME = SessionFacts(game="Hollow Knight")
PATIENCE_MS = 300_000


def scripted(mode: str) -> Callable[..., tuple[str, ...]]:
    """The command of a program that talks as the real one does."""

    def command(_: ChatTarget, *, also_seeds: bool) -> tuple[str, ...]:
        seeds = ("--seeds",) if also_seeds else ()
        return (sys.executable, "-m", "tests.support.scripted_chat", mode, *seeds)

    return command


@pytest.fixture
def make(
    model: AppModel, worker: ScriptedWorker, qtbot: QtBot, tmp_path: Path
) -> Iterator[Callable[..., ChatCard]]:
    made: list[ChatCard] = []

    def card(mode: str, releases: ReleaseService | None = None) -> ChatCard:
        worker.send_snapshot(SCENES["paused"])
        one = ChatCard(model, releases, scripted(mode))
        one.set_target(ChatTarget(run="r", ledger="https://ledger.example", folder=tmp_path))
        made.append(one)
        qtbot.addWidget(one)
        one.resize(820, 420)
        one.show()
        return one

    yield card
    for one in made:
        one.end()


def ask(card: ChatCard, qtbot: QtBot, text: str) -> None:
    """Type and press Enter."""
    qtbot.keyClicks(card.line, text)
    qtbot.keyClick(card.line, Qt.Key.Key_Return)


def settle(card: ChatCard, qtbot: QtBot) -> str:
    """Wait for the answer's end; returns the transcript."""
    wanted = (ChatState.READY, ChatState.OFF)
    qtbot.waitUntil(lambda: card.process.state in wanted, timeout=PATIENCE_MS)
    return card.transcript.toPlainText()


def test_a_text_is_continued_although_lending_is_paused(
    make: Callable[..., ChatCard], qtbot: QtBot
) -> None:
    card = make("good")
    assert not card.send.isEnabled()
    assert card.process.pid == 0, "nothing runs before a question"
    ask(card, qtbot, "once upon")
    assert card.process.state is ChatState.PREPARING
    assert card.send.text() == "Stop"
    assert settle(card, qtbot) == "once upon ONCE UPON"
    assert "round 1,840 runs on this computer's processor." in card.note.text()
    assert card.line.placeholderText() == "Begin a text"
    pid = card.process.pid
    ask(card, qtbot, "again")
    assert settle(card, qtbot) == "once upon ONCE UPON\n\nagain AGAIN"
    assert card.process.pid == pid
    assert not card.banner.isVisible()


def test_a_conversation_has_turns_and_can_begin_again(
    make: Callable[..., ChatCard], qtbot: QtBot
) -> None:
    card = make("talker")
    ask(card, qtbot, "who are you?")
    assert settle(card, qtbot) == "who are you?\nWHO ARE YOU?"
    qtbot.mouseClick(card.new, Qt.MouseButton.LeftButton)
    assert card.transcript.toPlainText() == ""
    assert not card.new.isEnabled()
    assert card.process.state is ChatState.READY


def test_an_answer_can_be_stopped(make: Callable[..., ChatCard], qtbot: QtBot) -> None:
    card = make("endless")
    ask(card, qtbot, "on and on")
    qtbot.waitUntil(lambda: "ON AND ON" in card.transcript.toPlainText())
    assert card.send.text() == "Stop"
    assert not card.new.isEnabled()
    qtbot.mouseClick(card.send, Qt.MouseButton.LeftButton)
    assert settle(card, qtbot) == "on and on ON AND ON"
    assert card.process.state is ChatState.READY


def test_preparing_can_be_stopped(make: Callable[..., ChatCard], qtbot: QtBot) -> None:
    card = make("silent")
    ask(card, qtbot, "hello")
    qtbot.waitUntil(lambda: card.process.progress is not None)
    assert card.bar.isVisible()
    assert card.bar.share == pytest.approx(5 / 14)
    assert "Preparing the newest model" in card.note.text()
    pid = card.process.pid
    qtbot.mouseClick(card.send, Qt.MouseButton.LeftButton)
    assert card.process.state is ChatState.OFF
    assert not psutil.pid_exists(pid)


def test_training_beside_it_is_said(
    make: Callable[..., ChatCard], qtbot: QtBot, worker: ScriptedWorker
) -> None:
    card = make("good")
    ask(card, qtbot, "hello")
    settle(card, qtbot)
    worker.send_snapshot(LENDING)
    card.refresh()
    assert card.note.text().endswith("slower while it also trains.")


def test_a_game_has_priority(make: Callable[..., ChatCard], qtbot: QtBot, model: AppModel) -> None:
    card = make("endless")
    ask(card, qtbot, "hello")
    qtbot.waitUntil(lambda: card.process.state is ChatState.ANSWERING)
    pid = card.process.pid
    assert model.yielding == {"chat"}
    model.update_session(GAME)
    assert card.process.state is ChatState.OFF
    assert not model.yielding
    assert not psutil.pid_exists(pid)
    assert card.banner.isVisible()
    assert card.banner.words.text().startswith("Hollow Knight has priority now.")
    assert not card.line.isEnabled()
    card.line.setText("and now?")
    card.submit()
    assert card.process.pid == 0
    model.set_preferences(replace(model.preferences, pause_for_games=False))
    model.update_session(GAME)
    assert card.line.isEnabled(), "for somebody who allows lending beside games"


def test_weights_that_are_not_here_are_downloaded_when_asked_for(
    make: Callable[..., ChatCard], qtbot: QtBot
) -> None:
    card = make("missing")
    ask(card, qtbot, "hello")
    settle(card, qtbot)
    assert "not on this computer yet" in card.banner.words.text()
    assert card.banner.button.text() == "Download"
    assert card.line.isEnabled()
    qtbot.mouseClick(card.banner.button, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: card.process.progress is not None)
    assert card.note.text() == "Downloading the newest model: 500 MB of 1.4 GB"
    assert card.transcript.toPlainText() == "hello", "the question is not written twice"
    assert not card.banner.isVisible()


def test_a_program_that_has_failed_and_not_ended_gets_no_question(
    make: Callable[..., ChatCard], qtbot: QtBot
) -> None:
    card = make("lingering")
    ask(card, qtbot, "hello")
    qtbot.waitUntil(lambda: card.banner.button.text() == "Download", timeout=PATIENCE_MS)
    failed = card.process.pid
    qtbot.mouseClick(card.banner.button, Qt.MouseButton.LeftButton)
    assert not psutil.pid_exists(failed)
    qtbot.waitUntil(lambda: card.process.progress is not None, timeout=PATIENCE_MS)
    assert not card.banner.isVisible()


def test_too_little_memory_is_named(make: Callable[..., ChatCard], qtbot: QtBot) -> None:
    card = make("memory")
    ask(card, qtbot, "hello")
    settle(card, qtbot)
    assert "needs about 9.0 GB, and 2.0 GB are free" in card.banner.words.text()
    assert card.banner.button.text() == "Try again"


def test_a_program_that_dies_says_why(make: Callable[..., ChatCard], qtbot: QtBot) -> None:
    card = make("crash")
    ask(card, qtbot, "hello")
    settle(card, qtbot)
    assert "could not be started, or stopped working" in card.banner.words.text()
    qtbot.mouseClick(card.banner.details, Qt.MouseButton.LeftButton)
    dialog = card.banner.details.dialog
    assert dialog is not None
    assert dialog.text.toPlainText() == "The processor is on fire."
    dialog.close()


def test_a_program_that_cannot_be_started_is_a_failure(qtbot: QtBot) -> None:
    process = ChatProcess()
    process.ask("hello", ("/no/such/program",))
    qtbot.waitUntil(lambda: process.failure is not None)
    assert process.state is ChatState.OFF


def test_it_ends_when_nobody_asks_anything_for_a_while(
    make: Callable[..., ChatCard], qtbot: QtBot
) -> None:
    card = make("good")
    ask(card, qtbot, "hello")
    settle(card, qtbot)
    pid = card.process.pid
    card.process._idle.start(10)  # noqa: SLF001 - five minutes
    qtbot.waitUntil(lambda: card.process.state is ChatState.OFF)
    assert not psutil.pid_exists(pid)
    assert "will not remember this conversation" in card.note.text()
    ask(card, qtbot, "back")
    assert settle(card, qtbot) == "hello HELLO\n\nback BACK"


@pytest.mark.parametrize("leave", ["close", "rebuild", "another page"])
def test_it_ends_with_the_page_however_that_is_left(
    model: AppModel,
    worker: ScriptedWorker,
    theme: Theme,
    qtbot: QtBot,
    tmp_path: Path,
    leave: str,
) -> None:
    window = AppWindow(model, theme, lambda: NOW_MS, own=own(tmp_path))
    qtbot.addWidget(window)
    window.show()
    window.open_page("model")
    away = replace(LENDING.ledger, url="http://127.0.0.1:9")
    worker.send_snapshot(replace(LENDING, ledger=away))
    page = window.page
    assert isinstance(page, ModelPage)
    page.refresh()
    page.chat._command = scripted("endless")  # noqa: SLF001 - no model is loaded
    ask(page.chat, qtbot, "hello")
    process = page.chat.process
    qtbot.waitUntil(lambda: process.state is ChatState.ANSWERING)
    pid = process.pid
    actions = {"close": window.close, "rebuild": window.rebuild}
    actions.get(leave, lambda: window.open_page("home"))()
    assert not psutil.pid_exists(pid)


def test_a_missing_runtime_is_installed_from_here(
    make: Callable[..., ChatCard], qtbot: QtBot
) -> None:
    started: list[tuple[str, ...]] = []

    def command(*words: str) -> tuple[str, ...]:
        started.append(words)
        offer = '{"event": "offer", "version": "1", "installed": "1", "runtime_bytes": 3000000000}'
        return (sys.executable, "-c", f"print({offer!r})", *words)

    rules = update_rules(may_look=lambda: False)
    releases = ReleaseService(rules, command=command, has_runtime=lambda: False)
    card = make("good", releases)
    assert "which is not installed yet" in card.banner.words.text()
    assert not card.line.isEnabled()
    releases.check_mirrors()
    qtbot.waitUntil(lambda: releases.offer is not None)
    qtbot.waitUntil(lambda: not releases.is_fetching)
    assert "a download of 3.0 GB" in card.banner.words.text()
    qtbot.mouseClick(card.banner.button, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: ("runtime", "install") in started)
    qtbot.waitUntil(lambda: not releases.is_fetching)
    releases.close()


def test_the_commands_can_be_copied_and_names_are_quoted(qtbot: QtBot) -> None:
    card = CommandsCard()
    qtbot.addWidget(card)
    card.show_run(replace(NOVA, name="maize & 1.0"), "https://ledger.example")
    lines = [line.text for line in (card.export, card.llama, card.ollama)]
    assert lines == [
        "tequio checkpoint export --run 'maize & 1.0' --to maize-1.0 --gguf "
        "--ledger https://ledger.example",
        'llama-cli -m maize-1.0.gguf -p "Once upon a time"',
        'echo "FROM ./maize-1.0.gguf" > Modelfile && ollama create maize-1.0 -f Modelfile '
        "&& ollama run maize-1.0",
    ]
    qtbot.mouseClick(card.llama.button, Qt.MouseButton.LeftButton)
    assert QGuiApplication.clipboard().text() == lines[1]


def test_the_command_names_the_workers_store_and_another_folder_has_its_own_heads(
    tmp_path: Path,
) -> None:
    target = ChatTarget(run="-Hq3Jm", ledger="https://ledger.example", folder=tmp_path)
    words = chat_command(target, also_seeds=True)
    assert "--run=-Hq3Jm" in words, "a run's id may begin with a dash"
    assert words[-1] == "--seeds"
    assert str(tmp_path / "chat") in words
    usual = dataclasses.replace(target, folder=cli.default_folder("worker"))
    assert str(cli.default_folder("chat")) in chat_command(usual, also_seeds=False)


# --- With a real model.


@pytest.fixture(scope="module")
def log() -> Iterator[ServedLog]:
    from tests.client.verify.logs import SwarmLog  # noqa: PLC0415 - the others need none

    with served_log(SwarmLog(played().swarm)) as one:
        yield one


def test_the_newest_head_of_the_run_answers_until_the_page_is_left(
    log: ServedLog, context: PageContext, worker: ScriptedWorker, qtbot: QtBot, tmp_path: Path
) -> None:
    program = own(tmp_path)
    played().store(program.folder, ROUNDS)
    manifest = log.log.swarm.manifest
    run = to_text(manifest.run_id)
    row = replace(NOVA, run=run, name=manifest.name)
    worker.replies[AskRuns] = RunsReply(rows=(row,))
    page = ModelPage(dataclasses.replace(context, program=program))
    open_page(page, qtbot, height=1_400)
    assert LENDING.round is not None
    view = replace(LENDING.ledger, url=log.url)
    worker.send_snapshot(replace(LENDING, ledger=view, round=replace(LENDING.round, run=run)))
    page.refresh()
    card = page.chat
    qtbot.waitUntil(card.isVisible)
    ask(card, qtbot, "maize")
    said = settle(card, qtbot)
    assert card.process.failure is None, card.process.failure
    assert said.startswith("maize")
    assert len(said) > len("maize")
    assert card.process.ready is not None
    assert card.process.ready.round == ROUNDS
    running = psutil.Process(card.process.pid)
    assert running.nice() > 0
    page.hide()
    assert card.process.pid == 0
    assert not running.is_running()
