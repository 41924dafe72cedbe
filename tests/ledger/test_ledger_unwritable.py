"""A disk that takes nothing: reading goes on, nothing breaks, and writing comes back by itself."""

from __future__ import annotations

import asyncio
import errno
import os
import resource
import time
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

import httpx
import pytest
from sqlalchemy import event

from tequio_ledger.admin import doctor
from tequio_ledger.admin.doctor import Grade, worst
from tequio_ledger.data_folder import DataFolder
from tequio_ledger.log.log import Log
from tequio_ledger.log.sequencer import Known, Logged
from tequio_ledger.store import files
from tequio_ledger.store.files import UnwritableError
from tequio_shared.errors import FatalLogError, RefusedError, UserFacingError
from tequio_shared.log.tiles import encode_bundle
from tests.support.authors import newcomers
from tests.support.killable_ledger import FULL, Fault, ledger_forker
from tests.support.ledgers import VirtualClock, make_settings, opened, running
from tests.support.log_reader import read_leaves
from tests.support.small_disk import SmallDisk
from tests.support.uploads import put_blob

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from tequio_ledger.ledger import Ledger
    from tequio_ledger.log.sequencer import Outcome
    from tequio_shared.ids import NetworkId
    from tests.support.killable_ledger import LedgerForker

CLOCK = VirtualClock()
PATIENCE_S = 60.0


@pytest.fixture(scope="module")
def forker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LedgerForker]:
    with ledger_forker(tmp_path_factory.mktemp("logs")) as warm:
        yield warm


async def submit(ledger: Ledger, name: str) -> Outcome:
    entries = newcomers(name, ledger.state.net, 1, CLOCK())
    return (await ledger.sequencer.submit(entries))[0]


async def until_taken(ledger: Ledger, name: str) -> Outcome:
    """Say it again until it is taken, as a client does."""
    async with asyncio.timeout(PATIENCE_S):
        while True:
            with suppress(RefusedError):
                return await submit(ledger, name)
            await asyncio.sleep(0.01)


def read_only(ledger: Ledger) -> Callable[[], None]:
    """Let SQLite itself refuse every write; call the answer to end it."""
    is_over: list[bool] = []

    def forbid(connection: object) -> None:
        execute = connection.exec_driver_sql  # type: ignore[attr-defined]  # SQLAlchemy's
        execute(f"PRAGMA query_only = {0 if is_over else 1}")

    event.listen(ledger.database.writer, "begin", forbid)
    return lambda: is_over.append(True)


def test_a_database_that_turns_read_only_is_read_on_and_written_again_later(tmp_path: Path) -> None:
    async def scenario(ledger: Ledger) -> None:
        async with running(ledger):
            assert isinstance(await submit(ledger, "first"), Logged)
            before = ledger.log.published
            end = read_only(ledger)
            for _ in range(3):
                with pytest.raises(RefusedError, match="cannot be used for now") as refused:
                    await submit(ledger, "second")
                assert refused.value.code == "read-only"
            assert (await ledger.sequencer.settled(), ledger.log.published) == (before, before)
            assert ledger.health().status == "read-only"
            assert len(ledger.state.peers) == 3, "the state does not know what was not logged"
            end()
            taken = await until_taken(ledger, "second")
            assert isinstance(taken, Logged)
            assert (taken.index, ledger.health().status) == (2, "ok")

    with opened(make_settings(tmp_path), CLOCK) as ledger:
        asyncio.run(scenario(ledger))
    with opened(make_settings(tmp_path), CLOCK) as ledger:
        assert ledger.log.published.size == 3


def test_a_write_that_failed_and_is_there_all_the_same_is_known_when_said_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = Log._sign  # noqa: SLF001 - the moment between commit and signature
    failures = [UnwritableError("the disk is full: free some space")]

    def sign(log: Log) -> None:
        if failures and log.size > 1:
            raise failures.pop()
        real(log)

    monkeypatch.setattr(Log, "_sign", sign)

    async def scenario(ledger: Ledger) -> None:
        async with running(ledger):
            with pytest.raises(RefusedError, match="free some space"):
                await submit(ledger, "first")
            assert ledger.log.published.size == 1, "what is not signed is not shown"
            assert len(ledger.state.peers) == 2
            taken = await until_taken(ledger, "first")
            assert isinstance(taken, Known)
            assert (taken.index, ledger.log.published.size) == (1, 2)

    with opened(make_settings(tmp_path), CLOCK) as ledger:
        asyncio.run(scenario(ledger))


def test_a_disk_that_breaks_ends_the_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def scenario(ledger: Ledger) -> None:
        def fail(*_: object) -> None:
            raise FatalLogError("disk I/O error")

        monkeypatch.setattr(Log, "_commit", fail)
        ending = asyncio.create_task(ledger.run())
        waiting = asyncio.create_task(submit(ledger, "first"))
        with pytest.raises(FatalLogError):
            await ending
        with pytest.raises(RefusedError):
            await waiting

    with opened(make_settings(tmp_path), CLOCK) as ledger:
        asyncio.run(scenario(ledger))


def test_a_disk_that_is_full_at_the_start_serves_what_is_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    full = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    def fail(_folder: Path) -> None:
        raise full

    with opened(make_settings(tmp_path / "old"), CLOCK):
        pass
    monkeypatch.setattr(files, "probe", fail)
    with opened(make_settings(tmp_path / "old"), CLOCK) as ledger:
        assert (ledger.log.published.size, ledger.health().status) == (1, "read-only")
    nothing = opened(make_settings(tmp_path / "new"), CLOCK)
    with pytest.raises(UserFacingError, match="is full: free some space"), nothing:
        pass


POINTS = ("open blob", "sync blob", "mkdir folder", "rename blob", "sync folder")


def test_an_upload_to_a_full_disk_is_told_and_can_be_repeated(
    tmp_path: Path, forker: LedgerForker
) -> None:
    for number, point in enumerate(POINTS):
        child = forker.start(tmp_path / "ledger", Fault(point, does=FULL, served=True))
        url, net = child.served()
        with httpx.Client(base_url=url, timeout=PATIENCE_S) as http:
            for status, code in ((503, "read-only"), (201, None)):
                content, now_ms = f"blob {number}".encode(), time.time_ns() // 1_000_000
                answer = put_blob(http, net, content, now_ms)
                assert answer.status_code in {status, 200 if code is None else status}, answer.text
                assert code is None or answer.json()["type"].endswith(code)
        assert child.stop() == 0


def test_a_full_disk_stops_nothing_but_statements_and_all_goes_on_when_there_is_room(
    tmp_path: Path, forker: LedgerForker
) -> None:
    small = SmallDisk(tmp_path / "small")
    try:
        child = forker.start(tmp_path / "small" / "ledger")
        url, net = child.served()
        with httpx.Client(base_url=url, timeout=PATIENCE_S) as http:
            logged = post(http, net, 0)
            assert logged is not None
            small.fill([child.pid])
            taken = {0: logged}
            number = 1
            while (leaf := post(http, net, number)) is not None:  # the last pages that are left
                taken[number] = leaf
                number += 1
            assert http.get("/healthz").json()["status"] == "read-only"
            size = int(http.get("/log/checkpoint").text.split("\n")[1])
            assert read_leaves(http, size)[1:] == list(taken.values())
            assert child.events("takes no statements")
            small.empty([child.pid])
            deadline = time.monotonic() + PATIENCE_S
            while (leaf := post(http, net, number)) is None:
                assert time.monotonic() < deadline
                time.sleep(0.1)
            assert http.get("/healthz").json() == {"status": "ok"}
            leaves = read_leaves(http, size + 1)
            assert leaves[1:] == [*taken.values(), leaf]
        assert child.stop() == 0
        folder = DataFolder(tmp_path / "small" / "ledger")
        found = doctor.examine(
            make_settings(folder.path), folder, lambda: time.time_ns() // 1_000_000
        )
        assert worst(found) < Grade.ERROR, found
    finally:
        small.unmount()


def post(http: httpx.Client, net: NetworkId, number: int) -> bytes | None:
    """Post a statement; return its leaf if it was logged, None if nothing can be written."""
    now_ms = time.time_ns() // 1_000_000
    (entry,) = newcomers(f"newcomer {number}", net, 1, now_ms)
    answer = http.post("/v1/statements", content=encode_bundle([entry.leaf()]))
    if answer.status_code == 503:
        assert answer.json()["type"] == "urn:tequio:problem:read-only"
        assert int(answer.headers["retry-after"]) > 0
        return None
    (item,) = answer.json()["items"]
    assert item["status"] in {"logged", "known"}, item
    return entry.leaf()


@contextmanager
def no_descriptor_left() -> Iterator[None]:
    """Let this process open no further file."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    spare = os.open(os.devnull, os.O_RDONLY)
    os.close(spare)  # the lowest free number: nothing above it can be opened
    resource.setrlimit(resource.RLIMIT_NOFILE, (spare, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_a_process_without_descriptors_is_read_only_until_it_has_some(tmp_path: Path) -> None:
    async def scenario(ledger: Ledger) -> None:
        async with running(ledger):
            assert isinstance(await submit(ledger, "first"), Logged)
            ledger.database.close()  # the next use opens its file again
            with no_descriptor_left(), pytest.raises(RefusedError) as refused:
                await submit(ledger, "second")
            assert refused.value.code == "read-only"
            assert isinstance(await until_taken(ledger, "second"), Logged)

    with opened(make_settings(tmp_path), CLOCK) as ledger:
        asyncio.run(scenario(ledger))


def test_a_blob_that_cannot_be_opened_for_now_is_not_called_missing(tmp_path: Path) -> None:
    with opened(make_settings(tmp_path), CLOCK) as ledger:
        digest = ledger.blobs.put(b"a document")
        with no_descriptor_left(), pytest.raises(UnwritableError, match="descriptor"):
            ledger.blobs.read(digest)
        assert ledger.blobs.read(digest) == b"a document"
