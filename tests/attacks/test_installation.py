"""Ports that a default installation opens to its neighbours. Layer: cli."""

from __future__ import annotations

from typing import TYPE_CHECKING

import psutil

from tests.support.attack_table import attack
from tests.support.attackers_lan import started, wait_for_doors
from tests.support.ledgers import served

if TYPE_CHECKING:
    from pathlib import Path


@attack("P14", layer="cli", ends="one port, for peers; the ledger listens on this machine only")
def test_programs_open_the_doors_they_need_and_no_other(tmp_path: Path) -> None:
    with served(tmp_path / "ledger") as ledger:
        own = wait_for_doors(psutil.Process(ledger.process.pid))
        assert {address for address, _ in own} == {"127.0.0.1"}
        assert len(own) == 1
        with started("seed", tmp_path / "seed", ledger.url) as seed:
            doors = wait_for_doors(seed)
            assert {address for address, _ in doors} <= {"0.0.0.0", "::"}  # noqa: S104 - compared
            assert len({port for _, port in doors}) == 1
