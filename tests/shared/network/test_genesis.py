"""Roles: the statements that each key may sign."""

from __future__ import annotations

import msgspec
import pytest

from tequio_shared import encoding
from tequio_shared.errors import MalformedError, RefusedError
from tequio_shared.ids import ZERO_DIGEST, to_text
from tequio_shared.keys import Signer
from tequio_shared.network.genesis import (
    COORDINATOR_BODIES,
    ORGANISER_BODIES,
    TWO_SIGNER_BODIES,
    Genesis,
    check_role,
)
from tequio_shared.statements.statement import Entry, sign
from tests.support.statements import NET, example_statement

COORDINATOR, FIRST, SECOND, STRANGER = (Signer(bytes([n]) * 32) for n in range(1, 5))


def genesis(threshold: int = 1) -> Genesis:
    return Genesis(
        name="test",
        origin="test.example/log",
        log_key="test.example/log+00000000+AA",
        coordinator=to_text(COORDINATOR.key),
        organisers=tuple(to_text(key) for key in sorted((FIRST.key, SECOND.key))),
        threshold=threshold,
        rules=to_text(ZERO_DIGEST),
        work_bits=0,
    )


@pytest.mark.parametrize("keys", [(FIRST, FIRST), (SECOND, FIRST), (FIRST, SECOND)])
def test_organisers_are_listed_in_one_order(keys: tuple[Signer, Signer]) -> None:
    texts = tuple(to_text(one.key) for one in keys)
    raw = encoding.encode(msgspec.to_builtins(genesis()) | {"organisers": texts})
    if keys[0].key < keys[1].key:
        assert Genesis.parse(raw) == genesis()
        return
    with pytest.raises(MalformedError, match="organisers must be ascending and unique"):
        Genesis.parse(raw)


def entry(type_name: str, *signers: Signer) -> Entry:
    return sign(NET, example_statement(type_name, author=signers[0].key), *signers)


@pytest.mark.parametrize("type_name", [body.TYPE for body in COORDINATOR_BODIES])
@pytest.mark.parametrize("author", [FIRST, STRANGER])
def test_only_the_coordinator_speaks_for_the_round(type_name: str, author: Signer) -> None:
    check_role(entry(type_name, COORDINATOR), genesis())
    with pytest.raises(RefusedError, match="coordinator"):
        check_role(entry(type_name, author), genesis())


@pytest.mark.parametrize("type_name", [body.TYPE for body in ORGANISER_BODIES])
@pytest.mark.parametrize("author", [COORDINATOR, STRANGER])
def test_only_organisers_open_and_steer_runs(type_name: str, author: Signer) -> None:
    check_role(entry(type_name, FIRST, SECOND), genesis())
    with pytest.raises(RefusedError, match="organisers"):
        check_role(entry(type_name, author), genesis())


def test_a_threshold_counts_organisers_and_nobody_else() -> None:
    rules = genesis(threshold=2)
    check_role(entry("run.pause", FIRST, SECOND), rules)
    for second in ((), (STRANGER,)):
        with pytest.raises(RefusedError, match="2 are needed"):
            check_role(entry("run.pause", FIRST, *second), rules)


@pytest.mark.parametrize("type_name", [body.TYPE for body in TWO_SIGNER_BODIES])
def test_what_makes_trusted_needs_two_organisers_where_there_are_two(
    type_name: str,
) -> None:
    with pytest.raises(RefusedError, match="2 are needed"):
        check_role(entry(type_name, FIRST), genesis())
    alone = msgspec.structs.replace(genesis(), organisers=(to_text(FIRST.key),))
    check_role(entry(type_name, FIRST), alone)


@pytest.mark.parametrize("type_name", ["standing.uphold", "invite.close", "checkpoint.publish"])
def test_one_organiser_upholds_closes_invitations_and_publishes(type_name: str) -> None:
    check_role(entry(type_name, FIRST), genesis())


def test_everybody_may_speak_for_themselves() -> None:
    check_role(entry("member.leave", STRANGER), genesis())
