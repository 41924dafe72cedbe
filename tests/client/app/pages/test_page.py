"""A page scrolls when it must, and only then."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tequio_client.app.pages.competitions import AppCompetitionsPage
from tequio_client.app.pages.page import Page, PageContext
from tequio_client.app.pages.runs import RunsPage
from tequio_client.app.widgets.base import WrappedLabel
from tests.support.app_scenes import LENDING

if TYPE_CHECKING:
    from PySide6.QtWidgets import QApplication
    from pytestqt.qtbot import QtBot

    from tests.support.app_worker import ScriptedWorker

pytestmark = pytest.mark.usefixtures("language")
WORDS = "As many words as fit into one line of a wide page, and into three of a narrow one."
WIDTH = 900


class Texts(Page):
    """A page of paragraphs."""

    def refresh(self) -> None:
        """The texts never change."""


def test_a_page_scrolls_only_when_its_text_is_higher_than_it(
    context: PageContext, qtbot: QtBot, qapp: QApplication
) -> None:
    page = Texts(context)
    qtbot.addWidget(page)
    for _ in range(12):
        page.body.addWidget(WrappedLabel(WORDS))
    high = page.body.totalHeightForWidth(WIDTH)
    page.resize(WIDTH, high)
    page.show()
    for height, over in ((high, 0), (high - 7, 7), (high, 0)):
        page.resize(WIDTH, height)
        qapp.processEvents()
        most = page.verticalScrollBar().maximum()
        assert (most > 0) is (over > 0)
        bar = page.verticalScrollBar().width() if over else 0
        assert most == page.body.totalHeightForWidth(WIDTH - bar) - height


@pytest.mark.parametrize("kind", [RunsPage, AppCompetitionsPage])
def test_details_below_the_list_come_into_view_with_a_click(
    kind: type[RunsPage | AppCompetitionsPage],
    context: PageContext,
    worker: ScriptedWorker,
    qtbot: QtBot,
) -> None:
    page = kind(context)
    qtbot.addWidget(page)
    page.resize(560, 300)
    page.show()
    worker.send_snapshot(LENDING)
    page.refresh()
    heading = page.detail.name if isinstance(page, RunsPage) else page.about.name
    first, *_ = page.choices.rows.values()
    qtbot.waitUntil(lambda: heading.visibleRegion().isEmpty())
    first.click()
    qtbot.waitUntil(lambda: not heading.visibleRegion().isEmpty())
