"""A program that talks with the app as `tequio chat --json` does, without a model.

    python -m tests.support.scripted_chat MODE

It answers with the question's words in capitals. In mode `endless` an answer ends only when it is
stopped; `talker` has turns; `missing`, `memory`, `crash` and `silent` are what can go wrong, and
`missing --seeds` fetches. `lingering` is `missing` on a busy machine: it does not end soon.
"""

from __future__ import annotations

import sys
import time

from tequio_client.ipc import chat
from tequio_client.ipc.chat import (
    AnswerEnd,
    AnswerPiece,
    AskModel,
    ChatFailed,
    ChatProblem,
    FromChat,
    ModelReady,
    PreparingModel,
    StopAnswer,
    ToChat,
)

MISSING = ChatFailed(problem=ChatProblem.WEIGHTS, reason="the store lacks the weights")
FAILURES = {
    "missing": MISSING,
    "lingering": MISSING,
    "memory": ChatFailed(
        problem=ChatProblem.MEMORY,
        reason="too little memory",
        needed_bytes=9 << 30,
        free_bytes=2 << 30,
    ),
}


def send(message: FromChat) -> None:
    """Send one line."""
    sys.stdout.buffer.write(chat.encode(message))
    sys.stdout.buffer.flush()


def receive() -> ToChat:
    """Wait for the next line; the end of the input ends the program."""
    line = sys.stdin.buffer.readline()
    if not line:
        raise SystemExit(0)
    found: ToChat = chat.decode_to_chat(line)
    return found


def answer(question: AskModel, mode: str) -> None:
    """Answer word by word."""
    for word in question.text.upper().split():
        send(AnswerPiece(number=question.number, text=f" {word}"))
    while mode == "endless":
        stop = receive()
        if isinstance(stop, StopAnswer):
            send(AnswerEnd(number=question.number))
            return
    send(AnswerEnd(number=question.number))


def main(mode: str) -> None:
    """Talk in that mode."""
    sys.stdout.write("a library's own words\n")
    sys.stdout.flush()
    if mode in FAILURES and "--seeds" not in sys.argv:
        send(FAILURES[mode])
        if mode == "lingering":
            time.sleep(600)
        raise SystemExit(1)
    if mode == "crash":
        raise SystemExit("the processor is on fire")
    is_fetching = "--seeds" in sys.argv
    send(PreparingModel(done=500_000_000, total=1_400_000_000, is_fetching=is_fetching))
    if mode == "silent" or is_fetching:
        time.sleep(600)
    send(ModelReady(round=1_840, has_turns=mode == "talker"))
    while True:
        message = receive()
        if isinstance(message, AskModel):
            answer(message, mode)


if __name__ == "__main__":
    main(sys.argv[1])
