"""The piece of a payload that convicts its author is found wherever it is."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import msgspec
import pytest

from tequio_shared.errors import RefusedError
from tequio_shared.ids import ZERO_DIGEST, RunId, to_text
from tequio_shared.log import merkle
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


@pytest.mark.parametrize(("index", "size_bytes"), [(0, 0), (0, 5), (1, 5), (2, 5)])
def test_a_piece_has_the_length_that_its_place_in_the_payload_has(
    index: int, size_bytes: int
) -> None:
    """An author can sign a root over pieces of any length, which show no record of a payload."""
    header, raw = forged_piece(signer("a").key, RunId(ZERO_DIGEST), spoil_the_last, RECORDS + 5)
    records = b"\xff" * size_bytes
    other = [merkle.leaf_hash(records)] * 2
    found = msgspec.structs.replace(
        PieceEvidence.parse(raw), index=index, path=(to_text(other[0]),), records=to_text(records)
    )
    with pytest.raises(RefusedError, match=rf"piece {index} has {size_bytes} bytes, expected"):
        broken_rule(replace(header, payload_root=merkle.root_of_hashes(other)), found)
