"""What a run starts from: a configuration, for fresh weights, or a model to go on from.

The configuration is read first, of a repository it alone: a model that cannot be trained here, or
by nobody expected, costs no download of its weights.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tequio_client.tokenizers import TOKENIZER_NAME
from tequio_shared.errors import UserFacingError
from tequio_shared.ids import sha256, to_text

if TYPE_CHECKING:
    from tequio_client.organiser.plan import ModelPlan
    from tequio_client.trainer.origin import Origin
    from tequio_shared.corpus import Corpus
    from tequio_shared.layout import LayoutKind

_CONFIG = "config.json"
_HUB_ERROR = "there is no folder {name}, and it cannot be had from the Hub: {why}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """Where a plan's model comes from; `folder` is None for fresh weights."""

    plan: ModelPlan
    config: bytes
    is_fresh: bool
    folder: Path | None
    """Of a model that is here already."""


def find(plan: ModelPlan, beside: Path) -> Source:
    """Read the configuration of the plan's model; raises UserFacingError.

    Relative paths are relative to the folder `beside`.
    """
    file = beside / plan.source
    if file.is_file():
        return Source(plan=plan, config=content(file), is_fresh=True, folder=None)
    if plan.source.endswith(".json"):
        raise UserFacingError(f"there is no model configuration {file}, which the plan names")
    folder = file if file.is_dir() else None
    config = _of_folder(folder) if folder else of_repository(plan.source, plan.revision)
    _check_source(config, plan.source)
    return Source(plan=plan, config=config, is_fresh=False, folder=folder)


def origin(source: Source, corpus: Corpus, layout: LayoutKind) -> Origin:
    """Make or read the weights; raises UserFacingError, also where the data is another model's."""
    from tequio_client.trainer import origin as origins  # noqa: PLC0415 - brings torch

    if source.is_fresh:
        return origins.from_config(source.config, seed=source.plan.seed, layout=layout)
    return origins.from_folder(weights(source, corpus), layout=layout)


def weights(source: Source, corpus: Corpus) -> Path:
    """Find the folder of a model that exists, or fetch it; raises UserFacingError.

    Also where the data is another model's, or the configuration is not the one that was read.
    """
    from tequio_client.scoring import hub  # noqa: PLC0415 - as above

    plan = source.plan
    folder = source.folder or hub.folder(plan.source, plan.revision or None)
    _check_tokenizer(folder, plan.source, corpus)
    if _of_folder(folder) != source.config:
        raise UserFacingError(
            f"{plan.source} has changed while it was read: give its commit as `revision`"
        )
    return folder


def check_context(source: Source, corpus: Corpus, most: int) -> None:
    """Refuse samples that are longer than what a model takes; raises UserFacingError.

    `most` is what its network takes at once, 0 where that takes any number.
    """
    said = _fields(source).get("max_position_embeddings")
    made_for = most or (said if not source.is_fresh and isinstance(said, int) else 0)
    if made_for and made_for < corpus.sequence:
        raise UserFacingError(
            f"the samples have {corpus.sequence:,} tokens, and {source.plan.source} was made for "
            f"{made_for:,}; build the data with --sequence {made_for}"
        )


def check_vocabulary(source: Source, corpus: Corpus, known: int) -> None:
    """Refuse data with tokens that the model does not know; raises UserFacingError."""
    if known < corpus.tokenizer.vocab_size:
        raise UserFacingError(
            f"the model knows {known} tokens, the data has {corpus.tokenizer.vocab_size}; "
            "set vocab_size in the model's config"
            if source.is_fresh
            else f"{source.plan.source} knows {known} tokens, the data has "
            f"{corpus.tokenizer.vocab_size}; build it with --tokenizer {source.plan.source}"
        )


def of_repository(name: str, revision: str) -> bytes:
    """Fetch a repository's config.json alone; raises UserFacingError."""
    import httpx2  # noqa: PLC0415 - what huggingface_hub speaks with, and raises the errors of
    from huggingface_hub import hf_hub_download  # noqa: PLC0415 - only for names of the Hub

    from tequio_client.trainer.weight_files import settings  # noqa: PLC0415 - brings torch

    try:
        found = Path(hf_hub_download(name, _CONFIG, revision=revision or None))
    except (OSError, ValueError, httpx2.HTTPError) as err:
        why = str(err).partition("\n")[0][:300]
        raise UserFacingError(_HUB_ERROR.format(name=name, why=why)) from err
    return settings(found)


def commit_of(name: str, revision: str) -> str:
    """Name the commit that a repository has there now; raises UserFacingError."""
    if Path(name).is_file():
        raise UserFacingError(f"{name} is a file: name the folder of the model")
    if name.startswith((".", "/", "~")):
        raise UserFacingError(f"there is no folder {name}")
    import httpx2  # noqa: PLC0415 - as above
    from huggingface_hub import HfApi  # noqa: PLC0415 - as above

    try:
        return HfApi().model_info(name, revision=revision or None).sha or revision
    except (OSError, ValueError, httpx2.HTTPError) as err:
        why = str(err).partition("\n")[0][:300]
        raise UserFacingError(_HUB_ERROR.format(name=name, why=why)) from err


def content(file: Path) -> bytes:
    """Read a file; raises UserFacingError."""
    try:
        return file.read_bytes()
    except OSError as err:
        raise UserFacingError(f"cannot read {file}: {err.strerror}") from err


def _of_folder(folder: Path) -> bytes:
    from tequio_client.trainer.weight_files import configured  # noqa: PLC0415 - brings torch

    return configured(folder)


def _check_source(config: bytes, name: str) -> None:
    from tequio_client.trainer.origin import check_source  # noqa: PLC0415 - brings torch

    check_source(config, name)


def _check_tokenizer(folder: Path, name: str, corpus: Corpus) -> None:
    """Ids mean nothing to a model that learnt others; raises UserFacingError."""
    file = folder / TOKENIZER_NAME
    if file.is_file() and to_text(sha256(content(file))) != corpus.tokenizer.file:
        raise UserFacingError(
            f"the data was cut by another tokenizer than that of {name}: build it with "
            f"`tequio data build --tokenizer {name}`"
        )


def _fields(source: Source) -> dict[str, Any]:  # JSON of any model; it was read before
    found = json.loads(source.config)
    return found if isinstance(found, dict) else {}
