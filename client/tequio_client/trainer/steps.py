"""Steps of heads, from files to files: written after a head was computed, and followed by others.

Block by block, as heads are: memory does not grow with the model.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from tequio_client.files import fresh_file
from tequio_client.trainer.head import WEIGHT, NewArray, decaying, read_numbers
from tequio_client.trainer.pacing import FULL_PACE, Pacing
from tequio_shared.errors import MalformedError
from tequio_shared.head import step as steps
from tequio_shared.head.layout import CHUNK

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from tequio_shared.head.layout import WeightLayout
    from tequio_shared.ids import Digest
    from tequio_shared.round.manifest import Manifest

_BLOCK_CHUNKS = 64 * 16


@dataclass(frozen=True, slots=True, kw_only=True)
class StepFiles:
    """A head's weights before and after a round, and the round's step."""

    before: Path
    after: Path
    step: Path


@dataclass(frozen=True, slots=True, kw_only=True)
class StepRule:
    """Rules of the run on which a round's step depends."""

    lambda_q: int
    down_k: int


def step_rule(manifest: Manifest, number: int) -> StepRule:
    """The rule of a round's step."""
    _, lambda_q = manifest.schedule_at(number)
    return StepRule(lambda_q=lambda_q, down_k=manifest.algorithm.down_k)


def write_step(
    layout: WeightLayout, rule: StepRule, files: StepFiles, pacing: Pacing = FULL_PACE
) -> None:
    """Write the step between two heads; no file where no records can tell it.

    That is so where a weight reached the limits of its type.
    """
    with suppress(steps.NoStepError), fresh_file(files.step) as part, part.open("wb") as file:
        for first, matrix, before in _blocks(layout, files.before):
            pacing.rest()
            after = read_numbers(files.after, first, before.size, WEIGHT)
            file.write(
                steps.encode_step(
                    before,
                    after,
                    lambda_q=rule.lambda_q,
                    matrix_elements=matrix,
                    down_k=rule.down_k,
                )
            )


def follow_step(
    layout: WeightLayout, rule: StepRule, files: StepFiles, pacing: Pacing = FULL_PACE
) -> Digest:
    """Write the weights after the step, and return their root.

    Raises MalformedError for a file that does not hold a step of this model.
    """
    size = steps.record_bytes(rule.down_k)
    if files.step.stat().st_size != layout.chunks * size:
        raise MalformedError(
            f"the step has {files.step.stat().st_size} bytes, not {layout.chunks * size}"
        )
    weights = NewArray(files.after, layout.elements, WEIGHT)
    try:
        with files.step.open("rb") as file:
            for first, matrix, before in _blocks(layout, files.before):
                pacing.rest()
                after = steps.apply_step(
                    before,
                    file.read(before.size // CHUNK * size),
                    lambda_q=rule.lambda_q,
                    matrix_elements=matrix,
                    down_k=rule.down_k,
                )
                weights.write(first, after)
        root = weights.root()
        weights.publish()
    finally:
        weights.discard()
    return root


def _blocks(layout: WeightLayout, path: Path) -> Iterator[tuple[int, int, NDArray[np.int32]]]:
    """First element, elements that decay, and weights of each block."""
    for chunk in range(0, layout.chunks, _BLOCK_CHUNKS):
        first = chunk * CHUNK
        count = min(_BLOCK_CHUNKS, layout.chunks - chunk) * CHUNK
        yield first, decaying(layout, first, count), read_numbers(path, first, count, WEIGHT)
