"""Commands about the account of a key, run as a person runs them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tequio_client.clock import now_ms
from tequio_client.ledger.api import LedgerApi
from tests.support.forked_program import CLIENT, run_forked

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.authors import Author
    from tests.support.ledgers import Served


def output(command: str, ledger: Served, folder: Path, *words: str, stdin: str = "") -> str:
    """Run a command with the key of a folder; returns all that it prints."""
    place = ("--ledger", ledger.url, "--dir", str(folder))
    done = run_forked(CLIENT, command, *words, *place, timeout_s=60, stdin=stdin)
    assert "Traceback" not in done.stderr, done.stderr
    return done.stdout + done.stderr


async def register(ledger: Served, author: Author) -> None:
    async with LedgerApi(ledger.url) as api:
        await api.post_entries([author.register(now_ms())])
