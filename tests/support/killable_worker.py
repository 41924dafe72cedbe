"""Workers that kill themselves with SIGKILL at a named moment: the real program, intercepted.

The folder `journal` gets every statement that the worker signs, in `signed`, before it may be sent,
sent or not; each death writes its moment into `diary`, and so does each training of the synthetic
trainer. The moment `never` lets it live.
"""

from __future__ import annotations

import functools
import json
import os
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from tequio_client import files
from tequio_client.ipc import trainer as link
from tequio_client.ledger.api import LedgerApi
from tequio_client.worker.children import trainer as trainer_child
from tequio_client.worker.children.trainer import TrainerProcess
from tequio_client.worker.ledger.outbox_db import OutboxDb
from tequio_client.worker.rounds.feedback import NOTE_FILE, ErrorFeedback
from tequio_client.worker.rounds.head import HeadKeeper
from tequio_client.worker.rounds.workdir import TrainerWorkdir
from tequio_shared.statements.runs import HeadAttest, WitnessProof, WorkCommit
from tequio_shared.statements.statement import Entry
from tests.support.forked_program import CLIENT, ForkedProgram
from tests.support.interception import after, before, intercept_function
from tests.support.synthetic_trainer import DIARY

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tequio_client.worker.ledger.outbox_db import SignedCopy


SYNTHETIC = (sys.executable, "-m", "tests.support.synthetic_trainer")


def _mentions(kind: type) -> Callable[..., bool]:
    """Return whether drafts, bodies or copies of that type are among the arguments."""

    def fits(*arguments: object) -> bool:
        flat = [one for each in arguments for one in (each if isinstance(each, list) else [each])]
        entries = [getattr(one, "entry", one) for one in flat]
        bodies = [one.statement.body if isinstance(one, Entry) else one for one in entries]
        return any(isinstance(body, kind) for body in bodies)

    return fits


def _is_training(*arguments: object) -> bool:
    assert isinstance(arguments[1], bytes)
    report = link.decode_report(arguments[1])
    return isinstance(report, link.TrainerHeartbeat) and report.doing == "training"


def _expects(answer: type) -> Callable[..., bool]:
    return lambda *arguments: arguments[2] is answer


def _is_feedback_file(*arguments: object) -> bool:
    target = arguments[1]
    assert isinstance(target, Path)
    return target.parent.parent.name == "feedback" and target.name != NOTE_FILE


MOMENTS = {
    "attestation on disk": after(OutboxDb.add, _mentions(HeadAttest)),
    "training": after(TrainerProcess._on_line, _is_training),  # noqa: SLF001
    "trained": after(TrainerWorkdir.ask, _expects(link.Trained)),
    "payload kept": before(ErrorFeedback.store),
    "feedback kept, not noted": after(files.sync_and_rename, _is_feedback_file),
    "feedback noted": after(ErrorFeedback.store),
    "commitment to be kept": before(OutboxDb.add, _mentions(WorkCommit)),
    "commitment on disk": after(OutboxDb.add, _mentions(WorkCommit)),
    "signed, not kept": before(OutboxDb.record, _mentions(WorkCommit)),
    "signed copy kept": after(OutboxDb.record, _mentions(WorkCommit)),
    "sent, answer lost": after(LedgerApi.post_entries, _mentions(WorkCommit)),
    "answer not noted": before(OutboxDb.settle, _mentions(WorkCommit)),
    "commitment settled": after(OutboxDb.settle, _mentions(WorkCommit)),
    "screening": before(TrainerWorkdir.ask, _expects(link.Screened)),
    "proof to be kept": before(OutboxDb.add, _mentions(WitnessProof)),
    "proof on disk": after(OutboxDb.add, _mentions(WitnessProof)),
    "proof sent, answer lost": after(LedgerApi.post_entries, _mentions(WitnessProof)),
    "round closed, not settled": before(ErrorFeedback.settle),
    "feedback settled": after(ErrorFeedback.settle),
    "head computed, not held": after(TrainerWorkdir.ask, _expects(link.AdvanceReport)),
    "head held": after(HeadKeeper.advance),
}


def start(journal: Path, moment: str, log: Path, *arguments: str) -> ForkedProgram:
    """Start `tequio` with these arguments, until that moment."""
    setup = json.dumps({"journal": str(journal), "moment": moment})
    return ForkedProgram(CLIENT, *arguments, stderr=log, setup=(f"{__name__}:arm", setup))


def arm(content: str) -> None:
    """Make this process die at its moment, record what it signs, and compute nothing."""
    order = json.loads(content)
    journal, moment = Path(order["journal"]), order["moment"]
    journal.mkdir(exist_ok=True)
    os.environ[DIARY] = str(journal / "diary")
    trainer_child.TRAINER = SYNTHETIC
    _record_signed(journal / "signed")
    if moment != "never":
        MOMENTS[moment].arm(functools.partial(_die, journal / "diary", moment))


def _die(diary: Path, moment: str) -> None:
    with diary.open("a") as file:
        file.write(f"died: {moment}\n")
    os.kill(os.getpid(), signal.SIGKILL)


def _record_signed(path: Path) -> None:
    """Append what is signed to a file before the outbox stores it and may send it."""

    def append(_outbox: OutboxDb, copies: Sequence[SignedCopy]) -> None:
        with path.open("ab") as file:
            for copy in copies:
                leaf = copy.entry.leaf()
                file.write(len(leaf).to_bytes(4, "big") + leaf)

    intercept_function(OutboxDb.record, before=append)


def signed(path: Path) -> list[Entry]:
    """Read what was signed, in order."""
    raw, found = path.read_bytes(), []
    while raw:
        size = int.from_bytes(raw[:4], "big")
        found.append(Entry.parse(raw[4 : 4 + size]))
        raw = raw[4 + size :]
    return found
