"""What lies where in an exported folder, and what is said of it (docs/protocol.md, exported heads).

Hugging Face's own files are at the top; what makes them a head of a log is below `tequio/`, where
no program that loads models looks.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Annotated, Literal

import msgspec

from tequio_shared.errors import MalformedError
from tequio_shared.fields import Bytes32Text, Natural

if TYPE_CHECKING:
    from pathlib import Path

CONFIG = "config.json"
GENERATION = "generation_config.json"
TOKENIZER = "tokenizer.json"
TOKENIZER_CONFIG = "tokenizer_config.json"
CARD = "README.md"
WEIGHTS = "model.safetensors"
INDEX = "model.safetensors.index.json"
OURS = "tequio"
CLAIM = f"{OURS}/claim.json"
MANIFEST = f"{OURS}/manifest.json"
CORPUS = f"{OURS}/corpus.json"
SOURCE_CONFIG = f"{OURS}/config.json"
REMAINDER = f"{OURS}/remainder.safetensors"
PROOF = f"{OURS}/head.tlog-proof"
CLAIM_BYTES = 1 << 16
ADAPTER = "adapter_model.safetensors"
ADAPTER_CONFIG = "adapter_config.json"
MERGED_ADAPTER = f"{OURS}/{ADAPTER}"
"""Of a folder where the adapters are merged into their base: what the head is."""
FOREIGN = (ADAPTER_CONFIG, ADAPTER, "adapter_model.bin")
"""Files that change what is loaded, and that only an export of adapters has, less the last."""
PATTERNS = (
    *(CONFIG, GENERATION, TOKENIZER, TOKENIZER_CONFIG, CARD, INDEX),
    *("model*.safetensors", f"{OURS}/*", *FOREIGN),
)
"""What is fetched of a repository in order to check it."""


def is_adapter(folder: Path) -> bool:
    """Whether a folder holds adapters by themselves."""
    return (folder / ADAPTER_CONFIG).exists()


def adapter_of(folder: Path) -> Path:
    """Where a folder of a run of adapters has them."""
    return folder / (ADAPTER if is_adapter(folder) else MERGED_ADAPTER)


class Form(Enum):
    """What a folder holds: a head as its run trains it, or a whole model where that is adapters."""

    HEAD = "head"
    MERGED = "merged"


class Claim(msgspec.Struct, frozen=True, kw_only=True):
    """Which head a folder says that it is; believed by nobody."""

    v: Literal[1] = 1
    network: Bytes32Text
    run: Bytes32Text
    round: Natural
    head: Bytes32Text
    weights_root: Bytes32Text
    entry: Natural
    """Log index of the head.promote."""

    @classmethod
    def parse(cls, raw: bytes) -> Claim:
        """Read a claim; raises MalformedError."""
        try:
            return msgspec.json.decode(raw, type=cls, strict=True)
        except (ValueError, RecursionError) as err:  # msgspec's and Unicode's are ValueErrors
            raise MalformedError(f"{CLAIM} does not say which head this is: {err}") from err

    def encode(self) -> bytes:
        """Write it for people and programs."""
        return msgspec.json.format(msgspec.json.encode(self), indent=2) + b"\n"


class Index(msgspec.Struct, frozen=True, kw_only=True):
    """Which file of several holds which tensor, as transformers writes it."""

    weight_map: dict[str, Annotated[str, msgspec.Meta(pattern=r"\A[\w.-]+\.safetensors\Z")]]


@dataclass(frozen=True, slots=True)
class WeightFiles:
    """The files of a folder that hold its tensors, by the tensor's name in them."""

    by_tensor: dict[str, Path]

    @classmethod
    def of(cls, folder: Path, names: list[str]) -> WeightFiles:
        """Name them as transformers does: one file, or else several by an index.

        Raises MalformedError.
        """
        if (folder / WEIGHTS).is_file() or not (folder / INDEX).is_file():
            return cls(dict.fromkeys(names, folder / WEIGHTS))
        raw = (folder / INDEX).read_bytes()
        try:
            index = msgspec.json.decode(raw, type=Index)
        except (ValueError, RecursionError) as err:
            raise MalformedError(f"{INDEX} is no index of weights: {err}") from err
        unnamed = [name for name in names if name not in index.weight_map]
        if unnamed:
            raise MalformedError(f"{INDEX} does not name the tensor {unnamed[0]}")
        return cls({name: folder / index.weight_map[name] for name in names})
