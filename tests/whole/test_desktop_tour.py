"""The app as a new user meets it: first run, Contribute, a verified round, Pause; two panels.

Both users come at the same time, each with a desktop of their own, and join one network.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import pytest

from tests.support.desktop_tour import PANELS, network

if TYPE_CHECKING:
    from collections.abc import Iterator

TOOLS = ("Xvfb", "openbox", "xdotool", "import", "dbus-run-session")
REPOSITORY = Path(__file__).parents[2]
PICTURES = REPOSITORY / "build" / "tour"
PATIENCE_S = 600
STEPS = 20


def has_all(panel: str) -> bool:
    """True if this computer has the programs of that desktop."""
    return all(shutil.which(tool) for tool in (*TOOLS, panel))


@pytest.fixture(scope="module")
def tours(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, subprocess.Popen[bytes]]]:
    """All of them under way, by panel, in one network."""
    with ExitStack() as stack:
        panels = [panel for panel in PANELS if has_all(panel)]
        if not panels:
            pytest.skip("the tools of the desktop are not here: installer/setup.sh tools")
        ledger = stack.enter_context(network(tmp_path_factory.mktemp("tour")))
        yield {panel: stack.enter_context(on_tour(panel, ledger)) for panel in panels}


@contextmanager
def on_tour(panel: str, ledger: str) -> Iterator[subprocess.Popen[bytes]]:
    """Begin a tour; it is over when the block is."""
    out = PICTURES / panel
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True)
    command = ["dbus-run-session", "--", sys.executable, "-m", "tests.support.desktop_tour"]
    where = ["--panel", panel, "--out", str(out), "--ledger", ledger]
    with (
        TemporaryDirectory(prefix="tequio-run-") as runtime,  # the accessibility bus is in there
        (out / "tour.log").open("wb") as said,
        subprocess.Popen(
            [*command, *where],
            stdout=said,
            stderr=said,
            cwd=REPOSITORY,
            env={**os.environ, "XDG_RUNTIME_DIR": runtime},
            start_new_session=True,
        ) as process,
    ):
        try:
            yield process
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGTERM)


@pytest.mark.whole
@pytest.mark.parametrize("panel", PANELS)
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
