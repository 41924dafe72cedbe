"""Audits: a repetition of the training finds every cheat, and blames no honest trainer."""

from __future__ import annotations

import hashlib
import itertools
import json
import re
import subprocess
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest
import torch

from tequio_client.dataset.sources import folder_files
from tequio_client.ipc import trainer
from tequio_client.ipc.trainer import MeasuredFigures
from tequio_client.trainer import audit, codecs
from tequio_client.trainer import batch as batches
from tequio_client.trainer.audit import AuditedModel, OpenedLeaves
from tequio_client.trainer.inner import StepPlan
from tequio_shared.errors import UserFacingError
from tequio_shared.head.contribution import (
    HEADER_BYTES,
    SCALES,
    ContributionHeader,
    decode_records,
)
from tequio_shared.head.layout import CHUNK
from tequio_shared.ids import from_text, to_text
from tequio_shared.limits import MOST_DIFFERENCE
from tequio_shared.round.manifest import Algorithm, InnerParams
from tests.client.trainer.small_run import AUDIT_SEED as SEED
from tests.client.trainer.small_run import small_run, texts
from tests.support import trainer_attacks
from tests.support.audit_limits import CONVICT, WARN, exceeded
from tests.support.trainer_attacks import ATTACKS, Situation
from tests.support.training_lab import BF16, Recipe, TrainedContribution, TrainingLab

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from tequio_client.trainer.codecs import EncodedContribution
    from tests.client.trainer.conftest import Child
    from tests.client.trainer.small_run import SmallRun

    Floats = NDArray[np.float32]
    Bits = NDArray[np.uint16]

TRAINERS, SLOT = 3, 2
NUMBERS = itertools.count(100, 10)
"""Of commands, which must rise."""
CONFIG = {
    "model_type": "llama",
    "vocab_size": 256,
    "hidden_size": 64,
    "intermediate_size": 128,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "num_key_value_heads": 2,
    "tie_word_embeddings": False,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Situated:
    """A round in which all have error feedback already; SLOT is audited."""

    lab: TrainingLab
    made: list[TrainedContribution]
    before: Bits
    others_last: bytes

    @property
    def mine(self) -> TrainedContribution:
        """The audited trainer's honest work."""
        return self.made[SLOT]

    @property
    def chunks(self) -> NDArray[np.int64]:
        """Every second chunk, and the last one, which holds the vectors and padding."""
        chunks = self.lab.layout.chunks
        return np.union1d(np.arange(0, chunks, 2), [chunks - 1])

    def figures(
        self,
        encoded: EncodedContribution,
        repeated: Floats | None = None,
        *,
        before: Bits | None = None,
        after: Bits | None = None,
        chunks: NDArray[np.int64] | None = None,
    ) -> MeasuredFigures:
        """An auditor's figures, from the honest pseudo-gradient or another one."""
        sample = self.chunks if chunks is None else chunks
        start = self.before if before is None else before
        end = encoded.feedback if after is None else after
        assert end is not None
        leaves = OpenedLeaves(
            chunks=sample,
            before=start.reshape(-1, CHUNK)[sample],
            after=end.reshape(-1, CHUNK)[sample],
        )
        delta = self.mine.delta if repeated is None else repeated
        payload = np.frombuffer(encoded.payload, np.uint8)
        return audit.measure(self.model, delta, payload, leaves)

    @property
    def model(self) -> AuditedModel:
        """The model as an auditor has it."""
        recipe = self.lab.recipe
        rules = Algorithm(k=recipe.k, bits=recipe.bits)  # type: ignore[arg-type]
        algorithm = codecs.outer_algorithm(rules, recipe.k, recipe.feedback)
        return AuditedModel(
            layout=self.lab.layout, hidden=self.lab.model.hidden, algorithm=algorithm
        )

    def encode(self, delta: Floats) -> EncodedContribution:
        """The contribution of a trainer that claims this pseudo-gradient."""
        return self.lab.encode(delta, self.before)

    def explained(self, payload: bytes, delta: Floats) -> EncodedContribution:
        """Other bytes, with a feedback that explains them by this pseudo-gradient."""
        recipe, total = self.lab.recipe, floats(self.before) * np.float32(0.95) + delta
        sent = np.zeros((self.lab.layout.chunks, CHUNK), np.float32)
        found = decode_records(payload, recipe.shape)
        levels = found.levels * (SCALES[found.scales] * 2.0**-32)[:, None]
        np.put_along_axis(sent, found.indices.astype(np.int64), levels.astype(np.float32), 1)
        after = bits(total - sent.reshape(-1))
        return replace(self.mine.encoded, payload=payload, feedback=after)

    @property
    def situation(self) -> Situation:
        """Payloads that a cheat can get."""
        return Situation(
            shape=self.lab.recipe.shape,
            payload=self.mine.encoded.payload,
            last=self.others_last,
            foreign=self.made[0].encoded.payload,
            foreign_last=self.others_last,
        )


def floats(values: Bits) -> Floats:
    return (values.astype(np.uint32) << 16).view(np.float32)


def bits(values: Floats) -> Bits:
    return torch.from_numpy(values).bfloat16().view(torch.uint16).numpy()


@pytest.fixture(scope="module")
def now(tmp_path_factory: pytest.TempPathFactory) -> Situated:
    torch.set_num_threads(1)
    folder = tmp_path_factory.mktemp("audited")
    recipe = Recipe(config=CONFIG, sequence=32, steps=10, windows=40, k=64)
    lab = TrainingLab(folder / "lab", recipe, folder_files(texts(folder / "texts", 200), "*.txt"))
    first = [_made(lab, slot, None) for slot in range(TRAINERS)]
    lab.advance(first)
    made = [_made(lab, slot, first[slot].encoded.feedback) for slot in range(TRAINERS)]
    before = first[SLOT].encoded.feedback
    assert before is not None
    return Situated(lab=lab, made=made, before=before, others_last=first[0].encoded.payload)


def _made(lab: TrainingLab, slot: int, feedback: Bits | None) -> TrainedContribution:
    first = lab.windows_of(slot, TRAINERS)
    return lab.made(slot, first, lab.delta(first), feedback)


# --- honest trainers -----------------------------------------------------------------------------


def test_the_same_training_is_equal_to_the_last_bit(now: Situated) -> None:
    found = now.figures(now.mine.encoded)
    assert (found.hidden, found.other, found.values) == (0, 0, 0)
    assert (found.positions, found.signs) == (10_000, 10_000)


def test_another_split_of_the_batches_changes_less_than_a_thousandth(
    now: Situated, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(batches._BATCH_TOKENS, "cpu", now.lab.recipe.sequence)  # noqa: SLF001 - one sample at a time
    split, _ = now.lab.delta(now.mine.first)
    assert not np.array_equal(split, now.mine.delta), "the split had no effect"
    found = now.figures(now.mine.encoded, split)
    assert found.hidden is not None
    assert found.other is not None
    assert max(found.hidden, found.other) < 10


def test_a_trainer_in_bfloat16_is_neither_suspected_nor_convicted(now: Situated) -> None:
    coarse, _ = now.lab.delta(now.mine.first, device=BF16)
    found = now.figures(now.encode(coarse))
    assert found.hidden
    assert exceeded(found, WARN) == ()


def test_a_chunk_that_hardly_moved_convicts_nobody(now: Situated) -> None:
    # Embeddings of rare tokens: all that two devices compute there is their own rounding.
    is_hidden = audit.hidden_chunks(now.lab.layout, now.lab.model.hidden)
    still = np.flatnonzero(~is_hidden)[:1]
    place = slice(int(still[0]) * CHUNK, int(still[0] + 1) * CHUNK)
    mine, repeated = now.mine.delta.copy(), now.mine.delta.copy()
    chance = np.random.default_rng(1)
    for delta in (mine, repeated):
        delta[place] = chance.normal(0, 1e-2 * delta.std(), CHUNK)
    found = now.figures(now.encode(mine), repeated, chunks=still)
    assert found.hidden is None
    assert found.other
    assert exceeded(found, WARN) == ()


def test_a_newcomer_has_no_leaves_from_before(now: Situated) -> None:
    encoded = now.lab.encode(now.mine.delta, None)
    zeros = np.zeros(now.lab.layout.elements, np.uint16)
    found = now.figures(encoded, before=zeros)
    leaves = OpenedLeaves(
        chunks=now.chunks,
        before=None,
        after=encoded.feedback.reshape(-1, CHUNK)[now.chunks],  # type: ignore[union-attr]  # sparseloco keeps it
    )
    payload = np.frombuffer(encoded.payload, np.uint8)
    assert audit.measure(now.model, now.mine.delta, payload, leaves) == found
    assert exceeded(found, WARN) == ()


def test_a_header_of_fewer_steps_is_repeated_as_it_was_trained(now: Situated) -> None:
    whole = StepPlan.from_ranges([(3, 30), (90, 10)], 10)
    header = ContributionHeader.parse(now.lab.header(now.mine))
    early = replace(header, inner_steps=8, window_count=whole.windows_done(8))
    plan = audit.repeated_plan(early, [(3, 30), (90, 10)])
    assert [plan.at(step) for step in range(8)] == [whole.at(step) for step in range(8)]
    assert plan.windows[-2:] == (90, 91)


# --- cheats --------------------------------------------------------------------------------------


def _heads(now: Situated) -> EncodedContribution:
    others = [one.encoded.payload for one in now.made[:SLOT]]
    sent = np.mean([floats(bits(now.made[at].delta)) for at in range(len(others))], axis=0)
    return now.encode(sent.astype(np.float32))


CHEATS: dict[str, Callable[[Situated], EncodedContribution]] = {
    "the others' mean": _heads,
    "nothing": lambda now: now.encode(np.zeros_like(now.mine.delta)),
    "half of the steps": lambda now: now.encode(now.lab.delta(now.mine.first, steps=5)[0]),
    "half of the steps, scaled": lambda now: now.encode(
        2 * now.lab.delta(now.mine.first, steps=5)[0]
    ),
    "one step, scaled": lambda now: now.encode(10 * now.lab.delta(now.mine.first, steps=1)[0]),
    "other windows": lambda now: now.encode(now.made[0].delta),
    "a copy": lambda now: now.explained(
        trainer_attacks.copy(0.6)(now.situation), np.zeros_like(now.mine.delta)
    ),
    "a replay": lambda now: now.explained(now.others_last, np.zeros_like(now.mine.delta)),
}


@pytest.mark.parametrize("cheat", CHEATS)
def test_work_that_was_not_done_is_missing_from_the_claim(now: Situated, cheat: str) -> None:
    assert "hidden" in exceeded(now.figures(CHEATS[cheat](now)), CONVICT)


@pytest.mark.parametrize(
    "attack", ["sign_flip", "sign_flip_3", "scale_2", "scale_3", "scale_10", "noise", "zeros"]
)
def test_an_update_that_a_forged_feedback_explains_is_not_its_encoding(
    now: Situated, attack: str
) -> None:
    forged = now.explained(ATTACKS[attack](now.situation), now.mine.delta)
    found = now.figures(forged)
    assert found.hidden is not None
    assert found.hidden < CONVICT["hidden"], "the feedback does not explain it"
    assert "leaves" in exceeded(found, CONVICT)


def test_a_feedback_that_rounds_the_missing_work_away_is_found(now: Situated) -> None:
    # Multiples of 20 are bfloat16 numbers, and still are when they decay by 0.95.
    chance, size = np.random.default_rng(1), now.mine.delta.size
    numbers = chance.integers(7, 13, size) * 20 * chance.choice([-1, 1], size)
    unit = 2.0 ** np.ceil(np.log2(8 * np.abs(now.mine.delta).max()))
    before = bits((numbers * unit).astype(np.float32))
    idle = now.lab.encode(np.zeros_like(now.mine.delta), before)
    found = now.figures(idle, before=before)
    assert found.hidden is not None
    assert found.hidden < CONVICT["hidden"], "nothing was hidden"
    assert "rounding" in exceeded(found, CONVICT)


def test_a_single_tampered_leaf_is_found(now: Situated) -> None:
    after = now.mine.encoded.feedback
    assert after is not None
    tampered = after.copy()
    place = slice(int(now.chunks[3]) * CHUNK, int(now.chunks[3] + 1) * CHUNK)
    size = np.float32(2 * np.abs(now.mine.delta[place]).max())
    tampered[place] = bits(floats(tampered[place]) + size)
    found = now.figures(now.mine.encoded, after=tampered)
    assert set(exceeded(found, CONVICT)) & {"hidden", "other"}


@pytest.mark.parametrize("value", [0x7FC0, 0x7F80, 0x7F7F], ids=["nan", "infinite", "largest"])
def test_impossible_leaves_convict(now: Situated, value: int) -> None:
    after = now.mine.encoded.feedback
    assert after is not None
    broken = after.copy()
    broken[int(now.chunks[0]) * CHUNK] = value
    found = now.figures(now.mine.encoded, after=broken)
    assert (found.hidden, found.other) == (MOST_DIFFERENCE, MOST_DIFFERENCE)


def test_withheld_leaves_leave_a_cosine(now: Situated) -> None:
    leaves = OpenedLeaves(chunks=now.chunks, before=None, after=None)
    payload = np.frombuffer(now.mine.encoded.payload, np.uint8)
    found = audit.measure(now.model, now.mine.delta, payload, leaves)
    assert found.cosine is not None
    assert found == MeasuredFigures(cosine=found.cosine)
    assert found.cosine > 5_000


def test_dense_contributions_are_compared_without_leaves(now: Situated) -> None:
    algorithm = codecs.outer_algorithm(Algorithm(name="diloco", k=4096, bits=8), 4096, 0.0)
    model = replace(now.model, algorithm=algorithm)
    leaves = OpenedLeaves(chunks=now.chunks, before=None, after=None)
    for delta, is_honest in ((now.mine.delta, True), (now.made[0].delta, False)):
        sent = codecs.encode(algorithm, now.lab.layout, delta, None).payload
        found = audit.measure(model, now.mine.delta, np.frombuffer(sent, np.uint8), leaves)
        assert (found.hidden == 0) is is_honest
        assert ("hidden" in exceeded(found, CONVICT)) is not is_honest


def test_chunks_belong_to_hidden_matrices_or_to_none(now: Situated) -> None:
    layout = now.lab.layout
    named = {
        one.name: np.full(one.shape, one.name in now.lab.model.hidden) for one in layout.placements
    }
    each = layout.flatten({name: one.astype(np.int8) for name, one in named.items()})
    expected = each.reshape(-1, CHUNK).any(axis=1)
    assert np.array_equal(audit.hidden_chunks(layout, now.lab.model.hidden), expected)
    assert 0 < expected.sum() < layout.chunks


# --- sketches ------------------------------------------------------------------------------------


def _made_up() -> Floats:
    return np.random.default_rng(5).normal(0, 1e-3, 40 * CHUNK).astype(np.float32)


def test_a_sketch_is_the_same_in_another_process_with_other_threads() -> None:
    program = (
        "import json, sys, numpy as np; from tequio_client.trainer import audit;"
        "made = np.random.default_rng(5).normal(0, 1e-3, 40 * 4096).astype(np.float32);"
        "print(json.dumps(audit.sketch(made, bytes(range(32)))))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    assert json.loads(done.stdout) == list(audit.sketch(_made_up(), SEED))


def test_the_signs_of_a_sketch_never_change() -> None:
    one = np.zeros(2 * CHUNK, np.float32)
    one[CHUNK + 7] = 1.0
    raw = hashlib.shake_256(b"tequio/v1/audit-sketch\0" + SEED).digest((CHUNK + 2) * 8)
    within, across = (int.from_bytes(raw[at * 8 : at * 8 + 8], "little") for at in (7, CHUNK + 1))
    expected = [1 - 2 * ((within ^ across) >> bit & 1) for bit in range(64)]
    assert audit.sketch(one, SEED) == tuple(4_096 * sign for sign in expected)
    assert hashlib.sha256(raw).hexdigest().startswith("827500bfd31af646")


def test_sketches_of_honest_auditors_agree_and_a_lazy_ones_does_not(now: Situated) -> None:
    coarse, _ = now.lab.delta(now.mine.first, device=BF16)
    own = audit.sketch(now.mine.delta, SEED)
    assert audit.sketch_cosine(own, audit.sketch(coarse, SEED)) > 9_900
    lazy = {
        "zeros": np.zeros_like(coarse),
        "another's work": now.made[0].delta,
        "the payload": floats(bits(_sent(now))),
    }
    for name, guess in lazy.items():
        assert audit.sketch_cosine(own, audit.sketch(guess, SEED)) < 9_000, name
    assert audit.sketch_cosine(own, audit.sketch(now.mine.delta, bytes(32))) < 9_000


def _sent(now: Situated) -> Floats:
    nothing = np.zeros_like(now.mine.delta)
    kept = floats(now.explained(now.mine.encoded.payload, nothing).feedback)  # type: ignore[arg-type]  # it has one
    return floats(now.before) * np.float32(0.95) - kept


# --- the trainer process -------------------------------------------------------------------------


def _trained(child: Child, run: SmallRun, command: int, name: str) -> trainer.Trained:
    child.send(run.prepare(command))
    child.until(trainer.TrainerReady)
    child.send(run.train(command + 1, name))
    return child.until(trainer.Trained)


def test_a_trainer_process_repeats_anothers_training(run: SmallRun, child: Child) -> None:
    work = _trained(child, run, 1, "audited")
    task = run.audit(3, run.train(1, "audited"), work.header)
    child.send(task)
    child.send(trainer.Finish(command=3))  # for training only: an audit cut short would convict
    found = child.until(trainer.Audited)
    assert found.contribution == work.contribution
    assert (found.figures.hidden, found.figures.other, found.figures.values) == (0, 0, 0)
    assert (found.loss_first, found.loss_last) == (work.loss_first, work.loss_last)
    delta = np.fromfile(task.delta_out, "<f4")
    assert delta.tobytes() == Path(run.train(1, "audited").delta_out).read_bytes()
    assert found.sketch == audit.sketch(delta, SEED)


def test_work_that_ended_early_is_repeated_as_far_as_its_header_says(
    run: SmallRun, child: Child
) -> None:
    child.send(run.prepare(10))
    child.until(trainer.TrainerReady)
    child.send(run.train(11, "early", stop_after_ms=1))
    work = child.until(trainer.Trained)
    assert work.steps < run.manifest.inner.steps
    child.send(run.audit(12, run.train(1, "early"), work.header))
    found = child.until(trainer.Audited)
    assert (found.figures.hidden, found.figures.values) == (0, 0)
    header = ContributionHeader.parse(from_text(work.header, HEADER_BYTES))
    lie = replace(header, inner_steps=4, window_count=8, tokens=8 * run.manifest.windows.tokens)
    child.send(run.audit(13, run.train(1, "early"), to_text(lie.pack())))
    assert "hidden" in exceeded(child.until(trainer.Audited).figures, CONVICT)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"chunks": (1, 0)}, "the sampled chunks must ascend"),
        ({"chunks": (0, 10**6)}, "be below"),
        ({"chunks": (0,)}, "cannot use the opened feedback after sending: .* elements instead of"),
        ({"feedback_in": "missing"}, "cannot use the opened feedback before sending: .*No such"),
        ({"k": 64}, r"the contribution of slot 0 is not valid \(length\)"),
        ({"seed": "A" * 42 + "_"}, "not the one base64url spelling"),
    ],
)
def test_bad_input_gives_a_clear_error(
    run: SmallRun, child: Child, changes: dict[str, object], message: str
) -> None:
    command = next(NUMBERS)
    work = _trained(child, run, command, "refused")
    child.send(run.audit(command + 2, run.train(1, "refused"), work.header, **changes))
    while not isinstance(report := child.next(), trainer.Failed):
        pass
    assert report.code == "input"
    assert not report.fatal
    assert re.search(message, report.reason), report.reason


def test_an_empty_sample_or_too_many_chunks_is_no_command(run: SmallRun) -> None:
    header = to_text(bytes(HEADER_BYTES))
    for name in ("none.feedback", "none.payload"):
        (run.folder / name).write_bytes(b"")
    for chunks in ((), tuple(range(trainer.AUDITED_CHUNKS + 1))):
        task = run.audit(1, run.train(1, "none"), header, chunks=chunks)
        with pytest.raises(Exception, match="chunks"):
            trainer.decode_command(trainer.encode(task))


def test_a_sample_below_zero_is_refused(now: Situated) -> None:
    with pytest.raises(UserFacingError, match="must ascend"):
        OpenedLeaves.read([-1, 2], now.lab.layout, None, None)


def test_training_and_audit_use_the_rates_of_the_round(
    run: SmallRun, child: Child, tmp_path: Path
) -> None:
    _trained(child, run, next(NUMBERS), "whole rates")
    gentle = small_run(tmp_path / "gentle", inner=InnerParams(steps=4, warmup_rounds=50))
    command = next(NUMBERS)
    work = _trained(child, gentle, command, "first round")
    sizes = [
        float(np.linalg.norm(np.fromfile(one.train(1, name).delta_out, "<f4")))
        for one, name in ((run, "whole rates"), (gentle, "first round"))
    ]
    assert sizes[1] < sizes[0] / 50, "the rates of round 1 are a hundredth"
    child.send(gentle.audit(command + 2, gentle.train(1, "first round"), work.header))
    found = child.until(trainer.Audited)
    assert (found.figures.hidden, found.figures.other) == (0, 0)


def test_training_and_audit_use_the_z_loss_and_the_momentum_of_the_run(
    run: SmallRun, child: Child, tmp_path: Path
) -> None:
    rules = InnerParams(steps=4, z_loss_e9=100_000_000, momentum_e3=500)
    other = small_run(tmp_path / "other", inner=rules)
    _trained(child, run, next(NUMBERS), "usual rules")
    work = _trained(child, other, next(NUMBERS), "other rules")
    usual, moved = (
        np.fromfile(one.train(1, name).delta_out, "<f4")
        for one, name in ((run, "usual rules"), (other, "other rules"))
    )
    assert not np.allclose(usual, moved), "the rules had no effect"
    child.send(other.audit(next(NUMBERS), other.train(1, "other rules"), work.header))
    found = child.until(trainer.Audited)
    assert (found.figures.hidden, found.figures.other) == (0, 0)
