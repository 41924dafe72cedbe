"""A run whose data lie on the web: no seed has the shards, and members train all the same."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import trio

from tequio_client.dataset.build import MANIFEST_NAME
from tequio_client.worker.store.store import Store
from tequio_shared.ids import digest_from_text
from tequio_shared.round.corpus import Corpus
from tests.support.data_mirror import data_mirror
from tests.support.real_network import running_network, start_with_trainers
from tests.support.small_network import CONFIG, RunFiles, begin, open_run, plan

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.real_network import RunningProgram

PATIENCE_S = 120.0
SHAPE = {"hidden_size": 32, "intermediate_size": 128, "num_attention_heads": 2}
SHAPE |= {"num_hidden_layers": 1, "num_key_value_heads": 2}


@pytest.mark.whole
@pytest.mark.trio
async def test_a_run_trains_on_data_that_only_a_mirror_has(tmp_path: Path) -> None:
    with trio.fail_after(300), data_mirror(tmp_path / "data") as mirror:
        named = plan(windows=(5, 5), train_s=4.0).replace(
            'folder = "data"', f'folder = "data"\nmirrors = ["{mirror.url}/"]'
        )
        async with running_network(tmp_path, start_with_trainers) as network:
            await begin(network, RunFiles(config={**CONFIG, **SHAPE}, plan=named))
            await open_run(network)
            asked_by_the_organiser = len(mirror.asked)
            assert asked_by_the_organiser
            await trio.to_thread.run_sync(_forget_shards, tmp_path)
            network.seed()
            members = [network.volunteer(name) for name in ("ana", "beto")]

            def have_trained() -> bool:
                return all(_rounds(one) >= 2 for one in members)

            await network.until("both have trained", have_trained, PATIENCE_S)
            assert len(mirror.asked) > asked_by_the_organiser


def _forget_shards(folder: Path) -> None:
    corpus = Corpus.parse((folder / "data" / MANIFEST_NAME).read_bytes())
    store = Store(folder / "seed" / "store", quota_bytes=1 << 40)
    for _, shard in corpus.files:
        assert store.has_tree(digest_from_text(shard.root))
        store.remove(digest_from_text(shard.root))


def _rounds(member: RunningProgram) -> int:
    return member.status.rounds_trained if member.program.status is not None else 0
