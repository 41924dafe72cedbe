"""Messages, as JSON lines, between the app and the program that runs a model for it.

The program prepares the newest head, states that it is ready, and answers one question at a time.
The end of its input ends it at once.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from typing import Annotated, TypeAlias

import msgspec

from tequio_client import ipc

LINE_BYTES = 1 << 18
"""Maximum length of a line, newline included."""
MAX_CHARACTERS = 16_384
"""Of one question."""

Count: TypeAlias = Annotated[int, msgspec.Meta(ge=0, le=2**53 - 1)]
Text: TypeAlias = Annotated[str, msgspec.Meta(max_length=MAX_CHARACTERS)]


class ChatProblem(StrEnum):
    WEIGHTS = "weights"
    """The newest head is not on this computer, and was not to be fetched."""
    MEMORY = "memory"
    """The model needs more memory than is free."""
    OTHER = "other"


class AskModel(msgspec.Struct, frozen=True, kw_only=True, tag="ask"):
    """Answer this, or continue it; numbers rise."""

    number: Count
    text: Text


class StopAnswer(msgspec.Struct, frozen=True, kw_only=True, tag="stop"):
    """End the answers up to that number; what was written stays in the conversation."""

    number: Count


class ForgetTurns(msgspec.Struct, frozen=True, kw_only=True, tag="forget"):
    """Start a new conversation."""


class PreparingModel(msgspec.Struct, frozen=True, kw_only=True, tag="preparing"):
    """A piece of the work before the first answer; its steps are of its own kind."""

    done: Count
    total: Count
    is_fetching: bool = False
    """The weights come from other computers; steps are bytes."""


class ModelReady(msgspec.Struct, frozen=True, kw_only=True, tag="ready"):
    round: Count
    has_turns: bool
    """True if it was trained on conversations; otherwise it continues texts."""


class AnswerPiece(msgspec.Struct, frozen=True, kw_only=True, tag="piece"):
    number: Count
    text: str


class AnswerEnd(msgspec.Struct, frozen=True, kw_only=True, tag="end"):
    number: Count


class ChatFailed(msgspec.Struct, frozen=True, kw_only=True, tag="failed"):
    """The program ends."""

    problem: ChatProblem
    reason: str
    """For people, in English."""
    needed_bytes: Count = 0
    free_bytes: Count = 0
    """Memory; both are 0 for other problems."""


ToChat: TypeAlias = AskModel | StopAnswer | ForgetTurns
FromChat: TypeAlias = PreparingModel | ModelReady | AnswerPiece | AnswerEnd | ChatFailed
decode_to_chat: Callable[[bytes], ToChat]
decode_to_chat = ipc.line_decoder(ToChat, LINE_BYTES, "a line to the chat")
decode_from_chat: Callable[[bytes], FromChat]
decode_from_chat = ipc.line_decoder(FromChat, LINE_BYTES, "a line from the chat")


def encode(line: ToChat | FromChat) -> bytes:
    return ipc.encode(line)
