"""A ledger on PostgreSQL is backed up by PostgreSQL's own tools; ours say so and copy nothing."""

from __future__ import annotations

import shutil
import subprocess
from contextlib import closing
from typing import TYPE_CHECKING

import httpx
import pytest

from tequio_ledger.store.database import Database
from tests.ledger.admin.test_backup_drills import (
    NETWORK,
    checkpoint,
    done,
    health,
    logged,
    post,
    told,
)
from tests.support import postgres
from tests.support.cosigned_ledger import wait_for_status
from tests.support.ledgers import served

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.postgres import Cluster

PATIENCE_S = 60


def run(program: str, *words: str | Path) -> None:
    """Run one of PostgreSQL's programs."""
    folder = postgres.binaries()
    assert folder is not None
    command = [folder / program, *words]
    found = subprocess.run(command, check=False, capture_output=True, text=True, timeout=PATIENCE_S)
    assert found.returncode == 0, found.stderr


def plain(url: str) -> str:
    """The URL as PostgreSQL's own programs take it."""
    return url.replace("+psycopg", "")


def test_restore_drill_on_postgresql(tmp_path: Path, cluster: Cluster) -> None:
    folder, dump = tmp_path / "srv", tmp_path / "rows.dump"
    rows, again = cluster.database(), cluster.database()
    with served(folder, "--database", rows) as program:
        kept = logged(program, "before", 20)
        run("pg_dump", "--format=custom", f"--file={dump}", plain(rows))  # while it serves
    restore = ("--exit-on-error", "--no-owner")
    run("pg_restore", *restore, f"--dbname={plain(again)}", dump)
    with served(folder, "--database", again) as program:
        assert checkpoint(program) == kept
        assert health(program) == "ok", "nothing was lost: it signs on"
        later = logged(program, "later", 5)
    older = cluster.database()
    run("pg_restore", *restore, f"--dbname={plain(older)}", dump)
    with served(folder, "--database", older) as program:
        assert checkpoint(program) == kept
        wait_for_status(program, "read-only")  # the folder knows that it signed more
        assert post(program, "too soon", 1).status_code == httpx.codes.SERVICE_UNAVAILABLE
    (folder / "log.signed").rename(tmp_path / "log.signed")
    with served(folder, "--database", older) as program:
        wait_for_status(program, "read-only")  # a key that forgot signs nothing either
        assert "log.signed is missing" in httpx.get(f"{program.url}/healthz").json()["detail"]
    confirm = ("restore", "--confirm", "--dir", folder, "--database", older)
    done(*confirm)  # the promise that nobody holds more: broken here
    assert "pg_dump" in told(*confirm).stderr, "once is enough"
    with served(folder, "--database", older) as program:
        assert health(program) == "ok"
        shown = httpx.post(f"{program.url}/log/checkpoint", content=later, timeout=30)
        assert shown.status_code == httpx.codes.CONFLICT
        wait_for_status(program, "lost")


@pytest.mark.parametrize("how", ["by its option", "by its folder"])
def test_our_own_commands_name_the_right_ones(tmp_path: Path, cluster: Cluster, how: str) -> None:
    folder, rows = tmp_path / "srv", cluster.database()
    with served(folder, "--database", rows):
        pass
    words = ("--database", rows) if how == "by its option" else ()
    for command in (
        ("backup", "--dir", folder, "--to", tmp_path / "backup"),
        ("restore", "--dir", folder, "--confirm"),
    ):
        said = told(*command, *words)
        assert said.returncode == 1
        assert "pg_dump" in said.stderr
        assert len(said.stderr.strip().splitlines()) == 1, "one sentence"
    assert not (tmp_path / "backup").exists()


def test_a_ledger_that_moved_is_not_backed_up_from_where_it_was(
    tmp_path: Path, cluster: Cluster
) -> None:
    folder = tmp_path / "srv"
    with served(folder) as program:
        logged(program, "before", 3)
    done("move", "--dir", folder, "--to", cluster.database())
    said = told("backup", "--dir", folder, "--to", tmp_path / "backup")
    assert (said.returncode, "pg_dump" in said.stderr) == (1, True)
    back = tmp_path / "back"
    shutil.copytree(folder, back)
    assert "pg_dump" in told("restore", "--dir", back, "--confirm").stderr


def test_upgrade_drill_on_postgresql(tmp_path: Path, cluster: Cluster) -> None:
    folder, dump = tmp_path / "srv", tmp_path / "before.dump"
    rows, back = cluster.database(), cluster.database()
    with served(folder, "--database", rows) as program:
        last = logged(program, "before", 20)
    with closing(Database(rows)) as database:
        before = database.revision()
    run("pg_dump", "--format=custom", f"--file={dump}", plain(rows))
    done("migrate", "--dir", folder, "--database", rows, *NETWORK)
    done("doctor", "--dir", folder, "--database", rows, "--port", "0", *NETWORK)
    with served(folder, "--database", rows) as program:
        assert checkpoint(program) == last
    run("pg_restore", "--exit-on-error", "--no-owner", f"--dbname={plain(back)}", dump)
    with closing(Database(back)) as database:
        assert database.revision() == before, "the way back, with the former program"
