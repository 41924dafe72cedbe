"""kill -9 between any two writes: what was acknowledged stays, and no size has two roots.

The table names every point at which the real program is killed; a trace of what it really writes
says that none is missing.
"""

from __future__ import annotations

import time
from collections import Counter
from contextlib import suppress
from typing import TYPE_CHECKING

import httpx
import msgspec
import pytest

from tequio_ledger.admin import doctor
from tequio_ledger.admin.doctor import Grade, worst
from tequio_ledger.data_folder import DataFolder
from tequio_ledger.replay import replay
from tequio_shared.ids import Digest, NetworkId, from_text, sha256, to_text
from tequio_shared.log import merkle
from tequio_shared.log.notes import VerifierKey, open_checkpoint
from tequio_shared.log.tiles import encode_bundle
from tequio_shared.network.run import first_head
from tequio_shared.statements.network import MemberReady
from tequio_shared.statements.runs import RunOpen
from tests.support.attack_table import attack
from tests.support.authors import Author
from tests.support.killable_ledger import Fault, ledger_forker
from tests.support.ledgers import ORGANISER, START_MS, VirtualClock, make_settings, opened
from tests.support.log_reader import read_leaves
from tests.support.signing_swarm import manifest
from tests.support.uploads import put_blob

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tequio_shared.round.manifest import Manifest
    from tequio_shared.statements.statement import Entry
    from tests.support.killable_ledger import ForkedLedger, LedgerForker


KILLED = -9

FOUNDING = (
    *(("mkdir folder", n) for n in (1, 3)),
    *(("sync folder", n) for n in (1, 4, 9)),
    ("create log_head", 1),
    ("create credit", 1),
    ("insert alembic_version", 1),
    ("commit alembic_version", 1),
    ("create standing", 1),
    ("sync log.key.new", 1),
    ("rename log.key.new", 1),
    ("sync log.signed.new", 1),
    ("rename log.signed.new", 1),
    ("sync coordinator.key.new", 1),
    ("rename coordinator.key.new", 1),
    ("open probe.new", 1),
    ("sync probe.new", 1),
    ("insert log_head", 1),
    ("commit log_head", 1),
    ("open blob", 1),
    ("sync blob", 1),
    ("rename blob", 1),
    ("insert blob", 1),
    ("commit blob", 1),
    ("insert log_entry", 1),
    ("insert log_tile", 1),
    ("insert peer", 1),
    ("insert standing", 1),
    ("insert tier", 1),
    ("update log_head", 1),
    ("commit tier", 1),
    ("sync log.signed", 1),
    ("insert log_checkpoint", 1),
    ("commit log_checkpoint", 1),
    ("written", 1),
)
"""Point and passage, counted from the first start of a program on no folder at all."""

SERVING = (
    ("open blob", 1),
    ("sync blob", 1),
    ("mkdir folder", 1),
    ("sync folder", 1),
    ("rename blob", 1),
    ("insert blob", 1),
    ("commit blob", 1),
    ("insert log_entry", 1),
    ("insert log_tile", 1),
    ("insert peer", 1),
    ("insert standing", 1),
    ("insert run", 1),
    ("update log_head", 1),
    ("commit run", 1),
    ("sync log.signed", 1),
    ("insert log_checkpoint", 1),
    ("commit log_checkpoint", 1),
    ("written", 1),
    *(("rename blob", 2), ("commit blob", 2), ("insert round", 1), ("commit round", 1)),
    *(("commit log_checkpoint", 2), ("written", 2)),
)
"""Counted once it serves: first an organiser's blob and run.open, then members and a roster."""

STARTING = (("sync probe.new", 1), ("update log_head", 1), ("commit log_head", 1))
"""Counted from a start on a log that is there."""


@pytest.fixture(scope="module")
def forker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LedgerForker]:
    with ledger_forker(tmp_path_factory.mktemp("logs")) as warm:
        yield warm


class LogObserver:
    """Everything that a client saw of a log, across all kills of its ledger."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.acknowledged: dict[int, bytes] = {}
        """Leaves by the index that the ledger gave them."""
        self.roots: dict[int, Digest] = {}
        """Roots of the checkpoints that were seen, by size."""

    def check_log(self, http: httpx.Client) -> None:
        """Read the log and compare it with everything seen before."""
        vkey = VerifierKey.parse(http.get("/v1/network").json()["log_key"])
        signed = open_checkpoint(http.get("/log/checkpoint").content, vkey).checkpoint
        assert self.roots.setdefault(signed.size, signed.root) == signed.root
        leaves = read_leaves(http, signed.size)
        for index, leaf in self.acknowledged.items():
            assert leaves[index] == leaf, f"entry {index} was acknowledged and is another now"
        for size, root in self.roots.items():
            assert merkle.root(leaves[:size]) == root, f"the log forked before size {size}"

    def examine(self) -> None:
        """Run the doctor on the folder that a killed process left."""
        given = make_settings(self.folder)
        found = doctor.examine(given, DataFolder(self.folder), lambda: time.time_ns() // 1_000_000)
        assert worst(found) < Grade.ERROR, found


def run_of(number: int) -> Manifest:
    return msgspec.structs.replace(manifest(warmup=0), name=f"run {number}")


def live(http: httpx.Client, net: NetworkId, observer: LogObserver, number: int) -> None:
    """Open a run and bring two members: blobs, entries, a roster. Dies with the ledger."""
    observer.check_log(http)
    now_ms, rules = time.time_ns() // 1_000_000, run_of(number)
    put_blob(http, net, rules.encode(), now_ms)
    organiser = Author("organiser", net)
    organiser.signer = ORGANISER
    chain = http.get(f"/v1/peers/{to_text(ORGANISER.key)}").json()
    organiser.seq, organiser.last = chain["last_seq"], Digest(from_text(chain["last_hash"]))
    opening = RunOpen(manifest=to_text(rules.run_id), head=to_text(first_head(rules).hash))
    post(http, observer, [organiser.sign(opening, now_ms, run=rules.run_id)])
    members = [Author(f"member {number} {which}", net) for which in range(2)]
    ready = MemberReady(head=to_text(sha256(b"head")), roles=("trainer", "witness"))
    pairs = [(one.register(now_ms), one.sign(ready, now_ms, run=rules.run_id)) for one in members]
    post(http, observer, [entry for pair in pairs for entry in pair])
    observer.check_log(http)


def post(http: httpx.Client, observer: LogObserver, entries: list[Entry]) -> None:
    leaves = [entry.leaf() for entry in entries]
    items = http.post("/v1/statements", content=encode_bundle(leaves)).json()["items"]
    assert {item["status"] for item in items} == {"logged"}, items
    observer.acknowledged |= {item["index"]: leaf for item, leaf in zip(items, leaves, strict=True)}


def live_until_death(child: ForkedLedger, observer: LogObserver, number: int) -> None:
    url, net = child.served()
    with httpx.Client(base_url=url, timeout=30) as http, suppress(httpx.TransportError):
        live(http, net, observer, number)


@attack("L4", layer="log", ends="nothing acknowledged is lost, and no size has two roots")
@attack("M5", layer="log", ends="the next start continues; acknowledged statements are there")
def test_a_kill_while_it_serves_loses_nothing_and_forks_nothing(
    tmp_path: Path, forker: LedgerForker
) -> None:
    observer = LogObserver(tmp_path / "ledger")
    for number, (point, passage) in enumerate(SERVING):
        fault = Fault(point, passage, served=True)
        child = forker.start(observer.folder, fault)
        live_until_death(child, observer, number)
        assert child.wait() == KILLED, f"{point} was not passed {passage} times"
        observer.examine()
    for point, passage in STARTING:
        child = forker.start(observer.folder, Fault(point, passage))
        assert child.wait() == KILLED, f"{point} was not passed {passage} times"
    check_the_end(forker, observer)


def check_the_end(forker: LedgerForker, observer: LogObserver) -> None:
    child = forker.start(observer.folder)
    url, net = child.served()
    with httpx.Client(base_url=url, timeout=30) as http:
        live(http, net, observer, len(SERVING))
        size = int(http.get("/log/checkpoint").text.split("\n")[1])
    assert child.stop() == 0
    assert replay(make_settings(observer.folder)) == size
    observer.examine()
    assert len(observer.acknowledged) > 10
    assert len(observer.roots) > 10


@pytest.mark.parametrize(("point", "passage"), FOUNDING)
def test_a_kill_while_it_is_founded_leaves_what_the_next_start_completes(
    tmp_path: Path, forker: LedgerForker, point: str, passage: int
) -> None:
    folder = tmp_path / "ledger"
    assert forker.start(folder, Fault(point, passage)).wait() == KILLED
    keys = {path: path.read_bytes() for path in folder.glob("*.key")}
    for _ in range(2):
        with opened(make_settings(folder), VirtualClock(START_MS)) as ledger:
            assert (ledger.log.size, ledger.log.published.size) == (1, 1)
            assert ledger.blobs.has(Digest(from_text(ledger.genesis.rules)))
    assert {path: path.read_bytes() for path in keys} == keys, "a key that was made stays"
    found = doctor.examine(make_settings(folder), DataFolder(folder), VirtualClock(START_MS))
    assert worst(found) < Grade.ERROR, found


def test_the_tables_name_every_write_that_the_program_makes(
    tmp_path: Path, forker: LedgerForker
) -> None:
    observer, trace = LogObserver(tmp_path / "ledger"), tmp_path / "trace"
    child = forker.start(observer.folder, trace=trace)
    url, net = child.served()
    with httpx.Client(base_url=url, timeout=30) as http:
        live(http, net, observer, 0)
    assert child.stop() == 0
    founding, _, serving = trace.read_text().partition("served\n")
    assert schema_apart(founding) == {point for point, _ in FOUNDING if "create" not in point}
    assert schema_apart(serving) == {point for point, _ in SERVING}
    for trace_text, table in ((founding, FOUNDING), (serving, SERVING)):
        passed = Counter(trace_text.splitlines())
        assert [(point, least) for point, least in table if passed[point] < least] == []


def schema_apart(trace: str) -> set[str]:
    """Every point but those of the migrations, which are one transaction."""
    points = set(trace.split("\n")) - {""}
    schema = ("create ", "alter ", "update alembic")
    return {point for point in points if not point.startswith(schema)}
