"""Export of all rounds to a CSV file, complete or not at all.

Micro-points are whole numbers, times ISO 8601 in UTC. Text from the network (a run's name) is
escaped so that no spreadsheet reads it as a formula.
"""

from __future__ import annotations

import csv
import io
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from PySide6.QtCore import QIODevice, QObject, QSaveFile, Signal

from tequio_client.app.pages.rounds_model import is_checked
from tequio_client.ipc.control import ROWS, AskPoints, Points

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from tequio_client.app.model import Model
    from tequio_client.ipc.control import PointsRow, Question, Reply


HEADINGS = (
    "number",
    "run",
    "run_name",
    "round",
    "time",
    "state",
    "reason",
    "micropoints",
    "trained_micropoints",
    "witnessed_micropoints",
    "device",
    "tokens",
    "energy_j",
    "proof_checked",
    "log_entry",
    "checkpoint_size",
    "checkpoint_root",
)
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def heading() -> bytes:
    return _written([HEADINGS])


def lines(rows: Iterable[PointsRow]) -> bytes:
    return _written(_cells(row) for row in rows)


def _cells(row: PointsRow) -> tuple[object, ...]:
    return (
        row.number,
        row.run,
        _plain(row.run_name),
        row.round,
        _time(row.at_ms),
        row.state,
        _plain(row.reason),
        row.micropoints,
        row.trained,
        row.witnessed,
        _plain(row.device),
        row.tokens,
        repr(row.energy_j),
        "yes" if is_checked(row) else "no",
        "" if row.entry is None else row.entry,
        "" if row.size is None else row.size,
        row.root,
    )


def _time(at_ms: int) -> str:
    seconds, ms = divmod(at_ms, 1_000)
    try:
        return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%dT%H:%M:%S}.{ms:03d}Z"
    except (OverflowError, ValueError, OSError):
        return f"{at_ms} ms after 1970"


def _plain(text: str) -> str:
    return f"'{text}" if text.startswith(_FORMULA) else text


def _written(rows: Iterable[Iterable[object]]) -> bytes:
    text = io.StringIO()
    csv.writer(text, lineterminator="\r\n").writerows(rows)
    return text.getvalue().encode()


class PointsExport(QObject):
    """One export at a time, page by page as the worker answers."""

    done = Signal(str, int)
    """The file, and the number of rounds in it."""
    failed = Signal(str)
    """Why the export failed, as a sentence."""

    def __init__(self, model: Model, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._model = model
        self._file: QSaveFile | None = None
        self._asked: AskPoints | None = None
        self._count = 0
        model.replied.connect(self._take)
        model.refused.connect(self._miss)

    @property
    def is_running(self) -> bool:
        return self._file is not None

    def start(self, path: Path) -> None:
        """Write all rounds to that file, replacing it when complete."""
        if self._file is not None:
            return
        self._file, self._count = QSaveFile(str(path)), 0
        if not self._file.open(QIODevice.OpenModeFlag.WriteOnly):
            self._fail(self._file.errorString())
        elif self._write(heading()):
            self._ask(None)

    def _ask(self, before: int | None) -> None:
        self._asked = AskPoints(before=before, limit=ROWS)
        self._model.ask(self._asked)

    def _take(self, question: Question, reply: Reply) -> None:
        if self._file is None or question != self._asked or not isinstance(reply, Points):
            return
        if not self._write(lines(reply.rows)):
            return
        self._count += len(reply.rows)
        if reply.has_more and reply.rows:
            self._ask(reply.rows[-1].number)
        else:
            self._finish()

    def _miss(self, question: Question, why: str) -> None:
        if self._file is not None and question == self._asked:
            self._fail(why or self.tr("the worker does not answer"))

    def _write(self, content: bytes) -> bool:
        if self._file is None or self._file.write(content) == len(content):
            return True
        self._fail(self._file.errorString())
        return False

    def _finish(self) -> None:
        file, self._file, self._asked = self._file, None, None
        if file is None:
            return
        if file.commit():
            self.done.emit(file.fileName(), self._count)
        else:
            self._tell(file.fileName(), file.errorString())

    def _fail(self, why: str) -> None:
        file, self._file, self._asked = self._file, None, None
        if file is not None:
            file.cancelWriting()
            self._tell(file.fileName(), why)

    def _tell(self, name: str, why: str) -> None:
        words = self.tr("{file} was not written: {why}. Choose another place, or try again.")
        self.failed.emit(words.format(file=name, why=why.rstrip(".")))
