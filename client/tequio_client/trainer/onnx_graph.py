"""An exported folder's network as an ONNX graph, written by torch's own exporter.

The exporter records the network's operations once, with the number of texts and their length left
open. What it cannot record, such as a decision that depends on a weight, is an error that names the
reason; nothing is written then. A loop over tokens would have the steps of the example, so it is an
error too.
"""

from __future__ import annotations

import logging
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.export import Dim

from tequio_client.names import clean_text
from tequio_client.trainer import hub_models
from tequio_shared.errors import UserFacingError

GRAPH = "model.onnx"
"""The weights are beside it, in `model.onnx.data`: one file of ONNX cannot exceed 2 GB."""
INPUTS, OUTPUT = ("input_ids", "attention_mask"), "logits"
_EXAMPLE = (2, 8)
"""Texts and tokens of the example; 1 would be taken for a constant."""
_WHY_CHARS = 300


class _Logits(nn.Module):
    """A causal network of transformers that returns logits alone, and caches nothing."""

    def __init__(self, network: nn.Module) -> None:
        super().__init__()
        self.network = network

    def forward(self, input_ids: Tensor, attention_mask: Tensor) -> Tensor:
        """Give logits BLV of tokens BL; the mask BL is 0 where a text has no token."""
        found: Tensor = self.network(
            input_ids=input_ids, attention_mask=attention_mask, use_cache=False
        ).logits
        return found


def write_graph(folder: Path, target: Path) -> None:
    """Write the network of `folder` to `target` as `model.onnx` and `model.onnx.data`.

    Inputs are `input_ids` and `attention_mask`, int64 of shape (texts, tokens), each of any size;
    the output is `logits`, float32 of shape (texts, tokens, vocabulary). Needs room for the weights
    twice in memory. Raises UserFacingError for a network of which no graph can be made.
    """
    network = _load(folder)
    example = torch.zeros(_EXAMPLE, dtype=torch.int64), torch.ones(_EXAMPLE, dtype=torch.int64)
    sizes = {0: Dim("texts"), 1: Dim("tokens")}
    try:
        with _quiet(), torch.no_grad():
            program = torch.onnx.export(
                _Logits(network).eval(),
                example,
                dynamo=True,
                input_names=INPUTS,
                output_names=[OUTPUT],
                dynamic_shapes=dict.fromkeys(INPUTS, sizes),
                external_data=True,
                verbose=False,
            )
    except (torch.onnx.OnnxExporterError, *hub_models.BUILD_ERRORS) as err:
        raise _failure(_reason(err)) from err
    if program is None:
        raise UserFacingError("torch's exporter returned no ONNX graph")
    if any(isinstance(size, int) for one in program.model.graph.inputs for size in one.shape or ()):
        raise _failure("its graph would be for texts of one length")
    program.save(target / GRAPH, external_data=True)


def _failure(why: str) -> UserFacingError:
    return UserFacingError(
        f"torch's exporter cannot write this model as ONNX: {why}; leave out --onnx: "
        "transformers, and what is built on it, loads the folder"
    )


def _reason(err: BaseException) -> str:
    """Give the first line of the first cause: the exporter's own error says only at which step."""
    while err.__cause__ is not None:
        err = err.__cause__
    line = next((line for line in str(err).splitlines() if line.strip()), type(err).__name__)
    return clean_text(line, _WHY_CHARS)


def _load(folder: Path) -> nn.Module:
    from transformers import AutoModelForCausalLM  # noqa: PLC0415 - 120 MB
    from transformers.utils import logging as transformers_logging  # noqa: PLC0415 - as above

    transformers_logging.disable_progress_bar()
    library: Any = AutoModelForCausalLM  # its types lack this
    try:
        found: nn.Module = library.from_pretrained(
            folder,
            use_safetensors=True,
            disable_mmap=True,  # Windows renames no folder that has a mapped file
            trust_remote_code=False,
            local_files_only=True,
            dtype=torch.float32,
        )
    except hub_models.BUILD_ERRORS as err:
        why = str(err).partition("\n")[0][:_WHY_CHARS]
        raise UserFacingError(f"cannot build the model of {folder}: {why}") from err
    return found


@contextmanager
def _quiet() -> Iterator[None]:
    """Silence the exporter's remarks: about its own code, and packages that it can do without."""
    logger = logging.getLogger("torch.onnx")
    former = logger.level
    logger.setLevel(logging.ERROR)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logger.setLevel(former)
