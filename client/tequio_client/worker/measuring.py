"""Measuring how good a head is, when there is nothing else to do: for the volunteer's eyes alone.

A part of the run's held-out text, on the trainer that waits anyway. Nobody is paid for it, nothing
is said about it, and any duty comes first: measuring is dropped then, and begins anew later.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import structlog

from tequio_client.link import messages as link
from tequio_client.worker.trees import TreeRef
from tequio_shared.ids import digest_from_text, to_text
from tequio_shared.limits import PIECE_BYTES

if TYPE_CHECKING:
    from tequio_client.worker.means import Means
    from tequio_shared.round import Head

log = structlog.get_logger(__name__)

EVERY = 10
"""The head of every so many rounds is measured."""
TOKENS = 16_384
"""Whole documents from the front, until that many tokens are reached."""


class Measuring:
    """Measures heads of one run."""

    def __init__(self, means: Means) -> None:
        self._means = means
        self.measured = -1
        """Round of the head that was measured last."""
        self.bits_per_byte: float | None = None

    async def measure(self, head: Head) -> None:
        """Measure a head that is in our store; raises TequioError."""
        means = self._means
        shards = await self._shards()
        report = await means.workroom.ask(
            lambda wish: link.Evaluate(
                wish=wish,
                round=head.round,
                weights=str(means.store.tree_path(head.weights_root)),
                shards=shards,
                max_tokens=TOKENS,
            ),
            link.Evaluated,
        )
        self.measured, self.bits_per_byte = head.round, report.bits_per_byte
        log.info("head measured", round=head.round, bits_per_byte=round(report.bits_per_byte, 4))
        run = to_text(means.manifest.run_id)
        await means.points.measured(run, head.round, report.bits_per_byte)

    async def _shards(self) -> tuple[link.Shard, ...]:
        first = self._means.corpus.held_out[0]
        root = digest_from_text(first.root)
        ref = TreeRef(root=root, size_bytes=first.size_bytes, piece_bytes=PIECE_BYTES)
        await self._means.exchange.tree(ref)
        return (link.Shard(0, str(self._means.store.tree_path(root))),)
