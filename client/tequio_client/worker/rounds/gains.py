"""Measuring loss gains as a witness, as far as data and time allow.

A proof must not come late for this: measuring has a small part of the witness phase, nothing is
fetched for it, and a failure leaves the gains out. All witnesses measure in the round's order, so
those that run out of time have measured the same slots as the others.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

import structlog
import trio

from tequio_client.ipc import trainer as link
from tequio_client.worker.children.trainer import TrainerFailedError
from tequio_client.worker.rounds.statements import RunContext
from tequio_client.worker.store.trees import TreeRef
from tequio_shared.head.chain import Head
from tequio_shared.round.round import RoundView

log = structlog.get_logger(__name__)

GAIN_SHARE = 0.1
"""Part of the witness phase that measuring gains may take."""
GAIN_END = 0.8
"""Part of the witness phase after which none is measured: the proof needs the rest."""
_PATIENCE = 3  # times that, and the trainer's answer is no longer waited for


async def measure_gains(
    context: RunContext, current: RoundView, head: Head, vouched: Collection[int], since_ms: int
) -> tuple[tuple[int, int], ...]:
    """Gains (slot, gain) of the round's drawn slots among those, ascending; empty without time."""
    slots = [slot for slot in current.gains.windows if slot in vouched]
    shards = _stored_shards(context, current, slots)
    own = current.slot_of.get(context.key)
    measured = [slot for slot in slots if slot in shards and slot != own]
    budget_ms = _budget_ms(context, since_ms)
    if not measured or not budget_ms or context.is_code_withheld:
        return ()
    files = {shard.index: shard for slot in measured for shard in shards[slot]}
    store, roots = context.store, {slot: current.commitments[slot].header for slot in measured}
    try:
        with trio.move_on_after(_PATIENCE * budget_ms / 1000):
            report = await context.workdir.ask(
                lambda command: link.MeasureGains(
                    command=command,
                    round=current.number,
                    weights=str(store.tree_path(head.weights_root)),
                    k=current.k,
                    shards=tuple(files.values()),
                    slots=tuple(
                        link.MeasuredSlot(
                            slot=slot,
                            payload=str(store.tree_path(roots[slot].payload_root)),
                            windows=current.gains.windows[slot],
                        )
                        for slot in measured
                    ),
                    control=current.gains.control,
                    stop_after_ms=budget_ms,
                ),
                link.GainsMeasured,
            )
            return tuple(one for one in report.gains if one[0] in measured)
    except TrainerFailedError as err:
        log.warning("no gains measured", round=current.number, error=str(err))
    return ()


def _budget_ms(context: RunContext, since_ms: int) -> int:
    """Milliseconds for measuring, from now on; 0 late in the phase."""
    whole_ms = context.manifest.rounds.witness
    gone_ms = max(context.ledger_clock.now_ms() - since_ms, 0)
    return max(int(min(GAIN_SHARE * whole_ms, GAIN_END * whole_ms - gone_ms)), 0)


def _stored_shards(
    context: RunContext, current: RoundView, slots: Sequence[int]
) -> dict[int, tuple[link.Shard, ...]]:
    """Shards of each slot's windows and of the control windows, where all of them are here."""
    rules = context.manifest.windows
    order = context.corpus.order(rules.seed)
    found = {}
    for slot in slots:
        windows = [*current.gains.windows[slot], *current.gains.control]
        indices = order.shards_of([(one, 1) for one in windows], rules.samples)
        refs = {
            at: TreeRef.of_file(shard.root, shard.size_bytes)
            for at in indices
            for shard in [context.corpus.train[at]]
        }
        if all(context.store.has_tree(ref.root) for ref in refs.values()):
            found[slot] = tuple(
                link.Shard(at, str(context.store.tree_path(ref.root))) for at, ref in refs.items()
            )
    return found
