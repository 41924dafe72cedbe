"""The pages of the window, in the order of the side bar."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication

if TYPE_CHECKING:
    from tequio_client.app.pages.page import Page, PageContext


@dataclass(frozen=True, slots=True)
class PageEntry:
    """One page, built when first opened: only then is its module imported."""

    name: str
    title: str
    """In English; translated in the context `pages`."""
    picture: str
    kind: str
    """The name of its class."""
    module: str = ""
    """Where the class is; empty: in this folder, in the module of the page's name."""

    def make(self, context: PageContext) -> Page:
        module = import_module(self.module or f"{__name__}.{self.name}")
        page: Page = getattr(module, self.kind)(context)
        return page

    def translated_title(self) -> str:
        return QCoreApplication.translate("pages", self.title)


PAGES = (
    PageEntry("home", "Home", "house", "HomePage"),
    PageEntry("runs", "Runs", "boxes", "RunsPage"),
    PageEntry(
        "model",
        "Model",
        "message-square-text",
        "ModelPage",
        module="tequio_client.app.run_model.page",
    ),
    PageEntry("competitions", "Competitions", "trophy", "AppCompetitionsPage"),
    PageEntry("points", "Points", "chart-column", "PointsPage"),
    PageEntry("hardware", "Hardware", "gpu", "HardwarePage"),
    PageEntry("activity", "Activity", "activity", "ActivityPage"),
    PageEntry("settings", "Settings", "settings", "SettingsPage"),
)
