"""A model prepared for a run by a `Prepare` command: the rules, the network, the device."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import psutil
import torch

from tequio_client.ipc.trainer import Prepare, TrainerReady
from tequio_client.trainer import adapters, codecs, data, device, model
from tequio_client.trainer.evaluate import UnfinishedWork
from tequio_shared.errors import UserFacingError
from tequio_shared.head.contribution import RecordShape
from tequio_shared.round.manifest import Corpus, Manifest

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tequio_client.trainer.codecs import OuterAlgorithm
    from tequio_client.trainer.device import ComputeDevice
    from tequio_client.trainer.model import CausalModel
    from tequio_shared.head.layout import FrozenBase, WeightLayout

_Q15 = 1 << 15
_MIB, _GIB = 1 << 20, 1 << 30


class ModelError(UserFacingError):
    """The run's model cannot be built on this computer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PreparedModel:
    """Everything that the tasks of a run share; `begun` is unfinished work of the last one."""

    prepare: Prepare
    manifest: Manifest
    corpus: Corpus
    device: ComputeDevice
    model: CausalModel
    layout: WeightLayout
    unfinished: UnfinishedWork = field(default_factory=UnfinishedWork)

    def with_limits(self, prepare: Prepare) -> PreparedModel:
        """Apply the limits of a command for the same model."""
        device.apply_limits(self.device, threads=prepare.threads, memory_mb=prepare.memory_mb)
        return replace(self, prepare=prepare)

    def outer_algorithm(self, k: int) -> OuterAlgorithm:
        """The outer algorithm with a round's k; raises RefusedError for one without an encoder."""
        rules = self.manifest
        return codecs.outer_algorithm(rules.algorithm, k, rules.inner.feedback_q15 / _Q15)

    def record_shape(self, k: int) -> RecordShape:
        rules = self.manifest.algorithm
        return RecordShape(algorithm=rules.name, k=k, bits=rules.bits)

    def map_master(self, path: str) -> NDArray[np.int32]:
        """Map a head's master copy, int32; raises UserFacingError when its size is wrong."""
        try:
            return data.map_array(Path(path), np.dtype("<i4"), self.layout.elements)
        except (OSError, ValueError) as err:
            raise UserFacingError(f"cannot use the weights of the head: {err}") from err

    def ready_report(self, prepare: Prepare) -> TrainerReady:
        return TrainerReady(
            command=prepare.command,
            device=self.device.label,
            device_name=self.device.name,
            precision=str(self.device.precision).removeprefix("torch."),
            memory_mb=self.device.memory_mb,
            parameters=self.layout.parameters,
            torch=str(torch.__version__),
        )


def prepare_model(prepare: Prepare) -> PreparedModel:
    """Read the run's documents, open the device, build the network.

    Raises UserFacingError or MalformedError for documents that do not fit each other, ModelError
    for a model that cannot be built here, DeviceError for a device that is missing.
    """
    manifest = Manifest.parse(_content(prepare.manifest))
    corpus = Corpus.parse(_content(prepare.data_manifest))
    chosen = device.open_device(prepare.device)
    device.apply_limits(chosen, threads=prepare.threads, memory_mb=prepare.memory_mb)
    built = _built(prepare, manifest, chosen)
    if corpus.sequence != manifest.model.sequence:
        raise UserFacingError(
            f"the data has sequences of {corpus.sequence} tokens, but the run of "
            f"{manifest.model.sequence}"
        )
    _check_tables(corpus, built)
    built.network.to(chosen.handle)
    return PreparedModel(
        prepare=prepare,
        manifest=manifest,
        corpus=corpus,
        device=chosen,
        model=built,
        layout=built.layout(manifest.algorithm.layout),
    )


def _built(prepare: Prepare, manifest: Manifest, chosen: ComputeDevice) -> CausalModel:
    config = _content(prepare.config)
    try:
        if manifest.frozen is None:
            return model.build_from_manifest(config, manifest.model.tensors, manifest.model.aliases)
        room = _room(manifest.frozen, chosen, prepare.memory_mb)
        return adapters.build_from_manifest(
            config, manifest, [Path(one) for one in prepare.base], room
        )
    except UserFacingError as err:
        raise ModelError(str(err)) from err


def _room(base: FrozenBase, chosen: ComputeDevice, memory_mb: int) -> int:
    """Bytes that an accelerator lends; 0 where weights are in main memory. Raises ModelError."""
    # Checked before anything is read: a base that does not fit would fail late, and on a CPU the
    # computer would swap rather than fail.
    here_mb = chosen.memory_mb or psutil.virtual_memory().total // _MIB
    lent_mb = min(memory_mb or here_mb, here_mb) if chosen.memory_mb else here_mb
    if base.size_bytes > lent_mb * _MIB:
        raise ModelError(
            f"the frozen base needs {base.size_bytes / _GIB:.1f} GiB, but {chosen.name} lends only "
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
