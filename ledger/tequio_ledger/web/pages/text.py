"""What stands in the log as a code, in words."""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import pairwise
from types import MappingProxyType
from typing import TYPE_CHECKING

from tequio_shared.limits import CONTRIBUTORS
from tequio_shared.network.run import RunState, VoidReason
from tequio_shared.network.standing import Standing
from tequio_shared.network.tiers import Tier
from tequio_shared.round.proof import RejectionReason, Verdict

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tequio_shared.round.manifest import Admission

# --- Numbers, times and keys as people read them. Points are never rounded up.

MICRO = 1_000_000
SECOND_MS, MINUTE_MS, HOUR_MS, DAY_MS = 1_000, 60_000, 3_600_000, 86_400_000
ABSENT = "–"
KEY_CHARS = 10
"""Of a key where space is short; as many as the app shows."""
_PLACES = ((1_000, 0), (100, 1), (1, 2))
"""From how many points on, how many decimals are shown."""
_SIGNIFICANT = 3
_SCALES = ((12, "T"), (9, "B"), (6, "M"), (3, "k"))
_UNITS = ((DAY_MS, "d"), (HOUR_MS, "h"), (MINUTE_MS, "min"), (SECOND_MS, "s"))
_Q16 = 1 << 16


def points(micropoints: int) -> str:
    """Points, short: 18,930 or 412.5 or 0.00123; cut, not rounded."""
    whole = micropoints // MICRO
    places = next((places for least, places in _PLACES if whole >= least), None)
    if places is None:
        places = min(6, 6 - len(str(micropoints)) + _SIGNIFICANT) if micropoints else 0
    return _decimal(micropoints, places)


def exact_points(micropoints: int) -> str:
    """Points to the micro-point, without zeros at the end."""
    return _decimal(micropoints, len(f"{micropoints % MICRO:06d}".rstrip("0")))


def count(number: int) -> str:
    """A whole number."""
    return f"{number:,}"


def short_count(number: float) -> str:
    """A great number, in three digits: 950, 12.4k, 350M, 1.31B."""
    for power, letter in _SCALES:
        part = number / 10**power
        if part >= 1:
            places = 0 if part >= 100 else 1 if part >= 10 else 2  # noqa: PLR2004 - three digits
            return f"{part:.{places}f}{letter}"
    return f"{number:,.0f}" if number >= 10 or number == int(number) else f"{number:.1f}"  # noqa: PLR2004


def brief(number: float) -> str:
    """A number for an axis, in at most three digits and without zeros at the end: 2.5k, 0.075."""
    for power, letter in _SCALES:
        if abs(number) >= 10**power:
            return f"{number / 10**power:.3g}{letter}"
    return f"{number:.3g}"


def decimal(number: float | None, places: int = 2) -> str:
    """A number with so many decimals."""
    return ABSENT if number is None or not math.isfinite(number) else f"{number:,.{places}f}"


def percent(part: float) -> str:
    """A share of one."""
    return f"{100 * part:.0f} %"


def plural(number: int, one: str, many: str | None = None) -> str:
    """A number with its noun: 1 round, 12 rounds."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def size(size_bytes: int) -> str:
    """Bytes in decimal units, as disks and lines are sold."""
    if size_bytes < 1_000:  # noqa: PLR2004 - a kilobyte
        return f"{size_bytes} B"
    power = min(int(math.log10(size_bytes)) // 3, 4)
    return f"{size_bytes / 1_000**power:.3g} {'kMGT'[power - 1]}B"


def duration(length_ms: int) -> str:
    """How long, in at most two units: 38 s, 2 min 5 s, 2 h 14 min, 3 d 4 h."""
    rest = max(0, length_ms)
    for (unit_ms, unit), (next_ms, next_unit) in pairwise(_UNITS):
        if rest >= unit_ms:
            more = rest % unit_ms // next_ms
            return (
                f"{rest // unit_ms} {unit} {more} {next_unit}"
                if more
                else f"{rest // unit_ms} {unit}"
            )
    return f"{rest // SECOND_MS} s"


def moment(at_ms: int) -> str:
    """A time for people: 21 Nov 2026, 14:03:22 UTC."""
    at = _utc(at_ms)
    return f"{at.day} {at:%b %Y, %H:%M:%S} UTC" if at else f"{at_ms} ms since 1970"


def day(at_ms: int) -> str:
    """A day for an axis: 21 Nov."""
    at = _utc(at_ms)
    return f"{at.day} {at:%b}" if at else ABSENT


def machine_time(at_ms: int) -> str:
    """The same for machines, as ISO 8601; empty for a time that no calendar has."""
    at = _utc(at_ms)
    return at.isoformat(timespec="milliseconds").replace("+00:00", "Z") if at else ""


def short_key(text: str) -> str:
    """The front of a key or digest."""
    return text if len(text) <= KEY_CHARS + 1 else text[:KEY_CHARS] + "…"


def loss(loss_q16: int | None) -> float | None:
    """Nats a token."""
    return None if loss_q16 is None else loss_q16 / _Q16


def _utc(at_ms: int) -> datetime | None:
    try:
        return datetime.fromtimestamp(at_ms / SECOND_MS, UTC)
    except (OverflowError, ValueError, OSError):  # a member may claim any time
        return None


def _decimal(micropoints: int, places: int) -> str:
    whole, part = divmod(micropoints, MICRO)
    return f"{whole:,}.{f'{part:06d}'[:places]}" if places else f"{whole:,}"


FILTERS = {
    "points": points,
    "exact_points": exact_points,
    "count": count,
    "short_count": short_count,
    "decimal": decimal,
    "percent": percent,
    "plural": plural,
    "size": size,
    "duration": duration,
    "moment": moment,
    "day": day,
    "machine_time": machine_time,
    "short_key": short_key,
}
"""By their names in templates."""


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


STATES: Mapping[RunState, Mark] = MappingProxyType(
    {
        RunState.WAITING_FOR_MEMBERS: Mark(
            "Waiting for members", "wait", "The next round begins when enough members are ready."
        ),
        RunState.WARMUP: Mark(
            "Stating heads", "busy", "The round's members say which model they hold."
        ),
        RunState.ROUND_TRAIN: Mark("Training", "ok", "Trainers work on their windows of the data."),
        RunState.ROUND_WITNESS: Mark(
            "Witnessing", "ok", "Elected witnesses fetch and check every contribution."
        ),
        RunState.COOLDOWN: Mark(
            "Cooling down", "busy", "No more rounds: members state the last head."
        ),
        RunState.PAUSED: Mark("Paused", "off", "An organiser paused the run."),
        RunState.FINISHED: Mark("Finished", "off", "The run has ended; its head stays as it is."),
    }
)

LAST_HEAD = Mark(
    "Last head", "off", "There were no more rounds to train: these members stated the last head."
)
"""Of a roster that was made when its run was ending."""
ENDING = frozenset({RunState.COOLDOWN, RunState.FINISHED})

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

REASONS: Mapping[RejectionReason, str] = MappingProxyType(
    {
        RejectionReason.NONE: "",
        RejectionReason.LENGTH: "its length is not what the header implies",
        RejectionReason.MAGIC: "it does not begin as a contribution does",
        RejectionReason.VERSION: "it has a version that nobody knows",
        RejectionReason.SHAPE: "algorithm, k or bits are not those of the round",
        RejectionReason.FLAGS: "it sets flags that mean nothing",
        RejectionReason.RUN: "it belongs to another run",
        RejectionReason.ROUND: "it belongs to another round",
        RejectionReason.BASE: "it starts from another head",
        RejectionReason.TRAINER: "it names another trainer",
        RejectionReason.WINDOWS: "its windows are not those assigned",
        RejectionReason.TOKENS: "its tokens do not follow from its windows",
        RejectionReason.STEPS: "it took more inner steps than the run allows",
        RejectionReason.PAYLOAD_ROOT: "its bytes are not the ones committed to",
        RejectionReason.SCALE: "a scale byte is out of range",
        RejectionReason.FILLER: "an empty chunk is not written as it must be",
        RejectionReason.POPCOUNT: "a record has too many or too few entries",
        RejectionReason.HIGH: "an index lies beyond its chunk",
        RejectionReason.ASCENDING: "indices do not ascend",
        RejectionReason.LEVEL: "a level is out of range",
        RejectionReason.HOLLOW: "a chunk with a scale holds nothing",
        RejectionReason.NORM: "its norm is far larger than the round's median",
        RejectionReason.COSINE: "it points away from what witnesses measured themselves",
        RejectionReason.COPY: "it shares nearly all its indices with an earlier commitment",
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
        return REASONS[RejectionReason(code)]
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
        said.append(f"One owner has at most {plural(rules.owner_slots, 'slot')} in a round.")
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
