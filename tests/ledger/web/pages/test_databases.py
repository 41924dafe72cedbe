"""Every page is printed from PostgreSQL as it is from SQLite, and says so when it is away."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from structlog.testing import capture_logs

from tequio_shared.ids import to_text
from tests.support.ledgers import ORGANISER, VirtualClock, make_settings, opened, running
from tests.support.page_reader import PageReader
from tests.support.sample_ledger import SampleLedger, live_through

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.postgres import Cluster

IN_MEMORY = (
    "/log/checkpoint",
    "/v1/network",
    "/v1/runs",
    "/v1/competitions",
    f"/v1/peers/{to_text(ORGANISER.key)}",
)
STORED = ("/log/tile/0/000.p/1", "/log/tile/entries/000.p/1", "/v1/peers", "/v1/ranking", "/")
"""Paths that a ledger serves without its database, and paths that it does not."""


def test_all_kinds_of_pages_are_there(tmp_path: Path, cluster: Cluster) -> None:
    clock = VirtualClock()
    with opened(make_settings(tmp_path, database=cluster.database()), clock) as ledger:

        async def live() -> SampleLedger:
            async with running(ledger):
                return await live_through(ledger, clock)

        assert ledger.database.is_shared
        shown, pages = asyncio.run(live()), PageReader(ledger)
        run, key = to_text(shown.rules.run_id), to_text(shown.peers[3].key)
        for path, says in {
            "/": "points in",
            f"/runs/{run}": "The median loss that trainers claim",
            f"/runs/{run}/rounds/13": "its direction contradicts the witnesses' own measurements",
            f"/peers/{key}": "points in",
            "/leaderboard?span=7d": "Rounds paid",
            f"/leaderboard?around={key}": "Around",
            "/quarantine": "signed two different statements under one number",
            "/entries/300": "Verify it yourself",
            "/status": "All is well",
        }.items():
            page = pages.get(path)
            assert page.answer.status_code == 200, page.answer.text
            assert says in page.text, path
        found = pages.get(f"/search?q={key[:5]}").answer
        assert found.headers["location"] == f"/peers/{key}"


def test_readers_are_told_to_come_back_when_the_database_is_away(
    tmp_path: Path, cluster: Cluster
) -> None:
    url = cluster.database()
    name = url.rpartition("/")[2]
    with opened(make_settings(tmp_path, database=url), VirtualClock()) as ledger:
        pages = PageReader(ledger)
        assert pages.get("/quarantine").answer.status_code == 200
        cluster.sql(f"ALTER DATABASE {name} ALLOW_CONNECTIONS false")
        cluster.sql(
            f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{name}'"  # noqa: S608 - our own
        )
        with capture_logs() as lines:
            page, answer = pages.get("/entries"), pages.get("/v1/peers").answer
            statuses = {path: pages.get(path).answer.status_code for path in (*IN_MEMORY, *STORED)}
        cluster.sql(f"ALTER DATABASE {name} ALLOW_CONNECTIONS true")
    assert statuses == dict.fromkeys(IN_MEMORY, 200) | dict.fromkeys(STORED, 503)
    assert (page.answer.status_code, answer.status_code) == (503, 503)
    assert page.answer.headers["content-type"].startswith("text/html")
    assert "The database cannot be used for now: try again later." in page.text
    assert answer.json()["detail"] == "the database cannot be used for now: try again later"
    for text in (page.answer.text, answer.text):
        assert name not in text
        assert str(cluster.port) not in text
    told = [line["reason"] for line in lines if line["event"] == "the database failed"]
    assert any(name in reason for reason in told), "the operator reads which one it is, and why"
