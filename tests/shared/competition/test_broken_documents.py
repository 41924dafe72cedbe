"""Documents of a competition whose fields do not fit each other are refused for their reason."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from tequio_shared.competition.rules import CompetitionOutcome, CompetitionRules, Submission
from tequio_shared.errors import MalformedError
from tequio_shared.ids import to_text
from tests.shared.competition.test_document_bounds import outcome
from tests.support.competition_fold import RUN, CompetitionFold
from tests.support.synthetic_competition import ROOT, folder, head

if TYPE_CHECKING:
    from collections.abc import Callable

RULES = CompetitionFold().paper.rules
FOLDER, HEAD = folder("alpha"), head(RUN, 2, ROOT)
FILE = FOLDER.files[0]
OTHER_FILE = msgspec.structs.replace(FILE, name="config.json")
replace: Callable[..., Any] = msgspec.structs.replace


@pytest.mark.parametrize(
    ("broken", "said"),
    [
        (replace(RULES, custodians=RULES.custodians[:2]), "2 custodians do not match 3 shares"),
        (
            replace(RULES, custodians=(*RULES.custodians, to_text(ROOT))),
            "4 custodians do not match 3 shares",
        ),
        (
            replace(RULES, custodians=(*RULES.custodians[:2], RULES.custodians[0])),
            "list a custodian twice",
        ),
        (replace(RULES, sealed=replace(RULES.sealed, needed=4)), "4 shares needed of 3"),
        (
            replace(RULES, dates=replace(RULES.dates, draw=RULES.dates.deadline)),
            "dates .* are not ascending",
        ),
        (
            replace(RULES, dates=replace(RULES.dates, opens=RULES.dates.draw)),
            "dates .* are not ascending",
        ),
        (replace(RULES, scoring=replace(RULES.scoring, stride=65)), "stride 65 is more than"),
    ],
)
def test_rules_that_contradict_themselves(broken: CompetitionRules, said: str) -> None:
    with pytest.raises(MalformedError, match=said):
        CompetitionRules.parse(broken.encode())


def test_a_window_may_be_as_long_as_the_stride() -> None:
    rules = replace(RULES, scoring=replace(RULES.scoring, stride=RULES.scoring.window))
    assert CompetitionRules.parse(rules.encode()) == rules


@pytest.mark.parametrize(
    ("broken", "said"),
    [
        (replace(HEAD, weights_root=""), "a submitted head needs"),
        (replace(HEAD, repo=FOLDER.repo), "a submitted head needs"),
        (replace(HEAD, revision=FOLDER.revision), "a submitted head needs"),
        (replace(HEAD, files=FOLDER.files), "a submitted head needs"),
        (replace(FOLDER, weights_root=to_text(ROOT)), "a submitted folder needs"),
        (replace(FOLDER, round=1), "a submitted folder needs"),
        (replace(FOLDER, repo=""), "a submitted folder needs"),
        (replace(FOLDER, revision=""), "a submitted folder needs"),
        (replace(FOLDER, files=()), "a submitted folder needs"),
        (replace(FOLDER, repo="no-owner"), r"matching regex .*\$\[0\]"),
        (replace(FOLDER, revision="main"), r"\$\[1\]"),
        (replace(FOLDER, files=(FILE, FILE)), "files must be ascending and unique"),
        (replace(FOLDER, files=(FILE, OTHER_FILE)), "files must be ascending and unique"),
    ],
)
def test_a_submission_that_is_neither_a_head_nor_a_folder(broken: Submission, said: str) -> None:
    with pytest.raises(MalformedError, match=said):
        Submission.parse(broken.encode())


@pytest.mark.parametrize("sound", [HEAD, FOLDER, replace(FOLDER, files=(OTHER_FILE, FILE))])
def test_a_submission_that_is_one_of_them(sound: Submission) -> None:
    assert Submission.parse(sound.encode()) == sound


def test_an_outcome_that_lists_an_entrant_twice() -> None:
    found = outcome(2, 3)
    broken = replace(found, places=(found.places[0], found.places[0]))
    with pytest.raises(MalformedError, match="lists an entrant twice"):
        CompetitionOutcome.parse(broken.encode())
