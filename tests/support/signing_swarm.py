"""Peers that sign real statements for a run but never train: for tests of the coordinator."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from msgspec import UNSET, UnsetType

from tequio_shared.head.contribution import ContributionHeader
from tequio_shared.ids import ZERO_DIGEST, Digest, RunId, sha256, to_text
from tequio_shared.limits import SKETCH_NUMBERS
from tequio_shared.network.run import first_head
from tequio_shared.round.manifest import (
    Algorithm,
    DataSpec,
    InnerParams,
    Manifest,
    ModelSpec,
    RoundRules,
    Tokenizer,
    WindowRules,
)
from tequio_shared.statements.network import MemberLeave, MemberReady
from tequio_shared.statements.runs import (
    AuditFigures,
    AuditReport,
    HeadAttest,
    HeadMeasure,
    RunOpen,
    Sample,
    TaskCounts,
    WitnessProof,
    WorkCommit,
)
from tests.support.authors import Author
from tests.support.commitments import commitment
from tests.support.ledgers import ORGANISER
from tests.support.marks import marks_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from tequio_shared.ids import PeerKey
    from tequio_shared.keys import Signer
    from tequio_shared.round.proof import RejectionReason
    from tequio_shared.round.round import RoundView
    from tequio_shared.served.state import State
    from tequio_shared.statements.statement import Entry

_D = to_text(sha256(b"nothing that a test looks into"))


def manifest(**rounds: int) -> Manifest:
    """A small manifest; keywords change its round rules."""
    return Manifest(
        name="paper",
        model=ModelSpec(
            config=_D,
            parameters=4096 * 4096,
            tensors=(("w", (4096, 4096)),),
            aliases=(),
            weights_root=to_text(weights_root(0)),
            aux_root=to_text(ZERO_DIGEST),
            sequence=64,
        ),
        tokenizer=Tokenizer(kind="huggingface", file=_D, vocab_size=256),
        data=DataSpec(manifest=_D, root=_D),
        algorithm=Algorithm(),
        inner=InnerParams(),
        windows=WindowRules(samples=4, tokens=256, first=4, most=64),
        rounds=RoundRules(**{**_ROUND_RULES, **rounds}),
    )


_ROUND_RULES = {
    "min_members": 2,
    "warmup": 1_000,
    "train": 10_000,
    "train_limit": 30_000,
    "witness": 20_000,
    "grace": 500,
    "attest": 15_000,
    "cooldown": 5_000,
    "most": 100,
}


def weights_root(number: int) -> Digest:
    """The root that every signing peer claims to have computed after a round."""
    return sha256(b"paper weights", number.to_bytes(8, "big"))


class FoldedState(Protocol):
    """A ledger, or what has read its log to the end."""

    @property
    def state(self) -> State: ...

    @property
    def clock(self) -> Callable[[], int]: ...


class SigningPeer(Author):
    """One member; signs the statements that the round needs, from a ledger's state."""

    def __init__(self, name: str, ledger: FoldedState, run: RunId) -> None:
        super().__init__(name, ledger.state.net)
        self._ledger = ledger
        self._run = run
        self.parts: dict[PeerKey, int] = {}
        """Parts of its points that its commitments give to other keys, in 1/1000."""

    def move(self, ledger: FoldedState) -> None:
        """Continue with a reopened ledger."""
        self._ledger = ledger

    def join(self, *invitation: Signer) -> list[Entry]:
        """Sign the registration and member.ready."""
        return [self.register(self._ledger.clock(), *invitation), self.ready()]

    def ready(self) -> Entry:
        """Sign member.ready for the next roster."""
        body = MemberReady(head=_D, roles=("trainer", "witness"))
        return self.sign(body, self._ledger.clock(), run=self._run)

    def leave(self) -> Entry:
        """Leave the run."""
        return self.sign(MemberLeave(reason=1), self._ledger.clock(), run=self._run)

    def attest(self) -> Entry:
        """State the head that all signing peers hold."""
        view = self._view
        made = view.next_head.round if view.next_head else view.head.round if view.head else 0
        head = view.expected_head(weights_root(made), ZERO_DIGEST)
        return self._in_round(
            HeadAttest(
                head=to_text(head.hash),
                weights_root=to_text(head.weights_root),
                aux_root=to_text(head.aux_root),
                vrf=to_text(self.signer.prove(view.lot_input)),
            )
        )

    def commit(self, loss_q16: int = 0) -> Entry:
        """Commit to a contribution that does not exist, with all assigned windows done."""
        view = self._view
        assert view.head is not None
        mine = view.assignment[view.slot_of[self.key]]
        count = sum(size for _, size in mine)
        rules = view.manifest
        header = ContributionHeader(
            algorithm=1,
            bits=rules.algorithm.bits,
            k=view.k,
            inner_steps=rules.inner.steps,
            chunk_count=rules.chunks,
            round=view.number,
            window_first=mine[0][0],
            window_count=count,
            tokens=count * rules.windows.tokens,
            run_id=self._run,
            base_head=view.head.hash,
            trainer=self.key,
            payload_root=sha256(self.key, view.number.to_bytes(8, "big")),
            claimed_loss_last_q16=loss_q16,
        )
        return self._in_round(commitment(header, parts=self.parts))

    def owes_audit(self) -> bool:
        """True if the round orders an audit that it has not reported."""
        slot = self._view.slot_of.get(self.key)
        return slot in self._view.orders and slot not in self._view.reports

    def report(self, figures: AuditFigures | UnsetType = UNSET) -> Entry:
        """Report the ordered audit; without figures, the trainer withheld its contribution."""
        order = self._view.orders[self._view.slot_of[self.key]]
        return self._in_round(
            AuditReport(
                contribution=order.contribution,
                figures=figures,
                cosine=9_300,
                sketch=(0,) * SKETCH_NUMBERS,
                checked=(9_990,) * len(order.earlier),
            )
        )

    def prove(self, rejected: Mapping[int, RejectionReason] | None = None) -> Entry:
        """Vouch for every commitment except its own and the rejected ones."""
        view = self._view
        assert view.head is not None
        refused = {**(rejected or {})}
        refused.pop(view.slot_of[self.key], None)
        silent = {view.slot_of[self.key], *refused}
        vouched = {slot: one.id for slot, one in view.commitments.items() if slot not in silent}
        lot = self.signer.prove(view.audit_lot_input)
        body = view.proof_of(vouched, refused, lot, marks_of(view, vouched, lot))
        return self._in_round(body)

    def measure(
        self,
        millibits: int,
        size_bytes: int = 64_000,
        sample: Sample | UnsetType = UNSET,
        tasks: tuple[TaskCounts, ...] = (),
    ) -> Entry:
        """Sign a measure, and perhaps a sample and answers, of the head with the last draw."""
        draw = self._ledger.state.run(self._run).drawn
        assert draw is not None
        body = HeadMeasure(
            head=to_text(draw.head.hash),
            millibits=millibits,
            size_bytes=size_bytes,
            tokens=16_384,
            sample=sample,
            tasks=tasks or UNSET,
        )
        now_ms, number = self._ledger.clock(), draw.head.round
        return self.sign(body, now_ms, run=self._run, number=number)

    @property
    def _view(self) -> RoundView:
        view = self._ledger.state.run(self._run).round
        assert view is not None
        return view

    def _in_round(self, body: HeadAttest | WorkCommit | WitnessProof | AuditReport) -> Entry:
        return self.sign(body, self._ledger.clock(), run=self._run, number=self._view.number)


class SigningOrganiser(Author):
    """The organiser of the test network."""

    def __init__(self, ledger: FoldedState) -> None:
        super().__init__("organiser", ledger.state.net)
        self.signer = ORGANISER

    def open(self, rules: Manifest, now_ms: int) -> Entry:
        """Open the run of a manifest that is in the blob folder."""
        body = RunOpen(manifest=to_text(rules.run_id), head=to_text(first_head(rules).hash))
        return self.sign(body, now_ms, run=rules.run_id)
