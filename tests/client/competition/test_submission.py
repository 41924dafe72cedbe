"""A folder on the Hub as a submission: named file by file, tried at once, fetched as it was."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

import msgspec
import pytest
import torch
from safetensors.torch import save

from tequio_client.checkpoint import export, layout
from tequio_client.checkpoint.export import WeightsOrigin
from tequio_client.checkpoint.layout import HeadClaim
from tequio_client.competition import models, participation
from tequio_client.organiser.sealing import file_digest
from tequio_client.verify.report import NoProgress
from tequio_client.worker.children.evaluator import missing_memory
from tequio_shared.competition.rules import Submission
from tequio_shared.errors import UserFacingError
from tequio_shared.ids import to_text
from tequio_shared.round.plugin import PluginSpec
from tests.client.competition.models import files_of, hub, rules
from tests.client.verify.logs import SwarmLog
from tests.support import model_folders
from tests.support.llama_swarm import ROUNDS, played, served_log
from tests.support.tiny_run import tiny_manifest

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tequio_client.verify.report import WorkProgress
    from tequio_shared.round.plugin import Seam
    from tests.support.hub import FakeHub


REPO = "someone/model"
ORIGIN = WeightsOrigin(ledger="http://127.0.0.1:9")


@pytest.fixture
def served(tmp_path: Path) -> Iterator[FakeHub]:
    with hub(tmp_path / "cache") as one:
        one.put(REPO, files_of(tmp_path / "made") | {"README.md": b"hello", "code.py": b"raise"})
        yield one


def _submitted(served: FakeHub, **changes: object) -> Submission:
    assert served.repositories
    submission, note = models.submission_of_repository(rules(**changes), REPO, None)
    assert not note, "it was loaded"
    return submission


def _changed(served: FakeHub, files: dict[str, bytes]) -> None:
    """Commit a change to the repository."""
    found = served.repositories[REPO]
    found.commit(found.commits[found.main] | files)


def test_every_file_that_scoring_reads_is_named_by_size_and_hash(served: FakeHub) -> None:
    made = _submitted(served)
    assert Submission.parse(made.encode()) == made
    there = served.repositories[REPO].commits[made.revision]
    assert [one.name for one in made.files] == sorted(there.keys() - {"README.md", "code.py"})
    for one in made.files:
        due = hashlib.sha256(there[one.name]).digest()
        assert (one.size_bytes, one.sha256) == (len(there[one.name]), to_text(due))


def test_what_was_submitted_is_had_though_the_repository_goes_on(
    served: FakeHub, tmp_path: Path
) -> None:
    made = _submitted(served)
    _changed(served, {"config.json": b"{}"})
    folder = models.fetch_model(made, tmp_path / "had", ORIGIN, NoProgress())
    assert models.readable_files(folder) == [one.name for one in made.files]
    assert sorted(one.name for one in folder.iterdir()) == models.readable_files(folder)
    assert file_digest(folder / "model.safetensors") == made.files[1].sha256


def test_a_repository_that_only_its_owner_can_read_is_not_submitted(
    served: FakeHub, monkeypatch: pytest.MonkeyPatch
) -> None:
    served.tokens["hf_mine"] = "someone"
    served.repositories[REPO].is_private = True
    monkeypatch.setenv("HF_TOKEN", "hf_mine")
    with pytest.raises(UserFacingError, match="make it public on the Hub"):
        _submitted(served)


def test_a_local_folder_of_the_same_name_is_not_the_repository(
    served: FakeHub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = _submitted(served)
    (tmp_path / REPO).mkdir(parents=True)
    for name, content in files_of(tmp_path / "other", seed=2).items():
        (tmp_path / REPO / name).write_bytes(content)
    monkeypatch.chdir(tmp_path)
    assert _submitted(served) == made
    folder = models.fetch_model(made, tmp_path / "had", ORIGIN, NoProgress())
    assert file_digest(folder / "model.safetensors") == made.files[1].sha256


@pytest.mark.parametrize(
    ("content", "told"),
    [(b"x" * 9, "it has 9 bytes"), (None, "another hash")],
    ids=["size", "content"],
)
def test_a_commit_that_was_rewritten_is_not_scored(
    served: FakeHub,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    content: bytes | None,
    told: str,
) -> None:
    made = _submitted(served)
    there = served.repositories[REPO].commits[made.revision]
    name = "model.safetensors"
    there[name] = content or there[name][:-1] + bytes([there[name][-1] ^ 1])
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path / "another"))
    with pytest.raises(UserFacingError, match=told):
        models.fetch_model(made, tmp_path / "had", ORIGIN, NoProgress())
    assert not (tmp_path / "had").exists()


def test_a_head_with_other_weights_is_never_taken_for_the_submitted_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    exported, to = export.export_weights, tmp_path / "had"
    run, head = played(), played().swarm.view.heads[ROUNDS]

    class CutError(BaseException):
        pass

    def cut_after(options: export.ExportOptions, progress: WorkProgress) -> None:
        exported(options, progress)
        raise CutError

    with served_log(SwarmLog(run.swarm)) as site:
        stores = (run.store(tmp_path / "store", ROUNDS),)
        origin = WeightsOrigin(ledger=site.url, stores=stores)
        right = models.submission_of_head(run.manifest.run_id, ROUNDS, head.weights_root)
        wrong = msgspec.structs.replace(right, weights_root=to_text(bytes(32)))
        monkeypatch.setattr(export, "export_weights", cut_after)
        with pytest.raises(CutError):
            models.fetch_model(wrong, to, origin, NoProgress())
        monkeypatch.setattr(export, "export_weights", exported)
        with pytest.raises(models.OtherWeightsError, match="the log promoted other weights"):
            models.fetch_model(wrong, to, origin, NoProgress())
        left = tmp_path / ".had.unchecked"
        left.mkdir()
        (left / layout.WEIGHTS).write_bytes(b"a program was killed")
        models.fetch_model(right, to, origin, NoProgress())
    made = HeadClaim.parse((to / layout.CLAIM).read_bytes())
    assert made.weights_root == right.weights_root
    assert {one.name for one in tmp_path.iterdir()} == {"had", "store"}


def test_more_parameters_than_the_rules_allow_are_refused(served: FakeHub) -> None:
    with pytest.raises(UserFacingError, match="and the rules of Small allow 1,000"):
        _submitted(served, parameters=1_000)


def test_a_window_that_the_model_cannot_take_is_found_before_the_deadline(
    served: FakeHub,
) -> None:
    with pytest.raises(UserFacingError, match=r"a window of 128 tokens is too long for .* 64;"):
        _submitted(served, window=128)


def test_weights_that_are_no_numbers_are_refused(served: FakeHub) -> None:
    tensors = model_folders.tensors_of(model_folders.llama(256))
    tensors["lm_head.weight"][3, 3] = torch.nan
    _changed(served, {"model.safetensors": save(tensors, metadata={"format": "pt"})})
    with pytest.raises(UserFacingError, match=r"weights of lm_head.weight are NaN or infinite"):
        _submitted(served)


def test_a_pickle_is_refused_before_it_is_fetched(served: FakeHub) -> None:
    files = served.repositories[REPO]
    tree = dict(files.commits[files.main])
    tree["pytorch_model.bin"] = tree.pop("model.safetensors")
    files.commit(tree)
    with pytest.raises(UserFacingError, match="as a pickle"):
        _submitted(served)


def test_memory_is_counted_before_anything_is_promised() -> None:
    assert missing_memory(10**9, available_bytes=8 << 30) == ""
    told = missing_memory(7 * 10**9, available_bytes=8 << 30)
    message = "scoring a model of 7,000,000,000 parameters needs 36.1 GB of memory, and 8.6 GB "
    assert told == message + "are free"


@pytest.mark.parametrize(
    ("provides", "why"),
    [
        (("loader", "optimiser"), ""),
        (("tokenizer",), "its tokenizer is code of the plug-in tiny 1.0"),
        (("model", "tokenizer"), "its model and tokenizer are code of the plug-in tiny 1.0"),
    ],
)
def test_a_run_whose_model_or_texts_need_its_code_takes_no_part(
    provides: tuple[Seam, ...], why: str
) -> None:
    spec = PluginSpec(
        name="tiny", version="1.0", archive=to_text(bytes(32)), size_bytes=7, provides=provides
    )
    manifest = msgspec.structs.replace(tiny_manifest(), plugin=spec)
    if not why:
        assert participation.scorable_run(manifest) == to_text(manifest.run_id)
        return
    with pytest.raises(UserFacingError, match=why):
        participation.scorable_run(manifest)
