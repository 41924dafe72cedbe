"""The fields around a body, the same in every statement of version 1."""

from __future__ import annotations

import enum

import msgspec
from msgspec import UNSET, UnsetType

from tequio_shared.ids import Bytes32Text, Natural, Positive


class Envelope(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A statement as JSON has it; `run` and `round` are absent rather than null."""

    author: Bytes32Text
    body: dict[str, object]
    exp: Natural
    prev: Bytes32Text
    round: Natural | UnsetType = UNSET
    run: Bytes32Text | UnsetType = UNSET
    seq: Positive
    ts: Natural
    type: str
    v: int


# --- What a statement is about: the network, a run, or a round of a run.


class Scope(enum.Enum):
    """Which of the fields `run` and `round` a statement must carry; the other ones it must not."""

    NETWORK = "network"
    RUN = "run"
    ROUND = "round"
