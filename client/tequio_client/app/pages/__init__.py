"""The pages of the window, in the order of the side bar."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from PySide6.QtCore import QT_TRANSLATE_NOOP, QCoreApplication

if TYPE_CHECKING:
    from collections.abc import Callable

    from tequio_client.app.pages.page import Page, PageContext


@dataclass(frozen=True, slots=True, kw_only=True)
class PageEntry:
    """One page, built when first opened."""

    name: str
    title: str
    """In English; translated in the context `pages`."""
    picture: str
    make: Callable[[PageContext], Page]

    def translated_title(self) -> str:
        return QCoreApplication.translate("pages", self.title)


HOME = str(QT_TRANSLATE_NOOP("pages", "Home"))
RUNS = str(QT_TRANSLATE_NOOP("pages", "Runs"))
COMPETITIONS = str(QT_TRANSLATE_NOOP("pages", "Competitions"))
POINTS = str(QT_TRANSLATE_NOOP("pages", "Points"))
HARDWARE = str(QT_TRANSLATE_NOOP("pages", "Hardware"))
ACTIVITY = str(QT_TRANSLATE_NOOP("pages", "Activity"))
SETTINGS = str(QT_TRANSLATE_NOOP("pages", "Settings"))


def _home(means: PageContext) -> Page:
    from tequio_client.app.pages.home import HomePage  # noqa: PLC0415  # when first opened

    return HomePage(means)


def _runs(means: PageContext) -> Page:
    from tequio_client.app.pages.runs import RunsPage  # noqa: PLC0415  # when first opened

    return RunsPage(means)


def _competitions(means: PageContext) -> Page:
    from tequio_client.app.pages.competitions import AppCompetitionsPage  # noqa: PLC0415  # as above

    return AppCompetitionsPage(means)


def _points(means: PageContext) -> Page:
    from tequio_client.app.pages.points import PointsPage  # noqa: PLC0415  # when first opened

    return PointsPage(means)


def _activity(means: PageContext) -> Page:
    from tequio_client.app.pages.activity import ActivityPage  # noqa: PLC0415  # when first opened

    return ActivityPage(means)


def _hardware(means: PageContext) -> Page:
    from tequio_client.app.pages.hardware import HardwarePage  # noqa: PLC0415  # when first opened

    return HardwarePage(means)


def _settings(means: PageContext) -> Page:
    from tequio_client.app.pages.settings import SettingsPage  # noqa: PLC0415  # when first opened

    return SettingsPage(means)


PAGES = (
    PageEntry(name="home", title=HOME, picture="house", make=_home),
    PageEntry(name="runs", title=RUNS, picture="boxes", make=_runs),
    PageEntry(name="competitions", title=COMPETITIONS, picture="trophy", make=_competitions),
    PageEntry(name="points", title=POINTS, picture="chart-column", make=_points),
    PageEntry(name="hardware", title=HARDWARE, picture="gpu", make=_hardware),
    PageEntry(name="activity", title=ACTIVITY, picture="activity", make=_activity),
    PageEntry(name="settings", title=SETTINGS, picture="settings", make=_settings),
)
