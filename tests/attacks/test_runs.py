"""An organiser whose run would bring down the ledger or a volunteer. Layers: adm, coord, cli."""

from __future__ import annotations

import asyncio
import resource
from typing import TYPE_CHECKING

import msgspec
import pytest

from tequio_ledger.log.sequencer import Logged
from tequio_shared.errors import MalformedError
from tequio_shared.network.run_states import RunState
from tequio_shared.round.manifest import (
    Algorithm,
    InnerParams,
    Manifest,
    ModelSpec,
    RoundRules,
    WindowRules,
)
from tests.support.attack_table import attack
from tests.support.ledgers import VirtualClock, make_settings, opened, running
from tests.support.signing_swarm import SigningOrganiser, SigningPeer, manifest

if TYPE_CHECKING:
    from pathlib import Path


SOUND = manifest()


def altered(
    *,
    model: dict[str, object] | None = None,
    windows: dict[str, object] | None = None,
    rounds: dict[str, object] | None = None,
    algorithm: dict[str, object] | None = None,
    inner: dict[str, object] | None = None,
) -> Manifest:
    """A manifest with some other fields."""
    return msgspec.structs.replace(
        SOUND,
        model=ModelSpec(**{**msgspec.structs.asdict(SOUND.model), **(model or {})}),
        windows=WindowRules(**{**msgspec.structs.asdict(SOUND.windows), **(windows or {})}),
        rounds=RoundRules(**{**msgspec.structs.asdict(SOUND.rounds), **(rounds or {})}),
        algorithm=Algorithm(**{**msgspec.structs.asdict(SOUND.algorithm), **(algorithm or {})}),
        inner=InnerParams(**{**msgspec.structs.asdict(SOUND.inner), **(inner or {})}),
    )


FLAT_LINE = {"tensors": (("w", (1, 1 << 31)),), "parameters": 1 << 31}
HOSTILE = {
    "more windows than a roster can name": altered(
        windows={"first": (1 << 53) - 1, "most": (1 << 53) - 1}
    ),
    "more points than a result can hold": altered(
        model={"tensors": (("w", (1 << 20, 1 << 20)),), "parameters": 1 << 40},
        windows={"first": 1 << 31, "most": 1 << 31},
    ),
    "more points than a database can add": altered(
        windows={"most": 1 << 12}, rounds={"most": 1 << 40}
    ),
    "more parameters than chunks can be numbered": altered(
        model={"tensors": (("w", (1 << 23, 1 << 23)),), "parameters": 1 << 46}
    ),
    "a matrix that is all padding": altered(
        model=FLAT_LINE,
        algorithm={
            "name": "distro",
            "layout": "tile64",
            "bits": 1,
            "schedule": ((1, 1 << 14, 0),),
        },
        inner={"steps": 1},
    ),
}


@attack("P13", layer="mdl", ends="refused before any memory is taken")
@pytest.mark.parametrize("name", HOSTILE)
def test_a_manifest_that_no_round_could_be_written_of_is_refused(name: str) -> None:
    before_kb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(MalformedError):
        Manifest.parse(HOSTILE[name].encode())
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before_kb < 50_000


def test_ordinary_manifests_are_not() -> None:
    assert Manifest.parse(SOUND.encode()) == SOUND
    large = altered(
        model={"tensors": (("w", (1 << 16, 1 << 16)),), "parameters": 1 << 32},
        rounds={"most_members": 256, "most": 10_000},
        windows={"most": 256},
    )
    assert Manifest.parse(large.encode()) == large


@attack("A23", layer="coord", ends="the bad run is paused; the others continue")
def test_a_run_that_nothing_can_be_said_of_does_not_stop_the_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As if the check of manifests had a hole: the ledger lives, and the other run goes on."""
    clock = VirtualClock()
    bad = HOSTILE["more windows than a roster can name"]

    async def story() -> None:
        with opened(make_settings(tmp_path), clock) as ledger:
            async with running(ledger):
                organiser = SigningOrganiser(ledger)
                ledger.blobs.put(bad.encode())
                ledger.blobs.put(SOUND.encode())
                submit = ledger.sequencer.submit
                with monkeypatch.context() as patch:
                    patch.setattr("tequio_shared.network_view.Manifest.parse", lambda _: bad)
                    assert isinstance((await submit([organiser.open(bad, clock())]))[0], Logged)
                await submit([organiser.open(SOUND, clock())])
                for run, names in ((bad.run_id, "ab"), (SOUND.run_id, "cd")):
                    for name in names:
                        await submit(SigningPeer(name, ledger, run).join())
                clock.pass_ms(SOUND.rounds.warmup)
                await submit([])
                assert ledger.state.run(SOUND.run_id).state is RunState.WARMUP
                assert ledger.state.run(bad.run_id).state is RunState.WAITING_FOR_MEMBERS

    asyncio.run(asyncio.wait_for(story(), 20))
