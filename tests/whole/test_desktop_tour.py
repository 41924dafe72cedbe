"""The app as a new user meets it: first run, Contribute, a verified round, Pause.

`make tour` has two users, with a panel of each kind: they come at the same time, each with a
desktop of their own, and join one network: a demo that is kept running, and ended by Ctrl-C.
"""

from __future__ import annotations

import os
from contextlib import ExitStack
from typing import TYPE_CHECKING, TypeGuard

import pytest

from tests.package.conftest import EVERYTHING_VARIABLE
from tests.support import desktop_tour
from tests.support.desktop_tour import PANELS, REPOSITORY, has_desktop, in_session, network

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Iterator

PICTURES = REPOSITORY / "build" / "tour"
PATIENCE_S = 600
STEPS = 20


@pytest.fixture(scope="module")
def tours(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[dict[str, subprocess.Popen[bytes]]]:
    """All of the chosen ones under way, by panel, in one network."""
    with ExitStack() as stack:
        chosen = {one.callspec.params["panel"] for one in request.session.items if _is_tour(one)}
        panels = [panel for panel in PANELS if panel in chosen and has_desktop(panel)]
        if not panels:
            assert not os.environ.get(EVERYTHING_VARIABLE), "the tools of the desktop are missing"
            pytest.skip("the tools of the desktop are not here: installer/setup.sh tools")
        ledger = stack.enter_context(network(tmp_path_factory.mktemp("tour")))
        yield {
            panel: stack.enter_context(
                in_session(
                    desktop_tour.__name__, PICTURES / panel, "--panel", panel, "--ledger", ledger
                )
            )
            for panel in panels
        }


def _is_tour(item: pytest.Item) -> TypeGuard[pytest.Function]:
    return isinstance(item, pytest.Function) and item.module.__name__ == __name__


@pytest.mark.whole
@pytest.mark.parametrize("panel", [PANELS[0], pytest.param(PANELS[1], marks=pytest.mark.slow)])
def test_a_new_user_gets_to_a_verified_round_and_pauses(
    panel: str, tours: dict[str, subprocess.Popen[bytes]]
) -> None:
    if panel not in tours:
        pytest.skip(f"{panel} is not here: installer/setup.sh tools")
    status = tours[panel].wait(PATIENCE_S)
    out = PICTURES / panel
    assert status == 0, (out / "tour.log").read_text(errors="replace")[-3_500:]
    assert len(list(out.glob("*.png"))) == STEPS
    assert "Traceback" not in (out / "app.log").read_text(errors="replace")
