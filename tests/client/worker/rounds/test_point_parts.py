"""Parts of a cell's points: from the options of its owner, and the work of each rank."""

from __future__ import annotations

import pytest

from tequio_client.ipc.cell import CellPlace
from tequio_client.worker.rounds.train import point_parts
from tequio_client.worker.settings import TrainerSettings, rank_owners
from tequio_shared.errors import UserFacingError
from tequio_shared.ids import peer_id_text, to_text
from tequio_shared.keys import Signer
from tequio_shared.limits import RECEIVERS, WHOLE_PARTS

ANA, BO, HOST = (Signer(bytes([at]) * 32).key for at in (1, 2, 3))
CELL = CellPlace(rank=0, size=4, device="cpu")


def test_parts_follow_the_work_of_the_ranks_and_the_rest_stays() -> None:
    assert point_parts((1, 1), {1: ANA}, HOST) == ((to_text(ANA), 500),)
    assert point_parts((1, 1, 1), {1: ANA, 2: ANA}, HOST) == ((to_text(ANA), 666),)
    found = dict(point_parts((70, 20, 10), {1: ANA, 2: BO}, HOST))
    assert found == {to_text(ANA): 200, to_text(BO): 100}
    assert list(found) == sorted(found)
    assert sum(dict(point_parts((1,) * 4, {1: ANA, 2: BO, 3: BO}, HOST)).values()) < WHOLE_PARTS


def test_nothing_is_shared_with_the_host_itself_or_for_next_to_no_work() -> None:
    assert point_parts((1, 1), {1: HOST}, HOST) == ()
    assert point_parts((2_000, 1), {1: ANA}, HOST) == (), "less than a thousandth"


def test_owners_are_named_by_peer_ids_or_keys() -> None:
    found = rank_owners([f"1={peer_id_text(ANA)}", f"03={to_text(BO)}"])
    assert found == {1: ANA, 3: BO}
    TrainerSettings(device="cpu", cell=CELL, rank_owners=found)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["1"], "expected a rank and its owner's key"),
        ([f"one={to_text(ANA)}"], "expected a rank and its owner's key"),
        (["1=ana"], "'ana' is not a key"),
        (["1=12D3KooWana"], "'12D3KooWana' is not a key"),
        ([f"1={to_text(ANA)}", f"01={to_text(BO)}"], "names rank 1 twice"),
    ],
)
def test_a_wrong_option_is_named(options: list[str], said: str) -> None:
    with pytest.raises(UserFacingError, match="--share-points") as caught:
        rank_owners(options)
    assert said in str(caught.value)


def test_ranks_have_to_be_of_the_cell_and_few_keys() -> None:
    with pytest.raises(UserFacingError, match="start one with --cell"):
        TrainerSettings(rank_owners={1: ANA})
    for rank in (0, 4):
        with pytest.raises(UserFacingError, match=f"names rank {rank}: this cell has ranks 1 to 3"):
            TrainerSettings(device="cpu", cell=CELL, rank_owners={rank: ANA})
    many = {at: Signer(bytes([at]) * 32).key for at in range(1, RECEIVERS + 2)}
    large = CellPlace(rank=0, size=16, device="cpu")
    with pytest.raises(UserFacingError, match="at most 8"):
        TrainerSettings(device="cpu", cell=large, rank_owners=many)
