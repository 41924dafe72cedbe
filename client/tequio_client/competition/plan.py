"""What an organiser writes about a competition: TOML in, a rules document out.

Everything is checked before anything is made, and each fault names its value.
"""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import Struct

from tequio_client import plan_file
from tequio_client.competition import moments
from tequio_shared.competition_rules import (
    SHOWING_PART,
    Budget,
    CompetitionRules,
    Dates,
    Scoring,
)
from tequio_shared.errors import MalformedError, UserFacingError
from tequio_shared.ids import key_from_text
from tequio_shared.limits import BLOB_BYTES
from tequio_shared.scoring import STRIDE, WINDOW

if TYPE_CHECKING:
    from pathlib import Path

    from tequio_shared.sealed_set import SealedSet

EXAMPLE = """\
# A competition. Make its rules with
#   tequio competition rules THIS_FILE --sealed FOLDER --to rules.json
# where FOLDER is what `tequio competition seal` made.

name = "Winter 2026"

# The custodians' keys, the one that holds share 1 first. Each finds theirs with
# `tequio competition key`. Neither entrants nor evaluators may be custodians.
custodians = [
  "key of the custodian of share 1",
  "key of the custodian of share 2",
  "key of the custodian of share 3",
]

# Where the encrypted archive can be had (http or https). Empty: the ledger keeps it, up to 64 MiB.
archive = ""

# A page that says what may be trained on. Empty: none.
data = ""

# Each date is a length from the date before (90s, 30m, 12h, 30d, 1d12h), the first one from now;
# or a time with its zone (2026-12-01T18:00Z).
[dates]
opens = "1h"       # from then on keys enter and submit
deadline = "30d"   # of submissions, and of offers to evaluate
draw = "1d"        # until then evaluators open their secrets; after it custodians show their shares
scored = "7d"      # until then evaluators score, and commit to their scores
result = "3d"      # in its first half they show them; until its end anybody may challenge one

# What an entrant may take. 0: no limit of that kind.
[budget]
parameters = 0     # of the submitted model
tokens = 0         # trained on within the run, accepted windows only
hours = 0          # between the run's opening and the round that is submitted

[scoring]
window = 2048      # tokens that a model sees at once, at most what every entrant's model can take
stride = 1024      # tokens that each later window scores
documents = 2000   # drawn from the sealed set after the deadline; all, if it has not so many
evaluators = 3     # drawn from those who offered: 3 to 16; take 5 where there is much to win
evaluator_tier = 0 # 0: any key, and one person may offer many; 1: an account vouches; 2: invited
"""


class _Dates(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    opens: str
    deadline: str
    draw: str
    scored: str
    result: str


class _Budget(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    parameters: int = 0
    tokens: int = 0
    hours: int = 0


class _Scoring(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    window: int = WINDOW
    stride: int = STRIDE
    documents: int = 2_000
    evaluators: int = 3
    evaluator_tier: int = 0


class Plan(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A whole plan."""

    name: str
    custodians: tuple[str, ...]
    dates: _Dates
    archive: str = ""
    data: str = ""
    budget: _Budget = _Budget()
    scoring: _Scoring = _Scoring()


def read(path: Path) -> Plan:
    """Read a plan; raises UserFacingError that names file and fault."""
    return plan_file.read(path, Plan, _plain)


def _plain(tree: dict[str, Any]) -> dict[str, Any]:  # what TOML holds
    """Times as TOML knows them become text, which is read later."""
    dates = tree.get("dates")
    if isinstance(dates, dict):
        found = {
            name: value.isoformat() if isinstance(value, datetime) else value
            for name, value in dates.items()
        }
        return tree | {"dates": found}
    return tree


def rules(plan: Plan, sealed: SealedSet, archive_bytes: int, now_ms: int) -> CompetitionRules:
    """Make the rules of a plan; raises UserFacingError that names every value that is wrong."""
    faults: list[str] = []
    dates = _dates(plan.dates, now_ms, faults)
    _check_custodians(plan.custodians, sealed, faults)
    _check_numbers(plan, faults)
    if not plan.archive and archive_bytes > BLOB_BYTES:
        faults.append(
            f"archive is empty, and the sealed archive has {archive_bytes:,} bytes: a ledger keeps "
            f"{BLOB_BYTES:,}; put it somewhere and name its address"
        )
    if faults:
        raise UserFacingError("the plan is not right: " + "; ".join(faults))
    made = CompetitionRules(
        name=plan.name,
        sealed=sealed,
        archive=plan.archive,
        custodians=plan.custodians,
        budget=Budget(
            parameters=plan.budget.parameters, tokens=plan.budget.tokens, hours=plan.budget.hours
        ),
        dates=dates,
        scoring=Scoring(
            window=plan.scoring.window,
            stride=plan.scoring.stride,
            documents=plan.scoring.documents,
            evaluators=plan.scoring.evaluators,
            evaluator_tier=plan.scoring.evaluator_tier,
        ),
        data=plan.data,
    )
    try:
        return CompetitionRules.parse(made.encode())
    except MalformedError as err:
        why = plan_file.refusal(err, CompetitionRules, msgspec.to_builtins(plan))
        raise UserFacingError(f"the plan is not right: {why}") from err


def _dates(said: _Dates, now_ms: int, faults: list[str]) -> Dates:
    """Go from date to date; a wrong one counts as the one before, so that the others are read."""
    found: dict[str, int] = {}
    before, name_before = now_ms, "now"
    for name in said.__struct_fields__:
        try:
            at = moments.moment(getattr(said, name), before)
        except MalformedError as err:
            faults.append(f"dates.{name}: {err}")
            found[name] = before
            continue
        if name != "opens" and at <= before:
            faults.append(
                f"dates.{name} is {moments.told(at)}, which is not after {name_before}, "
                f"{moments.told(before)}"
            )
        found[name] = before = at
        name_before = f"dates.{name}"
    least = found["scored"] + (found["scored"] - found["draw"]) // SHOWING_PART
    if found["scored"] < found["result"] < least:
        faults.append(
            f"dates.result is {moments.told(found['result'])}: not before {moments.told(least)}, "
            f"so that a {SHOWING_PART}th of the time to score is left to show and to challenge"
        )
    if found["deadline"] <= now_ms:
        faults.append(f"dates.deadline is over: {moments.told(found['deadline'])}")
    return Dates(**found)


def _check_custodians(keys: tuple[str, ...], sealed: SealedSet, faults: list[str]) -> None:
    if len(keys) != len(sealed.shares):
        faults.append(
            f"custodians names {len(keys)} keys, and the set was sealed for {len(sealed.shares)}"
        )
    for at, key in enumerate(keys):
        if key in keys[:at]:
            faults.append(f"custodians[{at}] stands twice: {key}")
        try:
            key_from_text(key)
        except MalformedError:
            faults.append(f"custodians[{at}] is no key of 43 characters: {key[:60]!r}")


def _check_numbers(plan: Plan, faults: list[str]) -> None:
    budget = plan.budget
    faults += [
        f"budget.{name} is {getattr(budget, name)}: 0 or more"
        for name in budget.__struct_fields__
        if getattr(budget, name) < 0
    ]
    scoring = plan.scoring
    if scoring.stride > scoring.window:
        faults.append(
            f"scoring.stride is {scoring.stride}, more than scoring.window, {scoring.window}: "
            "tokens would be skipped"
        )
