"""Models: our Llama is transformers' Llama, and weights survive the way through integers."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import numpy as np
import pytest
import torch

from tequio_client.trainer import llama, model, origin
from tequio_client.trainer.llama import Llama, LlamaConfig
from tequio_shared.errors import UserFacingError
from tests.client.trainer.small_run import CONFIG

if TYPE_CHECKING:
    from pathlib import Path

    from tequio_shared.layout import LayoutKind

IDS = torch.arange(60).reshape(2, 30) * 4


def _with(**changes: object) -> bytes:
    return json.dumps(json.loads(CONFIG) | changes).encode()


@pytest.mark.parametrize("changes", [{}, {"tie_word_embeddings": True}, {"rope_theta": 500_000.0}])
def test_our_llama_gives_the_outputs_of_transformers(changes: dict[str, object]) -> None:
    ours = model.create(_with(**changes), 1)
    assert isinstance(ours.network, Llama)
    theirs = model.of_network(model.from_transformers(json.loads(_with(**changes))))
    theirs.network.load_state_dict(ours.network.state_dict())
    assert theirs.tensors == ours.tensors
    assert theirs.aliases == ours.aliases
    assert theirs.hidden == ours.hidden
    torch.testing.assert_close(ours.logits(IDS), theirs.logits(IDS))


@pytest.mark.parametrize(
    "changes",
    [
        {"model_type": "mistral"},
        {"attention_bias": True},
        {"hidden_act": "gelu"},
        {"rope_parameters": {"rope_type": "linear", "factor": 2.0}},
        {"rope_scaling": {"type": "linear", "factor": 2.0}},
    ],
)
def test_what_our_llama_does_not_know_goes_to_transformers(changes: dict[str, object]) -> None:
    assert LlamaConfig.of(json.loads(_with(**changes))) is None


def test_another_architecture_trains_too() -> None:
    config = json.dumps(
        {"model_type": "gpt2", "vocab_size": 64, "n_embd": 32, "n_layer": 1, "n_head": 2}
    ).encode()
    made = origin.from_config(config, seed=1, layout="flat")
    assert made.model.aliases == (("transformer.wte.weight", "lm_head.weight"),)
    assert made.model.hidden
    assert not {"lm_head.weight", "transformer.wpe.weight"} & made.model.hidden
    assert made.model.logits(IDS % 64).shape == (2, 30, 64)


def test_weights_survive_the_way_through_integers() -> None:
    first = origin.from_config(CONFIG, seed=3, layout="flat")
    other = model.build(CONFIG)
    other.load(first.master, first.layout)
    assert np.array_equal(model.master_copy(other, first.layout), first.master)
    for name, parameter in first.model.parameters.items():
        torch.testing.assert_close(other.parameters[name], parameter, atol=2**-25, rtol=0)


@pytest.mark.parametrize("layout", ["flat", "tile64"])
def test_the_delta_is_what_training_moved(layout: LayoutKind) -> None:
    first = origin.from_config(CONFIG, seed=3, layout=layout)
    first.model.load(first.master, first.layout)
    with torch.no_grad():
        first.model.parameters["model.norm.weight"].sub_(0.5)
    delta = np.zeros(first.layout.elements, np.float32)
    assert first.model.write_delta(first.master, first.layout, delta)
    tensors = first.layout.unflatten(delta)
    assert (tensors.pop("model.norm.weight") == 0.5).all()
    assert not any(tensor.any() for tensor in tensors.values())


def test_a_delta_that_is_not_finite_is_told() -> None:
    first = origin.from_config(CONFIG, seed=3, layout="flat")
    with torch.no_grad():
        first.model.parameters["model.norm.weight"][3] = torch.nan
    delta = np.zeros(first.layout.elements, np.float32)
    assert not first.model.write_delta(first.master, first.layout, delta)


def test_a_head_is_a_hugging_face_folder(tmp_path: Path) -> None:
    first = origin.from_config(_with(tie_word_embeddings=True), seed=3, layout="flat")
    model.save_pretrained(first.config, first.model, first.layout, first.master, tmp_path)
    again = origin.from_folder(tmp_path, layout="flat")
    assert np.array_equal(again.master, first.master)
    assert again.model.tensors == first.model.tensors


@pytest.mark.parametrize("config", [b"{", b"{}", b'{"model_type": "no such model"}'])
def test_a_configuration_that_is_none_is_refused(config: bytes) -> None:
    with pytest.raises(UserFacingError):
        model.build(config)


def test_weights_out_of_range_are_refused() -> None:
    first = origin.from_config(CONFIG, seed=3, layout="flat")
    with torch.no_grad():
        first.model.parameters["model.norm.weight"][0] = 128.0
    with pytest.raises(UserFacingError, match="within"):
        model.master_copy(first.model, first.layout)


@pytest.mark.parametrize("changes", [{}, {"tie_word_embeddings": True}, {"head_dim": 12}])
def test_the_shapes_of_our_llama_are_those_of_the_network(changes: dict[str, object]) -> None:
    config = LlamaConfig.of(json.loads(_with(**changes)))
    assert config is not None
    built = model.build(_with(**changes))
    assert llama.shapes(config) == built.tensors
    assert built.aliases == (((llama.EMBEDDING, llama.HEAD),) if config.is_tied else ())
