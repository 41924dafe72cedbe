"""A model to be scored is a stranger's folder: what is wrong with it is one clear sentence."""

from __future__ import annotations

import json
import pickle  # noqa: TID251 - the tests write what the code must refuse
from typing import TYPE_CHECKING, Any

import pytest
import torch
from safetensors.torch import save_file

from tequio_client.trainer import likelihood, model, weights
from tequio_shared.errors import UserFacingError
from tequio_shared.limits import BLOB_BYTES
from tequio_shared.scoring import ScoringRules
from tests.support import model_folders
from tests.support.attack_table import attack

if TYPE_CHECKING:
    from pathlib import Path

    from tequio_client.trainer.likelihood import ScoredModel


CONFIG = model_folders.llama(256)
GPT2 = {
    "model_type": "gpt2",
    "vocab_size": 256,
    "n_embd": 32,
    "n_layer": 1,
    "n_head": 2,
    "n_positions": 48,
}


def _open(folder: Path, **choices: Any) -> ScoredModel:  # noqa: ANN401 - passed on
    return likelihood.open_model(folder, **({"tokenizer": "bytes", "prefix": None} | choices))


def _refused(folder: Path, **choices: Any) -> str:  # noqa: ANN401 - passed on
    with pytest.raises(UserFacingError) as told:
        _open(folder, **choices)
    message = str(told.value)
    assert "\n" not in message
    return message


def _bpe() -> bytes:
    return model_folders.bpe(["the mill and the milpa, the mill and the milpa"], 300)


def test_a_folder_without_weights_of_any_kind_is_told(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text(json.dumps(CONFIG))
    assert "has no weights" in _refused(tmp_path)


class Opened:
    """A pickle that says when it is read."""

    def __reduce__(self) -> tuple[object, tuple[str, ...]]:
        return (open, ("opened", "w"))


@pytest.mark.parametrize("name", ["pytorch_model.bin", "model.pt", "weights.pkl"])
def test_a_pickle_is_refused_and_never_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "config.json").write_text(json.dumps(CONFIG))
    (tmp_path / name).write_bytes(pickle.dumps(Opened()))
    message = _refused(tmp_path)
    assert f"{name} is a pickle" in message
    assert "save_pretrained" in message
    assert not (tmp_path / "opened").exists()


def test_a_pickle_under_another_name_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "config.json").write_text(json.dumps(CONFIG))
    torch.save({"weights": torch.ones(3)}, tmp_path / "model.safetensors")
    assert "a pickle under another name" in _refused(tmp_path)
    (tmp_path / "model.safetensors").write_bytes(pickle.dumps(Opened()))
    assert "a pickle under another name" in _refused(tmp_path)
    assert not (tmp_path / "opened").exists()


def test_a_damaged_file_is_told(tmp_path: Path) -> None:
    model_folders.write(tmp_path, CONFIG)
    whole = (tmp_path / "model.safetensors").read_bytes()
    (tmp_path / "model.safetensors").write_bytes(whole[: len(whole) // 2])
    assert "is damaged" in _refused(tmp_path)


@pytest.mark.parametrize("bad", [torch.nan, torch.inf, -torch.inf])
@pytest.mark.parametrize("config", [CONFIG, GPT2], ids=["ours", "theirs"])
def test_weights_that_are_no_numbers_are_refused(
    tmp_path: Path, bad: float, config: dict[str, Any]
) -> None:
    tensors = model_folders.tensors_of(config)
    name = sorted(tensors)[1]
    tensors[name].view(-1)[5] = bad
    folder = model_folders.write(tmp_path, config, tensors=_named(config, tensors))
    message = _refused(folder)
    assert "1 of the" in message
    assert name in message
    assert "NaN or infinite" in message


def _named(config: dict[str, Any], tensors: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    """Under the names that transformers writes: tied embeddings under the input's."""
    if config["model_type"] != "gpt2":
        return tensors
    return {
        name.replace("lm_head.weight", "transformer.wte.weight"): one
        for name, one in tensors.items()
    }


@pytest.mark.parametrize("name", ["model-other.safetensors", "adapter_model.bin"])
def test_a_file_that_the_configuration_names_is_not_read(tmp_path: Path, name: str) -> None:
    tensors = _named(GPT2, model_folders.tensors_of(GPT2))
    folder = model_folders.write(tmp_path, GPT2 | {"transformers_weights": name}, tensors=tensors)
    others = {key: torch.zeros_like(one) for key, one in tensors.items()}
    save = save_file if name.endswith(".safetensors") else torch.save
    save(others, folder / name)
    found = dict(_open(folder).model.network.named_parameters())
    assert torch.equal(found["transformer.wte.weight"], tensors["transformer.wte.weight"])


def test_another_architecture_is_scored_by_transformers(tmp_path: Path) -> None:
    tensors = _named(GPT2, model_folders.tensors_of(GPT2))
    scored = _open(model_folders.write(tmp_path, GPT2, tensors=tensors))
    assert scored.context == 48
    assert scored.scoring_rules(None, None) == ScoringRules(window=48, stride=24)
    found = dict(scored.model.network.named_parameters())
    assert torch.equal(found["transformer.wte.weight"], tensors["transformer.wte.weight"])


def test_a_tokenizer_with_more_ids_than_the_model_is_refused(tmp_path: Path) -> None:
    folder = model_folders.write(tmp_path, CONFIG, tokenizer=_bpe())
    message = _refused(folder, tokenizer=None)
    assert "ids up to" in message
    assert "256" in message
    assert "--tokenizer" in message


def test_a_tokenizer_with_fewer_ids_than_the_model_is_fine(tmp_path: Path) -> None:
    folder = model_folders.write(tmp_path, model_folders.llama(512), tokenizer=_bpe())
    assert _open(folder, tokenizer=None).tokenizer.vocab_size <= 300


def test_a_tokenizer_of_two_gigabytes_is_refused_unread(tmp_path: Path) -> None:
    folder = model_folders.write(tmp_path, CONFIG)
    with (folder / "tokenizer.json").open("wb") as file:
        file.truncate(2 << 30)  # a hole: takes no room, and reads as zeros
    message = _refused(folder, tokenizer=None)
    assert "2,147,483,648 bytes" in message
    assert f"{BLOB_BYTES:,}" in message


def test_a_missing_tokenizer_is_told_with_the_way_out(tmp_path: Path) -> None:
    message = _refused(model_folders.write(tmp_path, CONFIG), tokenizer=None)
    assert "tokenizer.json" in message
    assert "`bytes`" in message


@pytest.mark.parametrize("raw", [b"", b"{}", b"[]", b'{"model": 3}', b"\xff", b"[" * 100_000])
def test_a_tokenizer_that_is_none_is_told(tmp_path: Path, raw: bytes) -> None:
    folder = model_folders.write(tmp_path, CONFIG)
    (folder / "tokenizer.json").write_bytes(raw)
    assert "tokenizer.json is not valid" in _refused(folder, tokenizer=None)


def test_a_tokenizer_at_which_the_library_panics_is_told(tmp_path: Path) -> None:
    charsmap = {"type": "Precompiled", "precompiled_charsmap": "AAAA"}
    fields = json.loads(_bpe()) | {"normalizer": charsmap}
    folder = model_folders.write(tmp_path, CONFIG, tokenizer=json.dumps(fields).encode())
    assert "tokenizer.json is not valid" in _refused(folder, tokenizer=None)


def test_a_tokenizer_that_cuts_by_chance_is_refused(tmp_path: Path) -> None:
    fields = json.loads(_bpe())
    fields["model"]["dropout"] = 0.1
    folder = model_folders.write(
        tmp_path, model_folders.llama(512), tokenizer=json.dumps(fields).encode()
    )
    assert "dropout" in _refused(folder, tokenizer=None)


def test_truncation_that_a_tokenizer_asks_for_is_not_done(tmp_path: Path) -> None:
    fields = json.loads(_bpe())
    fields["truncation"] = {
        "direction": "Right",
        "max_length": 4,
        "strategy": "LongestFirst",
        "stride": 0,
    }
    folder = model_folders.write(
        tmp_path, model_folders.llama(512), tokenizer=json.dumps(fields).encode()
    )
    tokenizer = _open(folder, tokenizer=None).tokenizer
    text = "the mill and the milpa, over and over and over again"
    assert tokenizer.decode(tokenizer.encode(text).tolist()) == text


def test_the_prefix_is_the_begin_token_then_the_end_token_then_what_the_model_says(
    tmp_path: Path,
) -> None:
    folder = model_folders.write(tmp_path, model_folders.llama(512), tokenizer=_bpe())
    settings = folder / "tokenizer_config.json"

    def prefix(said: dict[str, object], wanted: str | None = None) -> int:
        settings.write_text(json.dumps(said))
        return _open(folder, tokenizer=None, prefix=wanted).tokenizer.separator

    fields = json.loads((folder / "tokenizer.json").read_text())
    vocab = fields["model"]["vocab"]
    assert prefix({"bos_token": "a", "eos_token": "b"}) == vocab["a"]
    assert prefix({"bos_token": None, "eos_token": {"content": "b"}}) == vocab["b"]
    assert prefix({}, "c") == vocab["c"]
    (folder / "config.json").write_text(json.dumps(model_folders.llama(512, bos_token_id=7)))
    assert prefix({}) == 7
    (folder / "config.json").write_text(
        json.dumps(model_folders.llama(512, bos_token_id=None, eos_token_id=None))
    )
    assert prefix({}) == vocab[model_folders.END]


def test_a_prefix_that_the_tokenizer_lacks_is_told(tmp_path: Path) -> None:
    folder = model_folders.write(tmp_path, model_folders.llama(512), tokenizer=_bpe())
    assert "none of the tokens <begin>" in _refused(folder, tokenizer=None, prefix="<begin>")


def test_a_window_beyond_the_context_and_a_stride_beyond_the_window_are_told(
    tmp_path: Path,
) -> None:
    scored = _open(model_folders.write(tmp_path, CONFIG))
    assert scored.scoring_rules(None, None) == ScoringRules(window=64, stride=32)
    assert scored.scoring_rules(40, None) == ScoringRules(window=40, stride=20)
    assert scored.scoring_rules(40, 40) == ScoringRules(window=40, stride=40)
    with pytest.raises(
        UserFacingError, match=r"window of 65 tokens is too long for .*, whose context is 64"
    ):
        scored.scoring_rules(65, None)
    with pytest.raises(UserFacingError, match=r"stride of 41 would skip"):
        scored.scoring_rules(40, 41)


def test_weights_in_several_files_and_in_half_precision_are_read(tmp_path: Path) -> None:
    tensors = {name: one.bfloat16() for name, one in model_folders.tensors_of(CONFIG).items()}
    folder = model_folders.write(tmp_path, CONFIG, tensors=tensors)
    (folder / "model.safetensors").unlink()
    names = sorted(tensors)
    places = {name: f"model-0000{at % 2 + 1}-of-00002.safetensors" for at, name in enumerate(names)}
    for file in set(places.values()):
        save_file({name: tensors[name] for name in names if places[name] == file}, folder / file)
    (folder / weights.INDEX_FILE).write_text(json.dumps({"weight_map": places}))
    found = _open(folder).model.parameters
    assert all(torch.equal(found[name], tensors[name].float()) for name in names)


@pytest.mark.parametrize("place", ["../outside.safetensors", "/etc/passwd", "a/b.safetensors"])
def test_an_index_that_leads_out_of_the_folder_is_refused(tmp_path: Path, place: str) -> None:
    folder = model_folders.write(tmp_path, CONFIG)
    (folder / "model.safetensors").unlink()
    (folder / weights.INDEX_FILE).write_text(json.dumps({"weight_map": {"a": place}}))
    assert "not a file in its folder" in _refused(folder)


def test_an_index_of_pickles_is_refused(tmp_path: Path) -> None:
    folder = model_folders.write(tmp_path, CONFIG)
    (folder / "model.safetensors").unlink()
    (folder / weights.INDEX_FILE).write_text(json.dumps({"weight_map": {"a": "a.bin"}}))
    assert "not a Safetensors file" in _refused(folder)


@pytest.mark.parametrize("name", ["lm_head.weight", "model.embed_tokens.weight"])
def test_tied_embeddings_are_read_under_either_name(tmp_path: Path, name: str) -> None:
    config = model_folders.llama(256, tie_word_embeddings=True)
    tensors = model_folders.tensors_of(config)
    tied = tensors.pop("lm_head.weight")
    scored = _open(model_folders.write(tmp_path, config, tensors=tensors | {name: tied}))
    assert scored.model.aliases == (("model.embed_tokens.weight", "lm_head.weight"),)
    assert torch.equal(scored.model.parameters["lm_head.weight"], tied)


@pytest.mark.parametrize("config", [CONFIG, GPT2], ids=["ours", "theirs"])
def test_a_tensor_that_is_not_there_is_told(tmp_path: Path, config: dict[str, Any]) -> None:
    tensors = _named(config, model_folders.tensors_of(config))
    name = next(one for one in sorted(tensors) if "norm" in one or "ln_f" in one)
    del tensors[name]
    message = _refused(model_folders.write(tmp_path, config, tensors=tensors))
    assert name in message or "requires" in message


def test_a_tensor_of_another_shape_is_told(tmp_path: Path) -> None:
    tensors = model_folders.tensors_of(CONFIG)
    tensors["model.norm.weight"] = torch.ones(31)
    message = _refused(model_folders.write(tmp_path, CONFIG, tensors=tensors))
    assert "model.norm.weight has the shape [31]" in message


@pytest.mark.parametrize(
    "config",
    [
        model_folders.llama(256, hidden_size=1 << 20, num_attention_heads=1 << 10),
        GPT2 | {"n_embd": 1 << 14},
        GPT2 | {"n_layer": 1 << 30},
    ],
)
def test_a_configuration_of_a_giant_is_refused_before_it_is_built(
    tmp_path: Path, config: dict[str, Any]
) -> None:
    folder = model_folders.write(tmp_path, config, tensors={"a": torch.ones(4)})
    _refused(folder)


@attack("C10", layer="cli", ends="refused before any memory is taken")
def test_tables_that_no_file_fills_are_refused_before_they_are_made(tmp_path: Path) -> None:
    places = 1 << 14  # for each layer a mask of all places by all places
    fields = {
        "model_type": "gpt_neo",
        "vocab_size": 256,
        "hidden_size": 8,
        "num_heads": 2,
        "num_layers": 2,
        "attention_types": [[["global", "local"], 1]],
        "max_position_embeddings": places,
    }
    listed = model.outline(json.dumps(fields | {"max_position_embeddings": 64}).encode()).tensors
    shapes = {name: (places, 8) if "wpe" in name else shape for name, shape in listed}
    tensors = {name: torch.zeros(shape) for name, shape in shapes.items()}
    assert "tables" in _refused(model_folders.write(tmp_path, fields, tensors=tensors))


def test_code_of_the_author_is_neither_asked_for_nor_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    config = {
        "model_type": "own_model",
        "auto_map": {"AutoModelForCausalLM": "code.Own", "AutoConfig": "code.Config"},
    }
    folder = model_folders.write(tmp_path / "m", config, tensors={"a": torch.ones(4)})
    (folder / "code.py").write_text("open('ran', 'w')\n")
    assert "own_model" in _refused(folder)
    assert not (tmp_path / "ran").exists()


def test_quantised_weights_and_adapters_are_told_apart_from_models(tmp_path: Path) -> None:
    config = CONFIG | {"quantization_config": {"quant_method": "gptq"}}
    assert "quantised weights (gptq)" in _refused(model_folders.write(tmp_path / "q", config))
    adapter = model_folders.write(tmp_path / "a", CONFIG)
    (adapter / "adapter_config.json").write_text("{}")
    assert "holds an adapter" in _refused(adapter)
    assert "`tequio checkpoint export --merged`" in _refused(adapter)


@pytest.mark.parametrize(
    ("raw", "told"),
    [
        (b"{", "not valid JSON"),
        (b"[]", "has no model_type"),
        (b" " * (16 << 20) + b"{}", "settings"),
    ],
)
def test_a_configuration_that_is_none_is_told(tmp_path: Path, raw: bytes, told: str) -> None:
    folder = model_folders.write(tmp_path, CONFIG)
    (folder / "config.json").write_bytes(raw)
    assert told in _refused(folder)


def test_what_is_no_folder_is_told(tmp_path: Path) -> None:
    assert "is not a model folder" in _refused(tmp_path / "none")
    assert "has no config.json" in _refused(tmp_path)
