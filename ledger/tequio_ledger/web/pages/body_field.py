"""The fields of a statement's body, each with its value in words and where it leads."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import msgspec

from tequio_ledger.web.pages import figures, words
from tequio_shared import causes
from tequio_shared.contribution import Header
from tequio_shared.errors import PeerError
from tequio_shared.ids import from_text, to_text

if TYPE_CHECKING:
    from collections.abc import Callable

    from tequio_shared.statement import Statement

_TIMES = {"opened", "train_by", "close_by", "until"}
_BLOBS = {"roster", "result", "manifest", "text", "submission", "scores", "outcome"}
_PEERS = {"peer", "evaluator"}
_PAGES = {"competition": "competitions", "side": "runs"}


@dataclass(frozen=True, slots=True, kw_only=True)
class BodyField:
    """One field: its name, its value as signed, what that means, and what it leads to."""

    name: str
    value: str
    means: str = ""
    entries: tuple[int, ...] = ()
    peer: str = ""
    blob: str = ""
    page: str = ""


def body_fields(statement: Statement) -> tuple[BodyField, ...]:
    """Describe the body of a statement."""
    body: dict[str, object] = msgspec.to_builtins(statement.body)
    fields = [_field(statement.type, name, value) for name, value in body.items()]
    header = body.get("header")
    if isinstance(header, str):
        fields += _header_fields(header)
    return tuple(fields)


def _field(kind: str, name: str, value: object) -> BodyField:
    text = value if isinstance(value, str) else msgspec.json.encode(value).decode()
    entries = tuple(value) if name == "evidence" and isinstance(value, list | tuple) else ()
    if name == "change" and isinstance(value, int):
        entries = (value,)
    return BodyField(
        name=name,
        value=text,
        means=_meaning(kind, name, value),
        entries=entries,
        peer=text if name in _PEERS else "",
        blob=text if name in _BLOBS and text else "",
        page=f"/{_PAGES[name]}/{text}" if name in _PAGES and text else "",
    )


def _meaning(kind: str, name: str, value: object) -> str:
    if name in _TIMES and isinstance(value, int):
        return figures.moment(value) if value else "no end"
    say = _WORDS.get((kind, name))
    return say(value) if say else ""


def _code(say: Callable[[int], str]) -> Callable[[object], str]:
    return lambda value: say(value) if isinstance(value, int) else ""


def _rejections(value: object) -> str:
    """Slots and reasons of a witness proof."""
    if not isinstance(value, list | tuple) or not value:
        return "refuses nothing"
    return "; ".join(f"slot {slot}: {words.reason(code)}" for slot, code in value)


def _standing(value: object) -> str:
    return words.standing(str(value)).says


def _bits(value: object) -> str:
    """Thousandths of a bit."""
    return f"{figures.short_count(value / 1_000)} bits" if isinstance(value, int) else ""


_WORDS: dict[tuple[str, str], Callable[[object], str]] = {
    ("head.measure", "millibits"): _bits,
    ("head.measure", "sample"): lambda _: "what the model writes, by this member's word",
    ("round.void", "reason"): _code(words.void),
    ("standing.change", "cause"): _code(causes.words_of),
    ("standing.change", "to"): _standing,
    ("standing.uphold", "to"): _standing,
    ("witness.proof", "rejected"): _rejections,
}


def _header_fields(text: str) -> list[BodyField]:
    """The fields inside a contribution header that people ask about."""
    try:
        header = Header.parse(from_text(text, None))
    except PeerError:
        return []
    claimed = figures.loss(header.claimed_loss_last_q16) or None
    return [
        BodyField(name="header: windows", value=figures.count(header.window_count)),
        BodyField(name="header: first window", value=figures.count(header.window_first)),
        BodyField(name="header: tokens", value=figures.count(header.tokens)),
        BodyField(name="header: inner steps", value=figures.count(header.inner_steps)),
        BodyField(name="header: starts from head", value=to_text(header.base_head)),
        BodyField(name="header: payload root", value=to_text(header.payload_root)),
        BodyField(
            name="header: claimed loss",
            value=figures.decimal(claimed, 4),
            means="nats a token, the trainer's own word; nothing depends on it",
        ),
    ]
