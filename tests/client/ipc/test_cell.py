"""Places in a cell: what a command line or a cluster's variables make of them, and what fits."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace

from tequio_client.ipc.cell import (
    CellPlace,
    RankHello,
    decode_place,
    local_place,
    place_from_variables,
    why_not_together,
)
from tequio_shared.errors import UserFacingError

if TYPE_CHECKING:
    from collections.abc import Sequence

TORCHRUN = {
    "RANK": "3",
    "WORLD_SIZE": "4",
    "LOCAL_RANK": "1",
    "MASTER_ADDR": "node1",
    "MASTER_PORT": "29500",
    "TORCHELASTIC_USE_AGENT_STORE": "True",
}
SLURM = {
    "SLURM_PROCID": "0",
    "SLURM_NTASKS": "2",
    "SLURM_LOCALID": "0",
    "MASTER_ADDR": "node1",
    "MASTER_PORT": "29500",
}


def hello(rank: int, **changes: object) -> RankHello:
    one = RankHello(
        rank=rank, size=2, device="cuda:0", host=f"node{rank}", card=f"GPU-{rank}", torch="2.13.0"
    )
    return replace(one, **changes)


@pytest.mark.parametrize(
    ("devices", "why"),
    [
        (["cuda:0"], "not 1"),
        (["cuda:0", "cuda:1", "cuda:0"], "cuda:0 twice"),
        (["cuda:0", "cpu"], "of one kind, not cpu, cuda"),
        (["auto", "auto"], "name the devices"),
    ],
)
def test_devices_that_make_no_cell_are_named(devices: Sequence[str], why: str) -> None:
    with pytest.raises(UserFacingError, match=why):
        local_place(devices)


def test_a_place_survives_the_way_to_its_process() -> None:
    place = local_place(["cpu", "cpu"])
    assert decode_place(place.encode()) == place
    assert place.is_local
    with pytest.raises(UserFacingError, match="TEQUIO_CELL"):
        decode_place("{")


def test_the_variables_of_torchrun_give_a_place() -> None:
    assert place_from_variables(TORCHRUN, "auto") == CellPlace(
        rank=3, size=4, device="cuda:1", address="node1", port=29_500, has_agent_store=True
    )
    assert place_from_variables(TORCHRUN, "cpu").device == "cpu"


def test_the_variables_of_slurm_give_a_place() -> None:
    place = place_from_variables(SLURM, "auto")
    assert (place.rank, place.size, place.device) == (0, 2, "cuda:0")
    assert not place.has_agent_store


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"RANK": ""}, "RANK is missing"),
        ({"RANK": "4"}, "RANK 4 and WORLD_SIZE 4"),
        ({"RANK": "0", "WORLD_SIZE": "1"}, "2 or more"),
        ({"WORLD_SIZE": "many"}, "WORLD_SIZE is 'many'"),
        ({"MASTER_ADDR": ""}, "MASTER_ADDR is missing"),
        ({"MASTER_PORT": "0"}, "MASTER_PORT is '0': expected a number from 1"),
    ],
)
def test_variables_that_make_no_cell_are_named(changes: dict[str, str], why: str) -> None:
    with pytest.raises(UserFacingError, match=why):
        place_from_variables({**TORCHRUN, **changes}, "auto")


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({}, ""),
        ({"size": 4}, r"rank 1 \(cuda:0 of node1\) was started for a cell of 4 ranks"),
        ({"card": "GPU-0"}, "rank 0 .* and rank 1 .* are on the same card"),
        ({"division": "shard"}, ".* do not agree on --shard"),
        ({"division": "pipeline"}, ".* do not agree on --shard, --pipeline and --tensor: give all"),
        ({"division": "tensor"}, ".* do not agree on --shard, --pipeline and --tensor: give all"),
        ({"torch": "2.12.0"}, ".*torch 2.12.0"),
        ({"device": "cpu", "card": ""}, ".* different kinds of devices"),
    ],
)
def test_ranks_that_do_not_fit_are_named(changes: dict[str, object], why: str) -> None:
    found = why_not_together([hello(0), hello(1, **changes)])
    assert re.match(why, found) if why else not found
