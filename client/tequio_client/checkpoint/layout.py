"""Layout of an exported folder (docs/protocol.md, exported heads).

Hugging Face's own files are at the top; what makes them a head of a log is below `tequio/`, where
no program that loads models looks.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from enum import Enum
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec
from msgspec import UNSET, UnsetType

from tequio_client.names import clean_text
from tequio_client.plugins import archive
from tequio_client.tokenizers import TABLE_NAME
from tequio_client.trainer.model_config import without_code
from tequio_shared import encoding
from tequio_shared.errors import MalformedError, UserFacingError
from tequio_shared.head.layout import FrozenBase
from tequio_shared.ids import Bytes32Text, Natural
from tequio_shared.round.corpus import Chat, Corpus

CONFIG = "config.json"
GENERATION = "generation_config.json"
TOKENIZER = "tokenizer.json"
TOKENIZER_CONFIG = "tokenizer_config.json"
TABLE = TABLE_NAME
"""In place of these two where code of a plug-in splits texts."""
CARD = "README.md"
WEIGHTS = "model.safetensors"
INDEX = "model.safetensors.index.json"
TEQUIO_FOLDER = "tequio"
CLAIM = f"{TEQUIO_FOLDER}/claim.json"
MANIFEST = f"{TEQUIO_FOLDER}/manifest.json"
CORPUS = f"{TEQUIO_FOLDER}/corpus.json"
SOURCE_CONFIG = f"{TEQUIO_FOLDER}/config.json"
REMAINDER = f"{TEQUIO_FOLDER}/remainder.safetensors"
PROOF = f"{TEQUIO_FOLDER}/head.tlog-proof"
PLUGIN = archive.EXPORTED
"""The run's own code, which nothing here runs but a chat, and only once it is allowed."""
CLAIM_BYTES = 1 << 16
_NAME_CHARS = 100
ADAPTER = "adapter_model.safetensors"
ADAPTER_CONFIG = "adapter_config.json"
MERGED_ADAPTER = f"{TEQUIO_FOLDER}/{ADAPTER}"
"""Of a folder where the adapters are merged into their base: what the head is."""
PATTERNS = (
    *(CONFIG, GENERATION, TOKENIZER, TOKENIZER_CONFIG, TABLE, CARD, INDEX),
    *("model*.safetensors", f"{TEQUIO_FOLDER}/*", ADAPTER_CONFIG, ADAPTER),
)
"""Files that a repository of an export may have."""


def is_adapter(folder: Path) -> bool:
    """True for a folder of adapters without their base."""
    return (folder / ADAPTER_CONFIG).exists()


def adapter_of(folder: Path) -> Path:
    return folder / (ADAPTER if is_adapter(folder) else MERGED_ADAPTER)


class ExportForm(Enum):
    """Content of a folder: a head as its run trains it, or adapters merged into their base."""

    HEAD = "head"
    MERGED = "merged"


class HeadClaim(msgspec.Struct, frozen=True, kw_only=True):
    """A folder's claim to be a certain head, which is not trusted."""

    v: Literal[1] = 1
    network: Bytes32Text
    run: Bytes32Text
    round: Natural
    head: Bytes32Text
    weights_root: Bytes32Text
    entry: Natural
    """Log index of the head.promote."""

    @classmethod
    def parse(cls, raw: bytes) -> HeadClaim:
        """Read a claim; raises MalformedError."""
        try:
            return encoding.read(raw, cls)
        except MalformedError as err:
            raise MalformedError(f"{CLAIM} does not say which head this is: {err}") from err

    def encode(self) -> bytes:
        return msgspec.json.format(msgspec.json.encode(self), indent=2) + b"\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedRevision:
    """Where a head was published."""

    location: str
    """Repository of the Hub, or bucket, as `checkpoint.publish` states it."""
    revision: str
    tag: str
    is_new: bool
    """False if the head was published before."""


def visible_names(folder: Path) -> list[str]:
    """The paths of all files in a folder but the hidden ones, which desktops leave; ascending."""
    files = [one.relative_to(folder) for one in folder.rglob("*") if one.is_file()]
    return sorted(
        one.as_posix() for one in files if not any(part.startswith(".") for part in one.parts)
    )


def list_files(folder: Path) -> list[str]:
    """The paths of all files and links in a folder, ascending."""
    found = (one for one in folder.rglob("*") if one.is_symlink() or not one.is_dir())
    return sorted(one.relative_to(folder).as_posix() for one in found)


def check_names(names: Iterable[str], allowed: Collection[str]) -> None:
    """Raise MalformedError for a file that fits none of the patterns, but for hidden ones.

    No program that loads models reads hidden files, and Git, the Hub and desktops leave some.
    """
    for name in names:
        is_hidden = any(part.startswith(".") for part in name.split("/"))
        if not is_hidden and not any(fnmatchcase(name, one) for one in allowed):
            raise MalformedError(
                f"{clean_text(name, _NAME_CHARS)} is not part of an export, and may change what "
                "programs load: remove it"
            )


class WeightIndex(msgspec.Struct, frozen=True, kw_only=True):
    """The file of each tensor, as transformers lists them."""

    weight_map: dict[str, Annotated[str, msgspec.Meta(pattern=r"\A[\w.-]+\.safetensors\Z")]]


def weight_file_names(folder: Path, tensors: Collection[str]) -> set[str]:
    """The names of the files that hold these tensors, and of their index."""
    found = {path.name for path in weight_files(folder, list(tensors)).values()}
    return found if found == {WEIGHTS} else found | {INDEX}


def weight_files(folder: Path, names: list[str]) -> dict[str, Path]:
    """The file of each tensor, as transformers names them; raises MalformedError."""
    if (folder / WEIGHTS).is_file() or not (folder / INDEX).is_file():
        return dict.fromkeys(names, folder / WEIGHTS)
    raw = (folder / INDEX).read_bytes()
    try:
        index = encoding.read(raw, WeightIndex)
    except MalformedError as err:
        raise MalformedError(f"{INDEX} is not a valid index of weights: {err}") from err
    unnamed = [name for name in names if name not in index.weight_map]
    if unnamed:
        raise MalformedError(f"{INDEX} does not name the tensor {unnamed[0]}")
    return {name: folder / index.weight_map[name] for name in names}


# All files below are functions of the run's documents alone: a verifier with the run's manifest
# makes them again, and compares them with a folder's.

_CLASSES = {"llama": "LlamaForCausalLM"}
"""Named for programs that ask for the class; transformers needs the model's type alone."""


def model_config(raw: bytes) -> bytes:
    """config.json of the folder, from the run's configuration; raises MalformedError.

    It loads no code, and says that the weights are binary32.
    """
    try:
        fields = json.loads(raw)
    except (ValueError, RecursionError) as err:
        raise MalformedError(f"the run's configuration is not JSON: {err}") from err
    if not isinstance(fields, dict) or not isinstance(fields.get("model_type"), str):
        raise MalformedError("the run's configuration names no model_type")
    kept = without_code(fields)
    kept.pop("torch_dtype", None)
    kept["dtype"] = "float32"
    if not kept.get("architectures") and kept["model_type"] in _CLASSES:
        kept["architectures"] = [_CLASSES[kept["model_type"]]]
    return _json(kept)


def adapter_config(base: FrozenBase) -> bytes:
    """adapter_config.json of a head of adapters, as the peft package reads it."""
    return _json(
        {
            "peft_type": "LORA",
            "task_type": "CAUSAL_LM",
            "base_model_name_or_path": base.source or None,
            "revision": base.revision or None,
            "r": base.rank,
            "lora_alpha": base.alpha,
            "lora_dropout": 0.0,
            "target_modules": list(base.targets),
            "bias": "none",
            "fan_in_fan_out": False,
            "inference_mode": True,
        }
    )


def generation_config(corpus: Corpus) -> bytes:
    """generation_config.json: a text begins and ends with the separator.

    After training on conversations, what ends a turn of the assistant ends a text, too.
    """
    one = corpus.separator
    ends: int | list[int] = one
    if not isinstance(corpus.chat, UnsetType):
        ends = list(dict.fromkeys((corpus.chat.turn_end, one)))
    return _json({"bos_token_id": one, "eos_token_id": ends, "pad_token_id": one})


def _json(fields: dict[str, Any]) -> bytes:
    return json.dumps(fields, indent=2, sort_keys=True).encode() + b"\n"


# A run on raw bytes gets a tokenizer.json that does the same to every text: token b is byte b, zero
# bytes are left out, and token 0 is the separator. An added token would be found in a text that
# spells it; without merges, no text gives this one. Transformers adds the tokens that
# tokenizer_config.json names, so there a text that spells the separator gives it all the same,
# unless special tokens are split (`split_special_tokens`).

SEPARATOR = "<|separator|>"
_FIRST_SPARE = 0x100
"""First letter that GPT-2's byte alphabet gives to bytes without a visible character."""


def tokenizer_files(
    raw: bytes, separator: int, sequence: int, chat: Chat | UnsetType = UNSET
) -> tuple[bytes, bytes]:
    """tokenizer.json and tokenizer_config.json; `raw` is empty for bytes.

    A chat template renders as it did for training. Raises MalformedError for a tokenizer.json that
    names no such separator.
    """
    token = _token(raw, separator) if raw else SEPARATOR
    if isinstance(chat, UnsetType):
        own = {"bos_token": token, "eos_token": token}
    else:
        names = {"bos_token": chat.bos_token, "eos_token": chat.eos_token}
        own = {"chat_template": chat.template} | {name: one for name, one in names.items() if one}
    settings = {
        "tokenizer_class": "PreTrainedTokenizerFast",
        **own,
        "pad_token": token,
        "clean_up_tokenization_spaces": False,
        "model_max_length": sequence,
    }
    return raw or byte_tokenizer(), _json(settings)


def byte_tokenizer() -> bytes:
    _zero, *letters = byte_alphabet()
    vocabulary = {SEPARATOR: 0} | {letter: byte for byte, letter in enumerate(letters, 1)}
    level = {"add_prefix_space": False, "trim_offsets": True, "use_regex": False}
    whole: dict[str, Any] = {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [],
        "normalizer": None,
        "pre_tokenizer": {"type": "ByteLevel"} | level,
        "post_processor": None,
        "decoder": {"type": "ByteLevel"} | level,
        "model": {
            "type": "BPE",
            "dropout": None,
            "unk_token": None,
            "continuing_subword_prefix": None,
            "end_of_word_suffix": None,
            "fuse_unk": False,
            "byte_fallback": False,
            "ignore_merges": False,
            "vocab": vocabulary,
            "merges": [],
        },
    }
    return json.dumps(whole, ensure_ascii=True, indent=1).encode() + b"\n"


def byte_alphabet() -> list[str]:
    """GPT-2's letters for the 256 bytes, which byte-level tokenizers are written in."""
    visible = {*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)}
    letters, spare = [], _FIRST_SPARE
    for byte in range(256):
        letters.append(chr(byte if byte in visible else spare))
        spare += byte not in visible
    return letters


def _token(raw: bytes, separator: int) -> str:
    try:
        whole: Any = json.loads(raw)
        added = {one["id"]: one["content"] for one in whole.get("added_tokens") or ()}
        vocabulary = whole["model"]["vocab"]
        is_named = isinstance(vocabulary, dict)
        pairs = (
            vocabulary.items() if is_named else ((one[0], at) for at, one in enumerate(vocabulary))
        )
        token = next((name for name, number in pairs if number == separator), None)
    except (ValueError, RecursionError, LookupError, TypeError, AttributeError) as err:
        raise MalformedError(f"the run's tokenizer.json cannot be read: {err!r}") from err
    token = added.get(separator, token)
    if token is None:
        raise MalformedError(f"the run's tokenizer.json has no token {separator}")
    return str(token)


def check_free(target: Path) -> None:
    """Raise UserFacingError for a copy that is there already: it may be of another round."""
    if target.exists():
        raise UserFacingError(
            f"{target} is there already: choose another place with --to, or remove it"
        )
