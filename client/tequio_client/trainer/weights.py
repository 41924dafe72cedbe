"""Weights from a folder of Hugging Face's kind into a network that computes in binary32.

The folder is a stranger's. Only Safetensors files are read, since a pickle is a program; no code of
the model's author is run, and none is fetched; nothing is allocated that the files do not fill; and
a weight that is no number is refused, since one of them makes every prediction nothing.
"""

from __future__ import annotations

import json
import math
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

import torch
from safetensors import SafetensorError, safe_open

from tequio_client.trainer import fitness, llama
from tequio_client.trainer.llama import Llama, LlamaConfig
from tequio_client.trainer.model import check_repeats, configuration, of_network
from tequio_shared.errors import UserFacingError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from torch import Tensor, nn

    from tequio_client.trainer.model import Model


CONFIG, WEIGHTS, INDEX = "config.json", "model.safetensors", "model.safetensors.index.json"
SETTINGS_BYTES = 16 << 20
"""Most bytes of any JSON file of a model."""
PICKLES = (".bin", ".pt", ".pth", ".ckpt", ".pkl", ".pickle")
_PICKLED = (b"\x80", b"PK\x03\x04")  # a pickle's first byte; torch's way of packing several
_ADAPTER = "adapter_config.json"
_CONVERT = "convert it with transformers' save_pretrained(safe_serialization=True)"


def load(folder: Path) -> tuple[Mapping[str, Any], Model]:  # JSON of any model
    """Read configuration and network; raises UserFacingError when something is amiss."""
    raw = configured(folder)
    fields = configuration(raw)
    check_whole(raw, str(folder))
    shapes = _shapes(folder)
    check_repeats(fields, len(shapes))
    plain = LlamaConfig.of(fields)
    model = of_network(_ours(folder, plain, shapes) if plain else _theirs(folder, fields, shapes))
    _check_finite(folder, model)
    model.network.eval()
    return fields, model


def check_whole(config: bytes, source: str) -> None:
    """Refuse quantised weights, which are no numbers of the network's; raises UserFacingError."""
    method = json.loads(config).get("quantization_config")
    if method:
        raise UserFacingError(
            f"{source} has quantised weights ({_named(method)}); take the model that they were "
            "made from"
        )


def configured(folder: Path) -> bytes:
    """Read config.json; raises UserFacingError when there is none, or the folder is no model."""
    if not folder.is_dir():
        raise UserFacingError(f"{folder} is no folder with a model")
    if (folder / _ADAPTER).exists():
        raise UserFacingError(
            f"{folder} holds an adapter ({_ADAPTER}), no model; merge it into its base model, "
            "for a run by `tequio checkpoint export --merged`, else by peft's merge_and_unload"
        )
    if not (folder / CONFIG).is_file():
        raise UserFacingError(f"{folder} holds no model: it has no {CONFIG}")
    return settings(folder / CONFIG)


def settings(path: Path) -> bytes:
    """Read a model's JSON file; raises UserFacingError when it is too large or cannot be read."""
    try:
        size = path.stat().st_size
        if size > SETTINGS_BYTES:
            raise UserFacingError(
                f"{path} has {size:,} bytes, and settings may have {SETTINGS_BYTES:,}; "
                "this is no file of a model"
            )
        return path.read_bytes()
    except OSError as err:
        raise UserFacingError(f"cannot read {path}: {err.strerror}") from err


def files(folder: Path) -> tuple[Path, ...]:
    """List the Safetensors files of a model; raises UserFacingError when there are none."""
    if (folder / WEIGHTS).is_file():
        return (folder / WEIGHTS,)
    if (folder / INDEX).is_file():
        return tuple(folder / name for name in _indexed(folder / INDEX))
    pickles = sorted(one.name for one in folder.iterdir() if one.suffix in PICKLES)
    if pickles:
        raise UserFacingError(
            f"{folder / pickles[0]} is a pickle, and reading one runs what is in it; {_CONVERT}"
        )
    raise UserFacingError(f"{folder} has no weights: neither {WEIGHTS} nor {INDEX}")


def parameters(folder: Path) -> int:
    """Count the numbers in a model's files, none of them read; raises UserFacingError."""
    return sum(math.prod(shape) for shape in _shapes(folder).values())


def _indexed(path: Path) -> list[str]:
    try:
        names = sorted(set(json.loads(settings(path))["weight_map"].values()))
    except (ValueError, RecursionError, LookupError, TypeError, AttributeError) as err:
        raise UserFacingError(f"{path} does not say which files hold the weights") from err
    for name in names:
        if not isinstance(name, str) or not name or PurePath(name).name != name:
            raise UserFacingError(f"{path} names {name!r}, which is no file beside it")
        if not name.endswith(".safetensors"):
            raise UserFacingError(f"{path} names {name}, which is no Safetensors file; {_CONVERT}")
    return names


def _shapes(folder: Path) -> dict[str, tuple[int, ...]]:
    """Name and shape of every tensor in the files, without reading it."""
    found: dict[str, tuple[int, ...]] = {}
    for path in files(folder):
        try:
            with safe_open(path, framework="pt") as file:
                found |= {name: tuple(file.get_slice(name).get_shape()) for name in file.keys()}  # noqa: SIM118 - no mapping
        except (SafetensorError, OSError) as err:
            raise UserFacingError(not_safetensors(path, err)) from err
    return found


def not_safetensors(path: Path, err: Exception) -> str:
    """Say why a file could not be read as what it is called, and what to do."""
    if not path.is_file():
        return f"{path} is missing; download the model again"
    with path.open("rb") as file:
        is_pickle = file.read(4).startswith(_PICKLED)
    if is_pickle:
        return f"{path} is a pickle under another name, and reading one runs it; {_CONVERT}"
    return f"{path} is damaged, or no Safetensors file ({err}); download it again"


def _ours(folder: Path, config: LlamaConfig, shapes: Mapping[str, tuple[int, ...]]) -> nn.Module:
    """Fill our own network; files of tied weights hold them under either name."""
    tied = {llama.HEAD, llama.EMBEDDING} & shapes.keys() if config.is_tied else set()
    source = {llama.HEAD: min(tied)} if tied else {}
    wanted = llama.shapes(config)
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
            f"{folder} holds two tables of token embeddings, and its {CONFIG} says that they are "
            "one: set tie_word_embeddings to false there"
        )


def _check_shape(
    folder: Path, name: str, found: tuple[int, ...] | None, wanted: tuple[int, ...]
) -> None:
    if found is None:
        raise UserFacingError(f"{folder} has no weights {name}, which its {CONFIG} asks for")
    if found != wanted:
        raise UserFacingError(
            f"{folder}: {name} has the shape {list(found)}, and {CONFIG} says {list(wanted)}"
        )


def _read(folder: Path, names: set[str]) -> dict[str, Tensor]:
    tensors: dict[str, Tensor] = {}
    for path in files(folder):
        with safe_open(path, framework="pt") as file:
            for name in names & set(file.keys()):
                tensors[name] = file.get_tensor(name).to(torch.float32)
    return tensors


def _theirs(
    folder: Path,
    fields: dict[str, Any],  # JSON of any model
    shapes: Mapping[str, tuple[int, ...]],
) -> nn.Module:
    """Let transformers fill its network, from these files and with this configuration alone."""
    from transformers import AutoModelForCausalLM  # noqa: PLC0415 - 120 MB

    from tequio_client.trainer import hub_models  # noqa: PLC0415 - as above

    try:
        with fitness.bounded(len(shapes)), torch.device("meta"):
            outline = hub_models.build(fields)
        fitness.check_tables(outline)
        _check_size(folder, outline.parameters(), shapes)
        library: Any = AutoModelForCausalLM  # its types know no pair
        network, loaded = library.from_pretrained(
            folder,
            config=hub_models.configured(fields),
            use_safetensors=True,
            trust_remote_code=False,
            local_files_only=True,
            dtype=torch.float32,
            output_loading_info=True,
        )
    except hub_models.UNBUILDABLE as err:
        why = str(err).partition("\n")[0][:300]  # transformers writes paragraphs
        raise UserFacingError(f"cannot build the model of {folder}: {why}") from err
    lacking = sorted(loaded["missing_keys"])
    if lacking:
        raise UserFacingError(
            f"{folder} has no weights {lacking[0]}, which its {CONFIG} asks for"
            + (f", and {len(lacking) - 1} more" if lacking[1:] else "")
        )
    found: nn.Module = network
    return found


def _check_size(
    folder: Path, parameters: Iterable[Tensor], shapes: Mapping[str, tuple[int, ...]]
) -> None:
    """Refuse a configuration that asks for more numbers than there are, before they are made."""
    wanted = sum(one.numel() for one in parameters)
    there = sum(torch.Size(shape).numel() for shape in shapes.values())
    if wanted > there:
        raise UserFacingError(
            f"{folder}: {CONFIG} asks for {wanted:,} weights, and the files hold {there:,}"
        )


def _check_finite(folder: Path, model: Model) -> None:
    for name, weights in model.parameters.items():
        bad = int((~torch.isfinite(weights.detach())).sum())
        if bad:
            raise UserFacingError(
                f"{folder}: {bad:,} of the {weights.numel():,} weights of {name} are NaN or "
                "infinite; take the checkpoint from before the training broke"
            )


def _named(method: object) -> str:
    name = method.get("quant_method", "?") if isinstance(method, dict) else method
    return str(name)[:40]


# --- Weights as Safetensors files store them: 16 or 32 bits each, mapped, never widened.
#
# The files are a stranger's, and one of them may be as large as a disk. Headers alone are read
# until names, shapes and kinds of numbers are those that the network asks for.

KINDS = ("F32", "F16", "BF16")


def plain(config: bytes) -> LlamaConfig:
    """Read the configuration of a base; raises UserFacingError for what is none of ours."""
    fields = configuration(config)
    found = LlamaConfig.of(fields)
    if found is None:
        raise UserFacingError(
            f"a frozen base is a Llama, and this is not one of ours ({llama.unlike(fields)}): take "
            "another base, or train all weights"
        )
    return found


def read(config: bytes, files: Sequence[Path]) -> dict[str, Tensor]:
    """Map every tensor that the configuration asks for, tied ones under both names.

    Raises UserFacingError that names what is missing, of another shape, or of other numbers.
    """
    ours = plain(config)
    where = _where(files)
    wanted = dict(llama.shapes(ours))
    source = {name: name for name in wanted}
    if ours.is_tied and llama.HEAD not in where:
        source[llama.HEAD] = llama.EMBEDDING
    for name, shape in wanted.items():
        _check(where, source[name], shape)
    found = {name: _tensor(where[source[name]], source[name]) for name in wanted}
    if ours.is_tied:
        _stored_check_tied(where, found[llama.HEAD])
        found[llama.EMBEDDING] = found[llama.HEAD]
    return found


def check_finite(tensors: Mapping[str, Tensor]) -> None:
    """Refuse weights that are no numbers, since one of them makes every prediction nothing."""
    for name, weights in tensors.items():
        bad = int((~torch.isfinite(weights)).sum())
        if bad:
            raise UserFacingError(
                f"{bad:,} of the {weights.numel():,} weights of {name} are NaN or infinite; take "
                "the checkpoint from before the training broke"
            )


def _where(files: Sequence[Path]) -> dict[str, Path]:
    """Which file holds which tensor."""
    found: dict[str, Path] = {}
    for path in files:
        try:
            with safe_open(path, framework="pt") as file:
                names = list(file.keys())
        except (SafetensorError, OSError) as err:
            raise UserFacingError(not_safetensors(path, err)) from err
        twice = next((name for name in names if name in found), None)
        if twice is not None:
            raise UserFacingError(f"{twice} is in {found[twice]} and in {path}: take one away")
        found |= dict.fromkeys(names, path)
    return found


def _check(where: Mapping[str, Path], name: str, wanted: tuple[int, ...]) -> None:
    if name not in where:
        raise UserFacingError(f"the base has no weights {name}, which its configuration asks for")
    with safe_open(where[name], framework="pt") as file:
        part = file.get_slice(name)
        shape, kind = tuple(part.get_shape()), part.get_dtype()
    if shape != wanted:
        raise UserFacingError(
            f"the base's {name} has the shape {list(shape)}, and its configuration says "
            f"{list(wanted)}"
        )
    if kind not in KINDS:
        raise UserFacingError(
            f"the base's {name} has weights of the kind {kind}, not {', '.join(KINDS)}: take the "
            "model that it was quantised from"
        )


def _stored_check_tied(where: Mapping[str, Path], table: Tensor) -> None:
    """Files of tied weights may hold them twice, and then they have to be the same."""
    path = where.get(llama.EMBEDDING)
    if path is not None and not torch.equal(_tensor(path, llama.EMBEDDING), table):
        raise UserFacingError(
            "the base holds two tables of token embeddings, and its configuration says that they "
            "are one: set tie_word_embeddings to false there"
        )


def _tensor(path: Path, name: str) -> Tensor:
    with safe_open(path, framework="pt") as file:
        found: Tensor = file.get_tensor(name)
    return found
