"""`tequio-ledger witness` over HTTP: what it cosigns, what it refuses, what it never forgets."""

from __future__ import annotations

import random
import shutil
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import httpx
import msgspec
import pytest

from tequio_ledger.runtime import now_ms
from tequio_ledger.witness import app
from tequio_ledger.witness.app import WitnessSettings
from tequio_ledger.witness.witness import EVIDENCE_FILES, CheckpointStore, WitnessService
from tequio_shared.errors import UserFacingError
from tequio_shared.keys import Signer
from tequio_shared.log import notes
from tequio_shared.log.cosigning import (
    AddCheckpoint,
    CosigningRefusedError,
    ForkEvidence,
    find_cosignature,
    origin_hash,
)
from tequio_shared.log.notes import KeyKind, VerifierKey, open_checkpoint
from tests.support.fork_evidence import proves_fork
from tests.support.witnesses import Witness, WitnessedLog, witnessing

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def log() -> WitnessedLog:
    return WitnessedLog().grow(40)


@pytest.fixture
def witness(tmp_path: Path, log: WitnessedLog) -> Iterator[Witness]:
    with witnessing(tmp_path / "w", log.key) as running:
        yield running


def cosigned(witness: Witness, log: WitnessedLog, old: int, size: int) -> str:
    """Have a checkpoint cosigned; the line that verifies."""
    request = log.request(old, size)
    answer = witness.add(request)
    assert answer.status_code == 200, answer.text
    return find_cosignature(request.note, answer.content, log.key, witness.key, now_ms() // 1000)


def test_a_growing_log_is_cosigned_and_shown_as_it_was_cosigned(
    witness: Witness, log: WitnessedLog
) -> None:
    assert witness.held(log.origin).status_code == 404
    for old, size in ((0, 3), (3, 3), (3, 17), (17, 40)):
        line = cosigned(witness, log, old, size)
        held = witness.held(log.origin)
        assert held.headers["content-type"] == "text/plain; charset=utf-8"
        assert held.content == notes.add_lines(log.request(0, size).note, [line])
        signed = open_checkpoint(held.content, log.key, [witness.key])
        assert (signed.checkpoint, len(signed.cosignatures)) == (log.checkpoint(size), 1)


def test_a_conflict_says_the_size_in_its_own_type(witness: Witness, log: WitnessedLog) -> None:
    cosigned(witness, log, 0, 17)
    for old, size in ((0, 40), (3, 40), (3, 9)):
        answer = witness.add(log.request(old, size))
        assert (answer.status_code, answer.content) == (409, b"17\n")
        assert answer.headers["content-type"] == "text/x.tlog.size"


def test_a_fork_is_refused_and_kept_as_evidence(
    tmp_path: Path, witness: Witness, log: WitnessedLog
) -> None:
    cosigned(witness, log, 0, 30)
    other = log.fork(20, 20)
    equal, larger = witness.add(other.request(30, 30)), witness.add(other.request(30, 40))
    assert (equal.status_code, larger.status_code) == (409, 422)
    assert open_checkpoint(witness.held(log.origin).content, log.key).checkpoint.size == 30
    place = tmp_path / "w" / "logs" / origin_hash(log.origin)
    for folder, is_fork in (("forks", True), ("unproven", False)):
        (path,) = (place / folder).iterdir()
        assert proves_fork(msgspec.json.decode(path.read_bytes(), type=ForkEvidence)) is is_fork
    assert cosigned(witness, log, 30, 40)  # the honest log goes on


def test_strangers_get_the_statuses_of_the_specification(
    witness: Witness, log: WitnessedLog
) -> None:
    unknown = WitnessedLog(origin="log.example/two").grow(3)
    thief = WitnessedLog(signer=Signer(bytes([22]) * 32)).grow(3)
    assert witness.add(unknown.request(0)).status_code == 404
    assert witness.add(thief.request(0)).status_code == 403
    too_small = AddCheckpoint(old_size=9, proof=(), note=log.request(0, 3).note)
    assert witness.add(too_small).status_code == 400
    proof = AddCheckpoint(old_size=0, proof=(log.hashes[0],), note=log.request(0, 3).note)
    assert witness.add(proof).status_code == 422
    for garbage in (b"", b"old 0\n\n", b"old 0\n\n\xff", b"old x\n\nx\n1\n"):
        answer = httpx.post(f"{witness.url}/add-checkpoint", content=garbage, timeout=30)
        assert answer.status_code == 400
    large = httpx.post(f"{witness.url}/add-checkpoint", content=b"a" * 80_000, timeout=30)
    assert large.status_code == 413
    assert httpx.get(f"{witness.url}/add-checkpoint", timeout=30).status_code == 405
    assert httpx.get(f"{witness.url}/healthz", timeout=30).json() == {"status": "ok"}


def test_lines_that_strangers_put_into_a_note_do_not_reach_the_book(
    witness: Witness, log: WitnessedLog
) -> None:
    forged = notes.cosignature_line(
        log.checkpoint(3), witness.key.name, Signer(bytes([23]) * 32), 1_700_000_000
    )
    own_id = notes.to_base64(witness.key.id + bytes(72))
    request = log.request(0, 3)
    lines = [forged, f"— {witness.key.name} {own_id}\n"]
    asked = AddCheckpoint(old_size=0, proof=(), note=notes.add_lines(request.note, lines))
    assert witness.add(asked).status_code == 200
    assert len(open_checkpoint(witness.held(log.origin).content, log.key).cosignatures) == 0
    assert open_checkpoint(witness.held(log.origin).content, log.key, [witness.key]).cosignatures


def test_of_many_requests_at_once_none_rolls_the_log_back(
    witness: Witness, log: WitnessedLog
) -> None:
    """Each asks from what it believes was last; only chains of true continuations get through."""
    chance = random.Random(5)
    steps = [(old, size) for old in range(0, 40, 4) for size in (old + 4, 40)]
    chance.shuffle(steps)
    told: list[tuple[int, int]] = []
    lock = threading.Lock()

    def ask(step: tuple[int, int]) -> None:
        answer = witness.add(log.request(*step))
        assert answer.status_code in (200, 409), answer.text
        if answer.status_code == 200:
            with lock:
                told.append(step)

    with ThreadPoolExecutor(8) as threads:
        for _ in range(3):
            list(threads.map(ask, steps))
    chain = sorted(told)
    assert chain[0][0] == 0
    assert [old for old, _ in chain[1:]] == [size for _, size in chain[:-1]]
    held = open_checkpoint(witness.held(log.origin).content, log.key).checkpoint
    assert held.size == chain[-1][1]


def test_what_it_cosigned_it_knows_after_every_kill(tmp_path: Path) -> None:
    """Killed at any moment, the witness never cosigns another history of what it cosigned."""
    log = WitnessedLog().grow(400)
    chance = random.Random(9)
    seen = 0
    for _ in range(5):
        with witnessing(tmp_path / "w", log.key) as witness:
            held = witness.held(log.origin)
            size = open_checkpoint(held.content, log.key).checkpoint.size if seen else 0
            assert size >= seen
            seen = size
            requests = [log.request(step - 1, step).encode() for step in range(size + 1, size + 70)]
            url = f"{witness.url}/add-checkpoint"
            with httpx.Client(timeout=30) as http:
                assert http.post(url, content=requests[0]).status_code == 200
                killer = threading.Timer(chance.uniform(0.0, 0.25), witness.kill)
                killer.start()
                try:
                    for at, body in enumerate(requests[1:], start=2):
                        seen = size + at - 1
                        assert http.post(url, content=body).status_code == 200
                except httpx.HTTPError:
                    pass
                killer.join()
    assert seen > 10
    with witnessing(tmp_path / "w", log.key) as witness:
        forked = log.fork(seen - 1, 100)
        assert witness.add(forked.request(seen, seen)).status_code in (409, 422)
        assert witness.add(forked.request(seen, seen + 50)).status_code in (409, 422)


def test_a_second_witness_on_the_folder_and_settings_that_cannot_be_are_refused(
    tmp_path: Path, witness: Witness, log: WitnessedLog
) -> None:
    assert witness.url
    for folder, name, why in (("w", "w", "in use by another"), ("x", "w w", "invalid key name")):
        settings = WitnessSettings(
            folder=tmp_path / folder, host="127.0.0.1", port=0, name=name, logs=(log.key,)
        )
        with pytest.raises(UserFacingError, match=why):
            app.serve(settings)


def test_a_changed_byte_in_the_book_stops_the_start(tmp_path: Path, log: WitnessedLog) -> None:
    with witnessing(tmp_path / "w", log.key) as witness:
        cosigned(witness, log, 0, 30)
        own = witness.key
    path = tmp_path / "w" / "logs" / origin_hash(log.origin) / "checkpoint"
    whole = path.read_bytes()
    for changed in (whole.replace(b"\n30\n", b"\n29\n"), b"", log.request(0, 20).note):
        path.write_bytes(changed)
        with pytest.raises(UserFacingError, match="is not what this witness stored"):
            CheckpointStore(tmp_path / "w" / "logs", {log.origin: log.key}, own)


def test_a_key_that_outlived_what_it_saw_cosigns_nothing(tmp_path: Path, log: WitnessedLog) -> None:
    with witnessing(tmp_path / "w", log.key):
        assert (tmp_path / "w" / "logs").is_dir(), "there before anything is cosigned"
    with witnessing(tmp_path / "w", log.key) as witness:
        cosigned(witness, log, 0, 3)
    shutil.rmtree(tmp_path / "w" / "logs")
    with (
        pytest.raises(AssertionError, match="which records what it cosigned"),
        witnessing(tmp_path / "w", log.key),
    ):
        pass


def test_what_the_disk_does_not_take_is_not_cosigned(tmp_path: Path, log: WitnessedLog) -> None:
    signer = Signer(bytes([31]) * 32)
    own = VerifierKey(name="w", kind=KeyKind.COSIGNER, key=signer.key)
    logs = {log.origin: log.key}
    store = CheckpointStore(tmp_path / "logs", logs, own)
    (tmp_path / "logs").write_text("no folder")
    service = WitnessService(store, signer, lambda: 1_700_000_000_000)
    with pytest.raises(FileExistsError):
        service.add_checkpoint(log.request(0, 5).encode())
    assert store.last == {}


def service_of(folder: Path, log: WitnessedLog) -> WitnessService:
    signer = Signer(bytes([31]) * 32)
    own = VerifierKey(name="w", kind=KeyKind.COSIGNER, key=signer.key)
    logs = {log.origin: log.key}
    return WitnessService(CheckpointStore(folder, logs, own), signer, lambda: 1_700_000_000_000)


@pytest.mark.parametrize(("folder", "size"), [("forks", 5), ("unproven", 12)])
def test_evidence_has_a_bound(tmp_path: Path, log: WitnessedLog, folder: str, size: int) -> None:
    service = service_of(tmp_path, log)
    service.add_checkpoint(log.request(0, 5).encode())
    for at in range(EVIDENCE_FILES + 5):
        other = WitnessedLog(hashes=log.hashes[:2]).grow(10, f"{at} ")
        with pytest.raises(CosigningRefusedError):
            service.add_checkpoint(other.request(5, size).encode())
    assert len(list((tmp_path / origin_hash(log.origin) / folder).iterdir())) == EVIDENCE_FILES


def test_nobody_makes_a_witness_accuse_an_honest_log_or_fill_its_evidence(
    tmp_path: Path, log: WitnessedLog
) -> None:
    """Anybody can send the log's own newest checkpoint with garbage for a proof."""
    service, place = service_of(tmp_path, log), tmp_path / origin_hash(log.origin)
    service.add_checkpoint(log.request(0, 5).encode())
    stranger = Signer(bytes([32]) * 32)
    for at in range(EVIDENCE_FILES + 5):
        line = notes.cosignature_line(log.checkpoint(12), f"w{at}", stranger, 1_700_000_000)
        note = notes.add_lines(log.request(5, 12).note, [line])
        asked = AddCheckpoint(old_size=5, proof=(log.hashes[at % 40],), note=note)
        with pytest.raises(CosigningRefusedError):
            service.add_checkpoint(asked.encode())
    assert not (place / "forks").exists()
    assert len(list((place / "unproven").iterdir())) == 1
    with pytest.raises(CosigningRefusedError):
        service.add_checkpoint(log.fork(2, 3).request(5, 5).encode())
    (path,) = (place / "forks").iterdir()
    assert proves_fork(msgspec.json.decode(path.read_bytes(), type=ForkEvidence))
