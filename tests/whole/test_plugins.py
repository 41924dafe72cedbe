"""A run that brings a model, an optimiser and a tokenizer of its own: real programs, with torch."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import httpx
import numpy as np
import pytest
import trio
from safetensors.numpy import load_file

from tequio_shared.ids import digest_from_text, sha256, to_text
from tequio_shared.round.manifest import Manifest
from tests.support import plugin_example, small_network
from tests.support.real_network import RealNetwork, running_network, start_with_trainers

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.real_network import RunningProgram

pytestmark = pytest.mark.whole

PLAN = (
    small_network.plan(windows=(10, 10), train_s=4.0)
    .replace("newcomers = 0", "newcomers = 1.0")
    .replace("others = 0", "others = 1.0")
    + "\n[measure]\nevery = 1\nmembers = 3\ntokens = 400\n"
)
PATIENCE_S = 240


def test_volunteers_wait_consent_and_train_and_audits_pass(tmp_path: Path) -> None:
    trio.run(_trains, tmp_path)


async def _trains(folder: Path) -> None:
    async with running_network(folder, start_with_trainers) as stage:
        plugin_example.add_tokenizer(plugin_example.write(folder / "plugin"))
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
        await stage.until("a head is measured", lambda: bool(_measured(stage)), PATIENCE_S)
        _check_measured(stage)

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
        await _check_export(stage, archive)
        said = " ".join((await stage.command("audit", "audit", *_where(stage))).split())
        assert f"code of its own, tiny 1.0 ({archive}); its heads were recomputed" in said


def _check_measured(stage: RealNetwork) -> None:
    """A head was measured by the bytes that its tokens are, and what it wrote has these words."""
    measured = _measured(stage)[0]
    raw = (stage.folder / "data" / "held-out-00000.tokens").read_bytes()
    _, text_bytes = np.frombuffer(raw, "<u4", 2).tolist()  # of the first document
    assert measured["size_bytes"] == text_bytes
    assert measured["tokens"] < text_bytes, "words are tokens"
    assert any(word in measured["sample"]["prompt"] for word in small_network.WORDS), measured


async def _check_export(stage: RealNetwork, archive: str) -> None:
    """An export has weights for the plug-in's own code, that code, and the table of its tokens."""
    out, store = stage.folder / "out", str(stage.folder / "ana" / "store")
    to = ("--run", small_network.RUN, "--to", str(out), "--store", store, *_where(stage))
    await stage.command("export", "checkpoint", "export", *to)
    assert load_file(out / "model.safetensors")["mix.weight"].shape == (512, 1024)
    assert to_text(sha256((out / "tequio" / "plugin.zip").read_bytes())) == archive
    manifest = Manifest.parse((out / "tequio" / "manifest.json").read_bytes())
    assert manifest.tokenizer.kind == "plugin"
    assert manifest.tokenizer.file == to_text(sha256((out / "tokenizer.table").read_bytes()))
    checked = await stage.command("verify", "checkpoint", "verify", str(out), *_where(stage))
    assert checked.startswith("verified")


def _measured(stage: RealNetwork) -> list[dict[str, Any]]:
    """The heads that members measured and that wrote a text, as the ledger answers."""
    (run,) = httpx.get(f"{stage.url}/v1/runs").json()["runs"]
    heads = httpx.get(f"{stage.url}/v1/runs/{run['run']}/measures").json()["heads"]
    return [one for one in heads if one.get("sample")]


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
