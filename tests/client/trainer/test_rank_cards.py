"""The names by which a cell knows that two of its ranks are on one card."""

from __future__ import annotations

import uuid
from types import SimpleNamespace
from typing import TYPE_CHECKING, cast

import pytest

from tequio_client.ipc.cell import CellPlace
from tequio_client.trainer.ranks import CellStore

if TYPE_CHECKING:
    from torch.distributed import TCPStore  # type: ignore[attr-defined]  # public

    from tequio_client.trainer.device import ComputeDevice


def card(
    monkeypatch: pytest.MonkeyPatch, kind: str, *, own: uuid.UUID, boot: float = 1.0, at: int = 0
) -> str:
    """The name of a card of that kind, with a number of its own, in a computer since `boot`."""
    properties = SimpleNamespace(uuid=own)
    monkeypatch.setattr("torch.cuda.get_device_properties", lambda _: properties)
    monkeypatch.setattr("psutil.boot_time", lambda: boot)
    monkeypatch.setattr("platform.node", lambda: "MacBook-Pro.local")
    store = CellStore(CellPlace(rank=0, size=2, device=kind), cast("TCPStore", None), "1")
    label = kind if kind == "cpu" else f"{kind}:{at}"
    chosen = SimpleNamespace(handle=SimpleNamespace(type=kind), label=label)
    return store.hello(cast("ComputeDevice", chosen)).card


def test_a_card_with_a_number_of_its_own_is_the_same_in_every_container(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    one, two = uuid.UUID(int=2**99 + 1), uuid.UUID(int=2**99 + 2)
    first = card(monkeypatch, "cuda", own=one)
    assert card(monkeypatch, "cuda", own=one, boot=9.0, at=1) == first
    assert card(monkeypatch, "cuda", own=two) != first


@pytest.mark.parametrize("kind", ["cuda", "mps", "xpu"])
@pytest.mark.parametrize("own", [uuid.UUID(int=0), uuid.UUID(bytes=b"0" * 16)])
def test_cards_without_one_differ_by_computer_and_place(
    monkeypatch: pytest.MonkeyPatch, kind: str, own: uuid.UUID
) -> None:
    first = card(monkeypatch, kind, own=own)
    assert card(monkeypatch, kind, own=own) == first
    assert card(monkeypatch, kind, own=own, boot=9.0) != first
    assert card(monkeypatch, kind, own=own, at=1) != first


def test_processors_may_be_shared(monkeypatch: pytest.MonkeyPatch) -> None:
    assert card(monkeypatch, "cpu", own=uuid.UUID(int=0)) == ""
