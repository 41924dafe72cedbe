"""The piece of a payload that convicts its author is found wherever it is."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import TYPE_CHECKING, cast

import msgspec
import pytest

from tequio_shared.errors import RefusedError
from tequio_shared.ids import ZERO_DIGEST, RunId, to_text
from tequio_shared.log import merkle
from tequio_shared.network_view import NetworkView
from tequio_shared.round.evidence import PieceEvidence, UnreadEvidence, broken_rule
from tests.support.attackers_round import forged_piece
from tests.support.tiny_run import signer, tiny_manifest

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


@pytest.mark.parametrize("k", [0, 8, 512])
def test_a_ledger_takes_the_evidence_of_every_round_of_the_run(k: int) -> None:
    """Records are the smaller, the more trainers a round has, and evidence comes a round later."""
    tiny = tiny_manifest()
    algorithm = msgspec.structs.replace(tiny.algorithm, k=k)
    manifest = msgspec.structs.replace(tiny, algorithm=algorithm)
    witness = signer("a")
    accounts = SimpleNamespace(is_witness=witness.key.__eq__)
    run = SimpleNamespace(manifest=manifest, accounts=accounts)
    network = cast("NetworkView", SimpleNamespace(runs={"run": run}))
    most = NetworkView.most_evidence_bytes(network, witness.key)
    path = tuple(to_text(bytes(32)) for _ in range(64))
    for trainers in (1, 6, 7, 54, 55, 4_095):
        records = bytes(manifest.record_shape(trainers).group_bytes)
        piece = PieceEvidence(index=2**53 - 1, path=path, records=to_text(records))
        shown = UnreadEvidence(header="A" * 288, place=4_094, path=path, piece=piece)
        assert len(piece.encode()) < len(shown.encode()) <= most
    assert NetworkView.most_evidence_bytes(network, signer("b").key) == 0
