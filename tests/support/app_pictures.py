"""Writes a picture of each page in each situation: dark and light, at each scale and language.

    python -m tests.support.app_pictures build/pictures [--page home] [--scene lending]

One process for each scale, for Qt takes its scale at the start. The clock, the figures and the
typeface are fixed, so that two runs draw the same.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from PySide6.QtCore import QLocale, Qt
from PySide6.QtWidgets import QApplication

from tequio_client.app.language import Language, catalogue
from tequio_client.app.model import Model
from tequio_client.app.pages.table import PAGES
from tequio_client.app.theme import sizes
from tequio_client.app.theme.look import Choice, Look
from tequio_client.app.window import Window
from tests.support.app_language import PseudoLocale
from tests.support.app_own import own
from tests.support.app_readings import minute
from tests.support.app_scenes import NOW_MS, SCENES, no_replies, replies
from tests.support.app_worker import ScriptedWorker

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from PySide6.QtGui import QPixmap

LANGUAGES = ("en", "pseudo", "es")
SETTLES = 3
"""Turns of the event loop after which layouts have come to rest."""
FRESH = ("new", "joining")
"""Situations in which nothing was earned yet."""


class Studio:
    """An application that can be photographed in any look and language."""

    def __init__(self, app: QApplication, folder: Path) -> None:
        """Programs keep their settings in the folder."""
        self._app, self._folder = app, folder
        self.size = sizes.WINDOW
        self._look = Look(app, Choice.DARK)
        self._language = Language(app, "en")

    def dress(self, choice: Choice, language: str) -> None:
        """Look and speak like that from now on."""
        self._look.choose(choice)
        if language == "pseudo":
            self._language.speak(QLocale("en_US"), PseudoLocale())
        else:
            locale = QLocale("en_US" if language == "en" else language)
            self._language.speak(locale, catalogue(language))

    def window(self, scene: str, page: str = "home") -> Window:
        """A window in that situation, on that page."""
        worker = ScriptedWorker(no_replies() if scene in FRESH else replies())
        model = Model(worker)
        worker.setParent(model)
        window = Window(model, self._look, lambda: NOW_MS, own=own(self._folder))
        model.setParent(window)
        window.setAttribute(Qt.WidgetAttribute.WA_DontShowOnScreen)
        window.resize(*self.size)
        name, _, place = page.partition(".")
        window.open_page(name)
        for snapshot in minute(SCENES[scene]):
            worker.show(snapshot)
        if place:
            window.page.go_to(place)
        window.show()
        for _ in range(SETTLES):
            self._app.processEvents()
        return window

    def picture(self, scene: str, page: str = "home") -> QPixmap:
        """A picture of that window."""
        window = self.window(scene, page)
        taken = window.grab()
        window.close()
        window.deleteLater()
        return taken


def take(
    folder: Path,
    scale: float,
    pages: Iterable[str],
    scenes: Iterable[str],
    size: tuple[int, int] = sizes.WINDOW,
) -> None:
    """Write the pictures of one scale; a page with a dot is opened at that place."""
    app = QApplication.instance() or QApplication([])
    assert isinstance(app, QApplication)
    with TemporaryDirectory() as kept:
        studio = Studio(app, Path(kept))
        studio.size = size
        _take_all(studio, folder, scale, tuple(pages), tuple(scenes))


def _take_all(
    studio: Studio, folder: Path, scale: float, pages: Sequence[str], scenes: Sequence[str]
) -> None:
    for choice in (Choice.DARK, Choice.LIGHT):
        for language in LANGUAGES:
            studio.dress(choice, language)
            for page in pages:
                for scene in scenes:
                    name = f"{page}-{scene}-{choice}-{language}-{scale:g}x.png"
                    studio.picture(scene, page).save(str(folder / name))


def main(arguments: Sequence[str] | None = None) -> int:
    """Take pictures as the command line says."""
    parser = argparse.ArgumentParser(description="Write pictures of the app's pages")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--page", action="append", help="home, settings.network …")
    parser.add_argument("--scene", action="append", choices=list(SCENES))
    parser.add_argument("--scale", type=float, action="append")
    parser.add_argument("--size", default="x".join(map(str, sizes.WINDOW)))
    chosen = parser.parse_args(arguments)
    chosen.folder.mkdir(parents=True, exist_ok=True)
    pages = chosen.page or [entry.name for entry in PAGES]
    scenes, scales = chosen.scene or ["lending"], chosen.scale or [1.0, 2.0]
    width, _, height = chosen.size.partition("x")
    if len(scales) == 1:
        os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
        os.environ["QT_SCALE_FACTOR"] = f"{scales[0]:g}"
        take(chosen.folder, scales[0], pages, scenes, (int(width), int(height)))
        return 0
    for scale in scales:
        command = [sys.executable, "-m", "tests.support.app_pictures", str(chosen.folder)]
        command += [part for page in pages for part in ("--page", page)]
        command += [part for scene in scenes for part in ("--scene", scene)]
        command += ["--size", chosen.size]
        subprocess.run([*command, "--scale", f"{scale:g}"], check=True)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
