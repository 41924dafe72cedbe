"""The plan of a competition: TOML in, a rules document out.

Everything is checked before anything is written, and each fault names its value. Dates are points
in time with a zone (`2026-12-01T18:00Z`), or durations from the date before: `90s`, `30m`, `12h`,
`30d` and sums such as `1d12h`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from tequio_client import plan_file
from tequio_client.clock import now_ms
from tequio_client.organiser import signing
from tequio_client.organiser.sealing import ARCHIVE, COMMITMENT, file_digest
from tequio_client.worker.ledger.standing import format_time
from tequio_shared.competition.rules import (
    LEAST_EVALUATORS,
    SHOWING_PART,
    Budget,
    CompetitionRules,
    Dates,
    Scoring,
)
from tequio_shared.errors import MalformedError, UserFacingError
from tequio_shared.ids import key_from_text, sha256, to_text
from tequio_shared.limits import BLOB_BYTES, JSON_INTEGER, STATEMENT_BYTES
from tequio_shared.scoring import LEAST_DOCUMENTS, STRIDE, WINDOW
from tequio_shared.sealed_set import SealedSet
from tequio_shared.statements.competitions import CompOpen
from tequio_shared.wording import plural

_UNITS_MS = {"s": 1_000, "m": 60_000, "h": 3_600_000, "d": 86_400_000}
_PART = re.compile(r"(\d{1,9}(?:\.\d{1,3})?)([smhd])")
_LENGTH = re.compile(rf"(?:{_PART.pattern})+")
_HOUR_MS = _UNITS_MS["h"]

EXAMPLE = """\
# A competition. Make its rules with
#   tequio competition rules THIS_FILE --sealed FOLDER --to rules.json
# where FOLDER was written by `tequio competition seal`.

name = "Winter 2026"

# The custodians' keys, in the order of their shares. Custodians print their keys with
# `tequio competition key`. Entrants and evaluators cannot be custodians.
custodians = [
  "key of the custodian of share 1",
  "key of the custodian of share 2",
  "key of the custodian of share 3",
]

# Address of the encrypted archive (http or https). Empty: the ledger stores it, up to 64 MiB.
archive = ""

# Address of a page about the permitted training data. Empty: none.
data = ""

# Each date is a duration from the date before (90s, 30m, 12h, 30d, 1d12h), the first one from now;
# or a time with its zone (2026-12-01T18:00Z).
[dates]
opens = "1h"       # keys can enter and submit from then on
deadline = "30d"   # last time to submit, and to offer to evaluate
draw = "1d"        # evaluators draw their lots before it, custodians their shares after it
scored = "7d"      # evaluators score, and commit to their scores, before it
result = "3d"      # scores are revealed in its first half, and can be challenged until its end

# Limits for an entrant. 0: no limit.
[budget]
parameters = 0     # parameters of the submitted model
tokens = 0         # tokens trained on in the run, accepted windows only
hours = 0          # hours between the opening of the run and the submitted round

[scoring]
window = 2048      # tokens that a model sees at once; every entrant's model must support it
stride = 1024      # tokens scored by each later window
documents = 2000   # documents drawn from the sealed set after the deadline, or all if it has fewer
evaluators = 3     # evaluators drawn from the offers: 3 to 16; use 5 if much is at stake
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


class CompetitionPlan(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    name: str
    custodians: tuple[str, ...]
    dates: _Dates
    archive: str = ""
    data: str = ""
    budget: _Budget = _Budget()
    scoring: _Scoring = _Scoring()


def read_plan(path: Path) -> CompetitionPlan:
    """Read a plan; raises UserFacingError, which names the file and the fault."""
    return plan_file.read(path, CompetitionPlan, _plain)


def _plain(tree: dict[str, Any]) -> dict[str, Any]:  # what TOML holds
    # TOML has a type for times; `parse_date` parses text, so those become text again.
    dates = tree.get("dates")
    if not isinstance(dates, dict):
        return tree
    texts = {
        name: value.isoformat() if isinstance(value, datetime) else value
        for name, value in dates.items()
    }
    return tree | {"dates": texts}


def make_rules(
    plan: CompetitionPlan, sealed: SealedSet, archive_bytes: int, now_ms: int
) -> CompetitionRules:
    """Make the rules of a plan; raises UserFacingError, which names every wrong value."""
    faults: list[str] = []
    dates = _dates(plan.dates, now_ms, faults)
    _check_custodians(plan.custodians, sealed, faults)
    _check_numbers(plan, faults)
    if not plan.archive and archive_bytes > BLOB_BYTES:
        faults.append(
            f"archive is empty, and the sealed archive has {archive_bytes:,} bytes: a ledger "
            f"stores at most {BLOB_BYTES:,}; publish it elsewhere and give its address"
        )
    if faults:
        raise UserFacingError("the plan has errors: " + "; ".join(faults))
    rules = CompetitionRules(
        name=plan.name,
        sealed=sealed,
        archive=plan.archive,
        custodians=plan.custodians,
        budget=Budget(**msgspec.structs.asdict(plan.budget)),
        dates=dates,
        scoring=Scoring(**msgspec.structs.asdict(plan.scoring)),
        data=plan.data,
    )
    try:
        return CompetitionRules.parse(rules.encode())
    except MalformedError as err:
        why = plan_file.explain_malformed(err, CompetitionRules, msgspec.to_builtins(plan))
        raise UserFacingError(f"the plan has errors: {why}") from err


def _dates(planned: _Dates, now_ms: int, faults: list[str]) -> Dates:
    # A wrong date counts as the date before it, so that one error does not hide the others.
    found: dict[str, int] = {}
    before, name_before = now_ms, "now"
    for name in planned.__struct_fields__:
        try:
            at = parse_date(getattr(planned, name), before)
        except MalformedError as err:
            faults.append(f"dates.{name}: {err}")
            found[name] = before
            continue
        if name != "opens" and at <= before:
            faults.append(
                f"dates.{name} is {format_time(at)}, which is not after {name_before}, "
                f"{format_time(before)}"
            )
        found[name] = before = at
        name_before = f"dates.{name}"
    least = found["scored"] + (found["scored"] - found["draw"]) // SHOWING_PART
    if found["scored"] < found["result"] < least:
        faults.append(
            f"dates.result is {format_time(found['result'])}: it must be {format_time(least)} or "
            f"later, because 1/{SHOWING_PART} of the scoring time is needed to reveal and "
            "challenge scores"
        )
    if found["deadline"] <= now_ms:
        faults.append(f"dates.deadline is in the past: {format_time(found['deadline'])}")
    return Dates(**found)


def parse_date(text: str, before_ms: int) -> int:
    """Parse a date or a duration from `before_ms`, ms since 1970; raises MalformedError."""
    if _LENGTH.fullmatch(text.strip()):
        length_ms = sum(float(many) * _UNITS_MS[unit] for many, unit in _PART.findall(text))
        ms = before_ms + round(length_ms)
    else:
        ms = _parse_time(text)
    if not 0 <= ms <= JSON_INTEGER:
        raise MalformedError("the date is outside the range of the calendar")
    return ms


def _parse_time(text: str) -> int:
    try:
        time = datetime.fromisoformat(text.strip())
    except ValueError as err:
        raise MalformedError(
            f"invalid date {text!r}: expected a duration such as 90s, 30m, 12h or 30d, or a time "
            "such as 2026-12-01T18:00Z"
        ) from err
    # Entrants live in all time zones, so none is assumed.
    if time.tzinfo is None:
        raise MalformedError(
            f"{time.isoformat()} has no time zone: add Z for UTC, or an offset such as +01:00"
        )
    return round(time.timestamp() * 1_000)


def _check_custodians(keys: tuple[str, ...], sealed: SealedSet, faults: list[str]) -> None:
    if len(keys) != len(sealed.shares):
        faults.append(
            f"custodians has {len(keys)} keys, and the set was sealed for {len(sealed.shares)}"
        )
    for at, key in enumerate(keys):
        if key in keys[:at]:
            faults.append(f"custodians[{at}] is listed twice: {key}")
        try:
            key_from_text(key)
        except MalformedError:
            faults.append(f"custodians[{at}] is not a key of 43 characters: {key[:60]!r}")


def _check_numbers(plan: CompetitionPlan, faults: list[str]) -> None:
    faults += [
        f"budget.{name} is {limit}: it must be 0 or more"
        for name, limit in msgspec.structs.asdict(plan.budget).items()
        if limit < 0
    ]
    scoring = plan.scoring
    if scoring.stride > scoring.window:
        faults.append(
            f"scoring.stride is {scoring.stride}, more than scoring.window, {scoring.window}: "
            "tokens would be skipped"
        )


def write_rules(plan: Path, sealed_folder: Path, to: Path, now_ms: int) -> CompetitionRules:
    """Write the rules of a plan to a file; raises UserFacingError, and writes nothing then."""
    planned = read_plan(plan)  # first: the archive may take minutes to hash
    sealed, archive_bytes = _sealed(sealed_folder)
    rules = make_rules(planned, sealed, archive_bytes, now_ms)
    try:
        to.write_bytes(rules.encode())
    except OSError as err:
        raise UserFacingError(f"cannot write {to}: {err.strerror}") from err
    return rules


def read_rules(path: Path) -> CompetitionRules:
    """Read a rules document; raises UserFacingError."""
    try:
        with path.open("rb") as file:
            return CompetitionRules.parse(file.read(STATEMENT_BYTES + 1))
    except OSError as err:
        raise UserFacingError(f"cannot read {path}: {err.strerror}") from err
    except MalformedError as err:
        raise UserFacingError(
            f"{path} was not written by `tequio competition rules`: {err}"
        ) from err


def describe_rules(rules: CompetitionRules) -> Iterator[str]:
    dates, scoring, sealed = rules.dates, rules.scoring, rules.sealed
    yield f"{rules.name}: competition {to_text(rules.id)}"
    yield f"  opens      {format_time(dates.opens)}"
    yield f"  deadline   {format_time(dates.deadline)}  (submissions, and offers to evaluate)"
    yield f"  draw       {format_time(dates.draw)}  (then custodians reveal their shares)"
    yield f"  scored by  {format_time(dates.scored)}  (evaluators commit to their scores)"
    yield f"  shown by   {format_time(dates.reveal_until)}  (evaluators reveal their scores)"
    yield f"  result     {format_time(dates.result)}  (until then scores can be challenged)"
    drawn = min(scoring.documents, sealed.documents)
    yield (
        f"  texts      {drawn:,} drawn of {sealed.documents:,} sealed documents, "
        f"{sealed.size_bytes:,} bytes"
    )
    yield (
        f"  scoring    windows of {scoring.window:,} tokens, stride {scoring.stride:,}, "
        f"{plural(scoring.evaluators, 'evaluator')} of tier {scoring.evaluator_tier} or higher"
    )
    limits = msgspec.structs.asdict(rules.budget).items()
    budget = ", ".join(f"{limit:,} {name}" for name, limit in limits if limit)
    yield f"  budget     {budget or 'no limit'}"
    yield f"  custodians {sealed.needed} of {len(rules.custodians)} open the texts"
    yield from warnings(rules)


def warnings(rules: CompetitionRules) -> Iterator[str]:
    """Permitted choices that entrants should know about."""
    sealed, dates = rules.sealed, rules.dates
    if sealed.needed == 1:
        yield (
            "  note: one custodian alone can read the texts before the deadline; "
            "tell this to the entrants"
        )
    if sealed.documents <= rules.scoring.documents:
        yield "  note: all sealed documents are scored, without a draw"
    drawn = min(sealed.documents, rules.scoring.documents)
    if drawn < LEAST_DOCUMENTS:
        yield (
            f"  note: {plural(drawn, 'document')} cannot tell models apart: "
            f"with fewer than {LEAST_DOCUMENTS}, nobody wins"
        )
    if dates.scored - dates.draw < _HOUR_MS:
        yield "  note: evaluators have less than an hour to score"
    if dates.reveal_until - dates.scored < _HOUR_MS:
        yield "  note: evaluators have less than an hour to reveal their scores"
    if rules.scoring.evaluators == LEAST_EVALUATORS:
        yield "  note: if one evaluator fails, there is no ranking; draw more evaluators"


def _sealed(folder: Path) -> tuple[SealedSet, int]:
    """Read the commitment in a folder and the size of its archive, after checking its hash."""
    archive = folder / ARCHIVE
    try:
        sealed = SealedSet.parse((folder / COMMITMENT).read_bytes())
        found, size_bytes = file_digest(archive), archive.stat().st_size
    except OSError as err:
        raise UserFacingError(
            f"{folder} does not have a sealed set ({err.strerror}: {err.filename}): make one with "
            "`tequio competition seal`"
        ) from err
    except MalformedError as err:
        raise UserFacingError(f"{folder / COMMITMENT} is not a valid commitment: {err}") from err
    if found != sealed.archive:
        raise UserFacingError(f"{archive} does not match {COMMITMENT}: seal the documents again")
    return sealed, size_bytes


def open_competition(
    ledger: str, rules_file: Path, sealed: Path | None, folders: Sequence[Path], out: Path | None
) -> tuple[CompetitionRules, str]:
    """Open a competition as the organisers in the folders.

    `sealed` is the folder of the archive, if the ledger stores it. Returns the rules and a sentence
    about the result. Raises UserFacingError.
    """
    rules = read_rules(rules_file)
    if rules.dates.deadline <= now_ms():
        raise UserFacingError(
            f"the deadline in {rules_file} is in the past ({format_time(rules.dates.deadline)}): "
            "make the rules again"
        )
    documents = [rules.encode()]
    if not rules.archive:
        documents.append(_archive(rules, rules_file, sealed))
    body = CompOpen(competition=to_text(rules.id))
    options = signing.SigningOptions(ledger=ledger, folders=tuple(folders), out=out)
    return rules, signing.decide(body, options, documents)


def _archive(rules: CompetitionRules, rules_file: Path, sealed: Path | None) -> bytes:
    if sealed is None:
        raise UserFacingError(
            f"the rules in {rules_file} have the ledger store the archive: give the folder of the "
            "sealed set with --sealed"
        )
    path = sealed / ARCHIVE
    try:
        with path.open("rb") as file:
            raw = file.read(BLOB_BYTES + 1)
    except OSError as err:
        raise UserFacingError(f"cannot read {path}: {err.strerror}") from err
    if to_text(sha256(raw)) != rules.sealed.archive:
        raise UserFacingError(f"{path} does not match the archive of {rules_file}")
    return raw
