"""Teams: founded by a key, joined by the owner's invitation alone, and never without an owner."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tequio_shared.encoding import convert
from tequio_shared.errors import MalformedError, RefusedError
from tequio_shared.ids import PeerKey, sha256, to_text
from tequio_shared.limits import NAME_HOLD_MS, TEAM_MEMBERS
from tequio_shared.network.teams import Teams
from tequio_shared.statements.network import (
    InviteOpen,
    MemberTeam,
    NameWithdraw,
    TeamDefine,
    TeamMember,
)
from tests.support.attack_table import attack
from tests.support.key_swarm import KeySwarm
from tests.support.second_teams import SecondTeams
from tests.support.statements import EXAMPLES
from tests.support.tiny_run import signer, tiny_manifest

if TYPE_CHECKING:
    from collections.abc import Callable

    from tequio_shared.keys import Signer
    from tequio_shared.network.teams import TeamRecord
    from tequio_shared.statements.statement import Entry

LINK, OTHER = signer("a join link"), signer("another join link")
DAY_MS = 86_400_000


class TeamSwarm(KeySwarm):
    """Keys that may found a team at once, since they were invited to the network."""

    def __init__(self, *names: str) -> None:
        super().__init__(tiny_manifest(most=60))
        key, until = signer("invitation"), self.now_ms + 1_000 * DAY_MS
        body = InviteOpen(invitation=to_text(key.key), uses=99, until=until, run="")
        self.organise(body)
        self.them = {name: self.new_volunteer(name) for name in names}
        self.join(*self.them.values(), invitation=key)

    @property
    def team(self) -> int:
        """The team that was founded last."""
        return max(self.network.teams.records)

    @property
    def record(self) -> TeamRecord:
        return self.network.teams.records[self.team]

    def define(  # noqa: PLR0913 - the fields of a team
        self,
        author: str,
        team: int | None = None,
        name: str = "Oaxaca",
        link: Signer | None = LINK,
        *,
        until_ms: int = DAY_MS,
        most: int = 10,
        goal: int = 0,
    ) -> Entry:
        body = TeamDefine(
            team=self.team if team is None else team,
            name=name,
            invitation=to_text(link.key) if link else "",
            until=self.now_ms + until_ms if link else 0,
            most=most if link else 0,
            goal=goal,
            goal_until=self.now_ms + DAY_MS if goal else 0,
        )
        return self.send(self.them[author], body)

    def found(self, author: str, name: str = "Oaxaca", link: Signer | None = LINK) -> int:
        self.define(author, 0, name, link)
        return self.team

    def enter(self, author: str, *signers: Signer, team: int | None = None) -> Entry:
        body = MemberTeam(team=team or self.team)
        return self.send(self.them[author], body, *(signers or (LINK,)))

    def leave(self, author: str) -> Entry:
        return self.send(self.them[author], MemberTeam(team=0))

    def change(self, author: str, peer: str, to: str) -> Entry:
        body = convert({"peer": to_text(self.them[peer].key), "to": to}, TeamMember)
        return self.send(self.them[author], body)

    def members(self) -> list[str]:
        names = {one.key: name for name, one in self.them.items()}
        return [names[key] for key in self.record.members]

    def owner(self) -> str:
        return next(name for name, one in self.them.items() if one.key == self.record.owner)


def refusal(act: Callable[[], object]) -> str:
    with pytest.raises(RefusedError) as caught:
        act()
    return caught.value.code


def test_a_key_founds_a_team_and_others_join_by_its_invitation() -> None:
    swarm = TeamSwarm(*"abc")
    team = swarm.found("a")
    swarm.enter("b")
    assert (swarm.members(), swarm.owner(), swarm.record.name) == (["a", "b"], "a", "Oaxaca")
    teams = swarm.network.teams
    assert [teams.of(one.key) for one in swarm.them.values()] == [team, team, 0]
    joined = len(swarm.entries) - 1
    key = swarm.them["b"].key
    assert [teams.at(key, joined), teams.at(key, joined + 1)] == [0, team]


@attack(
    "T7",
    layer="adm",
    ends="refused as `not-eligible`: a new key has no name and no team",
)
def test_only_a_key_that_cost_its_owner_something_founds_a_team() -> None:
    swarm = KeySwarm(tiny_manifest())
    one = swarm.volunteer("a newcomer")
    body = convert({**EXAMPLES["team.define"], "goal": 0, "goal_until": 0}, TeamDefine)
    assert refusal(lambda: swarm.send(one, body)) == "not-eligible"


def test_a_team_name_is_had_once_however_it_is_spelt() -> None:
    swarm = TeamSwarm(*"ab")
    swarm.found("a", "Oaxaca Norte")
    assert refusal(lambda: swarm.found("b", "oaxaca-norte")) == "name-taken"
    first, second = swarm.team, swarm.found("b", "Oaxaca Sur")
    named = swarm.network.teams.named
    assert [named(one) for one in ("OAXACA NORTE", "oaxaca-sur", "Milpa")] == [first, second, 0]


def test_whoever_founds_first_has_the_name_and_the_other_key_is_in_no_team() -> None:
    swarm = TeamSwarm(*"ab")
    body = TeamDefine(team=0, name="Milpa", invitation="", until=0, most=0, goal=0, goal_until=0)
    first, second = (swarm.signed(one, body) for one in swarm.them.values())
    swarm.log(first)
    assert refusal(lambda: swarm.log(second)) == "name-taken"
    assert [swarm.network.teams.of(one.key) > 0 for one in swarm.them.values()] == [True, False]


@attack("T7", layer="adm", ends="refused as `name-held`: one team in 30 days")
def test_a_key_is_in_one_team_and_founds_one_in_thirty_days() -> None:
    swarm = TeamSwarm(*"ab")
    first = swarm.found("a")
    assert refusal(lambda: swarm.found("a", "Puebla")) == "wrong-team"
    swarm.found("b", "Puebla", OTHER)
    assert refusal(lambda: swarm.enter("b", team=first)) == "wrong-team"
    swarm.leave("a")
    assert refusal(lambda: swarm.found("a", "Milpa")) == "name-held"
    assert refusal(lambda: swarm.enter("a")) == "wrong-invitation"
    swarm.now_ms += NAME_HOLD_MS
    swarm.found("a", "Milpa")


def test_a_team_without_members_has_ended_and_its_name_comes_free_later() -> None:
    swarm = TeamSwarm(*"abc")
    team = swarm.found("a")
    swarm.leave("a")
    assert swarm.record.ended == swarm.now_ms
    assert refusal(lambda: swarm.enter("b", team=team)) == "wrong-team"
    assert refusal(lambda: swarm.define("a", team)) == "wrong-team"
    assert refusal(lambda: swarm.found("b")) == "name-held"
    swarm.now_ms += NAME_HOLD_MS
    swarm.found("b")
    assert refusal(lambda: swarm.found("c")) == "name-taken"
    assert swarm.network.teams.name_of(team) == "Oaxaca", "the page of the former team keeps it"


# --- Invitations.


def test_an_invitation_ends_at_its_time_and_when_the_owner_closes_it() -> None:
    swarm = TeamSwarm(*"abc")
    swarm.found("a")
    swarm.define("a", link=LINK, until_ms=5)
    swarm.now_ms += 5
    assert refusal(lambda: swarm.enter("b")) == "invitation-ended"
    swarm.define("a", link=OTHER)
    swarm.enter("b", OTHER)
    swarm.define("a", link=None)
    assert refusal(lambda: swarm.enter("c", OTHER)) == "invitation-ended"


@pytest.mark.parametrize("most", [1, 2])
def test_an_invitation_admits_no_more_members_than_it_says(most: int) -> None:
    swarm = TeamSwarm(*"abc")
    swarm.found("a")
    swarm.define("a", most=most)
    if most > 1:
        swarm.enter("b")
    assert refusal(lambda: swarm.enter("c")) == "invitation-spent"
    swarm.define("a", most=3)
    swarm.enter("c")


@attack("T1", layer="adm", ends="refused as `wrong-invitation`: that team's present link must sign")
def test_nobody_joins_without_the_signature_of_the_teams_own_present_invitation() -> None:
    swarm = TeamSwarm(*"abcd")
    team = swarm.found("a")
    swarm.found("b", "Puebla", OTHER)
    c = swarm.them["c"]
    forged = signer("made up")
    for signers in ((), (OTHER,), (forged,), (swarm.them["a"].signer,), (LINK, OTHER)):
        code = refusal(partial(swarm.send, c, MemberTeam(team=team), *signers))
        assert code == "wrong-invitation"
    swarm.define("a", team, link=forged)
    assert refusal(lambda: swarm.enter("c", LINK, team=team)) == "wrong-invitation"
    assert refusal(lambda: swarm.enter("c", forged, team=swarm.team)) == "wrong-invitation"
    assert refusal(lambda: swarm.send(c, MemberTeam(team=0), LINK)) == "wrong-invitation"
    swarm.enter("c", forged, team=team)


@attack("T1", layer="env", ends="refused as `bad-signature`: the link signs one joining of one key")
def test_the_invitations_signature_under_one_statement_serves_for_no_other() -> None:
    swarm = TeamSwarm(*"abc")
    swarm.found("a")
    theirs = swarm.signed(swarm.them["b"], MemberTeam(team=swarm.team), LINK)
    own = swarm.signed(swarm.them["c"], MemberTeam(team=swarm.team), LINK)
    stolen = type(own)((own.signatures[0], theirs.signatures[1]), own.statement)
    with pytest.raises(Exception, match="signature"):
        swarm.log(stolen)
    assert swarm.members() == ["a"]


@attack("T1", layer="adm", ends="refused as `invitation-ended`: a removal ends the link")
def test_a_removed_member_does_not_come_back_with_the_link_that_it_has() -> None:
    swarm = TeamSwarm(*"abc")
    swarm.found("a")
    entry = swarm.enter("b")
    swarm.change("a", "b", "removed")
    assert swarm.members() == ["a"]
    assert refusal(lambda: swarm.log(entry)) == "equivocation", "the same bytes again"
    assert refusal(lambda: swarm.enter("b")) == "invitation-ended"
    assert refusal(lambda: swarm.enter("c")) == "invitation-ended"
    swarm.define("a", link=OTHER)
    swarm.enter("c", OTHER)
    assert refusal(lambda: swarm.enter("b", LINK)) == "wrong-invitation"


# --- Owners.


@attack("T3", layer="adm", ends="refused as `wrong-team`: only the owner acts for the team")
def test_only_the_owner_sets_removes_and_hands_over() -> None:
    swarm = TeamSwarm(*"abc")
    team = swarm.found("a")
    swarm.enter("b")
    acts = (
        lambda: swarm.define("b", team, link=OTHER),
        lambda: swarm.define("c", team, link=OTHER),
        lambda: swarm.change("b", "a", "removed"),
        lambda: swarm.change("b", "b", "owner"),
        lambda: swarm.change("c", "b", "removed"),
        lambda: swarm.change("a", "a", "removed"),
        lambda: swarm.change("a", "c", "owner"),
    )
    assert {refusal(act) for act in acts} == {"wrong-team"}
    swarm.change("a", "b", "owner")
    assert swarm.owner() == "b"
    assert refusal(lambda: swarm.define("a", team, link=OTHER)) == "wrong-team"
    swarm.change("b", "a", "removed")
    assert swarm.members() == ["b"]


def test_the_member_that_joined_first_follows_an_owner_that_leaves() -> None:
    swarm = TeamSwarm(*"abc")
    swarm.found("a")
    swarm.enter("c")
    swarm.enter("b")
    swarm.leave("a")
    assert (swarm.owner(), swarm.members()) == ("c", ["c", "b"])


def test_a_revoked_owner_passes_the_team_on_and_its_successor_is_a_member_again() -> None:
    swarm = TeamSwarm(*"abc")
    swarm.found("a")
    swarm.enter("b")
    recovery = signer("recovery of a")
    swarm.bind(swarm.them["a"], recovery)
    swarm.revoke(swarm.them["a"], swarm.them["a"].key)
    assert (swarm.owner(), swarm.members()) == ("b", ["a", "b"])
    assert refusal(lambda: swarm.change("b", "a", "owner")) == "key-ended"
    assert refusal(lambda: swarm.enter("c")) == "invitation-ended", "a thief can derive that link"
    swarm.them["a"] = swarm.replace(swarm.them["a"], "heir", recovery)
    assert (swarm.owner(), swarm.members()) == ("b", ["a", "b"])
    swarm.change("b", "a", "owner")
    assert swarm.owner() == "a"


def test_a_revoked_member_follows_no_owner_that_leaves_while_another_can_sign() -> None:
    swarm = TeamSwarm(*"abc")
    swarm.found("a")
    swarm.enter("b")
    swarm.enter("c")
    swarm.revoke(swarm.them["b"], swarm.them["b"].key)
    swarm.leave("a")
    assert (swarm.owner(), swarm.members()) == ("c", ["b", "c"])


def test_whoever_joins_a_team_of_revoked_members_owns_it() -> None:
    swarm = TeamSwarm(*"abcd")
    swarm.found("a")
    swarm.enter("b")
    swarm.revoke(swarm.them["b"], swarm.them["b"].key)
    swarm.leave("a")
    assert (swarm.owner(), swarm.members()) == ("b", ["b"])
    swarm.enter("c")
    swarm.enter("d")
    assert (swarm.owner(), swarm.members()) == ("c", ["b", "c", "d"])


def test_a_team_of_one_waits_for_the_successor_of_its_revoked_owner() -> None:
    swarm = TeamSwarm(*"a")
    swarm.found("a")
    recovery = signer("recovery of a")
    swarm.bind(swarm.them["a"], recovery)
    swarm.revoke(swarm.them["a"], swarm.them["a"].key)
    assert (swarm.owner(), swarm.record.ended) == ("a", 0)
    swarm.them["a"] = swarm.replace(swarm.them["a"], "heir", recovery)
    swarm.define("a", goal=5)
    assert refusal(lambda: swarm.found("a", "Puebla")) == "wrong-team"


def test_the_first_successor_in_a_team_of_revoked_members_owns_it() -> None:
    swarm = TeamSwarm(*"abc")
    swarm.found("a")
    recovery = {name: signer(f"recovery of {name}") for name in "abc"}
    for name in "bc":
        swarm.enter(name)
    for name in "bca":
        swarm.bind(swarm.them[name], recovery[name])
        swarm.revoke(swarm.them[name], swarm.them[name].key)
    assert swarm.owner() == "a"
    for name in "ca":
        swarm.them[name] = swarm.replace(swarm.them[name], f"heir of {name}", recovery[name])
        assert (swarm.owner(), swarm.members()) == ("c", ["a", "b", "c"])
    swarm.define("c", goal=5)


def test_a_successor_has_place_ownership_and_the_wait_before_another_team() -> None:
    swarm = TeamSwarm(*"ab")
    swarm.found("a")
    swarm.enter("b")
    swarm.them["a"] = swarm.replace(swarm.them["a"], "heir")
    assert (swarm.owner(), swarm.members()) == ("a", ["a", "b"])
    swarm.leave("a")
    assert refusal(lambda: swarm.found("a", "Puebla")) == "name-held"


def test_a_replaced_key_is_in_no_team_and_its_work_counts_where_its_successor_is() -> None:
    swarm = TeamSwarm("a")
    team, former, teams = swarm.found("a"), swarm.them["a"].key, swarm.network.teams
    replaced = len(swarm.entries)
    swarm.them["a"] = swarm.replace(swarm.them["a"], "heir")
    assert (teams.of(former), teams.of(swarm.them["a"].key)) == (0, team)
    left = len(swarm.entries)
    swarm.leave("a")
    assert [teams.at(former, index) for index in (replaced, left, left + 1)] == [team, team, 0]


# --- Goals and names.


def test_a_goal_counts_from_when_it_was_set_and_starts_again_with_another() -> None:
    swarm = TeamSwarm(*"ab")
    swarm.found("a")
    swarm.enter("b")
    teams, keys = swarm.network.teams, [one.key for one in swarm.them.values()]
    after = len(swarm.entries)
    teams.pay(after, swarm.now_ms, keys[0], 7)
    swarm.define("a", goal=50)
    for key in keys:
        teams.pay(after, swarm.now_ms + 1, key, 10)
    goal = swarm.record.goal
    assert goal is not None
    assert (goal.reached, swarm.record.earned) == (20, {keys[0]: 17, keys[1]: 10})
    teams.pay(after, goal.until, keys[1], 5)
    teams.pay(after, goal.until + 1, keys[1], 10)
    swarm.define("a", goal=50, link=OTHER)
    assert swarm.record.goal is not None
    assert swarm.record.goal.reached == 25, "the same goal goes on with another link"
    swarm.define("a", goal=60, link=OTHER)
    assert swarm.record.goal.reached == 0


def test_what_the_owner_said_last_is_not_said_again() -> None:
    swarm = TeamSwarm(*"a")
    swarm.found("a")
    assert refusal(lambda: swarm.define("a")) == "already-said"
    assert refusal(lambda: swarm.define("a", name="Puebla")) == "name-held"
    swarm.define("a", name="OAXACA")
    assert swarm.record.name == "OAXACA"


def test_a_withdrawn_team_name_is_had_by_nobody_and_the_owner_chooses_another() -> None:
    swarm = TeamSwarm(*"ab")
    team = swarm.found("a", "Rude")
    body = NameWithdraw(peer="", team=team, reason=1)
    assert refusal(lambda: swarm.send(swarm.them["b"], body)) == "wrong-role"
    swarm.organise(body)
    assert swarm.network.teams.name_of(team) == f"Team {team}"
    assert refusal(lambda: swarm.organise(body)) == "not-found"
    for act in (lambda: swarm.define("a", name="rude"), lambda: swarm.found("b", "R-ude")):
        assert refusal(act) == "name-held"
    swarm.define("a", name="", goal=5)
    swarm.define("a", name="Milpa", goal=5)
    assert swarm.record.name == "Milpa"


def test_the_name_of_a_team_that_ended_is_not_taken_from_the_next_one() -> None:
    swarm = TeamSwarm(*"ab")
    former = swarm.found("a", "Rude")
    swarm.leave("a")
    swarm.now_ms += NAME_HOLD_MS
    team = swarm.found("b", "Rude")
    swarm.organise(NameWithdraw(peer="", team=former, reason=1))
    assert swarm.network.teams.named("Rude") == team
    assert swarm.network.teams.name_of(team) == "Rude"


@pytest.mark.parametrize(
    "changes",
    [
        {"name": ""},
        {"name": "a"},
        {"name": "o_"},
        {"until": 0},
        {"most": 0},
        {"invitation": ""},
        {"most": TEAM_MEMBERS + 1},
        {"goal": 0},
        {"goal_until": 0},
        {"team": -1},
    ],
)
def test_a_definition_that_means_nothing_is_malformed(changes: dict[str, object]) -> None:
    with pytest.raises(MalformedError):
        convert({**EXAMPLES["team.define"], **changes}, TeamDefine)


@pytest.mark.parametrize("of", [{"peer": "", "team": 0}, {"team": 3}])
def test_a_withdrawal_is_about_one_key_or_one_team(of: dict[str, object]) -> None:
    with pytest.raises(MalformedError):
        convert({**EXAMPLES["name.withdraw"], **of}, NameWithdraw)


# --- Against the second implementation.

KEYS = "abcd"
NAMES = ("Milpa", "mil pa", "Puebla", "Sierra")
OF_MEMBERS = ("found", "set", "join", "leave", "remove", "hand")
ACTS = st.lists(
    st.tuples(
        st.sampled_from(KEYS),
        st.sampled_from((*OF_MEMBERS, "join", "revoke", "replace", "withdraw")),
        st.sampled_from(NAMES),
        st.sampled_from(KEYS),
        st.integers(0, 2),
        st.sampled_from([1, 1, 1, NAME_HOLD_MS // 2]),
    ),
    max_size=40,
)


def key_of(name: str) -> PeerKey:
    return PeerKey(sha256(name.encode()))


def define_both(teams: Teams, act: tuple[object, ...], index: int, ts: int, author: str) -> None:
    _, team, name, invitation, goal = act
    assert isinstance(team, int)
    assert isinstance(name, str)
    key, until, most = invitation if isinstance(invitation, tuple) else ("", 0, 0)
    points, goal_until = goal if isinstance(goal, tuple) else (0, 0)
    body = TeamDefine(
        team=team,
        name=name,
        invitation=to_text(key_of(key)) if key else "",
        until=until,
        most=most,
        goal=points,
        goal_until=goal_until,
    )
    teams.define(index, ts, key_of(author), body)


def apply(teams: Teams, act: tuple[object, ...], index: int, ts: int, author: str) -> None:
    key = key_of(author)
    match act:
        case ("found" | "set", *_):
            define_both(teams, act, index, ts, author)
        case ("join", int(team), tuple(signers)):
            teams.join(index, ts, key, team, tuple(key_of(str(one)) for one in signers))
        case ("leave",):
            teams.leave(index, ts, key, ())
        case ("remove" | "hand" as kind, str(peer)):
            to = "removed" if kind == "remove" else "owner"
            body = convert({"peer": to_text(key_of(peer)), "to": to}, TeamMember)
            teams.change_member(index, ts, key, body)
        case ("withdraw", int(team)):
            teams.withdraw(team)
        case ("revoke",):
            teams.links.revoked[key] = index
            teams.revoke(key)
        case ("replace", str(former)):
            teams.links.replace(index, key_of(former), key)
            teams.replace(index, key_of(former), key)


@settings(max_examples=150, deadline=None)
@given(acts=ACTS)
def test_two_implementations_admit_the_same_statements(acts: list[tuple[str, ...]]) -> None:
    teams, second, ts = Teams(), SecondTeams(), 10**12
    present = {key: key for key in KEYS}  # each person's newest key
    for index, (who, kind, name, other, number, wait_ms) in enumerate(acts, 5):
        ts += int(wait_ms)
        peer = present[other]
        if kind == "replace":
            present[other] = f"{other} since {index}"
        author = present[other if kind == "replace" else who]
        if author in second.revoked:
            continue
        founded = sorted(teams.records)
        team = founded[int(number) % len(founded)] if founded else 3
        link = (f"link {number}", ts + DAY_MS, int(number) + 1) if int(number) else None
        act: tuple[object, ...] = {
            "found": ("found", 0, name, link, None),
            "set": ("set", team, name if int(number) else "", link, (5, ts) if link else None),
            "join": ("join", team, (f"link {number}",)),
            "leave": ("leave",),
            "remove": ("remove", peer),
            "hand": ("hand", peer),
            "revoke": ("revoke",),
            "replace": ("replace", peer),
            "withdraw": ("withdraw", team),
        }[kind]
        if kind == "withdraw" and not founded:
            continue
        try:
            apply(teams, act, index, ts, author)
            is_admitted = True
        except (RefusedError, MalformedError):
            is_admitted = False
        assert second.admit(index, ts, author, act) == is_admitted, act
        for one, record in teams.records.items():
            assert [key_of(key) for key in second.members(one)] == list(record.members)
            assert key_of(second.owner(one)) == record.owner
            assert second.settings(one)[0] == record.name
            assert second.ended(one) == record.ended
