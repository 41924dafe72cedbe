"""Models that a cell divides: what each rank of a pipeline has, and what cannot be divided."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

import msgspec
import pytest
import torch
from transformers import CONFIG_MAPPING

from tequio_client.ipc.cell_division import LLAMA_PLAN, TENSOR_KINDS
from tequio_client.trainer import model
from tequio_client.trainer.cell import Cell, filled
from tequio_client.trainer.device import open_device
from tequio_client.trainer.division import divide
from tequio_client.trainer.llama import Llama
from tequio_client.trainer.pipeline import MicroBatches, PipelinedModel, layers_of_ranks
from tequio_client.trainer.token_loss import count_targets
from tequio_shared.errors import UserFacingError
from tequio_shared.round.manifest import InnerParams
from tests.client.trainer.small_run import CONFIG, DISTRO, FOUR_LAYERS, small_run
from tests.support.architectures import DECODERS
from tests.support.frozen_base import lora_run, write_base

if TYPE_CHECKING:
    from pathlib import Path

    from tequio_client.ipc.cell import Division

CPU = open_device("cpu")
QWEN = json.dumps({"model_type": "qwen2", **DECODERS["qwen2"]}).encode()
GPT = json.dumps({"model_type": "gpt2", **DECODERS["gpt2"]}).encode()


def network_of(layers: int, vocabulary: int) -> Llama:
    """A network without weights; each layer has 36,992."""
    changes = {"num_hidden_layers": layers, "vocab_size": vocabulary}
    network = model.sketch(json.dumps({**json.loads(CONFIG), **changes}).encode()).network
    assert isinstance(network, Llama)
    return network


@pytest.mark.parametrize(
    ("layers", "vocabulary", "ranks", "counts"),
    [
        (8, 256, 2, [4, 4]),
        (10, 256, 4, [2, 3, 3, 2]),
        (3, 256, 3, [1, 1, 1]),
        # Embedding and output layer have as many weights as two layers each.
        (8, 1_156, 3, [2, 4, 2]),
        (4, 100_000, 3, [1, 2, 1]),
    ],
)
def test_each_rank_has_consecutive_layers_and_about_as_many_weights(
    layers: int, vocabulary: int, ranks: int, counts: list[int]
) -> None:
    found = layers_of_ranks(network_of(layers, vocabulary), ranks)
    assert [len(one) for one in found] == counts
    assert [at for one in found for at in one] == list(range(layers))


@pytest.mark.parametrize("is_tied", [False, True])
def test_each_weight_is_trained_by_one_rank_which_alone_has_room_for_it(
    tmp_path: Path, *, is_tied: bool
) -> None:
    config = json.dumps({**json.loads(FOUR_LAYERS), "tie_word_embeddings": is_tied}).encode()
    manifest = small_run(tmp_path, config=config).manifest
    trained, held = list[str](), 0
    for rank in range(3):
        made = divide(config, manifest, None, CPU, Cell(rank, 3, division="pipeline"))
        assert isinstance(made, PipelinedModel)
        trained += made.part.parameters
        held += sum(one.numel() for one in made.part.network.parameters() if not one.is_meta)
    assert sorted(trained) == [name for name, _ in manifest.model.tensors]
    copied = 256 * 64 if is_tied else 0
    assert held == manifest.layout.parameters + copied


@pytest.mark.parametrize(
    ("samples", "tokens", "ranks", "expected"),
    [
        (80, 32, 2, MicroBatches(samples=10, number=8)),
        (81, 32, 2, MicroBatches(samples=11, number=8)),
        (1, 32, 4, MicroBatches(samples=1, number=4)),
        (5, 32, 4, MicroBatches(samples=1, number=5)),
        (64, 2_048, 2, MicroBatches(samples=2, number=8)),
        (9, 8_192, 2, MicroBatches(samples=1, number=5)),
    ],
)
def test_a_batch_is_cut_into_several_micro_batches_for_each_rank(
    samples: int, tokens: int, ranks: int, expected: MicroBatches
) -> None:
    assert MicroBatches.of(samples, tokens, ranks) == expected


def test_samples_that_fill_up_a_pass_have_no_loss() -> None:
    samples = torch.ones((5, 9), dtype=torch.int64)
    assert filled(samples, 4).shape == (8, 9)
    assert count_targets(filled(samples, 4)) == count_targets(samples)
    assert torch.equal(filled(samples, 5), samples)


@pytest.mark.parametrize("division", ["shard", "pipeline", "tensor"])
def test_what_cannot_be_divided_is_named_with_the_option(
    tmp_path: Path, division: Division
) -> None:
    cell = Cell(0, 2, division=division)
    run = small_run(tmp_path / "run").manifest
    distro = small_run(tmp_path / "distro", algorithm=DISTRO, inner=InnerParams(steps=1)).manifest
    adapters, _ = lora_run(write_base(tmp_path / "base"))
    half = replace(CPU, precision=torch.float16, name="GTX 1660")
    other = replace(CPU, handle=torch.device("mps"), name="Apple M3")
    cuda = replace(CPU, handle=torch.device("cuda"), precision=torch.bfloat16)  # gloo alone
    for config, manifest, device, why in (
        *([(QWEN, run, CPU, "divides plain Llama networks only")] if division != "tensor" else ()),
        (CONFIG, distro, CPU, "is for runs that train all weights by inner steps"),
        (CONFIG, adapters, CPU, "is for runs that train all weights by inner steps"),
        (CONFIG, run, half, "needs CUDA or ROCm cards that compute in bfloat16, unlike GTX 1660"),
        (CONFIG, run, other, "needs CUDA or ROCm cards that compute in bfloat16, unlike Apple M3"),
        *([(CONFIG, run, cuda, "needs NCCL between cards")] if division != "shard" else ()),
    ):
        with pytest.raises(UserFacingError, match=f"^--{division} {why}.*: start the cell without"):
            divide(config, manifest, None, device, cell)


def test_tensor_parallel_names_the_networks_and_the_ranks_that_do_not_fit(tmp_path: Path) -> None:
    run = small_run(tmp_path).manifest
    rounded = msgspec.structs.replace(
        run, inner=msgspec.structs.replace(run.inner, optimiser="adamw", state_bits=8)
    )
    changes = {"intermediate_size": 130, "num_key_value_heads": 4}
    narrow = json.dumps({**json.loads(CONFIG), **changes}).encode()
    for config, manifest, ranks, why in (
        (GPT, run, 2, "transformers has no plan for the model_type 'gpt2': start the cell without"),
        (CONFIG, run, 4, "4 ranks do not divide 4 heads of attention, with 2 of keys and values"),
        (QWEN, run, 3, "3 ranks do not divide 4 heads of attention, with 2 of keys and values"),
        (narrow, run, 4, r"a side of 130 of .*mlp.gate_proj .*: start the cell with a number of"),
        (CONFIG, rounded, 2, "the run keeps AdamW's state in blocks of 256, and 2 ranks do not"),
    ):
        with pytest.raises(UserFacingError, match=f"^--tensor cannot divide this model, .*{why}"):
            divide(config, manifest, None, CPU, Cell(0, ranks, division="tensor"))


def test_plans_of_networks_that_are_proposed_are_those_of_transformers() -> None:
    for kind in TENSOR_KINDS:
        plan = dict(CONFIG_MAPPING[kind].base_model_tp_plan or {})
        if kind in ("gemma3_text", "qwen3"):  # norms of heads, which every rank has
            for name in ("q_norm", "k_norm"):
                style = plan.pop(f"layers.*.self_attn.{name}")
                assert style == "replicated_with_grad_allreduce"
        assert plan == {f"layers.*.{name}": style for name, style in LLAMA_PLAN.items()}, kind
