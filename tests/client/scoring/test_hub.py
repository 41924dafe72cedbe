"""A repository of the Hub is judged by what it lists, before any of it is fetched."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING

import pytest

from tequio_client.checkpoint import layout
from tequio_client.scoring import hub
from tequio_client.trainer import likelihood
from tequio_shared.errors import UserFacingError
from tests.support import model_folders
from tests.support.attack_table import attack
from tests.support.hub import FakeHub, running

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


FINE = {
    "config.json": 700,
    "model.safetensors": 5 << 30,
    "tokenizer.json": 30 << 20,
    "pytorch_model.bin": 5 << 30,
}


def test_a_repository_with_safetensors_is_fine_also_beside_pickles() -> None:
    hub.check_repository(FINE, "someone/model")


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"model.safetensors": None}, r"as a pickle \(pytorch_model.bin\)"),
        ({"model.safetensors": None, "pytorch_model.bin": None}, "has no weights"),
        ({"tokenizer.json": 2 << 30}, "2,147,483,648 bytes"),
        ({"config.json": 1 << 30}, "too large for a settings file"),
        ({"chat_template.jinja": 1 << 30}, "too large for a settings file"),
    ],
)
def test_a_repository_that_cannot_be_read_safely_costs_no_download(
    changes: dict[str, int | None], told: str
) -> None:
    sizes = {name: size for name, size in (FINE | changes).items() if size is not None}
    with pytest.raises(UserFacingError, match=told):
        hub.check_repository(sizes, "someone/model")


@pytest.fixture
def served(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeHub]:
    """A Hub of our own, with one model in it."""
    folder = model_folders.write(tmp_path / "model", model_folders.llama(256))
    tokenizer, settings = layout.tokenizer_files(b"", 0, model_folders.CONTEXT)
    files = {one.name: one.read_bytes() for one in folder.iterdir()}
    files |= {"tokenizer.json": tokenizer, "tokenizer_config.json": settings}
    files |= {
        "chat_template.jinja": b"{{ messages }}",
        "pytorch_model.bin": b"a pickle",
        "code.py": b"open('ran', 'w')",
    }
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path / "cache"))
    with running(FakeHub()) as one:
        one.put("someone/model", files)
        monkeypatch.setattr("huggingface_hub.constants.ENDPOINT", one.url)
        place = one.url + "/{repo_id}/resolve/{revision}/{filename}"
        monkeypatch.setattr("huggingface_hub.constants.HUGGINGFACE_CO_URL_TEMPLATE", place)
        yield one


def test_a_model_of_the_hub_is_fetched_and_scored_without_pickles_and_code(
    served: FakeHub,
) -> None:
    folder = hub.model_folder("someone/model", None)
    assert sorted(one.name for one in folder.iterdir()) == [
        "chat_template.jinja",
        "config.json",
        "model.safetensors",
        "tokenizer.json",
        "tokenizer_config.json",
    ]
    scored = likelihood.open_model(folder, tokenizer=None, prefix=None)
    assert scored.tokenizer.vocab_size == 256
    assert served.requests


def test_what_was_fetched_is_there_when_the_hub_is_not(
    served: FakeHub, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = hub.model_folder("someone/model", None)
    asked = len(served.requests)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    assert hub.model_folder("someone/model", None) == first
    assert len(served.requests) == asked


def test_what_only_the_own_login_can_read_is_not_fetched_without_it(
    served: FakeHub, monkeypatch: pytest.MonkeyPatch
) -> None:
    served.tokens["hf_mine"] = "someone"
    served.repositories["someone/model"].is_private = True
    monkeypatch.setenv("HF_TOKEN", "hf_mine")
    with pytest.raises(UserFacingError, match="someone/model"):
        hub.fetch_repository("someone/model", None, without_login=True)
    assert hub.model_folder("someone/model", None).is_dir()


def sizes_of(folder: Path) -> dict[str, int]:
    return {one.name: one.stat().st_size for one in folder.iterdir()}


@attack("C11", layer="cli", ends="only the submitted files are fetched")
def test_of_a_repository_nothing_is_fetched_but_what_is_wanted(
    served: FakeHub, tmp_path: Path
) -> None:
    wanted = sizes_of(tmp_path / "model")
    much = dict.fromkeys(("model-00001-of-00002.safetensors", "model-2.safetensors"), b"x" * 5_000)
    mine = {name: (tmp_path / "model" / name).read_bytes() for name in wanted}
    served.put("someone/much", mine | much)
    folder = hub.fetch_repository("someone/much", None, wanted)
    assert sizes_of(folder) == wanted
    assert not any("model-" in one for one in served.requests)


@attack("C11", layer="cli", ends="nothing is fetched")
def test_files_of_another_size_than_is_said_are_not_fetched(
    served: FakeHub, tmp_path: Path
) -> None:
    wanted = sizes_of(tmp_path / "model")
    with pytest.raises(hub.OtherFilesError, match="instead of 7"):
        hub.fetch_repository("someone/model", None, wanted | {"model.safetensors": 7})
    assert not any("resolve" in one for one in served.requests)


@attack("C11", layer="cli", ends="nothing is fetched, and some of the disk stays free")
def test_a_repository_that_fills_the_disk_is_not_fetched(
    served: FakeHub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wanted = sizes_of(tmp_path / "model")
    free = hub.FREE_BYTES + sum(wanted.values()) - 1
    monkeypatch.setattr("shutil.disk_usage", lambda _: SimpleNamespace(free=free))
    with pytest.raises(UserFacingError, match="bytes free"):
        hub.fetch_repository("someone/model", None, wanted)
    assert not any("resolve" in one for one in served.requests)
    free += 1
    folder = hub.fetch_repository("someone/model", None, wanted)
    free = 0
    assert hub.fetch_repository("someone/model", None, wanted) == folder, "it is there already"


def test_a_repository_of_pickles_is_refused_before_it_is_fetched(served: FakeHub) -> None:
    served.put("someone/old", {"config.json": b"{}", "pytorch_model.bin": b"x" * 5_000})
    with pytest.raises(UserFacingError, match="as a pickle"):
        hub.model_folder("someone/old", None)
    assert not any("pytorch_model.bin" in one for one in served.requests)


def test_a_repository_or_a_revision_that_is_not_there_is_told(served: FakeHub) -> None:
    assert served.url
    for name, revision in (("someone/else", None), ("someone/model", "no-such-branch")):
        with pytest.raises(UserFacingError, match="could not be fetched from the Hub"):
            hub.model_folder(name, revision)


def test_a_folder_that_is_here_is_taken(tmp_path: Path) -> None:
    assert hub.model_folder(str(tmp_path), None) == tmp_path


def test_a_name_that_is_neither_here_nor_to_be_had_is_one_sentence(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    with pytest.raises(UserFacingError, match="is not a file or folder here, and it") as told:
        hub.model_folder("nobody/nothing", None)
    assert "\n" not in str(told.value)


@pytest.mark.parametrize("name", ["not a name", "a/b/c/d", "-" * 300, "a" * 200])
def test_what_can_be_no_name_is_told(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    with pytest.raises(UserFacingError, match="is not a file or folder here"):
        hub.model_folder(name, None)
