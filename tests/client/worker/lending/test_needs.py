"""Memory of the ranks of a cell, beside that of one card by itself."""

from __future__ import annotations

import json

import msgspec
import pytest

from tequio_client.ipc.cell import smallest_cell
from tequio_client.trainer import model, pipeline
from tequio_client.trainer.llama import Llama
from tequio_client.worker.cells.hosting import check_memory
from tequio_client.worker.cells.messages import CellDevice
from tequio_client.worker.lending.needs import (
    MEMORY_BASE_MB,
    MOST_COMPUTERS,
    cell_needs,
    may_divide_layers,
    min_memory_mb,
    rank_memory_mb,
    stage_parameters,
)
from tequio_shared.errors import UserFacingError
from tequio_shared.round.manifest import Manifest
from tests.support.tiny_run import tiny_manifest

CARD_MB = 8 << 10
LARGE = {
    "architectures": ["LlamaForCausalLM"],
    "model_type": "llama",
    "vocab_size": 32_000,
    "hidden_size": 2_048,
    "intermediate_size": 5_632,
    "num_hidden_layers": 20,
    "num_attention_heads": 32,
    "num_key_value_heads": 4,
    "max_position_embeddings": 1_024,
    "tie_word_embeddings": False,
}
"""A model of a thousand million parameters."""


def network_of(tied: bool) -> Llama:  # noqa: FBT001 - a parameter of pytest
    found = model.sketch(json.dumps({**LARGE, "tie_word_embeddings": tied}).encode()).network
    assert isinstance(found, Llama)
    return found


def manifest_of(network: Llama) -> Manifest:
    """A run that trains the network."""
    tensors = tuple((name, tuple(one.shape)) for name, one in network.named_parameters())
    count = sum(one.numel() for one in network.parameters())
    manifest = tiny_manifest()
    spec = msgspec.structs.replace(
        manifest.model, tensors=tensors, parameters=count, sequence=1_024
    )
    tokenizer = msgspec.structs.replace(manifest.tokenizer, vocab_size=32_000)
    return msgspec.structs.replace(manifest, model=spec, tokenizer=tokenizer)


@pytest.mark.parametrize("division", ["shard", "pipeline", "tensor"])
def test_four_cards_of_8_gb_hold_what_none_of_them_could(division: str) -> None:
    manifest = manifest_of(network_of(tied=False))
    assert min_memory_mb(manifest) > 1.5 * CARD_MB
    needed = [rank_memory_mb(manifest, ranks, division) for ranks in (2, 4, 8)]  # type: ignore[arg-type]
    assert needed == sorted(needed, reverse=True)
    assert MEMORY_BASE_MB < needed[1] < CARD_MB


def test_without_a_division_every_rank_has_the_whole_model() -> None:
    manifest = manifest_of(network_of(tied=False))
    whole = 8 * manifest.model.parameters >> 20
    needed = [rank_memory_mb(manifest, ranks, "none") for ranks in (2, 16)]
    assert whole < needed[1] < needed[0] <= min_memory_mb(manifest)


@pytest.mark.parametrize("tied", [False, True])
@pytest.mark.parametrize("ranks", [2, 3, 4, 7])
def test_stages_are_those_of_the_trainer(ranks: int, tied: bool) -> None:  # noqa: FBT001 - as above
    network = network_of(tied)
    layers = pipeline.layers_of_ranks(network, ranks)
    each = sum(one.numel() for one in network.model.layers[0].parameters() if one.ndim > 1)
    expected = [each * len(one) for one in layers]
    expected[0] += network.model.embed_tokens.weight.numel()
    expected[-1] += network.lm_head.weight.numel()
    assert stage_parameters(manifest_of(network), ranks) == pytest.approx(expected)


def test_volunteers_are_told_the_smallest_cell_of_cards_like_theirs() -> None:
    needs = cell_needs(manifest_of(network_of(tied=False)))
    assert [one.ranks for one in needs] == [*range(2, MOST_COMPUTERS + 1)]
    found = smallest_cell(needs, CARD_MB)
    assert found is not None
    assert found.division == "pipeline"
    assert found.memory_mb <= CARD_MB < needs[found.ranks - 3].memory_mb
    assert found.command == f"tequio cell host --guests {found.ranks - 1} --pipeline"
    assert smallest_cell(needs, MEMORY_BASE_MB) is None


def test_layers_are_divided_only_where_the_trainer_can() -> None:
    manifest = manifest_of(network_of(tied=False))
    assert may_divide_layers(manifest, 8)
    assert not may_divide_layers(manifest, LARGE["num_hidden_layers"] + 1)  # type: ignore[operator]
    signs = msgspec.structs.replace(manifest.algorithm, name="distro")
    assert not may_divide_layers(msgspec.structs.replace(manifest, algorithm=signs), 2)
    names = [(f"{name}.bias", shape) for name, shape in manifest.model.tensors]
    other = msgspec.structs.replace(manifest.model, tensors=tuple(names))
    unlike = msgspec.structs.replace(manifest, model=other)
    assert not may_divide_layers(unlike, 2)
    assert {one.division for one in cell_needs(unlike)} == {"none"}


def test_a_host_checks_its_memory_before_it_waits_for_guests() -> None:
    manifest = manifest_of(network_of(tied=False))
    card = CellDevice(id="cuda:0", name="a card", memory_mb=CARD_MB)
    needed = rank_memory_mb(manifest, 2, "none")
    with pytest.raises(UserFacingError, match=r"such computers could train it \(tequio cell host"):
        check_memory(manifest, needed, card, 0)
    with pytest.raises(UserFacingError, match="cuda:0 has 700 MiB: use a larger card"):
        check_memory(manifest, needed, card, 700)
    check_memory(manifest, rank_memory_mb(manifest, 8, "pipeline"), card, 0)
    check_memory(manifest, needed, CellDevice(id="cuda:0", name="unknown"), 0)
