"""A start loads only what it needs before it serves; the rest waits until it is used."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

from tests.support.ledgers import VirtualClock, make_settings, opened

if TYPE_CHECKING:
    from pathlib import Path

OPEN = """
import sys
from pathlib import Path
from tequio_ledger import app, runtime
from tequio_ledger.config.settings import LedgerSettings
from tequio_ledger.data_folder import DataFolder
from tequio_ledger.ledger import open_ledger
from tequio_ledger.web.app import PublicApp
from tequio_ledger.web.events import EventStreams
with DataFolder(Path(sys.argv[1])) as folder:
    ledger = open_ledger(LedgerSettings(folder=folder.path, network="test"), folder, runtime.now_ms)
    PublicApp(ledger, EventStreams())
    ledger.database.close()
print(*sys.modules)
"""
"""The steps of `tequio-ledger serve` until it serves; prints the modules that are loaded then."""

LATER = {
    "alembic": "only a change of the tables needs it",
    "httpx": "without witnesses and webhooks a ledger calls nobody",
    "jinja2": "pages are loaded while the ledger serves",
    "obstore": "most ledgers keep their blobs in a folder",
    "psycopg": "the database is SQLite",
    "sqlalchemy.dialects.postgresql": "the database is SQLite",
    "sqlalchemy.orm": "tables are declared without an object mapper",
    "tequio_ledger.store.bucket": "most ledgers keep their blobs in a folder",
    "tequio_ledger.web.pages.router": "pages are loaded while the ledger serves",
}
"""Heavy modules, and why a start can do without each."""


def test_a_start_loads_nothing_that_it_does_not_need(tmp_path: Path) -> None:
    with opened(make_settings(tmp_path), VirtualClock()):
        pass  # the network is founded, and the tables are made
    command = [sys.executable, "-c", OPEN, str(tmp_path)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    loaded = {*done.stdout.splitlines()[-1].split()}
    assert {"sqlalchemy", "starlette", "tequio_ledger.web.read_api"} <= loaded
    assert {name: LATER[name] for name in loaded & LATER.keys()} == {}
