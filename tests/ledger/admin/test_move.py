"""A ledger goes from one database to another: the same log, once, however often cut short."""

from __future__ import annotations

import asyncio
import shutil
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tequio_ledger.admin.move import PAGE_ROWS, Move
from tequio_ledger.data_folder import DataFolder
from tequio_ledger.log.guard import Cause, Mark, read_mark, write_mark
from tequio_ledger.log.sequencer import Logged
from tequio_ledger.replay import replay
from tequio_ledger.store import log_rows
from tequio_ledger.store.database import Database
from tequio_shared.errors import UserFacingError
from tests.ledger.test_replay import CLOCK, live_through, rows
from tests.support.authors import newcomers
from tests.support.forked_program import LEDGER as PROGRAM
from tests.support.forked_program import run_forked
from tests.support.ledgers import make_settings, opened, running

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tequio_ledger.ledger import Ledger
    from tequio_ledger.store.log_rows import SignedHead
    from tequio_shared.statements.statement import Entry
    from tests.support.postgres import Cluster

MANY = 700


class CutShort(BaseException):
    """Ends the process at this point."""


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A ledger with rounds, standings, and more entries than a page."""
    folder = tmp_path_factory.mktemp("original")
    with opened(make_settings(folder), CLOCK) as ledger:
        asyncio.run(live_through(ledger))
    with opened(make_settings(folder), CLOCK) as ledger:
        grow(ledger, "before", MANY)
    return folder


@pytest.fixture
def folder(original: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(original, tmp_path, dirs_exist_ok=True))


@pytest.fixture
def target(cluster: Cluster) -> str:
    return cluster.database()


def grow(ledger: Ledger, name: str, count: int) -> None:
    asyncio.run(_register(ledger, newcomers(name, ledger.state.net, count, CLOCK())))


async def _register(ledger: Ledger, entries: Iterable[Entry]) -> None:
    async with running(ledger):
        for entry in entries:
            (outcome,) = await ledger.sequencer.submit([entry])
            assert isinstance(outcome, Logged)


def moved(
    folder: Path, source: str, target: str, most: int | None = None, page_rows: int = PAGE_ROWS
) -> SignedHead:
    """Move the log; raise CutShort once `most` entries have been copied."""

    def on_progress(done: int, _of: int) -> None:
        if most is not None and done >= most:
            raise CutShort

    with (
        DataFolder(folder) as held,
        closing(Database(source or held.database)) as old,
        closing(Database(target)) as new,
    ):
        return Move(held, old, new, page_rows=page_rows).run(on_progress)


def test_the_log_goes_on_in_postgresql_under_the_same_root(folder: Path, target: str) -> None:
    with opened(make_settings(folder), CLOCK) as ledger:
        before, held = ledger.log.published, rows(ledger)
    moved(folder, "", target)
    with opened(make_settings(folder, database=target), CLOCK) as ledger:
        assert ledger.log.published == before
        assert rows(ledger) == held
        grow(ledger, "after", 3)
        assert ledger.log.published.size == before.size + 3
    assert replay(make_settings(folder, database=target)) == before.size + 3


def test_nothing_is_signed_in_the_old_database_any_more(folder: Path, target: str) -> None:
    moved(folder, "", target)
    with opened(make_settings(folder), CLOCK) as ledger:
        assert ledger.health().status == Cause.MOVED.value
        assert ledger.log.published.size > MANY, "it still reads"
        assert "moved to another database" in (ledger.sequencer.closed_for or "")


@pytest.mark.parametrize("after", [1, 300, MANY])
def test_a_move_that_was_cut_short_goes_on_where_it_ended(
    folder: Path, target: str, after: int
) -> None:
    with pytest.raises(CutShort):
        moved(folder, "", target, after, page_rows=100)
    with pytest.raises(UserFacingError, match="move` again"):
        opened(make_settings(folder, database=target), CLOCK).__enter__()
    with closing(Database(target)) as database, database.reader.begin() as connection:
        there = len(log_rows.read_leaves(connection, 0, 1 << 30))
    assert there >= after
    with opened(make_settings(folder), CLOCK) as ledger:  # the old one still is the ledger
        assert ledger.health().status == "ok"
        grow(ledger, "meanwhile", 5)
        size, root = ledger.log.published.size, ledger.log.published.root
    moved(folder, "", target, page_rows=100)
    with opened(make_settings(folder, database=target), CLOCK) as ledger:
        assert (ledger.log.published.size, ledger.log.published.root) == (size, root)


@pytest.mark.parametrize("cause", [Cause.RESTORED, Cause.LOST])
def test_a_kill_between_the_last_two_steps_does_not_lose_why_nothing_is_signed(
    folder: Path, target: str, cause: Cause, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_mark(DataFolder(folder).mark, Mark(cause=cause, size=3, shown="x", shown_size=9))

    def die(*_: object) -> None:
        raise CutShort

    with monkeypatch.context() as patched:
        patched.setattr(Move, "_finish", die)
        with pytest.raises(CutShort):
            moved(folder, "", target)
    moved(folder, "", target)
    moved_away = read_mark(DataFolder(folder).mark)
    assert moved_away is not None
    assert moved_away.cause is Cause.MOVED
    with opened(make_settings(folder, database=target), CLOCK) as ledger:
        assert ledger.guard.mark == Mark(cause=cause, size=3, shown="x", shown_size=9)
        assert ledger.health().status == cause.value


def test_a_target_that_holds_a_log_is_refused(folder: Path, target: str, tmp_path: Path) -> None:
    with opened(make_settings(tmp_path / "other", database=target), CLOCK):
        pass
    with pytest.raises(UserFacingError, match="already: choose an empty database"):
        moved(folder, "", target)
    with opened(make_settings(folder), CLOCK) as ledger:
        assert ledger.health().status == "ok", "the old one was not touched"


def test_a_move_of_another_log_is_not_gone_on_with(
    folder: Path, target: str, tmp_path: Path
) -> None:
    with pytest.raises(CutShort):
        moved(folder, "", target, 1)
    other = tmp_path / "other"
    with opened(make_settings(other), CLOCK) as ledger:
        grow(ledger, "others", MANY)
    with pytest.raises(UserFacingError, match="the beginning of another log"):
        moved(other, "", target)


def test_what_is_being_served_is_not_moved(folder: Path, cluster: Cluster, target: str) -> None:
    moved(folder, "", target)
    with (
        opened(make_settings(folder, database=target), CLOCK),
        closing(Database(target)) as old,
        closing(Database(cluster.database())) as new,
        pytest.raises(UserFacingError, match="another tequio-ledger writes this log"),
    ):
        Move(DataFolder(folder / "elsewhere"), old, new).run(lambda _done, _of: None)


def test_the_commands_say_what_they_did(folder: Path, target: str) -> None:
    said = run("migrate", "--dir", str(folder))
    assert said.startswith("tables 00")
    root = said.split("root ")[1].strip()
    assert f"with root {root}" in run("move", "--dir", str(folder), "--to", target)
    again = run("migrate", "--dir", str(folder), "--database", target)
    assert again.split("root ")[1].strip() == root


@pytest.mark.parametrize("command", ["replay", "migrate", "move"])
def test_where_there_is_no_ledger_none_is_begun(tmp_path: Path, command: str) -> None:
    place = tmp_path / "unmounted"
    target = ("--to", f"sqlite:///{tmp_path / 'new'}") if command == "move" else ()
    done = run_forked(PROGRAM, command, "--dir", str(place), *target)
    assert done.returncode == 1
    assert f"{place} holds no ledger: choose its folder with --dir" in done.stderr
    assert not list(tmp_path.iterdir())


def run(*words: str) -> str:
    done = run_forked(PROGRAM, *words, timeout_s=60)
    assert done.returncode == 0, done.stderr
    return done.stdout
