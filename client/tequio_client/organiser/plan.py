"""The plan of a run: TOML in human units, converted to the manifest's integers.

name = "tiny"
[model]
source = "config.json"      # a config (fresh weights), or a model to continue: folder or Hub id
seed = 0                    # seed of fresh weights
revision = ""               # commit, branch or tag of a Hub id
lora.rank = 16              # optional: freeze it, train adapters; lora.alpha, lora.targets
[data]
folder = "data"             # written by `tequio data build`
[algorithm]                 # optional: k, bits, outer_lr, weight_decay, ...
[inner]                     # optional: optimiser, steps, lr, ...
[windows]                   # optional: samples, first, most
[rounds]                    # optional: train_s, most, min_members, ...
[admission]                 # optional: trainer_tier, witness_tier, owner_slots, owner_seats
[expect]                    # optional: peers, upload_mbit, vram_gib, disk_gib, tflops
[measure]                   # optional: every, members, tokens; heads measured on held-out text
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

from tequio_client import plan_file
from tequio_shared.head.layout import MOST_RANK
from tequio_shared.round.manifest import (
    Admission,
    Algorithm,
    InnerParams,
    MeasureRules,
    RoundRules,
    WindowRules,
)

if TYPE_CHECKING:
    from pathlib import Path

_MS = 1000
ALPHA_ONE = 1 << 20
LAMBDA_ONE = 1 << 30
FEEDBACK_ONE = 1 << 15
EVERY_MATRIX = ("down_proj", "gate_proj", "k_proj", "o_proj", "q_proj", "up_proj", "v_proj")


Factor = Annotated[float, Meta(ge=0, le=1_000)]
Seconds = Annotated[float, Meta(ge=0, le=1e7)]
Count = Annotated[int, Meta(ge=0, le=1 << 40)]


class LoraPlan(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Adapters of the frozen model; `alpha` 0 means twice the rank.

    By default every matrix of the layers has an adapter: fewer learn less (QLoRA, Dettmers et al.
    2023, section 4).
    """

    rank: Annotated[int, Meta(ge=1, le=MOST_RANK)] = 16
    alpha: Annotated[int, Meta(ge=0, le=65_535)] = 0
    targets: tuple[str, ...] = EVERY_MATRIX

    @property
    def sorted_targets(self) -> tuple[str, ...]:
        """Targets without repetitions, in a manifest's order."""
        return tuple(sorted(set(self.targets)))


class ModelPlan(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The network, and the source of its weights."""

    source: str
    seed: Count = 0
    revision: str = ""
    lora: LoraPlan | UnsetType = UNSET


class DataPlan(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The folder of the built shards."""

    folder: str


class AlgorithmPlan(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The outer step; `outer_lr` 1.0 applies the mean, `weight_decay` is per round.

    The protocol defines more (distro, momentum, a compressed down link); no trainer implements it.
    """

    name: Literal["sparseloco", "diloco"] = "sparseloco"
    k: Literal[0, 8, 16, 32, 64, 128, 256, 512, 4096] = 0
    bits: Literal[1, 2, 4, 8] = 2
    outer_lr: Factor = 1.0
    weight_decay: Factor = 0.0
    clip_delta: Count = 8
    filter_z: Factor = 4.0
    token_cap: Count = 1 << 40


class InnerPlan(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The trainer's inner steps."""

    optimiser: Literal["muon", "adamw"] = "muon"
    steps: Count = 30
    lr: Factor = 3e-3
    adam_lr: Factor = 3e-3
    feedback: Factor = 0.95
    clip: Factor = 1.0
    weight_decay: Factor = 0.0


class WindowsPlan(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Work units: `samples` sequences each."""

    samples: Count = 2
    first: Count = 30
    most: Count = 100_000
    seed: Count = 0


class RoundsPlan(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Durations in seconds; `most` is the number of rounds after which the run ends."""

    min_members: Count = 2
    most_members: Count = 256
    warmup_s: Seconds = 5.0
    train_s: Seconds = 60.0
    train_limit_s: Seconds = 180.0
    witness_s: Seconds = 60.0
    grace_s: Seconds = 1.0
    attest_s: Seconds = 60.0
    cooldown_s: Seconds = 60.0
    most: Count = 1_000


class ExpectPlan(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Volunteers expected by the organiser; not part of the run, used to check the plan.

    `upload_mbit` and the memory are those of the weakest volunteer that should be able to train;
    `tflops` is the measured speed of its card, 0 means the usual speed of cards with that memory.
    """

    peers: Annotated[int, Meta(ge=2, le=4_095)] = 8
    upload_mbit: Annotated[float, Meta(gt=0, le=1e6)] = 10.0
    vram_gib: Annotated[float, Meta(gt=0, le=1e4)] = 8.0
    disk_gib: Annotated[float, Meta(gt=0, le=1e6)] = 30.0
    tflops: Annotated[float, Meta(ge=0, le=1e5)] = 0.0


class RunPlan(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A complete plan; relative paths are relative to its file."""

    name: str
    model: ModelPlan
    data: DataPlan
    algorithm: AlgorithmPlan = AlgorithmPlan()
    inner: InnerPlan = InnerPlan()
    windows: WindowsPlan = WindowsPlan()
    rounds: RoundsPlan = RoundsPlan()
    admission: Admission | UnsetType = UNSET
    expect: ExpectPlan | UnsetType = UNSET
    measure: MeasureRules = MeasureRules()
    witness_share: Annotated[float, Meta(ge=0, le=1)] = 0.05


def read_plan(path: Path) -> RunPlan:
    """Read a plan; raises UserFacingError, which names the file and the fault."""
    return plan_file.read(path, RunPlan)


def manifest_algorithm(plan: AlgorithmPlan, inner: InnerPlan) -> Algorithm:
    alpha = round(plan.outer_lr * ALPHA_ONE)
    decay = round(plan.weight_decay * LAMBDA_ONE)
    return Algorithm(
        name=plan.name,
        layout="flat",
        k=plan.k,
        bits=plan.bits,
        delta=plan.clip_delta,
        z2=round(plan.filter_z**2),
        token_cap=plan.token_cap,
        max_inner_steps=max(inner.steps, 1),
        schedule=((1, alpha, decay),),
    )


def manifest_inner(plan: InnerPlan) -> InnerParams:
    return InnerParams(
        optimiser=plan.optimiser,
        steps=plan.steps,
        lr_e9=round(plan.lr * 1e9),
        adam_lr_e9=round(plan.adam_lr * 1e9),
        feedback_q15=round(plan.feedback * FEEDBACK_ONE),
        clip_e3=round(plan.clip * 1e3),
        decay_e6=round(plan.weight_decay * 1e6),
    )


def manifest_windows(plan: WindowsPlan, sequence: int) -> WindowRules:
    return WindowRules(
        samples=plan.samples,
        tokens=plan.samples * sequence,
        first=plan.first,
        most=plan.most,
        seed=plan.seed,
    )


def manifest_rounds(plan: RoundsPlan) -> RoundRules:
    return RoundRules(
        min_members=plan.min_members,
        most_members=plan.most_members,
        warmup=_ms(plan.warmup_s),
        train=_ms(plan.train_s),
        train_limit=_ms(plan.train_limit_s),
        witness=_ms(plan.witness_s),
        grace=_ms(plan.grace_s),
        attest=_ms(plan.attest_s),
        cooldown=_ms(plan.cooldown_s),
        most=plan.most,
    )


def _ms(seconds: float) -> int:
    return round(seconds * _MS)
