"""Teams: the last word counts, and names are plain."""

from __future__ import annotations

import pytest

from tequio_shared.encoding import convert
from tequio_shared.errors import MalformedError, RefusedError
from tequio_shared.keys import Signer
from tequio_shared.network.tiers import Teams
from tequio_shared.statements.network import MemberTeam

ONE, TWO = (Signer(bytes([at]) * 32).key for at in (1, 2))


def test_a_key_is_in_the_team_that_it_said_last() -> None:
    teams = Teams()
    assert teams.of(ONE) == ""
    for index, team in enumerate(("oaxaca", "puebla", ""), 5):
        teams.apply(index, ONE, MemberTeam(team=team))
        assert (teams.of(ONE), teams.of(TWO)) == (team, "")


def test_the_team_at_an_entry_is_the_one_stated_before_it() -> None:
    teams = Teams()
    for index, team in ((5, "oaxaca"), (9, "puebla"), (12, "")):
        teams.apply(index, ONE, MemberTeam(team=team))
    found = [teams.at(ONE, index) for index in (4, 5, 6, 9, 10, 12, 13)]
    assert found == ["", "", "oaxaca", "oaxaca", "puebla", "puebla", ""]
    assert teams.at(TWO, 10) == ""


@pytest.mark.parametrize("team", ["", "oaxaca"])
def test_the_same_word_again_is_refused_and_changes_nothing(team: str) -> None:
    teams = Teams()
    if team:
        teams.apply(1, ONE, MemberTeam(team=team))
    with pytest.raises(RefusedError, match="already") as caught:
        teams.apply(1, ONE, MemberTeam(team=team))
    assert (caught.value.code, teams.of(ONE)) == ("already-said", team)


@pytest.mark.parametrize("name", ["", "a", "0", "oaxaca", "a-b", "9" * 32, "a" + 31 * "-"])
def test_a_plain_name_is_a_team(name: str) -> None:
    assert convert({"team": name}, MemberTeam).team == name


@pytest.mark.parametrize(
    "name", ["-", "-a", "A", "a b", "a_b", "a" * 33, "\u00e4", "a\n", "a.b", None, 1]
)
def test_any_other_is_none(name: object) -> None:
    with pytest.raises(MalformedError):
        convert({"team": name}, MemberTeam)
