"""A run of adapters by real programs: base by libp2p, two rounds, equal heads, exports that fit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest
import trio

from tequio_client.ledger.api import LedgerApi
from tequio_client.worker.store.store import Store
from tequio_shared.ids import digest_from_text
from tequio_shared.round.manifest import Manifest
from tequio_shared.statements.runs import HeadMeasure, RoundClose, RoundVoid
from tests.support.frozen_base import write_base
from tests.support.history import LogHistory
from tests.support.real_network import running_network, start_with_trainers
from tests.support.small_network import RunFiles, found

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.real_network import RealNetwork


WHOLE_S = 180.0
PLAN = """
name = "pairs"
[model]
source = "base"
lora.rank = 4
lora.targets = ["down_proj", "q_proj", "v_proj"]
[data]
folder = "data"
[inner]
optimiser = "adamw"
steps = 10
lr = 0.01
adam_lr = 0.01
[windows]
first = 40
most = 80
[audit]
newcomers = 0
others = 0
[rounds]
min_members = 2
most_members = 2
warmup_s = 0.5
train_s = 4.0
train_limit_s = 30.0
witness_s = 30.0
grace_s = 0.5
attest_s = 30.0
cooldown_s = 30.0
most = 2
[measure]
every = 1
members = 1
tokens = 2000
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class FinishedRun:
    """A run that is over, with the ledger and the seed still there."""

    stage: RealNetwork
    manifest: Manifest
    history: LogHistory


@pytest.mark.whole
@pytest.mark.trio
@pytest.mark.parametrize(
    ("fields", "bits"),
    [({}, 16), ({"model_type": "qwen3", "architectures": ["Qwen3ForCausalLM"]}, 4)],
    ids=["llama", "qwen3 in 4 bits"],
)
async def test_adapters_are_trained_beside_a_base_that_peers_give_each_other(
    tmp_path: Path, fields: dict[str, Any], bits: int
) -> None:
    write_base(tmp_path / "base", intermediate_size=4608, **fields)
    plan = PLAN.replace("lora.rank = 4", f"lora.rank = 4\nlora.bits = {bits}")
    with trio.fail_after(WHOLE_S):
        async with (
            running_network(tmp_path, start_with_trainers) as stage,
            LedgerApi(stage.url) as api,
        ):
            await found(stage, RunFiles(config={}, plan=plan))
            played = await _play(stage, api)
            _check_rounds(played)
            await trio.to_thread.run_sync(_check_base, played)
            await _check_exports(stage)


async def _play(stage: RealNetwork, api: LedgerApi) -> FinishedRun:
    stage.seed("--heads-every", "1")
    volunteers = [stage.volunteer(name) for name in ("ana", "beto")]
    for one in volunteers:
        one.may_end = True
    for one in volunteers:
        assert await one.wait_ended(WHOLE_S) == 0
    assert len({one.status.head for one in volunteers}) == 1
    assert {one.status.head_round for one in volunteers} == {2}
    history = LogHistory(api)
    await history.read()
    (run,) = await api.runs()
    raw = await api.get_blob(digest_from_text(run.run))
    assert raw is not None
    return FinishedRun(stage=stage, manifest=Manifest.parse(raw), history=history)


def _check_rounds(played: FinishedRun) -> None:
    history = played.history
    assert history.rounds(RoundClose) == [1, 2]
    assert not history.rounds(RoundVoid)
    assert all(len(heads) == 1 for heads in history.heads().values())
    closed = [body for _, body in history.all_of(RoundClose)]
    assert [body.accepted for body in closed] == [2, 2]
    said = {one.round: body.millibits for one, body in history.all_of(HeadMeasure)}
    assert said[2] < 0.9 * said[1], "it learns"


async def _check_exports(stage: RealNetwork) -> None:
    """The merged model from the seed's store is base and last head, to the last bit."""
    whole, store = str(stage.folder / "whole"), str(stage.folder / "seed" / "store")
    where = ("--ledger", stage.url, "--store", store)
    make = ("checkpoint", "export", "--run", "pairs", "--to", whole, "--merged")
    await stage.command("merge", *make, *where)
    said = await stage.command("verify", "checkpoint", "verify", whole, *where)
    assert said.startswith("verified")
    assert "merged into the frozen base" in said


def _check_base(played: FinishedRun) -> None:
    """In every store the base is the file that the organiser had, bit for bit."""
    base, folder = played.manifest.frozen, played.stage.folder
    assert base is not None
    (file,) = base.files
    assert file.size_bytes > 2 << 20, "more pieces than one"
    due = (folder / "base" / file.name).read_bytes()
    for name in ("ana", "beto", "seed"):
        store = Store(folder / name / "store", quota_bytes=1 << 40)
        root = digest_from_text(file.root)
        assert store.verify_tree(root)
        assert store.tree_path(root).read_bytes() == due
