"""The leader lock of a shared database: held by a ledger, which may be ended, or a stranger."""

from __future__ import annotations

import contextlib
import time
from contextlib import closing
from typing import TYPE_CHECKING

import pytest
from sqlalchemy import NullPool, create_engine, text

from tequio_ledger.store.database import Database
from tequio_ledger.store.files import UnwritableError
from tequio_ledger.store.postgresql import _LEADER_LOCK, LEASE_S, ForeignLockError
from tests.support.timing_slack import allowed_s

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from tests.support.postgres import Cluster

TAKE = text("SELECT pg_advisory_lock(:key)").bindparams(key=_LEADER_LOCK)


@pytest.fixture
def urls(cluster: Cluster) -> tuple[str, str]:
    """URLs of one database: as its owner, not a superuser, and as another role."""
    url = cluster.database()
    name = url.rpartition("/")[2]
    owner, stranger = f"{name}_owner", f"{name}_stranger"
    cluster.sql(f"CREATE ROLE {owner} LOGIN")
    cluster.sql(f"CREATE ROLE {stranger} LOGIN")
    cluster.sql(f"ALTER DATABASE {name} OWNER TO {owner}")
    return url.replace("tequio@", f"{owner}@"), url.replace("tequio@", f"{stranger}@")


def taking(url: str) -> Connection:
    """An idle session that holds the lock."""
    connection = create_engine(url, poolclass=NullPool, isolation_level="AUTOCOMMIT").connect()
    connection.execute(TAKE)
    return connection


def test_a_stranger_with_the_lock_is_named_and_nothing_breaks(urls: tuple[str, str]) -> None:
    owner, stranger = urls
    with closing(Database(owner)) as database:
        assert database.has_no_leader()
        with closing(taking(stranger)):
            for _ in range(2):
                with pytest.raises(
                    ForeignLockError, match=r"role test_\w+_stranger .*REVOKE CONNECT"
                ) as caught:
                    database.has_no_leader()
        assert isinstance(caught.value, UnwritableError), "it is told, and tried again"
        wait_until_vacant(database)


def test_a_session_of_our_own_role_that_rests_is_ended(urls: tuple[str, str]) -> None:
    owner, _ = urls
    with closing(Database(owner)) as database, closing(taking(owner)) as resting:
        assert not database.has_no_leader(), "it has just said something"
        wait_until_vacant(database)
        resting.invalidate()


def wait_until_vacant(database: Database) -> None:
    deadline_s = time.monotonic() + allowed_s(LEASE_S)
    while True:
        with contextlib.suppress(ForeignLockError):  # the server takes a moment to end a session
            if database.has_no_leader():
                return
        assert time.monotonic() < deadline_s
        time.sleep(0.05)
