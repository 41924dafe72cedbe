"""Questions and answers in the words of OpenAI's API, as far as a research model has them.

Only the parameters below exist. Another one is refused by its name, because an answer that ignores
a parameter looks as if it had obeyed. (OpenAI's API reference: Completions, Chat, Models; the
answers' fields are those that its clients require.)
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal, TypeAlias, TypeVar

import msgspec
from msgspec import Meta, Struct

from tequio_shared import encoding
from tequio_shared.errors import MalformedError

TEXT_CHARS = 65_536
"""Most characters of a prompt, or of one turn; its tokens have a limit of their own."""
TURNS = 128
EVENT_STREAM = "text/event-stream; charset=utf-8"
DONE = b"data: [DONE]\n\n"

_Text: TypeAlias = Annotated[str, Meta(max_length=TEXT_CHARS)]
_Name: TypeAlias = Annotated[str, Meta(max_length=256)]
_Count: TypeAlias = Annotated[int, Meta(ge=1, le=1 << 20)]
Q = TypeVar("Q", bound="VisitorQuestion")


class VisitorQuestion(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The fields of both kinds; the service chooses a missing value."""

    model: _Name
    max_tokens: _Count | None = None
    temperature: Annotated[float, Meta(ge=0, le=2)] | None = None
    top_p: Annotated[float, Meta(gt=0, le=1)] | None = None
    seed: Annotated[int, Meta(ge=0, le=(1 << 32) - 1)] | None = None
    stream: bool = False

    @property
    def wanted_tokens(self) -> int | None:
        return self.max_tokens


class Completion(VisitorQuestion, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Continue a text."""

    prompt: _Text


class ChatTurn(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    role: Literal["system", "user", "assistant"]
    content: _Text


class ChatCompletion(VisitorQuestion, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Answer a conversation."""

    messages: Annotated[tuple[ChatTurn, ...], Meta(min_length=1, max_length=TURNS)]
    max_completion_tokens: _Count | None = None
    """The newer name of `max_tokens`."""

    @property
    def wanted_tokens(self) -> int | None:
        return self.max_completion_tokens or self.max_tokens


class QuestionError(Exception):
    """A question that gets no answer; `retry_s` tells when it may be asked again."""

    def __init__(self, status: int, message: str, *, retry_s: int | None = None) -> None:
        super().__init__(message)
        self.status, self.retry_s = status, retry_s


def parse(raw: bytes, kind: type[Q]) -> Q:
    """Read a question; raises QuestionError that names the field."""
    try:
        return encoding.read(raw, kind)
    except MalformedError as err:
        raise QuestionError(400, f"this question cannot be read: {err}") from err


def encode_error(error: QuestionError) -> bytes:
    kind = {429: "rate_limit_exceeded", 500: "server_error", 503: "server_error"}
    told = {
        "message": str(error),
        "type": kind.get(error.status, "invalid_request_error"),
        "param": None,
        "code": error.status,
    }
    return msgspec.json.encode({"error": told})


def encode_event(content: object) -> bytes:
    """Encode one server-sent event."""
    return b"data: " + msgspec.json.encode(content) + b"\n\n"


class AnswerForm:
    """How the answer to one question is written, whole or in pieces."""

    def __init__(self, *, is_chat: bool, id_: str, created_s: int, model: str) -> None:
        self._is_chat = is_chat
        self._object = "chat.completion" if is_chat else "text_completion"
        prefix = "chatcmpl" if is_chat else "cmpl"
        self._begin = {"id": f"{prefix}-{id_}", "created": created_s, "model": model}

    def whole(self, text: str, end: str, head: str, usage: Mapping[str, int]) -> bytes:
        said: dict[str, object] = {"text": text, "logprobs": None}
        if self._is_chat:
            said = {"message": {"role": "assistant", "content": text}}
        choice = {"index": 0, **said, "finish_reason": end}
        return msgspec.json.encode(self._answer(self._object, head, choice) | {"usage": usage})

    def piece(self, text: str, head: str) -> bytes:
        return self._event({"content": text} if self._is_chat else {"text": text}, None, head)

    def begin(self, head: str) -> bytes:
        """Encode the event before the first piece, which states the head."""
        said = {"role": "assistant", "content": ""} if self._is_chat else {"text": ""}
        return self._event(said, None, head)

    def end(self, end: str, head: str) -> bytes:
        return self._event({} if self._is_chat else {"text": ""}, end, head) + DONE

    def _event(self, said: Mapping[str, str], end: str | None, head: str) -> bytes:
        kind = "chat.completion.chunk" if self._is_chat else self._object
        content = {"delta": said} if self._is_chat else {**said, "logprobs": None}
        return encode_event(self._answer(kind, head, {"index": 0, **content, "finish_reason": end}))

    def _answer(self, kind: str, head: str, choice: Mapping[str, object]) -> dict[str, object]:
        return {**self._begin, "object": kind, "system_fingerprint": head, "choices": [choice]}
