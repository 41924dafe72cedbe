"""A witness: its wait for contributions, their screening, and what it vouches for or reports."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, cast

import pytest
import trio

from tequio_client.ipc import trainer as link
from tequio_client.worker.rounds import witness
from tequio_client.worker.rounds.duties import ProveDuty
from tequio_client.worker.rounds.train import WorkTally
from tequio_client.worker.rounds.witness import GATHER_SHARE, PAST_ROUNDS, RoundWitnessing
from tequio_shared.ids import sha256
from tequio_shared.round.proof import RejectionReason
from tests.support.statements import example
from tests.support.tiny_run import signer

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from trio.testing import MockClock

    from tequio_client.worker.rounds.marks import ProofMarks
    from tequio_client.worker.rounds.statements import RunContext, RunStatements
    from tequio_client.worker.rounds.train import RoundTraining
    from tequio_shared.head.chain import AcceptedSet
    from tequio_shared.ids import Digest
    from tequio_shared.round.round import RoundView
    from tequio_shared.statements.runs import WitnessProof

pytestmark = pytest.mark.trio

KEY = signer("ana").key
PHASE_MS = 60_000


def header(name: str) -> bytes:
    return name.encode()


def committed(name: str, index: int) -> SimpleNamespace:
    root = sha256(name.encode())
    packed = SimpleNamespace(trainer=signer(name).key, payload_root=root, pack=lambda: header(name))
    return SimpleNamespace(index=index, header=packed, id=name, seal=root)


class WitnessedRound:
    """A witness, the contributions to one round, and the verdicts of its trainer."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.reasons: dict[int, str] = {}
        self.missing: set[Digest] = set()
        self.asked: list[link.Screen] = []
        self.vouched: list[Mapping[int, str]] = []
        self.rejected: list[Mapping[int, RejectionReason]] = []
        self.reported: list[str] = []
        self.sent: WitnessProof | None = None
        self.now_ms = 0
        self.own_delta: str | None = "delta"
        monkeypatch.setattr(witness, "measure_gains", self._measure)
        monkeypatch.setattr(witness, "_evidence", lambda path, *_: path.name)
        tree = SimpleNamespace(leaves=())
        self.store = SimpleNamespace(
            has_tree=lambda root: root not in self.missing,
            tree_path=lambda root: trio.Path(root.hex()),
            tree=lambda root: SimpleNamespace(ref=SimpleNamespace(root=root), leaves=tree.leaves),
        )
        context = SimpleNamespace(
            key=KEY,
            prove=lambda _: b"lot",
            store=self.store,
            exchange=self,
            workdir=self,
            reports=self,
            ledger_clock=SimpleNamespace(now_ms=lambda: self.now_ms),
            manifest=SimpleNamespace(run_id=bytes(32), rounds=SimpleNamespace(witness=PHASE_MS)),
        )
        self.witnessing = RoundWitnessing(
            cast("RunContext", context),
            cast("RunStatements", self),
            cast("RoundTraining", SimpleNamespace(own_delta=lambda _: self.own_delta)),
            WorkTally(),
            cast("ProofMarks", SimpleNamespace(make=self._make_marks)),
        )
        self.commitments = {
            0: committed("bo", 30),
            1: committed("cleo", 20),
            2: committed("di", 25),
        }

    async def _measure(self, *_: object) -> tuple[()]:
        return ()

    async def _make_marks(
        self, _current: object, vouched: Mapping[int, str], _lot: bytes
    ) -> tuple[Mapping[int, str], bytes]:
        self.vouched.append(vouched)
        return vouched, b""

    async def wait_for_trees(self, roots: Sequence[Digest]) -> None:
        if self.missing.intersection(roots):
            await trio.sleep_forever()

    async def ask(self, make: Callable[[int], link.Screen], _answer: object) -> SimpleNamespace:
        self.asked.append(make(1))
        verdicts = tuple(
            link.ScreeningVerdict(
                slot=one.slot, contribution="", reason=self.reasons.get(one.slot, "")
            )
            for one in self.asked[-1].candidates
        )
        return SimpleNamespace(verdicts=verdicts)

    def report_bytes(self, commitment: SimpleNamespace, _piece: object) -> None:
        self.reported.append(commitment.id)

    async def submitted(self, _type: object, _round: int) -> WitnessProof | None:
        return self.sent

    async def submit_once(self, _now: ProveDuty, body: WitnessProof) -> None:
        self.sent = body

    def _proof_of(
        self, _vouched: object, rejected: Mapping[int, RejectionReason], _lot: bytes, _marks: bytes
    ) -> object:
        self.rejected.append(rejected)
        return example("witness.proof")

    async def prove(
        self, lately: Sequence[object] = (), *, witnessed_ms: int = 0, slot: int | None = 7
    ) -> None:
        current = SimpleNamespace(
            number=5,
            head=SimpleNamespace(hash=bytes(32)),
            k=2,
            commitments=self.commitments,
            assignment=dict.fromkeys(self.commitments, ((0, 1),)),
            slot_of={} if slot is None else {KEY: slot},
            audit_lot_input=b"",
            shape=None,
            proof_of=self._proof_of,
        )
        await self.witnessing.prove(
            ProveDuty(5),
            cast("RoundView", current),
            witnessed_ms,
            cast("Sequence[AcceptedSet]", lately),
        )


@pytest.fixture
def round_(monkeypatch: pytest.MonkeyPatch) -> WitnessedRound:
    return WitnessedRound(monkeypatch)


async def test_contributions_are_screened_in_the_order_of_their_commitments(
    round_: WitnessedRound,
) -> None:
    await round_.prove()
    (screen,) = round_.asked
    assert [one.slot for one in screen.candidates] == [1, 2, 0], "the later of two is the copy"
    assert (screen.own_delta, screen.own_slot) == ("delta", 7)
    round_.own_delta, round_.sent = None, None
    await round_.prove()
    assert (round_.asked[-1].own_delta, round_.asked[-1].own_slot) == (None, None)


async def test_only_what_passed_is_vouched_for_and_a_broken_record_alone_is_reported(
    round_: WitnessedRound,
) -> None:
    round_.reasons = {0: "norm", 2: "scale"}
    await round_.prove()
    assert round_.vouched == [{1: "cleo"}]
    assert round_.rejected == [{0: RejectionReason.NORM, 2: RejectionReason.SCALE}]
    assert round_.reported == ["di"]
    await round_.prove()  # the proof that was sent before, after a lost answer
    assert (len(round_.asked), round_.reported) == (1, ["di"])


@pytest.mark.parametrize(("gone_ms", "left_s"), [(0, 30.0), (20_000, 10.0), (40_000, 0.0)])
async def test_what_is_missing_is_waited_for_until_half_of_the_phase_is_over(
    round_: WitnessedRound, autojump_clock: MockClock, gone_ms: int, left_s: float
) -> None:
    assert GATHER_SHARE * PHASE_MS == 30_000
    round_.missing = {sha256(b"di")}
    round_.now_ms = 1_000 + gone_ms
    began = trio.current_time()
    await round_.prove(witnessed_ms=1_000)
    assert trio.current_time() - began == pytest.approx(left_s)
    assert [one.slot for one in round_.asked[0].candidates] == [1, 0]
    assert round_.rejected == [{}], "a missing file does not speak against its trainer"


def accepted(*names: str) -> SimpleNamespace:
    works = [
        SimpleNamespace(header=header(one), payload_root=sha256(one.encode())) for one in names
    ]
    return SimpleNamespace(works=works)


async def test_past_contributions_are_compared_the_newest_first_and_as_many_as_fit(
    round_: WitnessedRound,
) -> None:
    rounds = [accepted(f"{at} a", f"{at} b") for at in range(PAST_ROUNDS + 1)]
    round_.missing = {sha256(b"3 a")}
    await round_.prove(rounds)
    (screen,) = round_.asked
    named = [one.payload for one in screen.past]
    due = [
        f"{at} {one}" for at in range(PAST_ROUNDS, 0, -1) for one in "ab" if (at, one) != (3, "a")
    ]
    assert named == [sha256(one.encode()).hex() for one in due]
    round_.sent = None
    await round_.prove([accepted(*(f"many {at}" for at in range(link.FILES)))])
    assert len(round_.asked[-1].past) + len(round_.asked[-1].candidates) == link.FILES
