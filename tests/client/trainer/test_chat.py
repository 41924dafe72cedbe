"""Training on conversations: what the assistant says is learnt, and what it is told is not."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING

import numpy as np
import pytest
import torch
from torch.nn import functional

from tequio_client.ipc import trainer
from tequio_client.organiser import opening
from tequio_client.trainer import device, evaluate, first_head, inner, token_loss
from tequio_client.trainer.batch import BatchSize
from tequio_client.trainer.inner import StepPlan
from tequio_client.trainer.prepared import TrainingData, held_out_documents
from tequio_client.trainer.token_loss import IGNORED, TokenLoss
from tequio_shared.errors import UserFacingError
from tequio_shared.head.head import head_hash, set_root
from tequio_shared.ids import ZERO_DIGEST, HeadHash, digest_from_text, to_text
from tests.client.trainer.small_run import CONFIG, SmallRun
from tests.client.trainer.watching import UninterruptedControl
from tests.support import chats
from tests.support.audit_limits import CONVICT, exceeded

if TYPE_CHECKING:
    from collections.abc import Iterable

    from torch import Tensor

    from tequio_client.trainer.model import CausalModel
    from tequio_client.trainer.prepared import HeldOutDocument
    from tests.client.trainer.conftest import Child

CPU = device.open_device("cpu")
SEQUENCE = 48
PLAN = """
name = "chat"
[model]
source = "config.json"
[data]
folder = "."
[windows]
samples = 2
[inner]
steps = 4
"""


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> SmallRun:
    """A run of conversations, opened from a plan."""
    folder = tmp_path_factory.mktemp("chat")
    encoder = chats.encoder(chats.word_tokenizer(folder / "tokenizer"), SEQUENCE)
    corpus = chats.build(folder, encoder, chats.rows(*chats.echoes(400)))
    (folder / "config.json").write_bytes(CONFIG)
    (folder / "plan.toml").write_text(PLAN)
    opened = opening.prepare_run(folder / "plan.toml")
    manifest = opened.manifest
    (folder / "config.json").write_bytes(opened.blobs[1])
    (folder / "manifest.json").write_bytes(manifest.encode())
    (folder / "head-0.weights").write_bytes(opened.weights)
    root = digest_from_text(manifest.model.weights_root)
    head = head_hash(manifest.run_id, 0, HeadHash(ZERO_DIGEST), set_root([]), root, ZERO_DIGEST)
    origin = first_head.random_head(CONFIG, seed=0, layout="flat")
    return SmallRun(
        folder=folder, manifest=manifest, corpus=corpus, origin=origin, head=to_text(head)
    )


def network(run: SmallRun) -> CausalModel:
    run.origin.model.load(run.origin.master, run.origin.layout)
    return run.origin.model


def training(run: SmallRun) -> TrainingData:
    paths = [(i, run.folder / f"train-{i:05d}.tokens") for i in range(len(run.corpus.train))]
    return TrainingData.open(run.corpus, paths, seed=0, window_samples=2)


def gradients(model: CausalModel) -> dict[str, Tensor]:
    """Copies of the gradients."""
    return {
        name: one.grad.clone() for name, one in model.parameters.items() if one.grad is not None
    }


def by_hand(model: CausalModel, samples: Tensor) -> tuple[float, dict[str, Tensor]]:
    """Mean loss of the targets and its gradients, as torch computes them in one piece."""
    for one in model.parameters.values():
        one.grad = None
    inputs = torch.where(samples < 0, ~samples, samples)
    targets = samples[:, 1:].masked_fill(samples[:, 1:] < 0, IGNORED)
    logits = model.logits(inputs[:, :-1]).flatten(0, 1)
    loss = functional.cross_entropy(logits, targets.flatten(), ignore_index=IGNORED)
    loss.backward()  # type: ignore[no-untyped-call]  # torch leaves it untyped
    return float(loss.detach()), gradients(model)


def equal(found: dict[str, Tensor], due: dict[str, Tensor]) -> None:
    for name, one in due.items():
        torch.testing.assert_close(found[name], one, atol=1e-6, rtol=1e-4, msg=name)


@pytest.mark.parametrize("logits", [token_loss.MOST_LOGITS, 5 * 256])
def test_the_gradient_is_that_of_the_mean_over_all_targets_however_samples_are_split(
    run: SmallRun, logits: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(token_loss, "MOST_LOGITS", logits)
    model, samples = network(run), training(run).samples(range(4))
    samples[0] = torch.where(samples[0] < 0, samples[0], ~samples[0])  # one without a target
    samples[1, 20:] = samples[0, 20:]
    counts = (samples[:, 1:] >= 0).sum(1).tolist()
    assert min(counts) == 0
    assert len(set(counts)) > 2, "a mean of means would differ"
    loss, due = by_hand(model, samples)
    for size in (8, 3, 1):
        batch = BatchSize(SEQUENCE, CPU)
        batch.samples = size
        found = inner.compute_gradients(model, samples, batch, lambda: None)
        assert found == pytest.approx(loss, rel=1e-5)
        equal(gradients(model), due)


def test_samples_without_a_target_move_nothing(run: SmallRun) -> None:
    model, samples = network(run), training(run).samples([0])
    before = {name: one.detach().clone() for name, one in model.parameters.items()}
    samples = torch.where(samples < 0, samples, ~samples)
    loss = inner.compute_gradients(model, samples, BatchSize(SEQUENCE, CPU), lambda: None)
    assert loss == 0
    assert all(not one.any() for one in gradients(model).values())
    inner.Optimiser(model, run.manifest.inner).step()
    assert all(torch.equal(one, before[name]) for name, one in model.parameters.items())


def test_the_gradient_of_a_round_is_that_of_all_its_targets(run: SmallRun) -> None:
    model, data = network(run), training(run)
    loss, due = by_hand(model, data.samples(range(6)))
    batch = BatchSize(SEQUENCE, CPU)
    batch.samples = 4
    watch = UninterruptedControl()
    done = inner.accumulate(model, data, range(6), run.manifest.inner, batch, watch)
    assert done.loss_last == pytest.approx(loss, rel=1e-5)
    assert done.tokens == 12 * SEQUENCE > done.targets > 0
    norm = torch.stack([one.norm() for one in due.values()]).norm()
    equal(gradients(model), {name: one / norm.clamp(min=1) for name, one in due.items()})


def told_and_said(model: CausalModel, documents: Iterable[HeldOutDocument]) -> tuple[float, float]:
    """Mean losses of the words that the assistant is told, and of those that it says."""
    losses: dict[bool, list[float]] = {False: [], True: []}
    for one in documents:
        ids = torch.from_numpy(np.where(one.tokens < 0, ~one.tokens, one.tokens))
        found = TokenLoss(model, CPU).losses(ids[None, :-1], ids[None, 1:])[0].tolist()
        for loss, token in zip(found, one.tokens[1:].tolist(), strict=True):
            losses[token >= 0].append(loss)
    return tuple(sum(some) / len(some) for some in losses.values())  # type: ignore[return-value]  # two


def held_out(run: SmallRun) -> list[HeldOutDocument]:
    (shard,), path = run.corpus.held_out, run.folder / "held-out-00000.tokens"
    size = run.corpus.tokenizer.vocab_size
    return list(held_out_documents(path, shard, run.corpus.token_bytes, size, has_masks=True))


def test_what_the_assistant_says_is_learnt_and_what_it_is_told_is_not(run: SmallRun) -> None:
    model, documents = network(run), held_out(run)
    told, said = told_and_said(model, documents)
    plan = StepPlan.from_ranges([(0, 120)], 60)
    batch, watch = BatchSize(SEQUENCE, CPU), UninterruptedControl()
    done = inner.train(model, training(run), plan, run.manifest.inner, batch, watch)
    assert done.loss_last < done.loss_first / 2
    told_after, said_after = told_and_said(model, documents)
    assert said_after < said / 2
    assert told_after > told - 0.5, "words that were drawn among 40 have 3.7 nats, once learnt"
    assert told > math.log(256) - 0.5


def test_an_audit_of_conversations_finds_the_same_work(run: SmallRun, child: Child) -> None:
    child.send(run.prepare(1))
    child.until(trainer.TrainerReady)
    child.send(run.train(2, "chat"))
    work = child.until(trainer.Trained)
    assert work.tokens == 8 * 2 * SEQUENCE, "points are for the tokens computed"
    child.send(run.audit(3, run.train(1, "chat"), work.header))
    found = child.until(trainer.Audited)
    assert (found.figures.hidden, found.figures.other, found.figures.values) == (0, 0, 0)
    assert exceeded(found.figures, CONVICT) == ()
    assert (found.loss_first, found.loss_last) == (work.loss_first, work.loss_last)


def test_gains_show_on_the_windows_of_the_work(run: SmallRun, child: Child) -> None:
    child.send(run.prepare(10))
    child.until(trainer.TrainerReady)
    task = run.train(11, "gain", windows=((0, 1),))
    child.send(task)
    child.until(trainer.Trained)
    child.send(
        trainer.MeasureGains(
            command=12,
            round=1,
            weights=run.weights,
            k=task.k,
            shards=run.shards,
            slots=(trainer.MeasuredSlot(slot=0, payload=task.payload_out, windows=(0,)),),
            control=(30, 31),
            stop_after_ms=60_000,
        )
    )
    ((_, gained),) = child.until(trainer.GainsMeasured).gains
    assert gained > 0


def test_a_head_is_measured_by_what_is_said(run: SmallRun, child: Child) -> None:
    model, documents = network(run), held_out(run)
    score = evaluate.score_head(
        model,
        documents,
        separator=run.corpus.separator,
        sequence=SEQUENCE,
        device=CPU,
        check=lambda: None,
    )
    assert score.tokens == 3 * len(documents), "a word, w0 and the end of the turn"
    assert score.text_bytes == run.corpus.held_out[0].text_bytes
    _, said = told_and_said(model, documents)
    assert math.log(score.perplexity) == pytest.approx(said, rel=0.1)  # one separator more is read
    child.send(run.prepare(20))
    child.until(trainer.TrainerReady)
    child.send(run.evaluate(21, max_tokens=7))
    part = child.until(trainer.Evaluated)
    assert (part.documents, part.tokens) == (3, 9)


def test_masks_are_ids_beyond_the_vocabulary_of_texts(run: SmallRun) -> None:
    masked = training(run)
    plain = TrainingData(
        order=masked.order,
        sequence=masked.sequence,
        window_samples=masked.window_samples,
        vocab_size=masked.vocab_size,
        shards=masked.shards,
    )
    with pytest.raises(UserFacingError, match="but the vocabulary ends at 45"):
        plain.samples([0])
    assert json.loads((run.folder / "corpus.json").read_bytes())["chat"]["turn_end"] == 2
