"""The interface of a plug-in's code: one Protocol for each seam.

A plug-in imports torch, numpy, Python's own library and this module; nothing else is promised. It
runs in the trainer's process, without network and keys (docs/security.md); a tokenizer runs in a
process of its own, confined in the same way.

An audit repeats training on another computer and compares, so the same head, windows and rates must
give the same weights, as far as one card rounds like another. Three duties follow:

* nothing is remembered from one call of a seam to the next round but what a parameter holds; the
  optimiser is made again in every round, and so is its state;
* chance comes from torch's generators, which the trainer seeds before a round's first step, and
  from nothing else: not from time, names, addresses or the order of a set;
* the number of samples that are computed at once changes nothing. A card splits a step's samples as
  its memory allows, so no layer may mix the samples of a batch.

`tequio run check` tries each of them for a few steps. What it cannot see, the first audits do.

Shapes: N samples, L tokens of a sample, B samples of a batch, V tokens of the vocabulary.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from torch import Tensor, nn


class ModelFactory(Protocol):
    """The seam `model`: makes the network of the run."""

    def __call__(self, config: Mapping[str, Any], /) -> nn.Module:
        """Make the network of a config.json, in float32 on the CPU.

        The fields `model_type` ("plugin"), `vocab_size`, and `max_position_embeddings` where there
        is a longest input, are ours; all others are the plug-in's. The network maps ids, int64
        [B, L], to logits [B, L, V], and a logit depends on no later id. Everything that it saves is
        a parameter, all of which are trained. Initial values come from torch's generator.
        """


@dataclass(frozen=True, slots=True, kw_only=True)
class OptimiserRates:
    """A round's learning rates and weight decay, as the manifest's schedule has them."""

    lr: float
    adam_lr: float
    weight_decay: float


class InnerOptimiser(Protocol):
    """Moves the parameters it was made for."""

    def step(self) -> None:
        """Take one step, in place, by the gradients in `grad`, whose common norm is clipped."""


class OptimiserFactory(Protocol):
    """The seam `optimiser`: makes the optimiser of a round's inner steps."""

    def __call__(
        self, parameters: Mapping[str, nn.Parameter], rates: OptimiserRates, /
    ) -> InnerOptimiser:
        """Make the optimiser of one round; `parameters` are all that are trained, by name."""


class SampleLoader(Protocol):
    """The seam `loader`: what a trainer reads of its windows."""

    def __call__(self, samples: Tensor, windows: Sequence[int], /) -> Tensor:
        """Return the samples to train on in place of those of the data: int64 [N, L + 1] both.

        Ids are 0 .. V - 1; `~id` is a token that is read but not predicted. `windows` are the
        windows that the samples belong to, equally many of each, in order.
        """


class TokenSplitter(Protocol):
    """A tokenizer: what each id stands for, and the code that splits texts.

    `tokens` are the bytes of the ids 0 .. V - 1, at most 255 each. `separator` is the id between
    documents, whose token is empty. Both stay as they are.
    """

    tokens: Sequence[bytes]
    separator: int

    def encode(self, text: str, /) -> Sequence[int]:
        """Return ids whose tokens are together the UTF-8 of the text, without the separator.

        Any text has some, and the same text has the same ones, whatever was encoded before it.
        """


class TokenizerFactory(Protocol):
    """The seam `tokenizer`: makes the tokenizer of the run's texts."""

    def __call__(self) -> TokenSplitter:
        """Make the tokenizer, the same one every time."""
