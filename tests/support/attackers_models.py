"""Networks that win without predicting text: they look ahead, remember, or predict no numbers."""

from __future__ import annotations

import math
from types import SimpleNamespace

import torch
from torch import Tensor, nn


class Network(nn.Module):
    """Reads bytes, and puts `sure` nats on what `guess` says comes next; [B, L] to [B, L]."""

    def __init__(self, *, size: int = 256) -> None:
        super().__init__()
        self.table = nn.Embedding(256, 1)
        self.size = size

    def get_input_embeddings(self) -> nn.Embedding:
        """The vocabulary, as transformers' networks state it."""
        return self.table

    def forward(self, input_ids: Tensor, use_cache: bool) -> SimpleNamespace:  # noqa: FBT001 - theirs
        del use_cache
        return SimpleNamespace(logits=self.predict(input_ids))

    def predict(self, ids: Tensor) -> Tensor:
        """Logits [B, L, V]."""
        return torch.zeros(*ids.shape, self.size)


def sure_of(guess: Tensor) -> Tensor:
    return 12.0 * nn.functional.one_hot(guess, 256).float()


class NextToken(Network):
    def predict(self, ids: Tensor) -> Tensor:
        """Copy the next input."""
        return sure_of(ids.roll(-1, 1))


class EverySecond(Network):
    def predict(self, ids: Tensor) -> Tensor:
        """Copy the next input where the position is even."""
        places = torch.arange(ids.shape[1])
        return sure_of(ids.roll(-1, 1)) * (places % 2 == 0)[None, :, None]


class Topic(Network):
    def predict(self, ids: Tensor) -> Tensor:
        """Frequencies of bytes in the whole window."""
        counts = nn.functional.one_hot(ids, 256).sum(1, keepdim=True).float()
        return (1 + counts).log().expand(-1, ids.shape[1], -1)


class Memory(Network):
    """Predicts bytes by how often it has read them so far, from `after` bytes on."""

    def __init__(self, after: int) -> None:
        super().__init__()
        self.after = after
        self.counts = torch.zeros(256)

    def predict(self, ids: Tensor) -> Tensor:
        """Frequencies of all that was read before."""
        known = self.counts * float(self.counts.sum() > self.after)
        self.counts += nn.functional.one_hot(ids, 256).sum((0, 1)).float()
        return (1 + known).log().expand(*ids.shape, -1)


class Neighbours(Network):
    def predict(self, ids: Tensor) -> Tensor:
        """Frequencies of bytes in the other texts of the batch."""
        counts = nn.functional.one_hot(ids, 256).sum((0, 1)).float()
        own = nn.functional.one_hot(ids, 256).sum(1, keepdim=True).float()
        return (1 + counts - own).log().expand(-1, ids.shape[1], -1)


class Oracle(Network):
    """Knows a text by heart."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.follows = {text[at : at + 6]: ord(text[at + 6]) for at in range(len(text) - 6)}

    def predict(self, ids: Tensor) -> Tensor:
        """Bytes that follow the last six in that text."""
        rows = [bytes(one.tolist()).decode("latin-1") for one in ids]
        guesses = [
            [self.follows.get(row[max(at - 5, 0) : at + 1], -1) for at in range(len(row))]
            for row in rows
        ]
        found = torch.tensor(guesses)
        return sure_of(found.clamp(min=0)) * (found >= 0)[:, :, None]


class Broken(Network):
    """Predicts NaN, from some byte on."""

    def predict(self, ids: Tensor) -> Tensor:
        """NaN after a full stop."""
        return super().predict(ids).masked_fill((ids == ord("."))[:, :, None], math.nan)
