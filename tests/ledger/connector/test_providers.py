"""GitHub and OpenID Connect over HTTP: who is believed, and what becomes of everybody else."""

from __future__ import annotations

import asyncio
import hmac
from typing import TYPE_CHECKING, TypeVar

import pytest

from tequio_ledger.connector import providers
from tequio_ledger.connector.providers import (
    KEPT_MS,
    KEYS_AGAIN_MS,
    SCOPE,
    Account,
    ClientRegistration,
    GitHub,
    OpenId,
    Pending,
    Provider,
    ProviderAwayError,
    ProviderClient,
    ProviderWrongError,
    owner,
)
from tequio_shared.errors import RefusedError
from tests.support.account_provider import CLIENT, DEVICE_CODE, NUMBER, SUBJECT, TOKEN, USER_CODE
from tests.support.attack_table import attack
from tests.support.ledgers import VirtualClock

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from tests.support.account_provider import AccountProvider

T = TypeVar("T")
KINDS = ("github", "openid")
HASTY_S = 0.3


def made(
    provider: AccountProvider, kind: str, asker: ProviderClient, clock: VirtualClock
) -> Provider:
    if kind == "github":
        return GitHub(asker, ClientRegistration(id=CLIENT), provider.url)
    return OpenId(asker, ClientRegistration(id=CLIENT, scope=SCOPE), provider.url, clock)


def ask(
    provider: AccountProvider,
    kind: str,
    question: Callable[[Provider], Awaitable[T]],
    answer_s: float = providers.ANSWER_S,
) -> T:
    """Ask a provider of that kind something, with connections of its own."""

    async def asking() -> T:
        async with providers.http_client() as http:
            return await question(
                made(provider, kind, ProviderClient(http, answer_s), VirtualClock())
            )

    return asyncio.run(asking())


def account(one: Provider) -> Awaitable[Account | Pending]:
    return one.account_of(DEVICE_CODE)


def code(one: Provider) -> Awaitable[object]:
    return one.code()


@pytest.mark.parametrize("kind", KINDS)
def test_a_code_is_had_and_an_account_when_the_person_agreed(
    provider: AccountProvider, kind: str
) -> None:
    got = ask(provider, kind, lambda one: one.code())
    assert (got.shown.user_code, got.device_code) == (USER_CODE, DEVICE_CODE)
    assert (got.shown.url, got.shown.expires_s, got.shown.interval_s) == (
        f"{provider.url}/login/device",
        900,
        1,
    )
    provider.answers.extend(["authorization_pending", "slow_down"])
    assert ask(provider, kind, account) == Pending()
    assert ask(provider, kind, account) == Pending(is_hurried=True)
    number = str(NUMBER) if kind == "github" else SUBJECT
    assert ask(provider, kind, account) == Account(provider=provider.url, number=number)
    form = next(form for path, form in provider.asked if path.endswith("access_token"))
    assert form == {
        "grant_type": "urn:ietf:params:oauth:grant-type:device_code",
        "device_code": DEVICE_CODE,
        "client_id": CLIENT,
    }


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("answer", "refusal"),
    [
        ("access_denied", "denied"),
        ("expired_token", "code-expired"),
        ("invalid_grant", "code-expired"),
    ],
)
def test_a_person_who_says_no_or_nothing_ends_it(
    provider: AccountProvider, kind: str, answer: str, refusal: str
) -> None:
    provider.answers.append(answer)
    with pytest.raises(RefusedError) as caught:
        ask(provider, kind, account)
    assert caught.value.code == refusal


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("answer", ["garbage", "list", "empty", "endless", "invalid_client"])
def test_an_answer_that_cannot_be_names_nobody(
    provider: AccountProvider, kind: str, answer: str
) -> None:
    provider.answers.append(answer)
    with pytest.raises(ProviderWrongError) as caught:
        ask(provider, kind, account)
    assert DEVICE_CODE not in str(caught.value)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("answer", ["away", "hanging"])
def test_a_provider_that_is_away_may_come_back(
    provider: AccountProvider, kind: str, answer: str
) -> None:
    provider.answers.append(answer)
    with pytest.raises(ProviderAwayError):
        ask(provider, kind, account, HASTY_S)
    assert isinstance(ask(provider, kind, account), Account)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("status", [302, 404])
def test_nobody_is_followed_elsewhere(provider: AccountProvider, kind: str, status: int) -> None:
    provider.status = status
    with pytest.raises(ProviderWrongError):
        ask(provider, kind, account)


def test_a_provider_where_nobody_listens_is_away(provider: AccountProvider) -> None:
    provider.url = "http://127.0.0.1:1"
    with pytest.raises(ProviderAwayError):
        ask(provider, "github", code)


@pytest.mark.parametrize(
    "wrong",
    [
        {"device_code": None},
        {"user_code": ""},
        {"user_code": "A\x1b[2J"},
        {"user_code": "A" * 65},
        {"verification_uri": "javascript:alert(1)"},
        {"verification_uri": "http://elsewhere.example/device"},
        {"verification_uri": None},
        {"expires_in": "soon"},
        {"expires_in": True},
        {"interval": -1},
        {"interval": []},
    ],
    ids=str,
)
def test_a_code_that_cannot_be_shown_is_not_shown(
    provider: AccountProvider, wrong: dict[str, object]
) -> None:
    provider.code = wrong
    with pytest.raises(ProviderWrongError):
        ask(provider, "github", code)


def test_times_of_a_code_are_bounded_and_the_pause_has_a_default(provider: AccountProvider) -> None:
    provider.code = {"interval": None, "expires_in": 1e30}
    got = ask(provider, "github", lambda one: one.code())
    assert (got.shown.interval_s, got.shown.expires_s) == (5, 1_800)
    provider.code = {"interval": 0, "verification_uri": None, "verification_url": "https://g.co/d"}
    got = ask(provider, "github", lambda one: one.code())
    assert (got.shown.interval_s, got.shown.url) == (1, "https://g.co/d")


# --- GitHub


@pytest.mark.parametrize("user", [{"id": "1"}, {"id": True}, {"id": 0}, {"id": 2**70}, {"x": 1}])
def test_a_user_without_a_number_is_nobody(provider: AccountProvider, user: object) -> None:
    provider.user = user
    with pytest.raises(ProviderWrongError):
        ask(provider, "github", account)


# --- OpenID Connect


@attack("A26", layer="adm", ends="the token identifies nobody: no vouch")
@pytest.mark.parametrize("how", ["other-key", "unsigned", "shared-secret"])
def test_a_token_that_the_provider_did_not_sign_names_nobody(
    provider: AccountProvider, how: str
) -> None:
    provider.answers.append(how)
    with pytest.raises(ProviderWrongError) as caught:
        ask(provider, "openid", account)
    assert SUBJECT not in str(caught.value)
    assert TOKEN not in str(caught.value)


@pytest.mark.parametrize(
    "claims",
    [
        {"aud": "another-client"},
        {"iss": "https://elsewhere.example"},
        {"exp": 1_000_000_000},
        {"exp": None},
        {"iat": None},
        {"sub": None},
        {"sub": ""},
        {"sub": "s" * 300},
        {"azp": "another-client"},
    ],
    ids=str,
)
def test_a_token_for_somebody_else_or_another_time_names_nobody(
    provider: AccountProvider, claims: dict[str, object]
) -> None:
    provider.claims = claims
    with pytest.raises(ProviderWrongError):
        ask(provider, "openid", account)


@pytest.mark.parametrize(
    "document",
    [
        {"issuer": "https://elsewhere.example"},
        {"issuer": None},
        {"device_authorization_endpoint": None},
        {"token_endpoint": "http://elsewhere.example/token"},
        {"token_endpoint": 5},
        {"jwks_uri": "file:///etc/passwd"},
        {"jwks_uri": "https://keys.example:99999"},
        {"jwks_uri": "https://xn--a.example"},
    ],
    ids=str,
)
def test_a_discovery_document_that_leads_astray_is_not_followed(
    provider: AccountProvider, document: dict[str, object]
) -> None:
    provider.discovery = document
    with pytest.raises(ProviderWrongError):
        ask(provider, "openid", code)
    assert {path for path, _ in provider.asked} == {"/.well-known/openid-configuration"}


def test_new_keys_of_a_provider_are_looked_up_but_not_for_every_token(
    provider: AccountProvider,
) -> None:
    async def scenario() -> None:
        clock = VirtualClock()
        async with providers.http_client() as http:
            one = made(provider, "openid", ProviderClient(http), clock)
            for _ in range(2):
                assert isinstance(await one.account_of(DEVICE_CODE), Account)
            assert provider.times("/keys") == 1
            provider.rotate()
            with pytest.raises(ProviderWrongError):
                await one.account_of(DEVICE_CODE)
            assert provider.times("/keys") == 1, "asked a moment ago"
            clock.pass_ms(KEYS_AGAIN_MS + 1)
            assert isinstance(await one.account_of(DEVICE_CODE), Account)
            assert provider.times("/keys") == 2
            assert provider.times("/.well-known/openid-configuration") == 1
            clock.pass_ms(KEPT_MS)
            await one.account_of(DEVICE_CODE)
            assert provider.times("/.well-known/openid-configuration") == 2

    asyncio.run(scenario())


def test_a_key_that_a_provider_has_withdrawn_proves_nothing_after_a_while(
    provider: AccountProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def scenario() -> None:
        clock = VirtualClock()
        async with providers.http_client() as http:
            one = made(provider, "openid", ProviderClient(http), clock)
            stolen = provider.identity()
            assert isinstance(await one.account_of(DEVICE_CODE), Account)
            provider.rotate()
            monkeypatch.setattr(provider, "identity", lambda _: stolen)
            clock.pass_ms(KEPT_MS)
            assert isinstance(await one.account_of(DEVICE_CODE), Account)
            clock.pass_ms(1)
            with pytest.raises(ProviderWrongError, match="not in its list"):
                await one.account_of(DEVICE_CODE)

    asyncio.run(scenario())


def test_a_secret_that_a_provider_gave_is_sent_to_it(provider: AccountProvider) -> None:
    async def scenario() -> None:
        client = ClientRegistration(id=CLIENT, secret="theirs", scope=SCOPE)  # noqa: S106 - of a test
        assert "theirs" not in repr(client)
        async with providers.http_client() as http:
            one = OpenId(ProviderClient(http), client, provider.url, VirtualClock())
            await one.code()
            await one.account_of(DEVICE_CODE)

    asyncio.run(scenario())
    forms = [form for path, form in provider.asked if path.startswith("/login")]
    assert [form["client_secret"] for form in forms] == ["theirs", "theirs"]


# --- the owner


def test_an_owner_is_the_keyed_hash_of_provider_and_number() -> None:
    secret = bytes(range(32))
    one = Account(provider="https://github.com", number="583231")
    assert owner(secret, one) == hmac.digest(secret, b"https://github.com\x00583231", "sha256")
    others = [
        Account(provider="https://github.com", number="583232"),
        Account(provider="https://github.example", number="583231"),
    ]
    names = {owner(secret, other) for other in (one, *others)} | {owner(bytes(32), one)}
    assert len(names) == 4
    assert "583231" not in repr(one)
