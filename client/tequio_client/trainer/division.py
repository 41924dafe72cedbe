"""A model divided among the ranks of a cell, for one that none of their devices holds.

Three kinds: `sharding` gives each rank a part of every tensor, `pipeline` a part of the layers,
`tensor_parallel` a part of each layer's computation. With all, rank 0 has the whole model as well,
in main memory. It takes the weights from there at the start of a round and brings them back at its
end, so that everything but inner steps is done there, by the processor, as without a cell.

All ranks exchange something in each pass through the network. So none may leave a step: one that
runs out of memory ends the cell. What is computed in each pass is fixed, and small (`PASS_TOKENS`),
with layers recomputed on the way back.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import torch
import torch.distributed as dist

from tequio_client.ipc.cell_division import why_undivided
from tequio_client.trainer import model
from tequio_client.trainer.llama import Llama
from tequio_client.trainer.model_config import parse_config
from tequio_shared.errors import UserFacingError

if TYPE_CHECKING:
    from tequio_client.ipc.cell import Division
    from tequio_client.trainer.cell import Cell, SampleSource
    from tequio_client.trainer.device import ComputeDevice
    from tequio_client.trainer.inner import StepPlan, TrainingControl, TrainingProgress
    from tequio_client.trainer.model import CausalModel
    from tequio_shared.round.manifest import InnerParams, Manifest


class DividedModel(Protocol):
    """The part of a model that this rank has; owned by the trainer's thread."""

    device: ComputeDevice
    rank_work: tuple[int, ...]
    """Work of each rank in the inner steps, in proportion."""

    def load(self, whole: CausalModel) -> None:
        """Take the weights of rank 0's whole model."""

    def store(self, whole: CausalModel) -> None:
        """Bring the weights back to rank 0's whole model."""

    def train(
        self, training: SampleSource, plan: StepPlan, recipe: InnerParams, watch: TrainingControl
    ) -> TrainingProgress:
        """Take the planned steps as `inner.train` does."""


def divide(
    config: bytes, manifest: Manifest, separator: int | None, chosen: ComputeDevice, cell: Cell
) -> DividedModel:
    """Make this rank's part, with meaningless weights, on the device.

    With a `separator`, no token sees documents before its own. Raises UserFacingError for a
    network, a run or a card that this is not written for.
    """
    network = model.sketch(config).network
    why = why_undivided(cell.division, manifest, parse_config(config), cell.size)
    if why := why or _why_no_card(chosen, cell.division):
        raise UserFacingError(why)
    # One of them is imported, for the few who need it: a second, or two.
    if cell.division == "tensor":
        from tequio_client.trainer.tensor_parallel import TensorParallelModel  # noqa: PLC0415 - as said

        return TensorParallelModel(network, cell, chosen, manifest.inner, separator)
    if not isinstance(network, Llama):
        raise TypeError(f"no Llama network is made of a configuration of one: {type(network)}")
    if cell.division == "shard":
        from tequio_client.trainer.sharding import ShardedModel  # noqa: PLC0415 - as said

        return ShardedModel(network, cell, chosen, separator)
    from tequio_client.trainer.pipeline import PipelinedModel  # noqa: PLC0415 - as said

    return PipelinedModel(network, cell, chosen, separator)


def _why_no_card(chosen: ComputeDevice, kind: Division) -> str:
    device, why = chosen.handle.type, ""
    if chosen.precision == torch.float16 or device not in ("cpu", "cuda"):
        why = f"needs CUDA or ROCm cards that compute in bfloat16, unlike {chosen.name}"
    elif kind != "shard" and device == "cuda" and not dist.is_nccl_available():
        why = "needs NCCL between cards, which this build of torch does not have"
    return f"--{kind} {why}: start the cell without it" if why else ""
