"""The types of fields in statements and documents, as constraints that msgspec checks on parse.

Keys, digests and bytes stand in JSON as base64url without padding. Each pattern admits exactly the
one spelling of each value: the unused bits of the last character are zero.
"""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from tequio_shared.limits import CONTRIBUTORS, JSON_INTEGER, SAMPLE_BYTES, SAMPLE_PROMPT_BYTES

ROSTER_SLOTS = 8_192
"""Most slots in a roster, trainers or not."""

Bytes32Text = Annotated[
    str,
    Meta(min_length=43, max_length=43, pattern=r"\A[A-Za-z0-9_-]{42}[AEIMQUYcgkosw048]\Z"),
]
"""A digest, key, head hash or secret of 32 bytes (43 characters)."""

MaybeBytes32Text = Annotated[
    str,
    Meta(max_length=43, pattern=r"\A(?:[A-Za-z0-9_-]{42}[AEIMQUYcgkosw048])?\Z"),
]
"""The same, or nothing at all."""

MaybeTeamName = Annotated[str, Meta(max_length=32, pattern=r"\A(?:[a-z0-9][a-z0-9-]{0,31})?\Z")]
"""The name of a team, or nothing at all."""

HeaderText = Annotated[str, Meta(min_length=288, max_length=288, pattern=r"\A[A-Za-z0-9_-]{288}\Z")]
"""A contribution header of 216 bytes (288 characters)."""

BytesText = Annotated[
    str,
    Meta(
        pattern=r"\A(?:[A-Za-z0-9_-]{4})*"
        r"(?:[A-Za-z0-9_-][AQgw]|[A-Za-z0-9_-]{2}[AEIMQUYcgkosw048])?\Z"
    ),
]
"""Bytes of any number, none included; the statement's own limit bounds them."""

Natural = Annotated[int, Meta(ge=0, le=JSON_INTEGER)]
"""A count, a round number, a time in milliseconds since 1970."""
Positive = Annotated[int, Meta(ge=1, le=JSON_INTEGER)]
SlotNumber = Annotated[int, Meta(ge=0, le=ROSTER_SLOTS - 1)]
SlotCount = Annotated[int, Meta(ge=0, le=ROSTER_SLOTS)]
ContributionCount = Annotated[int, Meta(ge=0, le=CONTRIBUTORS)]
ReasonCode = Annotated[int, Meta(ge=0, le=65_535)]
"""A number from a table of docs/protocol.md: but for what models write, the log is no free text."""

STEERING = (
    r"\x00-\x09\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069"
    r"\ufdd0-\ufdef\ufeff\ufff9-\ufffb\ufffe\uffff\U000e0000-\U000e007f"
)
"""What no text in the log has, as a class of a regular expression: controls but for line feeds,
other ends of lines, marks of direction, what is no character, unseen tags. A list, for what Unicode
says of a character depends on its version."""

Prompt = Annotated[str, Meta(max_length=SAMPLE_PROMPT_BYTES, pattern=rf"\A[^{STEERING}]*\Z")]
"""The beginning that a model was given, of no steering characters."""
Written = Annotated[str, Meta(max_length=SAMPLE_BYTES, pattern=rf"\A[^{STEERING}]*\Z")]
"""What a model wrote, of no steering characters."""
