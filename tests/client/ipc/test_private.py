"""The plan's table of differential privacy, and lines of private training."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
import pytest

from tequio_client import plan_file
from tequio_client.ipc import private
from tequio_client.ipc.private import (
    InnerSteps,
    LocalTrained,
    LocalTraining,
    PrivacyPlan,
    PrivacyRules,
    privacy_rules,
)
from tequio_shared.errors import MalformedError, UserFacingError

if TYPE_CHECKING:
    from pathlib import Path

REQUEST = LocalTraining(
    command=7,
    round=2,
    config="config.json",
    weights="head.weights",
    data="texts",
    state="state",
    delta_out="delta",
    sequence=32,
    steps=4,
    batch=8,
    inner=InnerSteps(optimiser="adamw"),
    privacy=privacy_rules(PrivacyPlan()),
)
REPORT = LocalTrained(
    command=7,
    round=2,
    loss=None,
    loss_first=None,
    samples=32,
    tokens=1_024,
    dataset=64,
    epsilon=1.5,
    delta=1e-5,
    seconds=0.1,
)


def test_lines_are_decoded_as_they_were_encoded() -> None:
    assert private.decode_request(private.encode(REQUEST)) == REQUEST
    assert private.decode_report(private.encode(REPORT)) == REPORT


@pytest.mark.parametrize("line", [b"", b"{}", b'{"type":"train"}', b"x" * (private.LINE_BYTES + 1)])
def test_other_lines_are_refused(line: bytes) -> None:
    with pytest.raises(MalformedError):
        private.decode_request(line)


def test_a_plan_without_values_has_the_usual_ones() -> None:
    assert privacy_rules(PrivacyPlan()) == PrivacyRules(
        clip_e6=10**6, noise_e6=10**6, delta_e12=10**7, epsilon_e6=8 * 10**6
    )


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("noise_multiplier", 0.0),
        ("noise_multiplier", 0.09),
        ("noise_multiplier", 101.0),
        ("noise_multiplier", float("nan")),
        ("max_grad_norm", 0.0),
        ("max_grad_norm", float("inf")),
        ("delta", 0.0),
        ("delta", 0.02),
        ("most_epsilon", -1.0),
        ("most_epsilon", float("inf")),
        ("most_epsilon", 1e-9),
    ],
)
def test_a_value_out_of_range_is_named_with_what_is_allowed(name: str, value: float) -> None:
    with pytest.raises(UserFacingError, match=rf"privacy\.{name} is {value:g}: choose a number"):
        privacy_rules(PrivacyPlan(**{name: value}))


@pytest.mark.parametrize("noise", [private.LEAST_NOISE, private.MOST_NOISE])
@pytest.mark.parametrize("delta", [1e-12, private.MOST_DELTA])
@pytest.mark.parametrize("most", [0.0, 1e-6, private.MOST_EPSILON])
def test_every_plan_in_range_becomes_rules_that_can_be_read_again(
    noise: float, delta: float, most: float
) -> None:
    plan = PrivacyPlan(noise_multiplier=noise, delta=delta, most_epsilon=most)
    rules = privacy_rules(plan)
    assert msgspec.json.decode(msgspec.json.encode(rules), type=PrivacyRules) == rules


def test_an_unknown_name_in_the_table_is_explained(tmp_path: Path) -> None:
    plan = tmp_path / "privacy.toml"
    plan.write_text("noise_multiplyer = 1.0")
    with pytest.raises(UserFacingError, match="`noise_multiplier` may be meant"):
        plan_file.read(plan, PrivacyPlan)
