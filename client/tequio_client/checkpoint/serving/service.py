"""The routes of the service: its page, the models, and answers, each with its limits.

Nothing that a visitor writes is stored or logged, and no address is: a log line about an answer has
counts and times alone.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable
from typing import TYPE_CHECKING

import msgspec
import structlog
import trio

from tequio_client import clock
from tequio_client.checkpoint.serving import openai
from tequio_client.checkpoint.serving.connections import HttpAnswer, Reply, Request
from tequio_client.checkpoint.serving.host import (
    Event,
    ModelHost,
    ServedHead,
    WritingBegin,
    WritingEnd,
    prompt_room,
)
from tequio_client.checkpoint.serving.openai import (
    AnswerForm,
    ChatCompletion,
    Completion,
    QuestionError,
    VisitorQuestion,
)
from tequio_shared.errors import UserFacingError
from tequio_shared.ratelimit import TokenBuckets

if TYPE_CHECKING:
    from tequio_client.checkpoint.serving.page import VisitorPage
    from tequio_client.trainer.conversation import WritingStyle

log = structlog.get_logger(__name__)
PAGE, MODELS = "/", "/v1/models"
COMPLETIONS, CHAT = "/v1/completions", "/v1/chat/completions"
_METHODS = {PAGE: "GET", MODELS: "GET", COMPLETIONS: "POST", CHAT: "POST"}
_JSON = "application/json"
_NO_STORE = {"cache-control": "no-store", "x-content-type-options": "nosniff"}

MakeStyle = Callable[..., "WritingStyle"]


class ChatService:
    """Answers requests with the model of a host."""

    def __init__(
        self,
        host: ModelHost,
        page: VisitorPage,
        ledger: str,
        make_style: MakeStyle,
        per_minute: float,
    ) -> None:
        """`per_minute`: questions of one visitor."""
        self._host, self._page, self._ledger = host, page, ledger.rstrip("/")
        self._make_style = make_style
        self._buckets = TokenBuckets(per_minute / 60, max(per_minute, 1.0))
        self._again_s = max(round(60 / per_minute), 1)

    async def handle(self, request: Request, exchange: HttpAnswer) -> None:
        """Answer a request; raises trio's errors of a broken or slow connection."""
        try:
            await self._route(request, exchange)
        except QuestionError as err:
            if exchange.is_begun:
                await exchange.send_piece(b"data: " + openai.encode_error(err) + b"\n\n")
                await exchange.end_stream()
            else:
                await exchange.send(refuse(err))

    async def _route(self, request: Request, exchange: HttpAnswer) -> None:
        """Raises QuestionError, also after the answer was begun."""
        wanted = _METHODS.get(request.path)
        if wanted is None:
            raise QuestionError(404, f"nothing is at {request.path[:100]}: {_list_paths()}")
        if wanted != ("GET" if exchange.is_head else request.method):
            raise QuestionError(405, f"{request.path} answers {wanted}")
        if request.path == PAGE:
            await exchange.send(self._page.render(self._models()))
        elif request.path == MODELS:
            listed = {"object": "list", "data": self._models()}
            await exchange.send(_reply(200, msgspec.json.encode(listed)))
        else:
            await self._answer(request, exchange)

    def _models(self) -> list[dict[str, object]]:
        head = self._host.head
        return [] if head is None else [self.describe(head)]

    def describe(self, head: ServedHead) -> dict[str, object]:
        """Describe a head as a model of OpenAI's list, with fields of our own beside theirs."""
        claim, limits = head.claim, self._host.limits
        return {
            "id": head.name,
            "object": "model",
            "created": head.since_ms // 1000,
            "owned_by": "tequio",
            "run": claim.run,
            "round": claim.round,
            "head": claim.head,
            "proof": f"{self._ledger}/entries/{claim.entry}",
            "answers_turns": head.has_turns,
            "max_tokens": limits.tokens,
            "max_prompt_tokens": prompt_room(head.context, limits),
        }

    async def _answer(self, request: Request, exchange: HttpAnswer) -> None:
        # A page of another site cannot send this type without asking first, and nothing allows it.
        if request.headers.get("content-type", "").partition(";")[0].strip().lower() != _JSON:
            raise QuestionError(415, f"a question has the content type {_JSON}")
        asked: VisitorQuestion
        prompt: str | list[dict[str, str]]
        if request.path == CHAT:
            asked = chat = openai.parse(request.body, ChatCompletion)
            prompt = [{"role": one.role, "content": one.content} for one in chat.messages]
        else:
            asked = text = openai.parse(request.body, Completion)
            prompt = text.prompt
        head = self._host.head
        if head is not None and asked.model != head.name:
            raise QuestionError(404, f"the model {asked.model!r} is not here: it is {head.name!r}")
        style = self._style(asked)
        if not self._buckets.try_spend(request.address, 1, clock.steady_ms() / 1000):
            raise QuestionError(
                429, "you have asked too often: wait a little", retry_s=self._again_s
            )
        form = AnswerForm(
            is_chat=request.path == CHAT,
            id_=secrets.token_hex(12),
            created_s=clock.now_ms() // 1000,
            model=asked.model,
        )
        with self._host.question(prompt, style, request.address) as events:
            await self._pass_on(events, exchange, form, is_streamed=asked.stream)

    def _style(self, asked: VisitorQuestion) -> WritingStyle:
        most = self._host.limits.tokens
        tokens = most if asked.wanted_tokens is None else asked.wanted_tokens
        if tokens > most:
            raise QuestionError(400, f"{tokens:,} tokens are too many: at most {most:,}")
        given = {"temperature": asked.temperature, "top_p": asked.top_p, "seed": asked.seed}
        chosen = {name: value for name, value in given.items() if value is not None}
        try:
            return self._make_style(tokens=tokens, **chosen)
        except UserFacingError as err:
            raise QuestionError(400, str(err)) from err

    async def _pass_on(
        self,
        events: trio.MemoryReceiveChannel[Event],
        exchange: HttpAnswer,
        form: AnswerForm,
        *,
        is_streamed: bool,
    ) -> None:
        asked_ms = clock.steady_ms()
        begin = await self._begin(events)
        waited_ms, head = clock.steady_ms() - asked_ms, begin.head.claim.head
        if is_streamed:
            headers = {"content-type": openai.EVENT_STREAM, "x-accel-buffering": "no", **_NO_STORE}
            await exchange.begin_stream(headers)
            await exchange.send_piece(form.begin(head))
        done: WritingEnd | None = None
        async for event in events:
            if isinstance(event, QuestionError):
                raise event
            if isinstance(event, WritingEnd):
                done = event
            elif isinstance(event, str) and is_streamed:
                await exchange.send_piece(form.piece(event, head))
        if done is None:
            raise QuestionError(503, "the service is stopping")
        log.info(
            "answered",
            prompt_tokens=begin.prompt_tokens,
            tokens=done.tokens,
            waited_ms=waited_ms,
            took_ms=clock.steady_ms() - asked_ms - waited_ms,
        )
        if is_streamed:
            await exchange.send_piece(form.end(done.reason, head))
            await exchange.end_stream()
            return
        usage = {
            "prompt_tokens": begin.prompt_tokens,
            "completion_tokens": done.tokens,
            "total_tokens": begin.prompt_tokens + done.tokens,
        }
        await exchange.send(_reply(200, form.whole(done.text, done.reason, head, usage)))

    async def _begin(self, events: trio.MemoryReceiveChannel[Event]) -> WritingBegin:
        """Wait for the turn; raises QuestionError."""
        first: Event | None = None
        with trio.move_on_after(self._host.limits.wait_s):
            try:
                first = await events.receive()
            except trio.EndOfChannel:
                raise QuestionError(503, "the service is stopping") from None
        if isinstance(first, QuestionError):
            raise first
        if not isinstance(first, WritingBegin):
            raise QuestionError(429, "the queue is too slow: ask again later", retry_s=60)
        return first


def refuse(error: QuestionError) -> Reply:
    retry = {} if error.retry_s is None else {"retry-after": str(error.retry_s)}
    reply = _reply(error.status, openai.encode_error(error))
    return Reply(status=reply.status, body=reply.body, headers={**reply.headers, **retry})


def refuse_request(status: int, message: str) -> Reply:
    """Write the answer to a request that cannot be read."""
    return refuse(QuestionError(status, message))


def _reply(status: int, body: bytes) -> Reply:
    return Reply(status=status, body=body, headers={"content-type": _JSON, **_NO_STORE})


def _list_paths() -> str:
    return ", ".join(f"{method} {path}" for path, method in _METHODS.items())
