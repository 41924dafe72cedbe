"""Audits of the last rounds of a run, where learning rates fall and the error feedback is older.

Feedback from rounds of larger rates is long beside an update of small ones: its rounding must not
hide so much of honest work that an auditor takes it for work that was not done.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import msgspec
import numpy as np
import torch

from tequio_client.dataset.sources import folder_files
from tequio_client.trainer import audit
from tequio_client.trainer.audit import AuditedModel, OpenedLeaves
from tequio_shared.head.layout import CHUNK
from tequio_shared.round.manifest import InnerParams, Manifest
from tests.client.trainer.small_run import texts
from tests.support.audit_limits import WARN, exceeded
from tests.support.tiny_run import tiny_manifest
from tests.support.training_lab import Recipe, TrainingLab

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    from tequio_client.ipc.trainer import MeasuredFigures

ROUNDS = 40
"""All of them with rates that fall."""
CONFIG = {
    "model_type": "llama",
    "vocab_size": 256,
    "hidden_size": 64,
    "intermediate_size": 64,
    "num_hidden_layers": 1,
    "num_attention_heads": 2,
    "num_key_value_heads": 2,
    "tie_word_embeddings": False,
}


def test_honest_work_of_an_annealed_run_is_never_taken_for_not_done(tmp_path: Path) -> None:
    torch.set_num_threads(1)
    usual = Recipe(config=CONFIG, sequence=32, steps=20, windows=20, k=16)
    source = folder_files(texts(tmp_path / "texts", 200), "*.txt")
    lab = TrainingLab(tmp_path / "lab", usual, source)
    rules = msgspec.structs.replace(
        tiny_manifest(most=ROUNDS), inner=InnerParams(anneal_rounds=ROUNDS)
    )
    feedback = None
    while lab.round < ROUNDS:
        lab.recipe = _recipe(usual, rules, lab.round)
        first = lab.windows_of(0, 1)
        made = lab.made(0, first, lab.delta(first), feedback)
        feedback = made.encoded.feedback
        lab.advance([made])
    lab.recipe = _recipe(usual, rules, ROUNDS)
    assert feedback is not None
    for steps in (None, 10, 1):
        assert exceeded(_figures(lab, feedback, steps), WARN) == (), steps


def _recipe(usual: Recipe, rules: Manifest, number: int) -> Recipe:
    rate = rules.inner_at(number).lr_e9 / rules.inner.lr_e9
    return replace(usual, lr=usual.lr * rate, adam_lr=usual.adam_lr * rate)


def _figures(lab: TrainingLab, before: NDArray[np.uint16], steps: int | None) -> MeasuredFigures:
    """An auditor's figures of honest work that ends after `steps`, or at the end of its share."""
    first = lab.windows_of(0, 1)
    made = lab.made(0, first, lab.delta(first, steps=steps), before)
    assert made.encoded.feedback is not None
    leaves = OpenedLeaves(
        chunks=np.arange(lab.layout.chunks),
        before=None if made.encoded.starts_over else before.reshape(-1, CHUNK),
        after=made.encoded.feedback.reshape(-1, CHUNK),
    )
    model = AuditedModel(layout=lab.layout, hidden=lab.model.hidden, algorithm=lab.recipe.encoder)
    payload = np.frombuffer(made.encoded.payload, np.uint8)
    return audit.measure(model, made.delta, payload, leaves)
