"""A round of local training: from the head and the member's texts to the change of the weights.

The optimiser starts from zero in each round, as in a public run (`trainer.inner`). The change is an
integer for each weight, in the head's own unit, so that the sum over members is exact, whatever
masks are added to it.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from pathlib import Path

import msgspec
import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from tequio_client import runtime, tokenizers
from tequio_client.ipc.private import (
    MILLIONTHS,
    TRILLIONTHS,
    InnerSteps,
    LocalTrained,
    LocalTraining,
)
from tequio_client.tokenizers import SEPARATORS, ByteTokenizer
from tequio_client.trainer import device as devices
from tequio_client.trainer import inner, model, prepared
from tequio_client.trainer.batch import BatchSize
from tequio_client.trainer.device import ComputeDevice
from tequio_client.trainer.inner import Optimiser
from tequio_client.trainer.model import CausalModel
from tequio_client.trainer.prepared import ModelError
from tequio_client.trainer.private import accountant, noise
from tequio_client.trainer.private.dp_sgd import PrivateStep
from tequio_client.trainer.private.noise import RandomBits
from tequio_client.trainer.private.texts import PrivateTexts, read_texts, text_files
from tequio_client.trainer.token_loss import count_targets
from tequio_client.trainer.weights import read_json_file
from tequio_shared.errors import TequioError, UserFacingError
from tequio_shared.head.head import WEIGHT_UNIT
from tequio_shared.head.layout import WeightLayout
from tequio_shared.round.manifest import InnerParams

MOST_MOVE = 1 << 24
"""Largest move of a weight in a round: 1.0."""
_NO_CLIP_E3 = 10**12


class WeightsNotFiniteError(TequioError):
    """The weights became infinite or NaN."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Setup:
    """The parts that stay between requests; `key` names all that they were made of."""

    key: tuple[object, ...]
    model: CausalModel
    layout: WeightLayout
    device: ComputeDevice
    texts: PrivateTexts


@dataclass(slots=True)
class _Tally:
    """Losses so far; owned by the training."""

    losses: float = 0.0
    counted: float = 0
    first: float | None = None
    tokens: int = 0

    def add(self, loss: float, counted: float) -> None:
        """Add a summed loss over that many samples or tokens."""
        if counted and self.first is None:
            self.first = loss / counted
        self.losses += loss
        self.counted += counted

    @property
    def mean(self) -> float | None:
        return self.losses / self.counted if self.counted else None


@dataclass(slots=True)
class LocalTrainer:
    """Carries out requests, one at a time; `on_step` gets the steps done and all."""

    on_step: Callable[[int, int], None]
    _setup: _Setup | None = field(default=None, init=False)

    def train(self, request: LocalTraining) -> LocalTrained:
        """Train, and write the change of the weights.

        Raises UserFacingError for what the request names, BudgetSpentError before the first step,
        WeightsNotFiniteError, OSError, and what `is_out_of_memory` knows.
        """
        begun = time.perf_counter()
        setup = self._set_up(request)
        master = _read_master(request, setup)
        setup.model.load(master, setup.layout)
        bits = noise.seeded_bits(request.seed) if request.seed else noise.system_bits
        with runtime.locked(Path(request.state)):
            if request.privacy is None:
                report = self._train_plainly(request, setup, bits)
            else:
                report = self._train_privately(request, setup, bits)
        _write_change(request, setup, master)
        return msgspec.structs.replace(report, seconds=time.perf_counter() - begun)

    def _set_up(self, request: LocalTraining) -> _Setup:
        config = read_json_file(Path(request.config))
        key = (
            *(config, request.tokenizer, request.data, request.device),
            *(request.privacy is None, _states(Path(request.data))),
        )
        chosen = devices.open_device(request.device)
        devices.apply_limits(chosen, threads=request.threads, memory_mb=0)
        if self._setup is None or self._setup.key != key:
            self._setup = None  # frees the old model: two may not fit into memory
            self._setup = _made(request, config, key, chosen)
        _check_fit(request, self._setup)
        return self._setup

    def _train_plainly(
        self, request: LocalTraining, setup: _Setup, bits: RandomBits
    ) -> LocalTrained:
        tally, batch = _Tally(), BatchSize(request.sequence, setup.device)
        samples = setup.texts.epochs(request.sequence, bits)
        optimiser = Optimiser(setup.model, inner_params(request.inner))
        setup.model.network.train()
        for step in range(request.steps):
            rows = _tensor(list(islice(samples, request.batch)), request.sequence)
            targets = count_targets(rows)
            loss = inner.compute_gradients(setup.model, rows.to(setup.device.handle), batch, _go_on)
            optimiser.step()
            tally.add(loss * targets, targets)
            tally.tokens += targets
            self.on_step(step + 1, request.steps)
        return _report(request, tally, setup.texts.count_samples(request.sequence))

    def _train_privately(
        self, request: LocalTraining, setup: _Setup, bits: RandomBits
    ) -> LocalTrained:
        rules, texts = request.privacy, setup.texts
        if rules is None:
            raise AssertionError("the caller has checked")
        rate = _sample_rate(request, texts)
        tally = _Tally(tokens=request.steps * request.batch * request.sequence)
        steps = PrivateStep(
            model=setup.model,
            device=setup.device,
            clip=rules.clip_e6 / MILLIONTHS,
            noise_multiplier=rules.noise_e6 / MILLIONTHS,
            expected=float(request.batch),
            bits=bits,
        )
        # A noisy gradient's norm is mostly that of the noise: a second clip would only slow down.
        unclipped = msgspec.structs.replace(request.inner, clip_e3=_NO_CLIP_E3)
        optimiser = Optimiser(setup.model, inner_params(unclipped))
        spent = accountant.begin_round(
            Path(request.state), rules, sample_rate=rate, steps=request.steps
        )
        setup.model.network.train()
        uniforms = partial(noise.uniforms, bits)
        for step in range(request.steps):
            rows = _tensor(texts.draw(rate, request.sequence, uniforms), request.sequence)
            tally.add(steps.compute_gradients(rows), len(rows))
            optimiser.step()
            self.on_step(step + 1, request.steps)
        report = _report(request, tally, texts.documents)
        return msgspec.structs.replace(report, epsilon=spent, delta=rules.delta_e12 / TRILLIONTHS)


def inner_params(steps: InnerSteps) -> InnerParams:
    """The steps as a manifest has them."""
    return msgspec.convert(msgspec.structs.asdict(steps), InnerParams)


def _made(
    request: LocalTraining, config: bytes, key: tuple[object, ...], chosen: ComputeDevice
) -> _Setup:
    tokenizer: tokenizers.TextTokenizer = ByteTokenizer()
    if request.tokenizer is not None:
        raw = tokenizers.read_tokenizer_file(Path(request.tokenizer))
        tokenizer = tokenizers.parse_tokenizer(raw, request.tokenizer, SEPARATORS)
    try:
        built = model.build(config)
    except UserFacingError as err:
        raise ModelError(str(err)) from err
    ids, rows = tokenizer.vocab_size, model.vocabulary_size(built)
    if ids > rows:
        raise ModelError(f"the tokenizer has {ids} ids, but the model has only {rows}")
    texts = read_texts(Path(request.data), tokenizer)
    built.network.to(chosen.handle)
    if request.privacy is None:
        built.compile_layers(chosen.handle)
    return _Setup(key=key, model=built, layout=built.layout("flat"), device=chosen, texts=texts)


def _states(folder: Path) -> tuple[tuple[Path, int, int], ...]:
    """The files with texts, each with its size and the time of its last change."""
    try:
        found = [(one, one.stat()) for one in text_files(folder)]
    except OSError as err:
        raise UserFacingError(f"cannot read {folder}: {err.strerror}") from err
    return tuple((path, state.st_size, state.st_mtime_ns) for path, state in found)


def _check_fit(request: LocalTraining, setup: _Setup) -> None:
    most = model.context_length(setup.model)
    if most and request.sequence > most:
        raise ModelError(
            f"samples have {request.sequence} tokens, but the model takes at most {most}"
        )


def _read_master(request: LocalTraining, setup: _Setup) -> NDArray[np.int32]:
    path = Path(request.weights)
    try:
        return prepared.map_array(path, np.dtype("<i4"), setup.layout.elements)
    except (OSError, ValueError) as err:
        raise UserFacingError(f"cannot use the weights of the head: {err}") from err


def _sample_rate(request: LocalTraining, texts: PrivateTexts) -> float:
    """The probability with which a step draws each document; raises UserFacingError."""
    if texts.documents < request.batch:
        raise UserFacingError(
            f"{request.data} has {texts.documents} documents, fewer than a step draws "
            f"({request.batch}): with differential privacy a document counts once, however long "
            "it is, so add texts, or divide long ones into documents that may be protected one by "
            "one (files, or lines of a file *.jsonl)"
        )
    return request.batch / texts.documents


def _tensor(rows: list[NDArray[np.int64]] | NDArray[np.int64], sequence: int) -> Tensor:
    return torch.from_numpy(np.asarray(rows, np.int64).reshape(-1, sequence + 1))


def _report(request: LocalTraining, tally: _Tally, dataset: int) -> LocalTrained:
    return LocalTrained(
        command=request.command,
        round=request.round,
        loss=tally.mean,
        loss_first=tally.first,
        samples=request.steps * request.batch,
        tokens=tally.tokens,
        dataset=dataset,
        epsilon=None,
        delta=None,
        seconds=0.0,
    )


def _write_change(request: LocalTraining, setup: _Setup, master: NDArray[np.int32]) -> None:
    """Write end less start in whole units; raises WeightsNotFiniteError."""
    starts = setup.layout.unflatten(master)
    moves = {}
    for name, parameter in setup.model.parameters.items():
        # Less what `load` has made of the start: a weight that did not move has moved by 0.
        begun = starts[name].astype(np.float32) * np.float32(WEIGHT_UNIT)
        end = parameter.detach().cpu().numpy()
        if not np.isfinite(end).all():
            raise WeightsNotFiniteError(
                f"{name} became infinite or NaN in training: choose lower learning rates"
            )
        units = np.rint((end.astype(np.float64) - begun) / WEIGHT_UNIT)
        moves[name] = units.clip(-MOST_MOVE, MOST_MOVE).astype(np.int32)
    flat = setup.layout.flatten(moves)
    prepared.write(Path(request.delta_out), flat.astype("<i4", copy=False).data)


def _go_on() -> None:
    """Let a step go on: a request is never abandoned."""
