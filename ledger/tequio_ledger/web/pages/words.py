"""What stands in the log as a code, in words."""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING

from tequio_ledger.web.pages import figures
from tequio_shared.limits import CONTRIBUTORS
from tequio_shared.proof import Reason, Verdict
from tequio_shared.run_states import State, VoidReason
from tequio_shared.standing import Standing
from tequio_shared.tiers import Tier

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tequio_shared.manifest import Admission


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """What went wrong with a request."""

    status: int
    title: str
    detail: str


@dataclass(frozen=True, slots=True)
class Mark:
    """A state as people see it: a word, a tone with a shape of its own, and a sentence."""

    word: str
    tone: str
    """ok, busy, wait, warn, danger or off."""
    says: str = ""


STATES: Mapping[State, Mark] = MappingProxyType(
    {
        State.WAITING_FOR_MEMBERS: Mark(
            "Waiting for members", "wait", "The next round begins when enough members are ready."
        ),
        State.WARMUP: Mark(
            "Stating heads", "busy", "The round's members say which model they hold."
        ),
        State.ROUND_TRAIN: Mark("Training", "ok", "Trainers work on their windows of the data."),
        State.ROUND_WITNESS: Mark(
            "Witnessing", "ok", "Elected witnesses fetch and check every contribution."
        ),
        State.COOLDOWN: Mark(
            "Cooling down", "busy", "No more rounds: members state the last head."
        ),
        State.PAUSED: Mark("Paused", "off", "An organiser paused the run."),
        State.FINISHED: Mark("Finished", "off", "The run has ended; its head stays as it is."),
    }
)

LAST_HEAD = Mark(
    "Last head", "off", "There were no more rounds to train: these members stated the last head."
)
"""Of a roster that was made when its run was ending."""
ENDING = frozenset({State.COOLDOWN, State.FINISHED})

VERDICTS: Mapping[Verdict, Mark] = MappingProxyType(
    {
        Verdict.SILENT: Mark("No commitment", "off", "Said nothing before training was over."),
        Verdict.ACCEPTED: Mark(
            "Accepted", "ok", "A quorum of witnesses checked it and vouched for it."
        ),
        Verdict.NOT_SELECTED: Mark(
            "Not selected", "wait", "Too few witnesses had all of it in time. No blame, no points."
        ),
        Verdict.REJECTED: Mark(
            "Rejected", "danger", "A quorum of witnesses gave the same reason against it."
        ),
    }
)

REASONS: Mapping[Reason, str] = MappingProxyType(
    {
        Reason.NONE: "",
        Reason.LENGTH: "its length is not what the header implies",
        Reason.MAGIC: "it does not begin as a contribution does",
        Reason.VERSION: "it has a version that nobody knows",
        Reason.SHAPE: "algorithm, k or bits are not those of the round",
        Reason.FLAGS: "it sets flags that mean nothing",
        Reason.RUN: "it belongs to another run",
        Reason.ROUND: "it belongs to another round",
        Reason.BASE: "it starts from another head",
        Reason.TRAINER: "it names another trainer",
        Reason.WINDOWS: "its windows are not those assigned",
        Reason.TOKENS: "its tokens do not follow from its windows",
        Reason.STEPS: "it took more inner steps than the run allows",
        Reason.PAYLOAD_ROOT: "its bytes are not the ones committed to",
        Reason.SCALE: "a scale byte is out of range",
        Reason.FILLER: "an empty chunk is not written as it must be",
        Reason.POPCOUNT: "a record has too many or too few entries",
        Reason.HIGH: "an index lies beyond its chunk",
        Reason.ASCENDING: "indices do not ascend",
        Reason.LEVEL: "a level is out of range",
        Reason.HOLLOW: "a chunk with a scale holds nothing",
        Reason.NORM: "its norm is far larger than the round's median",
        Reason.COSINE: "it points away from what witnesses measured themselves",
        Reason.COPY: "it shares nearly all its indices with an earlier commitment",
    }
)
"""Why witnesses refuse a contribution; behind "because"."""

VOIDS: Mapping[VoidReason, str] = MappingProxyType(
    {
        VoidReason.NO_HEAD_QUORUM: "too few members stated the same head in time",
        VoidReason.NO_COMMITMENTS: "nobody committed to a contribution in time",
        VoidReason.NO_PROOF_QUORUM: "too few witnesses sent their proofs in time",
        VoidReason.NOTHING_ACCEPTED: "no contribution was vouched for by a quorum",
    }
)

STANDINGS: Mapping[Standing, Mark] = MappingProxyType(
    {
        Standing.NEWCOMER: Mark("Newcomer", "wait", "Small shares until enough work was accepted."),
        Standing.ACTIVE: Mark("Active", "ok", "Full shares and witness duty."),
        Standing.SUSPECTED: Mark(
            "Suspected", "warn", "Works on, without witness duty while there are others."
        ),
        Standing.QUARANTINED: Mark("Quarantined", "danger", "In no roster until the term is over."),
        Standing.PROBATION: Mark(
            "On probation", "warn", "Back from quarantine, with small shares."
        ),
        Standing.BANNED: Mark("Banned", "danger", "Organisers decided that it does not come back."),
    }
)

TIERS: Mapping[Tier, Mark] = MappingProxyType(
    {
        Tier.ANONYMOUS: Mark("Anonymous", "wait", "Nobody says who is behind it."),
        Tier.VOUCHED: Mark("Vouched for", "ok", "A connector knows an account behind it."),
        Tier.INVITED: Mark("Invited", "ok", "Organisers let it in."),
    }
)

TYPES: Mapping[str, str] = MappingProxyType(
    {
        "net.genesis": "The network begins",
        "key.register": "A key registers",
        "run.open": "A run opens",
        "run.pause": "An organiser pauses a run",
        "run.resume": "An organiser resumes a run",
        "run.finish": "An organiser ends a run",
        "run.close": "A run has ended",
        "member.ready": "A member is ready for the next round",
        "member.leave": "A member leaves",
        "round.roster": "The members of the coming round",
        "head.attest": "A member states the head it holds",
        "head.promote": "A quorum stated this head: it is canonical",
        "head.measure": "A drawn member says how good a head is on held-out text",
        "round.open": "Training begins",
        "work.commit": "A trainer commits to its contribution",
        "round.witness": "Training is over, witnesses judge",
        "witness.proof": "A witness says what it checked",
        "round.close": "A round closes, and pays",
        "round.void": "A round counts for nothing",
        "fault.report": "Somebody proves a fault",
        "standing.change": "A key's standing changes",
        "standing.appeal": "A key appeals",
        "standing.release": "Organisers release a key",
        "standing.uphold": "Organisers uphold a quarantine",
        "invite.open": "Organisers open an invitation",
        "invite.close": "Organisers close an invitation",
        "invite.revoke": "Organisers revoke an invitation and whom it let in",
        "role.grant": "Organisers let a key vouch for others",
        "role.revoke": "Organisers take a key's role back",
        "member.vouch": "A connector knows an account behind a key",
        "member.team": "A key says for which team it earns",
        "checkpoint.publish": "Organisers put a head on the Hugging Face Hub",
        "comp.open": "Organisers open a competition",
        "comp.enter": "Somebody enters a competition",
        "comp.submit": "An entrant submits a model",
        "eval.offer": "Somebody offers to evaluate",
        "comp.close": "The deadline is over: what is logged up to here counts",
        "eval.secret": "Who offered to evaluate opens the secret",
        "comp.draw": "No secret counts any more: shares may be shown",
        "comp.reveal": "A custodian shows a share of the key",
        "eval.commit": "An evaluator commits to a model's scores",
        "eval.result": "An evaluator shows what a model scored",
        "comp.challenge": "Somebody got another number",
        "comp.result": "Organisers state the outcome of a competition",
    }
)
"""What a statement of each type says."""


def verdict(code: int, reason: int) -> Mark:
    """A verdict with its reason; codes of a newer tequio are named as they are."""
    try:
        mark = VERDICTS[Verdict(code)]
    except ValueError:
        return Mark(f"Verdict {code}", "wait", "A newer tequio knows what this means.")
    return Mark(mark.word, mark.tone, f"{mark.says} {_because(reason)}".rstrip())


def reason(code: int) -> str:
    """A reason, for the middle of a sentence."""
    try:
        return REASONS[Reason(code)]
    except ValueError:
        return f"reason {code}, which a newer tequio knows"


def void(code: int) -> str:
    """Why a round is void."""
    try:
        return VOIDS[VoidReason(code)]
    except ValueError:
        return f"reason {code}, which a newer tequio knows"


def standing(name: str) -> Mark:
    """A standing."""
    try:
        return STANDINGS[Standing(name)]
    except ValueError:
        return Mark(name, "wait")


def tier(number: int) -> Mark:
    """A tier."""
    try:
        return TIERS[Tier(number)]
    except ValueError:
        return Mark(f"Tier {number}", "wait")


def asked(rules: Admission) -> tuple[str, ...]:
    """Whom a run takes, and the way in, in sentences; none: everybody."""
    said = []
    if rules.trainer_tier:
        said.append(f"Only keys that {_BEHIND[rules.trainer_tier]} train.")
    if rules.witness_tier:
        said.append(f"Only keys that {_BEHIND[rules.witness_tier]} witness.")
    if rules.owner_slots < CONTRIBUTORS:
        said.append(
            f"One owner has at most {figures.plural(rules.owner_slots, 'slot')} in a round."
        )
    if rules.owner_seats < CONTRIBUTORS:
        said.append(f"At most {rules.owner_seats} of an owner's keys may witness.")
    tiers = {rules.trainer_tier, rules.witness_tier} - {0}
    if tiers:
        vouch = ", or have an account of yours vouch (tequio connect)" if 1 in tiers else ""
        said.append(f"Ask an organiser for an invitation (tequio join){vouch}.")
    return tuple(said)


_BEHIND = {1: "a connector vouches for or organisers invited", 2: "organisers invited"}


def _because(code: int) -> str:
    said = reason(code)
    return f"Because {said}." if said else ""
