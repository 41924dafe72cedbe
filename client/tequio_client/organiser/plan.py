"""The plan of a run: TOML in human units, converted to the manifest's integers.

name = "tiny"
[model]
source = "config.json"      # a config (fresh weights), or a model to continue: folder or Hub id
seed = 0                    # seed of fresh weights
revision = ""               # commit, branch or tag of a Hub id
lora.rank = 16              # optional: freeze it, train adapters; lora.bits, alpha, targets
[data]
folder = "data"             # written by `tequio data build`
[algorithm]                 # optional: name, k, bits, outer_lr, momentum, weight_decay, ...
[inner]                     # optional: optimiser, steps, lr, ...
[windows]                   # optional: samples, first, most
[rounds]                    # optional: train_s, most, min_members, ...
[admission]                 # optional: trainer_tier, witness_tier, owner_slots, owner_seats
[expect]                    # optional: peers, upload_mbit, vram_gib, disk_gib, tflops
[measure]                   # optional: every, members, tokens; heads measured on held-out text
[audit]                     # optional: newcomers, others; shares of the work that is repeated
"""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import structlog
from msgspec import UNSET, Meta, Struct, UnsetType

from tequio_client import plan_file
from tequio_client.tokenizers import TOKENIZER_NAME
from tequio_client.worker.store.trees import hash_tree_file
from tequio_shared.errors import UserFacingError
from tequio_shared.head.layout import MOST_RANK, BaseFile, FrozenBase, LayoutKind
from tequio_shared.ids import sha256, to_text
from tequio_shared.limits import PIECE_BYTES
from tequio_shared.round.assignment import BASIS_POINTS
from tequio_shared.round.manifest import (
    Admission,
    Algorithm,
    AuditRules,
    Corpus,
    InnerParams,
    MeasureRules,
    RoundRules,
)

if TYPE_CHECKING:
    from tequio_client.trainer.adapters import PairsOutline
    from tequio_client.trainer.first_head import FirstHead
    from tequio_client.worker.store.store import Store


log = structlog.get_logger(__name__)

_MS = 1000
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
_CONFIG = "config.json"
_UNKNOWN = to_text(bytes(32))
_WIDE, _NARROW = 4, 2  # bytes of a weight
_COMMIT = re.compile(r"[0-9a-f]{40}")
_GB = 1e9

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


class ModelPlan(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    source: str
    seed: Count = 0
    revision: str = ""
    lora: LoraPlan | UnsetType = UNSET


class DataPlan(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    folder: str


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

    `warmup` and `anneal` are these parts, as shares of the rounds.
    """

    optimiser: Literal["muon", "adamw"] = "muon"
    steps: Count = 30
    lr: Factor = 3e-3
    adam_lr: Factor = 3e-3
    feedback: Factor = 0.95
    clip: Factor = 1.0
    weight_decay: Factor = 0.0
    warmup: Share = 0.0
    anneal: Share = 0.0


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


class AuditPlan(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Shares of the contributions that other members repeat: of newcomers, and of all others."""

    newcomers: Annotated[float, Meta(ge=0, le=1)] = 0.5
    others: Annotated[float, Meta(ge=0, le=1)] = 0.05


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
        steps=plan.steps,
        lr_e9=round(plan.lr * 1e9),
        adam_lr_e9=round(plan.adam_lr * 1e9),
        feedback_q15=round(plan.feedback * FEEDBACK_ONE),
        clip_e3=round(plan.clip * 1e3),
        decay_e6=round(plan.weight_decay * 1e6),
        warmup_rounds=round(plan.warmup * rounds),
        anneal_rounds=round(plan.anneal * rounds),
    )


def manifest_audits(plan: AuditPlan) -> AuditRules | UnsetType:
    rules = AuditRules(
        unproven_bp=round(plan.newcomers * BASIS_POINTS),
        others_bp=round(plan.others * BASIS_POINTS),
    )
    return rules if rules.unproven_bp or rules.others_bp else UNSET


def check_repeatable(source: ModelSourceSpec) -> None:
    """Raise UserFacingError for a model whose training nobody can repeat: dropout is random."""
    for name, value in json.loads(source.config).items():
        is_rate = name.endswith(("dropout", "pdrop")) and isinstance(value, int | float)
        if is_rate and value > 0:
            raise UserFacingError(
                f"the model's configuration has {name} {value}: its training cannot be repeated, "
                "so nobody could audit it; set it to 0, or write in the plan: [audit] newcomers = "
                "0, others = 0"
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


# The model that a run starts from. Its configuration is read first, and of a repository nothing
# else: a model that Tequio or the volunteers cannot train costs no download of its weights.
# With adapters, the model is the frozen base of the run, whose files the manifest names by hash.
# Before a repository's weights are fetched only their number is known; until then the base is
# estimated as one file, with the bytes per weight that the configuration names.


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelSourceSpec:
    """Origin of a plan's model; `folder` is None for fresh weights and for a repository."""

    plan: ModelPlan
    config: bytes
    is_fresh: bool
    folder: Path | None
    """Folder of a local model."""


def find_source(plan: ModelPlan, beside: Path) -> ModelSourceSpec:
    """Read the configuration of the plan's model; raises UserFacingError.

    Relative paths are relative to the folder `beside`.
    """
    file = beside / plan.source
    if file.is_file():
        return ModelSourceSpec(plan=plan, config=read_file(file), is_fresh=True, folder=None)
    if plan.source.endswith(".json"):
        raise UserFacingError(
            f"the plan names the model configuration {file}, which does not exist"
        )
    folder = file if file.is_dir() else None
    config = _of_folder(folder) if folder else fetch_config(plan.source, plan.revision)
    from tequio_client.trainer.first_head import check_source  # noqa: PLC0415 - imports torch

    check_source(config, plan.source)
    return ModelSourceSpec(plan=plan, config=config, is_fresh=False, folder=folder)


def make_origin(source: ModelSourceSpec, corpus: Corpus, layout: LayoutKind) -> FirstHead:
    """Make or read the weights; raises UserFacingError, also for data of another tokenizer."""
    from tequio_client.trainer import first_head as origins  # noqa: PLC0415 - imports torch

    if source.is_fresh:
        return origins.random_head(source.config, seed=source.plan.seed, layout=layout)
    return origins.imported_head(fetch_model(source, corpus), layout=layout)


def fetch_model(source: ModelSourceSpec, corpus: Corpus) -> Path:
    """Find the folder of an existing model, or fetch it.

    Raises UserFacingError, also for data of another tokenizer, or if the configuration has changed
    since it was read.
    """
    from tequio_client.scoring import hub  # noqa: PLC0415 - as above

    plan = source.plan
    folder = source.folder or hub.model_folder(plan.source, plan.revision or None)
    _check_tokenizer(folder, plan.source, corpus)
    if _of_folder(folder) != source.config:
        raise UserFacingError(
            f"{plan.source} was changed while it was read: give its commit as `revision`"
        )
    return folder


def check_context(source: ModelSourceSpec, corpus: Corpus, most: int) -> None:
    """Refuse samples that are longer than the context of the model; raises UserFacingError.

    `most` is the longest sequence that the network computes, 0 for no limit.
    """
    fields = json.loads(source.config)  # of any model; it was read before
    positions = fields.get("max_position_embeddings") if isinstance(fields, dict) else None
    context = most or (positions if not source.is_fresh and isinstance(positions, int) else 0)
    if context and context < corpus.sequence:
        raise UserFacingError(
            f"the samples have {corpus.sequence:,} tokens, and the context of {source.plan.source} "
            f"has {context:,}: build the data with --sequence {context}"
        )


def check_vocabulary(source: ModelSourceSpec, corpus: Corpus, known: int) -> None:
    """Refuse data with more tokens than the vocabulary of the model; raises UserFacingError."""
    if known < corpus.tokenizer.vocab_size:
        raise UserFacingError(
            f"the model knows {known} tokens, the data has {corpus.tokenizer.vocab_size}: "
            "set vocab_size in the model's config"
            if source.is_fresh
            else f"{source.plan.source} knows {known} tokens, the data has "
            f"{corpus.tokenizer.vocab_size}: build it with --tokenizer {source.plan.source}"
        )


def fetch_config(name: str, revision: str) -> bytes:
    """Fetch only the config.json of a repository; raises UserFacingError."""
    from huggingface_hub import hf_hub_download  # noqa: PLC0415 - only for names of the Hub

    from tequio_client.trainer.weights import read_json_file  # noqa: PLC0415 - imports torch

    with _hub_errors(name):
        found = Path(hf_hub_download(name, _CONFIG, revision=revision or None))
    return read_json_file(found)


def resolve_commit(name: str, revision: str) -> str:
    """Resolve a revision of a repository to its present commit; raises UserFacingError."""
    if Path(name).is_file():
        raise UserFacingError(f"{name} is a file: give the folder of the model")
    if name.startswith((".", "/", "~")):
        raise UserFacingError(f"folder {name} not found")
    from huggingface_hub import HfApi  # noqa: PLC0415 - as above

    with _hub_errors(name):
        return HfApi().model_info(name, revision=revision or None).sha or revision


@contextmanager
def _hub_errors(name: str) -> Iterator[None]:
    import httpx2  # noqa: PLC0415 - huggingface_hub's HTTP client, whose errors it lets through

    try:
        yield
    except (OSError, ValueError, httpx2.HTTPError) as err:
        why = str(err).partition("\n")[0][:300]
        raise UserFacingError(
            f"folder {name} not found, and it could not be fetched from the Hub: {why}"
        ) from err


def read_file(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError as err:
        raise UserFacingError(f"cannot read {file}: {err.strerror}") from err


def _of_folder(folder: Path) -> bytes:
    from tequio_client.trainer.weights import read_config  # noqa: PLC0415 - imports torch

    return read_config(folder)


def _check_tokenizer(folder: Path, name: str, corpus: Corpus) -> None:
    # The model has learnt the ids of its own tokenizer; those of another mean nothing to it.
    file = folder / TOKENIZER_NAME
    if file.is_file() and to_text(sha256(read_file(file))) != corpus.tokenizer.file:
        raise UserFacingError(
            f"the data was built with another tokenizer than that of {name}: build it with "
            f"`tequio data build --tokenizer {name}`"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class AdapterOutline:
    """The frozen base and the tensors of its adapters, as a manifest lists them."""

    base: FrozenBase
    tensors: tuple[tuple[str, tuple[int, ...]], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class StartedBase:
    """The first adapters, their frozen base, and its files in the base's order."""

    origin: FirstHead
    base: FrozenBase
    paths: tuple[Path, ...]

    def store_files(self, store: Store) -> None:
        """Store the files of the base, for a seed to serve; raises UserFacingError."""
        for one, path in zip(self.base.files, self.paths, strict=True):
            ref = store.put_tree_file(path, PIECE_BYTES)
            if to_text(ref.root) != one.root:
                raise UserFacingError(f"{path} was changed while it was read: open the run again")

    def check_room(self, folder: Path) -> None:
        """Raise UserFacingError unless the disk has room for the files of the base."""
        free = shutil.disk_usage(folder).free
        if free < self.base.size_bytes:
            raise UserFacingError(
                f"the base needs {self.base.size_bytes / _GB:.1f} GB in {folder}, and "
                f"{free / _GB:.1f} GB are free: free some space, or give --seed-dir on another disk"
            )


def outline_adapters(source: ModelSourceSpec) -> AdapterOutline | None:
    """Outline the adapters of a plan, None if it has none; raises UserFacingError."""
    rules = source.plan.lora
    if isinstance(rules, UnsetType):
        return None
    if source.is_fresh:
        raise UserFacingError(
            f"adapters need an existing model, and {source.plan.source} is the configuration of a "
            "new one: give a folder or a repository, or remove model.lora"
        )
    from tequio_client.trainer import adapters  # noqa: PLC0415 - imports torch

    pairs = adapters.outline(source.config, rules.rank, rules.targets or ())
    parameters = pairs.parameters
    size = parameters * _weight_bytes(source.config)
    files = [BaseFile(name="model.safetensors", size_bytes=size, root=_UNKNOWN)]
    if source.folder is not None:
        files = [
            BaseFile(name=path.name, size_bytes=path.stat().st_size, root=_UNKNOWN)
            for path in _files(source.folder)
        ]
        found = sum(one.size_bytes for one in files)
        if found < _NARROW * parameters:
            raise UserFacingError(
                f"{source.plan.source} has {found:,} bytes of weights, too few for the "
                f"{parameters:,} parameters of its configuration: download it again, or use the "
                "model that it was quantised from"
            )
    return AdapterOutline(base=_base(rules, pairs, files), tensors=pairs.tensors)


def start_base(source: ModelSourceSpec, corpus: Corpus, layout: LayoutKind) -> StartedBase:
    """Read the base's files, and make the first adapters; raises UserFacingError."""
    from tequio_client.trainer import adapters  # noqa: PLC0415 - imports torch
    from tequio_client.trainer import first_head as origins  # noqa: PLC0415 - as above

    rules = source.plan.lora
    if isinstance(rules, UnsetType):
        raise UserFacingError(f"the plan of {source.plan.source} has no adapters")
    folder = fetch_model(source, corpus)
    paths = _files(folder)
    pairs = adapters.outline(source.config, rules.rank, rules.targets or ())
    is_of_hub = source.folder is None
    commit = folder.name if is_of_hub and _COMMIT.fullmatch(folder.name) else ""
    base = _base(
        rules,
        pairs,
        [_hashed(path) for path in paths],
        source=source.plan.source if is_of_hub else "",
        revision=commit,
    )
    made = origins.with_adapters(source.config, base, paths, seed=source.plan.seed, layout=layout)
    log.info("base read", source=source.plan.source, files=len(paths), bytes=base.size_bytes)
    return StartedBase(origin=made, base=base, paths=paths)


def _base(
    rules: LoraPlan,
    pairs: PairsOutline,
    files: Sequence[BaseFile],
    *,
    source: str = "",
    revision: str = "",
) -> FrozenBase:
    return FrozenBase(
        source=source,
        revision=revision,
        parameters=pairs.parameters,
        files=tuple(files),
        rank=rules.rank,
        alpha=rules.alpha or 2 * rules.rank,
        targets=pairs.targets,
        bits=4 if rules.bits == 4 else UNSET,  # noqa: PLR2004 - the plan's own number
    )


def _files(folder: Path) -> tuple[Path, ...]:
    from tequio_client.trainer import weights  # noqa: PLC0415 - imports torch

    paths = sorted(weights.weight_files(folder), key=lambda one: one.name.encode())
    missing = next((path for path in paths if not path.is_file()), None)
    if missing is not None:
        raise UserFacingError(f"{missing} is missing: download the model again")
    return tuple(paths)


def _hashed(path: Path) -> BaseFile:
    try:
        with path.open("rb") as file:
            ref = hash_tree_file(file, PIECE_BYTES).ref
    except OSError as err:
        raise UserFacingError(f"cannot read {path}: {err.strerror}") from err
    return BaseFile(name=path.name, size_bytes=ref.size_bytes, root=to_text(ref.root))


def _weight_bytes(config: bytes) -> int:
    fields = json.loads(config)
    dtype = fields.get("dtype") or fields.get("torch_dtype")
    return _WIDE if dtype == "float32" else _NARROW
