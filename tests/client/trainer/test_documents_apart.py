"""Documents of a sample that are read apart: a token sees its own document only."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import pytest
import torch

from tequio_client.ipc import trainer
from tequio_client.trainer import device, first_head, inner
from tequio_client.trainer.batch import BatchSize
from tequio_client.trainer.token_loss import TokenLoss
from tequio_shared.errors import UserFacingError
from tequio_shared.round.manifest import InnerParams
from tests.client.trainer.small_run import small_run
from tests.support import architectures
from tests.support.audit_limits import WARN, exceeded

if TYPE_CHECKING:
    from pathlib import Path

    from torch import Tensor

    from tequio_client.trainer.model import CausalModel
    from tests.client.trainer.conftest import Child

CPU = device.open_device("cpu")
SEPARATOR = 0
LENGTHS = (5, 9, 10)
MOST_LOGITS = 7 * 256
MIXERS = ("falcon", "mamba", "opt")
READERS = sorted(architectures.DECODERS.keys() - {*MIXERS})
"""Kinds whose networks keep documents apart."""


def documents() -> list[Tensor]:
    """Documents of some tokens, each with its separator."""
    chance = torch.Generator().manual_seed(2)
    return [
        torch.cat([torch.tensor([SEPARATOR]), torch.randint(1, 256, (size,), generator=chance)])
        for size in LENGTHS
    ]


def kept_apart(kind: str) -> CausalModel:
    built = architectures.small_model(kind)
    built.network.eval()
    built.separator = SEPARATOR
    return built


@pytest.mark.parametrize("kind", ["llama", *READERS])
@torch.no_grad()
def test_each_document_is_predicted_as_if_it_were_alone(kind: str) -> None:
    built, parts = kept_apart(kind), documents()
    # The second sample begins within a document.
    samples = torch.stack([torch.cat(parts), torch.cat([parts[0][1:], *parts[1:], parts[0][:1]])])
    found = built.logits(samples)
    joined = architectures.small_model(kind)
    joined.network.eval()
    at = 0
    for part in parts:
        alone = joined.logits(part[None])[0]
        for row, begins in ((found[0], at), (found[1], at - 1)):
            own = row[max(begins, 0) : begins + len(part)]
            expected = alone[-len(own) :] if at else joined.logits(part[None, -len(own) :])[0]
            torch.testing.assert_close(own, expected, rtol=1e-3, atol=1e-3)
        at += len(part)
    together = joined.logits(samples)[0, -1]
    assert (together - found[0, -1]).abs().max() > 1e-2, "they are not the same anyway"


@pytest.mark.parametrize("kind", ["llama", "qwen3", "gpt2"])
def test_a_cut_network_has_the_loss_and_gradient_of_the_whole_one(kind: str) -> None:
    chance = torch.Generator().manual_seed(3)
    samples = torch.randint(0, 8, (4, 25), generator=chance)  # many separators
    losses = {}
    for most in (MOST_LOGITS, 1 << 30):
        built = kept_apart(kind)
        total = TokenLoss(built, CPU, most_logits=most).backward(samples, 1.0)
        name = next(iter(built.parameters))
        losses[most] = (total, built.parameters[name].grad)
    for first, other in zip(*losses.values(), strict=True):
        torch.testing.assert_close(first, other, rtol=1e-3, atol=1e-3)


def test_recomputed_layers_see_the_same() -> None:
    chance = torch.Generator().manual_seed(3)
    samples = torch.randint(0, 8, (4, 25), generator=chance)
    found = []
    for recomputes in (False, True):
        built = kept_apart("llama")
        assert not recomputes or built.recompute_layers()
        loss = inner.compute_gradients(built, samples, BatchSize(24, CPU), lambda: None)
        found.append((torch.tensor(loss), next(iter(built.parameters.values())).grad))
    for first, other in zip(*found, strict=True):
        torch.testing.assert_close(first, other)


def test_a_run_reads_documents_apart_and_an_audit_does_so_too(tmp_path: Path, child: Child) -> None:
    roots = set()
    kinds: tuple[Literal["joined", "apart"], ...] = ("joined", "apart")
    for at, documents in enumerate(kinds):
        folder = tmp_path / documents
        folder.mkdir()
        run = small_run(folder, inner=InnerParams(steps=4, documents=documents))
        child.send(run.prepare(10 * at + 1))
        child.until(trainer.TrainerReady)
        task = run.train(10 * at + 2, "work")
        child.send(task)
        work = child.until(trainer.Trained)
        child.send(run.audit(10 * at + 3, task, work.header))
        assert not exceeded(child.until(trainer.Audited).figures, WARN)
        roots.add((folder / "work.payload").read_bytes())
    assert len(roots) == 2, "both learned the same"


@pytest.mark.parametrize("kind", ["llama", *READERS])
def test_networks_that_can_are_let_in(kind: str) -> None:
    built = architectures.small_model(kind)
    first_head.check_documents(built, SEPARATOR)
    assert built.separator is None


@pytest.mark.parametrize("kind", MIXERS)
def test_networks_that_cannot_are_refused(kind: str) -> None:
    with pytest.raises(UserFacingError, match="documents of a sample together"):
        first_head.check_documents(architectures.small_model(kind), SEPARATOR)
