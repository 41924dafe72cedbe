"""Bytes that break a rule of validity, as the live screen meets them: by file, one rule each."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from tequio_client.trainer import screen
from tequio_shared.head.contribution import (
    ContributionHeader,
    ExpectedContribution,
    Records,
    RecordShape,
    WindowAssignment,
    encode_records,
    payload_root,
    payload_seal,
)
from tequio_shared.head.layout import CHUNK, WeightLayout
from tequio_shared.ids import HeadHash, PeerKey, RunId
from tequio_shared.round.proof import RejectionReason

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

CHUNKS = 6
SPARSE = RecordShape(algorithm="sparseloco", k=64, bits=2)
DENSE = RecordShape(algorithm="diloco", k=CHUNK, bits=8)
LAYOUT = WeightLayout.of([("weights", (CHUNKS, CHUNK))], "flat")
KEY, STRANGER = PeerKey(b"\1" * 32), PeerKey(b"\2" * 32)
RUN, HEAD = RunId(b"r" * 32), HeadHash(b"h" * 32)

pytestmark = pytest.mark.usefixtures("both_kernels")


def honest(shape: RecordShape) -> bytearray:
    """A valid payload whose chunk 2 is empty."""
    chance = np.random.default_rng(1)
    scales = np.array([90, 91, 0, 92, 93, 94], np.uint8)
    if shape.is_dense:
        levels = chance.integers(-127, 128, (CHUNKS, CHUNK)).astype(np.int8)
        indices = np.broadcast_to(np.arange(CHUNK, dtype=np.uint16), levels.shape)
    else:
        drawn = [np.sort(chance.choice(CHUNK, shape.k, replace=False)) for _ in range(CHUNKS)]
        indices = np.array(drawn, np.uint16)
        levels = chance.choice(np.array([2, 3, -2, -3], np.int8), (CHUNKS, shape.k))
    records = Records(scales=scales, indices=indices, levels=levels)
    return bytearray(encode_records(records, shape))


def header(shape: RecordShape, payload: bytes | bytearray, **changes: Any) -> bytes:  # noqa: ANN401 - any field
    """The header that goes with a payload, spoiled as told."""
    fields = ContributionHeader(
        algorithm=3 if shape.is_dense else 1,
        bits=shape.bits,
        k=shape.k,
        inner_steps=20,
        chunk_count=CHUNKS,
        round=4,
        window_first=40,
        window_count=8,
        tokens=8 * 128,
        run_id=RUN,
        base_head=HEAD,
        trainer=KEY,
        payload_root=payload_root(bytes(payload), shape),
    )
    return dataclasses.replace(fields, **changes).pack()


def reason(
    folder: Path,
    shape: RecordShape,
    payload: bytes | bytearray,
    head: bytes | None = None,
    seal: bytes | None = None,
) -> str:
    """The screen's result for it."""
    path = folder / "payload"
    path.write_bytes(payload)
    expected = ExpectedContribution(
        shape=shape,
        chunks=CHUNKS,
        run_id=RUN,
        round=4,
        base_head=HEAD,
        assigned={KEY: WindowAssignment(first=40, count=8)},
        window_tokens=128,
        max_inner_steps=500,
    )
    candidate = screen.ScreenedCandidate(
        slot=0,
        header=head or header(shape, payload),
        seal=seal or payload_seal(KEY, [bytes(payload)]),
        payload=path,
        expected=expected,
    )
    witness = screen.WitnessContext(layout=LAYOUT, steps=20, rng=np.random.default_rng(2))
    (measured,) = screen.screen([candidate], witness)
    return measured.reason


def record(shape: RecordShape, payload: bytearray, chunk: int) -> memoryview:
    size = shape.record_bytes
    return memoryview(payload)[chunk * size : (chunk + 1) * size]


@pytest.mark.parametrize("shape", [SPARSE, DENSE], ids=["sparse", "dense"])
def test_an_honest_payload_breaks_no_rule(tmp_path: Path, shape: RecordShape) -> None:
    assert reason(tmp_path, shape, honest(shape)) == ""


HEADERS: dict[str, dict[str, Any]] = {
    "magic": {"magic": b"TQC2"},
    "version": {"version": 2},
    "shape": {"k": 128},
    "flags": {"flags": 1},
    "run": {"run_id": RunId(b"x" * 32)},
    "round": {"round": 3},
    "base": {"base_head": HeadHash(b"x" * 32)},
    "trainer": {"trainer": STRANGER},
    "windows": {"window_first": 41},
    "tokens": {"tokens": 8 * 128 + 1},
    "steps": {"inner_steps": 501},
    "payload_root": {"payload_root": b"x" * 32},
}


@pytest.mark.parametrize("rule", HEADERS)
def test_each_rule_of_the_header_is_named(tmp_path: Path, rule: str) -> None:
    payload = bytes(honest(SPARSE))
    assert reason(tmp_path, SPARSE, payload, header(SPARSE, payload, **HEADERS[rule])) == rule


@pytest.mark.parametrize(
    ("changes", "rule"),
    [
        ({"window_count": 0, "tokens": 0}, "windows"),
        ({"window_count": 9, "tokens": 9 * 128}, "windows"),
        ({"window_first": 0}, "windows"),
        ({"tokens": 1 << 62}, "tokens"),
        ({"inner_steps": 0}, "steps"),
        ({"inner_steps": 65_535}, "steps"),
        ({"bits": 4}, "shape"),
        ({"algorithm": 3}, "shape"),
        ({"chunk_count": CHUNKS + 1}, "shape"),
        ({"magic": b"TQC2", "round": 9, "flags": 7}, "magic"),
    ],
)
def test_what_a_header_claims_too_much_is_refused(
    tmp_path: Path, changes: dict[str, Any], rule: str
) -> None:
    payload = bytes(honest(SPARSE))
    assert reason(tmp_path, SPARSE, payload, header(SPARSE, payload, **changes)) == rule


def scale_above(payload: bytearray) -> None:
    record(SPARSE, payload, 1)[0] = 201


def filled_filler(payload: bytearray) -> None:
    record(SPARSE, payload, 2)[-1] ^= 1


def moved_filler(payload: bytearray) -> None:
    """An empty chunk under other indices: a second spelling of nothing."""
    record(SPARSE, payload, 2)[1:] = record(SPARSE, payload, 3)[1:]


def too_many_indices(payload: bytearray) -> None:
    """Every bit of the map set: all the chunk's places, as far as it can say."""
    high = slice(SPARSE.high_at, SPARSE.codes_at)
    record(SPARSE, payload, 4)[high] = b"\xff" * (SPARSE.codes_at - SPARSE.high_at)


def no_index(payload: bytearray) -> None:
    high = slice(SPARSE.high_at, SPARSE.codes_at)
    record(SPARSE, payload, 4)[high] = bytes(SPARSE.codes_at - SPARSE.high_at)


def index_beyond_the_chunk(payload: bytearray) -> None:
    """The last index moved to the last bit of the map, which stands for 4096 or more."""
    high = record(SPARSE, payload, 4)[SPARSE.high_at : SPARSE.codes_at]
    bits = np.unpackbits(np.frombuffer(high, np.uint8), bitorder="little")
    bits[np.flatnonzero(bits)[-1]] = 0
    bits[-1] = 1
    high[:] = np.packbits(bits, bitorder="little").tobytes()


def one_index_twice(payload: bytearray) -> None:
    """All low bits equal and all high bits of one bucket: one place named again and again."""
    low = record(SPARSE, payload, 4)[1 : SPARSE.high_at]
    low[:] = bytes(len(low))
    high = record(SPARSE, payload, 4)[SPARSE.high_at : SPARSE.codes_at]
    bits = np.zeros(2 * SPARSE.k, np.uint8)
    bits[: SPARSE.k] = 1
    high[:] = np.packbits(bits, bitorder="little").tobytes()


@pytest.mark.parametrize(
    ("spoil", "rule"),
    [
        (scale_above, "scale"),
        (filled_filler, "filler"),
        (moved_filler, "filler"),
        (too_many_indices, "popcount"),
        (no_index, "popcount"),
        (index_beyond_the_chunk, "high"),
        (one_index_twice, "ascending"),
    ],
)
def test_each_rule_of_a_sparse_record_is_named(
    tmp_path: Path, spoil: Callable[[bytearray], None], rule: str
) -> None:
    payload = honest(SPARSE)
    spoil(payload)
    assert reason(tmp_path, SPARSE, payload) == rule


@pytest.mark.parametrize(
    ("chunk", "spoiled", "rule"),
    [
        (1, bytes([169]), "scale"),
        (2, b"\0\0\1", "filler"),
        (1, b"\x5a\x80", "level"),
        (1, b"\x5a" + bytes(CHUNK), "hollow"),
    ],
)
def test_each_rule_of_a_dense_record_is_named(
    tmp_path: Path, chunk: int, spoiled: bytes, rule: str
) -> None:
    payload = honest(DENSE)
    record(DENSE, payload, chunk)[: len(spoiled)] = spoiled
    assert reason(tmp_path, DENSE, payload) == rule


@pytest.mark.parametrize("size", [0, 1, -1, SPARSE.record_bytes, 1 << 20])
def test_bytes_too_few_or_too_many_are_refused_by_their_number(tmp_path: Path, size: int) -> None:
    payload = bytes(honest(SPARSE))
    torn = payload[:size] if size <= 0 else payload + bytes(size)
    assert reason(tmp_path, SPARSE, torn, header(SPARSE, payload)) == "length"


def test_a_seal_of_another_key_or_on_other_bytes_is_refused(tmp_path: Path) -> None:
    payload = honest(SPARSE)
    for seal in (
        bytes(32),
        payload_seal(PeerKey(bytes(32)), [bytes(payload)]),
        payload_seal(KEY, []),
    ):
        assert reason(tmp_path, SPARSE, payload, seal=seal) == "seal"
    assert reason(tmp_path, SPARSE, payload) == ""


def test_a_file_of_another_size_is_not_even_read(tmp_path: Path) -> None:
    """A sparse file of a terabyte, which nobody could hold."""
    payload = bytes(honest(SPARSE))
    path = tmp_path / "payload"
    with path.open("wb") as file:
        file.truncate(1 << 40)
    candidate = screen.ScreenedCandidate(
        slot=0,
        header=header(SPARSE, payload),
        seal=payload_seal(KEY, [payload]),
        payload=path,
        expected=ExpectedContribution(
            shape=SPARSE,
            chunks=CHUNKS,
            run_id=RUN,
            round=4,
            base_head=HEAD,
            assigned={KEY: WindowAssignment(first=40, count=8)},
            window_tokens=128,
            max_inner_steps=500,
        ),
    )
    witness = screen.WitnessContext(layout=LAYOUT, steps=20, rng=np.random.default_rng(2))
    assert screen.screen([candidate], witness)[0].reason == "length"


@pytest.mark.parametrize("seed", range(30))
def test_bytes_with_nan_and_other_noise_never_pass_as_another_spelling(
    tmp_path: Path, seed: int
) -> None:
    """No field is a float: the bytes of a NaN are refused, or read as other integers."""
    chance = np.random.default_rng(seed)
    payload = honest(SPARSE)
    at = int(chance.integers(0, len(payload) - 8))
    payload[at : at + 8] = np.array([np.nan, -np.inf], "<f4").tobytes()
    found = reason(tmp_path, SPARSE, payload)
    assert found in {"", "scale", "filler", "popcount", "high", "ascending"}


def test_every_rule_has_its_number_and_a_test() -> None:
    tested = {*HEADERS, "length", "scale", "filler", "popcount", "high", "ascending"}
    tested |= {"level", "hollow", "seal"}
    rules = {one.name.lower() for one in RejectionReason if 0 < one < RejectionReason.NORM}
    assert tested == rules
