"""Workers that kill themselves with SIGKILL at a named moment: the real program, wrapped outside.

    python -m tests.support.killable_worker

A line on the input, JSON of `journal`, `moment`, `log` and `arguments`, starts one; it is answered
by `started PID`, and its end by `ended PID STATUS`, negative for a signal. All are forked from one
process that has imported everything: a life costs a fraction of a second.

The folder `journal` gets every statement that the worker signs, in `signed`, before it may be sent,
sent or not; each death writes its moment into `diary`, and so does each training of the synthetic
trainer. The moment `never` lets it live.
"""

from __future__ import annotations

import functools
import inspect
import json
import os
import select
import signal
import sys
import traceback
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tequio_client import files
from tequio_client.__main__ import main as program
from tequio_client.ipc import trainer as link
from tequio_client.ledger.api import LedgerApi
from tequio_client.worker import main as _worker  # noqa: F401 - imported before the forks
from tequio_client.worker.children import trainer as trainer_child
from tequio_client.worker.children.trainer import TrainerProcess
from tequio_client.worker.ledger.outbox_db import OutboxDb
from tequio_client.worker.rounds.feedback import NOTE_FILE, ErrorFeedback
from tequio_client.worker.rounds.head import HeadKeeper
from tequio_client.worker.rounds.workdir import TrainerWorkdir
from tequio_shared.statements.runs import HeadAttest, WitnessProof, WorkCommit
from tequio_shared.statements.statement import Entry
from tests.support.synthetic_trainer import DIARY

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tequio_client.worker.ledger.outbox_db import SignedCopy


LOOK_S = 0.02
CRASHED = 70
SYNTHETIC = (sys.executable, "-m", "tests.support.synthetic_trainer")


@dataclass(frozen=True, kw_only=True)
class Moment:
    """Before or after a call of that function whose arguments fit."""

    function: Callable[..., Any]
    is_after: bool
    fits: Callable[..., bool] = lambda *_: True


def _says(kind: type) -> Callable[..., bool]:
    """Whether drafts, bodies or copies of that type are among the arguments."""

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


def _asks(answer: type) -> Callable[..., bool]:
    return lambda *arguments: arguments[2] is answer


def _keeps_feedback(*arguments: object) -> bool:
    target = arguments[1]
    assert isinstance(target, Path)
    return target.parent.parent.name == "feedback" and target.name != NOTE_FILE


def _before(function: Callable[..., Any], fits: Callable[..., bool] = lambda *_: True) -> Moment:
    return Moment(function=function, is_after=False, fits=fits)


def _after(function: Callable[..., Any], fits: Callable[..., bool] = lambda *_: True) -> Moment:
    return Moment(function=function, is_after=True, fits=fits)


MOMENTS = {
    "attestation on disk": _after(OutboxDb.add, _says(HeadAttest)),
    "training": _after(TrainerProcess._on_line, _is_training),  # noqa: SLF001
    "trained": _after(TrainerWorkdir.ask, _asks(link.Trained)),
    "payload kept": _before(ErrorFeedback.store),
    "feedback kept, not noted": _after(files.sync_and_rename, _keeps_feedback),
    "feedback noted": _after(ErrorFeedback.store),
    "commitment to be kept": _before(OutboxDb.add, _says(WorkCommit)),
    "commitment on disk": _after(OutboxDb.add, _says(WorkCommit)),
    "signed, not kept": _before(OutboxDb.record, _says(WorkCommit)),
    "signed copy kept": _after(OutboxDb.record, _says(WorkCommit)),
    "sent, answer lost": _after(LedgerApi.post_entries, _says(WorkCommit)),
    "answer not noted": _before(OutboxDb.settle, _says(WorkCommit)),
    "commitment settled": _after(OutboxDb.settle, _says(WorkCommit)),
    "screening": _before(TrainerWorkdir.ask, _asks(link.Screened)),
    "proof to be kept": _before(OutboxDb.add, _says(WitnessProof)),
    "proof on disk": _after(OutboxDb.add, _says(WitnessProof)),
    "proof sent, answer lost": _after(LedgerApi.post_entries, _says(WitnessProof)),
    "round closed, not settled": _before(ErrorFeedback.settle),
    "feedback settled": _after(ErrorFeedback.settle),
    "head computed, not held": _after(TrainerWorkdir.ask, _asks(link.AdvanceReport)),
    "head held": _after(HeadKeeper.advance),
}


def main() -> None:
    """Start workers as told until the input ends; then end them all."""
    living: set[int] = set()
    rest = b""
    while True:
        readable, _, _ = select.select([sys.stdin], [], [], LOOK_S)
        if readable:
            chunk = os.read(sys.stdin.fileno(), 1 << 16)
            if not chunk:
                break
            *lines, rest = (rest + chunk).split(b"\n")
            living |= {_fork(json.loads(line)) for line in lines}
        for child in list(living):
            pid, status = os.waitpid(child, os.WNOHANG)
            if pid:
                living.discard(child)
                sys.stdout.write(f"ended {child} {os.waitstatus_to_exitcode(status)}\n")
                sys.stdout.flush()
    for child in living:
        os.kill(child, signal.SIGKILL)


def _fork(told: dict[str, Any]) -> int:  # as JSON has it
    child = os.fork()
    if child:
        sys.stdout.write(f"started {child}\n")
        sys.stdout.flush()
        return child
    log = os.open(told["log"], os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    nothing = os.open(os.devnull, os.O_RDWR)
    for target, source in enumerate((nothing, nothing, log)):
        os.dup2(source, target)
    status = CRASHED
    try:
        _live(Path(told["journal"]), told["moment"], told["arguments"])
        status = 0
    except SystemExit as end:
        status = int(end.code or 0)
    finally:
        if status == CRASHED:
            traceback.print_exc()
        os._exit(status)


def _live(journal: Path, moment: str, arguments: list[str]) -> None:
    """Be that worker."""
    journal.mkdir(exist_ok=True)
    os.environ[DIARY] = str(journal / "diary")
    trainer_child.TRAINER = SYNTHETIC
    _record_signed(journal / "signed")
    if moment != "never":
        _arm(MOMENTS[moment], functools.partial(_die, journal / "diary", moment))
    sys.argv = ["tequio", *arguments]
    program()


def _arm(moment: Moment, die: Callable[[], None]) -> None:
    """Wrap the real function; it does all that it does."""
    *owner_path, name = moment.function.__qualname__.split(".")
    owner: object = sys.modules[moment.function.__module__]
    for part in owner_path:
        owner = getattr(owner, part)
    real = getattr(owner, name)  # as it is now: `record` is wrapped already

    def looked(*arguments: object, is_after: bool) -> None:
        if is_after == moment.is_after and moment.fits(*arguments):
            die()

    def plain(*arguments: object, **named: object) -> object:
        looked(*arguments, is_after=False)
        outcome = real(*arguments, **named)
        looked(*arguments, is_after=True)
        return outcome

    async def awaited(*arguments: object, **named: object) -> object:
        looked(*arguments, is_after=False)
        outcome = await real(*arguments, **named)
        looked(*arguments, is_after=True)
        return outcome

    wrapped = awaited if inspect.iscoroutinefunction(real) else plain
    setattr(owner, name, functools.wraps(real)(wrapped))


def _die(diary: Path, moment: str) -> None:
    with diary.open("a") as file:
        file.write(f"died: {moment}\n")
    os.kill(os.getpid(), signal.SIGKILL)


def _record_signed(path: Path) -> None:
    """Write down what is signed and about to be kept, after which it may be sent at any time."""
    real = OutboxDb.record

    def record(outbox: OutboxDb, copies: Sequence[SignedCopy]) -> None:
        with path.open("ab") as file:
            for copy in copies:
                leaf = copy.entry.leaf()
                file.write(len(leaf).to_bytes(4, "big") + leaf)
        real(outbox, copies)

    setattr(OutboxDb, "record", record)  # noqa: B010 - wrapped from outside, as the rest


def signed(path: Path) -> list[Entry]:
    """Read what was signed, in order."""
    raw, found = path.read_bytes(), []
    while raw:
        size = int.from_bytes(raw[:4], "big")
        found.append(Entry.parse(raw[4 : 4 + size]))
        raw = raw[4 + size :]
    return found


if __name__ == "__main__":
    main()
