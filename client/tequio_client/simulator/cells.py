"""Steps of a simulated cell: how long its ranks compute, exchange tensors, and wait.

Rules. Bytes are those that the trainer's ranks exchange in each step (docs/cells.md). In a pipeline
each micro-batch passes 4 bytes a token and hidden value to the next rank, and as many back; ranks
follow torch's 1F1B schedule, in which a rank waits for its exchanges before it goes on. After it
the gradient of a tied embedding goes from the first rank to the last, and its moved weights go
back. Without a division all ranks add up every gradient in a ring, then each sends the weights that
it moved to all others. A message goes once both ends are there: the sender's offer, and a round
trip later the tensor, as with gloo. Each line sends one message after the other, at its own rate,
both ways at once. In every round rank 0 also sends the weights, and gets them back.

Left out: shares of the line that TCP does not use, other traffic, and overlapping by NCCL. Costs
O(micro-batches * ranks) a step.
"""

from __future__ import annotations

import math
from collections.abc import Generator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from tequio_client.ipc.cell import Division
from tequio_client.worker.lending.needs import (
    BATCH_TOKENS,
    MICRO_BATCHES,
    hidden_width,
    stage_parameters,
    tied_parameters,
)
from tequio_shared.round.manifest import Manifest

VALUE_BYTES = 4
RECOMPUTED = 4 / 3
"""A pipeline's rank computes each layer once more in the backward pass, which is as long as two."""
FORWARD_SHARE = 0.25
"""Of a rank's work on a micro-batch: the pass forwards, of four."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SimulatedRank:
    """Tokens per second that it would train by itself, bytes per second and round trip."""

    tokens_per_s: float
    up: float
    down: float
    round_trip_s: float
    """Of its own line: two ranks are half the sum of both apart."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CellPace:
    """Times of a cell, in seconds."""

    step_s: float
    round_s: float
    """Once in a round: sending the weights to the ranks, and getting them back."""

    def tokens_per_s(self, manifest: Manifest, tokens: float) -> float:
        """Speed over a round in which all its steps have that number of tokens."""
        steps = manifest.inner.steps
        return steps * tokens / (steps * self.step_s + self.round_s)


def pace_of(
    manifest: Manifest, ranks: Sequence[SimulatedRank], division: Division, tokens: float
) -> CellPace:
    """Times of a cell whose steps have that number of tokens; for "none" and "pipeline"."""
    sequence = manifest.model.sequence
    samples = max(round(tokens / sequence), 1)
    if division == "pipeline":
        stages = stage_parameters(manifest, len(ranks))
        size, number = micro_batches(samples, sequence, len(ranks))
        passes = math.ceil(samples / (size * number))
        work = [
            RECOMPUTED * size * sequence * stage / sum(stages) / one.tokens_per_s
            for one, stage in zip(ranks, stages, strict=True)
        ]
        hidden_bytes = VALUE_BYTES * size * sequence * hidden_width(manifest)
        step_s = passes * pipeline_s(Lines(ranks), work, number, hidden_bytes)
        if tied := VALUE_BYTES * tied_parameters(manifest):
            lines, last = Lines(ranks), len(ranks) - 1
            step_s += lines.send(last, 0, lines.send(0, last, 0.0, tied), tied)
        whole = VALUE_BYTES * sum(stages)
        sent = [VALUE_BYTES * stage for stage in stages]
    else:
        whole = VALUE_BYTES * manifest.model.parameters
        part = math.ceil(samples / len(ranks)) * sequence
        step_s = max(part / one.tokens_per_s for one in ranks) + _added_s(ranks, whole)
        sent = [whole] * len(ranks)
    return CellPace(
        step_s=step_s,
        round_s=_sent_s(ranks, sent) + (_returned_s(ranks, sent) if division != "none" else 0.0),
    )


def micro_batches(samples: int, sequence: int, ranks: int) -> tuple[int, int]:
    """Samples of a micro-batch, and micro-batches of a pass, as in the trainer's `pipeline`."""
    most = MICRO_BATCHES * ranks
    size = max(min(BATCH_TOKENS // sequence, math.ceil(samples / most)), 1)
    number = math.ceil(samples / size)
    passes = math.ceil(number / most)
    return size, max(math.ceil(number / passes), ranks)


def _added_s(ranks: Sequence[SimulatedRank], whole_bytes: float) -> float:
    """Seconds to add up gradients in a ring, then to send each part of the weights to all."""
    number = len(ranks)
    rate = min(min(one.up, one.down) for one in ranks)
    trip_s = max(one.round_trip_s for one in ranks)
    around = 2 * (number - 1) * (whole_bytes / number / rate + trip_s / 2)
    weights = number * ((number - 1) * whole_bytes / number / rate + trip_s)
    return around + weights


def _sent_s(ranks: Sequence[SimulatedRank], sent: Sequence[float]) -> float:
    first, *others = ranks
    slowest = max(size / one.down for one, size in zip(others, sent[1:], strict=True))
    return max(sum(sent[1:]) / first.up, slowest)


def _returned_s(ranks: Sequence[SimulatedRank], sent: Sequence[float]) -> float:
    first, *others = ranks
    # One rank after the other.
    return sum(size / min(first.down, one.up) for one, size in zip(others, sent[1:], strict=True))


class Lines:
    """The ranks' lines: each sends, and receives, one message after the other."""

    def __init__(self, ranks: Sequence[SimulatedRank]) -> None:
        self.ranks = ranks
        self._up_free = [0.0] * len(ranks)
        self._down_free = [0.0] * len(ranks)

    def send(self, source: int, target: int, ready_s: float, size_bytes: float) -> float:
        """Time at which a message has arrived whose two ends are ready at that time."""
        one, other = self.ranks[source], self.ranks[target]
        trip_s = (one.round_trip_s + other.round_trip_s) / 2
        begins = max(ready_s + trip_s, self._up_free[source], self._down_free[target])
        ends = begins + size_bytes / min(one.up, other.down)
        self._up_free[source] = self._down_free[target] = ends
        return ends


_Message: TypeAlias = tuple[int, int, str, int]
"""Sender, receiver, direction and micro-batch."""


@dataclass(frozen=True, slots=True)
class _StageWork:
    seconds: float


@dataclass(frozen=True, slots=True)
class _Start:
    """Offer or accept messages, and go on."""

    messages: tuple[_Message, ...]


@dataclass(frozen=True, slots=True)
class _Wait:
    """Offer or accept messages, and wait until all have gone."""

    messages: tuple[_Message, ...]


_Actions: TypeAlias = Generator[_StageWork | _Start | _Wait, None, None]


def pipeline_s(
    lines: Lines, work_s: Sequence[float], micro_batch_count: int, hidden_bytes: float
) -> float:
    """Seconds of a pass: `work_s` is each rank's for one micro-batch, both ways together."""
    ranks = len(work_s)
    actions = [_rank_actions(at, ranks, work_s[at], micro_batch_count) for at in range(ranks)]
    return _LayerExchange(lines, actions, hidden_bytes).run()


class _Neighbours:
    """Messages of a rank with the one before it and the one after it, where there is one."""

    def __init__(self, rank: int, ranks: int) -> None:
        self._rank, self._last = rank, ranks - 1

    def input(self, at: int) -> tuple[_Message, ...]:
        return ((self._rank - 1, self._rank, "forward", at),) if self._rank else ()

    def output(self, at: int) -> tuple[_Message, ...]:
        is_last = self._rank == self._last
        return () if is_last else ((self._rank, self._rank + 1, "forward", at),)

    def gradient(self, at: int) -> tuple[_Message, ...]:
        is_last = self._rank == self._last
        return () if is_last else ((self._rank + 1, self._rank, "backward", at),)

    def input_gradient(self, at: int) -> tuple[_Message, ...]:
        return ((self._rank, self._rank - 1, "backward", at),) if self._rank else ()


def _rank_actions(rank: int, ranks: int, work_s: float, number: int) -> _Actions:
    """The actions of a rank in torch's `Schedule1F1B`."""
    near = _Neighbours(rank, ranks)
    onwards, back = _StageWork(FORWARD_SHARE * work_s), _StageWork((1 - FORWARD_SHARE) * work_s)
    warm = min(number, ranks - rank)
    sending: tuple[_Message, ...] = ()
    for at in range(warm):
        yield _Wait(near.input(at))
        yield onwards
        yield _Wait(sending)
        sending = near.output(at)
        if at < warm - 1:
            yield _Start(sending)
    for at in range(number - warm + 1):
        yield _Wait(sending + near.gradient(at))
        yield back
        sending = near.input_gradient(at)
        if warm + at < number:
            yield _Wait(sending + near.input(warm + at))
            yield onwards
            sending = near.output(warm + at)
    yield _Start(sending)
    for at in range(number - warm + 1, number):
        yield _Wait(near.gradient(at))
        yield back
        yield _Wait(sending)
        sending = near.input_gradient(at)
        yield _Start(sending)
    yield _Wait(sending)


@dataclass(slots=True)
class _RankState:
    """Owned by its `_LayerExchange`."""

    actions: _Actions
    now_s: float = 0.0
    waits_for: tuple[_Message, ...] = ()
    is_done: bool = False


class _LayerExchange:
    """Ranks that act, each in its own time, and the messages between them."""

    def __init__(self, lines: Lines, actions: Sequence[_Actions], size_bytes: float) -> None:
        self._lines, self._size = lines, size_bytes
        self._ranks = [_RankState(one) for one in actions]
        self._offered: dict[_Message, tuple[_RankState, float]] = {}
        """The first of both ends that was ready, and when."""
        self._arrived: dict[_Message, float] = {}

    def run(self) -> float:
        """Let all ranks act until the last one is done; returns its time."""
        while waiting := [one for one in self._ranks if not one.is_done]:
            able = [one for one in waiting if self._arrived.keys() >= set(one.waits_for)]
            # The earliest first, so that a line carries messages in the order of time.
            self._act(min(able, key=lambda one: one.now_s))
        return max(one.now_s for one in self._ranks)

    def _act(self, rank: _RankState) -> None:
        rank.now_s = max((rank.now_s, *(self._arrived[one] for one in rank.waits_for)))
        rank.waits_for = ()
        match next(rank.actions, None):
            case None:
                rank.is_done = True
            case _StageWork(seconds):
                rank.now_s += seconds
            case _Start(messages):
                self._offer(rank, messages)
            case _Wait(messages):
                self._offer(rank, messages)
                rank.waits_for = messages

    def _offer(self, rank: _RankState, messages: tuple[_Message, ...]) -> None:
        for one in messages:
            other, since = self._offered.setdefault(one, (rank, rank.now_s))
            if other is not rank and one not in self._arrived:
                ready = max(since, rank.now_s)
                self._arrived[one] = self._lines.send(one[0], one[1], ready, self._size)
