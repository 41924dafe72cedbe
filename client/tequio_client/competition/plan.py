"""What an organiser writes about a competition: TOML in, a rules document out.

Everything is checked before anything is made, and each fault names its value.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime
from functools import partial
from hashlib import file_digest
from typing import TYPE_CHECKING, Any

import msgspec
import trio
from msgspec import Struct

from tequio_client import plan_file
from tequio_client.clock import now_ms
from tequio_client.ledger.api import LedgerApi
from tequio_client.organiser import signing
from tequio_client.organiser.sealing import ARCHIVE, COMMITMENT
from tequio_client.worker import shutdown
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
from tequio_shared.scoring import STRIDE, WINDOW
from tequio_shared.sealed_set import SealedSet
from tequio_shared.statements.competitions import CompOpen

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

# --- Points in time as people write them in a plan: a time of day somewhere, or how long from
# before.
#
# `90s`, `30m`, `12h`, `30d` and sums such as `1d12h` count from the point before;
# `2026-12-01T18:00Z` says when. A time without a zone is refused: entrants live everywhere.

_UNITS_MS = {"s": 1_000, "m": 60_000, "h": 3_600_000, "d": 86_400_000}
_PART = re.compile(r"(\d{1,9}(?:\.\d{1,3})?)([smhd])")
_LENGTH = re.compile(rf"(?:{_PART.pattern})+")


def moment(said: str, before_ms: int) -> int:
    """When that is, in milliseconds since 1970; raises MalformedError."""
    text = said.strip()
    if _LENGTH.fullmatch(text):
        length = sum(float(many) * _UNITS_MS[unit] for many, unit in _PART.findall(text))
        return _within(before_ms + round(length))
    try:
        return _of_time(datetime.fromisoformat(text))
    except ValueError as err:
        raise MalformedError(
            f"{said!r} is neither a length such as 90s, 30m, 12h or 30d nor a time such as "
            "2026-12-01T18:00Z"
        ) from err


def told(ms: int) -> str:
    """A point in time for people, to the second, in UTC."""
    return datetime.fromtimestamp(ms / 1_000, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")


def _of_time(time: datetime) -> int:
    if time.tzinfo is None:
        raise MalformedError(
            f"{time.isoformat()} has no zone: end it with Z for UTC, or with +01:00"
        )
    return _within(round(time.timestamp() * 1_000))


def _within(ms: int) -> int:
    if not 0 <= ms <= JSON_INTEGER:
        raise MalformedError("that is no time that a calendar has")
    return ms


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
            at = moment(getattr(said, name), before)
        except MalformedError as err:
            faults.append(f"dates.{name}: {err}")
            found[name] = before
            continue
        if name != "opens" and at <= before:
            faults.append(
                f"dates.{name} is {told(at)}, which is not after {name_before}, {told(before)}"
            )
        found[name] = before = at
        name_before = f"dates.{name}"
    least = found["scored"] + (found["scored"] - found["draw"]) // SHOWING_PART
    if found["scored"] < found["result"] < least:
        faults.append(
            f"dates.result is {told(found['result'])}: not before {told(least)}, "
            f"so that a {SHOWING_PART}th of the time to score is left to show and to challenge"
        )
    if found["deadline"] <= now_ms:
        faults.append(f"dates.deadline is over: {told(found['deadline'])}")
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


# --- From a plan and a sealed folder to the rules document, and back from the document's file.

_HOUR_MS = 3_600_000


def make(plan_file: Path, sealed_folder: Path, to: Path, now_ms: int) -> CompetitionRules:
    """Write the rules that the plan asks for; raises UserFacingError, and then writes nothing."""
    said = read(plan_file)
    sealed, archive_bytes = _sealed(sealed_folder)
    made = rules(said, sealed, archive_bytes, now_ms)
    try:
        to.write_bytes(made.encode())
    except OSError as err:
        raise UserFacingError(f"cannot write {to}: {err.strerror}") from err
    return made


def rules_document_read(path: Path) -> CompetitionRules:
    """Read a rules document; raises UserFacingError."""
    try:
        with path.open("rb") as file:
            return CompetitionRules.parse(file.read(STATEMENT_BYTES + 1))
    except OSError as err:
        raise UserFacingError(f"cannot read {path}: {err.strerror}") from err
    except MalformedError as err:
        raise UserFacingError(
            f"{path} holds no rules as `tequio competition rules` writes them: {err}"
        ) from err


def lines(rules: CompetitionRules) -> Iterator[str]:
    """Say what the rules are, for people."""
    dates, scoring, sealed = rules.dates, rules.scoring, rules.sealed
    yield f"{rules.name}: competition {to_text(rules.id)}"
    yield f"  opens      {told(dates.opens)}"
    yield f"  deadline   {told(dates.deadline)}  (submissions, and offers to evaluate)"
    yield f"  draw       {told(dates.draw)}  (then custodians show their shares)"
    yield f"  scored by  {told(dates.scored)}  (evaluators commit to their scores)"
    yield f"  shown by   {told(dates.shown)}  (and show them)"
    yield f"  result     {told(dates.result)}  (until then anybody may challenge)"
    drawn = min(scoring.documents, sealed.documents)
    yield (
        f"  texts      {drawn:,} drawn of {sealed.documents:,} sealed documents, "
        f"{sealed.size_bytes:,} bytes"
    )
    yield (
        f"  scoring    windows of {scoring.window:,} tokens, stride {scoring.stride:,}, "
        f"{scoring.evaluators} evaluators of tier {scoring.evaluator_tier} or higher"
    )
    yield f"  budget     {_budget(rules)}"
    yield f"  custodians {sealed.needed} of {len(rules.custodians)} open the texts"
    yield from warnings(rules)


def warnings(rules: CompetitionRules) -> Iterator[str]:
    """What is allowed, and should be said to those who enter."""
    sealed, dates = rules.sealed, rules.dates
    if sealed.needed == 1:
        yield (
            "  note: one custodian alone can read the texts before the deadline; "
            "say so to those who enter"
        )
    if sealed.documents <= rules.scoring.documents:
        yield "  note: all sealed documents are scored; none is drawn by chance"
    if dates.scored - dates.draw < _HOUR_MS:
        yield "  note: evaluators have less than an hour to score"
    if dates.shown - dates.scored < _HOUR_MS:
        yield "  note: evaluators have less than an hour to show their scores"
    if rules.scoring.evaluators == LEAST_EVALUATORS:
        yield "  note: if one of the evaluators is not heard, nobody is ranked; draw more of them"


def _budget(rules: CompetitionRules) -> str:
    budget = rules.budget
    limits = [
        f"{value:,} {name}"
        for name, value in (
            ("parameters", budget.parameters),
            ("tokens", budget.tokens),
            ("hours", budget.hours),
        )
        if value
    ]
    return ", ".join(limits) or "no limit"


def _sealed(folder: Path) -> tuple[SealedSet, int]:
    """The commitment in a folder, and how large its archive is, which is held against it."""
    try:
        sealed = SealedSet.parse((folder / COMMITMENT).read_bytes())
        with (folder / ARCHIVE).open("rb") as file:
            found = to_text(file_digest(file, "sha256").digest())
        size = (folder / ARCHIVE).stat().st_size
    except OSError as err:
        raise UserFacingError(
            f"{folder} is no sealed folder ({err.strerror}: {err.filename}): make one with "
            "`tequio competition seal`"
        ) from err
    except MalformedError as err:
        raise UserFacingError(f"{folder / COMMITMENT} is no commitment: {err}") from err
    if found != sealed.archive:
        raise UserFacingError(
            f"{folder / ARCHIVE} is not the archive that {COMMITMENT} commits to: "
            "seal the texts again"
        )
    return sealed, size


# --- Opening a competition: the documents to the ledger, then the organisers' word.


def open_(
    ledger: str, rules_file: Path, sealed: Path | None, folders: Sequence[Path], out: Path | None
) -> tuple[CompetitionRules, str]:
    """Open a competition as the organisers in the folders; gives its rules and what came of it.

    `sealed` is the folder with the archive, where the ledger is to keep that. Raises
    UserFacingError.
    """
    rules = rules_document_read(rules_file)
    if rules.dates.deadline <= now_ms():
        raise UserFacingError(
            f"the deadline in {rules_file} is over ({told(rules.dates.deadline)}): "
            "make the rules anew"
        )
    documents = [rules.encode()]
    if not rules.archive:
        documents.append(_archive(rules, rules_file, sealed))
    with signing.held(folders), shutdown.reached(ledger):
        said = trio.run(partial(_open, ledger, rules, documents, folders, out))
    return rules, said


async def _open(
    ledger: str,
    rules: CompetitionRules,
    documents: Sequence[bytes],
    folders: Sequence[Path],
    out: Path | None,
) -> str:
    async with LedgerApi(ledger) as api:
        signer = signing.of(folders[0], await api.network())
        for one in documents:
            await api.put_blob(one, signer, now_ms())
        return await signing.make(api, CompOpen(competition=to_text(rules.id)), folders, out)


def _archive(rules: CompetitionRules, rules_file: Path, sealed: Path | None) -> bytes:
    if sealed is None:
        raise UserFacingError(
            f"{rules_file} leaves the archive to the ledger: give the sealed folder with --sealed"
        )
    path = sealed / ARCHIVE
    try:
        with path.open("rb") as file:
            raw = file.read(BLOB_BYTES + 1)
    except OSError as err:
        raise UserFacingError(f"cannot read {path}: {err.strerror}") from err
    if to_text(sha256(raw)) != rules.sealed.archive:
        raise UserFacingError(f"{path} is not the archive that {rules_file} commits to")
    return raw
