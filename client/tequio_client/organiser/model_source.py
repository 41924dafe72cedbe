"""The model that a run starts from: fresh weights, a folder, or a repository of the Hub.

Its configuration is read first, and of a repository nothing else: a model that Tequio or the
volunteers cannot train costs no download of its weights. With adapters, the model is the frozen
base of the run, whose files the manifest names by hash. Before a repository's weights are fetched
only their number is known; until then the base is estimated as one file, with the bytes per weight
that the configuration names.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import structlog
from msgspec import UNSET, UnsetType

from tequio_client.dataset.sources import hub_errors
from tequio_client.organiser.heads import ContinuedHead, check_room, read_continued
from tequio_client.organiser.plan import LoraPlan, ModelPlan, ParentPlan
from tequio_client.plugins import archive
from tequio_client.tokenizers import TABLE_NAME, TOKENIZER_NAME
from tequio_client.worker.store.trees import hash_tree_file
from tequio_shared.errors import UserFacingError
from tequio_shared.head.layout import BaseFile, FrozenBase, LayoutKind
from tequio_shared.ids import sha256, to_text
from tequio_shared.limits import PIECE_BYTES
from tequio_shared.round.corpus import Corpus
from tequio_shared.round.manifest import Algorithm

if TYPE_CHECKING:
    from tequio_client.trainer.adapters import PairsOutline
    from tequio_client.trainer.first_head import FirstHead
    from tequio_client.worker.store.store import Store


log = structlog.get_logger(__name__)

_CONFIG = "config.json"
_UNKNOWN = to_text(bytes(32))
_WIDE, _NARROW = 4, 2  # bytes of a weight
_COMMIT = re.compile(r"[0-9a-f]{40}")


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelSourceSpec:
    """Origin of a plan's model; `folder` is None for fresh weights and for a repository."""

    plan: ModelPlan
    config: bytes
    is_fresh: bool
    folder: Path | None
    """Folder of a local model."""
    parent: ContinuedHead | None = None
    """The head of another run, in place of a model."""

    @property
    def label(self) -> str:
        return self.parent.label if self.parent else self.plan.source


def find_source(plan: ModelPlan, beside: Path) -> ModelSourceSpec:
    """Read the configuration of the plan's model; raises UserFacingError.

    Relative paths are relative to the folder `beside`. A head of another run is found in its log.
    """
    if isinstance(plan.parent, ParentPlan):
        return _continued(plan, plan.parent)
    if not plan.source:
        raise UserFacingError("[model] lacks `source`: a configuration, a folder or a repository")
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


def _continued(plan: ModelPlan, parent: ParentPlan) -> ModelSourceSpec:
    if plan.source or not isinstance(plan.lora, UnsetType):
        raise UserFacingError(
            "a run that continues another has the model of that run: remove model.source and "
            "model.lora; for adapters beside a head, export it (tequio checkpoint export) and give "
            "the folder as the source"
        )
    found = read_continued(parent)
    return ModelSourceSpec(
        plan=plan, config=found.config, is_fresh=False, folder=None, parent=found
    )


def check_continues(parent: ContinuedHead, corpus: Corpus, algorithm: Algorithm) -> None:
    """Raise UserFacingError for a run whose data or algorithm does not fit the head."""
    was = parent.manifest
    if corpus.tokenizer != was.tokenizer:
        raise UserFacingError(
            f"the data was built with another tokenizer than that of {was.name}: build it with "
            f"--plugin FOLDER/{archive.EXPORTED}, of `tequio checkpoint export --run {was.name}`"
            if was.tokenizer.kind == "plugin"
            else f"the data was built with another tokenizer than that of {was.name}: build it "
            f"with --tokenizer FOLDER, the folder of `tequio checkpoint export --run {was.name}`"
            if was.tokenizer.file
            else f"{was.name} is trained on bytes, and the data has other tokens: build it with "
            "--tokenizer bytes"
        )
    if algorithm.layout != was.algorithm.layout:
        raise UserFacingError(
            f"{was.name} is trained with {was.algorithm.name}, whose heads have another layout "
            f"than those of {algorithm.name}: change algorithm.name, or export the head "
            "(tequio checkpoint export) and give the folder as model.source"
        )


def check_repeatable(source: ModelSourceSpec, chances: Mapping[str, float]) -> None:
    """Raise UserFacingError for a model whose training is random, by `ModelOutline.chances`."""
    if chances:
        named = ", ".join(f"{name} {value}" for name, value in chances.items())
        raise UserFacingError(
            f"training {source.label} is random ({named}), so nobody could repeat it for an audit: "
            "set these to 0 in its config.json (of a copy of the folder, for a model of the Hub; "
            "fields that are not there have defaults), or write in the plan: [audit] newcomers = "
            "0, others = 0"
        )


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
            f"the samples have {corpus.sequence:,} tokens, and the context of {source.label} "
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

    with hub_errors(name):
        found = Path(hf_hub_download(name, _CONFIG, revision=revision or None))
    return read_json_file(found)


def resolve_commit(name: str, revision: str) -> str:
    """Resolve a revision of a repository to its present commit; raises UserFacingError."""
    if Path(name).is_file():
        raise UserFacingError(f"{name} is a file: give the folder of the model")
    if name.startswith((".", "/", "~")):
        raise UserFacingError(f"folder {name} not found")
    from huggingface_hub import HfApi  # noqa: PLC0415 - as above

    with hub_errors(name):
        return HfApi().model_info(name, revision=revision or None).sha or revision


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
    for file, how in (
        (folder / TOKENIZER_NAME, f"--tokenizer {name}"),
        (folder / TABLE_NAME, f"--plugin {folder / archive.EXPORTED}"),
    ):
        if file.is_file() and to_text(sha256(read_file(file))) != corpus.tokenizer.file:
            raise UserFacingError(
                f"the data was built with another tokenizer than that of {name}: build it with "
                f"`tequio data build {how}`"
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
        check_room(folder, self.base.size_bytes, "the base")


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
