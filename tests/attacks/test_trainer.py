"""A hostile organiser's model and data against a volunteer's trainer. Layer: cli (the trainer)."""

from __future__ import annotations

import json
import resource
from typing import TYPE_CHECKING

import msgspec
import numpy as np
import pytest

from tequio_client.trainer import model
from tequio_client.trainer.prepared import (
    ModelError,
    TrainingData,
    held_out_documents,
    prepare_model,
)
from tequio_shared.errors import UserFacingError
from tests.client.trainer.small_run import CONFIG, SmallRun, small_run
from tests.support.attack_table import attack

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> SmallRun:
    return small_run(tmp_path_factory.mktemp("run"))


def config(**changes: object) -> bytes:
    return json.dumps(json.loads(CONFIG) | changes).encode()


def resident_kb() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


GPT = {"model_type": "gpt2", "vocab_size": 64, "n_embd": 32, "n_layer": 1, "n_head": 2}
HOSTILE = {
    "a terabyte of embeddings": config(vocab_size=1 << 32),
    "sizes whose product overflows": config(vocab_size=1 << 40, hidden_size=1 << 40),
    "a billion layers": config(num_hidden_layers=10**9),
    "a billion layers of a foreign architecture": json.dumps(GPT | {"n_layer": 10**9}).encode(),
    "a billion experts": json.dumps(
        {"model_type": "mixtral", "num_local_experts": 10**9, "num_hidden_layers": 1}
    ).encode(),
    "a billion layers in a list": json.dumps(
        {"model_type": "gpt_neo", "num_layers": 2, "attention_types": [[["global"], 10**9]]}
    ).encode(),
    "a billion labels": json.dumps(GPT | {"num_labels": 10**9}).encode(),
    "a hundred thousand parts of a layer": json.dumps(
        {"model_type": "gemma3n_text", "num_hidden_layers": 1, "altup_num_inputs": 10**5}
        | {"layer_types": ["full_attention"], "num_kv_shared_layers": 0, "intermediate_size": [64]}
        | {"activation_sparsity_pattern": [0.0]}
    ).encode(),
    "a table for a billion places, made in Python": json.dumps(
        {"model_type": "xlm", "sinusoidal_embeddings": True, "max_position_embeddings": 10**9}
    ).encode(),
    "rope scaling without end": config(rope_scaling={"rope_type": "llama3", "factor": 1e308 * 10}),
    "no heads": config(num_attention_heads=0),
    "sizes that are words": config(hidden_size="wide"),
    "negative sizes": config(hidden_size=-64),
    "another model than the manifest's": config(hidden_size=128),
    "no model": b'{"model_type": "no such thing"}',
    "a list": b"[]",
    "JSON without end": b"[" * 100_000,
    "bytes": b"\xff\xfe\x00",
}


@attack("P13", layer="cli", ends="refused before any memory is taken")
@pytest.mark.parametrize("name", HOSTILE)
def test_a_configuration_is_held_against_the_manifest_before_it_takes_memory(
    run: SmallRun, tmp_path: Path, name: str
) -> None:
    (tmp_path / "config.json").write_bytes(HOSTILE[name])
    before_kb = resident_kb()
    with pytest.raises(ModelError):
        prepare_model(run.prepare(1, config=str(tmp_path / "config.json")))
    assert resident_kb() - before_kb < 400_000  # transformers itself takes some


@attack("P13", layer="cli", ends="fields that name code are dropped; nothing is loaded")
@pytest.mark.parametrize(
    "words",
    [
        {"auto_map": {"AutoModelForCausalLM": "stranger/repo--modeling.Evil"}},
        {"attn_implementation": "stranger/kernel"},
        {"_attn_implementation": "stranger/kernel"},
        {"_attn_implementation_internal": "stranger/kernel"},
        {"trust_remote_code": True, "_name_or_path": "stranger/repo"},
        {"quantization_config": {"quant_method": "gptq", "bits": 4}},
    ],
)
def test_a_configuration_that_asks_for_a_strangers_code_gets_none(words: dict[str, object]) -> None:
    plain = model.build(json.dumps(GPT).encode())
    asked = model.build(json.dumps(GPT | words).encode())
    assert asked.tensors == plain.tensors
    assert type(asked.network) is type(plain.network)
    assert asked.network.config._attn_implementation != "stranger/kernel"  # type: ignore[union-attr]  # noqa: SLF001


def test_tables_beside_the_weights_are_bounded() -> None:
    wide = json.dumps(GPT | {"n_positions": 1 << 20, "n_embd": 2}).encode()
    outline = model.build(json.dumps(GPT | {"n_embd": 2}).encode())
    tensors = tuple(
        (name, (1 << 20, 2) if "wpe" in name else shape) for name, shape in outline.tensors
    )
    try:
        made = model.build_from_manifest(wide, tensors, outline.aliases)
    except UserFacingError as err:
        assert "tables" in str(err)  # noqa: PT017
    else:
        assert sum(one.numel() for one in made.network.buffers()) < 1 << 27


def test_honest_models_are_built_as_before() -> None:
    for said in (CONFIG, json.dumps(GPT).encode()):
        plain = model.build(said)
        assert (
            model.build_from_manifest(said, plain.tensors, plain.aliases).tensors == plain.tensors
        )


def test_token_ids_beyond_the_vocabulary_are_refused_before_they_meet_the_model(
    run: SmallRun, tmp_path: Path
) -> None:
    shard = run.corpus.train[0]
    ids = np.full(shard.size_bytes, 255, np.uint8)
    (tmp_path / "shard").write_bytes(ids.tobytes())
    small = msgspec.structs.replace(
        run.corpus, tokenizer=msgspec.structs.replace(run.corpus.tokenizer, vocab_size=200)
    )
    training = TrainingData.open(small, [(0, tmp_path / "shard")], seed=1, window_samples=1)
    with pytest.raises(UserFacingError, match=r"token id 255|missing"):
        training.samples(range(training.order.window_samples(0, 1)[0].sample + 1))


def test_a_held_out_shard_with_ids_of_no_token_is_refused(run: SmallRun) -> None:
    path = run.folder / run.held_out[0].path
    with pytest.raises(UserFacingError, match="but the vocabulary ends at"):
        list(held_out_documents(path, run.corpus.held_out[0], 1, 10))


def test_data_with_more_tokens_than_the_model_takes_is_refused(
    run: SmallRun, tmp_path: Path
) -> None:
    small = config(vocab_size=128)
    built = model.build(small)
    described = msgspec.structs.replace(
        run.manifest.model,
        tensors=built.tensors,
        parameters=built.layout("flat").parameters,
    )
    manifest = msgspec.structs.replace(run.manifest, model=described)
    (tmp_path / "manifest.json").write_bytes(manifest.encode())
    (tmp_path / "config.json").write_bytes(small)
    wish = run.prepare(
        1, manifest=str(tmp_path / "manifest.json"), config=str(tmp_path / "config.json")
    )
    with pytest.raises(ModelError, match="256 token ids"):
        prepare_model(wish)


@pytest.mark.parametrize("size", [0, 1])
def test_a_shard_of_another_size_is_refused(run: SmallRun, tmp_path: Path, size: int) -> None:
    (tmp_path / "shard").write_bytes(bytes(size))
    with pytest.raises(UserFacingError, match="bytes instead of"):
        TrainingData.open(run.corpus, [(0, tmp_path / "shard")], seed=1, window_samples=1)
