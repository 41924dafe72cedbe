"""The folder of a model: a local one, or a repository on the Hub, fetched into the Hub's cache.

A repository's list of files is checked before any of it is fetched, so a pickle or a tokenizer of
two gigabytes costs no download.
"""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterable, Mapping
from fnmatch import fnmatch
from pathlib import Path

from tequio_client.dataset.sources import hub_errors
from tequio_client.tokenizers import TOKENIZER_NAME, too_large_message
from tequio_client.trainer.weights import (
    CONFIG_FILE,
    INDEX_FILE,
    MAX_SETTINGS_BYTES,
    PICKLE_SUFFIXES,
    WEIGHTS_FILE,
)
from tequio_shared.errors import UserFacingError
from tequio_shared.limits import BLOB_BYTES

FILE_PATTERNS = (
    CONFIG_FILE,
    TOKENIZER_NAME,
    "tokenizer_config.json",
    "special_tokens_map.json",
    "chat_template.jinja",
    WEIGHTS_FILE,
    INDEX_FILE,
    "model-*.safetensors",
)
"""The files of a model's folder that scoring and chats may read."""
FREE_BYTES = 1 << 30
"""Disk space that stays free whatever model is fetched."""


class OtherFilesError(UserFacingError):
    """A repository's files differ from the list that was promised."""


def model_folder(name: str, revision: str | None) -> Path:
    """Find a model in a local folder, or fetch it; raises UserFacingError."""
    path = Path(name)
    try:
        is_here = path.exists()
    except OSError as err:  # a name that no file can have
        raise UserFacingError(f"{name[:60]} is not a file or folder here: {err.strerror}") from err
    if is_here:
        return path
    if name.startswith((".", "/", "~")):
        raise UserFacingError(f"{name} does not exist")
    return fetch_repository(name, revision)


def fetch_repository(
    name: str,
    revision: str | None,
    only: Mapping[str, int] | None = None,
    *,
    without_login: bool = False,
) -> Path:
    """Fetch a model, even if there is a folder of that name here.

    `only`, names with sizes, restricts the files that are fetched. `without_login` fetches only
    what everybody can. Raises UserFacingError for a model that is missing, unreadable or too large
    for the disk, and OtherFilesError when a file in `only` has another size.
    """
    import httpx2  # noqa: PLC0415 - huggingface_hub raises its errors
    from huggingface_hub import HfApi  # noqa: PLC0415 - only for names on the Hub
    from huggingface_hub.errors import OfflineModeIsEnabled  # noqa: PLC0415
    from huggingface_hub.hf_api import RepoFile  # noqa: PLC0415
    from huggingface_hub.utils.tqdm import disable_progress_bars  # noqa: PLC0415

    if not sys.stderr.isatty():
        disable_progress_bars()  # not a terminal
    api = HfApi(token=False if without_login else None)
    wanted = list(FILE_PATTERNS) if only is None else readable(only)
    with hub_errors(name):
        try:
            commit = api.model_info(name, revision=revision).sha
        except (OfflineModeIsEnabled, httpx2.TransportError):
            cached = api.snapshot_download(
                name, revision=revision, allow_patterns=wanted, local_files_only=True
            )
            return Path(cached)
        listed = api.list_repo_tree(name, revision=commit)
        sizes = {one.path: one.size for one in listed if isinstance(one, RepoFile)}
        check_repository(sizes, name)
        if only is not None:
            due = {one: only[one] for one in wanted}
            _check_only(due, sizes, name)
            _check_room(name, commit, due)
        # By the name of the revision, not the commit: the cache then finds it without the Hub.
        return Path(api.snapshot_download(name, revision=revision, allow_patterns=wanted))


def check_repository(sizes: Mapping[str, int], name: str) -> None:
    """Raise UserFacingError for a repository whose files, with these sizes, cannot be scored."""
    if WEIGHTS_FILE not in sizes and INDEX_FILE not in sizes:
        pickles = sorted(one for one in sizes if one.endswith(PICKLE_SUFFIXES))
        raise UserFacingError(
            f"{name} has its weights as a pickle ({pickles[0]}), and reading one runs its code; "
            "look for a revision with Safetensors (often --revision refs/pr/1)"
            if pickles
            else f"{name} has no weights: neither {WEIGHTS_FILE} nor {INDEX_FILE}"
        )
    for one, size in sizes.items():
        if one == TOKENIZER_NAME and size > BLOB_BYTES:
            raise UserFacingError(too_large_message(f"{name}: {one}", size))
        is_settings = one in FILE_PATTERNS and one.endswith((".json", ".jinja"))
        if is_settings and size > max(MAX_SETTINGS_BYTES, BLOB_BYTES):
            raise UserFacingError(
                f"{name}: {one} has {size:,} bytes, which is too large for a settings file"
            )


def readable(names: Iterable[str]) -> list[str]:
    """The names of files that may be read."""
    return [name for name in names if any(fnmatch(name, pattern) for pattern in FILE_PATTERNS)]


def _check_only(only: Mapping[str, int], sizes: Mapping[str, int], name: str) -> None:
    for one, size in only.items():
        if sizes.get(one, size) != size:
            raise OtherFilesError(
                f"{one} of {name} has changed: it has {sizes[one]:,} bytes instead of {size:,}"
            )


def _check_room(name: str, commit: str | None, only: Mapping[str, int]) -> None:
    # Before the first byte is fetched: the size of a repository is chosen by a stranger.
    from huggingface_hub import constants, try_to_load_from_cache  # noqa: PLC0415 - as above

    missing = sum(
        size
        for one, size in only.items()
        if not isinstance(try_to_load_from_cache(name, one, revision=commit), str)
    )
    place = Path(constants.HF_HUB_CACHE)
    while not place.exists():
        place = place.parent
    free = shutil.disk_usage(place).free
    if missing and missing + FREE_BYTES > free:
        raise UserFacingError(
            f"{name} needs {missing:,} bytes, but the disk of {place} has only {free:,} bytes "
            "free: free up some space"
        )
