"""Chunks of a release from several sources, of which some lie, trickle or die, and from peers."""

from __future__ import annotations

import json
import lzma
import random
import shutil
import time
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING

import msgspec
import pytest
import trio

from tequio_client.control_socket import WorkerCall
from tequio_client.ipc.control import AskChunk, ChunkReply
from tequio_client.ipc.preferences import Preferences
from tequio_client.platform import versions
from tequio_client.platform.programs import tequio
from tequio_client.platform.versions import TRUST_VARIABLE
from tequio_shared.errors import UserFacingError
from tequio_shared.ids import sha256, to_text
from tequio_shared.version import BUILD
from tests.support.forked_program import STRICT, run_forked
from tests.support.mirrors import Mirror, package, served, tree
from tests.support.real_network import running_network, start_with_trainers

if TYPE_CHECKING:
    from collections.abc import Iterator
    from http.server import SimpleHTTPRequestHandler
    from pathlib import Path

    from tests.support.mirrors import Disturb
    from tests.support.real_network import RealNetwork

FILES = 60


@pytest.fixture
def mirror(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Mirror]:
    """A mirror with a runtime of many chunks; the data folder is empty."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "home"))
    content = random.Random(7)
    more = {f"part-{at}": content.randbytes(20_000) for at in range(FILES)}
    with served(tmp_path / "mirror") as made:
        made.create(tmp_path / "keys")
        runtime = package(tmp_path / "runtime", "tequio-runtime", works=True, **more)
        made.publish(BUILD, ("runtime", "cpu", runtime))
        monkeypatch.setenv(TRUST_VARIABLE, str(made.trust(tmp_path / "trust")))
        yield made


@pytest.fixture
def second(mirror: Mirror, tmp_path: Path) -> Iterator[Mirror]:
    """Another mirror of the same; the first one gives the list."""
    with served(mirror.snapshot()) as other:
        mirror.trust(tmp_path / "trust", other.url)
        yield other


def install_runtime() -> dict[str, object]:
    """Run the real command; returns its last event."""
    done = run_forked(STRICT, "runtime", "install", "--for", "cpu", "--json", timeout_s=120)
    assert done.stdout, done.stderr
    last: dict[str, object] = json.loads(done.stdout.splitlines()[-1])
    return last


def is_complete(folder: Path) -> bool:
    return tree(versions.folder_of("runtime", BUILD)) == tree(folder / "runtime")


def chunks_asked(mirror: Mirror) -> int:
    return sum("/chunks/" in path for path in mirror.asked)


def lie(handler: SimpleHTTPRequestHandler) -> bool:
    """Send a compressed chunk that nobody asked for."""
    content = lzma.compress(b"other bytes")
    handler.send_response(200)
    handler.send_header("Content-Length", str(len(content)))
    handler.end_headers()
    handler.wfile.write(content)
    return True


def trickle(handler: SimpleHTTPRequestHandler) -> bool:
    """Send a byte now and then, for as long as anybody listens."""
    handler.send_response(200)
    handler.send_header("Content-Length", "20000")
    handler.end_headers()
    with suppress(OSError):
        while True:
            handler.wfile.write(b"x")
            time.sleep(0.05)
    return True


def hang_up(handler: SimpleHTTPRequestHandler) -> bool:
    """Send half of a chunk."""
    handler.send_response(200)
    handler.send_header("Content-Length", "20000")
    handler.end_headers()
    handler.wfile.write(bytes(10_000))
    handler.close_connection = True
    return True


@pytest.mark.parametrize("disturb", [lie, trickle, hang_up])
def test_a_bad_mirror_is_asked_for_little_and_the_other_one_gives_the_rest(
    mirror: Mirror, second: Mirror, tmp_path: Path, disturb: Disturb
) -> None:
    mirror.disturb = disturb
    assert install_runtime()["event"] == "installed"
    assert is_complete(tmp_path)
    assert 0 < chunks_asked(mirror) < FILES / 4
    assert chunks_asked(second) >= FILES


def test_two_good_mirrors_share_the_work(mirror: Mirror, second: Mirror, tmp_path: Path) -> None:
    assert install_runtime()["event"] == "installed"
    assert is_complete(tmp_path)
    asked = chunks_asked(mirror), chunks_asked(second)
    assert min(asked) > 1
    assert sum(asked) == len(mirror.chunks()), "nothing is fetched twice"


def test_a_mirror_that_dies_in_the_middle_keeps_what_arrived_for_the_next_attempt(
    mirror: Mirror, tmp_path: Path
) -> None:
    left = FILES // 2

    def die(handler: SimpleHTTPRequestHandler) -> bool:
        nonlocal left
        left -= 1
        return left < 0 and hang_up(handler)

    mirror.disturb = die
    last = install_runtime()
    assert last["event"] == "failed"
    assert mirror.url in str(last["reason"])
    mirror.disturb = None
    mirror.asked.clear()
    assert install_runtime()["event"] == "installed"
    assert is_complete(tmp_path)
    assert 0 < chunks_asked(mirror) <= len(mirror.chunks()) - FILES // 2


# Peers


async def start_node(network: RealNetwork, name: str, home: Path, *words: str) -> str:
    """Start a worker or seed whose data folder is that one; returns its address."""
    folder = home / "tequio" / words[0]
    if words[0] == "worker":
        folder.mkdir(parents=True, exist_ok=True)
        content = msgspec.json.encode(Preferences(consent=True))
        (folder / "preferences.json").write_bytes(content)
        words = (*words, "--apply-preferences")
    where = ("--ledger", network.url, "--listen", "/ip4/127.0.0.1/tcp/0", "--dir", str(folder))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_DATA_HOME", str(home))
        node = network.start(name, tequio(*words, *where, "--log-json"))
        await network.until(
            "it has started", lambda: node.program.log.exists() and any(node.events("started"))
        )
    address: str = next(node.events("started"))["listening"][0]
    return address


def gives(home: Path, chunk: bytes) -> bool:
    """True if the worker of that data folder gets the chunk from a peer."""
    question = AskChunk(name=to_text(sha256(chunk)))
    with suppress(UserFacingError), WorkerCall.to(home / "tequio" / "worker") as call:
        return call.ask(question, ChunkReply).content == chunk
    return False


@pytest.mark.trio
@pytest.mark.parametrize("giver", ["worker", "seed", "mirror"])
async def test_peers_give_what_no_mirror_has(mirror: Mirror, tmp_path: Path, giver: str) -> None:
    words = [giver]
    if giver == "mirror":
        words = ["seed", "--mirror", str(mirror.snapshot())]
    else:
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("XDG_DATA_HOME", str(tmp_path / "giver"))
            assert install_runtime()["event"] == "installed"
    shutil.rmtree(mirror.folder / "chunks")
    async with running_network(tmp_path / "network", start_with_trainers) as network:
        key = (await network.command("key", "run", "key", "--dir", str(tmp_path / "o"))).strip()
        await network.ledger(key)
        giver_at = await start_node(network, "giver", tmp_path / "giver", *words)
        await start_node(network, "newcomer", tmp_path / "home", "worker", "--peer", giver_at)
        one = (tmp_path / "runtime" / "part-0").read_bytes()
        await network.until("peers have met", partial(gives, tmp_path / "home", one))
        last = await trio.to_thread.run_sync(install_runtime)
        assert last["event"] == "installed", last
    assert is_complete(tmp_path)
