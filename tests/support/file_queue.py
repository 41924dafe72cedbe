"""The order in which pytest's workers run the files: one whole network at a time.

A test of whole networks starts a dozen programs and waits for most of the time. Two of them at once
would slow each other down, and one that starts last would leave all other workers idle; so one of
them is always running, beside files of small tests.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from xdist.scheduler import LoadFileScheduling

if TYPE_CHECKING:
    from collections.abc import Iterable

    from xdist.workermanage import WorkerController

NETWORKS = "tests/whole/"


class FileQueue(LoadFileScheduling):  # type: ignore[misc]  # it ships no types
    """Gives each worker whole files; the next one when its current file is nearly done."""

    def _assign_work_unit(self, node: WorkerController) -> None:
        under_way = (
            path
            for files in self.assigned_work.values()
            for path, tests in files.items()
            if not all(tests.values())
        )
        self.workqueue.move_to_end(next_of(self.workqueue, under_way), last=False)
        super()._assign_work_unit(node)


def next_of(waiting: Iterable[str], under_way: Iterable[str]) -> str:
    """The next of the waiting files: one of a whole network when none is running."""
    files = list(waiting)
    is_turn = not any(path.startswith(NETWORKS) for path in under_way)
    fitting = (path for path in files if path.startswith(NETWORKS) is is_turn)
    return next(fitting, files[0])
