"""A step fits into the memory of its device, and what fits is remembered."""

from __future__ import annotations

import dataclasses
import json
import math
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import msgspec
import pytest
import torch
from torch import Tensor

from tequio_client import clock
from tequio_client.ipc import trainer
from tequio_client.trainer import batch as batches
from tequio_client.trainer import device, inner, loop, model, prepared, tasks, token_loss
from tequio_client.trainer.batch import BatchSize
from tequio_client.trainer.cell import Cell
from tequio_client.trainer.llama import Llama
from tequio_client.trainer.main import TaskQueue, TrainerActivity
from tequio_client.trainer.task_context import TaskContext
from tequio_client.trainer.token_loss import TokenLoss
from tequio_client.worker.lending import needs
from tests.support import architectures

if TYPE_CHECKING:
    from tequio_client.trainer.model import CausalModel
    from tequio_client.trainer.prepared import PreparedModel
    from tequio_shared.head.head import OuterParams
    from tests.client.trainer.small_run import SmallRun

CPU = device.open_device("cpu")
SEQUENCE = 16
ON_OTHER_CARDS = torch.OutOfMemoryError("CUDA out of memory.")
ON_A_MAC = (
    RuntimeError("MPS backend out of memory (MPS allocated: 8.00 GiB). Tried to allocate 3.00 GiB"),
    RuntimeError("Invalid buffer size: 9.54 GiB"),
)
ON_A_CPU = RuntimeError(
    "[enforce fail at alloc_cpu.cpp:127] err == 0. DefaultCPUAllocator: can't allocate"
)
SAMPLES = torch.randint(0, 256, (8, SEQUENCE + 1), generator=torch.Generator().manual_seed(1))


def small(kind: str) -> CausalModel:
    """A small network with weights by chance."""
    return model.build_random(json.dumps(architectures.small_fields(kind)).encode(), 1)


def gradients(built: CausalModel, batch: BatchSize) -> tuple[float, dict[str, Tensor], int]:
    """Loss and gradients, and the bytes stored for the backward pass outside layers."""
    stored: dict[int, int] = {}

    def pack(one: Tensor) -> Tensor:
        stored[one.untyped_storage().data_ptr()] = one.untyped_storage().nbytes()
        return one

    torch.manual_seed(1)  # of dropout
    built.network.train()
    with torch.autograd.graph.saved_tensors_hooks(pack, lambda one: one):
        loss = inner.compute_gradients(built, SAMPLES, batch, lambda: None)
    found = {n: one.grad.clone() for n, one in built.parameters.items() if one.grad is not None}
    return loss, found, sum(stored.values())


@pytest.mark.parametrize("kind", ["llama", "gpt2", "gemma2", "qwen3"])
def test_recomputed_layers_give_the_same_gradients_from_fewer_bytes(kind: str) -> None:
    built, batch = small(kind), BatchSize(SEQUENCE, CPU)
    loss, expected, plainly = gradients(built, batch)
    assert built.recompute_layers()
    assert not built.recompute_layers(), "it does so already"
    again, found, stored = gradients(built, batch)
    assert again == pytest.approx(loss)
    assert found.keys() == expected.keys() == built.parameters.keys()
    for name, one in found.items():
        torch.testing.assert_close(one, expected[name], rtol=1e-5, atol=1e-7, msg=name)
    assert stored < plainly / 2


def test_a_network_that_cannot_recompute_says_so() -> None:
    assert not small("ctrl").recompute_layers()


class SmallCard:
    """Runs out of memory above `room` samples at once; a recomputing network takes a quarter."""

    def __init__(
        self,
        monkeypatch: pytest.MonkeyPatch,
        room: float,
        error: RuntimeError = ON_OTHER_CARDS,
    ) -> None:
        self.room, self.failures = room, 0
        real = TokenLoss.backward

        def backward(losses: TokenLoss, samples: Tensor, scale: float) -> Tensor:
            network = losses._model.network  # noqa: SLF001 - the network that computes
            assert isinstance(network, Llama)
            need = len(samples) * (0.25 if network.model.recomputes else 1)
            loss = real(losses, samples, scale)
            if need > self.room:
                self.failures += 1  # after the gradients were added: they must not count twice
                raise error
            return loss

        monkeypatch.setattr(TokenLoss, "backward", backward)


@pytest.mark.parametrize(
    ("room", "busy_tokens", "samples", "recomputes"),
    [
        (8, 64, 8, False),
        (4, 64, 4, False),
        (2, 64, 4, True),
        (1, 64, 4, True),
        (0.5, 64, 2, True),
        (0.25, 64, 1, True),
        (0.25, 1, 1, True),
    ],
)
def test_a_batch_is_halved_then_recomputed_then_halved_again(
    room: float,
    busy_tokens: int,
    samples: int,
    *,
    recomputes: bool,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    built, batch = small("llama"), BatchSize(SEQUENCE, CPU)
    batch.samples = 8
    loss, expected, _ = gradients(built, batch)
    SmallCard(monkeypatch, room)
    monkeypatch.setattr(inner, "_BUSY_TOKENS", busy_tokens)
    again, found, _ = gradients(built, batch)
    assert batch.samples == samples
    assert built.recompute_layers() != recomputes
    assert again == pytest.approx(loss)
    for name, one in found.items():
        torch.testing.assert_close(one, expected[name], rtol=1e-4, atol=1e-6, msg=name)


def test_torch_tells_of_full_main_memory_in_these_words() -> None:
    with pytest.raises(RuntimeError) as caught:
        torch.empty(1 << 60, dtype=torch.uint8)  # more than a processor can address
    assert device.is_out_of_memory(caught.value)
    assert not device.is_out_of_memory(RuntimeError("mat1 and mat2 shapes cannot be multiplied"))


@pytest.mark.parametrize("error", [ON_OTHER_CARDS, *ON_A_MAC, ON_A_CPU])
def test_less_memory_than_one_recomputed_sample_takes_is_an_error(
    error: RuntimeError, monkeypatch: pytest.MonkeyPatch
) -> None:
    built, batch = small("llama"), BatchSize(SEQUENCE, CPU)
    card = SmallCard(monkeypatch, 0.2, error)
    with pytest.raises(type(error)) as caught:
        inner.compute_gradients(built, SAMPLES, batch, lambda: None)
    failed = loop._failure(7, caught.value)  # noqa: SLF001 - what the worker is told
    assert (failed.code, failed.fatal) == ("memory", False)
    assert batch.samples == 1
    assert card.failures == 9, "128 samples of 16 tokens, halved seven times; recomputed once"


def done(setup: PreparedModel, task: trainer.Train | trainer.Advance) -> trainer.CommandReport:
    """Run one task as the trainer's loop does."""
    queue = TaskQueue()
    queue.put(setup.prepare)
    queue.put(task)
    context = TaskContext(
        setup=setup, queue=queue, task=task, report=lambda _: None, activity=TrainerActivity()
    )
    return tasks.run(context)


def train(setup: PreparedModel, run: SmallRun, number: int, folder: Path) -> trainer.Contribution:
    """Train one contribution."""
    outs = {out: str(folder / f"{out}-{number}") for out in ("payload_out", "feedback_out")}
    task = run.train(number, "remembered", delta_out=str(folder / f"delta-{number}"), **outs)
    trained = done(setup, task)
    assert isinstance(trained, trainer.Trained)
    return trainer.Contribution(header=trained.header, payload=outs["payload_out"])


class FullCard(device.AcceleratorEngine):
    """A card without room for a block."""

    def __init__(self, params: OuterParams, _device: str) -> None:
        super().__init__(params, "cpu")

    def move(self, *_: object) -> NoReturn:
        raise torch.OutOfMemoryError("XPU out of memory.")


def test_an_outer_step_that_does_not_fit_into_a_card_is_taken_by_the_processor(
    run: SmallRun, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    setup = prepared.prepare_model(run.prepare(1))
    out = tmp_path / "head-1.weights"
    task = trainer.Advance(
        command=31,
        round=1,
        run=run.run,
        parent=run.head,
        k=256,
        weights=run.weights,
        weights_out=str(out),
        contributions=(train(setup, run, 30, tmp_path),),
    )
    expected = done(setup, task)
    assert isinstance(expected, trainer.AdvanceReport)
    out.unlink()
    monkeypatch.setattr(device, "AcceleratorEngine", FullCard)
    card = dataclasses.replace(setup.device, handle=torch.device("xpu"))
    found = done(dataclasses.replace(setup, device=card), task)
    assert isinstance(found, trainer.AdvanceReport)
    assert found.head == expected.head
    assert out.exists()


def test_what_fits_is_found_once_for_a_prepared_model(
    run: SmallRun, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    setup = prepared.prepare_model(run.prepare(1))
    monkeypatch.setattr(inner, "_BUSY_TOKENS", 1)
    card = SmallCard(monkeypatch, 2)
    train(setup, run, 10, tmp_path)
    failures = card.failures
    assert failures > 0
    assert setup.batch.samples == 2
    train(setup, run, 11, tmp_path)
    assert card.failures == failures
    same = setup.with_limits(msgspec.structs.replace(setup.prepare, command=2, threads=1))
    assert same.batch is setup.batch
    other = setup.with_limits(msgspec.structs.replace(setup.prepare, command=3, memory_mb=9_000))
    assert other.batch.samples > 2


def test_a_cell_ends_its_steps_with_the_batch_that_all_ranks_have(run: SmallRun) -> None:
    setup = prepared.prepare_model(run.prepare(1))
    batch = BatchSize(setup.corpus.sequence, CPU, Cell(size=2))
    batch.samples = 2
    limits = msgspec.structs.replace(setup.prepare, command=2, memory_mb=9_000)
    other = dataclasses.replace(setup, batch=batch).with_limits(limits)
    assert batch.samples == 2
    assert other.batch.samples == BatchSize(setup.corpus.sequence, CPU).samples


@pytest.fixture
def remembered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The file of a worker's trainer, whose folder for caches is set."""
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(inner, "_BUSY_TOKENS", 64)
    return tmp_path / "cache" / batches.FILE


def test_the_next_process_begins_with_what_fitted(
    run: SmallRun, remembered: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    card = SmallCard(monkeypatch, 0.5)
    first = prepared.prepare_model(run.prepare(1))
    train(first, run, 20, tmp_path)
    failures = card.failures
    assert failures > 1
    assert (first.batch.samples, first.batch.recomputes) == (2, True)
    second = prepared.prepare_model(run.prepare(1))
    assert (second.batch.samples, second.batch.recomputes) == (2, True)
    assert not second.model.recompute_layers(), "it does already"
    train(second, run, 21, tmp_path)
    assert card.failures == failures

    card.room = 0.25  # less than what was remembered: lowered, and remembered again
    train(second, run, 22, tmp_path)
    assert card.failures == failures + 1
    assert prepared.prepare_model(run.prepare(1)).batch.samples == 1

    larger = msgspec.structs.replace(run.prepare(1), memory_mb=9_000)
    other = prepared.prepare_model(larger).batch
    assert (other.samples, other.recomputes) == (BatchSize(other.sequence, CPU).samples, False)
    assert remembered.exists()


def test_what_fits_under_limits_that_come_in_a_step_is_remembered_under_these(
    run: SmallRun, remembered: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    usual = msgspec.structs.replace(run.prepare(1), memory_mb=9_000)
    lent_less = msgspec.structs.replace(usual, command=2, memory_mb=3_000)
    task, queue = run.train(24, "lent less"), TaskQueue()
    queue.put(usual)
    queue.put(task)
    context = TaskContext(
        setup=prepared.prepare_model(usual),
        queue=queue,
        task=task,
        report=lambda _: None,
        activity=TrainerActivity(),
    )
    card, apply = SmallCard(monkeypatch, math.inf), TaskContext.apply_limits

    def lend_less(context: TaskContext) -> None:
        if math.isinf(card.room):
            queue.put(lent_less)
        apply(context)
        card.room = 2

    monkeypatch.setattr(TaskContext, "apply_limits", lend_less)
    largest = context.setup.batch.samples
    tasks.run(context)
    assert context.setup.prepare == lent_less
    assert context.setup.batch.samples == prepared.prepare_model(lent_less).batch.samples == 2
    assert prepared.prepare_model(usual).batch.samples == largest
    assert remembered.exists()


def test_what_fitted_is_forgotten_after_a_day(
    remembered: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept, now_ms = batches.FittedBatches(remembered), clock.now_ms()
    kept.record("model", 4, recomputes=False)
    monkeypatch.setattr(clock, "now_ms", lambda: now_ms + batches.KEPT_MS - 60_000)
    assert kept.find("model") is not None
    monkeypatch.setattr(clock, "now_ms", lambda: now_ms + batches.KEPT_MS + 60_000)
    assert kept.find("model") is None
    monkeypatch.setattr(clock, "now_ms", lambda: now_ms - batches.KEPT_MS)
    assert kept.find("model") is None, "a clock that was wrong"


@pytest.mark.parametrize("content", [b"", b"[]", b"{", b'{"model": {"samples": 0}}', b"\xff"])
def test_a_file_that_cannot_be_read_is_as_if_absent(remembered: Path, content: bytes) -> None:
    remembered.parent.mkdir()
    remembered.write_bytes(content)
    kept = batches.FittedBatches(remembered)
    assert kept.find("model") is None
    kept.record("model", 4, recomputes=True)
    found = kept.find("model")
    assert found is not None
    assert (found.samples, found.recomputes) == (4, True)


def test_the_oldest_are_dropped(remembered: Path) -> None:
    kept = batches.FittedBatches(remembered)
    for number in range(batches.MOST_KEPT + 2):
        kept.record(f"model {number}", 4, recomputes=False)
    kept.record("model 2", 2, recomputes=False)
    kept.record("model last", 4, recomputes=False)
    names = [f"model {number}" for number in range(batches.MOST_KEPT + 2)]
    held = [name for name in names if kept.find(name) is not None]
    assert held == ["model 2", *names[4:]]


def test_without_a_folder_nothing_is_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    assert batches.FittedBatches.of_process() is None


def test_a_folder_that_cannot_be_written_does_not_stop_training(tmp_path: Path) -> None:
    (tmp_path / "cache").write_bytes(b"a file")
    kept = batches.FittedBatches(tmp_path / "cache" / batches.FILE)
    kept.record("model", 4, recomputes=False)
    assert kept.find("model") is None


def test_the_worker_reckons_with_the_logits_that_the_trainer_has_at_once() -> None:
    assert needs.MOST_LOGITS == token_loss.MOST_LOGITS
