"""The piece of a payload that convicts its author is found wherever it is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tequio_shared.ids import ZERO_DIGEST, RunId
from tequio_shared.round.evidence import PieceEvidence, broken_rule
from tests.support.attackers_round import forged_piece
from tests.support.tiny_run import signer

if TYPE_CHECKING:
    from tequio_shared.head.contribution import RecordShape

RECORDS = 256
"""In a piece of sparse records."""


def spoil_the_last(payload: bytes, shape: RecordShape) -> bytes:
    assert shape.group_bytes == RECORDS * shape.record_bytes
    return payload[: -shape.record_bytes] + b"\xff" + payload[1 - shape.record_bytes :]


def test_a_broken_record_is_found_behind_sound_pieces() -> None:
    chunks = 2 * RECORDS + 5
    run = RunId(ZERO_DIGEST)
    header, raw = forged_piece(signer("a").key, run, spoil_the_last, chunks)
    found = PieceEvidence.parse(raw)
    assert found.index == 2
    assert broken_rule(header, found) == "scale"
