"""A ledger that answers about another competition, or with other rules, is not believed."""

from __future__ import annotations

import msgspec
import pytest

from tequio_shared import encoding
from tequio_shared.api.competitions import CompetitionAnswer
from tequio_shared.errors import MalformedError, PeerError
from tequio_shared.ids import PeerKey, sha256
from tests.support.answers import filled
from tests.support.synthetic_competition import SyntheticCompetition


def paper(name: str) -> SyntheticCompetition:
    custodians = [PeerKey(sha256(b"custodian", bytes((at,)))) for at in range(3)]
    return SyntheticCompetition(custodians=custodians, start_ms=1_800_000_000_000, name=name)


def answer(one: SyntheticCompetition, rules: SyntheticCompetition) -> bytes:
    told = filled(
        CompetitionAnswer, competition=one.text, phase="open", rules=rules.rules, opened_index=7
    )
    return msgspec.json.encode(told)


def test_rules_are_those_that_the_id_names() -> None:
    one = paper("one")
    found = encoding.read(answer(one, one), CompetitionAnswer)
    found.check(one.id)
    assert found.rules == one.rules


def test_other_rules_and_other_competitions_are_refused() -> None:
    one, other = paper("one"), paper("other")
    with pytest.raises(PeerError, match="answered about competition"):
        encoding.read(answer(one, other), CompetitionAnswer).check(one.id)
    with pytest.raises(PeerError, match="answered about competition"):
        encoding.read(answer(other, other), CompetitionAnswer).check(one.id)
    with pytest.raises(MalformedError):
        encoding.read(b'{"competition": "x"}', CompetitionAnswer)
