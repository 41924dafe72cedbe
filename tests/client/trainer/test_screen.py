"""A witness tells honest contributions from cheats, all made by real training."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

import numpy as np
import pytest

from tequio_client.trainer import codecs, device, inner, model, screen
from tequio_client.trainer.batch import BatchSize
from tequio_client.trainer.inner import StepPlan
from tequio_client.trainer.likeness import Likeness
from tequio_client.trainer.prepared import TrainingData
from tequio_shared.head.contribution import (
    ContributionHeader,
    ExpectedContribution,
    RecordShape,
    WindowAssignment,
    payload_root,
    payload_seal,
)
from tequio_shared.ids import ZERO_DIGEST, HeadHash, PeerKey, RunId
from tequio_shared.round.manifest import InnerParams
from tests.client.trainer.small_run import CONFIG, SmallRun, small_run
from tests.client.trainer.watching import UninterruptedControl
from tests.support.attack_table import attack
from tests.support.trainer_attacks import ATTACKS, Situation

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from numpy.typing import NDArray


SHAPE = RecordShape(algorithm="sparseloco", k=256, bits=2)
HONEST = 4


@pytest.fixture(scope="module")
def long_run(tmp_path_factory: pytest.TempPathFactory) -> SmallRun:
    return small_run(tmp_path_factory.mktemp("run"), inner=InnerParams(steps=16))


@pytest.fixture(scope="module")
def deltas(long_run: SmallRun) -> list[NDArray[np.float32]]:
    """Pseudo-gradients of honest trainers, each on its own windows."""
    return [_delta(long_run, 16 * number) for number in range(HONEST)]


def _delta(run: SmallRun, first: int, steps: int = 16) -> NDArray[np.float32]:
    network = model.build(CONFIG)
    network.load(run.origin.master, run.origin.layout)
    training = TrainingData.open(
        run.corpus,
        [(shard.index, run.folder / f"train-{shard.index:05d}.tokens") for shard in run.shards],
        seed=0,
        window_samples=2,
    )
    plan = StepPlan.from_ranges([(first, 16)], 16)
    inner.train(
        network,
        training,
        plan,
        run.manifest.inner,
        BatchSize(training.sequence, device.open_device("cpu")),
        UninterruptedControl(steps),
    )
    delta = np.zeros(run.origin.layout.elements, np.float32)
    assert network.write_delta(run.origin.master, run.origin.layout, delta)
    return delta


def _payload(run: SmallRun, delta: NDArray[np.float32]) -> bytes:
    return _encoded(run, delta, None)[0]


def _encoded(
    run: SmallRun, delta: NDArray[np.float32], feedback: NDArray[np.uint16] | None
) -> tuple[bytes, NDArray[np.uint16] | None]:
    """The payload, and the error feedback after it."""
    algorithm = codecs.SparseLoCo(shape=SHAPE, feedback_decay=0.95)
    made = codecs.encode(algorithm, run.origin.layout, delta, feedback)
    return made.payload, made.feedback


def _candidate(
    run: SmallRun,
    folder: Path,
    slot: int,
    payload: bytes,
    *,
    round_number: int = 1,
    steps: int = 16,
) -> screen.ScreenedCandidate:
    path = folder / f"{round_number}-{slot}.payload"
    path.write_bytes(payload)
    key = PeerKey(bytes([slot + 1]) * 32)
    header = ContributionHeader(
        algorithm=1,
        bits=2,
        k=256,
        inner_steps=steps,
        chunk_count=run.origin.layout.chunks,
        round=round_number,
        window_first=0,
        window_count=16,
        tokens=16 * 64,
        run_id=RunId(ZERO_DIGEST),
        base_head=HeadHash(ZERO_DIGEST),
        trainer=key,
        payload_root=payload_root(payload, SHAPE),
    )
    expected = ExpectedContribution(
        shape=SHAPE,
        chunks=run.origin.layout.chunks,
        run_id=RunId(ZERO_DIGEST),
        round=round_number,
        base_head=HeadHash(ZERO_DIGEST),
        assigned={key: WindowAssignment(first=0, count=16)},
        window_tokens=64,
        max_inner_steps=500,
    )
    return screen.ScreenedCandidate(
        slot=slot,
        header=header.pack(),
        seal=payload_seal(header.trainer, [payload]),
        payload=path,
        expected=expected,
    )


@pytest.fixture(scope="module")
def payloads(long_run: SmallRun, deltas: list[NDArray[np.float32]]) -> list[bytes]:
    return [_payload(long_run, delta) for delta in deltas]


@pytest.fixture(scope="module")
def last(long_run: SmallRun) -> list[bytes]:
    """Other real work, in the place of last round's."""
    return [_payload(long_run, _delta(long_run, first)) for first in (100, 120)]


def _witness(
    run: SmallRun,
    own: NDArray[np.float32] | None = None,
    own_slot: int | None = None,
    past: Sequence[screen.ScreenedCandidate] = (),
) -> screen.WitnessContext:
    return screen.WitnessContext(
        layout=run.origin.layout,
        steps=16,
        rng=np.random.default_rng(3),
        past=[(one.header, one.payload) for one in past],
        own_delta=own,
        own_slot=own_slot,
    )


def _reasons(
    run: SmallRun, folder: Path, payloads: Sequence[bytes], witness: screen.WitnessContext
) -> list[str]:
    candidates = [_candidate(run, folder, slot, one) for slot, one in enumerate(payloads)]
    return [one.reason for one in screen.screen(candidates, witness)]


def test_honest_contributions_pass(
    long_run: SmallRun, deltas: list[NDArray[np.float32]], payloads: list[bytes], tmp_path: Path
) -> None:
    candidates = [_candidate(long_run, tmp_path, slot, one) for slot, one in enumerate(payloads)]
    measured = screen.screen(candidates, _witness(long_run, deltas[0], 0))
    assert [one.reason for one in measured] == [""] * HONEST
    assert all(0.5 < (one.norm_ratio or 0) < 1.5 for one in measured)
    assert all((one.cosine or 0) > 5 * screen.MIN_COSINE for one in measured)
    assert all((one.overlap or 0) < 0.75 * screen.MAX_OVERLAP for one in measured), measured


CHEATS = {
    "sign_flip": "cosine",
    "sign_flip_3": "cosine",
    "scale_10": "norm",
    "noise": "cosine",
    "zeros": "norm",
    "faint": "norm",
    "copy": "copy",
    "copy_10": "copy",
    "weak_copy": "copy",
    "stale": "copy",
    "replay": "copy",
}


@attack(
    "W1",
    layer="wit",
    ends="every witness gives noise, zeros, faint, flipped or old updates the same reason",
)
@attack("W9", layer="wit", ends="rejected for its size before it is added")
@attack("W11", layer="wit", ends="size, direction and similarity are measured from the bytes")
@attack("W15", layer="wit", ends="a near copy, of this round or the last, is detected and not paid")
@pytest.mark.parametrize("cheat", CHEATS)
def test_every_witness_gives_a_cheat_the_same_name(
    long_run: SmallRun,
    deltas: list[NDArray[np.float32]],
    payloads: list[bytes],
    last: list[bytes],
    tmp_path: Path,
    cheat: str,
) -> None:
    """Payloads 0 to 2 are this round's honest ones, 3 is what the cheat made and does not send."""
    past = [
        _candidate(long_run, tmp_path, slot, one, round_number=7) for slot, one in enumerate(last)
    ]
    now = Situation(
        shape=SHAPE, payload=payloads[3], last=last[0], foreign=payloads[1], foreign_last=last[1]
    )
    forged = [*payloads[:3], ATTACKS[cheat](now)]
    for own in range(3):
        witness = _witness(long_run, deltas[own], own, past)
        assert _reasons(long_run, tmp_path, forged, witness) == ["", "", "", CHEATS[cheat]]


@pytest.mark.parametrize("cheat", [name for name in CHEATS if CHEATS[name] != "cosine"])
def test_a_witness_that_did_not_train_names_them_alike(
    long_run: SmallRun, payloads: list[bytes], tmp_path: Path, cheat: str
) -> None:
    past = [_candidate(long_run, tmp_path, 0, payloads[2], round_number=7)]
    now = Situation(
        shape=SHAPE,
        payload=payloads[3],
        last=payloads[2],
        foreign=payloads[1],
        foreign_last=payloads[2],
    )
    forged = [payloads[0], payloads[1], ATTACKS[cheat](now)]
    reasons = _reasons(long_run, tmp_path, forged, _witness(long_run, past=past))
    assert reasons == ["", "", CHEATS[cheat]]


def test_a_flipped_update_is_named_by_the_others_where_nobody_trained_beside(
    long_run: SmallRun, payloads: list[bytes], tmp_path: Path
) -> None:
    flipped = ATTACKS["sign_flip_3"](Situation(shape=SHAPE, payload=payloads[3]))
    forged = [*payloads[:3], flipped]
    assert _reasons(long_run, tmp_path, forged, _witness(long_run)) == ["", "", "", "cosine"]
    assert _reasons(long_run, tmp_path, forged[1:], _witness(long_run)) == [""] * 3, "too few"


def test_a_veteran_among_newcomers_does_not_shout(
    long_run: SmallRun, deltas: list[NDArray[np.float32]], payloads: list[bytes], tmp_path: Path
) -> None:
    """Error feedback has added up over many rounds from one head, which pull one way."""
    aged = payloads[3]
    feedback = None
    for at in range(24):
        delta = _delta(long_run, 8 * at)
        aged, feedback = _encoded(long_run, delta, feedback)
    candidates = [
        _candidate(long_run, tmp_path, slot, one) for slot, one in enumerate([*payloads[:3], aged])
    ]
    measured = screen.screen(candidates, _witness(long_run, deltas[0], 0))
    assert [one.reason for one in measured] == [""] * HONEST
    assert (measured[3].norm_ratio or 0) > 2, "it is longer by far, and rightly so"


@attack("W15", layer="wit", ends="the first commitment is the original, the later the copy")
def test_the_earlier_of_two_copies_is_the_original(
    long_run: SmallRun, payloads: list[bytes], tmp_path: Path
) -> None:
    twice = [payloads[0], payloads[1], payloads[0], payloads[2]]
    assert _reasons(long_run, tmp_path, twice, _witness(long_run)) == ["", "", "copy", ""]


def test_who_did_one_step_and_says_so_is_no_cheat(
    long_run: SmallRun, deltas: list[NDArray[np.float32]], payloads: list[bytes], tmp_path: Path
) -> None:
    brief = _payload(long_run, _delta(long_run, 48, steps=1))
    candidates = [
        *(_candidate(long_run, tmp_path, slot, payloads[slot]) for slot in range(3)),
        _candidate(long_run, tmp_path, 3, brief, steps=1),
    ]
    measured = screen.screen(candidates, _witness(long_run, deltas[0], 0))
    assert [one.reason for one in measured] == [""] * HONEST


def test_claimed_steps_beyond_a_rounds_are_no_excuse_for_a_longer_update(
    long_run: SmallRun, payloads: list[bytes], tmp_path: Path
) -> None:
    loud = ATTACKS["scale_10"](Situation(shape=SHAPE, payload=payloads[3]))
    candidates = [
        *(_candidate(long_run, tmp_path, slot, payloads[slot]) for slot in range(3)),
        _candidate(long_run, tmp_path, 3, loud, steps=500),
    ]
    measured = screen.screen(candidates, _witness(long_run))
    assert [one.reason for one in measured] == ["", "", "", "norm"]


def test_one_fast_trainer_among_slow_ones_does_not_shout(
    long_run: SmallRun, payloads: list[bytes], tmp_path: Path
) -> None:
    brief = [_payload(long_run, _delta(long_run, first, steps=4)) for first in (16, 32, 48)]
    candidates = [
        _candidate(long_run, tmp_path, 0, payloads[0]),
        *(_candidate(long_run, tmp_path, slot, one, steps=4) for slot, one in enumerate(brief, 1)),
    ]
    measured = screen.screen(candidates, _witness(long_run))
    assert [one.reason for one in measured] == [""] * HONEST
    assert measured[0].norm_ratio is not None
    assert measured[0].norm_ratio < 1.5


@pytest.mark.parametrize("cheat", ["scale_10", "faint", "zeros", "sign_flip"])
def test_of_two_contributions_only_our_own_is_a_measure(
    long_run: SmallRun,
    deltas: list[NDArray[np.float32]],
    payloads: list[bytes],
    tmp_path: Path,
    cheat: str,
) -> None:
    """A witness that did not train cannot tell which of two is too long, and blames neither."""
    pair = [payloads[0], ATTACKS[cheat](Situation(shape=SHAPE, payload=payloads[1]))]
    ours = _witness(long_run, deltas[0], 0)
    expected = "" if cheat == "sign_flip" else "norm"
    assert _reasons(long_run, tmp_path, pair, ours) == ["", expected]
    strangers = _reasons(long_run, tmp_path, pair, _witness(long_run))
    assert strangers == ["", "norm" if cheat == "zeros" else ""]


@attack("P9", layer="wit", ends="one liar does not make honest work look too large")
@pytest.mark.parametrize("cheat", ["scale_10", "faint", "zeros"])
@pytest.mark.parametrize("at", [0, 1, 2])
def test_one_liar_of_three_does_not_move_the_median_beyond_honest_ones(
    long_run: SmallRun, payloads: list[bytes], tmp_path: Path, cheat: str, at: int
) -> None:
    three = list(payloads[:3])
    three[at] = ATTACKS[cheat](Situation(shape=SHAPE, payload=payloads[3]))
    expected = ["norm" if slot == at else "" for slot in range(3)]
    assert _reasons(long_run, tmp_path, three, _witness(long_run)) == expected


def test_a_past_file_that_is_gone_or_torn_is_passed_over(
    long_run: SmallRun, payloads: list[bytes], tmp_path: Path
) -> None:
    past = [_candidate(long_run, tmp_path, slot, payloads[3], round_number=7) for slot in range(3)]
    past[0].payload.unlink()
    past[1].payload.write_bytes(payloads[3][:1000])
    torn = bytearray(payloads[3])
    torn[len(torn) // 2 :] = bytes(len(torn) - len(torn) // 2)
    past[2].payload.write_bytes(torn)
    witness = _witness(long_run, past=past)
    assert _reasons(long_run, tmp_path, payloads, witness) == [""] * HONEST


def test_broken_bytes_are_named_by_their_rule_and_do_not_count_in_the_median(
    long_run: SmallRun, payloads: list[bytes], tmp_path: Path
) -> None:
    good = [_candidate(long_run, tmp_path, slot, one) for slot, one in enumerate(payloads)]
    torn = good[1].payload.read_bytes()
    good[1].payload.write_bytes(torn[:-1] + bytes([torn[-1] ^ 1]))
    good[2].payload.unlink()
    short = dataclasses.replace(good[3], header=good[3].header[:-1])
    measured = screen.screen([good[0], good[1], good[2], short], _witness(long_run, own_slot=0))
    assert [one.reason for one in measured] == ["", "payload_root", "unreadable", "length"]
    assert (measured[0].norm_ratio, measured[0].cosine) == (1.0, None)


def test_nothing_to_screen_is_no_verdict(long_run: SmallRun) -> None:
    assert screen.screen([], _witness(long_run)) == ()


@pytest.mark.parametrize(
    ("overlap", "agreement", "norm_ratio", "cosine", "direction", "company", "reason"),
    [
        (1.0, 1.0, 9.0, -1.0, 0.4, 0.5, "copy"),
        (1.0, 0.0, 9.0, -1.0, 0.4, 0.5, "copy"),
        (1.0, 0.5, 1.0, 0.5, 0.4, 0.5, ""),
        (0.6, 1.0, 9.0, -1.0, 0.4, 0.5, "norm"),
        (0.1, 0.9, 0.0, None, 0.4, 0.5, "norm"),
        (0.1, 0.9, 0.09, 0.4, 0.4, 0.5, "norm"),
        (0.1, 0.9, 1.0, -1.0, 0.4, 0.5, "cosine"),
        (0.1, 0.9, 1.0, 0.019, 0.1, 0.5, "cosine"),
        (0.1, 0.9, 1.0, 0.0, 0.09, 0.5, ""),
        (0.1, 0.9, 1.0, -0.05, None, 0.5, ""),
        (0.1, 0.9, 1.0, -0.9, None, 0.5, ""),
        (0.1, 0.9, 1.0, -0.29, 0.09, 0.5, ""),
        (0.1, 0.9, 1.0, -0.31, 0.09, 0.5, "cosine"),
        (0.1, 0.9, None, None, None, 0.5, ""),
        (0.1, 0.9, 5.0, 0.02, 0.4, 0.5, ""),
        (0.1, 0.9, 5.1, 0.02, 0.4, 0.9, "norm"),
        (0.1, 0.9, 1.0, None, None, 0.44, "cosine"),
        (0.1, 0.9, 1.0, None, None, 0.46, ""),
        (0.1, 0.9, 1.0, -1.0, 0.4, None, "cosine"),
        (0.1, 0.9, 1.0, -1.0, 0.4, 0.54, "cosine"),
        (0.1, 0.9, 1.0, -1.0, 0.4, 0.55, ""),
    ],
)
def test_the_most_certain_measure_gives_the_reason(  # noqa: PLR0913, PLR0917 - a row of the table
    overlap: float,
    agreement: float,
    norm_ratio: float | None,
    cosine: float | None,
    direction: float | None,
    company: float | None,
    reason: str,
) -> None:
    measures = screen.ScreeningMeasures(
        like=Likeness(overlap=overlap, agreement=agreement),
        norm_ratio=norm_ratio,
        cosine=cosine,
        error=0.001,
        direction=direction,
        company=company,
        others=3,
        work=1.0,
    )
    assert measures.reason == reason


@pytest.mark.parametrize(
    ("cosine", "error", "reason"),
    [
        (-0.06, 0.004, "cosine"),
        (-0.06, 0.039, "cosine"),
        (-0.06, 0.041, ""),
        (0.0, np.inf, ""),
        (-0.31, np.inf, "cosine"),
    ],
)
def test_a_cosine_that_is_a_guess_refuses_only_what_points_the_other_way(
    cosine: float, error: float, reason: str
) -> None:
    measures = screen.ScreeningMeasures(
        like=Likeness(overlap=0.1, agreement=0.5),
        norm_ratio=1.0,
        cosine=cosine,
        error=error,
        direction=0.1,
        company=0.5,
        others=2,
        work=1.0,
    )
    assert measures.reason == reason


@pytest.mark.parametrize(("crowd", "reason"), [(1, ""), (2, "cosine")])
def test_of_three_updates_nobody_can_say_which_is_astray(crowd: int, reason: str) -> None:
    measures = screen.ScreeningMeasures(
        like=Likeness(overlap=0.1, agreement=0.5),
        norm_ratio=1.0,
        cosine=0.0,
        error=0.001,
        direction=0.5,
        company=0.5,
        others=crowd,
        work=1.0,
    )
    assert measures.reason == reason


def test_a_few_weights_that_swing_do_not_speak_against_honest_work(
    long_run: SmallRun, deltas: list[NDArray[np.float32]], payloads: list[bytes], tmp_path: Path
) -> None:
    """The witness's own update has one chunk a hundred times too long, and the wrong way round."""
    swinging = deltas[0].copy()
    swinging[:4096] *= -100
    witness = _witness(long_run, swinging, 0)
    assert _reasons(long_run, tmp_path, payloads, witness) == [""] * HONEST


def test_a_witness_that_went_astray_itself_blames_nobody_who_has_company(
    long_run: SmallRun, deltas: list[NDArray[np.float32]], payloads: list[bytes], tmp_path: Path
) -> None:
    for own in (-deltas[0], np.random.default_rng(8).permutation(deltas[0])):
        witness = _witness(long_run, own, 0)
        assert _reasons(long_run, tmp_path, payloads, witness)[1:] == [""] * (HONEST - 1)


def test_a_slow_trainer_with_much_left_over_does_not_shout_among_slow_newcomers(
    long_run: SmallRun, payloads: list[bytes], tmp_path: Path
) -> None:
    """One did a quarter of its steps, and sends what it held back in full rounds as well."""
    brief = [_payload(long_run, _delta(long_run, first, steps=4)) for first in (16, 32)]
    candidates = [
        _candidate(long_run, tmp_path, 0, payloads[0], steps=4),
        *(_candidate(long_run, tmp_path, slot, one, steps=4) for slot, one in enumerate(brief, 1)),
        _candidate(long_run, tmp_path, 3, payloads[3]),
    ]
    measured = screen.screen(candidates, _witness(long_run))
    assert [one.reason for one in measured] == [""] * HONEST
