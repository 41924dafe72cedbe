"""The first head of a run, which an organiser publishes before anyone trains.

Existing weights are rounded to the nearest unit of 2^-24: float16 is exact, since all its numbers
are such units, bfloat16 is exact from 2^-17 on, everything else is within 2^-25. Weights beyond
+-128 are refused. A head that is exported and imported again stays the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from msgspec import UnsetType
from numpy.typing import NDArray
from torch import nn

from tequio_client.trainer import adapters, frozen, model, network_checks, prepared
from tequio_client.trainer import weights as trainer_weights
from tequio_client.trainer.device import FORWARD_ERRORS
from tequio_client.trainer.llama import Llama
from tequio_client.trainer.model import CausalModel
from tequio_client.trainer.model_config import ModelRefusedError, parse_config
from tequio_shared.errors import UserFacingError
from tequio_shared.head import head
from tequio_shared.head.layout import FrozenBase, LayoutKind, WeightLayout
from tequio_shared.ids import sha256, to_text
from tequio_shared.round import manifest
from tequio_shared.round.corpus import Corpus, held_out_file_name

_APART = 1e-4


@dataclass(frozen=True, slots=True, kw_only=True)
class FirstHead:
    config: bytes
    model: CausalModel
    layout: WeightLayout
    master: NDArray[np.int32]

    def manifest_entry(
        self, *, sequence: int, aux_dtype: np.dtype[np.generic] | None
    ) -> manifest.ModelSpec:
        """The model's entry in a manifest; `aux_dtype` is `OuterParams.aux_dtype`."""
        aux = None if aux_dtype is None else np.zeros(self.layout.elements, aux_dtype)
        return manifest.ModelSpec(
            config=to_text(sha256(self.config)),
            parameters=self.layout.parameters,
            tensors=self.model.tensors,
            aliases=self.model.aliases,
            weights_root=to_text(head.weights_root(self.master)),
            aux_root=to_text(head.aux_root(aux)),
            sequence=sequence,
        )

    def write(self, path: Path) -> None:
        """Write the master copy: int32 little-endian in flat order."""
        prepared.write(path, self.master.astype("<i4", copy=False).data)


def random_head(config: bytes, *, seed: int, layout: LayoutKind) -> FirstHead:
    """Start from seeded random weights; raises UserFacingError for a model that cannot be built."""
    return _origin(config, _fit(model.build_random(config, seed)), layout)


def imported_head(folder: Path, *, layout: LayoutKind) -> FirstHead:
    """Start from a model's Safetensors and its own configuration file; raises UserFacingError."""
    config = trainer_weights.read_config(folder)
    check_source(config, str(folder))
    paper = model.outline(config)
    _, loaded = trainer_weights.load(folder)
    if (loaded.tensors, loaded.aliases) != (paper.tensors, paper.aliases):
        raise UserFacingError(
            f"the weights in {folder} do not match tie_word_embeddings in its config.json: correct "
            "it there"
        )
    return _origin(config, _fit(loaded), layout)


def with_adapters(
    config: bytes, base: FrozenBase, paths: Sequence[Path], *, seed: int, layout: LayoutKind
) -> FirstHead:
    """Start with seeded pairs for a frozen base, all without effect; raises UserFacingError."""
    sketch = model.sketch(config)
    weights = trainer_weights.map_tensors(sketch, paths)
    trainer_weights.check_finite(weights)
    made = adapters.build(sketch, base, weights)
    adapters.initialise_pairs(made, seed)
    return _origin(config, _fit(made), layout)


def given_head(
    config: bytes,
    tensors: Sequence[tuple[str, tuple[int, ...]]],
    aliases: tuple[tuple[str, str], ...],
    master: NDArray[np.int32],
    *,
    layout: LayoutKind,
) -> FirstHead:
    """Start with the weights of a network that is not built here: a plug-in's."""
    named = {
        name: nn.Parameter(torch.empty(shape, device="meta"), requires_grad=False)
        for name, shape in tensors
    }
    made = CausalModel(network=nn.Module(), parameters=named, aliases=aliases, hidden=frozenset())
    return FirstHead(config=config, model=made, layout=made.layout(layout), master=master)


def check_source(config: bytes, source: str) -> None:
    """Raise UserFacingError for a configuration that no run can start from."""
    try:
        parse_config(config)
    except ModelRefusedError as err:
        raise ModelRefusedError(err.reason, f"cannot start from {source}: {err}") from err
    trainer_weights.check_not_quantised(config, source)


def _fit(made: CausalModel) -> CausalModel:
    """The model, after a check that a network of transformers predicts only from earlier tokens."""
    if not isinstance(made.network, Llama):
        made.network.eval()
        with frozen.check_used(made.network):
            network_checks.check_causal(
                made.logits, model.vocabulary_size(made), model.context_length(made)
            )
    return made


def check_documents(made: CausalModel, separator: int) -> None:
    """Raise UserFacingError for a network that cannot keep the documents of a sample apart."""
    others = [one for one in range(4) if one != separator]
    first, second = ([separator, one, separator, others[0]] for one in others[:2])
    made.network.eval()
    made.separator = separator
    try:
        with torch.no_grad():
            logits_2lv = made.logits(torch.tensor([first, second]))
        difference = (logits_2lv[0, -1] - logits_2lv[1, -1]).abs().max()
        is_mixed = bool(difference > _APART * logits_2lv.abs().max())
    except FORWARD_ERRORS:  # it takes no positions
        is_mixed = True
    finally:
        made.separator = None
    if is_mixed:
        raise UserFacingError(
            "this network reads documents of a sample together, whatever their positions: set "
            'inner.documents to "joined"'
        )


def check_conversations(corpus: Corpus, folder: Path) -> None:
    """Raise UserFacingError if the assistant would not see all that is said before, read apart.

    A separator that a template writes within a conversation begins a document there.
    """
    if isinstance(corpus.chat, UnsetType):
        return
    if corpus.held_out:
        documents = prepared.held_out_documents(
            folder / held_out_file_name(0),
            corpus.held_out[0],
            corpus.token_bytes,
            corpus.tokenizer.vocab_size,
            has_masks=True,
        )
        is_divided = any(_is_divided(one.tokens, corpus.separator) for one in documents)
    else:
        is_divided = corpus.chat.turn_end == corpus.separator
    if is_divided:
        raise UserFacingError(
            "the chat template of the data writes the separator itself, so the assistant would not "
            "see all that is said before: build the data with another separator (tequio data build "
            '--separator), or set inner.documents to "joined"'
        )


def _is_divided(tokens: NDArray[np.int64], separator: int) -> bool:
    """Return whether a token with a loss is behind a separator that is behind another token."""
    ids = np.where(tokens < 0, ~tokens, tokens)
    ends = np.flatnonzero(ids[1:] == separator) + 1
    return len(ends) > 0 and bool((tokens[ends[0] + 1 :] >= 0).any())


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundingStats:
    weights: int
    rounded: int
    """Number of weights that changed."""
    largest: float
    """Largest change."""


def measure_rounding(origin: FirstHead) -> RoundingStats:
    arrays = origin.layout.unflatten(origin.master)
    rounded, largest = 0, 0.0
    for name, parameter in origin.model.parameters.items():
        weights = parameter.detach().cpu().numpy().astype(np.float64)
        apart = np.abs(arrays[name] * head.WEIGHT_UNIT - weights)
        rounded += int(np.count_nonzero(apart))
        largest = max(largest, float(apart.max()))
    return RoundingStats(weights=origin.layout.parameters, rounded=rounded, largest=largest)


def _origin(config: bytes, made: CausalModel, kind: LayoutKind) -> FirstHead:
    layout = made.layout(kind)
    return FirstHead(
        config=config, model=made, layout=layout, master=model.master_copy(made, layout)
    )
