"""Going on from a model that exists: the same bits for everybody, and out again as they came in."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import torch
from click.testing import CliRunner
from msgspec import UNSET
from safetensors.torch import load_file, save_file

from tequio_client.__main__ import cli
from tequio_client.checkpoint import export, tensors
from tequio_client.dataset import build, sources
from tequio_client.organiser import opening
from tequio_client.organiser import plan as plans
from tequio_client.organiser.outline import read_outline
from tequio_client.trainer import first_head
from tequio_client.verify.report import NoProgress
from tequio_shared.errors import UserFacingError
from tequio_shared.ids import sha256, to_text
from tests.client.verify.logs import SwarmLog
from tests.support import architectures, model_folders
from tests.support.hub import FakeHub, running
from tests.support.llama_swarm import play, served_log

if TYPE_CHECKING:
    from pathlib import Path

    from tequio_client.organiser.opening import PreparedRun


KINDS = {torch.float16: 0.0, torch.bfloat16: 2.0**-25, torch.float32: 2.0**-25}
TEXTS = [f"{number} milpa mano metate masa " * 20 for number in range(20)]


def data_of(folder: Path, tokenizer: str = "bytes", sequence: int = 32) -> Path:
    texts = folder / "texts"
    texts.mkdir(exist_ok=True)
    for number, text in enumerate(TEXTS):
        (texts / f"{number}.txt").write_text(text)
    settings = build.ShardOptions(sequence=sequence, seed=0, held_out_bp=1_000, shard_bytes=1 << 20)
    loaded = sources.load_tokenizer(tokenizer, None)
    build.build_shards(sources.folder_files(texts, "*"), loaded, settings, folder / "data")
    return folder / "data"


def model_of(folder: Path, kind: torch.dtype = torch.float16, **changes: object) -> Path:
    config = model_folders.llama(256, **changes)
    weights = {name: one.to(kind) for name, one in model_folders.tensors_of(config).items()}
    return model_folders.write(folder / "model", config, tensors=weights)


def plan_of(folder: Path, *words: str) -> Path:
    path = folder / "run.toml"
    told = ("run", "new", str(path), "--data", str(folder / "data"), *words)
    result = CliRunner().invoke(cli, told)
    if result.exception is not None:
        raise result.exception
    return path


def opened(folder: Path, model: Path) -> PreparedRun:
    (folder / "run.toml").unlink(missing_ok=True)
    return opening.prepare_run(plan_of(folder, "--from", str(model)))


def exported(prepared: PreparedRun, folder: Path) -> dict[str, Any]:
    """Tensors in the files that `checkpoint export` writes for the first head."""
    folder.mkdir()
    (folder / "tequio").mkdir()
    (folder / "head").write_bytes(prepared.weights)
    tensors.write_weights(prepared.manifest, folder / "head", folder, lambda _: None)
    return load_file(folder / "model.safetensors")


@pytest.mark.parametrize("is_tied", [False, True])
@pytest.mark.parametrize("kind", list(KINDS))
def test_what_nobody_trained_comes_out_as_it_went_in(
    kind: torch.dtype,
    is_tied: bool,  # noqa: FBT001 - a parameter of a test
    tmp_path: Path,
) -> None:
    data_of(tmp_path)
    model = model_of(tmp_path, kind, tie_word_embeddings=is_tied)
    prepared = opened(tmp_path, model)
    before = load_file(model / "model.safetensors")
    after = exported(prepared, tmp_path / "out")
    tied = {"lm_head.weight": "model.embed_tokens.weight"} if is_tied else {}
    assert {tied.get(name, name) for name in before} == set(after)
    for name, weights in before.items():
        there = after[tied.get(name, name)]
        assert there.shape == weights.shape
        apart = (there.double() - weights.double()).abs().max()
        assert apart <= KINDS[kind], name
        if not KINDS[kind]:
            assert torch.equal(there, weights.to(torch.float32))


def test_the_manifest_names_the_bits_and_what_came_out_goes_in_as_the_same(tmp_path: Path) -> None:
    data_of(tmp_path)
    model = model_of(tmp_path, torch.float32)
    prepared, again = opened(tmp_path, model), opened(tmp_path, model)
    described = prepared.manifest.model
    assert prepared.manifest.run_id == again.manifest.run_id
    assert described.config == to_text(sha256((model / "config.json").read_bytes()))
    shapes = {
        name: tuple(one.shape) for name, one in load_file(model / "model.safetensors").items()
    }
    assert dict(described.tensors) == shapes
    exported(prepared, tmp_path / "out")
    (tmp_path / "out" / "config.json").write_bytes((model / "config.json").read_bytes())
    once_more = opened(tmp_path, tmp_path / "out")
    assert once_more.manifest.model.weights_root == described.weights_root
    assert np.array_equal(
        np.frombuffer(once_more.weights, "<i4"), np.frombuffer(prepared.weights, "<i4")
    )


def refusal(folder: Path, model: Path | str) -> str:
    with pytest.raises(UserFacingError) as caught:
        opening.prepare_run(plan_of(folder, "--from", str(model)))
    assert "\n" not in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize("what", ["pictures", "experts", "positions by the longest text"])
def test_another_kind_of_model_is_refused_by_name(what: str, tmp_path: Path) -> None:
    fields, said = architectures.OTHERS[what]
    data_of(tmp_path)
    model = model_of(tmp_path)
    (model / "config.json").write_text(json.dumps(fields))
    refused = refusal(tmp_path, model)
    assert said in refused
    assert str(model) in refused


def test_quantised_weights_are_refused_before_they_are_fetched(tmp_path: Path) -> None:
    data_of(tmp_path)
    model = model_of(tmp_path, quantization_config={"quant_method": "awq"})
    assert "quantised weights (awq); choose the model that they were made from" in refusal(
        tmp_path, model
    )


@pytest.mark.parametrize("name", ["gpt2", "qwen3", "gpt_neox"])
def test_a_run_goes_on_from_another_architecture(name: str, tmp_path: Path) -> None:
    data_of(tmp_path)
    fields = architectures.fields_of(name) | (architectures.NO_DROPOUT if name == "gpt2" else {})
    model = architectures.write(tmp_path / "model", fields)
    prepared = opened(tmp_path, model)
    described = prepared.manifest.model
    assert described.parameters == sum(one.numel() for one in files_of(model).values())
    assert prepared.blobs[1] == (model / "config.json").read_bytes()
    after = exported(prepared, tmp_path / "out")
    for new, weights in files_of(model).items():
        name_now = new.replace("embed_out", "lm_head")
        assert (after[name_now].double() - weights.double()).abs().max() <= 2.0**-25


def files_of(model: Path) -> dict[str, Any]:
    return load_file(model / "model.safetensors")


@pytest.mark.parametrize("name", ["gpt2", "mistral"])
def test_samples_beyond_what_another_architecture_takes_are_refused(
    name: str, tmp_path: Path
) -> None:
    data_of(tmp_path, sequence=128)
    model = architectures.write(tmp_path / "model", architectures.fields_of(name))
    assert "has 64: build the data with --sequence 64" in refusal(tmp_path, model)
    fresh = tmp_path / "fresh.toml"
    fresh.write_text(
        'name = "fresh"\n[model]\nsource = "model/config.json"\n[data]\nfolder = "data"\n'
    )
    with pytest.raises(UserFacingError, match="has 64"):
        opening.prepare_run(fresh)


def test_a_pickle_and_an_adapter_are_refused(tmp_path: Path) -> None:
    data_of(tmp_path)
    model = model_of(tmp_path)
    (model / "model.safetensors").rename(model / "pytorch_model.bin")
    assert "is a pickle" in refusal(tmp_path, model)
    (tmp_path / "run.toml").unlink()
    (model / "adapter_config.json").write_text("{}")
    assert "merge it into its base model" in refusal(tmp_path, model)


def test_data_of_another_tokenizer_or_with_longer_samples_is_refused(tmp_path: Path) -> None:
    data_of(tmp_path)
    model = model_of(tmp_path)
    (model / "tokenizer.json").write_bytes(model_folders.bpe(TEXTS, 300))
    said = refusal(tmp_path, model)
    assert "another tokenizer" in said
    assert f"--tokenizer {plans.read_plan(tmp_path / 'run.toml').model.source}" in said
    (tmp_path / "run.toml").unlink()
    (tmp_path / "other").mkdir()
    data_of(tmp_path / "other", sequence=128)
    (tmp_path / "data").rename(tmp_path / "short")
    (tmp_path / "other" / "data").rename(tmp_path / "data")
    assert "build the data with --sequence 64" in refusal(tmp_path, model)


@pytest.mark.parametrize("name", ["llama", "qwen3"])
def test_the_exported_head_before_the_first_round_is_the_model_bit_for_bit(
    name: str, tmp_path: Path
) -> None:
    model = model_of(tmp_path) if name == "llama" else of_halves(tmp_path, name)
    run = play(model=first_head.imported_head(model, layout="flat"))
    store = run.store(tmp_path / "store", 0)
    with served_log(SwarmLog(run.swarm)) as site:
        target = tmp_path / "out"
        origin = export.WeightsOrigin(ledger=site.url, stores=[store])
        wish = export.ExportOptions(origin=origin, run=run.manifest.name, round=0, target=target)
        export.export_head(wish, NoProgress())
    before, after = (load_file(one / "model.safetensors") for one in (model, target))
    assert before.keys() == after.keys()
    assert all(torch.equal(after[name], before[name].to(torch.float32)) for name in before)
    ours, theirs = (json.loads((one / "config.json").read_text()) for one in (model, target))
    assert ours.items() <= theirs.items()


def of_halves(folder: Path, name: str) -> Path:
    """Another architecture in float16, all of whose numbers are units."""
    model = architectures.write(folder / "model", architectures.fields_of(name))
    weights = {one: values.to(torch.float16) for one, values in files_of(model).items()}
    save_file(weights, model / "model.safetensors", metadata={"format": "pt"})
    return model


def test_a_model_of_the_hub_is_pinned_to_its_commit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data_of(tmp_path)
    model = model_of(tmp_path)
    files = {one.name: one.read_bytes() for one in model.iterdir()}
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path / "cache"))
    with running(FakeHub()) as hub:
        monkeypatch.setattr("huggingface_hub.constants.ENDPOINT", hub.url)
        place = hub.url + "/{repo_id}/resolve/{revision}/{filename}"
        monkeypatch.setattr("huggingface_hub.constants.HUGGINGFACE_CO_URL_TEMPLATE", place)
        first = hub.put("someone/model", files).main
        path = plan_of(tmp_path, "--from", "someone/model")
        assert plans.read_plan(path).model == plans.ModelPlan(
            source="someone/model", revision=first
        )
        kept = sorted(one.name for one in (tmp_path / "cache").rglob("*.safetensors"))
        assert not kept, "the weights are fetched when the run is opened"
        changed = {**files, "model.safetensors": b"another"}
        hub.repositories["someone/model"].commit(changed)
        prepared = opening.prepare_run(path)
    assert (
        prepared.manifest.model.weights_root == opened(tmp_path, model).manifest.model.weights_root
    )


def test_a_repository_that_is_nowhere_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data_of(tmp_path)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    with pytest.raises(UserFacingError, match="nobody/none is not a file or folder here"):
        plan_of(tmp_path, "--from", "nobody/none")
    assert not (tmp_path / "run.toml").exists()


def test_a_model_whose_training_is_random_is_refused_unless_nobody_audits_it(
    tmp_path: Path,
) -> None:
    data_of(tmp_path)
    fields = architectures.fields_of("gpt2") | {"embd_pdrop": 0.0}  # the others have defaults
    architectures.write(tmp_path / "model", fields)
    plan = tmp_path / "plan.toml"
    plan.write_text('name = "a"\n[model]\nsource = "model"\n[data]\nfolder = "data"\n')
    with pytest.raises(UserFacingError) as caught:
        read_outline(plan)
    said = str(caught.value)
    assert "attn_pdrop 0.1" in said
    assert "embd_pdrop" not in said
    assert "config.json" in said
    without = "[audit] newcomers = 0, others = 0"
    assert without in said
    plan.write_text(plan.read_text() + without.replace("] ", "]\n").replace(", ", "\n"))
    assert read_outline(plan).manifest.audit is UNSET
