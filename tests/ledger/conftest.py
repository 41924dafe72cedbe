"""Both kinds of database for the tests of the ledger."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support import ledgers

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture(params=["sqlite", "postgresql"])
def either_database(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """Let ledgers in this test's folder be of one kind of database, then of the other."""
    if request.param == "sqlite":
        yield ""
        return
    url = request.getfixturevalue("cluster").database()
    ledgers.DATABASES[tmp_path] = url
    yield url
    del ledgers.DATABASES[tmp_path]
