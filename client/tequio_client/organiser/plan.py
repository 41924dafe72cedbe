"""The plan of a run: TOML in human units, converted to the manifest's integers.

name = "tiny"
description = "A tiny model"  # optional: what the run is for
licence = "Apache-2.0"      # optional: of the trained weights
[model]
source = "config.json"      # a config (fresh weights), or a model to continue: folder or Hub id
seed = 0                    # seed of fresh weights
revision = ""               # commit, branch or tag of a Hub id
lora.rank = 16              # optional: freeze it, train adapters; lora.bits, alpha, targets
parent.run = "..."          # in place of a source: another run, parent.ledger, parent.round
[data]
folder = "data"             # written by `tequio data build`
mirrors = []                # optional: addresses at which that folder is on the web
[plugin]                    # optional: source, a folder or an archive of `tequio plugin build`
[algorithm]                 # optional: name, k, bits, outer_lr, momentum, weight_decay, ...
[inner]                     # optional: optimiser, steps, lr, ...
[windows]                   # optional: samples, first, most
[rounds]                    # optional: train_s, most, min_members, ...
[admission]                 # optional: trainer_tier, witness_tier, owner_slots, owner_seats
[measure]                   # optional: every, members, tokens, margin, tasks: measured heads
[expect]                    # optional: peers, upload_mbit, vram_gib, disk_gib, tflops, cell
[audit]                     # optional: newcomers, others; shares of the work that is repeated
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

from tequio_client import plan_file
from tequio_client.worker.lending.needs import MOST_COMPUTERS
from tequio_shared.errors import UserFacingError
from tequio_shared.head.layout import MOST_RANK
from tequio_shared.limits import MEASURED_TASKS, WITNESSES
from tequio_shared.multiple_choice import MeasuredTask
from tequio_shared.round.manifest import (
    MUON_MOMENTUM,
    Admission,
    Algorithm,
    AuditRules,
    InnerParams,
    MeasureRules,
    MirrorUrl,
    RoundRules,
)
from tequio_shared.round.points import BASIS_POINTS

_MS = 1000
_LEAST_Z_LOSS = 1e-9
"""A unit of a manifest's `z_loss_e9`."""
ALPHA_ONE = 1 << 20
LAMBDA_ONE = 1 << 30
FEEDBACK_ONE = 1 << 15
MOMENTUM_ONE = 1 << 15
WEIGHT_ONE = 1 << 24
MOST_MOVE = 1 / 16
"""Largest move of a weight in a round of distro: 2^20 weight units."""
USUAL: Mapping[str, Mapping[str, Mapping[str, float]]] = {
    # A round is one step, and the feedback is its momentum: 0.999 as in DeMo (arXiv 2411.19870).
    "distro": {
        "algorithm": {"bits": 1, "outer_lr": 0.001},
        "inner": {"steps": 1, "feedback": 0.999},
    }
}
"""Values that a plan with this algorithm has unless it names others."""

Factor = Annotated[float, Meta(ge=0, le=1_000)]
Share = Annotated[float, Meta(ge=0, le=1)]
Seconds = Annotated[float, Meta(ge=0, le=1e7)]
Count = Annotated[int, Meta(ge=0, le=1 << 40)]


class LoraPlan(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Adapters of the frozen model; `alpha` 0 means twice the rank.

    Without targets, every matrix except the output layer has an adapter: fewer learn less (QLoRA,
    Dettmers et al. 2023, section 4). With 4 bits, the targets' matrices are held in NF4.
    """

    rank: Annotated[int, Meta(ge=1, le=MOST_RANK)] = 16
    alpha: Annotated[int, Meta(ge=0, le=65_535)] = 0
    targets: Annotated[tuple[str, ...], Meta(min_length=1)] | UnsetType = UNSET
    bits: Literal[4, 16] = 16


class ParentPlan(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A head that the run starts from: that of `round` of a run, by its id or name."""

    ledger: str
    run: str
    round: Count


class ModelPlan(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Origin of the model: `source`, or the head of another run."""

    source: str = ""
    seed: Count = 0
    revision: str = ""
    lora: LoraPlan | UnsetType = UNSET
    parent: ParentPlan | UnsetType = UNSET


class DataPlan(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    folder: str
    mirrors: Annotated[tuple[MirrorUrl, ...], Meta(max_length=4)] = ()


class PluginPlan(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Code of the run's own: a folder with plugin.toml, or an archive. Empty: there is none."""

    source: str = ""


class AlgorithmPlan(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The outer step; `outer_lr` 1.0 applies the mean, `weight_decay` is per round.

    For distro, `outer_lr` is the move of each weight in a round; `USUAL` has its usual values.
    `momentum` is Nesterov's, of diloco only. `down_k` limits the entries that a head moves by in
    each chunk; the rest waits for later rounds. distro has neither.
    """

    name: Literal["sparseloco", "diloco", "distro"] = "sparseloco"
    k: Literal[0, 8, 16, 32, 64, 128, 256, 512, 4096] = 0
    bits: Literal[1, 2, 4, 8] = 2
    outer_lr: Factor = 1.0
    weight_decay: Factor = 0.0
    momentum: Annotated[float, Meta(ge=0, le=0.99)] = 0.0
    down_k: Literal[0, 8, 16, 32, 64, 128, 256, 512] = 0
    clip_delta: Count = 8
    filter_z: Factor = 4.0
    token_cap: Count = 1 << 40


class InnerPlan(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A trainer's steps; in the first and last part of a run, learning rates rise and fall.

    `warmup` and `anneal` are these parts, as shares of the rounds. With documents `apart`, a token
    of a sample sees only the document that it is in. `state_bits` are those of the optimiser's
    state. `z_loss` is the weight of the z-loss, which only training has; 1e-4 is usual. `momentum`
    is Muon's.
    """

    optimiser: Literal["muon", "adamw"] = "muon"
    state_bits: Literal[32, 8] = 32
    steps: Count = 30
    lr: Factor = 3e-3
    adam_lr: Factor = 3e-3
    feedback: Factor = 0.95
    clip: Factor = 1.0
    weight_decay: Factor = 0.0
    documents: Literal["joined", "apart"] = "joined"
    warmup: Share = 0.0
    anneal: Share = 0.0
    z_loss: Share = 0.0
    momentum: Annotated[float, Meta(ge=0, le=0.999)] = MUON_MOMENTUM


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
    With a `cell`, each of the peers is that number of such computers (docs/cells.md).
    """

    peers: Annotated[int, Meta(ge=2, le=4_095)] = 8
    upload_mbit: Annotated[float, Meta(gt=0, le=1e6)] = 10.0
    vram_gib: Annotated[float, Meta(gt=0, le=1e4)] = 8.0
    disk_gib: Annotated[float, Meta(gt=0, le=1e6)] = 30.0
    tflops: Annotated[float, Meta(ge=0, le=1e5)] = 0.0
    cell: Annotated[int, Meta(ge=1, le=MOST_COMPUTERS)] = 1


class MeasurePlan(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Heads that drawn members measure; `tasks` are files of `tequio data tasks`.

    `margin` is in thousandths of a bit per byte.
    """

    every: Count = 10
    members: Annotated[int, Meta(ge=1, le=WITNESSES)] = 3
    tokens: Annotated[int, Meta(ge=1, le=1 << 40)] = 16_384
    margin: Annotated[int, Meta(ge=1, le=8_000)] | UnsetType = UNSET
    tasks: Annotated[tuple[str, ...], Meta(max_length=MEASURED_TASKS)] = ()


class AuditPlan(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Shares of the contributions that other members repeat: of newcomers, and of all others."""

    newcomers: Annotated[float, Meta(ge=0, le=1)] = 0.5
    others: Annotated[float, Meta(ge=0, le=1)] = 0.05


class RunPlan(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A complete plan; relative paths are relative to its file."""

    name: str
    description: str = ""
    licence: str = ""
    model: ModelPlan
    data: DataPlan
    plugin: PluginPlan = PluginPlan()
    algorithm: AlgorithmPlan = AlgorithmPlan()
    inner: InnerPlan = InnerPlan()
    windows: WindowsPlan = WindowsPlan()
    rounds: RoundsPlan = RoundsPlan()
    admission: Admission | UnsetType = UNSET
    expect: ExpectPlan | UnsetType = UNSET
    measure: MeasurePlan = MeasurePlan()
    audit: AuditPlan = AuditPlan()
    witness_share: Annotated[float, Meta(ge=0, le=1)] = 0.05


def read_plan(path: Path) -> RunPlan:
    """Read a plan; raises UserFacingError, which names the file and the fault."""
    return plan_file.read(path, RunPlan, _with_usual_values)


def _with_usual_values(tree: dict[str, Any]) -> dict[str, Any]:  # TOML of any kind
    """The plan's TOML with the algorithm's usual values where it has none."""
    algorithm = tree.get("algorithm")
    name = algorithm.get("name") if isinstance(algorithm, dict) else None
    filled = dict(tree)
    for table, values in USUAL.get(name, {}).items() if isinstance(name, str) else ():
        given = tree.get(table, {})
        filled[table] = {**values, **given} if isinstance(given, dict) else given
    return filled


def manifest_algorithm(plan: AlgorithmPlan, inner: InnerPlan) -> Algorithm:
    """The outer step's integers; raises UserFacingError for settings that exclude each other."""
    _check_outer_step(plan)
    alpha = round(plan.outer_lr * (WEIGHT_ONE if plan.name == "distro" else ALPHA_ONE))
    decay = round(plan.weight_decay * LAMBDA_ONE)
    return Algorithm(
        name=plan.name,
        layout="tile64" if plan.name == "distro" else "flat",
        k=plan.k,
        bits=plan.bits,
        delta=plan.clip_delta,
        z2=round(plan.filter_z**2),
        token_cap=plan.token_cap,
        down_k=plan.down_k,
        mu_q=round(plan.momentum * MOMENTUM_ONE),
        max_inner_steps=max(inner.steps, 1),
        schedule=((1, alpha, decay),),
    )


def _check_outer_step(plan: AlgorithmPlan) -> None:
    if plan.momentum and plan.name != "diloco":
        raise UserFacingError(
            f"algorithm.momentum is {plan.momentum:g}, and {plan.name} has none: remove it, or "
            'write name = "diloco", k = 4096, bits = 8'
        )
    if plan.momentum and plan.down_k:
        raise UserFacingError("a run has algorithm.momentum or algorithm.down_k, not both")
    if plan.name == "distro" and plan.down_k:
        raise UserFacingError(f"algorithm.down_k is {plan.down_k}, and distro has none: remove it")
    if plan.name == "distro" and not 1 / WEIGHT_ONE <= plan.outer_lr <= MOST_MOVE:
        raise UserFacingError(
            f"algorithm.outer_lr is {plan.outer_lr:g}: for distro it is the move of each weight in "
            f"a round, at most {MOST_MOVE}; {USUAL['distro']['algorithm']['outer_lr']:g} is usual"
        )


def manifest_inner(plan: InnerPlan, rounds: int) -> InnerParams:
    """The recipe's integers, for a run of that many rounds."""
    return InnerParams(
        optimiser=plan.optimiser,
        state_bits=plan.state_bits,
        steps=plan.steps,
        lr_e9=round(plan.lr * 1e9),
        adam_lr_e9=round(plan.adam_lr * 1e9),
        feedback_q15=round(plan.feedback * FEEDBACK_ONE),
        clip_e3=round(plan.clip * 1e3),
        decay_e6=round(plan.weight_decay * 1e6),
        documents=plan.documents,
        warmup_rounds=round(plan.warmup * rounds),
        anneal_rounds=int(plan.anneal * rounds),  # rounded down: with warmup, no more than all
        z_loss_e9=_z_loss_e9(plan.z_loss),
        momentum_e3=_momentum_e3(plan),
    )


def _z_loss_e9(weight: float) -> int | UnsetType:
    if 0 < weight < _LEAST_Z_LOSS:
        raise UserFacingError(
            f"inner.z_loss is {weight:g}, and the least is {_LEAST_Z_LOSS:g}: write 1e-4, which is "
            "usual, or 0 for none"
        )
    return round(weight * 1e9) or UNSET


def _momentum_e3(plan: InnerPlan) -> int | UnsetType:
    chosen = round(plan.momentum * 1e3)
    if chosen == round(MUON_MOMENTUM * 1e3):
        return UNSET
    if plan.optimiser != "muon":
        raise UserFacingError(
            f"inner.momentum is {plan.momentum:g}, and {plan.optimiser} has none to choose: leave "
            'it out, or write inner.optimiser = "muon"'
        )
    return chosen


def manifest_measures(plan: MeasurePlan, tasks: Sequence[MeasuredTask]) -> MeasureRules:
    return MeasureRules(
        every=plan.every,
        members=plan.members,
        tokens=plan.tokens,
        margin=plan.margin,
        tasks=tuple(tasks) or UNSET,
    )


def manifest_audits(plan: AuditPlan) -> AuditRules | UnsetType:
    rules = AuditRules(
        unproven_bp=round(plan.newcomers * BASIS_POINTS),
        others_bp=round(plan.others * BASIS_POINTS),
    )
    return rules if rules.unproven_bp or rules.others_bp else UNSET


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
