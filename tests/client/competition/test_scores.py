"""Scores in a journal: a crash costs what was under way, and nothing is scored twice."""

from __future__ import annotations

import json
import resource
import shutil
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest
import torch
from safetensors.torch import load_file, save_file

from tequio_client.competition import models
from tequio_client.competition.models import ScoringTask
from tequio_client.trainer import causality, device
from tequio_client.verify.report import NoProgress
from tequio_shared.competition.rules import DRAWN_DOCUMENTS
from tequio_shared.errors import UserFacingError
from tequio_shared.ids import Digest, PeerKey, sha256, to_text
from tequio_shared.limits import JSON_INTEGER
from tequio_shared.scoring import MOST_MILLIBITS, Refusal
from tests.client.competition.models import files_of, rules
from tests.support.attack_table import attack

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path


TEXTS = [f"def f_{number}(x):\n    return x + {number}\n".encode() for number in range(6)]
CPU = device.open_device("cpu")


class DocumentCounter:
    """Records the number of documents of each piece of work."""

    def __init__(self) -> None:
        self.steps: list[int] = []

    @contextmanager
    def work(self, what: str, total: int) -> Iterator[Callable[[int], None]]:
        """Hear one piece."""
        del what, total
        yield self.steps.append


class FullDiskProgress:
    """Leaves no room on the disk from the first step on."""

    @contextmanager
    def work(self, what: str, total: int) -> Iterator[Callable[[int], None]]:
        """Fill the disk when the documents of earlier starts are counted."""
        del what, total
        _, most = resource.getrlimit(resource.RLIMIT_FSIZE)
        yield lambda _: resource.setrlimit(resource.RLIMIT_FSIZE, (0, most))


@contextmanager
def full_disk() -> Iterator[FullDiskProgress]:
    """Free the disk again at the end."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    try:
        yield FullDiskProgress()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("model")
    for name, content in files_of(folder / "made").items():
        (folder / name).write_bytes(content)
    return folder


def _task(model: Path, texts: list[bytes], drawn: list[bytes] | None = None) -> ScoringTask:
    return ScoringTask(
        competition=Digest(bytes(32)),
        entrant="maize",
        submission=Digest(bytes(32)),
        evaluator=PeerKey(bytes(32)),
        model=model,
        texts=texts,
        drawn=texts if drawn is None else drawn,
        scoring=rules().scoring,
        beacon=Digest(bytes(range(32))),
    )


def test_what_a_crash_left_whole_is_not_scored_again(model: Path, tmp_path: Path) -> None:
    whole = models.evaluate_entrant(_task(model, TEXTS), tmp_path / "whole", CPU, NoProgress())
    lines = (tmp_path / "whole").read_bytes().splitlines(keepends=True)
    assert len(lines) == len(TEXTS)
    cut = tmp_path / "cut"
    cut.write_bytes(b"".join(lines[:2]) + lines[2][:20])
    counting = DocumentCounter()
    again = models.evaluate_entrant(_task(model, TEXTS), cut, CPU, counting)
    assert counting.steps == [2, 1, 1, 1, 1]
    assert [one.document for one in again.documents] == [to_text(sha256(one)) for one in TEXTS]
    assert again.documents[:2] == whole.documents[:2]
    assert again.total.millibits == pytest.approx(whole.total.millibits, rel=1e-4)
    nothing = DocumentCounter()
    assert models.evaluate_entrant(_task(model, TEXTS), cut, CPU, nothing) == again
    assert nothing.steps == [6]


def test_a_start_on_a_full_disk_costs_no_score_of_an_earlier_one(
    model: Path, tmp_path: Path
) -> None:
    whole = tmp_path / "whole"
    models.evaluate_entrant(_task(model, TEXTS), whole, CPU, NoProgress())
    lines = whole.read_bytes().splitlines(keepends=True)
    cut = tmp_path / "cut"
    cut.write_bytes(b"".join(lines[:4]) + lines[4][:-1])
    with pytest.raises(UserFacingError, match="cannot write"), full_disk() as filling:
        models.evaluate_entrant(_task(model, TEXTS), cut, CPU, filling)
    assert cut.read_bytes() == b"".join(lines[:4])
    models.evaluate_entrant(_task(model, TEXTS), cut, CPU, NoProgress())
    assert len(cut.read_bytes().splitlines()) == len(models.read_journal(cut, TEXTS)) == len(TEXTS)


def test_a_journal_of_other_texts_counts_for_nothing(model: Path, tmp_path: Path) -> None:
    journal = tmp_path / "journal"
    models.evaluate_entrant(_task(model, TEXTS), journal, CPU, NoProgress())
    assert len(models.read_journal(journal, TEXTS)) == len(TEXTS)
    assert models.read_journal(journal, TEXTS[1:]) == ()
    other = models.evaluate_entrant(_task(model, TEXTS[1:]), journal, CPU, NoProgress())
    assert [one.document for one in other.documents] == [to_text(sha256(one)) for one in TEXTS[1:]]


def test_a_document_that_is_no_text_is_left_out_under_its_own_name(
    model: Path, tmp_path: Path
) -> None:
    texts = [b"\xff\xfe\x00", b"text"]
    found = models.evaluate_entrant(_task(model, texts), tmp_path / "journal", CPU, NoProgress())
    first = found.documents[0]
    assert (first.refusal, first.size_bytes) == (Refusal.EMPTY, 0)
    assert first.document == to_text(sha256(texts[0]))
    assert found.total.documents == 1


@attack("C10", layer="cli", ends="it is reported as not scored, and the others are scored")
@pytest.mark.parametrize(
    "changes",
    [
        {"num_attention_heads": 0},
        {"hidden_size": "wide"},
        {"num_hidden_layers": [2]},
        {"num_key_value_heads": 3, "head_dim": 8},
        {"rms_norm_eps": "small"},
    ],
)
def test_a_configuration_without_sense_is_told_of_its_entrant(
    model: Path, tmp_path: Path, changes: dict[str, object]
) -> None:
    folder = shutil.copytree(model, tmp_path / "model", ignore=shutil.ignore_patterns("made"))
    fields = json.loads((folder / "config.json").read_bytes())
    (folder / "config.json").write_text(json.dumps(fields | changes))
    with pytest.raises(UserFacingError):
        models.evaluate_entrant(_task(folder, TEXTS), tmp_path / "journal", CPU, NoProgress())


@attack("C14", layer="cli", ends="refused, so that evaluators can show its scores")
def test_losses_are_refused_if_no_statement_could_hold_their_total(
    model: Path, tmp_path: Path
) -> None:
    folder = shutil.copytree(model, tmp_path / "model", ignore=shutil.ignore_patterns("made"))
    tensors = {
        name: torch.zeros_like(one) for name, one in load_file(folder / "model.safetensors").items()
    }
    for name in ("model.norm.weight", "lm_head.weight", "model.embed_tokens.weight"):
        tensors[name][..., 0] = 1
    tensors["lm_head.weight"][1:] = 0
    tensors["lm_head.weight"] *= 1e8  # for a token that never comes
    save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})
    found = models.evaluate_entrant(_task(folder, TEXTS), tmp_path / "j", CPU, NoProgress())
    assert found.refusals == {Refusal.PREDICTIONS}
    assert MOST_MILLIBITS * DRAWN_DOCUMENTS <= JSON_INTEGER


def test_scoring_one_document_tries_the_model_on_the_windows_of_all(
    model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tried: list[list[bytes]] = []
    honest = causality._probes  # noqa: SLF001 - the windows show nowhere else

    def recorded(*arguments: Any) -> Any:  # noqa: ANN401 - passed through
        found = list(honest(*arguments))
        tried.append([one.changed.inputs.tobytes() for one in found])
        return iter(found)

    monkeypatch.setattr(causality, "_probes", recorded)
    for at, texts in enumerate((TEXTS, TEXTS[1:2], TEXTS[:1])):
        task = _task(model, texts, drawn=TEXTS)
        models.evaluate_entrant(task, tmp_path / str(at), CPU, NoProgress())
    assert tried[0] == tried[1] == tried[2]
    assert tried[0]
