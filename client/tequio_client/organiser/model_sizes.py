"""The shape of a fresh Llama with about so many parameters.

Rules, as published models of those sizes have them. Heads of 64, of 128 from a width of 2,048 on
and of 32 below one of 256. An inner width of 8/3 of the width. Four query heads share one key from
a width of 2,048 on. Width over depth rises from 32 to 128 with the width. Embedding and output are
one tensor where two would be more than a quarter of all weights. Among the shapes that this leaves,
the nearest in size wins, and of near ones the one with the usual depth.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from tequio_shared.errors import UserFacingError

TOLERANCE = 0.15
"""How far a model may be from the size that was asked for."""
_WIDTHS = (*range(64, 1_024, 64), *range(1_024, 2_048, 128), *range(2_048, 16_385, 512))
_INNER_UNIT = 64
_DEEPEST = 128
_WIDE, _NARROW = 2_048, 256
_SHARING = 4
_TIED_SHARE = 0.25
_WEIGHT_OF_SIZE = 20.0
_MILLION = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """What decides how many parameters a Llama has."""

    vocabulary: int
    width: int
    inner: int
    head: int
    heads: int
    keys: int
    layers: int
    is_tied: bool

    @property
    def parameters(self) -> int:
        """All of them, a tied table once."""
        narrow = self.keys * self.head
        layer = self.width * (2 * self.width + 2 * narrow + 3 * self.inner + 2)
        tables = 1 if self.is_tied else 2
        return tables * self.vocabulary * self.width + self.layers * layer + self.width

    def config(self, sequence: int) -> dict[str, object]:
        """The configuration, as Hugging Face has it."""
        return {
            "architectures": ["LlamaForCausalLM"],
            "model_type": "llama",
            "vocab_size": self.vocabulary,
            "hidden_size": self.width,
            "intermediate_size": self.inner,
            "num_hidden_layers": self.layers,
            "num_attention_heads": self.heads,
            "num_key_value_heads": self.keys,
            "head_dim": self.head,
            "tie_word_embeddings": self.is_tied,
            "max_position_embeddings": sequence,
            "initializer_range": 0.02,
            "rms_norm_eps": 1e-5,
            "rope_theta": 10_000.0,
        }


def nearest(parameters: int, vocabulary: int) -> Shape:
    """Choose a shape of about that size; raises UserFacingError where none comes near."""
    shapes = [_of_width(width, parameters, vocabulary) for width in _WIDTHS]
    best = min(shapes, key=lambda one: _distance(one, parameters))
    if abs(best.parameters - parameters) > TOLERANCE * parameters:
        raise UserFacingError(
            f"no model with a vocabulary of {vocabulary:,} comes near {parameters:,} parameters: "
            f"the nearest has {best.parameters / _MILLION:,.1f}M; ask for that many with "
            "--parameters, or build the data with another --tokenizer"
        )
    return best


def _of_width(width: int, parameters: int, vocabulary: int) -> Shape:
    """The one of that width whose depth fits best."""
    head = 32 if width < _NARROW else 64 if width < _WIDE else 128
    heads = width // head
    shape = Shape(
        vocabulary=vocabulary,
        width=width,
        inner=max(round(8 * width / 3 / _INNER_UNIT), 1) * _INNER_UNIT,
        head=head,
        heads=heads,
        keys=heads // _SHARING if width >= _WIDE else heads,
        layers=1,
        is_tied=2 * vocabulary * width > _TIED_SHARE * parameters,
    )
    layer = replace(shape, layers=2).parameters - shape.parameters
    layers = 1 + round((parameters - shape.parameters) / layer)
    return replace(shape, layers=min(max(layers, 1), _DEEPEST))


def _distance(shape: Shape, parameters: int) -> float:
    usual = min(max(shape.width / 20, 32.0), 128.0)
    depth = abs(math.log(shape.width / shape.layers / usual))
    return _WEIGHT_OF_SIZE * abs(math.log(shape.parameters / parameters)) + depth
