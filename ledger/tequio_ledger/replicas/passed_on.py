"""What became of statements that one process passed on to another, as bytes between them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
from msgspec import Struct

from tequio_ledger.sequencing.batch import Known, Logged, Outcome, Refused
from tequio_shared.errors import RefusedError
from tequio_shared.ids import Digest

if TYPE_CHECKING:
    from collections.abc import Sequence

_LOGGED, _KNOWN = "logged", "known"


class _Said(Struct, frozen=True, array_like=True):
    """One outcome: `code` is `logged`, `known` or what a refusal says."""

    id: bytes
    code: str
    index: int = -1
    detail: str = ""


class _Answer(Struct, frozen=True, array_like=True):
    """All outcomes of a bundle; or none, and why it was sent back as a whole."""

    outcomes: list[_Said]
    code: str = ""
    detail: str = ""


def encode(outcomes: Sequence[Outcome]) -> bytes:
    """Write the outcomes of a bundle."""
    return msgspec.msgpack.encode(_Answer([_said(one) for one in outcomes]))


def encode_refusal(err: RefusedError) -> bytes:
    """Write that the bundle was not taken at all."""
    return msgspec.msgpack.encode(_Answer([], err.code, str(err)))


def decode(raw: bytes) -> list[Outcome]:
    """Read outcomes; raises RefusedError when the bundle was not taken."""
    answer = msgspec.msgpack.decode(raw, type=_Answer)
    if answer.code:
        raise RefusedError(answer.code, answer.detail)
    return [_outcome(one) for one in answer.outcomes]


def _said(outcome: Outcome) -> _Said:
    match outcome:
        case Logged(id=name, index=index):
            return _Said(name, _LOGGED, index)
        case Known(id=name, index=index):
            return _Said(name, _KNOWN, index)
        case Refused(id=name, code=code, detail=detail):
            return _Said(name, code, detail=detail)


def _outcome(said: _Said) -> Outcome:
    name = Digest(said.id)
    if said.code == _LOGGED:
        return Logged(id=name, index=said.index)
    if said.code == _KNOWN:
        return Known(id=name, index=said.index)
    return Refused(id=name, code=said.code, detail=said.detail)
