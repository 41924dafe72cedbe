"""The walk of a first-time visitor: pages, app, points, a badge, a team, a name, and a chat.

The pictures of the steps are in `build/visit`, to be looked at with fresh eyes: make visit.
"""

from __future__ import annotations

import pytest

from tests.support import first_visit
from tests.support.browser import CHROMIUM
from tests.support.desktop_tour import PANELS, REPOSITORY, has_desktop, in_session

PICTURES = REPOSITORY / "build" / "visit"
PATIENCE_S = 600
STEPS = 35


@pytest.mark.whole
@pytest.mark.slow
@pytest.mark.skipif(
    CHROMIUM is None or not has_desktop(PANELS[0]),
    reason="needs chromium and the tools of a desktop: installer/setup.sh tools",
)
def test_a_visitor_gets_from_the_landing_page_to_a_chat_with_the_model() -> None:
    with in_session(first_visit.__name__, PICTURES) as walk:
        status = walk.wait(PATIENCE_S)
    assert status == 0, (PICTURES / "tour.log").read_text(errors="replace")[-3_500:]
    assert len(list(PICTURES.glob("*.png"))) == STEPS
    for log in PICTURES.glob("app-*.log"):
        assert "Traceback" not in log.read_text(errors="replace"), log.name
