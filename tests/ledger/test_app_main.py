"""The program as people meet it: how it starts, why it does not, and what a kill costs."""

from __future__ import annotations

import os
import socket
import threading
import time
from typing import TYPE_CHECKING

import httpx
import pytest

from tequio_ledger.app import END_S
from tequio_ledger.replay import replay
from tequio_shared.ids import NetworkId, to_text
from tequio_shared.log.tiles import BUNDLE_LEVEL, Tile, encode_bundle, parse_bundle
from tequio_shared.statements.statement import Entry, statement_id
from tests.support.authors import newcomers
from tests.support.forked_program import LEDGER, run_forked
from tests.support.ledgers import UNLIMITED, Served, make_settings, served, start
from tests.support.timing_slack import allowed_s

if TYPE_CHECKING:
    from pathlib import Path


def failed(folder: Path, *options: str) -> str:
    """Start a program that must refuse; give the one sentence it says."""
    process = start(folder, "--port", "0", *options)
    _, said = process.communicate(timeout=20)
    assert process.returncode == 1, said
    assert said.startswith("tequio-ledger: ")
    assert said.count("\n") == 1
    return said


def test_bad_settings_are_all_named_at_once(tmp_path: Path) -> None:
    said = failed(tmp_path, "--threshold", "9", "--blob-quota-mb", "none", "--organiser", "me")
    assert all(name in said for name in ("--threshold", "--blob-quota-mb", "--organiser"))


def test_a_busy_port_is_told(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as busy:
        said = failed(tmp_path, "--port", str(busy.getsockname()[1]))
    assert "is in use" in said


def test_a_folder_belongs_to_one_process(tmp_path: Path) -> None:
    with served(tmp_path):
        assert "another tequio-ledger" in failed(tmp_path)


def test_a_database_of_another_network_is_refused(tmp_path: Path) -> None:
    with served(tmp_path):
        pass
    assert "holds the network 'test'" in failed(tmp_path, "--network", "other")


def test_the_keys_of_a_network_must_be_there(tmp_path: Path) -> None:
    with served(tmp_path):
        pass
    assert (tmp_path / "log.key").stat().st_mode & 0o777 == 0o600
    (tmp_path / "log.key").unlink()
    assert "keys" in failed(tmp_path)


def test_a_file_that_is_no_database_is_told(tmp_path: Path) -> None:
    (tmp_path / "ledger.sqlite").write_bytes(b"certainly not a database" * 100)
    assert "is not a database of" in failed(tmp_path)


def test_a_folder_that_cannot_be_made_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    assert "cannot be used" in failed(tmp_path / "file" / "folder")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_read_only_folder_is_told(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    assert "may not be written" in failed(tmp_path)


def test_a_term_signal_ends_it_in_order_even_with_an_open_stream(tmp_path: Path) -> None:
    with served(tmp_path) as program, httpx.stream("GET", f"{program.url}/v1/events") as answer:
        lines = answer.iter_lines()
        next(lines)
        program.process.terminate()
        assert program.process.wait(allowed_s(END_S)) == 0


def test_replay_counts_the_entries(tmp_path: Path) -> None:
    with served(tmp_path):
        pass
    options = ("--dir", str(tmp_path), "--network", "test", "--origin", "ledger.example/test")
    done = run_forked(LEDGER, "replay", *options)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "replayed 1 entries\n"


def test_a_kill_during_ingest_loses_nothing_that_was_acknowledged(tmp_path: Path) -> None:
    acknowledged: dict[str, int] = {}
    for turn in range(4):
        with served(tmp_path, *UNLIMITED) as program:
            assert max(acknowledged.values(), default=0) < size_of(program)
            acknowledged |= ingest_until_killed(program, turn)
    replay(make_settings(tmp_path))
    assert len(acknowledged) > 100
    with served(tmp_path) as program:
        logged = index_by_id(program)
        assert {name: logged[name] for name in acknowledged} == acknowledged


def size_of(program: Served) -> int:
    return int(httpx.get(f"{program.url}/log/checkpoint").text.split("\n")[1])


def ingest_until_killed(program: Served, turn: int) -> dict[str, int]:
    """Post batches, kill the program in the middle, give what it acknowledged."""
    acknowledged: dict[str, int] = {}
    with httpx.Client(base_url=program.url) as client:
        while True:
            now_ms = time.time_ns() // 1_000_000
            name = f"turn {turn} from {len(acknowledged)}"
            leaves = [one.leaf() for one in newcomers(name, program.net, 20, now_ms)]
            if len(acknowledged) >= 100:
                threading.Timer(0.004, program.process.kill).start()
            try:
                answer = client.post("/v1/statements", content=encode_bundle(leaves))
            except httpx.HTTPError:
                program.process.wait(10)
                return acknowledged
            for item in answer.json()["items"]:
                acknowledged[item["id"]] = item["index"]


def index_by_id(program: Served) -> dict[str, int]:
    net, size = program.net, size_of(program)
    found: dict[str, int] = {}
    for first in range(0, size, 256):
        width = min(256, size - first)
        tile = Tile(level=BUNDLE_LEVEL, index=first // 256, width=width)
        leaves = parse_bundle(httpx.get(f"{program.url}/log/{tile.path()}").content)
        for at, leaf in enumerate(leaves):
            found[name_of(leaf, net)] = first + at
    return found


def name_of(leaf: bytes, net: NetworkId) -> str:
    return to_text(statement_id(net, Entry.parse(leaf).statement.raw))
