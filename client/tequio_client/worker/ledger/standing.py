"""A key's standing: proven from the log, explained in plain words, and watched while we work."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime

import structlog

from tequio_client.ledger.api import LedgerApi
from tequio_client.ledger.http import LedgerUnavailableError
from tequio_client.ledger.proofs import read_entries
from tequio_shared.api.peers import PeerAnswer, StandingAnswer, TierAnswer
from tequio_shared.errors import PeerError, RefusedError, TequioError, UserFacingError
from tequio_shared.ids import PeerKey, from_text, key_from_text, to_text
from tequio_shared.limits import APPEAL_MS, NEWCOMER_WORK, PROBATION_WORK
from tequio_shared.network.standing import ENDED, EXCLUDED, Standing, describe_cause
from tequio_shared.network.tiers import Tier
from tequio_shared.round.documents import TRAINER, WITNESS
from tequio_shared.round.manifest import Manifest
from tequio_shared.statements.network import (
    FaultReport,
    KeyReplace,
    KeyRevoke,
    StandingChange,
    StandingRelease,
    StandingUphold,
)
from tequio_shared.statements.statement import Entry, Statement
from tequio_shared.wording import plural

log = structlog.get_logger(__name__)

MARGIN_MS = 1_000
"""Delay after the end of the term before we ask to return: clocks differ a little."""
_DAY_MS = 86_400_000


async def read_standing(api: LedgerApi, key: PeerKey) -> tuple[StandingAnswer, dict[int, Entry]]:
    """Read the key's standing and its evidence, proven by the log; PeerError, RefusedError."""
    account = await api.peer(key)
    answer = account.standing
    if answer.standing == Standing.NEWCOMER:
        return answer, {}
    found = await read_entries(api, await api.network(), {answer.since, *answer.evidence})
    # A successor has the standing of the key that it replaced, from an entry that names that one.
    while answer.since < account.registered_index and account.replaces is not None:
        key = await former_key(api, account)
        account = await api.peer(key)
    logged = standing_after(answer.since, found[answer.since].statement, key)
    if logged is None or _facts(logged) != _facts(answer):
        raise PeerError(
            f"the ledger reports {answer.standing}, but entry {answer.since} does not say so"
        )
    return answer, {index: found[index] for index in answer.evidence}


async def former_key(api: LedgerApi, account: PeerAnswer) -> PeerKey:
    """The key that an account replaced, as its entry proves; PeerError if it does not."""
    index = account.registered_index
    made = (await read_entries(api, await api.network(), [index]))[index].statement
    if to_text(made.author) == account.key and isinstance(made.body, KeyReplace):
        return key_from_text(made.body.former)
    raise PeerError(f"entry {index} does not say that {account.key} replaced another key")


def standing_after(index: int, statement: Statement, key: PeerKey) -> StandingAnswer | None:
    """Compute the key's standing after the entry at that index; None if it stays unchanged."""
    body = statement.body
    match body:
        case StandingChange(peer=peer) if peer == to_text(key):
            return StandingAnswer(
                standing=body.to,
                since=index,
                cause=body.cause,
                why=describe_cause(body.cause),
                evidence=body.evidence,
                until=body.until,
                appeal=None,
            )
        case StandingRelease(peer=peer) if peer == to_text(key):
            return _without_cause(Standing.ACTIVE, index)
        case StandingUphold(peer=peer, to="banned") if peer == to_text(key):
            return _without_cause(Standing.BANNED, index)
        case KeyRevoke(peer=peer) if peer == to_text(key):
            return _without_cause(Standing.REVOKED, index)
        case KeyReplace(former=peer) if peer == to_text(key):
            return _without_cause(Standing.REPLACED, index)
    return None


def _without_cause(standing: str, since: int) -> StandingAnswer:
    return StandingAnswer(
        standing=standing, since=since, cause=None, why="", evidence=(), until=0, appeal=None
    )


def _facts(one: StandingAnswer) -> tuple[object, ...]:
    if one.standing == Standing.BANNED:  # a ban keeps cause and evidence of the quarantine before
        return (one.standing, one.since)
    return one.standing, one.since, one.cause, one.evidence, one.until


def describe_standing(one: StandingAnswer) -> str:
    """Describe a standing in one sentence: since when, until when, and why."""
    text = f"{one.standing} since entry {one.since}"
    if one.until:
        text += f", until {format_time(one.until)}"
    why = describe_cause(one.cause)
    return f"{text}: {why}" if why else text


_ENDS: Mapping[str, list[str]] = {
    Standing.REVOKED: [
        "It can sign nothing more. If it had a recovery key, `tequio key replace` moves its points "
        "and standing to a new key; without one they are lost, and a new folder (--dir) begins "
        "with a new key."
    ],
    Standing.REPLACED: ["Another key has its points and standing now. Use that one."],
}


def advice(one: StandingAnswer, now_ms: int) -> list[str]:
    match one.standing:
        case Standing.QUARANTINED:
            term = "The term is over: a worker that starts now asks to return, on probation."
            if now_ms < one.until:
                term = (
                    f"A worker that keeps running asks to return after {format_time(one.until)}; "
                    "until then it serves data to peers and does not train."
                )
            return [term, _about_appeals(one)]
        case Standing.BANNED:
            return ["No roster accepts this key any more.", _about_appeals(one)]
        case Standing.SUSPECTED:
            return [
                "It trains as before, without witness duty. You don't need to do anything.",
                f"{NEWCOMER_WORK} accepted contributions in a row make it active again.",
                _about_appeals(one),
            ]
        case Standing.PROBATION:
            work = f"{PROBATION_WORK} accepted contributions make it active again."
            return [work, *_open_appeal(one)]
        case Standing.NEWCOMER:
            return [f"{NEWCOMER_WORK} accepted contributions make it active."]
    return _ENDS.get(one.standing, _open_appeal(one))


def describe_entry(index: int, statement: Statement) -> str:
    text = f"entry {index}: {statement.type}"
    if statement.round is not None:
        text += f" of round {statement.round}"
    if statement.run is not None:
        text += f", run {to_text(statement.run)[:10]}"
    text += f", signed by {to_text(statement.author)[:10]} at {format_time(statement.ts)}"
    if isinstance(statement.body, FaultReport):
        text += f"; it contains {_leaves(statement.body)}"
    return text


def format_time(ms: int) -> str:
    try:
        return f"{datetime.fromtimestamp(ms // 1000, UTC):%Y-%m-%d %H:%M:%S} UTC"
    except (OverflowError, ValueError):
        return f"{ms} ms after 1970"


def _open_appeal(one: StandingAnswer) -> list[str]:
    return [] if one.appeal is None else [_about_appeals(one)]


def _about_appeals(one: StandingAnswer) -> str:
    days = APPEAL_MS // _DAY_MS
    if one.appeal is None:
        return "If this is wrong, tell the organisers with `tequio appeal`."
    text = f"The appeal in entry {one.appeal} is waiting for the organisers"
    if one.standing == Standing.QUARANTINED:
        text += (
            f"; if nobody answers within {plural(days, 'day')}, the quarantine turns into probation"
        )
    return f"{text}."


def _leaves(report: FaultReport) -> str:
    parts = []
    for leaf in report.leaves:
        try:
            held = Entry.parse(from_text(leaf, None)).statement
        except TequioError:
            parts.append("something unreadable")
            continue
        about = f" of round {held.round}" if held.round is not None else ""
        parts.append(f"{held.type}{about} with number {held.seq}")
    return " and ".join(parts) + ", both signed by the accused" * (len(parts) > 1)


_LOW_TIER = "this run requires a higher tier than our key has"
_INVITED = "join with an invitation for it and a new key (tequio join)"


class StandingWatch:
    """Our own standing, read at the start and followed in the log; logged once per change.

    A quarantined worker stays connected and serves data. It is in no roster, so it neither trains
    nor witnesses once its current round has ended. When the term is over it asks to return. Only
    the task that follows the log calls `apply`.
    """

    def __init__(self, key: PeerKey, ledger: LedgerApi, clock: Callable[[], int]) -> None:
        self._key = key
        self._ledger = ledger
        self._clock = clock
        self.known: StandingAnswer | None = None
        self.tier_problem = ""  # why rosters left us out when we joined; shown to people only

    async def refresh(self) -> None:
        """Ask the ledger, and adopt what the log proves; an unavailable answer changes nothing."""
        try:
            standing, _ = await read_standing(self._ledger, self._key)
        except (LedgerUnavailableError, RefusedError, PeerError, UserFacingError) as err:
            log.debug("own standing unknown", error=str(err))  # a new key has none
            return
        self._adopt(standing)

    def apply(self, index: int, statement: Statement) -> None:
        after = standing_after(index, statement, self._key)
        if after is None:
            return
        was = self.known.standing if self.known else ""
        if was == after.standing == Standing.ACTIVE:  # its release only closes an appeal
            return
        self._adopt(after)

    @property
    def removed_at_index(self) -> int:
        """Log index at which a quarantine removed us from the rosters; -1: none did."""
        return self.known.since if self.known and self.known.standing in EXCLUDED else -1

    def idle_reason(self) -> str:
        """Explain in one sentence why no roster may accept us now; empty: one may."""
        if self.known is None or self._left_ms() <= 0:
            return ""
        return f"our key is {describe_standing(self.known)}; see `tequio standing`"

    def seconds_left(self) -> float:
        """Seconds until `idle_reason` may change by time alone."""
        left_ms = self._left_ms()
        return left_ms / 1000 if left_ms > 0 else math.inf

    def _left_ms(self) -> float:
        if self.known is None or self.known.standing not in EXCLUDED:
            return 0
        if self.known.standing in ENDED | {Standing.BANNED}:
            return math.inf
        return self.known.until + MARGIN_MS - self._clock()

    def _adopt(self, after: StandingAnswer) -> None:
        if self.known is not None and after.since <= self.known.since:
            return
        self.known = after
        if self.idle_reason():
            log.warning("key excluded from rosters", why=self.idle_reason())
        elif after.standing != Standing.NEWCOMER:
            log.info("own standing", standing=describe_standing(after))


async def warn_about_tier(
    ledger: LedgerApi, key: PeerKey, manifest: Manifest, roles: Sequence[str], now_ms: int
) -> str:
    """Log a warning if our key's tier is too low for a role that we want.

    Returns it as a sentence if that is so for all of them; else an empty one. The ledger's answer
    is enough for a warning: rosters are made from the log in any case.
    """
    if not any((manifest.admits.trainer_tier, manifest.admits.witness_tier)):
        return ""
    try:
        tier = (await ledger.peer(key)).tier
    except RefusedError:  # not registered yet
        tier = None
    except (LedgerUnavailableError, PeerError) as err:
        log.debug("own tier unknown", error=str(err))
        return ""
    unmet = unmet_roles(tier, manifest, roles, now_ms)
    if not unmet:
        return ""
    asked = min(_least_tiers(manifest)[role] for role in unmet)
    do = _INVITED if asked == Tier.INVITED else f"{_INVITED}, or link an account (tequio connect)"
    log.warning(_LOW_TIER, roles=" and ".join(unmet), do=do)
    return f"{_LOW_TIER}: {do}" if len(unmet) == len(roles) else ""


async def check_receivers(ledger: LedgerApi, owners: Mapping[int, PeerKey]) -> None:
    """Check that the owners of ranks can receive points; raises UserFacingError if one cannot.

    Else the ledger would refuse every commitment. Raises TequioError if it does not answer.
    """
    for rank, key in owners.items():
        if why := await why_no_receiver(ledger, key):
            raise UserFacingError(f"--share-points {rank}={to_text(key)}: this key {why}")


async def why_no_receiver(ledger: LedgerApi, key: PeerKey) -> str:
    """Why a key cannot receive points, as the predicate of a sentence; empty if it can.

    Raises TequioError if the ledger does not answer.
    """
    found = await ledger.find_peer(key)
    if found is None:
        return (
            "is not registered in this network: its owner registers it by `tequio join`, or by "
            "lending with it once"
        )
    if found.replaced_by is not None:
        return f"was replaced by {found.replaced_by}: name that one"
    if found.standing.standing == Standing.REVOKED:
        return "was revoked by its owner: name another one"
    return ""


def unmet_roles(
    answer: TierAnswer | None, manifest: Manifest, roles: Sequence[str], now_ms: int
) -> list[str]:
    """List those of the roles that this run denies to a key of that tier."""
    least = _least_tiers(manifest)
    tier: int = Tier.ANONYMOUS
    if answer is not None and answer.run in (None, to_text(manifest.run_id)):
        tier = present_tier(answer, now_ms)
    return [role for role in roles if tier < least[role]]


def _least_tiers(manifest: Manifest) -> dict[str, int]:
    return {TRAINER: manifest.admits.trainer_tier, WITNESS: manifest.admits.witness_tier}


def present_tier(answer: TierAnswer, now_ms: int) -> int:
    """Compute a key's tier by that time: a ledger also tells of a vouch that has ended."""
    is_over = answer.tier == Tier.VOUCHED and now_ms >= answer.until
    return Tier.ANONYMOUS if is_over else answer.tier
