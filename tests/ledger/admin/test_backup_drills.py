"""The drills of docs/operating.md, with its own commands, on real processes.

The drill for a full disk is in `test_unwritable`.
"""

from __future__ import annotations

import shutil
import subprocess
import time
from contextlib import closing
from typing import TYPE_CHECKING

import httpx
from sqlalchemy import delete, select

from tequio_ledger.data_folder import DataFolder
from tequio_ledger.store.database import Database
from tequio_ledger.store.models import ATTENDED
from tequio_shared.log.tiles import encode_bundle
from tests.support.authors import newcomers
from tests.support.forked_program import LEDGER, run_forked
from tests.support.ledger_with_history import live_yesterday
from tests.support.ledgers import Served, served, start

if TYPE_CHECKING:
    from pathlib import Path

    from tequio_ledger.ledger import Ledger

NETWORK = ("--network", "test", "--origin", "ledger.example/test")


def told(*words: str | Path) -> subprocess.CompletedProcess[str]:
    """Run `tequio-ledger` with those words."""
    return run_forked(LEDGER, *(str(word) for word in words), timeout_s=60)


def done(*words: str | Path) -> str:
    """Run a command that must succeed; return what it says."""
    said = told(*words)
    assert said.returncode == 0, said.stderr
    return said.stdout


def post(program: Served, name: str, count: int) -> httpx.Response:
    now_ms = time.time_ns() // 1_000_000
    leaves = [one.leaf() for one in newcomers(name, program.net, count, now_ms)]
    return httpx.post(f"{program.url}/v1/statements", content=encode_bundle(leaves), timeout=30)


def logged(program: Served, name: str, count: int) -> bytes:
    """Log `count` entries; return the checkpoint after them."""
    statuses = {item["status"] for item in post(program, name, count).json()["items"]}
    assert statuses == {"logged"}
    return checkpoint(program)


def checkpoint(program: Served) -> bytes:
    return httpx.get(f"{program.url}/log/checkpoint").content


def post_checkpoint(program: Served, note: bytes) -> int:
    return httpx.post(f"{program.url}/log/checkpoint", content=note).status_code


def health(program: Served) -> str:
    return str(httpx.get(f"{program.url}/healthz").json()["status"])


def test_restore_drill(tmp_path: Path) -> None:
    folder, again = tmp_path / "srv", tmp_path / "srv-new"
    with served(folder) as program:
        last = logged(program, "before", 20)
        done("backup", "--dir", folder, "--to", tmp_path / "backup")
    shutil.rmtree(folder)  # the disk is gone
    done("restore", "--from", tmp_path / "backup", "--dir", again)
    with served(again) as program:
        assert checkpoint(program) == last
        assert health(program) == "restored"
        assert post(program, "too soon", 1).status_code == 503
        assert post_checkpoint(program, last) == 204, "what clients hold is in it"
    assert "may be signed again" in done("restore", "--dir", again, "--confirm")
    with served(again) as program:
        assert health(program) == "ok"
        logged(program, "after", 5)
        assert post_checkpoint(program, last) == 204
    assert told("doctor", "--dir", again, *NETWORK).returncode == 0


def test_key_loss_drill(tmp_path: Path) -> None:
    folder = tmp_path / "srv"
    with served(folder) as program:
        logged(program, "before", 3)
    done("backup", "--dir", folder, "--to", tmp_path / "backup")
    with served(folder) as program:  # it went on after the backup
        last = logged(program, "later", 3)
    (folder / "log.key").unlink()
    process = start(folder, "--port", "0")
    _, said = process.communicate(timeout=30)
    assert process.returncode == 1
    assert "but not its keys" in said
    assert not (folder / "log.key").exists(), "no other key is made in its place"
    shutil.copy2(tmp_path / "backup" / "log.key", folder / "log.key")
    with served(folder) as program:  # no restore: no entry was lost
        assert checkpoint(program) == last
        assert health(program) == "ok"
        logged(program, "after", 3)


def test_split_view_drill(tmp_path: Path) -> None:
    """Two ledgers under one key: the one that is shown the other's checkpoint stops for good."""
    folder, other = tmp_path / "srv", tmp_path / "other"
    with served(folder) as program:
        logged(program, "common", 5)
        done("backup", "--dir", folder, "--to", tmp_path / "backup")
        note = logged(program, "here", 7)
        done("restore", "--from", tmp_path / "backup", "--dir", other)
        done("restore", "--dir", other, "--confirm")  # a promise that is broken here
        with served(other) as wrong:
            logged(wrong, "there", 7)
            (tmp_path / "note").write_bytes(note)
            assert post_checkpoint(wrong, (tmp_path / "note").read_bytes()) == 409
            assert health(wrong) == "lost"
            assert post(wrong, "more", 1).status_code == 503
        refused = told("restore", "--dir", other, "--confirm")
        assert refused.returncode == 1
        assert health(program) == "ok"
        assert post_checkpoint(program, note) == 204


def forget_attended(ledger: Ledger) -> None:
    """Lose a derived table's rows, as a program leaves them that does not fill it."""
    with ledger.database.writer.begin() as connection:
        connection.execute(delete(ATTENDED))


def test_upgrade_drill(tmp_path: Path) -> None:
    folder = tmp_path / "srv"
    last = live_yesterday(folder, forget_attended)
    with closing(Database(DataFolder(folder).database)) as former:
        before = former.revision()
    done("backup", "--dir", folder, "--to", tmp_path / "backup")
    done("migrate", "--dir", folder, *NETWORK)
    done("replay", "--dir", folder, *NETWORK)
    with served(folder) as program:
        assert checkpoint(program) == last
        assert httpx.get(f"{program.url}/v1/ranking").json()["ranked"] == 2
    assert told("doctor", "--dir", folder, *NETWORK).returncode == 0
    back = tmp_path / "back"  # the way back: the backup, with the former program
    done("restore", "--from", tmp_path / "backup", "--dir", back)
    database = Database(DataFolder(back).database)
    assert database.revision() == before
    with database.reader.begin() as connection:
        assert not connection.execute(select(ATTENDED.c.peer)).all(), "as it was copied"
    database.close()
