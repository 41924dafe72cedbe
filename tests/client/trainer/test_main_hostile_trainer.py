"""The tests' own cheats, as real trainer processes: what they hand in looks like any other work."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from tequio_client.ipc import trainer as ipc_trainer
from tequio_shared.head import contribution
from tequio_shared.head.contribution import (
    HEADER_BYTES,
    ContributionHeader,
    ExpectedContribution,
    RecordShape,
    WindowAssignment,
    decode_records,
)
from tequio_shared.ids import from_text
from tests.client.trainer.conftest import Child
from tests.support import hostile_worker
from tests.support.trainer_attacks import ATTACKS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.client.trainer.small_run import SmallRun

SHAPE = RecordShape(algorithm="sparseloco", k=256, bits=2)
STEPS = 4


@pytest.fixture
def trainer(run: SmallRun, request: pytest.FixtureRequest) -> Iterator[Child]:
    child = Child((str(hostile_worker.TRAINER), request.param, "console"))
    child.send(run.prepare(1))
    yield child
    child.end()


def trained(
    child: Child, run: SmallRun, command: int, **changes: object
) -> tuple[ContributionHeader, bytes]:
    """Have it train; its header and payload, which break no rule."""
    task = run.train(command, f"hostile-{command}", **changes)
    child.send(task)
    report = child.until(ipc_trainer.Trained)
    raw, payload = from_text(report.header, HEADER_BYTES), Path(task.payload_out).read_bytes()
    header = ContributionHeader.parse(raw)
    expected = ExpectedContribution(
        shape=SHAPE,
        chunks=run.origin.layout.chunks,
        run_id=run.manifest.run_id,
        round=task.round,
        base_head=header.base_head,
        assigned={header.trainer: WindowAssignment(first=task.windows[0][0], count=8)},
        window_tokens=run.manifest.windows.tokens,
        max_inner_steps=run.manifest.algorithm.max_inner_steps,
    )
    seal = contribution.payload_seal(header.trainer, [payload])
    assert contribution.validate(raw, payload, expected, seal) is None
    return header, payload


@pytest.mark.parametrize("trainer", ["stale"], indirect=True)
def test_a_stale_trainer_sends_last_rounds_work_under_this_rounds_header(
    run: SmallRun, trainer: Child
) -> None:
    first, payload = trained(trainer, run, 2)
    second, again = trained(trainer, run, 3, round=2, windows=((40, 8),))
    assert again == payload
    assert (first.round, first.window_first) == (1, 0)
    assert (second.round, second.window_first) == (2, 40)


@pytest.mark.parametrize("trainer", ["half_work"], indirect=True)
def test_a_lazy_trainer_claims_all_of_its_steps(run: SmallRun, trainer: Child) -> None:
    header, payload = trained(trainer, run, 2)
    assert (header.inner_steps, header.window_count) == (STEPS, 8)
    assert np.abs(decode_records(payload, SHAPE).levels).max() == 3


def test_an_attack_that_does_not_exist_is_refused_with_the_list_of_those_that_do() -> None:
    with pytest.raises(SystemExit, match="sign_flip_3"):
        hostile_worker.run(["sign_flop", "worker"])
    assert hostile_worker.command("sign_flip_3", "worker")[-2:] == ["sign_flip_3", "worker"]
    assert "half_work" in ATTACKS
