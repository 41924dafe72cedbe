"""An exported folder as one GGUF file, for llama.cpp and what is built on it.

The `gguf` package writes it; it is not installed with ours. It is written of the architectures in
`gguf_kinds` with byte-level BPE tokenizers (raw bytes are one). The file is a copy for use: only
the folder can be verified.
"""

from __future__ import annotations

import importlib.util
import json
from typing import TYPE_CHECKING, Any

from safetensors import safe_open

from tequio_client.checkpoint import gguf_kinds, parts, text_tokens
from tequio_shared.errors import UserFacingError

if TYPE_CHECKING:
    from pathlib import Path

    import gguf

    from tequio_client.verify.progress import WorkProgress

_SEPARATOR = "<|separator|>"
"""Spelt so for llama.cpp, where a zero byte would end the text."""


def check_installed() -> None:
    """Raise UserFacingError unless the package is there."""
    if importlib.util.find_spec("gguf") is None:
        raise UserFacingError("GGUF needs the package gguf: install it with `pip install gguf`")


def check_free(folder: Path) -> None:
    """Raise UserFacingError where FOLDER.gguf is there already: it may be of another round."""
    target = _place(folder)
    if target.exists():
        raise UserFacingError(
            f"{target} is there already: choose another place with --to, or remove it"
        )


def write(folder: Path, progress: WorkProgress) -> Path:
    """Write FOLDER.gguf; raises UserFacingError for a model that cannot be written so."""
    import gguf  # noqa: PLC0415 - not installed with ours

    config = json.loads((folder / parts.CONFIG).read_bytes())
    kind = gguf_kinds.architecture(config)
    target = _place(folder)
    part = target.with_name(f".{target.name}.part")
    writer = gguf.GGUFWriter(part, kind, use_temp_file=True)
    try:
        _describe(writer, config, folder)
        _add_tokenizer(writer, folder)
        _add_tensors(writer, config, folder, progress)
        writer.write_header_to_file()
        writer.write_kv_data_to_file()
        writer.write_tensors_to_file()
        writer.close()
        part.replace(target)
    finally:
        part.unlink(missing_ok=True)
    return target


def _place(folder: Path) -> Path:
    whole = folder.absolute()  # the folder may be called `.`
    return whole.with_name(f"{whole.name}.gguf")


def _describe(writer: gguf.GGUFWriter, config: dict[str, Any], folder: Path) -> None:
    import gguf  # noqa: PLC0415 - as above

    claim = parts.Claim.parse((folder / parts.CLAIM).read_bytes())
    sequence = json.loads((folder / parts.TOKENIZER_CONFIG).read_bytes())["model_max_length"]
    writer.add_name(f"round {claim.round} of run {claim.run}")
    writer.add_description(f"head {claim.head}")
    writer.add_file_type(gguf.LlamaFileType.ALL_F32)
    gguf_kinds.describe(writer, config, sequence)


def _add_tokenizer(writer: gguf.GGUFWriter, folder: Path) -> None:
    import gguf  # noqa: PLC0415 - as above

    whole = json.loads((folder / parts.TOKENIZER).read_bytes())
    model = whole["model"]
    if model.get("type") != "BPE" or model.get("byte_fallback"):
        raise UserFacingError("a GGUF is written of byte-level BPE tokenizers only")
    ids = dict(model["vocab"]) | {one["content"]: one["id"] for one in whole["added_tokens"]}
    special = {one["id"] for one in whole["added_tokens"] if one["special"]}
    names = {number: name for name, number in ids.items()}
    size = max(names) + 1
    normal, control = gguf.TokenType.NORMAL, gguf.TokenType.CONTROL
    tokens = [names.get(at, f"[unused {at}]") for at in range(size)]
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("default")
    writer.add_token_list([_SEPARATOR if one == text_tokens.SEPARATOR else one for one in tokens])
    writer.add_token_types([control if at in special else normal for at in range(size)])
    merges = [one if isinstance(one, str) else " ".join(one) for one in model["merges"]]
    writer.add_token_merges(merges)
    begin = json.loads((folder / parts.GENERATION).read_bytes())
    writer.add_bos_token_id(begin["bos_token_id"])
    writer.add_eos_token_id(begin["eos_token_id"])
    writer.add_add_bos_token(True)  # noqa: FBT003 - the package's own


def _add_tensors(
    writer: gguf.GGUFWriter, config: dict[str, Any], folder: Path, progress: WorkProgress
) -> None:
    import gguf  # noqa: PLC0415 - as above

    kind = gguf.MODEL_ARCH[gguf_kinds.architecture(config).upper()]
    called = gguf.get_tensor_name_map(kind, config["num_hidden_layers"])
    paths = sorted(folder.glob("model*.safetensors"))
    size = sum(path.stat().st_size for path in paths)
    with progress.work("weights for GGUF (bytes)", size) as tick:
        for path in paths:
            with safe_open(path, framework="numpy") as file:
                for name in file.keys():  # noqa: SIM118 - it is no dictionary
                    values = gguf_kinds.turned(name, file.get_tensor(name), config)
                    new = called.get_name(name, try_suffixes=(".weight", ".bias"))
                    if new is None:
                        raise UserFacingError(f"GGUF has no name for the tensor {name}")
                    writer.add_tensor(new, values)
                    tick(values.nbytes)
    factors = gguf_kinds.rope_freqs(config)
    if factors is not None:
        writer.add_tensor(gguf_kinds.ROPE_FREQS, factors)
