"""An exported folder as one GGUF file, for llama.cpp and programs built on it.

Written by the `gguf` package, for byte-level BPE tokenizers (raw bytes are one). The file is a copy
for use: only the folder can be verified.

llama.cpp computes each architecture by its own code, and knows no other fields than these: what a
configuration says beyond them would be lost without a word, so such a model is refused. Rope
scaling of Llama 3.1 is a tensor there, of what each pair's speed is divided by.
"""

from __future__ import annotations

import errno
import importlib.util
import json
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from safetensors import safe_open

from tequio_client.checkpoint import layout
from tequio_client.ipc.cell_division import rope_fields, rope_kind
from tequio_client.names import clean_text
from tequio_shared.errors import UserFacingError

if TYPE_CHECKING:
    import gguf
    import numpy as np
    from numpy.typing import NDArray

    from tequio_client.trainer.llama import Rope
    from tequio_client.verify.report import WorkProgress


ROPE_FREQS = "rope_freqs.weight"
_ARCHITECTURES = {"llama": "llama", "mistral": "llama", "qwen2": "qwen2", "qwen3": "qwen3"}
"""GGUF's names for what has these as model_type."""
_TURNED = {"q_proj": "num_attention_heads", "k_proj": "num_key_value_heads"}
_SAID = (
    "vocab_size",
    "hidden_size",
    "intermediate_size",
    "num_hidden_layers",
    "num_attention_heads",
)
_DEFAULTS_DIFFER = ("num_key_value_heads", "head_dim", "rms_norm_eps")
_SHOWN_CHARS = 300
_WAY_OUT = "leave out --gguf: transformers, and what is built on it, loads the folder"


def architecture(config: dict[str, Any]) -> str:  # JSON of any model
    """GGUF's name for the architecture; raises UserFacingError where none is written of it."""
    kind = str(config.get("model_type"))[:60]
    if kind not in _ARCHITECTURES:
        known = ", ".join(_ARCHITECTURES)
        raise UserFacingError(f"a GGUF is written of {known} models, not of {kind}; {_WAY_OUT}")
    odd = next(_odd(config), "")
    if odd:
        raise UserFacingError(f"no GGUF is written of a {kind} model with {odd}; {_WAY_OUT}")
    return _ARCHITECTURES[kind]


def _odd(config: dict[str, Any]) -> Iterator[str]:
    """Features of a configuration that llama.cpp does not compute, or that are missing from it."""
    kind = config["model_type"]
    if config.get("hidden_act", "silu") != "silu":
        yield f"hidden_act {config['hidden_act']!r}"
    if any(one.get("partial_rotary_factor") for one in (config, rope_fields(config))):
        yield "a partial_rotary_factor"
    if _sees_less(config):
        yield "layers that see a sliding_window of the text"
    scaling = rope_kind(config)
    scalings = {"default", "linear"} | ({"llama3"} if _ARCHITECTURES[kind] == "llama" else set())
    if scaling not in scalings:
        yield f"rope scaling {scaling!r}"
    for name in (*_SAID, *(_DEFAULTS_DIFFER if kind != "llama" else ())):
        if config.get(name) is None and not (name == "head_dim" and kind in {"mistral", "qwen2"}):
            yield f"no {name} in its config.json"


def _sees_less(config: dict[str, Any]) -> bool:
    """True if a layer sees only the last tokens; Mistral's do unless the field is null."""
    if "sliding_attention" in (config.get("layer_types") or ()):
        return True
    if config["model_type"] == "mistral":
        return config.get("sliding_window", 0) is not None
    return bool(config.get("use_sliding_window", False))


def head_size(config: dict[str, Any]) -> int:
    size: int = config.get("head_dim") or config["hidden_size"] // config["num_attention_heads"]
    return size


def rope_freqs(config: dict[str, Any]) -> NDArray[np.float32] | None:
    """Divisors of the rotation speeds of a head's pairs; None for the default speeds."""
    turns = _rope(config)
    if turns.kind != "llama3":
        return None
    plain = replace(turns, kind="default").frequencies(head_size(config))
    found: NDArray[np.float32] = (plain / turns.frequencies(head_size(config))).numpy()
    return found


def rope_permuted(name: str, values: NDArray[Any], config: dict[str, Any]) -> NDArray[Any]:
    """Rows of a Llama's queries and keys in pairs, where Hugging Face has them in halves."""
    part = name.split(".")[-2]
    if part not in _TURNED or architecture(config) != "llama":
        return values
    heads = config.get(_TURNED[part]) or config["num_attention_heads"]
    rows = values.shape[0] // heads // 2
    halves = values.reshape(heads, 2, rows, *values.shape[1:])
    return halves.swapaxes(1, 2).reshape(values.shape)


def _rope(config: dict[str, Any]) -> Rope:
    from tequio_client.trainer.llama import Rope  # noqa: PLC0415 - imports torch

    return Rope.from_config(config)


_CONTRACTIONS = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)"
_WORDS = r"|[^\r\n\p{L}\p{N}]?\p{L}+|"
_REST = r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
_SPLITS = {
    _CONTRACTIONS + _WORDS + r"\p{N}{1,3}" + _REST: "dbrx",
    _CONTRACTIONS + _WORDS + r"\p{N}" + _REST: "qwen2",
}
"""llama.cpp's names for the patterns by which a text is split before merges."""
_NEVER = f"{layout.SEPARATOR} {layout.SEPARATOR}"
"""A merge of what no text gives: llama.cpp loads no tokenizer without any."""


def check_installed() -> None:
    if importlib.util.find_spec("gguf") is None:
        raise UserFacingError("GGUF needs the package gguf: `make setup` in a checkout installs it")


def place(folder: Path) -> Path:
    """Give the file beside an exported folder."""
    whole = folder.absolute()  # the folder may be called `.`
    return whole.with_name(f"{whole.name}.gguf")


def write(folder: Path, target: Path, progress: WorkProgress) -> None:
    """Write a folder as a file; raises UserFacingError for a model that cannot be written so."""
    import gguf  # noqa: PLC0415 - an optional dependency

    if (folder / layout.TABLE).exists():
        raise UserFacingError(
            "no GGUF is written of this model: code of a plug-in splits its texts, and llama.cpp "
            "would have to run it"
        )
    config = json.loads((folder / layout.CONFIG).read_bytes())
    kind = architecture(config)
    with closing(gguf.GGUFWriter(target, kind)) as writer:
        _describe(writer, config, folder)
        _add_tokenizer(writer, config, folder)
        for name, values in _tensors(config, folder):
            writer.add_tensor_info(name, values.shape, values.dtype, values.nbytes)
        writer.write_header_to_file()
        writer.write_kv_data_to_file()
        writer.write_ti_data_to_file()
        size = sum(path.stat().st_size for path in _weight_files(folder))
        with progress.work("weights for GGUF (bytes)", size) as tick:
            for _, values in _tensors(config, folder):
                try:
                    writer.write_tensor_data(values)
                except OSError as err:  # NumPy's has no number when not all bytes could be written
                    raise OSError(err.errno or errno.ENOSPC, str(err)) from err
                tick(values.nbytes)


def _describe(writer: gguf.GGUFWriter, config: dict[str, Any], folder: Path) -> None:
    import gguf  # noqa: PLC0415 - as above

    claim = layout.HeadClaim.parse((folder / layout.CLAIM).read_bytes())
    sequence = json.loads((folder / layout.TOKENIZER_CONFIG).read_bytes())["model_max_length"]
    writer.add_name(f"round {claim.round} of run {claim.run}")
    writer.add_description(f"head {claim.head}")
    writer.add_file_type(gguf.LlamaFileType.ALL_F32)
    turns, heads, size = _rope(config), config["num_attention_heads"], head_size(config)
    writer.add_vocab_size(config["vocab_size"])
    writer.add_context_length(config.get("max_position_embeddings") or sequence)
    writer.add_embedding_length(config["hidden_size"])
    writer.add_block_count(config["num_hidden_layers"])
    writer.add_feed_forward_length(config["intermediate_size"])
    writer.add_head_count(heads)
    writer.add_head_count_kv(config.get("num_key_value_heads") or heads)
    writer.add_key_length(size)
    writer.add_value_length(size)
    writer.add_rope_dimension_count(size)
    writer.add_rope_freq_base(turns.theta)
    writer.add_layer_norm_rms_eps(config.get("rms_norm_eps", 1e-6))
    if turns.kind == "linear":
        writer.add_rope_scaling_type(gguf.RopeScalingType.LINEAR)
        writer.add_rope_scaling_factor(turns.factor)


def _add_tokenizer(writer: gguf.GGUFWriter, config: dict[str, Any], folder: Path) -> None:
    import gguf  # noqa: PLC0415 - as above

    whole = json.loads((folder / layout.TOKENIZER).read_bytes())
    model = whole["model"]
    if model.get("type") != "BPE" or model.get("byte_fallback"):
        raise UserFacingError("a GGUF is written of byte-level BPE tokenizers only")
    begin = json.loads((folder / layout.GENERATION).read_bytes())
    added = whole.get("added_tokens") or []
    ids = dict(model["vocab"]) | {one["content"]: one["id"] for one in added}
    names = {number: name for name, number in ids.items()}
    types = (
        dict.fromkeys(names, gguf.TokenType.NORMAL)
        | {
            one["id"]: gguf.TokenType.CONTROL if one["special"] else gguf.TokenType.USER_DEFINED
            for one in added
        }
        | {begin["bos_token_id"]: gguf.TokenType.CONTROL}
    )
    # llama.cpp expects as many tokens as the table has rows, and its converters fill up likewise.
    size = max(*names, config["vocab_size"] - 1) + 1
    tokens = [names.get(at, f"[PAD{at}]") for at in range(size)]
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre(pre_tokenizer(whole))
    writer.add_token_list(tokens)
    writer.add_token_types([types.get(at, gguf.TokenType.UNUSED) for at in range(size)])
    merges = [one if isinstance(one, str) else " ".join(one) for one in model["merges"]]
    writer.add_token_merges(merges or [_NEVER])
    writer.add_bos_token_id(begin["bos_token_id"])
    settings = json.loads((folder / layout.TOKENIZER_CONFIG).read_bytes())
    if template := settings.get("chat_template"):
        writer.add_chat_template(template)
        writer.add_eot_token_id(begin["eos_token_id"][0])
        writer.add_eos_token_id(begin["eos_token_id"][-1])
    else:
        writer.add_eos_token_id(begin["eos_token_id"])
    writer.add_add_bos_token(not template)  # a template writes what is before a conversation


def pre_tokenizer(whole: dict[str, Any]) -> str:  # a tokenizer.json
    """llama.cpp's name for how a byte-level BPE splits texts; raises UserFacingError without one.

    Its program computes a fixed set of these; another one than the model's gives other tokens.
    """
    model, first = whole["model"], whole.get("pre_tokenizer") or {}
    *splits, last = first.get("pretokenizers") or [first]
    normalizer = (whole.get("normalizer") or {}).get("type")
    is_plain = not any(
        model.get(name) for name in ("continuing_subword_prefix", "end_of_word_suffix")
    )
    if last.get("type") == "ByteLevel" and not last.get("add_prefix_space") and is_plain:
        name = _split_name(splits, uses_regex=last.get("use_regex", True), merges=model["merges"])
        # NFC is left out by llama.cpp, and by its own files of Qwen: texts are nearly always in it.
        is_known = normalizer is None or (name == "qwen2" and normalizer == "NFC")
        if model.get("ignore_merges"):
            name = "llama-bpe" if name == "dbrx" else ""  # llama.cpp does so for this name alone
        if name and is_known:
            return name
    raise UserFacingError(
        "no GGUF is written with this tokenizer.json: llama.cpp would split texts otherwise than "
        f"its normalizer ({normalizer}) and pre_tokenizer "
        f"({clean_text(json.dumps(first), _SHOWN_CHARS)}) do; {_WAY_OUT}"
    )


def _split_name(splits: list[dict[str, Any]], *, uses_regex: bool, merges: list[Any]) -> str:
    if not merges or (not splits and uses_regex):  # without merges, splits change nothing
        return "gpt-2"
    if len(splits) != 1:
        return ""
    (one,) = splits
    if uses_regex:
        is_digits = one.get("type") == "Digits" and one.get("individual_digits")
        return "smollm" if is_digits else ""
    is_isolated = one.get("behavior") == "Isolated" and not one.get("invert")
    pattern = str((one.get("pattern") or {}).get("Regex"))
    return _SPLITS.get(pattern, "") if one.get("type") == "Split" and is_isolated else ""


def _tensors(config: dict[str, Any], folder: Path) -> Iterator[tuple[str, NDArray[np.float32]]]:
    """Read the tensors one by one, as GGUF names and orders them; raises UserFacingError."""
    import gguf  # noqa: PLC0415 - as above

    kind = gguf.MODEL_ARCH[architecture(config).upper()]
    called = gguf.get_tensor_name_map(kind, config["num_hidden_layers"])
    for path in _weight_files(folder):
        with safe_open(path, framework="numpy") as file:
            for name in file.keys():  # noqa: SIM118 - not a dictionary
                new = called.get_name(name, try_suffixes=(".weight", ".bias"))
                if new is None:
                    raise UserFacingError(f"GGUF has no name for the tensor {name}")
                yield new, rope_permuted(name, file.get_tensor(name), config)
    factors = rope_freqs(config)
    if factors is not None:
        yield ROPE_FREQS, factors


def _weight_files(folder: Path) -> list[Path]:
    return sorted(folder.glob("model*.safetensors"))
