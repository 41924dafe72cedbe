"""A frozen base comes from peers by hash, is hashed again in every life, and needs room first.

New limits reach a trainer at work.
"""

from __future__ import annotations

import random
import shutil
from collections import namedtuple
from typing import TYPE_CHECKING, cast

import msgspec
import pytest

from tequio_client.worker.lending.lending import LendingLimits
from tequio_client.worker.rounds.workdir import BaseFiles, TrainerWorkdir
from tequio_client.worker.store.store import Store, StorePins
from tequio_client.worker.store.trees import TreeRef, hash_bytes
from tequio_shared.errors import UserFacingError
from tequio_shared.head.layout import BaseFile
from tequio_shared.ids import to_text
from tequio_shared.limits import PIECE_BYTES
from tests.client.worker.children.test_trainer import READY, prepare, rest, running
from tests.shared.head.test_layout_lora import BASE
from tests.support.transfer_peers import paired

if TYPE_CHECKING:
    from pathlib import Path

    from tequio_client.worker.children.trainer import TrainerProcess
    from tequio_client.worker.swarm.transfer import Exchange
    from tequio_shared.head.layout import FrozenBase


pytestmark = pytest.mark.trio
CONTENTS = tuple(random.Random(at).randbytes(size) for at, size in enumerate((2_500_000, 70_000)))


def small_base() -> FrozenBase:
    names = ("model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors")
    files = tuple(
        BaseFile(
            name=name,
            size_bytes=len(content),
            root=to_text(hash_bytes(content, PIECE_BYTES).ref.root),
        )
        for name, content in zip(names, CONTENTS, strict=True)
    )
    return msgspec.structs.replace(BASE, files=files)


async def test_it_is_fetched_once_and_stays(tmp_path: Path) -> None:
    async with paired(tmp_path) as pair:
        for content in CONTENTS:
            pair.theirs.put_tree(content, PIECE_BYTES)
        files = BaseFiles(small_base(), StorePins(pair.ours), pair.exchange)
        paths = await files.paths()
        assert tuple(path.read_bytes() for path in paths) == CONTENTS
        pair.ours.set_quota(0)
        assert await files.paths() == paths, "nothing else may take its room"
        assert all(path.is_file() for path in paths)


async def test_of_a_file_that_changed_on_the_disk_only_the_changed_pieces_come_again(
    tmp_path: Path,
) -> None:
    async with paired(tmp_path) as pair:
        for content in CONTENTS:
            pair.theirs.put_tree(content, PIECE_BYTES)
        paths = await BaseFiles(small_base(), StorePins(pair.ours), pair.exchange).paths()
        before = pair.exchange.received.total()
        damaged = bytearray(CONTENTS[0])
        damaged[PIECE_BYTES + 5] ^= 1
        paths[0].chmod(0o600)
        paths[0].write_bytes(damaged)
        again = await BaseFiles(small_base(), StorePins(pair.ours), pair.exchange).paths()
        assert tuple(path.read_bytes() for path in again) == CONTENTS
        assert pair.exchange.received.total() == before + PIECE_BYTES


async def test_nothing_is_fetched_when_too_little_is_lent(tmp_path: Path) -> None:
    async with paired(tmp_path) as pair:
        pair.ours.set_quota(2_000_000)
        files = BaseFiles(small_base(), StorePins(pair.ours), pair.exchange)
        with pytest.raises(UserFacingError, match="raise the storage limit"):
            await files.paths()
        file = small_base().files[0]
        ref = TreeRef.of_file(file.root, file.size_bytes)
        assert pair.ours.missing_bytes(ref) == 2_500_000


async def test_nothing_is_fetched_when_the_disk_is_full(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    usage = namedtuple("usage", "total used free")  # noqa: PYI024 - as shutil has it
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage(10**9, 10**9, 1_000_000))
    async with paired(tmp_path) as pair:
        with pytest.raises(UserFacingError, match="GB free: free some space"):
            await BaseFiles(small_base(), StorePins(pair.ours), pair.exchange).paths()


async def test_a_run_without_a_base_has_no_files(tmp_path: Path) -> None:
    async with paired(tmp_path) as pair:
        pair.ours.set_quota(0)
        assert await BaseFiles(None, StorePins(pair.ours), pair.exchange).paths() == ()


async def test_folders_in_the_place_of_old_working_files_stay(tmp_path: Path) -> None:
    made, written = ("delta-1", "delta-1.part"), ("head-1", "delta-9", "delta-²")
    for name in made:
        (tmp_path / name).mkdir()
    for name in written:
        (tmp_path / name).touch()
    workdir_of(tmp_path, cast("TrainerProcess", None)).delete_old(9)
    left = [name for name in (*made, *written) if (tmp_path / name).exists()]
    assert left == [*made, *written[1:]]


async def test_old_working_files_go_also_an_audits_but_one_in_use_stays(tmp_path: Path) -> None:
    names = ("delta-1", "head-6", "audit-7-before-1", "audit-7-after-1.new", "audit-1-after-9")
    for name in names:
        (tmp_path / name).touch()
    workdir = workdir_of(tmp_path, cast("TrainerProcess", None))
    with (tmp_path / "delta-1").open("rb"):
        workdir.delete_old(9)
        assert {name for name in names if (tmp_path / name).exists()} == {"delta-1", names[-1]}
    workdir.delete_old(9)
    assert [name for name in names if (tmp_path / name).exists()] == [names[-1]]


def workdir_of(folder: Path, trainer: TrainerProcess) -> TrainerWorkdir:
    return TrainerWorkdir(
        trainer=trainer,
        prepare=prepare(1),
        folder=folder,
        pins=StorePins(Store(folder / "store", quota_bytes=0)),
        exchange=cast("Exchange", None),
        frozen=None,
    )


async def test_limits_are_in_force_before_the_trainer_answers(tmp_path: Path) -> None:
    script = (
        READY
        + """
for command in commands:
    if command["type"] == "rest": rest(command["command"])
    elif command["share_percent"] == 100: ready(command["command"])
    else: pathlib.Path(sys.argv[1]).with_name("share").write_text(str(command["share_percent"]))
"""
    )
    async with running(tmp_path, script) as trainer:
        workdir = workdir_of(tmp_path, trainer)
        await workdir.prepare_trainer()
        for share in (80, 30):
            workdir.apply_limits(
                LendingLimits(device="cpu", threads=1, memory_mb=0, share_percent=share)
            )
        await rest(trainer)
    assert (tmp_path / "share").read_text() == "30"
