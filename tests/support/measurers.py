"""Measures of heads with samples of their text, honest or altered."""

from __future__ import annotations

import msgspec

from tequio_shared import encoding
from tequio_shared.ids import to_text
from tequio_shared.limits import STATEMENT_BYTES
from tequio_shared.statements.runs import HeadMeasure, Sample

HEAD = to_text(bytes(32))


def measure(text: str | None, prompt: str = "Once upon", millibits: int = 7_000) -> HeadMeasure:
    """A measure with that sample, or without one."""
    sample = msgspec.UNSET if text is None else Sample(prompt=prompt, text=text)
    return HeadMeasure(head=HEAD, millibits=millibits, size_bytes=1, tokens=1, sample=sample)


def read(body: HeadMeasure, **sample: str) -> HeadMeasure:
    """Decode a measure whose sample was changed in transit."""
    raw = msgspec.to_builtins(body)
    return encoding.decode(
        encoding.encode({**raw, "sample": {**raw["sample"], **sample}}),
        HeadMeasure,
        STATEMENT_BYTES,
    )
