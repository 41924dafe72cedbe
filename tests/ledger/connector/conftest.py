"""A provider of a test's own, and both programs' ways to it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support.account_provider import AccountProvider, providing

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture
def provider() -> Iterator[AccountProvider]:
    with providing() as running:
        yield running
