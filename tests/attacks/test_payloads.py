"""Bytes that are not a contribution, given to the real check: it alone decides the verdict."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tequio_shared.errors import RefusedError
from tequio_shared.head.contribution import (
    KS,
    LEVELS,
    ContributionHeader,
    ExpectedContribution,
    Records,
    RecordShape,
    WindowAssignment,
    decode_records,
    encode_records,
    payload_root,
    payload_seal,
    validate,
)
from tequio_shared.ids import ZERO_DIGEST, HeadHash, PeerKey, RunId, sha256
from tequio_shared.network.run_states import RunState
from tequio_shared.round.proof import RejectionReason, Verdict
from tests.support.attack_table import attack
from tests.support.attackers_round import (
    Judge,
    TwoFaced,
    Withholder,
    earned,
    outcome,
    spoiler,
    swarm_of,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.support.memory_swarm import Swarm
    from tests.support.volunteers import Volunteer


DENSE = RecordShape(algorithm="diloco", k=4096, bits=8)


def first_record(change: Callable[[bytearray], object]) -> Callable[[bytes, RecordShape], bytes]:
    """Change the record of the first chunk; k is 8 and bits 2: scale, 9 low, 2 high, 2 codes."""

    def spoil(payload: bytes, shape: RecordShape) -> bytes:
        record = bytearray(payload[: shape.record_bytes])
        change(record)
        return bytes(record) + payload[shape.record_bytes :]

    return spoil


def indices(low: bytes, high: bytes) -> Callable[[bytearray], None]:
    def change(record: bytearray) -> None:
        record[0] = 1
        record[1:12] = low + high

    return change


SHAPES = {
    "nothing": lambda payload, shape: b"",
    "one byte": lambda payload, shape: payload[:1],
    "one record for all": lambda payload, shape: payload[: shape.record_bytes],
    "one record repeated": lambda payload, shape: payload[: shape.record_bytes] * 2,
    "a record too few": lambda payload, shape: payload[: -shape.record_bytes],
    "a record too many": lambda payload, shape: payload + payload[: shape.record_bytes],
    "a byte too few": lambda payload, shape: payload[:-1],
    "a byte too many": lambda payload, shape: payload + b"\0",
    "a hundred times": lambda payload, shape: payload * 100,
    "floats instead": lambda payload, shape: np.full(4096, np.nan, np.float32).tobytes(),
}
RECORDS = {
    "a scale that is not in the table": (first_record(lambda r: r.__setitem__(0, 255)), "SCALE"),
    "an empty record that is not empty": (first_record(lambda r: r.__setitem__(0, 0)), "FILLER"),
    "eight times the same index": (first_record(indices(bytes(9), b"\xff\x00")), "ASCENDING"),
    "an index behind the chunk": (first_record(indices(bytes(9), b"\x00\xff")), "HIGH"),
    "all indices that there are": (first_record(indices(bytes(9), b"\xff\xff")), "POPCOUNT"),
    "no index": (first_record(indices(bytes(9), b"\x00\x00")), "POPCOUNT"),
}


def refused(forger: type[Volunteer]) -> tuple[Swarm, tuple[Verdict, RejectionReason]]:
    """One round of four judges and the forger; all of it but the forger's part goes well."""
    swarm = swarm_of(1, forger, Judge, Judge, Judge, Judge)
    swarm.run_rounds(1)
    cheat, *honest = swarm.volunteers
    assert swarm.view.closed == 1
    assert [outcome(swarm, one)[0] for one in honest] == [Verdict.ACCEPTED] * len(honest)
    assert all(earned(swarm)[one.key] for one in honest)
    return swarm, outcome(swarm, cheat)


@attack("W3", layer="gate", ends="refused by its length before a record is read; the round goes on")
@attack("W4", layer="gate", ends="refused: a payload has the records of all chunks")
@attack("W5", layer="gate", ends="refused; the others' work is accepted, and the head moves")
@attack("W6", layer="gate", ends="refused: there are no shapes in a payload, only its length")
@pytest.mark.parametrize("name", SHAPES)
def test_a_payload_of_another_size_is_refused_alone(name: str) -> None:
    swarm, said = refused(spoiler(SHAPES[name]))
    assert said == (Verdict.REJECTED, RejectionReason.LENGTH)
    assert earned(swarm)[swarm.volunteers[0].key] < min(
        earned(swarm)[one.key] for one in swarm.volunteers[1:]
    )
    swarm.run()
    assert swarm.view.state is RunState.FINISHED
    assert swarm.view.head is not None
    assert swarm.view.head.round > 1


@attack("W7", layer="gate", ends="refused with the broken rule; integers have no NaN and no -0")
@attack("W8", layer="gate", ends="refused with the broken rule: k, order and range are checked")
@pytest.mark.parametrize("name", RECORDS)
def test_a_record_that_breaks_a_rule_is_refused_alone(name: str) -> None:
    spoil, reason = RECORDS[name]
    assert refused(spoiler(spoil))[1] == (Verdict.REJECTED, RejectionReason[reason])


@attack("W7", layer="gate", ends="refused: -128 has no opposite, and zero has one spelling")
@pytest.mark.parametrize(
    ("level", "reason"), [(-128, "level"), (0, "hollow"), (1, None)], ids=["-128", "zeros", "sound"]
)
def test_a_dense_record_with_a_level_that_no_honest_one_has_is_refused(
    level: int, reason: str | None
) -> None:
    payload = b"\x05" + np.full(4096, level, np.int8).tobytes()
    header = header_of(payload, DENSE)
    seal = payload_seal(header.trainer, [payload])
    assert validate(header.pack(), payload, expected_of(DENSE), seal) == reason


@attack("W2", layer="gate", ends="refused: the commitment names the root of all payload bytes")
def test_other_bytes_than_those_committed_to_are_refused() -> None:
    assert refused(TwoFaced)[1] == (Verdict.REJECTED, RejectionReason.PAYLOAD_ROOT)


@attack("W5", layer="wit", ends="not selected and not paid: nobody vouches for what it cannot get")
def test_a_payload_that_nobody_can_get_is_not_selected() -> None:
    swarm, said = refused(Withholder)
    assert said == (Verdict.NOT_SELECTED, RejectionReason.NONE)
    assert swarm.volunteers[0].key in earned(swarm)  # as a witness


@attack("W18", layer="gate", ends="packed and unpacked exactly, at every index of a model of 2^44")
@settings(max_examples=150, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    k=st.sampled_from([k for k in KS if k < 4096]),
    bits=st.sampled_from([1, 2, 4]),
    chunk=st.integers(0, 2**32 - 1),
)
def test_indices_are_exact_at_any_place(seed: int, k: int, bits: int, chunk: int) -> None:
    chance = np.random.default_rng(seed)
    shape = RecordShape(algorithm="sparseloco", k=k, bits=bits)
    index = np.sort(chance.permutation(4096)[:k]).astype(np.uint16)
    if seed % 4 == 0:
        index = np.arange(4096 - k, 4096, dtype=np.uint16)  # the far end
    levels = chance.choice(LEVELS[bits], (1, k)).astype(np.int8)
    records = Records(scales=np.array([9], np.uint8), indices=index[None], levels=levels)
    read = decode_records(encode_records(records, shape), shape)
    places = np.int64(chunk) * 4096 + read.indices[0].astype(np.int64)
    assert places.tolist() == [chunk * 4096 + int(one) for one in index]
    assert (read.levels == levels).all()


def test_what_the_encoder_is_given_wrongly_is_refused_by_it() -> None:
    shape = RecordShape(algorithm="sparseloco", k=8, bits=2)
    doubled = Records(
        scales=np.array([9], np.uint8),
        indices=np.zeros((1, 8), np.uint16),
        levels=np.full((1, 8), 2, np.int8),
    )
    with pytest.raises(RefusedError):
        encode_records(doubled, shape)


def header_of(payload: bytes, shape: RecordShape) -> ContributionHeader:
    return ContributionHeader(
        algorithm=3,
        bits=shape.bits,
        k=shape.k,
        inner_steps=1,
        chunk_count=1,
        round=1,
        window_first=0,
        window_count=1,
        tokens=64,
        run_id=RunId(ZERO_DIGEST),
        base_head=HeadHash(ZERO_DIGEST),
        trainer=PeerKey(sha256(b"somebody")),
        payload_root=payload_root(payload, shape),
    )


def expected_of(shape: RecordShape) -> ExpectedContribution:
    return ExpectedContribution(
        shape=shape,
        chunks=1,
        run_id=RunId(ZERO_DIGEST),
        round=1,
        base_head=HeadHash(ZERO_DIGEST),
        assigned={PeerKey(sha256(b"somebody")): WindowAssignment(first=0, count=1)},
        window_tokens=64,
        max_inner_steps=1,
    )
