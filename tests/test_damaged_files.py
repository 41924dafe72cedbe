"""Small files of JSON that a disk or a hand has damaged: each reader starts afresh or says so."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tequio_client import control_socket
from tequio_client.dataset.state import UnfinishedBuild
from tequio_client.ipc import releases
from tequio_client.platform import bundle, versions
from tequio_client.plugins.consents import PluginConsents
from tequio_client.releases import mirror
from tequio_client.trainer.batch import FittedBatches
from tequio_client.trainer.private import accountant
from tequio_client.worker.cells.computer import CellFile
from tequio_client.worker.children import runtime_trial
from tequio_client.worker.ledger import last_checkpoint
from tequio_client.worker.lending.meters import EnergyMeter, MonthCounter
from tequio_client.worker.points import forecast
from tequio_client.worker.rounds import omissions
from tequio_client.worker.rounds.omissions import OmissionFile
from tequio_client.worker.rounds.workdir import HEADS_FILE, RecordedHeads
from tequio_ledger.admin import backup
from tequio_ledger.log import guard
from tequio_shared.errors import MalformedError, TequioError, UserFacingError
from tequio_shared.ids import RunId, to_text

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

RUN = RunId(bytes(32))
EVIDENCE = f"{omissions.FOLDER}/{to_text(RUN)}.json"
FRESH = runtime_trial.TrialState()
HEADS = HEADS_FILE.format(run=RUN.hex()[:16])
READERS: dict[str, tuple[str, bytes, Callable[[Path], object], object]] = {
    "the app's version": (
        "tequio/app/state.json",
        b'{"current":"\xff"}',
        lambda _: versions.state().current,
        "",
    ),
    "a new runtime's trial": (
        "tequio/runtime/trial.json",
        b'{"version":"\xff"}',
        lambda _: runtime_trial.state(),
        FRESH,
    ),
    "batch sizes": ("sizes.json", b'{"\xff":{}}', lambda path: FittedBatches(path).find("x"), None),
    "energy": (
        "energy.json",
        b'{"day":"\xff"}',
        lambda path: EnergyMeter(path.parent).counts.total_j,
        0,
    ),
    "traffic": (
        "traffic.json",
        b'{"last":"\xff"}',
        lambda path: MonthCounter(path.parent).in_month("2026-11"),
        0,
    ),
    "speeds": (
        forecast.SPEEDS_FILE,
        b'{"\xff":1}',
        lambda path: forecast.read_speeds(path.parent),
        {},
    ),
    "heads": (HEADS, b'{"run":"\xff"}', lambda path: RecordedHeads(path.parent, RUN).heads, ()),
    "plug-ins": (
        "plugins.json",
        b'{"allowed":[{"archive":"\xff"}]}',
        lambda path: PluginConsents(path.parent).allowed,
        (),
    ),
    "evidence": (
        EVIDENCE,
        b'[{"answer":"\xff"}]',
        lambda path: OmissionFile(path.parent.parent, RUN).append([]),
        None,
    ),
    "checkpoint": (
        "log.json",
        b'{"origin":"\xff"}',
        last_checkpoint.load_checkpoint,
        UserFacingError,
    ),
    "spent": (
        "spent.json",
        b'{"\xff":1}',
        lambda path: accountant.read_record(path.parent),
        UserFacingError,
    ),
    "cells": (
        "cell.json",
        b'{"seed":"\xff"}',
        lambda path: CellFile.load(path.parent),
        UserFacingError,
    ),
    "build": (
        "unfinished/state.json",
        b'{"asked":{"\xff":"x"}}',
        lambda path: build(path.parent.parent),
        UserFacingError,
    ),
    "port": (
        "control.json",
        b'{"token":"\xff"}',
        lambda path: control_socket.connect(path.parent),
        UserFacingError,
    ),
    "mirrors": ("mirrors.json", b'["\xff"]', lambda _: mirror.read_trust(), mirror.NoReleasesError),
    "bundle": (
        "b.json",
        b'{"version":"\xff"}',
        lambda path: bundle.decode_bundle(path.read_bytes()),
        MalformedError,
    ),
    "release": (
        "event",
        b'{"type":"failed","reason":"\xff"}',
        lambda path: releases.decode(path.read_bytes()),
        MalformedError,
    ),
    "mark": ("mark", b'{"\xff":1}', guard.read_mark, UserFacingError),
    "backup": (backup.NAME, b'{"\xff":1}', lambda path: backup.read(path.parent), UserFacingError),
}
"""A file, text with a byte that is not UTF-8, the reader, and what that returns or raises."""


def build(out: Path) -> object:
    (out / "unfinished" / "source.json").write_bytes(b"[]")
    return UnfinishedBuild(out).open({}, ())


@pytest.mark.parametrize("name", READERS)
def test_a_file_with_a_damaged_byte_counts_as_none_or_is_named(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    monkeypatch.setenv(versions.TRUST_VARIABLE, str(tmp_path))
    (tmp_path / "root.json").write_bytes(b"{}")
    file, content, read, due = READERS[name]
    path = tmp_path / file
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    if isinstance(due, type) and issubclass(due, TequioError):
        with pytest.raises(due):
            read(path)
    else:
        assert read(path) == due
