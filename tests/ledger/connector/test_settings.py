"""Connector settings that an operator may write, and the sample file."""

from __future__ import annotations

import pytest

from tequio_client.ledger.api import ConnectorApi
from tequio_ledger.connector.settings import CONNECTOR, ConnectorSettings, Registered
from tequio_shared.errors import UserFacingError
from tests.support.configured import of_texts


def read(**options: str) -> ConnectorSettings:
    given = {name.replace("_", "-"): text for name, text in options.items()}
    return of_texts(CONNECTOR, given)


def test_providers_are_a_client_id_and_where_it_is_from() -> None:
    found = read(
        github="Iv1.8a61f9b3a7aba766 abc@https://GitHub.example/",
        openid="1-x.apps.googleusercontent.com@https://accounts.google.com a@https://sso.example/r/1",
    )
    assert found.github == (
        Registered("Iv1.8a61f9b3a7aba766", "https://github.com"),
        Registered("abc", "https://github.example"),
    )
    assert [one.address for one in found.openid] == [
        "https://accounts.google.com",
        "https://sso.example/r/1",
    ]


def test_its_own_address_is_spelt_as_volunteers_spell_it() -> None:
    assert read(github="a").url == ""
    found = read(github="a", url="https://Connector.Example:443/net1/")
    assert found.url == "https://connector.example/net1" == ConnectorApi(found.url).url


@pytest.mark.parametrize(
    "wrong",
    [
        {},
        {"github": "a a"},
        {"github": "a@http://github.example"},
        {"openid": "a"},
        {"openid": "a@accounts.google.com"},
        {"openid": "a@https://user:pass@sso.example"},
        {"openid": "a@https://sso.example?x=1"},
        {"openid": "@https://sso.example"},
        {"github": "a", "url": "http://connector.example"},
        {"github": "a", "ledger": "ledger.example"},
    ],
    ids=str,
)
def test_what_cannot_be_is_refused(wrong: dict[str, str]) -> None:
    with pytest.raises(UserFacingError):
        read(**wrong)
