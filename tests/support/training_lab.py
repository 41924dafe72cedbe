"""Real training, contributions and heads in one process, without a network.

It uses the trainer's own code for every essential part (inner steps, codecs, screen, head); only
the ledger, the worker and the wire are missing. Everything is seeded: two labs with one recipe
train alike, so a run with an attacker can be compared with the same run without it.
"""

from __future__ import annotations

import dataclasses
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
import torch

from tequio_client.dataset.build import (
    ShardOptions,
    build_shards,
)
from tequio_client.tokenizers import ByteTokenizer
from tequio_client.trainer import codecs, evaluate, inner, model, screen
from tequio_client.trainer.batch import BatchSize
from tequio_client.trainer.device import ComputeDevice
from tequio_client.trainer.inner import StepPlan
from tequio_client.trainer.prepared import TrainingData, held_out_documents
from tequio_shared.head import head as heads
from tequio_shared.head.contribution import (
    ALGORITHM_CODES,
    ContributionHeader,
    ExpectedContribution,
    RecordShape,
    WindowAssignment,
    contribution_id,
    payload_seal,
)
from tequio_shared.head.head import OuterParams, OuterStep
from tequio_shared.ids import HeadHash, PeerKey, RunId, sha256
from tequio_shared.round.corpus import held_out_file_name, train_file_name
from tequio_shared.round.manifest import Algorithm, InnerParams

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from numpy.typing import NDArray
    from torch import Tensor

    from tequio_client.dataset.sources import TextSource
    from tequio_client.trainer.codecs import EncodedContribution, OuterAlgorithm
    from tequio_client.trainer.inner import TrainingProgress
    from tequio_client.trainer.prepared import HeldOutDocument
    from tequio_shared.head.layout import LayoutKind
    from tequio_shared.ids import ContributionId

FP32 = ComputeDevice(handle=torch.device("cpu"), name="cpu", memory_mb=0, precision=torch.float32)
BF16 = dataclasses.replace(FP32, precision=torch.bfloat16)
"""The CPU, computing as a GPU does: autocast to bfloat16 in the inner steps."""
RUN = RunId(sha256(b"laboratory"))
_ALPHA_ONE, WEIGHT_ONE = 1 << 20, 1 << 24
_Q15 = 1 << 15


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """The settings of model and training, and the length of a round."""

    config: Mapping[str, object]
    sequence: int = 128
    steps: int = 20
    windows: int = 40
    """Windows of a full share, of one sample each."""
    k: int = 256
    bits: int = 2
    lr: float = 0.003
    adam_lr: float = 0.001
    outer_lr: float = 2.0
    feedback: float = 0.95
    optimiser: str = "muon"
    seed: int = 1
    z2: int = 16
    algorithm: Literal["sparseloco", "distro"] = "sparseloco"
    """For distro, a round is one step: `bits` is 1, and `outer_lr` the move of each weight."""

    @property
    def inner(self) -> InnerParams:
        """The manifest's inner rules."""
        return InnerParams(
            optimiser=self.optimiser,  # type: ignore[arg-type]  # one of the two names
            steps=self.steps,
            lr_e9=round(self.lr * 1e9),
            adam_lr_e9=round(self.adam_lr * 1e9),
            feedback_q15=round(self.feedback * _Q15),
        )

    @property
    def layout(self) -> LayoutKind:
        """The order of the master copy."""
        return "tile64" if self.algorithm == "distro" else "flat"

    @property
    def encoder(self) -> OuterAlgorithm:
        """The trainer's side of the algorithm."""
        rules = Algorithm(name=self.algorithm, layout=self.layout, k=self.k, bits=self.bits)  # type: ignore[arg-type]  # any number
        return codecs.outer_algorithm(rules, self.k, self.feedback)

    @property
    def shape(self) -> RecordShape:
        """The shape of the records."""
        return RecordShape(algorithm=self.algorithm, k=self.k, bits=self.bits)

    @property
    def outer(self) -> OuterParams:
        """The outer step's parameters."""
        unit = WEIGHT_ONE if self.algorithm == "distro" else _ALPHA_ONE
        return OuterParams(
            algorithm=self.algorithm,
            layout=self.layout,
            k=self.k,
            bits=self.bits,
            alpha_q=round(self.outer_lr * unit),
            z2=self.z2,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainedContribution:
    """A trainer's result in a round."""

    slot: int
    first: int
    windows: int
    steps: int
    delta: NDArray[np.float32]
    encoded: EncodedContribution


class TrainingLab:
    """One model, one data set, one head; trainers take turns at the model."""

    def __init__(self, folder: Path, recipe: Recipe, source: TextSource) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.folder = folder
        self.recipe = recipe
        settings = ShardOptions(
            sequence=recipe.sequence, seed=1, held_out_bp=500, shard_bytes=4 << 20
        )
        self.corpus = build_shards(source, ByteTokenizer(), settings, folder)
        paths = [
            (index, folder / train_file_name(index)) for index in range(len(self.corpus.train))
        ]
        self.training = TrainingData.open(self.corpus, paths, seed=0, window_samples=1)
        self.model = model.build_random(json.dumps(recipe.config).encode(), recipe.seed)
        self.layout = self.model.layout(recipe.layout)
        self.weights = model.master_copy(self.model, self.layout)
        self.head = HeadHash(sha256(b"first head"))
        self.round = 1

    @property
    def windows(self) -> int:
        """Windows in the data."""
        return sum(shard.samples for shard in self.corpus.train)

    def windows_of(self, slot: int, trainers: int) -> int:
        """The first window of a slot in the present round; shares cycle through the data."""
        at = ((self.round - 1) * trainers + slot) * self.recipe.windows
        return at % (self.windows - self.recipe.windows)

    def delta(
        self,
        first: int,
        *,
        windows: int | None = None,
        device: ComputeDevice = FP32,
        steps: int | None = None,
        training: TrainingData | None = None,
    ) -> tuple[NDArray[np.float32], int]:
        """Train on windows from `first` on; returns the pseudo-gradient and the steps done."""
        recipe = self.recipe
        self.model.load(self.weights, self.layout)
        plan = StepPlan.from_ranges([(first, windows or recipe.windows)], recipe.steps)
        watch, data = StepLimit(steps), training or self.training
        batch = BatchSize(recipe.sequence, device)
        out = np.zeros(self.layout.elements, np.float32)
        if recipe.encoder.sends_gradients:
            done = inner.accumulate(self.model, data, plan.windows, recipe.inner, batch, watch)
            is_finite = self.model.write_gradient(self.layout, out)
        else:
            done = inner.train(self.model, data, plan, recipe.inner, batch, watch)
            is_finite = self.model.write_delta(self.weights, self.layout, out)
        if not is_finite:
            raise AssertionError("training gave numbers that are not finite")
        return out, done.step

    def made(
        self,
        slot: int,
        first: int,
        trained: tuple[NDArray[np.float32], int],
        feedback: NDArray[np.uint16] | None = None,
    ) -> TrainedContribution:
        """The contribution of a full share from window `first` on; `trained` comes from `delta`."""
        delta, steps = trained
        return TrainedContribution(
            slot=slot,
            first=first,
            windows=self.recipe.windows,
            steps=steps,
            delta=delta,
            encoded=codecs.encode_auditable(self.recipe.encoder, self.layout, delta, feedback),
        )

    def encode(
        self, delta: NDArray[np.float32], feedback: NDArray[np.uint16] | None
    ) -> EncodedContribution:
        """Make the bytes of a contribution, whatever the feedback, as a cheat does."""
        return codecs.encode(self.recipe.encoder, self.layout, delta, feedback)

    def header(self, made: TrainedContribution) -> bytes:
        """The packed header of a contribution."""
        return ContributionHeader(
            algorithm=ALGORITHM_CODES[self.recipe.algorithm],
            bits=self.recipe.bits,
            k=self.recipe.k,
            inner_steps=made.steps,
            chunk_count=self.layout.chunks,
            round=self.round,
            window_first=made.first,
            window_count=made.windows,
            tokens=made.windows * self.recipe.sequence,
            run_id=RUN,
            base_head=self.head,
            trainer=key_of(made.slot),
            payload_root=made.encoded.payload_root,
            feedback_root=made.encoded.feedback_root,
        ).pack()

    def expected(self, made: TrainedContribution) -> ExpectedContribution:
        """The round's expectations of a contribution."""
        return ExpectedContribution(
            shape=self.recipe.shape,
            chunks=self.layout.chunks,
            run_id=RUN,
            round=self.round,
            base_head=self.head,
            assigned={
                key_of(made.slot): WindowAssignment(first=made.first, count=self.recipe.windows)
            },
            window_tokens=self.recipe.sequence,
            max_inner_steps=500,
        )

    def candidates(self, made: Sequence[TrainedContribution]) -> list[screen.ScreenedCandidate]:
        """Contributions as a witness sees them: files, in the order of their commitments."""
        found = []
        for number, one in enumerate(made):
            path = self.folder / f"{number}.payload"
            path.unlink(missing_ok=True)
            path.write_bytes(one.encoded.payload)
            found.append(
                screen.ScreenedCandidate(
                    slot=one.slot,
                    header=self.header(one),
                    seal=payload_seal(key_of(one.slot), [one.encoded.payload]),
                    payload=path,
                    expected=self.expected(one),
                )
            )
        return found

    def advance(self, accepted: Sequence[TrainedContribution]) -> tuple[int, ...]:
        """Advance the head by an accepted set; returns the slots that the filter kept.

        An empty set makes the round void: the head stays.
        """
        kept: tuple[int, ...] = ()
        if accepted:
            step = OuterStep(
                run_id=RUN,
                round=self.round,
                parent=self.head,
                layout=self.layout,
                params=self.recipe.outer,
            )
            pairs = [(self.header(one), one.encoded.payload) for one in accepted]
            new = heads.advance(step, self.weights, None, pairs)
            self.weights, self.head = new.weights, new.hash
            kept = tuple(accepted[at].slot for at in new.kept)
        self.round += 1
        return kept

    def held_out(self, tokens: int) -> list[HeldOutDocument]:
        """Held-out documents with about `tokens` tokens in total."""
        shard = self.corpus.held_out[0]
        return evaluate.first_documents(
            held_out_documents(self.folder / held_out_file_name(0), shard, 1, 256), tokens
        )

    def loss(self, documents: Sequence[HeldOutDocument]) -> float:
        """Held-out loss of the head, nats per byte."""
        self.model.load(self.weights, self.layout)
        score = evaluate.score_head(
            self.model,
            documents,
            separator=self.corpus.separator,
            sequence=self.recipe.sequence,
            device=FP32,
            check=lambda: None,
        )
        return score.nats / score.text_bytes

    def id_of(self, made: TrainedContribution) -> ContributionId:
        """The id of a contribution."""
        return contribution_id(self.header(made))


class StepLimit:
    """Training control that stops after `steps`, or lets training run to its end."""

    def __init__(self, steps: int | None = None) -> None:
        self._steps = steps

    def check(self) -> None:
        """Let training go on."""

    def should_stop(self, progress: TrainingProgress) -> bool:
        """Stop after the steps."""
        return progress.step == self._steps


@dataclass(frozen=True, slots=True, kw_only=True)
class ReversedSamples(TrainingData):
    """The same samples of each step in reverse order: the same sum, added in another order."""

    def samples(self, windows: Sequence[int]) -> Tensor:
        """Token ids of whole windows, the last one first."""
        return TrainingData.samples(self, windows).flip(0)


def reversed_samples(data: TrainingData) -> ReversedSamples:
    """Reverse the order of the samples within each step."""
    return ReversedSamples(
        order=data.order,
        sequence=data.sequence,
        window_samples=data.window_samples,
        vocab_size=data.vocab_size,
        shards=data.shards,
    )


def key_of(slot: int) -> PeerKey:
    """The key of the trainer in that slot."""
    return PeerKey(sha256(b"trainer", bytes([slot])))
