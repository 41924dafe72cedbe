"""A competition's plan: dates as people write them, and every wrong value named at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tequio_client.competition import plan
from tequio_client.dataset.sources import TextFiles
from tequio_client.organiser import sealing
from tequio_client.worker.ledger.standing import format_time
from tequio_shared.competition.rules import CompetitionRules
from tequio_shared.errors import MalformedError, UserFacingError
from tequio_shared.ids import to_text
from tequio_shared.sealed_set import SealedSet

if TYPE_CHECKING:
    from pathlib import Path

NOW_MS = 1_800_000_000_000
KEYS = [to_text(bytes([at]) * 32) for at in (1, 2, 3)]


@pytest.fixture
def sealed(tmp_path: Path) -> Path:
    """A sealed folder of three documents, its key among three custodians."""
    paths = []
    for number in range(3):
        paths.append(tmp_path / f"{number}.txt")
        paths[-1].write_text(f"document {number}")
    source = TextFiles(label="folder", paths=tuple(paths))
    sealing.seal(source, tmp_path / "sealed", needed=2, shares=3)
    return tmp_path / "sealed"


def _written(folder: Path, text: str) -> Path:
    for number, key in enumerate(KEYS, 1):
        text = text.replace(f"key of the custodian of share {number}", key)
    path = folder / "plan.toml"
    path.write_text(text)
    return path


def _refused(folder: Path, sealed: Path, text: str) -> str:
    with pytest.raises(UserFacingError) as told:
        plan.write_rules(_written(folder, text), sealed, folder / "rules.json", NOW_MS)
    assert not (folder / "rules.json").exists()
    return str(told.value)


@pytest.mark.parametrize(
    ("said", "due_ms"),
    [
        ("90s", NOW_MS + 90_000),
        ("0s", NOW_MS),
        ("1d12h", NOW_MS + 36 * 3_600_000),
        ("0.5h", NOW_MS + 1_800_000),
        ("2027-01-15T08:00:00Z", NOW_MS),
        ("2027-01-15T09:00+01:00", NOW_MS),
    ],
)
def test_a_date_is_a_length_or_a_time(said: str, due_ms: int) -> None:
    assert plan.parse_date(said, NOW_MS) == due_ms


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("soon", "invalid date"),
        ("10", "invalid date"),
        ("3w", "invalid date"),
        ("2027-01-15T08:00", "has no time zone"),
        ("999999999d999999999d", "outside the range of the calendar"),
    ],
)
def test_what_is_no_date_is_refused_with_its_way_out(said: str, told: str) -> None:
    with pytest.raises(MalformedError, match=told):
        plan.parse_date(said, NOW_MS)


def test_the_example_becomes_rules_that_read_back(tmp_path: Path, sealed: Path) -> None:
    path = _written(tmp_path, plan.EXAMPLE)
    made = plan.write_rules(path, sealed, tmp_path / "rules.json", NOW_MS)
    raw = (tmp_path / "rules.json").read_bytes()
    assert CompetitionRules.parse(raw) == plan.read_rules(tmp_path / "rules.json") == made
    assert made.dates.opens == NOW_MS + 3_600_000
    assert made.dates.result - made.dates.scored == 3 * 86_400_000
    assert list(made.custodians) == KEYS
    told = "\n".join(plan.describe_rules(made))
    assert to_text(made.id) in told
    assert "3 drawn of 3 sealed documents" in told
    assert "are scored, without a draw" in told
    assert "3 documents cannot tell models apart: with fewer than 30, nobody wins" in told
    assert f"shown by   {format_time(made.dates.scored + 3 * 43_200_000)}" in told
    assert "if one evaluator fails, there is no ranking" in told


def test_a_time_may_be_one_of_toml(tmp_path: Path, sealed: Path) -> None:
    text = plan.EXAMPLE.replace('opens = "1h"', "opens = 2027-01-15T09:30:00+01:00")
    made = plan.write_rules(_written(tmp_path, text), sealed, tmp_path / "out", NOW_MS)
    assert made.dates.opens == NOW_MS + 1_800_000
    assert "has no time zone" in _refused(
        tmp_path, sealed, text.replace("09:30:00+01:00", "09:30:00")
    )


def test_every_wrong_value_is_named_at_once(tmp_path: Path, sealed: Path) -> None:
    text = plan.EXAMPLE.replace('deadline = "30d"', 'deadline = "2020-01-01T00:00Z"')
    text = text.replace('draw = "1d"', 'draw = "tomorrow"')
    text = text.replace("tokens = 0", "tokens = -5").replace("stride = 1024", "stride = 4096")
    text = text.replace('  "key of the custodian of share 3",\n', '  "nobody",\n')
    said = _refused(tmp_path, sealed, text)
    for part in (
        "dates.deadline is 2020-01-01 00:00:00 UTC, which is not after dates.opens",
        "dates.draw: invalid date 'tomorrow'",
        "budget.tokens is -5",
        "scoring.stride is 4096, more than scoring.window, 2048",
        "custodians[2] is not a key of 43 characters: 'nobody'",
    ):
        assert part in said


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        (
            "evaluators = 3",
            "evaluators = 2",
            "scoring.evaluators is 2: expected a whole number >= 3",
        ),
        (
            "window = 2048",
            "window = 1000000",
            "scoring.window is 1000000: expected a whole number <= ",
        ),
        ('result = "3d"', 'result = "16h"', "because 1/10 of the scoring time is needed"),
        (
            'archive = ""',
            'archive = "ftp://a"',
            "archive is 'ftp://a': expected a text that is an address",
        ),
        (
            'name = "Winter 2026"',
            'name = "<b>"',
            "name is '<b>': expected a text of letters, digits",
        ),
        ('name = "Winter 2026"', 'nmae = "x"', "it has no `nmae`; `name` may be meant"),
        ("documents = 2000", 'documents = "all"', "documents is 'all': expected a whole number"),
        ("documents = 2000", "documents = 0", "documents is 0: expected a whole number >= 1"),
        ('name = "Winter 2026"', 'name = ""', "name is '': expected a text of >= 1 letters"),
    ],
)
def test_a_value_out_of_range_is_named(
    tmp_path: Path, sealed: Path, old: str, new: str, told: str
) -> None:
    assert told in _refused(tmp_path, sealed, plan.EXAMPLE.replace(old, new))


def test_custodians_are_as_many_as_shares_and_none_stands_twice(
    tmp_path: Path, sealed: Path
) -> None:
    line = '  "key of the custodian of share 3",\n'
    assert "has 2 keys, and the set was sealed for 3" in _refused(
        tmp_path, sealed, plan.EXAMPLE.replace(line, "")
    )
    twice = plan.EXAMPLE.replace("key of the custodian of share 3", KEYS[0])
    assert "custodians[2] is listed twice" in _refused(tmp_path, sealed, twice)


def test_an_archive_that_was_changed_makes_no_rules(tmp_path: Path, sealed: Path) -> None:
    with (sealed / sealing.ARCHIVE).open("ab") as file:
        file.write(b"x")
    assert "does not match commitment.json" in _refused(tmp_path, sealed, plan.EXAMPLE)
    assert "make one with `tequio competition seal`" in _refused(
        tmp_path, tmp_path / "nothing", plan.EXAMPLE
    )


def test_a_large_archive_needs_another_place_than_the_ledger(tmp_path: Path, sealed: Path) -> None:
    said = plan.read_plan(_written(tmp_path, plan.EXAMPLE))
    with pytest.raises(UserFacingError, match="publish it elsewhere and give its address"):
        plan.make_rules(said, _sealed(sealed), (64 << 20) + 1, NOW_MS)


def _sealed(folder: Path) -> SealedSet:
    return SealedSet.parse((folder / sealing.COMMITMENT).read_bytes())
