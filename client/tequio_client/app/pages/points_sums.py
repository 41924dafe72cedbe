"""What was earned in four figures, and what is not counted in."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tequio_client.app.widgets import figures
from tequio_client.app.widgets.columns import Columns
from tequio_client.app.widgets.stat_card import StatCard

if TYPE_CHECKING:
    from tequio_client.link.snapshot import Snapshot

LEAST = 190


class PointsSums(Columns):
    """The four figures."""

    def __init__(self) -> None:
        super().__init__(folded=2)
        self.total = StatCard(self.tr("Verified"), "badge-check")
        self.pending = StatCard(self.tr("Pending"), "hourglass")
        self.rejected = StatCard(self.tr("Rejected today"), "circle-x")
        self.unverified = StatCard(self.tr("Not checked yet"), "shield-question-mark")
        cards = (self.total, self.pending, self.rejected, self.unverified)
        for card in cards:
            card.setMinimumWidth(LEAST)
        self.hold(cards)
        self.show_snapshot(None)

    def show_snapshot(self, snapshot: Snapshot | None) -> None:
        """Show its figures; dashes without one."""
        if snapshot is None:
            for card in (self.total, self.pending, self.rejected, self.unverified):
                card.show_figure(figures.ABSENT)
            return
        points = snapshot.points
        exact = self.tr("{points} points").format(points=figures.exact_points(points.total))
        today = self.tr("{points} today").format(points=figures.exact_points(points.today))
        self.total.show_figure(figures.points(points.total), today, exact)
        none = self.tr("Nothing is open")
        waits = self.tr("Rounds that are not proven yet")
        self.pending.show_figure(figures.count(points.pending), waits if points.pending else none)
        none = self.tr("None today")
        gave_none = self.tr("Rounds that gave nothing")
        rejected = figures.count(points.rejected)
        self.rejected.show_figure(rejected, gave_none if points.rejected else none)
        none = self.tr("Nothing is left to check")
        told = self.tr("Said by the ledger alone")
        exact = self.tr("{points} points").format(points=figures.exact_points(points.unverified))
        self.unverified.show_figure(
            figures.points(points.unverified), told if points.unverified else none, exact
        )
