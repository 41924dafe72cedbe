"""The GGUF of an export computes what the export computes."""

from __future__ import annotations

import importlib.util
import json
import os
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import torch
from click.testing import CliRunner, Result

from tequio_client.checkpoint import cli, export, gguf, layout
from tequio_client.verify.report import NoProgress
from tequio_shared.errors import UserFacingError, first_error
from tests.support import architectures
from tests.support.llama_swarm import ROUNDS, ServedLog, played
from tests.support.small_disk import SmallDisk

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path


def test_without_the_package_one_sentence_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
    with pytest.raises(UserFacingError, match="make setup"):
        gguf.check_installed()


def test_a_file_that_is_there_is_not_written_over(tmp_path: Path) -> None:
    (tmp_path / "maize.gguf").write_bytes(b"the head of another round")
    with pytest.raises(UserFacingError, match=r"maize\.gguf is there already: choose another"):
        export.check_copies(tmp_path / "maize", (gguf,))
    export.check_copies(tmp_path / "bean", (gguf,))


def written(folder: Path) -> Path:
    """Write the copy of a folder beside it."""
    path = gguf.place(folder)
    gguf.write(folder, path, NoProgress())
    return path


def test_after_a_full_disk_the_same_command_writes_the_folder_and_the_copy(
    site: ServedLog, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store, disk = played().store(tmp_path / "store", ROUNDS), SmallDisk(tmp_path / "disk")
    target, named = tmp_path / "disk" / "out", gguf.pre_tokenizer
    words = ["--run", "maize- 1.0", "--to", str(target), "--store", str(store)]

    def fill_the_disk(whole: dict[str, Any]) -> str:
        disk.fill([os.getpid()])
        return named(whole)

    def export_again() -> Result:
        return CliRunner().invoke(cli.export, [*words, "--ledger", site.url, "--gguf"])

    try:
        with monkeypatch.context() as patch:
            patch.setattr(gguf, "pre_tokenizer", fill_the_disk)
            why = first_error(export_again().exception or ValueError())
        assert isinstance(why, UserFacingError)
        assert "is full: free some space and run this again" in str(why)
        assert not target.exists()
        disk.empty([os.getpid()])
        done = export_again()
        assert done.exit_code == 0, done.exception
        assert done.output.splitlines()[-1] == str(gguf.place(target))
        assert {one.name for one in target.parent.iterdir()} == {"out", "out.gguf"}
    finally:
        disk.unmount()


def test_a_disk_that_fills_while_the_weights_are_written_is_said(
    folder: Path, tmp_path: Path
) -> None:
    """NumPy writes them, and its error has no number."""
    disk = SmallDisk(tmp_path / "disk")

    class FillingProgress(NoProgress):
        @contextmanager
        def work(self, what: str, total: int) -> Iterator[Callable[[int], None]]:
            disk.fill([os.getpid()])
            with super().work(what, total) as tick:
                yield tick

    target = tmp_path / "disk" / "out.gguf"
    try:
        with pytest.raises(UserFacingError, match="is full"), export.disk_errors(target):
            gguf.write(folder, target, FillingProgress())
    finally:
        disk.empty([os.getpid()])
        disk.unmount()


LIKE_LLAMA = architectures.DECODERS["olmo2"]
LLAMA3 = {
    "rope_type": "llama3",
    "factor": 8.0,
    "low_freq_factor": 1.0,
    "high_freq_factor": 4.0,
    "original_max_position_embeddings": 64,
}
KINDS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "Llama 3.1": ({"model_type": "llama"}, {"rope_scaling": LLAMA3}),
    "Llama, linear": (
        {"model_type": "llama"},
        {"rope_scaling": {"rope_type": "linear", "factor": 2.0}},
    ),
    "Llama, biases": ({"model_type": "llama"}, {"attention_bias": True, "mlp_bias": True}),
    "Mistral": ({"model_type": "mistral", "sliding_window": None, "rms_norm_eps": 1e-5}, {}),
    "Qwen 2": ({"model_type": "qwen2", "rms_norm_eps": 1e-6, "tie_word_embeddings": True}, {}),
    "Qwen 3": ({"model_type": "qwen3", "rms_norm_eps": 1e-6}, {"head_dim": 16}),
}
"""Configurations; the second part is what transformers does not read off a GGUF."""


def in_place_of_the_head(folder: Path, fields: dict[str, Any]) -> Any:  # noqa: ANN401 - theirs
    """Put a network of another architecture into an exported folder."""
    from transformers import AutoModelForCausalLM  # noqa: PLC0415 - seconds, for these tests

    architectures.write(folder, fields)
    return AutoModelForCausalLM.from_pretrained(folder)


def of_gguf(path: Path, unread: dict[str, Any]) -> Any:  # noqa: ANN401 - any transformers network
    """The network that transformers builds from a GGUF."""
    from transformers import AutoConfig, AutoModelForCausalLM  # noqa: PLC0415 - as above
    from transformers.modeling_gguf_pytorch_utils import load_gguf_checkpoint  # noqa: PLC0415

    reads: Any = load_gguf_checkpoint
    fields = reads(str(path))["config"] | unread
    library: Any = AutoModelForCausalLM
    theirs = library.from_config(AutoConfig.for_model(**fields))
    read = reads(str(path), return_tensors=True, model_to_load=theirs)
    missing = theirs.load_state_dict(read["tensors"], strict=False).missing_keys
    theirs.tie_weights()
    assert missing == (["lm_head.weight"] if theirs.config.tie_word_embeddings else [])
    return theirs


def apart(one: Any, other: Any) -> float:  # noqa: ANN401 - as above
    ids = torch.randint(0, 256, (2, 40), generator=torch.Generator().manual_seed(2))
    with torch.no_grad():
        pair = [each(input_ids=ids, use_cache=False).logits for each in (one, other)]
    assert float(pair[0].abs().max()) > 0.1
    return float((pair[0] - pair[1]).abs().max())


def test_transformers_reads_the_gguf_as_the_same_model(folder: Path) -> None:
    from transformers import AutoModelForCausalLM  # noqa: PLC0415 - seconds, for this test

    gguf.check_installed()
    path = written(folder)
    assert path == folder.with_name("head.gguf")
    assert apart(AutoModelForCausalLM.from_pretrained(folder), of_gguf(path, {})) <= 1e-5


@pytest.mark.parametrize("name", KINDS)
def test_other_architectures_come_back_as_the_same_model_too(name: str, folder: Path) -> None:
    said, unread = KINDS[name]
    plain = in_place_of_the_head(folder, LIKE_LLAMA | said | unread)
    path = written(folder)
    assert apart(plain, of_gguf(path, unread)) <= 1e-4  # of logits of some tens


def test_the_scaling_of_llama_3_is_what_speeds_are_divided_by(folder: Path) -> None:
    from gguf import GGUFReader  # noqa: PLC0415 - it is not installed with ours

    network = in_place_of_the_head(
        folder, LIKE_LLAMA | {"model_type": "llama", "rope_scaling": LLAMA3}
    )
    reader = GGUFReader(written(folder))
    (factors,) = [one.data for one in reader.tensors if one.name == "rope_freqs.weight"]
    slowed = network.model.rotary_emb.inv_freq.numpy()
    plain = 1 / 10_000.0 ** (np.arange(0, 8, 2) / 8)
    np.testing.assert_allclose(plain / factors, slowed, rtol=1e-6)
    assert factors[0] == 1
    assert factors[-1] == 8


def test_rows_of_a_table_without_a_token_are_filled_up(folder: Path) -> None:
    from gguf import GGUFReader, TokenType  # noqa: PLC0415 - as above

    in_place_of_the_head(folder, LIKE_LLAMA | {"model_type": "llama", "vocab_size": 320})
    reader = GGUFReader(written(folder))
    (table,) = [one for one in reader.tensors if one.name == "token_embd.weight"]
    tokens, types = (
        reader.fields[f"tokenizer.ggml.{name}"].contents() for name in ("tokens", "token_type")
    )
    assert len(tokens) == len(types) == table.shape[1] == 320
    assert tokens[319] == "[PAD319]"
    assert (types[65], types[319]) == (TokenType.NORMAL, TokenType.UNUSED)


def test_linear_scaling_is_named(folder: Path) -> None:
    from gguf import GGUFReader  # noqa: PLC0415 - as above

    in_place_of_the_head(folder, LIKE_LLAMA | KINDS["Llama, linear"][0] | KINDS["Llama, linear"][1])
    fields = GGUFReader(written(folder)).fields
    assert fields["llama.rope.scaling.type"].contents() == "linear"
    assert fields["llama.rope.scaling.factor"].contents() == 2.0


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"model_type": "gpt2"}, "of llama, mistral, qwen2, qwen3 models, not of gpt2"),
        ({"hidden_act": "gelu"}, "with hidden_act 'gelu'"),
        ({"rope_scaling": {"type": "yarn", "factor": 4.0}}, "with rope scaling 'yarn'"),
        ({"partial_rotary_factor": 0.5}, "with a partial_rotary_factor"),
        ({"model_type": "mistral"}, "with layers that see a sliding_window"),
        ({"model_type": "qwen2", "use_sliding_window": True}, "with layers that see a sliding"),
        ({"model_type": "qwen3", "num_key_value_heads": None}, "with no num_key_value_heads"),
        ({"hidden_size": None}, "with no hidden_size in its config.json"),
    ],
)
def test_a_model_that_no_gguf_is_written_of_is_named(
    changes: dict[str, Any], why: str, folder: Path
) -> None:
    fields = json.loads((folder / "config.json").read_text()) | changes
    (folder / "config.json").write_text(json.dumps(fields))
    with pytest.raises(UserFacingError, match=why) as caught:
        written(folder)
    assert "leave out --gguf" in str(caught.value)
    assert not folder.with_name("head.gguf").exists()


def split_by(*steps: dict[str, Any], **fields: Any) -> dict[str, Any]:  # noqa: ANN401 - JSON
    """A tokenizer.json with these steps before merges."""
    first = steps[0] if len(steps) == 1 else {"type": "Sequence", "pretokenizers": list(steps)}
    model = {"type": "BPE", "merges": [["a", "b"]]} | fields.pop("model", {})
    return {"pre_tokenizer": first, "model": model, "normalizer": None} | fields


BYTES = {"type": "ByteLevel", "add_prefix_space": False, "use_regex": False}
WORDS = BYTES | {"use_regex": True}
DIGITS = {"type": "Digits", "individual_digits": True}
SPLIT3, SPLIT1 = (
    {"type": "Split", "pattern": {"Regex": one}, "behavior": "Isolated", "invert": False}
    for one in (
        r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}"
        r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+",
        r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}"
        r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+",
    )
)
WHOLE_WORDS = {"ignore_merges": True}
KNOWN = {
    "gpt-2": [split_by(WORDS), json.loads(layout.byte_tokenizer())],
    "smollm": [split_by(DIGITS, WORDS)],
    "dbrx": [split_by(SPLIT3, BYTES)],
    "llama-bpe": [split_by(SPLIT3, BYTES, model=WHOLE_WORDS)],
    "qwen2": [split_by(SPLIT1, BYTES), split_by(SPLIT1, BYTES, normalizer={"type": "NFC"})],
}
UNKNOWN = {
    "no split of words": split_by(BYTES),
    "a space before texts": split_by(WORDS | {"add_prefix_space": True}),
    "words as they are": split_by(WORDS, model=WHOLE_WORDS),
    "a pattern of its own": split_by(SPLIT3 | {"pattern": {"Regex": r"\d+"}}, BYTES),
    "what matches is left out": split_by(SPLIT3 | {"behavior": "Removed"}, BYTES),
    "lower case": split_by(WORDS, normalizer={"type": "Lowercase"}),
    "white space": split_by({"type": "Whitespace"}),
    "none at all": {"model": {"merges": []}, "pre_tokenizer": None},
}


@pytest.mark.parametrize("name", KNOWN)
def test_llama_cpp_is_told_how_texts_are_split(name: str) -> None:
    # Each of these was compared with llama.cpp's own tokens on 44 texts: all were equal.
    assert {gguf.pre_tokenizer(one) for one in KNOWN[name]} == {name}


@pytest.mark.parametrize("what", UNKNOWN)
def test_a_tokenizer_that_llama_cpp_would_compute_otherwise_is_refused(what: str) -> None:
    with pytest.raises(UserFacingError, match=r"llama\.cpp would split texts otherwise"):
        gguf.pre_tokenizer(UNKNOWN[what])


def test_the_tokenizer_of_raw_bytes_has_all_that_llama_cpp_reads(folder: Path) -> None:
    from gguf import GGUFReader  # noqa: PLC0415 - it is not installed with ours

    fields = GGUFReader(written(folder)).fields
    found = {name: one.contents() for name, one in fields.items() if name.startswith("tokenizer.")}
    assert found["tokenizer.ggml.pre"] == "gpt-2"
    assert found["tokenizer.ggml.merges"] == ["<|separator|> <|separator|>"]
    assert found["tokenizer.ggml.tokens"][0] == "<|separator|>"
    assert found["tokenizer.ggml.token_type"][:2] == [3, 1]  # control, normal


def test_a_tokenizer_without_added_tokens_is_written(folder: Path) -> None:
    whole = json.loads(layout.byte_tokenizer())
    del whole["added_tokens"]
    (folder / layout.TOKENIZER).write_text(json.dumps(whole))
    assert written(folder).stat().st_size > 0


def test_a_chat_template_and_both_ends_of_a_text_are_written(folder: Path) -> None:
    from gguf import GGUFReader  # noqa: PLC0415 - as above

    for name, changes in (
        (layout.TOKENIZER_CONFIG, {"chat_template": "mine"}),
        (layout.GENERATION, {"eos_token_id": [7, 0]}),
    ):
        whole = json.loads((folder / name).read_bytes()) | changes
        (folder / name).write_text(json.dumps(whole))
    fields = GGUFReader(written(folder)).fields
    assert fields["tokenizer.chat_template"].contents() == "mine"
    assert fields["tokenizer.ggml.eot_token_id"].contents() == 7
    assert fields["tokenizer.ggml.eos_token_id"].contents() == 0
    assert fields["tokenizer.ggml.add_bos_token"].contents() is False
