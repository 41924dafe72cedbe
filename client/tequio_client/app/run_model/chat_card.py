"""Cards to try the newest model: a conversation on this computer, and commands for other programs.

The rule: the person asks, so pausing or snoozing lending does not matter, and neither does sitting
at the computer. A game, a film or an exclusive program that pauses lending has priority here, too:
nothing is started beside it, and what runs is ended.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtGui import QFont, QTextCharFormat, QTextCursor
from PySide6.QtWidgets import QLineEdit, QPlainTextEdit

from tequio_client.app.language import as_sentence
from tequio_client.app.run_model.chat_process import (
    ChatProcess,
    ChatState,
    ChatTarget,
    chat_command,
)
from tequio_client.app.widgets import figures
from tequio_client.app.widgets.base import (
    ALWAYS_LEFT,
    ALWAYS_RIGHT,
    MIDDLE,
    Card,
    caption,
    fill,
    hbox,
)
from tequio_client.app.widgets.buttons import Button
from tequio_client.app.widgets.cards import CopyLine
from tequio_client.app.widgets.indicators import ProgressBar
from tequio_client.app.widgets.messages import Banner
from tequio_client.ipc.chat import MAX_CHARACTERS, ChatProblem
from tequio_client.ipc.session_rules import find_disturbance

if TYPE_CHECKING:
    from tequio_client.app.model import AppModel
    from tequio_client.app.releases import ReleaseService
    from tequio_client.ipc.runs import RunRow

TRANSCRIPT_HEIGHT = 190
MOST_BLOCKS = 500
"""Lines in memory."""
_UNFIT = re.compile(r"[^A-Za-z0-9._-]+")
Command = Callable[..., tuple[str, ...]]


class ChatCard(Card):
    def __init__(
        self, model: AppModel, releases: ReleaseService | None, command: Command = chat_command
    ) -> None:
        """`releases` of None: the runtime does not come from a release."""
        super().__init__(self.tr("Try the model"))
        self._model, self._releases, self._command = model, releases, command
        self._target: ChatTarget | None = None
        self._failed_text = ""
        """The last question without an answer."""
        self._starts_answer = False
        self.process = ChatProcess(self)
        self.banner = Banner()
        self.transcript = QPlainTextEdit()
        self.transcript.setReadOnly(True)
        self.transcript.setMaximumBlockCount(MOST_BLOCKS)
        self.transcript.setMinimumHeight(TRANSCRIPT_HEIGHT)
        self.transcript.setAccessibleName(self.tr("What you and the model wrote"))
        self.transcript.setTabChangesFocus(True)
        self.transcript.setPlaceholderText(
            self.tr(
                "The newest model answers here if it was trained on conversations, and otherwise "
                "continues what you write. Early in a run that is gibberish; it improves round by "
                "round. Its words are generated; they are not anyone's opinion."
            )
        )
        self.note, self.bar = caption(), ProgressBar(self.tr("Preparing the model"), 4)
        self.line = QLineEdit()
        self.line.setMaxLength(MAX_CHARACTERS)
        # otherwise the side would be that of the first letter
        self.line.setAlignment((ALWAYS_RIGHT if self.isRightToLeft() else ALWAYS_LEFT) | MIDDLE)
        self.line.setAccessibleName(self.tr("Your text"))
        self.send, self.new = Button(self.tr("Send"), "primary"), Button("", "quiet", "eraser")
        self.new.setText(self.tr("New conversation"))
        self.body.setSpacing(10)
        fill(self.body, self.banner, self.transcript, hbox((self.line, 1), self.send, spacing=10))
        fill(self.body, self.bar, hbox((self.note, 1), self.new, spacing=10))
        self._connect()
        self.refresh()

    def _connect(self) -> None:
        self.line.returnPressed.connect(self.submit)
        self.line.textChanged.connect(self.refresh)
        self.send.clicked.connect(self._click)
        self.new.clicked.connect(self._start_over)
        self.banner.button.clicked.connect(self._follow_banner)
        self.process.changed.connect(self.refresh)
        self.process.written.connect(self._write_piece)
        self.process.answered.connect(self._end_answer)
        self._model.session_changed.connect(self.refresh)
        if self._releases is not None:
            self._releases.changed.connect(self.refresh)

    def set_target(self, target: ChatTarget) -> None:
        """Talk with the newest head of that run from now on."""
        if target != self._target:
            self.process.end()
            self._target = target
            self._start_over()

    def submit(self) -> None:
        """Send the written text, if the model may answer now."""
        text = self.line.text().strip()
        if text and not self._is_busy and self._obstacle() is None:
            self.line.clear()
            self._write_question(text)
            self._ask(text)

    def end(self) -> None:
        """End the program; what was written stays in view."""
        self.process.end()

    @property
    def _is_busy(self) -> bool:
        return self.process.state in (ChatState.PREPARING, ChatState.ANSWERING)

    @property
    def _disturbance(self) -> str:
        """The program that has priority now; empty: none."""
        found = find_disturbance(self._model.session, self._model.preferences)
        return found[1] if found else ""

    @property
    def _needs_runtime(self) -> bool:
        return self._releases is not None and self._releases.needs_runtime

    def _ask(self, text: str, *, also_seeds: bool = False) -> None:
        if self._target is not None:
            self._failed_text, self._starts_answer = text, True
            self.process.ask(text, self._command(self._target, also_seeds=also_seeds))

    def _click(self) -> None:
        if self._is_busy:
            self.process.stop_answer()
        else:
            self.submit()

    def _start_over(self) -> None:
        self.process.forget()
        self.transcript.clear()
        self.refresh()

    # --- The transcript.

    def _write_question(self, text: str) -> None:
        has_earlier = not self.transcript.document().isEmpty()
        self._append(f"\n\n{text}" if has_earlier else text, QFont.Weight.DemiBold)

    def _write_piece(self, text: str) -> None:
        ready = self.process.ready
        if self._starts_answer and ready is not None and ready.has_turns:
            text = f"\n{text.lstrip()}"
        self._starts_answer = False
        self._append(text, QFont.Weight.Normal)

    def _append(self, text: str, weight: QFont.Weight) -> None:
        """Add text at the end, and follow it unless the user has scrolled away from it."""
        scrolling = self.transcript.verticalScrollBar()
        is_at_end = scrolling.value() >= scrolling.maximum()
        form = QTextCharFormat()
        form.setFontWeight(weight)
        end = QTextCursor(self.transcript.document())
        end.movePosition(QTextCursor.MoveOperation.End)
        end.insertText(text, form)
        if is_at_end:
            scrolling.setValue(scrolling.maximum())

    def _end_answer(self) -> None:
        if self.process.failure is None:
            self._failed_text = ""
        self.refresh()

    # --- What is in the way, and what is going on.

    def refresh(self, _news: object = None) -> None:
        is_running = self.process.state is not ChatState.OFF
        self._model.set_yielding("chat", is_running=is_running)
        if is_running and self._disturbance:
            self.process.end()
            return  # which refreshes
        obstacle = self._obstacle()
        shown = obstacle or self._failure()
        self.banner.setVisible(shown is not None)
        if shown is not None:
            level, words, button, details = shown
            self.banner.show_words(level, words, button, details)
        self._show_state(is_open=obstacle is None)

    def _obstacle(self) -> tuple[str, str, str, str] | None:
        """Level, words, button and details of what keeps the model from being started."""
        if self._needs_runtime and self._releases is not None:
            note = self._releases.current_note()
            words = self.tr("The model needs what training needs, which is not installed yet.")
            if note is None or self._releases.ready:
                return "info", words, "", ""
            return note.level, note.words, note.button, ""
        if self._disturbance:
            words = self.tr("{program} has priority now. The model can answer once it is closed.")
            return "info", words.format(program=self._disturbance), "", ""
        return None

    def _failure(self) -> tuple[str, str, str, str] | None:
        failure = self.process.failure
        if failure is None:
            return None
        if failure.problem is ChatProblem.WEIGHTS:
            words = self.tr(
                "The newest model is not on this computer yet. It comes with the next round that "
                "you take part in, or you download it now."
            )
            return "info", words, self.tr("Download"), failure.reason
        if failure.problem is ChatProblem.MEMORY:
            words = self.tr(
                "There is not enough memory: the model needs about {needed}, and {free} are free. "
                "Close other programs, then try again."
            ).format(
                needed=figures.storage(failure.needed_bytes),
                free=figures.storage(failure.free_bytes),
            )
            return "warning", words, self.tr("Try again"), ""
        words = self.tr("The model could not be started, or stopped working.")
        return "warning", words, self.tr("Try again"), as_sentence(failure.reason)

    def _follow_banner(self) -> None:
        if self._obstacle() is not None:
            if self._needs_runtime and self._releases is not None:
                self._releases.fetch_runtime()
            return
        failure, text = self.process.failure, self._failed_text
        if failure is not None and text:
            self._ask(text, also_seeds=failure.problem is ChatProblem.WEIGHTS)

    def _show_state(self, *, is_open: bool) -> None:
        state, progress = self.process.state, self.process.progress
        self.line.setEnabled(is_open)
        self.line.setPlaceholderText(self._invitation())
        self.send.setText(self.tr("Stop") if self._is_busy else self.tr("Send"))
        self.send.setEnabled(self._is_busy or (is_open and bool(self.line.text().strip())))
        self.new.setEnabled(not self._is_busy and not self.transcript.document().isEmpty())
        self.bar.setVisible(state is ChatState.PREPARING)
        self.bar.set_share(progress.done / progress.total if progress and progress.total else 0.0)
        self.note.setText(self._state_text())

    def _invitation(self) -> str:
        ready = self.process.ready
        if ready is None:
            return self.tr("Ask something, or begin a text")
        return self.tr("Ask something") if ready.has_turns else self.tr("Begin a text")

    def _state_text(self) -> str:
        state, ready, progress = self.process.state, self.process.ready, self.process.progress
        if state is ChatState.PREPARING:
            if progress is not None and progress.is_fetching:
                words = self.tr("Downloading the newest model: {done} of {total}")
                done, total = figures.data(progress.done), figures.data(progress.total)
                return words.format(done=done, total=total)
            return self.tr("Preparing the newest model, checked against the public log…")
        if ready is not None:
            words = self.tr("The model of round {number} runs on this computer's processor.")
            if self._is_training:
                words = self.tr(
                    "The model of round {number} runs on this computer's processor, slower while "
                    "it also trains."
                )
            return words.format(number=figures.count(ready.round))
        if self.process.failure is None and not self.transcript.document().isEmpty():
            return self.tr(
                "The model is closed. Your next question starts it again; it will not remember "
                "this conversation."
            )
        return self.tr("It runs on this computer's processor; nothing is sent anywhere.")

    @property
    def _is_training(self) -> bool:
        snapshot = self._model.snapshot
        return snapshot is not None and snapshot.decision.may_compute


class CommandsCard(Card):
    """The commands with which llama.cpp and Ollama run the model, to copy."""

    def __init__(self) -> None:
        super().__init__(self.tr("In other programs"))
        self.export = CopyLine(self.tr("Export the model"), is_for_machine=True)
        self.llama = CopyLine("llama.cpp", is_for_machine=True)
        self.ollama = CopyLine("Ollama", is_for_machine=True)
        words = caption(
            self.tr(
                "In a terminal, the first command exports the newest model as a GGUF file, which "
                "works for Llama, Mistral and Qwen models. The second line runs it in llama.cpp, "
                "the third in Ollama."
            )
        )
        fill(self.body, words, self.export, self.llama, self.ollama)

    def show_run(self, row: RunRow, ledger: str) -> None:
        name = _UNFIT.sub("-", row.name).strip("-.") or "model"
        run = shlex.quote(row.name)
        self.export.show_text(
            f"tequio checkpoint export --run {run} --to {name} --gguf --ledger {ledger}"
        )
        self.llama.show_text(f'llama-cli -m {name}.gguf -p "Once upon a time"')
        model = name.lower()
        self.ollama.show_text(
            f'echo "FROM ./{name}.gguf" > Modelfile && ollama create {model} -f Modelfile '
            f"&& ollama run {model}"
        )
