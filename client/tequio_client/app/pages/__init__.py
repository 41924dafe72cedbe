"""The pages of the window, in the order of the side bar."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from PySide6.QtCore import QT_TRANSLATE_NOOP, QCoreApplication

if TYPE_CHECKING:
    from collections.abc import Callable

    from tequio_client.app.pages.page import Means, Page


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One page, built when first opened."""

    name: str
    title: str
    """In English; translated in the context `pages`."""
    picture: str
    make: Callable[[Means], Page]

    def words(self) -> str:
        return QCoreApplication.translate("pages", self.title)


HOME = str(QT_TRANSLATE_NOOP("pages", "Home"))
RUNS = str(QT_TRANSLATE_NOOP("pages", "Runs"))
COMPETITIONS = str(QT_TRANSLATE_NOOP("pages", "Competitions"))
POINTS = str(QT_TRANSLATE_NOOP("pages", "Points"))
HARDWARE = str(QT_TRANSLATE_NOOP("pages", "Hardware"))
ACTIVITY = str(QT_TRANSLATE_NOOP("pages", "Activity"))
SETTINGS = str(QT_TRANSLATE_NOOP("pages", "Settings"))


def _home(means: Means) -> Page:
    from tequio_client.app.pages.home import Home  # noqa: PLC0415  # when first opened

    return Home(means)


def _runs(means: Means) -> Page:
    from tequio_client.app.pages.runs import RunsPage  # noqa: PLC0415  # when first opened

    return RunsPage(means)


def _competitions(means: Means) -> Page:
    from tequio_client.app.pages.competitions import CompetitionsPage  # noqa: PLC0415  # as above

    return CompetitionsPage(means)


def _points(means: Means) -> Page:
    from tequio_client.app.pages.points import PointsPage  # noqa: PLC0415  # when first opened

    return PointsPage(means)


def _activity(means: Means) -> Page:
    from tequio_client.app.pages.activity import ActivityPage  # noqa: PLC0415  # when first opened

    return ActivityPage(means)


def _hardware(means: Means) -> Page:
    from tequio_client.app.pages.hardware import Hardware  # noqa: PLC0415  # when first opened

    return Hardware(means)


def _settings(means: Means) -> Page:
    from tequio_client.app.pages.settings import Settings  # noqa: PLC0415  # when first opened

    return Settings(means)


PAGES = (
    Entry(name="home", title=HOME, picture="house", make=_home),
    Entry(name="runs", title=RUNS, picture="boxes", make=_runs),
    Entry(name="competitions", title=COMPETITIONS, picture="trophy", make=_competitions),
    Entry(name="points", title=POINTS, picture="chart-column", make=_points),
    Entry(name="hardware", title=HARDWARE, picture="gpu", make=_hardware),
    Entry(name="activity", title=ACTIVITY, picture="activity", make=_activity),
    Entry(name="settings", title=SETTINGS, picture="settings", make=_settings),
)
