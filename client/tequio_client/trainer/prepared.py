"""A model prepared for a run by a `Prepare` command, and the files that its tasks read and write.

Inputs are token shards and mapped arrays; outputs are complete or absent.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import torch
from numpy.typing import DTypeLike, NDArray
from torch import Tensor, nn

from tequio_client import files
from tequio_client.ipc.cell_division import WITHOUT_CELL, why_no_cell
from tequio_client.ipc.trainer import Prepare, TrainerReady
from tequio_client.trainer import adapters, device, division, model
from tequio_client.trainer.batch import BatchSize, FittedBatches
from tequio_client.trainer.cell import ALONE, Cell
from tequio_client.trainer.device import ComputeDevice
from tequio_client.trainer.division import DividedModel
from tequio_client.trainer.model import CausalModel
from tequio_client.trainer.plugins import loading, networks
from tequio_client.trainer.plugins.api import SampleLoader
from tequio_client.trainer.plugins.loading import LoadedPlugin, PluginError
from tequio_shared.errors import UserFacingError
from tequio_shared.head import layout as head_layout
from tequio_shared.head.contribution import RecordShape
from tequio_shared.head.layout import WeightLayout
from tequio_shared.ids import to_text
from tequio_shared.multiple_choice import ChoiceLosses
from tequio_shared.round.assignment import DataOrder
from tequio_shared.round.corpus import Corpus, HeldOutShard
from tequio_shared.round.manifest import Manifest
from tequio_shared.round.token_table import TokenTable

_MIB, _GIB = 1 << 20, 1 << 30
_DTYPES = {1: "<u1", 2: "<u2", 4: "<u4"}
_TABLE_BYTES = 8  # of a held-out shard, per document: u32 tokens, u32 bytes of text


class ModelError(UserFacingError):
    """The run's model cannot be built on this computer."""


@dataclass(slots=True)
class ScoreProgress:
    """Nats of each document so far, and the number of rows done; owned by `score`."""

    nats: NDArray[np.float64]
    rows: int = 0


class UnfinishedWork:
    """Results so far of the last evaluation task, which continues there when it is repeated."""

    def __init__(self) -> None:
        self._task: object = None
        self._tally = ScoreProgress(np.zeros(0))
        self._written: list[int] = []
        self._answers: list[ChoiceLosses] = []

    def score_progress(self, task: object, documents: int) -> ScoreProgress:
        """Results of this task: zeros, unless it is the last task."""
        if task != self._task:
            self._task, self._tally = task, ScoreProgress(np.zeros(documents))
        return self._tally

    def written_ids(self, task: object) -> list[int]:
        """Ids written for this task: none, unless it is the last task."""
        if task != self._task:
            self._task, self._written = task, []
        return self._written

    def choice_losses(self, task: object) -> list[ChoiceLosses]:
        """Losses of the questions answered for this task: none, unless it is the last task."""
        if task != self._task:
            self._task, self._answers = task, []
        return self._answers


@dataclass(frozen=True, slots=True, kw_only=True)
class PreparedModel:
    """Everything that the tasks of a run share; `unfinished` is the work of the last one.

    `batch` remembers how much fits into the device's memory, until its limit changes.
    """

    prepare: Prepare
    manifest: Manifest
    corpus: Corpus
    device: ComputeDevice
    batch: BatchSize
    model: CausalModel
    layout: WeightLayout
    divided: DividedModel | None = None
    """This rank's part of the model, if a cell divides it; `model` is then in main memory."""
    plugin: LoadedPlugin | None = None
    """The run's plug-in, if this trainer was given it."""
    unfinished: UnfinishedWork = field(default_factory=UnfinishedWork)

    def check_trains(self, *, needs_loader: bool = True) -> None:
        """Raise UserFacingError if this trainer was not given the plug-in that the run needs.

        Without `needs_loader`, the network alone is needed.
        """
        spec = self.manifest.trainer_code
        if self.plugin is None and spec and (needs_loader or "model" in spec.provides):
            raise UserFacingError(
                f"the run needs its plug-in {spec.label} for this, and it is not "
                f"allowed on this computer: allow it with `tequio plugin allow {spec.archive}`"
            )

    def token_table(self) -> TokenTable | None:
        """The bytes of each id, if the run's texts are split by code of a plug-in; else None.

        Reads the run's file of it each time. Raises UserFacingError or MalformedError.
        """
        if self.manifest.tokenizer.kind != "plugin" or self.prepare.tokenizer is None:
            return None
        return TokenTable.parse(_content(self.prepare.tokenizer), self.corpus.tokenizer.vocab_size)

    def with_limits(self, prepare: Prepare) -> PreparedModel:
        """Apply the limits of a command for the same model."""
        device.apply_limits(self.trains_on, threads=prepare.threads, memory_mb=prepare.memory_mb)
        changed = replace(self, prepare=prepare)
        if prepare.memory_mb == self.prepare.memory_mb:
            return changed
        if self.batch.cell.size > 1:  # all ranks have one size until their steps are over
            changed = replace(changed, batch=copy.copy(self.batch))
        changed.begin_batch()
        return changed

    def begin_batch(self) -> None:
        """Begin with the batch that fitted before with these limits, or with the largest one.

        Steps that are being taken go on with it: what they find out is kept for these limits.
        """
        batch, chosen = self.batch, self.device
        batch.begin()
        kept = FittedBatches.of_process() if batch.cell.size == 1 else None
        if kept is not None:
            limit = f"{chosen.name} {chosen.precision} {self.prepare.memory_mb} {torch.__version__}"
            batch.keep_in(kept, f"{to_text(self.manifest.run_id)} {limit}")
        if batch.recomputes:
            self.model.recompute_layers()

    @property
    def trains_on(self) -> ComputeDevice:
        """The device of inner steps."""
        return self.divided.device if self.divided else self.device

    def record_shape(self, k: int) -> RecordShape:
        rules = self.manifest.algorithm
        return RecordShape(algorithm=rules.name, k=k, bits=rules.bits)

    def map_master(self, path: str) -> NDArray[np.int32]:
        """Map a head's master copy, int32; raises UserFacingError when its size is wrong."""
        return self.map_elements(path, "<i4", "weights of the head")

    def map_elements(self, path: str, dtype: str, name: str) -> NDArray[Any]:  # of that dtype
        """Map one number for each element of the model; raises UserFacingError."""
        try:
            return map_array(Path(path), np.dtype(dtype), self.layout.elements)
        except (OSError, ValueError) as err:
            raise UserFacingError(f"cannot use the {name}: {err}") from err

    def ready_report(self, prepare: Prepare) -> TrainerReady:
        return TrainerReady(
            command=prepare.command,
            device=self.trains_on.label,
            device_name=self.trains_on.name,
            precision=str(self.trains_on.precision).removeprefix("torch."),
            memory_mb=self.trains_on.memory_mb,
            parameters=self.layout.parameters,
            torch=str(torch.__version__),
            rank_work=self.divided.rank_work if self.divided else (1,) * self.batch.cell.size,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelDocuments:
    """The contents of the documents that a `Prepare` names."""

    manifest: bytes
    data_manifest: bytes
    config: bytes

    @classmethod
    def read(cls, prepare: Prepare) -> ModelDocuments:
        """Read the files; raises UserFacingError."""
        return cls(
            manifest=_content(prepare.manifest),
            data_manifest=_content(prepare.data_manifest),
            config=_content(prepare.config),
        )


def prepare_model(
    prepare: Prepare, documents: ModelDocuments | None = None, cell: Cell = ALONE
) -> PreparedModel:
    """Open the device and build the network; reads the run's documents unless they are given.

    Raises UserFacingError or MalformedError for documents that do not fit each other, ModelError
    for a model that cannot be built here, DeviceError for a device that is missing.
    """
    documents = documents or ModelDocuments.read(prepare)
    manifest = Manifest.parse(documents.manifest)
    corpus = Corpus.parse(documents.data_manifest)
    plugin = _plugin(prepare, manifest, cell)
    chosen = device.open_device(prepare.device)
    device.apply_limits(chosen, threads=prepare.threads, memory_mb=prepare.memory_mb)
    divided: DividedModel | None = None
    if cell.division != "none":
        divided = _divided(documents.config, manifest, corpus, chosen, cell)
        chosen = device.open_device("cpu")
    if divided is not None and cell.rank:
        built = model.sketch(documents.config)  # the whole model is rank 0's
    else:
        built = _built(prepare, documents.config, manifest, chosen, plugin)
    if corpus.sequence != manifest.model.sequence:
        raise UserFacingError(
            f"the data has sequences of {corpus.sequence} tokens, but the run of "
            f"{manifest.model.sequence}"
        )
    if built.parameters:
        _check_tables(corpus, built)
    if manifest.inner.documents == "apart":
        built.separator = corpus.separator
    if divided is None:
        built.network.to(chosen.handle)
        built.compile_layers(chosen.handle)
    prepared = PreparedModel(
        prepare=prepare,
        manifest=manifest,
        corpus=corpus,
        device=chosen,
        batch=BatchSize(corpus.sequence, chosen, cell),
        model=built,
        layout=manifest.layout,
        divided=divided,
        plugin=plugin,
    )
    prepared.begin_batch()
    return prepared


def _plugin(prepare: Prepare, manifest: Manifest, cell: Cell) -> LoadedPlugin | None:
    """The run's plug-in, if its archive was given; raises UserFacingError or MalformedError."""
    spec = manifest.trainer_code
    if cell.size > 1 and (why := why_no_cell(manifest)):
        raise ModelError(f"{why}: {WITHOUT_CELL}")
    try:
        loading.check_only(spec)
        if spec is None or prepare.plugin is None:
            return None
        return loading.load(_content(prepare.plugin), spec)
    except PluginError as err:
        raise ModelError(str(err)) from err


def _divided(
    config: bytes, manifest: Manifest, corpus: Corpus, chosen: ComputeDevice, cell: Cell
) -> DividedModel:
    separator = corpus.separator if manifest.inner.documents == "apart" else None
    try:
        return division.divide(config, manifest, separator, chosen, cell)
    except UserFacingError as err:
        raise ModelError(str(err)) from err


def _built(
    prepare: Prepare,
    config: bytes,
    manifest: Manifest,
    chosen: ComputeDevice,
    plugin: LoadedPlugin | None,
) -> CausalModel:
    """Build the network; one without parameters if its code was withheld from this trainer."""
    tensors, aliases, spec = manifest.model.tensors, manifest.model.aliases, manifest.trainer_code
    try:
        if spec is not None and "model" in spec.provides:
            if plugin is None:  # to compute heads and to screen takes the layout alone
                return model.of_network(nn.Module(), model.PlainNetwork(vocabulary=0))
            return networks.build_from_manifest(plugin, config, tensors, aliases)
        if manifest.frozen is None:
            return model.build_from_manifest(config, tensors, aliases)
        held = head_layout.held_bytes(manifest.frozen, manifest.model.tensors)
        room = _room(held, chosen, prepare.memory_mb)
        return adapters.build_from_manifest(
            config, manifest, [Path(one) for one in prepare.base], room
        )
    except UserFacingError as err:
        raise ModelError(str(err)) from err


def _room(held_bytes: int, chosen: ComputeDevice, memory_mb: int) -> int:
    """Bytes that an accelerator lends; 0 where weights are in main memory. Raises ModelError."""
    # Checked before anything is read: a base that does not fit would fail late, and on a CPU the
    # computer would swap rather than fail.
    here_mb = chosen.memory_mb or psutil.virtual_memory().total // _MIB
    lent_mb = min(memory_mb or here_mb, here_mb) if chosen.memory_mb else here_mb
    if held_bytes > lent_mb * _MIB:
        raise ModelError(
            f"the frozen base needs {held_bytes / _GIB:.1f} GiB, but {chosen.name} lends only "
            f"{lent_mb * _MIB / _GIB:.1f} GiB: lend more memory, or join a run with a smaller base"
        )
    return lent_mb * _MIB if chosen.memory_mb else 0


def _check_tables(corpus: Corpus, built: CausalModel) -> None:
    # An index beyond a table's rows kills the process, on a GPU without a message.
    ids, rows = corpus.tokenizer.vocab_size, model.vocabulary_size(built)
    if ids > rows:
        raise ModelError(f"the data has {ids} token ids, but the model has only {rows}")
    most = model.context_length(built)
    if most and corpus.sequence > most:
        raise ModelError(
            f"samples have {corpus.sequence} tokens, but the model takes at most {most}"
        )


def _content(path: str) -> bytes:
    try:
        return Path(path).read_bytes()
    except OSError as err:
        raise UserFacingError(f"cannot read {path}: {err}") from err


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingData:
    """The shards of a task, and the order that assigns samples to windows."""

    order: DataOrder
    sequence: int
    window_samples: int
    vocab_size: int
    has_masks: bool = False
    shards: Mapping[int, NDArray[np.generic]]
    loader: SampleLoader | None = None
    """Of a plug-in: gives the samples to train on in place of those of the shards."""

    @classmethod
    def open(
        cls,
        corpus: Corpus,
        paths: Iterable[tuple[int, Path]],
        *,
        seed: int,
        window_samples: int,
        loader: SampleLoader | None = None,
    ) -> TrainingData:
        """Map shard files (index, path); raises UserFacingError for one of a wrong size."""
        return cls(
            order=corpus.order(seed),
            sequence=corpus.sequence,
            window_samples=window_samples,
            vocab_size=corpus.tokenizer.vocab_size,
            has_masks=corpus.has_masks,
            shards={
                index: _mapped(path, corpus.train[index].size_bytes, corpus.token_bytes)
                for index, path in paths
            },
            loader=loader,
        )

    def samples(self, windows: Sequence[int]) -> Tensor:
        """Token ids of whole windows: int64 [samples, sequence + 1]; raises UserFacingError.

        Those without a loss are complements (`token_loss`).
        """
        places = [
            place
            for window in windows
            for place in self.order.window_samples(window, self.window_samples)
        ]
        rows = np.empty((len(places), self.sequence + 1), np.int64)
        for row, place in zip(rows, places, strict=True):
            if place.shard not in self.shards:
                raise UserFacingError(
                    f"shard {place.shard} is missing, and the assigned windows need it"
                )
            first = place.sample * self.sequence
            row[:] = self.shards[place.shard][first : first + self.sequence + 1]
        _check_ids(rows, self.vocab_size, "the data", has_masks=self.has_masks)
        samples = torch.from_numpy(_signed(rows, self.vocab_size))
        if self.loader is None:
            return samples
        return checked_samples(
            self.loader(samples.clone(), tuple(windows)), samples, self.vocab_size
        )


def checked_samples(found: object, samples: Tensor, vocab_size: int) -> Tensor:
    """The samples that a plug-in's loader made of others; raises PluginError for invalid ones."""
    # An index beyond a table's rows kills the process, on a GPU without a message.
    if (
        not isinstance(found, Tensor)
        or (found.shape, found.dtype) != (samples.shape, samples.dtype)
        or int(torch.where(found < 0, ~found, found).amax()) >= vocab_size
    ):
        raise PluginError(
            f"the plug-in's loader must return int64 {list(samples.shape)} with ids below "
            f"{vocab_size}, or their complements"
        )
    return found


def _check_ids(ids: NDArray[np.generic], vocab_size: int, name: str, *, has_masks: bool) -> None:
    most = int(ids.max(initial=0))
    if most >= vocab_size * (2 if has_masks else 1):
        raise UserFacingError(
            f"{name} has token id {most}, but the vocabulary ends at {vocab_size - 1}"
        )


def _signed(ids: NDArray[np.int64], vocab_size: int) -> NDArray[np.int64]:
    """Complements for ids without a loss, which files have as id + `vocab_size`."""
    return np.where(ids < vocab_size, ids, vocab_size - 1 - ids)


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldOutDocument:
    """Token ids, those without a loss as complements; `text_bytes` are those of the others."""

    tokens: NDArray[np.int64]
    text_bytes: int

    @property
    def targets(self) -> int:
        return int((self.tokens >= 0).sum())


def held_out_documents(
    path: Path,
    shard: HeldOutShard,
    token_bytes: int,
    vocab_size: int,
    *,
    has_masks: bool = False,
    tokens: TokenTable | None = None,
) -> Iterator[HeldOutDocument]:
    """Read a held-out shard; raises UserFacingError for a file that differs from its entry.

    With the table of a plug-in's tokens, bytes of text are counted by it, whatever the shard says.
    """
    raw = _mapped(path, shard.size_bytes, 1)
    table_bytes = shard.documents * _TABLE_BYTES
    table = np.frombuffer(raw[:table_bytes].tobytes(), "<u4").reshape(-1, 2)
    ids = raw[table_bytes:].view(_DTYPES[token_bytes])
    if int(table[:, 0].sum()) != shard.tokens:
        raise UserFacingError(f"{path} is damaged: its table does not list {shard.tokens} tokens")
    _check_ids(ids, vocab_size, str(path), has_masks=has_masks)
    at = 0
    for count, text_bytes in table.tolist():
        part = _signed(ids[at : at + count].astype(np.int64), vocab_size)
        size = tokens.count_bytes(part[part >= 0]) if tokens else text_bytes
        yield HeldOutDocument(tokens=part, text_bytes=size)
        at += count


def _mapped(path: Path, size_bytes: int, token_bytes: int) -> NDArray[np.generic]:
    try:
        found = path.stat().st_size
        if found != size_bytes:
            raise UserFacingError(f"{path} has {found} bytes instead of {size_bytes}")
        return np.memmap(path, _DTYPES[token_bytes], "r")
    except OSError as err:
        raise UserFacingError(f"cannot read the shard {path}: {err}") from err


def write(path: Path, content: bytes | memoryview) -> None:
    with files.fresh_file(path) as part:
        part.write_bytes(content)


def map_array(path: Path, dtype: DTypeLike, elements: int) -> NDArray[Any]:  # of that dtype
    """Map a file; changes stay in memory. Raises ValueError unless it has `elements` elements."""
    array = np.memmap(path, dtype, "c")  # copy on write: torch needs a writable array
    if array.size != elements:
        raise ValueError(f"{path} has {array.size} elements instead of {elements}")
    return array
