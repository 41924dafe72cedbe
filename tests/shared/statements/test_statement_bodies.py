"""Bodies validate their own fields when they are parsed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
import pytest

from tequio_shared import encoding
from tequio_shared.encoding import convert
from tequio_shared.errors import MalformedError
from tequio_shared.ids import ROSTER_SLOTS, to_text
from tequio_shared.limits import CONTRIBUTORS, GAIN_MOST, GAIN_SLOTS, JSON_INTEGER, RECEIVERS
from tequio_shared.statements.network import USES
from tequio_shared.statements.statement import BODIES, VERSION, Body
from tests.support.statements import EXAMPLES, D, example

if TYPE_CHECKING:
    from collections.abc import Mapping

FIELDS = [(name, field) for name, body in EXAMPLES.items() for field in body]
VALUES: list[object] = [None, True, -1, 2**53, "A", D + "=", "é" * 43, {}, [[]], [1, 1]]
OPTIONAL = {
    ("audit.report", "figures"),
    ("head.attest", "step_root"),
    ("head.promote", "step_root"),
    ("work.commit", "parts"),
}
IN_RANGE = [
    ("audit.report", "cosine", -1),
    ("audit.report", "checked", [1, 1]),
    *(
        (name, "text", text)
        for name in ("run.notice", "net.notice")
        for text in ("A", D + "=", "é" * 43)
    ),
]
"""Values of the list above that a field may have."""


def _parse(name: str, fields: Mapping[str, object]) -> Body:
    return convert(fields, BODIES[name, VERSION])


def test_the_table_names_each_body_by_its_own_type_and_has_an_example_of_each() -> None:
    assert {name for name, _ in BODIES} == set(EXAMPLES)
    for (name, version), body in BODIES.items():
        assert (name, version) == (body.TYPE, 1)


@pytest.mark.parametrize("name", EXAMPLES)
def test_a_body_reads_back_as_it_was(name: str) -> None:
    assert encoding.encode(example(name)) == encoding.encode(EXAMPLES[name])


@pytest.mark.parametrize("name", EXAMPLES)
def test_no_field_has_a_default_so_each_body_has_one_spelling(name: str) -> None:
    """A field may be missing, but no value can be said in two ways."""
    for field in msgspec.structs.fields(BODIES[name, VERSION]):
        assert field.required or field.default is msgspec.UNSET


@pytest.mark.parametrize("name", EXAMPLES)
def test_a_body_with_an_unknown_field_is_refused(name: str) -> None:
    with pytest.raises(MalformedError):
        _parse(name, {**EXAMPLES[name], "extra": 1})


@pytest.mark.parametrize(("name", "field"), [one for one in FIELDS if one not in OPTIONAL])
def test_a_body_without_one_of_its_fields_is_refused(name: str, field: str) -> None:
    with pytest.raises(MalformedError):
        _parse(name, {key: value for key, value in EXAMPLES[name].items() if key != field})


@pytest.mark.parametrize(("name", "field"), FIELDS)
@pytest.mark.parametrize("value", VALUES)
def test_a_field_outside_its_range_is_refused(name: str, field: str, value: object) -> None:
    if (name, field, value) in IN_RANGE:
        _parse(name, {**EXAMPLES[name], field: value})
        return
    with pytest.raises(MalformedError):
        _parse(name, {**EXAMPLES[name], field: value})


@pytest.mark.parametrize(
    ("name", "field", "value"),
    [
        ("member.ready", "roles", []),
        ("member.ready", "roles", ["witness", "trainer"]),
        ("member.ready", "roles", ["trainer", "trainer"]),
        ("member.ready", "roles", ["seed"]),
        ("member.leave", "reason", 65_536),
        ("round.roster", "slots", ROSTER_SLOTS + 1),
        ("round.roster", "trainers", 6),
        ("round.open", "k", 0),
        ("round.open", "k", 4_097),
        ("round.open", "opened", 2_001),
        ("round.open", "train_by", 3_001),
        ("round.open", "close_by", 1_999),
        ("round.witness", "commits", CONTRIBUTORS + 1),
        ("work.commit", "header", to_text(bytes(213))),
        ("work.commit", "header", to_text(bytes(219))),
        ("work.commit", "parts", []),
        ("work.commit", "parts", [[D, 0]]),
        ("work.commit", "parts", [[D, 1_001]]),
        ("work.commit", "parts", [[to_text(bytes(32)), 500], [D, 501]]),
        ("work.commit", "parts", [[D, 1], [to_text(bytes(32)), 1]]),
        ("work.commit", "parts", [[D, 1], [D, 1]]),
        ("work.commit", "parts", [[to_text(bytes([at]) * 32), 1] for at in range(RECEIVERS + 1)]),
        ("witness.proof", "rejected", [[2, 1], [0, 3]]),
        ("witness.proof", "rejected", [[2, 1], [2, 3]]),
        ("witness.proof", "rejected", [[ROSTER_SLOTS, 1]]),
        ("witness.proof", "rejected", [[1]]),
        ("witness.proof", "rejected", [[1, 2, 3]]),
        ("witness.proof", "gains", [[2, 1], [0, 3]]),
        ("witness.proof", "gains", [[2, 1], [2, 3]]),
        ("witness.proof", "gains", [[ROSTER_SLOTS, 1]]),
        ("witness.proof", "gains", [[0, GAIN_MOST + 1]]),
        ("witness.proof", "gains", [[0, -GAIN_MOST - 1]]),
        ("witness.proof", "gains", [[slot, 1] for slot in range(GAIN_SLOTS + 1)]),
        ("witness.proof", "count", CONTRIBUTORS + 1),
        ("witness.proof", "bitmap", "AB"),
        ("round.close", "accepted", CONTRIBUTORS + 1),
        ("invite.open", "uses", 0),
        ("invite.open", "uses", USES + 1),
        ("role.grant", "role", "coordinator"),
        ("role.revoke", "role", ""),
        ("checkpoint.publish", "location", "name"),
        ("checkpoint.publish", "location", "user/name"),
        ("checkpoint.publish", "location", "a/b/c"),
        ("checkpoint.publish", "location", "../name"),
        ("checkpoint.publish", "location", "user/<b>"),
        ("checkpoint.publish", "location", "s3://"),
        ("checkpoint.publish", "location", "s3://Upper/nova"),
        ("checkpoint.publish", "location", "s3://bucket/../nova"),
        ("checkpoint.publish", "location", "s3://bucket/no va"),
        ("checkpoint.publish", "location", "s3://key:secret@bucket/nova"),
        ("checkpoint.publish", "location", "s3://bucket/nova?endpoint=file:///etc"),
        ("checkpoint.publish", "location", "s3://bucket/nova?endpoint=https://key@host"),
        ("checkpoint.publish", "location", "s3://bucket/nova?region="),
        ("checkpoint.publish", "location", "s3://bucket/nova?region=a&endpoint=https://host"),
        ("checkpoint.publish", "location", "gs://bucket/nova"),
        ("checkpoint.publish", "revision", "main"),
        ("checkpoint.publish", "revision", "0" * 40),
        ("checkpoint.publish", "revision", "A" * 64),
        ("software.release", "version", "0.2.9"),
        ("software.release", "version", "1.0"),
        ("software.release", "version", "v0.3.0"),
        ("software.release", "version", "0.3.0-rc1"),
        ("software.release", "minimum", "0.3.1"),
        ("software.release", "minimum", "0.10.0"),
        ("software.release", "minimum", "00.1.0"),
        ("software.release", "minimum", ""),
        ("software.release", "targets_version", 0),
        ("standing.change", "until", 0),
        ("standing.change", "to", "suspected"),
        ("name.withdraw", "team", 1),
        ("name.withdraw", "peer", ""),
        ("audit.report", "sketch", []),
    ],
)
def test_a_value_that_breaks_a_rule_of_its_field_is_refused(
    name: str, field: str, value: object
) -> None:
    with pytest.raises(MalformedError):
        _parse(name, {**EXAMPLES[name], field: value})


@pytest.mark.parametrize(
    ("name", "field", "value"),
    [
        ("round.open", "close_by", JSON_INTEGER),
        ("round.open", "k", 4_096),
        ("round.roster", "slots", ROSTER_SLOTS),
        ("witness.proof", "gains", []),
        ("witness.proof", "gains", [[slot, GAIN_MOST] for slot in range(GAIN_SLOTS)]),
        ("witness.proof", "rejected", []),
        ("witness.proof", "bitmap", ""),
        ("member.ready", "roles", ["witness"]),
        ("invite.open", "uses", USES),
        ("invite.open", "run", ""),
        ("member.vouch", "until", 0),
        ("software.release", "minimum", "0.3.0"),
        ("software.release", "minimum", "0.0.0"),
        ("software.release", "targets_version", JSON_INTEGER),
    ],
)
def test_a_value_at_the_edge_of_its_range_passes(name: str, field: str, value: object) -> None:
    _parse(name, {**EXAMPLES[name], field: value})


def test_a_report_that_declines_says_nothing_else() -> None:
    declined = {**EXAMPLES["audit.report"], "sketch": [], "checked": []}
    figures = declined.pop("figures")
    _parse("audit.report", declined)
    for field, value in (("figures", figures), ("checked", [1])):
        with pytest.raises(MalformedError, match="neither figures nor cosines"):
            _parse("audit.report", {**declined, field: value})
