"""Models that win by other means than predicting text. Layer: cli (evaluators and verifiers)."""

from __future__ import annotations

import base64
import json
import random
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import torch

from tequio_client.checkpoint import layout
from tequio_client.competition import models
from tequio_client.competition.models import ScoringTask
from tequio_client.tokenizers import ByteTokenizer
from tequio_client.trainer import causality, device, model_config
from tequio_client.trainer.likelihood import ScoredModel, ScoringDevice
from tequio_client.trainer.model import CausalModel
from tequio_client.trainer.model_config import ModelRefusedError
from tequio_client.verify.report import NoProgress
from tequio_shared.ids import Digest, PeerKey
from tequio_shared.scoring import Refusal, ScoringRules
from tests.client.competition.models import rules
from tests.support import architectures
from tests.support.attack_table import attack
from tests.support.attackers_models import (
    Broken,
    EverySecond,
    Memory,
    Neighbours,
    Network,
    NextToken,
    Oracle,
    Topic,
)

if TYPE_CHECKING:
    from tequio_shared.competition.rules import Evaluation

CPU = device.open_device("cpu")
SEED = bytes(range(32))
LIKE = architectures.fields_of("gemma3_text")
GPT_NEO = {"model_type": "gpt_neo", "vocab_size": 256, "hidden_size": 32, "num_layers": 2}
GPT_NEO |= {"num_heads": 4, "intermediate_size": 48, "max_position_embeddings": 64}
BERT = architectures.OTHERS["a filler of gaps"][0]
SEEING = {
    "attention in both directions": LIKE | {"use_bidirectional_attention": True},
    "a flag of the library alone": architectures.fields_of("qwen2") | {"is_causal": False},
    "a flag that is null": architectures.fields_of("qwen3") | {"is_causal": None},
    "our own network's kind": architectures.fields_of("qwen2")
    | {"model_type": "llama", "is_causal": False},
    "a window of nothing": architectures.fields_of("mistral") | {"sliding_window": 0},
    "a window that begins later": GPT_NEO
    | {"window_size": -5, "attention_types": [[["local"], 2]]},
    "a filler of gaps": BERT,
    "a filler of gaps that claims to be a decoder": BERT | {"is_decoder": True},
}


def noise(seed: int, size: int = 300) -> bytes:
    """Random base64: six bits of entropy in each byte."""
    return base64.b64encode(random.Random(seed).randbytes(size))


def folder_of(place: Path, fields: dict[str, Any]) -> Path:
    """A model of raw bytes with random weights."""
    return with_tokenizer(architectures.write(place, fields))


def with_tokenizer(folder: Path) -> Path:
    """Add the tokenizer of raw bytes."""
    tokenizer, settings = layout.tokenizer_files(b"", 0, architectures.CONTEXT)
    (folder / "tokenizer.json").write_bytes(tokenizer)
    (folder / "tokenizer_config.json").write_bytes(settings)
    return folder


def evaluated(folder: Path, texts: list[bytes], journal: Path) -> Evaluation:
    """The evaluation that an honest evaluator signs."""
    task = ScoringTask(
        competition=Digest(bytes(32)),
        entrant="maize",
        submission=Digest(bytes(32)),
        evaluator=PeerKey(bytes(32)),
        model=folder,
        texts=texts,
        drawn=texts,
        scoring=rules().scoring,
        beacon=Digest(SEED),
    )
    return models.evaluate_entrant(task, journal, CPU, NoProgress())


@attack("C12", layer="cli", ends="refused in the scores by every evaluator, so it is not ranked")
@pytest.mark.parametrize("what", SEEING)
def test_a_network_that_may_look_ahead_is_refused(what: str, tmp_path: Path) -> None:
    folder = folder_of(tmp_path / "model", SEEING[what])
    found = evaluated(folder, [noise(1), noise(2)], tmp_path / "journal")
    assert {str(one.refusal) for one in found.documents} == {"kind"}
    assert found.total.bits_per_byte == 8


def tried(network: Network, texts: list[str], window: int = 64) -> Refusal:
    """The reason for a refusal of a network of raw bytes."""
    model = CausalModel(network=network, parameters={}, aliases=(), hidden=frozenset())
    scored = ScoredModel(folder=Path("model"), model=model, tokenizer=ByteTokenizer(), context=0)
    scores = causality.score_tried(
        scored,
        texts,
        ScoringRules(window=window, stride=window // 2),
        ScoringDevice(device=CPU),
        seed=SEED,
        tried_on=texts,
    )
    try:
        assert len(list(scores)) == len(texts)
    except ModelRefusedError as err:
        return err.reason
    return Refusal.NONE


STORIES = [f"On day {at} the rain came back, and {at * 7} birds sang. " * 9 for at in range(12)]


@attack("C12", layer="cli", ends="found on the scored windows themselves, whatever computes them")
@pytest.mark.parametrize(
    "network", [NextToken(), EverySecond(), Topic()], ids=lambda one: type(one).__name__
)
@pytest.mark.parametrize(
    "texts", [STORIES, STORIES[:1], ["A short one."], [noise(1).decode()]], ids=len
)
def test_a_look_at_later_tokens_moves_what_came_before(network: Network, texts: list[str]) -> None:
    assert tried(network, texts) is Refusal.AHEAD


@attack(
    "C12", layer="cli", ends="random text of six bits a byte is drawn after the deadline: refused"
)
def test_a_model_that_predicts_random_text_is_refused() -> None:
    assert tried(Oracle(causality.random_text(SEED)), STORIES) is Refusal.RANDOM
    assert tried(Oracle(causality.random_text(bytes(32))), STORIES) is Refusal.NONE


@attack("C13", layer="cli", ends="the same windows are computed again, alone and in another order")
@pytest.mark.parametrize("network", [Memory(20_000), Memory(9_000)], ids=lambda one: one.after)
def test_a_network_that_remembers_is_refused(network: Network) -> None:
    assert tried(network, STORIES * 4) is Refusal.UNSTEADY


@attack("C13", layer="cli", ends="refused before anything is scored")
@pytest.mark.parametrize("network", [Memory(0), Neighbours()], ids=lambda one: type(one).__name__)
def test_a_network_that_mixes_texts_is_refused(network: Network) -> None:
    assert tried(network, STORIES) in {Refusal.AHEAD, Refusal.UNSTEADY}


@attack("C14", layer="cli", ends="refused: a score needs finite numbers for the whole vocabulary")
@pytest.mark.parametrize("network", [Broken(), Network(size=100)], ids=["NaN", "too few numbers"])
def test_predictions_that_do_not_form_probabilities_are_refused(network: Network) -> None:
    assert tried(network, STORIES) is Refusal.PREDICTIONS


def equal_and_huge_after_a_blank(folder: Path) -> Path:
    """Hand-made weights: every token gets the same logit, 0 before the first blank, then huge."""
    fields = architectures.fields_of("qwen3") | {"tie_word_embeddings": False, "head_dim": 8}
    network = architectures.filled(fields)
    with torch.no_grad():
        for name, weights in network.named_parameters():
            weights.fill_(1.0 if "norm" in name else 0.0)
        network.model.embed_tokens.weight[:, 0] = 1
        network.model.embed_tokens.weight[ord(" "), 1] = 1
        attention = network.model.layers[0].self_attn
        attention.v_proj.weight[0, 1] = attention.o_proj.weight[2, 0] = 1
        network.lm_head.weight[:, 2] = 1e30
    network.save_pretrained(folder)
    (folder / "config.json").write_text(json.dumps(fields))
    return with_tokenizer(folder)


@attack("C14", layer="cli", ends="probabilities add up to one however large the logits are: 8 bits")
def test_equal_logits_are_equal_chances_however_large(tmp_path: Path) -> None:
    folder = equal_and_huge_after_a_blank(tmp_path / "model")
    found = evaluated(folder, [one.encode() for one in STORIES[:2]], tmp_path / "journal")
    assert {one.refusal for one in found.documents} == {Refusal.NONE}
    assert found.total.bits_per_byte == pytest.approx(8)


def test_numbers_for_more_than_the_vocabulary_take_from_the_others() -> None:
    assert tried(Network(size=300), STORIES) is Refusal.NONE


def _lossy(**changes: object) -> bytes:
    whole = json.loads(layout.tokenizer_files(b"", 0, 64)[0])
    whole["model"] |= changes.pop("model", {})
    return json.dumps(whole | changes).encode()


LOSSY = {
    "drops vowels": _lossy(
        normalizer={"type": "Replace", "pattern": {"Regex": "[aeiou]"}, "content": ""}
    ),
    "one token for all it does not know": _lossy(
        model={"vocab": {"\0": 0, "?": 1}, "unk_token": "?", "fuse_unk": True}
    ),
    "fails at all it does not know": _lossy(
        model={"type": "WordLevel", "vocab": {"\0": 0}, "unk_token": "[UNK]"}
    ),
    "panics": _lossy(pre_tokenizer={"type": "FixedLength", "length": 0}),
}


@attack("C15", layer="cli", ends="each byte of a text that it loses or fails at costs 8 bits")
@pytest.mark.parametrize("what", LOSSY)
def test_a_tokenizer_gains_nothing_by_losing_text(what: str, tmp_path: Path) -> None:
    folder = folder_of(tmp_path / "model", architectures.fields_of("qwen2"))
    (folder / "tokenizer.json").write_bytes(LOSSY[what])
    found = evaluated(folder, [one.encode() for one in STORIES[:2]], tmp_path / "journal")
    assert {one.refusal for one in found.documents} == {Refusal.ROUND_TRIP}
    assert found.total.bits_per_byte == 8


def test_an_honest_model_passes_the_trials(tmp_path: Path) -> None:
    folder = folder_of(tmp_path / "model", architectures.small_fields("mixtral"))
    found = evaluated(folder, [one.encode() for one in STORIES[:2]], tmp_path / "journal")
    assert {one.refusal for one in found.documents} == {Refusal.NONE}
    assert found.total.bits_per_byte > 1


@pytest.mark.parametrize("kind", sorted(model_config.CAUSAL_KINDS))
def test_no_kind_that_may_be_scored_looks_ahead(kind: str) -> None:
    fields = model_config.parse_config(json.dumps(architectures.small_fields(kind)).encode())
    network: Any = architectures.filled(fields).eval()
    chance = torch.Generator().manual_seed(1)
    ids = torch.randint(1, 256, (2, 48), generator=chance)
    ids[1, :30] = ids[0, :30]
    with torch.no_grad():
        one, other = network(input_ids=ids, use_cache=False).logits.log_softmax(-1)
    assert (one - other)[:30].abs().max() < causality.NEAR_NATS / 10
    assert (one - other)[30:].abs().max() > 0.1
