"""Which pages there are, in the order of the side bar."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from PySide6.QtCore import QT_TRANSLATE_NOOP, QCoreApplication

from tequio_client.app.pages.home import Home

if TYPE_CHECKING:
    from collections.abc import Callable

    from tequio_client.app.pages.page import Means, Page


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One page; made when first opened."""

    name: str
    title: str
    """English, in the context `pages`."""
    picture: str
    make: Callable[[Means], Page]

    def words(self) -> str:
        """The title in the user's language."""
        return QCoreApplication.translate("pages", self.title)


HOME = str(QT_TRANSLATE_NOOP("pages", "Home"))
PAGES = (Entry(name="home", title=HOME, picture="house", make=Home),)
