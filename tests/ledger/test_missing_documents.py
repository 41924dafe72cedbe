"""A ledger whose documents are missing or damaged: one sentence with the name and the way out."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest

from tequio_ledger.log.documents import document_of
from tequio_ledger.store import log_rows
from tequio_ledger.store.files import blob_path
from tequio_shared.statements.runs import RoundClose, RoundRoster, RunOpen
from tequio_shared.statements.statement import Entry
from tests.support.forked_program import LEDGER, run_forked
from tests.support.ledger_with_history import live_yesterday
from tests.support.ledgers import VirtualClock, make_settings, opened

if TYPE_CHECKING:
    from pathlib import Path

    from tequio_shared.ids import Digest

NETWORK = ("--network", "test", "--origin", "ledger.example/test")
NAMES = {"manifest": RunOpen.TYPE, "roster": RoundRoster.TYPE, "result": RoundClose.TYPE}


@pytest.fixture(scope="module")
def history(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("ledger") / "lived"
    live_yesterday(folder)
    return folder


def named(folder: Path, kind: str) -> tuple[int, Digest]:
    """Give the first entry of a type and the document that it names."""
    with (
        opened(make_settings(folder), VirtualClock()) as ledger,
        ledger.database.reader.begin() as connection,
    ):
        index, leaf = next(log_rows.each_leaf_of(connection, [kind]))
    name = document_of(Entry.parse(leaf).statement)
    assert name is not None
    return index, name


@pytest.mark.parametrize("is_damaged", [False, True], ids=["missing", "damaged"])
@pytest.mark.parametrize("document", NAMES)
def test_a_start_names_the_blob_and_the_way_out(
    history: Path, tmp_path: Path, document: str, *, is_damaged: bool
) -> None:
    folder = tmp_path / "ledger"
    shutil.copytree(history, folder)
    index, name = named(folder, NAMES[document])
    path = folder / "blobs" / blob_path(name)
    if is_damaged:
        path.write_bytes(b"{" + path.read_bytes()[1:-1] + b"]")
    else:
        path.unlink()
    done = run_forked(LEDGER, "serve", "--dir", str(folder), "--port", "0", *NETWORK)
    printed = done.stderr
    assert done.returncode == 1, printed
    assert "Traceback" not in printed
    last = printed.splitlines()[-1]
    for part in (name.hex(), f"entry {index}", "missing or damaged", "backup", "doctor"):
        assert part in last, printed


def test_a_replay_names_the_blob_too(history: Path, tmp_path: Path) -> None:
    folder = tmp_path / "ledger"
    shutil.copytree(history, folder)
    _, name = named(folder, RoundClose.TYPE)
    (folder / "blobs" / blob_path(name)).unlink()
    done = run_forked(LEDGER, "replay", "--dir", str(folder), *NETWORK)
    assert done.returncode == 1
    assert name.hex() in done.stderr
    assert "Traceback" not in done.stderr
