"""The plan of a private group: TOML in human units, and the group file made from it.

name = "Letters"
allows_two = false          # optional: let two members train, who learn each other's update
[model]
source = "config.json"      # a config (fresh weights), or a model to continue: folder or Hub id
seed = 0                    # seed of fresh weights
revision = ""               # commit, branch or tag of a Hub id
sequence = 128              # tokens of a training sample
tokenizer = ""              # a tokenizer.json; empty: that of the model, or raw bytes
[training]                  # optional: rounds, steps, batch, optimiser, lr, clip, weight_decay
[times]                     # optional: train_s, reply_s
[privacy]                   # optional: differential privacy (ipc/private.py)
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

from tequio_client import plan_file, tokenizers
from tequio_client.group.group_file import GroupFile, GroupTimes, GroupTraining
from tequio_client.ipc.private import InnerSteps, PrivacyPlan, privacy_rules
from tequio_client.organiser import model_source
from tequio_client.organiser.plan import ModelPlan
from tequio_client.trainer import first_head
from tequio_client.trainer.first_head import FirstHead
from tequio_client.trainer.model import context_length, vocabulary_size
from tequio_shared.errors import MalformedError, UserFacingError
from tequio_shared.ids import sha256, to_text
from tequio_shared.round.manifest import Tokenizer

_MS = 1_000
Rate = Annotated[float, Meta(gt=0, le=10)]
Seconds = Annotated[float, Meta(ge=0.1, le=7 * 86_400)]
Count = Annotated[int, Meta(ge=1, le=65_535)]


class GroupModelPlan(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    source: str
    seed: Annotated[int, Meta(ge=0, le=1 << 40)] = 0
    revision: str = ""
    sequence: Annotated[int, Meta(ge=2, le=1 << 20)] = 128
    tokenizer: str = ""


class GroupTrainingPlan(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    rounds: Annotated[int, Meta(ge=1, le=1 << 30)] = 100
    steps: Count = 20
    batch: Count = 8
    optimiser: Literal["adamw", "muon"] = "adamw"
    lr: Rate = 1e-3
    adam_lr: Rate | UnsetType = UNSET
    """With muon: the rate of what AdamW trains. Absent: as `lr`."""
    clip: Rate = 1.0
    weight_decay: Annotated[float, Meta(ge=0, le=1)] = 0.0


class GroupTimesPlan(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    train_s: Seconds = 3_600.0
    reply_s: Seconds = 30.0


class GroupPlan(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    name: str
    model: GroupModelPlan
    training: GroupTrainingPlan = GroupTrainingPlan()
    times: GroupTimesPlan = GroupTimesPlan()
    privacy: PrivacyPlan | UnsetType = UNSET
    allows_two: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class NewGroup:
    """A group without members, its head 0, and its tokenizer (empty: raw bytes)."""

    group: GroupFile
    head: FirstHead
    tokenizer: bytes


def make_group(path: Path) -> NewGroup:
    """Read a plan and make its group; imports torch. Raises UserFacingError."""
    plan = plan_file.read(path, GroupPlan)
    wanted = plan.model
    source = model_source.find_source(
        ModelPlan(source=wanted.source, seed=wanted.seed, revision=wanted.revision), path.parent
    )
    if source.is_fresh:
        folder = None
        head = first_head.random_head(source.config, seed=wanted.seed, layout="flat")
    else:
        from tequio_client.scoring import hub  # noqa: PLC0415 - only for existing models

        folder = source.folder or hub.model_folder(wanted.source, wanted.revision or None)
        head = first_head.imported_head(folder, layout="flat")
    raw, tokenizer = _tokenizer(wanted, path.parent, folder)
    _check_model(head, tokenizer, wanted.sequence)
    group = GroupFile(
        name=plan.name,
        model=head.manifest_entry(sequence=wanted.sequence, aux_dtype=None),
        config=head.config.decode(),
        tokenizer=tokenizer,
        training=_training(plan.training),
        times=GroupTimes(
            train_ms=round(plan.times.train_s * _MS), reply_ms=round(plan.times.reply_s * _MS)
        ),
        privacy=UNSET if isinstance(plan.privacy, UnsetType) else privacy_rules(plan.privacy),
        allows_two=plan.allows_two,
    )
    try:
        return NewGroup(group=GroupFile.parse(group.encode()), head=head, tokenizer=raw)
    except MalformedError as err:
        raise UserFacingError(f"the plan {path} makes no valid group: {err}") from err


def _training(plan: GroupTrainingPlan) -> GroupTraining:
    adam_lr = plan.lr if isinstance(plan.adam_lr, UnsetType) else plan.adam_lr
    inner = InnerSteps(
        optimiser=plan.optimiser,
        lr_e9=max(round(plan.lr * 1e9), 1),
        adam_lr_e9=max(round(adam_lr * 1e9), 1),
        clip_e3=max(round(plan.clip * 1e3), 1),
        decay_e6=round(plan.weight_decay * 1e6),
    )
    return GroupTraining(rounds=plan.rounds, steps=plan.steps, batch=plan.batch, inner=inner)


def _tokenizer(plan: GroupModelPlan, beside: Path, folder: Path | None) -> tuple[bytes, Tokenizer]:
    """The tokenizer that the plan names, or that of an existing model; else raw bytes."""
    own = folder / tokenizers.TOKENIZER_NAME if folder else None
    path = beside / plan.tokenizer if plan.tokenizer else own
    if path is None or not (plan.tokenizer or path.is_file()):
        return b"", Tokenizer(kind="bytes", file="", vocab_size=256)
    raw = tokenizers.read_tokenizer_file(path)
    parsed = tokenizers.parse_tokenizer(raw, str(path), tokenizers.SEPARATORS)
    name = to_text(sha256(raw))
    return raw, Tokenizer(kind="huggingface", file=name, vocab_size=parsed.vocab_size)


def _check_model(head: FirstHead, tokenizer: Tokenizer, sequence: int) -> None:
    known, context = vocabulary_size(head.model), context_length(head.model)
    if known < tokenizer.vocab_size:
        raise UserFacingError(
            f"the model knows {known} tokens, and the tokenizer has {tokenizer.vocab_size}: set "
            "vocab_size in the model's config"
        )
    if context and context < sequence:
        raise UserFacingError(
            f"model.sequence is {sequence}, and the context of the model has {context} tokens: "
            "choose a smaller number"
        )
