"""One valid body of each type, as JSON, and the envelope around it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tequio_shared.encoding import convert
from tequio_shared.ids import ZERO_DIGEST, NetworkId, PeerKey, RunId, sha256, to_text
from tequio_shared.keys import Signer
from tequio_shared.statements import Scope, statement
from tequio_shared.statements.statement import BODIES, VERSION, Body

if TYPE_CHECKING:
    from collections.abc import Mapping

NET = NetworkId(sha256(b"tequio test network"))
RUN = RunId(sha256(b"run"))
AUTHOR = Signer(bytes([1]) * 32)
D = to_text(sha256(b"digest"))
VRF = to_text(bytes(80))

EXAMPLES: Mapping[str, Mapping[str, object]] = {
    "key.register": {"nonce": 7},
    "key.recovery": {"recovery": D},
    "key.replace": {"former": D, "nonce": 7},
    "key.revoke": {"peer": D},
    "member.ready": {"head": D, "roles": ["trainer", "witness"]},
    "member.leave": {"reason": 1},
    "member.name": {"name": "Ana Sof\u00eda"},
    "member.team": {"team": 7},
    "team.define": {
        "team": 0,
        "name": "Oaxaca 2",
        "invitation": D,
        "until": 1_000,
        "most": 20,
        "goal": 5_000,
        "goal_until": 2_000,
    },
    "team.member": {"peer": D, "to": "removed"},
    "name.withdraw": {"peer": D, "team": 0, "reason": 1},
    "net.genesis": {"doc": to_text(b"{}")},
    "run.open": {"manifest": to_text(RUN), "head": D},
    "run.pause": {"reason": 1},
    "run.resume": {"reason": 1},
    "run.rollback": {
        "head_round": 3,
        "head": D,
        "parent": D,
        "set_root": D,
        "weights_root": D,
        "aux_root": D,
        "last_round": 7,
    },
    "run.notice": {"about": "run", "text": "The next data begins on Sunday."},
    "run.finish": {"reason": 1},
    "run.close": {"reason": 1},
    "round.roster": {"roster": D, "slots": 5, "trainers": 4, "vrf": VRF},
    "head.attest": {"head": D, "weights_root": D, "aux_root": D, "vrf": VRF, "step_root": D},
    "head.promote": {
        "head": D,
        "parent": D,
        "set_root": D,
        "weights_root": D,
        "aux_root": D,
        "attests": 4,
        "step_root": D,
    },
    "head.measure": {"head": D, "millibits": 7_300_000, "size_bytes": 4_000, "tokens": 4_000},
    "round.open": {
        "head": D,
        "roster": D,
        "lots": D,
        "k": 64,
        "opened": 1_000,
        "train_by": 2_000,
        "close_by": 3_000,
    },
    "work.commit": {
        "header": to_text(bytes(216)),
        "seal": D,
        "feedback": D,
        "parts": [[to_text(bytes(32)), 250], [D, 750]],
    },
    "round.witness": {"commits": 4, "vrf": VRF},
    "witness.proof": {
        "bitmap": to_text(b"\x0b"),
        "bloom": to_text(bytes(6)),
        "root": D,
        "count": 3,
        "head": D,
        "rejected": [[0, 3], [2, 1]],
        "gains": [[1, 4587], [3, -65536]],
        "vrf": VRF,
        "marks": to_text(bytes(12)),
    },
    "audit.report": {
        "contribution": D,
        "figures": {"hidden": 412, "other": 77, "rounding": 25, "leaves": 31},
        "cosine": 9_340,
        "sketch": [-4_096, *range(63)],
        "checked": [9_988],
    },
    "round.close": {"set_root": D, "accepted": 3, "proofs": 3, "result": D},
    "round.void": {"reason": 1},
    "fault.report": {"leaves": [to_text(b"one"), to_text(b"other")], "piece": ""},
    "standing.change": {
        "peer": D,
        "to": "quarantined",
        "cause": 2,
        "evidence": [3, 5],
        "until": 1_000,
    },
    "standing.appeal": {"change": 7, "text": D},
    "standing.release": {"peer": D, "reason": 1},
    "standing.uphold": {"peer": D, "to": "banned", "reason": 1},
    "invite.open": {"invitation": D, "uses": 5, "until": 1_000, "run": to_text(RUN)},
    "invite.close": {"invitation": D},
    "invite.revoke": {"invitation": D},
    "role.grant": {"peer": D, "role": "connector", "until": 1_000},
    "role.revoke": {"peer": D, "role": "connector"},
    "member.vouch": {"peer": D, "owner": D, "until": 1_000},
    "checkpoint.publish": {
        "head": D,
        "weights_root": D,
        "location": "s3://a-bucket/nova?endpoint=https://s3.example&region=auto",
        "revision": "0123456789abcdef" * 4,
    },
    "net.notice": {"text": "The ledger moves on Sunday at noon."},
    "software.release": {
        "version": "0.3.0",
        "minimum": "0.2.10",
        "targets": D,
        "targets_version": 7,
    },
    "log.snapshot": {"layout": D, "size": 4_096, "state": D},
    "comp.open": {"competition": D},
    "comp.enter": {"competition": D, "entrant": "north-2", "side": to_text(RUN)},
    "comp.submit": {"competition": D, "entrant": "north-2", "submission": D},
    "eval.offer": {"competition": D},
    "comp.close": {"competition": D, "vrf": VRF},
    "eval.lot": {"competition": D, "vrf": VRF},
    "comp.draw": {"competition": D, "vrf": VRF},
    "comp.reveal": {"competition": D, "share": "tequio-share:" + "A" * 96},
    "eval.commit": {"competition": D, "entrant": "north-2", "commit": D},
    "eval.result": {
        "competition": D,
        "entrant": "north-2",
        "submission": D,
        "scores": D,
        "salt": D,
        "millibits": 9_000,
        "size_bytes": 10,
    },
    "comp.challenge": {
        "competition": D,
        "entrant": "north-2",
        "evaluator": D,
        "document": 3,
        "millibits": 8_000,
    },
    "comp.result": {"competition": D, "outcome": D},
}


def example(name: str) -> Body:
    """The example's body."""
    return convert(EXAMPLES[name], BODIES[name, VERSION])


def example_statement(
    name: str, *, seq: int = 1, author: PeerKey = AUTHOR.key
) -> statement.Statement:
    """Put the example in a statement of the author, with the fields that its scope asks for."""
    body = example(name)
    return statement.make(
        body=body,
        author=author,
        seq=seq,
        ts=1_700_000_000_000,
        exp=1_700_000_060_000,
        prev=ZERO_DIGEST if seq == 1 else sha256(b"previous"),
        run=None if body.SCOPE is Scope.NETWORK else RUN,
        round=7 if body.SCOPE is Scope.ROUND else None,
    )
