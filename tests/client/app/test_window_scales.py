"""On a screen of any scale every text has its room, and every page is as sharp as the screen."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

PROGRAM = """
import sys
from pathlib import Path
from PySide6.QtWidgets import QApplication
from tequio_client.app.pages import PAGES
from tequio_client.app.theme.look import Appearance
from tests.support.app_pictures import PLACES, PictureRenderer
from tests.support.window_contents import is_cut, labels

scale, folder = float(sys.argv[1]), Path(sys.argv[2])
renderer = PictureRenderer(QApplication([]), folder)
renderer.set_appearance(Appearance.DARK, "pseudo")
seen = 0
for page in (*(entry.name for entry in PAGES), *PLACES):
    window = renderer.window("lending", page)
    for label in labels(window):
        seen += 1
        if is_cut(label):
            print(f"{page}: {label.text()} is cut")
    taken = window.grab()
    if taken.devicePixelRatio() != scale or taken.width() != round(window.width() * scale):
        print(f"{page}: drawn at {taken.devicePixelRatio()}")
    window.close()
    window.deleteLater()
print("all seen" if seen > 300 else f"only {seen} texts")
"""
"""Qt takes its scale at the start: each scale needs a process of its own."""
PATIENCE_S = 180


@pytest.mark.parametrize("scale", ["1.5", "2"])
def test_every_page_has_room_at_every_scale(scale: str, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, scale, str(tmp_path)],
        capture_output=True,
        check=False,
        text=True,
        timeout=PATIENCE_S,
        env={**os.environ, "QT_QPA_PLATFORM": "offscreen", "QT_SCALE_FACTOR": scale},
    )
    assert (done.returncode, done.stdout) == (0, "all seen\n"), done.stderr
