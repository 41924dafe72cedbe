"""A run's trainers, one after another in this process: their arithmetic without network or ledger.

A run is prepared from its plan as `tequio run open` does it. In each round every trainer takes its
inner steps from the same head, the contributions are encoded and decoded as on the wire, and the
exact head advances by them. `train_centrally` takes the same tokens with one optimiser, which sees
the gradients of all trainers at every step.
"""

from __future__ import annotations

import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import torch

from loops.flat import Unwatched
from tequio_client.dataset import sources
from tequio_client.dataset.build import ShardOptions, build_shards
from tequio_client.organiser.opening import prepare_run
from tequio_client.tokenizers import ByteTokenizer
from tequio_client.trainer import codecs, evaluate, inner, model
from tequio_client.trainer.batch import BatchSize
from tequio_client.trainer.device import ComputeDevice
from tequio_client.trainer.inner import Optimiser, StepPlan
from tequio_client.trainer.prepared import TrainingData, held_out_documents
from tequio_shared.head import head as heads
from tequio_shared.head.contribution import ALGORITHM_CODES, ContributionHeader
from tequio_shared.head.head import OuterStep
from tequio_shared.ids import PeerKey, sha256
from tequio_shared.network.run import first_head
from tequio_shared.round.corpus import Corpus
from tequio_shared.round.manifest import Manifest

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from numpy.typing import NDArray

    from tequio_client.trainer.prepared import HeldOutDocument

CPU = ComputeDevice(handle=torch.device("cpu"), name="cpu", memory_mb=0, precision=torch.float32)
FULL_BYTES = 4
"""A gradient's bytes for each parameter and step, where all gradients are exchanged in float32."""
PARTS = ("train", "encode", "head")
_Q15 = 1 << 15


def build_library_data(folder: Path, sequence: int) -> None:
    """Build shards of the standard library's sources as bytes, a twentieth of them held out."""
    settings = ShardOptions(sequence=sequence, seed=1, held_out_bp=500, shard_bytes=4 << 20)
    build_shards(sources.standard_library_files(), ByteTokenizer(), settings, folder)


@dataclass(slots=True, kw_only=True)
class Costs:
    """Costs of training so far."""

    seconds: dict[str, float] = field(default_factory=lambda: dict.fromkeys(PARTS, 0.0))
    payload_bytes: int = 0
    """Sent by one trainer."""
    tokens: int = 0
    """Of all trainers."""


class LocalRun:
    """A run's model, data and held-out documents."""

    def __init__(self, plan: Path, trainers: int, device: ComputeDevice = CPU) -> None:
        """Prepare the plan's run. Every trainer gets the plan's first number of windows."""
        self.device = device
        prepared = prepare_run(plan)
        self.manifest: Manifest = prepared.manifest
        self.trainers = trainers
        corpus, files = Corpus.parse(prepared.blobs[2]), dict(prepared.shard_files)
        self.corpus, rules = corpus, self.manifest.windows
        self.data = TrainingData.open(
            corpus,
            [(at, files[one.root]) for at, one in enumerate(corpus.train)],
            seed=rules.seed,
            window_samples=rules.samples,
        )
        self._held_out = files[corpus.held_out[0].root]
        self.model = model.build_random(prepared.blobs[1], 0)
        self.model.network.to(device.handle)
        self.model.compile_layers(device.handle)
        self.layout = self.manifest.layout
        self.first: NDArray[np.int32] = np.frombuffer(prepared.weights, "<i4").astype(np.int32)
        self.costs = Costs()

    def plan_of(self, round_number: int, trainer: int) -> StepPlan:
        """The steps of a trainer in a round, from 1."""
        count = self.manifest.windows.first
        first = ((round_number - 1) * self.trainers + trainer) * count
        return StepPlan.from_ranges([(first, count)], self.manifest.inner.steps)

    @contextmanager
    def timed(self, part: str) -> Iterator[None]:
        """Add the block's time to a part's."""
        begun = time.perf_counter()
        yield
        self.costs.seconds[part] += time.perf_counter() - begun

    def held_out(self, tokens: int) -> list[HeldOutDocument]:
        """Held-out documents of about that many tokens in all."""
        shard, token_bytes = self.corpus.held_out[0], self.corpus.token_bytes
        vocabulary = self.corpus.tokenizer.vocab_size
        found = held_out_documents(self._held_out, shard, token_bytes, vocabulary)
        return evaluate.first_documents(found, tokens)

    def bits_per_byte(self, documents: list[HeldOutDocument]) -> float:
        """Score the model as it is now."""
        score = evaluate.score_head(
            self.model,
            documents,
            separator=self.corpus.separator,
            sequence=self.corpus.sequence,
            device=self.device,
            check=lambda: None,
        )
        return score.bits_per_byte


class LocalSwarm:
    """The trainers of a run: the head that they share, and the error feedback of each."""

    def __init__(self, run: LocalRun) -> None:
        self.run = run
        self.weights, self.head = run.first, first_head(run.manifest).hash
        self.aux: NDArray[np.generic] | None = None
        self.feedback: list[NDArray[np.uint16] | None] = [None] * run.trainers
        self._key = [PeerKey(sha256(b"trainer", bytes([one]))) for one in range(run.trainers)]

    def train(self) -> None:
        """Train all rounds of the run, and leave the last head in the model."""
        for round_number in range(1, self.run.manifest.rounds.most + 1):
            self.advance(round_number)
        self.run.model.load(self.weights, self.run.layout)

    def advance(self, round_number: int) -> None:
        """Compute the head after a round in which every trainer takes its part of the plan."""
        run, k = self.run, self.run.manifest.algorithm.k
        plans = [run.plan_of(round_number, one) for one in range(run.trainers)]
        made = [self.contribute(round_number, at, plan, k) for at, plan in enumerate(plans)]
        run.costs.payload_bytes += len(made[0][1])
        self.apply(round_number, made, k)

    def apply(
        self, round_number: int, made: Iterable[tuple[ContributionHeader, bytes]], k: int
    ) -> None:
        """Compute the head after a round with these contributions."""
        run = self.run
        step = OuterStep(
            run_id=run.manifest.run_id,
            round=round_number,
            parent=self.head,
            layout=run.layout,
            params=run.manifest.outer_params(round_number, k),
        )
        with run.timed("head"):
            packed = [(header.pack(), payload) for header, payload in made]
            new = heads.advance(step, self.weights, self.aux, packed)
        self.weights, self.aux, self.head = new.weights, new.aux, new.hash

    def contribute(
        self, round_number: int, trainer: int, plan: StepPlan, k: int
    ) -> tuple[ContributionHeader, bytes]:
        """Train by a plan of steps, and encode `k` entries of each chunk: header and payload."""
        run, rules = self.run, self.run.manifest
        algorithm = codecs.outer_algorithm(rules.algorithm, k, rules.inner.feedback_q15 / _Q15)
        recipe, delta = rules.inner_at(round_number), np.zeros(run.layout.elements, np.float32)
        batch = BatchSize(run.corpus.sequence, run.device)
        with run.timed("train"):
            run.model.load(self.weights, run.layout)
            if algorithm.sends_gradients:
                done = inner.accumulate(
                    run.model, run.data, plan.windows, recipe, batch, Unwatched()
                )
                is_finite = run.model.write_gradient(run.layout, delta)
            else:
                done = inner.train(run.model, run.data, plan, recipe, batch, Unwatched())
                is_finite = run.model.write_delta(self.weights, run.layout, delta)
        if not is_finite:
            raise SystemExit(f"round {round_number} gave numbers that are not finite")
        run.costs.tokens += done.tokens
        with run.timed("encode"):
            encoded = codecs.encode_auditable(algorithm, run.layout, delta, self.feedback[trainer])
        self.feedback[trainer] = encoded.feedback
        header = ContributionHeader(
            algorithm=ALGORITHM_CODES[rules.algorithm.name],
            bits=rules.algorithm.bits,
            k=k,
            inner_steps=done.step,
            chunk_count=run.layout.chunks,
            round=round_number,
            window_first=plan.windows[0],
            window_count=done.windows,
            tokens=done.tokens,
            run_id=rules.run_id,
            base_head=self.head,
            trainer=self._key[trainer],
            payload_root=encoded.payload_root,
            feedback_root=encoded.feedback_root,
        )
        return header, encoded.payload


def train_centrally(run: LocalRun) -> None:
    """Train with one optimiser; each step has the gradient of all trainers' windows of that step.

    The payload is what each trainer would have to send: a gradient in float32 at every step.
    """
    run.model.load(run.first, run.layout)
    optimiser = Optimiser(run.model, run.manifest.inner)
    batch = BatchSize(run.corpus.sequence, run.device)
    run.model.network.train()
    for round_number in range(1, run.manifest.rounds.most + 1):
        rules = run.manifest.inner_at(round_number)
        optimiser.follow(rules)
        plans = [run.plan_of(round_number, one) for one in range(run.trainers)]
        for step in range(plans[0].steps):
            windows = [window for plan in plans for window in plan.at(step)]
            with run.timed("train"):
                samples = run.data.samples(windows).to(run.device.handle)
                inner.compute_gradients(run.model, samples, batch, lambda: None, rules.z_loss)
                optimiser.step()
            run.costs.tokens += samples[:, 1:].numel()
            run.costs.payload_bytes += FULL_BYTES * run.layout.parameters
