"""Distro through the whole trainer: it learns, and is screened, measured and audited."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import numpy as np
import pytest
import torch

from tequio_client.dataset.sources import folder_files
from tequio_client.ipc import trainer
from tequio_client.trainer import audit, codecs, head, screen
from tequio_client.trainer.audit import AuditedModel, OpenedLeaves
from tequio_client.trainer.device import AcceleratorEngine
from tequio_client.trainer.engines import ReferenceEngine
from tequio_client.trainer.head import HeadFiles
from tequio_shared.head import head as heads
from tequio_shared.head.contribution import (
    HEADER_BYTES,
    ContributionHeader,
    Records,
    decode_records,
    encode_records,
    payload_root,
)
from tequio_shared.head.head import OuterStep
from tequio_shared.head.layout import CHUNK
from tequio_shared.ids import from_text, to_text
from tequio_shared.round.manifest import InnerParams
from tests.client.trainer.conftest import Child
from tests.client.trainer.small_run import DISTRO, SmallRun, small_run, texts
from tests.support import trainer_attacks
from tests.support.audit_limits import CONVICT, WARN, exceeded
from tests.support.trainer_attacks import Situation
from tests.support.training_lab import (
    BF16,
    RUN,
    Recipe,
    TrainedContribution,
    TrainingLab,
    reversed_samples,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from tequio_client.ipc.trainer import MeasuredFigures, ScreeningVerdict
    from tequio_client.trainer.codecs import EncodedContribution

    Floats = NDArray[np.float32]
    Bits = NDArray[np.uint16]

TRAINERS, ROUNDS = 4, 40
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
RECIPE = Recipe(
    config=CONFIG,
    sequence=32,
    steps=1,
    windows=8,
    k=64,
    bits=1,
    outer_lr=0.002,
    feedback=0.999,
    algorithm="distro",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainedRound:
    """A round: its head, the feedback of all before it, and their contributions."""

    weights: NDArray[np.int32]
    before: tuple[Bits | None, ...]
    made: tuple[TrainedContribution, ...]
    verdicts: tuple[ScreeningVerdict, ...]
    kept: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainedRounds:
    """A lab after its rounds, the held-out loss before and after, and its rounds."""

    lab: TrainingLab
    losses: tuple[float, float]
    rounds: tuple[TrainedRound, ...]

    @property
    def last(self) -> TrainedRound:
        """The round whose head the lab still has."""
        return self.rounds[-1]


def screened(
    lab: TrainingLab,
    made: tuple[TrainedContribution, ...],
    past: tuple[TrainedContribution, ...] = (),
    own: TrainedContribution | None = None,
) -> tuple[ScreeningVerdict, ...]:
    """The verdicts of a witness that trained as `own`."""
    earlier = [(one.header, one.payload) for one in lab.candidates(past)]
    kept = [(header, path.rename(path.with_suffix(".past"))) for header, path in earlier]
    witness = screen.WitnessContext(
        layout=lab.layout,
        steps=1,
        rng=np.random.default_rng(1),
        past=kept,
        own_delta=own.delta if own else None,
        own_slot=own.slot if own else None,
    )
    return screen.screen(lab.candidates(made), witness)


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> TrainedRounds:
    torch.set_num_threads(1)
    folder = tmp_path_factory.mktemp("distro")
    lab = TrainingLab(folder / "lab", RECIPE, folder_files(texts(folder / "texts", 200), "*.txt"))
    documents = lab.held_out(2_000)
    feedback: list[Bits | None] = [None] * TRAINERS
    rounds, begun = list[TrainedRound](), lab.loss(documents)
    for number in range(ROUNDS + 1):
        before, weights = tuple(feedback), lab.weights.copy()
        firsts = [lab.windows_of(slot, TRAINERS) for slot in range(TRAINERS)]
        made = tuple(
            lab.made(slot, first, lab.delta(first), feedback[slot])
            for slot, first in enumerate(firsts)
        )
        feedback = [one.encoded.feedback for one in made]
        past = rounds[-1].made if rounds else ()
        verdicts = screened(lab, made, past, own=made[0])
        kept = lab.advance(made) if number < ROUNDS else ()
        rounds.append(
            TrainedRound(weights=weights, before=before, made=made, verdicts=verdicts, kept=kept)
        )
    return TrainedRounds(lab=lab, losses=(begun, lab.loss(documents)), rounds=tuple(rounds))


def test_forty_steps_lower_the_loss_by_half(played: TrainedRounds) -> None:
    assert played.losses[1] < played.losses[0] / 2


def test_the_filter_keeps_honest_signs(played: TrainedRounds) -> None:
    assert all(one.kept == tuple(range(TRAINERS)) for one in played.rounds[:-1])


def test_honest_work_passes_the_screen_from_the_first_round_on(played: TrainedRounds) -> None:
    for number, one in enumerate(played.rounds):
        assert [verdict.reason for verdict in one.verdicts] == [""] * TRAINERS, number
        assert all(verdict.norm_ratio == 1 for verdict in one.verdicts)
        assert all((verdict.cosine or 0) > 0.1 for verdict in one.verdicts)


def test_all_engines_make_the_same_head(played: TrainedRounds, tmp_path: Path) -> None:
    lab = played.lab
    step = OuterStep(
        run_id=RUN, round=lab.round, parent=lab.head, layout=lab.layout, params=RECIPE.outer
    )
    pairs = [(lab.header(one), one.encoded.payload) for one in played.last.made]
    wanted = heads.advance(step, lab.weights, None, pairs)
    moved = np.abs(wanted.weights.astype(np.int64) - lab.weights)
    assert set(np.unique(moved)) <= {0, RECIPE.outer.alpha_q}
    lab.weights.tofile(tmp_path / "weights")
    placed = []
    for at, (header, payload) in enumerate(pairs):
        (tmp_path / f"{at}").write_bytes(payload)
        placed.append((header, tmp_path / f"{at}"))
    for engine in (ReferenceEngine(step.params), AcceleratorEngine(step.params, "cpu")):
        files = HeadFiles(weights_in=tmp_path / "weights", weights_out=tmp_path / "out")
        found = head.compute_next_head(
            step=step, contributions=placed, files=files, engine=engine, threads=2
        )
        assert found.head == wanted.hash


# --- screening -----------------------------------------------------------------------------------


def situation(played: TrainedRounds) -> Situation:
    """Payloads that a cheat in the last slot can get."""
    last, before = played.last, played.rounds[-2]
    return Situation(
        shape=RECIPE.shape,
        payload=last.made[-1].encoded.payload,
        last=before.made[-1].encoded.payload,
        foreign=last.made[0].encoded.payload,
        foreign_last=before.made[0].encoded.payload,
    )


@pytest.mark.parametrize(
    ("attack", "reason"),
    [
        ("sign_flip", "cosine"),
        ("zeros", "norm"),
        ("copy", "copy"),
        ("copy_10", "copy"),
        ("replay", "copy"),
    ],
)
def test_witnesses_name_a_cheat_alike(played: TrainedRounds, attack: str, reason: str) -> None:
    lab, last = played.lab, played.last
    payload = trainer_attacks.ATTACKS[attack](situation(played))
    forged = replace(
        last.made[-1].encoded, payload=payload, payload_root=payload_root(payload, RECIPE.shape)
    )
    sent = (*last.made[:-1], replace(last.made[-1], encoded=forged))
    for own in last.made[1:3]:
        found = screened(lab, sent, played.rounds[-2].made, own)
        assert [one.reason for one in found] == ["", "", "", reason]


def test_gradients_that_choose_the_same_coefficients_are_no_copies(played: TrainedRounds) -> None:
    lab, one = played.lab, played.rounds[0].made[0]
    # As with large batches at the beginning of a run: they differ by little.
    chance = np.random.default_rng(1)
    size = 0.02 * np.linalg.norm(one.delta) / np.sqrt(one.delta.size)
    deltas = [one.delta + chance.normal(0, size, one.delta.size).astype(np.float32) for _ in "1234"]
    for delta in deltas:
        lab.layout.padding(0, lab.layout.chunks).blank(delta)
    alike = tuple(
        replace(one, slot=slot, delta=delta, encoded=lab.encode(delta, None))
        for slot, delta in enumerate(deltas)
    )
    found = screened(lab, alike, own=alike[0])
    assert [verdict.reason for verdict in found] == [""] * TRAINERS
    assert found[-1].overlap is not None
    assert found[-1].overlap > screen.MAX_OVERLAP
    copied = (*alike[:-1], replace(alike[-1], encoded=alike[0].encoded))
    assert screened(lab, copied, own=alike[1])[-1].reason == "copy"


# --- audits --------------------------------------------------------------------------------------


def figures(
    played: TrainedRounds,
    encoded: EncodedContribution,
    repeated: Floats | None = None,
    after: Bits | None = None,
) -> MeasuredFigures:
    """Figures of a contribution in the first slot of the last round."""
    lab, last = played.lab, played.last
    before, end = last.before[0], encoded.feedback if after is None else after
    assert before is not None
    assert end is not None
    sample = np.arange(0, lab.layout.chunks, 2)
    sample = np.union1d(sample, [lab.layout.chunks - 1])
    leaves = OpenedLeaves(
        chunks=sample,
        before=before.reshape(-1, CHUNK)[sample],
        after=end.reshape(-1, CHUNK)[sample],
    )
    model = AuditedModel(layout=lab.layout, hidden=lab.model.hidden, algorithm=lab.recipe.encoder)
    delta = last.made[0].delta if repeated is None else repeated
    return audit.measure(model, delta, np.frombuffer(encoded.payload, np.uint8), leaves)


def encoded(played: TrainedRounds, delta: Floats) -> EncodedContribution:
    """The contribution of one who claims this gradient in the first slot."""
    return played.lab.encode(delta, played.last.before[0])


def gradient(played: TrainedRounds, **how: object) -> Floats:
    """The gradient of the first slot in the last round, computed in another way."""
    found, _ = played.lab.delta(played.last.made[0].first, **how)  # type: ignore[arg-type]  # as delta has them
    return found


def test_the_same_gradient_is_equal_to_the_last_bit(played: TrainedRounds) -> None:
    found = figures(played, played.last.made[0].encoded)
    assert (found.hidden, found.other, found.leaves, found.values) == (0, 0, 0, 0)
    assert (found.positions, found.signs) == (10_000, 10_000)
    assert found.cosine
    assert found.cosine > 3_000


def test_another_precision_and_order_differ_far_less_than_half_of_the_windows(
    played: TrainedRounds,
) -> None:
    coarse = gradient(played, device=BF16)
    turned = gradient(played, device=BF16, training=reversed_samples(played.lab.training))
    for mine, theirs in ((coarse, None), (coarse, turned), (played.last.made[0].delta, coarse)):
        found = figures(played, encoded(played, mine), theirs)
        assert found.hidden is not None
        assert found.other is not None
        assert max(found.hidden, found.other) < 500
        assert exceeded(found, WARN) == ()
    half = figures(played, encoded(played, gradient(played, windows=RECIPE.windows // 2)))
    assert half.hidden is not None
    assert half.hidden > 3_000


CHEATS: dict[str, Callable[[TrainedRounds], Floats]] = {
    "half of the windows": lambda now: gradient(now, windows=RECIPE.windows // 2),
    "other windows": lambda now: now.last.made[1].delta,
    "the others' mean": lambda now: np.asarray(
        np.mean([one.delta for one in now.last.made[1:]], axis=0), np.float32
    ),
    "nothing": lambda now: np.zeros_like(now.last.made[0].delta),
    "noise": lambda now: now.lab.layout.flatten(
        {
            one.name: np.random.default_rng(1).normal(0, 1e-3, one.shape).astype(np.float32)
            for one in now.lab.layout.placements
        }
    ),
    "twice as much": lambda now: 2 * now.last.made[0].delta,
    "the gradient of the round before": lambda now: now.rounds[-2].made[0].delta,
}


@pytest.mark.parametrize("cheat", CHEATS)
def test_a_gradient_that_was_not_computed_is_missing_from_the_claim(
    played: TrainedRounds, cheat: str
) -> None:
    found = figures(played, encoded(played, CHEATS[cheat](played)))
    assert "hidden" in exceeded(found, CONVICT)


def _flipped(payload: bytes) -> bytes:
    records = decode_records(payload, RECIPE.shape)
    levels = (-records.levels).astype(np.int8)
    turned = Records(scales=records.scales, indices=records.indices, levels=levels)
    return encode_records(turned, RECIPE.shape)


def test_turned_signs_are_found_though_the_gradient_is_all_there(played: TrainedRounds) -> None:
    honest = played.last.made[0].encoded
    found = figures(played, replace(honest, payload=_flipped(honest.payload)))
    assert found.hidden == 0
    assert exceeded(found, CONVICT) == ("leaves",)


def test_small_coefficients_sent_in_place_of_the_largest_are_found(played: TrainedRounds) -> None:
    total = (
        0.999 * (played.last.before[0].astype(np.uint32) << 16).view(np.float32)  # type: ignore[union-attr]  # not the first round
        + played.last.made[0].delta
    ).astype(np.float32)
    chunks = torch.from_numpy(total).view(-1, CHUNK)
    coefficients = codecs.transform(chunks)
    index = coefficients.abs().topk(4 * RECIPE.k, dim=1).indices[:, 3 * RECIPE.k :].sort(1).values
    is_sent = torch.zeros_like(chunks, dtype=torch.bool).scatter_(1, index, value=True)
    signs = coefficients.gather(1, index).sign().numpy().astype(np.int8)
    payload = encode_records(
        Records(
            scales=np.ones(len(signs), np.uint8),
            indices=index.numpy().astype(np.uint16),
            levels=np.where(signs == 0, 1, signs).astype(np.int8),
        ),
        RECIPE.shape,
    )
    rest = codecs.DisTrO.rest(chunks, coefficients, is_sent)
    lab = played.lab
    lab.layout.padding(0, lab.layout.chunks).blank(rest.numpy().reshape(-1))
    after = rest.bfloat16().view(torch.uint16).numpy().reshape(-1)
    found = figures(played, replace(played.last.made[0].encoded, payload=payload), after=after)
    assert found.hidden is not None
    assert found.hidden < WARN["hidden"]
    assert "leaves" in exceeded(found, CONVICT)


def test_anothers_signs_with_own_leaves_are_found(played: TrainedRounds) -> None:
    copied = replace(played.last.made[0].encoded, payload=played.last.made[1].encoded.payload)
    assert {"hidden", "leaves"} <= set(exceeded(figures(played, copied), CONVICT))


def test_sketches_tell_gradients_apart_that_are_alike_in_one_large_chunk(
    played: TrainedRounds,
) -> None:
    chance = np.random.default_rng(1)
    one, other = chance.normal(0, 1, (2, 40 * CHUNK)).astype(np.float32)
    one[:CHUNK] = other[:CHUNK] = 1_000 * one[:CHUNK]
    assert _sketched(one, other, has_unit_chunks=False) > 9_900
    assert abs(_sketched(one, other, has_unit_chunks=True)) < 5_000
    last = played.last.made[0].delta
    assert _sketched(last, gradient(played, device=BF16), has_unit_chunks=True) > 9_950
    assert _sketched(last, played.last.made[1].delta, has_unit_chunks=True) < 9_000


def _sketched(one: Floats, other: Floats, *, has_unit_chunks: bool) -> int:
    """Cosine of two sketches, in 1/10000."""
    seed = bytes(32)
    found = [audit.sketch(d, seed, has_unit_chunks=has_unit_chunks) for d in (one, other)]
    return audit.sketch_cosine(*found)


# --- the trainer process -------------------------------------------------------------------------


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> SmallRun:
    return small_run(tmp_path_factory.mktemp("run"), inner=InnerParams(steps=1), algorithm=DISTRO)


@pytest.fixture(scope="module")
def child() -> Iterator[Child]:
    one = Child()
    yield one
    one.end()


def _trained(run: SmallRun, child: Child, command: int, **changes: object) -> trainer.Trained:
    child.send(run.prepare(command))
    child.until(trainer.TrainerReady)
    child.send(run.train(command + 1, f"work-{command}", **changes))
    return child.until(trainer.Trained)


def _audit(run: SmallRun, task: trainer.Train, command: int, header: str) -> trainer.Audit:
    every_second = tuple(range(0, run.origin.layout.chunks, 2))
    opened = str(_opened(run, task))
    return run.audit(command, task, header, chunks=every_second, feedback_out=opened)


def _opened(run: SmallRun, task: trainer.Train) -> Path:
    """The leaves of every second chunk, as the trainer opens them."""
    rows = np.fromfile(task.feedback_out, "<u2").reshape(-1, CHUNK)
    path = run.folder / "opened"
    rows[::2].tofile(path)
    return path


def test_a_trainer_process_trains_one_step_and_another_repeats_it(
    run: SmallRun, child: Child
) -> None:
    work = _trained(run, child, 1)
    header = ContributionHeader.parse(from_text(work.header, HEADER_BYTES))
    assert (header.algorithm, header.inner_steps, header.window_count) == (2, 1, 8)
    assert (work.steps, work.windows, work.starts_over) == (1, 8, False)
    assert work.loss_first == work.loss_last
    child.send(_audit(run, run.train(2, "work-1"), 3, work.header))
    found = child.until(trainer.Audited)
    assert (found.figures.hidden, found.figures.other, found.figures.leaves) == (0, 0, 0)
    assert found.loss_first == work.loss_first


def test_a_step_that_ends_early_is_repeated_as_far_as_its_header_says(
    run: SmallRun, child: Child
) -> None:
    windows = ((0, 300),)
    work = _trained(run, child, 11, stop_after_ms=1, windows=windows)
    assert work.steps == 1
    assert 0 < work.windows < 300
    task = run.train(12, "work-11", windows=windows)
    child.send(_audit(run, task, 13, work.header))
    assert child.until(trainer.Audited).figures.hidden == 0


def test_a_trainer_process_advances_and_measures_gains(run: SmallRun, child: Child) -> None:
    work = _trained(run, child, 21, windows=((0, 1),))
    task = run.train(22, "work-21")
    child.send(
        trainer.MeasureGains(
            command=23,
            round=1,
            weights=run.weights,
            k=task.k,
            shards=run.shards,
            slots=(
                trainer.MeasuredSlot(slot=0, payload=task.payload_out, windows=(0,)),
                trainer.MeasuredSlot(slot=1, payload=task.payload_out, windows=(20, 21)),
            ),
            control=(300, 301),
            stop_after_ms=60_000,
        )
    )
    (_, own), (_, other) = child.until(trainer.GainsMeasured).gains
    assert own > 1_000
    assert abs(other) < own // 2
    child.send(
        trainer.Advance(
            command=24,
            round=1,
            run=run.run,
            parent=run.head,
            weights=run.weights,
            weights_out=str(run.folder / "next"),
            k=task.k,
            contributions=(trainer.Contribution(header=work.header, payload=task.payload_out),),
        )
    )
    assert child.until(trainer.AdvanceReport).aux_root == to_text(bytes(32))
    moved = np.fromfile(run.folder / "next", "<i4").astype(np.int64) - run.origin.master
    assert set(np.unique(np.abs(moved))) == {0, 1 << 15}


def test_a_manifest_of_several_steps_is_refused_by_the_trainer(
    run: SmallRun, child: Child, tmp_path: Path
) -> None:
    many = msgspec.structs.replace(
        run.manifest,
        inner=msgspec.structs.replace(run.manifest.inner, steps=4),
        algorithm=msgspec.structs.replace(DISTRO, max_inner_steps=4),
    )
    (tmp_path / "manifest.json").write_bytes(many.encode())
    child.send(run.prepare(31, manifest=str(tmp_path / "manifest.json")))
    while not isinstance(report := child.next(), trainer.Failed):
        pass
    assert "inner.steps must be 1 for distro" in report.reason
