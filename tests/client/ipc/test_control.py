"""The first message of a controller."""

from __future__ import annotations

import pytest

from tequio_client.ipc import control
from tequio_shared.errors import MalformedError
from tequio_shared.ids import to_text

SEED = to_text(bytes(range(200, 232)))


def test_a_seed_in_its_one_spelling_is_taken() -> None:
    hello = control.ControllerHello(who="app", build="1", seed=SEED)
    assert control.decode_to_worker(control.encode(hello)) == hello


@pytest.mark.parametrize("seed", [f"{SEED[:-1]}1", f"/{SEED[1:]}", SEED[:-1], f"{SEED}A"])
def test_what_is_no_seed_is_refused_and_not_said(seed: str) -> None:
    """The refusal goes into the worker's log."""
    with pytest.raises(MalformedError) as refusal:
        control.decode_to_worker(
            control.encode(control.ControllerHello(who="app", build="1", seed=seed))
        )
    assert seed[2:40] not in str(refusal.value)
