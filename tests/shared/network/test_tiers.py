"""Tiers and owners: what invitations and connectors make of a key."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tequio_shared.errors import RefusedError
from tequio_shared.ids import Digest, PeerKey, RunId, sha256, to_text
from tequio_shared.keys import Signer
from tequio_shared.network.tiers import Tier, TierGrant, Tiers, owner_of
from tequio_shared.statements.network import (
    InviteClose,
    InviteOpen,
    InviteRevoke,
    MemberVouch,
    RoleGrant,
    RoleRevoke,
)
from tests.support.authors import Author
from tests.support.statements import NET, RUN, example

if TYPE_CHECKING:
    from tequio_shared.statements.statement import Body

LINK, OTHER_LINK = Signer(bytes([21]) * 32), Signer(bytes([22]) * 32)
OTHER_RUN = RunId(sha256(b"other run"))
START, END = 1_000_000, 2_000_000
ACCOUNT, OTHER_ACCOUNT = sha256(b"account"), sha256(b"other account")


class TierFold:
    """Tiers and registered keys; chains and signatures are tested elsewhere."""

    def __init__(self) -> None:
        self.founder = Author("founder", NET)
        self.connector = Author("connector", NET)
        self.registered: dict[PeerKey, int] = {}
        self.tiers = Tiers(registered=self.registered, founders=frozenset({self.founder.key}))
        self.registered[self.founder.key] = 0
        self.index = 1

    def says(self, author: Author, body: Body, ts: int = START) -> None:
        """Take a statement about tiers."""
        self.tiers.apply(self.index, author.sign(body, ts).statement)
        self.index += 1

    def joins(self, name: str, *links: Signer, ts: int = START) -> PeerKey:
        """Register a key under invitations; return it."""
        author = Author(name, NET)
        entry = author.sign(example("key.register"), ts, *links)
        self.tiers.register(self.index, entry)
        self.registered[author.key] = self.index
        self.index += 1
        return author.key

    def invites(self, link: Signer = LINK, uses: int = 2, run: RunId | None = None) -> None:
        """Open an invitation."""
        text = "" if run is None else to_text(run)
        body = InviteOpen(invitation=to_text(link.key), uses=uses, until=END, run=text)
        self.says(self.founder, body)

    def grants(self, connector: Author, until: int = END) -> None:
        """Make a key a connector."""
        body = RoleGrant(peer=to_text(connector.key), role="connector", until=until)
        self.says(self.founder, body)

    def vouches(
        self, peer: PeerKey, account: Digest = ACCOUNT, by: Author | None = None, until: int = END
    ) -> None:
        """Let a connector vouch."""
        body = MemberVouch(peer=to_text(peer), owner=to_text(account), until=until)
        self.says(by or self.connector, body)

    def of(self, key: PeerKey, run: RunId = RUN, ts: int = START) -> tuple[Tier, bytes]:
        """Tier and owner."""
        found = self.tiers.of(key, run, ts)
        return found.tier, found.owner


@pytest.fixture
def book() -> TierFold:
    return TierFold()


@pytest.fixture
def vouching(book: TierFold) -> TierFold:
    book.joins("connector")
    book.grants(book.connector)
    return book


def refused(code: str) -> pytest.RaisesExc[RefusedError]:
    return pytest.raises(RefusedError, check=lambda err: err.code == code)


# --- what a key is without anybody's word


def test_a_key_is_anonymous_and_its_own_owner(book: TierFold) -> None:
    key = book.joins("a")
    assert book.of(key) == (Tier.ANONYMOUS, key)
    assert book.tiers.highest(key) == TierGrant(tier=Tier.ANONYMOUS, owner=Digest(key))


def test_the_keys_of_the_genesis_are_invited_and_their_own(book: TierFold) -> None:
    key = book.founder.key
    assert book.of(key) == (Tier.INVITED, key)


# --- invitations


def test_an_invitation_lets_in_as_many_as_it_says_and_owns_them(book: TierFold) -> None:
    book.invites(uses=2)
    them = [book.joins(name, LINK) for name in "ab"]
    assert [book.of(key) for key in them] == [(Tier.INVITED, LINK.key)] * 2
    with refused("invitation-spent"):
        book.joins("c", LINK)
    assert book.tiers.invitations[LINK.key].used == 2


def test_an_invitation_ends_at_its_time(book: TierFold) -> None:
    book.invites()
    early = book.joins("early", LINK, ts=END - 1)
    with refused("invitation-ended"):
        book.joins("late", LINK, ts=END)
    assert book.of(early, ts=END + 1) == (Tier.INVITED, LINK.key)


def test_a_closed_invitation_lets_nobody_in_and_throws_nobody_out(book: TierFold) -> None:
    book.invites()
    inside = book.joins("inside", LINK)
    book.says(book.founder, InviteClose(invitation=to_text(LINK.key)))
    with refused("invitation-ended"):
        book.joins("outside", LINK)
    assert book.of(inside) == (Tier.INVITED, LINK.key)
    with refused("wrong-invitation"):
        book.says(book.founder, InviteClose(invitation=to_text(LINK.key)))


@pytest.mark.parametrize("was_closed", [True, False])
def test_a_revoked_invitation_let_nobody_in(vouching: TierFold, *, was_closed: bool) -> None:
    vouching.invites()
    vouching.invites(OTHER_LINK)
    key, vouched = (vouching.joins(name, LINK) for name in ("guest", "vouched"))
    other = vouching.joins("other", OTHER_LINK)
    vouching.vouches(vouched)
    if was_closed:
        vouching.says(vouching.founder, InviteClose(invitation=to_text(LINK.key)))
    body = InviteRevoke(invitation=to_text(LINK.key))
    vouching.says(vouching.founder, body)
    assert set(vouching.tiers.subjects(vouching.founder.sign(body, START))) == {key, vouched}
    assert vouching.of(key) == (Tier.ANONYMOUS, key)
    assert vouching.of(vouched) == (Tier.VOUCHED, owner_of(vouching.connector.key, ACCOUNT))
    assert vouching.of(other) == (Tier.INVITED, OTHER_LINK.key)
    with refused("invitation-ended"):
        vouching.joins("late", LINK)
    for again in (body, InviteClose(invitation=to_text(LINK.key))):
        with refused("wrong-invitation"):
            vouching.says(vouching.founder, again)
    with refused("wrong-invitation"):
        vouching.says(vouching.founder, InviteRevoke(invitation=to_text(sha256(b"unknown"))))


def test_an_invitation_to_a_run_counts_in_that_run(vouching: TierFold) -> None:
    vouching.invites(run=RUN)
    key = vouching.joins("a", LINK)
    assert vouching.of(key, RUN) == (Tier.INVITED, LINK.key)
    assert vouching.of(key, OTHER_RUN) == (Tier.ANONYMOUS, key)
    vouching.vouches(key)
    account = owner_of(vouching.connector.key, ACCOUNT)
    assert vouching.of(key, RUN) == (Tier.INVITED, LINK.key)
    assert vouching.of(key, OTHER_RUN) == (Tier.VOUCHED, account)


def test_nobody_is_let_in_under_an_invitation_that_the_log_does_not_have(book: TierFold) -> None:
    with refused("not-admitted"):
        book.joins("a", LINK)


def test_a_registration_bears_one_invitation(book: TierFold) -> None:
    book.invites(LINK)
    book.invites(OTHER_LINK)
    with refused("wrong-invitation"):
        book.joins("a", LINK, OTHER_LINK)


def test_the_key_of_an_invitation_is_new_and_never_registered(book: TierFold) -> None:
    known = Author("known", NET)
    book.joins("known")
    with refused("wrong-invitation"):
        book.invites(known.signer)
    book.invites(LINK)
    with refused("wrong-invitation"):
        book.invites(LINK)
    book.invites(Author("guest", NET).signer)
    with refused("wrong-invitation"):
        book.joins("guest")


# --- connectors


def test_a_vouch_names_an_owner_until_its_end(vouching: TierFold) -> None:
    key = vouching.joins("a")
    vouching.vouches(key)
    account = owner_of(vouching.connector.key, ACCOUNT)
    assert vouching.of(key, ts=END - 1) == (Tier.VOUCHED, account)
    assert vouching.of(key, ts=END) == (Tier.ANONYMOUS, key)


def test_equal_accounts_are_one_owner_and_others_are_not(vouching: TierFold) -> None:
    one, two, three = (vouching.joins(name) for name in "abc")
    for key, account in ((one, ACCOUNT), (two, ACCOUNT), (three, OTHER_ACCOUNT)):
        vouching.vouches(key, account)
    owners = [vouching.of(key)[1] for key in (one, two, three)]
    assert owners[0] == owners[1] != owners[2]


def test_a_connector_cannot_speak_of_the_accounts_of_another(vouching: TierFold) -> None:
    other = Author("other connector", NET)
    vouching.joins("other connector")
    vouching.grants(other)
    mine, theirs = vouching.joins("mine"), vouching.joins("theirs")
    vouching.vouches(mine)
    vouching.vouches(theirs, ACCOUNT, by=other)
    assert vouching.of(mine)[1] != vouching.of(theirs)[1]


def test_the_last_vouch_counts_and_can_take_the_word_back(vouching: TierFold) -> None:
    key = vouching.joins("a")
    vouching.vouches(key)
    vouching.vouches(key, OTHER_ACCOUNT)
    assert vouching.of(key)[1] == owner_of(vouching.connector.key, OTHER_ACCOUNT)
    revoke = RoleRevoke(peer=to_text(vouching.connector.key), role="connector")
    entry = vouching.founder.sign(revoke, START)
    for until in (0, START):
        vouching.vouches(key)
        assert set(vouching.tiers.subjects(entry)) == {key}
        vouching.vouches(key, until=until)
        assert vouching.of(key) == (Tier.ANONYMOUS, key)
        assert set(vouching.tiers.subjects(entry)) == set(), "no word of it is left to revoke"


@pytest.fixture
def liar(vouching: TierFold) -> Author:
    author = Author("lying connector", NET)
    vouching.joins("lying connector")
    vouching.grants(author)
    return author


def test_a_connector_takes_back_or_replaces_its_own_word_only(
    vouching: TierFold, liar: Author
) -> None:
    keys = [vouching.joins(name) for name in "ab"]
    for key, account in zip(keys, (ACCOUNT, OTHER_ACCOUNT), strict=True):
        vouching.vouches(key, account)
    before = [vouching.of(key) for key in keys]
    for until in (0, END, 2 * END):
        for key in keys:
            vouching.vouches(key, by=liar, until=until)
        assert [vouching.of(key) for key in keys] == before, "neither gone nor of one owner"
        owners = [vouching.tiers.highest(key).owner for key in keys]
        assert owners == [owner for _, owner in before]


def test_of_several_vouches_the_earliest_counts_that_stands(
    vouching: TierFold, liar: Author
) -> None:
    key = vouching.joins("a")
    mine, theirs = (owner_of(one.key, ACCOUNT) for one in (vouching.connector, liar))
    vouching.vouches(key, until=START + 10)
    vouching.vouches(key, by=liar)
    assert vouching.of(key) == (Tier.VOUCHED, mine)
    assert vouching.of(key, ts=START + 10) == (Tier.VOUCHED, theirs), "the earlier one is over"
    assert vouching.tiers.highest(key).until == END
    vouching.vouches(key)
    assert vouching.of(key) == (Tier.VOUCHED, mine), "said again before its end it keeps its place"
    vouching.vouches(key, OTHER_ACCOUNT)
    assert vouching.of(key) == (Tier.VOUCHED, theirs), "another owner comes last"
    revoke = RoleRevoke(peer=to_text(liar.key), role="connector")
    vouching.says(vouching.founder, revoke)
    assert vouching.of(key) == (
        Tier.VOUCHED,
        owner_of(vouching.connector.key, OTHER_ACCOUNT),
    ), "what others said is not the liar's to take away"


def test_a_vouch_said_after_its_end_or_after_a_revocation_comes_last(
    vouching: TierFold, liar: Author
) -> None:
    lapsed, revoked = vouching.joins("lapsed"), vouching.joins("revoked")
    first = vouching.connector
    vouching.vouches(lapsed, until=START + 10)
    vouching.vouches(revoked)
    for key in (lapsed, revoked):
        vouching.vouches(key, by=liar)
    body = MemberVouch(peer=to_text(lapsed), owner=to_text(ACCOUNT), until=END)
    vouching.says(first, body, START + 10)
    theirs = owner_of(liar.key, ACCOUNT)
    assert vouching.of(lapsed, ts=START + 10) == (Tier.VOUCHED, theirs)
    vouching.says(vouching.founder, RoleRevoke(peer=to_text(first.key), role="connector"))
    vouching.grants(first)
    vouching.vouches(revoked)
    assert [vouching.of(key)[1] for key in (lapsed, revoked)] == [theirs, theirs]


def test_only_a_connector_vouches_and_only_within_its_term(book: TierFold) -> None:
    key = book.joins("a")
    book.joins("connector")
    with refused("wrong-role"):
        book.vouches(key)
    book.grants(book.connector, until=START)
    with refused("wrong-role"):
        book.vouches(key)
    book.grants(book.connector, until=START + 1)
    book.vouches(key)
    assert book.of(key)[0] is Tier.VOUCHED


def test_the_vouches_of_a_connector_that_was_revoked_count_no_longer(vouching: TierFold) -> None:
    key = vouching.joins("a")
    vouching.vouches(key)
    body = RoleRevoke(peer=to_text(vouching.connector.key), role="connector")
    entry = vouching.founder.sign(body, START)
    vouching.tiers.apply(vouching.index, entry.statement)
    assert list(vouching.tiers.subjects(entry)) == [key]
    assert vouching.of(key) == (Tier.ANONYMOUS, key)
    with refused("wrong-role"):
        vouching.vouches(key)
    vouching.grants(vouching.connector)
    assert vouching.of(key) == (Tier.ANONYMOUS, key), "a new grant brings no old word back"


def test_who_is_no_connector_cannot_be_revoked(book: TierFold) -> None:
    with refused("wrong-grant"):
        book.says(book.founder, RoleRevoke(peer=to_text(LINK.key), role="connector"))


def test_nobody_vouches_for_a_key_that_is_not_registered(vouching: TierFold) -> None:
    with refused("not-found"):
        vouching.vouches(Author("nobody", NET).key)


def test_what_is_refused_changes_nothing(vouching: TierFold) -> None:
    vouching.invites(uses=1)
    vouching.joins("first", LINK)
    before = vouching.tiers.invitations[LINK.key].used
    with refused("invitation-spent"):
        vouching.joins("second", LINK)
    second = Author("second", NET).key
    assert vouching.tiers.invitations[LINK.key].used == before
    assert vouching.of(second) == (Tier.ANONYMOUS, second)


# --- bytes


def test_the_bytes_of_a_vouch_and_of_an_owner_are_these() -> None:
    ones, twos = to_text(bytes([1]) * 32), to_text(bytes([2]) * 32)
    author = Author("connector", NET)
    body = MemberVouch(peer=ones, owner=twos, until=END)
    raw = author.sign(body, START).statement.raw
    assert (
        raw
        == (
            f'{{"author":"{to_text(author.key)}","body":{{"owner":"{twos}","peer":"{ones}",'
            f'"until":2000000}},"exp":1060000,"prev":"{to_text(bytes(32))}","seq":1,"ts":1000000,'
            '"type":"member.vouch","v":1}'
        ).encode()
    )
    assert owner_of(PeerKey(bytes([1]) * 32), Digest(bytes([2]) * 32)).hex() == (
        "fed277d6e44b7def666b2acd87516108fd1d76a0277d8a80fe077bf1b2f4c321"
    )


def test_the_leaf_of_an_invited_registration_has_the_author_first_and_then_the_invitation() -> None:
    author = Author("guest", NET)
    leaf = author.sign(example("key.register"), START, LINK).leaf()
    assert leaf[:2] == bytes([1, 2])
    assert (leaf[2:34], leaf[98:130]) == (author.key, LINK.key)
    assert sha256(leaf).hex() == (
        "74ca3b73a6529a48b6d2a4f9c7bdd233bf9a1a02b8cd8bea8e07b9b6b912bb99"
    )
