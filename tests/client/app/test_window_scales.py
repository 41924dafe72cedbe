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
LOW_SCREEN = """
import gc
import sys
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication
from tequio_client.app.language import Language
from tequio_client.app.theme.look import Appearance, Theme
from tests.support.app_dialogs import DIALOGS
from tests.support.app_language import speak
from tests.support.first_run_pictures import first_run_setup

gc.disable()  # as in the tests: a window must not be collected while events are handled
app = QApplication([])
look = Theme(app, Appearance.DARK)
speak(Language(app, "en"), "pseudo")
high = app.primaryScreen().availableGeometry().height()
for name, make in DIALOGS.items():
    with first_run_setup(app, look) as made:
        shown = make(made)
        shown.dialog.setAttribute(Qt.WidgetAttribute.WA_DontShowOnScreen)
        shown.dialog.show()
        made.until(lambda: True)
        if shown.dialog.height() > high - 40:
            print(f"{name}: {shown.dialog.height()} of {high} lines")
        made.desk.close()
        shown.dialog.close()
print("a low screen" if 500 < high < 560 else f"{high} lines")
"""
"""The offscreen platform's screen has 800 lines: at a scale of 1.5 it is as low as 1080 at 2."""
PATIENCE_S = 180


@pytest.mark.parametrize("scale", ["1.5", "2"])
def test_every_page_has_room_at_every_scale(scale: str, tmp_path: Path) -> None:
    assert printed(scale, PROGRAM, scale, str(tmp_path)) == "all seen\n"


def test_every_dialog_has_its_buttons_on_a_low_screen() -> None:
    assert printed("1.5", LOW_SCREEN) == "a low screen\n"


def printed(scale: str, program: str, *arguments: str) -> str:
    """Return the output of the program, in a process of that scale."""
    done = subprocess.run(
        [sys.executable, "-c", program, *arguments],
        capture_output=True,
        check=False,
        text=True,
        timeout=PATIENCE_S,
        env={**os.environ, "QT_QPA_PLATFORM": "offscreen", "QT_SCALE_FACTOR": scale},
    )
    assert done.returncode == 0, done.stderr
    return done.stdout
