"""Backups: whole, made while the ledger serves, checked to the byte when they are restored."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from typing import TYPE_CHECKING

import httpx
import pytest

from tequio_ledger.admin import backup
from tequio_ledger.data_folder import DataFolder
from tequio_ledger.store import files
from tequio_shared.errors import UserFacingError
from tequio_shared.ids import sha256
from tequio_shared.log.tiles import encode_bundle
from tests.support.authors import newcomers
from tests.support.killable_ledger import ledger_forker
from tests.support.ledgers import VirtualClock, make_settings, opened
from tests.support.uploads import put_blob

if TYPE_CHECKING:
    from pathlib import Path

    from tequio_shared.ids import NetworkId


CLOCK = VirtualClock()


@pytest.fixture
def made(tmp_path: Path) -> Path:
    """Make a backup of a ledger with two blobs."""
    with opened(make_settings(tmp_path / "ledger"), CLOCK) as ledger:
        ledger.blobs.put(b"a document")
    backup.backup(DataFolder(tmp_path / "ledger"), tmp_path / "backup", CLOCK)
    return tmp_path / "backup"


def contents(folder: Path) -> dict[str, bytes]:
    """Give every file but the manifest, and what SQLite needs while it is open."""
    paths = (path for path in folder.rglob("*") if path.is_file())
    found = {str(path.relative_to(folder)): path.read_bytes() for path in paths}
    return {name: data for name, data in found.items() if name != backup.NAME}


def test_a_restored_folder_is_the_backup_to_the_byte_and_bears_a_mark(
    tmp_path: Path, made: Path
) -> None:
    backup.restore(made, tmp_path / "again")
    found = contents(tmp_path / "again")
    assert b"restored" in found.pop("signing.json")
    assert found == contents(made)
    assert found["log.key"] == (tmp_path / "ledger" / "log.key").read_bytes()
    assert (tmp_path / "again" / "log.key").stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("is_one_sync_enough", [True, False])
def test_all_is_on_the_disk_before_the_folder_has_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, is_one_sync_enough: bool
) -> None:
    target, synced, named = tmp_path / "backup", set[int](), list[bool]()
    flush, flush_all = os.fsync, os.sync

    def record(handle: int) -> None:
        synced.add(os.fstat(handle).st_ino)
        flush(handle)

    def record_all() -> None:
        named.append(target.exists())
        flush_all()

    with opened(make_settings(tmp_path / "ledger"), CLOCK) as ledger:
        blobs = [ledger.blobs.put(b"document %d" % number) for number in range(20)]
    monkeypatch.setattr(files, "SYNC_WAITS", is_one_sync_enough)
    monkeypatch.setattr(os, "fsync", record)
    monkeypatch.setattr(os, "sync", record_all)
    backup.backup(DataFolder(tmp_path / "ledger"), target, CLOCK)
    paths = [target / "blobs" / files.blob_path(digest) for digest in blobs]
    one_by_one = [path for path in paths if path.stat().st_ino in synced]
    if is_one_sync_enough:
        assert (one_by_one, named) == ([], [False])
    else:
        assert (one_by_one, named) == (paths, [])


def test_a_backup_of_a_ledger_that_serves_holds_everything_acknowledged_before_it(
    tmp_path: Path,
) -> None:
    with ledger_forker(tmp_path) as forker:
        url, net = forker.start(tmp_path / "ledger").served()
        with httpx.Client(base_url=url, timeout=30) as http:
            first = flood(http, net, 0)
            ended = threading.Event()
            flooding = threading.Thread(target=flood_until, args=(url, net, ended))
            flooding.start()
            made = backup.backup(DataFolder(tmp_path / "ledger"), tmp_path / "backup", CLOCK)
            ended.set()
            flooding.join()
            assert first < made.size <= flood(http, net, 99_999)
    backup.restore(tmp_path / "backup", tmp_path / "again")
    with opened(make_settings(tmp_path / "again"), CLOCK) as ledger:
        assert ledger.log.size == made.size
        assert ledger.blobs.read(sha256(b"blob 0")) == b"blob 0"


def flood(http: httpx.Client, net: NetworkId, number: int) -> int:
    """Put a blob and log ten entries; give the index of the last."""
    now_ms, name = time.time_ns() // 1_000_000, f"blob {number}"
    assert put_blob(http, net, name.encode(), now_ms).status_code == 201
    leaves = [entry.leaf() for entry in newcomers(name, net, 10, now_ms)]
    items = http.post("/v1/statements", content=encode_bundle(leaves)).json()["items"]
    return int(items[-1]["index"])


def flood_until(url: str, net: NetworkId, ended: threading.Event) -> None:
    with httpx.Client(base_url=url, timeout=30) as http:
        number = 1
        while not ended.is_set():
            flood(http, net, number)
            number += 1


def test_nothing_is_overwritten(tmp_path: Path, made: Path) -> None:
    before = contents(made), contents(tmp_path / "ledger")
    with pytest.raises(UserFacingError, match="exists and is not empty"):
        backup.backup(DataFolder(tmp_path / "ledger"), made, CLOCK)
    with pytest.raises(UserFacingError, match="exists and is not empty"):
        backup.restore(made, tmp_path / "ledger")
    assert (contents(made), contents(tmp_path / "ledger")) == before


def test_only_the_target_is_new_afterwards(tmp_path: Path, made: Path) -> None:
    kept = made.rename(tmp_path / "second.new")
    before = {*tmp_path.iterdir()}
    backup.backup(DataFolder(tmp_path / "ledger"), tmp_path / "second", CLOCK)
    assert {*tmp_path.iterdir()} - before == {tmp_path / "second"}
    assert contents(kept) == contents(tmp_path / "second")


KILLED = """
import os, signal, sys
from pathlib import Path
from tequio_ledger.store import files
with files.new_folder(Path(sys.argv[1])) as fresh:
    (fresh / "log.key").write_bytes(b"secret")
    os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_backup_deletes_what_a_killed_one_left_and_nothing_of_a_living_one(
    tmp_path: Path, made: Path
) -> None:
    before, alive = {*tmp_path.iterdir()}, tmp_path / "alive"
    killed = subprocess.run([sys.executable, "-c", KILLED, str(tmp_path / "first")], check=False)
    assert killed.returncode == -signal.SIGKILL
    assert [path.read_bytes() for path in tmp_path.glob(".first.*/**/log.key")] == [b"secret"]
    with files.new_folder(alive) as fresh:
        (fresh / "one").write_bytes(b"1")
        backup.backup(DataFolder(tmp_path / "ledger"), tmp_path / "second", CLOCK)
    assert {*tmp_path.iterdir()} - before == {alive, tmp_path / "second"}
    assert contents(alive) == {"one": b"1"}
    assert contents(tmp_path / "second") == contents(made)


def test_where_nothing_may_be_made_the_place_itself_is_named(tmp_path: Path, made: Path) -> None:
    place = tmp_path / "lib"
    (place / "ledger").mkdir(parents=True)
    place.chmod(0o555)
    as_anybody = ["setpriv", "--bounding-set=-dac_override"] if os.geteuid() == 0 else []
    program = [*as_anybody, sys.executable, "-m", "tequio_ledger"]
    options = ["restore", "--from", str(made), "--dir", str(place / "ledger")]
    done = subprocess.run(
        [*program, *options], check=False, capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 1
    assert done.stderr.startswith(f"tequio-ledger: {place} may not be written")


def test_every_byte_of_a_backup_is_checked(tmp_path: Path, made: Path) -> None:
    for name in contents(made):
        spoiled = tmp_path / "spoiled"
        shutil.copytree(made, spoiled)
        data = bytearray((spoiled / name).read_bytes())
        data[len(data) // 2] ^= 1
        (spoiled / name).write_bytes(data)
        with pytest.raises(UserFacingError, match="is not the file that was backed up"):
            backup.restore(spoiled, tmp_path / "again")
        (spoiled / name).unlink()
        with pytest.raises(UserFacingError, match="is missing"):
            backup.restore(spoiled, tmp_path / "again")
        assert not [path for path in tmp_path.iterdir() if "again" in path.name]
        shutil.rmtree(spoiled)


def test_what_is_no_backup_is_told(tmp_path: Path, made: Path) -> None:
    with pytest.raises(UserFacingError, match="not a complete backup"):
        backup.restore(tmp_path / "ledger", tmp_path / "again")
    with pytest.raises(UserFacingError, match="holds no ledger"):
        backup.backup(DataFolder(made / "blobs"), tmp_path / "other", CLOCK)
    named = json.loads((made / backup.NAME).read_text())
    named["files"][0]["path"] = "../elsewhere"
    (made / backup.NAME).write_text(json.dumps(named))
    with pytest.raises(UserFacingError, match="outside itself"):
        backup.restore(made, tmp_path / "again")


def test_a_missing_key_is_told_before_the_target_is_made(tmp_path: Path, made: Path) -> None:
    (tmp_path / "ledger" / "coordinator.key").unlink()
    with pytest.raises(UserFacingError, match="but not its keys: restore them"):
        backup.backup(DataFolder(tmp_path / "ledger"), made.with_name("second"), CLOCK)


def test_a_damaged_blob_is_left_out_unless_the_log_needs_it(tmp_path: Path, made: Path) -> None:
    with opened(make_settings(tmp_path / "ledger"), CLOCK) as ledger:
        rules = ledger.blobs.path(sha256(b"a document"))
        needed = next(path for path in ledger.blobs.folder.glob("sha256/*/*/*") if path != rules)
    rules.write_bytes(b"another")
    again = backup.backup(DataFolder(tmp_path / "ledger"), tmp_path / "second", CLOCK)
    assert again.left_out == (rules.name,)
    needed.unlink()
    with pytest.raises(UserFacingError, match="entry 0 needs the blob"):
        backup.backup(DataFolder(tmp_path / "ledger"), tmp_path / "third", CLOCK)
    assert not list(tmp_path.glob("third*"))
