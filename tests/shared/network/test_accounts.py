"""Members, windows and points: what the whole history leaves."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
import pytest

from tequio_shared.ids import sha256, to_text
from tequio_shared.keys import Signer
from tequio_shared.limits import NEWCOMER_WORK
from tequio_shared.network.accounts import RunAccounts
from tequio_shared.network.standing import Standing
from tequio_shared.round.documents import TRAINER, WITNESS
from tequio_shared.round.manifest import Admission, AuditRules, WindowRules
from tequio_shared.round.round import RoundPhase
from tequio_shared.statements.network import InviteOpen, MemberVouch, RoleGrant, StandingRelease
from tequio_shared.statements.runs import RoundClose, RunOpen
from tests.support.memory_swarm import Swarm
from tests.support.tiny_run import signer, tiny_manifest
from tests.support.volunteers import FailureRates, StatementDraft, Volunteer

if TYPE_CHECKING:
    from tequio_shared.ids import PeerKey

BOTH = (TRAINER, WITNESS)


def accounts(**rounds: int) -> RunAccounts:
    return RunAccounts(manifest=tiny_manifest(**rounds))


def test_slots_follow_the_order_of_becoming_ready() -> None:
    them = accounts()
    for at, name in enumerate("cab"):
        them.mark_ready(signer(name).key, BOTH, at)
    them.mark_ready(signer("c").key, BOTH, 9)  # said again: keeps its place
    assert them.active() == [signer(name).key for name in "cab"]
    them.deactivate(signer("c").key)
    them.mark_ready(signer("c").key, BOTH, 10)
    assert them.active() == [signer(name).key for name in "abc"]


def test_a_roster_has_no_more_members_than_the_manifest_allows() -> None:
    them = accounts(most_members=2)
    for at, name in enumerate("abc"):
        them.mark_ready(signer(name).key, BOTH, at)
    assert len(them.plan_roster(0).members) == 2
    assert sum(TRAINER in roles for roles in them.next_members(0).values()) == 2


@pytest.mark.parametrize("first", [(TRAINER,), (WITNESS,)])
def test_a_full_roster_keeps_places_for_the_trainers_and_witnesses_that_a_round_needs(
    first: tuple[str, ...],
) -> None:
    them = accounts(most_members=5, min_members=2)
    last = tuple(role for role in BOTH if role not in first)
    for at in range(9):
        them.mark_ready(signer(f"m{at}").key, first if at < 6 else last, at)
    chosen = them.next_members(0)
    roles = list(chosen.values())
    assert roles.count((TRAINER,)) == 2
    assert roles.count((WITNESS,)) == 3, "most_members less min_members"
    assert list(chosen) == [key for key in them.active() if key in chosen]
    assert them.has_members(0, 2)


def test_suspected_members_in_all_places_keep_no_witness_out() -> None:
    swarm = Swarm(manifest=tiny_manifest(most_members=4, most=9))
    for at in range(6):
        one = swarm.volunteer(f"m{at}")
        swarm.post(one, one.ready(swarm.view))
        wanted = Standing.SUSPECTED if at < 4 else Standing.ACTIVE
        swarm.standings.records[one.key].standing = wanted
    swarm.run_rounds(2)
    assert swarm.view.closed == 2


def test_witnesses_without_a_trainer_get_no_windows() -> None:
    them = accounts()
    them.mark_ready(signer("a").key, (WITNESS,), 0)
    them.mark_ready(signer("b").key, BOTH, 1)
    assert [one.share for one in them.plan_roster(0).members] == [0, 3]


def test_a_run_notes_what_each_head_took_and_who_ever_had_a_slot() -> None:
    swarm = Swarm()
    members = {swarm.volunteer(f"v{at}").key for at in range(3)}
    swarm.run_rounds(3)
    late = swarm.volunteer("late")
    them = swarm.view.accounts
    assert them is not None
    said = [one.statement for one in swarm.entries]
    (opened,) = [one.ts for one in said if isinstance(one.body, RunOpen)]
    closed = {one.round or 0: one.ts - opened for one in said if isinstance(one.body, RoundClose)}
    assert {number: one.ms for number, one in them.trained.items()} == closed
    spent = [one.tokens for one in them.trained.values()]
    assert spent == sorted(set(spent))
    assert spent[-1] == them.tokens > spent[0] > 0
    assert them.rostered == members
    assert late.key not in them.rostered


def test_planning_hands_nothing_out() -> None:
    them = accounts()
    them.mark_ready(signer("a").key, BOTH, 0)
    assert them.plan_roster(0) == them.plan_roster(0)
    them.assign_windows(them.plan_roster(0))
    assert them.queue.fresh == 3


def test_who_left_is_paid_for_what_it_did() -> None:
    swarm = Swarm()
    for name in "abc":
        swarm.volunteer(name)
    leaver = swarm.volunteer("leaver", FailureRates(leaving=0))
    while swarm.view.round is None or swarm.view.round.phase is not RoundPhase.WITNESS:
        assert swarm.step()
    leaver.failure_rates = FailureRates(leaving=100)
    swarm.run_rounds(1)
    books = swarm.view.accounts
    assert books is not None
    assert books.earned[leaver.key].trainer > 0


def test_verified_speed_shapes_the_next_share() -> None:
    swarm = Swarm()
    for name in "abc":
        peer = to_text(swarm.volunteer(name).key)
        swarm.organise(StandingRelease(peer=peer, reason=0))  # newcomers get small shares
    shares = []
    for number in (1, 2, 3):
        swarm.run_rounds(number)
        assert swarm.view.round is not None
        shares.append([one.share for one in swarm.view.round.roster.members])
    assert shares == [[3] * 3, [4] * 3, [8] * 3]  # whole steps, and at most twice as many


def shares_after(repeated: dict[str, int], standing: dict[str, Standing]) -> dict[str, int]:
    """Next shares of keys that could do any number of windows, and had that many repeated."""
    rules = msgspec.structs.replace(
        tiny_manifest(),
        audit=AuditRules(unproven_bp=5_000, others_bp=500),
        windows=WindowRules(samples=50_000, tokens=3_200_000, first=4, most=1_000),
    )
    them = RunAccounts(manifest=rules)
    for at, (name, windows) in enumerate(repeated.items()):
        key = signer(name).key
        them.mark_ready(key, BOTH, at)
        them.standings.register(key, at).standing = standing.get(name, Standing.ACTIVE)
        them.members[key].repeated = windows
        them.members[key].paces = [(2_000, 1)]
    shares = {member.key: member.share for member in them.plan_roster(0).members}
    return {name: shares[signer(name).key] for name in repeated}


def test_a_newcomers_share_grows_with_what_was_repeated_of_its_own_work() -> None:
    new = dict.fromkeys("abc", Standing.NEWCOMER)
    assert shares_after({"a": 0, "b": 4, "c": 32}, new) == {"a": 4, "b": 8, "c": 64}


def test_a_proven_keys_share_grows_with_what_was_repeated_of_a_quarter() -> None:
    repeated = {"a": 200, "b": 100, "c": 30, "d": 0, "e": 0, "f": 0, "g": 0, "h": 8}
    standing = {
        "d": Standing.NEWCOMER,
        "e": Standing.SUSPECTED,
        "f": Standing.PROBATION,
        "g": Standing.ACTIVE,
    }
    shares = shares_after(repeated, standing)
    assert shares == {"a": 400, "b": 200, "c": 60, "d": 4, "e": 4, "f": 4, "g": 60, "h": 60}


@pytest.mark.parametrize(
    ("tokens", "repeated", "standing", "is_unproven"),
    [
        (10 * NEWCOMER_WORK, 10, Standing.ACTIVE, False),
        (10 * NEWCOMER_WORK - 1, 10, Standing.ACTIVE, True),
        (10 * NEWCOMER_WORK, 9, Standing.ACTIVE, True),
        (10 * NEWCOMER_WORK, 10, Standing.NEWCOMER, True),
        (10 * NEWCOMER_WORK, 10, Standing.SUSPECTED, True),
    ],
)
def test_work_is_audited_like_a_newcomers_until_its_author_has_shown_as_much(
    tokens: int, repeated: int, standing: Standing, *, is_unproven: bool
) -> None:
    them, key = accounts(), signer("a").key
    them.mark_ready(key, BOTH, 0)
    them.standings.register(key, 0).standing = standing
    window = them.manifest.windows.tokens
    them.members[key].tokens, them.members[key].repeated = tokens * window, repeated
    assert them._is_unproven(key, 10 * window) is is_unproven  # noqa: SLF001 - without a round


def test_a_run_of_which_all_places_are_for_trainers_keeps_one_for_a_witness() -> None:
    them = accounts(most_members=2, min_members=2)
    for at in range(4):
        them.mark_ready(signer(f"m{at}").key, (TRAINER,) if at < 3 else (WITNESS,), at)
    assert sorted(them.next_members(0).values()) == [(TRAINER,), (WITNESS,)]


def test_who_left_or_is_out_cannot_judge_an_audit() -> None:
    them, key = accounts(), signer("a").key
    them.mark_ready(key, BOTH, 0)
    record = them.standings.register(key, 0)
    present = [them._is_present(key)]  # noqa: SLF001 - without a round
    record.standing = Standing.QUARANTINED
    present.append(them._is_present(key))  # noqa: SLF001 - as above
    record.standing = Standing.ACTIVE
    them.deactivate(key)
    present.append(them._is_present(key))  # noqa: SLF001 - as above
    assert present == [True, False, False]


def test_where_all_are_suspected_they_are_the_witnesses() -> None:
    them = accounts()
    for at, name in enumerate("abcd"):
        them.mark_ready(signer(name).key, BOTH, at)
        them.standings.register(signer(name).key, at).standing = Standing.SUSPECTED
    assert set(them.next_members(0).values()) == {BOTH}
    them.standings.records[signer("d").key].standing = Standing.ACTIVE
    assert [WITNESS in roles for roles in them.next_members(0).values()] == [False] * 3 + [True]


@pytest.mark.parametrize(
    ("lots_index", "active", "witnesses"),
    [
        (None, "abcdef", "abcdef"),
        (4, "abcdef", "abcd"),
        (3, "abcdef", "abcdef"),
        (4, "abcf", "abcf"),
        (4, "abf", "abcdf"),
        (2, "bef", "abef"),
        (1, "bf", "abcdef"),
        (0, "abcdef", "abcdef"),
    ],
)
def test_a_key_that_came_after_the_last_lots_witnesses_only_where_others_are_few(
    lots_index: int | None, active: str, witnesses: str
) -> None:
    them, roles = accounts(), {}
    for at, name in enumerate("abcdef"):
        key = signer(name).key
        them.mark_ready(key, BOTH, 20 - at)
        record = them.standings.register(key, at)
        record.standing = Standing.ACTIVE if name in active else Standing.NEWCOMER
        roles[key] = name
    them.lots_index = lots_index
    chosen = them.next_members(0)
    assert "".join(roles[key] for key in roles if WITNESS in chosen[key]) == witnesses
    assert len(chosen) == 6, "all train"


@pytest.mark.parametrize("owners", [1, 2])
def test_work_that_only_its_owner_could_repeat_counts_as_repeated(owners: int) -> None:
    swarm = guarded(AuditRules(unproven_bp=0, others_bp=0))
    for at in range(4):
        guest(swarm, f"member {at}", LINKS[at % owners])
    trainer = Volunteer("trainer", swarm.arithmetic, roles=(TRAINER,))  # who audits nobody
    swarm.join(trainer, invitation=LINKS[2])
    swarm.run_rounds(1)
    them = swarm.view.accounts
    done = {key: one.tokens // swarm.manifest.windows.tokens for key, one in them.members.items()}
    assert all(done.values())
    repeated = {key: one.repeated for key, one in them.members.items()}
    assert repeated == (done if owners == 1 else dict.fromkeys(done, 0)) | {trainer.key: 0}


def test_one_key_alone_raises_nobodys_share() -> None:
    assert shares_after({"a": 200, "b": 0, "c": 0}, {}) == {"a": 400, "b": 4, "c": 4}
    assert shares_after({"a": 200, "b": 100}, {}) == {"a": 400, "b": 200}
    assert shares_after({"a": 200}, {}) == {"a": 400}


# --- tiers and owners

LINKS = tuple(Signer(bytes([number]) * 32) for number in (51, 52, 53))
FOR_EVER = 2**52


def guarded(audits: AuditRules | None = None, **rules: int) -> Swarm:
    """A swarm under those rules of admission, with an invitation of many uses for each link."""
    manifest = msgspec.structs.replace(tiny_manifest(most=60), admission=Admission(**rules))
    swarm = Swarm(manifest if audits is None else msgspec.structs.replace(manifest, audit=audits))
    for link in LINKS:
        body = InviteOpen(invitation=to_text(link.key), uses=9, until=FOR_EVER, run="")
        swarm.organise(body)
    return swarm


def guest(swarm: Swarm, name: str, link: Signer | None = None) -> Volunteer:
    one = Volunteer(name, swarm.arithmetic, seed=swarm.seed)
    swarm.join(one, invitation=link)
    return one


def roles_in_roster(swarm: Swarm) -> dict[PeerKey, tuple[str, ...]]:
    assert swarm.view.round is not None
    return {member.key: member.roles for member in swarm.view.round.roster.members}


def test_who_is_not_of_the_least_tier_has_no_slot() -> None:
    swarm = guarded(trainer_tier=2, witness_tier=2)
    inside = {guest(swarm, name, LINKS[0]).key for name in "abc"}
    guest(swarm, "stranger")
    swarm.run_rounds(2)
    assert roles_in_roster(swarm).keys() == inside


def test_the_anonymous_train_where_only_the_invited_witness() -> None:
    swarm = guarded(witness_tier=2)
    inside = {guest(swarm, name, LINKS[0]).key for name in "abc"}
    stranger = guest(swarm, "stranger")
    swarm.run_rounds(2)
    assert roles_in_roster(swarm) == dict.fromkeys(inside, BOTH) | {stranger.key: (TRAINER,)}


def test_one_owner_has_no_more_slots_than_the_manifest_allows() -> None:
    swarm = guarded(owner_slots=2)
    crowd = [guest(swarm, f"crowd {at}", LINKS[0]).key for at in range(5)]
    others = {guest(swarm, name, link).key for name, link in zip("ab", LINKS[1:], strict=True)}
    alone = guest(swarm, "alone").key
    swarm.run_rounds(3)
    present = roles_in_roster(swarm).keys()
    assert len(present & set(crowd)) == 2
    assert present > others | {alone}


def test_one_owner_witnesses_in_no_more_seats_than_the_manifest_allows() -> None:
    swarm = guarded(owner_seats=1)
    crowd = [guest(swarm, f"crowd {at}", LINKS[0]).key for at in range(5)]
    others = {guest(swarm, name).key for name in "abc"}
    swarm.run_rounds(12)
    assert {swarm.standings.of(key) for key in crowd} == {Standing.ACTIVE}
    roles = roles_in_roster(swarm)
    assert sum(WITNESS in roles[key] for key in crowd) == 1
    assert {key for key in others if WITNESS in roles[key]} == others
    assert swarm.view.round is not None
    elected = {swarm.view.round.roster.members[slot].key for slot in swarm.view.round.elected}
    assert len(elected & set(crowd)) <= 1


def test_seats_go_to_the_proven_keys_of_an_owner_and_newcomers_fill_what_is_short() -> None:
    swarm = guarded(owner_seats=1)
    first = guest(swarm, "first", LINKS[0])
    others = [guest(swarm, name) for name in "ab"]
    swarm.run_rounds(11)
    late = [guest(swarm, "late", LINKS[0]), guest(swarm, "newcomer")]
    swarm.run_rounds(15)
    roles = roles_in_roster(swarm)
    seated = {key for key in roles if WITNESS in roles[key]}
    assert seated == {first.key, late[1].key, *(one.key for one in others)}


def test_a_vouch_that_ends_takes_the_slot_with_it() -> None:
    swarm = guarded(trainer_tier=1, witness_tier=1)
    connector = guest(swarm, "connector", LINKS[0])
    guest(swarm, "other", LINKS[1])
    one = guest(swarm, "one")
    peer = to_text(connector.key)
    swarm.organise(RoleGrant(peer=peer, role="connector", until=FOR_EVER))
    end = swarm.now_ms + 120_000
    body = MemberVouch(peer=to_text(one.key), owner=to_text(sha256(b"account")), until=end)
    swarm.post(connector, StatementDraft(body))
    swarm.run_rounds(1)
    assert one.key in roles_in_roster(swarm)
    while swarm.now_ms < end or swarm.view.round is None or swarm.view.rostered_ms < end:
        assert swarm.step()
    assert one.key not in roles_in_roster(swarm)
    swarm.replay()


def test_an_invitation_to_another_run_counts_for_nothing_here() -> None:
    swarm = guarded(trainer_tier=2, witness_tier=2)
    text = to_text(sha256(b"another run"))
    link = Signer(bytes([54]) * 32)
    swarm.organise(InviteOpen(invitation=to_text(link.key), uses=1, until=FOR_EVER, run=text))
    elsewhere = guest(swarm, "elsewhere", link)
    inside = {guest(swarm, name, LINKS[0]).key for name in "ab"}
    swarm.run_rounds(1)
    assert elsewhere.key not in roles_in_roster(swarm)
    assert roles_in_roster(swarm).keys() == inside


def test_without_rules_nobody_asks_who_is_behind_a_key() -> None:
    rules = tiny_manifest()
    assert rules.admits == Admission()
    assert b"admission" not in rules.encode()
    swarm = guarded()
    crowd = {guest(swarm, f"crowd {at}", LINKS[0]).key for at in range(5)}
    swarm.run_rounds(1)
    assert roles_in_roster(swarm) == dict.fromkeys(crowd, BOTH)
