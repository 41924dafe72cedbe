"""A ledger leaves out a member's attestation, and with it the lot that it does not like."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING
from unittest import mock

import msgspec
import pytest
import trio

from tequio_client.demo import programs
from tequio_client.keys import identity
from tequio_client.ledger.api import LedgerApi
from tequio_client.verify import omissions
from tequio_client.verify.audit import AuditOptions, audit
from tequio_client.worker.rounds.omissions import FOLDER
from tequio_ledger.web import write_api
from tequio_ledger.web.limits import StatementLimiter
from tequio_shared.ids import RunId, sha256, to_text
from tequio_shared.round.omission import Omission, sign_omission
from tequio_shared.round.round import RoundPhase
from tequio_shared.served.state import State
from tequio_shared.statements.network import MemberName
from tequio_shared.statements.runs import RoundVoid
from tequio_shared.statements.statement import Entry, make, sign
from tests.client.verify.logs import SwarmLog
from tests.support import censoring_ledger, small_network
from tests.support.attack_table import attack
from tests.support.fault_swarm import SHAPE
from tests.support.ledgers import make_settings
from tests.support.log_watch import LogWatch
from tests.support.memory_swarm import Swarm
from tests.support.proxy import NetworkProxy
from tests.support.real_network import NodeAddresses, running_network, start_with_trainers
from tests.support.small_network import RunFiles
from tests.support.tiny_run import SwarmArithmetic, tiny_manifest
from tests.support.volunteers import StatementDraft, Volunteer

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from tequio_client.verify.report import LogReport
    from tequio_shared.network.full_run import FullRunView
    from tests.support.real_network import RealNetwork

LEFT_OUT = 3
"""The round in which the member's attestation is left out."""
LAST = 5
NAME = StatementDraft(MemberName(name="milpa"))


class CensoredVolunteer(Volunteer):
    """Attests in every round; in one of them the ledger answers nothing."""

    def __init__(self, name: str, arithmetic: SwarmArithmetic) -> None:
        super().__init__(name, arithmetic)
        self.unsent: StatementDraft | None = None
        self.left_out: Entry | None = None

    def duty(self, view: FullRunView) -> StatementDraft | None:
        draft, current = super().duty(view), view.round
        if draft is None or current is None or current.number != LEFT_OUT:
            return draft
        if current.phase is not RoundPhase.ATTEST:
            return draft
        self.unsent = draft
        return None


class CensoredLog:
    """A finished run of five members; one attestation is missing in its log."""

    def __init__(
        self, *, reuses_number: bool = False, follows_late: bool = False, trainers: int = 0
    ) -> None:
        """With `follows_late`, the attestation's predecessor is logged after peers offered it."""
        self.swarm = swarm = Swarm(manifest=tiny_manifest(most=LAST), seed=3)
        self.victim = CensoredVolunteer("victim", swarm.arithmetic)
        self.peers = [swarm.volunteer(f"v{at}") for at in range(4)]
        roles = ("trainer",)
        self.trainers = [swarm.volunteer(f"t{at}", roles=roles) for at in range(trainers)]
        swarm.join(self.victim)
        while self.victim.unsent is None:
            assert swarm.step()
        run = swarm.manifest.run_id
        roster = next(one for one in swarm.entries[::-1] if one.statement.type == "round.roster")
        self.seen_ms = roster.statement.ts + 1
        late = self.victim.sign(swarm.net, None, NAME, self.seen_ms)
        if follows_late:
            self.victim.record_logged(late)
        self.entry = self.victim.sign(swarm.net, run, self.victim.unsent, self.seen_ms)
        self.victim.seq += not reuses_number
        if follows_late:
            swarm.entries.append(late)
        swarm.run()

    def omission(
        self,
        peer: Volunteer,
        *,
        entry: Entry | None = None,
        late_ms: int = 0,
        answer: str = "queue-full",
    ) -> Omission:
        seen_ms = self.seen_ms + late_ms
        offered_ms = seen_ms + self.swarm.manifest.rounds.grace // 2
        net = self.swarm.net
        return sign_omission(peer.signer, net, entry or self.entry, seen_ms, offered_ms, answer)

    def audited(self, folder: Path, *pieces: Omission) -> LogReport:
        for at, piece in enumerate(pieces):
            (folder / f"{at}.json").write_bytes(msgspec.json.encode([piece]))
        return audit(SwarmLog(self.swarm), AuditOptions(omissions=(folder,)))


@cache
def censored() -> CensoredLog:
    return CensoredLog()


@attack("Q16", layer="wit", ends="`tequio audit` reports censorship, by the word of several peers")
def test_peers_that_offered_it_in_time_establish_censorship(tmp_path: Path) -> None:
    log = censored()
    report = log.audited(tmp_path, *map(log.omission, log.peers[:2]))
    (found,) = report.findings
    assert report.exit_code == 2
    assert (found.what, found.place.round) == ("censored attestation", LEFT_OUT)
    assert found.place.peer == to_text(log.victim.key)
    assert all(to_text(peer.key) in found.detail for peer in log.peers[:2])
    assert not report.remarks


@attack("Q16", layer="wit", ends="one peer's word is a suspicion: exit status 4, and never proof")
def test_one_peers_word_is_a_suspicion(tmp_path: Path) -> None:
    log = censored()
    peer = log.omission(log.peers[0])
    report = log.audited(tmp_path, peer, peer)
    (found,) = report.findings
    assert report.exit_code == 4
    assert found.what == "possibly censored attestation"
    assert "a suspicion only, which 2 of them would establish" in found.detail


def test_members_that_are_no_witnesses_establish_nothing(tmp_path: Path) -> None:
    log = CensoredLog(trainers=3)
    report = log.audited(tmp_path, *map(log.omission, (log.peers[0], *log.trainers)))
    (found,) = report.findings
    assert (report.exit_code, found.what) == (4, "possibly censored attestation")
    assert found.detail.startswith("1 of 5 witnesses offered it in time")


@attack("Q16", layer="wit", ends="forged, late or foreign evidence is worthless: no finding")
@pytest.mark.parametrize(
    "kind",
    ["stranger", "author", "late", "logged", "changed", "junk", "other statement", "to come"],
)
def test_forged_evidence_is_worthless(tmp_path: Path, kind: str) -> None:
    log = censored()
    logged = next(
        one
        for one in log.swarm.entries
        if one.statement.type == "head.attest" and one.statement.round == LEFT_OUT
    )
    witness = next(one for one in log.peers if one.key != logged.statement.author)
    stranger = Volunteer("stranger", log.swarm.arithmetic)
    piece = {
        "stranger": log.omission(stranger),
        "author": log.omission(log.victim),
        "late": log.omission(witness, late_ms=60_000),
        "logged": log.omission(witness, entry=logged),
        "changed": msgspec.structs.replace(log.omission(witness), offered_ms=log.seen_ms),
        "junk": msgspec.structs.replace(log.omission(witness), leaf=""),
        "other statement": log.omission(witness, entry=log.swarm.entries[-1]),
        "to come": log.omission(witness, entry=attestation(log, round_number=LAST + 1)),
    }[kind]
    report = log.audited(tmp_path, piece)
    assert report.findings == []
    assert report.exit_code == 0
    (remark,) = report.remarks
    assert remark.startswith("worthless evidence")


def attestation(log: CensoredLog, *, run: RunId | None = None, round_number: int) -> Entry:
    """The victim's attestation, of another run or round."""
    body = log.entry.statement.body
    draft = StatementDraft(body, round_number)
    return log.victim.sign(log.swarm.net, run or log.swarm.manifest.run_id, draft, log.seen_ms)


def test_evidence_about_a_run_that_never_was_is_worthless(tmp_path: Path) -> None:
    log, run = censored(), RunId(sha256(b"another run"))
    entry = attestation(log, run=run, round_number=LEFT_OUT)
    for at, peer in enumerate(log.peers):
        piece = log.omission(peer, entry=entry)
        (tmp_path / f"{at}.json").write_bytes(msgspec.json.encode([piece]))
    served, draft = SwarmLog(log.swarm), StatementDraft(RoundVoid(reason=1), LEFT_OUT)
    served.leaves.append(log.swarm.sign(log.swarm.coordinator, draft, run).leaf())
    served.sign()
    report = audit(served, AuditOptions(omissions=(tmp_path,)))
    assert len(report.remarks) == len(log.peers)
    assert all("the log has no such round" in one for one in report.remarks)
    (found,) = report.findings
    assert found.what.startswith("round.void")


def test_one_file_of_evidence_is_read_up_to_a_number_of_pieces(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = censored()
    file = tmp_path / "evidence"
    file.write_bytes(msgspec.json.encode([log.omission(peer) for peer in log.peers]))
    report = audit(SwarmLog(log.swarm), AuditOptions(omissions=(file,)))
    assert (report.exit_code, report.remarks) == (2, [])
    monkeypatch.setattr(omissions, "MAX_PIECES", 1)
    report = audit(SwarmLog(log.swarm), AuditOptions(omissions=(file, file)))
    assert (report.exit_code, report.remarks) == (4, ["only 1 pieces of evidence were read"])


def test_a_file_that_is_no_evidence_is_worthless(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_bytes(b'[{"v": 1}]')
    (tmp_path / "b.json").write_bytes(b"\xff\xfe")
    report = censored().audited(tmp_path)
    assert report.exit_code == 0
    assert report.checked["worthless evidence"] == 2


def test_an_attestation_written_later_does_not_fit_into_its_authors_chain(tmp_path: Path) -> None:
    log = CensoredLog(reuses_number=True)
    report = log.audited(tmp_path, *map(log.omission, log.peers))
    assert report.findings == []
    assert len(report.remarks) == len(log.peers)
    assert "and number" in report.remarks[0]


def test_an_attestation_after_a_statement_that_the_log_never_had_is_worthless(
    tmp_path: Path,
) -> None:
    log = censored()
    statement = log.entry.statement
    unchained = make(
        body=statement.body,
        author=statement.author,
        seq=statement.seq,
        ts=statement.ts,
        exp=statement.exp,
        prev=sha256(b"a statement that nobody logged"),
        run=statement.run,
        round=statement.round,
    )
    entry = sign(log.swarm.net, unchained, log.victim.signer)
    report = log.audited(tmp_path, *(log.omission(peer, entry=entry) for peer in log.peers))
    assert report.findings == []
    assert len(report.remarks) == len(log.peers)
    assert "prev is not the digest" in report.remarks[0]


@attack("Q16", layer="wit", ends="an answer that its author's own delay explains is worthless")
def test_an_author_that_logs_what_comes_before_too_late_frames_nobody(tmp_path: Path) -> None:
    log = CensoredLog(follows_late=True)
    report = log.audited(tmp_path, *(log.omission(one, answer="seq-gap") for one in log.peers))
    assert report.findings == []
    assert len(report.remarks) == len(log.peers)
    assert "its author logged the statement before it in that phase" in report.remarks[0]


def test_an_answer_that_cannot_have_been_right_is_no_excuse(tmp_path: Path) -> None:
    log = censored()
    pieces = [log.omission(one, answer="seq-gap") for one in log.peers]
    assert log.audited(tmp_path, *pieces).exit_code == 2


@attack("Q16", layer="net", ends="logged all the same, if it is the one attestation that is due")
def test_a_member_without_tokens_cannot_have_its_attestation_refused(tmp_path: Path) -> None:
    swarm = Swarm(manifest=tiny_manifest(most=5), seed=3)
    member = CensoredVolunteer("victim", swarm.arithmetic)
    for at in range(4):
        swarm.volunteer(f"v{at}")
    swarm.join(member)
    while member.unsent is None:
        assert swarm.step()
    state = State(swarm.genesis, swarm.blobs.__getitem__)
    for index, one in enumerate(swarm.entries):
        state.apply(index, one, swarm.now_ms)
    due = member.sign(swarm.net, swarm.manifest.run_id, member.unsent, swarm.now_ms)
    member.seq += 1
    other = member.sign(swarm.net, None, NAME, swarm.now_ms)
    limiter = StatementLimiter(make_settings(tmp_path, key_rate="1"), lambda: swarm.now_ms)
    check = vars(write_api)["_Check"](state, swarm.now_ms, limiter, "192.0.2.0/24")
    while isinstance(check.judge(other.leaf()), Entry):
        pass
    assert check.judge(other.leaf()).code == "rate-limited"
    assert check.judge(due.leaf()) == due


def test_evidence_about_another_network_is_left_alone(tmp_path: Path) -> None:
    log = censored()
    piece = msgspec.structs.replace(log.omission(log.peers[0]), network=to_text(bytes(32)))
    report = log.audited(tmp_path, piece)
    assert report.exit_code == 0
    assert report.remarks == ["1 pieces of evidence are about another network"]


# --- the live path: real programs, and a ledger that refuses one member's attestations

MEMBERS = ("ana", "beto", "citlali")
VICTIM = "citlali"
PATIENCE_S = 150.0
GRACE_S = 2.0
DELAYS_S = {"ana": 0.1, "beto": 0.1, VICTIM: 1.0}
SHORT = RunFiles(
    config={**small_network.CONFIG, **SHAPE},
    plan=small_network.plan(windows=(5, 5), train_s=4.0, grace_s=GRACE_S),
)


def rounds_of_evidence(folder: Path, name: str) -> set[int | None]:
    """The rounds of which that worker has evidence."""
    files = (folder / name / FOLDER).glob("*.json")
    pieces = [
        one for file in files for one in msgspec.json.decode(file.read_bytes(), type=list[Omission])
    ]
    return {one.entry.statement.round for one in pieces}


@attack("Q16", layer="wit", ends="workers offer it, keep evidence, and the audit reports it")
@pytest.mark.whole
@pytest.mark.trio
@pytest.mark.skipif("sys.platform == 'win32'")
async def test_a_ledger_that_drops_one_members_lots_is_reported(tmp_path: Path) -> None:
    victim = to_text(identity.load_or_create(tmp_path / VICTIM).key)
    honest = programs.ledger_command

    def dishonest(folder: Path, port: int, organiser: str) -> list[str]:
        _, _, _, *words = honest(folder, port, organiser)
        return censoring_ledger.command(victim, *words)

    with mock.patch.object(programs, "ledger_command", dishonest):
        async with running_network(tmp_path, start_with_trainers) as network:
            await small_network.found(network, SHORT)
            network.seed()
            for name in MEMBERS:
                network.volunteer(name)
            others = [name for name in MEMBERS if name != VICTIM]

            def same_round() -> bool:
                seen = [rounds_of_evidence(tmp_path, name) for name in others]
                return bool(set.intersection(*seen))

            await network.until("two members have evidence of a round", same_round, PATIENCE_S)
            assert not rounds_of_evidence(tmp_path, VICTIM)
            await _check_audits(network, victim, others)


async def _check_audits(network: RealNetwork, victim: str, names: Sequence[str]) -> None:
    report = network.folder / "report.json"
    words = ["--ledger", network.url, "--from-log-only", "--json", str(report)]
    ana, beto = (("--omissions", str(network.folder / name / FOLDER)) for name in names)
    for folders, status in ((ana + beto, 2), (ana, 4)):
        await network.command(f"audit{status}", "audit", *words, *folders, exit_status=status)
        found = msgspec.json.decode(report.read_bytes())["findings"]
        assert {one["what"].removeprefix("possibly ") for one in found} == {"censored attestation"}
        assert {one["peer"] for one in found} == {victim}


@pytest.mark.whole
@pytest.mark.trio
@pytest.mark.skipif("sys.platform == 'win32'")
async def test_an_honest_ledger_behind_slow_lines_leaves_no_evidence(tmp_path: Path) -> None:
    async with (
        running_network(tmp_path, start_with_trainers) as network,
        LedgerApi(network.url) as api,
        trio.open_nursery() as nursery,
    ):
        await small_network.found(network, SHORT)
        network.seed()
        proxy = NetworkProxy(nursery, dict)
        watch = LogWatch(api, network.check_alive)
        nursery.start_soon(watch.run)
        for name, delay_s in DELAYS_S.items():
            front = await proxy.front("ledger", network.port, name)
            network.places[name] = NodeAddresses(ledger=f"http://127.0.0.1:{front}")
            proxy.line(name).delay_s = delay_s
            network.volunteer(name)
        await watch.until(
            "four rounds closed", lambda: len(watch.closed_after(0)) >= 4 or None, PATIENCE_S
        )
        assert not any(rounds_of_evidence(tmp_path, name) for name in MEMBERS)
        nursery.cancel_scope.cancel()
