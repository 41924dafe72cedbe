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
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path, PurePath
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from torch import Tensor, nn

from tequio_client.trainer import llama
from tequio_client.trainer.llama import Llama, LlamaConfig
from tequio_client.trainer.model import CausalModel, of_network
from tequio_client.trainer.model_config import check_sizes, parse_config
from tequio_shared.errors import UserFacingError

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
_CONVERT = "convert it with transformers' save_pretrained(safe_serialization=True)"


def load(folder: Path) -> tuple[Mapping[str, Any], CausalModel]:  # JSON of any model
    """Read configuration and network; raises UserFacingError for an unusable folder."""
    raw = read_config(folder)
    fields = parse_config(raw)
    check_not_quantised(raw, str(folder))
    shapes = _shapes(folder)
    check_sizes(fields, len(shapes))
    plain = LlamaConfig.from_config(fields)
    model = of_network(
        _llama(folder, plain, shapes) if plain else _hub_model(folder, fields, shapes)
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
    return sum(math.prod(shape) for shape in _shapes(folder).values())


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


def _shapes(folder: Path) -> dict[str, tuple[int, ...]]:
    """Name and shape of every tensor in the files, without reading it."""
    found: dict[str, tuple[int, ...]] = {}
    for path in weight_files(folder):
        try:
            with safe_open(path, framework="pt") as file:
                found |= {name: tuple(file.get_slice(name).get_shape()) for name in file.keys()}  # noqa: SIM118 - not a mapping
        except (SafetensorError, OSError) as err:
            raise UserFacingError(unreadable_reason(path, err)) from err
    return found


def unreadable_reason(path: Path, err: Exception) -> str:
    """The message for a file that is not the Safetensors file its name claims."""
    if not path.is_file():
        return f"{path} is missing; download the model again"
    with path.open("rb") as file:
        is_pickle = file.read(4).startswith(_PICKLED)
    if is_pickle:
        return f"{path} is a pickle under another name, and reading one runs its code; {_CONVERT}"
    return f"{path} is damaged or not a Safetensors file ({err}); download it again"


def _llama(folder: Path, config: LlamaConfig, shapes: Mapping[str, tuple[int, ...]]) -> nn.Module:
    """Fill the network of `llama`; files may hold tied weights under either name, or both."""
    tied = {llama.HEAD, llama.EMBEDDING} & shapes.keys() if config.is_tied else set()
    source = {llama.HEAD: min(tied)} if tied else {}
    wanted = llama.tensor_shapes(config)
    for name, shape in wanted:
        _check_shape(folder, name, shapes.get(source.get(name, name)), shape)
    tensors = _read(folder, {source.get(name, name) for name, _ in wanted} | tied)
    _check_tied(folder, [tensors[name] for name in tied])
    with torch.device("meta"):
        network = Llama(config)
    if config.is_tied:
        tensors[llama.EMBEDDING] = tensors[llama.HEAD] = tensors[source[llama.HEAD]]
    network.load_state_dict(tensors, assign=True)
    if config.is_tied:
        network.lm_head.weight = network.model.embed_tokens.weight
    return network


def _check_tied(folder: Path, tables: Sequence[Tensor]) -> None:
    if any(not torch.equal(one, tables[0]) for one in tables):
        raise UserFacingError(
            f"{folder} holds two different tables of token embeddings, but its {CONFIG_FILE} "
            "ties them: "
            "set tie_word_embeddings to false there"
        )


def _check_shape(
    folder: Path, name: str, found: tuple[int, ...] | None, wanted: tuple[int, ...]
) -> None:
    if found is None:
        raise UserFacingError(f"{folder} has no weights {name}, which its {CONFIG_FILE} requires")
    if found != wanted:
        raise UserFacingError(
            f"{folder}: {name} has the shape {list(found)}, but {CONFIG_FILE} says {list(wanted)}"
        )


def _read(folder: Path, names: set[str]) -> dict[str, Tensor]:
    tensors: dict[str, Tensor] = {}
    for path in weight_files(folder):
        with safe_open(path, framework="pt") as file:
            for name in names & set(file.keys()):
                tensors[name] = file.get_tensor(name).to(torch.float32)
    return tensors


def _hub_model(
    folder: Path,
    fields: dict[str, Any],  # JSON of any model
    shapes: Mapping[str, tuple[int, ...]],
) -> nn.Module:
    """Have transformers fill its network, from these files and with this configuration alone."""
    from transformers import AutoModelForCausalLM  # noqa: PLC0415 - 120 MB

    from tequio_client.trainer import hub_models  # noqa: PLC0415 - as above

    try:
        with hub_models.limit_modules(len(shapes)), torch.device("meta"):
            outline = hub_models.build(fields)
        hub_models.check_tables(outline)
        _check_size(folder, outline.parameters(), shapes)
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
    return found


def _check_size(
    folder: Path, parameters: Iterable[Tensor], shapes: Mapping[str, tuple[int, ...]]
) -> None:
    """Raise UserFacingError for a configuration with more weights than the files hold."""
    wanted = sum(one.numel() for one in parameters)
    there = sum(torch.Size(shape).numel() for shape in shapes.values())
    if wanted > there:
        raise UserFacingError(
            f"{folder}: {CONFIG_FILE} requires {wanted:,} weights, but the files hold {there:,}"
        )


def llama_config(config: bytes) -> LlamaConfig:
    """The configuration of a frozen base; raises UserFacingError unless `llama` covers it."""
    fields = parse_config(config)
    found = LlamaConfig.from_config(fields)
    if found is None:
        raise UserFacingError(
            "a frozen base must be a plain Llama, and this one is not "
            f"({llama.first_difference(fields)}): choose another base, or train all weights"
        )
    return found


def map_tensors(config: bytes, files: Sequence[Path]) -> dict[str, Tensor]:
    """Map every tensor that the configuration requires, tied ones under both names.

    Raises UserFacingError for a tensor that is missing or of another shape or type.
    """
    network = llama_config(config)
    where = _where(files)
    wanted = dict(llama.tensor_shapes(network))
    source = {name: name for name in wanted}
    if network.is_tied and llama.HEAD not in where:
        source[llama.HEAD] = llama.EMBEDDING
    for name, shape in wanted.items():
        _check(where, source[name], shape)
    found = {name: _tensor(where[source[name]], source[name]) for name in wanted}
    if network.is_tied:
        _check_stored_ties(where, found[llama.HEAD])
        found[llama.EMBEDDING] = found[llama.HEAD]
    return found


def check_finite(tensors: Mapping[str, Tensor], source: str = "") -> None:
    """Raise UserFacingError for weights that are infinite or NaN; `source` begins its message."""
    for name, weights in tensors.items():
        bad = int((~torch.isfinite(weights.detach())).sum())
        if bad:
            raise UserFacingError(
                f"{source}{bad:,} of the {weights.numel():,} weights of {name} are NaN or "
                "infinite; use the checkpoint from before the training broke"
            )


def _where(files: Sequence[Path]) -> dict[str, Path]:
    """The file of each tensor; raises UserFacingError for one that is there twice."""
    found: dict[str, Path] = {}
    for path in files:
        try:
            with safe_open(path, framework="pt") as file:
                names = list(file.keys())
        except (SafetensorError, OSError) as err:
            raise UserFacingError(unreadable_reason(path, err)) from err
        twice = next((name for name in names if name in found), None)
        if twice is not None:
            raise UserFacingError(
                f"{twice} is in {found[twice]} and in {path}: remove one of the two"
            )
        found |= dict.fromkeys(names, path)
    return found


def _check(where: Mapping[str, Path], name: str, wanted: tuple[int, ...]) -> None:
    if name not in where:
        raise UserFacingError(f"the base has no weights {name}, which its configuration requires")
    with safe_open(where[name], framework="pt") as file:
        part = file.get_slice(name)
        shape, kind = tuple(part.get_shape()), part.get_dtype()
    if shape != wanted:
        raise UserFacingError(
            f"{name} of the base has the shape {list(shape)}, but its configuration says "
            f"{list(wanted)}"
        )
    if kind not in WEIGHT_TYPES:
        raise UserFacingError(
            f"{name} of the base has weights of type {kind} instead of "
            f"{', '.join(WEIGHT_TYPES)}: choose "
            "the model that it was quantised from"
        )


def _check_stored_ties(where: Mapping[str, Path], table: Tensor) -> None:
    # Files may hold tied weights twice, and then both have to be the same.
    path = where.get(llama.EMBEDDING)
    if path is not None and not torch.equal(_tensor(path, llama.EMBEDDING), table):
        raise UserFacingError(
            "the base holds two different tables of token embeddings, but its configuration ties "
            "them: set tie_word_embeddings to false there"
        )


def _tensor(path: Path, name: str) -> Tensor:
    with safe_open(path, framework="pt") as file:
        found: Tensor = file.get_tensor(name)
    return found
