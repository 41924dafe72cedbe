"""A plain worker lends whatever is known of the machine; only what was wished by hand stops it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import trio

from tequio_client.ledger_api import LedgerApi
from tequio_client.link.decision import Reason, State
from tequio_client.link.wish import Wish
from tequio_client.worker.host import Host
from tequio_client.worker.settings import NetSettings, WorkerSettings
from tequio_shared.keys import Signer

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.trio
NOWHERE = "http://127.0.0.1:9"


async def host(folder: Path, **settings: bool) -> Host:
    net = NetSettings(ledger=NOWHERE, folder=folder)
    await trio.Path(folder).mkdir(exist_ok=True)
    return Host(WorkerSettings(net=net, **settings), Signer(bytes(32)), LedgerApi(NOWHERE))  # type: ignore[arg-type]  # flags by name


async def test_a_plain_worker_lends_before_and_after_its_trainer_died(tmp_path: Path) -> None:
    plain = await host(tmp_path / "worker")
    plain.lending.need_mb = 10**6  # as in a run of a large model, known once it was joined
    plain.lending.look()
    assert plain.lending.decision.state is State.LENDING
    assert plain.lending.decision.share_percent == 100


async def test_a_plain_worker_pauses_by_hand_and_remembers_it(tmp_path: Path) -> None:
    plain = await host(tmp_path / "worker")
    plain.want(Wish(number=1, lend=False))
    assert plain.lending.decision.reason is Reason.BY_HAND
    again = await host(tmp_path / "worker")
    again.lending.look()
    assert again.lending.decision.reason is Reason.BY_HAND
    again.want(Wish(number=2, lend=True))
    assert again.lending.decision.may_compute


async def test_a_minded_worker_lends_nothing_before_consent(tmp_path: Path) -> None:
    minded = await host(tmp_path / "worker", is_minded=True)
    minded.want(Wish(number=1, lend=True))
    assert minded.lending.decision.reason is Reason.NO_CONSENT


async def test_a_snapshot_can_be_had_before_anything_happened(tmp_path: Path) -> None:
    shown = (await host(tmp_path / "worker", is_minded=True, is_linked=True)).snapshot()
    assert shown.status is None
    assert shown.trainers[0].state == "off"
    assert not shown.ledger.is_reached
