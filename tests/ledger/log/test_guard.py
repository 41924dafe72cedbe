"""A ledger that lost entries signs nothing: after a restore, and whenever a client proves it."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING

import httpx
import pytest

from tequio_ledger.admin import backup as backups
from tequio_ledger.admin import backup as restores
from tequio_ledger.data_folder import DataFolder
from tequio_ledger.log.guard import Cause, NotSigningError, newest, read_mark
from tequio_ledger.log.sequencer import Logged
from tequio_ledger.store.log_rows import SignedHead, StoredCheckpoint
from tequio_shared.errors import RefusedError, SignatureInvalidError, UserFacingError
from tequio_shared.ids import sha256
from tequio_shared.log.notes import Checkpoint, KeyKind, VerifierKey, sign_checkpoint
from tequio_shared.log.tiles import encode_bundle
from tests.support.attack_table import attack
from tests.support.authors import newcomers
from tests.support.killable_ledger import ledger_forker
from tests.support.ledgers import ORGANISER, VirtualClock, make_settings, opened, running

if TYPE_CHECKING:
    from pathlib import Path

    from tequio_ledger.ledger import Ledger

CLOCK = VirtualClock()


async def submit(ledger: Ledger, name: str, count: int) -> bytes:
    """Log `count` entries; return the checkpoint after them."""
    entries = newcomers(name, ledger.state.net, count, CLOCK())
    outcomes = await ledger.sequencer.submit(entries)
    assert all(isinstance(outcome, Logged) for outcome in outcomes)
    return ledger.log.published.note


async def grow(ledger: Ledger, name: str, count: int) -> bytes:
    """Run a ledger for `count` entries; only once per ledger, as its queue belongs to one loop."""
    async with running(ledger):
        return await submit(ledger, name, count)


def saved(tmp_path: Path) -> tuple[Path, bytes, bytes]:
    """Make a backup, after which the ledger goes on; return it and checkpoints before and after."""

    async def live(ledger: Ledger) -> tuple[bytes, bytes]:
        async with running(ledger):
            before = await submit(ledger, "early", 5)
            source = DataFolder(tmp_path / "first")
            await asyncio.to_thread(backups.backup, source, tmp_path / "backup", CLOCK)
            return before, await submit(ledger, "late", 3)

    with opened(make_settings(tmp_path / "first"), CLOCK) as ledger:
        return tmp_path / "backup", *asyncio.run(live(ledger))


def restored(tmp_path: Path) -> tuple[Path, bytes, bytes]:
    backup, before, after = saved(tmp_path)
    restores.restore(backup, tmp_path / "second")
    return tmp_path / "second", before, after


async def refusal(ledger: Ledger) -> RefusedError:
    with pytest.raises(RefusedError) as refused:
        await ledger.sequencer.submit(newcomers("nobody", ledger.state.net, 1, CLOCK()))
    return refused.value


def test_a_restored_ledger_serves_what_it_has_and_signs_nothing(tmp_path: Path) -> None:
    folder, before, _ = restored(tmp_path)
    with opened(make_settings(folder), CLOCK) as ledger:
        assert ledger.log.published.note == before
        assert len(ledger.state.peers) == 2 + 5
        assert asyncio.run(refusal(ledger)).code == "read-only"
        assert ledger.health().status == "restored"


def test_it_signs_again_when_a_person_confirms_and_nobody_holds_more(tmp_path: Path) -> None:
    folder, before, _ = restored(tmp_path)
    with opened(make_settings(folder), CLOCK) as ledger:
        assert asyncio.run(ledger.judge_checkpoint(before))
    held = tmp_path / "note"
    held.write_bytes(before)
    assert restores.confirm(DataFolder(folder), [held]) == 6
    with opened(make_settings(folder), CLOCK) as ledger:
        asyncio.run(grow(ledger, "later", 2))
        assert ledger.log.published.size == 8
        assert ledger.health().status == "ok"


def test_it_never_signs_when_somebody_holds_more(tmp_path: Path) -> None:
    folder, _, after = restored(tmp_path)
    with opened(make_settings(folder), CLOCK) as ledger:
        assert not asyncio.run(ledger.judge_checkpoint(after))
        assert ledger.health().status == "lost"
        assert "9 entries" in str(asyncio.run(refusal(ledger)))
    with pytest.raises(NotSigningError, match="restore a newer backup"):
        restores.confirm(DataFolder(folder), [])
    with opened(make_settings(folder), CLOCK) as ledger:
        assert ledger.health().status == "lost", "also after a restart"


def test_a_checkpoint_given_to_confirm_stops_it_for_good(tmp_path: Path) -> None:
    folder, _, after = restored(tmp_path)
    held = tmp_path / "note"
    held.write_bytes(after)
    with pytest.raises(NotSigningError, match="9 entries"):
        restores.confirm(DataFolder(folder), [held])
    mark = read_mark(DataFolder(folder).mark)
    assert mark is not None
    assert mark.cause is Cause.LOST


def test_a_fork_of_the_same_size_is_told_from_our_own_log(tmp_path: Path) -> None:
    folder, _, after = restored(tmp_path)
    restores.confirm(DataFolder(folder), [])  # somebody was too sure
    with opened(make_settings(folder), CLOCK) as ledger:
        asyncio.run(grow(ledger, "others", 7))
        assert ledger.log.published.size > 9
        assert not asyncio.run(ledger.judge_checkpoint(after))
        assert ledger.health().status == "lost"
        published = ledger.log.published
        with pytest.raises(NotSigningError):
            ledger.log.append([], lambda _connection: None)
    with opened(make_settings(folder), CLOCK) as ledger:
        assert asyncio.run(refusal(ledger)).code == "read-only"
        assert ledger.log.published == published


def test_with_a_mark_that_cannot_be_read_nothing_is_signed(tmp_path: Path) -> None:
    path = tmp_path / "signing.json"
    path.write_bytes(b"{")
    with pytest.raises(UserFacingError, match="nothing is signed"):
        read_mark(path)


def test_a_ledger_that_runs_stops_signing_at_once(tmp_path: Path) -> None:
    folder, before, after = restored(tmp_path)
    (folder / "signing.json").unlink()

    async def scenario(ledger: Ledger) -> None:
        async with running(ledger):
            assert await ledger.judge_checkpoint(before)
            assert not await ledger.judge_checkpoint(after)
            assert (await refusal(ledger)).code == "read-only"
            published = ledger.log.published
        assert published.note == before
        assert ledger.log.published == published

    with opened(make_settings(folder), CLOCK) as ledger:
        asyncio.run(scenario(ledger))


def test_a_witness_that_remembers_more_stops_a_ledger_before_it_leads(tmp_path: Path) -> None:
    folder, _, after = restored(tmp_path)
    (folder / "signing.json").unlink()
    with opened(make_settings(folder), CLOCK) as ledger:
        term = ledger.log.term
        ledger.guard.recall = lambda: [after]
        with pytest.raises(NotSigningError):
            ledger.log.load(lambda _row, _entry: None)
        assert ledger.log.term == term
        assert ledger.health().status == "lost"


def test_the_first_proof_of_lost_entries_stays(tmp_path: Path) -> None:
    folder, _, after = restored(tmp_path)
    with opened(make_settings(tmp_path / "first"), CLOCK) as ledger:
        later = asyncio.run(grow(ledger, "later", 2))
    with opened(make_settings(folder), CLOCK) as ledger:
        assert not asyncio.run(ledger.judge_checkpoint(after))
        assert not asyncio.run(ledger.judge_checkpoint(later))
    mark = read_mark(folder / "signing.json")
    assert mark is not None
    assert (mark.shown, mark.shown_size) == (after.decode(), 9)


def test_a_checkpoint_that_a_witness_invented_stops_no_ledger(tmp_path: Path) -> None:
    with opened(make_settings(tmp_path), CLOCK) as ledger:
        lie = Checkpoint(origin=ledger.genesis.origin, size=99, root=ledger.log.published.root)
        ledger.guard.recall = lambda: [sign_checkpoint(lie, ORGANISER)]
        ledger.guard.check_before_leading(ledger.database)
        assert ledger.health().status == "ok"


@pytest.mark.parametrize(
    ("size", "stored_size", "head_size", "head_root", "said"),
    [
        (5, 5, 4, b"a", "checkpoint 5 is ahead of the log's 4 entries"),
        (4, 5, 5, b"a", "checkpoint 5 does not match its row"),
        (5, 5, 5, b"b", "checkpoint 5 was signed over another root"),
    ],
)
def test_a_stored_checkpoint_is_that_of_the_log(
    size: int, stored_size: int, head_size: int, head_root: bytes, said: str
) -> None:
    root, origin = sha256(b"a"), "ledger.example/test"
    note = sign_checkpoint(Checkpoint(origin=origin, size=size, root=root), ORGANISER)
    stored = StoredCheckpoint(size=stored_size, root=root, note=note, at_ms=0)
    head = SignedHead(origin=origin, size=head_size, root=sha256(head_root), term=1)
    key = VerifierKey(name=origin, kind=KeyKind.LOG, key=ORGANISER.key)
    with pytest.raises(UserFacingError, match=said):
        newest(stored, head, key.text())


def test_nobody_else_can_stop_a_ledger(tmp_path: Path) -> None:
    with opened(make_settings(tmp_path), CLOCK) as ledger:
        lie = Checkpoint(origin=ledger.genesis.origin, size=99, root=ledger.log.published.root)
        with pytest.raises(SignatureInvalidError):
            asyncio.run(ledger.judge_checkpoint(sign_checkpoint(lie, ORGANISER)))
        assert ledger.health().status == "ok"


def test_what_was_never_restored_needs_no_confirmation(tmp_path: Path) -> None:
    with opened(make_settings(tmp_path), CLOCK):
        pass
    with pytest.raises(UserFacingError, match="was not restored"):
        restores.confirm(DataFolder(tmp_path), [])


@attack("L2", layer="log", ends="stopped by the first client that remembers more")
def test_clients_stop_a_restored_program_over_http(tmp_path: Path) -> None:
    folder, before, after = restored(tmp_path)
    with ledger_forker(tmp_path) as forker:
        url, net = forker.start(folder).served()
        with httpx.Client(base_url=url, timeout=30) as http:
            assert http.post("/log/checkpoint", content=b"garbage\n").status_code == 400
            assert http.post("/log/checkpoint", content=before).status_code == 204
            assert http.get("/healthz").json()["status"] == "restored"
            lost = http.post("/log/checkpoint", content=after)
            assert (lost.status_code, lost.json()["type"]) == (409, "urn:tequio:problem:log-behind")
            assert http.get("/healthz").status_code == 503
            leaves = [one.leaf() for one in newcomers("me", net, 1, time.time_ns() // 1_000_000)]
            answer = http.post("/v1/statements", content=encode_bundle(leaves))
            assert answer.status_code == 503
            assert answer.json()["type"] == "urn:tequio:problem:read-only"
            assert int(answer.headers["retry-after"]) > 0
            assert http.get("/log/checkpoint").content == before
