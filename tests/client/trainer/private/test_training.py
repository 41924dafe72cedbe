"""A round of local training, in this process: losses, deltas, traces, and what is refused."""

from __future__ import annotations

import json
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from tequio_client.ipc.private import InnerSteps, LocalTrained
from tequio_client.trainer.prepared import ModelError
from tequio_client.trainer.private import accountant, noise
from tequio_client.trainer.private.accountant import BudgetSpentError
from tequio_client.trainer.private.texts import PrivateTexts, read_texts
from tequio_client.trainer.private.training import (
    MOST_MOVE,
    LocalTrainer,
    WeightsNotFiniteError,
)
from tequio_shared.errors import UserFacingError
from tests.client.trainer.private.private_member import PrivateMember, rules
from tests.support import chats

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def member(tmp_path: Path) -> PrivateMember:
    return PrivateMember.create(tmp_path)


def _train(member: PrivateMember, command: int, **changes: Any) -> LocalTrained:  # noqa: ANN401 - any field
    return LocalTrainer(lambda *_: None).train(member.request(command, **changes))


def _rounds(member: PrivateMember, **changes: Any) -> list[float]:  # noqa: ANN401 - any field
    losses = []
    for command in (1, 2, 3):
        losses.append(_train(member, command, steps=20, seed=command, **changes).loss_first or 0.0)
        member.advance(command)
    return losses


def test_loss_falls_from_round_to_round(member: PrivateMember) -> None:
    first, *_, last = _rounds(member)
    assert 5 < first < 6  # nats of a byte that is one of 256
    assert last < first - 1


def test_loss_falls_with_differential_privacy(member: PrivateMember) -> None:
    first, *_, last = _rounds(member, privacy=rules(noise=0.5))
    assert last < first - 0.5


def test_a_report_has_what_was_trained_and_the_change_fits_the_head(member: PrivateMember) -> None:
    steps: list[tuple[int, int]] = []
    request = member.request(3, seed=1)
    report = LocalTrainer(lambda *done: steps.append(done)).train(request)
    delta = member.delta(3)
    assert delta.shape == (member.elements,)
    assert 0 < abs(delta).max() <= MOST_MOVE
    assert (report.command, report.round, report.samples) == (3, 3, 32)
    assert report.tokens == 32 * 32
    assert (report.epsilon, report.delta) == (None, None)
    assert report.dataset > 32
    assert steps == [(1, 4), (2, 4), (3, 4), (4, 4)]
    assert not list(member.folder.rglob("*.part"))


def test_with_privacy_the_report_has_epsilon_and_no_private_count(member: PrivateMember) -> None:
    reports = [_train(member, command, privacy=rules()) for command in (1, 2)]
    assert [one.samples for one in reports] == [32, 32]
    assert [one.tokens for one in reports] == [32 * 32] * 2
    assert reports[0].dataset == 64
    entries = accountant.read_record(member.folder / "state").entries
    assert [(one.sample_rate, one.steps) for one in entries] == [(8 / 64, 8)]
    assert reports[1].epsilon == accountant.epsilon(entries, 1e-5)
    assert (reports[0].epsilon or 0) < (reports[1].epsilon or 0)


def test_a_seed_repeats_a_round_and_the_system_does_not(member: PrivateMember) -> None:
    for command, seed in ((1, 9), (2, 9), (3, 0), (4, 0)):
        _train(member, command, seed=seed, privacy=rules())
    assert np.array_equal(member.delta(1), member.delta(2))
    assert not np.array_equal(member.delta(3), member.delta(4))


def test_a_document_that_no_step_draws_leaves_no_trace(member: PrivateMember) -> None:
    # Where it stands among the documents decides which random number is its own: the last one.
    last = member.folder / "texts" / "zzzz.txt"
    drawn = set()
    for command, text in ((1, "one secret"), (2, "quite another secret"), (3, "x" * 300)):
        last.write_text(text, "utf-8")
        _train(member, command, steps=2, batch=2, seed=4, privacy=rules())
        drawn.add(member.delta(command).tobytes())
    assert len(drawn) == 1
    # The same seed with a batch of all documents draws it: then each text leaves its trace.
    for command, text in ((4, "one secret"), (5, "quite another secret")):
        last.write_text(text, "utf-8")
        _train(member, command, steps=2, batch=65, seed=4, privacy=rules())
    assert not np.array_equal(member.delta(4), member.delta(5))


def test_a_round_in_which_no_document_is_drawn_is_noise(member: PrivateMember) -> None:
    found = [
        _train(member, command, steps=1, batch=1, seed=command, privacy=rules())
        for command in range(1, 7)
    ]
    empty = [one for one in found if one.loss is None]
    assert empty  # a step of 64 documents at 1/64 draws none once in three times
    assert all(one.loss_first is None for one in empty)
    assert member.delta(empty[0].command).any()


def test_the_limit_refuses_a_round_before_it_begins(member: PrivateMember) -> None:
    spent = _train(member, 1, privacy=rules()).epsilon or 0.0
    limited = rules(most=spent + 0.01)
    with pytest.raises(BudgetSpentError, match="most_epsilon"):
        _train(member, 2, privacy=limited)
    assert not member.out(2).exists()
    assert accountant.read_record(member.folder / "state").rounds == 1


def test_a_round_that_fails_later_has_been_counted(member: PrivateMember) -> None:
    (member.folder / "out").rmdir()
    with pytest.raises(OSError, match=r"1\.delta"):
        _train(member, 1, privacy=rules())
    assert accountant.read_record(member.folder / "state").rounds == 1


def test_too_few_documents_for_a_batch_are_refused_with_the_way_out(tmp_path: Path) -> None:
    member = PrivateMember.create(tmp_path, documents=3)
    with pytest.raises(UserFacingError, match=r"has 3 documents, fewer than a step draws \(8\)"):
        _train(member, 1, privacy=rules())
    assert _train(member, 2).loss is not None  # without differential privacy they do


def test_lines_are_documents_and_equal_ones_count_once(member: PrivateMember) -> None:
    lines = [json.dumps({"text": f"line {number}"}) for number in range(30)]
    half = '{"text": "half \\ud83d of a pair"}'
    path = member.folder / "texts" / "more.jsonl"
    path.write_text("\n".join([*lines, "", lines[0], half, '"a bare text"']), "utf-8")
    (member.folder / "texts" / "picture.png").write_bytes(b"no text")
    (member.folder / "texts" / "latin.txt").write_bytes(b"caf\xe9")
    (member.folder / "texts" / "empty.md").write_text(" \n")
    assert _train(member, 1, privacy=rules()).dataset == 64 + 31
    path.write_text('{"body": "x"}', "utf-8")
    with pytest.raises(UserFacingError, match=r"more.jsonl, line 1 has no text"):
        _train(member, 2, privacy=rules())


def test_a_text_that_spells_the_separator_is_one_document(tmp_path: Path) -> None:
    tokenizer = chats.tokenizer(chats.byte_level_tokenizer(tmp_path / "tokenizer"))
    (tmp_path / "one.txt").write_text(f"a text ends with {chats.SEPARATOR}, and goes on", "utf-8")
    texts = read_texts(tmp_path, tokenizer)
    assert np.flatnonzero(texts.ids == tokenizer.separator).tolist() == texts.starts.tolist()


def test_a_text_that_its_owner_took_away_is_no_longer_trained_on(member: PrivateMember) -> None:
    trainer, path = LocalTrainer(lambda *_: None), member.folder / "texts" / "0003.txt"
    assert trainer.train(member.request(1, privacy=rules())).dataset == 64
    path.rename(path.with_suffix(".off"))
    assert trainer.train(member.request(2, privacy=rules())).dataset == 63


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"data": "missing"}, "missing is not a folder"),
        ({"data": "out"}, "has no texts"),
        ({"weights": "config.json"}, "cannot use the weights of the head"),
        ({"weights": "missing"}, "cannot use the weights of the head"),
        ({"config": "missing"}, "cannot read"),
    ],
)
def test_a_request_that_cannot_be_met_says_why(
    member: PrivateMember, changes: dict[str, str], message: str
) -> None:
    paths = {name: str(member.folder / path) for name, path in changes.items()}
    with pytest.raises(UserFacingError, match=message):
        _train(member, 1, **paths)


def test_a_tokenizer_larger_than_the_model_is_refused(member: PrivateMember) -> None:
    fields = json.loads((member.folder / "config.json").read_bytes()) | {"vocab_size": 200}
    (member.folder / "config.json").write_text(json.dumps(fields))
    with pytest.raises(ModelError, match="256 ids, but the model has only 200"):
        _train(member, 1)


def test_weights_that_are_not_finite_are_not_handed_in(member: PrivateMember) -> None:
    most = 2**53 - 1
    steps = InnerSteps(optimiser="adamw", adam_lr_e9=most, decay_e6=most)
    with pytest.raises(WeightsNotFiniteError, match="lower learning rates"):
        _train(member, 1, inner=steps, steps=9)
    assert not member.out(1).exists()


def test_pieces_of_a_long_document_are_drawn_evenly() -> None:
    texts = PrivateTexts(
        ids=np.array([0, *range(1, 21), 0, 7, 0], np.uint8),
        starts=np.array([0, 21, 23]),
        separator=0,
    )
    draws = [partial(noise.uniforms, noise.seeded_bits(seed)) for seed in range(400)]
    rows = np.concatenate([texts.draw(1.0, 8, one) for one in draws])
    long, short = rows[::2], rows[1::2]
    firsts, counts = np.unique(long[:, 0], return_counts=True)
    assert firsts.tolist() == list(range(14))  # from the separator to the last whole piece
    assert counts.min() > 10
    assert (np.diff(long[:, :8]) == 1).all()
    assert (long[long[:, 0] == 13][:, -1] == 0).all()  # the separator behind the document
    assert (short == [0, 7, 0, ~0, ~0, ~0, ~0, ~0, ~0]).all()
