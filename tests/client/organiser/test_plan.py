"""Plans: human units become the manifest's integers, and each mistake is one sentence."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from msgspec import UNSET

from tequio_client.organiser import plan as plans
from tequio_shared import encoding
from tequio_shared.errors import UserFacingError
from tequio_shared.round.manifest import Admission

if TYPE_CHECKING:
    from pathlib import Path

LEAST = '[model]\nsource = "config.json"\n[data]\nfolder = "data"\n'
WHOLE = 'name = "tiny"\n' + LEAST


def read(folder: Path, text: str) -> plans.RunPlan:
    path = folder / "plan.toml"
    path.write_text(text)
    return plans.read_plan(path)


def test_words_for_people_may_be_left_out(tmp_path: Path) -> None:
    plan = read(tmp_path, WHOLE)
    assert (plan.description, plan.licence) == ("", "")
    words = 'description = "Small."\nlicence = "CC-BY-4.0"\n'
    named = read(tmp_path, words + WHOLE)
    assert (named.description, named.licence) == ("Small.", "CC-BY-4.0")


def test_seconds_and_rates_become_integers(tmp_path: Path) -> None:
    plan = read(tmp_path, WHOLE + "[rounds]\ntrain_s = 1.5\n[inner]\nlr = 0.002\nclip = 0.5\n")
    assert plans.manifest_rounds(plan.rounds).train == 1_500
    assert plans.manifest_inner(plan.inner, 100).lr_e9 == 2_000_000
    assert plans.manifest_inner(plan.inner, 100).clip_e3 == 500


@pytest.mark.parametrize("rounds", [1, 3, 7, 10, 33])
@pytest.mark.parametrize("warmup", [0.03, 0.25, 0.5, 0.57])
def test_rates_that_rise_and_then_fall_all_the_time_fit_into_any_number_of_rounds(
    warmup: float, rounds: int
) -> None:
    inner = plans.manifest_inner(plans.InnerPlan(warmup=warmup, anneal=1 - warmup), rounds)
    assert rounds - 1 <= inner.warmup_rounds + inner.anneal_rounds <= rounds


def test_a_z_loss_is_left_out_of_a_manifest_unless_a_plan_has_one(tmp_path: Path) -> None:
    made = {
        text: plans.manifest_inner(read(tmp_path, WHOLE + text).inner, 100)
        for text in ("", "[inner]\nz_loss = 0.0\n", "[inner]\nz_loss = 1e-4\n")
    }
    plain, zero, held = made.values()
    assert plain == zero
    assert b"z_loss" not in encoding.encode(plain)
    assert (plain.z_loss, held.z_loss_e9, held.z_loss) == (0.0, 100_000, 1e-4)


def test_a_z_loss_below_what_a_manifest_can_hold_is_refused(tmp_path: Path) -> None:
    plan = read(tmp_path, WHOLE + "[inner]\nz_loss = 1e-12\n")
    with pytest.raises(UserFacingError, match=r"inner\.z_loss is 1e-12.*1e-4, which is usual"):
        plans.manifest_inner(plan.inner, 100)


def test_a_momentum_is_in_a_manifest_only_if_a_plan_chooses_another_one(tmp_path: Path) -> None:
    plain, same, chosen, none = (
        plans.manifest_inner(read(tmp_path, WHOLE + text).inner, 100)
        for text in (
            "",
            "[inner]\nmomentum = 0.95\n",
            "[inner]\nmomentum = 0.8\n",
            "[inner]\nmomentum = 0.0\n",
        )
    )
    assert plain == same
    assert b"momentum" not in encoding.encode(plain)
    assert (plain.momentum, chosen.momentum_e3, chosen.momentum) == (0.95, 800, 0.8)
    assert (none.momentum_e3, none.momentum) == (0, 0.0)


def test_a_momentum_of_an_optimiser_without_one_is_refused(tmp_path: Path) -> None:
    plan = read(tmp_path, WHOLE + '[inner]\noptimiser = "adamw"\nmomentum = 0.8\n')
    with pytest.raises(UserFacingError, match=r"inner\.momentum is 0\.8, and adamw has none"):
        plans.manifest_inner(plan.inner, 100)


def test_the_outer_step_becomes_integers(tmp_path: Path) -> None:
    dense = 'name = "diloco"\nk = 4096\nbits = 8\nmomentum = 0.5\n'
    made = {
        name: plans.manifest_algorithm(plan.algorithm, plan.inner)
        for name, text in {"momentum": dense, "down link": "down_k = 64\n"}.items()
        for plan in [read(tmp_path, WHOLE + "[algorithm]\n" + text)]
    }
    assert (made["momentum"].mu_q, made["momentum"].down_k) == (1 << 14, 0)
    assert (made["down link"].mu_q, made["down link"].down_k) == (0, 64)


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("momentum = 0.5\n", "algorithm.momentum is 0.5, and sparseloco has none"),
        (
            'name = "diloco"\nmomentum = 0.5\ndown_k = 64\n',
            "algorithm.momentum or algorithm.down_k, not both",
        ),
    ],
)
def test_an_outer_step_that_cannot_be_is_refused(tmp_path: Path, text: str, named: str) -> None:
    plan = read(tmp_path, WHOLE + "[algorithm]\n" + text)
    with pytest.raises(UserFacingError, match=named):
        plans.manifest_algorithm(plan.algorithm, plan.inner)


def test_whom_a_run_takes_is_said_in_the_plan_or_left_out(tmp_path: Path) -> None:
    assert read(tmp_path, WHOLE).admission is UNSET
    guarded = read(tmp_path, WHOLE + "[admission]\nwitness_tier = 2\nowner_seats = 1\n")
    assert guarded.admission == Admission(witness_tier=2, owner_seats=1)


DISTRO = WHOLE + '[algorithm]\nname = "distro"\n'


def test_a_plan_of_distro_has_its_usual_values(tmp_path: Path) -> None:
    plan = read(tmp_path, DISTRO)
    rules = plans.manifest_algorithm(plan.algorithm, plan.inner)
    assert (rules.name, rules.layout, rules.bits, rules.max_inner_steps) == (
        "distro",
        "tile64",
        1,
        1,
    )
    assert rules.schedule == ((1, 16_777, 0),)
    inner = plans.manifest_inner(plan.inner, 100)
    assert (inner.steps, inner.feedback_q15) == (1, 32_735)


def test_what_a_plan_of_distro_says_itself_stands(tmp_path: Path) -> None:
    plan = read(tmp_path, DISTRO + "outer_lr = 0.0625\n[inner]\nfeedback = 0.99\nsteps = 2\n")
    assert plans.manifest_algorithm(plan.algorithm, plan.inner).schedule == ((1, 1 << 20, 0),)
    assert (plan.inner.feedback, plan.inner.steps) == (0.99, 2)


@pytest.mark.parametrize("move", ["1.0", "0.063", "0.0"])
def test_a_move_of_a_distro_that_no_head_can_make_is_refused(tmp_path: Path, move: str) -> None:
    plan = read(tmp_path, f"{DISTRO}outer_lr = {move}\n")
    with pytest.raises(UserFacingError, match=r"at most 0\.0625; 0\.001 is usual"):
        plans.manifest_algorithm(plan.algorithm, plan.inner)


def test_usual_values_hide_no_mistake(tmp_path: Path) -> None:
    with pytest.raises(UserFacingError, match="inner is 7: expected a table"):
        read(tmp_path, "inner = 7\n" + DISTRO)


@pytest.mark.parametrize(
    ("text", "named"),
    [
        (LEAST, "it lacks `name`"),
        ("name = 7\n" + LEAST, "name is 7: expected a text, got a whole number"),
        (WHOLE + "[round]\ntrain_s = 1\n", "it has no `round`; `rounds` may be meant"),
        (WHOLE + "[rounds]\ntrain = 1\n", "[rounds] has no `train`; `train_s` may be meant"),
        (WHOLE + '[rounds]\ntrain_s = "long"\n', "rounds.train_s is 'long': expected a number"),
        (WHOLE + "[rounds]\ntrain_s = -1\n", "rounds.train_s is -1: expected a number >= 0"),
        (WHOLE + "[rounds]\nmost = -1\n", "rounds.most is -1: expected a whole number >= 0"),
        (WHOLE + "[inner]\nlr = nan\n", "inner.lr is nan: expected a number"),
        (WHOLE + "[inner]\nlr = inf\n", "inner.lr is inf: expected a number <= 1000"),
        (
            WHOLE + '[inner]\noptimiser = "sgd"\n',
            "inner.optimiser is 'sgd', and can be 'adamw', 'muon'",
        ),
        (WHOLE + "[algorithm]\nk = 7\n", "algorithm.k is 7, and can be 0, 8, 16"),
        ("witness_share = 2.0\n" + WHOLE, "witness_share is 2.0: expected a number <= 1"),
        (
            WHOLE + "[admission]\ntrainer_tier = 3\n",
            "trainer_tier is 3: expected a whole number <= 2",
        ),
        (WHOLE + "[model]\n", "model"),
    ],
)
def test_a_mistake_is_named_with_its_place(tmp_path: Path, text: str, named: str) -> None:
    with pytest.raises(UserFacingError) as caught:
        read(tmp_path, text)
    said = str(caught.value)
    assert said.startswith(f"the plan {tmp_path / 'plan.toml'} is not valid: ")
    assert named in said
    assert "\n" not in said


def test_a_plan_that_is_a_folder_is_told(tmp_path: Path) -> None:
    with pytest.raises(UserFacingError, match="cannot read the plan"):
        plans.read_plan(tmp_path)
