"""Opening a node: how long it waits for a ledger that does not answer as one."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING
from unittest.mock import AsyncMock

import pytest

from tequio_client.ledger.http import LedgerUnavailableError, UnnamedRefusalError
from tequio_client.runtime import NETWORK_FILE
from tequio_client.worker.node import open_node
from tequio_client.worker.settings import NetSettings
from tequio_shared.errors import UserFacingError, first_error
from tequio_shared.keys import Signer

if TYPE_CHECKING:
    from pathlib import Path

    from trio.testing import MockClock

PAGE = UnnamedRefusalError("GET /v1/network: 404: this is not the answer of a ledger")
AWAY = LedgerUnavailableError("connection refused")


@pytest.mark.trio
@pytest.mark.parametrize(
    ("error", "was_in_network", "waits", "told"),
    [
        (PAGE, False, False, "404: this is not the answer of a ledger"),
        (PAGE, True, True, "404: this is not the answer of a ledger"),
        (AWAY, False, True, "check your connection"),
        (AWAY, True, True, "check your connection"),
    ],
)
async def test_a_page_that_is_no_ledgers_is_told_at_once_if_none_was_ever_there(
    tmp_path: Path,
    autojump_clock: MockClock,
    *,
    error: Exception,
    was_in_network: bool,
    waits: bool,
    told: str,
) -> None:
    if was_in_network:
        (tmp_path / NETWORK_FILE).write_text("a network")
    ledger = SimpleNamespace(network=AsyncMock(side_effect=error))
    settings = NetSettings(ledger="http://127.0.0.1:9", folder=tmp_path, wait_for_ledger_s=60.0)
    began_s = autojump_clock.current_time()
    with pytest.raises((UserFacingError, ExceptionGroup)) as caught:
        async with open_node(settings, Signer(bytes(32)), ledger, is_seed=False):  # type: ignore[arg-type]  # a part of one
            pass
    assert told in str(first_error(caught.value))
    assert autojump_clock.current_time() - began_s == pytest.approx(60.0 if waits else 0.0)
