"""The order in which pytest's runners take the files: one whole network at a time.

A test of whole networks starts a dozen programs and waits for most of the time. Two of them at once
would wait for each other's programs, and one that is begun last would leave all other runners with
nothing to do; so there is always one under way, beside files of small tests.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from xdist.scheduler import LoadFileScheduling

if TYPE_CHECKING:
    from collections.abc import Iterable

    from xdist.workermanage import WorkerController

NETWORKS = "tests/whole/"


class FileQueue(LoadFileScheduling):  # type: ignore[misc]  # it ships no types
    """Gives each runner whole files, the next one when it is about to have done with its own."""

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
    """Which of the files that wait is next: a network's when none is under way."""
    files = list(waiting)
    is_turn = not any(path.startswith(NETWORKS) for path in under_way)
    fitting = (path for path in files if path.startswith(NETWORKS) is is_turn)
    return next(fitting, files[0])
