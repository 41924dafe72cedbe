"""Models on a Hub of our own, small enough to be scored in a moment."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

import msgspec
import pytest

from tequio_client.checkpoint import layout
from tequio_shared.competition.rules import CompetitionRules
from tequio_shared.ids import to_text
from tests.support import model_folders
from tests.support.hub import FakeHub, running

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


def files_of(folder: Path, seed: int = 1, **changes: object) -> dict[str, bytes]:
    """The files of a model of raw bytes."""
    made = model_folders.write(folder, model_folders.llama(256, **changes), seed=seed)
    tokenizer, settings = layout.tokenizer_files(b"", 0, model_folders.CONTEXT)
    found = {one.name: one.read_bytes() for one in made.iterdir()}
    return found | {"tokenizer.json": tokenizer, "tokenizer_config.json": settings}


@contextmanager
def hub(cache: Path) -> Iterator[FakeHub]:
    """A Hub that the client speaks to, with an empty cache."""
    with pytest.MonkeyPatch.context() as patch, running(FakeHub()) as one:
        patch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(cache))
        patch.setattr("huggingface_hub.constants.ENDPOINT", one.url)
        patch.setattr("huggingface_hub.constants.HUGGINGFACE_CO_URL_TEMPLATE", _template(one))
        yield one


def _template(one: FakeHub) -> str:
    return one.url + "/{repo_id}/resolve/{revision}/{filename}"


def rules(**changes: object) -> CompetitionRules:
    """Rules that nobody opened; `changes` of budget or scoring."""
    budget = {"parameters": 0, "tokens": 0, "hours": 0}
    scoring = {"window": 32, "stride": 16, "documents": 4, "evaluators": 3}
    name = to_text(bytes(32))
    return msgspec.convert(
        {
            "name": "Small",
            "sealed": {
                "root": name,
                "documents": 4,
                "size_bytes": 400,
                "archive": name,
                "needed": 1,
                "shares": [name],
            },
            "archive": "",
            "custodians": [name],
            "budget": {key: changes.get(key, value) for key, value in budget.items()},
            "dates": {"opens": 1, "deadline": 2, "draw": 3, "scored": 4, "result": 5},
            "scoring": {key: changes.get(key, value) for key, value in scoring.items()},
            "data": "",
        },
        CompetitionRules,
    )
