"""The audit finds nothing in an honest log, and names the place of every lie."""

from __future__ import annotations

import sys
from functools import cache
from http.server import BaseHTTPRequestHandler
from typing import TYPE_CHECKING

import msgspec
import pytest
from click.testing import CliRunner

from tequio_client.verify.audit import AuditOptions, audit
from tequio_client.verify.cli import audit as command
from tequio_client.verify.reader import LogReader
from tequio_client.verify.report import AuditFinding, AuditGrade, LogPlace, LogReport
from tequio_client.worker.swarm.seeds import StoreFolders
from tequio_shared.errors import UserFacingError
from tequio_shared.head.chain import Head
from tequio_shared.head.contribution import ContributionHeader
from tequio_shared.ids import Digest, NetworkId, from_text, sha256, to_text
from tequio_shared.log import merkle
from tequio_shared.log.notes import Checkpoint, SignedCheckpoint
from tequio_shared.network.run import first_head
from tequio_shared.network.run_states import RunState
from tequio_shared.round.documents import RoundResult
from tequio_shared.statements.network import KeyRegister
from tequio_shared.statements.runs import (
    HeadPromote,
    RoundClose,
    RunFinish,
    RunOpen,
    RunResume,
    WorkCommit,
)
from tequio_shared.statements.statement import Entry
from tests.client.verify.logs import SwarmLog, all_tiles, fill_store
from tests.support.authors import registration
from tests.support.http_servers import serving
from tests.support.memory_swarm import ORIGIN, Swarm, paused_swarm
from tests.support.tiny_run import SwarmArithmetic, signer, tiny_manifest
from tests.support.volunteers import FailureRates, StatementDraft

if TYPE_CHECKING:
    from pathlib import Path

    from tequio_shared.head.chain import NextHead
    from tequio_shared.round.round import RoundView
    from tequio_shared.statements.statement import Body


@cache
def crooked_swarm() -> Swarm:
    """A finished run with closed and void rounds; not to be changed."""
    swarm = Swarm(manifest=tiny_manifest(most=10), seed=12)
    for at in range(6):
        swarm.volunteer(f"v{at}", FailureRates(silent=12, partial=40, leaving=4))
    swarm.run()
    assert swarm.view.closed >= 3
    assert swarm.view.voided >= 1
    assert len(swarm.entries) > 256, "more than one tile"
    return swarm


@pytest.fixture
def log() -> SwarmLog:
    return SwarmLog(crooked_swarm())


@pytest.fixture
def store(tmp_path: Path) -> Path:
    fill_store(crooked_swarm(), tmp_path / "store")
    return tmp_path / "store"


def audited(log: SwarmLog, store: Path | None = None) -> LogReport:
    return audit(log, AuditOptions(contributions=(StoreFolders([store]),) if store else ()))


def read_to(reader: LogReader, size: int, root: Digest) -> list[bytes]:
    signed = SignedCheckpoint(
        checkpoint=Checkpoint(origin=ORIGIN, size=size, root=root), cosignatures=()
    )
    return [leaf for _, leaf in reader.entries(signed, b"", lambda _: None)]


def index_of(type_: str, nth: int = 0) -> int:
    found = [at for at, one in enumerate(crooked_swarm().entries) if one.statement.type == type_]
    return found[nth]


def found_at(report: LogReport, entry: int) -> list[AuditFinding]:
    assert report.exit_code == 2
    return [one for one in report.findings if one.place.entry == entry]


def flipped(content: bytes, at: int) -> bytes:
    return content[:at] + bytes([content[at] ^ 1]) + content[at + 1 :]


def test_an_honest_log_with_a_void_round_is_sound(log: SwarmLog, store: Path) -> None:
    report = audited(log, store)
    assert [one.line() for one in report.findings] == []
    assert report.exit_code == 0
    view = crooked_swarm().view
    assert report.checked["rounds closed"] == view.closed
    assert report.checked["heads recomputed"] == view.closed
    assert report.checked["entries"] == len(log.leaves)


@pytest.mark.parametrize(
    ("more", "first", "exit_code", "said"),
    [
        (0, 0, 0, ""),
        (-40, 0, 0, ""),
        (0, 1, 2, "does not continue it"),
        (-40, 1, 2, "does not continue it"),
        (1, 0, 3, "audit again later"),
    ],
    ids=["whole", "beginning", "other log", "fork", "not there yet"],
)
def test_a_log_continues_what_was_seen_of_it(
    log: SwarmLog, more: int, first: int, exit_code: int, said: str
) -> None:
    size = len(log.leaves) + more
    leaves = [*log.leaves, *log.leaves[:2]][first : first + size]
    seen = Checkpoint(origin=ORIGIN, size=size, root=merkle.root(leaves))
    report = audit(log, AuditOptions(seen=seen))
    assert report.exit_code == exit_code
    assert [one.what for one in report.findings] == ["older checkpoint"] * bool(said)
    assert all(said in one.detail for one in report.findings)
    assert report.checkpoint is not None
    assert report.checkpoint.size == len(log.leaves)


def test_a_log_of_another_network_is_not_read(log: SwarmLog) -> None:
    own = crooked_swarm().genesis.network_id
    assert audit(log, AuditOptions(network=own)).exit_code == 0
    report = audit(log, AuditOptions(network=NetworkId(bytes(32))))
    (finding,) = report.findings
    assert finding.grade is AuditGrade.MISMATCH
    assert "the ledger of another network" in finding.detail
    assert not report.checked


@pytest.mark.parametrize("type_", ["member.ready", "work.commit", "witness.proof", "head.attest"])
@pytest.mark.parametrize("where", [40, -30])
def test_a_flipped_byte_in_an_entry_is_found(log: SwarmLog, type_: str, where: int) -> None:
    index = index_of(type_)
    log.leaves[index] = flipped(log.leaves[index], where % len(log.leaves[index]))
    report = audited(log)
    assert found_at(report, index)
    assert any(one.what == "root of the log" for one in report.findings)


@pytest.mark.parametrize("type_", ["work.commit", "witness.proof"])
def test_a_flipped_byte_is_found_even_if_the_log_signs_it(log: SwarmLog, type_: str) -> None:
    index = index_of(type_)
    log.leaves[index] = flipped(log.leaves[index], 40)  # in the signature
    log.sign()
    findings = found_at(audited(log), index)
    assert [one.what for one in findings] == [f"{type_} statement"]
    assert findings[0].place.peer == to_text(crooked_swarm().entries[index].statement.author)


def test_a_flipped_byte_in_a_tile_is_found(log: SwarmLog) -> None:
    hashes = log.tiles[0, 0]
    hashes[17] = Digest(flipped(hashes[17], 3))
    findings = found_at(audited(log), 17)
    assert findings[0].what.startswith("tile/0/000")
    assert findings[0].expected == merkle.leaf_hash(log.leaves[17]).hex()


def test_a_flipped_byte_in_a_higher_tile_is_found(log: SwarmLog) -> None:
    leaves = [bytes([at % 256, at // 256]) for at in range(700)]
    log.leaves, log.tiles = leaves, all_tiles(leaves)
    log.tiles[1, 0][1] = Digest(bytes(32))
    report = LogReport()
    read_to(LogReader(log, report, tiles=log), 700, merkle.root(leaves))
    assert [one.what for one in report.findings] == ["tile/1/000.p/2"]


def test_a_tree_read_in_two_parts_is_the_same_tree(log: SwarmLog) -> None:
    leaves = [bytes([at % 256, at // 256]) for at in range(700)]
    log.leaves, log.tiles = leaves, all_tiles(leaves)
    report = LogReport()
    reader = LogReader(log, report, tiles=log)
    for size in (1, 255, 257, 700):
        read_to(reader, size, merkle.root(leaves[:size]))
    assert report.findings == []


def test_a_checkpoint_of_another_key_is_refused(log: SwarmLog) -> None:
    log.newest_note = log.newest_note.replace(b"tequio.example/test ", b"tequio.example/fake ")
    assert audited(log).exit_code == 2


def test_a_removed_entry_is_found(log: SwarmLog) -> None:
    index = index_of("work.commit")
    del log.leaves[index]
    assert audited(log).exit_code == 2


def test_a_removed_entry_is_found_even_if_the_log_signs_the_rest(log: SwarmLog) -> None:
    index = index_of("head.attest")
    author = to_text(crooked_swarm().entries[index].statement.author)
    del log.leaves[index]
    log.sign()
    report = audited(log)
    assert report.exit_code == 2
    broken = next(one for one in report.findings if one.place.peer == author)
    assert "prev is not the digest" in broken.detail


def test_a_key_must_be_registered_before_it_speaks(log: SwarmLog) -> None:
    index = index_of("key.register")
    author = to_text(crooked_swarm().entries[index].statement.author)
    log.leaves = [*log.leaves[:index], *log.leaves[index + 1 :], log.leaves[index]]
    log.sign()
    findings = [one for one in audited(log).findings if one.place.peer == author]
    assert "not registered before" in findings[0].detail


@pytest.mark.parametrize(
    ("nonce", "fault"), [(0, "not a proof of 8 bits"), (None, "already registered")]
)
def test_a_key_is_registered_once_and_with_its_work(
    log: SwarmLog, nonce: int | None, fault: str
) -> None:
    swarm = crooked_swarm()
    one = swarm.volunteers[0]
    again = registration(swarm.net, one.key) if nonce is None else KeyRegister(nonce=nonce)
    log.leaves.append(one.sign(swarm.net, None, StatementDraft(again), swarm.now_ms).leaf())
    log.sign()
    findings = found_at(audited(log), len(log.leaves) - 1)
    assert fault in findings[0].detail


def test_a_changed_document_is_found(log: SwarmLog) -> None:
    index = index_of("round.close")
    body = crooked_swarm().entries[index].statement.body
    assert isinstance(body, RoundClose)
    name = Digest(from_text(body.result))
    log.blobs[name] = log.blobs[name].replace(b'"ms":', b'"ms":1', 1)
    findings = found_at(audited(log), index)
    assert body.result in findings[0].detail


def test_a_missing_document_leaves_the_audit_incomplete(log: SwarmLog) -> None:
    index = index_of("round.close")
    body = crooked_swarm().entries[index].statement.body
    assert isinstance(body, RoundClose)
    del log.blobs[Digest(from_text(body.result))]
    report = audited(log)
    assert report.exit_code == 3
    assert report.findings[0].place.entry == index
    rosters = [one.statement.type for one in crooked_swarm().entries[index:]].count("round.roster")
    (told,) = (one for one in report.findings if one.what == "rosters")
    assert rosters > 0
    assert told.detail.startswith(f"cannot vouch for {rosters} rosters")


def forge(log: SwarmLog, index: int, body: Body) -> None:
    """Let the coordinator itself say something else there; the log ends with it."""
    swarm, old = crooked_swarm(), crooked_swarm().entries[index].statement
    other = Swarm(manifest=swarm.manifest)  # for its keys
    coordinator = other.coordinator
    fresh = other.sign(coordinator, StatementDraft(body, old.round), old.run)
    tree = msgspec.json.decode(fresh.statement.raw)
    tree |= {"seq": old.seq, "prev": to_text(old.prev), "ts": old.ts, "exp": old.exp}
    raw = msgspec.json.encode(tree, order="deterministic")
    message = b"tequio/v1/statement\0" + swarm.net + raw
    leaf = b"\x01\x01" + coordinator.key + coordinator.sign(message) + raw
    assert Entry.parse(leaf).leaf() == leaf
    log.leaves = [*log.leaves[:index], leaf]
    log.sign()


def closing(nth: int) -> tuple[int, RoundClose, RoundResult]:
    index = index_of("round.close", nth)
    body = crooked_swarm().entries[index].statement.body
    assert isinstance(body, RoundClose)
    return index, body, RoundResult.parse(crooked_swarm().blobs[Digest(from_text(body.result))])


def forge_result(log: SwarmLog, index: int, body: RoundClose, result: RoundResult) -> None:
    document = result.encode()
    log.blobs[sha256(document)] = document
    forge(log, index, msgspec.structs.replace(body, result=to_text(sha256(document))))


def test_a_changed_point_is_found_even_if_the_coordinator_signs_it(log: SwarmLog) -> None:
    index, body, result = closing(1)
    slot = next(at for at, row in enumerate(result.slots) if row.trainer_gflop)
    row = result.slots[slot]
    paid = msgspec.structs.replace(row, trainer_gflop=row.trainer_gflop + 1)
    rows = (*result.slots[:slot], paid, *result.slots[slot + 1 :])
    forge_result(log, index, body, RoundResult(slots=rows))
    findings = found_at(audited(log), index)
    told = next(one for one in findings if "trainer_gflop" in one.what)
    assert told.expected == str(row.trainer_gflop)
    assert told.found == str(row.trainer_gflop + 1)
    assert told.place.round == crooked_swarm().entries[index].statement.round
    assert told.place.peer is not None


def test_a_swapped_accepted_set_is_found_even_if_the_coordinator_signs_it(log: SwarmLog) -> None:
    index, body, _ = closing(0)
    forge(log, index, msgspec.structs.replace(body, set_root=to_text(sha256(b"another set"))))
    findings = found_at(audited(log), index)
    assert any(one.what == "round.close, set_root" for one in findings)


def test_a_dropped_winner_is_found_even_if_the_coordinator_signs_it(log: SwarmLog) -> None:
    index, body, result = closing(0)
    slot = next(at for at, row in enumerate(result.slots) if row.verdict == 1)
    row = msgspec.structs.replace(result.slots[slot], verdict=2, windows=0, trainer_gflop=0)
    forge_result(log, index, body, RoundResult(slots=(*result.slots[:slot], row)))
    assert any("verdict" in one.what for one in found_at(audited(log), index))


def test_a_changed_point_in_the_api_is_found(log: SwarmLog) -> None:
    earned = crooked_swarm().view.accounts.earned
    key = max(earned, key=lambda one: earned[one].trainer)
    log.lie_about(key, gflop=earned[key].trainer + earned[key].witness + 1)
    report = audited(log)
    assert report.exit_code == 2
    assert [(one.what, one.place.peer) for one in report.findings] == [
        (f"answer /v1/peers/{to_text(key)}, gflop", to_text(key))
    ]


def run_path() -> str:
    return f"/v1/runs/{to_text(crooked_swarm().manifest.run_id)}"


def test_a_changed_run_in_the_api_is_found(log: SwarmLog) -> None:
    log.lies[run_path()] = lambda answer: answer.update(round=99)
    assert [one.found for one in audited(log).findings] == ["99"]


def test_an_answer_that_is_ahead_of_the_checkpoint_is_neither_right_nor_wrong(
    log: SwarmLog,
) -> None:
    ahead = {"size": log.size + 1, "root": log.as_of().root}
    log.lies[run_path()] = lambda answer: answer.update(round=99, as_of=ahead)
    report = audited(log)
    assert report.exit_code == 3
    (found,) = report.findings
    assert found.place.run == to_text(crooked_swarm().manifest.run_id)
    assert f"{log.size} are published" in found.line()


def test_an_answer_of_a_process_that_is_behind_is_asked_for_again(log: SwarmLog) -> None:
    behind = [{"size": log.size - 1, "root": log.as_of().root}] * 2

    def change(answer: dict[str, object]) -> None:
        if behind:
            answer.update(round=99, as_of=behind.pop())

    log.lies[run_path()] = change
    assert not audited(log).findings
    assert not behind


def without_result(log: SwarmLog) -> SwarmLog:
    """A log that lacks the result of a round, so that what follows cannot be folded."""
    _, body, _ = closing(0)
    del log.blobs[Digest(from_text(body.result))]
    return log


def test_what_a_run_that_cannot_be_folded_leads_to_is_not_called_wrong(log: SwarmLog) -> None:
    """Nor are points; but the ledger's answers about another run are held against the log."""
    swarm, manifest = crooked_swarm(), tiny_manifest(most=9)
    log.blobs[sha256(manifest.encode())] = manifest.encode()
    body = RunOpen(manifest=to_text(manifest.run_id), head=to_text(first_head(manifest).hash))
    opened = swarm.sign(swarm.organiser, StatementDraft(body), manifest.run_id)
    log.leaves.append(opened.leaf())
    log.sign()
    key = swarm.volunteers[0].key
    log.lie_about(key, gflop=1)
    log.lies[run_path()] = lambda answer: answer.update(round=99)
    assert audited(log).exit_code == 2
    report = audited(without_result(log))
    assert report.exit_code == 3
    assert {one.grade for one in report.findings} == {AuditGrade.MISSING}
    log.lies[f"/v1/runs/{to_text(manifest.run_id)}"] = lambda answer: answer.update(round=99)
    report = audited(log)
    assert report.exit_code == 2
    (told,) = (one for one in report.findings if one.grade is AuditGrade.MISMATCH)
    assert told.place.run == to_text(manifest.run_id)


def contribution_of(index: int) -> tuple[Digest, str, int | None]:
    statement = crooked_swarm().entries[index].statement
    assert isinstance(statement.body, WorkCommit)
    header = ContributionHeader.parse(from_text(statement.body.header, None))
    return header.payload_root, to_text(statement.author), statement.round


def tree_file(store: Path, root: Digest) -> Path:
    path = store / "trees" / root.hex()[:2] / root.hex()
    path.chmod(0o644)
    return path


@pytest.mark.parametrize("where", [0, 13, -1])
def test_a_flipped_byte_in_a_contribution_is_found(log: SwarmLog, store: Path, where: int) -> None:
    root, author, number = contribution_of(index_of("work.commit"))
    path = tree_file(store, root)
    content = path.read_bytes()
    path.write_bytes(flipped(content, where % len(content)))
    report = audited(log, store)
    assert report.exit_code == 2
    told = next(one for one in report.findings if one.grade is AuditGrade.MISMATCH)
    assert (told.what, told.place.peer, told.place.round) == ("contribution", author, number)
    assert "payload_root" in told.detail


def test_another_store_can_stand_in_for_a_damaged_one(
    log: SwarmLog, store: Path, tmp_path: Path
) -> None:
    root, _, _ = contribution_of(index_of("work.commit"))
    fill_store(crooked_swarm(), tmp_path / "other")
    path = tree_file(store, root)
    path.write_bytes(b"\0" * path.stat().st_size)
    scope = AuditOptions(contributions=(StoreFolders([store, tmp_path / "other"]),))
    assert audit(log, scope).exit_code == 0


def test_a_missing_contribution_leaves_the_audit_incomplete(log: SwarmLog, store: Path) -> None:
    root, author, number = contribution_of(index_of("work.commit"))
    tree_file(store, root).unlink()
    report = audited(log, store)
    assert report.exit_code == 3
    told = report.findings[0]
    assert (told.what, told.place.peer, told.place.round) == ("contribution", author, number)
    assert {one.what for one in report.findings[1:]} == {"head"}
    first, *later = (one.detail for one in report.findings[1:])
    assert first == "not recomputed: the contributions are missing"
    assert {*later} == {"not recomputed: the weights of the head before it are missing"}


def test_after_a_gap_the_audit_goes_on_from_stored_weights(log: SwarmLog, store: Path) -> None:
    root, _, _ = contribution_of(index_of("work.commit"))
    whole = fill_store(crooked_swarm(), store)
    for weights in crooked_swarm().arithmetic.weights.values():
        whole.put_tree(weights.astype("<i4").tobytes(), 1 << 20)
    tree_file(store, root).unlink()
    report = audited(log, store)
    assert report.exit_code == 3
    assert report.checked["heads recomputed"] == crooked_swarm().view.closed - 1


def test_missing_first_weights_leave_the_audit_incomplete(log: SwarmLog, tmp_path: Path) -> None:
    report = audited(log, tmp_path)
    assert report.exit_code == 3
    assert report.findings[0].what == "weights of head 0"


def test_damaged_first_weights_are_found(log: SwarmLog, store: Path) -> None:
    root = Digest(from_text(crooked_swarm().manifest.model.weights_root))
    path = tree_file(store, root)
    path.write_bytes(flipped(path.read_bytes(), 5))
    report = audited(log, store)
    assert report.exit_code == 2
    assert report.findings[0].what == "stored head"


@pytest.mark.parametrize(("back", "finishes_at_once"), [(0, False), (2, False), (1, True)])
def test_every_head_before_and_after_a_rollback_is_recomputed(
    tmp_path: Path, back: int, *, finishes_at_once: bool
) -> None:
    swarm = paused_swarm(4)
    swarm.go_back(back)
    swarm.organise(RunFinish(reason=1) if finishes_at_once else RunResume(reason=1))
    swarm.run()
    assert swarm.view.state is RunState.FINISHED
    fill_store(swarm, tmp_path / "store")
    report = audited(SwarmLog(swarm), tmp_path / "store")
    assert [one.line() for one in report.findings] == []
    assert report.exit_code == 0
    assert report.checked["rollbacks of runs"] == 1
    # Without the last head before the rollback, which no member had promoted.
    assert report.checked["heads recomputed"] == swarm.view.closed - 1 == len(swarm.view.heads) - 1
    files = {path.name for path in tmp_path.glob("tequio-audit-*")}
    assert not files


def test_a_rollback_to_other_weights_is_found() -> None:
    swarm = paused_swarm(3)
    head = swarm.view.heads[1]
    swarm.view.heads[1] = Head.of(
        swarm.manifest.run_id,
        1,
        parent=head.parent,
        set_root=head.set_root,
        weights_root=sha256(b"weights that nobody made"),
        aux_root=head.aux_root,
    )
    swarm.go_back(1)
    report = audited(SwarmLog(swarm))
    (found,) = found_at(report, len(swarm.entries) - 1)
    assert "wrong-head" in found.detail


class LyingWorkshop(SwarmArithmetic):
    """All members state one head together that is not the one they should have computed."""

    def _advance(self, current: RoundView, target: NextHead) -> None:
        super()._advance(current, target)
        weights, aux = self.roots[target.parent, target.round]
        if target.round == 2:
            self.roots[target.parent, target.round] = sha256(weights), aux
            self.weights[sha256(weights)] = self.weights[weights]


def test_a_head_that_all_members_lied_about_is_found(tmp_path: Path) -> None:
    swarm = Swarm()
    swarm.arithmetic = LyingWorkshop(swarm.manifest)
    for at in range(4):
        swarm.volunteer(f"v{at}")
    swarm.run()
    fill_store(swarm, tmp_path)
    report = audited(SwarmLog(swarm), tmp_path)
    assert report.exit_code == 2
    told = report.findings[0]
    promoted = [
        one.statement for one in swarm.entries if isinstance(one.statement.body, HeadPromote)
    ]
    assert told.what == "head, weights_root"
    assert told.place.round == 2
    assert told.found == promoted[2].body.weights_root  # type: ignore[union-attr]  # all HeadPromote
    assert [one.what for one in report.findings[1:]] == ["head, hash", "head", "head"]
    assert {one.grade for one in report.findings[2:]} == {AuditGrade.MISSING}


def test_only_the_coordinator_speaks_for_rounds(log: SwarmLog) -> None:
    swarm = Swarm(manifest=crooked_swarm().manifest)
    body = crooked_swarm().entries[index_of("round.roster")].statement.body
    usurper = swarm.sign(signer("organiser"), StatementDraft(body, 1), swarm.manifest.run_id)
    log.leaves = [*swarm.leaves()[:2], usurper.leaf()]
    log.sign()
    findings = found_at(audited(log), 2)
    assert "only the coordinator may sign" in findings[0].detail


def test_a_line_names_everything_that_is_known() -> None:
    place = LogPlace(entry=7, run="R", round=3, peer="P")
    report = LogReport()
    report.mismatch("result", place, "points", expected=1, found=2)
    assert report.findings[0].line() == (
        "mismatch: result at entry 7, run R, round 3, peer P: points; expected 1, found 2"
    )


@pytest.mark.skipif(sys.platform != "linux", reason="has no /dev/full")
def test_findings_that_cannot_be_written_leave_the_check_incomplete(
    log: SwarmLog, tmp_path: Path
) -> None:
    log.write_mirror(tmp_path / "mirror")
    words = ["--mirror", str(tmp_path / "mirror"), "--from-log-only", "--json", "/dev/full"]
    done = CliRunner().invoke(command, words)
    assert done.exit_code == 3
    assert "Everything holds." in done.output
    assert done.stderr.endswith("cannot write /dev/full: No space left on device\n")


def test_a_ledger_that_does_not_answer_is_a_finding_of_its_own(tmp_path: Path) -> None:
    out = tmp_path / "report.json"
    words = ["--ledger", "http://127.0.0.1:1", "--from-log-only", "--json", str(out)]
    done = CliRunner().invoke(command, words)
    assert done.exit_code == 3
    assert "missing: log: can't reach the network at http://127.0.0.1:1: check" in done.output
    assert "--verbose" not in done.output
    assert msgspec.json.decode(out.read_bytes())["exit"] == 3


def test_what_is_not_a_ledger_is_no_outage(tmp_path: Path) -> None:
    class LogInPage(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b"<html>Log in</html>")

    out = tmp_path / "report.json"
    with serving(LogInPage) as url:
        for ledger, why in (
            ("foo", "is not the address of a ledger"),
            (url, "not a Tequio ledger"),
        ):
            words = ["--ledger", ledger, "--from-log-only", "--json", str(out)]
            error = CliRunner().invoke(command, words).exception
            assert isinstance(error, UserFacingError)
            assert why in str(error)
    assert not out.exists()


def test_the_command_audits_a_mirror_and_writes_json(
    log: SwarmLog, store: Path, tmp_path: Path
) -> None:
    log.write_mirror(tmp_path / "mirror")
    out = tmp_path / "report.json"
    arguments = ["--mirror", str(tmp_path / "mirror"), "--json", str(out)]
    done = CliRunner().invoke(command, [*arguments, "--store", str(store)])
    assert done.exit_code == 0, done.output
    assert "Everything holds." in done.output
    assert msgspec.json.decode(out.read_bytes())["exit"] == 0
    root, _, _ = contribution_of(index_of("work.commit"))
    tree_file(store, root).unlink()
    done = CliRunner().invoke(command, [*arguments, "--store", str(store)])
    assert done.exit_code == 3
    assert "missing: contribution at entry" in done.output
    assert CliRunner().invoke(command, [*arguments, "--from-log-only"]).exit_code == 0
