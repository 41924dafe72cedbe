"""Public names: spelling, comparison, and who has which."""

from __future__ import annotations

import pytest

from tequio_shared.errors import MalformedError, RefusedError
from tequio_shared.keys import Signer
from tequio_shared.limits import NAME_HOLD_MS
from tequio_shared.names import NameRegistry, check_name, clean_name, same_as
from tests.support.attack_table import attack

ONE, TWO, THREE = (Signer(bytes([at]) * 32).key for at in (1, 2, 3))
NOW = 1_700_000_000_000


@pytest.mark.parametrize(
    "name",
    [
        *("Ana", "ana_2", "Ana Sof\u00eda-2", "x7", "7x", "a" * 32, "\u00d8re \u0141ukasz"),
        *(
            "\u03a3\u03bf\u03c6\u03af\u03b1",
            "\u0416\u0435\u043d\u044f 7",
            "\u05e0\u05d5\u05e2\u05d4",
        ),
        *(
            "\u0645\u0631\u064a\u0645",
            "\u0905\u0928\u093e",
            "\u5c71\u7530\u30bf\u30ed\u30a6",
            "\ubbfc\uc900",
        ),
    ],
)
def test_a_plain_name_is_allowed(name: str) -> None:
    check_name(name)


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("a", "1 character:"),
        ("a" * 33, "33 characters"),
        ("1234", "no letter"),
        (" ana", "only between"),
        ("ana ", "only between"),
        ("ana  sofia", "only between"),
        ("ana-_b", "only between"),
        ("-ana", "only between"),
        ("\u093e\u0905", "only between"),
        ("ana!", "'!' is not a letter"),
        ("ana\nb", "is not a letter"),
        ("ana\u202eb", "is not a letter"),
        ("ana\u200db", "is not a letter"),
        ("\U0001f600\U0001f600", "is not a letter"),
        ("an\u0430", "mixes Cyrillic and Latin"),
        ("ana\u3042", "mixes Chinese or Japanese and Latin"),
        ("\u0133sbeer", "unusual form: type it as 'ijsbeer'"),
        ("a\u0301na", "is not a letter"),
    ],
)
def test_any_other_name_is_refused_with_the_reason(name: str, why: str) -> None:
    with pytest.raises(MalformedError, match=why):
        check_name(name)


@pytest.mark.parametrize(
    ("typed", "name"),
    [
        ("  Jose\u0301  Luis ", "Jos\u00e9 Luis"),
        ("\u0418\u0306\u043e\u0440\u0438\u043a", "\u0419\u043e\u0440\u0438\u043a"),
        ("\u1106\u1175\u11ab\u110c\u116e\u11ab", "\ubbfc\uc900"),
        ("\u0133sbeer", "ijsbeer"),
        ("ana!", "ana!"),
        (" \t", ""),
    ],
)
def test_a_typed_name_is_composed(typed: str, name: str) -> None:
    assert clean_name(typed) == name


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Ana Sofia", "ana-sofia"),
        ("Ana Sofia", "ANASOF\u00cdA"),
        ("Bill", "BI11"),
        ("Oscar", "0scar"),
        ("Stra\u00dfe", "strasse"),
        ("cop", "\u0441\u043e\u0440"),
        ("TOM", "\u03a4\u039f\u039c"),
        ("\u03a3\u03bf\u03c6\u03af\u03b1", "\u03c3\u03bf\u03c6\u03b9\u03b1"),
        ("pet", "pe\u0167"),
        ("\u0643\u062a\u0627\u0628", "\u06a9\u062a\u0627\u0628"),
        ("\u0639\u0644\u064a", "\u0639\u0644\u06cc"),
        ("\u30ed\u30dc", "\u53e3\u30dc"),
        ("\u30ab\u30cb", "\u529b\u4e8c"),
        ("\u3079\u3078", "\u30d9\u30d8"),
    ],
)
@attack("T5", layer="adm", ends="refused as `name-taken`: one form for letters that look alike")
def test_names_that_look_alike_are_one(one: str, other: str) -> None:
    check_name(one)
    check_name(other)
    assert same_as(one) == same_as(other)


@pytest.mark.parametrize(("one", "other"), [("ana", "anna"), ("\u304b\u3044", "\u304c\u3044")])
def test_other_names_are_not(one: str, other: str) -> None:
    assert same_as(one) != same_as(other)


def refusal(names: NameRegistry, key: bytes, name: str, ts: int = NOW) -> str:
    with pytest.raises(RefusedError) as caught:
        names.claim(99, ts, key, name)  # type: ignore[arg-type]  # a key
    return f"{caught.value.code}: {caught.value}"


def test_the_first_claim_wins() -> None:
    names = NameRegistry()
    assert (names.of(ONE), names.holder("Ana")) == ("", None)
    names.claim(1, NOW, ONE, "Ana")
    assert "name-taken" in refusal(names, TWO, "\u00c1na")
    assert (names.of(ONE), names.of(TWO), names.holder("ana")) == ("Ana", "", ONE)


def test_a_former_name_is_reserved_for_a_while() -> None:
    names = NameRegistry()
    names.claim(1, NOW, ONE, "Ana")
    names.claim(2, NOW + 5, ONE, "Bea")
    end = NOW + 5 + NAME_HOLD_MS
    held = refusal(names, TWO, "Ana", end - 1)
    assert held.startswith("name-held")
    assert "1 day more" in held
    assert names.holder("Ana") is None
    names.claim(3, end, TWO, "Ana")
    assert (names.of(ONE), names.of(TWO), names.holder("Ana")) == ("Bea", "Ana", TWO)


def test_a_key_with_a_reserved_name_cannot_change_again() -> None:
    names = NameRegistry()
    names.claim(1, NOW, ONE, "Ana")
    names.claim(2, NOW, ONE, "Bea")
    assert "name-held" in refusal(names, ONE, "Cleo", NOW + NAME_HOLD_MS - 1)
    names.claim(3, NOW, ONE, "BEA")  # the spelling alone
    assert (names.of(ONE), names.holder("bea")) == ("BEA", ONE)
    names.claim(4, NOW + NAME_HOLD_MS, ONE, "Cleo")
    names.claim(5, NOW + NAME_HOLD_MS, TWO, "Ana")  # no longer reserved
    assert "name-held" in refusal(names, THREE, "Bea", NOW + NAME_HOLD_MS)


def test_a_name_can_be_given_up() -> None:
    names = NameRegistry()
    names.claim(1, NOW, ONE, "Ana")
    names.claim(2, NOW, ONE, "")
    assert (names.of(ONE), names.holder("Ana")) == ("", None)
    assert "already-said" in refusal(names, ONE, "")
    assert "name-held" in refusal(names, TWO, "Ana")
    names.claim(3, NOW + NAME_HOLD_MS, TWO, "Ana")
    names.claim(4, NOW + NAME_HOLD_MS, ONE, "Bea")
    assert names.holder("Ana") == TWO


def test_the_same_name_again_is_refused() -> None:
    names = NameRegistry()
    names.claim(1, NOW, ONE, "Ana")
    assert "already-said" in refusal(names, ONE, "Ana")
    assert "already-said" in refusal(names, TWO, "")


def test_a_successor_has_the_name_and_the_reservation() -> None:
    names = NameRegistry()
    names.claim(1, NOW, ONE, "Ana")
    names.claim(2, NOW, ONE, "Bea")
    names.replace(ONE, TWO)
    names.replace(THREE, ONE)  # a key without a name
    assert (names.of(ONE), names.of(TWO), names.holder("Bea")) == ("", "Bea", TWO)
    assert "name-held" in refusal(names, TWO, "Cleo")
    assert "name-held" in refusal(names, THREE, "Ana")
    assert "name-taken" in refusal(names, THREE, "Bea")


def test_a_name_that_somebody_else_took_since_stays_theirs() -> None:
    names = NameRegistry()
    names.claim(1, NOW, ONE, "Ana")
    names.claim(2, NOW, ONE, "Bea")
    later = NOW + NAME_HOLD_MS
    names.claim(3, later, TWO, "Ana")
    names.claim(4, later, ONE, "Cleo")
    names.replace(ONE, THREE)
    assert (names.holder("Ana"), names.holder("Cleo")) == (TWO, THREE)


@pytest.mark.parametrize("ends", ["replaced", "withdrawn"])
def test_who_loses_a_name_does_not_take_the_former_one_from_somebody_else(ends: str) -> None:
    names = NameRegistry()
    names.claim(1, NOW, ONE, "Ana")
    names.claim(2, NOW, ONE, "Bea")
    names.claim(3, NOW + NAME_HOLD_MS, TWO, "Ana")
    if ends == "replaced":
        names.replace(ONE, THREE)
    else:
        names.withdraw(4, ONE)
    assert (names.holder("Ana"), names.of(TWO)) == (TWO, "Ana")
    assert "name-taken" in refusal(names, ONE, "Ana", NOW + NAME_HOLD_MS)


def test_a_key_whose_name_was_withdrawn_reserves_nothing() -> None:
    names = NameRegistry()
    names.claim(1, NOW, ONE, "Ana")
    names.claim(2, NOW, ONE, "Bea")
    names.withdraw(3, ONE)
    names.replace(ONE, TWO)
    assert (names.holder("Ana"), names.holder("Bea")) == (None, None)
    names.claim(4, NOW, THREE, "Ana")
    assert "name-held" in refusal(names, TWO, "Bea")
