"""The fields around a body, the same in every statement of version 1."""

from __future__ import annotations

import enum

import msgspec
from msgspec import UNSET, UnsetType

from tequio_shared.ids import Bytes32Text, Natural, Positive


class Envelope(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A statement in JSON; `run` and `round` are absent rather than null."""

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


class Scope(enum.Enum):
    """The subject of a statement: of `run` and `round` it must carry exactly these fields."""

    NETWORK = "network"
    RUN = "run"
    ROUND = "round"
