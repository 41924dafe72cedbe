"""The signer never signs a second history, whatever it is asked and whenever it dies."""

from __future__ import annotations

import contextlib
import errno
import os
import random
import signal
import socket
import stat
import subprocess
import sys
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

import msgspec
import pytest

from tequio_ledger.data_folder import DataFolder
from tequio_ledger.signing import process as signing_process
from tequio_ledger.signing.client import (
    LINE_BYTES,
    MEMORY,
    PUBLIC_KEY,
    AbsentSigner,
    Hello,
    Here,
    Other,
    RemoteNotary,
    Sign,
    begin_memory,
    has_no_memory,
    open_notary,
    open_signer,
    public_key,
    store_public_key,
)
from tequio_ledger.signing.process import SigningServer, listening
from tequio_ledger.signing.signer import CheckpointSigner, Notary, SignatureMemory, WouldForkError
from tequio_ledger.store.files import UnwritableError
from tequio_shared.errors import UserFacingError
from tequio_shared.log.notes import Checkpoint, open_checkpoint, to_base64
from tests.support.merkle_proofs import consistency_proof
from tests.support.witnesses import WitnessedLog

PATIENCE_S = 20.0
PROGRAM = (sys.executable, "-m", "tequio_ledger", "sign", "--log-json")

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from tequio_shared.ids import Digest


def prover(log: WitnessedLog, size: int) -> Callable[[int], Sequence[Digest]]:
    return lambda old: consistency_proof(log.hashes[:size], old)


def sign(notary: CheckpointSigner, log: WitnessedLog, size: int) -> Checkpoint:
    note = notary.sign(log.checkpoint(size), prover(log, size))
    return open_checkpoint(note, log.key).checkpoint


def begun(folder: Path, log: WitnessedLog) -> Notary:
    """The notary of a key that signed nothing, or of one that has its memory."""
    SignatureMemory(folder / MEMORY).begin()
    return Notary(log.signer, folder / MEMORY)


@contextmanager
def inside(folder: Path, log: WitnessedLog) -> Iterator[CheckpointSigner]:
    """The notary in this process."""
    yield begun(folder, log)


@contextmanager
def beside(
    folder: Path,
    log: WitnessedLog,
    callers: frozenset[int] = frozenset([os.getuid()]),
    patience_s: float = signing_process.PATIENCE_S,
) -> Iterator[CheckpointSigner]:
    """The same behind its socket."""
    with listening(folder / "sign.socket") as listener:
        answering = SigningServer(
            begun(folder, log), listener, log.origin, callers, patience_s=patience_s
        )
        thread = threading.Thread(target=answering.serve)
        thread.start()
        yield RemoteNotary(folder / "sign.socket")
        answering.stop()
        thread.join(10)
        assert not thread.is_alive()


@pytest.fixture(params=[inside, beside])
def opened(
    request: pytest.FixtureRequest, tmp_path: Path, log: WitnessedLog
) -> Iterator[CheckpointSigner]:
    with request.param(tmp_path, log) as notary:
        yield notary


@pytest.fixture
def log() -> WitnessedLog:
    return WitnessedLog().grow(40)


def test_a_growing_log_is_signed_and_the_same_size_again(
    opened: CheckpointSigner, log: WitnessedLog
) -> None:
    for size in (1, 2, 2, 17, 17, 40):
        assert sign(opened, log, size) == log.checkpoint(size)


def test_a_smaller_size_and_another_root_and_another_log_are_refused(
    opened: CheckpointSigner, log: WitnessedLog
) -> None:
    sign(opened, log, 20)
    other = log.fork(12, 28)
    with pytest.raises(
        WouldForkError, match=r"size 20 of log\.example/one was signed already, so size 19"
    ):
        sign(opened, log, 19)
    for size in (20, 21, 40):
        with pytest.raises(WouldForkError, match="are not those that were signed"):
            sign(opened, other, size)
    foreign = WitnessedLog(origin="log.example/two", hashes=log.hashes)
    with pytest.raises(WouldForkError, match=r"'log\.example/one'.*, not 'log\.example/two'"):
        sign(opened, foreign, 30)
    assert sign(opened, log, 40).size == 40


def test_growth_without_its_proof_is_refused(opened: CheckpointSigner, log: WitnessedLog) -> None:
    sign(opened, log, 7)
    for proof in ([], [log.hashes[0]], consistency_proof(log.hashes[:30], 8)):
        with pytest.raises(WouldForkError, match="are not those that were signed"):
            opened.sign(log.checkpoint(30), lambda _old, given=proof: given)  # type: ignore[misc]


def test_what_was_signed_is_known_by_the_next_one(tmp_path: Path, log: WitnessedLog) -> None:
    """The ledger's database may be an old one; the memory is not its."""
    for start in (inside, beside, inside):
        with start(tmp_path, log) as notary:
            sign(notary, log, 30)
        with start(tmp_path, log) as notary, pytest.raises(WouldForkError):
            sign(notary, log, 29)


def test_the_ledger_may_not_know_how_far_the_signer_is(tmp_path: Path, log: WitnessedLog) -> None:
    with beside(tmp_path, log) as notary:
        sign(notary, log, 3)
        sign(RemoteNotary(tmp_path / "sign.socket"), log, 9)
        assert sign(notary, log, 20).size == 20


def test_a_write_that_is_cut_off_leaves_the_one_before(tmp_path: Path, log: WitnessedLog) -> None:
    path = tmp_path / MEMORY
    memory = SignatureMemory(path)
    memory.begin()
    for size in (1, 2, 3):
        memory.write(log.checkpoint(size))
    whole = path.read_bytes()
    memory.write(log.checkpoint(4))
    after = path.read_bytes()
    changed = [at for at in range(len(whole)) if whole[at] != after[at]]
    for cut in range(changed[0], changed[-1] + 1):
        path.write_bytes(after[:cut] + whole[cut:])
        assert SignatureMemory(path).read() == log.checkpoint(3)
    path.write_bytes(after)
    assert SignatureMemory(path).read() == log.checkpoint(4)


def test_a_first_write_that_is_cut_off_leaves_that_nothing_was_signed(
    tmp_path: Path, log: WitnessedLog
) -> None:
    path = tmp_path / MEMORY
    SignatureMemory(path).begin()
    before = path.read_bytes()
    SignatureMemory(path).write(log.checkpoint(1))
    after = path.read_bytes()
    changed = [at for at in range(len(before)) if before[at] != after[at]]
    for cut in range(changed[0], changed[-1] + 1):
        path.write_bytes(after[:cut] + before[cut:])
        assert SignatureMemory(path).read() is None
        assert sign(Notary(log.signer, path), log, 1).size == 1


def test_a_memory_that_says_nothing_sound_lets_nothing_be_signed(
    tmp_path: Path, log: WitnessedLog
) -> None:
    for garbage in (b"", bytes(8192), b"\xff" * 9000):
        (tmp_path / MEMORY).write_bytes(garbage)
        with pytest.raises(UserFacingError, match="is damaged, so nothing is signed"):
            sign(Notary(log.signer, tmp_path / MEMORY), log, 3)


def test_what_the_disk_does_not_take_is_not_signed(tmp_path: Path, log: WitnessedLog) -> None:
    notary = begun(tmp_path, log)
    sign(notary, log, 3)
    (tmp_path / MEMORY).unlink()
    (tmp_path / MEMORY).mkdir()
    with pytest.raises(IsADirectoryError):
        sign(notary, log, 4)


def test_a_memory_that_cannot_be_opened_for_now_is_waited_for(
    tmp_path: Path, log: WitnessedLog, monkeypatch: pytest.MonkeyPatch
) -> None:
    notary = begun(tmp_path, log)

    def exhausted(*_: object) -> None:
        raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))

    with monkeypatch.context() as later:
        later.setattr(type(tmp_path), "open", exhausted)
        with pytest.raises(UnwritableError):
            sign(notary, log, 3)
    assert sign(notary, log, 3).size == 3


def test_an_answer_to_another_question_is_not_this_logs_signer(
    tmp_path: Path, log: WitnessedLog, monkeypatch: pytest.MonkeyPatch
) -> None:
    notary = RemoteNotary(tmp_path / "sign.socket", log.signer.key)
    here = Here(key=to_base64(log.signer.key), size=0)
    for answer, ask in (
        (Other(size=3), lambda: RemoteNotary(tmp_path / "sign.socket").key),
        (here, lambda: sign(notary, log, 3)),
        (Other(size=3), lambda: sign(notary, log, 3)),
    ):
        raw = msgspec.json.encode(answer)
        monkeypatch.setattr(RemoteNotary, "_exchange", lambda *_, raw=raw: raw)
        with pytest.raises(UserFacingError, match="is not this log's signer"):
            ask()


def test_a_signer_that_is_away_is_waited_for_and_a_stranger_is_not_believed(
    tmp_path: Path, log: WitnessedLog
) -> None:
    with pytest.raises(UnwritableError, match="does not answer"):
        sign(RemoteNotary(tmp_path / "sign.socket"), log, 3)
    with beside(tmp_path, log):
        notary = RemoteNotary(tmp_path / "sign.socket")
        assert notary.key == log.signer.key
        (tmp_path / "other").mkdir()
    other = WitnessedLog(signer=type(log.signer)(bytes([9]) * 32), hashes=log.hashes)
    with beside(tmp_path, other), pytest.raises(UserFacingError, match="is not this log's signer"):
        sign(notary, log, 3)


def test_no_line_does_worse_than_being_refused(tmp_path: Path, log: WitnessedLog) -> None:
    sound = msgspec.json.encode(Sign(origin="o", size=-1, root="x", old=0))
    with beside(tmp_path, log) as notary:
        deep = b'{"a":' + b"[" * 9_000
        latin = b'{"type":"sign","origin":"\xff","size":1,"root":"","old":0}'
        for line in (
            *(b"", b"\n", b"{}\n", b"\xff\n", sound + b"\n", b"a" * LINE_BYTES + b"\n"),
            *(b'{"type":"\xff"}\n', latin + b"\n", deep + b"\n"),
        ):
            with contextlib.closing(socket.socket(socket.AF_UNIX)) as caller:
                caller.connect(str(tmp_path / "sign.socket"))
                with contextlib.suppress(BrokenPipeError, ConnectionResetError):
                    caller.sendall(line)
                    caller.shutdown(socket.SHUT_WR)
                    answer = caller.recv(LINE_BYTES)
                    assert answer.startswith(b'{"type":"refused"')
        assert sign(notary, log, 3).size == 3


def test_a_caller_who_trickles_has_one_deadline(tmp_path: Path, log: WitnessedLog) -> None:
    is_done = threading.Event()

    def trickle(caller: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while not is_done.wait(0.05):
                caller.sendall(b"x")

    with (
        beside(tmp_path, log, patience_s=0.3) as notary,
        contextlib.closing(socket.socket(socket.AF_UNIX)) as caller,
    ):
        caller.connect(str(tmp_path / "sign.socket"))
        trickling = threading.Thread(target=trickle, args=(caller,))
        trickling.start()
        try:
            assert sign(notary, log, 3).size == 3
        finally:
            is_done.set()
            trickling.join()


def test_nobody_else_may_open_the_socket(tmp_path: Path, log: WitnessedLog) -> None:
    with beside(tmp_path, log):
        assert stat.S_IMODE((tmp_path / "sign.socket").stat().st_mode) == 0o660
    assert not (tmp_path / "sign.socket").exists()


def test_a_folder_with_the_key_needs_no_signer_and_one_without_needs_one(
    tmp_path: Path, log: WitnessedLog
) -> None:
    here, elsewhere = DataFolder(tmp_path / "here"), DataFolder(tmp_path / "elsewhere")
    with here, elsewhere:
        key = here.signer("log").key
        assert open_signer(here).key == key
        with pytest.raises(UserFacingError, match="does not protect it"):
            open_signer(here, tmp_path / "sign.socket")
        store_public_key(elsewhere, log.signer.key)
        absent = open_signer(elsewhere)
        assert isinstance(absent, AbsentSigner)
        assert (absent.key, public_key(elsewhere)) == (log.signer.key, log.signer.key)
        with pytest.raises(UserFacingError, match="--signer"):
            sign(absent, log, 3)
        (tmp_path / "elsewhere" / PUBLIC_KEY).write_bytes(b"no key")
        with pytest.raises(UserFacingError, match=f"{PUBLIC_KEY} cannot be read"):
            open_signer(elsewhere)
        assert not elsewhere.holds_key("log")


def test_a_key_without_its_memory_signs_nothing_unless_it_never_did(
    tmp_path: Path, log: WitnessedLog
) -> None:
    with DataFolder(tmp_path) as folder:
        notary = open_notary(folder, log.origin, is_first=False)
        log.signer = folder.signer("log")
        assert (notary.last_size, (tmp_path / MEMORY).exists()) == (0, True)
        assert open_notary(folder, log.origin, is_first=False).last_size == 0, (
            "it has signed nothing yet"
        )
        for size in (3, 9, 10):
            sign(notary, log, size)
        assert open_notary(folder, log.origin, is_first=False).last_size == 10
        (tmp_path / MEMORY).unlink()
        with pytest.raises(UserFacingError, match="restore that file, or use --first"):
            open_notary(folder, log.origin, is_first=False)
        assert open_notary(folder, log.origin, is_first=True).last_size == 0


def test_a_ledgers_own_key_without_its_memory_signs_nothing(
    tmp_path: Path, log: WitnessedLog
) -> None:
    with DataFolder(tmp_path) as folder:
        notary = open_signer(folder)
        log.signer = folder.signer("log")
        assert not has_no_memory(folder), "a key that is made here has one from the beginning"
        sign(notary, log, 7)
        (tmp_path / MEMORY).unlink()
        for size in (7, 8):
            with pytest.raises(WouldForkError, match=r"log\.signed is missing.*restore --confirm"):
                sign(open_signer(folder), log, size)
        begin_memory(folder)
        assert sign(open_signer(folder), log, 8).size == 8


def test_a_signer_signs_for_one_log_from_its_first_signature_on(
    tmp_path: Path, log: WitnessedLog
) -> None:
    foreign = WitnessedLog(origin="log.example/two", hashes=log.hashes)
    with beside(tmp_path, log) as notary:
        with pytest.raises(WouldForkError, match=r"signs 'log\.example/one', not"):
            sign(notary, foreign, 3)
        assert sign(notary, log, 3).size == 3
    with DataFolder(tmp_path / "keeper") as folder:
        keeper = open_notary(folder, log.origin, is_first=False)
        log.signer = folder.signer("log")
        sign(keeper, log, 3)
        with pytest.raises(UserFacingError, match=r"signs the log 'log\.example/one', not"):
            open_notary(folder, foreign.origin, is_first=False)


@pytest.mark.skipif(not hasattr(socket, "SO_PEERCRED"), reason="the system does not tell who asks")
def test_a_user_who_was_not_named_is_answered_nothing(tmp_path: Path, log: WitnessedLog) -> None:
    others = frozenset([os.getuid() + 1])
    with beside(tmp_path, log, others, patience_s=10 * PATIENCE_S) as notary:
        for ask in (lambda: notary.key, lambda: sign(notary, log, 3)):
            with pytest.raises(
                UnwritableError, match=rf"user {os.getuid()} may not use .*--caller"
            ):
                ask()
        silent = socket.socket(socket.AF_UNIX)
        with contextlib.closing(silent):  # and is not listened to for as long as a caller is
            silent.connect(str(tmp_path / "sign.socket"))
            silent.settimeout(PATIENCE_S)
            assert b"may not use" in silent.recv(LINE_BYTES)


@contextmanager
def signing(folder: Path) -> Iterator[subprocess.Popen[str]]:
    """The real program."""
    process = subprocess.Popen(
        [*PROGRAM, "--dir", str(folder), "--origin", WitnessedLog().origin],
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONWARNINGS": "default"},
    )
    try:
        assert process.stderr is not None
        line = process.stderr.readline()
        assert "tequio-ledger sign serves" in line, line + process.stderr.read()
        yield process
    finally:
        with contextlib.suppress(ProcessLookupError):
            process.terminate()
        assert process.wait(10) in (0, -signal.SIGKILL)
        assert process.stderr is not None
        process.stderr.close()


def test_killed_at_any_moment_the_program_signs_no_second_history(tmp_path: Path) -> None:
    chance = random.Random(3)
    log, signed = WitnessedLog().grow(600), 0
    for _ in range(4):
        with signing(tmp_path) as process:
            notary = RemoteNotary(tmp_path / "sign.socket")
            log.signer = type(log.signer)(bytes.fromhex((tmp_path / "log.key").read_text()))
            if signed:
                with pytest.raises(WouldForkError):
                    sign(notary, log, signed - 1)
                with pytest.raises(WouldForkError):
                    sign(notary, log.fork(signed - 1, 50), signed)
            killer = threading.Timer(chance.uniform(0.01, 0.2), process.kill)
            killer.start()
            with contextlib.suppress(UnwritableError, UserFacingError):
                for size in range(signed + 1, signed + 140):
                    signed = sign(notary, log, size).size
            killer.join()
    assert signed > 8


def test_the_line_of_a_hello_gives_the_public_key_alone(tmp_path: Path, log: WitnessedLog) -> None:
    with beside(tmp_path, log), contextlib.closing(socket.socket(socket.AF_UNIX)) as caller:
        caller.connect(str(tmp_path / "sign.socket"))
        caller.sendall(msgspec.json.encode(Hello()) + b"\n")
        answer = caller.recv(LINE_BYTES)
    assert msgspec.json.decode(answer) == {
        "type": "here",
        "key": to_base64(log.signer.key),
        "size": 0,
    }
