"""A worker program that follows a script: `python -m tests.support.app_worker_program MODE FOLDER`.

It speaks the control protocol over its pipes as the real one does. It appends every line that it
receives to FOLDER/heard, and its process id to FOLDER/starts. MODE is what it does wrong:

- good: nothing
- late: answers questions after a second
- mute: never answers questions
- hung: sends one snapshot, and then nothing; does not end when told
- silent: never sends anything, and ends when told
- garbage: sends an invalid message
- endless: sends a line of 2 MB
- dying: sends one snapshot and ends
- refusing: speaks another version
- taken: another process uses its folder
- slow-wish: applies a desired state once it was sent three times
- other-wish: has its own desired state with a greater number, as from a command line
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from pathlib import Path

import msgspec

from tequio_client.ipc import control
from tequio_client.ipc.control import Question
from tequio_client.ipc.points import ActivityReply
from tequio_client.ipc.snapshot import DesiredState, LedgerView, Snapshot

EVERY_S = 0.1
OTHERS = DesiredState(number=41, lend=True)
MINE = DesiredState(number=4, lend=False)


class WorkerProgram:
    """One scripted worker."""

    def __init__(self, mode: str, folder: Path) -> None:
        self.mode, self.folder = mode, folder
        self.snapshot = Snapshot(
            wish=OTHERS if mode == "other-wish" else MINE,
            ledger=LedgerView(url="http://127.0.0.1:9", since_ms=1, problem="does not answer"),
        )
        self.wished = 0
        with (folder / "starts").open("a") as file:
            file.write(f"{os.getpid()}\n")

    def run(self) -> None:
        """Run until told to end, or as the script says."""
        if self.mode == "hung":
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
        self.receive(sys.stdin.buffer.readline())
        if self.mode == "silent":
            sys.stdin.buffer.read()
            return
        if self.mode == "refusing":
            send(
                control.RefuseController(why="app 0.1 speaks version 1, this worker speaks 2", v=2)
            )
            return
        send(control.AcceptController(build="paper", pid=os.getpid(), folder=str(self.folder)))
        if self.mode == "taken":
            sys.stderr.write("some log line\ntequio: another process uses the folder\n")
            sys.exit(1)
        self.misbehave()
        threading.Thread(target=self.send_snapshots, daemon=True).start()
        for line in sys.stdin.buffer:
            if isinstance(message := self.receive(line), control.EndWorker):
                break
            self.handle(message)
        if self.mode == "hung":
            time.sleep(60)

    def misbehave(self) -> None:
        """Do what the script says, once, at the start."""
        send(control.SnapshotMessage(snapshot=self.snapshot))
        match self.mode:
            case "hung":
                time.sleep(60)
            case "garbage":
                write(b'{"type":"weather"}\n')
            case "endless":
                write(b"x" * (2 << 20))
            case "dying":
                sys.stderr.write("tequio: the disk under the folder is gone\n")
                sys.exit(1)

    def send_snapshots(self) -> None:
        """Send the snapshot again and again."""
        while True:
            send(control.SnapshotMessage(snapshot=self.snapshot))
            time.sleep(EVERY_S)

    def handle(self, message: control.ToWorker) -> None:
        """Handle one message."""
        match message:
            case control.SetDesiredState(wish=wish):
                self.wished += 1
                if wish.number > self.snapshot.wish.number and self.mode != "slow-wish":
                    self.snapshot = msgspec.structs.replace(self.snapshot, wish=wish)
                if self.mode == "slow-wish" and self.wished >= 3:
                    self.snapshot = msgspec.structs.replace(self.snapshot, wish=wish)
            case control.SetPreferences(preferences=chosen):
                self.snapshot = msgspec.structs.replace(self.snapshot, preferences=chosen)
            case control.AskQuestion(id=number, question=question) if self.mode != "mute":
                threading.Thread(target=self.answer, args=(number, question)).start()

    def answer(self, number: int, _question: Question) -> None:
        """Answer, sooner or later."""
        if self.mode == "late":
            time.sleep(1.0)
        send(control.QuestionAnswer(id=number, reply=ActivityReply(rows=())))

    def receive(self, line: bytes) -> control.ToWorker:
        """Append the line to the file of received lines, and decode it."""
        with (self.folder / "heard").open("ab") as file:
            file.write(line)
        return control.decode_to_worker(line)


_WRITING = threading.Lock()


def send(message: control.FromWorker) -> None:
    write(control.encode(message))


def write(content: bytes) -> None:
    with _WRITING:
        sys.stdout.buffer.write(content)
        sys.stdout.buffer.flush()


if __name__ == "__main__":
    WorkerProgram(sys.argv[1], Path(sys.argv[2])).run()
