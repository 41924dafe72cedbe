"""Weights from a Hugging Face model folder: into a network in binary32, or mapped as stored.

The folder comes from a stranger. Only Safetensors files are read, since a pickle is a program; no
code of the model's author is run or fetched; nothing is allocated that the files do not fill; and
weights that are infinite or NaN are refused, since one of them spoils every prediction. Of a frozen
base, which may be as large as a disk, only headers are read until names, shapes and types are those
that the network asks for.
"""

from __future__ import annotations

import json
import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from torch import Tensor, nn

from tequio_client.trainer import llama, network_checks
from tequio_client.trainer.llama import Llama, LlamaConfig
from tequio_client.trainer.model import CausalModel, of_network
from tequio_client.trainer.model_config import ModelRefusedError, check_sizes, parse_config
from tequio_shared.errors import UserFacingError
from tequio_shared.scoring import Refusal

CONFIG_FILE, WEIGHTS_FILE, INDEX_FILE = (
    "config.json",
    "model.safetensors",
    "model.safetensors.index.json",
)
MAX_SETTINGS_BYTES = 16 << 20
"""Most bytes of any JSON file of a model."""
WEIGHT_TYPES = ("F32", "F16", "BF16")
"""Types of a frozen base's weights."""
PICKLE_SUFFIXES = (".bin", ".pt", ".pth", ".ckpt", ".pkl", ".pickle")
_PICKLED = (b"\x80", b"PK\x03\x04")  # a pickle's first byte; torch's archive of several
_ADAPTER = "adapter_config.json"
_LEARNT_BUFFER = "e_score_correction_bias"
"""Of mixtures of experts: the one constant that training moves, and that no mask is made of."""
_OTHER_NAMES = {"lm_head.weight": ("embed_out.weight",)}
"""Names in files of tensors that transformers renames as it reads them: GPT-NeoX (Pythia)."""
_CONVERT = "convert it with transformers' save_pretrained(safe_serialization=True)"


def load(folder: Path) -> tuple[Mapping[str, Any], CausalModel]:  # JSON of any model
    """Read configuration and network; raises UserFacingError for an unusable folder."""
    raw = read_config(folder)
    fields = parse_config(raw)
    check_not_quantised(raw, str(folder))
    stored = dict(_headers(weight_files(folder)))
    check_sizes(fields, len(stored))
    plain = LlamaConfig.from_config(fields)
    model = of_network(
        _llama(folder, plain, stored) if plain else _hub_model(folder, fields, stored)
    )
    check_finite(model.parameters, f"{folder}: ")
    model.network.eval()
    return fields, model


def check_not_quantised(config: bytes, source: str) -> None:
    """Raise UserFacingError for quantised weights, which are codes rather than values."""
    method = json.loads(config).get("quantization_config")
    if method:
        name = method.get("quant_method", "?") if isinstance(method, dict) else method
        raise UserFacingError(
            f"{source} has quantised weights ({str(name)[:40]}); choose the model that they were "
            "made from"
        )


def read_config(folder: Path) -> bytes:
    """Read config.json; raises UserFacingError unless the folder holds a model."""
    if not folder.is_dir():
        raise UserFacingError(f"{folder} is not a model folder")
    if (folder / _ADAPTER).exists():
        raise UserFacingError(
            f"{folder} holds an adapter ({_ADAPTER}) rather than a model; merge it into its base "
            "model, with `tequio checkpoint export --merged` for a run, else with peft's "
            "merge_and_unload"
        )
    if not (folder / CONFIG_FILE).is_file():
        raise UserFacingError(f"{folder} is not a model folder: it has no {CONFIG_FILE}")
    return read_json_file(folder / CONFIG_FILE)


def read_json_file(path: Path) -> bytes:
    """Read a model's JSON file; raises UserFacingError if it is too large or unreadable."""
    try:
        size = path.stat().st_size
        if size > MAX_SETTINGS_BYTES:
            raise UserFacingError(
                f"{path} has {size:,} bytes, more than the {MAX_SETTINGS_BYTES:,} allowed for "
                "settings of a model"
            )
        return path.read_bytes()
    except OSError as err:
        raise UserFacingError(f"cannot read {path}: {err.strerror}") from err


def weight_files(folder: Path) -> tuple[Path, ...]:
    """The Safetensors files of a model; raises UserFacingError if there are none."""
    if (folder / WEIGHTS_FILE).is_file():
        return (folder / WEIGHTS_FILE,)
    if (folder / INDEX_FILE).is_file():
        return tuple(folder / name for name in _indexed(folder / INDEX_FILE))
    pickles = sorted(one.name for one in folder.iterdir() if one.suffix in PICKLE_SUFFIXES)
    if pickles:
        raise UserFacingError(
            f"{folder / pickles[0]} is a pickle, and reading one runs its code; {_CONVERT}"
        )
    raise UserFacingError(f"{folder} has no weights: neither {WEIGHTS_FILE} nor {INDEX_FILE}")


def count_parameters(folder: Path) -> int:
    """Count the weights in a model's files without reading them; raises UserFacingError."""
    return sum(math.prod(one.shape) for one in dict(_headers(weight_files(folder))).values())


def _indexed(path: Path) -> list[str]:
    try:
        names = sorted(set(json.loads(read_json_file(path))["weight_map"].values()))
    except (ValueError, RecursionError, LookupError, TypeError, AttributeError) as err:
        raise UserFacingError(
            f"{path} does not list the files of the weights; download the model again"
        ) from err
    for name in names:
        if not isinstance(name, str) or not name or PurePath(name).name != name:
            raise UserFacingError(f"{path} names {name!r}, which is not a file in its folder")
        if not name.endswith(".safetensors"):
            raise UserFacingError(
                f"{path} names {name}, which is not a Safetensors file; {_CONVERT}"
            )
    return names


@dataclass(frozen=True, slots=True)
class _Stored:
    """A tensor by its file's header."""

    path: Path
    shape: tuple[int, ...]
    kind: str


def _headers(files: Iterable[Path]) -> Iterator[tuple[str, _Stored]]:
    """Every tensor in the files by its name, without reading it; raises UserFacingError."""
    for path in files:
        try:
            with safe_open(path, framework="pt") as file:
                for name in file.keys():  # noqa: SIM118 - not a mapping
                    part = file.get_slice(name)
                    yield name, _Stored(path, tuple(part.get_shape()), part.get_dtype())
        except (SafetensorError, OSError) as err:
            raise UserFacingError(_unreadable_reason(path, err)) from err


def _unreadable_reason(path: Path, err: Exception) -> str:
    """The message for a file that is not the Safetensors file its name claims."""
    if not path.is_file():
        return f"{path} is missing; download the model again"
    with path.open("rb") as file:
        is_pickle = file.read(4).startswith(_PICKLED)
    if is_pickle:
        return f"{path} is a pickle under another name, and reading one runs its code; {_CONVERT}"
    return f"{path} is damaged or not a Safetensors file ({err}); download it again"


def _llama(folder: Path, config: LlamaConfig, stored: Mapping[str, _Stored]) -> nn.Module:
    """Fill the network of `llama`, widened to binary32."""
    listed, aliases = llama.tensor_shapes(config), llama.aliases(config)
    found = _read_tensors(listed, aliases, stored, str(folder))
    tensors = {name: one.to(torch.float32) for name, one in found.items()}
    with torch.device("meta"):
        network = Llama(config)
    tensors |= {alias: tensors[name] for alias, name in aliases}
    network.load_state_dict(tensors, assign=True)
    if config.is_tied:
        network.lm_head.weight = network.model.embed_tokens.weight
    return network


def _read_tensors(
    listed: Sequence[tuple[str, tuple[int, ...]]],
    aliases: Sequence[tuple[str, str]],
    stored: Mapping[str, _Stored],
    source: str,
    kinds: Collection[str] = (),
) -> dict[str, Tensor]:
    """Read the listed tensors (name, shape), once all their headers are right.

    Files may hold tied weights under any of their names (`aliases`: other name, listed name).
    `kinds` are the types that are allowed, none for any. Raises UserFacingError.
    """
    others = {name: list(also) for name, also in _OTHER_NAMES.items()}
    for alias, name in aliases:
        others.setdefault(name, []).append(alias)
    names: dict[str, str] = {}
    for name, shape in listed:
        there = [one for one in (name, *others.get(name, ())) if one in stored]
        for one in there or (name,):
            _check_header(stored.get(one), one, shape, source, kinds)
        names[name] = next(iter(there), name)
        if there[1:]:
            _check_same(_read(stored, there), source)
    read = _read(stored, names.values())
    return {name: read[own] for name, own in names.items()}


def _check_same(tied: Mapping[str, Tensor], source: str) -> None:
    first, *rest = tied.values()
    if any(not torch.equal(one.to(torch.float32), first.to(torch.float32)) for one in rest):
        raise UserFacingError(
            f"{source} holds two different tables of token embeddings, but its {CONFIG_FILE} "
            "ties them: set tie_word_embeddings to false there"
        )


def _read(stored: Mapping[str, _Stored], names: Iterable[str]) -> dict[str, Tensor]:
    """Read tensors; opens each file once, because every tensor maps the file that it came from."""
    of_file: dict[Path, list[str]] = {}
    for name in names:
        of_file.setdefault(stored[name].path, []).append(name)
    found: dict[str, Tensor] = {}
    for path, own in of_file.items():
        with safe_open(path, framework="pt") as file:
            found |= {name: file.get_tensor(name) for name in own}
    return found


def _check_header(
    found: _Stored | None, name: str, wanted: tuple[int, ...], source: str, kinds: Collection[str]
) -> None:
    if found is None:
        raise UserFacingError(f"{source} has no weights {name}, which its {CONFIG_FILE} requires")
    if found.shape != wanted:
        raise UserFacingError(
            f"{source}: {name} has the shape {list(found.shape)}, but {CONFIG_FILE} says "
            f"{list(wanted)}"
        )
    if kinds and found.kind not in kinds:
        raise UserFacingError(
            f"{source}: {name} has weights of type {found.kind} instead of {', '.join(kinds)}: "
            "choose the model that it was quantised from"
        )


def _hub_model(
    folder: Path,
    fields: dict[str, Any],  # JSON of any model
    stored: Mapping[str, _Stored],
) -> nn.Module:
    """Have transformers fill its network, from these files and with this configuration alone."""
    from transformers import AutoModelForCausalLM  # noqa: PLC0415 - 120 MB

    from tequio_client.trainer import hub_models  # noqa: PLC0415 - as above

    try:
        with hub_models.limit_modules(len(stored)), torch.device("meta"):
            outline = hub_models.build(fields)
        network_checks.check_tables(outline)
        wanted = sum(one.numel() for one in outline.parameters())
        there = sum(math.prod(one.shape) for one in stored.values())
        if wanted > there:
            raise UserFacingError(
                f"{folder}: {CONFIG_FILE} requires {wanted:,} weights, but the files hold {there:,}"
            )
        library: Any = AutoModelForCausalLM  # its types lack the pair
        network, loaded = library.from_pretrained(
            folder,
            config=hub_models.configure(fields),
            use_safetensors=True,
            trust_remote_code=False,
            local_files_only=True,
            dtype=torch.float32,
            output_loading_info=True,
        )
    except hub_models.BUILD_ERRORS as err:
        why = str(err).partition("\n")[0][:300]  # transformers writes paragraphs
        raise UserFacingError(f"cannot build the model of {folder}: {why}") from err
    lacking = sorted(loaded["missing_keys"])
    if lacking:
        raise UserFacingError(
            f"{folder} has no weights {lacking[0]}, which its {CONFIG_FILE} requires"
            + (f", and {len(lacking) - 1} more" if lacking[1:] else "")
        )
    found: nn.Module = network
    _check_buffers(found, stored, folder)
    return found


def _check_buffers(network: nn.Module, stored: Iterable[str], folder: Path) -> None:
    """Raise ModelRefusedError if the files fill a constant of the architecture, such as a mask."""
    parameters = {name for name, _ in network.named_parameters(remove_duplicate=False)}
    names = set(stored)
    for name in network.state_dict().keys() - parameters:
        is_filled = any(name == one or name.endswith(f".{one}") for one in names) or any(
            one.endswith(f".{name}") for one in names
        )
        if is_filled and not name.endswith(_LEARNT_BUFFER):
            raise ModelRefusedError(
                Refusal.KIND,
                f"{folder} replaces {name}, a constant of its architecture that may be a mask",
            )


def map_tensors(sketch: CausalModel, files: Sequence[Path]) -> dict[str, Tensor]:
    """Map every tensor that a sketch (`model.sketch`) lists; raises UserFacingError."""
    stored: dict[str, _Stored] = {}
    for name, one in _headers(files):
        if name in stored:
            raise UserFacingError(
                f"{name} is in {stored[name].path} and in {one.path}: remove one of the two"
            )
        stored[name] = one
    return _read_tensors(sketch.tensors, sketch.aliases, stored, "the base", WEIGHT_TYPES)


def check_finite(tensors: Mapping[str, Tensor], source: str = "") -> None:
    """Raise UserFacingError for weights that are infinite or NaN; `source` begins its message."""
    for name, weights in tensors.items():
        bad = int((~torch.isfinite(weights.detach())).sum())
        if bad:
            raise UserFacingError(
                f"{source}{bad:,} of the {weights.numel():,} weights of {name} are NaN or "
                "infinite; use the checkpoint from before the training broke"
            )
