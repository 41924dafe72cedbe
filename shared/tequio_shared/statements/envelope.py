"""The fields around a body, the same in every statement of version 1."""

import msgspec
from msgspec import UNSET, UnsetType

from tequio_shared.fields import Bytes32Text, Natural, Positive


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
