"""The reader of logs: what it fetches, what it holds, and what it finds wrong."""

from __future__ import annotations

import io
import time
from typing import TYPE_CHECKING

import pytest
from rich.console import Console

from tequio_client.verify.reader import LogReader
from tequio_client.verify.report import LogReport, ProgressBars
from tequio_client.verify.source import MirrorFolder, NotAvailableError
from tequio_shared.errors import MalformedError, PeerError, UserFacingError
from tequio_shared.log import merkle
from tequio_shared.log.notes import Checkpoint, SignedCheckpoint
from tequio_shared.log.tiles import BUNDLE_LEVEL, TILE_WIDTH, Tile, encode_bundle
from tests.client.verify.logs import all_tiles
from tests.support.memory_log import ORIGIN
from tests.support.merkle_proofs import inclusion_proof

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from tequio_shared.ids import Digest

LEAVES = [bytes([at % 256, at // 256]) for at in range(1_100)]


class CountedLog:
    """Leaves and tiles in memory; counts what is fetched."""

    def __init__(self, leaves: Sequence[bytes]) -> None:
        self.leaves = list(leaves)
        self.tiles = all_tiles(leaves)
        self.fetched: list[tuple[int, int]] = []
        self.tiles_fetched: list[tuple[int, int, int]] = []

    def genesis(self) -> bytes:
        """There is none."""
        raise NotAvailableError("no genesis")

    def signed_note(self) -> bytes:
        """There is none."""
        raise NotAvailableError("no checkpoint")

    def entries(self, first: int, end: int) -> list[bytes]:
        """Give leaves."""
        self.fetched.append((first, end))
        return self.leaves[first:end]

    def tile(self, level: int, index: int, width: int) -> list[Digest]:
        """Give a tile."""
        self.tiles_fetched.append((level, index, width))
        return self.tiles[level, index][:width]

    def blob(self, name: Digest) -> bytes | None:
        """There is none."""
        del name
        return None


def signed(size: int, root: Digest | None = None) -> SignedCheckpoint:
    root = merkle.root(LEAVES[:size]) if root is None else root
    tree = Checkpoint(origin=ORIGIN, size=size, root=root)
    return SignedCheckpoint(checkpoint=tree, cosignatures=())


def read(reader: LogReader, to: SignedCheckpoint) -> list[int]:
    return [index for index, _ in reader.entries(to, b"note", lambda _: None)]


def test_each_bundle_and_each_tile_is_fetched_once_and_reading_goes_on() -> None:
    log, report = CountedLog(LEAVES), LogReport()
    reader = LogReader(log, report, tiles=log)
    assert read(reader, signed(600)) == list(range(600))
    assert read(reader, signed(1_100)) == list(range(600, 1_100))
    assert log.fetched == [
        (0, 256),
        (256, 512),
        (512, 600),
        (600, 768),
        (768, 1_024),
        (1_024, 1_100),
    ]
    assert len(log.tiles_fetched) == len(set(log.tiles_fetched))
    assert not report.findings
    assert read(reader, signed(1_100)) == []


def test_without_tiles_only_the_root_is_compared() -> None:
    log, report = CountedLog(LEAVES), LogReport()
    read(LogReader(log, report), signed(700))
    assert not log.tiles_fetched
    assert not report.findings


def test_a_mirror_gives_a_bundle_from_its_second_tile_on(tmp_path: Path) -> None:
    for tile in (Tile(level=BUNDLE_LEVEL, index=0), Tile(level=BUNDLE_LEVEL, index=1, width=44)):
        path = tmp_path / "log" / tile.path()
        path.parent.mkdir(parents=True, exist_ok=True)
        first = tile.index * TILE_WIDTH
        path.write_bytes(encode_bundle(LEAVES[first : first + tile.width]))
    mirror = MirrorFolder(tmp_path)
    assert mirror.entries(256, 300) == LEAVES[256:300]
    assert mirror.entries(10, 256) == LEAVES[10:256]


def test_an_entry_is_proven_by_a_few_tiles() -> None:
    log = CountedLog(LEAVES)
    reader = LogReader(log, LogReport(), tiles=log)
    read(reader, signed(1_100))
    log.tiles_fetched.clear()
    for index in (0, 255, 256, 1_099):
        proof = reader.proof(index)
        hashes = [merkle.leaf_hash(leaf) for leaf in LEAVES]
        assert list(proof.path) == inclusion_proof(hashes, index)
        assert (proof.extra, proof.note) == (LEAVES[index], b"note")
    assert len(log.tiles_fetched) <= 4 * 6


def test_tiles_that_do_not_lead_to_the_signed_root_prove_nothing() -> None:
    log = CountedLog(LEAVES)
    reader = LogReader(log, LogReport(), tiles=log)
    with pytest.raises(NotAvailableError, match="no checkpoint was read to"):
        reader.proof(0)
    read(reader, signed(1_100))
    log.tiles[0, 0][1] = merkle.leaf_hash(b"another leaf")
    with pytest.raises(PeerError, match="the proof leads to"):
        reader.proof(0)
    without = LogReader(log, LogReport())
    read(without, signed(1_100))
    with pytest.raises(NotAvailableError, match="no tiles"):
        without.proof(0)


def test_an_older_checkpoint_has_to_be_a_beginning() -> None:
    log, report = CountedLog(LEAVES), LogReport()
    reader = LogReader(log, report, tiles=log)
    read(reader, signed(1_100))
    assert read(reader, signed(300)) == []
    assert not report.findings
    read(reader, signed(300, merkle.root(LEAVES[1:301])))
    assert [one.what for one in report.findings] == ["older checkpoint"]


def test_a_withheld_bundle_ends_the_reading() -> None:
    class Withholding(CountedLog):
        def entries(self, first: int, end: int) -> list[bytes]:
            if first:
                raise NotAvailableError("gone")
            return super().entries(first, end)

    log, report = Withholding(LEAVES), LogReport()
    reader = LogReader(log, report)
    assert read(reader, signed(600)) == list(range(256))
    assert [one.line() for one in report.findings] == [
        "missing: bundle of entries 256 to 511 at entry 256: gone"
    ]
    assert reader.signed is None
    with pytest.raises(UserFacingError, match="the log could not be read completely"):
        report.check("the log", "give up")


def test_a_malformed_bundle_ends_the_reading_and_is_found() -> None:
    class Mangling(CountedLog):
        def entries(self, first: int, end: int) -> list[bytes]:
            if first:
                raise MalformedError("cut off")
            return super().entries(first, end)

    log, report = Mangling(LEAVES), LogReport()
    reader = LogReader(log, report)
    assert read(reader, signed(600)) == list(range(256))
    assert [one.line() for one in report.findings] == [
        "mismatch: bundle of entries 256 to 511 at entry 256: cut off"
    ]
    assert reader.signed is None


def test_work_prints_a_line_now_and_then_where_there_is_no_terminal() -> None:
    shown = io.StringIO()
    with (
        ProgressBars(Console(file=shown), line_every_s=0.05) as bars,
        bars.work("entries", 400) as tick,
    ):
        tick(100)
        deadline_s = time.monotonic() + 10
        while "100 of 400" not in shown.getvalue() and time.monotonic() < deadline_s:
            time.sleep(0.01)
    lines = shown.getvalue().splitlines()
    assert lines[-1].startswith("entries: 100 of 400 (25%)")
