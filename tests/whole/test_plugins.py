"""A run that brings a model and an optimiser of its own: real programs, with torch."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import httpx
import pytest
import trio
from safetensors.numpy import load_file

from tequio_shared.ids import digest_from_text
from tests.support import plugin_example, small_network
from tests.support.real_network import RealNetwork, running_network

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.real_network import RunningProgram

pytestmark = pytest.mark.whole

PLAN = (
    small_network.plan(windows=(10, 10), train_s=4.0)
    .replace("newcomers = 0", "newcomers = 1.0")
    .replace("others = 0", "others = 1.0")
)
PATIENCE_S = 240


def test_volunteers_wait_consent_and_train_and_audits_pass(tmp_path: Path) -> None:
    trio.run(_trains, tmp_path)


async def _trains(folder: Path) -> None:
    async with running_network(folder) as stage:
        plugin_example.write(folder / "plugin")
        await small_network.found(stage, plugin_example.run_files(PLAN))
        stage.seed()
        shown = await stage.command("show", "plugin", "show", small_network.RUN, *_where(stage))
        archive = next(line.split()[1] for line in shown.splitlines() if line.startswith("archive"))
        names = ("ana", "bo")
        for name in names:
            await _allow(stage, name)
        consenting = [stage.volunteer(name) for name in names]
        waiting = stage.volunteer("waiting")
        witness = stage.volunteer("witness", "--role", "witness")
        await stage.until("a round was audited", lambda: _has_audited(consenting), PATIENCE_S)

        assert f"tequio plugin allow {archive}" in waiting.status.waiting
        assert waiting.status.rounds_trained == 0
        assert not _blob(folder / "waiting", archive), "the code is not even fetched"
        assert not _blob(folder / "witness", archive), "witnesses need no code"
        await stage.until("the witness proves", lambda: witness.status.proofs > 0)

        await _allow(stage, "waiting")
        await stage.until(
            "it trains once it has consented",
            lambda: waiting.status.rounds_trained > 0,
            PATIENCE_S,
        )
        if sys.platform == "linux":
            assert any("seccomp" in str(one["by"]) for one in waiting.events("trainer confined"))

        home = ("--dir", str(folder / "waiting"))
        assert archive in await stage.command("list", "plugin", "list", *home)
        await stage.command("revoke", "plugin", "revoke", archive, "--dir", str(folder / "waiting"))
        await stage.until(
            "it stops when the consent is taken back",
            lambda: waiting.trainer() is None and archive in waiting.status.waiting,
            60,
        )
        shown = await stage.command("run", "run", "show", small_network.RUN, *_where(stage))
        assert "tiny 1.0" in shown
        assert f"/v1/blobs/{archive}" in _page(stage, consenting[0].status.run)
        out = folder / "out"
        store = str(folder / "ana" / "store")
        to = ("--run", small_network.RUN, "--to", str(out), "--store", store, *_where(stage))
        await stage.command("export", "checkpoint", "export", *to)
        weights = load_file(out / "model.safetensors")
        assert weights["mix.weight"].shape == (512, 1024), "for the plug-in's own code"
        said = " ".join((await stage.command("audit", "audit", *_where(stage))).split())
        assert f"code of its own, tiny 1.0 ({archive}); its heads were recomputed" in said


async def _allow(stage: RealNetwork, name: str) -> None:
    home = ("--dir", str(stage.folder / name))
    words = ("plugin", "allow", small_network.RUN, *_where(stage), *home, "--yes")
    assert "allowed: tiny 1.0" in await stage.command(f"allow-{name}", *words)


def _where(stage: RealNetwork) -> tuple[str, ...]:
    return ("--ledger", stage.url)


def _page(stage: RealNetwork, run: str) -> str:
    return httpx.get(f"{stage.url}/runs/{run}").text


def _has_audited(volunteers: list[RunningProgram]) -> bool:
    """True if a volunteer has repeated training and found nothing wrong with it."""
    for one in volunteers:
        if one.program.log.exists() and any(one.events("contribution audited")):
            return True
    return False


def _blob(folder: Path, archive: str) -> bool:
    """True if the store in that folder has the archive."""
    name = digest_from_text(archive).hex()
    return (folder / "store" / "blobs" / name[:2] / name).exists()
