"""Models: our Llama is transformers' Llama, and weights survive the way through integers."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import numpy as np
import pytest
import torch
from safetensors.numpy import save_file

from tequio_client.trainer import first_head, hub_models, llama, model
from tequio_client.trainer.llama import Llama, LlamaConfig
from tequio_shared.errors import UserFacingError
from tests.client.trainer.small_run import CONFIG

if TYPE_CHECKING:
    from pathlib import Path

    from tequio_shared.head.layout import LayoutKind

IDS = torch.arange(60).reshape(2, 30) * 4


def _with(**changes: object) -> bytes:
    return json.dumps(json.loads(CONFIG) | changes).encode()


LLAMA3 = {
    "rope_type": "llama3",
    "factor": 8.0,
    "low_freq_factor": 1.0,
    "high_freq_factor": 4.0,
    "original_max_position_embeddings": 16,
}
YARN = {"type": "yarn", "factor": 4.0, "original_max_position_embeddings": 64}
OURS: dict[str, dict[str, object]] = {
    "plain": {},
    "tied": {"tie_word_embeddings": True},
    "theta": {"rope_theta": 500_000.0},
    "theta, new field": {"rope_parameters": {"rope_type": "default", "rope_theta": 500_000.0}},
    "linear": {"rope_scaling": {"type": "linear", "factor": 2.0}, "rope_theta": 900.0},
    "linear, new field": {
        "rope_parameters": {"rope_type": "linear", "factor": 2.0, "rope_theta": 900.0}
    },
    "llama3": {"rope_scaling": LLAMA3, "rope_theta": 500_000.0},
    "llama3, new field": {"rope_parameters": LLAMA3 | {"rope_theta": 500_000.0}},
    "llama3, context outside": {
        "rope_scaling": {n: LLAMA3[n] for n in LLAMA3 if not n.startswith("original")},
        "original_max_position_embeddings": 24,
    },
    "yarn": {"rope_scaling": YARN},
    "yarn, bounds": {"rope_scaling": YARN | {"beta_fast": 8, "beta_slow": 2, "truncate": False}},
    "yarn, mscale": {"rope_scaling": YARN | {"mscale": 0.7, "mscale_all_dim": 0.4}},
    "yarn, larger": {"rope_scaling": YARN | {"attention_factor": 1.3}},
    "yarn, no factor": {"rope_scaling": YARN | {"factor": None}, "max_position_embeddings": 192},
    "both fields": {
        "rope_scaling": {"type": "linear", "factor": 4.0},
        "rope_parameters": LLAMA3 | {"rope_theta": 7.0},
    },
    "biases": {"attention_bias": True, "mlp_bias": True},
}


@pytest.mark.parametrize("changes", OURS.values(), ids=OURS)
def test_our_llama_gives_the_outputs_of_transformers(changes: dict[str, object]) -> None:
    ours = model.build_random(_with(**changes), 1)
    assert isinstance(ours.network, Llama)
    theirs = model.of_network(hub_models.build(json.loads(_with(**changes))))
    with torch.no_grad():
        for parameter in ours.parameters.values():
            parameter.mul_(8).add_(0.125)  # attention that looks at places; biases that are there
    theirs.network.load_state_dict(ours.network.state_dict())
    assert theirs.tensors == ours.tensors
    assert theirs.aliases == ours.aliases
    assert theirs.hidden == ours.hidden
    torch.testing.assert_close(ours.logits(IDS), theirs.logits(IDS))


@pytest.mark.parametrize("name", [one for one in OURS if "yarn" in one or "llama3" in one])
def test_scaling_changes_what_our_llama_says(name: str) -> None:
    plain, scaled = model.build_random(CONFIG, 1), model.build_random(_with(**OURS[name]), 1)
    with torch.no_grad():
        for one in (plain, scaled):
            for parameter in one.parameters.values():
                parameter.mul_(8)
    assert not torch.allclose(plain.logits(IDS), scaled.logits(IDS), rtol=1e-3)


@pytest.mark.parametrize(
    ("scaling", "said"),
    [
        ({"type": "linear"}, "rope scaling linear needs factor"),
        ({"type": "linear", "factor": 0}, "factor is invalid: '0'"),
        ({"type": "linear", "factor": "wide"}, "factor is invalid: 'wide'"),
        ({"type": "linear", "factor": 1e400}, "factor is invalid: 'inf'"),
        (LLAMA3 | {"low_freq_factor": 4.0}, "llama3 needs low_freq_factor and"),
        (YARN | {"rope_theta": 1.0}, "yarn needs rope_theta other than 1"),
        (["linear"], "rope_scaling is invalid"),
    ],
)
def test_rope_scaling_that_is_none_is_told(scaling: object, said: str) -> None:
    with pytest.raises(UserFacingError, match=said):
        model.outline(_with(rope_scaling=scaling))


@pytest.mark.parametrize(
    "changes",
    [
        {"model_type": "mistral"},
        {"hidden_act": "gelu"},
        {"partial_rotary_factor": 0.5},
        {"rope_scaling": {"rope_type": "dynamic", "factor": 2.0}},
        {"rope_parameters": {"rope_type": "longrope", "factor": 2.0}},
    ],
)
def test_what_our_llama_does_not_know_goes_to_transformers(changes: dict[str, object]) -> None:
    assert LlamaConfig.from_config(json.loads(_with(**changes))) is None


def test_another_architecture_trains_too() -> None:
    config = json.dumps(
        {"model_type": "gpt2", "vocab_size": 64, "n_embd": 32, "n_layer": 1, "n_head": 2}
    ).encode()
    made = first_head.random_head(config, seed=1, layout="flat")
    assert made.model.aliases == (("transformer.wte.weight", "lm_head.weight"),)
    assert made.model.hidden
    assert not {"lm_head.weight", "transformer.wpe.weight"} & made.model.hidden
    assert made.model.logits(IDS % 64).shape == (2, 30, 64)


def test_weights_survive_the_way_through_integers() -> None:
    first = first_head.random_head(CONFIG, seed=3, layout="flat")
    other = model.build(CONFIG)
    other.load(first.master, first.layout)
    assert np.array_equal(model.master_copy(other, first.layout), first.master)
    for name, parameter in first.model.parameters.items():
        torch.testing.assert_close(other.parameters[name], parameter, atol=2**-25, rtol=0)


@pytest.mark.parametrize("layout", ["flat", "tile64"])
def test_the_delta_is_what_training_moved(layout: LayoutKind) -> None:
    first = first_head.random_head(CONFIG, seed=3, layout=layout)
    first.model.load(first.master, first.layout)
    with torch.no_grad():
        first.model.parameters["model.norm.weight"].sub_(0.5)
    delta = np.zeros(first.layout.elements, np.float32)
    assert first.model.write_delta(first.master, first.layout, delta)
    tensors = first.layout.unflatten(delta)
    assert (tensors.pop("model.norm.weight") == 0.5).all()
    assert not any(tensor.any() for tensor in tensors.values())


@pytest.mark.parametrize("layout", ["flat", "tile64"])
def test_a_gradient_is_written_at_the_places_of_its_weights(layout: LayoutKind) -> None:
    first = first_head.random_head(CONFIG, seed=3, layout=layout)
    parameters = first.model.parameters
    parameters["model.norm.weight"].grad = torch.full_like(parameters["model.norm.weight"], 0.5)
    gradient = np.zeros(first.layout.elements, np.float32)
    assert first.model.write_gradient(first.layout, gradient)
    tensors = first.layout.unflatten(gradient)
    assert (tensors.pop("model.norm.weight") == 0.5).all()
    assert not any(tensor.any() for tensor in tensors.values())
    parameters["model.norm.weight"].grad[3] = torch.inf
    assert not first.model.write_gradient(first.layout, gradient)


def test_a_delta_that_is_not_finite_is_told() -> None:
    first = first_head.random_head(CONFIG, seed=3, layout="flat")
    with torch.no_grad():
        first.model.parameters["model.norm.weight"][3] = torch.nan
    delta = np.zeros(first.layout.elements, np.float32)
    assert not first.model.write_delta(first.master, first.layout, delta)


def test_a_head_is_a_hugging_face_folder(tmp_path: Path) -> None:
    first = first_head.random_head(_with(tie_word_embeddings=True), seed=3, layout="flat")
    weights = {
        name: np.ascontiguousarray(array.astype(np.float32) * np.float32(2**-24))
        for name, array in first.layout.unflatten(first.master).items()
    }
    (tmp_path / "config.json").write_bytes(first.config)
    save_file(weights, tmp_path / "model.safetensors", metadata={"format": "pt"})
    again = first_head.imported_head(tmp_path, layout="flat")
    assert np.array_equal(again.master, first.master)
    assert again.model.tensors == first.model.tensors


@pytest.mark.parametrize("config", [b"{", b"{}", b'{"model_type": "no such model"}'])
def test_a_configuration_that_is_none_is_refused(config: bytes) -> None:
    with pytest.raises(UserFacingError):
        model.build(config)


def test_weights_out_of_range_are_refused() -> None:
    first = first_head.random_head(CONFIG, seed=3, layout="flat")
    with torch.no_grad():
        first.model.parameters["model.norm.weight"][0] = 128.0
    with pytest.raises(UserFacingError, match="beyond"):
        model.master_copy(first.model, first.layout)


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"tie_word_embeddings": True},
        {"head_dim": 12},
        {"attention_bias": True, "mlp_bias": True},
    ],
)
def test_the_shapes_of_our_llama_are_those_of_the_network(changes: dict[str, object]) -> None:
    config = LlamaConfig.from_config(json.loads(_with(**changes)))
    assert config is not None
    built = model.build(_with(**changes))
    assert llama.tensor_shapes(config) == built.tensors
    assert built.aliases == (((llama.EMBEDDING, llama.HEAD),) if config.is_tied else ())


def test_a_network_without_memory_draws_no_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn: list[object] = []
    monkeypatch.setattr(torch.nn.init, "normal_", drawn.append)
    config = LlamaConfig.from_config(json.loads(CONFIG))
    assert config is not None
    with torch.device("meta"):
        network = Llama(config)
    assert all(one.is_meta for one in network.parameters())
    assert not drawn, "on this device torch loads its compiler to draw them"
