"""Memory of the ranks of a cell, beside that of one card by itself."""

from __future__ import annotations

import json
import math
from functools import cache

import msgspec
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from tequio_client.ipc.cell import cell_of_size, smallest_cell
from tequio_client.ipc.cell_division import (
    TENSOR_KINDS,
    may_propose_tensor,
    parse_fields,
    why_undivided,
)
from tequio_client.trainer import model, pipeline
from tequio_client.trainer.llama import Llama
from tequio_client.worker.cells.hosting import check_division, check_memory
from tequio_client.worker.cells.messages import CellDevice
from tequio_client.worker.lending.needs import (
    MEMORY_BASE_MB,
    MOST_COMPUTERS,
    MOST_LOGITS,
    cell_needs,
    min_memory_mb,
    rank_memory_mb,
    stage_parameters,
)
from tequio_shared.errors import UserFacingError
from tequio_shared.head.layout import BaseFile, FrozenBase
from tequio_shared.ids import to_text
from tequio_shared.round.manifest import Manifest
from tequio_shared.round.plugin import PluginSpec, Seam
from tests.support.attack_table import attack
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
CONFIG = json.dumps(LARGE).encode()


def config_of(kind: str, **changes: object) -> bytes:
    """Configuration of a network of another kind whose tensors have the same names and sizes."""
    return json.dumps({**LARGE, "model_type": kind, **changes}).encode()


def network_of(tied: bool) -> Llama:  # noqa: FBT001 - a parameter of pytest
    found = model.sketch(json.dumps({**LARGE, "tie_word_embeddings": tied}).encode()).network
    assert isinstance(found, Llama)
    return found


def manifest_of(network: Llama) -> Manifest:
    """A run that trains the network."""
    tensors = tuple(sorted((name, tuple(one.shape)) for name, one in network.named_parameters()))
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


@pytest.mark.parametrize("symbols", [1_000, 32_000])
def test_a_rank_that_divides_matrices_needs_what_the_formula_says(symbols: int) -> None:
    """The largest matrix is gathered, or the gradient of a table is larger: one of each here."""
    config = json.dumps({**LARGE, "vocab_size": symbols}).encode()
    network = model.sketch(config).network
    assert isinstance(network, Llama)
    manifest = manifest_of(network)
    width, inner, keys, layers, tokens, ranks = 2_048, 5_632, 256, 20, 4_096, 4
    hidden = layers * width * (2 * width + 2 * keys + 3 * inner)
    every = manifest.model.parameters
    state = 8 * every + 4 * hidden + 8 * (every - hidden)
    gathered = max(16 * width * inner, 4 * symbols * width)
    outputs = 3 * width + 2 * keys + 2 * inner
    passing = 8 * MOST_LOGITS + tokens * (4 * layers * width + 9 * outputs)
    taken = math.ceil((state / ranks + gathered + passing) / 2**20)
    assert rank_memory_mb(manifest, ranks, "tensor") == MEMORY_BASE_MB + taken


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
    needs = cell_needs(manifest_of(network_of(tied=False)), CONFIG)
    hosted = [one for one in needs if not one.is_one_computer]
    assert [one.ranks for one in hosted] == [*range(2, MOST_COMPUTERS + 1)]
    found = smallest_cell(needs, CARD_MB)
    assert found is not None
    assert found.division == "pipeline"
    assert found.memory_mb <= CARD_MB < hosted[found.ranks - 3].memory_mb
    assert found.command == f"tequio cell host --guests {found.ranks - 1} --pipeline"
    assert smallest_cell(needs, MEMORY_BASE_MB) is None


def test_layers_are_divided_only_where_the_trainer_can() -> None:
    manifest, fields = manifest_of(network_of(tied=False)), parse_fields(CONFIG)
    layers = len(network_of(tied=False).model.layers)
    assert not why_undivided("pipeline", manifest, fields, layers)
    assert "has 20 for 21 ranks" in why_undivided("pipeline", manifest, fields, layers + 1)
    assert not why_undivided("shard", manifest, fields, layers + 1)
    signs = msgspec.structs.replace(manifest.algorithm, name="distro")
    distro = msgspec.structs.replace(manifest, algorithm=signs)
    for division in ("shard", "pipeline", "tensor"):
        assert "train all weights" in why_undivided(division, distro, fields, 2)
    assert {one.division for one in cell_needs(distro, CONFIG)} == {"none"}


@pytest.mark.parametrize(
    "config",
    [
        None,
        b"no JSON",
        b"[" * 100_000,
        b"[]",
        config_of("mistral"),
        config_of("gemma"),
        config_of("qwen3"),
        config_of("llama", hidden_act="gelu"),
        config_of("llama", rope_scaling="far"),
        config_of("llama", rope_scaling={"rope_type": "dynamic"}),
        config_of("llama", partial_rotary_factor=0.5),
    ],
)
def test_a_network_is_proposed_a_pipeline_by_its_configuration_not_by_its_tensors(
    config: bytes | None,
) -> None:
    manifest = manifest_of(network_of(tied=False))
    needs = cell_needs(manifest, config)
    assert {one.division for one in needs} <= {"none", "tensor"}
    assert [one.ranks for one in needs if one.division == "none"] == [*range(2, MOST_COMPUTERS + 1)]
    refused = "--pipeline divides plain Llama networks only, not .*: start the cell without it"
    if config is not None:
        with pytest.raises(UserFacingError, match=refused):
            check_division(manifest, config, 4, "pipeline")
    check_division(manifest, config, 4, "none")
    check_division(manifest, CONFIG, 4, "pipeline")


@pytest.mark.parametrize("kind", sorted(TENSOR_KINDS))
def test_networks_that_have_no_pipeline_are_proposed_one_computer_with_several_cards(
    kind: str,
) -> None:
    manifest = manifest_of(network_of(tied=False))
    config = config_of(kind, hidden_act="gelu_pytorch_tanh")
    needs = cell_needs(manifest, config)
    assert {one.division for one in needs} == {"none", "tensor"}
    assert {one.ranks for one in needs if one.division == "tensor"} == {2, 4}, "4 heads of keys"
    found = smallest_cell(needs, CARD_MB)
    assert found is not None
    assert found.memory_mb == rank_memory_mb(manifest, found.ranks, "tensor") <= CARD_MB
    cards = ",".join(f"cuda:{number}" for number in range(found.ranks))
    assert found.command == f"tequio worker --cell {cards} --tensor"
    assert found.members == f"{found.ranks} such cards of one computer"
    whole = next(one for one in needs if one.division == "none")
    assert smallest_cell(needs, whole.memory_mb) == whole, "several computers come first"


def test_matrices_are_divided_only_into_equal_parts_of_networks_that_are_known() -> None:
    manifest = manifest_of(network_of(tied=False))
    adam = msgspec.structs.replace(manifest.inner, optimiser="adamw", state_bits=8)
    rounded = msgspec.structs.replace(manifest, inner=adam)
    mistral = parse_fields(config_of("mistral"))
    assert [one for one in range(2, 9) if may_propose_tensor(manifest, mistral, one)] == [2, 4]
    # Rows of 5632 are 22 blocks.
    assert [one for one in range(2, 9) if may_propose_tensor(rounded, mistral, one)] == [2]
    for changes in ({"num_attention_heads": None}, {"num_attention_heads": 6}):
        assert not may_propose_tensor(manifest, parse_fields(config_of("mistral", **changes)), 4), (
            changes
        )
    for kind in ("cohere", "gpt2", "doge"):
        assert not may_propose_tensor(manifest, parse_fields(config_of(kind)), 2)
    more = (("model.layers.0.self_attn.x.weight", (8, 8)), *manifest.model.tensors)
    other = msgspec.structs.replace(manifest.model, tensors=more)
    assert not may_propose_tensor(msgspec.structs.replace(manifest, model=other), mistral, 2)
    assert not may_propose_tensor(tiny_manifest(), mistral, 2)


def test_where_tables_are_too_large_for_a_pipeline_every_weight_is_divided() -> None:
    manifest = manifest_of(network_of(tied=False))
    width, symbols = 2_048, 1_000_000
    tables = {"model.embed_tokens.weight", "lm_head.weight"}
    tensors = tuple(
        (name, (symbols, width) if name in tables else shape)
        for name, shape in manifest.model.tensors
    )
    count = sum(math.prod(shape) for _, shape in tensors)
    spec = msgspec.structs.replace(manifest.model, tensors=tensors, parameters=count)
    tokenizer = msgspec.structs.replace(manifest.tokenizer, vocab_size=symbols)
    wide = msgspec.structs.replace(manifest, model=spec, tokenizer=tokenizer)
    needs = cell_needs(wide, config_of("llama", vocab_size=symbols))
    found = smallest_cell(needs, 3 * CARD_MB)
    assert found is not None
    assert (found.division, found.is_one_computer) == ("shard", True)
    assert found.memory_mb == rank_memory_mb(wide, found.ranks, "shard")
    pipeline = rank_memory_mb(wide, MOST_COMPUTERS, "pipeline")
    assert found.memory_mb <= 3 * CARD_MB < pipeline
    expected = cell_of_size(needs, found.ranks, 3 * CARD_MB)
    assert expected == found, "a plan for cells of this size means those that fit"
    too_small = cell_of_size(needs, found.ranks, 0)
    assert too_small is not None
    assert not too_small.is_one_computer, "where none fits, the simplest is judged"


@pytest.mark.parametrize(("provides", "has_cells"), [("optimiser", False), ("tokenizer", True)])
def test_a_run_whose_trainers_load_a_plugin_has_no_cells(
    provides: Seam,
    has_cells: bool,  # noqa: FBT001 - a parameter of pytest
) -> None:
    code = PluginSpec(
        name="own", version="1.0", archive=to_text(bytes(32)), size_bytes=1, provides=(provides,)
    )
    manifest = msgspec.structs.replace(manifest_of(network_of(tied=False)), plugin=code)
    kinds = {one.division for one in cell_needs(manifest, CONFIG)}
    assert kinds == ({"pipeline", "shard", "tensor"} if has_cells else set())
    if not has_cells:
        with pytest.raises(UserFacingError, match="does not run plug-ins; let each computer"):
            check_division(manifest, None, 2, "none")


def test_no_guests_are_asked_for_a_run_whose_base_they_would_lack() -> None:
    manifest = manifest_of(network_of(tied=False))
    file = BaseFile(name="model.safetensors", size_bytes=20_000, root=manifest.data.root)
    base = FrozenBase(
        source="", revision="", parameters=9, files=(file,), rank=4, alpha=8, targets=("q_proj",)
    )
    frozen = msgspec.structs.replace(manifest, base=base)
    assert cell_needs(frozen, CONFIG) == ()
    for kind in ("none", "pipeline"):
        with pytest.raises(UserFacingError, match="do not get the files of a frozen base"):
            check_division(frozen, CONFIG, 2, kind)
    check_division(manifest, CONFIG, 2, "none")


def test_a_host_checks_its_memory_before_it_waits_for_guests() -> None:
    manifest = manifest_of(network_of(tied=False))
    needs = cell_needs(manifest, CONFIG)
    card = CellDevice(id="cuda:0", name="a card", memory_mb=CARD_MB)
    needed = rank_memory_mb(manifest, 2, "none")
    with pytest.raises(UserFacingError, match=r"such computers could train it \(tequio cell host"):
        check_memory(manifest, needs, needed, card, 0)
    with pytest.raises(UserFacingError, match="cuda:0 has 700 MiB: use a larger card"):
        check_memory(manifest, needs, needed, card, 700)
    check_memory(manifest, needs, rank_memory_mb(manifest, 8, "pipeline"), card, 0)
    check_memory(manifest, needs, needed, CellDevice(id="cuda:0", name="unknown"), 0)


ODD: tuple[object, ...] = (
    *(None, True, False, 0, -1, 1, 4, 10**4_290 + 1, 0.5, math.inf, math.nan, "", "llama"),
    *("default", [], {}, [[[1]]], {"rope_type": []}, {"type": {"a": 1}, "factor": "x"}),
)


@attack("Q7", layer="cli", ends="the other runs are listed, and that one has fewer cells")
@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    changes=st.dictionaries(
        st.sampled_from([*LARGE, "rope_scaling", "rope_parameters", "hidden_act", "x"]),
        st.sampled_from(ODD),
        max_size=4,
    ),
    kind=st.sampled_from([*sorted(TENSOR_KINDS), "x" * 10_000, "gpt2"]),
)
@example(changes={"num_attention_heads": 10**4_290 + 1}, kind="llama")
def test_any_configuration_has_cells_or_none(changes: dict[str, object], kind: str) -> None:
    """A list of runs reads the configuration of every run that somebody opened."""
    config = json.dumps({**LARGE, "model_type": kind, **changes}).encode()
    needs = cell_needs(wide_keys(), config)
    assert all(2 <= one.ranks <= MOST_COMPUTERS for one in needs)


@cache
def wide_keys() -> Manifest:
    """A run whose matrices of keys have more rows than those of queries."""
    manifest = manifest_of(network_of(tied=False))
    tensors = tuple(
        (name, (1 << 52, shape[1]) if ".k_proj." in name else shape)
        for name, shape in manifest.model.tensors
    )
    return msgspec.structs.replace(
        manifest, model=msgspec.structs.replace(manifest.model, tensors=tensors)
    )
