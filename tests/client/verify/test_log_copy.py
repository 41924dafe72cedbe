"""An audit keeps a copy of the log, which is audited without the ledger afterwards."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

from tequio_client.verify.audit import AuditOptions
from tequio_client.verify.audit import audit as audit_log
from tequio_client.verify.cli import audit
from tequio_client.verify.report import AuditGrade
from tequio_client.verify.source import MirrorFolder, open_copy
from tequio_shared.errors import MalformedError, UserFacingError
from tequio_shared.ids import DIGEST_BYTES, Digest
from tequio_shared.log.tiles import BUNDLE_LEVEL, TILE_WIDTH, Tile, encode_bundle
from tests.client.verify.logs import SwarmLog
from tests.support.cosigned_ledger import register_keys
from tests.support.ledgers import UNLIMITED, served
from tests.support.memory_swarm import Swarm
from tests.support.tiny_run import tiny_manifest

if TYPE_CHECKING:
    from pathlib import Path

    from click.testing import Result

    from tequio_client.verify.report import LogReport

FIRST, MORE = 200, 100  # into the second bundle


def run(*words: str) -> Result:
    return CliRunner().invoke(audit, ["--from-log-only", *words])


def entries(done: Result) -> int:
    """How many were read."""
    (line,) = [one for one in done.output.splitlines() if " entries " in one]
    return int(line.split()[-2])


@pytest.mark.whole
def test_a_copy_grows_with_the_log_and_passes_alone_until_a_byte_changes(tmp_path: Path) -> None:
    folder = tmp_path / "copy"
    with served(tmp_path / "ledger", *UNLIMITED) as ledger:
        register_keys(ledger, "first", FIRST)
        copying = ("--ledger", ledger.url, "--copy", str(folder))
        assert run(*copying).exit_code == 0
        register_keys(ledger, "more", MORE)
        live = run(*copying)
        assert live.exit_code == 0, live.output
    alone = run("--mirror", str(folder))
    assert alone.exit_code == 0, alone.output
    assert entries(alone) == entries(live) == 1 + FIRST + MORE
    bundle = folder / "log" / "tile" / "entries" / "000"
    raw = bytearray(bundle.read_bytes())
    raw[-1] ^= 1
    bundle.write_bytes(raw)
    assert run("--mirror", str(folder)).exit_code == 2


@pytest.mark.whole
def test_a_copy_is_not_mixed_with_that_of_another_network(tmp_path: Path) -> None:
    folder = tmp_path / "copy"
    with served(tmp_path / "one", *UNLIMITED) as one:
        assert run("--ledger", one.url, "--copy", str(folder)).exit_code == 0
    kept = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    with served(tmp_path / "other", *UNLIMITED) as other:
        error = run("--ledger", other.url, "--copy", str(folder)).exception
        assert isinstance(error, UserFacingError)
        assert "has a copy of another network's log" in str(error)
        (tmp_path / "file").write_text("in the way")
        error = run("--ledger", other.url, "--copy", str(tmp_path / "file" / "copy")).exception
        assert isinstance(error, UserFacingError)
        assert "cannot write to" in str(error)
    assert {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == kept
    assert run("--mirror", str(folder), "--copy", str(folder)).exit_code == 2


@pytest.mark.whole
@pytest.mark.parametrize("more", [2, 70], ids=["in a partial bundle", "in a full bundle"])
def test_a_copy_is_not_continued_by_another_history_of_its_log(tmp_path: Path, more: int) -> None:
    folder = tmp_path / "copy"
    with served(tmp_path / "ledger", *UNLIMITED) as ledger:
        register_keys(ledger, "first", FIRST)
    shutil.copytree(tmp_path / "ledger", tmp_path / "fork")
    with served(tmp_path / "ledger", *UNLIMITED) as ledger:
        register_keys(ledger, "more", more)
        assert run("--ledger", ledger.url, "--copy", str(folder)).exit_code == 0
    kept = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    with served(tmp_path / "fork", *UNLIMITED) as fork:
        register_keys(fork, "other", more + 1)
        findings = tmp_path / "findings.json"
        longer = run("--ledger", fork.url, "--copy", str(folder), "--json", str(findings))
        assert longer.exit_code == 2
        assert f"mismatch: older checkpoint at entry {FIRST + more}: " in longer.output
        assert b"does not continue it" in findings.read_bytes()
    assert {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == kept
    assert run("--mirror", str(folder)).exit_code == 0
    (folder / "log" / "checkpoint").write_text("no checkpoint")
    with served(tmp_path / "ledger", *UNLIMITED) as ledger:
        error = run("--ledger", ledger.url, "--copy", str(folder)).exception
    assert isinstance(error, UserFacingError)
    assert "is damaged" in str(error)


@pytest.mark.parametrize("spoiled", ["tile", "bundle"])
def test_a_byte_that_changed_on_the_way_is_not_kept(tmp_path: Path, spoiled: str) -> None:
    log, folder = SwarmLog(Swarm(manifest=tiny_manifest(most=1), seed=1)), tmp_path / "copy"

    def copied() -> LogReport:
        with open_copy(log, folder) as copy:
            return audit_log(copy, AuditOptions(seen=copy.kept()), keep=copy.finish)

    leaves, tiles = log.leaves, log.tiles
    if spoiled == "tile":
        log.tiles = {(0, 0): [Digest(bytes(32)), *tiles[0, 0][1:]]}
    else:
        log.leaves = [*leaves[:-1], leaves[-1][:-1] + bytes([leaves[-1][-1] ^ 1])]
    assert copied().exit_code == 2
    log.leaves, log.tiles = leaves, tiles
    assert copied().findings == [], "the log is not to blame later"
    assert audit_log(MirrorFolder(folder), AuditOptions()).findings == []
    assert {path.name for path in folder.iterdir()} <= {"genesis", "log", "v1"}


def test_a_bundle_that_is_copied_in_parts_has_all_its_entries(tmp_path: Path) -> None:
    leaves = [bytes([at]) for at in range(TILE_WIDTH)]
    ledger, folder = tmp_path / "ledger", tmp_path / "copy"
    bundle = ledger / "log" / Tile(level=BUNDLE_LEVEL, index=0).path()
    bundle.parent.mkdir(parents=True)
    bundle.write_bytes(encode_bundle(leaves))
    with open_copy(MirrorFolder(ledger), folder) as copy:
        (unfinished,) = folder.iterdir()
        for first, end in ((0, 200), (200, 230), (230, 256)):  # as the log grew during the audit
            assert copy.entries(first, end) == leaves[first:end]
            assert MirrorFolder(unfinished).entries(0, end) == leaves[:end]


def test_a_mirror_whose_files_are_too_short_is_refused(tmp_path: Path) -> None:
    bundle, tile = Tile(level=BUNDLE_LEVEL, index=0), Tile(level=0, index=0)
    for one, content in ((bundle, encode_bundle([b"leaf"] * 2)), (tile, bytes(2 * DIGEST_BYTES))):
        path = tmp_path / "log" / one.path()
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    mirror = MirrorFolder(tmp_path)
    assert (mirror.entries(0, 2), len(mirror.tile(0, 0, 2))) == ([b"leaf"] * 2, 2)
    with pytest.raises(MalformedError, match="2 leaves where 3 are due"):
        mirror.entries(0, 3)
    with pytest.raises(MalformedError, match="64 bytes for 3 hashes"):
        mirror.tile(0, 0, 3)


def test_a_folder_of_the_users_that_is_named_unfinished_is_left_alone(tmp_path: Path) -> None:
    log, folder = SwarmLog(Swarm(manifest=tiny_manifest(most=1), seed=1)), tmp_path / "home"
    novel = folder / "unfinished" / "novel.txt"
    novel.parent.mkdir(parents=True)
    novel.write_text("mine")
    with open_copy(log, folder) as copy:
        assert audit_log(copy, AuditOptions(), keep=copy.finish).findings == []
    assert novel.read_text() == "mine"


def test_two_audits_may_copy_into_one_folder_at_the_same_time(tmp_path: Path) -> None:
    log, folder = SwarmLog(Swarm(manifest=tiny_manifest(most=1), seed=1)), tmp_path / "copy"
    with open_copy(log, folder) as first:

        def second_then_first(note: bytes) -> None:
            with open_copy(log, folder) as second:
                assert audit_log(second, AuditOptions(), keep=second.finish).findings == []
            first.finish(note)

        assert audit_log(first, AuditOptions(), keep=second_then_first).findings == []
    assert audit_log(MirrorFolder(folder), AuditOptions()).findings == []
    assert {path.name for path in folder.iterdir()} <= {"genesis", "log", "v1"}


@pytest.mark.parametrize("damage", ["changed", "cut off", "gone"])
def test_a_copy_that_was_damaged_while_it_was_made_is_told_and_gets_no_checkpoint(
    tmp_path: Path, damage: str
) -> None:
    log, folder = SwarmLog(Swarm(manifest=tiny_manifest(most=1), seed=1)), tmp_path / "copy"
    with open_copy(log, folder) as copy:

        def damage_and_finish(note: bytes) -> None:
            (bundle,) = folder.glob(".*/log/tile/entries/000")
            raw = bundle.read_bytes()
            bundle.write_bytes(raw[:-1] + (bytes([raw[-1] ^ 1]) if damage == "changed" else b""))
            if damage == "gone":
                bundle.unlink()
            copy.finish(note)

        report = audit_log(copy, AuditOptions(), keep=damage_and_finish)
    (found,) = report.findings
    assert (found.grade, found.what) == (AuditGrade.MISSING, "copy"), found.line()
    assert not (folder / "log" / "checkpoint").exists()
