"""Activity: what happened, the log, and whether everything that looks can see."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tequio_client.app.pages.activity_health import Health
from tequio_client.app.pages.activity_log import Log
from tequio_client.app.pages.activity_timeline import Timeline
from tequio_client.app.pages.page import Page
from tequio_client.app.pages.page_head import PageHead
from tequio_client.app.widgets.banner import Banner
from tequio_client.app.widgets.segmented import Segmented
from tequio_client.app.widgets.toast import Toast

if TYPE_CHECKING:
    from tequio_client.app.pages.page import Means

TIMELINE, LOG, HEALTH = "timeline", "log", "health"


class ActivityPage(Page):
    """The page of what happened."""

    def __init__(self, means: Means) -> None:
        super().__init__(means)
        self.view = Segmented(
            self.tr("View"),
            {
                TIMELINE: self.tr("Timeline"),
                LOG: self.tr("Log"),
                HEALTH: self.tr("Health"),
            },
        )
        about = self.tr("What happened here, newest first. It is kept on this computer only.")
        self.head = PageHead(self.tr("Activity"), about, (self.view,))
        self.banner, self.toast = Banner(), Toast(self)
        self.timeline, self.log, self.health = Timeline(means), Log(means), Health()
        self._views = {TIMELINE: self.timeline, LOG: self.log, HEALTH: self.health}
        self.body.addWidget(self.head)
        self.body.addWidget(self.banner)
        for view in self._views.values():
            self.body.addWidget(view, 1)
        self.view.chosen.connect(self.open_view)
        self.log.told.connect(self.toast.say)
        self.model.sensed.connect(self.expect)
        self.open_view(TIMELINE)

    @property
    def place(self) -> str:
        """The view that is open."""
        return self.view.choice

    def go_to(self, place: str) -> None:
        """Open the view that was open."""
        self.open_view(place)

    def open_view(self, name: str) -> None:
        """Show the timeline, the log or the health of the probes."""
        self.view.choose(name)
        for one, view in self._views.items():
            view.setVisible(one == name)
        self.refresh()

    def refresh(self) -> None:
        """Show what is known now in the view that is open."""
        snapshot = self.model.snapshot
        is_gone = snapshot is None and bool(self.model.why_gone)
        self.banner.setVisible(is_gone)
        if is_gone:
            self.banner.show_words("error", self.model.why_gone)
        match self.view.choice:
            case "timeline":
                self.timeline.show_snapshot(snapshot)
            case "log":
                self.log.refresh()
            case "health":
                self.health.show_health(self.model)
