"""One served log and one export for tests that look at both."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest

from tequio_client.checkpoint import export
from tequio_client.checkpoint.export import WeightsOrigin
from tequio_client.verify.report import NoProgress
from tests.client.verify.logs import SwarmLog
from tests.support.llama_swarm import ROUNDS, ServedLog, played, served_log

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture(scope="package")
def site() -> Iterator[ServedLog]:
    """The log of the run that was played."""
    with served_log(SwarmLog(played().swarm)) as one:
        yield one


@pytest.fixture(scope="package")
def whole(site: ServedLog, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The last head, exported; not to be changed."""
    folder = tmp_path_factory.mktemp("export")
    wish = export.ExportOptions(
        origin=WeightsOrigin(ledger=site.url, stores=[played().store(folder / "store", ROUNDS)]),
        run="maize- 1.0",
        target=folder / "out",
    )
    export.export_head(wish, NoProgress())
    return folder / "out"


@pytest.fixture
def folder(whole: Path, tmp_path: Path) -> Path:
    """A copy of it."""
    return shutil.copytree(whole, tmp_path / "head")
