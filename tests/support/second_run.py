"""A second reader of a run's audits and points, made from docs/protocol.md alone.

It shares nothing with the product, and only the VRF and the election with the other second
implementation: statements and documents are read as JSON, and everything is recomputed from them.
Section numbers are those of docs/protocol.md.
"""

from __future__ import annotations

import base64
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tests.support import second_draw
from tests.support.second_audits import (
    CLEAR,
    JURY,
    NOT_DONE,
    WITHHELD,
    Case,
    Duty,
    Pick,
    Report,
    Somebody,
    Work,
    audit_lot_input,
    draw,
    draw_seed_input,
    jury,
    opening_seed,
    settled,
    tokens_of,
    wrong_about_sketches,
)
from tests.support.second_draw import sha256, unbase64
from tests.support.second_standing import (
    CONTRADICTED_CAUSE,
    CONTRADICTIONS_CAUSE,
    NOT_DONE_CAUSE,
    OUT,
    WITHHELD_CAUSE,
    Record,
    SecondOwners,
    Wallet,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

# section 16
AUDIT_ROUNDS = 2
AUDIT_PAUSE = 32
CHECKED_BP = 1_250
REVIEW_ROUNDS = 5
MISSED_ROUNDS = 3
# 10.4
STALE_CASE = 4
LATEST_NEXT = 2
JURIES = ("dispute", "second dispute")
REVIEWED = ("review", "second dispute")
WATCHED = 10
KNOWN_WORK = 10
MEASURES = (32, 33, 34)
ACCEPTED, NOT_SELECTED, REJECTED, AUDITED = 1, 2, 3, 4
OF_AUDITS = (NOT_DONE_CAUSE, CONTRADICTED_CAUSE, CONTRADICTIONS_CAUSE, WITHHELD_CAUSE)
LEAST_ACCUSERS = 2


@dataclass
class Member:
    """A member's activity (9.6)."""

    is_active: bool = True
    ready_at: int = 0
    missed: int = 0
    tokens: int = 0
    repeated: int = 0
    """Most windows of a contribution that an auditor cleared, or that had none (9.5)."""


class Auditing:
    """Reads a log with one run, entry by entry, and recomputes its audits and points.

    Every roster's orders and every change that audits call for are compared with the log's own;
    ValueError if one differs.
    """

    def __init__(self, blobs: Mapping[bytes, bytes], *, verify_lots: bool = False) -> None:
        self.cases: dict[bytes, Case] = {}
        self.duties: list[Duty] = []
        self.barred: dict[bytes, int] = {}
        """Number of the round that must close first."""
        self.watched: dict[bytes, int] = {}
        self.convictions: list[bytes] = []
        self.contradicted: list[tuple[bytes, int]] = []
        self.outcomes: list[tuple[bytes, str | None]] = []
        self.orders: list[list[dict[str, Any]]] = []
        self.purses: dict[bytes, Wallet] = {}
        self.records: dict[bytes, Record] = {}
        self.members: dict[bytes, Member] = {}
        self.owners = SecondOwners()
        self._blobs = blobs
        self._verify_lots = verify_lots
        self._size = 0
        self._window = 1
        self._rates = {"unproven_bp": 0, "others_bp": 0}
        self._is_closed = False
        self._round: SecondRound | None = None

    def read(self, leaf: bytes) -> None:  # noqa: C901, PLR0912 - one case for each kind of statement
        """Continue with one entry."""
        statement = second_draw.parse(leaf)
        body, kind, index = statement["body"], statement["type"], self._size
        author = unbase64(statement["author"])
        self._size += 1
        self.owners.read(leaf, statement)
        match kind:
            case "net.genesis":
                self._network = sha256(unbase64(body["doc"]))
            case "key.register":
                self.records[author] = Record(since=index)
            case "key.revoke":
                self.records[unbase64(body["peer"])].is_revoked = True
                self._retire(unbase64(body["peer"]))
            case "run.open":
                self._open_run(statement, body)
            case "run.close":
                self._check_settled(index)
                self._is_closed = True
                for wallet in self.purses.values():
                    wallet.forfeited += wallet.trainer.end()
                    wallet.witness.end()
            case "member.ready":
                member = self.members.setdefault(author, Member())
                member.missed = member.missed if member.is_active else 0
                member.is_active, member.ready_at = True, index
            case "member.leave":
                self._retire(author)
            case "standing.change" | "standing.release" | "standing.uphold":
                self._change(kind, index, body)
            case "round.roster":
                self._roster(index, statement["round"], body)
            case "round.void":
                self._silence()
            case "round.close":
                self._close(index, statement["ts"], body)
            case _ if self._round is not None:
                self._round.read(kind, index, author, body)

    # --- what the log says beside audits

    def _open_run(self, statement: dict[str, Any], body: dict[str, Any]) -> None:
        self._run = unbase64(statement["run"])
        self._manifest = json.loads(self._blobs[unbase64(body["manifest"])])
        self._rates = self._manifest.get("audit", self._rates)
        self._window = self._manifest["windows"]["tokens"]

    def _change(self, kind: str, index: int, body: dict[str, Any]) -> None:
        key = unbase64(body["peer"])
        record = self.records.setdefault(key, Record())
        to = "active" if kind == "standing.release" else body["to"]
        if kind == "standing.change":
            due = record.due(key)
            stated = (body["cause"], tuple(body["evidence"]))
            if due is not None and stated != (due.cause, due.evidence):
                raise ValueError(f"entry {index} states {stated}, and due is {due}")
            if due is None and body["cause"] in OF_AUDITS:
                raise ValueError(f"entry {index} states {stated}, and nothing is due")
            if to == "quarantined":
                self._forfeit(key)
        elif kind == "standing.release" and record.standing != "suspected":
            self._give_back(key)
        if to != record.standing:
            record.standing, record.since, record.fault = to, index, ()
            if to in OUT:
                record.audits, record.withheld = [], []

    def _forfeit(self, key: bytes) -> None:
        wallet = self.purses.get(key)
        if wallet is not None:
            wallet.last_forfeit = wallet.trainer.lose(), wallet.witness.lose()
            wallet.forfeited += sum(wallet.last_forfeit)

    def _give_back(self, key: bytes) -> None:
        wallet = self.purses.get(key)
        if wallet is None:
            return
        for purse, points in zip(
            (wallet.trainer, wallet.witness), wallet.last_forfeit, strict=True
        ):
            if points:
                purse.pay(0, points, 0)
            if self._is_closed:
                purse.waiting = []
        wallet.forfeited -= sum(wallet.last_forfeit)
        wallet.last_forfeit = 0, 0

    def _retire(self, key: bytes) -> None:
        if key in self.members:
            self.members[key].is_active = False

    def _silence(self) -> None:
        now = self._round
        assert now is not None
        for slot, key in enumerate(now.keys):
            member = self.members[key]
            if now.is_silent(slot) and member.ready_at < now.began:
                self._retire(key)

    # --- rosters

    def _roster(self, index: int, number: int, body: dict[str, Any]) -> None:
        self._check_settled(index)
        document = json.loads(self._blobs[unbase64(body["roster"])])
        now = self._round = SecondRound(index, number, document)
        wanted = self.order(now)
        if wanted != document["audits"]:
            stated = [one for one in document["audits"] if one not in wanted]
            missing = [one for one in wanted if one not in document["audits"]]
            raise ValueError(f"round {number} orders {stated} instead of {missing}")
        shares = [one["share"] for one in document["members"]]
        if number > self._manifest["rounds"]["most"] and any(shares):
            raise ValueError(f"round {number} gives windows after the last training")
        self.orders.append(wanted)

    def _check_settled(self, index: int) -> None:
        for key in sorted(self.records):
            if (due := self.records[key].due(key)) is not None:
                raise ValueError(f"entry {index} is a roster or the end, and {due} is due")

    def order(self, now: SecondRound) -> list[dict[str, Any]]:
        """The orders of a roster (10.4)."""
        at_most = sum("trainer" in roles for roles in now.roles) // 2
        for duty in self.duties:
            if len(now.orders) < at_most and duty.auditor in now.keys:
                slot = now.keys.index(duty.auditor)
                if "trainer" in now.roles[slot]:
                    now.orders[slot] = duty
        return [
            {
                "slot": slot,
                "round": duty.case.round,
                "contribution": second_base64(duty.case.id),
                "tokens": duty.case.tokens,
                "opening": second_base64(opening_seed(duty.lot, duty.case.id, duty.auditor)),
                "earlier": [one.index for one in duty.earlier],
            }
            for slot, duty in sorted(now.orders.items())
        ]

    # --- closing

    def _close(self, index: int, ts: int, body: dict[str, Any]) -> None:
        now = self._round
        assert now is not None
        self._silence()
        rows = json.loads(self._blobs[unbase64(body["result"])])["slots"]
        for slot, row in enumerate(rows):
            self._pay(now, slot, row)
            self._miss(now, now.keys[slot], row["verdict"])
            if row["verdict"] == ACCEPTED:
                self.members[now.keys[slot]].tokens += tokens_of(now.headers[slot])
            self._judge(now, slot, row)
        self.audit(now, index, ts, rows)

    def audit(
        self, now: SecondRound, index: int, ts: int, rows: Sequence[Mapping[str, Any]]
    ) -> None:
        """The steps of 10.4 at a `round.close` with these rows of the result."""
        self._withheld: list[bytes] = []
        self._denied: list[bytes] = []
        self._add_reports(now)
        self._end_late(now)
        people = [
            Somebody(key, self.owners.owner(key, self._run, ts), now.speeds[slot])
            for slot, key in enumerate(now.keys)
        ]
        self._people = [people[slot] for slot in now.witnesses]
        self._elected = [people[slot].owner for slot in now.elected]
        self._lots = {people[slot]: lot for slot, lot in self._audit_lots(now).items()}
        self._now, self._ts, self._index = now, ts, index
        before = len(self.outcomes)
        audited = {case.id: case for case in self.cases.values()}
        for case in list(self.cases.values()):
            if all(duty.case is not case for duty in self.duties):
                self._advance(case)
        self._begin_cases(rows)
        cleared = [audited[one] for one, verdict in self.outcomes[before:] if verdict == CLEAR]
        for case in cleared:
            self._repeat(case.trainer, case.tokens)
        judges = {one.owner for one in self._able()}
        for slot in self._auditable(rows):
            if judges <= {people[slot].owner}:
                self._repeat(now.keys[slot], tokens_of(now.headers[slot]))
        for key in self._withheld:
            self.watched[key] = WATCHED
        for key in self._denied:
            self._bar(key, now.number)

    def _audit_lots(self, now: SecondRound) -> dict[int, bytes]:
        seed = second_draw.output(now.proof)
        given = draw_seed_input(self._network, self._run, now.number, now.ids)
        if self._verify_lots and second_draw.verify(now.coordinator, given, now.proof) != seed:
            raise ValueError(f"round {now.number} has no seed of its draws")
        alpha = audit_lot_input(self._network, self._run, now.number, seed)
        found = {}
        for slot, text in now.proofs.items():
            proof = unbase64(text)
            lot = found[slot] = second_draw.output(proof)
            if self._verify_lots and second_draw.verify(now.keys[slot], alpha, proof) != lot:
                raise ValueError(f"slot {slot} of round {now.number} has no audit lot")
        return found

    def _pay(self, now: SecondRound, slot: int, row: dict[str, Any]) -> None:
        key = now.keys[slot]
        is_audit = slot in now.reports and now.reports[slot][1]["sketch"]
        if (row["verdict"] == AUDITED) != bool(is_audit and slot not in now.ids):
            raise ValueError(f"slot {slot} of round {now.number} has verdict {row['verdict']}")
        if is_audit:
            model, base = self._manifest["model"], self._manifest.get("base", {"parameters": 0})
            flops = 6 * model["parameters"] + 4 * base["parameters"]
            due = now.orders[slot].case.tokens * flops // 10**9
            if row["verdict"] == ACCEPTED:
                due += tokens_of(now.headers[slot]) * flops // 10**9
            if row["trainer_gflop"] != due:
                raise ValueError(f"slot {slot} of round {now.number} gets {row}, and {due} is due")
        if self.records[key].is_revoked:
            return
        wallet = self.purses.setdefault(key, Wallet())
        if row["trainer_gflop"]:
            wallet.trainer.pay(now.number, row["trainer_gflop"])
        if row["witness_gflop"]:
            wallet.witness.pay(now.number, row["witness_gflop"])

    def _miss(self, now: SecondRound, key: bytes, verdict: int) -> None:
        member = self.members[key]
        if verdict == NOT_SELECTED:
            member.missed += 1
            if member.missed >= MISSED_ROUNDS and member.ready_at < now.began:
                self._retire(key)
        elif verdict in (ACCEPTED, REJECTED):
            member.missed = 0

    def _judge(self, now: SecondRound, slot: int, row: dict[str, Any]) -> None:
        said = [named.get(slot) for at, named in now.rejected.items() if at != slot]
        is_rejected = row["verdict"] == REJECTED and said.count(row["reason"]) >= LEAST_ACCUSERS
        if row["verdict"] == ACCEPTED or is_rejected:
            self.records[now.keys[slot]].judged += 1

    def _bar(self, key: bytes, number: int) -> None:
        self.barred[key] = number + AUDIT_PAUSE

    def _add_reports(self, now: SecondRound) -> None:
        for slot, (index, body) in sorted(now.reports.items()):
            duty = now.orders[slot]
            self.duties = [one for one in self.duties if one is not duty]
            if not body["sketch"]:
                self._bar(duty.auditor, now.number)
                continue
            pairs = zip(duty.earlier, body["checked"], strict=True)
            cosines = {one.auditor: cosine for one, cosine in pairs}
            report = Report(index, duty.auditor, Report.said_by(body), cosines, now.number)
            duty.case.reports.append(report)

    def _end_late(self, now: SecondRound) -> None:
        for slot, duty in now.orders.items():
            if slot not in now.reports:
                duty.used += 1
                if duty.used >= AUDIT_ROUNDS:
                    self.duties = [one for one in self.duties if one is not duty]
                    self._bar(duty.auditor, now.number)
        for duty in self.duties:
            if not self._is_there(duty.auditor):
                self._bar(duty.auditor, now.number)
        self.duties = [
            one
            for one in self.duties
            if now.number - one.case.round
            < (REVIEW_ROUNDS + 1 if one.case.stage in REVIEWED else STALE_CASE)
            and self._is_there(one.auditor)
        ]

    def _is_there(self, key: bytes) -> bool:
        return self.members[key].is_active and self.records[key].standing not in OUT

    def _free(self) -> list[Somebody]:
        busy = {duty.auditor for duty in self.duties}
        return [one for one in self._present() if one.key not in busy]

    def _present(self) -> list[Somebody]:
        return [one for one in self._able() if self._now.number >= self.barred.get(one.key, 0)]

    def _able(self) -> list[Somebody]:
        now = self._now
        return [
            one
            for slot, one in zip(now.witnesses, self._people, strict=True)
            if "trainer" in now.roles[slot] and slot in now.lots and self._is_there(one.key)
        ]

    def _work(self, case: Case, rate: int) -> Work:
        return Work(case.id, frozenset(case.owners), case.speed, rate)

    def _owner(self, key: bytes) -> bytes:
        return self.owners.owner(key, self._run, self._ts)

    def _order(self, picks: Iterable[Pick]) -> None:
        for pick in picks:
            case = self.cases[pick.id]
            case.owners.add(self._owner(pick.auditor))
            case.drawn += 1
            self.duties.append(Duty(pick.auditor, case, pick.lot, tuple(case.reports)))

    def _advance(self, case: Case) -> None:
        age = self._now.number - case.round
        if case.stage in JURIES:
            self._settle(case)
        if case.stage == "dispute":
            case.stage = "review"
            one = jury(self._work(case, 0), self._lots, self._free(), self._free(), seats=1)
            self._order(one)
            if one:
                return
        is_late = age > (REVIEW_ROUNDS if case.stage in REVIEWED else LATEST_NEXT)
        if case.stage == "second dispute" or case.new == len(case.reports) or is_late:
            self._end(case)
        elif case.is_disputed():
            jurors = jury(
                self._work(case, 0),
                self._lots,
                self._free(),
                self._present(),
                barred=self._able(),
            )
            if jurors:
                case.stage = "second dispute" if case.stage == "review" else "dispute"
                self._order(jurors)
        else:
            case.stage = "review" if case.stage == "review" else "check"
            work = self._work(case, CHECKED_BP)
            picks = draw([work], self._lots, self._free(), self._elected)
            self._order(picks)
            if not picks:
                self._end(case)

    def _settle(self, case: Case) -> None:
        new = case.reports[case.new :]
        verdict: str | None = None
        if case.stage == "dispute":
            verdict, case.wrong = settled(new, case.drawn)
            self.outcomes.append((case.id, verdict))
        else:
            case.wrong = wrong_about_sketches(new, max(case.drawn, JURY)) - case.wrong
        if verdict is not None or case.wrong:
            self._count(case, new, case.wrong)
        for one in case.reports:
            if one.auditor in case.wrong:
                wallet = self.purses.setdefault(one.auditor, Wallet())
                wallet.forfeited += wallet.trainer.lose(one.round)
        if verdict in (CLEAR, NOT_DONE):
            self._denied += [one.auditor for one in new if one.said == WITHHELD]
        self._follow(case, verdict)
        case.new, case.drawn = len(case.reports), 0

    def _end(self, case: Case) -> None:
        del self.cases[case.id]
        if case.new:
            return
        is_calm = bool(case.reports) and not case.is_disputed()
        self.outcomes.append((case.id, CLEAR if is_calm else None))
        if is_calm:
            self._count(case, case.reports, set())

    def _count(self, case: Case, new: Sequence[Report], wrong: set[bytes]) -> None:
        for one in case.reports:
            if one in new or one.auditor in wrong:
                record = self.records[one.auditor]
                record.audits.append((one.index, self._index if one.auditor in wrong else 0))
                if one.auditor in wrong:
                    self.contradicted.append((one.auditor, one.index))

    def _follow(self, case: Case, verdict: str | None) -> None:
        if verdict == NOT_DONE:
            record = self.records[case.trainer]
            stated = [one.index for one in case.reports]
            if record.standing not in OUT and not record.fault:
                record.fault = (*sorted(stated), self._index)[-16:]
                self.convictions.append(case.trainer)
        elif verdict == WITHHELD:
            wallet = self.purses.setdefault(case.trainer, Wallet())
            wallet.forfeited += wallet.trainer.lose(case.round)
            wallet.trainer.wait_anew()
            self._withheld.append(case.trainer)
            now = self._now
            if case.trainer in now.keys and now.keys.index(case.trainer) in now.lots:
                record = self.records[case.trainer]
                record.withheld.append((record.judged, self._index))

    def _repeat(self, key: bytes, tokens: int) -> None:
        member = self.members[key]
        member.repeated = max(member.repeated, tokens // self._window)

    def _auditable(self, rows: Sequence[Mapping[str, Any]]) -> list[int]:
        return [
            slot
            for slot, row in enumerate(rows)
            if row["verdict"] == ACCEPTED
            or (row["verdict"] == REJECTED and row["reason"] in MEASURES)
        ]

    def _begin_cases(self, rows: Sequence[Mapping[str, Any]]) -> None:
        now = self._now
        works, cases = [], {}
        for slot in self._auditable(rows):
            key = now.keys[slot]
            member, tokens = self.members[key], tokens_of(now.headers[slot])
            is_repeated = member.repeated >= tokens // self._window
            is_known = member.tokens >= KNOWN_WORK * tokens and is_repeated
            is_active = self.records[key].standing == "active"
            is_proven = is_known and is_active and key not in self.watched
            if key in self.watched:
                self.watched[key] -= 1
                if self.watched[key] == 0:
                    del self.watched[key]
            header = now.headers[slot]
            chunks = int.from_bytes(header[12:16], "little")
            case = Case(now.ids[slot], now.number, key, now.speeds[slot], tokens, chunks)
            case.owners.add(self._owner(key))
            cases[case.id] = case
            rate = self._rates["others_bp" if is_proven else "unproven_bp"]
            works.append(self._work(case, rate))
        most = sum("trainer" in roles for roles in now.roles) // 2 - len(self.duties)
        picks = draw(works, self._lots, self._free(), self._elected, max(most, 0))
        for pick in picks:
            self.cases[pick.id] = cases[pick.id]
        self._order(picks)


class SecondRound:
    """The statements of one round."""

    def __init__(self, index: int, number: int, roster: Mapping[str, Any]) -> None:
        self.began, self.number = index, number
        self.keys = [unbase64(one["peer"]) for one in roster["members"]]
        self.roles = [one["roles"] for one in roster["members"]]
        self.speeds = [one["speed"] for one in roster["members"]]
        self.shares = [one["share"] for one in roster["members"]]
        self.witnesses = [slot for slot, roles in enumerate(self.roles) if "witness" in roles]
        self.orders: dict[int, Duty] = {}
        self.lots: dict[int, bytes] = {}
        self._heads: dict[int, bytes] = {}
        self.elected: list[int] = []
        self.is_open = self.is_witnessed = False
        self.coordinator = b""
        self.proof = b""  # the one in round.witness
        self.headers: dict[int, bytes] = {}
        self.ids: dict[int, bytes] = {}
        self.proofs: dict[int, str] = {}
        self.rejected: dict[int, dict[int, int]] = {}
        self.reports: dict[int, tuple[int, dict[str, Any]]] = {}

    def read(self, kind: str, index: int, author: bytes, body: dict[str, Any]) -> None:
        """Continue with an entry of the round."""
        if kind == "round.open":
            self.is_open = True
            head = unbase64(body["head"])
            lots = {slot: lot for slot, lot in self.lots.items() if self._heads[slot] == head}
            self.elected = second_draw.elect(set(self.witnesses), lots)
        elif kind == "round.witness":
            self.is_witnessed, self.coordinator = True, author
            self.proof = unbase64(body["vrf"])
        if author not in self.keys:
            return
        slot = self.keys.index(author)
        match kind:
            case "head.attest":
                self.lots[slot] = second_draw.output(unbase64(body["vrf"]))
                self._heads[slot] = unbase64(body["head"])
            case "work.commit":
                header = self.headers[slot] = unbase64(body["header"])
                self.ids[slot] = sha256(b"tequio/v1/contribution\0", header)
            case "witness.proof":
                self.proofs[slot] = body["vrf"]
                self.rejected[slot] = dict(body["rejected"])
            case "audit.report":
                self.reports[slot] = index, body

    def is_silent(self, slot: int) -> bool:
        """Return whether a slot is silent when the round ends (9.6)."""
        if not self.is_open:
            return slot not in self.lots
        has_duty = self.shares[slot] > 0 or (self.is_witnessed and slot in self.elected)
        has_audited = slot in self.reports and self.reports[slot][1]["sketch"]
        said = slot in self.ids or slot in self.proofs or has_audited
        return has_duty and not said


def second_base64(data: bytes) -> str:
    """base64url without padding (2)."""
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()
