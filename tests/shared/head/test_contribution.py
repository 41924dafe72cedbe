"""Header, record codec and validity, against the golden vectors and against noise."""

from __future__ import annotations

import dataclasses
import hashlib
import time
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tequio_shared.errors import MalformedError, RefusedError
from tequio_shared.head.contribution import (
    HEADER_BYTES,
    LEVELS,
    SCALES,
    ContributionHeader,
    Records,
    RecordShape,
    contribution_id,
    decode_records,
    empty_record,
    encode_records,
    first_broken_record,
    k_for_trainers,
    payload_root,
    payload_seal,
    validate,
)
from tequio_shared.ids import PeerKey
from tests.support import head_vectors as vectors
from tests.support.head_vectors import HeadCase, sha256_hex

PRIMITIVES = vectors.primitives()
SHAPES = [
    *(
        RecordShape(algorithm="sparseloco", k=k, bits=bits)
        for k in (8, 16, 32, 64, 128, 256, 512)
        for bits in (1, 2, 4)
    ),
    RecordShape(algorithm="distro", k=8, bits=1),
    RecordShape(algorithm="diloco", k=4096, bits=8),
]


@pytest.fixture(params=vectors.NAMES)
def case(request: pytest.FixtureRequest) -> HeadCase:
    return vectors.load(request.param)


def random_records(shape: RecordShape, seed: int, chunks: int = 3) -> Records:
    """Make records of every kind the shape allows, some chunks empty."""
    rng = np.random.default_rng(seed)
    scales = rng.integers(0, shape.largest_scale + 1, chunks).astype(np.uint8)
    if shape.is_dense:
        levels = rng.integers(-127, 128, (chunks, 4096)).astype(np.int8)
        indices = np.broadcast_to(np.arange(4096, dtype=np.uint16), levels.shape)
        return Records(scales=scales, indices=indices, levels=levels)
    picks = [np.sort(rng.choice(4096, shape.k, replace=False)) for _ in range(chunks)]
    levels = rng.choice(LEVELS[shape.bits], (chunks, shape.k))
    return Records(scales=scales, indices=np.array(picks, np.uint16), levels=levels)


def test_the_vectors_contributions_are_valid_and_decode_to_the_vectors_entries(
    case: HeadCase,
) -> None:
    shape = case.step.params.shape
    assert shape.record_bytes == case.expected["record_bytes"]
    for at, (header, payload) in enumerate(case.contributions):
        want = case.expected["contributions"][case.name(at)]
        assert validate(header, payload, case.rules, seal_of(header, payload)) is None
        assert contribution_id(header).hex() == want["id"]
        records = decode_records(payload, shape)
        assert records.scales.tolist() == vectors.scale_list(want["scales"])
        assert sha256_hex(records.indices, "<u2") == want["index_u16_sha256"]
        assert sha256_hex(records.levels, "i1") == want["level_i8_sha256"]
        assert records.indices[0].tolist()[:64] == want["first_record_indices"][:64]
        assert records.levels[0].tolist()[:64] == want["first_record_levels"][:64]
        if "index" in want:
            assert records.indices.tolist() == want["index"]
            assert records.levels.tolist() == want["level"]
        assert encode_records(records, shape) == payload


def seal_of(header: bytes, payload: bytes) -> bytes:
    """The right seal; none for a header that names nobody."""
    if len(header) != HEADER_BYTES:
        return b""
    return payload_seal(ContributionHeader.parse(header).trainer, [payload])


def test_the_seal_is_of_one_key_and_one_payload(case: HeadCase) -> None:
    header, payload = case.contributions[0]
    trainer = ContributionHeader.parse(header).trainer
    expected = hashlib.sha256(b"tequio/v1/seal\0" + trainer + payload).digest()
    assert payload_seal(trainer, [payload[:9], payload[9:]]) == expected
    assert validate(header, payload, case.rules, expected) is None
    for other in (bytes(32), payload_seal(PeerKey(bytes(32)), [payload])):
        assert validate(header, payload, case.rules, other) == "seal"
    # Other bytes than those committed to are refused for that, whatever the seal.
    spoilt = bytes([payload[0] ^ 1]) + payload[1:]
    assert validate(header, spoilt, case.rules, expected) == "payload_root"


def test_every_spoiled_contribution_breaks_the_named_rule(case: HeadCase) -> None:
    for what, rule, header, payload in case.invalid:
        assert validate(header, payload, case.rules, seal_of(header, payload)) == rule, what


@pytest.mark.parametrize(
    ("field", "change", "rule"),
    [("tokens", -1, "tokens"), ("tokens", 1, "tokens"), ("inner_steps", 1, "steps")],
)
def test_a_header_may_go_to_its_bounds_and_no_further(field: str, change: int, rule: str) -> None:
    case = vectors.load("1-plain")
    header, payload = case.contributions[0]
    most = ContributionHeader.parse(header)
    most = dataclasses.replace(most, inner_steps=case.rules.max_inner_steps)
    beyond = dataclasses.replace(most, **{field: getattr(most, field) + change})
    seal = seal_of(header, payload)
    assert validate(most.pack(), payload, case.rules, seal) is None
    assert validate(beyond.pack(), payload, case.rules, seal) == rule


def test_a_header_survives_parse_and_pack(case: HeadCase) -> None:
    for header, _ in case.contributions:
        assert len(header) == HEADER_BYTES
        assert ContributionHeader.parse(header).pack() == header


def test_a_header_of_another_size_or_with_too_large_a_field_is_malformed(case: HeadCase) -> None:
    header = case.contributions[0][0]
    with pytest.raises(MalformedError):
        ContributionHeader.parse(header + b"\0")
    with pytest.raises(MalformedError):
        dataclasses.replace(ContributionHeader.parse(header), k=1 << 16).pack()


def test_the_scale_table_is_the_vectors_table() -> None:
    assert sha256_hex(SCALES, "<i8") == PRIMITIVES["scale_table_0_to_200_i64_sha256"]
    for byte, value in PRIMITIVES["scale_table_byte_to_integer"].items():
        assert SCALES[int(byte)] == value


def test_levels_sizes_and_k_are_the_vectors_values() -> None:
    for bits, levels in PRIMITIVES["levels"].items():
        assert LEVELS[int(bits)].tolist() == levels
    for name, size in PRIMITIVES["record_bytes"].items():
        k, bits = (int(part.strip("kbits")) for part in name.split("_"))
        assert RecordShape(algorithm="sparseloco", k=k, bits=bits).record_bytes == size
    for trainers, k in PRIMITIVES["k_by_trainer_slots"]:
        assert k_for_trainers(trainers) == k
    dense = RecordShape(algorithm="diloco", k=4096, bits=8)
    assert (dense.record_bytes, dense.group_bytes) == (4097, 128 * 4097)


def test_one_record_has_the_vectors_bytes() -> None:
    one = PRIMITIVES["record_example"]
    shape = RecordShape(algorithm="sparseloco", k=one["k"], bits=one["bits"])
    records = Records(
        scales=np.array([one["scale"]], np.uint8),
        indices=np.array([one["index"]], np.uint16),
        levels=LEVELS[shape.bits][np.array([one["code"]])],
    )
    assert encode_records(records, shape).hex() == one["record"]
    assert empty_record(shape).tobytes().hex() == one["empty_record"]


@pytest.mark.parametrize("shape", SHAPES, ids=repr)
def test_records_survive_encode_and_decode(shape: RecordShape) -> None:
    records = random_records(shape, seed=3, chunks=20)
    payload = encode_records(records, shape)
    assert first_broken_record(payload, shape) is None
    decoded = decode_records(payload, shape)
    live = records.scales > 0
    assert (decoded.scales == records.scales).all()
    assert (decoded.indices[live] == records.indices[live]).all()
    assert (decoded.levels[live] == records.levels[live]).all()
    assert encode_records(decoded, shape) == payload


@settings(max_examples=150, deadline=None, derandomize=True)
@given(
    shape=st.sampled_from(SHAPES[:-1]),
    seed=st.integers(0, 1000),
    flips=st.lists(st.tuples(st.integers(0, 10**6), st.integers(1, 255)), min_size=1, max_size=6),
)
def test_a_corrupted_record_is_refused_or_is_its_own_encoding(
    shape: RecordShape, seed: int, flips: list[tuple[int, int]]
) -> None:
    payload = bytearray(encode_records(random_records(shape, seed), shape))
    for at, mask in flips:
        payload[at % len(payload)] ^= mask
    rule = first_broken_record(payload, shape)
    if rule is None:
        assert encode_records(decode_records(payload, shape), shape) == bytes(payload)
    else:
        assert rule in {"scale", "filler", "popcount", "high", "ascending"}


@settings(max_examples=100, deadline=None, derandomize=True)
@given(shape=st.sampled_from(SHAPES), data=st.data())
def test_noise_is_refused_or_is_its_own_encoding(shape: RecordShape, data: st.DataObject) -> None:
    payload = bytearray(2 * shape.record_bytes)
    noise = data.draw(st.binary(max_size=min(len(payload), 64)))
    payload[: len(noise)] = noise
    if first_broken_record(payload, shape) is None:
        assert encode_records(decode_records(payload, shape), shape) == bytes(payload)


def test_the_lowest_bad_chunk_gives_the_rule() -> None:
    shape = RecordShape(algorithm="sparseloco", k=8, bits=2)
    records = random_records(shape, seed=1, chunks=6000)
    rows = np.frombuffer(bytearray(encode_records(records, shape)), np.uint8)
    rows = rows.reshape(-1, shape.record_bytes)
    rows[5999, 0] = 201
    assert first_broken_record(rows.reshape(-1), shape) == "scale"
    rows[4500, shape.high_at : shape.codes_at] = 0
    assert first_broken_record(rows.reshape(-1), shape) == "popcount"


INDEX_OF_4096 = sum(at << 9 * at for at in range(7)).to_bytes(9, "little") + b"\x7f\x80\0"
"""Entries of k = 8 with 1 bit: indices 0 to 6, then 4096."""


@pytest.mark.parametrize(
    ("shape", "record", "rule"),
    [(SHAPES[0], b"\1" + INDEX_OF_4096, "high"), (SHAPES[-1], b"\1" + bytes(4096), "hollow")],
    ids=["high", "hollow"],
)
def test_a_record_just_outside_its_bounds_breaks_the_rule(
    shape: RecordShape, record: bytes, rule: str
) -> None:
    assert first_broken_record(record, shape) == rule


@pytest.mark.parametrize(
    ("scale", "indices", "level"),
    [(201, range(8), 1), (5, [0] * 8, 1), (5, [*range(7), 4096], 1), (5, range(8), 3)],
)
def test_what_no_record_can_hold_is_refused(scale: int, indices: Any, level: int) -> None:  # noqa: ANN401  (a range or a list)
    shape = RecordShape(algorithm="sparseloco", k=8, bits=1)
    records = Records(
        scales=np.array([scale], np.uint8),
        indices=np.array([list(indices)], np.uint16),
        levels=np.full((1, 8), level, np.int8),
    )
    with pytest.raises(RefusedError):
        encode_records(records, shape)


def test_half_a_record_is_malformed() -> None:
    shape = RecordShape(algorithm="sparseloco", k=8, bits=1)
    with pytest.raises(MalformedError):
        decode_records(bytes(shape.record_bytes - 1), shape)
    with pytest.raises(MalformedError):
        decode_records(bytes(shape.record_bytes), shape)


@pytest.mark.parametrize(("k", "bits"), [(7, 2), (64, 3), (64, 8), (4096, 2)])
def test_other_shapes_do_not_exist(k: int, bits: int) -> None:
    with pytest.raises(MalformedError):
        RecordShape(algorithm="sparseloco", k=k, bits=bits)


def test_a_payload_root_ends_with_a_shorter_group() -> None:
    shape = RecordShape(algorithm="sparseloco", k=8, bits=1)
    one = payload_root(bytes(257 * shape.record_bytes), shape)
    other = payload_root(bytes(256 * shape.record_bytes), shape)
    assert one != other
    assert payload_root(memoryview(bytes(257 * shape.record_bytes)), shape) == one


def test_a_million_parameters_are_validated_in_milliseconds(case: HeadCase) -> None:
    """A generous bound, so that a busy machine passes: it takes about 4 ms."""
    shape = RecordShape(algorithm="sparseloco", k=256, bits=2)
    payload = encode_records(random_records(shape, seed=2, chunks=256), shape)
    started = time.process_time()
    assert first_broken_record(payload, shape) is None
    assert time.process_time() - started < 0.25
    assert case.rules.chunks > 0
