"""The reference of the exact head against the golden vectors, value by value."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tequio_shared.errors import MalformedError, RefusedError
from tequio_shared.head import head
from tequio_shared.head.aggregate import (
    BASIS,
    ContributionEntries,
    agreement,
    agrees,
    down_link,
    effective_entries,
    filter_members,
    inverse_dct,
    weakest,
)
from tequio_shared.head.contribution import (
    ContributionHeader,
    Records,
    contribution_id,
    decode_records,
)
from tequio_shared.head.head import OuterParams
from tequio_shared.head.layout import CHUNK, NO_PADDING, WeightLayout
from tequio_shared.head.step import encode_step, record_bytes
from tequio_shared.ids import ZERO_DIGEST, Digest, HeadHash, RunId
from tests.support import head_vectors as vectors
from tests.support.head_vectors import HeadCase, sha256_hex

PRIMITIVES = vectors.primitives()


@pytest.fixture(params=vectors.NAMES)
def case(request: pytest.FixtureRequest) -> HeadCase:
    return vectors.load(request.param)


def plain(**changes: Any) -> OuterParams:  # noqa: ANN401  (any field of the parameters)
    fields: dict[str, Any] = {
        "algorithm": "sparseloco",
        "layout": "flat",
        "k": 64,
        "bits": 2,
        "alpha_q": 1 << 20,
    }
    return OuterParams(**{**fields, **changes})


def test_the_inputs_are_the_vectors_inputs(case: HeadCase) -> None:
    want = case.expected
    assert sha256_hex(case.weights, "<i4") == want["weights_before_sha256"]
    assert head.weights_root(case.weights).hex() == want["weights_before_root"]
    assert head.aux_root(case.aux).hex() == want["aux_before_root"]


def test_the_next_head_is_the_vectors_head(case: HeadCase) -> None:
    want = case.expected
    made = head.advance(case.step, case.weights, case.aux, case.contributions)
    assert made.hash.hex() == want["head"]
    assert sha256_hex(made.weights, "<i4") == want["weights_after_sha256"]
    assert made.weights_root.hex() == want["weights_after_root"]
    assert made.aux_root.hex() == want["aux_after_root"]
    assert made.set_root.hex() == want["set_root"]
    assert {case.name(at) for at in made.kept} == set(want["kept"])
    for dtype in ("i32", "i64"):
        if f"aux_after_{dtype}_sha256" in want:
            assert made.aux is not None
            assert (
                sha256_hex(made.aux, f"<i{int(dtype[1:]) // 8}")
                == (want[f"aux_after_{dtype}_sha256"])
            )


def test_every_stage_gives_the_vectors_values(case: HeadCase) -> None:
    want, params, layout = case.expected, case.step.params, case.step.layout
    order = head.order_by_id([header for header, _ in case.contributions])
    assert [case.name(at) for at in order] == want["order_by_id"]
    padding = head.entry_padding(params, layout.padding(0, layout.chunks))
    members = [
        effective_entries(decode_records(case.contributions[at][1], params.shape), padding)
        for at in order
    ]
    filtered = filter_members(members, layout.elements, params.z2)
    names = [
        {
            "members": [want["order_by_id"][at] for at in kept],
            "agreement_a_t": [list(pair) for pair in measured],
        }
        for kept, measured in filtered.passes
    ]
    assert names == want["filter_passes"]
    kept_names = [want["order_by_id"][at] for at in filtered.kept]
    assert kept_names == want["kept"]

    chosen = [members[at] for at in filtered.kept]
    clipped = head.clip_scales(np.stack([one.scales for one in chosen]), params)
    tokens = [
        ContributionHeader.parse(case.contributions[order[at]][0]).tokens for at in filtered.kept
    ]
    factors = head.multipliers(tokens, params)
    if "clipped_scales" in want:
        shown = {
            name: vectors.scale_list(scales) for name, scales in want["clipped_scales"].items()
        }
        assert dict(zip(kept_names, clipped.tolist(), strict=True)) == shown
        capped = [min(count, params.token_cap) for count in tokens]
        assert dict(zip(kept_names, capped, strict=True)) == want["capped_tokens"]
        assert dict(zip(kept_names, factors, strict=True)) == want["multipliers"]
    total = head.aggregate(params, chosen, clipped, factors, layout.elements)
    check_movement(case, total)


def check_movement(case: HeadCase, total: np.ndarray[Any, np.dtype[np.int64]]) -> None:
    want, params, layout = case.expected, case.step.params, case.step.layout
    assert sha256_hex(total, "<i8") == want["aggregate_i64_sha256"]
    assert np.count_nonzero(total) == want["aggregate_nonzero"]
    move, _ = head.outer_step(params, total, case.aux, layout.padding(0, layout.chunks))
    after = head.apply_move(case.weights, move, params.lambda_q, layout.matrix_end)
    for at, summed, before, new in want["samples_position_aggregate_before_after"]:
        assert (total[at], case.weights[at], after[at]) == (summed, before, new)
    wide = case.weights.astype(np.int64)
    decay = (wide * params.lambda_q + (1 << 29)) >> 30
    decay[layout.matrix_end :] = 0
    assert np.count_nonzero(wide - decay - move != after) == want["saturated_elements"]
    if "inverse_i64_sha256" in want:
        inverse = inverse_dct(total.reshape(-1, CHUNK)).reshape(-1)
        assert sha256_hex(inverse, "<i8") == want["inverse_i64_sha256"]
        assert inverse[:16].tolist() == want["inverse_first_16"]
    if "step_sha256" in want:
        rule = {"lambda_q": params.lambda_q, "matrix_elements": layout.matrix_end}
        records = encode_step(case.weights, after, down_k=params.down_k, **rule)
        assert sha256_hex(np.frombuffer(records, np.uint8), "u1") == want["step_sha256"]
        assert records[: record_bytes(params.down_k)].hex() == want["step_first_record"]


def test_the_order_of_arrival_changes_nothing(case: HeadCase) -> None:
    order = np.random.default_rng(5).permutation(len(case.contributions))
    shuffled = [case.contributions[at] for at in order]
    made = head.advance(case.step, case.weights, case.aux, shuffled)
    assert made.hash.hex() == case.expected["head"]
    names = {contribution_id(header): name for (header, _), name in _named(case)}
    kept = {names[contribution_id(shuffled[at][0])] for at in made.kept}
    assert kept == set(case.expected["kept"])


def _named(case: HeadCase) -> list[tuple[tuple[bytes, bytes], str]]:
    return list(zip(case.contributions, case.names, strict=True))


def test_multipliers_floor_and_stay_below_alpha() -> None:
    for one in PRIMITIVES["multipliers"]:
        params = plain(alpha_q=one["alpha_q"], token_cap=one["cap"])
        assert head.multipliers(one["tokens"], params) == one["result"]
        assert sum(one["result"]) <= one["alpha_q"]


def test_a_scale_is_limited_by_the_lower_median() -> None:
    largest = {"bytes": [100, 200], "delta": 200, "result": [100, 200]}
    for one in (*PRIMITIVES["clip"], largest):
        scales = np.array(one["bytes"], np.uint8)[:, None]
        clipped = head.clip_scales(scales, plain(delta=one["delta"]))
        assert clipped[:, 0].tolist() == one["result"]


def test_a_member_passes_only_above_the_bound() -> None:
    for a, t, z2, passes in PRIMITIVES["filter_passes_a_t_z2"]:
        assert agrees(a, t, z2) is passes


def dense_member(*levels: int) -> ContributionEntries:
    """A member of diloco with these levels, and level 0 in the rest of its chunk."""
    padded = np.zeros((1, CHUNK), np.int8)
    padded[0, : len(levels)] = levels
    indices = np.arange(CHUNK, dtype=np.uint16)[None]
    records = Records(scales=np.array([1], np.uint8), indices=indices, levels=padded)
    return effective_entries(records, NO_PADDING)


def test_a_level_of_0_has_no_sign_to_compare() -> None:
    ones = dense_member(*[1] * 20)
    members = [dense_member(*[1] * 17), ones, ones]
    assert filter_members(members, CHUNK, 16).kept == (0, 1, 2)
    assert agreement(members, CHUNK) == [(17, 17), (20, 20), (20, 20)]


def test_without_a_bound_nobody_is_dropped() -> None:
    members = [dense_member(1), dense_member(1), dense_member(-1)]
    assert filter_members(members, CHUNK, 0).kept == (0, 1, 2)
    assert filter_members(members, CHUNK, 1).kept != (0, 1, 2)


def test_the_weakest_member_goes_and_of_equals_the_last() -> None:
    for one in PRIMITIVES["filter_drops"]:
        assert weakest(one["agreement_a_t"]) == one["drop"]


def test_a_step_rounds_half_up() -> None:
    values = np.zeros(CHUNK, np.int64)
    for total, step in PRIMITIVES["update_A_to_step"]:
        values[7] = total
        move, _ = head.outer_step(plain(), values, None, NO_PADDING)
        assert move[7] == step


def test_a_momentum_stays_within_int32() -> None:
    params = plain(algorithm="diloco", k=4096, bits=8, mu_q=32_440)
    limits = np.array([-(1 << 31), (1 << 31) - 1], np.int32)
    _, velocity = head.outer_step(params, np.array([-1, 1]) << 58, limits, NO_PADDING)
    assert velocity is not None
    assert velocity.dtype == np.int32
    assert velocity.tolist() == limits.tolist()


def test_a_residual_stays_within_its_limit_and_a_chunk_of_zeros_does_not_move() -> None:
    limit = 1 << 61
    residual, total = np.zeros((2, 2 * CHUNK), np.int64)
    residual[:8], total[:8] = limit, 1 << 40  # they make the step
    residual[8:10], total[8:10] = (-limit, limit), (-1, 1)
    link = down_link(residual, total, 8)
    assert np.flatnonzero(link.step).tolist() == list(range(8))
    assert link.residual[8:10].tolist() == [-limit, limit]
    assert not link.residual[10:].any()


def test_decay_rounds_half_up_and_spares_the_pool() -> None:
    for weight, rate, amount in PRIMITIVES["decay_w_lambda_to_amount"]:
        weights = np.array([weight, weight], np.int32)
        after = head.apply_move(weights, np.zeros(2, np.int64), rate, 1)
        assert after.tolist() == [weight - amount, weight]


def test_first_weights_round_to_even() -> None:
    for text, want in PRIMITIVES["quantise"]:
        assert head.quantise(np.array([float.fromhex(text)])).tolist() == [want]
    assert head.quantise(np.array([2**-24, 1.5], np.float16)).tolist() == [1, 3 << 23]


@pytest.mark.parametrize("value", [float("nan"), float("inf"), float("-inf"), 128.0, -128.0001])
def test_weights_outside_the_range_are_refused(value: float) -> None:
    with pytest.raises(RefusedError):
        head.quantise(np.array([0.0, value]))


def test_the_cosine_table_is_the_vectors_table() -> None:
    want = PRIMITIVES["cosine_table_i16_le_row_major_sha256"]
    assert sha256_hex(BASIS, "<i2") == want
    assert BASIS[1, :8].tolist() == PRIMITIVES["cosine_table_row_1_first_8"]
    assert BASIS[63, :8].tolist() == PRIMITIVES["cosine_table_row_63_first_8"]


def test_single_coefficients_have_the_vectors_inverse() -> None:
    for f, g, value, first, digest in PRIMITIVES[
        "inverse_dct_of_single_coefficients_first_4_and_sha256"
    ]:
        coefficients = np.zeros((1, CHUNK), np.int64)
        coefficients[0, f * 64 + g] = value
        inverse = inverse_dct(coefficients)
        assert inverse[0, :4].tolist() == first
        assert sha256_hex(inverse, "<i8") == digest


def test_the_first_head_of_a_run_has_the_vectors_name() -> None:
    want = PRIMITIVES["first_head"]
    layout = WeightLayout.of(PRIMITIVES["layout_flat"]["tensors"], "flat")
    root = head.weights_root(np.zeros(layout.elements, np.int32))
    assert root.hex() == want["weights_root"]
    name = head.head_hash(
        RunId(bytes([0x11]) * 32), 0, HeadHash(bytes(32)), head.set_root([]), root, ZERO_DIGEST
    )
    assert name.hex() == want["head"]


def test_no_contribution_and_a_repeated_one_are_refused() -> None:
    case = vectors.load("1-plain")
    with pytest.raises(RefusedError):
        head.advance(case.step, case.weights, None, [])
    with pytest.raises(RefusedError):
        head.advance(case.step, case.weights, None, case.contributions[:1] * 2)


def test_a_payload_of_another_size_is_malformed() -> None:
    case = vectors.load("1-plain")
    header, payload = case.contributions[0]
    for other in (payload[:-81], payload + payload[:81]):
        with pytest.raises(MalformedError):
            head.advance(case.step, case.weights, None, [(header, other)])


def test_a_missing_aux_stands_for_zeros() -> None:
    case = vectors.load("8-diloco")
    zeros = np.zeros(case.step.layout.elements, np.int32)
    one = head.advance(case.step, case.weights, None, case.contributions)
    other = head.advance(case.step, case.weights, zeros, case.contributions)
    assert one.hash == other.hash


def test_an_aux_that_the_run_does_not_keep_is_refused() -> None:
    case = vectors.load("1-plain")
    with pytest.raises(RefusedError):
        head.advance(case.step, case.weights, case.weights, case.contributions)


@pytest.mark.parametrize(
    "changes",
    [
        {"alpha_q": 0},
        {"alpha_q": (1 << 22) + 1},
        {"lambda_q": 1 << 22},
        {"delta": 201},
        {"z2": (1 << 20) + 1},
        {"token_cap": 0},
        {"mu_q": 1},
        {"down_k": 7},
        {"k": 12},
        {"bits": 3},
        {"layout": "tile64"},
        {"algorithm": "distro", "layout": "tile64", "bits": 1, "alpha_q": (1 << 20) + 1},
        {"algorithm": "distro", "layout": "tile64", "bits": 1, "down_k": 8},
        {"algorithm": "diloco", "k": 4096, "bits": 8, "mu_q": 1, "down_k": 8},
    ],
)
def test_parameters_outside_their_range_are_malformed(changes: dict[str, Any]) -> None:
    with pytest.raises(MalformedError):
        plain(**changes)


def test_the_largest_sums_stay_exact_in_binary64() -> None:
    """64 members shout the largest level at the largest scale, all with one sign."""
    params = plain(k=8, bits=4, alpha_q=1 << 22, z2=0)
    member = effective_entries(
        _loud(params),
        NO_PADDING,
    )
    factors = head.multipliers([1] * 64, params)
    scales = np.full((64, 1), 200, np.uint8)
    total = head.aggregate(params, [member] * 64, scales, factors, CHUNK)
    assert int(total.max()) == 8 * (15 << 24) * sum(factors) < 2**53
    assert agreement([member] * 64, CHUNK) == [(8, 8)] * 64


def _loud(params: OuterParams) -> Records:
    return Records(
        scales=np.array([200], np.uint8),
        indices=np.arange(params.k, dtype=np.uint16)[None],
        levels=np.full((1, params.k), 8, np.int8),
    )


def test_a_set_root_is_over_ascending_ids() -> None:
    ids = [contribution_id(bytes([at]) * 216) for at in range(5)]
    assert head.set_root(ids) == head.set_root(ids[::-1])
    assert isinstance(head.set_root(ids), bytes)
    assert len(Digest(head.set_root(ids))) == 32
