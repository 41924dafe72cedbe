"""An audit of a ledger whose answers are ahead of what its witnesses have cosigned."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import pytest
import trio

from tequio_client.verify.audit import PUBLISHED_S, AuditOptions, audit_live
from tequio_client.verify.report import NoProgress
from tequio_shared.log.policy import Policy
from tests.support.cosigned_ledger import (
    WitnessGroup,
    cosigned,
    register_keys,
    wait_until_published,
)

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tequio_client.verify.report import LogReport
    from tests.support.ledgers import Served


@pytest.fixture
def ring(tmp_path: Path) -> Iterator[WitnessGroup]:
    with WitnessGroup(tmp_path, 1) as started:
        yield started


def audited(ledger: Served, policy: Path, patience_s: float = PUBLISHED_S) -> LogReport:
    scope = AuditOptions(trust=Policy.parse(policy.read_bytes()), patience_s=patience_s)
    return trio.run(partial(audit_live, ledger.url, scope, cache=None, progress=NoProgress()))


def test_it_waits_for_what_is_about_to_be_published(ring: WitnessGroup) -> None:
    policy = ring.policy("all")
    with cosigned(ring, policy, "--publish-pause-ms", "1500") as ledger:
        wait_until_published(ledger, policy, 1)  # a new ledger has no checkpoint to wait from
        for at in range(3):
            register_keys(ledger, f"newcomers {at}", 2)
            report = audited(ledger, policy)
            assert report.exit_code == 0, [one.line() for one in report.findings]


def test_what_is_not_published_is_not_judged(ring: WitnessGroup) -> None:
    policy = ring.policy("all")
    with cosigned(ring, policy) as ledger:
        register_keys(ledger, "published", 2)
        wait_until_published(ledger, policy, 3)
        ring.witnesses[0].kill()
        register_keys(ledger, "signed", 2)
        report = audited(ledger, policy, patience_s=0.1)
        assert report.exit_code == 3, "incomplete, and nobody is accused"
        assert all("true for 5 entries, of which 3" in one.line() for one in report.findings)
        ring.start(0)
        wait_until_published(ledger, policy, 5)
        assert audited(ledger, policy).exit_code == 0
