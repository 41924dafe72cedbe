"""Writes a picture of each page in each situation: dark and light, at each scale and language.

    python -m tests.support.app_pictures build/pictures [--page home] [--scene lending]
                                                        [--look dark] [--language es] [--scale 2]
    python -m tests.support.app_pictures docs/pictures --readme

Without `--page` it draws all pages, their places, the first run and every dialog.

Each scale has its own process, since Qt reads its scale at the start. The clock, the figures and
the typeface are fixed, so that two runs draw the same. `--readme` draws only what the README shows.
"""

from __future__ import annotations

import argparse
import gc
import os
import subprocess
import sys
from functools import partial
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, NamedTuple

from msgspec.structs import replace
from PySide6.QtCore import QEvent, Qt
from PySide6.QtWidgets import QApplication

from tequio_client.app.language import Language
from tequio_client.app.model import AppModel
from tequio_client.app.pages import PAGES
from tequio_client.app.run_model.page import ModelPage
from tequio_client.app.theme import style
from tequio_client.app.theme.look import Appearance, Theme
from tequio_client.app.window import AppWindow
from tests.support import first_run_pictures
from tests.support.app_competitions import DECIDED
from tests.support.app_dialogs import DIALOGS, open_dialog
from tests.support.app_language import SPOKEN, speak
from tests.support.app_program import own
from tests.support.app_readings import minute
from tests.support.app_scenes import NOW_MS, SCENES, no_replies, replies
from tests.support.app_worker import ScriptedWorker
from tests.support.measured_site import MeasuredRun, measured_site

if TYPE_CHECKING:
    from collections.abc import Sequence

    from PySide6.QtGui import QPixmap

LOOKS = (Appearance.DARK, Appearance.LIGHT)
SCALES = (1.0, 2.0)
PLACES = (
    "competitions.big-models", "competitions.spanish-stories",
    f"competitions.{DECIDED.competition}",
    "activity.log", "activity.health",
    "settings.network", "settings.storage", "settings.notifications", "settings.appearance",
    "settings.account", "settings.startup", "settings.privacy", "settings.advanced",
)  # fmt: skip
"""The places of pages with several; without a place, such a page opens at its first."""
SETTLES = 3
"""Turns of the event loop after which layouts are stable."""
README = (
    ("home", Appearance.DARK),
    ("points", Appearance.LIGHT),
    ("settings", Appearance.LIGHT),
)  # fmt: skip
FRESH = ("new", "joining")
"""Situations in which nothing has been earned yet."""


class PictureRenderer:
    """Renders pictures of an application in any look and language."""

    def __init__(self, app: QApplication, folder: Path) -> None:
        """The application keeps its settings in the folder."""
        self._app, self._folder = app, folder
        self.size = style.WINDOW
        self.ledger = ""
        """A ledger with the measures of the run; empty: there is none."""
        self._look = Theme(app, Appearance.DARK)
        self._language = Language(app, "en")

    def set_appearance(self, choice: Appearance, language: str) -> None:
        """Set the look and the language of the next pictures."""
        self._look.choose(choice)
        speak(self._language, language)

    def window(self, scene: str, page: str = "home") -> AppWindow:
        """A window in that situation, on that page."""
        worker = ScriptedWorker(no_replies() if scene in FRESH else replies())
        model = AppModel(worker)
        worker.setParent(model)
        window = AppWindow(model, self._look, lambda: NOW_MS, own=own(self._folder))
        model.setParent(window)
        window.setAttribute(Qt.WidgetAttribute.WA_DontShowOnScreen)
        window.resize(*self.size)
        name, _, place = page.partition(".")
        window.open_page(name)
        for snapshot in minute(SCENES[scene]):
            ledger = replace(snapshot.ledger, url=self.ledger or snapshot.ledger.url)
            worker.send_snapshot(replace(snapshot, ledger=ledger))
        if place:
            window.page.restore_location(place)
        window.show()
        for _ in range(SETTLES):
            self._app.processEvents()
        if isinstance(window.page, ModelPage):
            self._await_measures(window.page)
        return window

    def _await_measures(self, page: ModelPage) -> None:
        while page.measures.is_reading or page.measures.is_choosing:
            self._app.processEvents()
        page.refresh()
        for _ in range(SETTLES):
            self._app.processEvents()

    def picture(self, scene: str, page: str = "home") -> QPixmap:
        """A picture of that window."""
        window = self.window(scene, page)
        taken = window.grab()
        window.close()
        window.deleteLater()
        # without an event loop of its own, each window would stay, and be styled with every other
        self._app.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)
        return taken


class PictureOptions(NamedTuple):
    """The pictures to write; a page with a dot is opened at that place."""

    folder: Path
    pages: tuple[str, ...]
    scenes: tuple[str, ...]
    looks: tuple[Appearance, ...]
    languages: tuple[str, ...]
    size: tuple[int, int] = style.WINDOW
    has_first_run: bool = False


def write_pictures(options: PictureOptions, scale: float) -> None:
    """Write the pictures of one scale."""
    app = QApplication.instance() or QApplication([])
    assert isinstance(app, QApplication)
    appearances = tuple(product(options.looks, options.languages))
    with TemporaryDirectory() as kept, measured_site(MeasuredRun()) as site:
        renderer = PictureRenderer(app, Path(kept))
        renderer.size, renderer.ledger = options.size, site.url
        for choice, language in appearances:
            renderer.set_appearance(choice, language)
            for page, scene in product(options.pages, options.scenes):
                name = f"{page}-{scene}-{choice}-{language}-{scale:g}x.png"
                renderer.picture(scene, page).save(str(options.folder / name))
    if options.has_first_run:
        gc.disable()  # as in the tests: a dialog must not be collected while events are handled
        dialogs = {name: partial(open_dialog, name) for name in DIALOGS}
        first_run_pictures.write_pictures(options.folder, scale, appearances, options.size, dialogs)


def write_readme(folder: Path) -> None:
    """Write the README's pictures, at scale 1."""
    app = QApplication.instance() or QApplication([])
    assert isinstance(app, QApplication)
    with TemporaryDirectory() as kept:
        renderer = PictureRenderer(app, Path(kept))
        for page, choice in README:
            renderer.set_appearance(choice, "en")
            renderer.picture("lending", page).save(str(folder / f"{page}-{choice}.png"))


def main(arguments: Sequence[str] | None = None) -> int:
    """Write pictures as the command line says."""
    parser = argparse.ArgumentParser(description="Write pictures of the app's pages")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--page", action="append", help="home, settings.network …")
    parser.add_argument("--scene", action="append", choices=list(SCENES))
    parser.add_argument("--look", action="append", type=Appearance, choices=LOOKS)
    parser.add_argument("--language", action="append", choices=SPOKEN)
    parser.add_argument("--scale", type=float, help="both, unless one is named")
    parser.add_argument("--readme", action="store_true", help="only the README's pictures")
    parser.add_argument("--size", default="x".join(map(str, style.WINDOW)))
    words = list(sys.argv[1:] if arguments is None else arguments)
    chosen = parser.parse_args(words)
    chosen.folder.mkdir(parents=True, exist_ok=True)
    if chosen.readme:
        os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
        write_readme(chosen.folder)
        return 0
    if chosen.scale is not None:
        os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
        os.environ["QT_SCALE_FACTOR"] = f"{chosen.scale:g}"
        write_pictures(_order(chosen), chosen.scale)
        return 0
    for scale in SCALES:
        command = [sys.executable, "-m", "tests.support.app_pictures", *words]
        subprocess.run([*command, "--scale", f"{scale:g}"], check=True)
    return 0


def _order(chosen: argparse.Namespace) -> PictureOptions:
    width, _, height = chosen.size.partition("x")
    return PictureOptions(
        folder=chosen.folder,
        pages=tuple(chosen.page or (*(entry.name for entry in PAGES), *PLACES)),
        scenes=tuple(chosen.scene or ["lending"]),
        looks=tuple(chosen.look or LOOKS),
        languages=tuple(chosen.language or SPOKEN),
        size=(int(width), int(height)),
        has_first_run=not chosen.page,
    )


if __name__ == "__main__":
    raise SystemExit(main())
