"""Conversations as documents: rendered by a chat template, with a loss for the assistant's words.

What the assistant says has a loss, with the token that ends its turn; everything else is context. A
template may mark it, by `{% generation %}` and `{% endgeneration %}`. Without marks, a turn is what
the template writes between the prompt for it and the end of its message. This finds the turns if
each beginning of a conversation is rendered as a beginning of the whole: the template is
*prefix-preserving*. Those that drop earlier thoughts or add a last word are not.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_left, insort
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import jinja2
import numpy as np
from numpy.typing import NDArray

from tequio_client.dataset import sources
from tequio_client.dataset.encode import EncodedDocument
from tequio_client.dataset.rows import Row, RowTexts, open_rows
from tequio_client.names import clean_text
from tequio_client.tokenizers import SubwordTokenizer, TextTokenizer
from tequio_shared.errors import UserFacingError
from tequio_shared.ids import sha256
from tequio_shared.round.corpus import Chat

ASSISTANT, USER = "assistant", "user"
MESSAGES, PAIR = ("messages",), ("prompt", "completion")
"""The usual columns."""
TEMPLATE_FILE, SETTINGS_FILE = "chat_template.jinja", "tokenizer_config.json"
_MARKS = re.compile(r"\{%-?\s*generation\s*-?%\}")
_RENDERING_ERRORS = (jinja2.TemplateError, LookupError, TypeError, ValueError)
_GIVE_MARKS = (
    "so the assistant's turns cannot be found; give a copy that marks them by {% generation %} and "
    "{% endgeneration %} with --chat-template"
)
_SHOWN_CHARS = 60
_REASON_CHARS = 300

_Message = dict[str, Any]  # JSON: what else it has beside its role is the template's concern
_Span = tuple[int, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class ConversationRows(RowTexts):
    """One conversation a row of a dataset: its messages, or a prompt and its completion.

    Texts are JSON, for `ChatEncoder`: the messages, and how many of them are the prompt.
    """

    def _text(self, row: Row, index: int) -> str:
        place = f"row {index} of {self.label}"
        *before, last = (
            _messages(row[name], USER if name == self.columns[0] else ASSISTANT, place)
            if len(self.columns) > 1
            else _messages(row[name], "", place)
            for name in self.columns
        )
        prompt = before[0] if before else []
        if not last:
            return ""
        found = {"prompt": len(prompt), "messages": prompt + last}
        # Sorted, as another order of its keys makes no other document.
        return json.dumps(found, ensure_ascii=False, sort_keys=True)


def open_conversations(
    name: str, *, config: str | None, split: str, column: str
) -> ConversationRows:
    """Open a dataset of conversations; `column` is that of messages, or two as `prompt,completion`.

    Without it, the usual columns. Raises UserFacingError.
    """
    rows = open_rows(name, config=config, split=split)
    choices = [tuple(column.split(","))] if column else [MESSAGES, PAIR]
    for columns in choices:
        if set(columns) <= set(rows.column_names) and len(columns) <= len(PAIR):
            return ConversationRows(rows=rows, columns=columns)
    wanted = " or ".join(",".join(one) for one in choices)
    raise UserFacingError(
        f"{name} has no conversations in {wanted}: name the column of messages with --column, or "
        f"two columns as --column prompt,completion; it has {rows.column_names}"
    )


def _messages(value: object, role: str, place: str) -> list[_Message]:
    """Messages of a column; a text is one message of that role."""
    if isinstance(value, str) and role:
        return [{"role": role, "content": value}]
    if value is None:
        return []
    if not isinstance(value, list) or not all(
        isinstance(one, dict) and isinstance(one.get("role"), str) for one in value
    ):
        raise UserFacingError(
            f'{place} is not a list of messages such as {{"role": "user", "content": "…"}}: '
            f"{clean_text(repr(value), _SHOWN_CHARS)}"
        )
    return [_without_nulls(one) for one in value]


def _without_nulls(value: Any) -> Any:  # noqa: ANN401 - JSON
    """Leave out the fields that a row has only because other rows of its file have them."""
    if isinstance(value, dict):
        return {key: _without_nulls(one) for key, one in value.items() if one is not None}
    return [_without_nulls(one) for one in value] if isinstance(value, list) else value


@dataclass(frozen=True, kw_only=True)
class ChatTemplate:
    """A template of Jinja, as transformers renders it."""

    name: str
    source: str
    bos_token: str = ""
    eos_token: str = ""

    def render(self, messages: Sequence[_Message], prompt: int) -> tuple[str, list[_Span]]:
        """The text, and the first and last + 1 character of each turn after the `prompt` messages.

        Raises UserFacingError for a template that fails, or does not show where turns are.
        """
        whole, marked = self._rendered(messages)
        turns = [at for at in range(prompt, len(messages)) if messages[at]["role"] == ASSISTANT]
        if self._has_marks and turns:
            # Templates mark the turns of the prompt, too.
            _, before = self._rendered(messages[: turns[0]]) if prompt else ("", [])
            return whole, marked[len(before) :]
        return whole, [self._turn(messages, at, whole) for at in turns]

    @cached_property
    def _has_marks(self) -> bool:
        return bool(_MARKS.search(self.source))

    def _turn(self, messages: Sequence[_Message], at: int, whole: str) -> _Span:
        after, _ = self._rendered(messages[: at + 1])
        before = self._rendered(messages[:at], asks=True)[0] if at else self._opening(messages)
        if not (whole.startswith(after) and after.startswith(before)):
            raise UserFacingError(
                f"{self.name} is not prefix-preserving: what it writes up to message {at + 1} is "
                f"not the beginning of the whole conversation, {_GIVE_MARKS}"
            )
        return len(before), len(after)

    def _opening(self, messages: Sequence[_Message]) -> str:
        """Everything before a first message of the assistant, such as a system prompt of its own.

        It ends with the prompt for a turn, which is known from what follows this message.
        """
        first, _ = self._rendered(messages[:1])
        prompt = self._rendered(messages[:1], asks=True)[0].removeprefix(first)
        if not prompt or prompt not in first:
            raise UserFacingError(
                f"{self.name} does not show where the first message begins in a conversation that "
                f"the assistant opens, {_GIVE_MARKS}, or remove such conversations"
            )
        return first[: first.index(prompt) + len(prompt)]

    def _rendered(
        self, messages: Sequence[_Message], *, asks: bool = False
    ) -> tuple[str, list[_Span]]:
        """A text, and its marked parts; `asks` for a turn of the assistant at its end."""
        from transformers.utils import chat_template_utils  # noqa: PLC0415 - slow

        render: Any = chat_template_utils.render_jinja_template  # its types name the texts alone
        names = {"bos_token": self.bos_token, "eos_token": self.eos_token}
        try:
            texts, marked = render(
                conversations=[list(messages)],
                chat_template=self.source,
                return_assistant_tokens_mask=self._has_marks,
                add_generation_prompt=asks,
                **{name: token for name, token in names.items() if token},
            )
        except _RENDERING_ERRORS as err:
            roles = ", ".join(one["role"] for one in messages)
            raise UserFacingError(
                f"{self.name} cannot render a conversation of {roles}: "
                f"{clean_text(str(err), _REASON_CHARS)}; remove such conversations, or give "
                "another template with --chat-template"
            ) from err
        return texts[0], marked[0] if marked else []


def load_template(tokenizer: str, file: Path | None) -> ChatTemplate:
    """The template in a file, else that of a tokenizer (a folder, file or repository of the Hub).

    Raises UserFacingError if there is none.
    """
    settings = _settings(tokenizer)
    name = str(file) if file else f"the chat template of {tokenizer}"
    source = _read(file) if file else _own_template(tokenizer, settings)
    if not source:
        raise UserFacingError(
            f"{tokenizer} has no chat template: choose a tokenizer with one, or give a template "
            "with --chat-template"
        )
    return ChatTemplate(
        name=name,
        source=source,
        bos_token=_token(settings, "bos_token"),
        eos_token=_token(settings, "eos_token"),
    )


def _own_template(tokenizer: str, settings: dict[str, Any]) -> str:
    path = sources.find_beside_tokenizer(tokenizer, TEMPLATE_FILE)
    found = _read(path) if path else settings.get("chat_template")
    if isinstance(found, list):  # several, by name
        found = {one.get("name"): one.get("template") for one in found}.get("default")
    return found if isinstance(found, str) else ""


def _settings(tokenizer: str) -> dict[str, Any]:
    path = sources.find_beside_tokenizer(tokenizer, SETTINGS_FILE)
    try:
        found = json.loads(_read(path)) if path else {}
    except (ValueError, RecursionError) as err:
        raise UserFacingError(f"{path} is not valid JSON: {err}") from err
    return found if isinstance(found, dict) else {}


def _read(path: Path) -> str:
    try:
        return path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as err:
        raise UserFacingError(f"cannot read {path}: {err}") from err


def _token(settings: dict[str, Any], name: str) -> str:
    token = settings.get(name)
    content = token.get("content") if isinstance(token, dict) else token
    return content if isinstance(content, str) else ""


@dataclass(kw_only=True)
class ChatEncoder:
    """Turns conversations into ids.

    A conversation is cut to one sample. It is left out if the assistant then says nothing, or if
    somebody writes a token that ends turns or documents: a template cannot tell it from its own.
    """

    template: ChatTemplate
    tokenizer: SubwordTokenizer
    sequence: int

    def encode(self, conversation: str) -> EncodedDocument:
        """Ids, those without a loss plus the vocabulary's size, and the bytes of the other text.

        Raises UserFacingError.
        """
        found = json.loads(conversation)
        text, turns = self.template.render(found["messages"], found["prompt"])
        ended = [self._ended(text, turn) for turn in turns]
        turns = [turn for turn, _ in ended]
        turn_end = most_common(Counter(token for _, token in ended)) if ended else -1
        spelled = {self._special_ids[one] for one in self._special.findall(conversation)}
        spells_end = not spelled.isdisjoint({self.tokenizer.separator, *(end for _, end in ended)})
        ids, places = self.tokenizer.encode_with_places(text)
        firsts, lasts = places[: self.sequence].T
        is_counted = np.zeros(len(firsts), bool)
        for first, last in turns:
            # As transformers' masks: a token with any character of the turn. Blanks may have none.
            is_counted |= (lasts > first) & ((firsts < last) | (lasts <= last))
        is_counted[:1] = False  # nothing is before it
        is_cut = len(ids) > self.sequence
        if spells_end or not is_counted.any():
            return EncodedDocument(
                ids=ids[:0],
                name=sha256(conversation.encode()),
                text_bytes=0,
                turn_end=turn_end,
                is_cut=is_cut,
                is_left_out=True,
                spells_end=spells_end,
            )
        end = int(lasts[-1]) if is_cut else len(text)
        size = sum(len(text[first : min(last, end)].encode()) for first, last in turns)
        ids = ids[: self.sequence] + self.tokenizer.vocab_size * ~is_counted
        return EncodedDocument(
            ids=ids,
            name=sha256(ids.astype("<i8").tobytes()),
            text_bytes=size,
            turn_end=turn_end,
            is_cut=is_cut,
        )

    def stream(self, documents: Sequence[NDArray[Any]], sequence: int) -> NDArray[Any]:
        """Give samples of whole conversations: the longest first, each where it just fits.

        Between two of a sample, and behind the last, are separators without a loss.
        """
        room: list[tuple[int, int]] = []  # ids that still fit, and number of the sample; ascending
        starts = []
        ordered = sorted(documents, key=len, reverse=True)
        samples = 0
        for ids in ordered:
            at = bisect_left(room, (len(ids), 0))
            left, sample = room.pop(at) if at < len(room) else (sequence, samples)
            samples = max(samples, sample + 1)
            starts.append((sample + 1) * sequence - left)
            insort(room, (left - len(ids) - 1, sample))
        filling = self.tokenizer.separator + self.tokenizer.vocab_size
        stream = np.full(samples * sequence + 1, filling, documents[0].dtype)
        for start, ids in zip(starts, ordered, strict=True):
            stream[start : start + len(ids)] = ids
        return stream

    def _ended(self, text: str, turn: _Span) -> tuple[_Span, int]:
        """The turn up to the token that ends it, without what a template writes between turns.

        Gives this token too.
        """
        *_, end = [None, *self._special.finditer(text, *turn)]
        if end is None:
            raise UserFacingError(
                f"{self.template.name} has no special token in a turn of the assistant "
                f"({clean_text(text[slice(*turn)], _SHOWN_CHARS)!r}), so a model could not learn "
                "to end its turn: give a template that writes one there with --chat-template"
            )
        return (turn[0], end.end()), self._special_ids[end[0]]

    @cached_property
    def _special_ids(self) -> dict[str, int]:
        return self.tokenizer.special_tokens

    @cached_property
    def _special(self) -> re.Pattern[str]:
        texts = sorted(self._special_ids, key=len, reverse=True)
        return re.compile("|".join(map(re.escape, texts)) or "(?!)")

    @property
    def ids(self) -> int:
        """Ids are below this number."""
        return 2 * self.tokenizer.vocab_size

    def manifest_entry(self, turn_ends: Mapping[int, int]) -> Chat:
        """The template, for the manifest; raises UserFacingError if the assistant says nothing."""
        if not turn_ends:
            raise UserFacingError("the assistant says nothing in any of these conversations")
        return Chat(
            template=self.template.source,
            bos_token=self.template.bos_token,
            eos_token=self.template.eos_token,
            turn_end=most_common(turn_ends),
        )


def most_common(counts: Mapping[int, int]) -> int:
    """The token that is counted most often; of equals, the lowest, in whatever order they are."""
    return min(counts, key=lambda token: (-counts[token], token))


def open_encoder(
    tokenizer: TextTokenizer, name: str, template: Path | None, sequence: int
) -> ChatEncoder:
    """Open an encoder for the tokenizer called `name`; raises UserFacingError."""
    if not isinstance(tokenizer, SubwordTokenizer):
        raise UserFacingError(
            "raw bytes have no token that ends a turn: choose a tokenizer with a chat template "
            "(--tokenizer)"
        )
    loaded = load_template(name, template)
    return ChatEncoder(template=loaded, tokenizer=tokenizer, sequence=sequence)
