"""Commitments of tests: the statement for a header, with the seal on its payload."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import UNSET

from tequio_shared.head.contribution import payload_seal
from tequio_shared.ids import ZERO_DIGEST, Digest, PeerKey, to_text
from tequio_shared.statements.runs import WorkCommit

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tequio_shared.head.contribution import ContributionHeader


def commitment(
    header: ContributionHeader,
    payload: bytes = b"",
    *,
    feedback: Digest = ZERO_DIGEST,
    parts: Mapping[PeerKey, int] | None = None,
) -> WorkCommit:
    """Commit to that header; the seal is that of its trainer on the payload."""
    given = tuple(sorted((to_text(key), count) for key, count in (parts or {}).items()))
    return WorkCommit(
        header=to_text(header.pack()),
        seal=to_text(payload_seal(header.trainer, [payload])),
        feedback="" if feedback == ZERO_DIGEST else to_text(feedback),
        parts=given or UNSET,
    )


def commitment_of_bytes(header: bytes) -> WorkCommit:
    """Commit to these header bytes, of nobody in particular."""
    seal = payload_seal(PeerKey(bytes(32)), [])
    return WorkCommit(header=to_text(header), seal=to_text(seal), feedback="")
