"""`tequio chat --json`: the newest head answers another program, line by line."""

from __future__ import annotations

import subprocess
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeVar

import pytest

from tequio_client.checkpoint import chat_lines
from tequio_client.checkpoint.chat_lines import NotEnoughMemoryError
from tequio_client.ipc import chat as ipc_chat
from tequio_client.ipc.chat import (
    AnswerEnd,
    AnswerPiece,
    AskModel,
    ChatFailed,
    ChatProblem,
    ForgetTurns,
    FromChat,
    ModelReady,
    PreparingModel,
    StopAnswer,
    ToChat,
)
from tests.client.verify.logs import SwarmLog
from tests.support import chats
from tests.support.attack_table import attack
from tests.support.forked_program import MODELS, ForkedProgram, pipes_of, run_forked
from tests.support.llama_swarm import ROUNDS, ServedLog, play, played, served_log

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

PATIENCE_S = 300
M = TypeVar("M", bound=FromChat)


class ChatProgram:
    """The running program; messages in, messages out."""

    def __init__(
        self,
        site: ServedLog,
        store: Path,
        cache: Path,
        *words: str,
        program: Sequence[str] = (),
        environ: dict[str, str] | None = None,
    ) -> None:
        """`program`: another `tequio` than this source's; `environ`: its whole environment.

        Without an `environ`, it is ours.
        """
        self.status = 0
        """The expected exit status."""
        run = site.log.swarm.manifest.name
        options = ("--ledger", site.url, "--store", str(store), "--dir", str(cache))
        words = (*options, "--device", "cpu", "--temperature", "0", *words)
        command, pipe = ("chat", "--json", f"--run={run}", *words), subprocess.PIPE
        self.process: subprocess.Popen[bytes] | ForkedProgram
        if program:
            command = (*program, *command)
            self.process = subprocess.Popen(command, stdin=pipe, stdout=pipe, env=environ)
        else:
            self.process = ForkedProgram(MODELS, *command, stdin=pipe, stdout=pipe, env=environ)
        self.input, self._output = pipes_of(self.process)

    def send(self, message: ToChat) -> None:
        """Send one line."""
        self.input.write(ipc_chat.encode(message))
        self.input.flush()

    def close(self) -> None:
        """Close its output."""
        self._output.close()

    def until(self, kind: type[M], seen: list[FromChat] | None = None) -> M:
        """Read up to the first message of that kind; the others are added to `seen`."""
        while line := self._output.readline():
            message: FromChat = ipc_chat.decode_from_chat(line)
            if isinstance(message, kind):
                return message
            if seen is not None:
                seen.append(message)
        raise AssertionError(f"the program ended without {kind.__name__}")

    def answer(self, number: int, text: str) -> str:
        """Ask, and return the whole answer."""
        self.send(AskModel(number=number, text=text))
        seen: list[FromChat] = []
        assert self.until(AnswerEnd, seen).number == number
        return text_of(seen)


def text_of(seen: list[FromChat]) -> str:
    return "".join(one.text for one in seen if isinstance(one, AnswerPiece))


@contextmanager
def chat_program(
    site: ServedLog,
    store: Path,
    cache: Path,
    *words: str,
    program: Sequence[str] = (),
    environ: dict[str, str] | None = None,
) -> Iterator[ChatProgram]:
    """Start it, and end its input at the end."""
    running = ChatProgram(site, store, cache, *words, program=program, environ=environ)
    try:
        yield running
        running.input.close()
        assert running.process.wait(PATIENCE_S) == running.status
    finally:
        running.process.kill()
        running.process.wait()
        running.close()


def test_the_newest_head_continues_a_text_and_stops_when_told(
    site: ServedLog, tmp_path: Path
) -> None:
    store = played().store(tmp_path / "store", ROUNDS)
    with chat_program(site, store, tmp_path / "cache", "--tokens", "60") as program:
        seen: list[FromChat] = []
        ready = program.until(ModelReady, seen)
        assert (ready.round, ready.has_turns) == (ROUNDS, False)
        assert any(isinstance(one, PreparingModel) for one in seen)
        first = program.answer(1, "maize")
        assert first
        assert program.answer(2, "maize") == first
        for number in range(3, 20):  # on a busy computer, an answer may end before it is stopped
            program.send(AskModel(number=number, text="maize"))
            program.send(StopAnswer(number=number))
            seen.clear()
            program.until(AnswerEnd, seen)
            if text_of(seen) != first:
                break
        else:
            pytest.fail("no answer was stopped")
        assert first.startswith(text_of(seen))
        assert program.answer(20, "maize") == first


def test_a_conversation_is_remembered_until_it_is_forgotten(tmp_path: Path) -> None:
    talk = [chats.message("user", "w1 w2"), chats.message("assistant", "w3")]
    encoder = chats.encoder(chats.word_tokenizer(tmp_path / "tokenizer"), 64)
    run = play(tokenizer=encoder.tokenizer.file, chat=chats.chat_of(encoder, talk))
    with served_log(SwarmLog(run.swarm)) as site:
        store = run.store(tmp_path / "store", ROUNDS)
        with chat_program(site, store, tmp_path / "cache", "--tokens", "8") as program:
            assert program.until(ModelReady).has_turns
            first = program.answer(1, "w1 w2")
            program.answer(2, "w3")
            program.send(ForgetTurns())
            assert program.answer(3, "w1 w2") == first


def test_a_head_that_is_not_here_is_told_apart_from_other_problems(
    site: ServedLog, tmp_path: Path
) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    for words, problem in (((), ChatProblem.WEIGHTS), (("--seeds",), ChatProblem.OTHER)):
        with chat_program(site, empty, tmp_path / "cache", *words) as program:
            program.status = 1
            failed = program.until(ChatFailed)
            assert failed.problem is problem, failed.reason


@attack("M16", layer="mdl", ends="one sentence about the wrong document, and the end")
def test_a_document_with_other_bytes_is_named(tmp_path: Path) -> None:
    store = played().store(tmp_path / "store", ROUNDS)
    with served_log(SwarmLog(played().swarm)) as site:
        site.lie = lambda path: b"{}" if path.startswith("/v1/blobs/") else None
        with chat_program(site, store, tmp_path / "cache") as program:
            program.status = 1
            failed = program.until(ChatFailed)
    assert failed.problem is ChatProblem.OTHER
    assert "came with hash" in failed.reason


def test_the_end_of_the_input_ends_it_in_the_middle_of_an_answer(
    site: ServedLog, tmp_path: Path
) -> None:
    store = played().store(tmp_path / "store", ROUNDS)
    with chat_program(site, store, tmp_path / "cache", "--tokens", "1000000") as program:
        program.until(ModelReady)
        program.send(AskModel(number=1, text="maize"))


def test_a_line_of_another_version_ends_it(site: ServedLog, tmp_path: Path) -> None:
    store = played().store(tmp_path / "store", ROUNDS)
    with chat_program(site, store, tmp_path / "cache") as program:
        program.input.write(b'{"type":"sing"}\n')
        program.input.flush()
        assert program.process.wait(PATIENCE_S) == 0


def test_a_model_that_does_not_fit_into_memory_is_refused_before_it_is_loaded(
    whole: Path,
) -> None:
    chat_lines.check_memory(whole, 1 << 40)
    with pytest.raises(NotEnoughMemoryError, match="close other programs") as refused:
        chat_lines.check_memory(whole, 1_000)
    assert refused.value.needed_bytes > refused.value.free_bytes == 1_000


def test_without_a_run_it_is_a_wrong_command(whole: Path) -> None:
    ended = run_forked(MODELS, "chat", str(whole), "--json", timeout_s=PATIENCE_S)
    assert ended.returncode == 2
    assert "--json needs a run" in ended.stderr
