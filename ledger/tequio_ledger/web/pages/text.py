"""Numbers, times and the codes of the log, as people read them."""

from __future__ import annotations

import math
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import pairwise
from typing import TYPE_CHECKING, Literal

from tequio_shared.avatar import svg
from tequio_shared.badges import BADGE_DAYS, BADGE_ROUNDS, Badge
from tequio_shared.ids import key_from_text, to_text
from tequio_shared.limits import CONTRIBUTORS
from tequio_shared.network.run_states import RunState, VoidReason
from tequio_shared.network.standing import Standing, describe_cause
from tequio_shared.network.tiers import KEYS_OF_TIER, Tier
from tequio_shared.network.verdicts import HeadVerdict
from tequio_shared.round.measures import bits_per_byte
from tequio_shared.round.points import comparison, exact_points, points
from tequio_shared.round.proof import RejectionReason, Verdict
from tequio_shared.scoring import power_of_two
from tequio_shared.wording import SCALES, plural, short_count, size_text

if TYPE_CHECKING:
    from tequio_shared.round.manifest import Admission


SECOND_MS, MINUTE_MS, HOUR_MS, DAY_MS = 1_000, 60_000, 3_600_000, 86_400_000
FAR_MS = 30 * DAY_MS
"""Distance from which on a relative time is a date."""
NO_VALUE = "–"
KEY_CHARS = 10
"""Length of a shortened key, the same as in the app."""
LEAST_SCALED = 10_000
"""Least number that an axis writes with a letter."""
MAX_PERPLEXITY = 1e6
"""Higher than that of a model that knows nothing: such a measure is wrong, and not drawn."""
_UNITS = ((DAY_MS, "d"), (HOUR_MS, "h"), (MINUTE_MS, "min"), (SECOND_MS, "s"))
_Q16 = 1 << 16


def count(number: int) -> str:
    return f"{number:,}"


def axis_number(number: float, step: float, most: float) -> str:
    """Write a number of an axis, with the unit of its greatest and the decimals of its step."""
    scales = (one for one in SCALES.items() if most >= max(10 ** one[0], LEAST_SCALED))
    power, letter = next(scales, (0, ""))
    places = max(0, -math.floor(math.log10(step) - power + 1e-9))
    return f"{number / 10**power:,.{places}f}{letter}" if abs(number) > step / 2 else "0"


def decimal(number: float | None, places: int = 2) -> str:
    return NO_VALUE if number is None or not math.isfinite(number) else f"{number:,.{places}f}"


def perplexity(number: float, places: int | None = None) -> str:
    """Write a perplexity, by default in some three digits: 8.23, 431.7, 35.1k, 1.1e+12."""
    if MAX_PERPLEXITY <= number < math.inf:  # someone's invention may have 300 digits
        return f"{number:.3g}"
    if places is None and LEAST_SCALED <= number < math.inf:
        return short_count(number)
    return decimal(number, places or (2 if number < 10 else 1))  # noqa: PLR2004 - three digits


def quality(bits: float, perplexity_: float) -> str:
    """Write the bits per byte of a head, and its perplexity per token."""
    return f"{bits:.4f} bits per byte (perplexity {perplexity(perplexity_)} per token)"


def byte_perplexity(bits: float) -> float:
    """Give the byte perplexity of a number of bits per byte; infinite where that overflows."""
    return power_of_two(bits)


def percent(part: float) -> str:
    """Write a fraction of 1."""
    return f"{100 * part:.0f} %"


def share(part: float) -> str:
    """Write a fraction of 1 to a thousandth."""
    return f"{100 * part:.1f} %"


def duration(length_ms: int) -> str:
    """Write a duration in at most two units: 38 s, 2 min 5 s, 2 h 14 min, 3 d 4 h."""
    rest = max(0, length_ms)
    for (unit_ms, unit), (next_ms, next_unit) in pairwise(_UNITS):
        if rest >= unit_ms:
            more = rest % unit_ms // next_ms
            return f"{rest // unit_ms} {unit}" + (f" {more} {next_unit}" if more else "")
    return f"{rest // SECOND_MS} s"


def utc_time(at_ms: int) -> str:
    """Write a time: 21 Nov 2026, 14:03:22 UTC."""
    at = _utc(at_ms)
    return f"{at.day} {at:%b %Y, %H:%M:%S} UTC" if at else f"{at_ms} ms since 1970"


def relative_time(at_ms: int, now_ms: int) -> str:
    """Write a time as people say it: just now, 3 minutes ago, in 2 hours, 21 Nov 2026.

    `live.js` has the same rules.
    """
    away_ms = abs(now_ms - at_ms)
    if away_ms < MINUTE_MS:
        return "just now" if at_ms <= now_ms else "in a moment"
    at = _utc(at_ms)
    if away_ms >= FAR_MS and at:
        return f"{at.day} {at:%b %Y}"
    units = ((DAY_MS, "day"), (HOUR_MS, "hour"), (MINUTE_MS, "minute"))
    unit_ms, unit = next(one for one in units if away_ms >= one[0])
    written = plural(away_ms // unit_ms, unit)
    return f"{written} ago" if at_ms <= now_ms else f"in {written}"


def day(at_ms: int) -> str:
    """Write a day for an axis: 21 Nov."""
    at = _utc(at_ms)
    return f"{at.day} {at:%b}" if at else NO_VALUE


def machine_time(at_ms: int) -> str:
    """Write a time in ISO 8601; empty if no calendar has it."""
    at = _utc(at_ms)
    return at.isoformat(timespec="milliseconds").replace("+00:00", "Z") if at else ""


def avatar(key: str, size: int) -> str:
    """Draw the picture of a key as SVG, `size` pixels wide."""
    return svg(key_from_text(key), size)


def badge(name: str) -> StatusLabel | None:
    """Name and describe a badge; None for one of a newer version."""
    return BADGES.get(name)


def short_key(text: str) -> str:
    return text if len(text) <= KEY_CHARS + 1 else text[:KEY_CHARS] + "…"


def loss(loss_q16: int | None) -> float | None:
    """Convert a loss to nats per token."""
    return None if loss_q16 is None else loss_q16 / _Q16


def _utc(at_ms: int) -> datetime | None:
    try:
        return datetime.fromtimestamp(at_ms / SECOND_MS, UTC)
    except (OverflowError, ValueError, OSError):  # members may claim any time
        return None


@dataclass(frozen=True, slots=True)
class StatusLabel:
    """A state for people: a word, a tone with its own colour and shape, and a sentence."""

    word: str
    tone: Literal["ok", "busy", "wait", "warn", "danger", "off"]
    description: str = ""


STATES: Mapping[RunState, StatusLabel] = {
    RunState.WAITING_FOR_MEMBERS: StatusLabel(
        "Waiting for members", "wait", "The next round begins when enough members are ready."
    ),
    RunState.WARMUP: StatusLabel(
        "Stating heads", "busy", "The members of the round state which head they have."
    ),
    RunState.ROUND_TRAIN: StatusLabel(
        "Training", "ok", "Trainers train on their windows of the data."
    ),
    RunState.ROUND_WITNESS: StatusLabel(
        "Witnessing", "ok", "Elected witnesses fetch and check every contribution."
    ),
    RunState.COOLDOWN: StatusLabel(
        "Cooling down",
        "busy",
        "Nobody trains any more: members state the last head, and audit the last work.",
    ),
    RunState.PAUSED: StatusLabel("Paused", "off", "An organiser paused the run."),
    RunState.FINISHED: StatusLabel("Finished", "off", "The run has ended; its head is final."),
}

OUTCOMES: Mapping[str, StatusLabel] = {
    "open": StatusLabel("Under way", "busy"),
    "closed": StatusLabel("Closed", "ok"),
    "void": StatusLabel("Void", "warn"),
}
"""Outcomes of rounds."""
LAST_HEAD_LABEL = StatusLabel(
    "Last head", "off", "There were no more rounds to train: these members stated the last head."
)
"""State of a roster that was made while its run was ending."""
LAST_AUDITS_LABEL = StatusLabel(
    "Last audits",
    "off",
    "There was nothing left to train: members audited work of the last rounds.",
)
"""State of a round after the last training."""
GIVEN_UP_LABEL = StatusLabel(
    "Given up",
    "off",
    "The round closed and its points stay, but the run went back to an earlier head.",
)
"""State of a closed round that made what is no longer part of the model."""
ENDING = frozenset({RunState.COOLDOWN, RunState.FINISHED})

VERDICTS: Mapping[int, StatusLabel] = {
    Verdict.SILENT: StatusLabel(
        "No commitment", "off", "It did not commit before training was over."
    ),
    Verdict.ACCEPTED: StatusLabel(
        "Accepted", "ok", "A quorum of witnesses checked it and vouched for it."
    ),
    Verdict.NOT_SELECTED: StatusLabel(
        "Not selected",
        "wait",
        "Too few witnesses received all of it in time. No points, no blame.",
    ),
    Verdict.AUDITED: StatusLabel(
        "Audited", "ok", "It repeated another member's work instead of training."
    ),
    Verdict.REJECTED: StatusLabel(
        "Rejected", "danger", "A quorum of witnesses gave the same reason against it."
    ),
}

REASONS: Mapping[int, str] = {
    RejectionReason.NONE: "",
    RejectionReason.LENGTH: "its length is not what the header implies",
    RejectionReason.MAGIC: "it does not begin like a contribution",
    RejectionReason.VERSION: "its version is unknown",
    RejectionReason.SHAPE: "its algorithm, k or bits are not those of the round",
    RejectionReason.FLAGS: "it sets unknown flags",
    RejectionReason.RUN: "it belongs to another run",
    RejectionReason.ROUND: "it belongs to another round",
    RejectionReason.BASE: "it starts from another head",
    RejectionReason.TRAINER: "it names another trainer",
    RejectionReason.WINDOWS: "its windows are not the assigned ones",
    RejectionReason.TOKENS: "its token count does not match its windows",
    RejectionReason.STEPS: "it took more inner steps than the run allows",
    RejectionReason.PAYLOAD_ROOT: "its bytes are not the ones committed to",
    RejectionReason.SCALE: "a scale byte is out of range",
    RejectionReason.FILLER: "an empty chunk is not encoded correctly",
    RejectionReason.POPCOUNT: "a record has too many or too few entries",
    RejectionReason.HIGH: "an index is beyond its chunk",
    RejectionReason.ASCENDING: "indices do not ascend",
    RejectionReason.LEVEL: "a level is out of range",
    RejectionReason.HOLLOW: "a chunk with a scale is empty",
    RejectionReason.SEAL: "its seal is not that of its author on its bytes",
    RejectionReason.NORM: "its norm is far larger than the round's median",
    RejectionReason.COSINE: "its direction contradicts the witnesses' own measurements",
    RejectionReason.COPY: "nearly all its indices are those of an earlier commitment",
}
"""Reasons of witnesses to refuse a contribution; each follows "because"."""

VOIDS: Mapping[int, str] = {
    VoidReason.NO_HEAD_QUORUM: "too few members stated the same head in time",
    VoidReason.NO_COMMITMENTS: "no trainer committed to a contribution in time",
    VoidReason.NO_PROOF_QUORUM: "too few witnesses sent their proofs in time",
    VoidReason.NOTHING_ACCEPTED: "no contribution got a quorum of witnesses",
}

STANDINGS: Mapping[str, StatusLabel] = {
    Standing.NEWCOMER: StatusLabel(
        "Newcomer", "wait", "Gets small shares until enough of its work is accepted."
    ),
    Standing.ACTIVE: StatusLabel("Active", "ok", "Full member: trains and witnesses."),
    Standing.SUSPECTED: StatusLabel(
        "Suspected", "warn", "Still trains, but witnesses only if there are too few others."
    ),
    Standing.QUARANTINED: StatusLabel(
        "Quarantined",
        "danger",
        "Excluded from all rounds until its term is over and it asks to return.",
    ),
    Standing.PROBATION: StatusLabel(
        "On probation", "warn", "Back from quarantine, with small shares."
    ),
    Standing.BANNED: StatusLabel("Banned", "danger", "Permanently excluded by organisers."),
    Standing.REVOKED: StatusLabel(
        "Revoked", "danger", "Its owner revoked it: it can never act again."
    ),
    Standing.REPLACED: StatusLabel("Replaced", "wait", "Its owner uses another key now."),
}

TIERS: Mapping[int, StatusLabel] = {
    Tier.ANONYMOUS: StatusLabel("Anonymous", "wait", "Nobody vouches for its owner."),
    Tier.VOUCHED: StatusLabel("Vouched for", "ok", "A connector verified an account of its owner."),
    Tier.INVITED: StatusLabel("Invited", "ok", "Invited by organisers."),
}

BADGES: Mapping[str, StatusLabel] = {
    Badge.FIRST_ROUND: StatusLabel("First round", "ok", "A round accepted its work."),
    Badge.HUNDRED_ROUNDS: StatusLabel(
        f"{BADGE_ROUNDS} rounds", "ok", f"{BADGE_ROUNDS} rounds accepted its work."
    ),
    Badge.MONTH: StatusLabel(
        f"{BADGE_DAYS} days in a row", "ok", f"Work was accepted on {BADGE_DAYS} days in a row."
    ),
    Badge.EXAFLOP: StatusLabel("1 EFLOP", "ok", "10^18 calculations, which are 100,000 points."),
    Badge.AUDIT: StatusLabel("First audit", "ok", "It repeated another member's work to check it."),
    Badge.MEASURE: StatusLabel(
        "Measured a model", "ok", "It measured a model on text that nobody trains on."
    ),
    Badge.JUDGE: StatusLabel("Judged a competition", "ok", "It scored a model in a competition."),
}

HEAD_VERDICTS: Mapping[HeadVerdict, StatusLabel] = {
    HeadVerdict.UNMEASURED: StatusLabel(
        "Not measured yet", "wait", "Too few members agree on how good it is."
    ),
    HeadVerdict.FINE: StatusLabel(
        "Measured, not worse", "ok", "Its members agree that it did not get worse."
    ),
    HeadVerdict.WORSE: StatusLabel(
        "Worse than before", "danger", "Its members agree that it got worse."
    ),
}

TYPES: Mapping[str, str] = {
    "net.genesis": "The network starts",
    "key.register": "A key registers",
    "key.recovery": "A key gets a recovery key",
    "key.replace": "A new key takes the place of another",
    "key.revoke": "A key is revoked",
    "run.open": "A run opens",
    "run.pause": "An organiser pauses a run",
    "run.resume": "An organiser resumes a run",
    "run.rollback": "An organiser takes a run back to an earlier head",
    "run.notice": "Organisers tell the volunteers of a run something, or take it back",
    "run.finish": "An organiser ends a run",
    "run.close": "A run has ended",
    "member.ready": "A member is ready for the next round",
    "member.leave": "A member leaves",
    "round.roster": "The members of the coming round",
    "head.attest": "A member states its head",
    "head.promote": "A quorum stated this head: it is canonical",
    "head.measure": "A drawn member measures a head on held-out text",
    "round.open": "Training begins",
    "work.commit": "A trainer commits to its contribution",
    "round.witness": "Training is over, witnessing begins",
    "witness.proof": "A witness reports what it checked",
    "audit.report": "An auditor reports a repeated training",
    "round.close": "A round closes and pays points",
    "round.void": "A round is void",
    "fault.report": "A key proves a fault",
    "standing.change": "A key's standing changes",
    "standing.appeal": "A key appeals",
    "standing.release": "Organisers release a key",
    "standing.uphold": "Organisers reject an appeal, or ban a key",
    "invite.open": "Organisers open an invitation",
    "invite.close": "Organisers close an invitation",
    "invite.revoke": "Organisers revoke an invitation and the keys it admitted",
    "role.grant": "Organisers allow a key to vouch for others",
    "role.revoke": "Organisers revoke a key's role",
    "member.vouch": "A connector vouches for a key",
    "member.name": "A key chooses its public name",
    "member.team": "A key joins or leaves a team",
    "team.define": "A key founds a team, or sets its join link or goal",
    "team.member": "The owner of a team removes a member or hands the team over",
    "name.withdraw": "Organisers withdraw a name",
    "checkpoint.publish": "Organisers publish a head",
    "net.notice": "Organisers tell everybody in the network something, or take it back",
    "software.release": "Organisers name a release and the oldest version to run",
    "log.snapshot": "The ledger names a snapshot of everything that follows from the log",
    "comp.open": "Organisers open a competition",
    "comp.enter": "An entrant enters a competition",
    "comp.submit": "An entrant submits a model",
    "eval.offer": "A key offers to evaluate",
    "comp.close": "The deadline is over: submissions up to here count",
    "eval.lot": "An evaluator who offered draws its lot",
    "comp.draw": "No more lots count: shares may be revealed",
    "comp.reveal": "A custodian reveals a share of the key",
    "eval.commit": "An evaluator commits to a model's scores",
    "eval.result": "An evaluator reveals a model's scores",
    "comp.challenge": "A score was challenged",
    "comp.result": "Organisers state the outcome of a competition",
}
"""Statement types in words."""


def verdict(code: int, reason_code: int) -> StatusLabel:
    """Describe a verdict with its reason; an unknown code, of a newer version, by its number."""
    mark = VERDICTS.get(code)
    if mark is None:
        return StatusLabel(
            f"Verdict {code}", "wait", "This code is from a newer version of Tequio."
        )
    why = reason(reason_code)
    return StatusLabel(
        mark.word, mark.tone, f"{mark.description} Because {why}." if why else mark.description
    )


def reason(code: int) -> str:
    """Give a reason for the middle of a sentence."""
    return REASONS.get(code, _UNKNOWN.format(code))


def void_reason(code: int) -> str:
    """Give the reason why a round is void, for the middle of a sentence."""
    return VOIDS.get(code, _UNKNOWN.format(code))


_UNKNOWN = "reason {}, which is from a newer version of Tequio"


def outcome(name: str) -> StatusLabel:
    return OUTCOMES.get(name) or StatusLabel(name, "wait")


def standing(name: str) -> StatusLabel:
    return STANDINGS.get(name) or StatusLabel(name, "wait")


def tier(number: int) -> StatusLabel:
    return TIERS.get(number) or StatusLabel(f"Tier {number}", "wait")


def meaning(statement_type: str) -> str:
    return TYPES.get(statement_type, "A statement of a newer version of Tequio")


def admission_conditions(rules: Admission) -> tuple[str, ...]:
    """State in sentences which keys a run admits; none if it admits every key."""
    sentences = []
    if rules.trainer_tier:
        sentences.append(f"Only {KEYS_OF_TIER[rules.trainer_tier]} may train.")
    if rules.witness_tier:
        sentences.append(f"Only {KEYS_OF_TIER[rules.witness_tier]} may witness.")
    if rules.owner_slots < CONTRIBUTORS:
        sentences.append(f"An owner has at most {plural(rules.owner_slots, 'slot')} in a round.")
    if rules.owner_seats < CONTRIBUTORS:
        sentences.append(f"At most {rules.owner_seats} of an owner's keys may witness.")
    tiers = {rules.trainer_tier, rules.witness_tier} - {0}
    if tiers:
        vouch = ", or connect an account (tequio connect)" if 1 in tiers else ""
        sentences.append(f"Ask an organiser for an invitation (tequio join){vouch}.")
    return tuple(sentences)


FILTERS = {
    one.__name__: one
    for one in (
        *(
            points,
            exact_points,
            comparison,
            count,
            short_count,
            decimal,
            perplexity,
            byte_perplexity,
            percent,
            share,
            plural,
            size_text,
            duration,
        ),
        *(utc_time, relative_time, machine_time, avatar, badge, short_key, to_text, bits_per_byte),
        *(outcome, standing, describe_cause, tier, meaning),
    )
} | {"shell_word": shlex.quote}
"""Filters of templates, by name."""
