"""The rules that the suite holds our own code to: Windows', for files and their names."""

from __future__ import annotations

import mmap
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from types import FunctionType
from typing import TYPE_CHECKING

import pytest

from tequio_client import files
from tequio_client.keys import identity
from tequio_client.keys.state import KeyProtection
from tequio_client.worker.ledger.outbox_db import OutboxDb
from tequio_client.worker.points.points_db import DatabaseFile
from tequio_client.worker.store.store import Store
from tequio_shared.ids import Digest, NetworkId, PeerKey
from tests.support import windows_rules
from tests.support.windows_rules import virus_scanner

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

OPENED = (
    "import sys, time; held = open(sys.argv[1], 'rb'); print('up', flush=True); sys.stdin.read()"
)
"""A program that has a file open until its input ends."""
OURS = """
import sys
from pathlib import Path
from tequio_client.files import delete

try:
    delete(Path(sys.argv[1]))
except OSError as err:
    print(err.winerror)
"""


SCANNED = """
import sys
from pathlib import Path
from tequio_client import files

path, failed = Path(sys.argv[1]), 0
for pauses in ((), files.PAUSES_S):
    files.PAUSES_S, failed = pauses, 0
    for number in range(30):
        try:
            files.write_for_user(path, b"%d" % number)
        except Exception:
            failed += 1
    print(failed)
"""


@pytest.fixture(autouse=True)
def _rules() -> Iterator[None]:
    """Also where this file is run by itself, without the suite's fixture."""
    with windows_rules.windows_rules():
        yield


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "PAUSES_S", ())


def as_ours(call: Callable[..., object]) -> Callable[..., object]:
    """Give the function the name of one of our modules."""
    assert isinstance(call, FunctionType)
    return FunctionType(call.__code__, {**call.__globals__, "__name__": "tequio_client.example"})


def delete(path: Path) -> None:
    path.unlink()


def replace(path: Path, target: Path) -> None:
    path.replace(target)


def rename(path: Path, target: Path) -> None:
    path.rename(target)


def write(path: Path) -> None:
    path.write_bytes(b"new")


def make_folder(path: Path) -> None:
    path.mkdir()


def flush(path: Path) -> None:
    with path.open("rb") as file:
        os.fsync(file.fileno())


def test_what_is_open_is_neither_deleted_nor_moved_nor_replaced(tmp_path: Path) -> None:
    held, other = tmp_path / "held", tmp_path / "other"
    other.write_bytes(b"x")
    with held.open("wb"):
        for call, paths in ((delete, (held,)), (replace, (held, other)), (replace, (other, held))):
            with pytest.raises(PermissionError, match="open by this process"):
                as_ours(call)(*paths)
    as_ours(replace)(held, other)
    as_ours(delete)(other)
    assert not list(tmp_path.iterdir())


def test_what_another_program_has_open_counts_too(tmp_path: Path) -> None:
    held = tmp_path / "held"
    held.write_bytes(b"x")
    command = [sys.executable, "-c", OPENED, str(held)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as program:
        assert program.stdout is not None
        assert program.stdout.readline() == b"up\n"
        with pytest.raises(PermissionError, match=f"open by process {program.pid}"):
            as_ours(delete)(held)
        program.communicate()
    as_ours(delete)(held)


def test_programs_that_the_tests_start_follow_the_rules(tmp_path: Path) -> None:
    held = tmp_path / "held"
    command = [sys.executable, "-c", OURS, str(held)]
    environment = {**os.environ, **windows_rules.environment()}
    with held.open("wb"):
        done = subprocess.run(command, env=environment, capture_output=True, check=True)
        assert done.stdout == b"32\n"
    done = subprocess.run(command, env=environment, capture_output=True, check=True)
    assert (done.stdout, held.exists()) == (b"", False)


def test_a_program_that_the_tests_start_may_have_a_scanner_too(tmp_path: Path) -> None:
    environment = {**os.environ, **windows_rules.environment(), windows_rules.SCANNER_SEED: "7"}
    command = [sys.executable, "-c", SCANNED, str(tmp_path / "file")]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    impatient, patient = map(int, done.stdout.split())
    assert (impatient > 0, patient) == (True, 0)


def test_what_is_mapped_counts_after_it_was_closed(tmp_path: Path) -> None:
    held = tmp_path / "held"
    held.write_bytes(bytes(4096))
    with held.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ):
        file.close()
        with pytest.raises(PermissionError, match="it is"):
            as_ours(delete)(held)
        with pytest.raises(OSError, match="WinError 1224"):
            as_ours(write)(held)
    as_ours(write)(held)
    as_ours(delete)(held)


def make_unnamed(folder: Path) -> None:
    with tempfile.TemporaryFile(dir=folder) as file:
        file.write(b"x")


def test_a_file_without_a_name_is_made_beside_any_other(tmp_path: Path) -> None:
    held = tmp_path / "held"
    held.write_bytes(bytes(4096))
    with held.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ):
        as_ours(make_unnamed)(tmp_path)
    assert list(tmp_path.iterdir()) == [held]


def test_a_folder_stays_while_a_file_in_it_is_open(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    with (folder / "file").open("wb"), pytest.raises(PermissionError, match="open by"):
        as_ours(rename)(folder, tmp_path / "elsewhere")


def test_a_rename_replaces_nothing(tmp_path: Path) -> None:
    one, other = tmp_path / "one", tmp_path / "other"
    for path in (one, other):
        path.write_bytes(b"x")
    with pytest.raises(FileExistsError, match="183"):
        as_ours(rename)(one, other)


def test_a_read_only_file_may_be_moved_and_nothing_else(tmp_path: Path) -> None:
    fixed, other = tmp_path / "fixed", tmp_path / "other"
    for path in (fixed, other):
        path.write_bytes(b"x")
    fixed.chmod(0o444)
    for call, paths in ((delete, (fixed,)), (replace, (other, fixed)), (write, (fixed,))):
        with pytest.raises(PermissionError, match="read-only"):
            as_ours(call)(*paths)
    as_ours(replace)(fixed, other)
    assert other.read_bytes() == b"x"


def test_what_is_open_for_reading_is_not_flushed(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"x")
    with pytest.raises(OSError, match="flushed"):
        as_ours(flush)(path)


@pytest.mark.parametrize("name", ["CON", "nul.txt", "com1", "a:b", "what?", "end.", "end ", "a|b"])
def test_a_name_that_windows_refuses_is_not_made(tmp_path: Path, name: str) -> None:
    for call in (write, make_folder):
        with pytest.raises(OSError, match="WinError 123"):
            as_ours(call)(tmp_path / name)
    write(tmp_path / "plain")
    with pytest.raises(OSError, match="WinError 123"):
        as_ours(replace)(tmp_path / "plain", tmp_path / name)


def test_names_that_differ_in_case_alone_are_one_file(tmp_path: Path) -> None:
    (tmp_path / "Notes").write_bytes(b"x")
    for call in (write, make_folder):
        with pytest.raises(FileExistsError, match="the same file as Notes"):
            as_ours(call)(tmp_path / "notes")
    as_ours(write)(tmp_path / "Notes")


def test_a_path_counts_from_a_users_folder(tmp_path: Path) -> None:
    room = windows_rules.MAX_PATH - len(windows_rules.USER_FOLDER) - len("/")
    as_ours(write)(tmp_path / ("n" * room))
    with pytest.raises(OSError, match="WinError 206: 260 characters"):
        as_ours(write)(tmp_path / ("n" * (room + 1)))


def test_others_code_keeps_the_rules_of_its_system(tmp_path: Path) -> None:
    held = tmp_path / "held"
    with held.open("wb"):
        os.replace(held, tmp_path / "moved")  # noqa: PTH105 - the call itself
        delete(tmp_path / "moved")
    write(tmp_path / "CON")


# The same rules, and what our own files do about them.


def test_a_scanner_holds_fresh_files_once_each_and_every_write_outlasts_it(tmp_path: Path) -> None:
    with virus_scanner(seed=7) as held:
        for number in range(40):
            files.write_private(tmp_path / "private", b"%d" % number)
            files.write_for_user(tmp_path / "public", b"%d" % number)
        files.delete(tmp_path / "public")
    assert len(held) > 40
    assert [path.name for path in tmp_path.iterdir()] == ["private"]
    assert (tmp_path / "private").read_bytes() == b"39"


@pytest.mark.usefixtures("impatient")
def test_without_another_try_the_scanner_wins_and_the_file_stays_complete(tmp_path: Path) -> None:
    path, failed = tmp_path / "private", 0
    with virus_scanner(seed=7):
        for number in range(40):
            before = path.read_bytes() if path.exists() else b""
            try:
                files.write_private(path, b"%d" % number)
            except PermissionError:
                failed += 1
                assert path.exists() == bool(before)
                assert not before or path.read_bytes() == before
    assert failed
    files.write_private(path, b"after")
    assert path.read_bytes() == b"after"


def test_a_folder_gets_its_name_after_a_scanner_has_read_its_files(tmp_path: Path) -> None:
    with virus_scanner(seed=1):
        for number in range(10):
            stage = tmp_path / f"stage-{number}"
            stage.mkdir()
            (stage / "file").write_bytes(b"x")
            files.sync_and_rename_folder(stage, tmp_path / f"done-{number}")
    assert len(list(tmp_path.glob("done-*/file"))) == 10


def test_a_key_is_made_and_restored_under_a_scanner(tmp_path: Path) -> None:
    with virus_scanner(seed=3) as held:
        for number in range(10):
            store = identity.KeyStore(tmp_path / f"peer-{number}", lambda: 1)
            signer = store.make(KeyProtection.OPEN)
            store.restore(bytes([number]) * 32, "words", KeyProtection.OPEN)
            assert store.open().key != signer.key
            assert (store.folder / "identity.key.old").read_bytes() == signer.seed
    assert held


def test_the_store_takes_and_evicts_content_under_a_scanner(tmp_path: Path) -> None:
    with virus_scanner(seed=5) as held:
        store = Store(tmp_path / "store", quota_bytes=20_000)
        roots = [store.put_tree(bytes([number]) * 4_000, 1_000).root for number in range(12)]
        assert store.read_pieces(roots[-1], 0, 4) == bytes([11]) * 4_000
        assert not store.has_tree(roots[0])
    assert held
    again = Store(tmp_path / "store", quota_bytes=20_000)
    assert again.has_tree(roots[-1])


def test_each_key_gets_its_own_outbox_under_a_scanner(tmp_path: Path) -> None:
    path, net = tmp_path / "outbox.sqlite", NetworkId(bytes(32))
    authors = [PeerKey(bytes([number]) * 32) for number in (1, 2)]
    numbers: list[list[int]] = [[], []]
    with virus_scanner(seed=2) as held:
        for turn in range(6):
            for author, used in zip(authors, numbers, strict=True):
                with OutboxDb(path, net, author) as outbox:
                    if not turn:
                        outbox.adopt(1, Digest(author))
                    used.append(outbox.use_number())
    assert held
    assert all(used == list(range(used[0], used[0] + 6)) for used in numbers)


def test_a_damaged_database_is_set_aside_under_a_scanner(tmp_path: Path) -> None:
    path = tmp_path / "points.sqlite"
    with virus_scanner(seed=4) as held:
        for number in range(1, 5):
            path.write_bytes(b"no database" * 1_000)
            made = DatabaseFile(path, "CREATE TABLE one (two)", version=1)
            assert made.set_aside_path == tmp_path / f"points.sqlite.kept-{number}"
            made.close()
    assert held
