"""Networks that transformers builds are taken over, trained, exported and scored like our own."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file
from transformers import AutoModelForCausalLM

from tequio_client.checkpoint import layout, tensors
from tequio_client.trainer import (
    device,
    first_head,
    hub_models,
    inner,
    likelihood,
    model,
    network_checks,
)
from tequio_client.trainer.batch import BatchSize
from tequio_client.trainer.inner import Optimiser
from tequio_client.trainer.likelihood import ScoringDevice
from tequio_client.trainer.model_config import ModelRefusedError
from tequio_shared.errors import UserFacingError
from tequio_shared.head.head import WEIGHT_UNIT
from tequio_shared.round.manifest import InnerParams, Manifest
from tests.support import architectures
from tests.support.attack_table import attack
from tests.support.tiny_run import tiny_manifest

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    from tequio_client.trainer.first_head import FirstHead
    from tequio_client.trainer.model import CausalModel

IDS = torch.randint(0, 256, (2, 33), generator=torch.Generator().manual_seed(1))
TEXT = "la milpa da maíz, frijol y calabaza"


def taken_over(folder: Path) -> tuple[FirstHead, Manifest]:
    """An organiser's first head from a folder."""
    first = first_head.imported_head(folder, layout="flat")
    described = first.manifest_entry(sequence=64, aux_dtype=None)
    draft = msgspec.structs.replace(tiny_manifest(), model=described)
    return first, Manifest.parse(draft.encode())


def trained(first: FirstHead, manifest: Manifest) -> tuple[CausalModel, NDArray[np.int32]]:
    """The network and the next head after one step of training."""
    listed = manifest.model
    built = model.build_from_manifest(first.config, listed.tensors, listed.aliases)
    built.load(first.master, first.layout)
    cpu = device.open_device("cpu")
    torch.manual_seed(1)
    built.network.train()
    loss = inner.compute_gradients(built, IDS, BatchSize(32, cpu), lambda: None)
    Optimiser(built, InnerParams(lr_e9=10_000_000, adam_lr_e9=10_000_000)).step()
    assert 0 < loss < 100
    delta = np.zeros(first.layout.elements, np.float32)
    assert built.write_delta(first.master, first.layout, delta)
    moved = np.rint(delta.astype(np.float64) / WEIGHT_UNIT).astype(np.int32)
    return built, first.master - moved


def exported(first: FirstHead, manifest: Manifest, head: NDArray[np.int32], folder: Path) -> Path:
    """The folder that `checkpoint export` writes of a head."""
    (folder / "tequio").mkdir(parents=True)
    (folder / "head").write_bytes(head.astype("<i4").tobytes())
    tensors.write_weights(manifest, folder / "head", folder, lambda _: None)
    (folder / "config.json").write_bytes(layout.model_config(first.config))
    back = tensors.read_weights(manifest, folder, folder / "back", lambda _: None)
    assert np.array_equal(back, head)
    return folder


def loaded(folder: Path) -> Any:  # noqa: ANN401 - any network of transformers'
    library: Any = AutoModelForCausalLM
    network, told = library.from_pretrained(folder, output_loading_info=True)
    assert not told["missing_keys"]
    assert not told["unexpected_keys"]
    return network.eval()


@pytest.mark.parametrize("name", architectures.DECODERS)
def test_a_model_is_taken_over_trained_exported_and_scored(name: str, tmp_path: Path) -> None:
    folder = architectures.write(tmp_path / "model", architectures.fields_of(name))
    before = loaded(folder)
    first, manifest = taken_over(folder)
    with torch.no_grad():
        apart = (first.model.logits(IDS) - before(input_ids=IDS).logits).abs().max()
    assert apart <= 1e-4  # of logits of some tens: weights were rounded
    built, head = trained(first, manifest)
    now, then = (first.layout.unflatten(one) for one in (head, first.master))
    assert all((now[one] != then[one]).any() for one in now), "every tensor was trained"
    out = exported(first, manifest, head, tmp_path / "out")
    theirs = loaded(out)
    built.load(head, first.layout)
    built.network.eval()
    with torch.no_grad():
        pair = built.logits(IDS), theirs(input_ids=IDS).logits
    torch.testing.assert_close(*pair, rtol=1e-5, atol=1e-5)
    assert (pair[0] - before(input_ids=IDS).logits).abs().max() > 0.01
    _scored_as_transformers_does(out, theirs)


def _scored_as_transformers_does(folder: Path, theirs: Any) -> None:  # noqa: ANN401 - as above
    scored = likelihood.open_model(folder, tokenizer="bytes", prefix=None)
    means = ScoringDevice(device=device.open_device("cpu"))
    (found,) = likelihood.score_documents(scored, [TEXT], scored.scoring_rules(48, 24), means)
    ids = torch.tensor([[scored.tokenizer.separator, *TEXT.encode()]])
    with torch.no_grad():
        odds = theirs(input_ids=ids[:, :-1]).logits.double().log_softmax(-1)
    nats = -float(odds.gather(2, ids[:, 1:, None]).sum())
    assert found.millibits == pytest.approx(nats / math.log(2) * 1_000, abs=1)


def test_files_with_the_names_that_openai_gave_are_taken_over(tmp_path: Path) -> None:
    folder = architectures.write(tmp_path, architectures.fields_of("gpt2"))
    plain, _ = taken_over(folder)
    found = load_file(folder / "model.safetensors")
    bare = {name.removeprefix("transformer."): one for name, one in found.items()}
    bare["h.0.attn.bias"] = torch.ones(1, 1, 64, 64).tril()
    save_file(bare, folder / "model.safetensors", metadata={"format": "pt"})
    again, _ = taken_over(folder)
    assert np.array_equal(again.master, plain.master)


def test_a_configuration_that_would_have_tuples_gets_logits_too() -> None:
    fields = architectures.fields_of("gpt2") | {"return_dict": False}
    first = first_head.random_head(json.dumps(fields).encode(), seed=1, layout="flat")
    assert first.model.logits(IDS).shape == (2, 33, 256)


@pytest.mark.parametrize("name", ["rope_scaling", "rope_parameters"])
@pytest.mark.parametrize("is_nested", [False, True])
def test_a_scaling_that_follows_from_the_length_of_the_text_is_refused(
    name: str, *, is_nested: bool
) -> None:
    scaling: dict[str, object] = {
        "type": "longrope",
        "rope_type": "longrope",
        "short_factor": [1.0] * 4,
        "long_factor": [3.0] * 4,
    }
    fields = architectures.fields_of("phi3") | {
        name: {"full_attention": scaling} if is_nested else scaling,
        "original_max_position_embeddings": 24,
    }
    with pytest.raises(UserFacingError, match="'longrope' makes early predictions depend on how"):
        model.outline(json.dumps(fields).encode())


@attack("C12", layer="cli", ends="refused under every name that the library has for it")
@pytest.mark.parametrize("kind", ["su", "yarn"])
def test_the_same_scaling_under_another_name_is_refused(kind: str) -> None:
    factors = {"short_factor": [1.0] * 4, "long_factor": [3.0] * 4}
    scaling = {"type": kind, "original_max_position_embeddings": 24, **factors}
    fields = architectures.fields_of("phi3") | {"rope_scaling": scaling}
    with pytest.raises(ModelRefusedError, match="'longrope' makes early predictions depend on how"):
        model.outline(json.dumps(fields).encode())


@pytest.mark.parametrize(
    ("kind", "changes", "named"),
    [
        ("gpt2", {}, "resid_pdrop"),
        ("gpt2", architectures.NO_DROPOUT, ""),
        ("opt", {}, "dropout"),
        ("opt", {"dropout": 0.0, "layerdrop": 0.5}, "layerdrop"),
        ("gpt_neox", {"classifier_dropout": 0.1}, ""),
        ("gpt_neox", {"attention_dropout": 0.1}, "attention_dropout"),
        ("qwen3", {"attention_dropout": 0.2}, "attention_dropout"),
        ("biogpt", {"hidden_dropout_prob": 0.1}, "hidden_dropout_prob"),
        ("mixtral", {"router_jitter_noise": 0.1}, "router_jitter_noise"),
    ],
)
def test_what_makes_training_random_is_known_on_paper(
    kind: str, changes: dict[str, float], named: str
) -> None:
    fields = architectures.DECODERS["mistral"] | architectures.DECODERS.get(kind, {}) | changes
    built = hub_models.build({**fields, "model_type": kind}).train()
    ids, seen = IDS[:, :16], []
    for seed in range(8):
        torch.manual_seed(seed)
        seen.append(built(ids, use_cache=False).logits)
    chances = network_checks.chance_fields(built)
    assert all(torch.equal(one, seen[0]) for one in seen) is (not chances)
    assert (named in chances) if named else not chances


def test_no_kernel_is_fetched_for_a_network_that_would_like_one() -> None:
    from transformers.integrations import hub_kernels  # noqa: PLC0415 - after ours

    assert model.outline(json.dumps(architectures.fields_of("mamba")).encode()).tensors
    assert not hub_kernels._kernels_enabled  # noqa: SLF001 - what it asks before it fetches


@pytest.mark.parametrize("what", architectures.OTHERS)
def test_what_no_run_can_be_of_is_refused_by_name_on_paper(what: str) -> None:
    fields, said = architectures.OTHERS[what]
    with pytest.raises(UserFacingError) as caught:
        model.outline(json.dumps(fields).encode())
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_network_that_looks_ahead_is_refused_once_it_has_weights(tmp_path: Path) -> None:
    fields = architectures.fields_of("gemma3_text") | {"use_bidirectional_attention": True}
    folder = architectures.write(tmp_path, fields)
    with pytest.raises(UserFacingError, match="depend on later tokens"):
        first_head.imported_head(folder, layout="flat")


@pytest.mark.parametrize("name", ["llama", "qwen2"])
def test_two_tables_that_the_configuration_calls_one_are_refused(name: str, tmp_path: Path) -> None:
    fields = architectures.DECODERS["qwen3"] | {"model_type": name, "tie_word_embeddings": False}
    folder = architectures.write(tmp_path, fields)
    (folder / "config.json").write_text(json.dumps(fields | {"tie_word_embeddings": True}))
    with pytest.raises(UserFacingError, match="tie_word_embeddings"):
        first_head.imported_head(folder, layout="flat")
